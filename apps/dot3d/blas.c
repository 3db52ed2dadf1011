/* SPDX-License-Identifier: BSD-3-Clause */
/** @file blas.c
 *  The 3D dot product with libmeta's memory and messages, computed by the BLAS library of each
 *  rank's device on the native memory that meta_native() returns. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "dot3d.h"
#include "load.h"

struct dot3d {
    const block *k;
    const meta_peer_table *device; /* which drives it by its vendor's library */
    meta_peer *peer;
    void *a, *b;
    meta_peer_memory native_a, native_b;
};

static void open_blas(dot3d *d)
{
    int index = 0;
    meta_mode mode = META_SPREAD;
    char reason[800] = "";
    check(meta_get_acc(&index, &mode));
    if (failure_seen()) return;
    d->device = peer_open(mode, index, &d->peer, reason, sizeof reason);
    if (d->device == NULL) failure_note("--blas: %s", reason);
    else if (d->device->blas == NULL) failure_note("--blas: %s", d->device->no_blas);
}

static void put_fields(dot3d *d, const void *fields)
{
    const size_t bytes = 2 * (size_t)d->k->cells * number_size(d->k->type);
    check(meta_alloc(&d->a, bytes));
    if (d->a == NULL) return;
    d->b = number_at(d->a, d->k->cells, d->k->type);
    check(meta_copy_h2d(d->a, fields, bytes, NULL));
    check(meta_native(d->a, &d->native_a.object, &d->native_a.offset));
    check(meta_native(d->b, &d->native_b.object, &d->native_b.offset));
}

static dot3d *create(const block *k, const void *fields)
{
    dot3d *d = calloc(1, sizeof *d);
    if (d == NULL) {
        failure_note_memory(sizeof *d);
        return NULL;
    }
    d->k = k;
    open_blas(d);
    if (!failure_seen()) put_fields(d, fields);
    return d;
}

static void release(dot3d *d)
{
    if (d->device != NULL) d->device->close(d->peer);
    if (d->a != NULL) check(meta_free(d->a));
    free(d);
}

static const char *library(const dot3d *d)
{
    return d->device->blas;
}

static meta_peer_memory plane_at(const dot3d *d, meta_peer_memory field, int64_t x)
{
    field.offset += (size_t)(x * d->k->plane) * number_size(d->k->type);
    return field;
}

/* Over the planes from x up to end. */
static void dot(dot3d *d, int64_t x, int64_t end, void *result)
{
    if (d->device->dot(d->peer, type_of(d->k->type), (end - x) * d->k->plane,
                       plane_at(d, d->native_a, x), plane_at(d, d->native_b, x), result) != 0)
        failure_note("--blas: %s", d->device->reason(d->peer));
}

static void iterate(dot3d *d, void *result)
{
    const block *k = d->k;
    const meta_type type = type_of(k->type);
    const void *last = number_at(d->a, (k->size[0] - 1) * k->plane, k->type);
    check(meta_packed_send(k->next, last, k->plane, type, 0, NULL));
    check(meta_packed_recv(k->previous, d->a, k->plane, type, 0, NULL));
    dot(d, 1, k->size[0], result);
    check(meta_allreduce(result, result, 1, META_SUM, type, NULL));
}

static void ghost(dot3d *d, void *result)
{
    dot(d, 0, 1, result);
}

const dot3d_way *dot3d_blas(void)
{
    static const dot3d_way way = {create, release, iterate, ghost, library};
    return &way;
}
