/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_redistribute.c
 *  meta_redistribute(): on random process grids, cuts, paddings, types and numbers of fields,
 *  including staggered ones, every cell of every array is compared with its global index. */
/* TEST: backends=none auto=yes np=3 labels=comm */
/* TEST: backends=all np=1,2,3,4 mixed=yes labels=comm */
#include "test_mpi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, MOST_RANKS = 4, MOST_FIELDS = 3 };

/* One array, before or after. */
typedef struct array {
    meta_box box;
    int64_t first[DIMS]; /* global index of its first own element */
    int64_t count;       /* elements of the array */
    void *device;
    unsigned char *host;
} array;

/* The case at hand, the same on every rank but for what the rank's coordinates make of it. */
typedef struct grid {
    MPI_Comm cart;
    int dims, extent[DIMS], at[DIMS];
    int64_t cells[DIMS];
    int64_t cut[2][DIMS][MOST_RANKS + 1]; /* before and after */
    meta_cuts cuts[2];
    int fields, more[MOST_FIELDS][DIMS];
    meta_redistribute_field field[MOST_FIELDS];
    size_t element[MOST_FIELDS];
    array array[MOST_FIELDS][2];
} grid;

/* ------------------------------------------------------------------ the case */

static void cut_ranks(grid *g)
{
    int rest = test_size;
    for (int d = 0; d < g->dims; ++d) g->extent[d] = 1;
    for (int factor = 2; rest > 1; ++factor)
        while (rest % factor == 0) {
            g->extent[test_random_in(0, g->dims - 1)] *= factor;
            rest /= factor;
        }
}

/* Any cuts, blocks without cells among them. */
static void cut_cells(grid *g, int64_t thickest)
{
    for (int d = 0; d < g->dims; ++d) {
        g->cells[d] = test_random_in(1, thickest);
        for (int k = 0; k < 2; ++k) {
            int64_t *cut = g->cut[k][d];
            const int parts = g->extent[d];
            cut[0] = 0;
            for (int i = 1; i <= parts; ++i)
                cut[i] = i == parts ? g->cells[d] : test_random_in(cut[i - 1], g->cells[d]);
        }
    }
}

/* An array of a block: paddings differ from rank to rank. */
static void shape(const grid *g, int f, int when, array *a)
{
    a->box.ndim = g->dims;
    a->count = 1;
    for (int d = 0; d < g->dims; ++d) {
        const int64_t *cut = &g->cut[when][d][g->at[d]], planes = cut[1] - cut[0];
        a->first[d] = cut[0];
        a->box.start[d] = (test_rank * 7 + d + when + f) % 3;
        a->box.end[d] = a->box.start[d] + planes + (planes > 0 && g->more[f][d]);
        a->box.size[d] = a->box.end[d] + (test_rank * 5 + d + when) % 2;
        a->count *= a->box.size[d];
    }
}

static void make_case(grid *g, int number, int64_t thickest)
{
    const int periodic[DIMS] = {0};
    memset(g, 0, sizeof *g);
    g->dims = (int)test_random_in(1, DIMS);
    g->fields = (int)test_random_in(1, MOST_FIELDS);
    cut_ranks(g);
    MPI_Cart_create(MPI_COMM_WORLD, g->dims, g->extent, periodic, 0, &g->cart);
    MPI_Cart_coords(g->cart, test_rank, g->dims, g->at);
    cut_cells(g, thickest);
    for (int k = 0; k < 2; ++k)
        for (int d = 0; d < DIMS; ++d) g->cuts[k].at[d] = g->cut[k][d];
    for (int f = 0; f < g->fields; ++f) {
        g->field[f].type = (meta_type)test_random_in(0, META_TYPE_COUNT - 1);
        meta_type_size(g->field[f].type, &g->element[f]);
        for (int d = 0; d < g->dims; ++d) g->more[f][d] = test_random() % 4 == 0;
        for (int when = 0; when < 2; ++when) shape(g, f, when, &g->array[f][when]);
    }
    test_case("%d: %d dimensions, ranks %dx%dx%d, cells %lldx%lldx%lld, %d fields, the first "
              "staggered %d%d%d of type %d",
              number, g->dims, g->extent[0], g->extent[1], g->extent[2], (long long)g->cells[0],
              (long long)g->cells[1], (long long)g->cells[2], g->fields, g->more[0][0],
              g->more[0][1], g->more[0][2], (int)g->field[0].type);
}

