/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_misuse.c
 *  Invalid arguments, calls in the wrong state, and neighbours that disagree: the right error
 *  code on every rank concerned, a message that names the argument or both values, and
 *  communication that continues to work. */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm */
#include "test_mpi.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 10 };

static void *device_array(size_t elements)
{
    void *ptr = NULL;
    CHECK_OK(meta_alloc(&ptr, elements * sizeof(double)));
    return ptr;
}

/* Rank 0 and its last neighbour still understand each other. */
static void communication_goes_on(void)
{
    double one = 1, sum = 0;
    CHECK_OK(meta_allreduce(&sum, &one, 1, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, test_size, 0);
}

/* ------------------------------------------------------------------ messages */

static void arguments_of_messages_are_checked(void)
{
    static double host[CELLS];
    void *a = device_array(CELLS), *b = device_array(CELLS);
    meta_event untouched = {123, 457};
    CHECK_ERR_NAMES(meta_packed_send(test_size, a, 1, META_F64, 0, NULL), META_ERR_ARGUMENT,
                    "'dst'");
    CHECK_ERR_NAMES(meta_packed_send(-7, a, 1, META_F64, 0, NULL), META_ERR_ARGUMENT, "'dst'");
    CHECK_ERR_NAMES(meta_packed_recv(MPI_ANY_SOURCE, a, 1, META_F64, 0, NULL), META_ERR_ARGUMENT,
                    "MPI_ANY_SOURCE");
    CHECK_ERR_NAMES(meta_packed_send(0, a, 1, META_F64, -1, NULL), META_ERR_ARGUMENT, "'tag'");
    CHECK_ERR_NAMES(meta_packed_send(0, a, 1, META_F64, 32768, NULL), META_ERR_ARGUMENT, "'tag'");
    CHECK_ERR_NAMES(meta_packed_send(0, a, -1, META_F64, 0, NULL), META_ERR_ARGUMENT, "'count'");
    CHECK_ERR_NAMES(meta_packed_send(0, NULL, 1, META_F64, 0, &untouched), META_ERR_ARGUMENT,
                    "'packed'");
    CHECK_ERR_NAMES(meta_packed_send(0, host, 1, META_F64, 0, &untouched), META_ERR_POINTER,
                    "'packed'");
    CHECK_ERR_NAMES(meta_packed_recv(0, a, CELLS + 1, META_F64, 0, &untouched), META_ERR_BOUNDS,
                    "'packed'");
    CHECK_ERR_NAMES(meta_packed_recv(0, a, INT64_MAX, META_F64, 0, &untouched), META_ERR_BOUNDS,
                    "'packed'");
    CHECK_ERR_NAMES(meta_packed_recv(0, a, 1, (meta_type)99, 0, &untouched), META_ERR_TYPE,
                    "'type'");
    CHECK_ERR_NAMES(meta_packed_recv(0, (char *)a + 1, 1, META_F64, 0, &untouched),
                    META_ERR_ALIGNMENT, "'packed'");
    CHECK(untouched.slot == 123 && untouched.generation == 457);
    meta_face face = {.start = 0, .count = 1, .size = {4}, .stride = {2}};
    CHECK_ERR_NAMES(meta_pack_send(0, NULL, a, b, META_F64, 0, NULL), META_ERR_ARGUMENT, "'face'");
    CHECK_ERR_NAMES(meta_pack_send(0, &face, a, a, META_F64, 0, NULL), META_ERR_OVERLAP,
                    "'packed'");
    face.size[0] = CELLS;
    CHECK_ERR_NAMES(meta_recv_unpack(0, &face, a, b, META_F64, 0, NULL), META_ERR_BOUNDS, "'buf'");
    face.stride[0] = 0;
    CHECK_ERR_NAMES(meta_recv_unpack(0, &face, a, b, META_F64, 0, NULL), META_ERR_ARGUMENT,
                    "stride");
    CHECK_OK(meta_free(a));
    CHECK_ERR_NAMES(meta_packed_send(0, a, 1, META_F64, 0, NULL), META_ERR_POINTER, "freed");
    CHECK_OK(meta_free(b));
    communication_goes_on();
}

static void arguments_of_reductions_are_checked(void)
{
    double x[4] = {0}, y[4];
    int16_t small = 0;
    CHECK_ERR_NAMES(meta_allreduce(NULL, x, 1, META_SUM, META_F64, NULL), META_ERR_ARGUMENT,
                    "'recv'");
    CHECK_ERR_NAMES(meta_allreduce(y, NULL, 1, META_SUM, META_F64, NULL), META_ERR_ARGUMENT,
                    "'send'");
    CHECK_ERR_NAMES(meta_allreduce(y, x, -1, META_SUM, META_F64, NULL), META_ERR_ARGUMENT,
                    "'count'");
    CHECK_ERR_NAMES(meta_allreduce(y, x, 1, META_OP_COUNT, META_F64, NULL), META_ERR_ARGUMENT,
                    "'op'");
    CHECK_ERR_NAMES(meta_allreduce(&small, &small, 1, META_SUM, META_I16, NULL), META_ERR_TYPE,
                    "i16");
    CHECK_ERR(meta_allreduce(x + 1, x, 3, META_SUM, META_F64, NULL), META_ERR_OVERLAP);
    CHECK_OK(meta_allreduce(y, x, 0, META_SUM, META_F64, NULL));
    CHECK_ERR_NAMES(meta_comm_rank(NULL, NULL), META_ERR_ARGUMENT, "'rank'");
    communication_goes_on();
}

/* ------------------------------------------------------------------ plans */

static meta_halo_desc line(MPI_Comm *cart)
{
    const meta_box own = {1, {CELLS + 2}, {1}, {CELLS + 1}};
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, cart);
    return (meta_halo_desc)META_HALO_DESC(*cart, own, 1, META_HALO_FACES, 1, META_F64);
}

