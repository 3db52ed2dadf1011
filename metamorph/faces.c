/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.c
 *  Faces, whose levels MetaMorph counts from the slowest; packing, unpacking and transposing. */
#include "inside.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ faces */

/* A face with room for @p count levels. */
static metamorph_face *new_face(const char *function, int count)
{
    metamorph_face *face = malloc(sizeof *face);
    int *levels = calloc(2, (size_t)count * sizeof *levels);
    if (!face || !levels) {
        free(face);
        free(levels);
        metamorph_refuse(function, "no memory for a face");
        return NULL;
    }
    *face = (metamorph_face){0, count, levels, levels + count};
    return face;
}

metamorph_face *metamorph_get_face(int s, int c, int *si, int *st)
{
    if (!si || !st || c < 1 || c > METAMORPH_FACE_MAX_DEPTH) {
        metamorph_refuse("meta_get_face",
                         !si || !st ? "si or st is NULL: give c sizes and c strides"
                                    : "c is %d: a face has 1 to %d levels",
                         c, METAMORPH_FACE_MAX_DEPTH);
        return NULL;
    }
    metamorph_face *face = new_face("meta_get_face", c);
    if (!face) return NULL;
    face->start = s;
    memcpy(face->size, si, (size_t)c * sizeof *si);
    memcpy(face->stride, st, (size_t)c * sizeof *st);
    return face;
}

void metamorph_free_face(metamorph_face *face)
{
    if (!face) return;
    free(face->size); /* and the strides */
    free(face);
}

metamorph_face *metamorph_make_slab_from_3d(int face, int ni, int nj, int nk, int thickness)
{
    static const char function[] = "make_slab_from_3d";
    const int size[3] = {nk, nj, ni};
    if (face < 0 || face > 5) {
        metamorph_refuse(
            function, "face is %d: 0 and 1 are the sides of z, 2 and 3 of x, 4 and 5 of y", face);
        return NULL;
    }
    const int level = face < 2 ? 0 : face < 4 ? 2 : 1;
    if (ni < 1 || nj < 1 || nk < 1 || (int64_t)ni * nj > INT_MAX / nk) {
        metamorph_refuse(function,
                         "an array of %d × %d × %d has no cells, or more than an int counts", ni,
                         nj, nk);
        return NULL;
    }
    if (thickness < 1 || thickness > size[level]) {
        metamorph_refuse(function, "thickness is %d, but the array has %d cells there", thickness,
                         size[level]);
        return NULL;
    }
    metamorph_face *slab = new_face(function, 3);
    if (!slab) return NULL;
    memcpy(slab->size, size, sizeof size);
    memcpy(slab->stride, (const int[3]){ni * nj, ni, 1}, sizeof size);
    slab->size[level] = thickness;
    if (face & 1) slab->start = slab->stride[level] * (size[level] - thickness);
    return slab;
}

metamorph_err metamorph_face_of(const char *function, const metamorph_face *face, meta_face *same)
{
    int64_t size[META_MAX_DIM], stride[META_MAX_DIM];
    if (!face || !face->size || !face->stride)
        return metamorph_refuse(function,
                                face ? "face->size or face->stride is NULL" : "face is NULL");
    if (face->count < 1 || face->count > METAMORPH_FACE_MAX_DEPTH)
        return metamorph_refuse(function, "face->count is %d: a face has 1 to %d levels",
                                face->count, METAMORPH_FACE_MAX_DEPTH);
    for (int k = 0; k < face->count; ++k) {
        size[k] = face->size[face->count - 1 - k];
        stride[k] = face->stride[face->count - 1 - k];
    }
    return metamorph_report(function, meta_face_make(same, face->start, face->count, size, stride));
}

/* ------------------------------------------------------------------ moves */

/* What MetaMorph wrote of a face to the device, which is no work here. */
static void complete(metamorph_event *event)
{
    metamorph_queued none = {META_EVENT_NULL, NULL};
    if (event) metamorph_end("", META_OK, &none, NULL, event);
}

/* Pack the face of @p buf, or unpack into it. */
static metamorph_err move_face(const char *function, bool is_packed, void *packed_buf, void *buf,
                               const metamorph_face *face, meta_type_id type, bool async,
                               meta_callback *call, metamorph_event *ret_event_k1,
                               metamorph_event *const copied[3])
{
    metamorph_queued queued;
    meta_face same;
    meta_type as;
    metamorph_err err = metamorph_face_of(function, face, &same);
    if (err || (err = metamorph_type_of(function, type, &as))) return err;
    for (int k = 0; k < 3; ++k) complete(copied[k]);
    metamorph_begin(&queued, async, call, ret_event_k1);
    const meta_err moved = is_packed ? meta_unpack_face(buf, packed_buf, &same, as, queued.done)
                                     : meta_pack_face(packed_buf, buf, &same, as, queued.done);
    return metamorph_end(function, moved, &queued, call, ret_event_k1);
}