/* ------------------------------------------------------------------ the oracle */

static const unsigned char untouched = 0xd7;

/* What the array holds: own elements by their global index, anything else untouched. */
static void fill(const grid *g, int f, const array *a, unsigned char *to, bool own)
{
    const size_t element = g->element[f];
    memset(to, untouched, (size_t)a->count * element);
    for (int64_t k = 0; own && k < a->count; ++k) {
        uint64_t value = (uint64_t)f * 37 + 1;
        int64_t rest = k, global[DIMS] = {0};
        bool inside = true;
        for (int d = 0; d < g->dims; ++d) {
            const int64_t c = rest % a->box.size[d];
            rest /= a->box.size[d];
            inside = inside && c >= a->box.start[d] && c < a->box.end[d];
            global[d] = a->first[d] + c - a->box.start[d];
        }
        for (int d = g->dims - 1; d >= 0; --d) value = value * 1009 + (uint64_t)global[d];
        if (inside) memcpy(to + (size_t)k * element, &value, element);
    }
}

/* ------------------------------------------------------------------ a move */

static bool make_arrays(grid *g, meta_mode after)
{
    for (int f = 0; f < g->fields; ++f)
        for (int when = 0; when < 2; ++when) {
            array *a = &g->array[f][when];
            const size_t bytes = (size_t)a->count * g->element[f];
            a->host = malloc(bytes + 1);
            if (when == 1 && !CHECK_OK(meta_set_acc(0, after))) return false;
            const bool made = bytes == 0 || CHECK_OK(meta_alloc(&a->device, bytes));
            if (when == 1) CHECK_OK(meta_set_acc(0, META_SPREAD));
            if (!made) return false;
            fill(g, f, a, a->host, when == 0);
            CHECK_OK(bytes ? meta_copy_h2d(a->device, a->host, bytes, META_ASYNC) : META_OK);
            *(when ? &g->field[f].to_box : &g->field[f].from_box) = a->box;
        }
    for (int f = 0; f < g->fields; ++f) {
        g->field[f].from = g->array[f][0].device;
        g->field[f].to = g->array[f][1].device;
    }
    return true;
}

/* Both arrays: the old one as it was, the new one with its own cells. */
static void check_arrays(const grid *g, bool moved)
{
    for (int f = 0; f < g->fields; ++f)
        for (int when = 0; when < 2; ++when) {
            const array *a = &g->array[f][when];
            const size_t bytes = (size_t)a->count * g->element[f];
            unsigned char *expected = malloc(bytes + 1);
            fill(g, f, a, expected, when == 0 || moved);
            if (bytes) CHECK_OK(meta_copy_d2h(a->host, a->device, bytes, NULL));
            CHECK_ARRAY(a->host, expected, a->count, g->field[f].type);
            free(expected);
        }
}

static void free_arrays(grid *g)
{
    CHECK_OK(meta_flush());
    for (int f = 0; f < g->fields; ++f)
        for (int when = 0; when < 2; ++when) {
            if (g->array[f][when].device) CHECK_OK(meta_free(g->array[f][when].device));
            free(g->array[f][when].host);
        }
    MPI_Comm_free(&g->cart);
}

static void move(grid *g, meta_mode after)
{
    if (make_arrays(g, after) &&
        CHECK_OK(meta_redistribute(g->cart, &g->cuts[0], &g->cuts[1], g->fields, g->field)))
        check_arrays(g, true);
    free_arrays(g);
}

