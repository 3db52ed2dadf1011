/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_boxes.c
 *  Boxes copied between arrays of the host and of a device, and several boxes of several arrays
 *  reduced by one call. */
/* TEST: backends=all,late auto=yes labels=kernel smoke=yes */
#include "meta_library.h"
#include "mirror.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 1 << 15, LARGE_BYTES = 7 << 20, MOST_FIELDS = 4, MOST_BOXES = 27 };

/* ------------------------------------------------------------------ between host and device */

/* A box of a device array and one of a host array, each anywhere in its memory. */
typedef struct copy_case {
    meta_type type;
    size_t element, from, to; /* bytes: where the arrays begin */
    meta_box device, host;
} copy_case;

static copy_case random_copy(size_t room, int ndim)
{
    copy_case c = {.type = case_any_type()};
    CHECK_OK(meta_type_size(c.type, &c.element));
    const int64_t cells = (int64_t)(room / c.element);
    c.device = case_box(ndim, 0, cells);
    c.host = case_box_like(&c.device, cells);
    c.from = (size_t)test_random_in(0, cells - case_box_array(&c.device)) * c.element;
    c.to = (size_t)test_random_in(0, cells - case_box_array(&c.host)) * c.element;
    test_case("%s, device + %zu bytes: %s, host + %zu bytes: %s", case_type_name(c.type), c.from,
              case_box_text(&c.device), c.to, case_box_text(&c.host));
    return c;
}

static void copy_cells(unsigned char *to, const meta_box *to_box, const unsigned char *from,
                       const meta_box *from_box, size_t element)
{
    for (int64_t n = 0; n < case_box_cells(to_box); ++n)
        memcpy(to + (size_t)case_box_index(to_box, n) * element,
               from + (size_t)case_box_index(from_box, n) * element, element);
}

static void put_and_compare(mirror *m, unsigned char *host, const copy_case *c)
{
    case_ending ending;
    test_random_fill(host, m->bytes, META_U8);
    copy_cells(m->expected + c->from, &c->device, host + c->to, &c->host, c->element);
    case_ending_pick(&ending);
    CHECK_OK(meta_copy_box_h2d(m->device + c->from, &c->device, host + c->to, &c->host, c->type,
                               ending.done));
    CHECK_OK(case_ending_settle(&ending));
    mirror_holds(m, META_U8, "the buffer");
}

static void get_and_compare(mirror *m, unsigned char *host, const copy_case *c)
{
    unsigned char *expected = malloc(m->bytes);
    meta_event event, *done = test_random_in(0, 1) ? &event : NULL;
    if (!CHECK(expected != NULL)) return;
    test_random_fill(host, m->bytes, META_U8);
    memcpy(expected, host, m->bytes);
    copy_cells(expected + c->to, &c->host, m->expected + c->from, &c->device, c->element);
    CHECK_OK(
        meta_copy_box_d2h(host + c->to, &c->host, m->device + c->from, &c->device, c->type, done));
    if (done) CHECK_OK(meta_event_wait(event));
    if (done) CHECK_OK(meta_event_free(&event));
    CHECK_ARRAY(host, expected, m->bytes, META_U8);
    free(expected);
}

static void copy_all(void (*one)(mirror *, unsigned char *, const copy_case *))
{
    mirror small = {0}, large = {0};
    unsigned char *host = malloc(LARGE_BYTES);
    if (CHECK(host != NULL) && mirror_new(&small, SMALL_BYTES) && mirror_new(&large, LARGE_BYTES)) {
        TEST_CASES (k, 500, 50000) {
            const copy_case c = random_copy(SMALL_BYTES, (int)test_random_in(1, META_MAX_DIM));
            one(&small, host, &c);
        }
        /* Of several pieces, cut in any dimension. */
        TEST_CASES (k, 12, 300) {
            const copy_case c = random_copy(LARGE_BYTES, (int)test_random_in(1, 4));
            one(&large, host, &c);
        }
    }
    mirror_free(&small);
    mirror_free(&large);
    free(host);
}

static void box_h2d_writes_the_cells_of_the_box_and_no_others(void)
{
    copy_all(put_and_compare);
}

static void box_d2h_reads_the_cells_of_the_box_and_writes_no_others(void)
{
    copy_all(get_and_compare);
}