/* One rank differs from all others: everybody is told. */
static void refused(const meta_halo_desc *good, const meta_halo_desc *bad, meta_err error,
                    const char *words)
{
    meta_halo plan = {77, 78};
    CHECK_ERR_NAMES(meta_halo_create(&plan, test_rank == test_size - 1 ? bad : good), error, words);
    CHECK(plan.slot == 77 && plan.generation == 78);
}

static void what_is_wrong_on_one_rank_is_an_error_on_all(void)
{
    MPI_Comm cart;
    const meta_halo_desc good = line(&cart);
    char who[32];
    snprintf(who, sizeof who, "rank %d: ", test_size - 1);
    meta_halo_desc bad = good;
    bad.low[0] = 2;
    refused(&good, &bad, META_ERR_BOUNDS, who);
    bad = good, bad.high[0] = -1;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->high[0]");
    bad = good, bad.fields = 0;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->fields");
    bad = good, bad.type = (meta_type)55;
    refused(&good, &bad, META_ERR_TYPE, who);
    bad = good, bad.kind = (meta_halo_kind)9;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->kind");
    bad = good, bad.box.ndim = 2, bad.box.size[1] = bad.box.end[1] = 1;
    refused(&good, &bad, META_ERR_ARGUMENT, "'desc->low[1]' is 1"); /* a batch has no ghosts */
    bad.low[1] = 0;
    refused(&good, &bad, META_ERR_ARGUMENT, "set desc->low[1] and desc->high[1] to 0");
    bad.high[1] = 0, bad.batch = 4;
    refused(&good, &bad, META_ERR_ARGUMENT, "'desc->batch' is 0x4, but 'desc->box' has 2");
    bad.batch = 3;
    refused(&good, &bad, META_ERR_ARGUMENT, "'desc->batch' leaves 0 of the 2");
    bad = good, bad.box.end[0] = CELLS + 9;
    refused(&good, &bad, META_ERR_BOUNDS, "desc->box");
    bad = good, bad.box.end[0] = 1; /* no cell to send */
    refused(&good, &bad, META_ERR_BOUNDS, "thick");
    /* Within one rank nothing is sent that could be too much. */
    bad = good, bad.fields = 2147483647, bad.box.size[0] = INT64_MAX / 16,
    bad.box.end[0] = INT64_MAX / 16 - (1 << 30), bad.high[0] = 1 << 30;
    if (test_size > 1) refused(&good, &bad, META_ERR_OVERFLOW, who);
    MPI_Comm_free(&cart);
    communication_goes_on();
}

