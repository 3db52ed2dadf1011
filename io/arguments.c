/* SPDX-License-Identifier: BSD-3-Clause */
/** @file arguments.c
 *  Arguments of several public functions. */
#include "io.h"

meta_err io_desc_get(meta_io_desc *own, const meta_io_desc *desc)
{
    return core->sized_get(own, sizeof *own, desc, META_LEAST(meta_io_desc, high), "desc",
                           "META_IO_DESC_INIT");
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
