/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel.c
 *  The computation of a time step on one variable after its halo exchange. */
#include "config.h"

#include "kernel.h"

#include <string.h>

#include "check.h"
#include "planes.h"
#include "ranks.h"
#include "reference.h"
#include "solve.h"

static const int one[3] = {1, 1, 1};

/* Of plain loops, where memory is the host's. */
static int count_threads(const problem *p)
{
    where here;
    int index = 0;
    meta_mode mode = META_SPREAD;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    if (!p->o.reference) return 0;
    memset(&here, 0, sizeof here);
    where_am_i(p->cart, &here);
    check(meta_get_acc(&index, &mode));
    check(meta_device_info(index, mode, &device));
    return device.is_host ? here.threads : 0;
}

static meta_box dense_block(const problem *p)
{
    meta_box own = {.ndim = 3};
    for (int d = 0; d < 3; ++d) {
        own.size[d] = p->size[d];
        own.start[d] = p->own.start[d];
        own.end[d] = p->own.end[d];
    }
    return own;
}

/* How many are not another's. */
int kernel_arrays(const problem *p)
{
    return p->variables + (p->o.reference ? 1 : p->variables);
}

void kernel_begin(kernel *k, const problem *p)
{
    *k = (kernel){.p = p, .own = dense_block(p), .threads = count_threads(p)};
}

void kernel_allocate(kernel *k, void **grid)
{
    const problem *p = k->p;
    int64_t own[3];
    for (int d = 0; d < 3; ++d) own[d] = p->own.end[d] - p->own.start[d];
    check(p->o.reference ? meta_alloc(grid, (size_t)p->cells * number_size(p->type))
                         : meta_grid_alloc(grid, &k->own, 3, own, one, one, type_of(p->type)));
}

void kernel_create(kernel *k, const problem *p, void **grid)
{
    const int arrays = kernel_arrays(p);
    kernel_begin(k, p);
    for (int i = 0; i < arrays; ++i) kernel_allocate(k, &grid[i]);
    for (int i = arrays; i < 2 * p->variables; ++i) grid[i] = grid[arrays - 1];
}

void kernel_clear(const kernel *k, void *grid)
{
    static const char zero[8];
    meta_box all = k->own;
    for (int d = 0; d < all.ndim; ++d) all.start[d] = 0, all.end[d] = all.size[d];
    check(meta_fill_box(grid, &all, zero, type_of(k->p->type), META_ASYNC));
}

void kernel_free(const kernel *k, void *const *grid)
{
    for (int i = 0; i < kernel_arrays(k->p); ++i) check(meta_free(grid[i]));
}

meta_box kernel_box(const kernel *k, const region *r)
{
    meta_box box = k->own;
    for (int d = 0; d < 3; ++d) {
        box.start[d] += r->start[d] - k->p->own.start[d];
        box.end[d] += r->end[d] - k->p->own.end[d];
    }
    return box;
}

void kernel_put(const kernel *k, void *grid, const void *cells)
{
    planes_put(grid, &k->own, one, one, cells, k->p->type);
}

void kernel_get(const kernel *k, void *cells, const void *grid)
{
    planes_get(cells, grid, &k->own, one, one, k->p->type);
}

/* The loops run now: what was queued must be done. */
static void apply_loops(const kernel *k, void *work, void *grid, void *sum)
{
    check(meta_flush());
    reference_stencil(k->p, k->threads, work, grid);
    reference_copy(k->p, k->threads, grid, work);
    if (sum == NULL) return;
    if (solver_reproducible())
        check(meta_reduce(sum, grid, &k->own, META_SUM, type_of(k->p->type), META_ASYNC));
    else reference_sum(k->p, k->threads, grid, sum);
}

static void apply_passes(const kernel *k, void *work, void *grid, void *sum)
{
    const meta_box *own = &k->own;
    const meta_type type = type_of(k->p->type);
    check(meta_stencil(work, grid, own, k->p->stencil, type, NULL, META_ASYNC));
    check(meta_copy_box(grid, own, work, own, type, META_ASYNC));
    if (sum != NULL) check(meta_reduce(sum, grid, own, META_SUM, type, META_ASYNC));
}

void kernel_apply_box(const kernel *k, void *next, const void *grid, const meta_box *box, void *sum)
{
    const problem *p = k->p;
    check(meta_stencil(next, grid, box, p->stencil, type_of(p->type), sum, META_ASYNC));
}

void kernel_apply(const kernel *k, void *next, void *grid, void *sum)
{
    const problem *p = k->p;
    if (k->threads > 0) apply_loops(k, next, grid, sum);
    else if (p->o.reference) apply_passes(k, next, grid, sum);
    else kernel_apply_box(k, next, grid, &k->own, sum);
}
