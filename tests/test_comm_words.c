/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_words.c
 *  The success path formats no text: a name for an error that never occurs costs as much as a
 *  small message, especially where a program's libraries replace parts of printf, as Fortran's
 *  do. Kernels, buffers, copies, messages, reductions and exchanges are watched after a warm-up. */
/* TEST: backends=all np=1,2 mixed=yes labels=comm */
/* TEST: backends=openmp np=2 mixed=yes with=SHARED=off,PIPELINE=4096 labels=comm */
/* TEST: backends=openmp np=2 with=PROGRESS=thread labels=comm */
#include "test_mpi.h"

#include <stdlib.h>

#include "words.h"

enum {
    SIDE = 20,
    CELLS = SIDE * SIDE * SIDE,
    FIELDS = 3,
    LONG = 40000, /* elements; such a message may travel in parts */
    ROUNDS = 5,
    MOST_SAID = 5
};

static const meta_box grid = {3, {SIDE, SIDE, SIDE}, {1, 1, 1}, {SIDE - 1, SIDE - 1, SIDE - 1}};
static int left, right; /* neighbours on a ring */
static double *host;    /* LONG elements */

/* What asks for text in any case would hide what nobody asked for. */
static void start(int *argc, char ***argv)
{
    unsetenv("META_LOG");
    unsetenv("META_PROFILE");
    unsetenv("META_CHECK");
    test_comm_start(argc, argv);
    left = (test_rank + test_size - 1) % test_size;
    right = (test_rank + 1) % test_size;
    host = calloc(LONG, sizeof *host);
    if (!CHECK(host != NULL)) abort();
}

static int end(int status)
{
    free(host);
    return test_comm_end(status);
}

static const test_setting setting = {start, test_mpi_worst, end};

static double *device_array(int64_t count)
{
    const double zero = 0;
    void *ptr = NULL;
    CHECK_OK(meta_alloc(&ptr, (size_t)count * sizeof zero));
    CHECK_OK(meta_fill(ptr, count, &zero, META_F64, NULL));
    return ptr;
}

/* The first time, programs are compiled and what is kept is made. */
static void keeps_silent(void (*round)(void *), void *with)
{
    round(with);
    CHECK_OK(meta_flush());
    words_listen();
    for (int k = 0; k < ROUNDS; ++k) round(with);
    CHECK_OK(meta_flush());
    const long calls = words_heard();
    for (long k = 0; k < calls && k < MOST_SAID; ++k)
        FAIL("%s formats \"%s\", called before 0x%zx there", words_of(k)->file, words_of(k)->format,
             words_of(k)->offset);
    CHECK_INT(calls, 0);
}

static void complete(meta_event *event)
{
    for (int done = 0; !done;)
        if (!CHECK_OK(meta_event_test(*event, &done))) break;
    CHECK_OK(meta_event_free(event));
}

/* ------------------------------------------------------------------ what is heard */

static meta_halo plan_of(MPI_Comm cart, meta_halo_kind kind, meta_halo_op op,
                         const meta_halo_field *field, int fields)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    desc.cart = cart;
    desc.box = grid;
    for (int d = 0; d < grid.ndim; ++d) desc.low[d] = desc.high[d] = 1;
    desc.kind = kind;
    desc.op = op;
    desc.field = field;
    desc.fields = fields;
    CHECK_OK(meta_halo_create(&plan, &desc));
    return plan;
}

static MPI_Comm make_cart(void)
{
    const int periodic[3] = {1, 1, 1};
    int dims[3] = {0, 0, 0};
    MPI_Comm cart;
    MPI_Dims_create(test_size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
    return cart;
}

/* Else the silence of the others would mean nothing. */
static void formatting_in_each_library_is_detected(void)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_mode mode;
    MPI_Comm cart = make_cart();
    double *u = device_array(CELLS);
    char file[sizeof device.backend + 3];

    words_listen();
    CHECK_ERR(meta_copy_d2d(u, host, sizeof *u, NULL), META_ERR_POINTER);
    CHECK(words_heard() > 0);
    CHECK(words_from("libmeta.so") > 0);

    words_listen();
    meta_halo plan = plan_of(cart, META_HALO_FACES, META_HALO_COPY, NULL, FIELDS);
    CHECK(words_heard() > 0);
    CHECK(words_from("libmeta_comm") > 0); /* its name may have that of its MPI */

    /* Back ends describe a device that is not open, each in the run on another one. */
    CHECK_OK(meta_get_acc(NULL, &mode));
    words_listen();
    if (meta_device_info(0, mode == META_OPENMP ? META_OPENCL : META_OPENMP, &device) == META_OK) {
        CHECK(words_heard() > 0);
        strcpy(file, device.backend);
        CHECK(words_from(strcat(file, ".so")) > 0);
    }

    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&cart);
}

