/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_query.c
 *  What MPI reports about device memory. The functions are extensions that an MPI may or may not
 *  have, independently of the one at compile time: they are looked up at run time. */
#include "config.h"

#include "gpu/gpu_query.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

gpu_kind gpu_kind_of(const char *backend)
{
    return strcmp(backend, "cuda") == 0  ? GPU_CUDA
           : strcmp(backend, "hip") == 0 ? GPU_HIP
                                         : GPU_KINDS;
}

static const struct {
    gpu_kind kind;
    const char *name; /* of an int function of nothing; Open MPI's and MPICH's */
} queries[] = {{GPU_CUDA, "MPIX_Query_cuda_support"},
               {GPU_HIP, "MPIX_Query_hip_support"},
               {GPU_HIP, "MPIX_Query_rocm_support"}};

/* MPICH's function for all kinds, and its numbers for them. */
static const char general[] = "MPIX_GPU_query_support";
static const int numbers[GPU_KINDS] = {[GPU_CUDA] = 0, [GPU_HIP] = 2};

static bool ask(const char *name, bool *yes)
{
    int (*query)(void);
    void *found = dlsym(RTLD_DEFAULT, name);
    if (!found) return false;
    memcpy(&query, &found, sizeof query);
    *yes = query() == 1;
    return true;
}

static bool ask_general(gpu_kind kind, bool *yes)
{
    int (*query)(int, int *), supported = 0;
    void *found = dlsym(RTLD_DEFAULT, general);
    if (!found) return false;
    memcpy(&query, &found, sizeof query);
    *yes = query(numbers[kind], &supported) == MPI_SUCCESS && supported != 0;
    return true;
}

bool gpu_query(gpu_kind kind, char *text, size_t room)
{
    const char *asked = NULL;
    bool yes = false;
    for (size_t k = 0; k < sizeof queries / sizeof *queries && !yes; ++k)
        if (queries[k].kind == kind && ask(queries[k].name, &yes)) asked = queries[k].name;
    if (!yes && ask_general(kind, &yes) && (yes || !asked)) asked = general;
    if (asked) snprintf(text, room, "%s() says %s", asked, yes ? "yes" : "no");
    else snprintf(text, room, "this MPI has no function that says");
    return yes;
}
