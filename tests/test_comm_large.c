/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_large.c
 *  Messages of more elements than an int can count, point-to-point and in a halo exchange. Needs
 *  18 GiB of memory, 5 of them in /dev/shm. */
/* TEST: backends=openmp np=2 labels=comm long=yes */
#include "test_mpi.h"

#include <inttypes.h>

static const int64_t many = (INT64_C(1) << 31) + 4099, part = 64 << 20;

/* Element n of rank @p r's array, which neighbours, wrapped indexes and ranks tell apart. */
static unsigned char element(int r, int64_t n)
{
    return (unsigned char)((uint64_t)(n + 77 * r + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* Leave the job and join it again, with a variable set. */
static void live_again(const char *variable, const char *value)
{
    test_require(meta_comm_finalize());
    setenv(variable, value, 1);
    test_require(meta_comm_init(NULL, NULL));
    unsetenv(variable);
}

/* @p count elements of the buffer, from @p from on, become those of this rank from @p first on. */
static void upload(char *buffer, int64_t from, int64_t first, int64_t count)
{
    unsigned char *host = malloc((size_t)part);
    test_require(host ? META_OK : META_ERR_NO_MEMORY);
    for (int64_t done = 0; done < count; done += part) {
        const int64_t now = count - done < part ? count - done : part;
        for (int64_t n = 0; n < now; ++n) host[n] = element(test_rank, first + done + n);
        CHECK_OK(meta_copy_h2d(buffer + from + done, host, (size_t)now, NULL));
    }
    free(host);
}

/* They are those of rank @p r from @p first on. */
static void check(const char *buffer, int64_t from, int64_t count, int r, int64_t first)
{
    unsigned char *host = malloc((size_t)part), *expected = malloc((size_t)part);
    bool good = CHECK(host && expected);
    for (int64_t done = 0; good && done < count; done += part) {
        const int64_t now = count - done < part ? count - done : part;
        test_case("elements %" PRId64 " to %" PRId64, from + done, from + done + now);
        for (int64_t n = 0; n < now; ++n) expected[n] = element(r, first + done + n);
        good = CHECK_OK(meta_copy_d2h(host, buffer + from + done, (size_t)now, NULL)) &&
               CHECK_ARRAY(host, expected, now, META_U8);
    }
    free(host);
    free(expected);
}

static void a_message_arrives_whole(void)
{
    void *buffer;
    if (!CHECK_OK(meta_alloc(&buffer, (size_t)many))) return;
    if (test_rank == 0) {
        upload(buffer, 0, 0, many);
        CHECK_OK(meta_packed_send(1, buffer, many, META_U8, 5, NULL));
    } else {
        CHECK_OK(meta_packed_recv(0, buffer, many, META_U8, 5, NULL));
        check(buffer, 0, many, 0, 0);
    }
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(buffer));
}

/* Two rows, of which rank 1 has ghost cells towards rank 0, more than 2^31 in all. */
static void exchange(bool shared)
{
    enum { ROWS = 2, GHOSTS = (1 << 30) + 4099, OWN = GHOSTS + 10 };
    const int64_t pitch = (int64_t)GHOSTS + OWN;
    const int dims[2] = {test_size, 1}, periodic[2] = {0, 0};
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan;
    void *u;
    live_again("META_SHARED", shared ? "auto" : "off");
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &desc.cart);
    desc.box = (meta_box){2, {pitch, ROWS}, {GHOSTS, 0}, {pitch, ROWS}};
    desc.low[0] = GHOSTS;
    desc.type = META_U8;
    if (!CHECK_OK(meta_alloc(&u, (size_t)(pitch * ROWS)))) return;
    for (int64_t y = 0; y < ROWS; ++y) upload(u, y * pitch + GHOSTS, y * OWN, OWN);
    CHECK_OK(meta_halo_create(&plan, &desc));
    CHECK_OK(meta_halo_exchange(plan, &u, NULL));
    CHECK_OK(meta_halo_free(&plan));
    for (int64_t y = 0; y < ROWS; ++y) {
        check(u, y * pitch + GHOSTS, OWN, test_rank, y * OWN);
        if (test_rank == 1) check(u, y * pitch, GHOSTS, 0, (y + 1) * OWN - GHOSTS);
    }
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&desc.cart);
}

static void ghost_cells_arrive_by_messages(void)
{
    exchange(false);
}

static void ghost_cells_arrive_through_shared_memory(void)
{
    exchange(true);
}

TEST_COMM_MAIN(PROMISE(a_message_arrives_whole), PROMISE(ghost_cells_arrive_by_messages),
               PROMISE(ghost_cells_arrive_through_shared_memory))
