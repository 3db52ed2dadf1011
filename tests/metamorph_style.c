/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_style.c
 *  See metamorph_style.h. With one rank no message is sent: faces are copied on the device. */
#include <metamorph.h>
#ifdef WITH_MPI
#include <metamorph_mpi.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "metamorph_style.h"

#pragma GCC diagnostic ignored "-Wsign-conversion" /* MetaMorph's programs count in int */

static int failed;
static void check(a_err err)
{
    if (err) ++failed;
}

/* From this rank's face to the ghosts of rank @p to, and from rank @p from to ours. */
static void exchange(int to, int from, meta_face *inner, meta_face *ghosts, void *grid, void *sent,
                     void *received, int tag, meta_type_id type, int async)
{
#ifdef WITH_MPI
    MPI_Request request;
    a_dim3 blocks = {4, 4, 1}, threads = {8, 8, 1};
    meta_mpi_recv_and_unpack_face(NULL, NULL, from, ghosts, grid, received, tag, &request, type, 1);
    meta_mpi_pack_and_send_face(&blocks, &threads, to, inner, grid, sent, tag, &request, type,
                                async);
#else
    size_t bytes = get_atype_size(type);
    for (int k = 0; k < inner->count; ++k) bytes *= (size_t)inner->size[k];
    (void)to, (void)from, (void)tag;
    check(meta_pack_face(NULL, NULL, sent, grid, inner, type, async, NULL, NULL, NULL, NULL, NULL));
    check(meta_copy_d2d(received, sent, bytes, async, NULL, NULL));
    check(meta_unpack_face(NULL, NULL, received, grid, ghosts, type, async, NULL, NULL, NULL, NULL,
                           NULL));
#endif
}

int style_torus(int rank, int ranks, const int cells[3], int steps, int async, double *sum)
{
    const int ni = cells[0], nj = cells[1], nk = cells[2];
    const size_t count = (size_t)(ni + 1) * nj * nk, bytes = count * sizeof(double);
    double *grid = malloc(bytes), *ones = malloc(bytes), zero = 0;
    void *d_grid, *d_ones, *d_sum, *d_sent, *d_received;
    a_dim3 size = {ni + 1, nj, nk}, start = {0, 0, 0}, end = {ni - 1, nj - 1, nk - 1};

    failed = 0;
    check(meta_alloc(&d_grid, bytes));
    check(meta_alloc(&d_ones, bytes));
    check(meta_alloc(&d_sum, sizeof(double)));
    check(meta_alloc(&d_sent, sizeof(double) * nj * nk));
    check(meta_alloc(&d_received, sizeof(double) * nj * nk));
    for (int k = 0, at = 0; k < nk; ++k)
        for (int j = 0; j < nj; ++j)
            for (int i = 0; i <= ni; ++i, ++at) {
                grid[at] = i ? i + j + k + ni * rank : -1e6;
                ones[at] = 1;
            }
    check(meta_copy_h2d(d_grid, grid, bytes, false, NULL, NULL));
    check(meta_copy_h2d(d_ones, ones, bytes, false, NULL, NULL));
    meta_face *inner = make_slab_from_3d(3, ni + 1, nj, nk, 1),
              *ghosts = make_slab_from_3d(2, ni + 1, nj, nk, 1);
    for (int step = 0; step < steps; ++step) {
        exchange((rank + 1) % ranks, (rank + ranks - 1) % ranks, inner, ghosts, d_grid, d_sent,
                 d_received, step, a_db, async);
        check(meta_flush());
        check(meta_copy_h2d(d_sum, &zero, sizeof zero, true, NULL, NULL));
        check(meta_dotProd(NULL, NULL, d_grid, d_ones, &size, &start, &end, d_sum, meta_db, true,
                           NULL, NULL));
        check(meta_copy_d2h(sum, d_sum, sizeof *sum, false, NULL, NULL));
    }
    meta_free_face(inner);
    meta_free_face(ghosts);
    check(meta_free(d_grid));
    check(meta_free(d_ones));
    check(meta_free(d_sum));
    check(meta_free(d_sent));
    check(meta_free(d_received));
    free(grid);
    free(ones);
    return failed;
}

/* Which side of an array the cells next to its ghosts are at: the slab of two cells without the
 * ghosts. */