static void neighbours_that_disagree_are_named_with_both_values(void)
{
    MPI_Comm cart;
    const meta_halo_desc good = line(&cart);
    meta_halo_desc bad = good;
    if (test_size > 1) {
        bad.type = META_I64;
        refused(&good, &bad, META_ERR_MISMATCH, "i64 on rank");
        refused(&good, &bad, META_ERR_MISMATCH, "f64 on rank");
        bad = good, bad.fields = 3;
        refused(&good, &bad, META_ERR_MISMATCH, "number of fields");
        bad = good, bad.kind = META_HALO_ALL;
        refused(&good, &bad, META_ERR_MISMATCH, "META_HALO_ALL on rank");
        bad = good, bad.low[0] = 0;
        refused(&good, &bad, META_ERR_MISMATCH, "low side of x");
    }
    MPI_Comm_free(&cart);
    communication_goes_on();
}

/* Three species, behind the cells or before them. */
static void batches_that_differ_are_named_with_both_values(void)
{
    MPI_Comm cart;
    const meta_halo_desc plain = line(&cart);
    meta_halo_desc good = plain, bad;
    good.box = (meta_box){2, {CELLS + 2, 4}, {1, 1}, {CELLS + 1, 4}};
    good.low[1] = good.high[1] = 0;
    if (test_size > 1) {
        bad = good, bad.box.start[1] = 2;
        refused(&good, &bad, META_ERR_MISMATCH, "field 0 along dimension 1, a batch");
        refused(&good, &bad, META_ERR_MISMATCH, "3 on rank");
        refused(&good, &bad, META_ERR_MISMATCH, "2 on rank");
        refused(&good, &plain, META_ERR_MISMATCH, "number of dimensions of field 0");
        bad = good, bad.batch = 1;
        bad.box = (meta_box){2, {4, CELLS + 2}, {1, 1}, {4, CELLS + 1}};
        bad.low[0] = bad.high[0] = 0, bad.low[1] = bad.high[1] = 1;
        refused(&good, &bad, META_ERR_MISMATCH, "dimension of field 0 that is x");
    }
    MPI_Comm_free(&cart);
    communication_goes_on();
}

/* Its description ends where it did then, and what follows may be anything. */
static void a_program_compiled_before_there_were_batches_has_none(void)
{
    MPI_Comm cart;
    meta_halo_desc desc = line(&cart);
    meta_halo plan;
    desc.box.ndim = 2, desc.box.size[1] = desc.box.end[1] = 1;
    desc.low[1] = desc.high[1] = 0;
    desc.size = offsetof(meta_halo_desc, batch);
    desc.batch = 0xffffffff;
    if (CHECK_OK(meta_halo_create(&plan, &desc))) CHECK_OK(meta_halo_free(&plan));
    --desc.size;
    CHECK_ERR_NAMES(meta_halo_create(&plan, &desc), META_ERR_ARGUMENT, "META_HALO_DESC_INIT");
    MPI_Comm_free(&cart);
}

/* Two arrays, the second of them the one that differs. */
static void arrays_that_differ_are_compared_one_by_one(void)
{
    MPI_Comm cart;
    meta_halo_desc good = line(&cart);
    const meta_halo_field like = {META_F64, good.box};
    meta_halo_field mine[2] = {like, like}, theirs[2] = {like, like};
    meta_halo_desc bad = good;
    good.fields = bad.fields = 2;
    good.field = mine, bad.field = theirs;
    if (test_size > 1) {
        theirs[1].type = META_U64;
        refused(&good, &bad, META_ERR_MISMATCH, "field 1");
        refused(&good, &bad, META_ERR_MISMATCH, "u64 on rank");
        refused(&good, &bad, META_ERR_MISMATCH, "f64 on rank");
        theirs[1] = like;
        mine[0].box.size[0] = theirs[0].box.size[0] = CELLS + 3;
        theirs[0].box.end[0] = CELLS + 2;
        refused(&good, &bad, META_ERR_MISMATCH, "staggering of field 0");
        theirs[0] = mine[0];
        bad.op = META_HALO_ADD;
        refused(&good, &bad, META_ERR_MISMATCH, "META_HALO_ADD on rank");
        refused(&good, &bad, META_ERR_MISMATCH, "META_HALO_COPY on rank");
        bad.op = META_HALO_COPY;
        bad.fields = 1;
        refused(&good, &bad, META_ERR_MISMATCH, "number of fields");
        bad.fields = 2;
    }
    MPI_Comm_free(&cart);
    communication_goes_on();
}

