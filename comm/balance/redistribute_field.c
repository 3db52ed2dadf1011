/* SPDX-License-Identifier: BSD-3-Clause */
/** @file redistribute_field.c
 *  Moving an array from old blocks to new ones: what an old block and a new one have in common is
 * packed on the old array's device, sent whole, and unpacked on the new one's; within a rank and a
 * device it is copied.
 *
 *  Its messages have a communicator of their own: the tags of others are the application's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/redistribute.h"

/* Elements that part k of a dimension sends, or gets. One shared by two parts is sent by the later
 * one, but for the grid's last, and received by both. A part without planes shares none. */
static void part_of(const moving *m, bool sends, int d, int k, int64_t *start, int64_t *end)
{
    const int64_t *at = sends ? m->before->at[d] : m->after->at[d];
    const bool last = at[k + 1] == at[m->g->extent[d]];
    *start = at[k];
    *end = at[k + 1] + (m->more[d] && at[k + 1] > at[k] && (last || !sends));
}

/* The intersection of part k at the other end with this side's own range. */
static bool common(const moving *m, const side *s, int d, int k, int64_t *start, int64_t *end)
{
    part_of(m, !s->sends, d, k, start, end);
    if (*start < s->mine.start[d]) *start = s->mine.start[d];
    if (*end > s->mine.end[d]) *end = s->mine.end[d];
    return *start < *end;
}

/* ------------------------------------------------------------------ pieces */

/* A rank's own piece needs no buffer where both arrays are on one device. */
static bool stays(const moving *m, const piece *p)
{
    return p->peer == m->g->rank && m->from.span.device == m->to.span.device;
}

/* Add the cells of @p r, for part k at the other end. The side's block begins in its array at the
 * start of its own range, also where a rank sends less than it has: shared elements are at the high
 * side. */
static meta_err add_piece(const moving *m, side *s, const int k[CUTS_DIMS], const range *r)
{
    enum { LINE = 64 };
    piece *p = &s->pieces[s->count];
    int64_t stride = 1;
    COMM_MPI(MPI_Cart_rank, (m->g->cart, k, &p->peer));
    p->face.count = m->g->dims;
    p->count = 1;
    for (int d = 0; d < m->g->dims; ++d) {
        p->face.start += (s->box->start[d] + r->start[d] - s->mine.start[d]) * stride;
        p->face.size[d] = r->end[d] - r->start[d];
        p->face.stride[d] = stride;
        stride *= s->box->size[d];
        p->count *= p->face.size[d];
    }
    p->bytes = stays(m, p) ? 0 : (size_t)p->count * m->element;
    p->at = s->bytes;
    s->bytes += (p->bytes + LINE - 1) / LINE * LINE;
    ++s->count;
    return META_OK;
}

/* The parts of each dimension at the other end that have anything of this side's range. */
static int64_t find_parts(const moving *m, const side *s, int first[CUTS_DIMS], int last[CUTS_DIMS])
{
    int64_t start, end, product = 1;
    for (int d = 0; d < CUTS_DIMS; ++d) first[d] = last[d] = 0;
    for (int d = 0; d < m->g->dims; ++d) {
        last[d] = -1;
        for (int k = 0; k < m->g->extent[d]; ++k) {
            if (!common(m, s, d, k, &start, &end)) continue;
            if (last[d] < 0) first[d] = k;
            last[d] = k;
        }
        product *= last[d] < 0 ? 0 : last[d] - first[d] + 1;
    }
    return product;
}

