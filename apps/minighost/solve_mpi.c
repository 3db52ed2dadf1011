/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve_mpi.c
 *  The solver in plain MPI: the baseline with which solve.c is compared line by line. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "laps.h"
#include "solve.h"

struct solver {
    const problem *p;
    double *buffer[4]; /* two to send from, two to receive into */
    void **grid, **next;
};

void solver_begin(void) {}

void solver_end(void) {}

void solver_wait(void) {}

/* The plane of cells at a side of the block, its own or its ghost cells, with the ghost cells of
 * the other axes: exchanged axis after axis, they bring the edges and corners along. */
static region plane(const problem *p, int axis, int side, bool ghost)
{
    region r = {{0, 0, 0}, {p->size[0], p->size[1], p->size[2]}};
    r.start[axis] = side == 0 ? !ghost : p->size[axis] - 2 + ghost;
    r.end[axis] = r.start[axis] + 1;
    return r;
}

static int64_t largest_plane(const problem *p)
{
    int64_t shortest = p->size[0];
    for (int d = 1; d < 3; ++d)
        if (p->size[d] < shortest) shortest = p->size[d];
    return p->cells / shortest;
}

solver *solver_create(const problem *p)
{
    if (p->o.overlap == OVERLAP_ON)
        failure_note("--overlap on: this version exchanges, and then computes");
    const int arrays = 2 * p->variables;
    solver *s = calloc(1, sizeof *s);
    void **grid = calloc((size_t)arrays, sizeof *grid);
    const int64_t message = largest_plane(p) * p->grouped;
    if (s == NULL || grid == NULL) failure_note_memory(sizeof *s + (double)arrays * sizeof *grid);
    if (p->type != NUMBER_F64) failure_note("--type: this version computes in f64 only");
    if (p->o.reference) failure_note("--kernel: this version has its own loops only");
    if (message > INT_MAX) failure_note("a message of more than %d cells; use more ranks", INT_MAX);
    if (failure_agree(p->cart)) {
        free(grid);
        free(s);
        return NULL;
    }
    *s = (solver){.p = p, .grid = grid, .next = grid + p->variables};
    for (int i = 0; i < arrays; ++i)
        if ((grid[i] = malloc((size_t)p->cells * sizeof(double))) == NULL)
            failure_note_memory((double)p->cells * sizeof(double) * arrays);
    for (int i = 0; i < 4; ++i)
        if ((s->buffer[i] = malloc((size_t)message * sizeof(double))) == NULL)
            failure_note_memory((double)message * sizeof(double) * 4);
    return s;
}

void solver_free(solver *s)
{
    void **arrays = s->grid < s->next ? s->grid : s->next;
    for (int i = 0; i < 2 * s->p->variables; ++i) free(arrays[i]);
    for (int i = 0; i < 4; ++i) free(s->buffer[i]);
    free(arrays);
    free(s);
}

/* Both arrays, because the ghost cells outside the domain are never written again. */
void solver_put(solver *s, int variable, const void *cells)
{
    const size_t bytes = (size_t)s->p->cells * number_size(s->p->type);
    void *const both[] = {s->grid[variable], s->next[variable]};
    for (int i = 0; i < 2; ++i) memcpy(both[i], cells, bytes);
}

void solver_get(solver *s, int variable, void *cells)
{
    const size_t bytes = (size_t)s->p->cells * number_size(s->p->type);
    memcpy(cells, s->grid[variable], bytes);
}

void solver_where(solver *s, int variable, solver_array *array)
{
    *array = (solver_array){.cells = s->grid[variable], .own = s->p->own};
    memcpy(array->size, s->p->size, sizeof array->size);
}

static int pack(const problem *p, double *packed, const double *grid, region r)
{
    int count = 0;
    for (int64_t z = r.start[2]; z < r.end[2]; ++z)
        for (int64_t y = r.start[1]; y < r.end[1]; ++y)
            for (int64_t x = r.start[0]; x < r.end[0]; ++x)
                packed[count++] = grid[(z * p->size[1] + y) * p->size[0] + x];
    return count;
}

static int unpack(const problem *p, double *grid, const double *packed, region r)
{
    int count = 0;
    for (int64_t z = r.start[2]; z < r.end[2]; ++z)
        for (int64_t y = r.start[1]; y < r.end[1]; ++y)
            for (int64_t x = r.start[0]; x < r.end[0]; ++x)
                grid[(z * p->size[1] + y) * p->size[0] + x] = packed[count++];
    return count;
}