/* ------------------------------------------------------------------ on one device */

typedef struct arrays {
    double *u, *v, *packed, *turned;
} arrays;

static arrays make_arrays(void)
{
    return (arrays){device_array(CELLS), device_array(CELLS), device_array(LONG),
                    device_array(LONG)};
}

static void free_arrays(arrays *a)
{
    CHECK_OK(meta_free(a->u));
    CHECK_OK(meta_free(a->v));
    CHECK_OK(meta_free(a->packed));
    CHECK_OK(meta_free(a->turned));
}

static void compute(const arrays *a, meta_event *done)
{
    const double one = 1;
    double *const result = a->packed; /* on the device */
    CHECK_OK(meta_fill(a->u, CELLS, &one, META_F64, done));
    CHECK_OK(meta_fill_box(a->v, &grid, &one, META_F64, META_ASYNC));
    CHECK_OK(meta_copy_box(a->v, &grid, a->u, &grid, META_F64, META_ASYNC));
    CHECK_OK(meta_stencil(a->v, a->u, &grid, META_3D7P, META_F64, NULL, META_ASYNC));
    CHECK_OK(meta_stencil(a->u, a->v, &grid, META_3D27P, META_F64, result, META_ASYNC));
    CHECK_OK(meta_axpy(a->v, &one, a->u, &grid, META_F64, META_ASYNC));
    CHECK_OK(meta_dot(result, a->u, a->v, &grid, META_F64, META_ASYNC));
    for (int op = META_SUM; op < META_OP_COUNT; ++op) {
        double found;
        CHECK_OK(meta_reduce(result, a->v, &grid, (meta_op)op, META_F64, META_ASYNC));
        CHECK_OK(meta_reduce(&found, a->v, &grid, (meta_op)op, META_F64, NULL));
    }
}

static void compute_round(void *with)
{
    meta_event event;
    for (int reproducible = 0; reproducible < 2; ++reproducible) {
        CHECK_OK(meta_set_reproducible(reproducible));
        compute(with, NULL);
        compute(with, &event);
        complete(&event);
    }
    CHECK_OK(meta_set_reproducible(0));
}

static void kernels_format_no_text(void)
{
    arrays a = make_arrays();
    keeps_silent(compute_round, &a);
    free_arrays(&a);
}

/* With and without labels, which are also told of in errors alone. */
static void buffers_round(void *with)
{
    meta_pointer_desc about = META_POINTER_DESC_INIT;
    meta_box box;
    const int64_t cells[2] = {SIDE, SIDE};
    const int ghosts[2] = {1, 1};
    void *ptr;
    (void)with;
    for (size_t bytes = 1; bytes < LONG; bytes *= 7) {
        CHECK_OK(meta_alloc(&ptr, bytes));
        CHECK_OK(meta_label(ptr, "a label"));
        CHECK_OK(meta_pointer_info(ptr, &about));
        CHECK_OK(meta_free(ptr));
        CHECK_OK(meta_host_alloc(&ptr, bytes));
        CHECK_OK(meta_host_free(ptr));
    }
    CHECK_OK(meta_grid_alloc(&ptr, &box, 2, cells, ghosts, ghosts, META_F64));
    CHECK_OK(meta_free(ptr));
}

static void buffers_format_no_text(void)
{
    keeps_silent(buffers_round, NULL);
}

