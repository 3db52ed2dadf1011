/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d.c
 *  The 3D dot product with libmeta, on any device. dot3d_mpi.c is its baseline. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "dot3d.h"

struct dot3d {
    const block *k;
    void *a, *b, *send, *recv;
};

void dot3d_begin(void)
{
    check(meta_comm_init(NULL, NULL));
}

void dot3d_end(void)
{
    check(meta_comm_finalize());
}

dot3d *dot3d_create(const block *k, const void *fields)
{
    const size_t bytes = 2 * (size_t)(k->cells + k->plane) * number_size(k->type);
    dot3d *d = calloc(1, sizeof *d);
    if (d == NULL) {
        failure_note_memory(sizeof *d);
        return NULL;
    }
    d->k = k;
    check(meta_alloc(&d->a, bytes));
    d->b = number_at(d->a, k->cells, k->type);
    d->send = number_at(d->b, k->cells, k->type);
    d->recv = number_at(d->send, k->plane, k->type);
    check(meta_copy_h2d(d->a, fields, 2 * (size_t)k->cells * number_size(k->type), NULL));
    return d;
}

void dot3d_free(dot3d *d)
{
    check(meta_free(d->a));
    free(d);
}

/* Over the planes from x up to end. */
static void dot(const dot3d *d, int64_t x, int64_t end, void *result)
{
    const int64_t *size = d->k->size;
    const meta_box box = {3, {size[0], size[1], size[2]}, {x, 0, 0}, {end, size[1], size[2]}};
    check(meta_dot(result, d->a, d->b, &box, type_of(d->k->type), NULL));
}

void dot3d_iterate(dot3d *d, void *result)
{
    const block *k = d->k;
    void *last = number_at(d->a, k->size[0] - 1, k->type);
    const meta_face plane = {0, 1, {k->plane}, {k->size[0]}};
    check(meta_pack_send(k->next, &plane, last, d->send, type_of(k->type), 0, NULL));
    check(meta_recv_unpack(k->previous, &plane, d->a, d->recv, type_of(k->type), 0, NULL));
    dot(d, 1, k->size[0], result);
    check(meta_allreduce(result, result, 1, META_SUM, type_of(k->type), NULL));
}

void dot3d_ghost(dot3d *d, void *result)
{
    dot(d, 0, 1, result);
}
