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

/* Which dimensions of @p box, argument @p name, are the communicator's. */
static meta_err find_axes(const halo_plan *p, const meta_box *box, uint32_t batch, const char *name,
                          int axis[HALO_DIMS])
{
    int found = 0;
    if (box->ndim < p->dims)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->%s' has %d dimensions, the Cartesian "
                          "communicator %d",
                          name, box->ndim, p->dims);
    if (box->ndim == p->dims) batch = 0;
    if (batch >> box->ndim)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->batch' is 0x%x, but 'desc->%s' has %d dimensions: give "
                          "bits 0 to %d",
                          batch, name, box->ndim, box->ndim - 1);
    for (int b = 0; b < box->ndim && found < p->dims; ++b)
        if (!(batch >> b & 1)) axis[found++] = b;
    if (found == p->dims) return META_OK;
    return core->fail(META_ERR_ARGUMENT,
                      "argument 'desc->batch' leaves %d of the %d dimensions of 'desc->%s' for the "
                      "Cartesian communicator's %d",
                      found, box->ndim, name, p->dims);
}

/* The communicator's dimension that dimension @p b of a box is, or -1 for a batch. */
static int dimension_of(const halo_plan *p, const int axis[HALO_DIMS], int b)
{
    for (int d = 0; d < p->dims; ++d)
        if (axis[d] == b) return d;
    return -1;
}

/* The ghosts' widths, which are those of the box's dimensions. */
static meta_err take_widths(halo_plan *p, const meta_halo_desc *desc)
{
    for (int b = 0; b < desc->box.ndim; ++b) {
        const int d = dimension_of(p, p->axis, b);
        if (desc->low[b] < 0 || desc->high[b] < 0)
            return core->fail(META_ERR_ARGUMENT, "argument 'desc->%s[%d]' is negative",
                              desc->low[b] < 0 ? "low" : "high", b);
        if (d < 0 && (desc->low[b] > 0 || desc->high[b] > 0))
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'desc->%s[%d]' is %d, but the Cartesian communicator has "
                              "%d dimensions, and dimension %d of the box is a batch, which has no "
                              "ghost cells: set desc->low[%d] and desc->high[%d] to 0, or "
                              "desc->batch to the dimensions that are a batch",
                              desc->low[b] > 0 ? "low" : "high", b,
                              desc->low[b] > 0 ? desc->low[b] : desc->high[b], p->dims, b, b, b);
        if (d >= 0) p->low[d] = desc->low[b], p->high[d] = desc->high[b];
    }
    return META_OK;
}

static meta_err check_widths(const halo_plan *p, const meta_box *box, const int axis[HALO_DIMS],
                             const char *name)
{
    for (int d = 0; d < p->dims; ++d) {
        const int b = axis[d];
        const int64_t before = box->start[b], behind = box->size[b] - box->end[b];
        if (p->low[d] > before || p->high[d] > behind)
            return core->fail(
                META_ERR_BOUNDS,
                "argument 'desc->%s', dimension %d: %d and %d ghost cells "
                "are asked for at the low and the high side, but the array has %" PRId64
                " and %" PRId64 " outside the box",
                name, b, p->low[d], p->high[d], before, behind);
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

static meta_err check(halo_plan *p, const meta_halo_desc *desc)
{
    META_TRY(core->check_box(&desc->box, "desc->box"));
    META_TRY(find_axes(p, &desc->box, desc->batch, "box", p->axis));
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

/* This rank's own cells along a dimension of the communicator's. */
static int64_t own_of(const halo_plan *p, int d)
{
    return p->box.end[p->axis[d]] - p->box.start[p->axis[d]];
}

/* Along which dimensions field @p k is staggered against the plan's box. */
static meta_err find_stagger(const halo_plan *p, int k, halo_field *f, const char *name)
{
    for (int d = 0; d < p->dims; ++d) {
        const int b = f->axis[d];
        const int64_t own = own_of(p, d), more = f->box.end[b] - f->box.start[b] - own;
        if (more != 0 && more != 1)
            return core->fail(META_ERR_BOUNDS,
                              "argument 'desc->%s', dimension %d: field %d has %" PRId64
                              " own cells, desc->box %" PRId64
                              ": give as many or, for a staggered array, one more",
                              name, b, k, own + more, own);
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
    }
    META_TRY(find_axes(p, &f->box, desc->batch, box, f->axis));
    META_TRY(core->check_type(f->type, type, &f->element));
    META_TRY(check_widths(p, &f->box, f->axis, box));
    META_TRY(find_stagger(p, k, f, box));
    if (p->op == META_HALO_ADD) META_TRY(halo_check_sums(p->home.device, f->type, type));
    f->count = 1;
    for (int b = 0; b < f->box.ndim; ++b) f->count *= f->box.size[b];
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
    COMM_MPI(MPI_Cart_get, (p->place.comm, p->dims, extent, periodic, at));
    link->peer = MPI_PROC_NULL;
    for (int d = 0; d < p->dims; ++d) {
        at[d] += link->offset[d];
        if (at[d] >= 0 && at[d] < extent[d]) continue;
        if (!periodic[d]) return META_OK;
        at[d] = (at[d] + extent[d]) % extent[d];
    }
    return comm_mpi(MPI_Cart_rank(p->place.comm, at, &link->peer), "MPI_Cart_rank");
}

/* The range of field @p f along @p d that lies on side @p w (0: all own elements), inside, or with
 * @p ghosts outside. Elements that two neighbours share belong to neither, but to both where ghosts
 * are added. */
static void range_of(const halo_plan *p, const halo_field *f, int d, int w, bool ghosts,
                     int64_t *start, int64_t *end)
{
    const int64_t first = f->box.start[f->axis[d]], last = f->box.end[f->axis[d]];
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
    *face = (meta_face){.count = f->box.ndim};
    for (int b = 0; b < f->box.ndim; ++b) {
        const int d = dimension_of(p, f->axis, b);
        int64_t start = f->box.start[b], end = f->box.end[b];
        if (d >= 0) range_of(p, f, d, link->offset[d], ghosts, &start, &end);
        face->start += start * stride;
        face->size[b] = end - start;
        face->stride[b] = stride;
        stride *= f->box.size[b];
        count *= face->size[b];
    }
    return count;
}

static meta_err check_thickness(const halo_plan *p, int dir)
{
    const halo_link *link = &p->link[dir];
    char name[HALO_TEXT];
    for (int d = 0; d < p->dims; ++d) {
        const int64_t own = own_of(p, d);
        const int w = link->offset[d], sent = w > 0 ? p->low[d] : p->high[d];
        if (w == 0 || sent <= own) continue;
        halo_dir_name(p, dir, name);
        return core->fail(META_ERR_BOUNDS,
                          "argument 'desc->box', dimension %d: the box is %" PRId64
                          " cells thick, but %d are to be exchanged towards %s",
                          p->axis[d], own, sent, name);
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
            for (int b = 0; b < face.count; ++b) cells *= (double)face.size[b];
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
    META_TRY(take_widths(p, desc));
    p->kind = desc->kind;
    p->fields = desc->fields;
    if (!desc->field) META_TRY(check_widths(p, &desc->box, p->axis, "box"));
    if (!desc->field) META_TRY(check_sizes(desc));
    META_TRY(fill_fields(p, desc));
    for (int dir = 0; dir < p->dirs; ++dir) META_TRY(fill_link(p, dir));
    return META_OK;
}
