/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_metamorph.c
 *  MetaMorph's functions in one process: programs in its style against plain loops, every function
 *  against the simplest loop, callbacks, events, devices, and what is refused. */
/* TEST: backends=all auto=yes labels=core */
#define METAMORPH_NO_NAMES
#include "metamorph.h"
#include "metamorph_profiling.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caught.h"
#include "metamorph_buffers.h"
#include "metamorph_oracle.h"
#include "metamorph_style.h"

/* ------------------------------------------------------------------ programs */

static void a_torus_has_the_sum_of_plain_loops(void)
{
    const int cells[3] = {9, 6, 5};
    for (int async = 0; async < 2; ++async) {
        double sum = 0;
        CHECK_INT(style_torus(0, 1, cells, 3, async, &sum), 0);
        CHECK_NEAR(sum, oracle_torus(0, 1, cells), 0);
    }
}

static void averages_are_those_of_plain_loops(void)
{
    const int cells[3] = {8, 5, 6}, count = 8 * 5 * 6;
    float own[8 * 5 * 6], sum = 0, *expected = oracle_average(cells, 4), all = 0;
    for (int k = 0; k < count; ++k) all += expected[k];
    for (int async = 0; async < 2; ++async) {
        for (int k = 0; k < count; ++k) own[k] = oracle_first(k % 8, k / 8 % 5, k / 40);
        CHECK_INT(style_average(0, 1, cells, 4, async, own, &sum), 0);
        for (int k = 0; k < count; ++k)
            if (!CHECK_NEAR(own[k], expected[k], 1e-5)) break;
        CHECK_NEAR(sum, all, 1e-4);
    }
    free(expected);
}

/* ------------------------------------------------------------------ each function */

static void reductions_add_to_what_is_there(void)
{
    enum { NX = 5, NY = 4, NZ = 3, CELLS = NX * NY * NZ };
    meta_dim3 size = {NX, NY, NZ}, start = {1, 0, 1}, end = {3, 2, 1};
    int data[CELLS], other[CELLS], sum = 0, dot = 0;
    for (int k = 0; k < CELLS; ++k) data[k] = 3 * k - 50, other[k] = k % 7 - 3;
    for (int y = 0; y <= 2; ++y)
        for (int x = 1; x <= 3; ++x) {
            sum += data[(1 * NY + y) * NX + x];
            dot += data[(1 * NY + y) * NX + x] * other[(1 * NY + y) * NX + x];
        }
    const int before[2] = {1000, -77};
    int after[2] = {0, 0};
    void *a = buffer_of(data, sizeof data), *b = buffer_of(other, sizeof other),
         *results = buffer_of(before, sizeof before);
    CHECK_INT(
        metamorph_reduce(NULL, NULL, a, &size, &start, &end, results, meta_in, true, NULL, NULL),
        0);
    CHECK_INT(
        metamorph_reduce(NULL, NULL, a, &size, &start, &end, results, meta_in, true, NULL, NULL),
        0);
    CHECK_INT(metamorph_dotProd(NULL, NULL, a, b, &size, &start, &end,
                                (char *)results + sizeof(int), meta_in, false, NULL, NULL),
              0);
    take(results, after, sizeof after);
    CHECK_INT(after[0], 1000 + 2 * sum);
    CHECK_INT(after[1], -77 + dot);
    metamorph_free(a);
    metamorph_free(b);
}

