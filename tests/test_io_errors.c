/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_io_errors.c
 *  What is wrong with a file or with the arguments is the same error on every rank, which says
 * what; no rank is left waiting, and older files stay as they are. */
/* TEST: backends=openmp np=1,3 labels=io */
/* TEST: backends=opencl np=2 labels=io */
#include "checkpoint_sums.h"
#include "io_grids.h"
#include "scratch_mpi.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NX = 6, NY = 9, CELLS = NX * NY };
static char folder[256], path[320], file_name[340];
static const char *const names[] = {"", "checkpoint", "HDF5", "NumPy"};

static bool has(int format)
{
    int has = 0;
    CHECK_OK(meta_io_has((meta_io_format)format, &has));
    return has == 1;
}

static void begin(const char *name)
{
    scratch_share("io-errors", folder, sizeof folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
}

static void end(void)
{
    scratch_remove_shared(folder);
}

/* ------------------------------------------------------------------ a field cut along y */

static meta_io_field field;
static meta_io_desc desc;

static void make(bool filled)
{
    io_cut cut = {.ndim = 2, .cells = {NX, NY}};
    for (int r = 0; r < test_size; ++r) {
        cut.box[r].end[0] = NX;
        cut.box[r].first[1] = NY * r / test_size;
        cut.box[r].end[1] = NY * (r + 1) / test_size;
    }
    CHECK(io_array_make(&field, 0, &cut, test_rank, META_F64, false, filled));
    field.name = "u";
    desc = (meta_io_desc)META_IO_DESC_INIT;
    desc.comm = MPI_COMM_WORLD;
}

static void drop(void)
{
    io_array_free(&field, false);
}

/* One file of the format; file_name is its name. */
static bool write_one(int format)
{
    desc.format = (meta_io_format)format;
    snprintf(file_name, sizeof file_name, format == META_IO_CHECKPOINT ? "%s.0" : "%s", path);
    return CHECK_OK(meta_io_write(path, &desc, 1, &field));
}

static meta_err read_one(int format)
{
    meta_io_file file;
    desc.format = (meta_io_format)format;
    meta_err error = meta_io_open(&file, path, &desc);
    if (error != META_OK) return error;
    error = meta_io_read(file, 1, &field);
    CHECK_OK(meta_io_close(&file));
    return error;
}

static bool reading_fails(int format, meta_err wanted, const char *part)
{
    meta_io_file file;
    desc.format = (meta_io_format)format;
    const meta_err error = meta_io_open(&file, path, &desc);
    if (error != META_OK) return CHECK_ERR_NAMES(error, wanted, part);
    const bool right = CHECK_ERR_NAMES(meta_io_read(file, 1, &field), wanted, part);
    CHECK_OK(meta_io_close(&file));
    return right;
}

/* ------------------------------------------------------------------ arguments */

static void a_wrong_argument_of_one_rank_is_an_error_on_all(void)
{
    begin("file");
    make(true);
    const int culprit = test_size - 1;
    const bool mine = test_rank == culprit;
    char who[32];
    snprintf(who, sizeof who, "rank %d", culprit);
    desc.format = META_IO_CHECKPOINT;
#define WRONG(error, part, change)                                                                 \
    do {                                                                                           \
        meta_io_desc right_desc = desc;                                                            \
        meta_io_field right_field = field;                                                         \
        const char *name = path;                                                                   \
        int fields = 1;                                                                            \
        if (mine) {                                                                                \
            change;                                                                                \
        }                                                                                          \
        test_case("%s", #change);                                                                  \
        CHECK_ERR_NAMES(meta_io_write(name, &desc, fields, &field), error, part);                  \
        CHECK_CONTAINS(meta_last_error(), who);                                                    \
        desc = right_desc;                                                                         \
        field = right_field;                                                                       \
        (void)fields;                                                                              \
    } while (0)
    const double number = 1;
    meta_io_attribute bad[2] = {{"a", NULL, META_F64, 1, NULL}, {"b", "text", META_F64, 0, NULL}};
    WRONG(META_ERR_ARGUMENT, "'path' is NULL", name = NULL);
    WRONG(META_ERR_ARGUMENT, "'path' is empty", name = "");
    WRONG(META_ERR_ARGUMENT, "'fields' is 0", fields = 0);
    WRONG(META_ERR_ARGUMENT, "'fields' is -3", fields = -3);
    WRONG(META_ERR_ARGUMENT, "'desc->format' is 0", desc.format = META_IO_ANY);
    WRONG(META_ERR_ARGUMENT, "'desc->format' is 99", desc.format = (meta_io_format)99);
    WRONG(META_ERR_ARGUMENT, "'desc->number' is -2", desc.number = -2);
    WRONG(META_ERR_ARGUMENT, "'desc->keep' is -1", desc.keep = -1);
    WRONG(META_ERR_ARGUMENT, "'desc->memory' is -1", desc.memory = -1);
    WRONG(META_ERR_ARGUMENT, "'desc->spacing[1]'", desc.spacing[1] = 0);
    WRONG(META_ERR_ARGUMENT, "'desc->attributes' is -1", desc.attributes = -1);
    WRONG(META_ERR_ARGUMENT, "'desc->attribute' is NULL", desc.attributes = 1);
    WRONG(META_ERR_ARGUMENT, "neither a text nor numbers", desc.attributes = 1;
          desc.attribute = bad);
    bad[0].numbers = &number;
    bad[0].count = 0;
    WRONG(META_ERR_ARGUMENT, "'desc->attribute[0].count'", desc.attributes = 1;
          desc.attribute = bad);
    bad[0].count = 1;
    bad[1].name = "a";
    WRONG(META_ERR_ARGUMENT, "same name: 'a'", desc.attributes = 2; desc.attribute = bad);
    bad[1].name = "x/y";
    WRONG(META_ERR_ARGUMENT, "'desc->attribute[1].name'", desc.attributes = 2;
          desc.attribute = bad);
    bad[1].name = "b";
    bad[0].type = (meta_type)77;
    WRONG(META_ERR_TYPE, "'desc->attribute[0].type'", desc.attributes = 2; desc.attribute = bad);
    WRONG(META_ERR_ARGUMENT, "'field[0].name' is NULL", field.name = NULL);
    WRONG(META_ERR_ARGUMENT, "'field[0].name' is empty", field.name = "");
    WRONG(META_ERR_ARGUMENT, "'/'", field.name = "a/b");
    WRONG(META_ERR_ARGUMENT, "control", field.name = "a\n");
    WRONG(META_ERR_TYPE, "field[0].type", field.type = META_TYPE_COUNT);
    WRONG(META_ERR_ARGUMENT, "field[0].box", field.box.ndim = 0);
    WRONG(META_ERR_BOUNDS, "field[0].box", field.box.end[0] = field.box.size[0] + 1);
    WRONG(META_ERR_ARGUMENT, "'field[0].buf' is NULL", field.buf = NULL);
    WRONG(META_ERR_BOUNDS, "field[0].buf", field.box.size[0] += 1000);
    WRONG(META_ERR_ARGUMENT, "'field[0].cells[1]' is 0", field.cells[1] = 0);
    WRONG(META_ERR_OVERFLOW, "field[0].cells", field.cells[0] = field.cells[1] = INT64_C(1) << 40);
    WRONG(META_ERR_BOUNDS, "'field[0].first'", field.first[0] = -1);
    WRONG(META_ERR_BOUNDS, "'field[0].first'", field.first[0] = 1);
    WRONG(META_ERR_BOUNDS, "'field[0].first'", field.first[1] = INT64_MAX);
#undef WRONG
    CHECK_ERR_NAMES(meta_io_write(path, NULL, 1, &field), META_ERR_ARGUMENT, "'desc' is NULL");
    desc.size = 3;
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT, "META_IO_DESC_INIT");
    desc.size = sizeof desc;
    desc.comm = MPI_COMM_NULL;
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT, "'desc->comm'");
    CHECK_ERR_NAMES(meta_io_last(MPI_COMM_NULL, path, NULL), META_ERR_ARGUMENT, "'comm'");
    CHECK_ERR_NAMES(meta_io_last(MPI_COMM_WORLD, path, NULL), META_ERR_ARGUMENT, "'number'");
    CHECK_ERR_NAMES(meta_io_has((meta_io_format)0, &(int){0}), META_ERR_ARGUMENT, "'format' is 0");
    CHECK_ERR_NAMES(meta_io_has(META_IO_HDF5, NULL), META_ERR_ARGUMENT, "'has' is NULL");
    drop();
    end();
}