static meta_err list_pieces(const moving *m, side *s)
{
    int first[CUTS_DIMS], last[CUTS_DIMS], k[CUTS_DIMS];
    const int64_t most = find_parts(m, s, first, last);
    if (most == 0) return META_OK;
    s->pieces = calloc((size_t)most, sizeof *s->pieces);
    if (!s->pieces)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %" PRId64 " messages",
                          most);
    for (k[2] = first[2]; k[2] <= last[2]; ++k[2])
        for (k[1] = first[1]; k[1] <= last[1]; ++k[1])
            for (k[0] = first[0]; k[0] <= last[0]; ++k[0]) {
                range r;
                bool any = true;
                for (int d = 0; d < m->g->dims && any; ++d)
                    any = common(m, s, d, k[d], &r.start[d], &r.end[d]);
                if (any) META_TRY(add_piece(m, s, k, &r));
            }
    return META_OK;
}

/* ------------------------------------------------------------------ one side of a field */

/* Check the box of a side, and find its array and what of it is moved. */
static meta_err open_side(moving *m, side *s)
{
    const meta_cuts *cuts = s->sends ? m->before : m->after;
    char name[64];
    int64_t elements = 1;
    bool empty = false;
    for (int d = 0; d < m->g->dims; ++d) {
        const int64_t *at = cuts->at[d] + m->g->at[d];
        const int64_t own = s->box->end[d] - s->box->start[d], cells = at[1] - at[0];
        if (own != cells + (m->more[d] && cells > 0))
            return core->fail(META_ERR_BOUNDS,
                              "argument '%s%s', dimension %d: the box has %" PRId64
                              " own cells, the block %" PRId64 "%s",
                              m->name, s->sends ? "from_box" : "to_box", d, own, cells,
                              m->more[d] && cells > 0 ? ", and one more is shared" : "");
        empty = empty || own == 0;
        elements *= s->box->size[d];
        part_of(m, s->sends, d, m->g->at[d], &s->mine.start[d], &s->mine.end[d]);
    }
    if (empty) return META_OK;
    snprintf(name, sizeof name, "%s%s", m->name, s->sends ? "from" : "to");
    const meta_err error = core->resolve(s->sends ? m->field->from : m->field->to, elements,
                                         m->field->type, name, &s->span);
    /* Where the buffer is too short for a grid's wrong shape, the shape is the cause. */
    if (error == META_OK || error == META_ERR_BOUNDS)
        META_TRY(core->check_shape(&s->span, s->box, m->field->type, name));
    return error;
}

/* The packed buffer, and its image on the host where the device is not one. */
static meta_err make_buffer(side *s)
{
    meta_device *device = s->span.device;
    if (s->bytes == 0) return META_OK;
    META_TRY(core->scratch(device, s->bytes, &s->packed));
    META_TRY(core->resolve(s->packed, (int64_t)s->bytes, META_U8, "packed", &s->packed_span));
    if (!core->is_host(device)) META_TRY(core->staging(device, s->bytes, &s->staging));
    s->wire = s->staging ? s->staging : s->packed_span.address;
    return META_OK;
}

static void close_side(side *s, bool left_to_mpi)
{
    free(s->pieces);
    if (s->staging && !left_to_mpi) core->staging_free(s->span.device, s->staging);
    if (s->packed && left_to_mpi) core->scratch_leave(s->packed);
    else if (s->packed) core->scratch_free(s->packed);
}

/* ------------------------------------------------------------------ work on the devices */

static meta_err wait_for(meta_pending *pending, meta_err error)
{
    const meta_err waited = core->pending_wait(pending);
    core->pending_release(pending);
    return error == META_OK ? waited : error;
}