/* Types of which the 1 that reductions are added with has different bits. */
static void reductions_are_of_every_arithmetic_type(void)
{
    meta_dim3 size = {4, 1, 1}, start = {0, 0, 0}, end = {3, 0, 0};
    const double f64[4] = {1.5, 2.5, -4, 8};
    const float f32[4] = {1.5f, 2.5f, -4, 8};
    const long i64[4] = {1L << 40, 2, -4, 8};
    const unsigned long u64[4] = {1UL << 40, 2, 4, 8};
    const unsigned u32[4] = {1U << 31, 2, 4, 8};
    const struct {
        meta_type_id type;
        const void *data;
        double sum;
    } cases[] = {{meta_db, f64, 8},
                 {meta_fl, f32, 8},
                 {meta_lo, i64, 0x1p40 + 6},
                 {meta_ul, u64, 0x1p40 + 14},
                 {meta_ui, u32, 0x1p31 + 14}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const size_t bytes = metamorph_get_atype_size(cases[k].type);
        union {
            double f64;
            float f32;
            long i64;
            unsigned long u64;
            unsigned u32;
        } zero = {0}, sum = {0};
        void *data = buffer_of(cases[k].data, 4 * bytes), *result = buffer_of(&zero, bytes);
        test_case("type %d", (int)cases[k].type);
        CHECK_INT(metamorph_reduce(NULL, NULL, data, &size, &start, &end, result, cases[k].type,
                                   false, NULL, NULL),
                  0);
        take(result, &sum, bytes);
        metamorph_free(data);
        CHECK_NEAR(cases[k].type == meta_db   ? sum.f64
                   : cases[k].type == meta_fl ? (double)sum.f32
                   : cases[k].type == meta_lo ? (double)sum.i64
                   : cases[k].type == meta_ul ? (double)sum.u64
                                              : (double)sum.u32,
                   cases[k].sum, 0);
    }
}

/* The bounds are ghost cells: cells on them are not written, and a box without cells between is no
 * error. */
static void a_stencil_leaves_its_bounds_alone(void)
{
    enum { N = 6, CELLS = N * N * N };
    meta_dim3 size = {N, N, N}, start = {0, 1, 2}, end = {5, 4, 4}, same = {2, 2, 2};
    double in[CELLS], out[CELLS], expected[CELLS];
    for (int k = 0; k < CELLS; ++k) in[k] = k * k % 37, out[k] = expected[k] = -1;
    for (int z = 3; z < 4; ++z)
        for (int y = 2; y < 4; ++y)
            for (int x = 1; x < 5; ++x) {
                const int c = (z * N + y) * N + x;
                expected[c] = (in[c] + in[c - 1] + in[c + 1] + in[c - N] + in[c + N] +
                               in[c - N * N] + in[c + N * N]) /
                              7;
            }
    void *from = buffer_of(in, sizeof in), *to = buffer_of(out, sizeof out);
    CHECK_INT(metamorph_stencil_3d7p(NULL, NULL, from, to, &size, &start, &end, meta_db, false,
                                     NULL, NULL),
              0);
    CHECK_INT(metamorph_stencil_3d7p(NULL, NULL, from, to, &size, &same, &same, meta_db, false,
                                     NULL, NULL),
              0);
    take(to, out, sizeof out);
    CHECK_ARRAY(out, expected, CELLS, META_F64);
    metamorph_free(from);
}

static void the_first_level_of_a_face_is_the_slowest(void)
{
    enum { NX = 5, NY = 4, NZ = 3, CELLS = NX * NY * NZ };
    short grid[CELLS], packed[12], expected[12], back[CELLS];
    for (int k = 0; k < CELLS; ++k) grid[k] = (short)k, back[k] = -1;
    int sizes[3] = {2, 3, 2}, strides[3] = {NX * NY, NX, 2};
    metamorph_face *face = metamorph_get_face(1, 3, sizes, strides);
    for (int z = 0, at = 0; z < 2; ++z)
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 2; ++x) expected[at++] = grid[1 + z * NX * NY + y * NX + x * 2];
    void *from = buffer_of(grid, sizeof grid), *between = buffer_of(packed, sizeof packed),
         *to = buffer_of(back, sizeof back);
    CHECK_INT(metamorph_pack_face(NULL, NULL, between, from, face, meta_sh, true, NULL, NULL, NULL,
                                  NULL, NULL),
              0);
    CHECK_INT(metamorph_unpack_face(NULL, NULL, between, to, face, meta_sh, false, NULL, NULL, NULL,
                                    NULL, NULL),
              0);
    take(between, packed, sizeof packed);
    CHECK_ARRAY(packed, expected, 12, META_I16);
    take(to, back, sizeof back);
    for (int k = 0, at = 0; k < CELLS; ++k) {
        const bool in_face = at < 12 && expected[at] == k;
        if (!CHECK_INT(back[k], in_face ? k : -1)) break;
        if (in_face) ++at;
    }
    metamorph_free_face(face);
    metamorph_free(from);
}

