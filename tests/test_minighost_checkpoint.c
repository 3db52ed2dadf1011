/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_minighost_checkpoint.c
 *  MiniGhost's checkpoints: bitwise restart on every process grid; files of libmeta_io that no run
 *  can have written are refused with one line. */
/* TEST: np=1,3 labels=programs */
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
#include "meta_io.h"
#include "scramble.h"
#include "test_mpi.h"

enum { NX = 5, NY = 4, NZ = 6, VARIABLES = 2 };

static char folder[] = "checkpoint-XXXXXX", base[64], name[80], messages[64];
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

/* ------------------------------------------------------------------ a solver that has the grid */

struct solver {
    unsigned char *cells; /* of all variables */
    int seen;             /* variables that were put, and compared */
};
static solver block;

static void *cells_of(const solver *s, int variable)
{
    return s->cells + (size_t)variable * (size_t)p.cells * number_size(p.type);
}

void solver_where(solver *s, int variable, solver_array *array)
{
    *array = (solver_array){.cells = cells_of(s, variable), .own = p.own};
    memcpy(array->size, p.size, sizeof array->size);
}

void solver_put(solver *s, int variable, const void *cells)
{
    ++s->seen;
    each_cell(variable, (void *)(uintptr_t)cells, compare_cell);
}

static void fill_block(void)
{
    free(block.cells);
    block.cells = calloc((size_t)p.cells * VARIABLES, sizeof(double));
    for (int v = 0; v < VARIABLES; ++v) each_cell(v, cells_of(&block, v), set_cell);
}

static bool write_one(void)
{
    checkpoints w;
    o.restart_cp_num = -1;
    p.o.restart_cp_num = -1;
    checkpoints_begin(&w, &p);
    if (!CHECK(!failure_agree(MPI_COMM_WORLD))) return false;
    fill_block();
    checkpoints_write(&w, 1, 7, 0, source, flux, &block);
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
        right = !failure_agree(p.cart) && checkpoint_read(&c, &p, cells, &block);
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

/* ------------------------------------------------------------------ promises */

static void every_bit_comes_back_on_every_process_grid(void)
{
    static const char *const types[] = {"f64", "f32"};
    for (int from = 0; from < 3; ++from)
        for (int to = 0; to < 3; ++to)
            for (int type = 0; type < 2; ++type) {
                checkpoint c;
                test_case("%s, cut along axis %d, read along %d", types[type], from, to);
                begin();
                if (!make_problem(types[type], from, "5") || !write_one()) return;
                problem_free(&p);
                if (!make_problem(types[type], to, "5")) return;
                o.restart_file = base;
                o.restart_cp_num = -1;
                if (!CHECK(checkpoint_load(&c, &o))) return;
                CHECK_INT(c.is.step, 7);
                CHECK(memcmp(c.source, source, sizeof source) == 0);
                CHECK(memcmp(c.flux, flux, sizeof flux) == 0);
                void *cells = calloc((size_t)p.cells, sizeof(double));
                block.seen = 0;
                CHECK(checkpoint_read(&c, &p, cells, &block));
                CHECK_INT(block.seen, VARIABLES);
                free(cells);
                checkpoint_free(&c);
                end();
            }
}

/* What checkpoints_write() gives libmeta_io; one thing of it may be another. */
static const char *const numbers[] = {"round",       "step",        "before",          "stencil",
                                      "debug_grid",  "comm_method", "num_spikes",      "num_tsteps",
                                      "percent_sum", "error_tol",   "report_diffusion"};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

typedef struct written {
    int64_t value[NUMBERS];
    int attributes, fields, dimensions;
    meta_type type, second; /* of the fields */
    int64_t sums;           /* how many sources */
} written;

static void write_as(const written *w)
{
    static uint64_t cells[VARIABLES][NX * NY * NZ];
    meta_io_attribute attribute[NUMBERS + 2];
    meta_io_field field[VARIABLES];
    meta_io_desc d = META_IO_DESC_INIT;
    for (int k = 0; k < NUMBERS; ++k)
        attribute[k] = (meta_io_attribute){numbers[k], NULL, META_I64, 1, &w->value[k]};
    attribute[NUMBERS] = (meta_io_attribute){"source", NULL, META_F64, w->sums, source};
    attribute[NUMBERS + 1] = (meta_io_attribute){"flux", NULL, META_F64, VARIABLES, flux};
    const int64_t extent[] = {NX, NY, NZ};
    for (int v = 0; v < VARIABLES; ++v) {
        for (int k = 0; k < NX * NY * NZ; ++k)
            cells[v][k] = wanted(v, k % NX, k / NX % NY, k / NX / NY);
        field[v] = (meta_io_field){.name = v == 0 ? "variable 1" : "variable 2",
                                   .buf = test_rank == 0 ? cells[v] : NULL,
                                   .type = v == 0 ? w->type : w->second,
                                   .box = {.ndim = w->dimensions}};
        for (int k = 0; k < w->dimensions; ++k) {
            field[v].cells[k] = field[v].box.size[k] = extent[k];
            field[v].box.end[k] = test_rank == 0 ? extent[k] : 0;
        }
    }
    d.comm = MPI_COMM_WORLD;
    d.format = META_IO_CHECKPOINT;
    d.attributes = w->attributes;
    d.attribute = attribute;
    d.number = 0;
    CHECK_OK(meta_io_write(base, &d, w->fields, field));
    snprintf(name, sizeof name, "%s.0", base);
}

static void must_be_refused_as(const char *what, const written *w, const char *because)
{
    test_case("%s", what);
    write_as(w);
    must_be_refused(because);
}

static void what_no_run_can_have_written_is_refused(void)
{
    const written right = {{1, 7, 0, 23, 0, 10, 1, 9, 100, 8, 20},
                           NUMBERS + 2,
                           VARIABLES,
                           3,
                           META_F64,
                           META_F64,
                           VARIABLES};
    static const struct {
        int number;
        int64_t value;
    } wrong[] = {{0, 0}, {0, 2},  {1, 0},  {1, 10}, {2, 1},   {2, -1},  {3, 19}, {3, 25},
                 {4, 2}, {5, 12}, {6, -1}, {7, 6},  {8, 101}, {9, 301}, {10, -1}};
    begin();
    if (!make_problem("f64", 2, "5")) return;
    fill_block();
    test_case("nothing is wrong");
    write_as(&right);
    char text[2048];
    CHECK(!is_refused(text, sizeof text));
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char what[64];
        written w = right;
        w.value[wrong[k].number] = wrong[k].value;
        snprintf(what, sizeof what, "%s is %d", numbers[wrong[k].number], (int)wrong[k].value);
        must_be_refused_as(what, &w, "no run can have written");
    }
    written w = right;
    w.attributes = NUMBERS + 1;
    must_be_refused_as("no flux", &w, "not one of MiniGhost: it has no 'flux'");
    w = right;
    w.sums = 1;
    must_be_refused_as("a source alone", &w, "not one of MiniGhost: it has no 'source'");
    w = right;
    w.type = META_I64;
    must_be_refused_as("integers", &w, "other fields");
    w = right;
    w.second = META_F32;
    must_be_refused_as("two types", &w, "other fields");
    w = right;
    w.dimensions = 2;
    must_be_refused_as("planes", &w, "other fields");
    test_case("another grid");
    write_as(&right);
    problem_free(&p);
    if (make_problem("f64", 2, "6")) must_be_refused("5 x 4 x 6 cells, not 6 x 4 x 6");
    end();
}

