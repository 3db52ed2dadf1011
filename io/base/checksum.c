/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checksum.c
 *  The checksum of files: four lanes of words, each mixed in by a bijection of lane and word (as
 *  Sebastiano Vigna's splitmix64 mixes). */
#include <string.h>

#include "base/io_base.h"

static inline uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t add(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return lane ^ (lane >> 29);
}

uint64_t io_checksum(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t lane[4] = {mix(seed), mix(seed + 1), mix(seed + 2), mix(seed + 3)}, word[4];
    size_t left = bytes;
    for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
        memcpy(word, at, sizeof word);
        for (int k = 0; k < 4; ++k) lane[k] = add(lane[k], word[k]);
    }
    memset(word, 0, sizeof word);
    if (left > 0) memcpy(word, at, left);
    uint64_t sum = mix(bytes);
    for (int k = 0; k < 4; ++k) sum = mix(sum ^ add(lane[k], word[k]));
    return sum;
}