metamorph_err metamorph_pack_face(meta_dim3 *grid_size, meta_dim3 *block_size, void *packed_buf,
                                  void *buf, metamorph_face *face, meta_type_id type,
                                  meta_bool async, meta_callback *call,
                                  metamorph_event *ret_event_k1, metamorph_event *ret_event_c1,
                                  metamorph_event *ret_event_c2, metamorph_event *ret_event_c3)
{
    metamorph_event *const copied[3] = {ret_event_c1, ret_event_c2, ret_event_c3};
    (void)grid_size;
    (void)block_size;
    return move_face("meta_pack_face", false, packed_buf, buf, face, type, async, call,
                     ret_event_k1, copied);
}

metamorph_err metamorph_unpack_face(meta_dim3 *grid_size, meta_dim3 *block_size, void *packed_buf,
                                    void *buf, metamorph_face *face, meta_type_id type,
                                    meta_bool async, meta_callback *call,
                                    metamorph_event *ret_event_k1, metamorph_event *ret_event_c1,
                                    metamorph_event *ret_event_c2, metamorph_event *ret_event_c3)
{
    metamorph_event *const copied[3] = {ret_event_c1, ret_event_c2, ret_event_c3};
    (void)grid_size;
    (void)block_size;
    return move_face("meta_unpack_face", true, packed_buf, buf, face, type, async, call,
                     ret_event_k1, copied);
}

/* Transpose @p part of an array whose other extent is larger: by way of a packed copy. */
static meta_err transpose_part(void *out, const void *in, const int64_t array[2],
                               const int64_t part[2], meta_type type, meta_event *done)
{
    meta_face from, to;
    void *packed = NULL;
    size_t bytes;
    meta_err err = meta_type_size(type, &bytes);
    const int64_t rows[2] = {part[1], part[0]};
    if (err == META_OK) err = meta_face_make(&from, 0, 2, rows, (const int64_t[2]){array[0], 1});
    if (err == META_OK) err = meta_face_make(&to, 0, 2, rows, (const int64_t[2]){1, array[1]});
    if (err == META_OK) err = meta_alloc(&packed, (size_t)(part[0] * part[1]) * bytes);
    if (err == META_OK) err = meta_pack_face(packed, in, &from, type, META_ASYNC);
    if (err == META_OK) err = meta_unpack_face(out, packed, &to, type, done);
    const meta_err freed = packed ? meta_free(packed) : META_OK;
    return err != META_OK ? err : freed;
}

metamorph_err metamorph_transpose_face(meta_dim3 *grid_size, meta_dim3 *block_size, void *indata,
                                       void *outdata, meta_dim3 *arr_dim_xy, meta_dim3 *tran_dim_xy,
                                       meta_type_id type, meta_bool async, meta_callback *call,
                                       metamorph_event *ret_event)
{
    static const char function[] = "meta_transpose_face";
    metamorph_queued queued;
    meta_type as;
    (void)grid_size;
    (void)block_size;
    if (!arr_dim_xy || !tran_dim_xy)
        return metamorph_refuse(function, "%s is NULL", arr_dim_xy ? "tran_dim_xy" : "arr_dim_xy");
    for (int d = 0; d < 2; ++d)
        if ((*tran_dim_xy)[d] < 1 || (*tran_dim_xy)[d] > (*arr_dim_xy)[d] ||
            (*arr_dim_xy)[d] > INT_MAX)
            return metamorph_refuse(
                function,
                "tran_dim_xy[%d] is %zu and arr_dim_xy[%d] is %zu: the part that is "
                "transposed has 1 cell to all of the array's",
                d, (*tran_dim_xy)[d], d, (*arr_dim_xy)[d]);
    if (metamorph_type_of(function, type, &as)) return -1;
    const int64_t array[2] = {(int64_t)(*arr_dim_xy)[0], (int64_t)(*arr_dim_xy)[1]};
    const int64_t part[2] = {(int64_t)(*tran_dim_xy)[0], (int64_t)(*tran_dim_xy)[1]};
    meta_err err;
    metamorph_begin(&queued, async, call, ret_event);
    if (part[0] == array[0] && part[1] == array[1])
        err = meta_transpose_face(outdata, indata, array, as, queued.done);
    else err = transpose_part(outdata, indata, array, part, as, queued.done);
    return metamorph_end(function, err, &queued, call, ret_event);
}