/* 5 MiB and more in rows, planes and volumes whose extents do not divide a piece. */
static void boxes_are_cut_in_every_dimension(void)
{
    static const int64_t extents[][3] = {{700001, 1, 1}, {3, 230001, 1}, {1, 1, 700003},
                                         {1025, 683, 1}, {89, 91, 87},   {300007, 1, 2}};
    const int others = test_under_oclgrind() ? 3 : 1;
    mirror m = {0};
    unsigned char *host = malloc(LARGE_BYTES);
    if (CHECK(host != NULL) && mirror_new(&m, LARGE_BYTES))
        for (size_t k = 0; k < sizeof extents / sizeof *extents; ++k)
            for (int padded = 0; padded < 4; padded += others) {
                copy_case c = {.type = META_F64, .element = 8};
                c.device.ndim = c.host.ndim = 3;
                for (int d = 0; d < 3; ++d) {
                    const int64_t n = extents[k][d];
                    const int64_t most = d == 0 && n > 100 ? 2 : 0;
                    c.device.size[d] = n + (padded & 1 ? most : 0);
                    c.host.size[d] = n + (padded & 2 ? most : 0);
                    c.device.start[d] = c.device.size[d] - n;
                    c.device.end[d] = c.device.size[d];
                    c.host.end[d] = n;
                }
                test_case("device %s, host %s", case_box_text(&c.device), case_box_text(&c.host));
                put_and_compare(&m, host, &c);
                get_and_compare(&m, host, &c);
            }
    mirror_free(&m);
    free(host);
}

static void box_copies_name_what_is_wrong(void)
{
    const meta_box box = {2, {4, 4}, {1, 1}, {3, 3}}, wider = {2, {4, 4}, {0, 1}, {3, 3}};
    const meta_box line = {1, {4}, {0}, {2}}, far = {2, {4, 40}, {0, 30}, {2, 32}};
    const meta_box out = {2, {4, 4}, {1, 1}, {3, 5}}, empty = {2, {4, 4}, {1, 1}, {1, 1}};
    double host[16], before[16];
    void *p = NULL;
    if (!CHECK_OK(meta_alloc(&p, sizeof host))) return;
    test_random_fill(host, 16, META_F64);
    memcpy(before, host, sizeof host);
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &wider, host, &box, META_F64, NULL), META_ERR_ARGUMENT,
                    "src_box");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &line, host, &box, META_F64, NULL), META_ERR_ARGUMENT,
                    "src_box");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &out, host, &box, META_F64, NULL), META_ERR_BOUNDS,
                    "dst_box");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, NULL, host, &box, META_F64, NULL), META_ERR_ARGUMENT,
                    "dst_box");
    CHECK_ERR_NAMES(meta_copy_box_d2h(host, &box, p, NULL, META_F64, NULL), META_ERR_ARGUMENT,
                    "src_box");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &far, host, &box, META_F64, NULL), META_ERR_BOUNDS, "dst");
    CHECK_ERR_NAMES(meta_copy_box_d2h(host, &box, p, &far, META_F64, NULL), META_ERR_BOUNDS, "src");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &box, NULL, &box, META_F64, NULL), META_ERR_ARGUMENT,
                    "src");
    CHECK_ERR_NAMES(meta_copy_box_d2h(NULL, &box, p, &box, META_F64, NULL), META_ERR_ARGUMENT,
                    "dst");
    CHECK_ERR_NAMES(meta_copy_box_h2d(host, &box, host, &box, META_F64, NULL), META_ERR_POINTER,
                    "dst");
    CHECK_ERR_NAMES(meta_copy_box_d2h(p, &box, p, &box, META_F64, NULL), META_ERR_POINTER, "dst");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &box, p, &box, META_F64, NULL), META_ERR_POINTER, "src");
    CHECK_ERR_NAMES(meta_copy_box_h2d(p, &box, host, &box, META_TYPE_COUNT, NULL), META_ERR_TYPE,
                    "type");
    CHECK_OK(meta_copy_box_d2h(host, &empty, p, &empty, META_F64, NULL));
    CHECK_ARRAY(host, before, 16, META_F64);
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ several boxes */

typedef struct boxes_case {
    meta_type type;
    meta_op op;
    size_t element;
    int fields, boxes;
    int64_t stride;
    void *field[MOST_FIELDS];
    meta_box box[MOST_BOXES];
} boxes_case;