static void wrong_arrays_of_a_plan_are_named(void)
{
    MPI_Comm cart;
    meta_halo_desc good = line(&cart);
    const meta_halo_field like = {META_F64, good.box};
    meta_halo_field mine[2] = {like, like}, theirs[2] = {like, like};
    meta_halo_desc bad = good;
    good.fields = bad.fields = 2;
    good.field = mine, bad.field = theirs;
    theirs[1].type = (meta_type)-1;
    refused(&good, &bad, META_ERR_TYPE, "");
    theirs[1] = like, theirs[1].box.ndim = 0;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->field[1].box");
    theirs[1] = like, theirs[1].box.ndim = 2, theirs[1].box.size[1] = theirs[1].box.end[1] = 1;
    bad.batch = 4;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->field[1].box");
    bad.batch = 0;
    theirs[1] = like, theirs[1].box.end[0] = CELLS - 1;
    refused(&good, &bad, META_ERR_BOUNDS, "desc->field[1].box");
    theirs[1] = like, theirs[1].box.size[0] = CELLS + 9, theirs[1].box.end[0] = CELLS + 3;
    refused(&good, &bad, META_ERR_BOUNDS, "desc->field[1].box");
    theirs[1] = like, theirs[1].box.start[0] = 0, theirs[1].box.end[0] = CELLS;
    refused(&good, &bad, META_ERR_BOUNDS, "desc->field[1].box");
    theirs[1] = like;
    bad.op = (meta_halo_op)2;
    refused(&good, &bad, META_ERR_ARGUMENT, "desc->op");
    good.op = bad.op = META_HALO_ADD;
    theirs[1].type = META_I16;
    refused(&good, &bad, META_ERR_TYPE, "i16");
    MPI_Comm_free(&cart);
    communication_goes_on();
}

/* The rank that speaks for another version: what it sends is changed on its way, and what it is
 * sent. */
static int another_version = -1;

#pragma GCC visibility push(default)
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    enum { SLOTS = 64, ROOM = 512 };
    static _Alignas(8) char changed[SLOTS][ROOM];
    static int slot;
    if ((test_rank == another_version || to == another_version) && count >= 8 && count <= ROOM &&
        memcmp(data, "memc", 4) == 0) {
        slot = (slot + 1) % SLOTS;
        memcpy(changed[slot], data, (size_t)count);
        ++changed[slot][4];
        data = changed[slot];
    }
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}
#pragma GCC visibility pop

static void another_version_of_the_library_is_recognised(void)
{
    MPI_Comm cart;
    const meta_halo_desc good = line(&cart);
    void *a = device_array(CELLS);
    const int from = test_size - 1, to = 0;
    another_version = from;
    if (test_size > 1) {
        refused(&good, &good, META_ERR_MISMATCH, "version");
        if (test_rank == from) CHECK_OK(meta_packed_send(to, a, CELLS, META_F64, 1, NULL));
        if (test_rank == to)
            CHECK_ERR_NAMES(meta_packed_recv(from, a, CELLS, META_F64, 1, NULL), META_ERR_MISMATCH,
                            "version");
    }
    another_version = -1;
    CHECK_OK(meta_free(a));
    MPI_Comm_free(&cart);
    communication_goes_on();
}

static void blocks_that_do_not_fit_together_are_refused(void)
{
    const int periodic[2] = {0, 0}, extent[2] = {test_size, 1};
    meta_halo_desc good = META_HALO_DESC_INIT, bad;
    MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &good.cart);
    good.box = (meta_box){2, {CELLS + 2, CELLS + 2}, {1, 1}, {CELLS + 1, CELLS + 1}};
    good.low[0] = good.high[0] = good.low[1] = good.high[1] = 1;
    bad = good, bad.box.end[1] = CELLS;
    if (test_size > 1) { /* one rank has no neighbour that its block must fit */
        refused(&good, &bad, META_ERR_MISMATCH, "1x9 on rank");
        refused(&good, &bad, META_ERR_MISMATCH, "1x10 on rank");
    }
    bad = good, bad.box.ndim = 1;
    refused(&good, &bad, META_ERR_ARGUMENT, "'desc->box' has 1 dimensions, the Cartesian");
    bad = good, bad.box.end[0] = CELLS; /* along the axis itself extents may differ */
    meta_halo plan;
    if (CHECK_OK(meta_halo_create(&plan, test_rank == 0 ? &bad : &good)))
        CHECK_OK(meta_halo_free(&plan));
    MPI_Comm_free(&good.cart);
}