/* The same on every rank, so that all leave the loop together. */
static bool broken_anywhere(void)
{
    const int mine = test_failures() > 0;
    int any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* ------------------------------------------------------------------ promises */

static void every_cell_is_where_its_global_index_belongs(void)
{
    TEST_CASES (k, test_size > 2 ? 25 : 100, test_size > 2 ? 4000 : 25000) {
        grid g;
        if (broken_anywhere()) break;
        make_case(&g, (int)k, 9);
        move(&g, META_SPREAD);
    }
}

/* META_TEST_CHUNK is 4096: these take several messages each. */
static void large_blocks_are_sent_in_chunks(void)
{
    for (int k = 0; k < 4 && !broken_anywhere(); ++k) {
        grid g;
        make_case(&g, k, k < 2 ? 40 : 60);
        move(&g, META_SPREAD);
    }
}

static void arrays_move_to_another_device_of_the_rank(void)
{
    int devices = 0;
    CHECK_OK(meta_device_count(META_OPENMP, &devices));
    if (!CHECK(devices > 0)) return;
    for (int k = 0; k < 10 && !broken_anywhere(); ++k) {
        grid g;
        make_case(&g, k, 9);
        move(&g, META_OPENMP);
    }
}

/* An application's messages keep their tags. */
static void the_applications_messages_in_flight_are_not_mixed_up_with_moved_cells(void)
{
    const int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
    const int64_t sent = 4711 + test_rank;
    int64_t got = 0;
    void *out, *in;
    meta_event done = META_EVENT_NULL;
    grid g;
    if (!CHECK_OK(meta_alloc(&out, sizeof sent)) || !CHECK_OK(meta_alloc(&in, sizeof got))) return;
    CHECK_OK(meta_copy_h2d(out, &sent, sizeof sent, NULL));
    CHECK_OK(meta_packed_recv(last, in, 1, META_I64, 0, &done));
    make_case(&g, 0, 9);
    if (!make_arrays(&g, META_SPREAD)) return;
    CHECK_OK(meta_redistribute(g.cart, &g.cuts[0], &g.cuts[1], g.fields, g.field));
    CHECK_OK(meta_packed_send(next, out, 1, META_I64, 0, NULL));
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    CHECK_OK(meta_copy_d2h(&got, in, sizeof got, NULL));
    CHECK_INT(got, 4711 + last);
    check_arrays(&g, true);
    free_arrays(&g);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

/* ------------------------------------------------------------------ what is refused */

/* A case whose blocks all have cells, of one field of F64. */
static void make_plain(grid *g)
{
    const int none = 0;
    memset(g, 0, sizeof *g);
    g->dims = g->fields = 1;
    g->extent[0] = test_size;
    g->at[0] = test_rank;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &none, 0, &g->cart);
    g->cells[0] = 10 * test_size;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i <= test_size; ++i)
            g->cut[k][0][i] = 10 * i + (k && i > 0 && i < test_size ? 3 : 0);
        g->cuts[k].at[0] = g->cut[k][0];
    }
    g->field[0].type = META_F64;
    g->element[0] = sizeof(double);
    for (int when = 0; when < 2; ++when) shape(g, 0, when, &g->array[0][when]);
    test_case("plain");
}

/* Refused on every rank, and nothing is written. */
static void refused(const grid *g, int fields, const meta_redistribute_field *field, meta_err error,
                    const char *part)
{
    test_case("%s", part);
    CHECK_ERR_NAMES(meta_redistribute(g->cart, &g->cuts[0], &g->cuts[1], fields, field), error,
                    part);
    check_arrays(g, false);
}

