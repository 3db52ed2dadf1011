/* SPDX-License-Identifier: BSD-3-Clause */
/** @file opencl_real.h
 *  The functions of OpenCL's loader behind those that a test puts before them. */
#ifndef META_TEST_OPENCL_REAL_H
#define META_TEST_OPENCL_REAL_H

#include <dlfcn.h>

/* The program is not linked with the loader, and the back end's is its own. */
static void *real_of(const char *name)
{
    static void *loader;
    if (!loader) loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    return loader ? dlsym(loader, name) : NULL;
}

#endif
