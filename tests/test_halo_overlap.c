/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_overlap.c
 *  meta_halo_overlap(): its boxes partition the owned cells, and the interior needs no ghost
 *  cells; a stencil through it is bitwise the same as an exchange followed by the stencil; an
 *  error in the application's work is returned without affecting the exchange. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm */
#include "test_mpi.h"

#include <stdlib.h>
#include <string.h>

#include "halo_cases.h"

/* ------------------------------------------------------------------ boxes */

/* What was asked of the application's functions in one call. */
typedef struct record {
    meta_box own; /* the plan's */
    int interiors, boundaries;
    meta_box inner, outer[6];
    unsigned char *visits; /* of each element of the array */
} record;

static int64_t elements_of(const meta_box *box)
{
    int64_t count = 1;
    for (int d = 0; d < box->ndim; ++d) count *= box->size[d];
    return count;
}

static bool has(const meta_box *box, const int64_t i[META_MAX_DIM])
{
    for (int d = 0; d < box->ndim; ++d)
        if (i[d] < box->start[d] || i[d] >= box->end[d]) return false;
    return true;
}

static void visit(record *r, const meta_box *box)
{
    CHECK_INT(box->ndim, r->own.ndim);
    for (int d = 0; d < r->own.ndim; ++d) {
        CHECK_INT(box->size[d], r->own.size[d]);
        CHECK(box->start[d] < box->end[d]);
    }
    for (int64_t k = 0; k < elements_of(&r->own); ++k) {
        int64_t i[META_MAX_DIM] = {0}, rest = k;
        for (int d = 0; d < r->own.ndim; ++d) i[d] = rest % r->own.size[d], rest /= r->own.size[d];
        r->visits[k] = (unsigned char)(r->visits[k] + has(box, i));
    }
}

static meta_err note_interior(const meta_box *box, void *with)
{
    record *r = with;
    CHECK_INT(r->boundaries, 0);
    ++r->interiors;
    r->inner = *box;
    visit(r, box);
    return META_OK;
}

static meta_err note_boundary(const meta_box *box, void *with)
{
    record *r = with;
    if (!CHECK(r->boundaries < 6)) return META_OK;
    r->outer[r->boundaries++] = *box;
    visit(r, box);
    return META_OK;
}

/* Each own cell once, others never. */
static void check_cover(const record *r)
{
    int64_t wrong = 0;
    for (int64_t k = 0; k < elements_of(&r->own); ++k) {
        int64_t i[META_MAX_DIM] = {0}, rest = k;
        for (int d = 0; d < r->own.ndim; ++d) i[d] = rest % r->own.size[d], rest /= r->own.size[d];
        wrong += r->visits[k] != has(&r->own, i);
    }
    CHECK_INT(wrong, 0);
}

static bool has_neighbour(const halo_case *c, int d, int side)
{
    const int to = c->at[d] + side;
    return c->wraps[d] || (to >= 0 && to < c->extent[d]);
}

/* The own cells without those nearer to a neighbour than the ghosts on that side are wide. */
static void check_interior(const halo_case *c, const record *r)
{
    meta_box inner = r->own;
    bool empty = false;
    for (int d = 0; d < c->wish.dims; ++d) {
        const int b = c->array[0].axis[d];
        if (has_neighbour(c, d, -1)) inner.start[b] += c->low[d];
        if (has_neighbour(c, d, 1)) inner.end[b] -= c->high[d];
        empty |= inner.start[b] >= inner.end[b];
    }
    CHECK_INT(r->interiors, empty ? 0 : 1);
    for (int d = 0; d < inner.ndim && !empty && r->interiors == 1; ++d) {
        CHECK_INT(r->inner.start[d], inner.start[d]);
        CHECK_INT(r->inner.end[d], inner.end[d]);
    }
}

/* No interior cell is one that a neighbour adds to, in any of the arrays. */
static void check_untouched(const halo_case *c, const record *r)
{
    for (int d = 0; d < c->wish.dims && r->interiors > 0; ++d) {
        const int b = c->array[0].axis[d];
        int shared = 0;
        for (int f = 0; f < c->wish.fields; ++f) shared |= c->array[f].stagger[d];
        if (has_neighbour(c, d, -1))
            CHECK(r->inner.start[b] >= r->own.start[b] + c->high[d] + shared);
        if (has_neighbour(c, d, 1)) CHECK(r->inner.end[b] <= r->own.end[b] - c->low[d]);
    }
}

/* How a call ends: at once, in the background, or with an event. */
static meta_err overlap(halo_case *c, meta_halo plan, meta_halo_work *interior,
                        meta_halo_work *boundary, void *with, int way)
{
    const meta_event untouched = {0x5eed, 0xfeed};
    meta_event done = untouched;
    meta_err error;
    if (way < 2)
        return meta_halo_overlap(plan, c->fields, interior, boundary, with,
                                 way ? META_ASYNC : NULL);
    error = meta_halo_overlap(plan, c->fields, interior, boundary, with, &done);
    if (error != META_OK) {
        CHECK(memcmp(&done, &untouched, sizeof done) == 0); /* it gives an event or an error */
        return error;
    }
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    return error;
}

