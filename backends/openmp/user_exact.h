/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_exact.h
 *  Exact sums of what the cells of a program's kernel contribute, compiled with the kernels once
 * per instruction set. Include it after meta_host_kernels.h. */
#ifndef META_OPENMP_USER_EXACT_H
#define META_OPENMP_USER_EXACT_H

static void exact_begin(void *sum)
{
    meta_exact_begin(sum);
}

static void exact_take(void *sum, const double *contribution, int64_t cells)
{
    meta_exact_take_cells(sum, contribution, cells);
}

/* The sum's words are its first member. */
static void exact_end(void *sum)
{
    _Static_assert(offsetof(meta_exact_sum, limb) == 0, "the words come first");
    meta_exact_end(sum);
}

#endif
