/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_library_sparse.c
 *  Sparse matrices, the checksum of a buffer, prefix sums. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
/* TEST: backends=openmp labels=core with=THREADS=7 */
#include "meta_library.h"
#include "mirror.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 9000, MOST_ENTRIES = 40000 };

/* ------------------------------------------------------------------ sparse matrices */

static mirror start, column, value, x, y;

static bool make_buffers(void)
{
    return mirror_new(&start, (MOST_ROWS + 1) * 8) && mirror_new(&column, MOST_ENTRIES * 4) &&
           mirror_new(&value, MOST_ENTRIES * 8) && mirror_new(&x, MOST_ROWS * 8) &&
           mirror_new(&y, MOST_ROWS * 8);
}

static void free_buffers(void)
{
    mirror_free(&start);
    mirror_free(&column);
    mirror_free(&value);
    mirror_free(&x);
    mirror_free(&y);
}

static int64_t start_of(const meta_csr *m, int64_t row)
{
    return m->start_type == META_I32 ? ((int32_t *)(void *)start.expected)[row]
                                     : ((int64_t *)(void *)start.expected)[row];
}

static void set_start(const meta_csr *m, int64_t row, int64_t at)
{
    if (m->start_type == META_I32) ((int32_t *)(void *)start.expected)[row] = (int32_t)at;
    else ((int64_t *)(void *)start.expected)[row] = at;
}