/* The state and the grid are of one file. */
static void a_file_that_is_replaced_before_its_grid_is_read_is_refused(void)
{
    written w = {{1, 7, 0, 23, 0, 10, 1, 9, 100, 8, 20},
                 NUMBERS + 2,
                 VARIABLES,
                 3,
                 META_F64,
                 META_F64,
                 VARIABLES};
    checkpoint c;
    begin();
    if (!make_problem("f64", 2, "5")) return;
    fill_block();
    write_as(&w);
    o.restart_file = base;
    o.restart_cp_num = 0;
    if (!CHECK(checkpoint_load(&c, &o))) return;
    w.value[1] = 8;
    write_as(&w);
    void *cells = calloc((size_t)p.cells, sizeof(double));
    char text[256] = "";
    fflush(stderr);
    const int saved = dup(2);
    FILE *to = tmpfile();
    dup2(fileno(to), 2);
    failure_lenient();
    const bool right = checkpoint_read(&c, &p, cells, &block);
    failure_forgive(p.cart);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(to);
    CHECK(!right);
    if (test_rank == 0 && CHECK(fgets(text, sizeof text, to) != NULL))
        CHECK_CONTAINS(text, "changed or replaced");
    fclose(to);
    free(cells);
    checkpoint_free(&c);
    end();
}

static void a_checkpoint_that_cannot_be_written_leaves_the_older_ones(void)
{
    checkpoints w;
    struct stat status;
    char text[256] = "";
    begin();
    if (!make_problem("f64", 2, "5") || !write_one()) return;
    checkpoints_begin(&w, &p);
    if (!CHECK_INT(w.next, 1) || !CHECK_INT(stat(name, &status), 0)) return;
    const off_t before = status.st_size;
    char moved[80];
    snprintf(moved, sizeof moved, "%s-elsewhere", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) CHECK_INT(rename(folder, moved), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    fflush(stderr);
    const int saved = dup(2);
    FILE *to = tmpfile();
    dup2(fileno(to), 2);
    checkpoints_write(&w, 1, 8, 0, source, flux, &block);
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
    CHECK(stat(name, &status) == 0 && status.st_size == before);
    CHECK(!is_refused(text, sizeof text));
    checkpoints_write(&w, 1, 9, 0, source, flux, &block);
    CHECK_INT(w.written, 1);
    if (test_rank == 0 && w.last != NULL) CHECK_INT(unlink(w.last), 0);
    checkpoints_end(&w);
    end();
}

TEST_COMM_MAIN(PROMISE(every_bit_comes_back_on_every_process_grid),
               PROMISE(what_no_run_can_have_written_is_refused),
               PROMISE(a_file_that_is_replaced_before_its_grid_is_read_is_refused),
               PROMISE(a_checkpoint_that_cannot_be_written_leaves_the_older_ones))
