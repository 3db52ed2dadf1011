/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_metamorph.c
 *  MetaMorph's messages between ranks on any devices: programs in its style against plain loops,
 * and what MPI promises of them. */
/* TEST: backends=all np=2 mixed=yes labels=comm */
#define METAMORPH_NO_NAMES
#include "test_mpi.h"

#include <string.h>

#include "metamorph_mpi.h"
#include "metamorph_buffers.h"
#include "metamorph_oracle.h"
#include "metamorph_style.h"

static void a_torus_has_the_sum_of_plain_loops(void)
{
    const int cells[3] = {7, 6, 5};
    for (int async = 0; async < 2; ++async) {
        double sum = 0, all = 0, expected = 0;
        CHECK_INT(style_torus(test_rank, test_size, cells, 3, async, &sum), 0);
        CHECK_NEAR(sum, oracle_torus(test_rank, test_size, cells), 0);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int rank = 0; rank < test_size; ++rank)
            expected += oracle_torus(rank, test_size, cells);
        CHECK_NEAR(all, expected, 0);
    }
}

static void averages_are_those_of_plain_loops(void)
{
    enum { NX = 8, NY = 5, NZ = 4, COUNT = NX * NY * NZ };
    const int cells[3] = {NX, NY, NZ}, whole[3] = {NX, NY, NZ * test_size};
    float own[COUNT], sum = 0, *expected = oracle_average(whole, 5);
    for (int async = 0; async < 2; ++async) {
        float of_loops = 0;
        for (int k = 0; k < COUNT; ++k)
            own[k] = oracle_first(k % NX, k / NX % NY, k / (NX * NY) + NZ * test_rank);
        CHECK_INT(style_average(test_rank, test_size, cells, 5, async, own, &sum), 0);
        for (int k = 0; k < COUNT; ++k) {
            of_loops += expected[COUNT * test_rank + k];
            if (!CHECK_NEAR(own[k], expected[COUNT * test_rank + k], 1e-5)) break;
        }
        CHECK_NEAR(sum, of_loops, 1e-4);
    }
    free(expected);
}

/* From device to device and back by the host's MPI, of every type. */
static void a_message_is_one_of_mpi(void)
{
    for (int type = meta_db; type <= meta_uc; ++type) {
        size_t bytes;
        unsigned char sent[5 * 8], got[5 * 8] = {0};
        const MPI_Datatype mpi = metamorph_get_mpi_type((meta_type_id)type, &bytes);
        MPI_Request request;
        MPI_Status status;
        int count;
        test_case("type %d", type);
        CHECK_INT(bytes, metamorph_get_atype_size((meta_type_id)type));
        for (int k = 0; k < 40; ++k) sent[k] = (unsigned char)(k + type);
        void *buffer = buffer_of(sent, sizeof sent);
        if (test_rank == 0) {
            metamorph_mpi_packed_face_send(1, buffer, 5, 40000 + type, NULL, (meta_type_id)type,
                                           type % 2);
            metamorph_flush();
            metamorph_mpi_packed_face_recv(MPI_ANY_SOURCE, buffer, 5, MPI_ANY_TAG, &request,
                                           (meta_type_id)type, type / 2 % 2);
            metamorph_flush();
            take(buffer, got, sizeof got);
            for (int k = 0; k < 40; ++k)
                sent[k] = (unsigned char)(k < 3 * (int)bytes ? 3 * k : k + type);
            CHECK_ARRAY(got, sent, 40, META_U8);
        } else if (test_rank == 1) {
            MPI_Recv(got, 5, mpi, 0, 40000 + type, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, mpi, &count);
            CHECK_INT(count, 5);
            CHECK_ARRAY(got, sent, 5 * bytes, META_U8);
            for (int k = 0; k < 40; ++k) got[k] = (unsigned char)(3 * k);
            MPI_Send(got, 3, mpi, 0, 7, MPI_COMM_WORLD); /* shorter than the receive allows */
            metamorph_free(buffer);
        } else {
            metamorph_free(buffer);
        }
    }
}