static void a_description_without_a_topology_is_refused(void)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan;
    CHECK_ERR_NAMES(meta_halo_create(&plan, NULL), META_ERR_ARGUMENT, "'desc'");
    CHECK_ERR_NAMES(meta_halo_create(NULL, &desc), META_ERR_ARGUMENT, "'plan'");
    CHECK_ERR_NAMES(meta_halo_create(&plan, &desc), META_ERR_ARGUMENT, "MPI_COMM_NULL");
    desc.cart = MPI_COMM_WORLD;
    CHECK_ERR_NAMES(meta_halo_create(&plan, &desc), META_ERR_ARGUMENT, "Cartesian");
    desc.size = 8;
    CHECK_ERR_NAMES(meta_halo_create(&plan, &desc), META_ERR_ARGUMENT, "META_HALO_DESC_INIT");
}

/* The others do not wait for it. */
static void a_plan_that_one_rank_asks_for_wrongly_is_refused_on_all(void)
{
    meta_halo_desc desc = META_HALO_DESC_INIT, wrong;
    const int periodic = 1;
    const bool last = test_rank == test_size - 1;
    meta_halo plan = META_HALO_NULL;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &desc.cart);
    CHECK_ERR_NAMES(meta_halo_create(last ? NULL : &plan, &desc), META_ERR_ARGUMENT, "'plan'");
    wrong = desc;
    wrong.fields = -1;
    CHECK_ERR_NAMES(meta_halo_create(&plan, last ? &wrong : &desc), META_ERR_ARGUMENT, "fields");
    if (CHECK_OK(meta_halo_create(&plan, &desc))) CHECK_OK(meta_halo_free(&plan));
    MPI_Comm_free(&desc.cart);
}

/* Planes of so many arrays, for which there is no memory either. */
static void ghosts_that_cannot_be_counted_are_refused(void)
{
    const int dims[3] = {test_size, 1, 1}, periodic[3] = {1, 1, 1};
    const int64_t edge = INT64_C(1) << 14;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    desc.box = (meta_box){3, {edge, edge, 3}, {0, 0, 1}, {edge, edge, 2}};
    desc.low[2] = desc.high[2] = 1;
    desc.fields = 2147483647;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &desc.cart);
    CHECK_ERR_NAMES(meta_halo_create(&plan, &desc), META_ERR_OVERFLOW,
                    "argument 'desc': 2147483647 fields");
    MPI_Comm_free(&desc.cart);
}

