/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_plan.c
 *  The geometry of a halo plan: who the neighbours are, which cells they need, which they fill.
 *
 *  Towards a neighbour at the high side of x go the highest own cells, as many as the ghosts at
 *  *its low* side are wide, and from there come cells for this rank's ghosts at the high side.
 *  Where ghosts are added, the same cells travel in the opposite direction. */
#include "halo/halo_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void halo_dir_name(const halo_plan *p, int dir, char name[HALO_TEXT])
{
    int at = 0;
    for (int d = 0; d < p->dims; ++d) {
        const int w = p->link[dir].offset[d];
        if (w == 0) continue;
        name[at++] = w < 0 ? '-' : '+';
        name[at++] = "xyz"[d];
    }
    name[at] = '\0';
}

bool halo_has_neighbour(const halo_plan *p, int dir)
{
    const int peer = p->link[dir].peer;
    return peer != MPI_PROC_NULL && peer != p->rank;
}

/* ------------------------------------------------------------------ the description */

static meta_err check_widths(const meta_halo_desc *desc, const meta_box *box, const char *name)
{
    for (int d = 0; d < box->ndim; ++d) {
        const int64_t before = box->start[d], behind = box->size[d] - box->end[d];
        if (desc->low[d] < 0 || desc->high[d] < 0)
            return core->fail(META_ERR_ARGUMENT, "argument 'desc->%s[%d]' is negative",
                              desc->low[d] < 0 ? "low" : "high", d);
        if (desc->low[d] > before || desc->high[d] > behind)
            return core->fail(
                META_ERR_BOUNDS,
                "argument 'desc->%s', dimension %d: %d and %d ghost cells "
                "are asked for at the low and the high side, but the array has %" PRId64
                " and %" PRId64 " outside the box",
                name, d, desc->low[d], desc->high[d], before, behind);
    }
    return META_OK;
}

/* Bytes of the ghosts of one side, computed in floating point so as not to overflow, where all
 * arrays are alike. */
static meta_err check_sizes(const meta_halo_desc *desc)
{
    for (int d = 0; d < desc->box.ndim; ++d) {
        double bytes =
            8.0 * desc->fields * (desc->low[d] > desc->high[d] ? desc->low[d] : desc->high[d]);
        for (int k = 0; k < desc->box.ndim; ++k)
            if (k != d) bytes *= (double)(desc->box.end[k] - desc->box.start[k]);
        if (bytes >= 0x1p60)
            return core->fail(
                META_ERR_OVERFLOW,
                "argument 'desc': %d fields with %.3g bytes for one neighbour are more "
                "than can be counted",
                desc->fields, bytes);
    }
    return META_OK;
}

static meta_err check(const halo_plan *p, const meta_halo_desc *desc)
{
    META_TRY(core->check_box(&desc->box, "desc->box"));
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
    if (desc->op != META_HALO_COPY && desc->op != META_HALO_ADD)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->op' is %d: give META_HALO_COPY or META_HALO_ADD",
                          (int)desc->op);
    if (desc->fields < 1)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->fields' is %d", desc->fields);
    return META_OK;
}

/* Along which dimensions field @p k is staggered against the plan's box. */
static meta_err find_stagger(const halo_plan *p, int k, halo_field *f, const char *name)
{
    for (int d = 0; d < p->dims; ++d) {
        const int64_t own = p->box.end[d] - p->box.start[d];
        const int64_t more = f->box.end[d] - f->box.start[d] - own;
        if (more != 0 && more != 1)
            return core->fail(META_ERR_BOUNDS,
                              "argument 'desc->%s', dimension %d: field %d has %" PRId64
                              " own cells, desc->box %" PRId64
                              ": give as many or, for a staggered array, one more",
                              name, d, k, own + more, own);
        f->stagger[d] = (int)more;
    }
    return META_OK;
}

meta_err halo_device_find(meta_device *device, halo_device *found)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    META_TRY(core->device_info(device, &desc));
    *found = (halo_device){.device = device,
                           .host = core->is_host(device),
                           .direct = comm_gpu_mpi_takes(device),
                           .pageable = !desc.is_gpu};
    return META_OK;
}

