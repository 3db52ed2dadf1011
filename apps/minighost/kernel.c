/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel.c
 *  The computation of a time step on one variable after its halo exchange. */
#include "config.h"

#include "kernel.h"

#include <string.h>

#include "check.h"
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

void kernel_begin(kernel *k, const problem *p)
{
    *k = (kernel){
        .p = p, .type = type_of(p->type), .own = dense_block(p), .threads = count_threads(p)};
}

/* Cells of the block's array as they lie in one on the device. */
static meta_box box_of(const kernel *k, const region *r)
{
    meta_box box = k->own;
    for (int d = 0; d < 3; ++d) {
        box.start[d] += r->start[d] - k->p->own.start[d];
        box.end[d] += r->end[d] - k->p->own.end[d];
    }
    return box;
}

void kernel_allocate(kernel *k, void **array)
{
    const problem *p = k->p;
    int64_t own[3];
    for (int d = 0; d < 3; ++d) own[d] = p->own.end[d] - p->own.start[d];
    check(p->o.reference ? meta_alloc(array, (size_t)p->cells * number_size(p->type))
                         : meta_grid_alloc(array, &k->own, 3, own, one, one, k->type));
    for (int t = 0; t < p->terms; ++t) k->side[t] = box_of(k, &p->term[t].cells);
}

void kernel_allocate_next(kernel *k, void *const *grid, void **next)
{
    if (k->p->o.reference) kernel_allocate(k, &k->work);
    for (int v = 0; v < k->p->variables; ++v) {
        next[v] = grid[v];
        if (!k->p->o.reference) kernel_allocate(k, &next[v]);
    }
}

void kernel_create(kernel *k, const problem *p, void **grid)
{
    kernel_begin(k, p);
    for (int v = 0; v < p->variables; ++v) kernel_allocate(k, &grid[v]);
    kernel_allocate_next(k, grid, grid + p->variables);
}

void kernel_clear(const kernel *k, void *grid)
{
    static const char zero[8];
    meta_box all = k->own;
    for (int d = 0; d < all.ndim; ++d) all.start[d] = 0, all.end[d] = all.size[d];
    check(meta_fill_box(grid, &all, zero, k->type, META_ASYNC));
}

void kernel_free_next(kernel *k, void *const *next)
{
    if (k->p->o.reference) check(meta_free(k->work));
    for (int v = 0; v < k->p->variables && !k->p->o.reference; ++v) check(meta_free(next[v]));
}

void kernel_free(kernel *k, void *const *grid)
{
    for (int v = 0; v < k->p->variables; ++v) check(meta_free(grid[v]));
    kernel_free_next(k, grid + k->p->variables);
}

/* All cells of the block's array, in one on the device and in a dense one. */
static void both_boxes(const kernel *k, meta_box *there, meta_box *dense)
{
    const int64_t *size = k->p->size;
    *dense = (meta_box){3, {size[0], size[1], size[2]}, {0}, {size[0], size[1], size[2]}};
    *there = box_of(k, &(const region){{0}, {size[0], size[1], size[2]}});
}

void kernel_put(const kernel *k, void *grid, const void *cells)
{
    meta_box there, dense;
    both_boxes(k, &there, &dense);
    check(meta_copy_box_h2d(grid, &there, cells, &dense, k->type, NULL));
}

void kernel_get(const kernel *k, void *cells, const void *grid)
{
    meta_box there, dense;
    both_boxes(k, &there, &dense);
    check(meta_copy_box_d2h(cells, &dense, grid, &there, k->type, NULL));
}

/* The loops run now: what was queued must be done. */
static void apply_loops(const kernel *k, void *grid, void *sum)
{
    check(meta_flush());
    reference_stencil(k->p, k->threads, k->work, grid);
    reference_copy(k->p, k->threads, grid, k->work);
    if (sum == NULL) return;
    if (solver_reproducible())
        check(meta_reduce(sum, grid, &k->own, META_SUM, k->type, META_ASYNC));
    else reference_sum(k->p, k->threads, grid, sum);
}

static void apply_passes(const kernel *k, void *grid, void *sum)
{
    const meta_box *own = &k->own;
    check(meta_stencil(k->work, grid, own, k->p->stencil, k->type, NULL, META_ASYNC));
    check(meta_copy_box(grid, own, k->work, own, k->type, META_ASYNC));
    if (sum != NULL) check(meta_reduce(sum, grid, own, META_SUM, k->type, META_ASYNC));
}

void kernel_apply_box(const kernel *k, void *next, const void *grid, const meta_box *box, void *sum)
{
    check(meta_stencil(next, grid, box, k->p->stencil, k->type, sum, META_ASYNC));
}

void kernel_apply_and_sum(const kernel *k, void *next, const void *grid, void *sum, void *sides)
{
    check(meta_stencil_sums(next, grid, &k->own, k->p->stencil, k->type, sum, sides, k->p->terms,
                            k->side, META_ASYNC));
}

void kernel_apply(const kernel *k, void *next, void *grid, void *sum)
{
    if (k->threads > 0) apply_loops(k, grid, sum);
    else if (k->p->o.reference) apply_passes(k, grid, sum);
    else kernel_apply_box(k, next, grid, &k->own, sum);
}
