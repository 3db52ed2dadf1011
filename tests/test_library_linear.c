/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_library_linear.c
 *  The ready kernels of linear algebra, and the conversion of element types. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#define META_KERNEL_NO_PASS /* this program has no kernels */
#include "meta_kernel.h"
#include "meta_library.h"
#include "mirror.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BYTES = 1 << 15, ARRAYS = 3 };

/* ------------------------------------------------------------------ linear algebra */

typedef enum operation { AXPBY, XPAY, SCALE, MULTIPLY, OPERATIONS } operation;
static const char *const names[] = {"axpby", "xpay", "scale", "multiply"};

/* Products are volatile, so that no sum contracts with them. */
#define ORACLE(NAME, name, T, W)                                                                   \
    static void oracle_##name(operation op, void *z, const void *a, const void *x, const void *b,  \
                              const void *y, const meta_box *box)                                  \
    {                                                                                              \
        const W p = (W) * (const T *)a, q = (W) * (const T *)b;                                    \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            const W u = (W)((const T *)x)[at], v = (W)((const T *)y)[at];                          \
            const volatile W ax = p * u, by = q * v, ay = p * v, xy = u * v;                       \
            ((T *)z)[at] = (T)(op == AXPBY   ? ax + by                                             \
                               : op == XPAY  ? u + ay                                              \
                               : op == SCALE ? ax                                                  \
                                             : xy);                                                \
        }                                                                                          \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

typedef void oracle(operation, void *, const void *, const void *, const void *, const void *,
                    const meta_box *);
static oracle *const oracles[] = {
#define ROW(NAME, name, T, W) [META_##NAME] = oracle_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static meta_err call(operation op, void *z, const void *a, const void *x, const void *b,
                     const void *y, const meta_box *box, meta_type type, meta_event *done)
{
    switch (op) {
    case AXPBY:
        return meta_axpby(z, a, x, b, y, box, type, done);
    case XPAY:
        return meta_xpay(z, x, a, y, box, type, done);
    case SCALE:
        return meta_scale(z, a, x, box, type, done);
    default:
        return meta_multiply(z, x, y, box, type, done);
    }
}

/* Which arrays are one: none, z and x, z and y, x and y. */
static void compare(mirror m[ARRAYS], operation op)
{
    static const int which[][ARRAYS] = {{0, 1, 2}, {0, 0, 2}, {0, 1, 0}, {0, 1, 1}};
    const int *array = which[test_random_in(0, op == SCALE ? 1 : 3)];
    const meta_type type = case_arithmetic_type();
    const case_flavour flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
    uint64_t a = 0, b = 0;
    size_t bytes = 1, from[ARRAYS];
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t cells = (int64_t)(BYTES / bytes);
    const meta_box box = case_box((int)test_random_in(1, META_MAX_DIM), 0, cells);
    test_case("%s of %s, contents %d, arrays %d %d %d, %s", names[op], case_type_name(type),
              (int)flavour, array[0], array[1], array[2], case_box_text(&box));
    for (int k = 0; k < ARRAYS; ++k) {
        mirror_refill(&m[k], type, flavour);
        from[k] = (size_t)test_random_in(0, cells - case_box_array(&box)) * bytes;
    }
    case_fill(&a, 1, type, flavour);
    case_fill(&b, 1, type, flavour);
#define OF(side, k) (m[array[k]].side + from[array[k]])
    oracles[type](op, OF(expected, 0), &a, OF(expected, 1), &b, OF(expected, 2), &box);
    case_ending_pick(&ending);
    CHECK_OK(
        call(op, OF(device, 0), &a, OF(device, 1), &b, OF(device, 2), &box, type, ending.done));
    memset(&a, 0, sizeof a); /* values were read */
    memset(&b, 0, sizeof b);
    CHECK_OK(case_ending_settle(&ending));
    for (int k = 0; k < ARRAYS; ++k) mirror_holds(&m[k], type, names[op]);
}

static void linear_algebra_is_that_of_the_loop(void)
{
    mirror m[ARRAYS] = {{0}};
    bool made = true;
    for (int k = 0; k < ARRAYS; ++k) made = made && mirror_new(&m[k], BYTES);
    for (int64_t n = 0; made && n < test_count(120, 10000); ++n)
        compare(m, (operation)(n % OPERATIONS));
    for (int k = 0; k < ARRAYS; ++k) mirror_free(&m[k]);
}