/* All on every rank alike, so that no neighbour is left in the middle of an exchange. */
static void a_plan_is_used_in_its_order(void)
{
    MPI_Comm cart;
    meta_halo_desc desc = line(&cart);
    meta_halo plan, copy, none = META_HALO_NULL;
    void *u[2] = {device_array(CELLS + 2), device_array(CELLS + 2)}, *wrong[2] = {u[0], u[0]};
    double host[CELLS + 2];
    desc.fields = 2;
    if (!CHECK_OK(meta_halo_create(&plan, &desc))) return;
    copy = plan;
    CHECK_ERR(meta_halo_start(none, u), META_ERR_HANDLE);
    CHECK_ERR_NAMES(meta_halo_start((meta_halo){12345, 3}, u), META_ERR_HANDLE,
                    "is no plan's handle");
    CHECK_ERR_NAMES(meta_halo_start((meta_halo){plan.slot, plan.generation + 1}, u),
                    META_ERR_HANDLE, "is no plan's handle");
    CHECK_ERR_NAMES(meta_halo_finish(plan, NULL), META_ERR_STATE, "start");
    CHECK_ERR_NAMES(meta_halo_start(plan, NULL), META_ERR_ARGUMENT, "'fields'");
    CHECK_ERR_NAMES(meta_halo_start(plan, wrong), META_ERR_OVERLAP, "fields[1]");
    wrong[1] = NULL;
    CHECK_ERR_NAMES(meta_halo_start(plan, wrong), META_ERR_ARGUMENT, "fields[1]");
    wrong[1] = host;
    CHECK_ERR_NAMES(meta_halo_start(plan, wrong), META_ERR_POINTER, "fields[1]");
    wrong[1] = (double *)u[1] + 1;
    CHECK_ERR_NAMES(meta_halo_start(plan, wrong), META_ERR_BOUNDS, "fields[1]");
    CHECK_OK(meta_halo_start(plan, u));
    CHECK_ERR_NAMES(meta_halo_start(plan, u), META_ERR_STATE, "meta_halo_finish");
    CHECK_ERR_NAMES(meta_halo_free(&plan), META_ERR_STATE, "meta_halo_finish");
    CHECK_ERR(meta_free(u[0]), META_ERR_STATE);
    CHECK_OK(meta_halo_finish(plan, NULL));
    CHECK_ERR(meta_halo_finish(plan, NULL), META_ERR_STATE);
    CHECK_OK(meta_halo_free(&plan));
    CHECK(plan.slot == 0 && plan.generation == 0);
    CHECK_ERR_NAMES(meta_halo_start(copy, u), META_ERR_HANDLE, "freed");
    CHECK_ERR(meta_halo_free(&copy), META_ERR_HANDLE);
    CHECK_ERR(meta_halo_free(&plan), META_ERR_HANDLE);
    CHECK_OK(meta_free(u[0]));
    CHECK_OK(meta_free(u[1]));
    MPI_Comm_free(&cart);
}

static void an_exchange_is_ended_once(void)
{
    MPI_Comm cart;
    meta_halo_desc desc = line(&cart);
    meta_halo plan, freed;
    meta_exchange exchange = {77, 78}, copy, second;
    void *u = device_array(CELLS + 2), *v = device_array(CELLS + 2), *none = NULL;
    if (!CHECK_OK(meta_halo_create(&plan, &desc))) return;
    freed = plan;
    CHECK_ERR_NAMES(meta_halo_begin(plan, &u, NULL), META_ERR_ARGUMENT, "'exchange'");
    CHECK_ERR_NAMES(meta_halo_begin(plan, NULL, &exchange), META_ERR_ARGUMENT, "'fields'");
    CHECK_ERR_NAMES(meta_halo_begin(plan, &none, &exchange), META_ERR_ARGUMENT, "fields[0]");
    CHECK_INT(exchange.slot, 77);
    CHECK_ERR_NAMES(meta_halo_end(NULL, NULL), META_ERR_ARGUMENT, "'exchange'");
    CHECK_ERR_NAMES(meta_halo_end(&exchange, NULL), META_ERR_HANDLE, "no exchange's");
    CHECK_OK(meta_halo_begin(plan, &u, &exchange));
    CHECK_OK(meta_halo_begin(plan, &v, &second));
    copy = exchange;
    CHECK_ERR_NAMES(meta_halo_finish(plan, NULL), META_ERR_STATE, "meta_halo_start");
    CHECK_ERR_NAMES(meta_halo_free(&plan), META_ERR_STATE, "meta_halo_end");
    CHECK_ERR(meta_free(u), META_ERR_STATE);
    CHECK_OK(meta_halo_end(&exchange, NULL));
    CHECK(exchange.slot == 0 && exchange.generation == 0);
    CHECK_ERR_NAMES(meta_halo_end(&exchange, NULL), META_ERR_HANDLE, "META_EXCHANGE_NULL");
    CHECK_ERR_NAMES(meta_halo_end(&copy, NULL), META_ERR_HANDLE, "was ended");
    CHECK_OK(meta_halo_end(&second, NULL));
    CHECK_OK(meta_halo_begin(plan, &u, &exchange)); /* may use what the first one used */
    CHECK_ERR_NAMES(meta_halo_end(&copy, NULL), META_ERR_HANDLE, "was ended");
    CHECK_OK(meta_halo_end(&exchange, META_ASYNC));
    CHECK_OK(meta_halo_free(&plan));
    CHECK_ERR_NAMES(meta_halo_begin(freed, &u, &exchange), META_ERR_HANDLE, "freed");
    CHECK_ERR_NAMES(meta_halo_end(&copy, NULL), META_ERR_HANDLE, "was ended");
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(v));
    MPI_Comm_free(&cart);
}

