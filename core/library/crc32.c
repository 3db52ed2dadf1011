/* SPDX-License-Identifier: BSD-3-Clause */
/** @file crc32.c
 *  The CRC-32 of a buffer: the remainders of its chunks, and sums of them until few are left. The
 *  remainder of two texts on end is that of the first, times x to the bits of the second, plus that
 *  of the second. */
#include "library/library.h"

#include "library/crc32.kernel.h"

enum { TABLE = 1024, MOST_LEVELS = 10, ALIGNED = 4 };

/* What lies in the scratch buffer: an array that is read lies behind those that are written from
 * it. */
typedef struct layout {
    int64_t words, parts[MOST_LEVELS]; /* words of the buffer; parts of each level, at last few */
    int levels;
    uint32_t *part[MOST_LEVELS], *table, *tail, *copy;
} layout;

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* x^(32·words). */
static uint32_t power(uint64_t words)
{
    uint32_t result = UINT32_C(1) << 31, square = result;
    for (int k = 0; k < 32; ++k) square = meta_crc32_step_u32_0(square);
    for (; words; words >>= 1) {
        if (words & 1) result = meta_crc32_times_u32_0(result, square);
        square = meta_crc32_times_u32_0(square, square);
    }
    return result;
}

static int64_t count_parts(layout *l, size_t bytes)
{
    int64_t all = 0;
    l->words = (int64_t)(bytes / 4);
    l->parts[0] = divide_up(l->words, META_CRC32_CHUNK);
    for (l->levels = 1; l->parts[l->levels - 1] > META_CRC32_FOLD; ++l->levels)
        l->parts[l->levels] = divide_up(l->parts[l->levels - 1], META_CRC32_FOLD);
    for (int k = 0; k < l->levels; ++k) all += l->parts[k];
    return all;
}

static void lay_out(layout *l, void *scratch)
{
    uint32_t *next = scratch;
    for (int k = l->levels - 1; k >= 0; --k) l->part[k] = next, next += l->parts[k];
    l->table = next;
    l->tail = next + TABLE;
    l->copy = l->tail + 1;
}

static meta_box line(int64_t cells)
{
    return (meta_box){.ndim = 1, .size = {cells}, .end = {cells}};
}

static meta_err run_chunks(const layout *l, const void *words)
{
    const meta_box table = line(TABLE), chunks = line(l->parts[0]);
    META_TRY(meta_user_run(&meta_crc32_table_u32_kernel, &table, (const void *[]){l->table},
                           META_ASYNC));
    return meta_user_run(&meta_crc32_chunks_u32_kernel, &chunks,
                         (const void *[]){l->part[0], words, l->table, &l->words, &l->parts[0]},
                         META_ASYNC);
}

/* Blocks. */
static meta_err run(const layout *l, uint32_t *result, const char *buf, size_t bytes, bool aligned)
{
    const meta_box one = line(1);
    const int32_t rest = (int32_t)(bytes % 4);
    const int last = l->levels - 1;
    const uint32_t initial = meta_crc32_times_u32_0(UINT32_MAX, power((uint64_t)l->words));
    uint32_t shift = power(META_CRC32_CHUNK);
    if (!aligned) META_TRY(meta_copy_d2d(l->copy, buf, bytes, META_ASYNC));
    if (rest > 0) META_TRY(meta_copy_d2d(l->tail, buf + bytes - rest, (size_t)rest, META_ASYNC));
    if (l->words > 0) META_TRY(run_chunks(l, aligned ? (const void *)buf : l->copy));
    for (int k = 0; k < last; ++k) {
        const meta_box sums = line(l->parts[k + 1]);
        META_TRY(meta_user_run(
            &meta_crc32_fold_u32_kernel, &sums,
            (const void *[]){l->part[k + 1], l->part[k], &shift, &l->parts[k], &l->parts[k + 1]},
            META_ASYNC));
        for (int n = 1; n < META_CRC32_FOLD; n *= 2) shift = meta_crc32_times_u32_0(shift, shift);
    }
    return meta_user_run(
        &meta_crc32_end_u32_kernel, &one,
        (const void *[]){l->part[last], l->tail, &shift, &l->parts[last], &initial, &rest, result},
        NULL);
}

/* Of no bytes: 0. */
static meta_err set_nothing(uint32_t *result, meta_event *done)
{
    static const uint32_t nothing = 0;
    meta_span span;
    int is_device;
    META_TRY(meta_resolve_any(result, 1, META_U32, "result", &is_device, &span));
    if (is_device) return meta_fill(result, 1, &nothing, META_U32, done);
    *result = nothing;
    return meta_submit_nothing(done);
}

meta_err meta_crc32(uint32_t *result, const void *buf, size_t bytes, meta_event *done)
{
    const bool aligned = (uintptr_t)buf % ALIGNED == 0;
    layout l = {0};
    meta_span span, at;
    void *scratch;
    int is_device;
    META_ENTER();
    if (bytes > PTRDIFF_MAX)
        return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu: no buffer has so many",
                         bytes);
    if (bytes == 0) return set_nothing(result, done);
    META_TRY(meta_resolve(buf, (int64_t)bytes, META_U8, "buf", &span));
    META_TRY(meta_resolve_any(result, 1, META_U32, "result", &is_device, &at));
    if (is_device) META_TRY(meta_same_device(&at, "result", &span, "buf"));
    const size_t room = ((size_t)count_parts(&l, bytes) + TABLE + 1) * 4 + (aligned ? 0 : bytes);
    META_TRY(meta_scratch(span.device, room, &scratch));
    lay_out(&l, scratch);
    const meta_err error = run(&l, result, buf, bytes, aligned);
    meta_scratch_free(scratch);
    return error == META_OK ? meta_submit_nothing(done) : error;
}