static void what_cannot_be_moved_is_refused_on_every_rank_and_nothing_written(void)
{
    const bool last = test_rank == test_size - 1;
    grid g;
    meta_redistribute_field f;
    make_plain(&g);
    if (!make_arrays(&g, META_SPREAD)) return;
    f = g.field[0];
    if (last) f.from_box.end[0] -= 1;
    refused(&g, 1, &f, META_ERR_BOUNDS, "'field[0].from_box', dimension 0: the box has");
    f = g.field[0];
    if (last) f.to_box.start[0] = f.to_box.size[0] + 1;
    refused(&g, 1, &f, META_ERR_BOUNDS, "'field[0].to_box'");
    f = g.field[0];
    if (last) f.to_box.ndim = 2;
    refused(&g, 1, &f, META_ERR_ARGUMENT, "'field[0].to_box' has 2 dimensions");
    f = g.field[0];
    if (last) f.to = NULL;
    refused(&g, 1, &f, META_ERR_ARGUMENT, "'field[0].to' is NULL");
    f = g.field[0];
    if (last) f.to = g.array[0][0].device, f.to_box = f.from_box;
    if (test_size == 1) refused(&g, 1, &f, META_ERR_OVERLAP, "one array");
    f = g.field[0];
    if (last) f.type = META_TYPE_COUNT;
    refused(&g, 1, &f, test_size > 1 ? META_ERR_MISMATCH : META_ERR_TYPE, "type'");
    f = g.field[0];
    refused(&g, -1, &f, META_ERR_ARGUMENT, "'fields' is -1");
    refused(&g, 1, NULL, META_ERR_ARGUMENT, "'field' is NULL");
    if (test_size > 1) refused(&g, last ? 2 : 1, &f, META_ERR_MISMATCH, "'fields' is 2, but 1");
    g.cut[1][0][test_size] += 1;
    refused(&g, 1, &f, META_ERR_ARGUMENT, "'after->at[0]' at");
    g.cut[1][0][test_size] -= 1;
    g.cut[1][0][0] = 1;
    refused(&g, 1, &f, META_ERR_ARGUMENT, "'after->at[0][0]' is 1");
    g.cut[1][0][0] = 0;
    CHECK_OK(meta_redistribute(g.cart, &g.cuts[0], &g.cuts[1], 0, NULL));
    check_arrays(&g, false);
    CHECK_OK(meta_redistribute(g.cart, &g.cuts[0], &g.cuts[1], 1, g.field));
    check_arrays(&g, true);
    free_arrays(&g);
}

/* ------------------------------------------------------------------ other threads meanwhile */

static meta_redistribute_field *moving; /* NULL: nobody looks */
static meta_err freed[2];
static char words[2][256];

static void *free_both(void *unused)
{
    void *both[] = {(void *)(uintptr_t)moving->from, moving->to};
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        freed[k] = meta_free(both[k]);
        snprintf(words[k], sizeof words[k], "%s", freed[k] == META_OK ? "" : meta_last_error());
    }
    return NULL;
}

/* Visible, so that libmeta_comm finds it here: it asks for the ranks of what it is about to move.
 */
__attribute__((visibility("default"))) int MPI_Cart_rank(MPI_Comm cart, const int coords[],
                                                         int *rank)
{
    pthread_t other;
    if (moving && pthread_create(&other, NULL, free_both, NULL) == 0) {
        pthread_join(other, NULL);
        moving = NULL;
    }
    return PMPI_Cart_rank(cart, coords, rank);
}

static void an_array_that_another_thread_frees_while_its_cells_move_stays(void)
{
    grid g;
    make_plain(&g);
    if (!make_arrays(&g, META_SPREAD)) return;
    moving = &g.field[0];
    CHECK_OK(meta_redistribute(g.cart, &g.cuts[0], &g.cuts[1], 1, g.field));
    CHECK(moving == NULL);
    for (int k = 0; k < 2; ++k) {
        CHECK_INT(freed[k], META_ERR_STATE);
        CHECK_CONTAINS(words[k], "is used by a message or a plan");
    }
    check_arrays(&g, true);
    free_arrays(&g); /* which are nobody's but the program's again */
}

static void start(int *argc, char ***argv)
{
    setenv("META_TEST_CHUNK", "4096", 1);
    test_comm_start(argc, argv);
}

static const test_setting in_chunks = {start, test_mpi_worst, test_comm_end};
TEST_MAIN_WITH(&in_chunks, PROMISE(every_cell_is_where_its_global_index_belongs),
               PROMISE(large_blocks_are_sent_in_chunks),
               PROMISE(arrays_move_to_another_device_of_the_rank),
               PROMISE(the_applications_messages_in_flight_are_not_mixed_up_with_moved_cells),
               PROMISE(what_cannot_be_moved_is_refused_on_every_rank_and_nothing_written),
               PROMISE(an_array_that_another_thread_frees_while_its_cells_move_stays))
