/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_damage.c
 *  Ghost cells that are corrupted between two ranks: with META_CHECK=1 the receiver gets an
 *  error that names the peer, the exchange and the tag, the cells are not unpacked, and the plan
 *  remains usable. Through shared memory, through MPI from the host in one message or in parts,
 *  and where MPI accesses device memory. */
/* TEST: backends=all np=2 mixed=yes labels=comm with=CHECK=1 */
#include "test_mpi.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_GHOSTS = 50000, MOST_CELLS = 3 * MOST_GHOSTS, SEALS = 54 };

/* ------------------------------------------------------------------ between libmeta_comm and MPI
 */

/* The persistent receives of the plan at hand, in the order of their making. */
typedef struct receive {
    MPI_Request request;
    unsigned char *memory;
    int bytes, tag;
} receive;
static receive receives[256];
static int received;

/* Of the messages with this tag, byte `harm_at` is changed in the one before which `harm_after`
 * others with it come; negative: none. */
static int harm_tag = -1, harm_after, harm_at;

META_API int MPI_Recv_init(void *data, int count, MPI_Datatype type, int from, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    const int code = PMPI_Recv_init(data, count, type, from, tag, comm, request);
    if (code == MPI_SUCCESS && received < (int)(sizeof receives / sizeof *receives))
        receives[received++] = (receive){*request, data, count, tag};
    return code;
}

static void harm(MPI_Request request)
{
    int before = 0;
    for (int k = 0; k < received; ++k) {
        const receive *r = &receives[k];
        if (r->tag != harm_tag) continue;
        if (r->request == request && before == harm_after) {
            r->memory[harm_at % r->bytes] ^= 0x10;
            harm_tag = -1;
            return;
        }
        ++before;
    }
}

META_API int MPI_Testsome(int count, MPI_Request request[], int *done, int index[],
                          MPI_Status status[])
{
    const int code = PMPI_Testsome(count, request, done, index, status);
    for (int k = 0; code == MPI_SUCCESS && *done != MPI_UNDEFINED && k < *done; ++k)
        harm(request[index[k]]);
    return code;
}

/* This rank's part of the window that was made last. */
static unsigned char *window;
static size_t window_bytes;

META_API int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                                     void *base, MPI_Win *win)
{
    const int code = PMPI_Win_allocate_shared(bytes, unit, info, comm, base, win);
    memcpy(&window, base, sizeof window);
    window_bytes = (size_t)bytes;
    return code;
}

/* ------------------------------------------------------------------ a ring of two ranks */

typedef struct ring {
    int cells, ghosts;
    MPI_Comm cart;
    meta_halo plan;
    void *u;
    double value[MOST_CELLS + 2 * MOST_GHOSTS];
} ring;
static ring r;

/* No cell of one step is one of another. */
static double cell_of(int rank, int k, int step)
{
    return 1e6 * (step + 1) + rank * MOST_CELLS + k + 0.5;
}

static bool make_ring(int ghosts)
{
    const int periodic = 1;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    r.ghosts = ghosts;
    r.cells = 3 * ghosts;
    received = 0;
    window = NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &r.cart);
    desc.cart = r.cart;
    desc.box = (meta_box){1, {r.cells + 2 * ghosts}, {ghosts}, {r.cells + ghosts}};
    desc.low[0] = desc.high[0] = ghosts;
    CHECK_OK(meta_alloc(&r.u, (size_t)(r.cells + 2 * ghosts) * sizeof *r.value));
    return CHECK_OK(meta_halo_create(&r.plan, &desc));
}

static void free_ring(void)
{
    CHECK_OK(meta_halo_free(&r.plan));
    CHECK_OK(meta_free(r.u));
    MPI_Comm_free(&r.cart);
}

static void upload(int step)
{
    const int all = r.cells + 2 * r.ghosts;
    for (int k = 0; k < all; ++k) r.value[k] = -1;
    for (int k = 0; k < r.cells; ++k) r.value[r.ghosts + k] = cell_of(test_rank, k, step);
    CHECK_OK(meta_copy_h2d(r.u, r.value, (size_t)all * sizeof *r.value, NULL));
}

