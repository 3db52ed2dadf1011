/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_same_bits.c
 *  The same operations are bitwise identical on every device of every back end. */
/* TEST: backends=any labels=kernel smoke=yes */
#include "cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEVICES = 8, BYTES = 1 << 16, STEPS = 12 };

/* A device with two arrays of BYTES and one value. */
typedef struct device {
    meta_device_desc desc;
    unsigned char *array[2];
    void *value;
} device;

static device devices[MOST_DEVICES];
static int device_count;

/* ------------------------------------------------------------------ the devices */

static void list_devices(const meta_backend_desc *backend)
{
    for (int index = 0; index < backend->devices && device_count < MOST_DEVICES; ++index) {
        device *d = &devices[device_count];
        d->desc = (meta_device_desc)META_DEVICE_DESC_INIT;
        if (CHECK_OK(meta_device_info(index, backend->mode, &d->desc))) ++device_count;
    }
}

/* With fewer than two back ends there is nothing to compare: skipped, unless OpenCL, which makes
 * two wherever it is, is required. */
static void start(int *argc, char ***argv)
{
    int count = 0, usable = 0, index;
    (void)argc, (void)argv;
    test_require(meta_init());
    test_require(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc backend = META_BACKEND_DESC_INIT;
        test_require(meta_backend_info(k, &backend));
        if (!backend.usable) continue;
        ++usable;
        list_devices(&backend);
    }
    if (usable >= 2) return;
    printf("only %s is usable here, nothing to compare it with\n",
           usable ? devices[0].desc.backend : "no back end");
    CHECK_OK(meta_finalize());
    setenv("META_MODE", "opencl", 1);
    test_require(meta_init());
    test_require(meta_get_acc(&index, NULL));
}

static int end(int status)
{
    if (status == 77) return status;
    return CHECK_OK(meta_finalize()) ? status : 1;
}

static const test_setting all_devices = {.start = start, .end = end};

static bool use(const device *d)
{
    return CHECK_OK(meta_set_acc(d->desc.index, d->desc.mode));
}

static bool open_arrays(void)
{
    for (int k = 0; k < device_count; ++k) {
        void *memory[3] = {NULL, NULL, NULL};
        if (!use(&devices[k])) return false;
        for (int m = 0; m < 3; ++m)
            if (!CHECK_OK(meta_alloc(&memory[m], m < 2 ? BYTES : 8))) return false;
        devices[k].array[0] = memory[0];
        devices[k].array[1] = memory[1];
        devices[k].value = memory[2];
    }
    return true;
}

static void close_arrays(void)
{
    for (int k = 0; k < device_count; ++k) {
        for (int m = 0; m < 2; ++m)
            if (devices[k].array[m]) CHECK_OK(meta_free(devices[k].array[m]));
        if (devices[k].value) CHECK_OK(meta_free(devices[k].value));
        devices[k].array[0] = devices[k].array[1] = devices[k].value = NULL;
    }
}

/* ------------------------------------------------------------------ operations */

/* What is done on every device: array[to] is written, array[1 - to] read. */
typedef struct step {
    meta_type type;
    int what, to;
    meta_box box, from_box;
    meta_face face;
    int64_t from; /* where the face counts from */
    unsigned char value[8];
} step;

/* The four stencils come first. */
enum { AXPY = META_STENCIL_COUNT, COPY_BOX, FILL_BOX, PACK, UNPACK, TRANSPOSE, KINDS };
static const char *const what_names[KINDS] = {
    "2D5P", "2D9P", "3D7P", "3D27P", "axpy", "copy_box", "fill_box", "pack", "unpack", "transpose"};

static step random_step(meta_type type, int to)
{
    size_t bytes = 1;
    step s = {.type = type, .to = to};
    CHECK_OK(meta_type_size(type, &bytes));
    const int64_t room = (int64_t)(BYTES / bytes);
    s.what = (int)test_random_in(type < CASE_FIRST_SMALL ? 0 : COPY_BOX, KINDS - 1);
    const int reach = s.what <= META_2D9P ? 2 : s.what <= META_3D27P ? 3 : 0;
    s.box = case_box((int)test_random_in(reach > 1 ? reach : 1, 5), reach, room);
    s.from_box = case_box_like(&s.box, room);
    s.face = case_face((int)test_random_in(1, META_MAX_DIM), room / 2, room, CASE_APART, &s.from);
    s.from *= (int64_t)bytes;
    case_fill(s.value, 1, type, CASE_PLAIN);
    test_case("%s of %s, %s, from %s, %s + %" PRId64 " bytes", what_names[s.what],
              case_type_name(type), case_box_text(&s.box), case_box_text(&s.from_box),
              case_face_text(&s.face), s.from);
    return s;
}

