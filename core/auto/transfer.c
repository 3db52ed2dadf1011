/* SPDX-License-Identifier: BSD-3-Clause */
/** @file transfer.c
 *  Copies between devices: at once where one of them uses the host's memory, or where their back
 * end copies from device to device; otherwise in pieces through host memory. They go by the queues
 * of halos, beside kernels. */
#include "auto/auto.h"
#include "auto/link.h"

meta_err meta_auto_order_slab(meta_auto_lane *lane, const meta_slabs *slabs,
                              const meta_auto_slab *slab, int d, bool writes)
{
    META_TRY(meta_auto_order(lane, *meta_slab_writer(slabs, slab, d)));
    if (!writes) return META_OK;
    const meta_mark *reader = meta_slab_readers(slabs, slab, d);
    for (int k = 0; k < slabs->lanes; ++k)
        if (reader[k]) META_TRY(meta_auto_order(lane, reader[k]));
    return META_OK;
}

/* Slabs [first, last) of a buffer on their way. */
typedef struct passage {
    meta_auto_buffer *buffer;
    int from, to;
    size_t first, last;
    uint64_t begin, end;
} passage;

static meta_err order(meta_auto_lane *lane, const passage *p, int d, bool writes)
{
    const meta_slabs *slabs = p->buffer->slabs;
    for (size_t k = p->first; k < p->last; ++k)
        META_TRY(meta_auto_order_slab(lane, slabs, &slabs->slab[k], d, writes));
    return META_OK;
}

/* Queue a copy. @p share, unless NULL: see meta_auto_queued(). */
static meta_err queue_copy(meta_auto_lane *lane, meta_copy *copy, meta_mark *mark,
                           meta_auto_work **share)
{
    meta_plugin_queue *queue;
    meta_ticket ticket = NULL;
    META_TRY(meta_auto_queue(lane, &queue));
    copy->size = sizeof *copy;
    copy->ticket = &ticket;
    META_TRY(meta_auto_check_device(lane, lane->of->ops->copy(queue, copy)));
    *mark = meta_auto_queued(lane, ticket, share);
    return META_OK;
}

static meta_err at_once(const passage *p, meta_copy_kind kind, meta_mark *mark)
{
    const meta_auto_buffer *b = p->buffer;
    const int d = kind == META_COPY_D2H ? p->from : p->to;
    const int other = kind == META_COPY_D2H ? p->to : p->from;
    meta_auto_lane *lane = meta_auto_lane_of(d, META_QUEUE_HALO);
    meta_stamp stamp = {0};
    meta_copy copy = {
        .kind = kind, .object = b->copy[d].object, .offset = p->begin, .bytes = p->end - p->begin};
    if (kind == META_COPY_PEER) {
        copy.peer = meta_auto.device[other].device->plugin;
        copy.peer_object = b->copy[other].object;
        copy.peer_offset = p->begin;
    } else {
        copy.host = (char *)b->copy[other].object + p->begin;
    }
    const bool wanted = !meta_auto.is_fixed && meta_auto_move_wanted(p->from, p->to);
    const uint64_t queued = meta_account_now();
    if (wanted || queued) copy.stamp = &stamp;
    META_TRY(order(lane, p, p->from, false));
    META_TRY(order(lane, p, p->to, true));
    META_TRY(queue_copy(lane, &copy, mark, NULL));
    const meta_ops *ops = lane->of->ops;
    const meta_auto_sample sample = {-1, p->to, p->from, 0, copy.bytes, 1, 0};
    const meta_auto_moved moved = {p->from, p->to, d, copy.bytes, queued};
    if (queued) meta_account_move(&moved, ops, &stamp, wanted ? &sample : NULL);
    else meta_auto_hand_stamp(ops, &stamp, NULL, wanted ? &sample : NULL);
    return META_OK;
}

enum { PIECE = 4 << 20, PIECES = 2 };

/* Pieces of host memory, and the work that uses each. */
typedef struct stage {
    void *host[PIECES];
    meta_auto_work *out[PIECES], *in[PIECES];
} stage;

static meta_err finish(meta_auto_work **work)
{
    meta_err error = META_OK;
    if (!*work) return META_OK;
    error = meta_auto_wait_work(*work);
    meta_auto_drop(*work);
    *work = NULL;
    return error;
}