static void slabs_are_at_the_sides_that_they_name(void)
{
    static const struct {
        int start, size[3];
    } expected[6] = {{0, {2, 4, 3}}, {36, {2, 4, 3}}, {0, {5, 4, 2}},
                     {1, {5, 4, 2}}, {0, {5, 2, 3}},  {6, {5, 2, 3}}};
    for (int side = 0; side < 6; ++side) {
        metamorph_face *slab = metamorph_make_slab_from_3d(side, 3, 4, 5, 2);
        test_case("side %d", side);
        CHECK_INT(slab->start, expected[side].start);
        CHECK_INT(slab->count, 3);
        CHECK(memcmp(slab->size, expected[side].size, sizeof expected[side].size) == 0);
        CHECK(slab->stride[0] == 12 && slab->stride[1] == 3 && slab->stride[2] == 1);
        metamorph_free_face(slab);
    }
}

static void transposes_are_of_the_array_or_of_a_part(void)
{
    enum { W = 7, H = 5 };
    static const size_t parts[][2] = {{W, H}, {W, 3}, {4, H}, {2, 3}, {1, 1}};
    float in[W * H], out[W * H], expected[W * H];
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
        meta_dim3 array = {W, H, 1}, part = {parts[k][0], parts[k][1], 1};
        for (int c = 0; c < W * H; ++c) in[c] = (float)c, out[c] = expected[c] = -1;
        for (size_t x = 0; x < part[0]; ++x)
            for (size_t y = 0; y < part[1]; ++y) expected[y + x * H] = in[x + y * W];
        test_case("%zu x %zu", part[0], part[1]);
        void *from = buffer_of(in, sizeof in), *to = buffer_of(out, sizeof out);
        CHECK_INT(metamorph_transpose_face(NULL, NULL, from, to, &array, &part, meta_fl, k % 2,
                                           NULL, NULL),
                  0);
        CHECK_INT(metamorph_flush(), 0);
        take(to, out, sizeof out);
        CHECK_ARRAY(out, expected, W * H, META_F32);
        metamorph_free(from);
    }
}

static void a_sparse_matrix_is_added(void)
{
    /* (2 0 1; 0 0 0; 0 3 4) */
    const unsigned start[4] = {0, 2, 2, 4}, column[4] = {0, 2, 1, 2};
    const double value[4] = {2, 1, 3, 4}, x[3] = {1, 10, 100}, y[3] = {0.5, 0.25, 0};
    double after[3];
    void *ap = buffer_of(start, sizeof start), *aj = buffer_of(column, sizeof column),
         *ax = buffer_of(value, sizeof value);
    void *dx = buffer_of(x, sizeof x), *dy = buffer_of(y, sizeof y);
    CHECK_INT(metamorph_csr(NULL, NULL, 3, ap, aj, ax, dx, dy, meta_db, true, NULL, NULL), 0);
    take(dy, after, sizeof after);
    CHECK(after[0] == 102.5 && after[1] == 0.25 && after[2] == 430);
    metamorph_free(ap), metamorph_free(aj), metamorph_free(ax), metamorph_free(dx);
}

static void checksums_are_those_of_each_page(void)
{
    char pages[3][12] = {"123456789..", "123456788..", "123456789!!"};
    unsigned sums[3] = {0};
    void *in = buffer_of(pages, sizeof pages), *out = buffer_of(sums, sizeof sums);
    CHECK_INT(metamorph_crc(NULL, NULL, in, 9, 3, 3, out, meta_ui, false, NULL, NULL), 0);
    take(out, sums, sizeof sums);
    CHECK_INT(sums[0], 0xcbf43926); /* the check value of CRC-32 */
    CHECK_INT(sums[2], 0xcbf43926);
    CHECK(sums[1] != sums[0]);
    metamorph_free(in);
}

/* ------------------------------------------------------------------ callbacks and events */

static int called;
static void count_call(meta_callback *call)
{
    called += *(int *)call->data_payload;
}