/* Boxes of one array shape, as those at the sides of a block are; some without cells. */
static void random_boxes(boxes_case *c, mirror *m)
{
    *c = (boxes_case){.type = case_arithmetic_type(),
                      .op = (meta_op)test_random_in(0, META_OP_COUNT - 1),
                      .fields = (int)test_random_in(0, MOST_FIELDS),
                      .boxes = (int)test_random_in(0, MOST_BOXES)};
    /* Devices add floating numbers in orders of their own. */
    meta_mode mode = META_OPENMP;
    CHECK_OK(meta_get_acc(NULL, &mode));
    if (mode == META_AUTO && c->op == META_SUM) {
        if (c->type == META_F64) c->type = META_I64;
        if (c->type == META_F32) c->type = META_I32;
    }
    CHECK_OK(meta_type_size(c->type, &c->element));
    c->stride = c->boxes + test_random_in(0, 3);
    const meta_box shape =
        case_box((int)test_random_in(1, 4), 0, (int64_t)(m->bytes / c->element / 2));
    for (int b = 0; b < c->boxes; ++b) {
        c->box[b] = shape;
        for (int d = 0; d < shape.ndim; ++d) {
            c->box[b].start[d] = test_random_in(0, shape.size[d]);
            c->box[b].end[d] = test_random_in(c->box[b].start[d], shape.size[d]);
        }
    }
    const int64_t spare = (int64_t)(m->bytes / c->element) - case_box_array(&shape);
    for (int f = 0; f < c->fields; ++f)
        c->field[f] = m->device + (size_t)test_random_in(0, spare) * c->element;
    test_case("%s, operation %d, %d fields, %d boxes, stride %lld, %s", case_type_name(c->type),
              (int)c->op, c->fields, c->boxes, (long long)c->stride, case_box_text(&shape));
}

static void one_call_reduces_as_many_would(void)
{
    enum { ROOM = MOST_FIELDS * (MOST_BOXES + 3) * 8 };
    _Alignas(8) unsigned char found[ROOM], expected[ROOM];
    mirror m = {0};
    void *device = NULL;
    if (mirror_new(&m, SMALL_BYTES) && CHECK_OK(meta_alloc(&device, ROOM)))
        TEST_CASES (k, 200, 20000) {
            boxes_case c;
            case_ending ending;
            random_boxes(&c, &m);
            mirror_refill(&m, c.type, (case_flavour)test_random_in(0, CASE_FLAVOURS - 1));
            const bool on_device = test_random_in(0, 1);
            test_random_fill(found, sizeof found, META_U8);
            memcpy(expected, found, sizeof found);
            CHECK_OK(meta_copy_h2d(device, found, ROOM, NULL));
            for (int f = 0; f < c.fields; ++f)
                for (int b = 0; b < c.boxes; ++b)
                    CHECK_OK(meta_reduce(expected + (size_t)(f * c.stride + b) * c.element,
                                         c.field[f], &c.box[b], c.op, c.type, NULL));
            case_ending_pick(&ending);
            CHECK_OK(meta_reduce_boxes(on_device ? device : (void *)found, c.stride, c.fields,
                                       c.field, c.boxes, c.box, c.op, c.type, ending.done));
            CHECK_OK(case_ending_settle(&ending));
            if (!on_device && ending.done == META_ASYNC) CHECK_OK(meta_flush());
            if (on_device) CHECK_OK(meta_copy_d2h(found, device, ROOM, NULL));
            CHECK_ARRAY(found, expected, ROOM, META_U8);
        }
    if (device) CHECK_OK(meta_free(device));
    mirror_free(&m);
}

/* A stencil without cells is complete at once, its sums are not. */
static void the_sums_of_a_stencil_without_cells_are_complete_with_its_event(void)
{
    enum { N = 2000 };
    const meta_box none = {2, {N, 3}, {1, 1}, {1, 2}};
    const meta_box part[2] = {{2, {N, 3}, {0, 0}, {N, 1}}, {2, {N, 3}, {0, 1}, {N, 3}}};
    int64_t host[3 * N], sum = -1, sums[2] = {-1, -1};
    void *in = NULL, *out = NULL;
    meta_event done = META_EVENT_NULL;
    for (int k = 0; k < 3 * N; ++k) host[k] = k / N + 1;
    if (!CHECK_OK(meta_alloc(&in, sizeof host)) || !CHECK_OK(meta_alloc(&out, sizeof host))) return;
    CHECK_OK(meta_copy_h2d(in, host, sizeof host, NULL));
    CHECK_OK(meta_stencil_sums(out, in, &none, META_2D5P, META_I64, &sum, sums, 2, part, NULL));
    CHECK_INT(sum, 0);
    CHECK_INT(sums[0], N);
    CHECK_INT(sums[1], 5 * N);
    sum = sums[0] = sums[1] = -1;
    CHECK_OK(meta_stencil_sums(out, in, &none, META_2D5P, META_I64, &sum, sums, 2, part, &done));
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    CHECK_INT(sum, 0);
    CHECK_INT(sums[0], N);
    CHECK_INT(sums[1], 5 * N);
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(out));
}

