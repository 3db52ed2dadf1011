/* SPDX-License-Identifier: BSD-3-Clause */
/** @file io_file.c
 *  Writes, reads and copies files of fields for scripts:
 *
 *      io_file write FORMAT PATH STEP  fields rho (f64), id (i32) and mask (u8, of two dimensions)
 *      io_file begin FORMAT PATH STEP  the same beside computation
 *      io_file many FORMAT PATH STEP   larger ones of STEP and all later steps, until it is killed;
 *                                      rank 0 prints each step when its file is complete
 *      io_file skip FORMAT PATH STEP   as write, but rank 1 does not come
 *      io_file check PATH STEP         whether rho of a file, or of the last checkpoint, is that of
 *                                      STEP or a later one
 *      io_file copy FROM NAME TO       field NAME of any file, as an array of NumPy
 *
 *  Exit status 1: libmeta's error was printed. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meta_io.h"

static int rank, ranks;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) {                                                                                \
            fprintf(stderr, "%s\n", meta_last_error());                                            \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

/* This rank's part along the last dimension, in a device buffer. */
static int make(meta_io_field *field, const char *name, meta_type type, int ndim,
                const int64_t *cells)
{
    size_t element;
    int64_t count = 1;
    *field = (meta_io_field){.name = name, .type = type, .box = {.ndim = ndim}};
    for (int d = 0; d < ndim; ++d) {
        const bool is_last = d == ndim - 1;
        field->cells[d] = cells[d];
        field->first[d] = is_last ? cells[d] * rank / ranks : 0;
        field->box.size[d] = field->box.end[d] =
            is_last ? cells[d] * (rank + 1) / ranks - field->first[d] : cells[d];
        count *= field->box.size[d];
    }
    TRY(meta_type_size(type, &element));
    if (count == 0) { /* an array of no extent there is not */
        field->box.size[ndim - 1] = 1;
        return 0;
    }
    TRY(meta_alloc(&field->buf, (size_t)count * element));
    return 0;
}

static int drop(int fields, meta_io_field *field)
{
    for (int f = 0; f < fields; ++f)
        if (field[f].buf) TRY(meta_free(field[f].buf));
    return 0;
}

static int64_t count_of(const meta_io_field *field)
{
    int64_t count = 1;
    for (int d = 0; d < field->box.ndim; ++d) count *= field->box.end[d] - field->box.start[d];
    return count;
}

/* Cell k of this rank is the grid's cell k + before(). */
static int64_t before(const meta_io_field *field)
{
    int64_t cells = field->first[field->box.ndim - 1];
    for (int d = 0; d < field->box.ndim - 1; ++d) cells *= field->cells[d];
    return cells;
}

static double rho_of(int64_t cell, long step)
{
    return 0.25 * (double)cell + 1000.0 * (double)step;
}

static int fill(meta_io_field *field, long step)
{
    const int64_t count = count_of(field), first = before(field);
    const size_t size = field->type == META_F64 ? 8 : field->type == META_I32 ? 4 : 1;
    if (count == 0) return 0;
    char *values = malloc((size_t)count * size);
    for (int64_t k = 0; k < count; ++k) {
        const double rho = rho_of(first + k, step);
        const int32_t id = (int32_t)(first + k) - 5;
        const uint8_t mask = (uint8_t)(first + k + 250);
        const void *value = size == 8 ? (const void *)&rho : size == 4 ? (const void *)&id : &mask;
        memcpy(values + (size_t)k * size, value, size);
    }
    TRY(meta_copy_h2d(field->buf, values, (size_t)count * size, NULL));
    free(values);
    return 0;
}

static int write_file(meta_io_format format, const char *path, long step, const int64_t *cells,
                      bool skips, bool beside)
{
    const int64_t flat[2] = {6, 3};
    const double time = 0.5 * (double)step;
    const int64_t numbers[3] = {1, -2, 3};
    const meta_io_attribute attribute[] = {{"time", NULL, META_F64, 1, &time},
                                           {"title", "Grüße <&>", META_F64, 0, NULL},
                                           {"numbers", NULL, META_I64, 3, numbers}};
    meta_io_field field[3];
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    desc.format = format;
    const bool is_plain = format == META_IO_NPY || format == META_IO_PNG;
    desc.attributes = is_plain ? 0 : 3;
    desc.attribute = attribute;
    desc.keep = 3;
    desc.origin[0] = -1;
    desc.spacing[0] = 0.5;
    if (make(&field[0], "rho", META_F64, 3, cells) || make(&field[1], "id", META_I32, 3, cells) ||
        make(&field[2], "mask", META_U8, 2, flat))
        return 1;
    for (int f = 0; f < 3; ++f)
        if (fill(&field[f], step)) return 1;
    if (skips && rank == 1) {
        sleep(60); /* until it is aborted */
        return 0;
    }
    if (format == META_IO_VTK) desc.series = "series.pvd";
    const int fields = is_plain ? 1 : format == META_IO_VTK ? 2 : 3;
    if (!beside) {
        TRY(meta_io_write(path, &desc, fields, field));
        return drop(3, field);
    }
    meta_io_request request;
    TRY(meta_io_write_begin(path, &desc, fields, field, &request));
    for (int f = 0; f < 3; ++f) /* the buffers are the program's again */
        if (fill(&field[f], step + 1000)) return 1;
    TRY(meta_io_wait(&request));
    return drop(3, field);
}