static void a_callback_comes_when_the_work_is_complete(void)
{
    int weight = 5;
    meta_callback call = {count_call, metaModePreferGeneric, &weight, NULL};
    double host[4] = {1, 2, 3, 4};
    metamorph_event event;
    void *buffer = buffer_of(host, sizeof host);
    called = 0;
    CHECK_INT(metamorph_copy_d2h(host, buffer, sizeof host, false, &call, NULL), 0);
    CHECK_INT(called, 5);
    CHECK_INT(metamorph_init_event(&event), 0);
    CHECK_INT(metamorph_copy_h2d(buffer, host, sizeof host, true, &call, &event), 0);
    CHECK_INT(metamorph_copy_h2d(buffer, host, sizeof host, true, &call, &event), 0);
    CHECK_INT(metamorph_flush(), 0);
    CHECK_INT(called, 15);
    CHECK_INT(metamorph_destroy_event(event), 0);
    metamorph_free(buffer);
}

/* ------------------------------------------------------------------ devices */

static void the_current_device_has_metamorphs_number(void)
{
    const char *wanted = getenv("META_MODE");
    meta_preferred_mode mode = metaModeUnset;
    int index = -7;
    CHECK_INT(metamorph_set_acc(-1, metaModePreferGeneric), 0);
    CHECK_INT(metamorph_get_acc(&index, &mode), 0);
    CHECK_INT(index, 0);
    CHECK_INT(mode, strcmp(wanted, "openmp") == 0   ? metaModePreferOpenMP
                    : strcmp(wanted, "opencl") == 0 ? metaModePreferOpenCL
                    : strcmp(wanted, "cuda") == 0   ? metaModePreferCUDA
                    : strcmp(wanted, "hip") == 0    ? metaModePreferHIP
                                                    : metaModePreferGeneric);
    CHECK_INT(metamorph_set_acc(17, metaModePreferOpenMP), 0); /* there is one */
    CHECK_INT(metamorph_get_acc(NULL, &mode), 0);
    CHECK_INT(mode, metaModePreferOpenMP);
    CHECK_INT(metamorph_set_acc(0, metaModePreferGeneric), 0);
}

static void target_device_names_an_opencl_device(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    char text[2048];
    if (meta_device_info(0, META_OPENCL, &desc) != META_OK) return;
    setenv("TARGET_DEVICE", desc.name, 1);
    CHECK_INT(metamorph_set_acc(-1, metaModePreferOpenCL), 0);
    setenv("TARGET_DEVICE", "a device of no kind", 1);
    catch_errors();
    const metamorph_err err = metamorph_set_acc(-1, metaModePreferOpenCL);
    take_caught(text, sizeof text);
    CHECK_INT(err, -1);
    CHECK_CONTAINS(text, "TARGET_DEVICE is 'a device of no kind'");
    CHECK_CONTAINS(text, desc.name);
    unsetenv("TARGET_DEVICE");
    CHECK_INT(metamorph_set_acc(-1, metaModePreferOpenCL), 0);
    CHECK_INT(metamorph_set_acc(-1, metaModePreferGeneric), 0);
}

/* ------------------------------------------------------------------ what is refused */

static char said[4096];
/* The call fails, and says so once, in a line that names the function and what is wrong. */
#define REFUSED(call, function, part)                                                              \
    do {                                                                                           \
        catch_errors();                                                                            \
        const long got = (long)(call);                                                             \
        take_caught(said, sizeof said);                                                            \
        CHECK(got != 0);                                                                           \
        CHECK_CONTAINS(said, "ERROR in " function ": ");                                           \
        CHECK_CONTAINS(said, part);                                                                \
        CHECK(strchr(said, '\n') == said + strlen(said) - 1);                                      \
    } while (0)

