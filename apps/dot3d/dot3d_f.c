/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d_f.c
 *  The C side of the 3D dot product in Fortran. */
#include "config.h"

#include "dot3d_f.h"

#include <string.h>

#include "check.h"

void dot3d_shape(const block *k, dot3d_shape_of_block *shape)
{
    memcpy(shape->size, k->size, sizeof shape->size);
    shape->plane = k->plane;
    shape->type = (int)type_of(k->type);
    shape->previous = k->previous;
    shape->next = k->next;
}

void dot3d_failed(int err, const char *message)
{
    if (err == META_ERR_PEER) failure_abort(message);
    failure_note("%s", message);
}
