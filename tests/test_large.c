/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_large.c
 *  Buffers of more elements than an int can count. Needs 5 GiB of memory. */
/* TEST: backends=all labels=kernel long=yes */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of an odd length, together more than 2^31 elements. */
static int64_t row = 46347, rows = 46351;
static const int64_t part = 64 << 20;

static void start(int *argc, char ***argv)
{
    void *memory = NULL;
    (void)argc, (void)argv;
    test_require_device();
    if (meta_alloc(&memory, (size_t)(row * rows)) == META_ERR_NO_MEMORY) {
        row = 1 << 16, rows = 1 << 15; /* still more than an int counts */
        printf("no more than 2^31 elements are tried: %s\n", meta_last_error());
    }
    if (memory) CHECK_OK(meta_free(memory));
}

static int end(int status)
{
    if (status == 77) return status;
    return CHECK_OK(meta_finalize()) ? status : 1;
}

static const test_setting large_device = {.start = start, .end = end};

/* Element n of the array, which neighbours and wrapped indexes tell apart. */
static unsigned char element(int64_t n)
{
    return (unsigned char)((uint64_t)n * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

static bool upload(unsigned char *device)
{
    unsigned char *host = malloc((size_t)part);
    bool good = CHECK(host);
    for (int64_t from = 0; good && from < row * rows; from += part) {
        const int64_t count = row * rows - from < part ? row * rows - from : part;
        for (int64_t n = 0; n < count; ++n) host[n] = element(from + n);
        good = CHECK_OK(meta_copy_h2d(device + from, host, (size_t)count, NULL));
    }
    free(host);
    return good;
}

/* Element n of the buffer is that of the array that @p original names. */
static void check_all(const unsigned char *device, int64_t (*original)(int64_t n))
{
    unsigned char *host = malloc((size_t)part), *expected = malloc((size_t)part);
    bool good = CHECK(host && expected);
    for (int64_t from = 0; good && from < row * rows; from += part) {
        const int64_t count = row * rows - from < part ? row * rows - from : part;
        test_case("elements %" PRId64 " to %" PRId64, from, from + count);
        for (int64_t n = 0; n < count; ++n) expected[n] = element(original(from + n));
        good = CHECK_OK(meta_copy_d2h(host, device + from, (size_t)count, NULL)) &&
               CHECK_ARRAY(host, expected, count, META_U8);
    }
    free(host);
    free(expected);
}

static bool two_buffers(unsigned char *buffer[2])
{
    for (int k = 0; k < 2; ++k) {
        void *memory = NULL;
        if (!CHECK_OK(meta_alloc(&memory, (size_t)(row * rows)))) return false;
        buffer[k] = memory;
    }
    return upload(buffer[0]);
}

static void free_both(unsigned char *buffer[2])
{
    for (int k = 0; k < 2; ++k)
        if (buffer[k]) CHECK_OK(meta_free(buffer[k]));
}

static int64_t same(int64_t n)
{
    return n;
}

static int64_t rows_reversed(int64_t n)
{
    return (rows - 1 - n / row) * row + n % row;
}

static int64_t transposed(int64_t n)
{
    return n % rows * row + n / rows;
}

static void copies_reach_beyond_2_to_the_31(void)
{
    unsigned char *buffer[2] = {NULL, NULL};
    const unsigned char zero = 0;
    if (two_buffers(buffer)) {
        CHECK_OK(meta_fill(buffer[1], row * rows, &zero, META_U8, NULL));
        CHECK_OK(meta_copy_d2d(buffer[1], buffer[0], (size_t)(row * rows), NULL));
        check_all(buffer[1], same);
    }
    free_both(buffer);
}

static void boxes_reach_beyond_2_to_the_31(void)
{
    const meta_box line = {1, {row * rows}, {0}, {row * rows}};
    unsigned char *buffer[2] = {NULL, NULL};
    if (two_buffers(buffer)) {
        CHECK_OK(meta_copy_box(buffer[1], &line, buffer[0], &line, META_U8, NULL));
        check_all(buffer[1], same);
    }
    free_both(buffer);
}

static void faces_reach_beyond_2_to_the_31(void)
{
    const meta_face reversed = {
        .start = row * (rows - 1), .count = 2, .size = {row, rows}, .stride = {1, -row}};
    unsigned char *buffer[2] = {NULL, NULL};
    const unsigned char zero = 0;
    if (two_buffers(buffer)) {
        CHECK_OK(meta_pack_face(buffer[1], buffer[0], &reversed, META_U8, NULL));
        check_all(buffer[1], rows_reversed);
        CHECK_OK(meta_fill(buffer[0], row * rows, &zero, META_U8, NULL));
        CHECK_OK(meta_unpack_face(buffer[0], buffer[1], &reversed, META_U8, NULL));
        check_all(buffer[0], same);
    }
    free_both(buffer);
}

static void transposes_reach_beyond_2_to_the_31(void)
{
    const int64_t size[2] = {row, rows};
    unsigned char *buffer[2] = {NULL, NULL};
    if (two_buffers(buffer)) {
        CHECK_OK(meta_transpose_face(buffer[1], buffer[0], size, META_U8, NULL));
        check_all(buffer[1], transposed);
    }
    free_both(buffer);
}

static void fills_reach_beyond_2_to_the_31(void)
{
    const int64_t count = row * rows;
    const meta_box end = {1, {count}, {count - 3}, {count - 1}};
    const unsigned char seven = 7, nine = 9;
    unsigned char found[4] = {0}, expected[4] = {7, 9, 9, 7};
    void *memory = NULL;
    if (!CHECK_OK(meta_alloc(&memory, (size_t)count))) return;
    CHECK_OK(meta_fill(memory, count, &seven, META_U8, NULL));
    CHECK_OK(meta_fill_box(memory, &end, &nine, META_U8, NULL));
    CHECK_OK(meta_copy_d2h(found, (unsigned char *)memory + count - 4, 4, NULL));
    CHECK_ARRAY(found, expected, 4, META_U8);
    CHECK_OK(meta_free(memory));
}

TEST_MAIN_WITH(&large_device, PROMISE(copies_reach_beyond_2_to_the_31),
               PROMISE(boxes_reach_beyond_2_to_the_31), PROMISE(faces_reach_beyond_2_to_the_31),
               PROMISE(transposes_reach_beyond_2_to_the_31),
               PROMISE(fills_reach_beyond_2_to_the_31))
