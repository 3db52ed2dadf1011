/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.c
 *  Stencils, alone and with sums of boxes of their input. */
#include "ops/ops.h"

/* How many sums are queued with a stencil; more of them are queued before it. */
enum { TOGETHER = 8 };

static const meta_kernel_id plain[META_STENCIL_COUNT] = {[META_2D5P] = META_KERNEL_STENCIL_2D5P,
                                                         [META_2D9P] = META_KERNEL_STENCIL_2D9P,
                                                         [META_3D7P] = META_KERNEL_STENCIL_3D7P,
                                                         [META_3D27P] = META_KERNEL_STENCIL_3D27P};
static const meta_kernel_id with_sum[META_STENCIL_COUNT] = {
    [META_2D5P] = META_KERNEL_STENCIL_2D5P_SUM,
    [META_2D9P] = META_KERNEL_STENCIL_2D9P_SUM,
    [META_3D7P] = META_KERNEL_STENCIL_3D7P_SUM,
    [META_3D27P] = META_KERNEL_STENCIL_3D27P_SUM};

static meta_err check_stencil(const meta_box *box, meta_stencil_kind kind, meta_type type)
{
    size_t bytes;
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    if ((int)kind < 0 || kind >= META_STENCIL_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kind' is %d, which is no stencil",
                         (int)kind);
    return META_OK;
}

/* Of a box that is not empty, whose @p cells are set. */
static meta_err set_stencil(meta_builtin *b, void *out, const void *in, const meta_box *box,
                            meta_stencil_kind kind, meta_type type, void *sum, meta_face *cells)
{
    meta_face_of_box(cells, box);
    meta_operation_begin(b, sum ? with_sum[kind] : plain[kind], type, cells);
    META_TRY(meta_operand_set_array(&b->op, 0, out, box, 0, "out"));
    META_TRY(meta_operand_set_array(&b->op, 1, in, box, 0, "in"));
    return sum ? meta_operation_result(&b->op, sum, "sum") : META_OK;
}

static meta_err run_stencil(void *out, const void *in, const meta_box *box, meta_stencil_kind kind,
                            meta_type type, void *sum, meta_event *done)
{
    meta_builtin b;
    meta_face cells;
    if (meta_box_empty(box)) {
        if (sum) return meta_result_of_nothing(sum, "sum", META_SUM, type, done);
        return meta_submit_nothing(done);
    }
    META_TRY(set_stencil(&b, out, in, box, kind, type, sum, &cells));
    if (!sum) return meta_run(&b.op, done);
    return meta_run_stencil_sum(&b, plain[kind], &cells, done);
}

meta_err meta_stencil(void *out, const void *in, const meta_box *box, meta_stencil_kind kind,
                      meta_type type, void *sum, meta_event *done)
{
    META_ENTER();
    META_TRY(check_stencil(box, kind, type));
    return run_stencil(out, in, box, kind, type, sum, done);
}

/* ------------------------------------------------------------------ with sums of boxes */

/* Validate the sums, so that none is queued before another one or the stencil fails. @p stencil is
 * NULL if its box is empty. */
static meta_err check_sums(const meta_operation *stencil, const void *in, meta_type type,
                           void *sums, int boxes, const meta_box *part)
{
    const size_t bytes = meta_element_bytes((uint32_t)type);
    meta_span to, from;
    int on_device;
    if (boxes < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument 'boxes' is %d: give 0 or more", boxes);
    if (boxes == 0) return META_OK;
    META_NEED(part);
    META_TRY(meta_resolve_any(sums, boxes, type, "sums", &on_device, &to));
    for (int k = 0; k < boxes; ++k) {
        META_TRY(meta_box_check_element(part, k, "part"));
        META_TRY(meta_resolve_array(in, &part[k], type, "in", &from, NULL));
        if (on_device) META_TRY(meta_same_device(&to, "sums", &from, "in"));
    }
    for (uint32_t k = 0; on_device && stencil && k < stencil->call.desc->operands; ++k) {
        const meta_operand *cells = &stencil->operand[k];
        META_TRY(meta_no_overlap(&to, 0, boxes - 1, "sums", bytes, &cells->span, cells->low,
                                 cells->high, cells->name, bytes));
    }
    return META_OK;
}

/* Queue sum @p k on its own: of an empty box, a reproducible one, or one too many. */
static meta_err sum_apart(const void *in, meta_type type, void *sums, int k, const meta_box *part,
                          meta_pieces *pieces)
{
    char *sum = (char *)sums + k * (int64_t)meta_element_bytes((uint32_t)type);
    return meta_piece_queued(
        pieces, meta_reduce(sum, in, &part[k], META_SUM, type, meta_piece(pieces, false)));
}

/* Those of a stencil without cells. */
static meta_err sums_alone(const void *in, meta_type type, void *sum, void *sums, int boxes,
                           const meta_box *part, meta_event *done)
{
    void *const field = (void *)(uintptr_t)in;
    if (sum) META_TRY(meta_result_of_nothing(sum, "sum", META_SUM, type, NULL));
    return meta_reduce_boxes(sums, boxes, 1, &field, boxes, part, META_SUM, type, done);
}

static meta_err set_sum(meta_builtin *b, const void *in, meta_type type, void *sums, int k,
                        const meta_box *part)
{
    char *sum = (char *)sums + k * (int64_t)meta_element_bytes((uint32_t)type);
    meta_face cells;
    meta_face_of_box(&cells, &part[k]);
    meta_operation_begin(b, META_KERNEL_REDUCE_SUM, type, &cells);
    META_TRY(meta_operand_set_array(&b->op, 0, in, &part[k], 0, "in"));
    META_TRY(meta_operation_result(&b->op, sum, "sums"));
    return meta_run_check(&b->op);
}

meta_err meta_stencil_sums(void *out, const void *in, const meta_box *box, meta_stencil_kind kind,
                           meta_type type, void *sum, void *sums, int boxes, const meta_box *part,
                           meta_event *done)
{
    meta_builtin ops[1 + TOGETHER];
    meta_face cells;
    meta_pieces pieces;
    bool apart = false;
    size_t count = 1;
    META_ENTER();
    META_TRY(check_stencil(box, kind, type));
    const bool empty = meta_box_empty(box);
    if (!empty) {
        META_TRY(set_stencil(&ops[0], out, in, box, kind, type, sum, &cells));
        META_TRY(meta_run_check(&ops[0].op));
        META_TRY(meta_exact_wanted(ops[0].op.device, (uint32_t)type, &apart));
    }
    META_TRY(check_sums(empty ? NULL : &ops[0].op, in, type, sums, boxes, part));
    if (boxes == 0) return run_stencil(out, in, box, kind, type, sum, done);
    if (empty) return sums_alone(in, type, sum, sums, boxes, part, done);
    meta_pieces_begin(&pieces, ops[0].op.device, done);
    meta_err error = META_OK;
    for (int k = 0; k < boxes && error == META_OK; ++k)
        if (apart || count > TOGETHER || meta_box_empty(&part[k]))
            error = sum_apart(in, type, sums, k, part, &pieces);
        else error = set_sum(&ops[count++], in, type, sums, k, part);
    if (error == META_OK) {
        meta_event *last = meta_piece(&pieces, true);
        error =
            meta_piece_queued(&pieces, count == 1 ? run_stencil(out, in, box, kind, type, sum, last)
                                                  : meta_run_all(ops, count, last));
    }
    return error == META_OK ? meta_pieces_end(&pieces) : meta_pieces_drop(&pieces, error);
}