/* Pack or unpack all pieces that are sent. */
static meta_err marshal(const moving *m, const side *s)
{
    meta_pending pending = {0};
    meta_err error = META_OK;
    size_t moves = 0;
    meta_builtin *move = calloc((size_t)s->count + 1, sizeof *move);
    if (!move)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %d messages", s->count);
    for (int k = 0; k < s->count && error == META_OK; ++k) {
        const piece *p = &s->pieces[k];
        const meta_span packed = comm_span_part(&s->packed_span, p->at);
        if (stays(m, p)) continue;
        if (s->sends &&
            core->move_begin(&move[moves], META_KERNEL_PACK, m->field->type, NULL, &p->face))
            error = core->move_bind(&move[moves++], &packed, &s->span);
        if (!s->sends &&
            core->move_begin(&move[moves], META_KERNEL_UNPACK, m->field->type, &p->face, NULL))
            error = core->move_bind(&move[moves++], &s->span, &packed);
    }
    if (error == META_OK && moves > 0) {
        error = core->launch(s->span.device, META_QUEUE_COMPUTE, move, moves, &pending);
        if (error == META_OK) error = wait_for(&pending, error);
    }
    free(move);
    return error;
}

static meta_err copy_staging(const side *s)
{
    meta_pending pending = {0};
    if (!s->staging) return META_OK;
    META_TRY(core->copy(s->span.device, META_QUEUE_COMPUTE,
                        s->sends ? META_COPY_D2H : META_COPY_H2D, s->staging, &s->packed_span,
                        s->bytes, &pending));
    return wait_for(&pending, META_OK);
}

/* The piece that this rank keeps, on its device. */
static meta_err copy_own(const moving *m)
{
    const piece *from = NULL, *to = NULL;
    meta_pending pending = {0};
    meta_builtin move;
    for (int k = 0; k < m->from.count; ++k)
        if (stays(m, &m->from.pieces[k])) from = &m->from.pieces[k];
    for (int k = 0; k < m->to.count; ++k)
        if (stays(m, &m->to.pieces[k])) to = &m->to.pieces[k];
    if (!from || !to) return META_OK;
    if (!core->move_begin(&move, META_KERNEL_COPY, m->field->type, &to->face, &from->face))
        return META_OK;
    META_TRY(core->move_bind(&move, &m->to.span, &m->from.span));
    META_TRY(core->launch(m->to.span.device, META_QUEUE_COMPUTE, &move, 1, &pending));
    return wait_for(&pending, META_OK);
}

/* ------------------------------------------------------------------ messages */

/* Post a side's pieces, in parts of at most META_TEST_CHUNK bytes. */
static meta_err post(moving *m, const side *s)
{
    for (int k = 0; k < s->count; ++k) {
        const piece *p = &s->pieces[k];
        if (stays(m, p)) continue;
        for (size_t at = 0; at < p->bytes; at += comm_job.chunk) {
            char *data = s->wire + p->at + at;
            const int bytes =
                (int)(p->bytes - at < comm_job.chunk ? p->bytes - at : comm_job.chunk);
            MPI_Request *request = &m->requests[m->posted];
            if (s->sends)
                COMM_MPI(MPI_Isend, (data, bytes, MPI_BYTE, p->peer, 0, m->g->cart, request));
            else COMM_MPI(MPI_Irecv, (data, bytes, MPI_BYTE, p->peer, 0, m->g->cart, request));
            ++m->posted;
        }
    }
    return META_OK;
}

meta_err redistribute_open(moving *m, cuts_ranks *g, const meta_cuts *before,
                           const meta_cuts *after, const meta_redistribute_field *field, int index,
                           const int *more)
{
    char type[32];
    *m = (moving){.g = g, .before = before, .after = after, .field = &field[index]};
    m->from.sends = true;
    m->from.box = &m->field->from_box;
    m->to.box = &m->field->to_box;
    snprintf(m->name, sizeof m->name, "field[%d].", index);
    for (int d = 0; d < g->dims; ++d) m->more[d] = more[d];
    snprintf(type, sizeof type, "field[%d].type", index);
    META_TRY(core->check_type(m->field->type, type, &m->element));
    META_TRY(open_side(m, &m->from));
    META_TRY(open_side(m, &m->to));
    const meta_span *from = &m->from.span, *to = &m->to.span;
    if (from->device && from->device == to->device && from->object == to->object &&
        from->offset == to->offset)
        return core->fail(META_ERR_OVERLAP, "arguments '%sfrom' and '%sto' are one array", m->name,
                          m->name);
    return META_OK;
}

