/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_io.c
 *  Files of fields: what is written by some ranks comes back, bit by bit, on others with other
 * cuts, in every format, of every type and from every device. */
/* TEST: backends=all np=1,3 mixed=yes labels=io */
/* TEST: backends=openmp np=3 with=TEST_CHUNK=4096 labels=io */
#include "io_grids.h"
#include "scratch_mpi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FIELDS = 3 };
static char folder[256], path[320];

/* Rank 0's folder, on all ranks. */
static void begin(const char *name)
{
    scratch_share("io", folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void end(void)
{
    scratch_remove_shared(folder);
}

/* A number in 0 … count - 1, the same on every rank. */
static int pick(int count)
{
    return (int)test_random_in(0, count - 1);
}

static bool has(meta_io_format format)
{
    int has = 0;
    CHECK_OK(meta_io_has(format, &has));
    return has == 1;
}

/* ------------------------------------------------------------------ random files */

typedef struct file_case {
    meta_io_format format;
    int fields;
    io_cut grid[MOST_FIELDS];
    meta_type type[MOST_FIELDS];
    char name[MOST_FIELDS][32];
} file_case;

static void random_case(file_case *c)
{
    c->format = (meta_io_format)(META_IO_CHECKPOINT + pick(META_IO_NPY - META_IO_CHECKPOINT + 1));
    if (!has(c->format)) c->format = META_IO_CHECKPOINT;
    c->fields = c->format == META_IO_NPY ? 1 : 1 + pick(MOST_FIELDS);
    for (int f = 0; f < c->fields; ++f) {
        io_random_grid(&c->grid[f], pick(2) ? 200 : pick(3) ? 9000 : 40000);
        c->type[f] = (meta_type)pick(META_TYPE_COUNT);
        snprintf(c->name[f], sizeof c->name[f], "feld äö %d", f);
    }
}

/* The random ghosts of each rank are its own; what all ranks share goes on from the same state. */
static void make_fields(const file_case *c, meta_io_field *field, const bool *on_host, int rank,
                        bool filled)
{
    for (int f = 0; f < c->fields; ++f) {
        CHECK(io_array_make(&field[f], f, &c->grid[f], rank, c->type[f], on_host[f], filled));
        field[f].name = c->name[f];
    }
}

static bool write_case(file_case *c)
{
    const double time = 0.1 + 0.2, box[3] = {1, -2, 3e300};
    const int32_t step = -7;
    const uint8_t byte = 200;
    const meta_io_attribute attribute[] = {{"time", NULL, META_F64, 1, &time},
                                           {"box", NULL, META_F64, 3, box},
                                           {"step", NULL, META_I32, 1, &step},
                                           {"byte", NULL, META_U8, 1, &byte},
                                           {"title", "Grüße & <tags>", META_F64, 0, NULL},
                                           {"empty", "", META_F64, 0, NULL}};
    meta_io_field field[MOST_FIELDS];
    bool on_host[MOST_FIELDS];
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    desc.format = c->format;
    desc.attributes = c->format == META_IO_NPY ? 0 : 6;
    desc.attribute = attribute;
    for (int f = 0; f < c->fields; ++f) {
        io_random_cut(&c->grid[f], test_size);
        on_host[f] = pick(4) == 0;
    }
    make_fields(c, field, on_host, test_rank, true);
    bool right;
    if (pick(3) > 0) {
        right = CHECK_OK(meta_io_write(path, &desc, c->fields, field));
    } else {
        meta_io_request request;
        int done = 2;
        desc.memory = pick(2) ? 0 : 1 << 20;
        right = CHECK_OK(meta_io_write_begin(path, &desc, c->fields, field, &request));
        for (int f = 0; f < c->fields; ++f) { /* the buffers are the program's again */
            io_array_free(&field[f], on_host[f]);
            CHECK(
                io_array_make(&field[f], f, &c->grid[f], test_rank, c->type[f], on_host[f], true));
        }
        if (right) {
            CHECK_OK(meta_io_test(request, &done));
            CHECK(done == 0 || done == 1);
            right = CHECK_OK(meta_io_wait(&request));
            CHECK_INT(request.id, 0);
        }
    }
    for (int f = 0; f < c->fields; ++f) {
        io_array_check(&field[f], f, on_host[f]);
        io_array_free(&field[f], on_host[f]);
    }
    return right;
}

static void check_attributes(meta_io_file file)
{
    meta_io_attribute a;
    if (CHECK_OK(meta_io_attribute_find(file, "time", &a)))
        CHECK(a.type == META_F64 && a.count == 1 && *(const double *)a.numbers == 0.1 + 0.2);
    if (CHECK_OK(meta_io_attribute_find(file, "box", &a)))
        CHECK(a.type == META_F64 && a.count == 3 && ((const double *)a.numbers)[2] == 3e300);
    if (CHECK_OK(meta_io_attribute_find(file, "step", &a)))
        CHECK(a.type == META_I32 && a.count == 1 && *(const int32_t *)a.numbers == -7);
    if (CHECK_OK(meta_io_attribute_find(file, "byte", &a)))
        CHECK(a.type == META_U8 && a.count == 1 && *(const uint8_t *)a.numbers == 200);
    if (CHECK_OK(meta_io_attribute_find(file, "title", &a)) && CHECK(a.text != NULL))
        CHECK_STRING(a.text, "Grüße & <tags>");
    if (CHECK_OK(meta_io_attribute_find(file, "empty", &a)) && CHECK(a.text != NULL))
        CHECK_STRING(a.text, "");
}

static void check_description(meta_io_file file, const file_case *c)
{
    meta_io_file_desc desc = META_IO_FILE_DESC_INIT;
    if (!CHECK_OK(meta_io_file_info(file, &desc))) return;
    CHECK_INT(desc.format, c->format);
    CHECK_INT(desc.fields, c->fields);
    CHECK_INT(desc.attributes, c->format == META_IO_NPY ? 0 : 6);
    CHECK_INT(desc.number, c->format == META_IO_CHECKPOINT ? 0 : -1);
    for (int k = 0; k < desc.fields; ++k) {
        meta_io_field field;
        int f = 0;
        if (!CHECK_OK(meta_io_field_info(file, k, &field))) continue;
        while (f < c->fields && strcmp(c->name[f], field.name) != 0) ++f;
        if (c->format == META_IO_NPY) f = 0;
        if (!CHECK(f < c->fields)) continue;
        CHECK_INT(field.type, c->type[f]);
        CHECK_INT(field.box.ndim, c->grid[f].ndim);
        for (int d = 0; d < META_MAX_DIM; ++d) CHECK_INT(field.cells[d], c->grid[f].cells[d]);
    }
    if (c->format != META_IO_NPY) check_attributes(file);
}

/* By the first ranks only; those of several may have cells in common, or leave some out. */
static void read_case(file_case *c)
{
    const int readers = 1 + pick(test_size), with_format = pick(2), overlap = pick(3) == 0,
              singly = pick(2);
    MPI_Comm among;
    meta_io_file file = META_IO_FILE_NULL;
    meta_io_desc desc = META_IO_DESC_INIT;
    meta_io_field field[MOST_FIELDS];
    bool on_host[MOST_FIELDS];
    MPI_Comm_split(MPI_COMM_WORLD, test_rank < readers, test_rank, &among);
    for (int f = 0; f < c->fields; ++f) {
        io_random_cut(&c->grid[f], readers);
        if (overlap) c->grid[f].box[pick(readers)] = c->grid[f].box[pick(readers)];
        on_host[f] = pick(4) == 0;
    }
    make_fields(c, field, on_host, test_rank < readers ? test_rank : 0, false);
    desc.comm = among;
    const bool is_numbered = c->format == META_IO_CHECKPOINT;
    if (with_format || is_numbered) desc.format = c->format;
    if (test_rank < readers && CHECK_OK(meta_io_open(&file, path, &desc))) {
        check_description(file, c);
        if (singly && c->fields > 1) { /* one by one, the last one first */
            for (int f = c->fields - 1; f >= 0; --f) CHECK_OK(meta_io_read(file, 1, &field[f]));
        } else {
            if (overlap) field[0].cells[0] = 0;
            CHECK_OK(meta_io_read(file, c->fields, field));
            field[0].cells[0] = c->grid[0].cells[0];
        }
        CHECK_OK(meta_io_close(&file));
        CHECK_INT(file.generation, 0);
        for (int f = 0; f < c->fields; ++f) io_array_check(&field[f], f, on_host[f]);
    }
    for (int f = 0; f < c->fields; ++f) io_array_free(&field[f], on_host[f]);
    MPI_Comm_free(&among);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void every_bit_comes_back_with_other_cuts(void)
{
    begin("file");
    TEST_CASES (k, 16, 2000) {
        file_case c;
        random_case(&c);
        test_case("case %d: format %d, %d fields", (int)k, (int)c.format, c.fields);
        if (!write_case(&c)) break;
        for (int again = 0; again < 2; ++again) read_case(&c);
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0 && c.format == META_IO_CHECKPOINT) {
            char name[340];
            snprintf(name, sizeof name, "%s.0", path);
            CHECK_INT(unlink(name), 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    end();
}

/* ------------------------------------------------------------------ checkpoints */

static bool exists(int number)
{
    char name[340];
    snprintf(name, sizeof name, "%s.%d", path, number);
    return access(name, F_OK) == 0;
}

static meta_err write_number(int64_t number, int64_t keep, double value)
{
    meta_io_desc desc = META_IO_DESC_INIT;
    const meta_io_field field = {"u", &value, META_F64, {1, {1}, {0}, {test_rank == 0}}, {0}, {1}};
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    desc.number = number;
    desc.keep = keep;
    return meta_io_write(path, &desc, 1, &field);
}

static double read_number(int64_t number)
{
    double value = -1;
    meta_io_file file;
    meta_io_file_desc info = META_IO_FILE_DESC_INIT;
    meta_io_desc desc = META_IO_DESC_INIT;
    const meta_io_field field = {"u", &value, META_F64, {1, {1}, {0}, {1}}, {0}, {1}};
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    desc.number = number;
    if (!CHECK_OK(meta_io_open(&file, path, &desc))) return -1;
    CHECK_OK(meta_io_file_info(file, &info));
    if (number >= 0) CHECK_INT(info.number, number);
    CHECK_OK(meta_io_read(file, 1, &field));
    CHECK_OK(meta_io_close(&file));
    return value;
}

static void checkpoints_are_numbered_and_the_oldest_removed(void)
{
    int64_t last = 77;
    begin("cp");
    CHECK_OK(meta_io_last(MPI_COMM_WORLD, path, &last));
    CHECK_INT(last, -1);
    for (int k = 0; k < 5; ++k) CHECK_OK(write_number(-1, 3, k));
    CHECK_OK(meta_io_last(MPI_COMM_WORLD, path, &last));
    CHECK_INT(last, 4);
    for (int k = 0; k < 5; ++k) CHECK_INT(exists(k), k >= 2);
    CHECK_NEAR(read_number(-1), 4, 0);
    CHECK_NEAR(read_number(2), 2, 0);
    CHECK_OK(write_number(2, 0, 22));
    CHECK_NEAR(read_number(2), 22, 0);
    CHECK_OK(write_number(41, 0, 41));
    CHECK_NEAR(read_number(-1), 41, 0);
    CHECK_INT(exists(3), 1);
    end();
}

/* ------------------------------------------------------------------ beside computation */

static void several_files_are_under_way(void)
{
    enum { FILES = 5 };
    meta_io_request request[FILES];
    char name[FILES][340];
    double value[FILES];
    begin("cp");
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    desc.format = META_IO_CHECKPOINT;
    desc.number = 0;
    for (int k = 0; k < FILES; ++k) {
        value[k] = k;
        snprintf(name[k], sizeof name[k], "%s-%d", path, k);
        const meta_io_field field = {"u", &value[k], META_F64, {1, {1}, {0}, {test_rank == 0}},
                                     {0}, {1}};
        if (!CHECK_OK(meta_io_write_begin(name[k], &desc, 1, &field, &request[k]))) return;
        value[k] = -1;
        CHECK_ERR_NAMES(meta_io_write(name[k], &desc, 1, &field), META_ERR_STATE,
                        "is still being written");
    }
    for (int k = FILES - 1; k >= 0; --k) {
        meta_io_file file;
        const meta_io_field field = {"u", &value[k], META_F64, {1, {1}, {0}, {1}}, {0}, {1}};
        CHECK_ERR_NAMES(meta_io_open(&file, name[k], &desc), META_ERR_FILE, "No such file");
        CHECK_OK(meta_io_wait(&request[k]));
        if (!CHECK_OK(meta_io_open(&file, name[k], &desc))) return;
        CHECK_OK(meta_io_read(file, 1, &field));
        CHECK_OK(meta_io_close(&file));
        CHECK_NEAR(value[k], k, 0);
        CHECK_ERR_NAMES(meta_io_wait(&request[k]), META_ERR_HANDLE, "META_IO_REQUEST_NULL");
    }
    end();
}

TEST_COMM_MAIN(PROMISE(every_bit_comes_back_with_other_cuts), PROMISE(several_files_are_under_way),
               PROMISE(checkpoints_are_numbered_and_the_oldest_removed))
