/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_metamorph.c
 *  The examples of the manual pages of metamorph.h and metamorph_profiling.h, see
 * test_manual_examples.c. */
/* TEST: backends=all labels=core,documents */
#define METAMORPH_NO_NAMES
#include "metamorph.h"
#include "metamorph_profiling.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "metamorph_buffers.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_INT(call, 0)) return;                                                           \
    } while (0)

enum { NX = 8, NY = 6, NZ = 4, CELLS = NX * NY * NZ };

/* ------------------------------------------------------------------ life and devices */

static void the_library_begins_and_ends(void)
{
    CHECK_OK(meta_finalize());
    /* EXAMPLE: metamorph_init metamorph_finalize metamorph_set_acc metamorph_get_acc */
    int device;
    meta_preferred_mode mode;
    metamorph_init();
    TRY(metamorph_set_acc(-1, metaModePreferGeneric)); /* as METAMORPH_MODE says */
    TRY(metamorph_get_acc(&device, &mode));
    if (mode == metaModePreferOpenMP) printf("this process computes on the CPU\n");

    /* … allocate, compute, free … */

    metamorph_finalize();
    /* END OF EXAMPLE */
    CHECK_INT(device, 0);
    CHECK_OK(meta_init());
}

static void timers_measure(void)
{
    double host[4] = {0};
    setenv("METAMORPH_TIMER_LEVEL", "0", 1);
    void *data = buffer_of(host, sizeof host);
    /* EXAMPLE: metamorph_timers_init metamorph_timers_flush metamorph_timers_finish */
    metamorph_timers_init(); /* prints nothing unless METAMORPH_TIMER_LEVEL is 1 to 3 */
    TRY(metamorph_copy_d2h(host, data, sizeof host, false, NULL, NULL));
    TRY(metamorph_timers_flush()); /* the copy's time */
    TRY(metamorph_copy_h2d(data, host, sizeof host, false, NULL, NULL));
    TRY(metamorph_timers_finish()); /* that of the second one */
    /* END OF EXAMPLE */
    TRY(metamorph_free(data));
}

/* ------------------------------------------------------------------ memory and events */

static void data_goes_there_and_back(void)
{
    double host[CELLS], found[CELLS] = {0};
    for (int k = 0; k < CELLS; ++k) host[k] = k;
    /* EXAMPLE: metamorph_alloc metamorph_free metamorph_copy_h2d metamorph_copy_d2h
     * metamorph_copy_d2d metamorph_flush metamorph_get_atype_size */
    void *a, *b;
    const size_t bytes = CELLS * metamorph_get_atype_size(meta_db);
    TRY(metamorph_alloc(&a, bytes));
    TRY(metamorph_alloc(&b, bytes));
    TRY(metamorph_copy_h2d(a, host, bytes, true, NULL, NULL)); /* queued, in this order */
    TRY(metamorph_copy_d2d(b, a, bytes, true, NULL, NULL));
    TRY(metamorph_copy_d2h(found, b, bytes, true, NULL, NULL));
    TRY(metamorph_flush()); /* now found has the data of host */
    TRY(metamorph_free(a));
    TRY(metamorph_free(b));
    /* END OF EXAMPLE */
    CHECK_ARRAY(found, host, CELLS, META_F64);
}

/* EXAMPLE: meta_callback metamorph_init_event metamorph_destroy_event */
static void count(meta_callback *call)
{
    ++*(int *)call->data_payload;
}

static void copy_and_count(void *data, double *host, size_t bytes, int *complete)
{
    meta_callback call = {count, metaModePreferGeneric, complete, NULL};
    metamorph_event event;
    TRY(metamorph_init_event(&event));
    TRY(metamorph_copy_h2d(data, host, bytes, true, &call, &event));
    TRY(metamorph_flush()); /* calls count() */
    TRY(metamorph_destroy_event(event));
}
/* END OF EXAMPLE */

static void callbacks_are_called(void)
{
    double host[4] = {1, 2, 3, 4};
    int complete = 0;
    void *data = buffer_of(host, sizeof host);
    copy_and_count(data, host, sizeof host, &complete);
    CHECK_INT(complete, 1);
    TRY(metamorph_free(data));
}

/* An allocation of a function that others call: the message should name their line. */
#undef metamorph_alloc
/* EXAMPLE: metamorph_here */
#define NEW_GRID(grid, bytes) new_grid(grid, bytes, __FILE__, __LINE__)
static metamorph_err new_grid(void **grid, size_t bytes, const char *file, int line)
{
    metamorph_here(file, line); /* of the program that uses NEW_GRID() */
    return metamorph_alloc(grid, bytes);
}
/* END OF EXAMPLE */

