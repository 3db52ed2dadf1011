/* SPDX-License-Identifier: BSD-3-Clause */
/** @file no_binaries.c
 *  Preloaded, it makes an OpenCL driver say that it has no binaries of its programs, so that
 * libmeta's cache keeps none. For a binary PoCL compiles all of a program's kernels, and those that
 * run once more, for the size of their work-groups; these the next test finds in PoCL's own cache.
 * Tests with binaries=yes in their TEST lines get them, and so do other libraries. */
#include "config.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

__attribute__((visibility("default"))) cl_int
clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *value, size_t *bytes)
{
    static cl_int (*_Atomic real)(cl_program, cl_program_info, size_t, void *, size_t *);
    cl_int (*next)(cl_program, cl_program_info, size_t, void *, size_t *) = real;
    if (next == NULL) { /* the loader, which a back end has opened for itself alone */
        void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
        *(void **)&next = dlsym(loader ? loader : RTLD_NEXT, "clGetProgramInfo");
        real = next;
    }
    Dl_info caller;
    if (what != CL_PROGRAM_BINARY_SIZES || value == NULL || getenv("META_TEST_BINARIES") ||
        !dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "/opencl.so"))
        return next(program, what, room, value, bytes);
    memset(value, 0, room);
    if (bytes) *bytes = room;
    return CL_SUCCESS;
}
