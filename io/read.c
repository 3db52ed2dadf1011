/* SPDX-License-Identifier: BSD-3-Clause */
/** @file read.c
 *  Reading: files that are open, what they have, and boxes of their fields. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"

/* A file that is open. */
typedef struct opened {
    io_ranks ranks;
    char *path;
    const io_format *format;
    io_head head;
    int64_t number;
    uint64_t node, bytes; /* of the file that rank 0 has opened */
    io_source source;
} opened;

/* ------------------------------------------------------------------ handles */

/* A handle names a slot and how often it had been used; the table only grows. */
typedef struct slot {
    opened *file;
    uint32_t generation;
} slot;
static slot *slots;
static uint32_t slot_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static meta_err handle_new(opened *file, meta_io_file *handle)
{
    uint32_t k = 0;
    pthread_mutex_lock(&lock);
    while (k < slot_count && slots[k].file) ++k;
    if (k == slot_count) {
        slot *more = realloc(slots, ((size_t)slot_count + 1) * sizeof *more);
        if (!more) {
            pthread_mutex_unlock(&lock);
            return io_no_memory(((uint64_t)slot_count + 1) * sizeof *more);
        }
        slots = more;
        slots[slot_count++] = (slot){NULL, 0};
    }
    slots[k].file = file;
    *handle = (meta_io_file){k, ++slots[k].generation};
    pthread_mutex_unlock(&lock);
    return META_OK;
}

/* @p take: and free the handle. */
static meta_err file_of(meta_io_file handle, bool take, opened **file)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&lock);
    if (handle.generation == 0)
        error = core->fail(META_ERR_HANDLE, "argument 'file' is META_IO_FILE_NULL");
    else if (handle.slot >= slot_count || handle.generation > slots[handle.slot].generation)
        error = core->fail(META_ERR_HANDLE, "argument 'file' is no file's handle");
    else if (handle.generation != slots[handle.slot].generation || !slots[handle.slot].file)
        error =
            core->fail(META_ERR_HANDLE, "argument 'file' is the handle of a file that was closed");
    else *file = slots[handle.slot].file;
    if (error == META_OK && take) slots[handle.slot].file = NULL;
    pthread_mutex_unlock(&lock);
    return error;
}

/* ------------------------------------------------------------------ opening */

static meta_err find_format(opened *o, meta_io_format wanted, int file)
{
    char start[8];
    int64_t bytes;
    META_TRY(io_file_size(o->path, file, &bytes));
    if (bytes == 0) return core->fail(META_ERR_FILE, "argument 'path': %s is empty", o->path);
    const size_t begun = bytes < (int64_t)sizeof start ? (size_t)bytes : sizeof start;
    META_TRY(io_read_at(o->path, file, start, begun, 0));
    o->format = NULL;
    for (int k = META_IO_ANY + 1; k < META_IO_FORMAT_COUNT && !o->format; ++k) {
        const io_format *format = io_format_of((meta_io_format)k);
        if (format->is_begun(start, (int64_t)begun)) o->format = format;
    }
    /* HDF5 leaves room for a block of the program's, of a length that is a power of two. */
    for (int64_t at = 512; !o->format && at <= bytes - (int64_t)sizeof start; at *= 2) {
        META_TRY(io_read_at(o->path, file, start, sizeof start, at));
        if (io_hdf5.is_begun(start, sizeof start)) o->format = &io_hdf5;
    }
    if (!o->format)
        return core->fail(META_ERR_FILE,
                          "argument 'path': %s is no file of a format that this library reads, or "
                          "was not written to its end",
                          o->path);
    if (wanted != META_IO_ANY && wanted != o->format->format)
        return core->fail(META_ERR_FILE,
                          "argument 'path': %s is a file of %s: argument 'desc->format' is %s",
                          o->path, o->format->name, io_format_of(wanted)->name);
    META_TRY(io_format_check(o->format));
    if (o->format->load) return META_OK;
    return core->fail(META_ERR_UNSUPPORTED,
                      "argument 'path': %s is a file of %s, which this library only writes",
                      o->path, o->format->name);
}