static void send_indices(void)
{
    CHECK_OK(meta_copy_h2d(start.device, start.expected, start.bytes, NULL));
    CHECK_OK(meta_copy_h2d(column.device, column.expected, column.bytes, NULL));
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of random length, many of them empty. */
static meta_csr random_matrix(meta_type type, int64_t most_rows)
{
    meta_csr m = META_CSR_INIT;
    m.rows = test_random_in(0, most_rows);
    m.columns = test_random_in(1, MOST_ROWS);
    m.start_type = test_random_in(0, 1) ? META_I32 : META_I64;
    m.value_type = type;
    m.start = start.device;
    m.column = column.device;
    m.value = value.device;
    const int64_t longest = test_random_in(0, 2 * MOST_ENTRIES / (m.rows + 1));
    int64_t at = test_random_in(0, 3); /* entries that belong to no row */
    for (int64_t row = 0; row <= m.rows; ++row) {
        set_start(&m, row, at);
        at += least_of(MOST_ENTRIES - at, test_random_in(0, 3) ? test_random_in(0, longest) : 0);
    }
    m.entries = start_of(&m, m.rows);
    for (int64_t k = 0; k < m.entries; ++k)
        ((int32_t *)(void *)column.expected)[k] = (int32_t)test_random_in(0, m.columns - 1);
    send_indices();
    return m;
}

#define ORACLE(NAME, name, T, W)                                                                   \
    static void oracle_##name(const meta_csr *m, const void *a, const void *b)                     \
    {                                                                                              \
        for (int64_t row = 0; row < m->rows; ++row) {                                              \
            T *const to = (T *)(void *)y.expected + row;                                           \
            W sum = 0;                                                                             \
            for (int64_t k = start_of(m, row); k < start_of(m, row + 1); ++k) {                    \
                const int32_t from = ((const int32_t *)(const void *)column.expected)[k];          \
                const volatile W term = (W)((const T *)(const void *)value.expected)[k] *          \
                                        (W)((const T *)(const void *)x.expected)[from];            \
                sum += term;                                                                       \
            }                                                                                      \
            const volatile W ax = a ? (W) * (const T *)a * sum : sum;                              \
            const volatile W by = b ? (W) * (const T *)b * (W)*to : 0;                             \
            *to = (T)(b ? ax + by : ax);                                                           \
        }                                                                                          \
    }
CASE_ARITHMETIC_TYPES(ORACLE)

static void (*const oracles[])(const meta_csr *, const void *, const void *) = {
#define ROW(NAME, name, T, W) [META_##NAME] = oracle_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static void multiply_and_compare(int64_t most_rows)
{
    const meta_type type = case_arithmetic_type();
    const bool with_a = test_random_in(0, 1), with_b = test_random_in(0, 1);
    const meta_csr m = random_matrix(type, most_rows);
    uint64_t a = 0, b = 0;
    case_ending ending;
    test_case("%s, %" PRId64 " x %" PRId64 ", %" PRId64 " entries, starts of %s%s%s",
              case_type_name(type), m.rows, m.columns, m.entries, case_type_name(m.start_type),
              with_a ? ", a" : "", with_b ? ", b" : "");
    mirror_refill(&value, type, CASE_PLAIN);
    mirror_refill(&x, type, CASE_PLAIN);
    mirror_refill(&y, type, CASE_PLAIN);
    case_fill(&a, 1, type, CASE_PLAIN);
    case_fill(&b, 1, type, CASE_PLAIN);
    oracles[type](&m, with_a ? &a : NULL, with_b ? &b : NULL);
    CHECK_OK(meta_csr_check(&m));
    case_ending_pick(&ending);
    CHECK_OK(meta_csr_multiply(y.device, with_a ? &a : NULL, &m, x.device, with_b ? &b : NULL,
                               ending.done));
    a = b = 0; /* were read */
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(&y, type, "y");
}

static void a_matrix_times_a_vector(void)
{
    if (make_buffers())
        for (int64_t n = 0; n < test_count(60, 5000); ++n)
            multiply_and_compare(n % 4 ? 100 : MOST_ROWS);
    free_buffers();
}

static void wrong_matrices_are_found(void)
{
    meta_csr m;
    if (!make_buffers()) return;
    do m = random_matrix(META_F32, 200);
    while (m.rows < 50 || m.entries < 100);
    CHECK_OK(meta_csr_check(&m));
    mirror_refill(&y, META_F32, CASE_PLAIN);

    const int64_t row = test_random_in(1, m.rows - 1), right = start_of(&m, row);
    set_start(&m, row, m.entries + 1);
    send_indices();
    CHECK_ERR_NAMES(meta_csr_check(&m), META_ERR_BOUNDS, "start of row");
    set_start(&m, row, -1);
    send_indices();
    CHECK_ERR_NAMES(meta_csr_check(&m), META_ERR_BOUNDS, "start of row");
    set_start(&m, row, right);
    int32_t *const wrong = (int32_t *)(void *)column.expected + test_random_in(0, m.entries - 1);
    const int32_t kept = *wrong;
    char text[64];
    *wrong = (int32_t)m.columns;
    send_indices();
    snprintf(text, sizeof text, "entry %td ", wrong - (int32_t *)(void *)column.expected);
    CHECK_ERR_NAMES(meta_csr_check(&m), META_ERR_BOUNDS, text);
    const char *checked = getenv("META_CHECK");
    if (checked && *checked == '1')
        CHECK_ERR_NAMES(meta_csr_multiply(y.device, NULL, &m, x.device, NULL, NULL),
                        META_ERR_BOUNDS, text);
    *wrong = -1;
    send_indices();
    CHECK_ERR_NAMES(meta_csr_check(&m), META_ERR_BOUNDS, text);
    *wrong = kept;
    send_indices();
    CHECK_OK(meta_csr_check(&m));

    const float a = 1;
#define WITH(member, wrong_one, error, part)                                                       \
    do {                                                                                           \
        meta_csr w = m;                                                                            \
        w.member = wrong_one;                                                                      \
        CHECK_ERR_NAMES(meta_csr_multiply(y.device, &a, &w, x.device, NULL, NULL), error, part);   \
        CHECK_ERR_NAMES(meta_csr_check(&w), error, part);                                          \
    } while (0)
    WITH(size, 0, META_ERR_ARGUMENT, "META_CSR_INIT");
    WITH(rows, -1, META_ERR_ARGUMENT, "-1 rows");
    WITH(rows, INT64_MAX, META_ERR_OVERFLOW, "rows");
    WITH(rows, MOST_ROWS * 2 + 2, META_ERR_BOUNDS, "start");
    WITH(columns, INT64_C(1) << 40, META_ERR_OVERFLOW, "columns");
    WITH(entries, MOST_ENTRIES * 2 + 2, META_ERR_BOUNDS, "column");
    WITH(start_type, META_U32, META_ERR_TYPE, "start_type");
    WITH(value_type, META_I8, META_ERR_TYPE, "value_type");
    WITH(start, NULL, META_ERR_ARGUMENT, "start");
    WITH(column, NULL, META_ERR_ARGUMENT, "column");
    WITH(value, &m, META_ERR_POINTER, "value");
    CHECK_ERR_NAMES(meta_csr_multiply(y.device, &a, NULL, x.device, NULL, NULL), META_ERR_ARGUMENT,
                    "'matrix'");
    CHECK_ERR_NAMES(meta_csr_multiply(NULL, &a, &m, x.device, NULL, NULL), META_ERR_ARGUMENT,
                    "'y'");
    CHECK_ERR_NAMES(meta_csr_multiply(y.device, &a, &m, NULL, NULL, NULL), META_ERR_ARGUMENT,
                    "'x'");
    CHECK_ERR_NAMES(meta_csr_multiply(y.device, &a, &m, x.device + x.bytes - 4, NULL, NULL),
                    META_ERR_BOUNDS, "'x'");
    CHECK_ERR_NAMES(meta_csr_multiply(y.device, x.device, &m, x.device, NULL, NULL),
                    META_ERR_POINTER, "'a'");
    CHECK_ERR_NAMES(meta_csr_multiply(y.device, NULL, &m, y.device, NULL, NULL), META_ERR_OVERLAP,
                    "'y'");
    mirror_holds(&y, META_U8, "y");
    free_buffers();
}

/* ------------------------------------------------------------------ checksums */

/* Bit by bit, as the polynomial division is defined. */
static uint32_t crc_of(const unsigned char *bytes, size_t count)
{
    uint32_t c = UINT32_MAX;
    for (size_t k = 0; k < count; ++k) {
        c ^= bytes[k];
        for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ UINT32_C(0xEDB88320) : c >> 1;
    }
    return ~c;
}

static void the_oracle_gives_known_checksums(void)
{
    static const unsigned char zeros[32];
    CHECK_U64(crc_of((const unsigned char *)"123456789", 9), 0xCBF43926);
    CHECK_U64(crc_of((const unsigned char *)"a", 1), 0xE8B7BE43);
    CHECK_U64(crc_of((const unsigned char *)"abc", 3), 0x352441C2);
    CHECK_U64(crc_of(zeros, 32), 0x190A55AD);
}

static void check_crc(const mirror *m, size_t from, size_t bytes)
{
    uint32_t found = 0x5a5a5a5a;
    void *place = NULL;
    case_ending ending;
    test_case("%zu bytes from byte %zu", bytes, from);
    if (test_random_in(0, 1)) CHECK_OK(meta_alloc(&place, 8));
    case_ending_pick(&ending);
    CHECK_OK(meta_crc32(place ? place : &found, m->device + from, bytes, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    if (place) CHECK_OK(meta_copy_d2h(&found, place, 4, NULL));
    if (place) CHECK_OK(meta_free(place));
    CHECK_U64(found, crc_of(m->expected + from, bytes));
}

static void a_checksum_is_that_of_zlib(void)
{
    static const size_t sizes[] = {0,   1,   2,    3,     4,     5,     7,     511,   512,
                                   513, 516, 1023, 65535, 65536, 65537, 65540, 66048, 200000};
    mirror m = {0};
    if (mirror_new(&m, 200000)) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) check_crc(&m, 0, sizes[k]);
        for (int64_t n = 0; n < test_count(30, 1000); ++n) {
            const size_t from = (size_t)test_random_in(0, 1000);
            check_crc(&m, from,
                      (size_t)test_random_in(0, n % 3 ? 3000 : (int64_t)(m.bytes - from)));
        }
    }
    mirror_free(&m);
}

/* More than two levels of sums: 9 MB. */
static void a_large_buffer_has_its_checksum(void)
{
    mirror m = {0};
    if (mirror_new(&m, 9000001)) check_crc(&m, 0, 9000001);
    mirror_free(&m);
}

static void wrong_buffers_have_no_checksum(void)
{
    uint32_t found = 42;
    mirror m = {0};
    if (!mirror_new(&m, 1000)) return;
    CHECK_ERR_NAMES(meta_crc32(NULL, m.device, 1000, NULL), META_ERR_ARGUMENT, "'result'");
    CHECK_ERR_NAMES(meta_crc32(&found, NULL, 1000, NULL), META_ERR_ARGUMENT, "'buf'");
    CHECK_ERR_NAMES(meta_crc32(&found, &found, 4, NULL), META_ERR_POINTER, "'buf'");
    CHECK_ERR_NAMES(meta_crc32(&found, m.device + 1, 1000, NULL), META_ERR_BOUNDS, "'buf'");
    CHECK_ERR_NAMES(meta_crc32(&found, m.device, SIZE_MAX, NULL), META_ERR_OVERFLOW, "'bytes'");
    CHECK_INT(found, 42);
    mirror_free(&m);
}

/* ------------------------------------------------------------------ prefix sums */

enum { BLOCK = 128 };

/* In the order that meta_library.h promises. */
#define PREFIX(NAME, name, T, W)                                                                   \
    static void prefix_##name(void *array, int64_t count, bool inclusive)                          \
    {                                                                                              \
        const int64_t blocks = (count + BLOCK - 1) / BLOCK;                                        \
        T *const element = array, *const base = calloc((size_t)blocks, sizeof(T));                 \
        if (!CHECK(base != NULL)) return;                                                          \
        for (int64_t n = 0; n < count && blocks > 1; ++n)                                          \
            base[n / BLOCK] = (T)((W)base[n / BLOCK] + (W)element[n]);                             \
        if (blocks > 1) prefix_##name(base, blocks, false);                                        \
        for (int64_t n = 0; n < count; ++n) {                                                      \
            T *const running = &base[n / BLOCK];                                                   \
            const T next = (T)((W)*running + (W)element[n]);                                       \
            element[n] = inclusive ? next : *running;                                              \
            *running = next;                                                                       \
        }                                                                                          \
        free(base);                                                                                \
    }
CASE_ARITHMETIC_TYPES(PREFIX)

static void (*const prefixes[])(void *, int64_t, bool) = {
#define ROW(NAME, name, T, W) [META_##NAME] = prefix_##name,
    CASE_ARITHMETIC_TYPES(ROW)
#undef ROW
};

static void sum_and_compare(mirror *to, mirror *from, int64_t most)
{
    const meta_type type = case_arithmetic_type();
    const bool in_place = test_random_in(0, 1), inclusive = test_random_in(0, 1);
    size_t bytes = 1;
    case_ending ending;
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t count = test_random_in(0, most);
    const size_t at = (size_t)test_random_in(0, (int64_t)(to->bytes / bytes) - count) * bytes;
    test_case("%s, %" PRId64 " elements, %s%s", case_type_name(type), count,
              inclusive ? "inclusive" : "exclusive", in_place ? ", in place" : "");
    mirror_refill(to, type, CASE_PLAIN);
    mirror_refill(from, type, CASE_PLAIN);
    const unsigned char *in = in_place ? to->device + at : from->device;
    if (!in_place) memcpy(to->expected + at, from->expected, (size_t)count * bytes);
    if (count > 0) prefixes[type](to->expected + at, count, inclusive);
    case_ending_pick(&ending);
    CHECK_OK(meta_prefix_sum(to->device + at, in, count, inclusive, type, ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(to, type, "prefix sum");
    mirror_holds(from, type, "in");
}

static void prefix_sums_have_one_order(void)
{
    mirror to = {0}, from = {0};
    if (mirror_new(&to, 1 << 19) && mirror_new(&from, 1 << 19)) {
        for (int64_t n = 0; n < test_count(60, 3000); ++n)
            sum_and_compare(&to, &from, n % 3 ? 1000 : (1 << 19) / 8);
        const double d = 1;
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, from.device, -1, 1, META_F32, NULL),
                        META_ERR_ARGUMENT, "'count'");
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, from.device, 1, 2, META_F32, NULL),
                        META_ERR_ARGUMENT, "'inclusive'");
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, from.device, 1, 1, META_U8, NULL), META_ERR_TYPE,
                        "'type'");
        CHECK_ERR_NAMES(meta_prefix_sum(NULL, from.device, 1, 1, META_F32, NULL), META_ERR_ARGUMENT,
                        "'out'");
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, &d, 1, 1, META_F32, NULL), META_ERR_POINTER,
                        "'in'");
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, from.device, 1 << 20, 1, META_F32, NULL),
                        META_ERR_BOUNDS, "'out'");
        CHECK_ERR_NAMES(meta_prefix_sum(to.device, to.device + 4, 2, 1, META_F32, NULL),
                        META_ERR_OVERLAP, "'out'");
        mirror_holds(&to, META_U8, "to");
    }
    mirror_free(&to);
    mirror_free(&from);
}

TEST_DEVICE_MAIN(PROMISE(a_matrix_times_a_vector), PROMISE(wrong_matrices_are_found),
                 PROMISE(the_oracle_gives_known_checksums), PROMISE(a_checksum_is_that_of_zlib),
                 PROMISE(a_large_buffer_has_its_checksum), PROMISE(wrong_buffers_have_no_checksum),
                 PROMISE(prefix_sums_have_one_order))