/* A buffer may be written after an asynchronous send, and messages that are under way come in any
 * order. */
static void what_was_sent_is_what_the_buffer_held(void)
{
    enum { MESSAGES = 20, COUNT = 3000 };
    const int to = (test_rank + 1) % test_size, from = (test_rank + test_size - 1) % test_size;
    int host[COUNT] = {0};
    void *in[MESSAGES], *out = buffer_of(host, sizeof host);
    MPI_Request request;
    for (int k = 0; k < MESSAGES; ++k) {
        in[k] = buffer_of(host, sizeof host);
        metamorph_mpi_packed_face_recv(from, in[k], COUNT, MESSAGES - k, &request, meta_in, 1);
        CHECK(request == MPI_REQUEST_NULL);
    }
    for (int k = MESSAGES - 1; k >= 0; --k) {
        for (int c = 0; c < COUNT; ++c) host[c] = 1000000 * test_rank + 10000 * k + c;
        CHECK_INT(metamorph_copy_h2d(out, host, sizeof host, false, NULL, NULL), 0);
        metamorph_mpi_packed_face_send(to, out, COUNT, MESSAGES - k, &request, meta_in, 1);
        metamorph_help_mpi_request();
    }
    CHECK_INT(metamorph_flush(), 0);
    for (int k = 0; k < MESSAGES; ++k) {
        int expected[COUNT];
        for (int c = 0; c < COUNT; ++c) expected[c] = 1000000 * from + 10000 * k + c;
        take(in[k], host, sizeof host);
        CHECK_ARRAY(host, expected, COUNT, META_I32);
    }
    metamorph_free(out);
}

static void mpi_proc_null_changes_nothing(void)
{
    double host[3] = {1, 2, 3}, got[3];
    int sizes[1] = {3}, strides[1] = {1};
    metamorph_face all = {0, 1, sizes, strides};
    for (int async = 0; async < 2; ++async) {
        void *buffer = buffer_of(host, sizeof host), *packed = buffer_of(got, sizeof got);
        metamorph_mpi_packed_face_send(MPI_PROC_NULL, buffer, 3, 0, NULL, meta_db, async);
        metamorph_mpi_packed_face_recv(MPI_PROC_NULL, buffer, 3, 0, NULL, meta_db, async);
        metamorph_mpi_pack_and_send_face(NULL, NULL, MPI_PROC_NULL, &all, buffer, packed, 0, NULL,
                                         meta_db, async);
        metamorph_mpi_recv_and_unpack_face(NULL, NULL, MPI_PROC_NULL, &all, buffer, packed, 0, NULL,
                                           meta_db, async);
        CHECK_INT(metamorph_flush(), 0);
        take(buffer, got, sizeof got);
        CHECK_ARRAY(got, host, 3, META_F64);
        metamorph_free(packed);
    }
}

static void the_rank_is_mpis(void)
{
    int rank = -1;
    CHECK_INT(metamorph_mpi_rank(&rank), 0);
    CHECK_INT(rank, test_rank);
    CHECK_INT(metamorph_mpi_rank(NULL), -1);
}

/* meta_mpi_init() would end the job where there is no such device. */
static void start(int *argc, char ***argv)
{
    test_comm_start(argc, argv);
    CHECK_OK(meta_comm_finalize());
    metamorph_mpi_init(argc, argv);
    metamorph_mpi_init(argc, argv);
}

static int end(int status)
{
    metamorph_mpi_finalize();
    metamorph_mpi_finalize();
    return test_mpi_end(test_mpi_worst(status));
}

static const test_setting with_metamorph = {start, test_mpi_worst, end};

TEST_MAIN_WITH(&with_metamorph, PROMISE(a_torus_has_the_sum_of_plain_loops),
               PROMISE(averages_are_those_of_plain_loops), PROMISE(a_message_is_one_of_mpi),
               PROMISE(what_was_sent_is_what_the_buffer_held),
               PROMISE(mpi_proc_null_changes_nothing), PROMISE(the_rank_is_mpis))
