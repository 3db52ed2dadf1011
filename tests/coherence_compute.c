/* SPDX-License-Identifier: BSD-3-Clause */
/** @file coherence_compute.c
 *  Steps that compute: stencils, axpy, reductions and kernels of the program's own, each with the
 *  simplest loop that gives the same bits. */
#include "config.h"

#define META_KERNELS_HERE
#include "coherence.kernel.h"

#include "coherence.h"

#include <math.h>
#include <string.h>

/* Types that are computed with: their stencils' sums are made in S, the reductions' in W. */
#define TYPES(X)                                                                                   \
    X(F64, f64, double, double, double)                                                            \
    X(F32, f32, float, float, double)                                                              \
    X(I64, i64, int64_t, uint64_t, uint64_t)                                                       \
    X(I32, i32, int32_t, uint32_t, uint32_t)

/* ------------------------------------------------------------------ oracles */

/* Points in the order in which the stencils add them, see test_stencil.c. */
typedef struct point {
    int x, y, z;
} point;
static const point cross_2d[] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, 0}, {0, 1, 0}, {1, 0, 0}};
static const point cross_3d[] = {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 0},
                                 {0, 1, 0},  {1, 0, 0},  {0, 0, 1}};
static const point plane[] = {{-1, -1, 0}, {-1, 0, 0}, {-1, 1, 0}, {0, -1, 0}, {0, 0, 0},
                              {0, 1, 0},   {1, -1, 0}, {1, 0, 0},  {1, 1, 0}};
static const struct {
    const char *name;
    const point *points;
    int count, planes;
} stencils[] = {[META_2D5P] = {"2D5P", cross_2d, 5, 1},
                [META_2D9P] = {"2D9P", plane, 9, 1},
                [META_3D7P] = {"3D7P", cross_3d, 7, 1},
                [META_3D27P] = {"3D27P", plane, 9, 3}};

typedef struct oracle {
    void (*stencil)(void *out, const void *in, const meta_box *box, meta_stencil_kind kind);
    void (*axpy)(void *y, const void *alpha, const void *x, const meta_box *box);
    void (*reduce)(void *result, const void *a, const meta_box *box, meta_op op);
    void (*dot)(void *result, const void *a, const void *b, const meta_box *box);
    /** Whether sums over the box are exact in any order: integers wrap, and floats are whole and
     * so small that also the sum of a largest buffer is. */
    bool (*is_whole)(const void *a, const meta_box *box);
    /** Whether all numbers are so small that they may grow some more. */
    bool (*is_tame)(const void *a, int64_t count);
    /* The kernels of coherence.kernel.h. */
    void (*spread)(void *next, const void *now, const meta_box *box);
    void (*mirrored)(void *u, const void *about, const meta_box *box);
    void (*scatter)(void *to, const void *from, const meta_box *box);
    void (*gather)(void *out, const void *table, int64_t count, const meta_box *box);
    void (*shifted)(void *out, const void *in, const void *by, const meta_box *box);
    /* The calls of those kernels. */
    meta_err (*run_spread)(const meta_box *box, void *next, const void *now, meta_event *done);
    meta_err (*run_mirrored)(const meta_box *box, void *u, const void *about, meta_event *done);
    meta_err (*run_scatter)(const meta_box *box, void *to, const void *from, meta_event *done);
    meta_err (*run_gather)(const meta_box *box, void *out, const void *table, int64_t count,
                           meta_event *done);
    meta_err (*run_shifted)(const meta_box *box, void *out, const void *in, const void *by,
                            meta_event *done);
    meta_err (*run_survey)(const meta_box *box, const void *in, void *total, void *most,
                           meta_event *done);
} oracle;

#define EACH_CELL(box)                                                                             \
    for (int64_t n = 0, at = 0; n < case_box_cells(box) && (at = case_box_index(box, n), true); ++n)

