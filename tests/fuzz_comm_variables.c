/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_comm_variables.c
 *  The META_* variables of messages with arbitrary values, several at once: the process joins a job
 * of one rank, sums a number and leaves, or the error names one of them; without them it joins
 * afterwards. An input has lines of NAME=VALUE. */
/* TEST: np=1 labels=comm,fuzz */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz_lines.h"
#include "meta_comm.h"

static const char *const seeds[] = {
    "META_TIMEOUT=60\nMETA_SHARED=off\nMETA_PIPELINE=65536\nMETA_TEST_CHUNK=4096\n",
    "META_TIMEOUT=0\nMETA_SHARED=auto\nMETA_PROGRESS=calls\nMETA_PIPELINE=auto\n",
    "META_TIMEOUT_ABORT=off\nMETA_PROGRESS=thread\nMETA_LOG=debug\n",
    "META_TIMEOUT_ABORT=1\nMETA_RANK_MAP=*:openmp\nMETA_PROFILE=summary\n",
    "META_TEST_CHUNK=2147479551\nMETA_PIPELINE=4096\nMETA_SHARED=OFF\nMETA_TIMEOUT=1e3\n",
};
static const char *const words[] = {"META_TIMEOUT=",
                                    "META_TIMEOUT_ABORT=",
                                    "META_SHARED=",
                                    "META_PROGRESS=",
                                    "META_PIPELINE=",
                                    "META_TEST_CHUNK=",
                                    "META_RANK_MAP=",
                                    "META_PROFILE=",
                                    "META_LOG=",
                                    "auto",
                                    "off",
                                    "on",
                                    "calls",
                                    "thread",
                                    "-1",
                                    "0",
                                    "1",
                                    "4095",
                                    "4096",
                                    "2147479551",
                                    "2147479552",
                                    "9223372036854775808",
                                    "1e9",
                                    "1e999",
                                    "nan",
                                    "inf",
                                    "0x1p10",
                                    "\n",
                                    "%s%n",
                                    "\xc3\xa9",
                                    NULL};

static size_t seed(int n, uint8_t *data, size_t room)
{
    return lines_seed(seeds[n], data, room);
}

const fuzz_target fuzz_here = {"comm_variables", sizeof seeds / sizeof *seeds, seed, NULL, words};

static void end(void)
{
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    atexit(end);
    setenv("META_MODE", "openmp", 1);
    setenv("META_BACKEND_PATH", fuzz_built(".libs/libmeta"), 1);
    if (chdir(fuzz_folder()) != 0) fuzz_fail("the new folder cannot be entered");
    return 0;
}

static bool is_name(const char *text)
{
    static const char *const names[] = {"META_TIMEOUT",  "META_TIMEOUT_ABORT", "META_SHARED",
                                        "META_PROGRESS", "META_PIPELINE",      "META_TEST_CHUNK",
                                        "META_RANK_MAP", "META_PROFILE",       "META_LOG"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (strcmp(text, names[k]) == 0) return true;
    return false;
}

static void use_job(void)
{
    const double one = 1;
    double sum = 0;
    if (meta_allreduce(&sum, &one, 1, META_SUM, META_F64, NULL) != META_OK)
        fuzz_fail("no sum: %s", meta_last_error());
    if (sum != 1) fuzz_fail("the sum of one number 1 is %g", sum);
    if (meta_comm_finalize() != META_OK) fuzz_fail("it cannot leave: %s", meta_last_error());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static fuzz_lines lines;
    lines_set(&lines, data, size, is_name);
    /* Together they may end the process, as they say. */
    if (getenv("META_TIMEOUT")) unsetenv("META_TIMEOUT_ABORT");
    if (meta_comm_init(NULL, NULL) == META_OK) {
        use_job();
        fuzz_accept();
    } else if (!lines_named(&lines, meta_last_error())) {
        fuzz_fail("the error names no variable that is set: %s", meta_last_error());
    }
    lines_unset(&lines);
    if (meta_comm_init(NULL, NULL) != META_OK)
        fuzz_fail("it does not join again: %s", meta_last_error());
    use_job();
    fuzz_check_heap();
    return 0;
}
