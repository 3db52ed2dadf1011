/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_arguments.c
 *  Every parameter of every function of meta_comm.h, misused in every way that its type allows, on
 * all ranks alike and on one alone; the roles of the parameters. See each_argument.h. */
/* TEST: backends=all np=1,2 labels=comm */
#include "config.h"

#include "each_argument.h"
#include "test_mpi.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/arguments_comm.h"

#define T            argument_things
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ------------------------------------------------------------------ what calls are made with */

enum { FIELDS = 2, ELEMENTS = 64, TAG = 7, MOST_RANKS = 8, OWN_X = ARGUMENT_NX - 2 };
static MPI_Comm row; /* of ranks; each has the cells of T.box, and ghosts on all sides */
static meta_halo plan, made_plan, freed_plan;
static meta_exchange made_exchange, ended_exchange;
static int64_t cut_x[MOST_RANKS + 1], cut_y[] = {0, ARGUMENT_NY - 2},
                                      cut_z[] = {0, ARGUMENT_NZ - 2};
static const meta_cuts cuts = {{cut_x, cut_y, cut_z}};

static meta_halo_desc plan_desc(void)
{
    return (meta_halo_desc)META_HALO_DESC(row, T.box, 1, META_HALO_FACES, FIELDS, META_F64);
}

static void make_plan(void)
{
    const meta_halo_desc desc = plan_desc();
    CHECK_OK(meta_halo_create(&made_plan, &desc));
}

static void begin_exchange(void)
{
    CHECK_OK(meta_halo_begin(plan, T.buffer, &made_exchange));
}

static void make_row(void)
{
    const int periodic[] = {1, 1, 1}, extent[] = {test_size, 1, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 3, extent, periodic, 0, &row);
    for (int k = 0; k <= test_size; ++k) cut_x[k] = (int64_t)OWN_X * k;
}

static void have_things(void)
{
    argument_begin();
    make_plan();
    freed_plan = made_plan;
    CHECK_OK(meta_halo_free(&made_plan));
    make_plan();
    plan = made_plan;
    begin_exchange();
    ended_exchange = made_exchange;
    CHECK_OK(meta_halo_end(&made_exchange, NULL));
    argument_restore();
}

static void drop_things(void)
{
    CHECK_OK(meta_halo_free(&plan));
    argument_end();
}

static void join(const char *timeout)
{
    setenv("META_TIMEOUT", timeout, 1);
    make_row();
    test_require(meta_comm_init(NULL, NULL));
    test_require(meta_get_acc(&(int){0}, NULL));
    have_things();
}

static void leave(void)
{
    drop_things();
    CHECK_OK(meta_comm_finalize());
    MPI_Comm_free(&row);
}

/* ------------------------------------------------------------------ numbers */