static void run_boxes(halo_case *c)
{
    meta_halo plan;
    if (!CHECK_OK(meta_halo_create(&plan, &c->desc))) return;
    for (int step = 0; step < 3; ++step) {
        record r = {.own = c->desc.box};
        r.visits = calloc((size_t)elements_of(&r.own), 1);
        halo_case_initial(c, step);
        halo_case_expected(c, step);
        halo_case_upload(c);
        CHECK_OK(overlap(c, plan, note_interior, note_boundary, &r, step));
        halo_case_check(c);
        check_cover(&r);
        if (c->wish.op == META_HALO_COPY) check_interior(c, &r);
        else check_untouched(c, &r);
        free(r.visits);
    }
    CHECK_OK(meta_halo_free(&plan));
}

static void boxes_cover_the_own_cells_once_and_the_interior_sees_no_ghost(void)
{
    const int64_t cases = test_count(20, 1500);
    for (int64_t k = 0; k < cases && !halo_broken_anywhere(); ++k) {
        halo_wish wish = halo_wish_random();
        halo_case c;
        if (test_random() % 3 == 0) wish.thick = 1; /* there is often no interior then */
        if (halo_case_make(&c, &wish, "boxes", k)) run_boxes(&c);
        halo_case_free(&c);
    }
}

/* ------------------------------------------------------------------ a stencil */

typedef struct smoothing {
    void *in, *out;
    meta_stencil_kind kind;
    meta_type type;
} smoothing;

static meta_err smooth(const meta_box *box, void *with)
{
    const smoothing *s = with;
    return meta_stencil(s->out, s->in, box, s->kind, s->type, NULL, META_ASYNC);
}

/* Any finite numbers of this rank's own. */
static void fill(void *array, int64_t count, meta_type type)
{
    uint64_t seed = (uint64_t)test_rank + 5;
    double *f64 = array;
    float *f32 = array;
    for (int64_t k = 0; k < count; ++k) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double x = (double)(seed >> 11) * 0x1p-53;
        if (type == META_F64) f64[k] = x;
        else f32[k] = (float)x;
    }
}

/* A few steps from one array into the other and back, into c's array in the end. */
static void take_steps(halo_case *c, meta_halo plan, void *other, meta_stencil_kind kind,
                       bool beside)
{
    void *array[2] = {c->fields[0], other};
    for (int step = 0; step < 4; ++step) {
        smoothing s = {array[step % 2], array[(step + 1) % 2], kind, c->array[0].type};
        if (beside) {
            CHECK_OK(meta_halo_overlap(plan, &s.in, smooth, smooth, &s, META_ASYNC));
        } else {
            CHECK_OK(meta_halo_exchange(plan, &s.in, NULL));
            CHECK_OK(smooth(&c->desc.box, &s));
            CHECK_OK(meta_flush());
        }
    }
    CHECK_OK(meta_flush());
}

static void run_stencil(halo_case *c)
{
    halo_array *a = &c->array[0];
    const size_t bytes = (size_t)a->count * a->element;
    const meta_stencil_kind faces = c->wish.dims == 2 ? META_2D5P : META_3D7P,
                            all = c->wish.dims == 2 ? META_2D9P : META_3D27P;
    const meta_stencil_kind kind = c->wish.kind == META_HALO_ALL ? all : faces;
    meta_halo plan;
    void *other;
    if (!CHECK_OK(meta_alloc(&other, bytes))) return;
    if (!CHECK_OK(meta_halo_create(&plan, &c->desc))) return;
    for (int beside = 0; beside < 2; ++beside) {
        unsigned char *result = beside ? a->found : a->expected;
        fill(result, a->count, a->type);
        CHECK_OK(meta_copy_h2d(c->fields[0], result, bytes, NULL));
        CHECK_OK(meta_copy_h2d(other, result, bytes, NULL));
        take_steps(c, plan, other, kind, beside);
        CHECK_OK(meta_copy_d2h(result, c->fields[0], bytes, NULL));
    }
    CHECK_ARRAY(a->found, a->expected, a->count, a->type);
    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(other));
}

/* A case of one floating array with ghosts on every side, as a stencil needs. */
static void stencil_case(int64_t number)
{
    halo_wish wish = halo_wish_random();
    halo_case c;
    wish.op = META_HALO_COPY;
    wish.fields = 1;
    wish.differ = false;
    wish.batch = 0;
    wish.type = test_random() % 2 ? META_F64 : META_F32;
    wish.typed = wish.sided = true;
    wish.dims = wish.dims == 1 ? 2 : wish.dims;
    wish.thick = test_random_in(0, 20);
    if (halo_case_make(&c, &wish, "stencil", number)) run_stencil(&c);
    halo_case_free(&c);
}

static void a_stencil_beside_the_exchange_has_the_bits_of_one_behind_it(void)
{
    const int64_t cases = test_count(20, 1500);
    for (int64_t k = 0; k < cases && !halo_broken_anywhere(); ++k) stencil_case(k);
}

/* ------------------------------------------------------------------ errors */

/* Fails at the call with this number. */
typedef struct failing {
    int at, calls;
} failing;