static void copies_round(void *with)
{
    const arrays *a = with;
    const size_t bytes = LONG * sizeof *host;
    meta_event event[3];
    CHECK_OK(meta_copy_h2d(a->packed, host, bytes, NULL));
    CHECK_OK(meta_copy_d2d(a->turned, a->packed, bytes, NULL));
    CHECK_OK(meta_copy_d2h(host, a->turned, bytes, NULL));
    CHECK_OK(meta_copy_h2d(a->packed, host, bytes, &event[0]));
    CHECK_OK(meta_copy_d2d(a->turned, a->packed, bytes, &event[1]));
    CHECK_OK(meta_copy_d2h(host, a->turned, bytes, &event[2]));
    CHECK_OK(meta_event_waitall(2, event));
    CHECK_OK(meta_event_wait(event[2]));
    for (int k = 0; k < 3; ++k) complete(&event[k]);
    CHECK_OK(meta_copy_h2d(a->packed, host, bytes, META_ASYNC));
    CHECK_OK(meta_copy_d2h(host, a->packed, bytes, META_ASYNC));
    CHECK_OK(meta_flush());
}

static void copies_format_no_text(void)
{
    arrays a = make_arrays();
    keeps_silent(copies_round, &a);
    free_arrays(&a);
}

static void faces_round(void *with)
{
    const int64_t size[2] = {SIDE - 2, SIDE - 2};
    const arrays *a = with;
    for (int axis = 0; axis < 3; ++axis) {
        meta_face mine, ghosts;
        meta_event event;
        int64_t count;
        CHECK_OK(meta_face_slab(&mine, &grid, axis, META_SLAB_HIGH, 1));
        CHECK_OK(meta_face_slab(&ghosts, &grid, axis, META_SLAB_LOW_GHOST, 1));
        CHECK_OK(meta_face_elements(&mine, &count));
        CHECK_OK(meta_pack_face(a->packed, a->u, &mine, META_F64, NULL));
        CHECK_OK(meta_transpose_face(a->turned, a->packed, size, META_F64, META_ASYNC));
        CHECK_OK(meta_unpack_face(a->u, a->turned, &ghosts, META_F64, &event));
        complete(&event);
    }
}

static void faces_format_no_text(void)
{
    arrays a = make_arrays();
    keeps_silent(faces_round, &a);
    free_arrays(&a);
}

/* ------------------------------------------------------------------ between ranks */

/* From rank @p from to rank @p to, the ways of waiting. */
static void pass_on(const arrays *a, int to, int from, int64_t count)
{
    meta_event event[2];
    CHECK_OK(meta_packed_send(to, a->packed, count, META_F64, 1, NULL));
    CHECK_OK(meta_packed_recv(from, a->turned, count, META_F64, 1, NULL));
    CHECK_OK(meta_packed_recv(from, a->turned, count, META_F64, 2, &event[0]));
    CHECK_OK(meta_packed_send(to, a->packed, count, META_F64, 2, &event[1]));
    CHECK_OK(meta_event_waitall(2, event));
    for (int k = 0; k < 2; ++k) complete(&event[k]);
    CHECK_OK(meta_packed_recv(from, a->turned, count, META_F64, 3, META_ASYNC));
    CHECK_OK(meta_packed_send(to, a->packed, count, META_F64, 3, META_ASYNC));
    CHECK_OK(meta_flush());
}

static void messages_round(void *with)
{
    const arrays *a = with;
    for (int64_t count = 1; count <= LONG; count = count < 1000 ? 1000 : count * 40) {
        pass_on(a, right, left, count);
        pass_on(a, test_rank, test_rank, count);
    }
    pass_on(a, MPI_PROC_NULL, MPI_PROC_NULL, 1);
    for (int axis = 0; axis < 3; ++axis) {
        meta_face mine, ghosts;
        meta_event event;
        CHECK_OK(meta_face_slab(&mine, &grid, axis, META_SLAB_HIGH, 1));
        CHECK_OK(meta_face_slab(&ghosts, &grid, axis, META_SLAB_LOW_GHOST, 1));
        CHECK_OK(meta_pack_send(right, &mine, a->u, a->packed, META_F64, axis, &event));
        CHECK_OK(meta_recv_unpack(left, &ghosts, a->u, a->turned, META_F64, axis, NULL));
        complete(&event);
        CHECK_OK(meta_recv_unpack(test_rank, &ghosts, a->u, a->turned, META_F64, axis, &event));
        CHECK_OK(meta_pack_send(test_rank, &mine, a->u, a->packed, META_F64, axis, NULL));
        complete(&event);
    }
}

static void messages_format_no_text(void)
{
    arrays a = make_arrays();
    keeps_silent(messages_round, &a);
    free_arrays(&a);
}

