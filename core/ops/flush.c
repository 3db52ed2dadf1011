/* SPDX-License-Identifier: BSD-3-Clause */
/** @file flush.c
 *  Waiting for all work of this process. */
#include "ops/ops.h"

#include <stdlib.h>

meta_err meta_flush(void)
{
    meta_err first, error = META_OK;
    char *message = NULL;
    const meta_hooks *comm = meta_hooks_get();
    META_ENTER();
    first = meta_devices_finish();
    if (first == META_OK) first = meta_buffer_hooks->verify();
    if (first != META_OK) message = meta_error_copy();
    if (comm) error = comm->flush();
    if (first == META_OK && error != META_OK) {
        first = error;
        message = meta_error_copy();
    }
    meta_progress();
    if (message) meta_fail_as(first, message);
    free(message);
    return first;
}
