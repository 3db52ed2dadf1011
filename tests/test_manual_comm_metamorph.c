/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_comm_metamorph.c
 *  The examples of the manual pages of metamorph_mpi.h, see test_manual_examples.c. */
/* TEST: backends=openmp np=1,2,3 mixed=yes labels=comm,documents */
#define METAMORPH_NO_NAMES
#include "test_mpi.h"

#include <stdio.h>

#include "metamorph_mpi.h"

#include "metamorph_buffers.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_INT(call, 0)) return;                                                           \
    } while (0)

enum { NX = 6, NY = 5, NZ = 4, CELLS = NX * NY * NZ };

/* EXAMPLE: metamorph_mpi_init metamorph_mpi_finalize metamorph_mpi_rank */
static int run(int *argc, char ***argv)
{
    int rank;
    metamorph_mpi_init(argc, argv); /* MPI, unless it is initialized, and this rank's device */
    if (metamorph_mpi_rank(&rank)) return 1;
    printf("this is rank %d\n", rank);
    metamorph_mpi_finalize();
    return 0;
}
/* END OF EXAMPLE */

/* MPI is initialized, and stays so. metamorph_mpi_init() would end the job without a device. */
static void start(int *argc, char ***argv)
{
    test_comm_start(argc, argv);
    CHECK_OK(meta_comm_finalize());
    CHECK_INT(run(argc, argv), 0);
    metamorph_mpi_init(argc, argv);
}

static int end(int status)
{
    metamorph_mpi_finalize();
    return test_mpi_end(test_mpi_worst(status));
}

static void messages_arrive(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    float host[12], found[12] = {0};
    for (int k = 0; k < 12; ++k) host[k] = (float)(100 * test_rank + k);
    void *out = buffer_of(host, sizeof host), *in = buffer_of(found, sizeof found);
    {
        /* EXAMPLE: metamorph_mpi_packed_face_send metamorph_mpi_packed_face_recv */
        /* 12 elements to the rank at the right, 12 from the one at the left. */
        MPI_Request request;
        metamorph_mpi_packed_face_recv(left, in, 12, 7, &request, meta_fl, 1);
        metamorph_mpi_packed_face_send(right, out, 12, 7, &request, meta_fl, 0);
        TRY(metamorph_flush()); /* what was received is there */
        /* END OF EXAMPLE */
    }
    take(in, found, sizeof found);
    CHECK_NEAR(found[11], (float)(100 * left + 11), 0);
    {
        /* EXAMPLE: metamorph_get_mpi_type */
        /* The other end of a message may be plain MPI on host memory. */
        size_t bytes;
        const MPI_Datatype type = metamorph_get_mpi_type(meta_fl, &bytes);
        MPI_Request request;
        MPI_Irecv(found, 12, type, left, 8, MPI_COMM_WORLD, &request);
        metamorph_mpi_packed_face_send(right, out, 12, 8, NULL, meta_fl, 0);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        /* END OF EXAMPLE */
        CHECK_INT(bytes, sizeof(float));
    }
    CHECK_NEAR(found[0], (float)(100 * left), 0);
    TRY(metamorph_free(out));
}

static void faces_are_exchanged(void)
{
    const int above = (test_rank + 1) % test_size, below = (test_rank + test_size - 1) % test_size;
    double cells[CELLS], plane[NX * NY] = {0};
    for (int k = 0; k < CELLS; ++k) cells[k] = test_rank;
    void *grid = buffer_of(cells, sizeof cells);
    void *in = buffer_of(plane, sizeof plane), *out = buffer_of(plane, sizeof plane);
    {
        /* EXAMPLE: metamorph_mpi_pack_and_send_face metamorph_mpi_recv_and_unpack_face */
        /* The last plane of this rank's cells becomes the first one of the rank above. */
        metamorph_face *last = metamorph_make_slab_from_3d(1, NX, NY, NZ, 1);
        metamorph_face *first = metamorph_make_slab_from_3d(0, NX, NY, NZ, 1);
        metamorph_mpi_recv_and_unpack_face(NULL, NULL, below, first, grid, in, 0, NULL, meta_db, 1);
        metamorph_mpi_pack_and_send_face(NULL, NULL, above, last, grid, out, 0, NULL, meta_db, 0);
        TRY(metamorph_flush());
        metamorph_free_face(last);
        metamorph_free_face(first);
        /* END OF EXAMPLE */
    }
    take(grid, cells, sizeof cells);
    CHECK_NEAR(cells[0], below, 0);
    CHECK_NEAR(cells[NX * NY], test_rank, 0);
    TRY(metamorph_free(in));
    TRY(metamorph_free(out));
}

static void messages_are_helped(void)
{
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    int host[4] = {1, 2, 3, 4}, found[4] = {0};
    void *out = buffer_of(host, sizeof host), *in = buffer_of(found, sizeof found);
    /* EXAMPLE: metamorph_help_mpi_request metamorph_finish_mpi_requests */
    metamorph_mpi_packed_face_recv(left, in, 4, 9, NULL, meta_in, 1);
    metamorph_mpi_packed_face_send(right, out, 4, 9, NULL, meta_in, 1);
    for (int part = 0; part < 10; ++part) {
        /* … a part of a computation on the host … */
        metamorph_help_mpi_request(); /* completes a message that has arrived */
    }
    metamorph_finish_mpi_requests(); /* all of them; work on the device may be under way */
    TRY(metamorph_flush());
    /* END OF EXAMPLE */
    take(in, found, sizeof found);
    CHECK_ARRAY(found, host, 4, META_I32);
    TRY(metamorph_free(out));
}

static const test_setting setting = {start, test_mpi_worst, end};

TEST_MAIN_WITH(&setting, PROMISE(messages_arrive), PROMISE(faces_are_exchanged),
               PROMISE(messages_are_helped))