/* Rank 0. */
static meta_err load(opened *o, const meta_io_desc *desc)
{
    struct stat status = {0};
    int file;
    META_TRY(io_file_open(o->path, false, &file));
    meta_err error = find_format(o, desc->format, file);
    if (error == META_OK && fstat(file, &status) != 0) error = io_file_error(o->path, "read");
    o->node = (uint64_t)status.st_ino;
    o->bytes = (uint64_t)status.st_size;
    if (error == META_OK) error = o->format->load(&o->head, o->path, file, &o->number);
    close(file);
    return error;
}

/* What the other ranks get of rank 0, before the head. */
typedef struct preface {
    int64_t format, number;
    uint64_t node, bytes;
} preface;

static meta_err share(opened *o, meta_err error)
{
    void *all = NULL, *encoded = NULL;
    int64_t bytes = 0;
    if (o->ranks.rank == 0 && error == META_OK) {
        const preface p = {o->format->format, o->number, o->node, o->bytes};
        encoded = io_head_encode(&o->head, &bytes);
        all = encoded ? malloc((size_t)bytes + sizeof p) : NULL;
        if (!all) error = io_no_memory((uint64_t)bytes);
        if (all) memcpy(all, &p, sizeof p), memcpy((char *)all + sizeof p, encoded, (size_t)bytes);
        bytes += (int64_t)sizeof p;
        free(encoded);
    }
    error = io_share(&o->ranks, error, &all, &bytes);
    if (error == META_OK && o->ranks.rank != 0) {
        preface p;
        memcpy(&p, all, sizeof p);
        o->format = io_format_of((meta_io_format)p.format);
        o->number = p.number;
        o->node = p.node;
        o->bytes = p.bytes;
        if (!io_head_decode(&o->head, (char *)all + sizeof p, bytes - (int64_t)sizeof p))
            error = io_no_memory((uint64_t)bytes);
    }
    free(all);
    return o->ranks.comm == MPI_COMM_NULL ? error : io_agree(&o->ranks, error);
}

/* Rank 0 finds the last number. */
static meta_err choose_name(opened *o, const char *path, const meta_io_desc *desc)
{
    META_TRY(io_path_check(path));
    if (desc->format != META_IO_ANY && !io_format_of(desc->format))
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->format' is %d", (int)desc->format);
    if (desc->number < -1)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->number' is %" PRId64 ": give -1, or 0 or more",
                          desc->number);
    o->number = -1;
    if (desc->format != META_IO_CHECKPOINT) {
        o->path = io_path(path, "");
        return o->path ? META_OK : io_no_memory(strlen(path));
    }
    int64_t number = desc->number;
    if (o->ranks.rank == 0 && number < 0) {
        META_TRY(io_last_number(path, &number));
        if (number < 0)
            return core->fail(META_ERR_FILE,
                              "argument 'path': there is no checkpoint %s.0, %s.1 or further", path,
                              path);
    }
    if (o->ranks.rank != 0) return META_OK;
    o->path = io_path_number(path, number);
    return o->path ? META_OK : io_no_memory(strlen(path));
}

static meta_err open_file(opened *o, const char *path, const meta_io_desc *desc)
{
    const int64_t asked[2] = {desc->format, desc->number};
    META_TRY(io_agree(&o->ranks, choose_name(o, path, desc)));
    const io_item items[] = {{"path", io_checksum(0, path, strlen(path))},
                             {"desc->format", io_checksum(1, &asked[0], sizeof asked[0])},
                             {"desc->number", io_checksum(2, &asked[1], sizeof asked[1])}};
    META_TRY(io_compare(&o->ranks, 3, items));
    void *name = o->path;
    int64_t bytes = o->ranks.rank == 0 ? (int64_t)strlen(o->path) + 1 : 0;
    if (o->ranks.rank != 0) free(o->path), o->path = NULL, name = NULL;
    META_TRY(io_share(&o->ranks, META_OK, &name, &bytes));
    o->path = name;
    return share(o, o->ranks.rank == 0 ? load(o, desc) : META_OK);
}

