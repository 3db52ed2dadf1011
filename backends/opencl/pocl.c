/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pocl.c
 *  What PoCL reads from the environment: when the OpenCL loader first opens it, its number of
 * threads and where it keeps its files; when it compiles a kernel, how it forms work-groups. */
#include "config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl.h"

/* Without them every process of a node would use all cores. The second is the name since PoCL 4. */
static void limit_threads(void)
{
    static const char *const names[] = {"POCL_MAX_PTHREAD_COUNT", "POCL_CPU_MAX_CU_COUNT"};
    char threads[16];
    snprintf(threads, sizeof threads, "%d", ocl_host->threads());
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) setenv(names[k], threads, 0);
}

static bool fits(int length)
{
    return length > 0 && length < PATH_MAX;
}

/* Whether PoCL could create its folder in @p base, which is created if it is missing, or write to
 * the one that is there. */
static bool is_usable(const char *base)
{
    static const char *const parts[] = {"/pocl/kcache", "/pocl", ""};
    char path[PATH_MAX];
    mkdir(base, 0700);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
        if (!fits(snprintf(path, sizeof path, "%s%s", base, parts[k]))) return false;
        if (access(path, F_OK) == 0) return access(path, W_OK | X_OK) == 0;
    }
    return false;
}

/* In a folder of this user's alone among the temporary ones: PoCL loads code from it. */
static bool find_private(char path[PATH_MAX])
{
    const char *chosen = ocl_host->variable("TMPDIR");
    char own[PATH_MAX];
    struct stat about;
    if (!fits(snprintf(own, sizeof own, "%s/libmeta-%u", chosen && *chosen == '/' ? chosen : "/tmp",
                       (unsigned)geteuid())))
        return false;
    mkdir(own, 0700);
    return lstat(own, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           !(about.st_mode & (S_IWGRP | S_IWOTH)) && fits(snprintf(path, PATH_MAX, "%s/pocl", own));
}

/* PoCL has no devices where it cannot create its folder. Without a home it would load code from one
 * in /tmp whose name anybody can guess. */
static void choose_folder(void)
{
    const char *cache = ocl_host->variable("XDG_CACHE_HOME"), *home = ocl_host->variable("HOME");
    const bool has_cache = cache != NULL;
    char path[PATH_MAX];
    if (ocl_host->variable("POCL_CACHE_DIR")) return;
    if ((has_cache || home) &&
        fits(snprintf(path, sizeof path, "%s%s", has_cache ? cache : home,
                      has_cache ? "" : "/.cache")) &&
        is_usable(path))
        return;
    if (!find_private(path)) return;
    ocl_host->log(META_LOG_INFO, "PoCL keeps its files in %s, as it cannot write to the home",
                  path);
    setenv("POCL_CACHE_DIR", path, 0);
}

/* PoCL 6 runs LLVM's pass instcombine by name, and so LLVM 18 verifies that one iteration of it was
 * enough. If not, the process ends: "Instruction Combining did not reach a fixpoint after 1
 * iterations". That was seen when PoCL compiles a kernel for a binary, which is for any work-group
 * size: it then moves phi nodes to the stack just before that pass, but not if its work-groups are
 * continuations (cbs). PoCL 5 cannot be built with LLVM 18, PoCL 7 no longer runs the pass. */
void ocl_adapt_pocl(const char *version)
{
    const char *pocl = strstr(version, "PoCL 6."), *llvm = strstr(version, "LLVM ");
    if (pocl && llvm && strtol(llvm + strlen("LLVM "), NULL, 10) >= 18)
        setenv("POCL_WORK_GROUP_METHOD", "cbs", 0);
}

void ocl_prepare_pocl(void)
{
    limit_threads();
    choose_folder();
}