static int write_many(meta_io_format format, const char *path, long step)
{
    const int64_t cells[3] = {64, 48, 40};
    for (;; ++step) {
        if (write_file(format, path, step, cells, false, step % 2 != 0 && format != META_IO_NPY))
            return 1;
        if (rank == 0) printf("%ld\n", step);
        fflush(stdout);
    }
}

static int check_file(const char *path, long least)
{
    meta_io_file file;
    meta_io_file_desc info = META_IO_FILE_DESC_INIT;
    meta_io_field there, field;
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    if (access(path, F_OK) != 0) desc.format = META_IO_CHECKPOINT; /* PATH.number */
    TRY(meta_io_open(&file, path, &desc));
    TRY(meta_io_file_info(file, &info));
    for (int f = 0; f < info.fields; ++f) {
        TRY(meta_io_field_info(file, f, &there));
        if (info.format == META_IO_NPY || strcmp(there.name, "rho") == 0) break;
    }
    if (make(&field, "rho", META_F64, 3, there.cells)) return 1;
    TRY(meta_io_read(file, 1, &field));
    const int64_t count = count_of(&field), first = before(&field);
    double *found = malloc((size_t)count * sizeof *found);
    TRY(meta_copy_d2h(found, field.buf, (size_t)count * sizeof *found, NULL));
    long step = (long)((found[0] - rho_of(first, 0)) / rho_of(0, 1));
    if (info.format != META_IO_NPY) {
        meta_io_attribute time;
        TRY(meta_io_attribute_find(file, "time", &time));
        step = (long)(2 * *(const double *)time.numbers);
    }
    TRY(meta_io_close(&file));
    for (int64_t k = 0; k < count; ++k) {
        if (found[k] == rho_of(first + k, step)) continue;
        fprintf(stderr, "cell %" PRId64 " is %g in step %ld\n", first + k, found[k], step);
        return 1;
    }
    free(found);
    if (step >= least) return drop(1, &field);
    fprintf(stderr, "the last step is %ld, expected %ld\n", step, least);
    return 1;
}

static int copy_file(const char *from, const char *name, const char *to)
{
    meta_io_file file;
    meta_io_file_desc info = META_IO_FILE_DESC_INIT;
    meta_io_desc desc = META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
    TRY(meta_io_open(&file, from, &desc));
    TRY(meta_io_file_info(file, &info));
    for (int f = 0; f < info.fields; ++f) {
        meta_io_field there, field;
        TRY(meta_io_field_info(file, f, &there));
        if (strcmp(there.name, name) != 0) continue;
        if (make(&field, there.name, there.type, there.box.ndim, there.cells)) return 1;
        TRY(meta_io_read(file, 1, &field));
        desc.format = META_IO_NPY;
        TRY(meta_io_write(to, &desc, 1, &field));
        TRY(meta_io_close(&file));
        return drop(1, &field);
    }
    /* Why the library does not read it. */
    const int64_t cells[1] = {1};
    meta_io_field wanted;
    meta_io_attribute attribute;
    if (make(&wanted, name, META_F64, 1, cells)) return 1;
    if (meta_io_read(file, 1, &wanted) != META_OK) fprintf(stderr, "%s\n", meta_last_error());
    if (meta_io_attribute_find(file, name, &attribute) != META_OK)
        fprintf(stderr, "%s\n", meta_last_error());
    if (drop(1, &wanted)) return 1;
    for (int f = 0; f < info.fields; ++f) {
        meta_io_field there;
        TRY(meta_io_field_info(file, f, &there));
        fprintf(stderr, "  %s\n", there.name);
    }
    return 1;
}

static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        meta_io_format format;
    } formats[] = {{"checkpoint", META_IO_CHECKPOINT},
                   {"hdf5", META_IO_HDF5},
                   {"npy", META_IO_NPY},
                   {"vtk", META_IO_VTK},
                   {"png", META_IO_PNG}};
    const int64_t small[3] = {7, 5, 4};
    const bool skips = argc == 5 && strcmp(argv[1], "skip") == 0;
    const bool many = argc == 5 && strcmp(argv[1], "many") == 0;
    const bool beside = argc == 5 && strcmp(argv[1], "begin") == 0;
    for (size_t k = 0; k < sizeof formats / sizeof *formats && argc == 5; ++k) {
        if (strcmp(argv[2], formats[k].name) != 0) continue;
        const long step = atol(argv[4]);
        if (many) return write_many(formats[k].format, argv[3], step);
        if (skips || beside || strcmp(argv[1], "write") == 0)
            return write_file(formats[k].format, argv[3], step, small, skips, beside);
    }
    if (argc == 4 && strcmp(argv[1], "check") == 0) return check_file(argv[2], atol(argv[3]));
    if (argc == 5 && strcmp(argv[1], "copy") == 0) return copy_file(argv[2], argv[3], argv[4]);
    fprintf(stderr, "usage: see the head of io_file.c\n");
    return 2;
}

int main(int argc, char **argv)
{
    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int status = run(argc, argv);
    /* Errors are those of all ranks; but where one was lost, MPI cannot be ended. */
    if (meta_comm_finalize() == META_ERR_PEER) {
        sleep(1); /* launchers drop what was printed last */
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return status;
}
