/* SPDX-License-Identifier: BSD-3-Clause */
/** @file two_mpis.c
 *  Whether a second MPI library is loaded in this process. A program linked with another MPI than
 *  libmeta_comm has both, and the calls of one reach the functions of the other. */
#include "life/life.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Profiling tools define MPI_Init_thread() as well, this one only an MPI does. */
static const char entry[] = "PMPI_Init_thread";

/* Not MPI_MAX_LIBRARY_VERSION_STRING, which is the own MPI's: 256 in Open MPI, 8192 in MPICH. */
enum { MOST_LIBRARIES = 32, NAME_ROOM = 320, VERSION_ROOM = 1 << 15 };

/** Loaded libraries that may be an MPI's. */
typedef struct library_list {
    char *path[MOST_LIBRARIES];
    int count;
} library_list;

/* dlopen() may not be called from here. */
static int list_library(struct dl_phdr_info *info, size_t size, void *to)
{
    library_list *list = to;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!slash || !strstr(slash, "mpi") || list->count == MOST_LIBRARIES) return 0;
    char *path = strdup(info->dlpi_name);
    if (path) list->path[list->count++] = path;
    return 0;
}

/** A loaded object. */
typedef struct object {
    const void *base; /* NULL: there is none */
    const char *path;
} object;

static object object_of(const void *address)
{
    Dl_info info;
    if (!address || !dladdr(address, &info)) return (object){NULL, NULL};
    return (object){info.dli_fbase, info.dli_fname};
}

/* The MPI that the object at @p path or, without one of its own, a library that it needs has. */
static object mpi_of(const char *path)
{
    void *handle = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle) return (object){NULL, NULL};
    const object found = object_of(dlsym(handle, entry));
    dlclose(handle);
    return found;
}

/* Calls of the program or of libmeta_comm may reach it. */
static bool is_in_global_scope(object mpi)
{
    static const char *const names[] = {entry, "ompi_mpi_comm_world", "MPIR_Err_create_code"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (object_of(dlsym(RTLD_DEFAULT, names[k])).base == mpi.base) return true;
    return false;
}

/* "Open MPI v4.1.4 (/usr/lib/libmpi.so.40)"; only the path where it does not tell its version. */
static void name_mpi(char name[NAME_ROOM], object mpi)
{
    char version[VERSION_ROOM] = "";
    int length = 0, (*get)(char *, int *) = NULL;
    void *handle = dlopen(mpi.path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) *(void **)&get = dlsym(handle, "PMPI_Get_library_version");
    if (get) get(version, &length);
    if (handle) dlclose(handle);
    comm_shorten_version(version);
    if (*version) snprintf(name, NAME_ROOM, "%.96s (%.200s)", version, mpi.path);
    else snprintf(name, NAME_ROOM, "%.200s", mpi.path);
}

static meta_err report(object own, object other)
{
    static const char text[] =
        "two MPI libraries are loaded in this process: %s, which libmeta_comm is linked to, and "
        "%s: compile and link all parts of the program with the compilers, and start it with the "
        "launcher, of the first one; meta-info --compiler, --fortran-compiler and --launcher name "
        "them";
    char own_name[NAME_ROOM], other_name[NAME_ROOM];
    name_mpi(own_name, own);
    name_mpi(other_name, other);
    if (is_in_global_scope(other)) return core->fail(META_ERR_MPI, text, own_name, other_name);
    core->log(META_LOG_WARN, text, own_name, other_name);
    return META_OK;
}

meta_err comm_two_mpis_check(void)
{
    library_list list = {.count = 0};
    meta_err error = META_OK;
    const object own = mpi_of(object_of(entry).path);
    if (own.base) dl_iterate_phdr(list_library, &list);
    for (int k = 0; k < list.count; ++k) {
        const object found = mpi_of(list.path[k]);
        const bool is_its_own = found.base && strcmp(found.path, list.path[k]) == 0;
        if (error == META_OK && is_its_own && found.base != own.base) error = report(own, found);
        free(list.path[k]);
    }
    return error;
}
