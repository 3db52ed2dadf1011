/* SPDX-License-Identifier: BSD-3-Clause */
/** @file regret_workloads.c
 *  The workloads of test_regret.c, and what their calls cost on a simulated device. */
#include "regret.h"

#include <stdio.h>
#include <string.h>

static int add_buffer(regret_workload *w, int ndim, int64_t cells, bool is_system)
{
    w->buffer[w->buffers] = (regret_buffer){ndim, cells, is_system};
    return w->buffers++;
}

static void add_call(regret_workload *w, regret_operation operation, int a, int b, int c, int side)
{
    w->call[w->calls++] = (regret_call){operation, {a, b, c}, side};
}

int64_t regret_elements(const regret_buffer *b)
{
    const int64_t n = b->cells + 2;
    if (b->is_system) return 4 * b->cells;
    return b->ndim == 1 ? b->cells : n * n * n;
}

/* ------------------------------------------------------------------ costs */

/* Of each operation: the kernel, memory passes, which arrays it reads and writes. A grid's ghosts
 * lie between the cells that are written, so that these arrays are read as well. */
static const struct {
    const char *kernel;
    int passes;
    const char *access; /* r, w or b for both, of each array */
    bool is_awaited;
} operations[REGRET_OPERATIONS] = {
    [REGRET_AXPY] = {"axpy", 3, "br", false},
    [REGRET_AXPBY] = {"axpby", 2, "br", false},
    [REGRET_STENCIL] = {"stencil_3d7p", 2, "br", false},
    [REGRET_SUM] = {"reduce_sum", 1, "r", true},
    [REGRET_DOT] = {"dot", 2, "rr", true},
    [REGRET_PACK] = {"pack", 2, "wr", false},
    [REGRET_UNPACK] = {"unpack", 2, "br", false},
    [REGRET_HALVE] = {"halve", 5, "wr", false},
    [REGRET_INSERT] = {"insert", 3, "wrr", false},
    [REGRET_DIVIDE] = {"divide", 2, "wr", false},
    [REGRET_FEED] = {"axpby", 2, "br", false},
};

regret_cost regret_cost_of(const regret_workload *w, const regret_call *call)
{
    const regret_buffer *first = &w->buffer[call->buffer[0]];
    double cells = first->ndim == 3 ? (double)(first->cells * first->cells * first->cells)
                                    : (double)first->cells;
    regret_cost c = {.kernel = operations[call->operation].kernel,
                     .is_awaited = operations[call->operation].is_awaited,
                     .accesses = (int)strlen(operations[call->operation].access)};
    if (call->operation == REGRET_PACK || call->operation == REGRET_UNPACK) {
        const regret_buffer *grid = &w->buffer[call->buffer[call->operation == REGRET_PACK]];
        cells = (double)(grid->cells * grid->cells);
    }
    c.bytes = 8.0 * operations[call->operation].passes * cells;
    for (int k = 0; k < c.accesses; ++k) {
        const char access = operations[call->operation].access[k];
        c.access[k].buffer = call->buffer[k];
        c.access[k].bytes = 8.0 * (double)regret_elements(&w->buffer[call->buffer[k]]);
        c.access[k].reads = access != 'w';
        c.access[k].writes = access != 'r';
    }
    return c;
}

/* ------------------------------------------------------------------ workloads */

regret_workload regret_axpy(int64_t cells)
{
    regret_workload w = {.steps = cells < 100000 ? 200 : 60};
    snprintf(w.name, sizeof w.name, "axpy of %lld", (long long)cells);
    const int y = add_buffer(&w, 1, cells, false), x = add_buffer(&w, 1, cells, false);
    add_call(&w, REGRET_AXPY, y, x, 0, 0);
    return w;
}

/* All levels down and up again, of 2^levels - 1 equations; the solution changes the right-hand side
 * of the next step. */