static void ranks_that_disagree_are_told_so(void)
{
    if (test_size == 1) {
        CHECK(true); /* a rank does not disagree with itself */
        return;
    }
    begin("file");
    make(true);
    desc.format = META_IO_HDF5;
    if (!has(META_IO_HDF5)) desc.format = META_IO_NPY;
    const bool mine = test_rank == 1;
#define OTHER(part, change)                                                                        \
    do {                                                                                           \
        meta_io_desc right_desc = desc;                                                            \
        meta_io_field right_field = field;                                                         \
        const char *name = path;                                                                   \
        if (mine) {                                                                                \
            change;                                                                                \
        }                                                                                          \
        test_case("%s", #change);                                                                  \
        CHECK_ERR_NAMES(meta_io_write(name, &desc, 1, &field), META_ERR_MISMATCH, part);           \
        desc = right_desc;                                                                         \
        field = right_field;                                                                       \
    } while (0)
    OTHER("'path' differs", name = "elsewhere");
    OTHER("'desc->format' differs", desc.format = META_IO_CHECKPOINT);
    OTHER("'desc->keep' differs", desc.keep = 2);
    OTHER("'desc->origin' differs", desc.origin[0] = 2);
    OTHER("'field[0].name' differs", field.name = "v");
    OTHER("'field[0].type' differs", field.type = META_I64);
    OTHER("'field[0].cells' differs", field.cells[1] += 1);
#undef OTHER
    drop();
    end();
}

static void boxes_must_cover_the_grid_once(void)
{
    begin("file");
    make(true);
    desc.format = META_IO_CHECKPOINT;
    field.cells[1] = NY + 1;
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT,
                    "54 of the grid's 60 cells");
    field.cells[1] = NY;
    if (test_size > 1) {
        const int64_t first = field.first[1];
        if (test_rank == 1) field.first[1] = 0;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT,
                        "are also in that of rank");
        field.first[1] = first;
    }
    CHECK_OK(meta_io_write(path, &desc, 1, &field));
    drop();
    end();
}

