/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_messages.c
 *  Point-to-point messages and reductions between ranks on any devices: contents, order,
 *  blocking and non-blocking, to the rank itself, and disagreement between the two ends. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: backends=all np=1,2,3 mixed=yes labels=comm */
/* TEST: backends=all np=1,2,3 mixed=yes with=PIPELINE=4096 labels=comm */
/* TEST: backends=openmp,opencl np=2 mixed=yes with=TEST_CHUNK=5000 labels=comm */
/* TEST: backends=openmp,opencl np=3 mixed=yes with=PIPELINE=65536 labels=comm long=yes
 */
/* TEST: backends=openmp np=2 mixed=yes with=PROGRESS=thread,PIPELINE=4096 labels=comm
 */
#include "test_mpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int left, right; /* neighbours on a ring */

static void find_neighbours(void)
{
    left = (test_rank + test_size - 1) % test_size;
    right = (test_rank + 1) % test_size;
}

static void *device_array(size_t bytes)
{
    void *ptr = NULL;
    CHECK_OK(meta_alloc(&ptr, bytes > 0 ? bytes : 1));
    return ptr;
}

/* What rank @p of sends in case @p number: the same bytes wherever it is made. */
static void make_payload(unsigned char *bytes, size_t count, int of, int64_t number)
{
    uint64_t x = (uint64_t)of * 1000003 + (uint64_t)number + 1;
    for (size_t k = 0; k < count; ++k) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[k] = (unsigned char)(x >> 56);
    }
}

/* ------------------------------------------------------------------ contents */

/* One message round the ring; @p way: how both ends wait. */
static void pass_on(int64_t number, int64_t count, meta_type type, int way)
{
    size_t element = 1;
    meta_type_size(type, &element);
    const size_t bytes = (size_t)count * element;
    unsigned char *host = malloc(bytes + 1), *expected = malloc(bytes + 1);
    void *out = device_array(bytes), *in = device_array(bytes);
    const int tag = (int)(number % 32768);
    meta_event event[2] = {META_EVENT_NULL, META_EVENT_NULL};
    make_payload(host, bytes, test_rank, number);
    make_payload(expected, bytes, left, number);
    CHECK_OK(meta_copy_h2d(out, host, bytes, META_ASYNC));
    if (way == 0) { /* everybody sends first: a blocking send needs no receive */
        CHECK_OK(meta_packed_send(right, out, count, type, tag, NULL));
        CHECK_OK(meta_packed_recv(left, in, count, type, tag, NULL));
    } else if (way == 1) {
        CHECK_OK(meta_packed_recv(left, in, count, type, tag, &event[0]));
        CHECK_OK(meta_packed_send(right, out, count, type, tag, &event[1]));
        CHECK_OK(meta_event_waitall(2, event));
        CHECK_OK(meta_event_free(&event[0]));
        CHECK_OK(meta_event_free(&event[1]));
    } else {
        CHECK_OK(meta_packed_recv(left, in, count, type, tag, META_ASYNC));
        CHECK_OK(meta_packed_send(right, out, count, type, tag, META_ASYNC));
        CHECK_OK(meta_flush());
    }
    CHECK_OK(meta_copy_d2h(host, in, bytes, NULL));
    CHECK_ARRAY(host, expected, bytes, META_U8);
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    free(host);
    free(expected);
}

static void a_message_arrives_as_it_was_sent(void)
{
    const int64_t cases = test_count(60, 2000);
    find_neighbours();
    for (int64_t k = 0; k < cases; ++k) {
        const int64_t most = k % 10 == 9 ? 300000 : 3000;
        const int64_t count = k < 4 ? k : test_random_in(1, most);
        const meta_type type = (meta_type)test_random_in(0, META_TYPE_COUNT - 1);
        const int way = (int)test_random_in(0, 2);
        test_case("%lld: %lld elements of type %d, way %d", (long long)k, (long long)count,
                  (int)type, way);
        pass_on(k, count, type, way);
    }
}