static void wrong_arguments_are_named(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    double host[8] = {0};
    void *data = buffer_of(host, sizeof host);
    meta_dim3 size = {2, 2, 2}, start = {0, 0, 0}, end = {1, 1, 1}, beyond = {1, 2, 1},
              behind = {0, 1, 0}, before = {1, 0, 1}, none = {2, 0, 2};
    int sizes[1] = {2}, strides[1] = {1};
    metamorph_face bad = {0, 11, sizes, strides}, far = {7, 1, sizes, strides},
                   empty = {0, 1, NULL, NULL};
#define REDUCE(size, start, end, type)                                                             \
    metamorph_reduce(NULL, NULL, data, size, start, end, data, type, false, NULL, NULL)
    REFUSED(REDUCE(NULL, &start, &end, meta_db), "meta_reduce", "array_size is NULL");
    REFUSED(REDUCE(&size, NULL, &end, meta_db), "meta_reduce", "array_start is NULL");
    REFUSED(REDUCE(&size, &start, NULL, meta_db), "meta_reduce", "array_end is NULL");
    REFUSED(REDUCE(&none, &start, &end, meta_db), "meta_reduce", "array_size[1] is 0");
    REFUSED(REDUCE(&size, &start, &beyond, meta_db), "meta_reduce",
            "array_end[1] is 2 and array_size[1] is 2");
    REFUSED(REDUCE(&size, &behind, &before, meta_db), "meta_reduce",
            "array_start[1] is 1, behind array_end[1], which is 0");
    REFUSED(REDUCE(&size, &start, &end, (meta_type_id)10), "meta_reduce", "type is 10");
    REFUSED(REDUCE(&size, &start, &end, meta_ch), "meta_reduce", "type");
    REFUSED(metamorph_dotProd(NULL, NULL, data, NULL, &size, &start, &end, data, meta_db, false,
                              NULL, NULL),
            "meta_dotProd", "data2 is NULL");
    REFUSED(metamorph_dotProd(NULL, NULL, data, data, &size, &start, &end, host, meta_db, false,
                              NULL, NULL),
            "meta_dotProd", "argument 'y'");
    REFUSED(metamorph_stencil_3d7p(NULL, NULL, data, data, &size, &start, &beyond, meta_db, false,
                                   NULL, NULL),
            "meta_stencil_3d7p", "array_end[1]");
    REFUSED(metamorph_pack_face(NULL, NULL, data, data, NULL, meta_db, false, NULL, NULL, NULL,
                                NULL, NULL),
            "meta_pack_face", "face is NULL");
    REFUSED(metamorph_pack_face(NULL, NULL, data, data, &empty, meta_db, false, NULL, NULL, NULL,
                                NULL, NULL),
            "meta_pack_face", "face->size or face->stride is NULL");
    REFUSED(metamorph_unpack_face(NULL, NULL, data, data, &bad, meta_db, false, NULL, NULL, NULL,
                                  NULL, NULL),
            "meta_unpack_face", "face->count is 11");
    REFUSED(metamorph_unpack_face(NULL, NULL, data, data, &far, meta_db, false, NULL, NULL, NULL,
                                  NULL, NULL),
            "meta_unpack_face", "face");
    REFUSED(metamorph_transpose_face(NULL, NULL, data, data, &size, &beyond, (meta_type_id)-1,
                                     false, NULL, NULL),
            "meta_transpose_face", "type is -1");
    REFUSED(
        metamorph_transpose_face(NULL, NULL, data, data, &start, &size, meta_db, false, NULL, NULL),
        "meta_transpose_face", "tran_dim_xy[0] is 2 and arr_dim_xy[0] is 0");
    REFUSED(
        metamorph_transpose_face(NULL, NULL, data, data, NULL, &size, meta_db, false, NULL, NULL),
        "meta_transpose_face", "arr_dim_xy is NULL");
    REFUSED(metamorph_copy_h2d(host, host, 8, false, NULL, NULL), "meta_copy_h2d",
            "argument 'dst'");
    REFUSED(metamorph_alloc(NULL, 8), "meta_alloc", "argument 'ptr'");
    REFUSED(metamorph_free(host), "meta_free", "meta_alloc");
    REFUSED(metamorph_crc(NULL, NULL, data, -1, 1, 1, data, meta_ui, false, NULL, NULL), "meta_crc",
            "page_size is -1");
    REFUSED(metamorph_csr(NULL, NULL, 1, data, host, data, data, data, meta_db, false, NULL, NULL),
            "meta_csr", "meta_pointer_info");
    REFUSED(metamorph_set_acc(0, metaModeUnset), "meta_set_acc", "mode is -1");
    REFUSED(metamorph_set_acc(99, metaModePreferOpenCL), "meta_set_acc",
            meta_device_info(0, META_OPENCL, &desc) == META_OK ? "99" : "opencl");
    REFUSED(metamorph_init_event(NULL), "meta_init_event", "event is NULL");
    REFUSED(metamorph_get_face(0, 11, sizes, strides) == NULL, "meta_get_face", "c is 11");
    REFUSED(metamorph_get_face(0, 1, NULL, strides) == NULL, "meta_get_face", "si or st is NULL");
    REFUSED(metamorph_make_slab_from_3d(6, 2, 2, 2, 1) == NULL, "make_slab_from_3d", "face is 6");
    REFUSED(metamorph_make_slab_from_3d(4, 2, 2, 2, 3) == NULL, "make_slab_from_3d",
            "thickness is 3");
    REFUSED(metamorph_make_slab_from_3d(4, 2000, 2000, 2000, 3) == NULL, "make_slab_from_3d",
            "2000 × 2000 × 2000");
    REFUSED(metamorph_get_atype_size((meta_type_id)77), "get_atype_size", "type is 77");
    CHECK_INT(metamorph_free(NULL), 0);
    CHECK_INT(metamorph_validate_worksize(NULL, NULL), 0);
    CHECK_INT(metamorph_free(data), 0);
}