/* A device may have arithmetic for fewer types than it copies. */
meta_err halo_check_sums(const meta_device *device, meta_type type, const char *name)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    META_TRY(core->device_info(device, &desc));
    if (type > META_U32)
        return core->fail(META_ERR_TYPE,
                          "argument '%s' is %s, which META_HALO_ADD cannot add: give f64, f32, "
                          "i64, u64, i32 or u32",
                          name, comm_type_name((uint32_t)type));
    if (type == META_F64 && !desc.has_f64)
        return core->fail(
            META_ERR_TYPE,
            "argument '%s' is f64, which %s:%d cannot add: it has no double precision", name,
            desc.backend, desc.index);
    return META_OK;
}

static meta_err fill_field(halo_plan *p, const meta_halo_desc *desc, int k)
{
    char box[32] = "box", type[40] = "desc->type";
    halo_field *f = &p->field[k];
    snprintf(f->name, sizeof f->name, "fields[%d]", k);
    f->box = desc->field ? desc->field[k].box : desc->box;
    f->type = desc->field ? desc->field[k].type : desc->type;
    if (desc->field) {
        snprintf(box, sizeof box, "field[%d].box", k);
        snprintf(type, sizeof type, "desc->field[%d].type", k);
        char name[48];
        snprintf(name, sizeof name, "desc->%s", box);
        META_TRY(core->check_box(&f->box, name));
        if (f->box.ndim != p->dims)
            return core->fail(META_ERR_ARGUMENT, "argument '%s' has %d dimensions, desc->box %d",
                              name, f->box.ndim, p->dims);
    }
    META_TRY(core->check_type(f->type, &f->element));
    META_TRY(check_widths(desc, &f->box, box));
    META_TRY(find_stagger(p, k, f, box));
    if (p->op == META_HALO_ADD) META_TRY(halo_check_sums(p->home.device, f->type, type));
    f->count = 1;
    for (int d = 0; d < p->dims; ++d) f->count *= f->box.size[d];
    return META_OK;
}

static meta_err fill_fields(halo_plan *p, const meta_halo_desc *desc)
{
    p->field = calloc((size_t)p->fields, sizeof *p->field);
    if (!p->field)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d fields",
                          p->fields);
    for (int k = 0; k < p->fields; ++k) META_TRY(fill_field(p, desc, k));
    return META_OK;
}

/* ------------------------------------------------------------------ directions */

static int axes_of(const halo_link *link)
{
    return abs(link->offset[0]) + abs(link->offset[1]) + abs(link->offset[2]);
}

/* The rank that lies in @p link's direction. */
static meta_err find_peer(const halo_plan *p, halo_link *link)
{
    int extent[HALO_DIMS], periodic[HALO_DIMS], at[HALO_DIMS];
    COMM_MPI(MPI_Cart_get, (p->cart, p->dims, extent, periodic, at));
    link->peer = MPI_PROC_NULL;
    for (int d = 0; d < p->dims; ++d) {
        at[d] += link->offset[d];
        if (at[d] >= 0 && at[d] < extent[d]) continue;
        if (!periodic[d]) return META_OK;
        at[d] = (at[d] + extent[d]) % extent[d];
    }
    return comm_mpi(MPI_Cart_rank(p->cart, at, &link->peer), "MPI_Cart_rank");
}

/* The range of field @p f along @p d that lies on side @p w (0: all own elements), inside, or with
 * @p ghosts outside. Elements that two neighbours share belong to neither, but to both where ghosts
 * are added. */
static void range_of(const halo_plan *p, const halo_field *f, int d, int w, bool ghosts,
                     int64_t *start, int64_t *end)
{
    const int64_t first = f->box.start[d], last = f->box.end[d];
    const int shared = f->stagger[d], with = p->op == META_HALO_ADD ? shared : 0;
    const int64_t inside = w > 0 ? p->low[d] : p->high[d], outside = w > 0 ? p->high[d] : p->low[d];
    *start = first;
    *end = last;
    if (w > 0 && ghosts) *start = last - with, *end = last + outside;
    if (w > 0 && !ghosts) *start = last - shared - inside, *end = last - shared + with;
    if (w < 0 && ghosts) *start = first - outside, *end = first + with;
    if (w < 0 && !ghosts) *start = first + shared - with, *end = first + shared + inside;
}