static void messages_of_one_tag_keep_their_order(void)
{
    enum { MESSAGES = 40, COUNT = 500 };
    meta_event event[MESSAGES];
    int64_t host[COUNT];
    void *in[MESSAGES], *out = device_array(sizeof host);
    find_neighbours();
    for (int k = 0; k < MESSAGES; ++k) {
        in[k] = device_array(sizeof host);
        CHECK_OK(meta_packed_recv(left, in[k], k % 7 ? COUNT : 1, META_I64, k % 3, &event[k]));
    }
    for (int k = 0; k < MESSAGES; ++k) {
        const int64_t value = 1000 * test_rank + k;
        CHECK_OK(meta_fill(out, COUNT, &value, META_I64, META_ASYNC));
        CHECK_OK(meta_packed_send(right, out, k % 7 ? COUNT : 1, META_I64, k % 3, META_ASYNC));
    }
    CHECK_OK(meta_event_waitall(MESSAGES, event));
    for (int k = 0; k < MESSAGES; ++k) {
        CHECK_OK(meta_copy_d2h(host, in[k], sizeof *host, NULL));
        CHECK_INT(host[0], 1000 * left + k);
        CHECK_OK(meta_event_free(&event[k]));
    }
    CHECK_OK(meta_flush());
    for (int k = 0; k < MESSAGES; ++k) CHECK_OK(meta_free(in[k]));
    CHECK_OK(meta_free(out));
}

