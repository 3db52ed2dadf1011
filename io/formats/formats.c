/* SPDX-License-Identifier: BSD-3-Clause */
/** @file formats.c
 *  The formats that there are. */
#include "formats/formats.h"

const io_format *io_format_of(meta_io_format format)
{
    static const io_format *const formats[] = {&io_checkpoint, &io_hdf5, &io_npy, &io_vtk, &io_png};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k)
        if (formats[k]->format == format) return formats[k];
    return NULL;
}

meta_err io_format_check(const io_format *format)
{
    if (format->is_there) return META_OK;
    return core->fail(META_ERR_UNSUPPORTED, "%s: this libmeta was built without it: %s",
                      format->name, format->why);
}
