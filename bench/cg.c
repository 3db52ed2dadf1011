/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cg.c
 *  Row cg of group kernels: an iteration of conjugate gradients for Poisson's equation with the
 *  7-point Laplacian and the value 0 around all ranks' cubes, written with libmeta, and with plain
 *  MPI and OpenMP. Both begin anew every AGAIN iterations, before the residual is so small that
 *  arithmetic takes longer. */
#include "config.h"

#include "bench.kernel.h"
#include "exchange.h"
#include "group.h"
#include "limit.h"
#include "plain_loops.h"
#include "plan.h"

enum { X, R, P, Q, ARRAYS, AGAIN = 40 };

typedef struct work {
    buffer array[ARRAYS];
    meta_halo plan;
    meta_box own;
    bool f64;
    double rr;
    int iterations;
} work;

typedef struct plain {
    exchange halo;      /* of p */
    buffer own[ARRAYS]; /* the others */
    void *array[ARRAYS];
    int64_t n;
    bool f64;
    double rr;
    int iterations;
} plain;

/* ------------------------------------------------------------------ with libmeta */

static bool sum_over_ranks(double *part)
{
    return note_meta(meta_allreduce(part, part, 1, META_SUM, META_F64, NULL));
}

/* x = 0, and r = p = 1. */
static bool begin(work *w)
{
    const meta_type type = w->f64 ? META_F64 : META_F32;
    const double one = 1, zero = 0;
    const float one_f32 = 1, zero_f32 = 0;
    const void *ones = w->f64 ? (const void *)&one : &one_f32;
    const void *zeros = w->f64 ? (const void *)&zero : &zero_f32;
    w->rr = (double)(w->own.end[0] - w->own.start[0]) * (double)(w->own.end[1] - w->own.start[1]) *
            (double)(w->own.end[2] - w->own.start[2]);
    return note_meta(meta_fill_box(w->array[X].at, &w->own, zeros, type, META_ASYNC)) &&
           note_meta(meta_fill_box(w->array[R].at, &w->own, ones, type, META_ASYNC)) &&
           note_meta(meta_fill_box(w->array[P].at, &w->own, ones, type, META_ASYNC)) &&
           sum_over_ranks(&w->rr);
}

static bool apply(work *w, double *pq)
{
    float sum;
    if (w->f64)
        return note_meta(bench_cg_apply_f64(&w->own, w->array[Q].at, w->array[P].at, pq, NULL));
    if (!note_meta(bench_cg_apply_f32(&w->own, w->array[Q].at, w->array[P].at, &sum, NULL)))
        return false;
    *pq = (double)sum;
    return true;
}

static bool descend(work *w, double alpha, double *rr)
{
    float sum;
    if (w->f64)
        return note_meta(bench_cg_descend_f64(&w->own, w->array[X].at, w->array[R].at,
                                              w->array[P].at, w->array[Q].at, alpha, rr, NULL));
    if (!note_meta(bench_cg_descend_f32(&w->own, w->array[X].at, w->array[R].at, w->array[P].at,
                                        w->array[Q].at, (float)alpha, &sum, NULL)))
        return false;
    *rr = (double)sum;
    return true;
}

static bool follow(work *w, double beta)
{
    return note_meta(
        w->f64 ? bench_cg_follow_f64(&w->own, w->array[P].at, w->array[R].at, beta, NULL)
               : bench_cg_follow_f32(&w->own, w->array[P].at, w->array[R].at, (float)beta, NULL));
}

/* As in examples/cg.c. */
static bool iterate(work *w)
{
    double pq, rr;
    if (w->iterations++ % AGAIN == 0 && !begin(w)) return false;
    if (!note_meta(meta_halo_exchange(w->plan, &w->array[P].at, META_ASYNC))) return false;
    if (!apply(w, &pq) || !sum_over_ranks(&pq)) return false;
    if (!descend(w, w->rr / pq, &rr) || !sum_over_ranks(&rr)) return false;
    if (!follow(w, rr / w->rr)) return false;
    w->rr = rr;
    return true;
}

static void run(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!iterate(with)) return;
}

/* ------------------------------------------------------------------ with MPI and OpenMP */

static double sum_by_mpi(const plain *w, double part)
{
    MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_DOUBLE, MPI_SUM, w->halo.comm);
    return part;
}

