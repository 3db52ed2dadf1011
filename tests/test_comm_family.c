/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_family.c
 *  Arrays of a family of grids are exchanged by one plan, redistributed, written and read: each by
 *  its own box, whatever its type and stagger. */
/* TEST: backends=openmp,opencl auto=yes np=1,3 labels=comm,io */
#include "meta_io.h"
#include "scratch.h"
#include "test_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4, WIDTH = 2, LARGE = 260 };
static const int width[2] = {WIDTH, WIDTH};
static const meta_grid_field fields[FIELDS] = {
    {.name = "cells", .type = META_F64},
    {.name = "faces", .type = META_F32, .stagger = {1, 0}},
    {.name = "nodes", .type = META_F64, .stagger = {1, 1}},
    {.name = "marks", .type = META_I32, .stagger = {0, 1}}};

/* A family on this rank: rows [first, first + cells[1]) of a grid of total[0] × total[1] cells,
 * which closes on itself. */
typedef struct family {
    int64_t cells[2], first, total[2];
    meta_grid_field field[FIELDS];
    meta_box box;
} family;

static bool make(family *f, int64_t columns, int64_t first, int64_t rows, int64_t all_rows)
{
    *f = (family){.cells = {columns, rows}, .first = first, .total = {columns, all_rows}};
    memcpy(f->field, fields, sizeof fields);
    return CHECK_OK(meta_grid_family(f->field, FIELDS, &f->box, 2, f->cells, width, width));
}

static void drop(family *f)
{
    for (int k = 0; k < FIELDS; ++k) CHECK_OK(meta_free(f->field[k].ptr));
}

/* What element (x, y) of field @p k of the whole grid is. */
static double value(const family *f, int k, int64_t x, int64_t y)
{
    x = (x + f->total[0]) % f->total[0];
    y = (y + f->total[1]) % f->total[1];
    return (double)(1000 * k + 7 * x + 3 * y);
}

static double get(const void *array, int64_t at, meta_type type)
{
    if (type == META_F64) return ((const double *)array)[at];
    return type == META_F32 ? (double)((const float *)array)[at]
                            : (double)((const int32_t *)array)[at];
}

static void put(void *array, int64_t at, meta_type type, double number)
{
    if (type == META_F64) ((double *)array)[at] = number;
    else if (type == META_F32) ((float *)array)[at] = (float)number;
    else ((int32_t *)array)[at] = (int32_t)number;
}

static size_t bytes_of(const meta_grid_field *field)
{
    size_t element = 1;
    CHECK_OK(meta_type_size(field->type, &element));
    return element * (size_t)(field->box.size[0] * field->box.size[1]);
}

/* Whether element (x, y) of a field is so many elements or fewer beside its own ones. */
static bool within(const meta_box *box, int64_t x, int64_t y, int layers)
{
    return x >= box->start[0] - layers && x < box->end[0] + layers && y >= box->start[1] - layers &&
           y < box->end[1] + layers;
}

/* Own elements have their values, all others -1. */
static void fill(const family *f)
{
    for (int k = 0; k < FIELDS; ++k) {
        const meta_grid_field *field = &f->field[k];
        const meta_box *box = &field->box;
        void *array = malloc(bytes_of(field));
        for (int64_t y = 0, at = 0; y < box->size[1]; ++y)
            for (int64_t x = 0; x < box->size[0]; ++x, ++at)
                put(array, at, field->type,
                    within(box, x, y, 0) ? value(f, k, x - WIDTH, f->first + y - WIDTH) : -1);
        CHECK_OK(meta_copy_h2d(field->ptr, array, bytes_of(field), NULL));
        free(array);
    }
}

/* The same, but own elements are 0. */
static void empty(const family *f)
{
    fill(f);
    for (int k = 0; k < FIELDS; ++k)
        CHECK_OK(meta_fill_box(f->field[k].ptr, &f->field[k].box, (unsigned char[8]){0},
                               f->field[k].type, NULL));
}

/* Elements have their values as far as @p layers beside the own ones, and -1 elsewhere. */
static void check(const family *f, int layers)
{
    int wrong = 0;
    for (int k = 0; k < FIELDS; ++k) {
        const meta_grid_field *field = &f->field[k];
        const meta_box *box = &field->box;
        void *array = malloc(bytes_of(field));
        CHECK_OK(meta_copy_d2h(array, field->ptr, bytes_of(field), NULL));
        for (int64_t y = 0, at = 0; y < box->size[1]; ++y)
            for (int64_t x = 0; x < box->size[0]; ++x, ++at) {
                const double expected =
                    within(box, x, y, layers) ? value(f, k, x - WIDTH, f->first + y - WIDTH) : -1;
                if (get(array, at, field->type) == expected || ++wrong > 3) continue;
                CHECK_NEAR(get(array, at, field->type), expected, 0);
            }
        free(array);
    }
    CHECK_INT(wrong, 0);
}

/* ------------------------------------------------------------------ promises */