/* The ghosts on both sides; those of a message that was damaged are as they were. */
static void check_ghosts(int step, bool low, bool high)
{
    const int other = 1 - test_rank;
    CHECK_OK(meta_copy_d2h(r.value, r.u, (size_t)(r.cells + 2 * r.ghosts) * sizeof *r.value, NULL));
    for (int k = 0; k < r.ghosts; ++k) {
        const double below = low ? cell_of(other, r.cells - r.ghosts + k, step) : -1,
                     above = high ? cell_of(other, k, step) : -1;
        if (!CHECK_NEAR(r.value[k], below, 0)) return;
        if (!CHECK_NEAR(r.value[r.ghosts + r.cells + k], above, 0)) return;
    }
}

/* One exchange, its error told in one of three ways. */
static meta_err exchange(void)
{
    meta_event done = META_EVENT_NULL;
    meta_err error;
    switch (test_random_in(0, 2)) {
    case 0:
        return meta_halo_exchange(r.plan, &r.u, NULL);
    case 1:
        CHECK_OK(meta_halo_exchange(r.plan, &r.u, META_ASYNC));
        return meta_flush();
    default:
        CHECK_OK(meta_halo_exchange(r.plan, &r.u, &done));
        error = meta_event_wait(done);
        CHECK_CONTAINS(meta_last_error(), error == META_OK ? "" : "META_CHECK");
        meta_event_free(&done);
        return error;
    }
}

static void check_words(int tag, const char *words)
{
    char text[96];
    snprintf(text, sizeof text,
             "from rank 0 of the Cartesian communicator, the neighbour towards %s",
             tag == 2 ? "-x" : "+x");
    CHECK_CONTAINS(meta_last_error(), text);
    snprintf(text, sizeof text, "tag %d, %s", tag, words);
    CHECK_CONTAINS(meta_last_error(), text);
    CHECK_CONTAINS(meta_last_error(), "halo exchange ");
}

/* Exchanges that nobody harms, of which both ranks are told the same. */
static void exchange_unharmed(int step)
{
    upload(step);
    CHECK_OK(exchange());
    check_ghosts(step, true, true);
}

/* What comes to rank 1 with @p tag, its part @p part or its seal, is changed at byte @p at. */
static void exchange_harmed(int step, int tag, int part, bool seal, int at)
{
    upload(step);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 1) {
        harm_tag = tag + (seal ? SEALS : 0);
        harm_after = part;
        harm_at = at;
        if (CHECK_ERR(exchange(), META_ERR_MISMATCH))
            check_words(tag, seal ? "has a checksum that was itself damaged"
                                  : "does not hold what was sent");
        CHECK_INT(harm_tag, -1);
        check_ghosts(step, tag != 2, tag != 0);
    } else {
        CHECK_OK(exchange());
        check_ghosts(step, true, true);
    }
}

/* ------------------------------------------------------------------ joining */

static bool join(const char *shared, const char *direct)
{
    setenv("META_SHARED", shared, 1);
    setenv("META_GPU_MPI", direct, 1);
    setenv("META_PIPELINE", "131072", 1);
    test_require(meta_comm_init(NULL, NULL));
    return test_size == 2;
}

/* ------------------------------------------------------------------ promises */

/* How many MPI messages with a tag come to rank 1; 0 where they take another way. */
static int parts_to_rank_1(int tag)
{
    int parts = 0;
    for (int k = 0; k < received; ++k) parts += receives[k].tag == tag;
    MPI_Bcast(&parts, 1, MPI_INT, 1, MPI_COMM_WORLD);
    return parts;
}

static void through_mpi(int ghosts)
{
    int step = 0;
    if (!make_ring(ghosts)) return;
    exchange_unharmed(step++);
    for (int tag = 0; tag <= 2; tag += 2) {
        const int parts = parts_to_rank_1(tag);
        if (!CHECK(parts > 0)) break;
        for (int part = 0; part < parts; ++part) {
            test_case("%d ghosts, tag %d, part %d of %d", ghosts, tag, part, parts);
            exchange_harmed(step++, tag, part, false, (int)test_random_in(0, 8 * ghosts - 1));
            exchange_unharmed(step++);
        }
        for (int at = 0; at < 32; at += 4) {
            test_case("%d ghosts, tag %d, byte %d of the seal", ghosts, tag, at);
            exchange_harmed(step++, tag, 0, true, at);
        }
        exchange_unharmed(step++);
    }
    free_ring();
}

static void a_corrupted_message_is_detected(void)
{
    if (!join("off", "off")) return;
    through_mpi(1);
    through_mpi(100);
    CHECK_OK(meta_comm_finalize());
}