/* Whether there is a device of another kind than this thread's; it is chosen then. */
static bool choose_another_device(meta_mode mine)
{
    for (meta_mode mode = META_OPENMP; mode <= META_HIP; ++mode) {
        int count = 0;
        CHECK_OK(meta_device_count(mode, &count));
        if (mode != mine && count > 0) return CHECK_OK(meta_set_acc(0, mode));
    }
    return false;
}

static void arrays_on_two_devices_are_refused(void)
{
    MPI_Comm cart;
    meta_halo_desc desc = line(&cart);
    meta_halo plan;
    meta_mode mine;
    int index;
    void *u[2] = {device_array(CELLS + 2), NULL};
    desc.fields = 2;
    CHECK_OK(meta_get_acc(&index, &mine));
    if (!CHECK_OK(meta_halo_create(&plan, &desc))) return;
    if (choose_another_device(mine)) {
        u[1] = device_array(CELLS + 2);
        CHECK_ERR_NAMES(meta_halo_start(plan, u), META_ERR_WRONG_DEVICE, "fields[0]");
        CHECK_ERR_NAMES(meta_halo_start(plan, u), META_ERR_WRONG_DEVICE, "fields[1]");
        CHECK_OK(meta_free(u[1]));
        CHECK_OK(meta_set_acc(index, mine));
    }
    u[1] = device_array(CELLS + 2);
    CHECK_OK(meta_halo_exchange(plan, u, NULL));
    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(u[0]));
    CHECK_OK(meta_free(u[1]));
    MPI_Comm_free(&cart);
}

/* ------------------------------------------------------------------ threads */

static meta_event pending_receive;

static void *another_thread(void *buffer)
{
    int complete;
    CHECK_ERR_NAMES(meta_packed_send(test_rank, buffer, 1, META_F64, 0, NULL), META_ERR_STATE,
                    "MPI_THREAD_FUNNELED");
    CHECK_ERR(meta_event_wait(pending_receive), META_ERR_STATE);
    CHECK_OK(meta_event_test(pending_receive, &complete));
    CHECK(!complete);
    CHECK_OK(meta_comm_rank(&complete, NULL));
    return NULL;
}

static void other_threads_get_an_error_without_mpi_thread_support(void)
{
    pthread_t thread;
    void *buffer = device_array(1);
    int level;
    MPI_Query_thread(&level);
    if (level >= MPI_THREAD_SERIALIZED) return;
    CHECK_OK(meta_packed_recv(test_rank, buffer, 1, META_F64, 0, &pending_receive));
    pthread_create(&thread, NULL, another_thread, buffer);
    pthread_join(thread, NULL);
    CHECK_OK(meta_packed_send(test_rank, buffer, 1, META_F64, 0, NULL));
    CHECK_OK(meta_event_wait(pending_receive));
    CHECK_OK(meta_event_free(&pending_receive));
    CHECK_OK(meta_free(buffer));
}

TEST_COMM_MAIN(PROMISE(arguments_of_messages_are_checked),
               PROMISE(arguments_of_reductions_are_checked),
               PROMISE(what_is_wrong_on_one_rank_is_an_error_on_all),
               PROMISE(neighbours_that_disagree_are_named_with_both_values),
               PROMISE(batches_that_differ_are_named_with_both_values),
               PROMISE(a_program_compiled_before_there_were_batches_has_none),
               PROMISE(arrays_that_differ_are_compared_one_by_one),
               PROMISE(wrong_arrays_of_a_plan_are_named),
               PROMISE(another_version_of_the_library_is_recognised),
               PROMISE(blocks_that_do_not_fit_together_are_refused),
               PROMISE(a_description_without_a_topology_is_refused),
               PROMISE(a_plan_that_one_rank_asks_for_wrongly_is_refused_on_all),
               PROMISE(ghosts_that_cannot_be_counted_are_refused),
               PROMISE(a_plan_is_used_in_its_order), PROMISE(an_exchange_is_ended_once),
               PROMISE(arrays_on_two_devices_are_refused),
               PROMISE(other_threads_get_an_error_without_mpi_thread_support))
