/* SPDX-License-Identifier: BSD-3-Clause */
/** @file key.c
 *  Keys of code in the cache, and checksums: 128 bits of two hashes side by side. They tell texts
 *  and damaged files apart; against people who mean harm, owners and permissions are checked. */
#include "cache/cache.h"

#include <string.h>

static uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* The multipliers are the golden ratio's and that of FNV-1a's prime made odd and long: any odd ones
 * with many bits do. */
static void mix(meta_cache_key *key, uint64_t word)
{
    uint64_t a = key->part[0], b = key->part[1];
    a = (a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    a ^= a >> 29;
    b = (rotated(b, 23) + word) * UINT64_C(0xd6e8feb86659fd93);
    b ^= b >> 32;
    key->part[0] = a;
    key->part[1] = b ^ rotated(a, 17);
}

void meta_cache_key_add(meta_cache_key *key, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t word;
    key->bytes += count;
    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        mix(key, word);
    }
    word = 0;
    if (count > 0) memcpy(&word, at, count);
    mix(key, word);
    mix(key, key->bytes);
}

void meta_cache_key_text(meta_cache_key *key, const char *text)
{
    meta_cache_key_add(key, text ? text : "", text ? strlen(text) + 1 : 1);
}

bool meta_cache_key_same(const meta_cache_key *a, const meta_cache_key *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1] && a->bytes == b->bytes;
}