static void a_format_says_what_it_cannot_store(void)
{
    begin("file.npy");
    make(true);
    desc.format = META_IO_NPY;
    meta_io_field two[2] = {field, field};
    two[1].name = "v";
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 2, two), META_ERR_UNSUPPORTED, "META_IO_HDF5");
    two[1].name = "u";
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 2, two), META_ERR_ARGUMENT, "same name: 'u'");
    const meta_io_attribute attribute = {"a", "text", META_F64, 0, NULL};
    desc.attributes = 1;
    desc.attribute = &attribute;
    CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_UNSUPPORTED,
                    "'desc->attributes'");
    CHECK(access(path, F_OK) != 0);
    if (has(META_IO_VTK)) {
        meta_io_file file;
        desc.format = META_IO_VTK;
        desc.series = "series.pvd";
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT,
                        "attribute 'time'");
        desc.format = META_IO_CHECKPOINT;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_UNSUPPORTED,
                        "'desc->series'");
        desc.format = META_IO_VTK;
        desc.series = NULL;
        two[1] = field;
        two[1].name = "v";
        two[1].cells[0] -= 1;
        two[1].box.start[0] = field.box.start[0] + 1;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 2, two), META_ERR_UNSUPPORTED,
                        "'field[1].cells'");
        CHECK_OK(meta_io_write(path, &desc, 1, &field));
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_UNSUPPORTED, "only writes");
    }
    if (has(META_IO_PNG)) {
        meta_io_file file;
        desc.format = META_IO_PNG;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_UNSUPPORTED,
                        "'desc->attributes'");
        desc.attributes = 0;
        two[1] = field;
        two[1].name = "v";
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 2, two), META_ERR_UNSUPPORTED, "'fields' is 2");
        desc.axis = 3;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT,
                        "'desc->axis' is 3");
        desc.axis = -1;
        desc.low = 2;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_ARGUMENT, "'desc->low'");
        desc.low = 0;
        CHECK_OK(meta_io_write(path, &desc, 1, &field));
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_UNSUPPORTED, "only writes");
        field.box.ndim = 3;
        field.box.size[2] = field.box.end[2] = field.cells[2] = 1;
        desc.plane = 1;
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_BOUNDS,
                        "'desc->plane' is 1");
        for (desc.axis = 0; desc.axis < 3; ++desc.axis) {
            desc.plane = 0;
            CHECK_OK(meta_io_write(path, &desc, 1, &field));
        }
    }
    drop();
    end();
}