static void places_are_those_of_callers(void)
{
    void *grid = NULL;
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    TRY(NEW_GRID(&grid, 64));
    CHECK_OK(meta_pointer_info(grid, &desc));
    CHECK_INT(desc.bytes, 64);
    TRY(metamorph_free(grid));
}

/* ------------------------------------------------------------------ faces */

static void faces_are_packed(void)
{
    double cells[CELLS], slab[NX * NY], found[CELLS];
    for (int k = 0; k < CELLS; ++k) cells[k] = k;
    void *grid = buffer_of(cells, sizeof cells), *packed = buffer_of(slab, sizeof slab);
    /* EXAMPLE: metamorph_make_slab_from_3d metamorph_pack_face metamorph_unpack_face
     * metamorph_free_face */
    /* The last plane of an array of NX × NY × NZ cells becomes its first one. */
    metamorph_face *last = metamorph_make_slab_from_3d(1, NX, NY, NZ, 1);
    metamorph_face *first = metamorph_make_slab_from_3d(0, NX, NY, NZ, 1);
    TRY(metamorph_pack_face(NULL, NULL, packed, grid, last, meta_db, true, NULL, NULL, NULL, NULL,
                            NULL));
    TRY(metamorph_unpack_face(NULL, NULL, packed, grid, first, meta_db, false, NULL, NULL, NULL,
                              NULL, NULL));
    metamorph_free_face(last);
    metamorph_free_face(first);
    /* END OF EXAMPLE */
    take(grid, found, sizeof found);
    take(packed, slab, sizeof slab);
    CHECK_ARRAY(found, cells + CELLS - NX * NY, NX * NY, META_F64);
    CHECK_ARRAY(slab, cells + CELLS - NX * NY, NX * NY, META_F64);
    CHECK_ARRAY(found + NX * NY, cells + NX * NY, CELLS - NX * NY, META_F64);
}

static void faces_are_made_of_sizes_and_strides(void)
{
    double cells[CELLS], found[NY * NX / 2];
    for (int k = 0; k < CELLS; ++k) cells[k] = k;
    void *grid = buffer_of(cells, sizeof cells), *packed = buffer_of(cells, sizeof found);
    /* EXAMPLE: metamorph_get_face metamorph_face */
    /* Every second cell of each row of the first plane, from cell 1 on. */
    int size[2] = {NY, NX / 2}, stride[2] = {NX, 2};
    metamorph_face *face = metamorph_get_face(1, 2, size, stride);
    TRY(metamorph_pack_face(NULL, NULL, packed, grid, face, meta_db, false, NULL, NULL, NULL, NULL,
                            NULL));
    metamorph_free_face(face);
    /* END OF EXAMPLE */
    take(packed, found, sizeof found);
    for (int k = 0; k < NY * NX / 2; ++k)
        if (!CHECK_NEAR(found[k], 2 * k + 1, 0)) break;
    TRY(metamorph_free(grid));
}

static void arrays_are_transposed(void)
{
    float in[NX * NY], out[NX * NY];
    for (int k = 0; k < NX * NY; ++k) in[k] = (float)k;
    void *from = buffer_of(in, sizeof in), *to = buffer_of(in, sizeof in);
    /* EXAMPLE: metamorph_transpose_face */
    meta_dim3 array = {NX, NY, 1};
    TRY(metamorph_transpose_face(NULL, NULL, from, to, &array, &array, meta_fl, false, NULL, NULL));
    /* END OF EXAMPLE */
    take(to, out, sizeof out);
    for (int k = 0; k < NX * NY; ++k)
        if (!CHECK_NEAR(out[k / NX + k % NX * NY], in[k], 0)) break;
    TRY(metamorph_free(from));
}

/* ------------------------------------------------------------------ compute */

static void cells_are_added_up(void)
{
    int ones[CELLS], twos[CELLS], sums[2];
    for (int k = 0; k < CELLS; ++k) ones[k] = 1, twos[k] = 2;
    void *a = buffer_of(ones, sizeof ones), *b = buffer_of(twos, sizeof twos);
    void *result;
    TRY(metamorph_alloc(&result, sizeof sums));
    {
        /* EXAMPLE: metamorph_reduce metamorph_dotProd metamorph_validate_worksize */
        /* a is an array of NX × NY × NZ cells: their sum, but for those of the outermost layer. */
        meta_dim3 size = {NX, NY, NZ}, start = {1, 1, 1}, end = {NX - 2, NY - 2, NZ - 2};
        meta_dim3 grid = {1, 1, 1}, block = {16, 8, 1}; /* ignored, as NULL is */
        int *sum = result, *dot = sum + 1, zero[2] = {0, 0};
        TRY(metamorph_validate_worksize(&grid, &block));
        TRY(metamorph_copy_h2d(result, zero, sizeof zero, true, NULL, NULL));
        TRY(metamorph_reduce(&grid, &block, a, &size, &start, &end, sum, meta_in, true, NULL,
                             NULL));
        TRY(metamorph_dotProd(&grid, &block, a, b, &size, &start, &end, dot, meta_in, true, NULL,
                              NULL));
        TRY(metamorph_copy_d2h(sums, result, sizeof sums, false, NULL, NULL));
        /* END OF EXAMPLE */
    }
    CHECK_INT(sums[0], (NX - 2) * (NY - 2) * (NZ - 2));
    CHECK_INT(sums[1], 2 * sums[0]);
    TRY(metamorph_free(a));
    TRY(metamorph_free(b));
    TRY(metamorph_free(result));
}