static void a_face_is_packed_sent_received_and_unpacked(void)
{
    enum { NX = 9, NY = 7, NZ = 5, CELLS = NX * NY * NZ };
    const meta_box box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
    float host[CELLS], got[CELLS];
    void *u = device_array(sizeof host), *out = device_array(sizeof host),
         *in = device_array(sizeof host);
    find_neighbours();
    for (int axis = 0; axis < 3; ++axis) {
        meta_face mine, ghosts;
        meta_event event = META_EVENT_NULL;
        int64_t count;
        for (int k = 0; k < CELLS; ++k) host[k] = (float)(test_rank * CELLS + k);
        CHECK_OK(meta_face_slab(&mine, &box, axis, META_SLAB_HIGH, 1));
        CHECK_OK(meta_face_slab(&ghosts, &box, axis, META_SLAB_LOW_GHOST, 1));
        CHECK_OK(meta_face_elements(&mine, &count));
        CHECK_OK(meta_copy_h2d(u, host, sizeof host, META_ASYNC));
        CHECK_OK(meta_pack_send(right, &mine, u, out, META_F32, axis, &event));
        CHECK_OK(meta_recv_unpack(left, &ghosts, u, in, META_F32, axis, NULL));
        CHECK_OK(meta_event_wait(event));
        CHECK_OK(meta_event_free(&event));
        for (int64_t z = 0; z < ghosts.size[2]; ++z)
            for (int64_t y = 0; y < ghosts.size[1]; ++y)
                for (int64_t x = 0; x < ghosts.size[0]; ++x) {
                    const int64_t to = ghosts.start + x + y * NX + z * NX * NY;
                    const int64_t from = mine.start + x + y * NX + z * NX * NY;
                    host[to] = (float)(left * CELLS + from);
                }
        CHECK_OK(meta_copy_d2h(got, u, sizeof got, NULL));
        CHECK_ARRAY(got, host, CELLS, META_F32);
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

static void a_rank_sends_to_itself(void)
{
    double host[3] = {1.5, -2.5, 3.5}, got[3] = {0};
    void *out = device_array(sizeof host), *in = device_array(sizeof host);
    meta_event event = META_EVENT_NULL;
    CHECK_OK(meta_copy_h2d(out, host, sizeof host, NULL));
    CHECK_OK(meta_packed_send(test_rank, out, 3, META_F64, 5, NULL));
    CHECK_OK(meta_packed_send(test_rank, out, 2, META_F64, 5, NULL));
    CHECK_OK(meta_packed_recv(test_rank, in, 3, META_F64, 5, NULL));
    CHECK_OK(meta_copy_d2h(got, in, sizeof got, NULL));
    CHECK_ARRAY(got, host, 3, META_F64);
    CHECK_ERR_NAMES(meta_packed_recv(test_rank, in, 3, META_F64, 5, NULL), META_ERR_MISMATCH,
                    "the sender has 2 elements of f64, the receiver expects 3 of f64");
    CHECK_OK(meta_packed_recv(test_rank, in, 3, META_F64, 6, &event));
    CHECK_OK(meta_packed_send(test_rank, out, 3, META_F64, 6, META_ASYNC));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

static void mpi_proc_null_is_a_no_op(void)
{
    meta_event event = {7, 7};
    CHECK_OK(meta_packed_send(MPI_PROC_NULL, NULL, 3, META_F64, 0, NULL));
    CHECK_OK(meta_packed_recv(MPI_PROC_NULL, NULL, 3, META_F64, 0, &event));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_pack_send(MPI_PROC_NULL, NULL, NULL, NULL, META_F64, 0, META_ASYNC));
    CHECK_OK(meta_recv_unpack(MPI_PROC_NULL, NULL, NULL, NULL, META_F64, 0, NULL));
}

/* ------------------------------------------------------------------ in parts */

enum {
    LONG = 256 << 10, /* from here on a message may be cut */
    CHUNK = 4096      /* what META_PIPELINE is in some of this test's entries */
};

/* Bytes near a multiple of the chunk. */
static int64_t long_bytes(int64_t most_chunks)
{
    return LONG + CHUNK * test_random_in(0, most_chunks) + test_random_in(-2, 2);
}

static void a_long_message_arrives_as_it_was_sent(void)
{
    const int64_t cases = test_count(12, 400);
    find_neighbours();
    for (int64_t k = 0; k < cases; ++k) {
        const int64_t count = k == cases - 1 ? 5 << 20 : long_bytes(64);
        const int way = (int)(k % 3);
        test_case("%lld: %lld bytes, way %d", (long long)k, (long long)count, way);
        pass_on(k, count, META_U8, way);
    }
}

/* What is sent to both neighbours and received from them. */
typedef struct traffic {
    int64_t bytes;
    void *in[2], *out[2];
    meta_event received[2], sent[2];
} traffic;

enum { TAGS = 3 };

/* Message @p k to one side; on two ranks both sides are one neighbour, so tags tell them apart. */
static void send_one(traffic *t, int k, int way)
{
    const size_t bytes = (size_t)t->bytes;
    unsigned char *host = malloc(bytes);
    t->out[way] = device_array(bytes);
    make_payload(host, bytes, test_rank, 100 * k + way);
    CHECK_OK(meta_copy_h2d(t->out[way], host, bytes, NULL));
    CHECK_OK(meta_packed_send(way ? right : left, t->out[way], t->bytes, META_U8,
                              way * TAGS + k % TAGS, &t->sent[way]));
    free(host);
}

static void receive_one(traffic *t, int k, int way)
{
    t->in[way] = device_array((size_t)t->bytes);
    CHECK_OK(meta_packed_recv(way ? left : right, t->in[way], t->bytes, META_U8,
                              way * TAGS + k % TAGS, &t->received[way]));
}

static void check_one(traffic *t, int k, int way)
{
    const size_t bytes = (size_t)t->bytes;
    unsigned char *host = malloc(bytes), *expected = malloc(bytes);
    test_case("way %d, message %d of %lld bytes", way, k, (long long)t->bytes);
    make_payload(expected, bytes, way ? left : right, 100 * k + way);
    CHECK_OK(meta_copy_d2h(host, t->in[way], bytes, NULL));
    CHECK_ARRAY(host, expected, t->bytes, META_U8);
    CHECK_OK(meta_event_free(&t->received[way]));
    CHECK_OK(meta_event_free(&t->sent[way]));
    CHECK_OK(meta_free(t->in[way]));
    CHECK_OK(meta_free(t->out[way]));
    free(host);
    free(expected);
}

/* Long and short ones of few tags, sends and receives posted in any mixture. */
static void many_messages_are_in_flight_in_both_directions(void)
{
    enum { MANY = 14 };
    const int64_t rounds = test_count(2, 40);
    traffic t[MANY];
    find_neighbours();
    for (int64_t round = 0; round < rounds; ++round) {
        for (int k = 0; k < MANY; ++k)
            t[k].bytes = k % 3 == 2 ? test_random_in(1, CHUNK + 2) : long_bytes(32);
        for (int sends = 0, receives = 0; sends + receives < 2 * MANY;) {
            const bool receive = sends == MANY || (receives < MANY && test_random_in(0, 1) != 0);
            const int k = receive ? receives++ : sends++;
            for (int way = 0; way < 2; ++way) (receive ? receive_one : send_one)(&t[k], k, way);
        }
        for (int k = 0; k < MANY; ++k) {
            CHECK_OK(meta_event_waitall(2, t[k].received));
            CHECK_OK(meta_event_waitall(2, t[k].sent));
            for (int way = 0; way < 2; ++way) check_one(&t[k], k, way);
        }
        CHECK_OK(meta_flush());
    }
}

static void work_queued_behind_a_long_send_or_receive_comes_after_it(void)
{
    enum { COUNT = LONG, MESSAGES = 5 };
    int64_t *host = malloc(COUNT * sizeof *host), *expected = malloc(COUNT * sizeof *host);
    void *out = device_array(COUNT * sizeof *host), *in[MESSAGES];
    find_neighbours();
    for (int64_t k = 0; k < MESSAGES; ++k) {
        const int64_t value = 1000 * test_rank + k;
        in[k] = device_array(COUNT * sizeof *host);
        CHECK_OK(meta_fill(out, COUNT, &value, META_I64, META_ASYNC));
        CHECK_OK(meta_packed_send(right, out, COUNT, META_I64, 1, META_ASYNC));
    }
    const int64_t nothing = -1;
    CHECK_OK(meta_fill(out, COUNT, &nothing, META_I64, META_ASYNC));
    for (int64_t k = 0; k < MESSAGES; ++k) {
        /* What was queued before the receive does not undo it. */
        CHECK_OK(meta_fill(in[k], COUNT, &nothing, META_I64, META_ASYNC));
        CHECK_OK(meta_packed_recv(left, in[k], COUNT, META_I64, 1, k % 2 ? NULL : META_ASYNC));
    }
    CHECK_OK(meta_flush());
    for (int64_t k = 0; k < MESSAGES; ++k) {
        test_case("message %d", (int)k);
        for (int64_t i = 0; i < COUNT; ++i) expected[i] = 1000 * left + k;
        CHECK_OK(meta_copy_d2h(host, in[k], COUNT * sizeof *host, NULL));
        CHECK_ARRAY(host, expected, COUNT, META_I64);
        CHECK_OK(meta_free(in[k]));
    }
    CHECK_OK(meta_free(out));
    free(host);
    free(expected);
}

static void a_long_face_is_unpacked_behind_its_last_part(void)
{
    enum { NX = 7, NY = 300, NZ = 301, CELLS = NX * NY * NZ };
    const meta_box box = {3, {NX, NY, NZ}, {1, 0, 0}, {NX - 1, NY, NZ}};
    float *host = malloc(CELLS * sizeof *host), *got = malloc(CELLS * sizeof *got);
    void *u = device_array(CELLS * sizeof *host), *out = device_array(CELLS * sizeof *host),
         *in = device_array(CELLS * sizeof *host);
    meta_face mine, ghosts;
    meta_event event = META_EVENT_NULL;
    find_neighbours();
    for (int k = 0; k < CELLS; ++k) host[k] = (float)(test_rank * 1000 + k % 977);
    CHECK_OK(meta_copy_h2d(u, host, CELLS * sizeof *host, META_ASYNC));
    CHECK_OK(meta_face_slab(&mine, &box, 0, META_SLAB_HIGH, 1));
    CHECK_OK(meta_face_slab(&ghosts, &box, 0, META_SLAB_LOW_GHOST, 1));
    CHECK_OK(meta_recv_unpack(left, &ghosts, u, in, META_F32, 3, &event));
    CHECK_OK(meta_pack_send(right, &mine, u, out, META_F32, 3, NULL));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_copy_d2h(got, u, CELLS * sizeof *got, NULL));
    for (int row = 0; row < NY * NZ; ++row)
        host[row * NX] = (float)(left * 1000 + (row * NX + NX - 2) % 977);
    CHECK_ARRAY(got, host, CELLS, META_F32);
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    free(host);
    free(got);
}

static void long_messages_to_this_rank_itself_keep_their_order(void)
{
    enum { MESSAGES = 6 };
    unsigned char *host = malloc(2 * LONG), *expected = malloc(2 * LONG);
    void *out = device_array(2 * LONG), *in = device_array(2 * LONG);
    meta_event early = META_EVENT_NULL;
    int64_t bytes[MESSAGES];
    for (int k = 0; k < MESSAGES; ++k) bytes[k] = k == 3 ? 100 : long_bytes(32);
    /* The first one is expected before it is sent, all others are sent first. */
    CHECK_OK(meta_packed_recv(test_rank, in, bytes[0], META_U8, 4, &early));
    for (int k = 0; k < MESSAGES; ++k) {
        make_payload(host, (size_t)bytes[k], test_rank, k);
        CHECK_OK(meta_copy_h2d(out, host, (size_t)bytes[k], NULL));
        CHECK_OK(meta_packed_send(test_rank, out, bytes[k], META_U8, 4, k % 2 ? NULL : META_ASYNC));
    }
    for (int k = 0; k < MESSAGES; ++k) {
        test_case("message %d of %lld bytes", k, (long long)bytes[k]);
        make_payload(expected, (size_t)bytes[k], test_rank, k);
        if (k == 0) CHECK_OK(meta_event_wait(early));
        else if (k == 2) {
            CHECK_ERR(meta_packed_recv(test_rank, in, bytes[k] - 1, META_U8, 4, NULL),
                      META_ERR_MISMATCH);
            continue;
        } else CHECK_OK(meta_packed_recv(test_rank, in, bytes[k], META_U8, 4, NULL));
        CHECK_OK(meta_copy_d2h(host, in, (size_t)bytes[k], NULL));
        CHECK_ARRAY(host, expected, bytes[k], META_U8);
    }
    CHECK_OK(meta_event_free(&early));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    free(host);
    free(expected);
}

/* ------------------------------------------------------------------ disagreement */

static void a_long_mismatch_is_consumed_and_its_neighbours_arrive(void)
{
    enum { MESSAGES = 7 };
    const unsigned char mark = 42;
    unsigned char *host = malloc(2 * LONG), *expected = malloc(2 * LONG);
    void *out = device_array(2 * LONG), *in[MESSAGES];
    meta_event event[MESSAGES];
    int64_t bytes[MESSAGES];
    find_neighbours();
    for (int k = 0; k < MESSAGES; ++k) {
        bytes[k] = long_bytes(32);
        in[k] = device_array(2 * LONG);
        CHECK_OK(meta_fill(in[k], 2 * LONG, &mark, META_U8, META_ASYNC));
    }
    /* The third is longer than expected, the fifth shorter, the sixth of another type. */
    for (int k = 0; k < MESSAGES; ++k) {
        const int64_t expects = k == 2 ? 10 : k == 4 ? 2 * LONG : bytes[k] / 4 * 4;
        CHECK_OK(meta_packed_recv(left, in[k], k == 5 ? expects / 4 : expects,
                                  k == 5 ? META_I32 : META_U8, 11, &event[k]));
    }
    for (int k = 0; k < MESSAGES; ++k) {
        make_payload(host, (size_t)bytes[k], test_rank, k);
        CHECK_OK(meta_copy_h2d(out, host, (size_t)bytes[k], NULL));
        CHECK_OK(meta_packed_send(right, out, bytes[k] / 4 * 4, META_U8, 11, META_ASYNC));
    }
    for (int k = 0; k < MESSAGES; ++k) {
        const bool wrong = k == 2 || k == 4 || k == 5;
        test_case("message %d of %lld bytes", k, (long long)bytes[k]);
        if (wrong) CHECK_ERR(meta_event_wait(event[k]), META_ERR_MISMATCH);
        else CHECK_OK(meta_event_wait(event[k]));
        memset(expected, mark, 2 * LONG);
        if (!wrong) make_payload(expected, (size_t)(bytes[k] / 4 * 4), left, k);
        CHECK_OK(meta_copy_d2h(host, in[k], 2 * LONG, NULL));
        CHECK_ARRAY(host, expected, 2 * LONG, META_U8);
        CHECK_OK(meta_event_free(&event[k]));
    }
    CHECK_OK(meta_flush());
    for (int k = 0; k < MESSAGES; ++k) CHECK_OK(meta_free(in[k]));
    CHECK_OK(meta_free(out));
    free(host);
    free(expected);
}

static void a_mismatch_is_the_receivers_error_and_writes_nothing(void)
{
    enum { COUNT = 5000 };
    static double host[COUNT], got[COUNT];
    const double mark = 42;
    void *out = device_array(sizeof host), *in = device_array(sizeof host);
    meta_event event = META_EVENT_NULL;
    char text[100];
    find_neighbours();
    snprintf(text, sizeof text,
             "rank %d, tag 7: the sender has %d elements of f32, the receiver "
             "expects %d of f64",
             left, COUNT, COUNT);
    CHECK_OK(meta_fill(out, COUNT, &mark, META_F64, NULL));
    CHECK_OK(meta_fill(in, COUNT, &mark, META_F64, NULL));
    CHECK_OK(meta_packed_send(right, out, COUNT, META_F32, 7, META_ASYNC));
    CHECK_ERR_NAMES(meta_packed_recv(left, in, COUNT, META_F64, 7, NULL), META_ERR_MISMATCH, text);
    CHECK_OK(meta_packed_send(right, out, 0, META_F64, 7, META_ASYNC));
    CHECK_ERR(meta_packed_recv(left, in, COUNT, META_F64, 7, NULL), META_ERR_MISMATCH);
    CHECK_OK(meta_packed_send(right, out, COUNT, META_F64, 7, META_ASYNC));
    CHECK_OK(meta_packed_recv(left, in, 0, META_F64, 7, &event));
    CHECK_ERR(meta_event_wait(event), META_ERR_MISMATCH);
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_packed_send(right, out, 3, META_I32, 7, META_ASYNC));
    CHECK_OK(meta_packed_recv(left, in, 3, META_U32, 7, META_ASYNC));
    CHECK_ERR(meta_flush(), META_ERR_MISMATCH);
    CHECK_OK(meta_flush());
    CHECK_OK(meta_copy_d2h(got, in, sizeof got, NULL));
    for (int k = 0; k < COUNT; ++k) host[k] = mark;
    CHECK_ARRAY(got, host, COUNT, META_F64);
    /* And the next message of the tag is a good one. */
    CHECK_OK(meta_packed_send(right, out, 1, META_F64, 7, NULL));
    CHECK_OK(meta_packed_recv(left, in, 1, META_F64, 7, NULL));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

static void a_buffer_in_a_message_is_not_freed(void)
{
    meta_event event = META_EVENT_NULL;
    const double one = 1;
    void *out = device_array(sizeof one), *in = device_array(sizeof one);
    find_neighbours();
    CHECK_OK(meta_fill(out, 1, &one, META_F64, NULL));
    CHECK_OK(meta_packed_recv(left, in, 1, META_F64, 9, &event));
    CHECK_ERR(meta_free(in), META_ERR_STATE);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(meta_packed_send(right, out, 1, META_F64, 9, NULL));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(out));
}

