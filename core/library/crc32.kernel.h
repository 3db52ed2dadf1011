/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC-32 of a buffer, see meta_crc32(). A remainder is a polynomial over GF(2) of degree 31, its
 * coefficients from the highest bit (x^0) to the lowest (x^31). Words are in little-endian order. */
#define META_KERNEL_TYPES META_KERNEL_U32
#define META_KERNEL_FILE "crc32.kernel.h"
#include <meta_kernel.h>

#ifndef META_CRC32
#define META_CRC32
#define META_CRC32_POLYNOMIAL 0xEDB88320u
enum { META_CRC32_CHUNK = 128, META_CRC32_FOLD = 128 }; /* words of a chunk, parts of a sum */
#endif

/* c times x, modulo the polynomial. */
META_FUNCTION uint32_t FN(meta_crc32_step)(uint32_t c)
{
    return (c >> 1) ^ (META_CRC32_POLYNOMIAL & (0u - (c & 1u)));
}

META_FUNCTION uint32_t FN(meta_crc32_times)(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        if (a & bit) product ^= b;
        b = FN(meta_crc32_step)(b);
    }
    return product;
}

/* Element 256 j + b: byte b, times x^(8 (j + 1)). */
#define meta_crc32_table_ARGS(A) A(OUT, uint32_t, table)
META_CELLS(meta_crc32_table)
{
    const int32_t n = (int32_t)INDEX(0);
    uint32_t c = (uint32_t)(n & 255);
    for (int32_t k = 0; k < 8 * (1 + n / 256); ++k) c = FN(meta_crc32_step)(c);
    AT1(table, 0) = c;
}

/* The remainder of each chunk of `words` words. The first chunk is the one that may be shorter. */
#define meta_crc32_chunks_ARGS(A)                                                                  \
    A(OUT, uint32_t, part) A(IN, uint32_t, word, WHOLE) A(IN, uint32_t, table, WHOLE)              \
    A(VALUE, int64_t, words) A(VALUE, int64_t, chunks)
META_CELLS(meta_crc32_chunks)
{
    const int64_t end = words - (chunks - 1 - INDEX(0)) * META_CRC32_CHUNK;
    int64_t k = end < META_CRC32_CHUNK ? 0 : end - META_CRC32_CHUNK;
    uint32_t c = 0;
    for (; k < end; ++k) {
        c ^= GET(word, k);
        c = GET(table, 768 + (c & 255u)) ^ GET(table, 512 + ((c >> 8) & 255u)) ^
            GET(table, 256 + ((c >> 16) & 255u)) ^ GET(table, c >> 24);
    }
    AT1(part, 0) = c;
}

/* The remainder of META_CRC32_FOLD parts on end; `shift` is the power of x that has as many bits as one. */
#define meta_crc32_fold_ARGS(A)                                                                    \
    A(OUT, uint32_t, sum) A(IN, uint32_t, part, WHOLE) A(VALUE, uint32_t, shift)                   \
    A(VALUE, int64_t, parts) A(VALUE, int64_t, sums)
META_CELLS(meta_crc32_fold)
{
    const int64_t end = parts - (sums - 1 - INDEX(0)) * META_CRC32_FOLD;
    int64_t k = end < META_CRC32_FOLD ? 0 : end - META_CRC32_FOLD;
    uint32_t c = 0;
    for (; k < end; ++k) c = FN(meta_crc32_times)(c, shift) ^ GET(part, k);
    AT1(sum, 0) = c;
}

/* The last parts, what is left of the initial remainder, the bytes behind the last word. */
#define meta_crc32_end_ARGS(A)                                                                     \
    A(IN, uint32_t, part, WHOLE) A(IN, uint32_t, tail, CELL) A(VALUE, uint32_t, shift)             \
    A(VALUE, int64_t, parts) A(VALUE, uint32_t, initial) A(VALUE, int32_t, bytes)                  \
    A(MAX, uint32_t, result)
META_CELLS(meta_crc32_end)
{
    uint32_t c = 0;
    for (int64_t k = 0; k < parts; ++k) c = FN(meta_crc32_times)(c, shift) ^ GET(part, k);
    c ^= initial;
    for (int32_t b = 0; b < bytes; ++b) {
        c ^= (AT1(tail, 0) >> (8 * b)) & 255u;
        for (int32_t k = 0; k < 8; ++k) c = FN(meta_crc32_step)(c);
    }
    RAISE(result, ~c);
}

#include META_AGAIN