/* Of all ranks along dimension 1. */
static MPI_Comm line_of_ranks(void)
{
    MPI_Comm cart;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){1, test_size}, (int[]){1, 1}, 0, &cart);
    return cart;
}

static void check_exchange(int64_t columns, int64_t rows)
{
    meta_halo_field travels[FIELDS];
    void *array[FIELDS];
    meta_halo halo;
    family f;
    test_case("%d by %d cells on each rank", (int)columns, (int)rows);
    if (!make(&f, columns, test_rank * rows, rows, test_size * rows)) return;
    meta_halo_desc desc =
        META_HALO_DESC(line_of_ranks(), f.box, WIDTH, META_HALO_ALL, FIELDS, META_F64);
    for (int k = 0; k < FIELDS; ++k) {
        travels[k] = (meta_halo_field){f.field[k].type, f.field[k].box};
        array[k] = f.field[k].ptr;
    }
    desc.field = travels;
    fill(&f);
    if (CHECK_OK(meta_halo_create(&halo, &desc))) {
        CHECK_OK(meta_halo_exchange(halo, array, NULL));
        check(&f, WIDTH);
        void *const swapped[FIELDS] = {array[2], array[1], array[0], array[3]};
        CHECK_ERR_NAMES(meta_halo_exchange(halo, swapped, NULL), META_ERR_BOUNDS, "fields[2]");
        check(&f, WIDTH);
        CHECK_OK(meta_halo_free(&halo));
    }
    MPI_Comm_free(&desc.cart);
    drop(&f);
}

static void one_plan_exchanges_cells_faces_and_nodes(void)
{
    check_exchange(9, 7);
    check_exchange(LARGE, LARGE);
}

static void a_family_is_written_and_read(void)
{
    char folder[256] = "", path[300];
    meta_io_desc desc = META_IO_DESC_INIT;
    meta_io_field parts[FIELDS];
    meta_io_file file;
    family f, again;
    const int64_t rows = LARGE / 2, first = test_rank * rows, all = test_size * rows;
    if (!make(&f, LARGE, first, rows, all) || !make(&again, LARGE, first, rows, all)) return;
    fill(&f);
    empty(&again);
    if (test_rank == 0) scratch_make("family", folder, sizeof folder);
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/all", folder);
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    /* The elements of the file are the grid's own: of what ranks share, each has the lower part. */
    for (int k = 0; k < FIELDS; ++k) {
        const meta_grid_field *field = &f.field[k];
        parts[k] =
            (meta_io_field){field->name, field->ptr, field->type, field->box, .first = {0, first}};
        parts[k].cells[0] = LARGE + field->stagger[0];
        parts[k].cells[1] = all + field->stagger[1];
        if (test_rank < test_size - 1) parts[k].box.end[1] -= field->stagger[1];
    }
    CHECK_OK(meta_io_write(path, &desc, FIELDS, parts));
    if (CHECK_OK(meta_io_open(&file, path, &desc))) {
        for (int k = 0; k < FIELDS; ++k) {
            parts[k].buf = again.field[k].ptr;
            parts[k].box = again.field[k].box;
        }
        CHECK_OK(meta_io_read(file, FIELDS, parts));
        check(&again, 0);
        CHECK_OK(meta_io_close(&file));
    }
    check(&f, 0);
    drop(&f);
    drop(&again);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) scratch_remove(folder);
}

/* From equal blocks to ones of which each is a row longer than the one before. */
static void a_family_is_redistributed(void)
{
    enum { ROWS = 40, COLUMNS = 30, MOST_RANKS = 16 };
    int64_t columns[2] = {0, COLUMNS}, even[MOST_RANKS + 1], skewed[MOST_RANKS + 1];
    const meta_cuts before = {{columns, even}}, after = {{columns, skewed}};
    const int64_t all = (int64_t)ROWS * test_size;
    meta_redistribute_field move[FIELDS];
    MPI_Comm cart;
    family from, to;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){1, test_size}, (int[]){0, 0}, 0, &cart);
    for (int k = 0; k <= test_size; ++k) {
        even[k] = (int64_t)k * ROWS;
        skewed[k] = k == test_size ? all : (int64_t)k * (ROWS - test_size + k);
    }
    const int64_t rows = skewed[test_rank + 1] - skewed[test_rank];
    if (!make(&from, COLUMNS, even[test_rank], ROWS, all) ||
        !make(&to, COLUMNS, skewed[test_rank], rows, all))
        return;
    fill(&from);
    empty(&to);
    for (int k = 0; k < FIELDS; ++k)
        move[k] = (meta_redistribute_field){to.field[k].type, from.field[k].ptr, from.field[k].box,
                                            to.field[k].ptr, to.field[k].box};
    CHECK_OK(meta_redistribute(cart, &before, &after, FIELDS, move));
    check(&from, 0);
    check(&to, 0);
    drop(&from);
    drop(&to);
    MPI_Comm_free(&cart);
}

TEST_COMM_MAIN(PROMISE(one_plan_exchanges_cells_faces_and_nodes),
               PROMISE(a_family_is_written_and_read), PROMISE(a_family_is_redistributed))