/* Products are rounded: a compiler must not join them to the additions. */
#define LIBRARY_ORACLE(NAME, name, T, S, W)                                                        \
    static S chain_##name(const T *cell, const point *points, int count, int64_t sy, int64_t sz)   \
    {                                                                                              \
        S sum = (S)cell[points[0].x + points[0].y * sy + points[0].z * sz];                        \
        for (int k = 1; k < count; ++k)                                                            \
            sum = sum + (S)cell[points[k].x + points[k].y * sy + points[k].z * sz];                \
        return sum;                                                                                \
    }                                                                                              \
    static void stencil_##name(void *out, const void *in, const meta_box *box,                     \
                               meta_stencil_kind kind)                                             \
    {                                                                                              \
        const int64_t sy = box->size[0], sz = sy * box->size[1];                                   \
        const point *points = stencils[kind].points;                                               \
        const int count = stencils[kind].count, planes = stencils[kind].planes;                    \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            const T *cell = (const T *)in + at - (planes == 3 ? sz : 0);                           \
            S sum = chain_##name(cell, points, count, sy, sz);                                     \
            for (int k = 1; k < planes; ++k)                                                       \
                sum = sum + chain_##name(cell + k * sz, points, count, sy, sz);                    \
            ((T *)out)[at] = (T)((T)sum / (T)(count * planes));                                    \
        }                                                                                          \
    }                                                                                              \
    static void axpy_##name(void *y, const void *alpha, const void *x, const meta_box *box)        \
    {                                                                                              \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            const volatile S product = (S)(*(const T *)alpha) * (S)((const T *)x)[at];             \
            ((T *)y)[at] = (T)((S)((T *)y)[at] + product);                                         \
        }                                                                                          \
    }                                                                                              \
    static void reduce_##name(void *result, const void *a, const meta_box *box, meta_op op)        \
    {                                                                                              \
        T least = *(const T *)case_highest_of(META_##NAME);                                        \
        T most = *(const T *)case_lowest_of(META_##NAME);                                          \
        W sum = 0;                                                                                 \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            const T x = ((const T *)a)[at];                                                        \
            sum += (W)x;                                                                           \
            if (x < least) least = x;                                                              \
            if (x > most) most = x;                                                                \
        }                                                                                          \
        if (most == 0) most = 0; /* not -0 */                                                      \
        if (least == 0) least = 0;                                                                 \
        *(T *)result = op == META_SUM ? (T)sum : op == META_MIN ? least : most;                    \
    }                                                                                              \
    static void dot_##name(void *result, const void *a, const void *b, const meta_box *box)        \
    {                                                                                              \
        W sum = 0;                                                                                 \
        EACH_CELL(box) sum += (W)((const T *)a)[at] * (W)((const T *)b)[at];                       \
        *(T *)result = (T)sum;                                                                     \
    }                                                                                              \
    static bool is_whole_##name(const void *a, const meta_box *box)                                \
    {                                                                                              \
        if (!case_is_float(META_##NAME)) return true;                                              \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            const T x = ((const T *)a)[at];                                                        \
            if (!(x >= -600 && x <= 600) || (T)(int)x != x || (x == 0 && signbit((double)x)))      \
                return false;                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }                                                                                              \
    static bool is_tame_##name(const void *a, int64_t count)                                       \
    {                                                                                              \
        for (int64_t k = 0; k < count; ++k)                                                        \
            if (!(((const T *)a)[k] >= -1000000 && ((const T *)a)[k] <= 1000000)) return false;    \
        return true;                                                                               \
    }
TYPES(LIBRARY_ORACLE)

#define KERNEL_ORACLE(NAME, name, T, S, W)                                                         \
    static void spread_cells_##name(void *next, const void *now, const meta_box *box)              \
    {                                                                                              \
        const int64_t sy = box->size[0], sz = sy * box->size[1];                                   \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            const T *u = (const T *)now + at;                                                      \
            ((T *)next)[at] = u[-1] - u[1] + u[sy] - u[-sz] + u[0];                                \
        }                                                                                          \
    }                                                                                              \
    static void mirrored_cells_##name(void *u, const void *about, const meta_box *box)             \
    {                                                                                              \
        EACH_CELL(box)((T *)u)[at] = *(const T *)about - ((T *)u)[at];                             \
    }                                                                                              \
    static void scatter_cells_##name(void *to, const void *from, const meta_box *box)              \
    {                                                                                              \
        EACH_CELL(box)                                                                             \
        {                                                                                          \
            ((S *)to)[at - 1] += (S)((const T *)from)[at];                                         \
            ((S *)to)[at + box->size[0]] += (S)((const T *)from)[at];                              \
            ((S *)to)[at] += 3;                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void gather_cells_##name(void *out, const void *table, int64_t count,                   \
                                    const meta_box *box)                                           \
    {                                                                                              \
        for (int64_t z = box->start[2]; z < box->end[2]; ++z)                                      \
            for (int64_t y = box->start[1]; y < box->end[1]; ++y)                                  \
                for (int64_t x = box->start[0]; x < box->end[0]; ++x)                              \
                    ((T *)out)[x + box->size[0] * (y + box->size[1] * z)] =                        \
                        ((const T *)table)[(x * 5 + y * 7 + z * 11) % count];                      \
    }                                                                                              \
    static void shifted_cells_##name(void *out, const void *in, const void *by,                    \
                                     const meta_box *box)                                          \
    {                                                                                              \
        EACH_CELL(box)((T *)out)[at] = ((const T *)in)[at] - *(const T *)by;                       \
    }                                                                                              \
    static meta_err run_spread_##name(const meta_box *box, void *next, const void *now,            \
                                      meta_event *done)                                            \
    {                                                                                              \
        return spread_##name(box, next, now, done);                                                \
    }                                                                                              \
    static meta_err run_mirrored_##name(const meta_box *box, void *u, const void *about,           \
                                        meta_event *done)                                          \
    {                                                                                              \
        return mirrored_##name(box, u, *(const T *)about, done);                                   \
    }                                                                                              \
    static meta_err run_scatter_##name(const meta_box *box, void *to, const void *from,            \
                                       meta_event *done)                                           \
    {                                                                                              \
        return scatter_##name(box, to, from, done);                                                \
    }                                                                                              \
    static meta_err run_gather_##name(const meta_box *box, void *out, const void *table,           \
                                      int64_t count, meta_event *done)                             \
    {                                                                                              \
        return gather_##name(box, out, table, count, done);                                        \
    }                                                                                              \
    static meta_err run_shifted_##name(const meta_box *box, void *out, const void *in,             \
                                       const void *by, meta_event *done)                           \
    {                                                                                              \
        return shifted_##name(box, out, in, by, done);                                             \
    }                                                                                              \
    static meta_err run_survey_##name(const meta_box *box, const void *in, void *total,            \
                                      void *most, meta_event *done)                                \
    {                                                                                              \
        return survey_##name(box, in, total, most, done);                                          \
    }