/* ------------------------------------------------------------------ files that cannot be read */

static unsigned char image[65536];
static size_t image_size;

static void load_image(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *from = fopen(file_name, "rb");
    image_size = from ? fread(image, 1, sizeof image, from) : 0;
    if (from) fclose(from);
    CHECK(image_size > 0 && image_size < sizeof image);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 puts other bytes in the file's place. */
static void put_image(size_t size)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) {
        FILE *to = fopen(file_name, "wb");
        CHECK(to && fwrite(image, 1, size, to) == size);
        if (to) fclose(to);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void what_is_no_file_of_ours_is_refused(void)
{
    for (int format = META_IO_CHECKPOINT; format <= META_IO_NPY; ++format) {
        if (!has(format)) continue;
        test_case("%s", names[format]);
        begin("file");
        make(false);
        desc.format = (meta_io_format)format;
        meta_io_file file = META_IO_FILE_NULL;
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE,
                        format == META_IO_CHECKPOINT ? "there is no checkpoint"
                                                     : "No such file or directory");
        desc.number = 3;
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE,
                        "No such file or directory");
        desc.number = 0;
        snprintf(file_name, sizeof file_name, format == META_IO_CHECKPOINT ? "%s.0" : "%s", path);
        memset(image, 'x', sizeof image);
        put_image(0);
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "is empty");
        put_image(3);
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "no file of a format");
        put_image(4000);
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "no file of a format");
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0) CHECK(unlink(file_name) == 0 && mkdir(file_name, 0777) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_ERR_NAMES(meta_io_open(&file, path, &desc), META_ERR_FILE, "not a regular file");
        CHECK_ERR_NAMES(meta_io_write(path, &desc, 1, &field), META_ERR_FILE, "not a regular file");
        CHECK_INT(file.generation, 0);
        drop();
        end();
    }
}

static void a_file_cut_off_anywhere_is_refused(void)
{
    for (int format = META_IO_CHECKPOINT; format <= META_IO_NPY; ++format) {
        if (!has(format)) continue;
        begin("file");
        make(true);
        if (!write_one(format)) return;
        load_image();
        const size_t stride = test_long() && test_size == 1 ? 1 : image_size / 23 + 1;
        for (size_t size = 1; size < image_size; size += stride) {
            test_case("%s, the first %zu of %zu bytes", names[format], size, image_size);
            put_image(size);
            if (!CHECK_INT(read_one(format), META_ERR_FILE)) break;
        }
        put_image(image_size - 1);
        CHECK_INT(read_one(format), META_ERR_FILE);
        put_image(image_size);
        CHECK_OK(read_one(format));
        io_array_check(&field, 0, false);
        if (format != META_IO_HDF5) {
            image[image_size] = 0;
            put_image(image_size + 1);
            reading_fails(format, META_ERR_FILE, "too long");
        }
        drop();
        end();
    }
}