static void discard(opened *o)
{
    if (o->source.library) o->format->close(&o->source);
    if (o->source.file >= 0) close(o->source.file);
    io_head_free(&o->head);
    io_ranks_close(&o->ranks);
    free(o->path);
    free(o);
}

/* Of a program that leaves the job without meta_io_close(). */
static meta_err close_all(void)
{
    for (uint32_t k = 0; k < slot_count; ++k) {
        pthread_mutex_lock(&lock);
        opened *o = slots[k].file;
        slots[k].file = NULL;
        pthread_mutex_unlock(&lock);
        if (!o) continue;
        core->log(META_LOG_WARN,
                  "meta_comm_finalize: the file %s was never closed: call meta_io_close()",
                  o->path);
        discard(o);
    }
    return META_OK;
}

static meta_err open_and_keep(meta_io_file *file, const char *path, const meta_io_desc *desc)
{
    meta_io_desc own;
    META_TRY(io_desc_get(&own, desc));
    io_ranks ranks;
    META_TRY(io_ranks_open(&ranks, own.comm, "desc->comm"));
    opened *o = calloc(1, sizeof *o);
    meta_err error = !file ? core->fail(META_ERR_ARGUMENT, "argument 'file' is NULL")
                     : !o  ? io_no_memory(sizeof *o)
                           : META_OK;
    error = io_agree(&ranks, error);
    if (error != META_OK) {
        free(o);
        io_ranks_close(&ranks);
        return error;
    }
    o->ranks = ranks;
    o->source.file = -1;
    meta_io_file handle = META_IO_FILE_NULL;
    error = open_file(o, path, &own);
    if (error == META_OK) error = io_agree(&ranks, handle_new(o, &handle));
    if (error == META_OK) {
        o->source.path = o->path;
        o->source.head = &o->head;
        *file = handle;
        job->at_end(close_all);
        return META_OK;
    }
    char text[IO_TEXT];
    snprintf(text, sizeof text, "%s", meta_last_error());
    opened *unused;
    if (handle.generation) file_of(handle, true, &unused);
    discard(o);
    return core->fail_as(error, text);
}

meta_err meta_io_open(meta_io_file *file, const char *path, const meta_io_desc *desc)
{
    META_TRY(io_enter(__func__));
    return io_leave(open_and_keep(file, path, desc));
}

/* ------------------------------------------------------------------ what a file has */

static meta_err describe_file(meta_io_file file, meta_io_file_desc *desc)
{
    opened *o;
    META_TRY(file_of(file, false, &o));
    META_TRY(core->sized_need(desc, META_LEAST(meta_io_file_desc, number), sizeof *desc, "desc",
                              "META_IO_FILE_DESC_INIT"));
    const meta_io_file_desc found = {.path = o->path,
                                     .format = o->format->format,
                                     .fields = o->head.fields,
                                     .attributes = o->head.attributes,
                                     .number = o->number};
    meta_sized_put(desc, &found, sizeof found);
    return META_OK;
}

meta_err meta_io_file_info(meta_io_file file, meta_io_file_desc *desc)
{
    META_TRY(io_enter(__func__));
    return io_leave(describe_file(file, desc));
}

static meta_err check_index(int index, int count, const char *what)
{
    if (index >= 0 && index < count) return META_OK;
    return core->fail(META_ERR_ARGUMENT, "argument 'index' is %d: the file has %d %s", index, count,
                      what);
}

static meta_err describe_field(meta_io_file file, int index, meta_io_field *field)
{
    opened *o;
    META_TRY(file_of(file, false, &o));
    META_TRY(check_index(index, o->head.fields, "fields"));
    if (!field) return core->fail(META_ERR_ARGUMENT, "argument 'field' is NULL");
    const io_field *f = &o->head.field[index];
    *field = (meta_io_field){.name = f->name, .type = f->type, .box = {.ndim = f->grid.ndim}};
    memcpy(field->cells, f->grid.cells, sizeof field->cells);
    return META_OK;
}

meta_err meta_io_field_info(meta_io_file file, int index, meta_io_field *field)
{
    META_TRY(io_enter(__func__));
    return io_leave(describe_field(file, index, field));
}

