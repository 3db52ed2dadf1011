/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain_euler.c
 *  See plain_euler.h. */
#include "euler_mpi_step.h"

#include "plain_euler.h"

void plain_euler_begin(int64_t n)
{
    set_up("blast", n, n);
}

void plain_euler_run(int64_t times)
{
    for (int64_t k = 0; k < times; ++k) advance(INFINITY);
}

void plain_euler_end(void)
{
    tear_down();
}
