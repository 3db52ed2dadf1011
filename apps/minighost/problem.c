/* SPDX-License-Identifier: BSD-3-Clause */
/** @file problem.c
 *  The problem of one run: the global grid, this rank's block, the domain boundary through which
 *  heat leaves, the initial values and the spikes. */
#include "config.h"

#include "problem.h"

#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "scramble.h"

static const char axis_name[] = "xyz";

static bool grid_fits(problem *p, const options *o, int ranks)
{
    int64_t product, bytes;
    if (!number_product(o->np, 3, &product)) product = INT64_MAX;
    if (product != ranks) {
        failure_note("npx*npy*npz = %" PRId64 "*%" PRId64 "*%" PRId64 " = %" PRId64
                     ", but the job has %d %s",
                     o->np[0], o->np[1], o->np[2], product, ranks, ranks == 1 ? "rank" : "ranks");
        return false;
    }
    for (int d = 0; d < 3; ++d) {
        p->global[d] = o->scaling == SCALING_WEAK ? o->n[d] * o->np[d] : o->n[d];
        if (p->global[d] < o->np[d]) {
            failure_note("np%c = %" PRId64 ", but the grid has only %" PRId64 " cells along %c",
                         axis_name[d], o->np[d], p->global[d], axis_name[d]);
            return false;
        }
        if (p->global[d] > INT_MAX - 2) {
            failure_note("the grid has %" PRId64 " cells along %c; MPI cannot count more than %d",
                         p->global[d], axis_name[d], INT_MAX - 2);
            return false;
        }
    }
    const int64_t factors[] = {p->global[0], p->global[1], p->global[2], o->num_vars, 8};
    if (!number_product(factors, 5, &bytes)) {
        failure_note("a grid of %" PRId64 " x %" PRId64 " x %" PRId64 " cells and %" PRId64
                     " variables is larger than any memory",
                     p->global[0], p->global[1], p->global[2], o->num_vars);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ cuts */

bool problem_new_cuts(const options *o, int64_t *cut[3])
{
    bool there = true;
    for (int d = 0; d < 3; ++d) {
        cut[d] = calloc((size_t)o->np[d] + 1, sizeof *cut[d]);
        if (cut[d] == NULL) failure_note_memory((double)(o->np[d] + 1) * sizeof *cut[d]);
        there = there && cut[d] != NULL;
    }
    return there;
}

void problem_free_cuts(int64_t *cut[3])
{
    for (int d = 0; d < 3; ++d) {
        free(cut[d]);
        cut[d] = NULL;
    }
}

/* The first parts of an axis have one cell more where the cells do not divide. */
static void cut_evenly(problem *p)
{
    for (int d = 0; d < 3; ++d) {
        const int64_t parts = p->o.np[d], share = p->global[d] / parts, rest = p->global[d] % parts;
        for (int64_t k = 0; k <= parts; ++k) p->cut[d][k] = k * share + (k < rest ? k : rest);
    }
}

void problem_block(const problem *p, int rank, int64_t *first, int64_t *cells)
{
    int at[3];
    MPI_Cart_coords(p->cart, rank, 3, at);
    for (int d = 0; d < 3; ++d) {
        first[d] = p->cut[d][at[d]];
        cells[d] = p->cut[d][at[d] + 1] - first[d];
    }
}

int64_t problem_thickest(const problem *p, int axis)
{
    int64_t most = 0;
    for (int64_t k = 0; k < p->o.np[axis]; ++k) {
        const int64_t planes = p->cut[axis][k + 1] - p->cut[axis][k];
        if (planes > most) most = planes;
    }
    return most;
}

static void find_block(problem *p)
{
    int rank;
    int64_t mine[3];
    MPI_Comm_rank(p->cart, &rank);
    problem_block(p, rank, p->first, mine);
    p->cells = 1;
    for (int d = 0; d < 3; ++d) {
        p->size[d] = mine[d] + 2;
        p->own.start[d] = 1;
        p->own.end[d] = mine[d] + 1;
        p->cells *= p->size[d];
    }
}

/* ------------------------------------------------------------------ the stencil */

static void choose_stencil(problem *p, const options *o)
{
    static const int points[] = {0, 5, 9, 7, 27};
    p->stencil = (unsigned)(o->stencil - STENCIL_2D5P);
    p->points = points[o->stencil - STENCIL_NONE];
    p->corners = o->stencil == STENCIL_2D9P || o->stencil == STENCIL_3D27P;
}

/* A set of sides of the domain, at most one for each axis, is written as a number of three digits
 * in base 3: 0 no side of this axis, 1 its low one, 2 its high one. A cell at b[d] sides along axis
 * d has 3^n - (3 - b[0])·(3 - b[1])… of a full stencil's points outside; multiplied out, that
 * is one product for each such set. A star has one point outside for each side. */
static void list_flux_terms(problem *p)
{
    const int reach = p->points == 5 || p->points == 9 ? 2 : 3;
    const int sets = p->points == 0 ? 1 : reach == 2 ? 9 : 27;
    p->terms = 0;
    for (int set = 1; set < sets; ++set) {
        flux_term t = {p->own, -1};
        bool here = true;
        int sides = 0;
        for (int d = 0, digits = set; d < reach; ++d, digits /= 3) {
            const int side = digits % 3;
            if (side == 0) {
                if (p->corners) t.points *= 3;
                continue;
            }
            ++sides;
            t.points = -t.points;
            if (side == 1) {
                t.cells.end[d] = 2;
                here = here && p->first[d] == 0;
            } else {
                t.cells.start[d] = p->own.end[d] - 1;
                here = here && p->first[d] + p->own.end[d] - 1 == p->global[d];
            }
        }
        if (!here) t.cells.end[0] = t.cells.start[0];
        if (p->corners || sides == 1) p->term[p->terms++] = t;
    }
}

void problem_create(problem *p, const options *o)
{
    int ranks;
    const int dims[3] = {(int)o->np[0], (int)o->np[1], (int)o->np[2]}, periods[3] = {0, 0, 0};
    memset(p, 0, sizeof *p);
    p->o = *o;
    p->cart = MPI_COMM_NULL;
    p->type = o->type;
    p->variables = (int)o->num_vars;
    p->grouped = o->comm_method == METHOD_BSPMA ? p->variables : 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!grid_fits(p, o, ranks)) return;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &p->cart);
    if (!problem_new_cuts(o, p->cut)) return;
    cut_evenly(p);
    find_block(p);
    choose_stencil(p, o);
    list_flux_terms(p);
}