ARGUMENT_INT_ROLE(rank, int, test_rank, {-7, META_ERR_ARGUMENT}, {MOST_RANKS, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(message_tag, int, TAG, {-1, META_ERR_ARGUMENT}, {32768, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(op, int, META_SUM, {-1, META_ERR_ARGUMENT}, {META_OP_COUNT, META_ERR_ARGUMENT},
                  {1000, META_ERR_ARGUMENT}, {INT_MAX, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(one_element, int64_t, 1, {-1, META_ERR_ARGUMENT}, {INT64_MIN, META_ERR_ARGUMENT},
                  {INT64_MAX, META_ERR_OVERFLOW})
ARGUMENT_INT_ROLE(cells_of_work, int64_t, 1, {0, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT64_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(samples, int, 1, {0, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(number_of_arrays, int, 1, {-1, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})

/* Of more elements than a buffer has it is the buffer that is too short. */
static void elements(argument *a)
{
    ARGUMENT_GOOD(a, int64_t, ELEMENTS);
    ARGUMENT_WRONG(a, "-1", META_ERR_ARGUMENT, int64_t, -1);
    ARGUMENT_WRONG(a, "INT64_MIN", META_ERR_ARGUMENT, int64_t, INT64_MIN);
    ARGUMENT_WRONG(a, "more than there are", META_ERR_BOUNDS, int64_t, ARGUMENT_CELLS + 1);
    a->wrong[a->wrongs - 1].also = "packed";
    ARGUMENT_WRONG(a, "INT64_MAX", META_ERR_BOUNDS, int64_t, INT64_MAX);
    a->wrong[a->wrongs - 1].also = "packed";
}

/* On the host, or on any device. */
static void numbers(argument *a)
{
    argument_result(a);
    if (T.elsewhere) --a->wrongs;
}

static void seconds(argument *a)
{
    static const double wrong[] = {0, -1, NAN, INFINITY};
    ARGUMENT_GOOD(a, double, 1);
    for (size_t k = 0; k < COUNT(wrong); ++k) {
        char what[32];
        snprintf(what, sizeof what, "%g", wrong[k]);
        ARGUMENT_WRONG(a, what, META_ERR_ARGUMENT, double, wrong[k]);
    }
}

/* ------------------------------------------------------------------ communicators and cuts */

/* A handle that was freed no MPI has to recognise. */
static void communicator(argument *a)
{
    ARGUMENT_GOOD(a, MPI_Comm, strcmp(a->name, "cart") == 0 ? row : MPI_COMM_WORLD);
    ARGUMENT_WRONG(a, "MPI_COMM_NULL", META_ERR_ARGUMENT, MPI_Comm, MPI_COMM_NULL);
    if (strcmp(a->name, "cart") == 0)
        ARGUMENT_WRONG(a, "without a topology", META_ERR_ARGUMENT, MPI_Comm, MPI_COMM_WORLD);
}

/* Arrays for cuts, with the first one's element @p k changed to @p value. */
static meta_cuts *cuts_with(int k, int64_t value)
{
    meta_cuts *changed = argument_out(sizeof *changed);
    const int parts[] = {test_size, 1, 1};
    for (int d = 0; d < 3; ++d) {
        changed->at[d] = argument_out((size_t)(parts[d] + 1) * sizeof(int64_t));
        memcpy(changed->at[d], cuts.at[d], (size_t)(parts[d] + 1) * sizeof(int64_t));
    }
    changed->at[0][k] = value;
    return changed;
}

static void cuts_in(argument *a)
{
    meta_cuts *without = cuts_with(0, 0);
    without->at[1] = NULL;
    ARGUMENT_GOOD(a, const meta_cuts *, &cuts);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_cuts *, NULL);
    ARGUMENT_WRONG(a, "without an array", META_ERR_ARGUMENT, const meta_cuts *, without);
    ARGUMENT_WRONG(a, "not from 0 on", META_ERR_ARGUMENT, const meta_cuts *, cuts_with(0, 1));
    ARGUMENT_WRONG(a, "negative", META_ERR_ARGUMENT, const meta_cuts *, cuts_with(0, INT64_MIN));
    ARGUMENT_WRONG(a, "falling", META_ERR_ARGUMENT, const meta_cuts *, cuts_with(test_size, -1));
    if (strcmp(a->function->name, "meta_cuts_block") == 0) return;
    ARGUMENT_WRONG(a, "of another grid", META_ERR_ARGUMENT, const meta_cuts *,
                   cuts_with(test_size, OWN_X * test_size + 1));
    ARGUMENT_WRONG(a, "of INT64_MAX planes", META_ERR_ARGUMENT, const meta_cuts *,
                   cuts_with(test_size, INT64_MAX));
}

static void cuts_out(argument *a)
{
    meta_cuts *without = cuts_with(0, 0);
    without->at[2] = NULL;
    ARGUMENT_GOOD(a, const meta_cuts *, cuts_with(0, 0));
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_cuts *, NULL);
    ARGUMENT_WRONG(a, "without an array", META_ERR_ARGUMENT, const meta_cuts *, without);
    if (strcmp(a->function->name, "meta_decompose") != 0)
        ARGUMENT_WRONG(a, "in the arrays of 'now'", META_ERR_OVERLAP, const meta_cuts *, &cuts);
}

#define WRONG_MEMBER(Desc, what, code, member, number)                                             \
    do {                                                                                           \
        Desc *wrong_desc = argument_out(sizeof *wrong_desc);                                       \
        *wrong_desc = *good;                                                                       \
        wrong_desc->member = (number);                                                             \
        ARGUMENT_WRONG(a, what, code, const Desc *, wrong_desc);                                   \
    } while (0)

static void grid(argument *a)
{
    meta_decompose_desc *good = argument_out(sizeof *good);
    *good = (meta_decompose_desc)META_DECOMPOSE_DESC_INIT;
    good->cart = row;
    good->cells[0] = (int64_t)OWN_X * test_size;
    good->cells[1] = cut_y[1], good->cells[2] = cut_z[1];
    ARGUMENT_GOOD(a, const meta_decompose_desc *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_decompose_desc *, NULL);
#define WRONG(what, code, member, number)                                                          \
    WRONG_MEMBER(meta_decompose_desc, what, META_ERR_##code, member, number)
    WRONG("without a size", ARGUMENT, size, 0);
    WRONG("of size 8", ARGUMENT, size, 8);
    WRONG("too small", ARGUMENT, size, sizeof *good - 1);
    WRONG("without a communicator", ARGUMENT, cart, MPI_COMM_NULL);
    WRONG("without a topology", ARGUMENT, cart, MPI_COMM_WORLD);
    WRONG("of no cells", ARGUMENT, cells[0], 0);
    WRONG("of -1 cells", ARGUMENT, cells[1], -1);
    WRONG("of INT64_MIN cells", ARGUMENT, cells[2], INT64_MIN);
    WRONG("with -1 planes at least", ARGUMENT, least[1], -1);
    WRONG("with INT64_MAX planes at least", ARGUMENT, least[0], INT64_MAX);
    WRONG("with -1 cells at most", ARGUMENT, most, -1);
    if (strcmp(a->function->name, "meta_decompose") == 0) {
        WRONG("of INT64_MAX cells", OVERFLOW, cells[0], INT64_MAX);
        WRONG("at speed 0", ARGUMENT, speed, 0);
        WRONG("at speed -1", ARGUMENT, speed, -1);
        WRONG("at no speed", ARGUMENT, speed, NAN);
        WRONG("at infinite speed", ARGUMENT, speed, INFINITY);
    }
#undef WRONG
}

/* The boxes, types and buffers of an array that is moved to the same blocks. */
static void moved_array(argument *a)
{
    void *const from = T.buffer[T.used++], *const to = T.buffer[T.used++];
    meta_redistribute_field *good = argument_out(sizeof *good);
    *good = (meta_redistribute_field){META_F64, from, T.box, to, T.box};
    ARGUMENT_GOOD(a, const meta_redistribute_field *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_redistribute_field *, NULL);
#define WRONG(what, code, member, number)                                                          \
    WRONG_MEMBER(meta_redistribute_field, what, META_ERR_##code, member, number)
    WRONG("of type -1", TYPE, type, (meta_type)-1);
    WRONG("of type META_TYPE_COUNT", TYPE, type, META_TYPE_COUNT);
    WRONG("of type INT_MAX", TYPE, type, (meta_type)INT_MAX);
    WRONG("from NULL", ARGUMENT, from, NULL);
    WRONG("from a freed one", POINTER, from, T.freed);
    WRONG("from memory of malloc()", POINTER, from, T.foreign);
    WRONG("from memory of meta_host_alloc()", POINTER, from, T.pinned);
    WRONG("from a misaligned address", ALIGNMENT, from, (char *)from + 1);
    WRONG("from a short one", BOUNDS, from, (double *)from + 8);
    WRONG("to NULL", ARGUMENT, to, NULL);
    WRONG("to a freed one", POINTER, to, T.freed);
    WRONG("to memory of malloc()", POINTER, to, T.foreign);
    WRONG("to the stack", POINTER, to, &good);
    WRONG("to a misaligned address", ALIGNMENT, to, (char *)to + 1);
    WRONG("to a short one", BOUNDS, to, (double *)to + 8);
    WRONG("to itself", OVERLAP, to, from);
    WRONG("from a box of no dimensions", ARGUMENT, from_box.ndim, 0);
    WRONG("from a box of two dimensions", ARGUMENT, from_box.ndim, 2);
    WRONG("from a box of INT_MIN dimensions", ARGUMENT, from_box.ndim, INT_MIN);
    WRONG("from a box before the array", BOUNDS, from_box.start[0], -1);
    WRONG("from a box behind the array", BOUNDS, from_box.end[1], ARGUMENT_NY + 1);
    WRONG("from too thin a box", BOUNDS, from_box.end[2], 2);
    WRONG("to a box of more dimensions than there are", ARGUMENT, to_box.ndim, META_MAX_DIM + 1);
    WRONG("to a box that starts at INT64_MIN", BOUNDS, to_box.start[1], INT64_MIN);
    WRONG("to a box that ends at INT64_MAX", BOUNDS, to_box.end[1], INT64_MAX);
    WRONG("to too thin a box", BOUNDS, to_box.start[0], 3);
#undef WRONG
}

/* ------------------------------------------------------------------ plans and exchanges */

static void plan_shape(argument *a)
{
    meta_halo_desc *good = argument_out(sizeof *good);
    *good = plan_desc();
    ARGUMENT_GOOD(a, const meta_halo_desc *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_halo_desc *, NULL);
#define WRONG(what, code, member, number)                                                          \
    WRONG_MEMBER(meta_halo_desc, what, META_ERR_##code, member, number)
    WRONG("without a size", ARGUMENT, size, 0);
    WRONG("of size 8", ARGUMENT, size, 8);
    WRONG("too small", ARGUMENT, size, offsetof(meta_halo_desc, batch) - 1);
    WRONG("without a communicator", ARGUMENT, cart, MPI_COMM_NULL);
    WRONG("without a topology", ARGUMENT, cart, MPI_COMM_WORLD);
    WRONG("of kind -1", ARGUMENT, kind, (meta_halo_kind)-1);
    WRONG("of kind INT_MAX", ARGUMENT, kind, (meta_halo_kind)INT_MAX);
    WRONG("with op 2", ARGUMENT, op, (meta_halo_op)2);
    WRONG("with op INT_MIN", ARGUMENT, op, (meta_halo_op)INT_MIN);
    WRONG("of no arrays", ARGUMENT, fields, 0);
    WRONG("of -1 arrays", ARGUMENT, fields, -1);
    WRONG("of INT_MIN arrays", ARGUMENT, fields, INT_MIN);
    WRONG("of type -1", TYPE, type, (meta_type)-1);
    WRONG("of type META_TYPE_COUNT", TYPE, type, META_TYPE_COUNT);
    WRONG("of type INT_MAX", TYPE, type, (meta_type)INT_MAX);
    WRONG("of -1 ghosts", ARGUMENT, low[0], -1);
    WRONG("of INT_MIN ghosts", ARGUMENT, high[1], INT_MIN);
    WRONG("of more ghosts than there are", BOUNDS, low[2], 2);
    WRONG("of INT_MAX ghosts", BOUNDS, high[0], INT_MAX);
    WRONG("of no dimensions", ARGUMENT, box.ndim, 0);
    WRONG("of two dimensions", ARGUMENT, box.ndim, 2);
    WRONG("of INT_MAX dimensions", ARGUMENT, box.ndim, INT_MAX);
    WRONG("before its array", BOUNDS, box.start[0], -1);
    WRONG("from INT64_MIN on", BOUNDS, box.start[1], INT64_MIN);
    WRONG("behind its array", BOUNDS, box.end[2], ARGUMENT_NZ + 1);
    WRONG("to INT64_MAX", BOUNDS, box.end[0], INT64_MAX);
    WRONG("thinner than its ghosts", BOUNDS, box.end[1], 1);
    WRONG("of a negative extent", BOUNDS, box.size[0], -1);
    WRONG("of INT64_MAX planes", OVERFLOW, box.size[2], INT64_MAX);
#undef WRONG
    static meta_halo_field field[FIELDS];
    for (int k = 0; k < FIELDS; ++k) field[k] = (meta_halo_field){META_F64, T.box};
    field[1].type = META_TYPE_COUNT;
    WRONG_MEMBER(meta_halo_desc, "with an array of no type", META_ERR_TYPE, field, field);
}

static void plan_handle(argument *a)
{
    const meta_halo wrong[] = {META_HALO_NULL, freed_plan,    {plan.slot, plan.generation + 1},
                               {plan.slot, 0}, {1u << 31, 1}, {UINT32_MAX, UINT32_MAX}};
    ARGUMENT_GOOD(a, meta_halo, plan);
    for (size_t k = 0; k < COUNT(wrong); ++k) {
        char what[32];
        snprintf(what, sizeof what, "wrong handle %zu", k);
        ARGUMENT_WRONG(a, what, META_ERR_HANDLE, meta_halo, wrong[k]);
    }
}

static void plan_out(argument *a)
{
    ARGUMENT_GOOD(a, meta_halo *, &made_plan);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_halo *, NULL);
}

static void plan_to_free(argument *a)
{
    const meta_halo wrong[] = {META_HALO_NULL, freed_plan, {UINT32_MAX, UINT32_MAX}};
    plan_out(a);
    for (size_t k = 0; k < COUNT(wrong); ++k) {
        char what[32];
        meta_halo *handle = argument_out(sizeof *handle);
        *handle = wrong[k];
        snprintf(what, sizeof what, "wrong handle %zu", k);
        ARGUMENT_WRONG(a, what, META_ERR_HANDLE, meta_halo *, handle);
    }
}

static void exchange_out(argument *a)
{
    ARGUMENT_GOOD(a, meta_exchange *, &made_exchange);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_exchange *, NULL);
}

static void exchange_to_end(argument *a)
{
    const meta_exchange wrong[] = {META_EXCHANGE_NULL, ended_exchange, {UINT32_MAX, UINT32_MAX}};
    exchange_out(a);
    for (size_t k = 0; k < COUNT(wrong); ++k) {
        char what[32];
        meta_exchange *handle = argument_out(sizeof *handle);
        *handle = wrong[k];
        snprintf(what, sizeof what, "wrong handle %zu", k);
        ARGUMENT_WRONG(a, what, META_ERR_HANDLE, meta_exchange *, handle);
    }
}

/* The plan's arrays, apart from each other and on one device. */
static void arrays(argument *a)
{
    void **list = argument_out(FIELDS * sizeof *list);
    argument_buffers(a);
    list[0] = list[1] = T.buffer[T.used - 1];
    ARGUMENT_WRONG(a, "one array twice", META_ERR_OVERLAP, void *const *, list);
    if (!T.elsewhere) return;
    list = argument_out(FIELDS * sizeof *list);
    list[0] = T.buffer[T.used - 1], list[1] = T.elsewhere;
    ARGUMENT_WRONG(a, "on two devices", META_ERR_WRONG_DEVICE, void *const *, list);
}

static meta_err no_work(const meta_box *box, void *with)
{
    (void)box, (void)with;
    return META_OK;
}

static void work_on_box(argument *a)
{
    ARGUMENT_GOOD(a, meta_halo_work *, no_work);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_halo_work *, NULL);
}

static meta_err no_speed_work(void *with)
{
    (void)with;
    return META_OK;
}

static void work_to_measure(argument *a)
{
    ARGUMENT_GOOD(a, meta_speed_work *, no_speed_work);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_speed_work *, NULL);
}

ARGUMENT_DESC_ROLE(traffic, meta_traffic, META_TRAFFIC_INIT)

/* ------------------------------------------------------------------ around calls */

/* Each rank sends to itself and receives that. */
static void send_to_self(void)
{
    CHECK_OK(meta_packed_send(test_rank, T.buffer[5], ELEMENTS, META_F64, TAG, META_ASYNC));
}

static void receive_of(int64_t count)
{
    CHECK_OK(meta_packed_recv(test_rank, T.buffer[5], count, META_F64, TAG, NULL));
    argument_restore();
}

static void receive_sent(meta_err code)
{
    if (code == META_OK) receive_of(ELEMENTS);
}

static void receive_unreceived(meta_err code)
{
    if (code != META_OK) receive_of(ELEMENTS);
}

static int64_t in_face(void)
{
    int64_t count = 0;
    CHECK_OK(meta_face_elements(&T.face, &count));
    return count;
}

static void send_face_to_self(void)
{
    CHECK_OK(meta_packed_send(test_rank, T.buffer[5], in_face(), META_F64, TAG, META_ASYNC));
}

static void receive_sent_face(meta_err code)
{
    if (code == META_OK) receive_of(in_face());
}

static void receive_unreceived_face(meta_err code)
{
    if (code != META_OK) receive_of(in_face());
}

static void free_made_plan(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_halo_free(&made_plan));
}

static void free_unfreed_plan(meta_err code)
{
    if (code != META_OK) CHECK_OK(meta_halo_free(&made_plan));
}

static void start_exchange(void)
{
    CHECK_OK(meta_halo_start(plan, T.buffer));
}

static void finish_exchange(void)
{
    CHECK_OK(meta_halo_finish(plan, NULL));
    argument_restore();
}

static void finish_started(meta_err code)
{
    if (code == META_OK) finish_exchange();
}

static void finish_unfinished(meta_err code)
{
    if (code != META_OK) finish_exchange();
}

static void end_exchange(void)
{
    CHECK_OK(meta_halo_end(&made_exchange, NULL));
    argument_restore();
}

static void end_begun(meta_err code)
{
    if (code == META_OK) end_exchange();
}

static void end_unended(meta_err code)
{
    if (code != META_OK) end_exchange();
}

static void be_outside(void)
{
    drop_things();
    CHECK_OK(meta_comm_finalize());
}

static void be_inside(meta_err code)
{
    if (code != META_OK) CHECK_OK(meta_comm_attach(MPI_COMM_WORLD));
    have_things();
}

static void be_inside_again(meta_err code)
{
    (void)code;
    CHECK_OK(meta_comm_init(NULL, NULL));
    have_things();
}

/* ------------------------------------------------------------------ the table */

static const argument_row rows[] = {
    {NULL, "done", argument_done},
    {NULL, "type", argument_type},
    {NULL, "face", argument_face},
    {NULL, "buf", argument_buffer},
    {NULL, "packed", argument_buffer},
    {NULL, "dst", rank},
    {NULL, "src", rank},
    {NULL, "tag", message_tag},
    {NULL, "count", elements},
    {NULL, "with", argument_opaque},
    {NULL, "argc", argument_opaque},
    {NULL, "argv", argument_opaque},
    {NULL, "comm", communicator},
    {NULL, "cart", communicator},
    {"meta_comm_rank", "rank", argument_out_pointer},
    {"meta_comm_rank", "size", argument_out_pointer},
    {"meta_allreduce", "recv", numbers},
    {"meta_allreduce", "send", numbers},
    {"meta_allreduce", "count", one_element},
    {"meta_allreduce", "op", op},
    {"meta_allreduce", "type", argument_arithmetic},
    {NULL, "plan", plan_handle},
    {"meta_halo_create", "plan", plan_out},
    {"meta_halo_create", "desc", plan_shape},
    {"meta_halo_free", "plan", plan_to_free},
    {NULL, "fields", arrays},
    {"meta_halo_begin", "exchange", exchange_out},
    {"meta_halo_end", "exchange", exchange_to_end},
    {NULL, "interior", work_on_box},
    {NULL, "boundary", work_on_box},
    {"meta_cuts_block", "cuts", cuts_in},
    {"meta_cuts_block", "rank", rank},
    {"meta_cuts_block", "first", argument_out_pointer},
    {"meta_cuts_block", "cells", argument_out_pointer},
    {"meta_measure_speed", "work", work_to_measure},
    {"meta_measure_speed", "cells", cells_of_work},
    {"meta_measure_speed", "times", samples},
    {"meta_measure_speed", "speed", argument_out_pointer},
    {"meta_decompose", "cuts", cuts_out},
    {NULL, "desc", grid},
    {"meta_decompose", "seconds", argument_out_pointer},
    {"meta_rebalance", "next", cuts_out},
    {"meta_rebalance", "now", cuts_in},
    {"meta_rebalance", "seconds", seconds},
    {"meta_rebalance", "before", argument_out_pointer},
    {"meta_rebalance", "after", argument_out_pointer},
    {"meta_balance", "next", cuts_out},
    {"meta_balance", "now", cuts_in},
    {"meta_balance", "computing", seconds},
    {"meta_balance", "step", seconds},
    {"meta_balance", "gain", argument_out_pointer},
    {"meta_redistribute", "before", cuts_in},
    {"meta_redistribute", "after", cuts_in},
    {"meta_redistribute", "fields", number_of_arrays},
    {"meta_redistribute", "field", moved_array},
    {"meta_comm_traffic", "traffic", traffic},
};

static const argument_accepted accepted[] = {
    {"meta_comm_rank", "rank", "NULL", "documented: not both"},
    {"meta_comm_rank", "size", "NULL", "documented: not both"},
    {"meta_cuts_block", "first", "NULL", "documented: not both"},
    {"meta_cuts_block", "cells", "NULL", "documented: not both"},
    {"meta_decompose", "seconds", "NULL", "documented"},
    {"meta_rebalance", "before", "NULL", "documented"},
    {"meta_rebalance", "after", "NULL", "documented"},
    {"meta_balance", "gain", "NULL", "documented"},
};

/* There is no communicator by which to tell them. */
static const argument_accepted untold[] = {
    {"meta_halo_create", "desc", "NULL", "names no communicator"},
    {"meta_halo_create", "desc", "without a size", "may end before the communicator"},
    {"meta_halo_create", "desc", "of size 8", "ends before the communicator"},
    {"meta_halo_create", "desc", "without a communicator", ""},
    {"meta_halo_create", "desc", "without a topology", "is another communicator than theirs"},
    {"meta_measure_speed", "comm", "MPI_COMM_NULL", ""},
    {"meta_decompose", "desc", "NULL", "names no communicator"},
    {"meta_decompose", "desc", "without a size", "may end before the communicator"},
    {"meta_decompose", "desc", "of size 8", "ends before the communicator"},
    {"meta_decompose", "desc", "without a communicator", ""},
    {"meta_decompose", "desc", "without a topology", "is another communicator than theirs"},
    {"meta_rebalance", "desc", "NULL", "names no communicator"},
    {"meta_rebalance", "desc", "without a size", "may end before the communicator"},
    {"meta_rebalance", "desc", "of size 8", "ends before the communicator"},
    {"meta_rebalance", "desc", "without a communicator", ""},
    {"meta_rebalance", "desc", "without a topology", "is another communicator than theirs"},
    {"meta_balance", "desc", "NULL", "names no communicator"},
    {"meta_balance", "desc", "without a size", "may end before the communicator"},
    {"meta_balance", "desc", "of size 8", "ends before the communicator"},
    {"meta_balance", "desc", "without a communicator", ""},
    {"meta_balance", "desc", "without a topology", "is another communicator than theirs"},
    {"meta_redistribute", "cart", "MPI_COMM_NULL", ""},
    {"meta_redistribute", "cart", "without a topology", "is another communicator than theirs"},
};

static const argument_around around[] = {
    {"meta_comm_init", NULL, NULL, {META_ERR_STATE, META_ERR_STATE, META_ERR_STATE}},
    {"meta_comm_attach", be_outside, be_inside, {META_OK}},
    {"meta_comm_finalize", drop_things, be_inside_again, {META_OK}},
    {"meta_packed_send", NULL, receive_sent, {META_OK}},
    {"meta_packed_recv", send_to_self, receive_unreceived, {META_OK}},
    {"meta_pack_send", NULL, receive_sent_face, {META_OK}},
    {"meta_recv_unpack", send_face_to_self, receive_unreceived_face, {META_OK}},
    {"meta_halo_create", NULL, free_made_plan, {META_OK}},
    {"meta_halo_start", NULL, finish_started, {META_OK}},
    {"meta_halo_finish", start_exchange, finish_unfinished, {META_OK}},
    {"meta_halo_begin", NULL, end_begun, {META_OK}},
    {"meta_halo_end", begin_exchange, end_unended, {META_OK}},
    {"meta_halo_free", make_plan, free_unfreed_plan, {META_OK}},
};

static const char *const known_others[] = {"meta_path_name", NULL};
static const char *const startless[] = {"meta_comm_init", "meta_comm_attach", NULL};

static const char *const agreed[] = {"meta_halo_create",
                                     "meta_measure_speed",
                                     "meta_decompose",
                                     "meta_rebalance",
                                     "meta_balance",
                                     "meta_redistribute",
                                     NULL};

static const argument_table table = {.function = argument_functions,
                                     .functions = COUNT(argument_functions),
                                     .others = argument_others,
                                     .row = rows,
                                     .rows = COUNT(rows),
                                     .accepted = accepted,
                                     .accepts = COUNT(accepted),
                                     .around = around,
                                     .arounds = COUNT(around),
                                     .known_others = known_others,
                                     .startless = startless,
                                     .agreed = agreed,
                                     .untold = untold,
                                     .untolds = COUNT(untold),
                                     .end = leave};

/* ------------------------------------------------------------------ promises */

static void every_argument_is_refused_by_name(void)
{
    join("10");
    argument_misuse_all(&table);
    leave();
}

/* Where they cannot be told they wait, until that rank calls as it should. */
static void one_ranks_misuse_is_an_error_there_and_keeps_no_other_rank(void)
{
    if (test_size == 1) return;
    join("10");
    argument_misuse_on(&table, test_size - 1);
    leave();
}

static meta_err reduce(bool wrong)
{
    const double mine = 1;
    double sum;
    return meta_allreduce(&sum, wrong ? NULL : &mine, 1, META_SUM, META_F64, NULL);
}

static meta_err create(bool wrong)
{
    const meta_halo_desc desc = plan_desc();
    return meta_halo_create(&made_plan, wrong ? NULL : &desc);
}

static meta_err exchange(bool wrong)
{
    return meta_halo_exchange(wrong ? freed_plan : plan, T.buffer, NULL);
}

static meta_err overlap(bool wrong)
{
    return meta_halo_overlap(plan, T.buffer, wrong ? NULL : no_work, no_work, NULL, NULL);
}

static meta_err drop(bool wrong)
{
    meta_halo none = META_HALO_NULL;
    return meta_halo_free(wrong ? &none : &plan);
}

static meta_err measure(bool wrong)
{
    double speed;
    return meta_measure_speed(wrong ? MPI_COMM_NULL : row, no_speed_work, NULL, 1, 1, &speed);
}

static meta_err decompose(bool wrong)
{
    int64_t x[MOST_RANKS + 1], y[2], z[2];
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = row;
    desc.cells[0] = (int64_t)OWN_X * test_size;
    desc.cells[1] = desc.cells[2] = 1;
    return meta_decompose(&(meta_cuts){{x, y, z}}, wrong ? NULL : &desc, NULL);
}

static meta_err redistribute(bool wrong)
{
    const meta_redistribute_field field = {META_F64, T.buffer[0], T.box, T.buffer[1], T.box};
    return meta_redistribute(wrong ? MPI_COMM_WORLD : row, &cuts, &cuts, 1, &field);
}

/* The rank that was wrong does not call again. */
static void a_rank_that_gives_up_a_call_is_missed_in_time_and_named(void)
{
    static meta_err (*const call[])(bool) = {reduce, create,  exchange,  overlap,
                                             drop,   measure, decompose, redistribute};
    const size_t few = (size_t)test_count(2, COUNT(call));
    const size_t from = (size_t)test_random_in(0, COUNT(call) - 1);
    const int last = test_size - 1;
    char who[32];
    snprintf(who, sizeof who, "rank %d", last);
    setenv("META_LOG", "off", 1); /* what is left behind is warned of */
    for (size_t k = from; k < from + few && test_size > 1; ++k) {
        test_case("function %zu", k % COUNT(call));
        join("1");
        const meta_err code = call[k % COUNT(call)](test_rank == last);
        if (test_rank != last) {
            CHECK_INT(code, META_ERR_PEER);
            CHECK_CONTAINS(meta_last_error(), who);
        } else CHECK(code == META_ERR_ARGUMENT || code == META_ERR_HANDLE);
        MPI_Barrier(MPI_COMM_WORLD); /* until then it does not wait in libmeta */
        meta_comm_finalize();        /* as well as it can: buffers and plans go with it */
        free(T.foreign);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    unsetenv("META_LOG");
}

static void every_function_needs_a_job(void)
{
    join("10");
    argument_call_unstarted(&table);
}

TEST_MPI_MAIN(PROMISE(every_argument_is_refused_by_name),
              PROMISE(one_ranks_misuse_is_an_error_there_and_keeps_no_other_rank),
              PROMISE(a_rank_that_gives_up_a_call_is_missed_in_time_and_named),
              PROMISE(every_function_needs_a_job))