/* Many rows, long rows, planes: what several threads share. */
static void large_boxes_are_computed_whole(void)
{
    static const meta_box boxes[] = {{1, {200000}, {1}, {199999}},
                                     {2, {300, 700}, {0, 3}, {300, 699}},
                                     {3, {64, 50, 70}, {1, 0, 2}, {63, 50, 69}}};
    mirror z = {0}, x = {0};
    if (mirror_new(&z, 224000 * 4) && mirror_new(&x, 224000 * 4))
        for (size_t k = 0; k < sizeof boxes / sizeof *boxes; ++k) {
            const float a = 1.5f, b = -0.25f;
            mirror_refill(&z, META_F32, CASE_PLAIN);
            mirror_refill(&x, META_F32, CASE_PLAIN);
            test_case("%s", case_box_text(&boxes[k]));
            oracle_f32(AXPBY, z.expected, &a, x.expected, &b, z.expected, &boxes[k]);
            CHECK_OK(meta_axpby(z.device, &a, x.device, &b, z.device, &boxes[k], META_F32, NULL));
            mirror_holds(&z, META_F32, "axpby");
        }
    mirror_free(&z);
    mirror_free(&x);
}

/* More cells than the caches of all cores hold: rows are fetched ahead of the computation. */
static void fields_larger_than_the_caches_are_computed_alike(void)
{
    enum { LARGE = 1 << 23 };
    static mirror m[ARRAYS];
    bool made = true;
    for (int k = 0; k < ARRAYS; ++k) made = made && mirror_new(&m[k], LARGE);
    for (int64_t n = 0; made && n < 6 * test_count(OPERATIONS, 10 * OPERATIONS); ++n) {
        const operation op = (operation)(n / 6 % OPERATIONS);
        const meta_type type = (meta_type)(n % 6);
        const bool flat = test_random_in(0, 1);
        size_t bytes = 1;
        uint64_t a = 0, b = 0;
        if (type == META_F64 && !case_has_f64()) continue;
        CHECK_OK(meta_type_size(type, &bytes));
        const int64_t cells = LARGE / (int64_t)bytes;
        const meta_box box = flat ? (meta_box){1, {cells}, {3}, {cells - 5}}
                                  : (meta_box){2, {512, cells / 512}, {1, 0}, {509, cells / 512}};
        test_case("%s of %s, %s", names[op], case_type_name(type), case_box_text(&box));
        for (int k = 0; k < ARRAYS; ++k) mirror_refill(&m[k], type, CASE_PLAIN);
        case_fill(&a, 1, type, CASE_PLAIN);
        case_fill(&b, 1, type, CASE_PLAIN);
        oracles[type](op, m[0].expected, &a, m[1].expected, &b, m[2].expected, &box);
        CHECK_OK(call(op, m[0].device, &a, m[1].device, &b, m[2].device, &box, type, NULL));
        mirror_holds(&m[0], type, names[op]);
    }
    for (int k = 0; k < ARRAYS; ++k) mirror_free(&m[k]);
}

