/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_variables.c
 *  The META_* variables with arbitrary values, several at once: the library starts, or the error
 * names one of them; without them it starts afterwards. An input has lines of NAME=VALUE. */
/* TEST: labels=core,fuzz */
#include "fuzz.h"
#include "fuzz_lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meta.h"

static const char *const seeds[] = {
    "META_MODE=openmp\nMETA_THREADS=2\nMETA_LOG=debug\nMETA_JIT=load\nMETA_JIT_TIMEOUT=1.5\n",
    "META_MODE=auto\nMETA_AUTO_DEVICES=openmp,sim:1\nMETA_POLICY=random:7\nMETA_LEARN=read:times\n",
    "META_PROFILE=summary,json:a,trace:b\nMETA_TRACE_EVENTS=100\nMETA_POOL=4096\nMETA_CHECK=on\n",
    "META_REPRODUCIBLE=1\nMETA_EXPLAIN=off\nMETA_BOARD=off\nMETA_GPU_POOL=off\nMETA_CPU=avx2\n",
    "META_STREAM_BYTES=auto\nMETA_POLICY=type:gpu\nMETA_TEST_WORKER=on\nMETA_RANK_MAP=*:openmp\n",
    "OMP_NUM_THREADS=3\nMETA_POLICY=device:1\nMETA_POOL=off\nMETA_LEARN=off\nMETA_MODUS=x\n",
    "META_BACKEND_PATH=.::nowhere:..\nMETA_KERNEL_PATH=a:b\nMETA_CC=cc -O1\n",
};
static const char *const words[] = {"META_MODE=",
                                    "META_RANK_MAP=",
                                    "META_AUTO_DEVICES=",
                                    "META_POLICY=",
                                    "META_EXPLAIN=",
                                    "META_LEARN=",
                                    "META_BOARD=",
                                    "META_THREADS=",
                                    "META_REPRODUCIBLE=",
                                    "META_CHECK=",
                                    "META_PROFILE=",
                                    "META_TRACE_EVENTS=",
                                    "META_LOG=",
                                    "META_LOG_FILE=",
                                    "META_BACKEND_PATH=",
                                    "META_CACHE_DIR=",
                                    "META_JIT=",
                                    "META_JIT_TIMEOUT=",
                                    "META_POOL=",
                                    "META_GPU_POOL=",
                                    "META_CPU=",
                                    "META_STREAM_BYTES=",
                                    "META_TEST_WORKER=",
                                    "METAMORPH_MODE=",
                                    "OMP_NUM_THREADS=",
                                    "on",
                                    "off",
                                    "auto",
                                    "openmp",
                                    "json:",
                                    "trace:",
                                    "random:",
                                    "type:",
                                    "device:",
                                    "-1",
                                    "0",
                                    "4096",
                                    "4097",
                                    "1e9",
                                    "nan",
                                    "inf",
                                    "0x10",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "18446744073709551616",
                                    ",",
                                    ":",
                                    " ",
                                    "\n",
                                    "%s%n",
                                    "\xc3\xa9",
                                    NULL};

static size_t seed(int n, uint8_t *data, size_t room)
{
    return lines_seed(seeds[n], data, room);
}

const fuzz_target fuzz_here = {"variables", sizeof seeds / sizeof *seeds, seed, NULL, words};

/* Behind what META_BACKEND_PATH names, folders of which the new one has none, the back ends are. */
static void add_backends(void)
{
    static char folders[1 << 15];
    const char *named = getenv("META_BACKEND_PATH");
    snprintf(folders, sizeof folders, "%s:%s", named ? named : "", fuzz_built(".libs/libmeta"));
    setenv("META_BACKEND_PATH", folders, 1);
}

/* Files that variables name are made in a folder that is removed. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    unsetenv("META_MODE");
    unsetenv("META_BACKEND_PATH");
    add_backends();
    if (chdir(fuzz_folder()) != 0) fuzz_fail("the new folder cannot be entered");
    return 0;
}

static bool is_name(const char *text)
{
    return strncmp(text, "META", 4) == 0 || strcmp(text, "OMP_NUM_THREADS") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_lines lines;
    unsetenv("META_BACKEND_PATH");
    lines_set(&lines, data, size, is_name);
    add_backends();
    const meta_err started = meta_init();
    if (started == META_OK) {
        meta_mode mode;
        const meta_err chosen = meta_rank_device(0, 1, 0, 1, &mode, NULL, NULL);
        if (chosen != META_OK && !lines_named(&lines, meta_last_error()))
            fuzz_fail("no device, and no variable is named: %s", meta_last_error());
        if (meta_finalize() != META_OK) fuzz_fail("it cannot be ended: %s", meta_last_error());
        fuzz_accept();
    } else if (started != META_ERR_ENVIRONMENT) {
        fuzz_fail("meta_init() gives %s: %s", meta_strerror(started), meta_last_error());
    } else if (!lines_named(&lines, meta_last_error())) {
        fuzz_fail("the error names no variable that is set: %s", meta_last_error());
    }
    lines_unset(&lines);
    unsetenv("META_BACKEND_PATH");
    add_backends();
    if (meta_init() != META_OK) fuzz_fail("it does not start again: %s", meta_last_error());
    if (meta_finalize() != META_OK) fuzz_fail("it cannot be ended again: %s", meta_last_error());
    fuzz_check_heap();
    return 0;
}
