/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_damage.c
 *  Messages that are corrupted between two ranks: with META_CHECK=1 the receiver of each gets an
 *  error that says whether the header or the payload was corrupted, and later messages arrive
 *  intact. */
/* TEST: backends=all np=2 mixed=yes labels=comm with=CHECK=1 */
#include "test_mpi.h"

enum { SMALL = 100, LARGE = 200000, HEADER = 40 };

/* Of the send at which `damage_in` gets to 0, byte `damage_at` is changed. */
static int damage_in = -1, damage_at;
static char damaged[LARGE * sizeof(double) + HEADER];

/* libmeta_comm's sends come through here. */
META_API int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    const bool now = damage_in == 0;
    if (damage_in >= 0) --damage_in;
    if (!now || damage_at >= count) return PMPI_Isend(data, count, type, to, tag, comm, request);
    memcpy(damaged, data, (size_t)count);
    damaged[damage_at] = (char)(damaged[damage_at] ^ 0x10);
    return PMPI_Isend(damaged, count, type, to, tag, comm, request);
}

static void check_arrival(meta_err error, const char *words, const double *found, int count)
{
    static double expected[LARGE];
    for (int k = 0; k < count; ++k) expected[k] = k;
    if (words) {
        CHECK_INT(error, META_ERR_MISMATCH);
        CHECK_CONTAINS(meta_last_error(), words);
    } else if (CHECK_OK(error)) {
        CHECK_ARRAY(found, expected, count, META_F64);
    }
}

/* Rank 0 sends @p count elements, damaged in its send number @p in at byte @p at, and then the same
 * again; the receiver is told @p words, and nothing if they are NULL. */
static void send_damaged(int count, int in, int at, const char *words)
{
    static double array[LARGE];
    const size_t bytes = (size_t)count * sizeof *array;
    void *p;
    test_case("%d elements, byte %d of send %d", count, at, in);
    if (!CHECK_OK(meta_alloc(&p, bytes))) return;
    for (int again = 0; again < 2; ++again) {
        for (int k = 0; k < count; ++k) array[k] = k;
        damage_in = again ? -1 : in;
        damage_at = at;
        if (test_rank == 0) {
            CHECK_OK(meta_copy_h2d(p, array, bytes, NULL));
            CHECK_OK(meta_packed_send(1, p, count, META_F64, 7, NULL));
            CHECK_OK(meta_flush());
        } else {
            const meta_err error = meta_packed_recv(0, p, count, META_F64, 7, NULL);
            if (!again && words) check_arrival(error, words, NULL, 0);
            CHECK_OK(meta_copy_d2h(array, p, bytes, NULL));
            if (again || !words) check_arrival(error, NULL, array, count);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    damage_in = -1;
    CHECK_OK(meta_free(p));
}

static void messages_arrive_as_sent(void)
{
    send_damaged(SMALL, -1, 0, NULL);
    send_damaged(LARGE, -1, 0, NULL);
}

static void a_corrupted_header_is_detected(void)
{
    static const int of_fields[] = {8, 12, 16, 24, 32, 36};
    for (size_t k = 0; k < sizeof of_fields / sizeof *of_fields; ++k)
        send_damaged(SMALL, 0, of_fields[k], "damaged on its way");
}

static void a_corrupted_payload_is_detected(void)
{
    send_damaged(1, 0, HEADER, "are not those that were sent");
    for (int k = 0; k < 8; ++k)
        send_damaged(SMALL, 0, HEADER + (int)test_random_in(0, SMALL * 8 - 1),
                     "are not those that were sent");
}

/* Send 0 is the header, and parts follow. */
static void a_corrupted_part_is_detected(void)
{
    for (int part = 1; part <= 3; ++part)
        send_damaged(LARGE, part, (int)test_random_in(0, 4095), "are not those that were sent");
}

static void start(int *argc, char ***argv)
{
    setenv("META_PIPELINE", "65536", 1);
    test_comm_start(argc, argv);
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

TEST_MAIN_WITH(&setting, PROMISE(messages_arrive_as_sent), PROMISE(a_corrupted_header_is_detected),
               PROMISE(a_corrupted_payload_is_detected), PROMISE(a_corrupted_part_is_detected))