static meta_err fail_at(const meta_box *box, void *with)
{
    failing *f = with;
    int64_t count;
    meta_face face;
    CHECK_OK(meta_face_box(&face, box));
    CHECK_OK(meta_face_elements(&face, &count));
    CHECK(count > 0);
    /* With a message of the library's own. */
    return f->calls++ == f->at ? meta_fill(NULL, 1, &count, META_I64, NULL) : META_OK;
}

static meta_err fail_silently(const meta_box *box, void *with)
{
    failing *f = with;
    (void)box;
    return f->calls++ == f->at ? META_ERR_UNSUPPORTED : META_OK;
}

static meta_err fail_unknown(const meta_box *box, void *with)
{
    failing *f = with;
    (void)box;
    return f->calls++ == f->at ? (meta_err)77 : META_OK;
}

static const struct {
    meta_halo_work *work;
    meta_err error;
    const char *said;
} manners[] = {{fail_at, META_ERR_ARGUMENT, "'buf'"},
               {fail_silently, META_ERR_UNSUPPORTED, "returned META_ERR_UNSUPPORTED"},
               {fail_unknown, META_ERR_ARGUMENT, "returned 77, which is no meta_err"}};
enum { MANNERS = sizeof manners / sizeof *manners };

/* On the last rank alone; what the others get is none of its business. */
static void run_failing(halo_case *c, meta_halo plan, int manner, int way)
{
    const bool here = test_rank == test_size - 1;
    for (int at = 0; at < 4; ++at) {
        failing f = {here ? at : -1, 0};
        meta_halo_work *work = manners[manner].work;
        CHECK_ERR(meta_free(&f), META_ERR_POINTER); /* an old message */
        halo_case_initial(c, at);
        halo_case_expected(c, at);
        halo_case_upload(c);
        const meta_err error = overlap(c, plan, work, work, &f, way);
        if (!here || f.calls <= at) CHECK_OK(error);
        else CHECK_INT(error, manners[manner].error);
        if (error != META_OK) CHECK_CONTAINS(meta_last_error(), manners[manner].said);
        if (error != META_OK) CHECK_CONTAINS(meta_last_error(), "meta_halo_overlap: argument '");
        halo_case_check(c); /* the exchange was finished all the same */
        CHECK_ERR(meta_halo_finish(plan, NULL), META_ERR_STATE);
    }
}

static void errors_of_the_work_are_returned_and_the_exchange_is_finished(void)
{
    const int64_t cases = test_count(4, 60);
    for (int64_t k = 0; k < cases && !halo_broken_anywhere(); ++k) {
        const halo_wish wish = halo_wish_random();
        halo_case c;
        meta_halo plan;
        if (halo_case_make(&c, &wish, "failing work", k) &&
            CHECK_OK(meta_halo_create(&plan, &c.desc))) {
            for (int way = 0; way < 3 * MANNERS; ++way)
                run_failing(&c, plan, way % MANNERS, way / MANNERS);
            CHECK_OK(meta_halo_free(&plan));
        }
        halo_case_free(&c);
    }
}

/* Nothing was begun, no function called, and the next exchange is an ordinary one. */
static void wrong_arguments_begin_nothing(void)
{
    halo_wish wish = halo_wish_random();
    halo_case c;
    meta_halo plan, none = META_HALO_NULL;
    failing f = {0, 0};
    if (halo_case_make(&c, &wish, "arguments", 0) && CHECK_OK(meta_halo_create(&plan, &c.desc))) {
        CHECK_ERR_NAMES(meta_halo_overlap(plan, c.fields, NULL, fail_at, &f, NULL),
                        META_ERR_ARGUMENT, "'interior'");
        CHECK_ERR_NAMES(meta_halo_overlap(plan, c.fields, fail_at, NULL, &f, NULL),
                        META_ERR_ARGUMENT, "'boundary'");
        CHECK_ERR_NAMES(meta_halo_overlap(plan, NULL, fail_at, fail_at, &f, NULL),
                        META_ERR_ARGUMENT, "'fields'");
        CHECK_ERR(meta_halo_overlap(none, c.fields, fail_at, fail_at, &f, NULL), META_ERR_HANDLE);
        CHECK_ERR(meta_halo_finish(plan, NULL), META_ERR_STATE);
        CHECK_OK(meta_halo_start(plan, c.fields));
        CHECK_ERR(meta_halo_overlap(plan, c.fields, fail_at, fail_at, &f, NULL), META_ERR_STATE);
        CHECK_OK(meta_halo_finish(plan, NULL));
        CHECK_INT(f.calls, 0);
        run_failing(&c, plan, 0, 0);
        CHECK_OK(meta_halo_free(&plan));
    }
    halo_case_free(&c);
}

TEST_COMM_MAIN(PROMISE(boxes_cover_the_own_cells_once_and_the_interior_sees_no_ghost),
               PROMISE(a_stencil_beside_the_exchange_has_the_bits_of_one_behind_it),
               PROMISE(errors_of_the_work_are_returned_and_the_exchange_is_finished),
               PROMISE(wrong_arguments_begin_nothing))