TYPES(KERNEL_ORACLE)

static const oracle oracles[META_TYPE_COUNT] = {
#define ROW(NAME, name, T, S, W)                                                                   \
    [META_##NAME] = {stencil_##name,      axpy_##name,           reduce_##name,                    \
                     dot_##name,          is_whole_##name,       is_tame_##name,                   \
                     spread_cells_##name, mirrored_cells_##name, scatter_cells_##name,             \
                     gather_cells_##name, shifted_cells_##name,  run_spread_##name,                \
                     run_mirrored_##name, run_scatter_##name,    run_gather_##name,                \
                     run_shifted_##name,  run_survey_##name},
    TYPES(ROW)
#undef ROW
};

/* ------------------------------------------------------------------ operands */

/* Two buffers of one type and device, and a box that fits in both. */
typedef struct operands {
    coherence_buffer *a, *b;
    const oracle *oracle;
    meta_box box;
} operands;

static bool pick_one(coherence_sequence *s, operands *o, int ndim, int reach)
{
    *o = (operands){.a = coherence_pick(s, coherence_is_arithmetic)};
    if (!o->a) return false;
    o->oracle = &oracles[o->a->type];
    return coherence_box_of(s, &o->box, o->a, NULL, ndim, reach);
}

static bool pick_two(coherence_sequence *s, operands *o, int ndim, int reach)
{
    if (!pick_one(s, o, ndim, 0)) return false;
    o->b = coherence_partner(s, o->a);
    return o->b && coherence_box_of(s, &o->box, o->a, o->b, ndim, reach);
}

/* One element that receives a result: of another buffer or of host memory. */
typedef struct place {
    coherence_transfer *transfer;
    void *address, *expected;
} place;

static bool is_used(const operands *o, const coherence_buffer *b)
{
    return b == o->a || b == o->b;
}

static place pick_place(coherence_sequence *s, const operands *o)
{
    coherence_buffer *b = coherence_partner(s, o->a);
    const size_t bytes = o->a->bytes + (o->b ? o->b->bytes : 0);
    place p = {0};
    if (b && !is_used(o, b) && bytes + b->bytes <= 2 * COHERENCE_LARGEST &&
        coherence_one_in(s, 2)) {
        const size_t at = (size_t)coherence_in(s, 0, b->cells - 1) * b->unit;
        p.address = b->device + at;
        p.expected = b->expected + at;
        coherence_log("the next result goes to %s at byte %zu", coherence_name(s, b), at);
    } else {
        p.transfer = coherence_transfer_new(s, o->a->unit);
        p.address = p.transfer->host;
        p.expected = p.transfer->expected;
    }
    return p;
}

static void leave_place(coherence_sequence *s, const place *p, coherence_ending *ending)
{
    if (p->transfer) coherence_transfer_leave(s, p->transfer, ending);
    else coherence_ending_leave(s, ending);
}

static void log_call(const coherence_sequence *s, const char *name, const operands *o,
                     const char *how)
{
    coherence_log("%s %s %s %s, %s", name, coherence_name(s, o->a),
                  o->b ? coherence_name(s, o->b) : "", case_box_text(&o->box), how);
}

/* ------------------------------------------------------------------ the library's operations */

static void stencil(coherence_sequence *s)
{
    const meta_stencil_kind kind = (meta_stencil_kind)coherence_in(s, 0, META_STENCIL_COUNT - 1);
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 1)) return;
    o.oracle->stencil(o.a->expected, o.b->expected, &o.box, kind);
    log_call(s, stencils[kind].name, &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, meta_stencil(o.a->device, o.b->device, &o.box, kind, o.a->type, NULL, ending.done));
    coherence_ending_leave(s, &ending);
}