static void a_corrupted_part_is_detected(void)
{
    if (!join("off", "off")) return;
    through_mpi(MOST_GHOSTS);
    CHECK_OK(meta_comm_finalize());
}

static void one_rank_that_checks_is_enough(void)
{
    for (int checking = 0; checking < 2; ++checking) {
        setenv("META_CHECK", test_rank == checking ? "1" : "0", 1);
        if (!join("off", "off")) return;
        through_mpi(100);
        CHECK_OK(meta_comm_finalize());
    }
    setenv("META_CHECK", "1", 1);
}

/* Of a GPU in earnest, the bytes that MPI is given cannot be changed from here. */
static bool host_plays_all_devices(void)
{
    meta_device_desc device = META_DEVICE_DESC_INIT;
    meta_mode mode;
    int index, mine, all;
    CHECK_OK(meta_get_acc(&index, &mode));
    CHECK_OK(meta_device_info(index, mode, &device));
    mine = !device.is_gpu || strncmp(device.driver, "HIP-CPU", 7) == 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}

static void data_written_to_a_device_by_mpi_is_verified(void)
{
    if (!join("off", "off")) return;
    const bool possible = host_plays_all_devices();
    CHECK_OK(meta_comm_finalize());
    if (!possible || !join("off", "on")) return;
    through_mpi(100);
    through_mpi(MOST_GHOSTS);
    CHECK_OK(meta_comm_finalize());
}

/* ------------------------------------------------------------------ shared memory */

/* The messages of exchange number 1 are there in both directions: its mark is twice in the first
 * page.
 */
static bool full(void)
{
    int found = 0;
    for (size_t at = 0; at < 4096; at += sizeof(uint64_t)) {
        const volatile uint64_t *mark = (const volatile uint64_t *)(const void *)(window + at);
        found += *mark == 1;
    }
    return found >= 2;
}

/* Change a bit of the cell that rank 0 sends. */
static void harm_cell(double cell)
{
    for (size_t at = 4096; at + sizeof cell <= window_bytes; at += sizeof cell)
        if (memcmp(window + at, &cell, sizeof cell) == 0) {
            window[at + (size_t)test_random_in(0, 7)] ^= 0x10;
            return;
        }
    FAIL("cell %g is not in the window", cell);
}

static void send_harmed(int cell)
{
    meta_event done = META_EVENT_NULL;
    int complete = 0;
    CHECK_OK(meta_halo_exchange(r.plan, &r.u, &done));
    while (!full()) CHECK_OK(meta_event_test(done, &complete));
    harm_cell(cell_of(0, cell, 0));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    check_ghosts(0, true, true);
}

static void receive_harmed(bool low)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (CHECK_ERR(exchange(), META_ERR_MISMATCH))
        check_words(low ? 2 : 0, "does not hold what was sent");
    check_ghosts(0, !low, low);
}

/* Cell @p cell of rank 0's, which is sent in one direction, changes in the window. */
static void through_window(int ghosts, int cell)
{
    int there;
    test_case("%d ghosts, cell %d", ghosts, cell);
    if (!make_ring(ghosts)) return;
    there = window != NULL && window_bytes > 4096;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (there) {
        upload(0);
        if (test_rank == 0) send_harmed(cell);
        else receive_harmed(cell >= ghosts);
    }
    for (int step = 1; step < 4; ++step) exchange_unharmed(step);
    free_ring();
}

static void corruption_in_shared_memory_is_detected(void)
{
    enum { CASES = 4 };
    int ghosts[CASES], at[CASES];
    for (int k = 0; k < CASES; ++k) { /* on both ranks the same, before these draw for themselves */
        ghosts[k] = k + 1 < CASES ? (int)test_random_in(1, 300) : MOST_GHOSTS;
        at[k] = (int)test_random_in(0, ghosts[k] - 1);
    }
    if (!join("auto", "off")) return;
    for (int k = 0; k < CASES; ++k) {
        through_window(ghosts[k], at[k]);
        through_window(ghosts[k], 2 * ghosts[k] + at[k]);
    }
    CHECK_OK(meta_comm_finalize());
}

TEST_MPI_MAIN(PROMISE(a_corrupted_message_is_detected), PROMISE(a_corrupted_part_is_detected),
              PROMISE(one_rank_that_checks_is_enough),
              PROMISE(data_written_to_a_device_by_mpi_is_verified),
              PROMISE(corruption_in_shared_memory_is_detected))