/* ------------------------------------------------------------------ timers */

static void timers_print_what_their_level_asks_for(void)
{
    double host[8] = {0};
    setenv("METAMORPH_TIMER_LEVEL", "7", 1);
    REFUSED((metamorph_timers_init(), 1), "metaTimersInit", "METAMORPH_TIMER_LEVEL is '7'");
    setenv("METAMORPH_TIMER_LEVEL", "1", 1);
    metamorph_timers_init();
    metamorph_free(buffer_of(host, sizeof host));
    catch_errors();
    const metamorph_err err = metamorph_timers_flush();
    take_caught(said, sizeof said);
    CHECK_INT(err, 0);
    CHECK_CONTAINS(said, "copy h2d");
    catch_errors();
    CHECK_INT(metamorph_timers_finish(), 0);
    take_caught(said, sizeof said);
    CHECK(strstr(said, "copy h2d") == NULL);
    setenv("METAMORPH_TIMER_LEVEL", "0", 1);
    metamorph_timers_init();
    catch_errors();
    CHECK_INT(metamorph_timers_finish(), 0);
    take_caught(said, sizeof said);
    CHECK_STRING(said, "");
    unsetenv("METAMORPH_TIMER_LEVEL");
}

/* Nothing that the layer itself allocated is left when libmeta ends. */
static void it_ends_with_nothing_left_and_begins_again(void)
{
    double one = 1, sum = 0;
    meta_dim3 size = {1, 1, 1}, start = {0, 0, 0};
    catch_errors();
    metamorph_finalize();
    take_caught(said, sizeof said);
    CHECK_STRING(said, "");
    CHECK_OK(meta_finalize()); /* the harness has started it, not MetaMorph's functions */
    void *data = buffer_of(&one, sizeof one);
    CHECK_INT(
        metamorph_reduce(NULL, NULL, data, &size, &start, &start, data, meta_db, false, NULL, NULL),
        0);
    take(data, &sum, sizeof sum);
    CHECK_NEAR(sum, 2, 0);
    catch_errors();
    metamorph_finalize();
    metamorph_finalize();
    take_caught(said, sizeof said);
    CHECK_STRING(said, "");
    CHECK_OK(meta_init());
}

TEST_DEVICE_MAIN(
    PROMISE(a_torus_has_the_sum_of_plain_loops), PROMISE(averages_are_those_of_plain_loops),
    PROMISE(reductions_add_to_what_is_there), PROMISE(reductions_are_of_every_arithmetic_type),
    PROMISE(a_stencil_leaves_its_bounds_alone), PROMISE(the_first_level_of_a_face_is_the_slowest),
    PROMISE(slabs_are_at_the_sides_that_they_name),
    PROMISE(transposes_are_of_the_array_or_of_a_part), PROMISE(a_sparse_matrix_is_added),
    PROMISE(checksums_are_those_of_each_page), PROMISE(a_callback_comes_when_the_work_is_complete),
    PROMISE(the_current_device_has_metamorphs_number),
    PROMISE(target_device_names_an_opencl_device), PROMISE(wrong_arguments_are_named),
    PROMISE(timers_print_what_their_level_asks_for),
    PROMISE(it_ends_with_nothing_left_and_begins_again))
