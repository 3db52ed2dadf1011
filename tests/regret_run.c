/* SPDX-License-Identifier: BSD-3-Clause */
/** @file regret_run.c
 *  Runs a workload of test_regret.c on simulated devices. */
#include "config.h"

#define META_KERNELS_HERE
#include "choose.kernel.h"
#define META_KERNEL_TYPES META_KERNEL_F64
#include "../examples/cyclic_reduction.kernel.h"

#include <stdlib.h>

#include "regret.h"
#include "simulated.h"
#include "test.h"

typedef struct running {
    const regret_workload *w;
    void *buffer[REGRET_BUFFERS];
    meta_box box[REGRET_BUFFERS];
} running;

static const double half = 0.5;

static void side(running *r, const regret_call *c, int grid, int packed)
{
    const bool is_pack = c->operation == REGRET_PACK;
    const meta_slab inner = c->side ? META_SLAB_HIGH : META_SLAB_LOW;
    const meta_slab ghost = c->side ? META_SLAB_HIGH_GHOST : META_SLAB_LOW_GHOST;
    meta_face face;
    CHECK_OK(meta_face_slab(&face, &r->box[grid], 2, is_pack ? inner : ghost, 1));
    if (is_pack)
        CHECK_OK(meta_pack_face(r->buffer[packed], r->buffer[grid], &face, META_F64, META_ASYNC));
    else
        CHECK_OK(meta_unpack_face(r->buffer[grid], r->buffer[packed], &face, META_F64, META_ASYNC));
}

static void halve(running *r, const regret_call *c)
{
    const int64_t n = r->w->buffer[c->buffer[0]].cells, from = r->w->buffer[c->buffer[1]].cells;
    double *to = r->buffer[c->buffer[0]];
    CHECK_OK(halve_f64(&r->box[c->buffer[0]], to, to + n, to + 2 * n, to + 3 * n,
                       r->buffer[c->buffer[1]], from, META_ASYNC));
}

static void perform(running *r, const regret_call *c)
{
    void *a = r->buffer[c->buffer[0]], *b = r->buffer[c->buffer[1]];
    const meta_box *box = &r->box[c->buffer[0]];
    double result;
    switch (c->operation) {
    case REGRET_AXPY:
        CHECK_OK(meta_axpy(a, &half, b, box, META_F64, META_ASYNC));
        break;
    case REGRET_AXPBY:
        CHECK_OK(axpby_f64(box, a, 0.25, b, 0.25, META_ASYNC));
        break;
    case REGRET_STENCIL:
        CHECK_OK(meta_stencil(a, b, box, META_3D7P, META_F64, NULL, META_ASYNC));
        break;
    case REGRET_SUM:
        CHECK_OK(meta_reduce(&result, a, box, META_SUM, META_F64, NULL));
        break;
    case REGRET_DOT:
        CHECK_OK(meta_dot(&result, a, b, box, META_F64, NULL));
        break;
    case REGRET_PACK:
        side(r, c, c->buffer[1], c->buffer[0]);
        break;
    case REGRET_UNPACK:
        side(r, c, c->buffer[0], c->buffer[1]);
        break;
    case REGRET_HALVE:
        halve(r, c);
        break;
    case REGRET_INSERT:
        CHECK_OK(insert_f64(box, a, b, r->buffer[c->buffer[2]], box->end[0], META_ASYNC));
        break;
    case REGRET_DIVIDE:
        CHECK_OK(divide_f64(box, a, b, META_ASYNC));
        break;
    case REGRET_FEED:
        CHECK_OK(axpby_f64(box, (double *)a + 3 * box->end[0], 0.25, b, 0.25, META_ASYNC));
        break;
    default:
        FAIL("no operation %d", (int)c->operation);
    }
}

/* Systems that are diagonally dominant; else zeros. */
static void fill(void *buffer, const regret_buffer *b)
{
    const int64_t elements = regret_elements(b);
    double *values = calloc((size_t)elements, sizeof *values);
    if (!CHECK(values)) return;
    for (int64_t k = 0; b->is_system && k < b->cells; ++k) {
        values[k] = values[2 * b->cells + k] = -1;
        values[b->cells + k] = 4;
        values[3 * b->cells + k] = 1;
    }
    CHECK_OK(meta_copy_h2d(buffer, values, (size_t)elements * sizeof *values, NULL));
    free(values);
}

static void start(running *r, const regret_workload *w)
{
    r->w = w;
    for (int k = 0; k < w->buffers; ++k) {
        const regret_buffer *b = &w->buffer[k];
        const int64_t cells[3] = {b->cells, b->cells, b->cells};
        const int ghosts[3] = {1, 1, 1};
        r->box[k] = (meta_box){1, {b->cells}, {0}, {b->cells}};
        if (b->ndim == 3)
            CHECK_OK(
                meta_grid_alloc(&r->buffer[k], &r->box[k], 3, cells, ghosts, ghosts, META_F64));
        else CHECK_OK(meta_alloc(&r->buffer[k], (size_t)regret_elements(b) * sizeof(double)));
        if (r->buffer[k]) fill(r->buffer[k], b);
    }
}

/* Microseconds of @p steps steps. */
static double life(const regret_workload *w, const char *policy, int steps)
{
    running r = {0};
    const long before = test_failures();
    if (!simulated_report_begin()) return 0;
    setenv("META_POLICY", policy, 1);
    if (CHECK_OK(meta_init())) {
        start(&r, w);
        for (int k = 0; k < steps && test_failures() == before; ++k)
            for (int n = 0; n < w->calls; ++n) perform(&r, &w->call[n]);
        CHECK_OK(meta_flush());
        for (int k = 0; k < w->buffers; ++k) CHECK_OK(meta_free(r.buffer[k]));
        CHECK_OK(meta_finalize());
    }
    const double time = simulated_number(simulated_report_end(), "time_us ");
    CHECK(time > 0);
    return time;
}

double regret_step_time(const regret_workload *w, const char *policy)
{
    const double first = life(w, policy, w->steps);
    return (life(w, policy, 2 * w->steps) - first) / w->steps;
}