int64_t halo_face(const halo_plan *p, int dir, int k, bool sent, meta_face *face)
{
    const halo_link *link = &p->link[dir];
    const halo_field *f = &p->field[k];
    const bool ghosts = sent == (p->op == META_HALO_ADD);
    int64_t stride = 1, count = 1;
    *face = (meta_face){.count = p->dims};
    for (int d = 0; d < p->dims; ++d) {
        int64_t start, end;
        range_of(p, f, d, link->offset[d], ghosts, &start, &end);
        face->start += start * stride;
        face->size[d] = end - start;
        face->stride[d] = stride;
        stride *= f->box.size[d];
        count *= face->size[d];
    }
    return count;
}

static meta_err check_thickness(const halo_plan *p, int dir)
{
    const halo_link *link = &p->link[dir];
    char name[HALO_TEXT];
    for (int d = 0; d < p->dims; ++d) {
        const int64_t own = p->box.end[d] - p->box.start[d];
        const int w = link->offset[d], sent = w > 0 ? p->low[d] : p->high[d];
        if (w == 0 || sent <= own) continue;
        halo_dir_name(p, dir, name);
        return core->fail(META_ERR_BOUNDS,
                          "argument 'desc->box', dimension %d: the box is %" PRId64
                          " cells thick, but %d are to be exchanged towards %s",
                          d, own, sent, name);
    }
    return META_OK;
}

size_t halo_message_bytes(const halo_plan *p, int dir, bool sent, int k, size_t *at)
{
    size_t bytes = 0, end = 0;
    meta_face face;
    for (int f = 0; f < p->fields; ++f) {
        const int64_t count = halo_face(p, dir, f, sent, &face);
        const size_t mine = (size_t)count * p->field[f].element;
        bytes = (end + 7) / 8 * 8;
        if (f == k && at) *at = bytes;
        if (count > 0) end = bytes + mine;
    }
    return end;
}

/* The same in floating point, which cannot overflow. */
static meta_err check_bytes(const halo_plan *p, int dir)
{
    double most = 0;
    meta_face face;
    for (int sent = 0; sent < 2; ++sent) {
        double bytes = 0;
        for (int f = 0; f < p->fields; ++f) {
            double cells = 1;
            halo_face(p, dir, f, sent, &face);
            for (int d = 0; d < p->dims; ++d) cells *= (double)face.size[d];
            bytes += cells * (double)p->field[f].element + 8;
        }
        if (bytes > most) most = bytes;
    }
    if (most < 0x1p60) return META_OK;
    return core->fail(META_ERR_OVERFLOW,
                      "argument 'desc': %d fields with %.3g bytes for one neighbour are more than "
                      "can be counted",
                      p->fields, most);
}

/* Unused directions keep their peer: plans are compared with that neighbour too. */
static bool is_used(const halo_plan *p, const halo_link *link)
{
    const int axes = axes_of(link);
    return link->peer != MPI_PROC_NULL && axes > 0 && (p->kind == META_HALO_ALL || axes == 1);
}

static meta_err fill_link(halo_plan *p, int dir)
{
    halo_link *link = &p->link[dir];
    for (int d = 0, rest = dir; d < p->dims; ++d, rest /= 3) link->offset[d] = rest % 3 - 1;
    if (axes_of(link) > 0) META_TRY(find_peer(p, link));
    link->used = is_used(p, link);
    if (!link->used) return META_OK;
    META_TRY(check_thickness(p, dir));
    META_TRY(check_bytes(p, dir));
    link->send_bytes = halo_message_bytes(p, dir, true, 0, NULL);
    link->recv_bytes = halo_message_bytes(p, dir, false, 0, NULL);
    return META_OK;
}

meta_err halo_plan_fill(halo_plan *p, const meta_halo_desc *desc)
{
    p->op = desc->op;
    META_TRY(check(p, desc));
    META_TRY(core->current_device(&p->home.device));
    META_TRY(halo_device_find(p->home.device, &p->home));
    p->box = desc->box;
    memcpy(p->low, desc->low, sizeof p->low);
    memcpy(p->high, desc->high, sizeof p->high);
    p->kind = desc->kind;
    p->fields = desc->fields;
    if (!desc->field) META_TRY(check_widths(desc, &desc->box, "box"));
    if (!desc->field) META_TRY(check_sizes(desc));
    META_TRY(fill_fields(p, desc));
    for (int dir = 0; dir < p->dirs; ++dir) META_TRY(fill_link(p, dir));
    return META_OK;
}