/* Message tags are the side the message leaves through. */
static void exchange(solver *s, void **grid)
{
    const problem *p = s->p;
    for (int axis = 0; axis < 3; ++axis) {
        int neighbour[2], count = (int)(p->cells / p->size[axis]) * p->grouped;
        MPI_Request request[4];
        MPI_Status status[4];
        MPI_Cart_shift(p->cart, axis, 1, &neighbour[0], &neighbour[1]);
        for (int side = 0; side < 2; ++side)
            MPI_Irecv(s->buffer[2 + side], count, MPI_DOUBLE, neighbour[side], 1 - side, p->cart,
                      &request[2 + side]);
        lap(LAP_OF(axis, AXIS_RECV));
        for (int side = 0; side < 2; ++side) {
            double *packed = s->buffer[side];
            for (int v = 0; v < p->grouped && neighbour[side] != MPI_PROC_NULL; ++v)
                packed += pack(p, packed, grid[v], plane(p, axis, side, false));
            lap(LAP_OF(axis, AXIS_PACK));
            MPI_Isend(s->buffer[side], count, MPI_DOUBLE, neighbour[side], side, p->cart,
                      &request[side]);
            lap(LAP_OF(axis, AXIS_SEND));
        }
        MPI_Waitall(4, request, status);
        lap(LAP_OF(axis, AXIS_WAIT));
        for (int side = 0; side < 2; ++side) {
            const double *packed = s->buffer[2 + side];
            for (int v = 0; v < p->grouped && neighbour[side] != MPI_PROC_NULL; ++v)
                packed += unpack(p, grid[v], packed, plane(p, axis, side, true));
        }
        lap(LAP_OF(axis, AXIS_UNPACK));
    }
}

static void sum_region(const problem *p, const void *from, const region *r, void *result)
{
    const double *grid = from;
    double sum = 0;
    for (int64_t z = r->start[2]; z < r->end[2]; ++z)
        for (int64_t y = r->start[1]; y < r->end[1]; ++y)
            for (int64_t x = r->start[0]; x < r->end[0]; ++x)
                sum += grid[(z * p->size[1] + y) * p->size[0] + x];
    *(double *)result = sum;
}

static inline double average_2d5p(const double *c, int64_t sy, int64_t sz)
{
    (void)sz;
    return (c[-1] + c[-sy] + c[0] + c[sy] + c[1]) / 5;
}

void solver_sum(solver *s, int variable, void *sum)
{
    sum_region(s->p, s->grid[variable], &s->p->own, sum);
}

bool solver_reproducible(void)
{
    return false;
}

void solver_add_ranks(void *totals, const void *sums, int64_t count, number type)
{
    (void)type; /* is NUMBER_F64 */
    MPI_Allreduce(sums, totals, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static inline double add_plane(const double *c, int64_t sy)
{
    return c[-1 - sy] + c[-1] + c[-1 + sy] + c[-sy] + c[0] + c[sy] + c[1 - sy] + c[1] + c[1 + sy];
}

static inline double average_2d9p(const double *c, int64_t sy, int64_t sz)
{
    (void)sz;
    return add_plane(c, sy) / 9;
}

static inline double average_3d7p(const double *c, int64_t sy, int64_t sz)
{
    return (c[-sz] + c[-1] + c[-sy] + c[0] + c[sy] + c[1] + c[sz]) / 7;
}

static inline double average_3d27p(const double *c, int64_t sy, int64_t sz)
{
    return (add_plane(c - sz, sy) + add_plane(c, sy) + add_plane(c + sz, sy)) / 27;
}

static inline double sweep(const problem *p, double *restrict next, const double *restrict grid,
                           double (*average)(const double *, int64_t, int64_t))
{
    const int64_t sy = p->size[0], sz = sy * p->size[1];
    double sum = 0;
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z)
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y) {
            const int64_t row = z * sz + y * sy;
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x)
                next[row + x] = average(grid + row + x, sy, sz);
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x) sum += next[row + x];
        }
    return sum;
}

static double apply(const problem *p, double *next, const double *grid)
{
    switch (p->stencil) {
    case 0:
        return sweep(p, next, grid, average_2d5p);
    case 1:
        return sweep(p, next, grid, average_2d9p);
    case 2:
        return sweep(p, next, grid, average_3d7p);
    default:
        return sweep(p, next, grid, average_3d27p);
    }
}

/* The sum of the new values where result is not NULL. */
static void stencil(const problem *p, void *next, const void *grid, void *result)
{
    const double sum = apply(p, next, grid);
    if (result != NULL) *(double *)result = sum;
}

static void solver_compute(const solver *s, int v, bool summed, void *sums)
{
    const problem *p = s->p;
    const int64_t first = (int64_t)v * (p->terms + 1);
    for (int t = 0; t < p->terms; ++t)
        sum_region(p, s->grid[v], &p->term[t].cells, number_at(sums, first + t, p->type));
    lap(LAP_BOUNDARY);
    stencil(p, s->next[v], s->grid[v], summed ? number_at(sums, first + p->terms, p->type) : NULL);
    lap(LAP_STENCIL);
}

static void solver_swap(solver *s)
{
    void **old = s->grid;
    if (s->p->points == 0) return;
    s->grid = s->next;
    s->next = old;
}

void solver_step(solver *s, const bool *summed, void *sums)
{
    const problem *p = s->p;
    for (int v = 0; v < p->variables; ++v) {
        if (v % p->grouped == 0) exchange(s, s->grid + v);
        lap(LAP_FINISH);
        if (p->points != 0) solver_compute(s, v, summed[v], sums);
    }
    solver_wait();
    solver_swap(s);
}