static void wrong_operands_are_named(void)
{
    const meta_box box = {1, {1000}, {0}, {1000}}, no_box = {0};
    const float a = 2;
    mirror z = {0}, x = {0};
    if (!mirror_new(&z, 4000) || !mirror_new(&x, 8000)) return;
    void *zd = z.device, *xd = x.device;
    CHECK_ERR_NAMES(meta_axpby(NULL, &a, xd, &a, xd, &box, META_F32, NULL), META_ERR_ARGUMENT,
                    "'z'");
    CHECK_ERR_NAMES(meta_axpby(zd, &a, zd, &a, NULL, &box, META_F32, NULL), META_ERR_ARGUMENT,
                    "'y'");
    CHECK_ERR_NAMES(meta_axpby(zd, &a, NULL, &a, zd, &box, META_F32, NULL), META_ERR_ARGUMENT,
                    "'x'");
    CHECK_ERR_NAMES(meta_axpby(zd, NULL, xd, &a, xd, &box, META_F32, NULL), META_ERR_ARGUMENT,
                    "'a'");
    CHECK_ERR_NAMES(meta_axpby(zd, &a, xd, xd, xd, &box, META_F32, NULL), META_ERR_POINTER, "'b'");
    CHECK_ERR_NAMES(meta_axpby(zd, &a, zd, &a, zd, &box, META_F32, NULL), META_ERR_OVERLAP, "'z'");
    CHECK_ERR_NAMES(meta_axpby(xd, &a, x.device + 4, &a, zd, &box, META_F32, NULL),
                    META_ERR_OVERLAP, "'x'");
    CHECK_ERR_NAMES(meta_xpay(z.device + 4, xd, &a, xd, &box, META_F32, NULL), META_ERR_BOUNDS,
                    "'z'");
    CHECK_ERR_NAMES(meta_scale(zd, &a, x.device + 2, &box, META_F32, NULL), META_ERR_ALIGNMENT,
                    "'x'");
    CHECK_ERR_NAMES(meta_scale(zd, &a, xd, &no_box, META_F32, NULL), META_ERR_ARGUMENT, "'box'");
    CHECK_ERR_NAMES(meta_scale(zd, &a, xd, NULL, META_F32, NULL), META_ERR_ARGUMENT, "'box'");
    CHECK_ERR_NAMES(meta_multiply(zd, xd, xd, &box, META_I16, NULL), META_ERR_TYPE, "'type'");
    CHECK_ERR_NAMES(meta_multiply(zd, xd, xd, &box, (meta_type)77, NULL), META_ERR_TYPE, "'type'");
    CHECK_CONTAINS(meta_last_error(), "meta_multiply");
    CHECK_ERR_NAMES(meta_convert(zd, META_I8, xd, META_F32, &box, NULL), META_ERR_TYPE,
                    "'to_type'");
    CHECK_ERR_NAMES(meta_convert(zd, META_F32, xd, (meta_type)-1, &box, NULL), META_ERR_TYPE,
                    "'from_type'");
    CHECK_ERR_NAMES(meta_convert(zd, META_F32, zd, META_I32, &box, NULL), META_ERR_OVERLAP, "'to'");
    mirror_holds(&z, META_U8, "z");
    mirror_holds(&x, META_U8, "x");
    mirror_free(&z);
    mirror_free(&x);
}

static void ready_kernels_are_found_but_not_listed(void)
{
    meta_kernel *kernel = NULL;
    int count = -1;
    CHECK_OK(meta_kernel_count(&count));
    CHECK_INT(count, 0);
    CHECK_ERR_NAMES(meta_kernel_at(0, &kernel), META_ERR_ARGUMENT, "0 of 0");
    if (!CHECK_OK(meta_kernel_find("meta_axpby", META_F32, &kernel))) return;
    CHECK_STRING(kernel->name, "meta_axpby");
    CHECK_OK(meta_kernel_prepare(kernel));
    CHECK_ERR_NAMES(meta_kernel_find("meta_axpby", META_I32, &kernel), META_ERR_ARGUMENT, "'type'");
}

/* ------------------------------------------------------------------ conversion */

/* Numbers around the limits of the integers, as far as the type has them. */
static const double edges[] = {0.0,
                               -0.0,
                               0.5,
                               -0.5,
                               0.99999,
                               -0.99999,
                               1.5,
                               -1.5,
                               2147483647.0,
                               2147483647.5,
                               2147483648.0,
                               -2147483648.0,
                               -2147483648.5,
                               -2147483649.0,
                               4294967295.0,
                               4294967295.5,
                               4294967296.0,
                               9223372036854774784.0,
                               9223372036854775808.0,
                               -9223372036854775808.0,
                               -9223372036854777856.0,
                               18446744073709549568.0,
                               18446744073709551616.0,
                               16777217.0,
                               1e300,
                               -1e300,
                               3.5e38,
                               1e-310,
                               INFINITY,
                               -INFINITY,
                               NAN};
enum { EDGES = sizeof edges / sizeof *edges };

static void put_edges(void *array, meta_type type)
{
    for (int k = 0; k < EDGES; ++k)
        if (type == META_F64) ((double *)array)[k] = edges[k];
        else if (type == META_F32) ((float *)array)[k] = (float)edges[k];
        else if (type == META_I64)
            ((int64_t *)array)[k] = (int64_t)((UINT64_C(1) << (k + 33)) - (uint64_t)(k % 3));
        else if (type == META_U64) ((uint64_t *)array)[k] = (UINT64_C(1) << (k + 33)) - 1;
        else ((uint32_t *)array)[k] = (UINT32_C(1) << k) - (uint32_t)(k % 3);
}

#define CONVERT(NAME, name, F, T, from_floating)                                                   \
    static void convert_##name(void *to, const void *from, const meta_box *box)                    \
    {                                                                                              \
        for (int64_t n = 0; n < case_box_cells(box); ++n) {                                        \
            const int64_t at = case_box_index(box, n);                                             \
            ((T *)to)[at] = from_floating(((const F *)from)[at]);                                  \
        }                                                                                          \
    }