static void a_checkpoint_with_a_bit_changed_is_refused(void)
{
    begin("cp");
    make(true);
    const double time = 3;
    const meta_io_attribute attribute[] = {{"time", NULL, META_F64, 1, &time},
                                           {"title", "odd bytes", META_F64, 0, NULL}};
    desc.attributes = 2;
    desc.attribute = attribute;
    if (!write_one(META_IO_CHECKPOINT)) return;
    load_image();
    const int64_t bits = 8 * (int64_t)image_size,
                  count = test_count(test_size == 1 ? 300 : 20, bits);
    for (int64_t k = 0; k < count; ++k) {
        const int64_t bit = count == bits ? k : test_random_in(0, bits - 1);
        test_case("bit %d of byte %d", (int)(bit % 8), (int)(bit / 8));
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_image(image_size);
        if (!CHECK_INT(read_one(META_IO_CHECKPOINT), META_ERR_FILE)) break;
        image[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    image[12] ^= 3; /* the version */
    put_image(image_size);
    reading_fails(META_IO_CHECKPOINT, META_ERR_FILE, "version 2");
    image[12] ^= 3;
    for (int k = 0; k < 2; ++k) { /* the byte order */
        const unsigned char byte = image[8 + k];
        image[8 + k] = image[11 - k];
        image[11 - k] = byte;
    }
    put_image(image_size);
    reading_fails(META_IO_CHECKPOINT, META_ERR_FILE, "byte order");
    drop();
    end();
}

/* Put an array of NumPy in the file's place that has only a description. */
static void put_npy(const char *text, size_t length)
{
    snprintf(file_name, sizeof file_name, "%s", path);
    image_size = (size_t)snprintf((char *)image, sizeof image, "\x93NUMPY%c%c%c%c%.*s", 1, 0,
                                  (int)length, 0, (int)length, text);
    put_image(image_size);
}

static void a_description_of_numpy_cut_off_anywhere_is_refused(void)
{
    static const char text[] = "{'shape': (54,), 'fortran_order': False, 'descr': '<f8'";
    begin("file");
    make(true);
    for (size_t length = 0; length < sizeof text; ++length) {
        test_case("%.*s", (int)length, text);
        put_npy(text, length);
        reading_fails(META_IO_NPY, META_ERR_FILE, path);
    }
    drop();
    end();
}

/* Let the checkpoint of field "u" of one dimension claim so many cells, with right checksums. */
static void put_claim(int64_t cells, int64_t in_boxes)
{
    enum { CELLS_AT = sizeof(checkpoint_start) + 6 * 8, IN_BOXES_AT = CELLS_AT + 8 }; /* table.c */
    int64_t before;
    memcpy(&before, image + CELLS_AT, sizeof before);
    CHECK_INT(before, CELLS);
    memcpy(image + CELLS_AT, &cells, sizeof cells);
    memcpy(image + IN_BOXES_AT, &in_boxes, sizeof in_boxes);
    checkpoint_sums(image, image_size, false, true);
    put_image(image_size);
}

static void a_file_that_claims_more_cells_than_bytes_is_refused(void)
{
    static const int64_t claims[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - CELLS, INT64_MAX / 2};
    uint8_t bytes[CELLS] = {0};
    char text[96];
    begin("file");
    make(true);
    meta_io_field line = {.name = "u", .buf = bytes, .type = META_U8, .box = {.ndim = 1}};
    line.cells[0] = line.box.size[0] = CELLS;
    line.box.start[0] = line.first[0] = test_rank * CELLS / test_size;
    line.box.end[0] = (test_rank + 1) * CELLS / test_size;
    for (size_t k = 0; k < sizeof claims / sizeof *claims; ++k) {
        test_case("%" PRId64 " cells", claims[k]);
        snprintf(text, sizeof text,
                 "{'descr': '|u1', 'fortran_order': False, 'shape': (%" PRId64 ",)}", claims[k]);
        desc.number = -1;
        put_npy(text, strlen(text));
        reading_fails(META_IO_NPY, META_ERR_FILE, "cut off");
        desc.format = META_IO_CHECKPOINT;
        desc.number = 0;
        snprintf(file_name, sizeof file_name, "%s.0", path);
        for (int in_boxes = 0; in_boxes < 2; ++in_boxes) {
            CHECK_OK(meta_io_write(path, &desc, 1, &line));
            load_image();
            put_claim(claims[k], in_boxes);
            reading_fails(META_IO_CHECKPOINT, META_ERR_FILE, "not written by this library");
        }
    }
    drop();
    end();
}

static void another_shape_type_or_name_is_an_error(void)
{
    for (int format = META_IO_CHECKPOINT; format <= META_IO_NPY; ++format) {
        if (!has(format)) continue;
        test_case("%s", names[format]);
        begin("file");
        make(true);
        if (!write_one(format)) return;
        meta_io_file file;
        if (!CHECK_OK(meta_io_open(&file, path, &desc))) return;
        const meta_io_field right = field;
        field.type = META_I64;
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_TYPE, "field[0].type' is i64");
        field.type = META_F64;
        field.cells[1] = NY + 1;
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_MISMATCH,
                        "'field[0].cells[1]' is 10");
        field.cells[0] = 0;
        field.first[1] = NY;
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_BOUNDS, "'field[0].first'");
        field = right;
        field.box.ndim = 1;
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_MISMATCH, "has 1 dimensions");
        field = right;
        if (format != META_IO_NPY) {
            field.name = "nothing";
            CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_ARGUMENT, "no field 'nothing'");
            field = right;
        }
        meta_io_attribute attribute;
        CHECK_ERR_NAMES(meta_io_attribute_find(file, "nothing", &attribute), META_ERR_ARGUMENT,
                        "no attribute 'nothing'");
        CHECK_ERR_NAMES(meta_io_attribute_info(file, 0, &attribute), META_ERR_ARGUMENT,
                        "'index' is 0");
        CHECK_ERR_NAMES(meta_io_field_info(file, 1, &field), META_ERR_ARGUMENT, "'index' is 1");
        CHECK_OK(meta_io_close(&file));
        CHECK_ERR_NAMES(meta_io_close(&file), META_ERR_HANDLE, "META_IO_FILE_NULL");
        drop();
        end();
    }
}

