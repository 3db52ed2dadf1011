/* SPDX-License-Identifier: BSD-3-Clause */
/** @file program_mpi.c
 *  A program of 0.2.0 with MPI: ghost cells, messages, cuts and files. Each cell has a number of
 * its own, so that any that is not where it belongs is seen. Argument: a folder for files. */
#include <meta_comm.h>
#include <meta_io.h>

#include "check.h"

enum { NX = 6, NY = 5, NZ = 4, MOST = 4096 };

static int rank, ranks;
static MPI_Comm cart;
static double host[MOST];

static double value(int of_rank, int64_t x, int64_t y, int64_t z)
{
    return of_rank * 1000.0 + (double)((z * NY + y) * NX + x);
}

static int64_t at(const meta_box *box, int64_t x, int64_t y, int64_t z)
{
    return (z * box->size[1] + y) * box->size[0] + x;
}

/* A grid with its own numbers, and -1 in the ghosts. */
static void *make(meta_box *box)
{
    const int64_t cells[3] = {NX, NY, NZ};
    const int widths[3] = {1, 1, 1};
    void *buf;
    TRY(meta_grid_alloc(&buf, box, 3, cells, widths, widths, META_F64));
    for (int n = 0; n < MOST; ++n) host[n] = -1;
    for (int64_t z = 0; z < NZ; ++z)
        for (int64_t y = 0; y < NY; ++y)
            for (int64_t x = 0; x < NX; ++x)
                host[at(box, x + box->start[0], y + box->start[1], z + box->start[2])] =
                    value(rank, x, y, z);
    TRY(meta_copy_h2d(buf, host, (size_t)(box->size[0] * box->size[1] * box->size[2]) * 8, NULL));
    return buf;
}

static void get(const void *buf, const meta_box *box)
{
    TRY(meta_copy_d2h(host, buf, (size_t)(box->size[0] * box->size[1] * box->size[2]) * 8, NULL));
}

/* Ghosts along x hold the neighbours' outermost planes. */
static void check_ghosts(const void *buf, const meta_box *box)
{
    get(buf, box);
    for (int64_t z = 0; z < NZ; ++z)
        for (int64_t y = 0; y < NY; ++y) {
            const int64_t row = at(box, 0, y + box->start[1], z + box->start[2]);
            FIRST_WRONG("low ghosts", row, host[row + box->start[0] - 1],
                        value((rank + ranks - 1) % ranks, NX - 1, y, z));
            FIRST_WRONG("high ghosts", row, host[row + box->end[0]],
                        value((rank + 1) % ranks, 0, y, z));
        }
}

static void halos(void)
{
    meta_traffic traffic = META_TRAFFIC_INIT;
    meta_exchange exchange;
    meta_box box;
    meta_halo plan;
    meta_event event;
    void *fields[2] = {make(&box), make(&box)};
    meta_halo_desc desc = META_HALO_DESC(cart, box, 1, META_HALO_FACES, 2, META_F64);
    uint64_t sent = 0, received = 0;
    TRY(meta_halo_create(&plan, &desc));
    TRY(meta_halo_exchange(plan, fields, &event));
    TRY(meta_event_wait(event));
    TRY(meta_event_free(&event));
    for (int k = 0; k < 2; ++k) check_ghosts(fields[k], &box);
    TRY(meta_comm_traffic(&traffic));
    EXPECT(traffic.size == sizeof traffic);
    for (int path = 0; path < META_PATH_COUNT; ++path) {
        sent += traffic.messages_sent[path];
        received += traffic.bytes_received[path];
    }
    EXPECT(sent > 0 && received >= 2 * 2 * NY * NZ * 8);
    TRY(meta_halo_free(&plan));

    /* The same as a list of fields, of the size that descriptions had before there were batches. */
    const meta_halo_field field[2] = {{META_F64, box}, {META_F64, box}};
    meta_halo_desc several = META_HALO_DESC_INIT;
    several.size = offsetof(meta_halo_desc, batch);
    several.cart = cart;
    several.box = box;
    several.batch = 0xffffffff; /* beyond that size */
    for (int d = 0; d < 3; ++d) several.low[d] = several.high[d] = 1;
    several.fields = 2;
    several.field = field;
    TRY(meta_halo_create(&plan, &several));
    TRY(meta_free(fields[0]));
    TRY(meta_free(fields[1]));
    for (int k = 0; k < 2; ++k) fields[k] = make(&box);
    TRY(meta_halo_begin(plan, fields, &exchange));
    TRY(meta_halo_end(&exchange, NULL));
    for (int k = 0; k < 2; ++k) check_ghosts(fields[k], &box);
    TRY(meta_halo_free(&plan));
    for (int k = 0; k < 2; ++k) TRY(meta_free(fields[k]));
}