static uint64_t piece_bytes(const passage *p, uint64_t begin)
{
    return p->end - begin < PIECE ? p->end - begin : PIECE;
}

static meta_err fetch_piece(const passage *p, stage *s, int k, uint64_t begin)
{
    meta_mark unused;
    meta_copy copy = {.kind = META_COPY_D2H,
                      .object = p->buffer->copy[p->from].object,
                      .offset = begin,
                      .bytes = piece_bytes(p, begin),
                      .host = s->host[k]};
    META_TRY(finish(&s->in[k]));
    return queue_copy(meta_auto_lane_of(p->from, META_QUEUE_HALO), &copy, &unused, &s->out[k]);
}

static meta_err send_piece(const passage *p, stage *s, int k, uint64_t begin, meta_mark *mark)
{
    meta_copy copy = {.kind = META_COPY_H2D,
                      .object = p->buffer->copy[p->to].object,
                      .offset = begin,
                      .bytes = piece_bytes(p, begin),
                      .host = s->host[k]};
    META_TRY(finish(&s->out[k]));
    return queue_copy(meta_auto_lane_of(p->to, META_QUEUE_HALO), &copy, mark, &s->in[k]);
}

/* While one piece is on its way in, the next is on its way out. */
static meta_err pieces(const passage *p, stage *s, meta_mark *mark)
{
    int k = 0;
    META_TRY(order(meta_auto_lane_of(p->from, META_QUEUE_HALO), p, p->from, false));
    META_TRY(order(meta_auto_lane_of(p->to, META_QUEUE_HALO), p, p->to, true));
    META_TRY(fetch_piece(p, s, 0, p->begin));
    for (uint64_t at = p->begin; at < p->end; at += PIECE, k = (k + 1) % PIECES) {
        if (at + PIECE < p->end) META_TRY(fetch_piece(p, s, (k + 1) % PIECES, at + PIECE));
        META_TRY(send_piece(p, s, k, at, mark));
    }
    return META_OK;
}

/* What is timed begins when the bytes are there. */
static void wait_for_bytes(const passage *p)
{
    const meta_slabs *slabs = p->buffer->slabs;
    for (size_t k = p->first; k < p->last; ++k)
        meta_auto_wait(*meta_slab_writer(slabs, &slabs->slab[k], p->from));
}

static meta_err staged(const passage *p, meta_mark *mark)
{
    meta_device *device = meta_auto.device[p->to].device;
    const bool wanted = !meta_auto.is_fixed && meta_auto_move_wanted(p->from, p->to);
    if (wanted) wait_for_bytes(p);
    const uint64_t began = meta_auto_now(), queued = meta_account_now();
    stage s = {{NULL}, {NULL}, {NULL}};
    meta_err error = META_OK;
    for (int k = 0; k < PIECES && error == META_OK; ++k)
        error = meta_staging_get(device, (size_t)piece_bytes(p, p->begin), &s.host[k]);
    if (error == META_OK) error = pieces(p, &s, mark);
    for (int k = 0; k < PIECES; ++k) {
        const meta_err out = finish(&s.out[k]), in = finish(&s.in[k]);
        if (error == META_OK) error = out != META_OK ? out : in;
        if (s.host[k]) meta_staging_put(device, s.host[k]);
    }
    if (error != META_OK) return error;
    const meta_stamp stamp = {.begin = began, .end = meta_auto_now()};
    const meta_auto_moved moved = {p->from, p->to, p->to, p->end - p->begin, queued};
    if (queued) meta_account_move(&moved, NULL, &stamp, NULL);
    if (wanted) {
        const meta_auto_sample sample = {-1, p->to, p->from, 0, p->end - p->begin, 1, 0};
        meta_auto_learn(&sample, (double)(stamp.end - stamp.begin));
    }
    return META_OK;
}

meta_err meta_auto_move(meta_auto_buffer *b, int from, int to, size_t first, size_t last,
                        meta_mark *mark)
{
    const meta_auto_slab *slab = b->slabs->slab;
    const passage p = {b, from, to, first, last, slab[first].begin, slab[last - 1].end};
    if (meta_auto.device[from].is_host) return at_once(&p, META_COPY_H2D, mark);
    if (meta_auto.device[to].is_host) return at_once(&p, META_COPY_D2H, mark);
    if (meta_auto.peers[to] >> from & 1) return at_once(&p, META_COPY_PEER, mark);
    return staged(&p, mark);
}
