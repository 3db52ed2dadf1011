/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_minighost_checkpoint.c
 *  MiniGhost's checkpoint files: bitwise restart on every process grid; a corrupted file is
 *  rejected with one line. */
/* TEST: np=1,3 timeout=120 labels=programs */
#include "config.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "failure.h"
#include "scramble.h"
#include "test_mpi.h"

enum { NX = 5, NY = 4, NZ = 6, VARIABLES = 2 };

static char folder[] = "checkpoint-XXXXXX", base[64], name[64], messages[64];
static problem p;
static options o;
static double source[VARIABLES] = {1, -0.0}, flux[VARIABLES] = {1e-310, 3};

/* ------------------------------------------------------------------ a problem and its grid */

static bool make_problem(const char *type, int axis, const char *nx)
{
    char ranks[12], one[] = "1", kind[4], length[12];
    snprintf(ranks, sizeof ranks, "%d", test_size);
    snprintf(kind, sizeof kind, "%s", type);
    snprintf(length, sizeof length, "%s", nx);
    char *np[3] = {one, one, one};
    np[axis] = ranks;
    char *argv[] = {"test", "--scaling",
                    "1",    "--nx",
                    length, "--ny",
                    "4",    "--nz",
                    "6",    "--npx",
                    np[0],  "--npy",
                    np[1],  "--npz",
                    np[2],  "--num_vars",
                    "2",    "--num_tsteps",
                    "9",    "--stencil",
                    "23",   "--type",
                    kind,   "--checkpoint_interval",
                    "1",    "--checkpoint_file",
                    base,   NULL};
    optind = 0;
    const int argc = (int)(sizeof argv / sizeof *argv) - 1;
    if (!CHECK(options_parse(&o, argc, argv, test_size) == OPTIONS_RUN)) return false;
    problem_create(&p, &o);
    return CHECK(!failure_agree(MPI_COMM_WORLD));
}

/* Any bits at all, NaNs of every kind among them. */
static uint64_t wanted(int variable, int64_t x, int64_t y, int64_t z)
{
    const int64_t global = ((variable * NZ + z) * NY + y) * NX + x;
    return p.type == NUMBER_F64 ? scramble((uint64_t)global) : scramble((uint64_t)global) >> 32;
}

static void each_cell(int variable, void *cells, void (*visit)(void *cell, uint64_t bits))
{
    for (int64_t z = p.own.start[2]; z < p.own.end[2]; ++z)
        for (int64_t y = p.own.start[1]; y < p.own.end[1]; ++y)
            for (int64_t x = p.own.start[0]; x < p.own.end[0]; ++x)
                visit(number_at(cells, (z * p.size[1] + y) * p.size[0] + x, p.type),
                      wanted(variable, p.first[0] + x - 1, p.first[1] + y - 1, p.first[2] + z - 1));
}

static void set_cell(void *cell, uint64_t bits)
{
    memcpy(cell, &bits, number_size(p.type)); /* of a little-endian number the lower part */
}

static void compare_cell(void *cell, uint64_t bits)
{
    uint64_t found = 0;
    memcpy(&found, cell, number_size(p.type));
    CHECK_U64(found, bits);
}

static void get(void *context, int variable, void *cells)
{
    (void)context;
    each_cell(variable, cells, set_cell);
}

static void put(void *context, int variable, const void *cells)
{
    int *seen = context;
    ++*seen;
    each_cell(variable, (void *)(uintptr_t)cells, compare_cell);
}

static void put_nowhere(void *context, int variable, const void *cells)
{
    (void)context;
    (void)variable;
    (void)cells;
}

static bool write_one(void)
{
    checkpoints w;
    o.restart_cp_num = -1;
    p.o.restart_cp_num = -1;
    checkpoints_begin(&w, &p);
    if (!CHECK(!failure_agree(MPI_COMM_WORLD))) return false;
    void *cells = calloc((size_t)p.cells, sizeof(double));
    checkpoints_write(&w, 1, 7, 0, source, flux, &(grid_source){cells, get, NULL});
    free(cells);
    const bool written = CHECK_INT(w.written, 1) && CHECK_INT(w.failed, 0);
    snprintf(name, sizeof name, "%s", written ? w.last : "");
    checkpoints_end(&w);
    return written;
}

/* ------------------------------------------------------------------ reading, and being refused */