static meta_err run_step(const step *s, const device *d)
{
    unsigned char *out = d->array[s->to], *in = d->array[1 - s->to];
    /* As many elements as there is room for, whatever the type. */
    const int64_t columns = s->box.end[0] - s->box.start[0];
    const int64_t size[2] = {columns, columns > 0 ? BYTES / 8 / columns : 0};
    switch (s->what) {
    case AXPY:
        return meta_axpy(out, s->value, in, &s->box, s->type, META_ASYNC);
    case COPY_BOX:
        return meta_copy_box(out, &s->box, in, &s->from_box, s->type, META_ASYNC);
    case FILL_BOX:
        return meta_fill_box(out, &s->box, s->value, s->type, META_ASYNC);
    case PACK:
        return meta_pack_face(out, in + s->from, &s->face, s->type, META_ASYNC);
    case UNPACK:
        return meta_unpack_face(out + s->from, in, &s->face, s->type, META_ASYNC);
    case TRANSPOSE:
        return meta_transpose_face(out, in, size, s->type, META_ASYNC);
    default:
        return meta_stencil(out, in, &s->box, (meta_stencil_kind)s->what, s->type, NULL,
                            META_ASYNC);
    }
}

/* ------------------------------------------------------------------ comparison */

static void equal_nans(void *found, const void *expected, size_t count, meta_type type)
{
    double *f64 = found;
    float *f32 = found;
    const double *expected_f64 = expected;
    const float *expected_f32 = expected;
    for (size_t k = 0; k < count && type == META_F64; ++k)
        if (isnan(f64[k]) && isnan(expected_f64[k])) f64[k] = expected_f64[k];
    for (size_t k = 0; k < count && type == META_F32; ++k)
        if (isnan(f32[k]) && isnan(expected_f32[k])) f32[k] = expected_f32[k];
}

/* Array @p which of every device holds the bits of the first device's; one NaN is as good as
 * another. */
static bool all_equal(int which, meta_type type)
{
    static _Alignas(8) unsigned char first[BYTES], found[BYTES];
    size_t bytes = 1;
    bool equal = CHECK_OK(meta_type_size(type, &bytes));
    for (int k = 0; k < device_count; ++k) {
        if (!CHECK_OK(meta_copy_d2h(k ? found : first, devices[k].array[which], BYTES, NULL)))
            return false;
        if (k == 0) continue;
        equal_nans(found, first, BYTES / bytes, type);
        if (!CHECK_ARRAY(found, first, BYTES / bytes, type))
            equal = FAIL("found on %s:%d, expected as on %s:%d", devices[k].desc.backend,
                         devices[k].desc.index, devices[0].desc.backend, devices[0].desc.index);
    }
    return equal;
}

static bool refill(meta_type type)
{
    static unsigned char contents[BYTES];
    size_t bytes = 1;
    if (!CHECK_OK(meta_type_size(type, &bytes))) return false;
    for (int which = 0; which < 2; ++which) {
        const case_flavour flavour = (case_flavour)test_random_in(0, CASE_FLAVOURS - 1);
        case_fill(contents, BYTES / bytes, type, flavour);
        for (int k = 0; k < device_count; ++k)
            if (!CHECK_OK(meta_copy_h2d(devices[k].array[which], contents, BYTES, NULL)))
                return false;
    }
    return true;
}

/* A type that every device knows the arithmetic of, or that has none. */
static meta_type common_type(void)
{
    meta_type type = case_any_type();
    for (int k = 0; k < device_count; ++k)
        if (type == META_F64 && !devices[k].desc.has_f64) type = META_F32;
    return type;
}

/* ------------------------------------------------------------------ promises */

static bool chain(void)
{
    const meta_type type = common_type();
    if (!refill(type)) return false;
    for (int n = 0; n < STEPS; ++n) {
        const step s = random_step(type, n % 2);
        for (int k = 0; k < device_count; ++k)
            if (!CHECK_OK(run_step(&s, &devices[k]))) return false;
        if (!all_equal(s.to, type)) return false;
    }
    return true;
}

static void chains_of_operations_give_the_same_bits_on_every_device(void)
{
    if (open_arrays())
        for (int64_t k = 0; k < test_count(100, 10000); ++k)
            if (!chain()) break;
    close_arrays();
}

/* The element that a reduction leaves on the device, in the low bytes. */
static uint64_t reduced_on(const device *d, const step *s, int op)
{
    uint64_t found = 0;
    size_t bytes = 1;
    CHECK_OK(meta_type_size(s->type, &bytes));
    if (op == META_OP_COUNT)
        CHECK_OK(meta_dot(d->value, d->array[0], d->array[1], &s->box, s->type, NULL));
    else CHECK_OK(meta_reduce(d->value, d->array[0], &s->box, (meta_op)op, s->type, NULL));
    CHECK_OK(meta_copy_d2h(&found, d->value, bytes, NULL));
    return found;
}

static void reductions_of_integers_give_the_same_bits_on_every_device(void)
{
    if (open_arrays())
        for (int64_t n = 0; n < test_count(200, 20000); ++n) {
            const meta_type type = (meta_type)test_random_in(META_I64, META_U32);
            const step s = random_step(type, 0);
            const int op = (int)test_random_in(0, META_OP_COUNT);
            if (!refill(type)) break;
            test_case("operation %d of %s, %s", op, case_type_name(type), case_box_text(&s.box));
            const uint64_t first = reduced_on(&devices[0], &s, op);
            for (int k = 1; k < device_count; ++k)
                CHECK_U64(reduced_on(&devices[k], &s, op), first);
        }
    close_arrays();
}

TEST_MAIN_WITH(&all_devices, PROMISE(chains_of_operations_give_the_same_bits_on_every_device),
               PROMISE(reductions_of_integers_give_the_same_bits_on_every_device))