void problem_exchange_cuts(problem *p, int64_t *cut[3])
{
    for (int d = 0; d < 3; ++d) {
        int64_t *before = p->cut[d];
        p->cut[d] = cut[d];
        cut[d] = before;
    }
    find_block(p);
    list_flux_terms(p);
}

void problem_free(problem *p)
{
    if (p->cart != MPI_COMM_NULL) MPI_Comm_free(&p->cart);
    problem_free_cuts(p->cut);
}

enum { STREAM_CELLS = 1, STREAM_SPIKE_VALUES, STREAM_SPIKE_PLACES };

static uint64_t random_bits(int stream, int64_t major, int64_t minor)
{
    const uint64_t key = scramble(((uint64_t)stream << 32) + (uint64_t)major);
    return scramble(key ^ (uint64_t)minor);
}

/* In [0, 1). */
static double random_share(int stream, int64_t major, int64_t minor)
{
    return (double)(random_bits(stream, major, minor) >> 11) * 0x1p-53;
}

static int64_t place_of(const problem *p, int64_t x, int64_t y, int64_t z)
{
    return (z * p->size[1] + y) * p->size[0] + x;
}

void problem_fill(const problem *p, int variable, double *cells)
{
    memset(cells, 0, (size_t)p->cells * sizeof *cells);
    if (p->o.debug_grid) return;
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z)
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y)
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x) {
                const int64_t global =
                    ((p->first[2] + z - 1) * p->global[1] + p->first[1] + y - 1) * p->global[0] +
                    p->first[0] + x - 1;
                cells[place_of(p, x, y, z)] =
                    (double)(1 + random_bits(STREAM_CELLS, variable, global) % 100);
            }
}

double problem_spike(const problem *p, int spike, int variable, int64_t *place)
{
    int64_t local[3];
    bool here = true;
    for (int d = 0; d < 3; ++d) {
        const double share = random_share(STREAM_SPIKE_PLACES, spike, d);
        const int64_t index =
            spike == 0 ? (p->global[d] + 1) / 2 - 1 : (int64_t)(share * (double)p->global[d]);
        local[d] = index - p->first[d] + 1;
        here = here && local[d] >= p->own.start[d] && local[d] < p->own.end[d];
    }
    *place = here ? place_of(p, local[0], local[1], local[2]) : -1;
    const double cells = (double)p->global[0] * (double)p->global[1] * (double)p->global[2];
    if (spike == 0 && variable == 0) return cells;
    return (1 + random_share(STREAM_SPIKE_VALUES, spike, variable)) * cells;
}

/* Spread the share evenly over the variables, the first one among them. */
bool problem_checks(const problem *p, int variable)
{
    const int64_t before = (variable * p->o.percent_sum + 99) / 100;
    return ((variable + 1) * p->o.percent_sum + 99) / 100 > before;
}

double problem_sum(const problem *p, const double *cells)
{
    double sum = 0;
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z)
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y) {
            double row = 0;
            for (int64_t x = p->own.start[0]; x < p->own.end[0]; ++x)
                row += cells[place_of(p, x, y, z)];
            sum += row;
        }
    return sum;
}

void problem_narrow(const problem *p, void *cells)
{
    if (p->type == NUMBER_F64) return;
    for (int64_t i = 0; i < p->cells; ++i) {
        double wide;
        memcpy(&wide, (char *)cells + i * 8, sizeof wide);
        const float narrow = (float)wide;
        memcpy((char *)cells + i * 4, &narrow, sizeof narrow);
    }
}

void problem_widen(const problem *p, void *cells)
{
    if (p->type == NUMBER_F64) return;
    for (int64_t i = p->cells - 1; i >= 0; --i) {
        float narrow;
        memcpy(&narrow, (char *)cells + i * 4, sizeof narrow);
        const double wide = narrow;
        memcpy((char *)cells + i * 8, &wide, sizeof wide);
    }
}