static void a_file_that_changes_while_it_is_open_is_noticed(void)
{
    begin("cp");
    make(true);
    if (!write_one(META_IO_CHECKPOINT)) return;
    for (int way = 0; way < 3; ++way) {
        meta_io_file file;
        desc.number = 0;
        CHECK_OK(meta_io_write(path, &desc, 1, &field));
        if (!CHECK_OK(meta_io_open(&file, path, &desc))) return;
        if (way == 1) CHECK_OK(meta_io_write(path, &desc, 1, &field));
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0 && way == 0) CHECK_INT(unlink(file_name), 0);
        if (test_rank == 0 && way == 2) CHECK_INT(truncate(file_name, 200), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_ERR_NAMES(meta_io_read(file, 1, &field), META_ERR_FILE,
                        way == 0 ? "No such file or directory" : "changed or replaced");
        CHECK_OK(meta_io_close(&file));
    }
    drop();
    end();
}

static void handles_are_checked(void)
{
    begin("cp");
    make(true);
    if (!write_one(META_IO_CHECKPOINT)) return;
    meta_io_file file, copy, none = META_IO_FILE_NULL, wrong = {12345, 1};
    meta_io_file_desc info = META_IO_FILE_DESC_INIT;
    if (!CHECK_OK(meta_io_open(&file, path, &desc))) return;
    copy = file;
    CHECK_ERR_NAMES(meta_io_file_info(none, &info), META_ERR_HANDLE, "META_IO_FILE_NULL");
    CHECK_ERR_NAMES(meta_io_file_info(wrong, &info), META_ERR_HANDLE, "no file's handle");
    CHECK_ERR_NAMES(meta_io_file_info(file, NULL), META_ERR_ARGUMENT, "'desc' is NULL");
    info.size = 0;
    CHECK_ERR_NAMES(meta_io_file_info(file, &info), META_ERR_ARGUMENT, "META_IO_FILE_DESC_INIT");
    CHECK_OK(meta_io_close(&file));
    CHECK_ERR_NAMES(meta_io_read(copy, 1, &field), META_ERR_HANDLE, "that was closed");
    CHECK_ERR_NAMES(meta_io_close(NULL), META_ERR_ARGUMENT, "'file' is NULL");
    CHECK_ERR_NAMES(meta_io_open(NULL, path, &desc), META_ERR_ARGUMENT, "'file' is NULL");
    meta_io_request request = META_IO_REQUEST_NULL;
    int done;
    CHECK_ERR_NAMES(meta_io_write_begin(path, &desc, 1, &field, NULL), META_ERR_ARGUMENT,
                    "'request' is NULL");
    CHECK_ERR_NAMES(meta_io_wait(NULL), META_ERR_ARGUMENT, "'request' is NULL");
    CHECK_ERR_NAMES(meta_io_wait(&request), META_ERR_HANDLE, "META_IO_REQUEST_NULL");
    CHECK_ERR_NAMES(meta_io_test(request, &done), META_ERR_HANDLE, "META_IO_REQUEST_NULL");
    request.id = 12345;
    CHECK_ERR_NAMES(meta_io_test(request, &done), META_ERR_HANDLE, "no file that is being written");
    CHECK_ERR_NAMES(meta_io_test(request, NULL), META_ERR_ARGUMENT, "'done' is NULL");
    drop();
    end();
}