static void axpy(coherence_sequence *s)
{
    coherence_ending ending;
    uint64_t alpha;
    operands o;
    if (!pick_two(s, &o, 3, 0) || !o.oracle->is_tame(o.a->expected, o.a->cells) ||
        !o.oracle->is_tame(o.b->expected, o.b->cells))
        return;
    if (coherence_one_in(s, 4)) o.b = o.a;
    coherence_fill(s, &alpha, 1, o.a->type);
    o.oracle->axpy(o.a->expected, &alpha, o.b->expected, &o.box);
    log_call(s, "axpy", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, meta_axpy(o.a->device, &alpha, o.b->device, &o.box, o.a->type, ending.done));
    coherence_ending_leave(s, &ending);
}

static void reduce(coherence_sequence *s)
{
    static const char *const names[] = {"reduce SUM", "reduce MIN", "reduce MAX"};
    meta_op op = (meta_op)coherence_in(s, 0, META_OP_COUNT - 1);
    coherence_ending ending;
    operands o;
    if (!pick_one(s, &o, 3, 0)) return;
    if (op == META_SUM && !o.oracle->is_whole(o.a->expected, &o.box)) op = META_MAX;
    const place p = pick_place(s, &o);
    o.oracle->reduce(p.expected, o.a->expected, &o.box, op);
    log_call(s, names[op], &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, meta_reduce(p.address, o.a->device, &o.box, op, o.a->type, ending.done));
    leave_place(s, &p, &ending);
}

/* The least of a box and of its first cell, in each of two buffers. */
static void reduce_boxes(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 0)) return;
    void *fields[] = {o.a->device, o.b->device};
    meta_box boxes[] = {o.box, o.box};
    for (int d = 0; d < 3; ++d) boxes[1].end[d] = boxes[1].start[d] + 1;
    coherence_transfer *t = coherence_transfer_new(s, 5 * o.a->unit);
    for (size_t k = 0; k < 4; ++k)
        o.oracle->reduce(t->expected + (k % 2 + k / 2 * 3) * o.a->unit,
                         k / 2 ? o.b->expected : o.a->expected, &boxes[k % 2], META_MIN);
    log_call(s, "reduce_boxes MIN", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s,
            meta_reduce_boxes(t->host, 3, 2, fields, 2, boxes, META_MIN, o.a->type, ending.done));
    /* Of several launches one may have failed that the call did not wait for: flushing says so. */
    if (s->may_fail && !ending.done) t->is_untracked = true;
    else coherence_transfer_leave(s, t, &ending);
}

static void dot(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 0) || !o.oracle->is_whole(o.a->expected, &o.box) ||
        !o.oracle->is_whole(o.b->expected, &o.box))
        return;
    const place p = pick_place(s, &o);
    o.oracle->dot(p.expected, o.a->expected, o.b->expected, &o.box);
    log_call(s, "dot", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, meta_dot(p.address, o.a->device, o.b->device, &o.box, o.a->type, ending.done));
    leave_place(s, &p, &ending);
}