/* ------------------------------------------------------------------ reductions */

static void allreduce_combines_all_ranks(void)
{
    enum { COUNT = 3000 };
    static int32_t mine[COUNT], found[COUNT], expected[COUNT];
    void *device = device_array(sizeof mine), *other = device_array(sizeof mine);
    for (int op = META_SUM; op < META_OP_COUNT; ++op)
        for (int way = 0; way < 6; ++way) {
            void *send = way % 3 == 0 ? (void *)mine : device;
            void *recv = way < 2 ? (void *)found : way < 4 ? other : send;
            meta_event event = META_EVENT_NULL;
            test_case("operation %d, way %d", op, way);
            for (int k = 0; k < COUNT; ++k) {
                mine[k] = (k - COUNT / 2) * (test_rank % 2 ? -3 : 2) + test_rank;
                for (int r = 0; r < test_size; ++r) {
                    const int32_t v = (k - COUNT / 2) * (r % 2 ? -3 : 2) + r;
                    if (r == 0) expected[k] = v;
                    else if (op == META_SUM) expected[k] += v;
                    else if (op == META_MIN ? v < expected[k] : v > expected[k]) expected[k] = v;
                }
            }
            CHECK_OK(meta_copy_h2d(device, mine, sizeof mine, META_ASYNC));
            CHECK_OK(
                meta_allreduce(recv, send, COUNT, (meta_op)op, META_I32, way % 2 ? NULL : &event));
            CHECK_OK(meta_event_wait(event));
            CHECK_OK(meta_event_free(&event));
            if (recv == other || recv == device)
                CHECK_OK(meta_copy_d2h(found, recv, sizeof found, NULL));
            CHECK_ARRAY(recv == mine ? mine : found, expected, COUNT, META_I32);
        }
    CHECK_OK(meta_free(device));
    CHECK_OK(meta_free(other));
}