/* Whether the checkpoint is refused before or at its grid; what was printed is in @p text. */
static bool is_refused(char *text, size_t room)
{
    checkpoint c;
    void *cells = calloc((size_t)p.cells, sizeof(double));
    fflush(stderr);
    const int saved = dup(2), to = open(messages, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(to, 2);
    o.restart_file = base;
    o.restart_cp_num = 0;
    failure_lenient();
    bool right = checkpoint_load(&c, &o);
    if (right) {
        checkpoint_compare(&c, &p);
        right = !failure_agree(p.cart) && checkpoint_read(&c, &p, cells, put_nowhere, NULL);
        checkpoint_free(&c);
    }
    const bool seen = failure_forgive(p.cart);
    fflush(stderr);
    dup2(saved, 2);
    const ssize_t length = pread(to, text, room - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(saved);
    close(to);
    free(cells);
    CHECK(seen == !right);
    return !right;
}

static void must_be_refused(const char *because)
{
    char text[2048];
    if (!CHECK(is_refused(text, sizeof text)) || test_rank != 0) return;
    const char *end = strchr(text, '\n');
    CHECK(end != NULL && end[1] == '\0'); /* one line */
    CHECK_CONTAINS(text, because);
    CHECK_CONTAINS(text, base);
}

/* ------------------------------------------------------------------ the file, on rank 0 */

static unsigned char image[65536];
static size_t image_size;

static void read_image(void)
{
    if (test_rank == 0) {
        FILE *from = fopen(name, "rb");
        image_size = from != NULL ? fread(image, 1, sizeof image, from) : 0;
        if (from != NULL) fclose(from);
    }
    uint64_t size = image_size;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    image_size = (size_t)size;
    MPI_Bcast(image, (int)image_size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void write_image(const unsigned char *bytes, size_t size)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        FILE *to = fopen(name, "wb");
        CHECK(to != NULL && fwrite(bytes, 1, size, to) == size);
        if (to != NULL) fclose(to);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whether all is well on every rank. */
static bool going_well(void)
{
    const int mine = test_failures() > 0;
    int any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any == 0;
}

static void begin(void)
{
    snprintf(folder, sizeof folder, "checkpoint-XXXXXX");
    if (test_rank == 0) CHECK(mkdtemp(folder) != NULL);
    MPI_Bcast(folder, (int)sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(base, sizeof base, "%s/cp", folder);
    snprintf(messages, sizeof messages, "%s/messages.%d", folder, test_rank);
}

static void end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(messages);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        unlink(name);
        CHECK_INT(rmdir(folder), 0); /* nothing else was left */
    }
    problem_free(&p);
}

/* A checkpoint of two variables in the image, and in the file. */
static bool begin_with_image(void)
{
    begin();
    if (!make_problem("f64", 2, "5") || !write_one()) return false;
    read_image();
    return CHECK_INT(image_size, sizeof(checkpoint_header) + VARIABLES * (WORD_PLANES + NZ) * 8 +
                                     VARIABLES * NX * NY * NZ * 8);
}

/* ------------------------------------------------------------------ promises */

static void every_bit_comes_back_on_every_process_grid(void)
{
    static const char *const types[] = {"f64", "f32"};
    for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to)
            for (int type = 0; type < 2; ++type) {
                checkpoint c;
                int seen = 0;
                test_case("%s, cut along axis %d, read along %d", types[type], from, to);
                begin();
                if (!make_problem(types[type], from, "5") || !write_one()) return;
                problem_free(&p);
                if (!make_problem(types[type], to, "5")) return;
                o.restart_file = base;
                o.restart_cp_num = -1;
                if (!CHECK(checkpoint_load(&c, &o))) return;
                CHECK_INT(c.h.step, 7);
                for (int v = 0; v < VARIABLES; ++v) {
                    const checkpoint_word *words = c.words + v * checkpoint_words(&c.h);
                    CHECK(memcmp(&words[WORD_SOURCE], &source[v], 8) == 0);
                    CHECK(memcmp(&words[WORD_FLUX], &flux[v], 8) == 0);
                }
                void *cells = calloc((size_t)p.cells, sizeof(double));
                CHECK(checkpoint_read(&c, &p, cells, put, &seen));
                CHECK_INT(seen, VARIABLES);
                free(cells);
                checkpoint_free(&c);
                end();
            }
}

static void a_file_cut_off_at_any_length_is_refused(void)
{
    if (!begin_with_image()) return;
    /* The decision is rank 0's: of several ranks a sample will do. */
    const size_t stride = test_size == 1 || test_long() ? 1 : 41;
    for (size_t size = 0; size < image_size && going_well(); size += stride) {
        test_case("the first %zu of %zu bytes", size, image_size);
        write_image(image, size);
        must_be_refused(size == 0                          ? "is empty"
                        : size < sizeof(checkpoint_header) ? "cut off: it has only"
                                                           : "cut off: it has");
    }
    write_image(image, image_size);
    char text[256];
    CHECK(!is_refused(text, sizeof text));
    image[image_size] = 0;
    write_image(image, image_size + 1);
    must_be_refused("too long");
    end();
}

static void a_file_with_a_bit_changed_is_refused(void)
{
    if (!begin_with_image()) return;
    const int64_t bits = 8 * (int64_t)image_size,
                  count = test_count(test_size == 1 ? 400 : 20, bits);
    for (int64_t k = 0; k < count && going_well(); ++k) {
        const int64_t bit = count == bits ? k : test_random_in(0, bits - 1);
        test_case("bit %d of byte %d", (int)(bit % 8), (int)(bit / 8));
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
        write_image(image, image_size);
        must_be_refused("checkpoint");
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (int64_t k = 0; k < test_count(test_size == 1 ? 100 : 10, 5000) && going_well(); ++k) {
        static unsigned char changed[sizeof image];
        const int64_t at = test_random_in(0, (int64_t)image_size - 1);
        const int64_t length = test_random_in(1, (int64_t)image_size - at);
        memcpy(changed, image, image_size);
        for (int64_t i = 0; i < length; ++i) changed[at + i] = (unsigned char)test_random();
        if (memcmp(changed, image, image_size) == 0) continue;
        test_case("%d bytes from %d on are others", (int)length, (int)at);
        write_image(changed, image_size);
        must_be_refused("checkpoint");
    }
    end();
}

/* Seal the image's header anew after a change, as a hostile writer would. */
static void seal(void (*change)(checkpoint_header *h))
{
    checkpoint_header h, sealed;
    memcpy(&h, image, sizeof h);
    sealed = h;
    change(&sealed);
    if (sealed.order == h.order && sealed.version == h.version) {
        uint64_t sum = offsetof(checkpoint_header, checksum);
        const unsigned char *at = (const unsigned char *)&sealed;
        for (size_t k = 0; k < offsetof(checkpoint_header, checksum); k += 8) {
            uint64_t word;
            memcpy(&word, at + k, 8);
            sum = scramble(sum ^ word);
        }
        sealed.checksum = sum;
    }
    memcpy(image, &sealed, sizeof h);
    write_image(image, image_size);
    memcpy(image, &h, sizeof h);
}

static void foreign_order(checkpoint_header *h)
{
    h->order = __builtin_bswap32(h->order);
}

static void later_version(checkpoint_header *h)
{
    ++h->version;
}

static void huge_grid(checkpoint_header *h)
{
    for (int d = 0; d < 3; ++d) h->global[d] = INT32_MAX - 2;
}

static void negative_grid(checkpoint_header *h)
{
    h->global[2] = -h->global[2];
}

static void no_variables(checkpoint_header *h)
{
    h->variables = 0;
}

static void unknown_type(checkpoint_header *h)
{
    h->type = 7;
}

static void step_beyond_the_last(checkpoint_header *h)
{
    h->step = h->num_tsteps + 1;
}

static void unknown_stencil(checkpoint_header *h)
{
    h->stencil = 99;
}

static void steps_before_the_first_round(checkpoint_header *h)
{
    h->marks |= 2;
}

static void negative_steps_before(checkpoint_header *h)
{
    h->marks = -2;
}

static void a_foreign_header_is_rejected(void)
{
    if (!begin_with_image()) return;
    seal(foreign_order);
    must_be_refused("byte order");
    seal(later_version);
    must_be_refused("version 2");
    void (*const wrong[])(checkpoint_header *) = {huge_grid,
                                                  negative_grid,
                                                  no_variables,
                                                  unknown_type,
                                                  step_beyond_the_last,
                                                  unknown_stencil,
                                                  steps_before_the_first_round,
                                                  negative_steps_before};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        test_case("wrong header %zu", k);
        seal(wrong[k]);
        must_be_refused("no run can have written");
    }
    write_image(image, image_size);
    problem_free(&p);
    if (make_problem("f64", 2, "6")) must_be_refused("5 x 4 x 6 cells, not 6 x 4 x 6");
    end();
}

static void a_checkpoint_that_cannot_be_written_leaves_the_older_ones(void)
{
    checkpoints w;
    struct stat status;
    char text[256] = "";
    if (!begin_with_image()) return;
    checkpoints_begin(&w, &p);
    if (!CHECK_INT(w.next, 1)) return;
    char moved[80];
    snprintf(moved, sizeof moved, "%s-elsewhere", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) CHECK_INT(rename(folder, moved), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    void *cells = calloc((size_t)p.cells, sizeof(double));
    fflush(stderr);
    const int saved = dup(2);
    FILE *to = tmpfile();
    dup2(fileno(to), 2);
    checkpoints_write(&w, 1, 8, 0, source, flux, &(grid_source){cells, get, NULL});
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(to);
    if (test_rank == 0 && CHECK(fgets(text, sizeof text, to) != NULL))
        CHECK_CONTAINS(text, "No such file or directory");
    CHECK(test_rank != 0 || fgetc(to) == EOF);
    fclose(to);
    CHECK_INT(w.failed, 1);
    CHECK_INT(w.written, 0);
    CHECK(!failure_seen());
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) CHECK_INT(rename(moved, folder), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(stat(name, &status) == 0 && status.st_size == (off_t)image_size);
    CHECK(!is_refused(text, sizeof text));
    checkpoints_write(&w, 1, 9, 0, source, flux, &(grid_source){cells, get, NULL});
    CHECK_INT(w.written, 1);
    if (test_rank == 0 && w.last != NULL) CHECK_INT(unlink(w.last), 0);
    free(cells);
    checkpoints_end(&w);
    end();
}

TEST_MPI_MAIN(PROMISE(every_bit_comes_back_on_every_process_grid),
              PROMISE(a_file_cut_off_at_any_length_is_refused),
              PROMISE(a_file_with_a_bit_changed_is_refused), PROMISE(a_foreign_header_is_rejected),
              PROMISE(a_checkpoint_that_cannot_be_written_leaves_the_older_ones))
