/* SPDX-License-Identifier: BSD-3-Clause */
/** @file places.c
 *  See places.h. */
#include "config.h"

#include "places.h"

#include <string.h>

#include "test.h"

static const uint64_t untouched = UINT64_C(0x5a5a5a5a5a5a5a5a);

bool places_pick(places *p, int count)
{
    void *device = NULL;
    p->count = count;
    if (!CHECK_OK(meta_alloc(&device, sizeof p->host))) return false;
    p->device = device;
    for (int k = 0; k < PLACES_MOST; ++k)
        for (int w = 0; w < PLACE_WORDS; ++w) p->host[k][w] = untouched;
    for (int k = 0; k < count; ++k) {
        p->on_device[k] = test_random_in(0, 1);
        p->given[k] = &(p->on_device[k] ? p->device : p->host)[k][1];
    }
    return CHECK_OK(meta_copy_h2d(device, p->host, sizeof p->host, NULL));
}

void places_read(places *p, const size_t *bytes)
{
    uint64_t device[PLACES_MOST][PLACE_WORDS], unset[PLACE_WORDS];
    CHECK_OK(meta_copy_d2h(device, p->device, sizeof device, NULL));
    for (int k = 0; k < p->count; ++k) {
        for (int w = 0; w < PLACE_WORDS; ++w) unset[w] = untouched;
        CHECK_ARRAY(p->on_device[k] ? p->host[k] : device[k], unset, PLACE_WORDS, META_U64);
        if (p->on_device[k]) memcpy(p->host[k], device[k], sizeof device[k]);
        memcpy(&unset[1], &p->host[k][1], bytes[k]);
        CHECK_ARRAY(p->host[k], unset, PLACE_WORDS, META_U64);
    }
    CHECK_OK(meta_free(p->device));
}

uint64_t places_bits(const places *p, int k, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, &p->host[k][1], bytes);
    return bits;
}