regret_workload regret_cyclic_reduction(int levels)
{
    regret_workload w = {.steps = 100};
    int system[16] = {0}, unknown[16] = {0};
    snprintf(w.name, sizeof w.name, "cyclic reduction of 2^%d - 1", levels);
    for (int k = 0; k < levels; ++k) {
        const int64_t cells = ((int64_t)1 << (levels - k)) - 1;
        system[k] = add_buffer(&w, 1, cells, true);
        unknown[k] = add_buffer(&w, 1, cells, false);
    }
    for (int k = 1; k < levels; ++k) add_call(&w, REGRET_HALVE, system[k], system[k - 1], 0, 0);
    add_call(&w, REGRET_DIVIDE, unknown[levels - 1], system[levels - 1], 0, 0);
    for (int k = levels - 2; k >= 0; --k)
        add_call(&w, REGRET_INSERT, unknown[k], system[k], unknown[k + 1], 0);
    add_call(&w, REGRET_FEED, system[0], unknown[0], 0, 0);
    return w;
}

regret_workload regret_conjugate_gradients(int64_t cells)
{
    regret_workload w = {.steps = cells < 20 ? 2000 : 400};
    snprintf(w.name, sizeof w.name, "conjugate gradients of %lld^3", (long long)cells);
    const int p = add_buffer(&w, 3, cells, false), ap = add_buffer(&w, 3, cells, false);
    const int r = add_buffer(&w, 3, cells, false), x = add_buffer(&w, 3, cells, false);
    add_call(&w, REGRET_STENCIL, ap, p, 0, 0);
    add_call(&w, REGRET_DOT, p, ap, 0, 0);
    add_call(&w, REGRET_AXPY, x, p, 0, 0);
    add_call(&w, REGRET_AXPY, r, ap, 0, 0);
    add_call(&w, REGRET_DOT, r, r, 0, 0);
    add_call(&w, REGRET_AXPBY, p, r, 0, 0);
    return w;
}

/* As MiniGhost with BSPMA: of each variable sides to ghosts and a stencil, and of one the sum. */
regret_workload regret_miniapp(int variables, int64_t cells)
{
    regret_workload w = {.steps = 60};
    int grid[4][2] = {{0}}, packed[2];
    snprintf(w.name, sizeof w.name, "%d variables of %lld^3 with ghosts and sums", variables,
             (long long)cells);
    for (int k = 0; k < 2; ++k) packed[k] = add_buffer(&w, 1, cells * cells, false);
    for (int v = 0; v < variables; ++v)
        for (int k = 0; k < 2; ++k) grid[v][k] = add_buffer(&w, 3, cells, false);
    for (int step = 0; step < 2; ++step) {
        for (int v = 0; v < variables; ++v) {
            const int from = grid[v][step], to = grid[v][1 - step];
            for (int k = 0; k < 2; ++k) add_call(&w, REGRET_PACK, packed[k], from, 0, k);
            for (int k = 0; k < 2; ++k) add_call(&w, REGRET_UNPACK, from, packed[k], 0, 1 - k);
            add_call(&w, REGRET_STENCIL, to, from, 0, 0);
        }
        add_call(&w, REGRET_SUM, grid[step % variables][1 - step], 0, 0, 0);
    }
    return w;
}

/* Stencils and, of every second array, a sum. */
regret_workload regret_mixed(int64_t cells)
{
    regret_workload w = {.steps = 80};
    snprintf(w.name, sizeof w.name, "stencils and sums of %lld^3", (long long)cells);
    const int a = add_buffer(&w, 3, cells, false), b = add_buffer(&w, 3, cells, false);
    for (int k = 0; k < 2; ++k) {
        add_call(&w, REGRET_STENCIL, b, a, 0, 0);
        add_call(&w, REGRET_STENCIL, a, b, 0, 0);
    }
    add_call(&w, REGRET_SUM, a, 0, 0, 0);
    add_call(&w, REGRET_DOT, a, b, 0, 0);
    return w;
}
