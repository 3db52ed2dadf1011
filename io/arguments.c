/* SPDX-License-Identifier: BSD-3-Clause */
/** @file arguments.c
 *  Arguments of several public functions. */
#include "io.h"

meta_err io_desc_check(const meta_io_desc *desc)
{
    if (!desc) return core->fail(META_ERR_ARGUMENT, "argument 'desc' is NULL");
    if (desc->size >= sizeof *desc) return META_OK;
    return core->fail(META_ERR_ARGUMENT,
                      "argument 'desc' has size %zu: set it to META_IO_DESC_INIT", desc->size);
}

meta_err io_path_check(const char *path)
{
    if (!path) return core->fail(META_ERR_ARGUMENT, "argument 'path' is NULL");
    if (!*path) return core->fail(META_ERR_ARGUMENT, "argument 'path' is empty");
    return META_OK;
}

meta_err meta_io_has(meta_io_format format, int *has)
{
    const io_format *found = io_format_of(format);
    meta_err error = META_OK;
    core->hold_call(__func__);
    if (!has) error = core->fail(META_ERR_ARGUMENT, "argument 'has' is NULL");
    else if (!found) error = core->fail(META_ERR_ARGUMENT, "argument 'format' is %d", (int)format);
    else *has = found->is_there;
    core->hold_call(NULL);
    return error;
}