/* Room for everything that travels, and what is sent, packed. */
static meta_err pack(moving *m)
{
    side *sides[] = {&m->from, &m->to};
    size_t requests = 0;
    for (int k = 0; k < 2; ++k) {
        side *s = sides[k];
        META_TRY(list_pieces(m, s));
        META_TRY(make_buffer(s));
        if (s->span.device) comm_queue_owed(&s->span);
        for (int p = 0; p < s->count; ++p)
            if (!stays(m, &s->pieces[p])) requests += (s->pieces[p].bytes - 1) / comm_job.chunk + 1;
    }
    m->requests = calloc(requests + 1, sizeof *m->requests);
    if (!m->requests)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %zu messages", requests);
    META_TRY(marshal(m, &m->from));
    return copy_staging(&m->from);
}

static meta_err transfer(moving *m)
{
    const meta_err received = post(m, &m->to);
    m->receives = m->posted;
    META_TRY(received);
    META_TRY(post(m, &m->from));
    META_TRY(copy_own(m));
    for (int k = 0; k < m->posted; ++k)
        META_TRY(comm_request_wait(&m->requests[k], comm_all_of(m->g->cart, "while cells move")));
    m->posted = 0;
    META_TRY(copy_staging(&m->to));
    return marshal(m, &m->to);
}

/* Other threads may run while messages are under way. */
static void hold(const moving *m, bool on)
{
    if (m->from.span.device) on ? core->hold(m->field->from) : core->release(m->field->from);
    if (m->to.span.device) on ? core->hold(m->field->to) : core->release(m->field->to);
}

/* MPI failed on some rank: what was sent must not meet the next communicator. Every rank tells each
 * other one that it has sent all, and discards what comes before; where it cannot, the communicator
 * is left to MPI (which may end the job when one with a message in it is freed: MPICH 4.1). */
static void drain(moving *m)
{
    enum { END = 1 };
    int size = 0;
    m->g->dirty = true;
    if (MPI_Comm_size(m->g->cart, &size) != MPI_SUCCESS) return;
    MPI_Request *ends = malloc((size_t)size * sizeof *ends);
    if (!ends) return;
    for (int r = 0; r < size; ++r) {
        ends[r] = MPI_REQUEST_NULL;
        if (r != m->g->rank) MPI_Isend(NULL, 0, MPI_BYTE, r, END, m->g->cart, &ends[r]);
    }
    comm_drained what = {"while cells in whose move MPI failed are dropped", COMM_DRAIN_SECONDS, 0};
    bool drained = true;
    for (int r = 0; r < size && drained; ++r)
        drained =
            r == m->g->rank || comm_drain_peer(m->g->cart, r, MPI_ANY_TAG, END, &what) == META_OK;
    m->g->dirty = !drained;
    for (int r = 0; r < size; ++r) comm_request_give_up(&ends[r], false);
    free(ends);
    bool given_up = true;
    for (int k = 0; k < m->posted; ++k)
        given_up &= comm_request_give_up(&m->requests[k], k < m->receives);
    if (given_up) m->posted = 0;
}

meta_err redistribute_move(moving *m)
{
    char text[COMM_TEXT];
    meta_err agreed = META_OK;
    hold(m, true);
    meta_err error = comm_agree(m->g->cart, pack(m));
    if (error == META_OK) error = comm_agree_on(m->g->cart, transfer(m), &agreed);
    if (agreed != META_OK && agreed != META_ERR_PEER) {
        snprintf(text, sizeof text, "%s", meta_last_error());
        drain(m);
        core->fail_as(error, text);
    }
    hold(m, false);
    const bool left_to_mpi = m->posted > 0;
    close_side(&m->from, left_to_mpi);
    close_side(&m->to, left_to_mpi);
    free(m->requests);
    return error;
}
