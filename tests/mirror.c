/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mirror.c
 *  Device buffers with their expected contents on the host. */
#include "config.h"

#include "mirror.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool mirror_new(mirror *m, size_t bytes)
{
    void *device = NULL;
    *m = (mirror){.expected = malloc(bytes), .found = malloc(bytes), .bytes = bytes};
    if (!CHECK(m->expected && m->found)) return false;
    if (!CHECK_OK(meta_alloc(&device, bytes))) return false;
    m->device = device;
    return mirror_refill(m, META_U8, CASE_PLAIN);
}

void mirror_free(mirror *m)
{
    if (m->device) CHECK_OK(meta_free(m->device));
    free(m->expected);
    free(m->found);
    *m = (mirror){0};
}

bool mirror_refill(mirror *m, meta_type type, case_flavour flavour)
{
    size_t bytes = 1;
    if (!CHECK_OK(meta_type_size(type, &bytes))) return false;
    case_fill(m->expected, m->bytes / bytes, type, flavour);
    return CHECK_OK(meta_copy_h2d(m->device, m->expected, m->bytes, NULL));
}

/* Where both sides have a NaN, expect the device's from now on. */
static void equal_nans(mirror *m, meta_type type)
{
    for (size_t at = 0; type == META_F64 && at + 8 <= m->bytes; at += 8) {
        double found, expected;
        memcpy(&found, m->found + at, 8);
        memcpy(&expected, m->expected + at, 8);
        if (isnan(found) && isnan(expected)) memcpy(m->expected + at, m->found + at, 8);
    }
    for (size_t at = 0; type == META_F32 && at + 4 <= m->bytes; at += 4) {
        float found, expected;
        memcpy(&found, m->found + at, 4);
        memcpy(&expected, m->expected + at, 4);
        if (isnan(found) && isnan(expected)) memcpy(m->expected + at, m->found + at, 4);
    }
}

bool mirror_holds(mirror *m, meta_type type, const char *name)
{
    size_t bytes = 1;
    if (!CHECK_OK(meta_type_size(type, &bytes))) return false;
    if (!CHECK_OK(meta_copy_d2h(m->found, m->device, m->bytes, NULL))) return false;
    if (memcmp(m->found, m->expected, m->bytes) == 0) return true;
    if (case_is_float(type)) equal_nans(m, type);
    if (test_check_array(m->found, m->expected, m->bytes / bytes, type, __FILE__, __LINE__, name))
        return true;
    CHECK_OK(meta_copy_h2d(m->device, m->expected, m->bytes, NULL));
    return false;
}