static meta_err describe_attribute(meta_io_file file, int index, meta_io_attribute *attribute)
{
    opened *o;
    META_TRY(file_of(file, false, &o));
    META_TRY(check_index(index, o->head.attributes, "attributes"));
    if (!attribute) return core->fail(META_ERR_ARGUMENT, "argument 'attribute' is NULL");
    *attribute = o->head.attribute[index];
    return META_OK;
}

meta_err meta_io_attribute_info(meta_io_file file, int index, meta_io_attribute *attribute)
{
    META_TRY(io_enter(__func__));
    return io_leave(describe_attribute(file, index, attribute));
}

static meta_err find_attribute(meta_io_file file, const char *name, meta_io_attribute *attribute)
{
    opened *o;
    META_TRY(file_of(file, false, &o));
    META_TRY(io_name_check(name, "name"));
    if (!attribute) return core->fail(META_ERR_ARGUMENT, "argument 'attribute' is NULL");
    for (int a = 0; a < o->head.attributes; ++a) {
        if (strcmp(o->head.attribute[a].name, name) != 0) continue;
        *attribute = o->head.attribute[a];
        return META_OK;
    }
    char why[IO_WHY];
    if (io_head_left_out(&o->head, IO_ATTRIBUTE, name, why))
        return core->fail(META_ERR_UNSUPPORTED, "argument 'name': attribute '%s' of %s %s", name,
                          o->path, why);
    return core->fail(META_ERR_ARGUMENT, "argument 'name': %s has no attribute '%s'", o->path,
                      name);
}

meta_err meta_io_attribute_find(meta_io_file file, const char *name, meta_io_attribute *attribute)
{
    META_TRY(io_enter(__func__));
    return io_leave(find_attribute(file, name, attribute));
}

/* ------------------------------------------------------------------ reading */

/* Argument field[f] in the file: *index. */
static meta_err find_field(const opened *o, const meta_io_field *field, int f, int *index)
{
    const io_head *head = &o->head;
    for (*index = 0; *index < head->fields; ++*index)
        if (o->format->format == META_IO_NPY || strcmp(head->field[*index].name, field->name) == 0)
            break;
    char why[IO_WHY];
    if (*index == head->fields && io_head_left_out(head, IO_FIELD, field->name, why))
        return core->fail(META_ERR_UNSUPPORTED, "argument 'field[%d].name': '%s' of %s %s", f,
                          field->name, o->path, why);
    if (*index == head->fields)
        return core->fail(META_ERR_ARGUMENT, "argument 'field[%d].name': %s has no field '%s'", f,
                          o->path, field->name);
    const io_field *found = &head->field[*index];
    if (found->type != field->type)
        return core->fail(META_ERR_TYPE,
                          "argument 'field[%d].type' is %s, and field '%s' of %s has %s", f,
                          meta_element_name((uint32_t)field->type), field->name, o->path,
                          meta_element_name((uint32_t)found->type));
    for (int d = 0; field->cells[0] != 0 && d < found->grid.ndim && d < field->box.ndim; ++d)
        if (field->cells[d] != found->grid.cells[d])
            return core->fail(META_ERR_MISMATCH,
                              "argument 'field[%d].cells[%d]' is %" PRId64
                              ", and field '%s' of %s has %" PRId64,
                              f, d, field->cells[d], field->name, o->path, found->grid.cells[d]);
    return META_OK;
}

/* A field that is being read. */
typedef struct target {
    opened *o;
    int index; /* in the file */
} target;

/* The file that rank 0 has opened. */
static meta_err open_source(opened *o)
{
    struct stat status;
    if (o->source.file >= 0) return META_OK;
    META_TRY(io_file_open(o->path, false, &o->source.file));
    if (fstat(o->source.file, &status) != 0) return io_file_error(o->path, "read");
    if ((uint64_t)status.st_ino == o->node && (uint64_t)status.st_size == o->bytes) return META_OK;
    return core->fail(
        META_ERR_FILE,
        "argument 'file': %s was changed or replaced since it was opened: open it again", o->path);
}

