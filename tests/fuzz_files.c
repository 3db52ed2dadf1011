/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_files.c
 *  Checkpoints and arrays of NumPy with arbitrary bytes and recomputed checksums: libmeta_io
 *  refuses them with one line, or reads them, and what it writes then reads alike. */
/* TEST: np=1 labels=io,fuzz */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_sums.h"
#include "fuzz.h"
#include "meta_io.h"

enum { MOST = 8, ROOM = 1 << 16 };

static char in[96], out[96];

static void end(void)
{
    meta_comm_finalize();
    MPI_Finalize();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    setenv("META_MODE", "openmp", 1);
    if (meta_comm_init(NULL, NULL) != META_OK) fuzz_fail("%s", meta_last_error());
    atexit(end);
    const char *folder = fuzz_folder();
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    return 0;
}

static void must(meta_err error)
{
    if (error != META_OK) fuzz_fail("%s", meta_last_error());
}

static meta_io_desc desc_of(meta_io_format format, int64_t number)
{
    meta_io_desc d = META_IO_DESC_INIT;
    d.comm = MPI_COMM_WORLD;
    d.format = format;
    d.number = number;
    return d;
}

/* ------------------------------------------------------------------ seeds */

static size_t bytes_of(const char *path, uint8_t *data)
{
    FILE *from = fopen(path, "rb");
    const size_t size = from ? fread(data, 1, ROOM, from) : 0;
    if (from) fclose(from);
    unlink(path);
    return size;
}

/* Write the fields, and return the file's bytes. */
static size_t write_file(meta_io_desc *d, int fields, const meta_io_field *field, uint8_t *data)
{
    char name[128];
    must(meta_io_write(out, d, fields, field));
    snprintf(name, sizeof name, d->format == META_IO_CHECKPOINT ? "%s.%d" : "%s", out,
             (int)d->number);
    return bytes_of(name, data);
}

static meta_io_field whole(const char *name, meta_type type, int ndim, const int64_t *cells,
                           void *buf)
{
    meta_io_field f = {.name = name, .buf = buf, .type = type, .box = {.ndim = ndim}};
    for (int d = 0; d < ndim; ++d) f.cells[d] = f.box.size[d] = f.box.end[d] = cells[d];
    return f;
}

static size_t seed(int n, uint8_t *data, size_t room)
{
    double cells[60];
    const int64_t extents[] = {5, 4, 3}, numbers[] = {1, -2, 3};
    const double time = 0.25;
    const meta_io_attribute attribute[] = {{"time", NULL, META_F64, 1, &time},
                                           {"title", "Grüße", META_F64, 0, NULL},
                                           {"numbers", NULL, META_I64, 3, numbers}};
    meta_io_desc d = desc_of(n < 3 ? META_IO_CHECKPOINT : META_IO_NPY, n < 3 ? n : -1);
    (void)room;
    for (int k = 0; k < 60; ++k) cells[k] = 0.5 * k - 7;
    const meta_io_field f[] = {whole("rho", META_F64, 3, extents, cells),
                               whole("id", META_I32, 2, extents, cells),
                               whole("mask", META_U8, 1, extents, cells)};
    d.attributes = n < 3 ? n + 1 : 0;
    d.attribute = attribute;
    return write_file(&d, n < 3 ? 3 - n : 1, &f[n % 3], data);
}

/* ------------------------------------------------------------------ checksums */

/* Of a checkpoint: of its table of fields, its size, its header. */
static void repair(uint8_t *data, size_t size, uint64_t how)
{
    if (size < sizeof(checkpoint_start) || how % 4 == 0) return;
    if (memcmp(data, "metaioCP", 8) != 0) return;
    checkpoint_sums(data, size, how >> 4 & 1, how >> 2 & 3);
}

const fuzz_target fuzz_here = {"files", 6, seed, repair, NULL};

/* ------------------------------------------------------------------ the target */

typedef struct content {
    meta_io_file_desc info;
    int fields;
    meta_io_field field[MOST];
    meta_io_attribute attribute[MOST];
} content;

/* Small files can say that they have many cells only where an extent is 0. */
static size_t size_of(const meta_io_field *f)
{
    size_t bytes;
    must(meta_type_size(f->type, &bytes));
    for (int d = 0; d < f->box.ndim; ++d) bytes *= (size_t)f->cells[d];
    return bytes;
}

/* false: refused, or too much to look at. */
static bool read_all(meta_io_file file, content *c)
{
    must(meta_io_file_info(file, &c->info));
    for (int a = 0; a < c->info.attributes; ++a) {
        meta_io_attribute attribute;
        must(meta_io_attribute_info(file, a, &attribute));
        if (a < MOST) c->attribute[a] = attribute;
    }
    for (int f = 0; f < c->info.fields; ++f) {
        meta_io_field field;
        must(meta_io_field_info(file, f, &field));
        if (f >= MOST) continue;
        c->field[f] = whole(field.name, field.type, field.box.ndim, field.cells, NULL);
        c->field[f].buf = calloc(size_of(&field) + 1, 1);
        ++c->fields;
    }
    return c->info.fields <= MOST && c->info.attributes <= MOST &&
           meta_io_read(file, c->fields, c->field) == META_OK;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_attribute(const meta_io_attribute *a, const meta_io_attribute *b)
{
    size_t bytes = 0;
    if (!a->text) must(meta_type_size(a->type, &bytes));
    return same_text(a->name, b->name) && same_text(a->text, b->text) &&
           (a->text || (a->type == b->type && a->count == b->count &&
                        memcmp(a->numbers, b->numbers, bytes * (size_t)a->count) == 0));
}

static bool same_field(const meta_io_field *a, const meta_io_field *b)
{
    return same_text(a->name, b->name) && a->type == b->type && a->box.ndim == b->box.ndim &&
           memcmp(a->cells, b->cells, sizeof a->cells) == 0 &&
           memcmp(a->buf, b->buf, size_of(a)) == 0;
}

static bool same(const content *a, const content *b)
{
    bool is = a->info.fields == b->info.fields && a->info.attributes == b->info.attributes;
    for (int f = 0; f < a->fields && is; ++f) is = same_field(&a->field[f], &b->field[f]);
    for (int k = 0; k < a->info.attributes && is; ++k)
        is = same_attribute(&a->attribute[k], &b->attribute[k]);
    return is;
}

static void drop(meta_io_file *file, content *c)
{
    for (int f = 0; f < c->fields; ++f) free(c->field[f].buf);
    must(meta_io_close(file));
}

/* What is written from it reads alike. */
static void write_and_compare(const content *c)
{
    meta_io_file file;
    content again = {.info = META_IO_FILE_DESC_INIT};
    meta_io_desc d = desc_of(c->info.format, 0);
    d.attributes = c->info.attributes;
    d.attribute = c->attribute;
    must(meta_io_write(out, &d, c->fields, c->field));
    must(meta_io_open(&file, out, &d));
    if (!read_all(file, &again) || !same(c, &again))
        fuzz_fail("what was read is written as another");
    drop(&file, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    meta_io_file file;
    content c = {.info = META_IO_FILE_DESC_INIT};
    const meta_io_desc d = desc_of(META_IO_ANY, -1);
    fuzz_write(in, data, size);
    bool right = meta_io_open(&file, in, &d) == META_OK;
    if (right) {
        right = read_all(file, &c);
        if (right) write_and_compare(&c);
        drop(&file, &c);
    } else if (*meta_last_error() == '\0' || strchr(meta_last_error(), '\n')) {
        fuzz_fail("what was said is not one line: %s", meta_last_error());
    }
    if (right) fuzz_accept();
    return 0;
}