/* ------------------------------------------------------------------ kernels of one's own */

static void run_spread(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 1) || !o.oracle->is_tame(o.b->expected, o.b->cells)) return;
    o.oracle->spread(o.a->expected, o.b->expected, &o.box);
    log_call(s, "spread", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, o.oracle->run_spread(&o.box, o.a->device, o.b->device, ending.done));
    coherence_ending_leave(s, &ending);
}

static void run_mirrored(coherence_sequence *s)
{
    coherence_ending ending;
    uint64_t about;
    operands o;
    if (!pick_one(s, &o, 3, 0) || !o.oracle->is_tame(o.a->expected, o.a->cells)) return;
    coherence_fill(s, &about, 1, o.a->type);
    o.oracle->mirrored(o.a->expected, &about, &o.box);
    log_call(s, "mirrored", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, o.oracle->run_mirrored(&o.box, o.a->device, &about, ending.done));
    coherence_ending_leave(s, &ending);
}

/* The order of additions is not known, so the numbers are whole. */
static void run_scatter(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 1)) return;
    const meta_box all = {1, {o.a->cells}, {0}, {o.a->cells}};
    if (!o.oracle->is_whole(o.a->expected, &all) || !o.oracle->is_whole(o.b->expected, &o.box))
        return;
    o.oracle->scatter(o.a->expected, o.b->expected, &o.box);
    log_call(s, "scatter", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, o.oracle->run_scatter(&o.box, o.a->device, o.b->device, ending.done));
    coherence_ending_leave(s, &ending);
}

static void run_gather(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 0)) return;
    const int64_t count = coherence_size(s, o.b->cells);
    o.oracle->gather(o.a->expected, o.b->expected, count, &o.box);
    log_call(s, "gather", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, o.oracle->run_gather(&o.box, o.a->device, o.b->device, count, ending.done));
    coherence_ending_leave(s, &ending);
}

static void run_shifted(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_two(s, &o, 3, 0) || !o.oracle->is_tame(o.b->expected, o.b->cells)) return;
    const coherence_buffer *by = coherence_partner(s, o.a);
    if (is_used(&o, by) || !o.oracle->is_tame(by->expected, by->cells) ||
        o.a->bytes + o.b->bytes + by->bytes > 2 * COHERENCE_LARGEST)
        return;
    const size_t at = (size_t)coherence_in(s, 0, by->cells - 1) * by->unit;
    o.oracle->shifted(o.a->expected, o.b->expected, by->expected + at, &o.box);
    coherence_log("the next scalar is in %s at byte %zu", coherence_name(s, by), at);
    log_call(s, "shifted", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s,
            o.oracle->run_shifted(&o.box, o.a->device, o.b->device, by->device + at, ending.done));
    coherence_ending_leave(s, &ending);
}

/* The sum goes to any place, the maximum beside it on the host. */
static void run_survey(coherence_sequence *s)
{
    coherence_ending ending;
    operands o;
    if (!pick_one(s, &o, 3, 0) || !o.oracle->is_whole(o.a->expected, &o.box)) return;
    const place p = pick_place(s, &o);
    uint64_t most = 0, expected = 0;
    o.oracle->reduce(p.expected, o.a->expected, &o.box, META_SUM);
    o.oracle->reduce(&expected, o.a->expected, &o.box, META_MAX);
    log_call(s, "survey", &o, coherence_ending_pick(s, &ending));
    CALL_OK(s, o.oracle->run_survey(&o.box, o.a->device, p.address, &most, ending.done));
    if (ending.done == &ending.event) CALL_OK(s, meta_event_wait(ending.event));
    if (ending.done == META_ASYNC) CALL_OK(s, meta_flush());
    if (!s->has_failed) CHECK_U64(most, expected);
    leave_place(s, &p, &ending);
}

const coherence_step coherence_compute_steps[] = {{"stencil", 10, stencil},
                                                  {"axpy", 5, axpy},
                                                  {"reduce", 5, reduce},
                                                  {"reduce_boxes", 2, reduce_boxes},
                                                  {"dot", 3, dot},
                                                  {"spread", 5, run_spread},
                                                  {"mirrored", 5, run_mirrored},
                                                  {"scatter", 4, run_scatter},
                                                  {"gather", 4, run_gather},
                                                  {"shifted", 4, run_shifted},
                                                  {"survey", 3, run_survey},
                                                  {NULL, 0, NULL}};