/* Cells that count themselves: every result by the simplest loop. */
static void every_box_of_every_field_has_its_own_sum(void)
{
    enum { N = 6, CELLS = N * N * N, FIELDS = 3, BOXES = 6, STRIDE = 7 };
    int64_t host[FIELDS * CELLS], sums[FIELDS * STRIDE];
    void *p = NULL, *field[FIELDS];
    meta_box side[BOXES];
    for (int k = 0; k < FIELDS * CELLS; ++k) host[k] = k;
    for (int k = 0; k < FIELDS * STRIDE; ++k) sums[k] = -1;
    for (int b = 0; b < BOXES; ++b) {
        side[b] = (meta_box){3, {N, N, N}, {1, 1, 1}, {N - 1, N - 1, N - 1}};
        if (b % 2 == 0) side[b].end[b / 2] = 2;
        else side[b].start[b / 2] = N - 2;
    }
    if (!CHECK_OK(meta_alloc(&p, sizeof host))) return;
    CHECK_OK(meta_copy_h2d(p, host, sizeof host, NULL));
    for (int f = 0; f < FIELDS; ++f) field[f] = (char *)p + f * CELLS * 8;
    CHECK_OK(meta_reduce_boxes(sums, STRIDE, FIELDS, field, BOXES, side, META_SUM, META_I64, NULL));
    for (int f = 0; f < FIELDS; ++f)
        for (int b = 0; b < STRIDE; ++b) {
            int64_t sum = 0;
            for (int64_t n = 0; b < BOXES && n < case_box_cells(&side[b]); ++n)
                sum += host[f * CELLS + case_box_index(&side[b], n)];
            if (b < BOXES) CHECK_INT(sums[f * STRIDE + b], sum);
            else CHECK_INT(sums[f * STRIDE + b], -1);
        }
    CHECK_OK(meta_free(p));
}