static meta_err read_piece(void *with, int64_t k, void *data, size_t bytes, bool *in_step)
{
    (void)in_step;
    const target *t = with;
    opened *o = t->o;
    const io_field *f = &o->head.field[t->index];
    uint64_t sum;
    META_TRY(open_source(o));
    if (o->format->read) return o->format->read(&o->source, t->index, k, data);
    META_TRY(io_read_at(o->path, o->source.file, data, bytes,
                        f->offset + k * f->grid.piece * (int64_t)f->element));
    if (f->sums < 0) return META_OK;
    META_TRY(
        io_read_at(o->path, o->source.file, &sum, sizeof sum, f->sums + k * (int64_t)sizeof sum));
    if (sum == io_checksum(io_piece_seed(t->index, k), data, bytes)) return META_OK;
    return core->fail(META_ERR_FILE,
                      "argument 'file': checkpoint %s is damaged: piece %" PRId64
                      " of field '%s' does not have its checksum; open an older one",
                      o->path, k, f->name);
}

/* Dimensions in the other order. */
static void reverse(int ndim, int64_t *numbers)
{
    for (int d = 0; d < ndim / 2; ++d) {
        const int64_t first = numbers[d];
        numbers[d] = numbers[ndim - 1 - d];
        numbers[ndim - 1 - d] = first;
    }
}

/* Between packed cells with the first dimension of @p cells fastest, and with its last one. */
static void transpose(int ndim, const int64_t *cells, size_t element, const char *from, char *to)
{
    int64_t at[META_MAX_DIM] = {0}, step[META_MAX_DIM], place = 0;
    step[ndim - 1] = (int64_t)element;
    for (int d = ndim - 2; d >= 0; --d) step[d] = step[d + 1] * cells[d + 1];
    for (int d = 0; d < ndim; from += element) {
        memcpy(to + place, from, element);
        for (d = 0; d < ndim; ++d) {
            place += step[d];
            if (++at[d] < cells[d]) break;
            place -= step[d] * cells[d];
            at[d] = 0;
        }
    }
}

/* The file has the field's dimensions in the other order: so it is read to memory that has, too. */
static meta_err read_reversed(opened *o, const meta_io_field *field, int f, int index,
                              bool *in_step)
{
    io_part part, stored;
    io_box *boxes;
    target t = {o, index};
    const int ndim = o->head.field[index].grid.ndim;
    io_grid grid = o->head.field[index].grid;
    meta_err error = io_part_open(&part, field, f, &grid);
    const size_t bytes = error == META_OK ? (size_t)part.place.count * part.element : 0;
    char *memory = bytes > 0 ? malloc(2 * bytes) : NULL;
    if (bytes > 0 && !memory) error = io_no_memory(2 * bytes);
    reverse(ndim, grid.cells);
    stored = part;
    stored.buf = memory;
    stored.on_device = false;
    reverse(ndim, stored.place.first);
    reverse(ndim, stored.place.cells);
    stored.box = (meta_box){.ndim = ndim};
    for (int d = 0; d < ndim; ++d) stored.box.size[d] = stored.box.end[d] = stored.place.cells[d];
    error = io_boxes_gather(&o->ranks, error, &stored.place, &boxes);
    if (error == META_OK) {
        error = io_exchange(&o->ranks, &grid, boxes, &stored, false, read_piece, &t, in_step);
        free(boxes);
        if (error == META_OK && bytes > 0) {
            transpose(ndim, stored.place.cells, part.element, memory, memory + bytes);
            error = io_part_copy(&part, 0, part.place.count, memory + bytes, true);
        }
        if (*in_step) error = io_agree(&o->ranks, error);
    }
    free(memory);
    return error;
}

static meta_err read_field(opened *o, const meta_io_field *field, int f, int index, bool *in_step)
{
    io_part part;
    io_box *boxes;
    target t = {o, index};
    const io_grid *grid = &o->head.field[index].grid;
    if (o->head.field[index].reversed) return read_reversed(o, field, f, index, in_step);
    META_TRY(io_boxes_gather(&o->ranks, io_part_open(&part, field, f, grid), &part.place, &boxes));
    meta_err error = io_exchange(&o->ranks, grid, boxes, &part, false, read_piece, &t, in_step);
    free(boxes);
    return *in_step ? io_agree(&o->ranks, error) : error;
}

