/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io_grids.c
 *  Fields for tests of files; see io_grids.h. */
#include "io_grids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One dimension, a random one, gets what the others leave of it. */
void io_random_grid(io_cut *cut, int64_t most)
{
    cut->ndim = (int)test_random_in(1, IO_MOST_DIMS);
    const int longest = (int)test_random_in(0, cut->ndim - 1);
    int64_t left = test_random_in(1, most);
    for (int d = 0; d < META_MAX_DIM; ++d) cut->cells[d] = 0;
    for (int d = 0; d < cut->ndim; ++d) {
        cut->cells[d] = d == longest ? 1 : test_random_in(1, left < 12 ? left : 12);
        left /= cut->cells[d];
    }
    cut->cells[longest] = left;
}

/* Halve boxes at random places until each rank has one; a half may be empty. */
static void divide(io_cut *cut, int from, int to)
{
    if (to - from == 1) return;
    const int middle = (int)test_random_in(from + 1, to - 1),
              d = (int)test_random_in(0, cut->ndim - 1);
    const int64_t at = test_random_in(cut->box[from].first[d], cut->box[from].end[d]);
    cut->box[middle] = cut->box[from];
    cut->box[from].end[d] = at;
    cut->box[middle].first[d] = at;
    divide(cut, from, middle);
    divide(cut, middle, to);
}

void io_random_cut(io_cut *cut, int ranks)
{
    for (int d = 0; d < META_MAX_DIM; ++d) {
        cut->box[0].first[d] = 0;
        cut->box[0].end[d] = cut->cells[d];
    }
    divide(cut, 0, ranks);
}

void io_cell(int f, int64_t cell, meta_type type, void *bytes)
{
    size_t size;
    uint64_t x = ((uint64_t)f << 48) + (uint64_t)cell + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    meta_type_size(type, &size);
    memcpy(bytes, &x, size);
}

static int64_t array_cells(const meta_box *box)
{
    int64_t cells = 1;
    for (int d = 0; d < box->ndim; ++d) cells *= box->size[d];
    return cells;
}

/* Cell @p k of the array: its number in the grid, or -1 outside the box. */
static int64_t number_of(const meta_io_field *field, int64_t k)
{
    int64_t number = 0, stride = 1;
    for (int d = 0; d < field->box.ndim; ++d) {
        const int64_t at = k % field->box.size[d];
        k /= field->box.size[d];
        if (at < field->box.start[d] || at >= field->box.end[d]) return -1;
        number += (at - field->box.start[d] + field->first[d]) * stride;
        stride *= field->cells[d];
    }
    return number;
}

bool io_array_make(meta_io_field *field, int f, const io_cut *cut, int rank, meta_type type,
                   bool on_host, bool filled)
{
    size_t size;
    *field = (meta_io_field){.type = type, .box = {.ndim = cut->ndim}};
    for (int d = 0; d < cut->ndim; ++d) {
        const int64_t low = test_random_in(0, 2), high = test_random_in(0, 2);
        const int64_t cells = cut->box[rank].end[d] - cut->box[rank].first[d];
        field->first[d] = cut->box[rank].first[d];
        field->cells[d] = cut->cells[d];
        field->box.start[d] = low;
        field->box.end[d] = low + cells;
        field->box.size[d] = low + cells + high + (low + cells + high == 0);
    }
    if (!CHECK_OK(meta_type_size(type, &size))) return false;
    const int64_t cells = array_cells(&field->box);
    char *host = malloc((size_t)cells * size);
    memset(host, 0xa5, (size_t)cells * size);
    for (int64_t k = 0; k < cells && filled; ++k) {
        const int64_t number = number_of(field, k);
        if (number >= 0) io_cell(f, number, type, host + (size_t)k * size);
    }
    field->buf = host;
    if (on_host) return true;
    const bool right = CHECK_OK(meta_alloc(&field->buf, (size_t)cells * size)) &&
                       CHECK_OK(meta_copy_h2d(field->buf, host, (size_t)cells * size, NULL));
    free(host);
    return right;
}

void io_array_check(const meta_io_field *field, int f, bool on_host)
{
    size_t size;
    if (!CHECK_OK(meta_type_size(field->type, &size))) return;
    const int64_t cells = array_cells(&field->box);
    unsigned char *host = on_host ? field->buf : malloc((size_t)cells * size);
    if (!on_host && !CHECK_OK(meta_copy_d2h(host, field->buf, (size_t)cells * size, NULL)))
        memset(host, 0, (size_t)cells * size);
    for (int64_t k = 0; k < cells; ++k) {
        unsigned char wanted[8];
        const int64_t number = number_of(field, k);
        memset(wanted, 0xa5, sizeof wanted);
        if (number >= 0) io_cell(f, number, field->type, wanted);
        if (memcmp(host + (size_t)k * size, wanted, size) == 0) continue;
        FAIL("field %d: element %" PRId64 " of the array, cell %" PRId64
             " of the grid, does not have its bits",
             f, k, number);
        break;
    }
    if (!on_host) free(host);
}

void io_array_free(meta_io_field *field, bool on_host)
{
    if (on_host) free(field->buf);
    else CHECK_OK(meta_free(field->buf));
    field->buf = NULL;
}
