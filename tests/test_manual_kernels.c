/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_kernels.c
 *  The examples of the manual pages of meta_kernel.h, see test_manual_examples.c. */
/* TEST: backends=all labels=core,documents */
/* TEST: backends=openmp labels=core,documents with=CHECK=1 */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "manual.kernel.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_OK(call)) return;                                                               \
    } while (0)

static void a_kernel_runs(void)
{
    const int64_t cells[1] = {8};
    const int ghosts[1] = {1};
    const double quarter = 0.25, one = 1;
    double change, again;
    void *now, *next, *factor;
    meta_box box;
    TRY(meta_grid_alloc(&now, &box, 1, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&next, &box, 1, cells, ghosts, ghosts, META_F64));
    TRY(meta_alloc(&factor, sizeof(double)));
    TRY(meta_fill(now, box.size[0], &one, META_F64, NULL));
    TRY(meta_fill(factor, 1, &quarter, META_F64, NULL));
    {
        /* EXAMPLE: meta_kernel_find meta_kernel_run meta_kernel_prepare */
        meta_kernel *kernel;
        TRY(meta_kernel_find("smooth", META_F64, &kernel));
        TRY(meta_kernel_prepare(kernel)); /* build it now, not at its first run */

        const void *const arguments[] = {next, now, factor, &change}; /* in the order of its list */
        TRY(meta_kernel_run(kernel, &box, arguments, NULL));

        /* What a program writes instead: */
        TRY(smooth_f64(&box, next, now, factor, &again, NULL));
        /* END OF EXAMPLE */
    }
    CHECK_NEAR(change, 0, 0);
    CHECK_NEAR(again, 0, 0);
    CHECK_OK(meta_free(now));
    CHECK_OK(meta_free(next));
    CHECK_OK(meta_free(factor));
}

static void kernels_are_built_ahead(void)
{
    /* EXAMPLE: meta_kernels_prepare */
    TRY(meta_kernels_prepare(NULL, 0)); /* all of the program's, ahead of the time loop */
    /* END OF EXAMPLE */
}

static void kernels_say_how_far_they_reach(void)
{
    meta_kernel *kernel;
    TRY(meta_kernel_find("smooth", META_F64, &kernel));
    {
        /* EXAMPLE: meta_kernel_reach */
        int low[META_MAX_DIM] = {0}, high[META_MAX_DIM] = {0};
        const int64_t cells[1] = {100};
        void *grid;
        meta_box box;
        TRY(meta_kernel_reach(kernel, low, high)); /* call it for each kernel that reads the grid */
        TRY(meta_grid_alloc(&grid, &box, 1, cells, low, high, META_F64));
        /* END OF EXAMPLE */
        CHECK_INT(low[0], 1);
        CHECK_OK(meta_free(grid));
    }
}

static void kernels_are_listed(void)
{
    /* EXAMPLE: meta_kernel_count meta_kernel_at */
    int count;
    TRY(meta_kernel_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_kernel *kernel;
        TRY(meta_kernel_at(k, &kernel));
        printf("%s of %s, %u parameters\n", kernel->name, kernel->file,
               (unsigned)kernel->parameters);
    }
    /* END OF EXAMPLE */
    CHECK(count >= 2);
}

static void a_text_is_compiled(void)
{
    void *x;
    const meta_box box = {1, {4}, {0}, {4}};
    TRY(meta_alloc(&x, 4 * sizeof(double)));
    /* EXAMPLE: meta_kernel_compile */
    static const char text[] = "#include <meta_kernel.h>\n"
                               "#define count_ARGS(A) A(OUT, T, x)\n"
                               "META_CELLS(count) { ON(x) = (T)INDEX(0); }\n"
                               "#include META_AGAIN\n";
    meta_kernel *kernel;
    TRY(meta_kernel_compile(&kernel, "count", META_F64, "count.kernel.h", text));
    const void *const arguments[] = {x};
    TRY(meta_kernel_run(kernel, &box, arguments, NULL));
    /* END OF EXAMPLE */
    double found[4];
    CHECK_OK(meta_copy_d2h(found, x, sizeof found, NULL));
    CHECK_NEAR(found[3], 3, 0);
    CHECK_OK(meta_free(x));
}

TEST_DEVICE_MAIN(PROMISE(a_kernel_runs), PROMISE(kernels_are_built_ahead),
                 PROMISE(kernels_say_how_far_they_reach), PROMISE(kernels_are_listed),
                 PROMISE(a_text_is_compiled))
