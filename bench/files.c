/* SPDX-License-Identifier: BSD-3-Clause */
/** @file files.c
 *  Group files: five fields written and read by libmeta_io, beside rank 0 that writes and reads a
 * file of as many bytes by itself. The files lie in the current folder, and are removed. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cube.h"
#include "group.h"
#include "job.h"
#include "meta_io.h"

enum { FIELDS = 5 };

typedef struct work {
    meta_io_desc desc;
    meta_io_field field[FIELDS];
    buffer grid[FIELDS];
    char path[64];  /* of libmeta's file */
    char plain[64]; /* of rank 0's */
    char *array;    /* on rank 0: what it writes for each rank, and where it reads to */
    size_t bytes;   /* of it: a rank's fields */
} work;

/* ------------------------------------------------------------------ libmeta */

static void run_write(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_io_write(w->path, &w->desc, FIELDS, w->field))) return;
}

static void run_read(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k) {
        meta_io_file file = META_IO_FILE_NULL;
        if (!note_meta(meta_io_open(&file, w->path, &w->desc))) return;
        const bool right = note_meta(meta_io_read(file, FIELDS, w->field));
        if (!note_meta(meta_io_close(&file)) || !right) return;
    }
}

/* ------------------------------------------------------------------ one file of rank 0 */

static bool transfer(int file, bool writes, char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t done = writes ? write(file, data, bytes) : read(file, data, bytes);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = EIO; /* the file is shorter than it was written */
        if (done <= 0) return false;
        data += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* The fields of all ranks, to or from @p file; closes it. */
static bool transfer_all(const work *w, int file, bool writes)
{
    bool right = file >= 0;
    for (int rank = 0; rank < job_here()->size && right; ++rank)
        right = transfer(file, writes, w->array, w->bytes);
    right = right && (!writes || fsync(file) == 0);
    if (!right) note("%s: %s", w->plain, strerror(errno));
    if (file >= 0) close(file);
    return right;
}

/* Under another name until it is on the disk, as libmeta's. */
static void run_plain_write(void *with, int64_t times)
{
    const work *w = with;
    char partial[80];
    snprintf(partial, sizeof partial, "%s.partial", w->plain);
    for (int64_t k = 0; k < times && job_here()->rank == 0; ++k) {
        if (!transfer_all(w, open(partial, O_WRONLY | O_CREAT | O_TRUNC, 0666), true)) return;
        if (rename(partial, w->plain) == 0) continue;
        note("%s: %s", w->plain, strerror(errno));
        return;
    }
}

static void run_plain_read(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times && job_here()->rank == 0; ++k)
        if (!transfer_all(w, open(w->plain, O_RDONLY), false)) return;
}

/* ------------------------------------------------------------------ rows */

static void measure(bench *b, work *w, const char *name, int64_t size)
{
    const double bytes = (double)w->bytes * job_here()->size;
    char what[32];
    row r;
    row_begin(&r, "files", name, b->o->type, size);
    row_add(&r, name, SUBJECT, run_write, w, bytes);
    row_add(&r, "one write", LIMIT, run_plain_write, w, bytes);
    row_end(b, &r);
    snprintf(what, sizeof what, "%s_read", name);
    row_begin(&r, "files", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run_read, w, bytes);
    row_add(&r, "one read", LIMIT, run_plain_read, w, bytes);
    row_end(b, &r);
}

static void remove_files(const work *w)
{
    static const char *const ends[] = {"", ".0", ".xmf", ".partial", ".0.partial"};
    char path[80];
    if (job_here()->rank != 0) return;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; ++k) {
        snprintf(path, sizeof path, "%s%s", w->path, ends[k]);
        unlink(path);
        snprintf(path, sizeof path, "%s%s", w->plain, ends[k]);
        unlink(path);
    }
}

/* Each format that this build has. */
static void measure_formats(bench *b, work *w, int64_t size)
{
    static const struct {
        meta_io_format format;
        const char *name;
    } formats[] = {{META_IO_CHECKPOINT, "checkpoint"}, {META_IO_HDF5, "hdf5"}};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k) {
        int has = 0;
        note_meta(meta_io_has(formats[k].format, &has));
        if (!has) continue;
        w->desc.format = formats[k].format;
        w->desc.number = w->desc.format == META_IO_CHECKPOINT ? 0 : -1;
        measure(b, w, formats[k].name, size);
        remove_files(w);
    }
}

/* The ranks' cubes stand behind each other along z. */
static void describe_fields(work *w, const meta_box *own, int64_t size, meta_type type)
{
    static const char *const names[FIELDS] = {"density", "energy", "x", "y", "z"};
    for (int f = 0; f < FIELDS; ++f)
        w->field[f] = (meta_io_field){.name = names[f],
                                      .buf = w->grid[f].at,
                                      .type = type,
                                      .box = *own,
                                      .first = {0, 0, job_here()->rank * size},
                                      .cells = {size, size, job_here()->size * size}};
}

static void name_files(work *w)
{
    long id = (long)getpid();
    job_tell(&id, sizeof id, 0);
    snprintf(w->path, sizeof w->path, "meta-bench-%ld", id);
    snprintf(w->plain, sizeof w->plain, "meta-bench-%ld-plain", id);
}

void files_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    const size_t element = number_size(b->o->type);
    work w = {.desc = META_IO_DESC_INIT};
    meta_box own = {0};
    w.desc.comm = MPI_COMM_WORLD;
    w.bytes = FIELDS * (size_t)(size * size * size) * element;
    name_files(&w);
    const bool first = job_here()->rank == 0;
    place_need(b->here, FIELDS * cube_grid_bytes(&c, element), first ? (double)w.bytes : 0);
    if (rows_impossible("files", size)) return;
    w.array = first ? malloc(w.bytes) : NULL;
    if (w.array != NULL) memset(w.array, 1, w.bytes);
    else if (first) note("no memory for %zu bytes", w.bytes);
    for (int f = 0; f < FIELDS; ++f)
        buffer_create_grid(&w.grid[f], &own, c.n, c.ghosts, b->o->type);
    describe_fields(&w, &own, size, type_of(b->o->type));
    if (!rows_impossible("files", size)) measure_formats(b, &w, size);
    for (int f = 0; f < FIELDS; ++f) buffer_free(&w.grid[f]);
    free(w.array);
}