static void messages(void)
{
    double mine[4] = {rank, 1, 2, rank * 2.0}, sum[4], from[4];
    const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    meta_event sent, received;
    void *out, *in;
    TRY(meta_alloc(&out, sizeof mine));
    TRY(meta_alloc(&in, sizeof mine));
    TRY(meta_copy_h2d(out, mine, sizeof mine, NULL));
    TRY(meta_packed_recv(last, in, 4, META_F64, 7, &received));
    TRY(meta_packed_send(next, out, 4, META_F64, 7, &sent));
    TRY(meta_event_waitall(2, (meta_event[2]){sent, received}));
    TRY(meta_copy_d2h(from, in, sizeof from, NULL));
    EXPECT(from[0] == last && from[3] == 2.0 * last);
    TRY(meta_allreduce(sum, mine, 4, META_SUM, META_F64, NULL));
    EXPECT(sum[0] == ranks * (ranks - 1) / 2.0 && sum[1] == ranks);
    TRY(meta_event_free(&sent));
    TRY(meta_event_free(&received));
    TRY(meta_free(out));
    TRY(meta_free(in));
}

/* Of 12 planes a rank that is twice as fast gets twice as many, and they are moved to it. */
static void cuts(void)
{
    int64_t even[3][64], uneven[3][64], first[3], cells[3], to_first[3], to_cells[3];
    const meta_cuts now = {{even[0], even[1], even[2]}}, next = {{uneven[0], uneven[1], uneven[2]}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    double seconds, before, after, gain;
    void *from, *to;
    if (ranks > 60) return;
    desc.cart = cart;
    desc.cells[0] = 12 * ranks;
    desc.cells[1] = desc.cells[2] = 2;
    TRY(meta_decompose(&now, &desc, &seconds));
    EXPECT(even[0][1] == 12 && seconds == 48);
    desc.speed = rank == 0 ? 2 : 1;
    desc.least[0] = 2;
    TRY(meta_decompose(&next, &desc, &seconds));
    EXPECT(ranks == 1 || (uneven[0][1] > 12 && uneven[0][ranks] == 12 * ranks));
    TRY(meta_cuts_block(&now, cart, rank, first, cells));
    TRY(meta_cuts_block(&next, cart, rank, to_first, to_cells));
    const meta_box box = {3, {cells[0], 2, 2}, {0}, {cells[0], 2, 2}};
    const meta_box to_box = {3, {to_cells[0], 2, 2}, {0}, {to_cells[0], 2, 2}};
    for (int64_t n = 0; n < cells[0] * 4; ++n)
        host[n] = (double)(n / cells[0] * 1000 + first[0] + n % cells[0]);
    TRY(meta_alloc(&from, (size_t)cells[0] * 32));
    TRY(meta_alloc(&to, (size_t)to_cells[0] * 32));
    TRY(meta_copy_h2d(from, host, (size_t)cells[0] * 32, NULL));
    const meta_redistribute_field field = {META_F64, from, box, to, to_box};
    TRY(meta_redistribute(cart, &now, &next, 1, &field));
    TRY(meta_copy_d2h(host, to, (size_t)to_cells[0] * 32, NULL));
    for (int64_t n = 0; n < to_cells[0] * 4; ++n)
        FIRST_WRONG("moved", n, host[n],
                    (double)(n / to_cells[0] * 1000 + to_first[0] + n % to_cells[0]));
    desc.speed = 1;
    TRY(meta_rebalance(&next, &now, &desc, rank == 0 ? 1 : 2, &before, &after));
    EXPECT(before == (ranks > 1 ? 2 : 1) && after <= before);
    TRY(meta_balance(&next, &now, &desc, rank == 0 ? 1 : 2, 2, &gain));
    EXPECT(gain >= 0);
    TRY(meta_free(from));
    TRY(meta_free(to));
}

/* Write a grid and its attributes, and read them back. */
static void file(const char *folder, meta_io_format format)
{
    static const char *const names[] = {[META_IO_CHECKPOINT] = "checkpoint", [META_IO_NPY] = "npy"};
    const double time = 2.5;
    const meta_io_attribute attributes[2] = {{"time", NULL, META_F64, 1, &time},
                                             {"title", "an old run", META_F64, 0, NULL}};
    meta_io_file_desc about = META_IO_FILE_DESC_INIT;
    meta_io_desc desc = META_IO_DESC_INIT;
    meta_io_request request;
    meta_io_file opened;
    meta_io_attribute attribute;
    meta_io_field found;
    meta_box box;
    char path[1024];
    const int is_full = format == META_IO_CHECKPOINT;
    void *buf = make(&box);
    meta_io_field field = {
        .name = is_full ? "u" : "array", .buf = buf, .type = META_F64, .box = box};
    field.first[0] = (int64_t)NX * rank;
    field.cells[0] = (int64_t)NX * ranks;
    field.cells[1] = NY;
    field.cells[2] = NZ;
    snprintf(path, sizeof path, "%s/%s", folder, names[format]);
    desc.comm = cart;
    desc.format = format;
    if (is_full) {
        desc.attributes = 2;
        desc.attribute = attributes;
        TRY(meta_io_write_begin(path, &desc, 1, &field, &request));
        TRY(meta_io_wait(&request));
    } else {
        TRY(meta_io_write(path, &desc, 1, &field));
    }
    TRY(meta_io_open(&opened, path, &desc));
    TRY(meta_io_file_info(opened, &about));
    EXPECT(about.size == sizeof about && about.format == format && about.fields == 1);
    EXPECT(about.attributes == (is_full ? 2 : 0) && about.number == (is_full ? 0 : -1));
    TRY(meta_io_field_info(opened, 0, &found));
    EXPECT(found.type == META_F64 && found.cells[0] == (int64_t)NX * ranks && found.cells[2] == NZ);
    if (is_full) {
        TRY(meta_io_attribute_find(opened, "time", &attribute));
        EXPECT(attribute.count == 1 && *(const double *)attribute.numbers == 2.5);
        TRY(meta_io_attribute_info(opened, 1, &attribute));
        EXPECT(attribute.text && strcmp(attribute.text, "an old run") == 0);
    }
    const double zero = 0;
    TRY(meta_fill_box(buf, &box, &zero, META_F64, NULL));
    TRY(meta_io_read(opened, 1, &field));
    TRY(meta_io_close(&opened));
    get(buf, &box);
    for (int64_t z = 0; z < NZ; ++z)
        for (int64_t y = 0; y < NY; ++y)
            for (int64_t x = 0; x < NX; ++x) {
                const int64_t n = at(&box, x + box.start[0], y + box.start[1], z + box.start[2]);
                FIRST_WRONG(path, n, host[n], value(rank, x, y, z));
            }
    TRY(meta_free(buf));
}

/* ------------------------------------------------------------------ no byte more than that size */

static int64_t cut[2][3][64];
static const meta_cuts now = {{cut[0][0], cut[0][1], cut[0][2]}},
                       next = {{cut[1][0], cut[1][1], cut[1][2]}};
static meta_io_field field;
static meta_io_file opened;
static char path[1024];

static meta_err halo_create(void *structure)
{
    meta_halo plan;
    const meta_err error = meta_halo_create(&plan, structure);
    return error == META_OK ? meta_halo_free(&plan) : error;
}
static meta_err comm_traffic(void *structure)
{
    return meta_comm_traffic(structure);
}
static meta_err decompose(void *structure)
{
    return meta_decompose(&now, structure, NULL);
}
static meta_err rebalance(void *structure)
{
    return meta_rebalance(&next, &now, structure, 1, NULL, NULL);
}
static meta_err balance(void *structure)
{
    return meta_balance(&next, &now, structure, 1, 2, NULL);
}
static meta_err io_write(void *structure)
{
    return meta_io_write(path, structure, 1, &field);
}
static meta_err io_write_begin(void *structure)
{
    meta_io_request request;
    const meta_err error = meta_io_write_begin(path, structure, 1, &field, &request);
    return error == META_OK ? meta_io_wait(&request) : error;
}
static meta_err io_open(void *structure)
{
    meta_io_file one;
    const meta_err error = meta_io_open(&one, path, structure);
    return error == META_OK ? meta_io_close(&one) : error;
}
static meta_err io_file_info(void *structure)
{
    return meta_io_file_info(opened, structure);
}

static void sizes(const char *folder)
{
    meta_box box;
    void *buf = make(&box);
    meta_halo_desc halo = META_HALO_DESC(cart, box, 1, META_HALO_FACES, 1, META_F64);
    const meta_traffic traffic = META_TRAFFIC_INIT;
    const meta_io_file_desc about = META_IO_FILE_DESC_INIT;
    meta_decompose_desc grid = META_DECOMPOSE_DESC_INIT;
    meta_io_desc desc = META_IO_DESC_INIT;
    grid.cart = desc.comm = cart;
    grid.cells[0] = grid.cells[1] = grid.cells[2] = 60;
    desc.format = META_IO_NPY;
    snprintf(path, sizeof path, "%s/sized.npy", folder);
    field = (meta_io_field){.name = "array", .buf = buf, .type = META_F64, .box = box};
    field.first[0] = (int64_t)NX * rank;
    field.cells[0] = (int64_t)NX * ranks;
    field.cells[1] = NY;
    field.cells[2] = NZ;
    TRY(meta_io_write(path, &desc, 1, &field));
    TRY(meta_io_open(&opened, path, &desc));
    const sized_case all[] = {
        {"meta_halo_desc", &halo, sizeof halo, offsetof(meta_halo_desc, field), halo_create,
         META_OK},
        SIZED(meta_traffic, &traffic, comm_traffic, META_OK),
        SIZED(meta_decompose_desc, &grid, decompose, META_OK),
        SIZED(meta_decompose_desc, &grid, rebalance, META_OK),
        SIZED(meta_decompose_desc, &grid, balance, META_OK),
        SIZED(meta_io_desc, &desc, io_write, META_OK),
        SIZED(meta_io_desc, &desc, io_write_begin, META_OK),
        SIZED(meta_io_desc, &desc, io_open, META_OK),
        SIZED(meta_io_file_desc, &about, io_file_info, META_OK),
    };
    check_sized(all, sizeof all / sizeof *all);
    TRY(meta_io_close(&opened));
    TRY(meta_free(buf));
}

int main(int argc, char **argv)
{
    int dims[3] = {0, 1, 1}, periods[3] = {1, 1, 1}, all;
    TRY(meta_comm_init(&argc, &argv));
    if (argc != 2) return 2;
    TRY(meta_comm_rank(&rank, &ranks));
    dims[0] = ranks;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    halos();
    messages();
    cuts();
    file(argv[1], META_IO_CHECKPOINT);
    file(argv[1], META_IO_NPY);
    sizes(argv[1]);
    MPI_Allreduce(&broken, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&cart);
    TRY(meta_comm_finalize());
    if (rank == 0) printf("%d ranks: %s\n", ranks, all ? "broken" : "as it was");
    return all > 0;
}