static void begin_plain(plain *w)
{
    const int64_t n = w->n;
    plain_cg_begin(w->array[X], w->array[R], w->array[P], n, w->f64);
    w->rr = sum_by_mpi(w, (double)n * (double)n * (double)n);
}

static void run_plain(void *with, int64_t times)
{
    plain *w = with;
    void **a = w->array;
    for (int64_t k = 0; k < times; ++k) {
        if (w->iterations++ % AGAIN == 0) begin_plain(w);
        exchange_manual(&w->halo, 1);
        const double pq = sum_by_mpi(w, plain_cg_apply(a[Q], a[P], w->n, w->f64));
        const double part = plain_cg_descend(a[X], a[R], a[P], a[Q], w->rr / pq, w->n, w->f64);
        const double rr = sum_by_mpi(w, part);
        plain_cg_follow(a[P], a[R], rr / w->rr, w->n, w->f64);
        w->rr = rr;
    }
}

/* ------------------------------------------------------------------ the row */

static void create(work *w, MPI_Comm cart, const cube *c, number type)
{
    const uint64_t zero = 0; /* of any type */
    *w = (work){.f64 = type == NUMBER_F64};
    for (int k = 0; k < ARRAYS; ++k)
        buffer_create_grid(&w->array[k], &w->own, c->n, c->ghosts, type);
    if (note_seen()) return;
    const meta_box all = {3,
                          {w->own.size[0], w->own.size[1], w->own.size[2]},
                          {0},
                          {w->own.size[0], w->own.size[1], w->own.size[2]}};
    note_meta(meta_fill_box(w->array[P].at, &all, &zero, type_of(type), NULL)); /* ghosts too */
    plan_create(&w->plan, cart, &w->own, (int)c->ghosts, 1, type_of(type), false);
}

static void destroy(work *w)
{
    plan_free(&w->plan);
    for (int k = 0; k < ARRAYS; ++k)
        if (w->array[k].at) buffer_free(&w->array[k]);
}

static void create_plain(plain *w, MPI_Comm cart, const cube *c, number type)
{
    *w = (plain){.n = c->n, .f64 = type == NUMBER_F64};
    exchange_create(&w->halo, cart, c, 1, type, false);
    for (int k = 0; k < ARRAYS; ++k)
        if (k != P) buffer_create_host(&w->own[k], cube_cells(c), type);
    for (int k = 0; k < ARRAYS; ++k) w->array[k] = k == P ? w->halo.field[0] : w->own[k].at;
}

static void destroy_plain(plain *w)
{
    for (int k = 0; k < ARRAYS; ++k)
        if (w->own[k].at) buffer_free(&w->own[k]);
    exchange_free(&w->halo);
}

/* What an iteration has to move: p and q; x, r, p and q, of which two are written; p and r. */
static double bytes_of(const bench *b, int64_t n)
{
    return (2 + 6 + 3) * (double)number_size(b->o->type) * (double)(n * n * n);
}

static void measure(bench *b, MPI_Comm cart, const cube *c)
{
    work w;
    plain p = {.n = 0};
    row r;
    create(&w, cart, c, b->o->type);
    if (b->here->all_host) create_plain(&p, cart, c, b->o->type);
    if (!rows_impossible("kernels", c->n)) {
        copy_limit limit;
        const double bytes = bytes_of(b, c->n);
        row_begin(&r, "kernels", "cg", b->o->type, c->n);
        row_add(&r, "cg", SUBJECT, run, &w, bytes);
        if (b->here->all_host) row_add(&r, "plain", PEER, run_plain, &p, bytes);
        copy_limit_add(&r, &limit, b->here, &w.array[X], &w.array[R],
                       (double)number_size(b->o->type) * (double)(c->n * c->n * c->n));
        row_end(b, &r);
    }
    if (p.n != 0) destroy_plain(&p);
    destroy(&w);
}

void cg_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    const size_t element = number_size(b->o->type);
    int dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, ranks;
    MPI_Comm cart;
    place_need(b->here, ARRAYS * cube_grid_bytes(&c, element),
               b->here->all_host ? exchange_need(&c, ARRAYS, b->o->type) : 0);
    if (rows_impossible("kernels", size)) return;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    measure(b, cart, &c);
    MPI_Comm_free(&cart);
}