static void a_wrong_box_leaves_all_results_alone(void)
{
    const meta_box good = {1, {8}, {0}, {8}}, far = {1, {80}, {70}, {80}}, out = {1, {8}, {0}, {9}};
    const meta_box boxes[2] = {good, far}, others[2] = {good, out}, fine[2] = {good, good};
    double results[4] = {1, 2, 3, 4}, host[8];
    void *p = NULL, *fields[2] = {NULL, NULL};
    if (!CHECK_OK(meta_alloc(&p, 64))) return;
    test_random_fill(host, 8, META_F64);
    CHECK_OK(meta_copy_h2d(p, host, sizeof host, NULL));
    fields[0] = p;
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 1, fields, 2, boxes, META_SUM, META_F64, NULL),
                    META_ERR_BOUNDS, "field[0]");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 1, fields, 2, others, META_SUM, META_F64, NULL),
                    META_ERR_BOUNDS, "box[1]");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 2, fields, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "field[1]");
    fields[1] = p;
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 1, 2, fields, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "stride");
    CHECK_ERR_NAMES(
        meta_reduce_boxes(results, INT64_MAX, 2, fields, 2, fine, META_SUM, META_F64, NULL),
        META_ERR_OVERFLOW, "stride");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, -1, fields, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "fields");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 2, fields, -1, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "boxes");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 2, NULL, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "field");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 2, fields, 2, NULL, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "box");
    CHECK_ERR_NAMES(meta_reduce_boxes(NULL, 2, 2, fields, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_ARGUMENT, "results");
    CHECK_ERR_NAMES(meta_reduce_boxes(p, 7, 2, fields, 2, fine, META_SUM, META_F64, NULL),
                    META_ERR_BOUNDS, "results");
    CHECK_ERR_NAMES(
        meta_reduce_boxes(results, 2, 2, fields, 2, fine, META_OP_COUNT, META_F64, NULL),
        META_ERR_ARGUMENT, "op");
    CHECK_ERR_NAMES(meta_reduce_boxes(results, 2, 2, fields, 2, fine, META_SUM, META_U8, NULL),
                    META_ERR_TYPE, "type");
    CHECK_OK(meta_reduce_boxes(NULL, 0, 0, NULL, 2, fine, META_SUM, META_F64, NULL));
    CHECK_OK(meta_reduce_boxes(NULL, 0, 2, fields, 0, NULL, META_SUM, META_F64, NULL));
    for (int k = 0; k < 4; ++k) CHECK_NEAR(results[k], k + 1, 0);
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ empty boxes */

static void an_empty_box_may_have_any_other_extents(void)
{
    const meta_box empty[] = {{3, {8, INT64_MAX, INT64_MAX}, {0, 0, 0}, {0, INT64_MAX, INT64_MAX}},
                              {3, {INT64_MAX, INT64_MAX, 9}, {1, 0, 4}, {INT64_MAX, INT64_MAX, 4}},
                              {2, {INT64_MAX, INT64_MAX}, {0, 5}, {INT64_MAX, 5}}};
    const int32_t seven = 7;
    for (size_t k = 0; k < sizeof empty / sizeof *empty; ++k) {
        const meta_box *e = &empty[k];
        mirror p = {0}, q = {0};
        int32_t host[4] = {1, 2, 3, 4}, sum = -1;
        int64_t cells = -1;
        meta_face face;
        test_case("%s", case_box_text(e));
        if (!mirror_new(&p, 4096) || !mirror_new(&q, 4096)) return;
        CHECK_OK(meta_fill_box(p.device, e, &seven, META_I32, NULL));
        CHECK_OK(meta_reduce(&sum, p.device, e, META_SUM, META_I32, NULL));
        CHECK_INT(sum, 0);
        sum = -1;
        CHECK_OK(
            meta_reduce_boxes(&sum, 1, 1, (void *[]){p.device}, 1, e, META_SUM, META_I32, NULL));
        CHECK_INT(sum, 0);
        sum = -1;
        CHECK_OK(meta_dot(&sum, p.device, q.device, e, META_I32, NULL));
        CHECK_INT(sum, 0);
        sum = -1;
        CHECK_OK(meta_stencil(p.device, q.device, e, META_2D5P, META_I32, &sum, NULL));
        CHECK_INT(sum, 0);
        CHECK_OK(meta_axpy(p.device, &seven, q.device, e, META_I32, NULL));
        CHECK_OK(meta_copy_box(p.device, e, q.device, e, META_I32, NULL));
        CHECK_OK(meta_copy_box_h2d(p.device, e, host, e, META_I32, NULL));
        CHECK_OK(meta_copy_box_d2h(host, e, p.device, e, META_I32, NULL));
        CHECK_OK(meta_scale(p.device, &seven, q.device, e, META_I32, NULL));
        CHECK_OK(meta_convert(p.device, META_I32, q.device, META_F32, e, NULL));
        CHECK_OK(meta_boundary(p.device, e, 0, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_VALUE, &seven,
                               META_I32, NULL));
        CHECK_OK(meta_face_box(&face, e));
        CHECK_OK(meta_face_elements(&face, &cells));
        CHECK_INT(cells, 0);
        CHECK_OK(meta_pack_face(p.device, q.device, &face, META_I32, NULL));
        CHECK_OK(meta_unpack_face(p.device, q.device, &face, META_I32, NULL));
        for (int n = 0; n < 4; ++n) CHECK_INT(host[n], n + 1);
        mirror_holds(&p, META_U8, "the buffer");
        mirror_free(&p);
        mirror_free(&q);
    }
    /* A slab of ghosts beside it has cells. */
    meta_face face;
    CHECK_ERR(meta_face_slab(&face, &empty[2], 1, META_SLAB_LOW_GHOST, 2), META_ERR_OVERFLOW);
    CHECK_OK(meta_face_slab(&face, &empty[2], 1, META_SLAB_LOW, 0));
}

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    test_device.start(argc, argv);
}

static int finish(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = finish};

TEST_MAIN_WITH(&setting, PROMISE(box_h2d_writes_the_cells_of_the_box_and_no_others),
               PROMISE(box_d2h_reads_the_cells_of_the_box_and_writes_no_others),
               PROMISE(boxes_are_cut_in_every_dimension), PROMISE(box_copies_name_what_is_wrong),
               PROMISE(one_call_reduces_as_many_would),
               PROMISE(the_sums_of_a_stencil_without_cells_are_complete_with_its_event),
               PROMISE(every_box_of_every_field_has_its_own_sum),
               PROMISE(a_wrong_box_leaves_all_results_alone),
               PROMISE(an_empty_box_may_have_any_other_extents))