static void cells_are_averaged(void)
{
    double cells[CELLS];
    for (int k = 0; k < CELLS; ++k) cells[k] = 7;
    void *in = buffer_of(cells, sizeof cells);
    for (int k = 0; k < CELLS; ++k) cells[k] = 0;
    void *out = buffer_of(cells, sizeof cells);
    /* EXAMPLE: metamorph_stencil_3d7p */
    /* All cells that have six neighbours: the first and the last ones are not computed. */
    meta_dim3 size = {NX, NY, NZ}, start = {0, 0, 0}, end = {NX - 1, NY - 1, NZ - 1};
    TRY(metamorph_stencil_3d7p(NULL, NULL, in, out, &size, &start, &end, meta_db, false, NULL,
                               NULL));
    /* END OF EXAMPLE */
    take(out, cells, sizeof cells);
    CHECK_NEAR(cells[0], 0, 0);
    CHECK_NEAR(cells[(NY + 1) * NX + 1], 7, 1e-12);
    TRY(metamorph_free(in));
}

static void a_matrix_is_multiplied(void)
{
    double result[3];
    /* EXAMPLE: metamorph_csr */
    /* y += A·x for the matrix (2 0 1; 0 0 0; 0 3 4), whose rows begin at elements 0, 2, 2. */
    const unsigned start[4] = {0, 2, 2, 4}, column[4] = {0, 2, 1, 2};
    const double value[4] = {2, 1, 3, 4}, one[3] = {1, 1, 1};
    const struct {
        const void *host;
        size_t bytes;
    } from[5] = {{start, sizeof start},
                 {column, sizeof column},
                 {value, sizeof value},
                 {one, sizeof one},
                 {one, sizeof one}};
    void *to[5];
    for (int k = 0; k < 5; ++k) {
        TRY(metamorph_alloc(&to[k], from[k].bytes));
        TRY(metamorph_copy_h2d(to[k], (void *)from[k].host, from[k].bytes, false, NULL, NULL));
    }
    TRY(metamorph_csr(NULL, NULL, 3, to[0], to[1], to[2], to[3], to[4], meta_db, false, NULL,
                      NULL));
    TRY(metamorph_copy_d2h(result, to[4], sizeof result, false, NULL, NULL)); /* 4, 1, 8 */
    /* END OF EXAMPLE */
    CHECK(result[0] == 4 && result[1] == 1 && result[2] == 8);
    for (int k = 0; k < 5; ++k) TRY(metamorph_free(to[k]));
}

static void pages_have_checksums(void)
{
    enum { PAGES = 3 };
    char text[PAGES][12] = {"123456789..", "123456788..", "123456789!!"};
    unsigned sums[PAGES] = {0};
    void *pages = buffer_of(text, sizeof text), *checksums = buffer_of(sums, sizeof sums);
    /* EXAMPLE: metamorph_crc */
    /* Pages of 9 bytes, which begin every 3 words. */
    TRY(metamorph_crc(NULL, NULL, pages, 9, 3, PAGES, checksums, meta_ui, false, NULL, NULL));
    /* END OF EXAMPLE */
    take(checksums, sums, sizeof sums);
    CHECK(sums[0] == 0xcbf43926 && sums[2] == sums[0] && sums[1] != sums[0]);
    TRY(metamorph_free(pages));
}

TEST_DEVICE_MAIN(PROMISE(the_library_begins_and_ends), PROMISE(timers_measure),
                 PROMISE(data_goes_there_and_back), PROMISE(callbacks_are_called),
                 PROMISE(places_are_those_of_callers), PROMISE(faces_are_packed),
                 PROMISE(faces_are_made_of_sizes_and_strides), PROMISE(arrays_are_transposed),
                 PROMISE(cells_are_added_up), PROMISE(cells_are_averaged),
                 PROMISE(a_matrix_is_multiplied), PROMISE(pages_have_checksums))
