/* SPDX-License-Identifier: BSD-3-Clause */
/** @file life.c
 *  The library's start and end, errors, types and devices. */
#define _GNU_SOURCE /* secure_getenv() */
#include "inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metamorph_profiling.h"

void (*metamorph_finish_messages)(void);

/* ------------------------------------------------------------------ errors and types */

metamorph_err metamorph_report(const char *function, meta_err err)
{
    const char *text = meta_last_error();
    const size_t length = strlen(function);
    if (err == META_OK) return 0;
    /* libmeta's message begins with the name of its own function, which may be the same. */
    if (strncmp(text, function, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    fprintf(stderr, "ERROR in %s: %s\n", function, text);
    return (metamorph_err)err;
}

metamorph_err metamorph_refuse(const char *function, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "ERROR in %s: %s\n", function, text);
    return -1;
}

static const struct {
    meta_type type;
    size_t bytes;
} types[] = {[meta_db] = {META_F64, sizeof(double)},
             [meta_fl] = {META_F32, sizeof(float)},
             [meta_lo] = {sizeof(long) == 8 ? META_I64 : META_I32, sizeof(long)},
             [meta_ul] = {sizeof(long) == 8 ? META_U64 : META_U32, sizeof(long)},
             [meta_in] = {META_I32, sizeof(int)},
             [meta_ui] = {META_U32, sizeof(int)},
             [meta_sh] = {META_I16, sizeof(short)},
             [meta_us] = {META_U16, sizeof(short)},
             [meta_ch] = {META_I8, 1},
             [meta_uc] = {META_U8, 1}};

static bool is_type(meta_type_id id)
{
    return (unsigned)id < sizeof types / sizeof *types;
}

metamorph_err metamorph_type_of(const char *function, meta_type_id id, meta_type *type)
{
    if (!is_type(id))
        return metamorph_refuse(function, "type is %d, which is none: use meta_db to meta_uc",
                                (int)id);
    *type = types[id].type;
    return 0;
}

size_t metamorph_get_atype_size(meta_type_id type)
{
    meta_type unused;
    return metamorph_type_of("get_atype_size", type, &unused) ? (size_t)-1 : types[type].bytes;
}

/* ------------------------------------------------------------------ life */

static enum { NOT_STARTED, STARTED_HERE, STARTED_ELSEWHERE } life;

meta_err metamorph_start(void)
{
    if (life != NOT_STARTED) return META_OK;
    metamorph_timers_init(); /* devices that are opened later are timed */
    const meta_err err = meta_init();
    if (err != META_OK && err != META_ERR_STATE) return err;
    life = err == META_OK ? STARTED_HERE : STARTED_ELSEWHERE;
    return META_OK;
}

void metamorph_is_started(void)
{
    if (life == NOT_STARTED) life = STARTED_ELSEWHERE;
}

void metamorph_init(void)
{
    metamorph_report("meta_init", metamorph_start());
}

void metamorph_finalize(void)
{
    if (life == NOT_STARTED) return;
    if (metamorph_finish_messages) metamorph_finish_messages();
    metamorph_free_scratch();
    if (life == STARTED_HERE) metamorph_report("meta_finalize", meta_finalize());
    life = NOT_STARTED;
}

metamorph_err metamorph_flush(void)
{
    meta_err err = metamorph_start();
    if (err == META_OK) err = meta_flush();
    if (err == META_OK && metamorph_finish_messages) metamorph_finish_messages();
    return metamorph_report("meta_flush", err);
}

/* ------------------------------------------------------------------ devices */

/* The OpenCL device that TARGET_DEVICE names, or device 0. */
static metamorph_err named_device(int *index)
{
    const char *name = secure_getenv("TARGET_DEVICE");
    char known[256] = "";
    int count = 0;
    *index = 0;
    if (!name) return 0;
    if (meta_device_count(META_OPENCL, &count) != META_OK) count = 0;
    for (int k = 0; k < count; ++k) {
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        const size_t length = strlen(known);
        if (meta_device_info(k, META_OPENCL, &desc) != META_OK) continue;
        if (strcmp(desc.name, name) == 0) {
            *index = k;
            return 0;
        }
        snprintf(known + length, sizeof known - length, "%s'%s'", k ? ", " : "", desc.name);
    }
    return metamorph_refuse("meta_set_acc",
                            "TARGET_DEVICE is '%s', which no OpenCL device is called; there %s %s",
                            name, count == 1 ? "is" : "are", count ? known : "none");
}

static meta_err use_generic(int accel)
{
    meta_mode mode = META_SPREAD;
    const meta_err err = meta_set_acc(0, META_SPREAD);
    if (err != META_OK) return err;
    const meta_err found = meta_get_acc(NULL, &mode);
    return found != META_OK || accel <= 0 ? found : meta_set_acc(accel, mode);
}

metamorph_err metamorph_set_acc(int accel, meta_preferred_mode mode)
{
    int index = accel < 0 ? 0 : accel;
    const meta_err err = metamorph_start();
    if (err != META_OK) return metamorph_report("meta_set_acc", err);
    switch (mode) {
    case metaModePreferGeneric:
        return metamorph_report("meta_set_acc", use_generic(accel));
    case metaModePreferCUDA:
        return metamorph_report("meta_set_acc", meta_set_acc(index, META_CUDA));
    case metaModePreferHIP:
        return metamorph_report("meta_set_acc", meta_set_acc(index, META_HIP));
    case metaModePreferOpenMP:
        return metamorph_report("meta_set_acc", meta_set_acc(0, META_OPENMP));
    case metaModePreferOpenCL:
        if (accel < 0 && named_device(&index)) return -1;
        return metamorph_report("meta_set_acc", meta_set_acc(index, META_OPENCL));
    case metaModeUnset:
        break;
    }
    return metamorph_refuse("meta_set_acc",
                            "mode is %d: use metaModePreferGeneric, OpenMP, OpenCL, CUDA or HIP",
                            (int)mode);
}

metamorph_err metamorph_get_acc(int *accel, meta_preferred_mode *mode)
{
    meta_mode found = META_SPREAD;
    int index = 0;
    meta_err err = metamorph_start();
    if (err == META_OK) err = meta_get_acc(&index, &found);
    if (err != META_OK) return metamorph_report("meta_get_acc", err);
    if (accel) *accel = index;
    if (mode)
        *mode = found == META_OPENMP   ? metaModePreferOpenMP
                : found == META_OPENCL ? metaModePreferOpenCL
                : found == META_CUDA   ? metaModePreferCUDA
                : found == META_HIP    ? metaModePreferHIP
                                       : metaModePreferGeneric;
    return 0;
}

metamorph_err metamorph_validate_worksize(meta_dim3 *grid_size, meta_dim3 *block_size)
{
    (void)grid_size;
    (void)block_size;
    return 0;
}
