/* SPDX-License-Identifier: BSD-3-Clause */
/** @file scramble.h
 *  Sebastiano Vigna's splitmix64: a bijection on 64 bits, used as a hash and pseudo-random
 *  function. */
#ifndef SCRAMBLE_H
#define SCRAMBLE_H

#include <stdint.h>

static inline uint64_t scramble(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