/* ------------------------------------------------------------------ files that cannot be written
 */

static void what_cannot_be_written_leaves_the_older_file(void)
{
    for (int format = META_IO_CHECKPOINT; format <= META_IO_NPY; ++format) {
        struct rlimit before, small;
        struct stat status;
        if (!has(format)) continue;
        test_case("%s", names[format]);
        begin("file");
        make(true);
        desc.number = 0;
        if (!write_one(format)) return;
        load_image();
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        for (int part = 0; part < 4; ++part) {
            small = before;
            small.rlim_cur = (rlim_t)(image_size - 1) * (rlim_t)part / 3;
            setrlimit(RLIMIT_FSIZE, &small);
            const meta_err error = meta_io_write(path, &desc, 1, &field);
            setrlimit(RLIMIT_FSIZE, &before);
            test_case("%s with room for %d bytes", names[format], (int)small.rlim_cur);
            CHECK_ERR_NAMES(error, META_ERR_FILE, "File too large");
            MPI_Barrier(MPI_COMM_WORLD);
            char partial[360];
            snprintf(partial, sizeof partial, "%s.partial", path);
            CHECK(access(partial, F_OK) != 0);
            CHECK(stat(file_name, &status) == 0 && status.st_size == (off_t)image_size);
            CHECK_OK(read_one(format));
            io_array_check(&field, 0, false);
            meta_io_request request;
            setrlimit(RLIMIT_FSIZE, &small);
            meta_err later = meta_io_write_begin(path, &desc, 1, &field, &request);
            if (later == META_OK) later = meta_io_wait(&request);
            setrlimit(RLIMIT_FSIZE, &before);
            CHECK_ERR_NAMES(later, META_ERR_FILE, "File too large");
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK(access(partial, F_OK) != 0);
            CHECK_OK(read_one(format));
        }
        char elsewhere[360];
        snprintf(elsewhere, sizeof elsewhere, "%s/no/such/folder/file", folder);
        CHECK_ERR_NAMES(meta_io_write(elsewhere, &desc, 1, &field), META_ERR_FILE,
                        "No such file or directory");
        drop();
        end();
    }
}

TEST_COMM_MAIN(PROMISE(a_wrong_argument_of_one_rank_is_an_error_on_all),
               PROMISE(ranks_that_disagree_are_told_so), PROMISE(boxes_must_cover_the_grid_once),
               PROMISE(a_format_says_what_it_cannot_store),
               PROMISE(what_is_no_file_of_ours_is_refused),
               PROMISE(a_file_cut_off_anywhere_is_refused),
               PROMISE(a_checkpoint_with_a_bit_changed_is_refused),
               PROMISE(a_description_of_numpy_cut_off_anywhere_is_refused),
               PROMISE(a_file_that_claims_more_cells_than_bytes_is_refused),
               PROMISE(another_shape_type_or_name_is_an_error),
               PROMISE(a_file_that_changes_while_it_is_open_is_noticed),
               PROMISE(handles_are_checked), PROMISE(what_cannot_be_written_leaves_the_older_file))