static void reductions_round(void *with)
{
    const arrays *a = with;
    double value = 1;
    meta_event event;
    for (int reproducible = 0; reproducible < 2; ++reproducible) {
        CHECK_OK(meta_set_reproducible(reproducible));
        CHECK_OK(meta_dot(&value, a->u, a->v, &grid, META_F64, NULL));
        CHECK_OK(meta_allreduce(&value, &value, 1, META_SUM, META_F64, NULL));
        CHECK_OK(meta_dot(a->packed, a->u, a->v, &grid, META_F64, META_ASYNC));
        CHECK_OK(meta_allreduce(a->packed, a->packed, 1, META_SUM, META_F64, &event));
        complete(&event);
        CHECK_OK(meta_allreduce(a->turned, a->packed, LONG, META_MAX, META_F64, META_ASYNC));
        CHECK_OK(meta_allreduce(host, a->packed, LONG, META_SUM, META_F64, NULL));
    }
    CHECK_OK(meta_set_reproducible(0));
    CHECK_OK(meta_flush());
}

static void reductions_format_no_text(void)
{
    arrays a = make_arrays();
    keeps_silent(reductions_round, &a);
    free_arrays(&a);
}

/* ------------------------------------------------------------------ exchanges */

typedef struct exchanges {
    meta_halo one, three, corners, sums;
    void *field[FIELDS];
} exchanges;

static meta_err sweep(const meta_box *box, void *with)
{
    const exchanges *x = with;
    return meta_stencil(x->field[1], x->field[0], box, META_3D7P, META_F64, NULL, META_ASYNC);
}

static void exchange_all_ways(meta_halo plan, exchanges *x)
{
    meta_event event;
    CHECK_OK(meta_halo_start(plan, x->field));
    CHECK_OK(meta_halo_finish(plan, NULL));
    CHECK_OK(meta_halo_start(plan, x->field));
    CHECK_OK(meta_halo_finish(plan, &event));
    complete(&event);
    CHECK_OK(meta_halo_exchange(plan, x->field, NULL));
    CHECK_OK(meta_halo_exchange(plan, x->field, META_ASYNC));
    CHECK_OK(meta_flush());
}

static void exchanges_round(void *with)
{
    exchanges *x = with;
    void *swapped = x->field[0];
    exchange_all_ways(x->one, x);
    exchange_all_ways(x->three, x);
    exchange_all_ways(x->corners, x);
    exchange_all_ways(x->sums, x);
    CHECK_OK(meta_halo_overlap(x->one, x->field, sweep, sweep, x, META_ASYNC));
    CHECK_OK(meta_flush());
    x->field[0] = x->field[1]; /* as sweeps do: the next ones find other arrays there */
    x->field[1] = swapped;
}

static void exchanges_format_no_text(void)
{
    const meta_halo_field types[FIELDS] = {{META_F64, grid}, {META_F64, grid}, {META_I32, grid}};
    exchanges x;
    MPI_Comm cart = make_cart();
    for (int k = 0; k < FIELDS; ++k) x.field[k] = device_array(CELLS);
    x.one = plan_of(cart, META_HALO_FACES, META_HALO_COPY, NULL, 1);
    x.three = plan_of(cart, META_HALO_FACES, META_HALO_COPY, types, FIELDS);
    x.corners = plan_of(cart, META_HALO_ALL, META_HALO_COPY, NULL, FIELDS);
    x.sums = plan_of(cart, META_HALO_ALL, META_HALO_ADD, NULL, 1);
    keeps_silent(exchanges_round, &x);
    CHECK_OK(meta_halo_free(&x.one));
    CHECK_OK(meta_halo_free(&x.three));
    CHECK_OK(meta_halo_free(&x.corners));
    CHECK_OK(meta_halo_free(&x.sums));
    for (int k = 0; k < FIELDS; ++k) CHECK_OK(meta_free(x.field[k]));
    MPI_Comm_free(&cart);
}

TEST_MAIN_WITH(&setting, PROMISE(formatting_in_each_library_is_detected),
               PROMISE(kernels_format_no_text), PROMISE(buffers_format_no_text),
               PROMISE(copies_format_no_text), PROMISE(faces_format_no_text),
               PROMISE(messages_format_no_text), PROMISE(reductions_format_no_text),
               PROMISE(exchanges_format_no_text))