/* All that can be wrong with the arguments, before anything is read. */
static meta_err check_fields(const opened *o, int fields, const meta_io_field *field, int *index)
{
    META_TRY(io_fields_check(fields, field));
    if (!index) return io_no_memory((uint64_t)fields * sizeof *index);
    for (int f = 0; f < fields; ++f) {
        io_part part;
        META_TRY(find_field(o, &field[f], f, &index[f]));
        META_TRY(io_part_open(&part, &field[f], f, &o->head.field[index[f]].grid));
    }
    return META_OK;
}

static meta_err read_fields(opened *o, int fields, const meta_io_field *field, int *index)
{
    bool in_step = true;
    META_TRY(io_agree(&o->ranks, check_fields(o, fields, field, index)));
    int64_t count = fields;
    META_TRY(job->all_from(o->ranks.comm, &count, 1, MPI_INT64_T, 0, "while a file is read"));
    META_TRY(io_agree(&o->ranks, count == fields
                                     ? META_OK
                                     : core->fail(META_ERR_MISMATCH,
                                                  "argument 'fields' is %d, and on rank 0 %" PRId64,
                                                  fields, count)));
    io_item *items = calloc((size_t)fields, sizeof *items);
    meta_err error =
        io_agree(&o->ranks, items ? META_OK : io_no_memory((uint64_t)fields * sizeof *items));
    if (error != META_OK) return free(items), error;
    for (int f = 0; f < fields; ++f) {
        snprintf(items[f].name, sizeof items[f].name, "field[%d].name", f);
        items[f].hash = (uint64_t)index[f];
    }
    error = io_compare(&o->ranks, fields, items);
    free(items);
    META_TRY(error);
    for (int f = 0; f < fields; ++f) META_TRY(read_field(o, &field[f], f, index[f], &in_step));
    return META_OK;
}

static meta_err find_and_read(meta_io_file file, int fields, const meta_io_field *field)
{
    opened *o;
    META_TRY(file_of(file, false, &o));
    int *index = fields > 0 ? calloc((size_t)fields, sizeof *index) : NULL;
    const meta_err error = read_fields(o, fields, field, index);
    free(index);
    return error;
}

meta_err meta_io_read(meta_io_file file, int fields, const meta_io_field *field)
{
    META_TRY(io_enter(__func__));
    return io_leave(find_and_read(file, fields, field));
}

static meta_err close_file(meta_io_file *file)
{
    opened *o;
    if (!file) return core->fail(META_ERR_ARGUMENT, "argument 'file' is NULL");
    META_TRY(file_of(*file, true, &o));
    *file = (meta_io_file)META_IO_FILE_NULL;
    discard(o);
    return META_OK;
}

meta_err meta_io_close(meta_io_file *file)
{
    META_TRY(io_enter(__func__));
    return io_leave(close_file(file));
}

/* ------------------------------------------------------------------ checkpoints that there are */

static meta_err find_last(const io_ranks *ranks, const char *path, int64_t *number)
{
    int64_t last = -1;
    meta_err error = io_path_check(path);
    if (error == META_OK && !number)
        error = core->fail(META_ERR_ARGUMENT, "argument 'number' is NULL");
    META_TRY(io_agree(ranks, error));
    META_TRY(io_agree(ranks, ranks->rank == 0 ? io_last_number(path, &last) : META_OK));
    META_TRY(
        job->all_from(ranks->comm, &last, 1, MPI_INT64_T, 0, "while rank 0 looks for checkpoints"));
    *number = last;
    return META_OK;
}

static meta_err open_and_find(MPI_Comm comm, const char *path, int64_t *number)
{
    io_ranks ranks;
    META_TRY(io_ranks_open(&ranks, comm, "comm"));
    const meta_err error = find_last(&ranks, path, number);
    io_ranks_close(&ranks);
    return error;
}

meta_err meta_io_last(MPI_Comm comm, const char *path, int64_t *number)
{
    META_TRY(io_enter(__func__));
    return io_leave(open_and_find(comm, path, number));
}
