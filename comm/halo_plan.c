/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_plan.c
 *  The geometry of a halo plan: who the neighbours are, which cells they need, which they fill.
 *
 *  Towards a neighbour at the high side of x go the highest own cells, as many as the ghosts at
 *  *its low* side are wide, and from there come cells for this rank's ghosts at the high side. */
#include "halo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void halo_way_name(const halo_plan *p, int way, char name[HALO_TEXT])
{
    int at = 0;
    for (int d = 0; d < p->dims; ++d) {
        const int w = p->link[way].way[d];
        if (w == 0) continue;
        name[at++] = w < 0 ? '-' : '+';
        name[at++] = "xyz"[d];
    }
    name[at] = '\0';
}

/* ------------------------------------------------------------------ the description */

static meta_err check_widths(const meta_halo_desc *desc)
{
    for (int d = 0; d < desc->box.ndim; ++d) {
        const int64_t before = desc->box.start[d], behind = desc->box.size[d] - desc->box.end[d];
        if (desc->low[d] < 0 || desc->high[d] < 0)
            return core->fail(META_ERR_ARGUMENT, "argument 'desc->%s[%d]' is negative",
                              desc->low[d] < 0 ? "low" : "high", d);
        if (desc->low[d] > before || desc->high[d] > behind)
            return core->fail(
                META_ERR_BOUNDS,
                "argument 'desc->box', dimension %d: %d and %d ghost cells "
                "are asked for at the low and the high side, but the array has %" PRId64
                " and %" PRId64 " outside the box",
                d, desc->low[d], desc->high[d], before, behind);
    }
    return META_OK;
}

static meta_err check(halo_plan *p, const meta_halo_desc *desc)
{
    COMM_TRY(core->check_type(desc->type, &p->element));
    COMM_TRY(core->check_box(&desc->box, "desc->box"));
    if (desc->box.ndim != p->dims)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->box' has %d dimensions, the Cartesian "
                          "communicator %d",
                          desc->box.ndim, p->dims);
    if (desc->kind != META_HALO_FACES && desc->kind != META_HALO_ALL)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->kind' is %d: give META_HALO_FACES or "
                          "META_HALO_ALL",
                          (int)desc->kind);
    if (desc->fields < 1)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->fields' is %d", desc->fields);
    return check_widths(desc);
}

/* ------------------------------------------------------------------ directions */

static int axes_of(const halo_link *link)
{
    return abs(link->way[0]) + abs(link->way[1]) + abs(link->way[2]);
}

/* The rank that lies @p link's way. */
static meta_err find_peer(const halo_plan *p, halo_link *link)
{
    int extent[HALO_DIMS], periodic[HALO_DIMS], at[HALO_DIMS];
    COMM_MPI(MPI_Cart_get, (p->cart, p->dims, extent, periodic, at));
    link->peer = MPI_PROC_NULL;
    for (int d = 0; d < p->dims; ++d) {
        at[d] += link->way[d];
        if (at[d] >= 0 && at[d] < extent[d]) continue;
        if (!periodic[d]) return META_OK;
        at[d] = (at[d] + extent[d]) % extent[d];
    }
    return comm_mpi(MPI_Cart_rank(p->cart, at, &link->peer), "MPI_Cart_rank");
}

static meta_face face_of(const halo_plan *p, const int64_t start[HALO_DIMS],
                         const int64_t end[HALO_DIMS], int64_t *count)
{
    meta_face face = {.count = p->dims};
    int64_t stride = 1;
    *count = 1;
    for (int d = 0; d < p->dims; ++d) {
        face.start += start[d] * stride;
        face.size[d] = end[d] - start[d];
        face.stride[d] = stride;
        stride *= p->box.size[d];
        *count *= face.size[d];
    }
    return face;
}

static meta_err too_thin(const halo_plan *p, int way, int d, int64_t own, int width)
{
    char name[HALO_TEXT];
    halo_way_name(p, way, name);
    return core->fail(META_ERR_BOUNDS,
                      "argument 'desc->box', dimension %d: the box is %" PRId64
                      " cells thick, but %d are to be sent towards %s",
                      d, own, width, name);
}

/* The cells that are sent and received in one direction. */
static meta_err fill_link(halo_plan *p, int way)
{
    halo_link *link = &p->link[way];
    int64_t send_start[HALO_DIMS], send_end[HALO_DIMS], recv_start[HALO_DIMS], recv_end[HALO_DIMS];
    for (int d = 0; d < p->dims; ++d) {
        const int64_t start = p->box.start[d], end = p->box.end[d];
        const int w = link->way[d], sent = w > 0 ? p->low[d] : p->high[d];
        if (w != 0 && sent > end - start) return too_thin(p, way, d, end - start, sent);
        send_start[d] = w > 0 ? end - sent : start;
        send_end[d] = w < 0 ? start + sent : end;
        recv_start[d] = w > 0 ? end : w < 0 ? start - p->low[d] : start;
        recv_end[d] = w > 0 ? end + p->high[d] : w < 0 ? start : end;
    }
    link->send = face_of(p, send_start, send_end, &link->send_count);
    link->recv = face_of(p, recv_start, recv_end, &link->recv_count);
    return META_OK;
}

/* Directions the plan does not use keep no peer, but the neighbour there is still asked. */
static bool used(const halo_plan *p, const halo_link *link)
{
    const int axes = axes_of(link);
    return link->peer != MPI_PROC_NULL && axes > 0 && (p->kind == META_HALO_ALL || axes == 1);
}

static meta_err place(size_t *total, int64_t count, const halo_plan *p, size_t *at, size_t *bytes)
{
    enum { LINE = 64 };
    if (__builtin_mul_overflow((size_t)count, p->element, bytes) ||
        __builtin_mul_overflow(*bytes, (size_t)p->fields, bytes) || *bytes > SIZE_MAX / 64 ||
        *total > SIZE_MAX / 2)
        return core->fail(META_ERR_OVERFLOW,
                          "argument 'desc': %d fields with %" PRId64 " cells for one "
                          "neighbour are more bytes than can be counted",
                          p->fields, count);
    *at = *total;
    *total += (*bytes + LINE - 1) / LINE * LINE;
    return META_OK;
}

/* Messages within this rank need no buffer. */
static meta_err place_link(halo_plan *p, halo_link *link)
{
    if (link->peer == p->rank) return META_OK;
    COMM_TRY(place(&p->send_bytes, link->send_count, p, &link->send_at, &link->send_bytes));
    return place(&p->recv_bytes, link->recv_count, p, &link->recv_at, &link->recv_bytes);
}

meta_err halo_plan_fill(halo_plan *p, const meta_halo_desc *desc)
{
    COMM_TRY(check(p, desc));
    COMM_TRY(core->current_device(&p->device));
    p->box = desc->box;
    memcpy(p->low, desc->low, sizeof p->low);
    memcpy(p->high, desc->high, sizeof p->high);
    p->kind = desc->kind;
    p->fields = desc->fields;
    p->type = desc->type;
    p->field_count = 1;
    for (int d = 0; d < p->dims; ++d) p->field_count *= p->box.size[d];
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        for (int d = 0, rest = way; d < p->dims; ++d, rest /= 3) link->way[d] = rest % 3 - 1;
        if (axes_of(link) > 0) COMM_TRY(find_peer(p, link));
        if (!used(p, link)) continue;
        COMM_TRY(fill_link(p, way));
        COMM_TRY(place_link(p, link));
    }
    return META_OK;
}