static meta_face *next_to_ghosts(int side, const int size[3])
{
    static const int level[6] = {0, 0, 2, 2, 1, 1};
    meta_face *slab = make_slab_from_3d(side, size[0], size[1], size[2], 1);
    slab->start += side & 1 ? -slab->stride[level[side]] : slab->stride[level[side]];
    return slab;
}

int style_average(int rank, int ranks, const int cells[3], int steps, int async, float *own,
                  float *sum)
{
    const int size[3] = {cells[0] + 2, cells[1] + 2, cells[2] + 2};
    const size_t count = (size_t)size[0] * size[1] * size[2], bytes = count * sizeof(float);
    float *grid = calloc(count, sizeof *grid), zero = 0;
    void *d_grid, *d_next, *d_sum, *d_sent[2], *d_received[2];
    meta_face *inner[6], *ghosts[6];
    a_dim3 array = {size[0], size[1], size[2]}, start = {0, 0, 0},
           end = {size[0] - 1, size[1] - 1, size[2] - 1};
    a_dim3 first = {1, 1, 1}, last = {cells[0], cells[1], cells[2]};

    failed = 0;
    check(meta_alloc(&d_grid, bytes));
    check(meta_alloc(&d_next, bytes));
    check(meta_alloc(&d_sum, sizeof(float)));
    for (int k = 0; k < 2; ++k) {
        check(meta_alloc(&d_sent[k], bytes));
        check(meta_alloc(&d_received[k], bytes));
    }
    for (int k = 0; k < cells[2]; ++k)
        for (int j = 0; j < cells[1]; ++j)
            memcpy(grid + ((k + 1) * size[1] + j + 1) * size[0] + 1,
                   own + (k * cells[1] + j) * cells[0], cells[0] * sizeof(float));
    check(meta_copy_h2d(d_grid, grid, bytes, false, NULL, NULL));
    check(meta_copy_h2d(d_next, grid, bytes, false, NULL, NULL));
    for (int side = 0; side < 6; ++side) {
        ghosts[side] = make_slab_from_3d(side, size[0], size[1], size[2], 1);
        inner[side] = next_to_ghosts(side, size);
    }
    for (int step = 0; step < steps; ++step) {
        for (int axis = 0; axis < 3; ++axis) { /* z between ranks; x and y within each */
            const int up = axis ? rank : (rank + 1) % ranks,
                      down = axis ? rank : (rank + ranks - 1) % ranks;
            const int low = 2 * axis, high = low + 1;
            exchange(up, down, inner[high], ghosts[low], d_grid, d_sent[0], d_received[0], 2 * axis,
                     meta_fl, 1);
            exchange(down, up, inner[low], ghosts[high], d_grid, d_sent[1], d_received[1],
                     2 * axis + 1, meta_fl, 1);
            check(meta_flush());
        }
        check(meta_stencil_3d7p(NULL, NULL, d_grid, d_next, &array, &start, &end, meta_fl, async,
                                NULL, NULL));
        void *swap = d_grid;
        d_grid = d_next;
        d_next = swap;
    }
    check(meta_copy_h2d(d_sum, &zero, sizeof zero, async, NULL, NULL));
    check(
        meta_reduce(NULL, NULL, d_grid, &array, &first, &last, d_sum, meta_fl, async, NULL, NULL));
    check(meta_copy_d2h(sum, d_sum, sizeof *sum, async, NULL, NULL));
    check(meta_copy_d2h(grid, d_grid, bytes, async, NULL, NULL));
    check(meta_flush());
    for (int k = 0; k < cells[2]; ++k)
        for (int j = 0; j < cells[1]; ++j)
            memcpy(own + (k * cells[1] + j) * cells[0],
                   grid + ((k + 1) * size[1] + j + 1) * size[0] + 1, cells[0] * sizeof(float));
    for (int side = 0; side < 6; ++side) {
        meta_free_face(ghosts[side]);
        meta_free_face(inner[side]);
    }
    check(meta_free(d_grid));
    check(meta_free(d_next));
    check(meta_free(d_sum));
    for (int k = 0; k < 2; ++k) {
        check(meta_free(d_sent[k]));
        check(meta_free(d_received[k]));
    }
    free(grid);
    return failed;
}