static void integers_wrap_and_a_nan_makes_the_result_nan(void)
{
    const int64_t large = INT64_MAX;
    const uint64_t wrapped = (uint64_t)INT64_MAX * (uint64_t)test_size;
    int64_t sum;
    CHECK_OK(meta_allreduce(&sum, &large, 1, META_SUM, META_I64, NULL));
    CHECK_U64(sum, wrapped);
    for (int bad = 0; bad < test_size; ++bad) {
        double x = test_rank == bad ? (double)NAN : test_rank, most;
        float y = (float)x, least;
        CHECK_OK(meta_allreduce(&most, &x, 1, META_MAX, META_F64, NULL));
        CHECK_OK(meta_allreduce(&least, &y, 1, META_MIN, META_F32, NULL));
        CHECK(isnan(most) && isnan(least));
    }
    double x = test_rank, most = -1;
    CHECK_OK(meta_allreduce(&most, &x, 1, META_MAX, META_F64, NULL));
    CHECK_NEAR(most, test_size - 1, 0);
}

static void several_reductions_are_in_flight_at_once(void)
{
    enum { MANY = 20 };
    meta_event event[MANY];
    double value[MANY];
    for (int k = 0; k < MANY; ++k) {
        value[k] = k * (test_rank + 1);
        CHECK_OK(meta_allreduce(&value[k], &value[k], 1, META_SUM, META_F64, &event[k]));
    }
    CHECK_OK(meta_event_waitall(MANY, event));
    for (int k = 0; k < MANY; ++k) {
        CHECK_NEAR(value[k], k * test_size * (test_size + 1) / 2, 0);
        CHECK_OK(meta_event_free(&event[k]));
    }
}

TEST_COMM_MAIN(PROMISE(a_message_arrives_as_it_was_sent),
               PROMISE(messages_of_one_tag_keep_their_order),
               PROMISE(a_face_is_packed_sent_received_and_unpacked),
               PROMISE(a_long_message_arrives_as_it_was_sent),
               PROMISE(many_messages_are_in_flight_in_both_directions),
               PROMISE(work_queued_behind_a_long_send_or_receive_comes_after_it),
               PROMISE(a_long_face_is_unpacked_behind_its_last_part),
               PROMISE(long_messages_to_this_rank_itself_keep_their_order),
               PROMISE(a_rank_sends_to_itself), PROMISE(mpi_proc_null_is_a_no_op),
               PROMISE(a_mismatch_is_the_receivers_error_and_writes_nothing),
               PROMISE(a_long_mismatch_is_consumed_and_its_neighbours_arrive),
               PROMISE(a_buffer_in_a_message_is_not_freed), PROMISE(allreduce_combines_all_ranks),
               PROMISE(integers_wrap_and_a_nan_makes_the_result_nan),
               PROMISE(several_reductions_are_in_flight_at_once))
