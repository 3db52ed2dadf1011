/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_ptx_run.c
 *  PTX on the CPU. */
/* TEST: labels=core */
#include "test.h"

#include "ptx_try.h"

static void an_empty_kernel_runs(void)
{
    uint64_t word = 5;
    CHECK(try_text(".entry k(.param .u64 p) { ret; }", 1, 1, &word, sizeof word));
    CHECK_U64(word, 5);
}

TEST_MAIN(PROMISE(an_empty_kernel_runs))
