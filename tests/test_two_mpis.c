/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_two_mpis.c
 *  A second MPI library in the process: an error where calls of the program may reach it, a warning
 *  where it is apart. tests/test_documents.sh does so with two real ones. */
/* TEST: np=1 labels=comm */
#include <dlfcn.h>
#include <stdio.h>

#include "caught.h"
#include "test_mpi.h"

static char text[4096];

/* The version without what follows its number. */
static void get_own_version(char version[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *c = version; *c; ++c)
        if (*c == '\t') *c = ' ';
}

static void *load_other(int scope)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", test_built("tests/plugins/.libs/other_mpi.so"));
    void *other = dlopen(path, RTLD_NOW | scope);
    if (!other) FAIL("%s", dlerror());
    return other;
}

static void an_mpi_that_is_apart_is_a_warning(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    void *other = load_other(RTLD_LOCAL);
    get_own_version(version);
    catch_errors();
    const meta_err error = meta_comm_init(NULL, NULL);
    take_caught(text, sizeof text);
    test_require(error);
    CHECK_CONTAINS(text, "two MPI libraries are loaded in this process: ");
    CHECK_CONTAINS(text, version);
    CHECK_CONTAINS(text, "and Other MPI 7.5 (");
    CHECK_CONTAINS(text, "tests/plugins/.libs/other_mpi.so)");
    if (other) dlclose(other);
    CHECK_OK(meta_comm_finalize());
}

static void one_mpi_is_no_warning(void)
{
    catch_errors();
    const meta_err error = meta_comm_attach(MPI_COMM_WORLD);
    take_caught(text, sizeof text);
    CHECK_OK(error);
    CHECK_STRING(text, "");
    CHECK_OK(meta_comm_finalize());
}

static void an_mpi_that_calls_may_reach_is_an_error(void)
{
    if (!load_other(RTLD_GLOBAL)) return;
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_MPI, "two MPI libraries");
    CHECK_ERR_NAMES(meta_comm_attach(MPI_COMM_WORLD), META_ERR_MPI, "and Other MPI 7.5 (");
    CHECK_CONTAINS(meta_last_error(), "meta-info --compiler, --fortran-compiler and --launcher");
}

TEST_MPI_MAIN(PROMISE(an_mpi_that_is_apart_is_a_warning), PROMISE(one_mpi_is_no_warning),
              PROMISE(an_mpi_that_calls_may_reach_is_an_error))