#define AS_F64(x) ((double)(x))
#define AS_F32(x) ((float)(x))
#define AS_I64(x) ((int64_t)(x))
#define AS_U64(x) ((uint64_t)(x))
#define AS_I32(x) ((int32_t)(x))
#define AS_U32(x) ((uint32_t)(x))
#define CUT_I64(x)                                                                                 \
    (isnan(x) ? 0 : (x) >= 0x1p63 ? INT64_MAX : (x) < -0x1p63 ? INT64_MIN : (int64_t)(x))
#define CUT_U64(x) (isnan(x) || (x) < 0 ? 0 : (x) >= 0x1p64 ? UINT64_MAX : (uint64_t)(x))
#define CUT_I32(x)                                                                                 \
    (isnan(x) ? 0 : (x) >= 0x1p31 ? INT32_MAX : (x) < -0x1p31 ? INT32_MIN : (int32_t)(x))
#define CUT_U32(x) (isnan(x) || (x) < 0 ? 0 : (x) >= 0x1p32 ? UINT32_MAX : (uint32_t)(x))
#define FROM(NAME, name, F, P)                                                                     \
    CONVERT(NAME, name##_f64, F, double, AS_F64)                                                   \
    CONVERT(NAME, name##_f32, F, float, AS_F32)                                                    \
    CONVERT(NAME, name##_i64, F, int64_t, P##_I64)                                                 \
    CONVERT(NAME, name##_u64, F, uint64_t, P##_U64)                                                \
    CONVERT(NAME, name##_i32, F, int32_t, P##_I32)                                                 \
    CONVERT(NAME, name##_u32, F, uint32_t, P##_U32)
FROM(F64, f64, double, CUT)
FROM(F32, f32, float, CUT)
FROM(I64, i64, int64_t, AS)
FROM(U64, u64, uint64_t, AS)
FROM(I32, i32, int32_t, AS)
FROM(U32, u32, uint32_t, AS)

static void (*const conversions[6][6])(void *, const void *, const meta_box *) = {
#define TO_EACH(NAME, name, T, W)                                                                  \
    [META_##NAME] = {[META_F64] = convert_##name##_f64, [META_F32] = convert_##name##_f32,         \
                     [META_I64] = convert_##name##_i64, [META_U64] = convert_##name##_u64,         \
                     [META_I32] = convert_##name##_i32, [META_U32] = convert_##name##_u32},
    CASE_ARITHMETIC_TYPES(TO_EACH)
#undef TO_EACH
};

static void convert_and_compare(mirror *to, mirror *from, meta_type to_type, meta_type from_type)
{
    const meta_box box = case_box((int)test_random_in(1, 4), 0, BYTES / 8),
                   edge_box = {1, {EDGES}, {0}, {EDGES}};
    const bool at_edges = test_random_in(0, 1);
    const meta_box *cells = at_edges ? &edge_box : &box;
    case_ending ending;
    test_case("from %s to %s, %s", case_type_name(from_type), case_type_name(to_type),
              case_box_text(cells));
    mirror_refill(from, from_type, CASE_WILD);
    mirror_refill(to, META_U8, CASE_PLAIN);
    if (at_edges) {
        put_edges(from->expected, from_type);
        CHECK_OK(meta_copy_h2d(from->device, from->expected, BYTES, NULL));
    }
    conversions[from_type][to_type](to->expected, from->expected, cells);
    case_ending_pick(&ending);
    CHECK_OK(meta_convert(to->device, to_type, from->device, from_type, cells, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(to, to_type, "to");
    mirror_holds(from, META_U8, "from");
}

static void each_type_is_converted_to_each(void)
{
    mirror to = {0}, from = {0};
    if (mirror_new(&to, BYTES) && mirror_new(&from, BYTES))
        for (int64_t round = 0; round < test_count(3, 200); ++round)
            for (int n = 0; n < 36; ++n) {
                const meta_type to_type = (meta_type)(n % 6), from_type = (meta_type)(n / 6);
                if ((to_type == META_F64 || from_type == META_F64) && !case_has_f64()) continue;
                convert_and_compare(&to, &from, to_type, from_type);
            }
    mirror_free(&to);
    mirror_free(&from);
}

TEST_DEVICE_MAIN(PROMISE(linear_algebra_is_that_of_the_loop),
                 PROMISE(large_boxes_are_computed_whole),
                 PROMISE(fields_larger_than_the_caches_are_computed_alike),
                 PROMISE(wrong_operands_are_named), PROMISE(ready_kernels_are_found_but_not_listed),
                 PROMISE(each_type_is_converted_to_each))
