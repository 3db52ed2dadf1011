/* SPDX-License-Identifier: BSD-3-Clause */
/** @file write.c
 *  Writing a file: what is asked for, checked on all ranks before anything is written; its pieces,
 *  written by all ranks; and its name, when it is complete. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

/* A file that is being written. */
typedef struct writing {
    io_ranks ranks;
    const char *given; /* argument 'path' */
    const meta_io_desc *desc;
    meta_io_desc kept_desc; /* the same, of a request */
    char *kept_path, *kept_series;
    const io_format *format;
    int fields;
    const meta_io_field *field;
    io_head head;
    io_box **boxes; /* of all ranks, for each field */
    char *path, *partial;
    int64_t number;
    int file;
    double time;  /* of the series */
    bool created; /* the partial file, by this rank */
    io_writer writer;
    io_queue *queue;      /* of a request */
    uint32_t id;          /* of the request */
    struct writing *next; /* of those under way */
} writing;

/* Files that are written beside computation. */
static writing *under_way;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ------------------------------------------------------------------ what is asked for */

static meta_err check_attribute(const meta_io_attribute *a, int k)
{
    char name[48];
    size_t element;
    snprintf(name, sizeof name, "desc->attribute[%d].name", k);
    META_TRY(io_name_check(a->name, name));
    if (a->text) return META_OK;
    snprintf(name, sizeof name, "desc->attribute[%d].type", k);
    META_TRY(core->check_type(a->type, name, &element));
    if (a->count < 1 || a->count > INT64_MAX / 8)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->attribute[%d].count' is %" PRId64 ": give 1 or more", k,
                          a->count);
    if (a->numbers) return META_OK;
    return core->fail(META_ERR_ARGUMENT,
                      "argument 'desc->attribute[%d]' has neither a text nor numbers", k);
}

static meta_err check_desc(const meta_io_desc *desc)
{
    if (desc->attributes < 0)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->attributes' is %d", desc->attributes);
    if (desc->attributes > 0 && !desc->attribute)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->attribute' is NULL");
    if (desc->number < -1)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->number' is %" PRId64 ": give -1, or 0 or more",
                          desc->number);
    if (desc->keep < 0)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->keep' is %" PRId64 ": give 0 or more",
                          desc->keep);
    if (desc->memory < 0)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->memory' is %" PRId64 ": give 0 or more", desc->memory);
    if (desc->axis < -1 || desc->axis > 2)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->axis' is %d: give -1, 0, 1 or 2",
                          desc->axis);
    if (desc->plane < -1)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->plane' is %" PRId64 ": give -1, or 0 or more",
                          desc->plane);
    if (!isfinite(desc->low) || !isfinite(desc->high) || desc->low > desc->high)
        return core->fail(
            META_ERR_ARGUMENT,
            "arguments 'desc->low' and 'desc->high' are %g and %g: give finite ones, the "
            "lower one first",
            desc->low, desc->high);
    for (int d = 0; d < META_MAX_DIM; ++d)
        if (!isfinite(desc->origin[d]) || !isfinite(desc->spacing[d]) || desc->spacing[d] == 0)
            return core->fail(META_ERR_ARGUMENT,
                              "arguments 'desc->origin[%d]' and 'desc->spacing[%d]' are %g and %g: "
                              "give finite ones, and no spacing of 0",
                              d, d, desc->origin[d], desc->spacing[d]);
    for (int a = 0; a < desc->attributes; ++a) {
        META_TRY(check_attribute(&desc->attribute[a], a));
        for (int b = 0; b < a; ++b)
            if (strcmp(desc->attribute[a].name, desc->attribute[b].name) == 0)
                return core->fail(
                    META_ERR_ARGUMENT,
                    "arguments 'desc->attribute[%d]' and '[%d]' have the same name: '%s'", b, a,
                    desc->attribute[a].name);
    }
    return META_OK;
}

meta_err io_fields_check(int fields, const meta_io_field *field)
{
    if (fields < 1)
        return core->fail(META_ERR_ARGUMENT, "argument 'fields' is %d: give 1 or more", fields);
    if (!field) return core->fail(META_ERR_ARGUMENT, "argument 'field' is NULL");
    for (int f = 0; f < fields; ++f) {
        META_TRY(io_part_check(&field[f], f));
        for (int e = 0; e < f; ++e)
            if (strcmp(field[e].name, field[f].name) == 0)
                return core->fail(META_ERR_ARGUMENT,
                                  "arguments 'field[%d]' and 'field[%d]' have the same name: '%s'",
                                  e, f, field[f].name);
    }
    return META_OK;
}

static meta_err check_series(writing *w)
{
    if (!w->desc->series) return META_OK;
    if (!*w->desc->series)
        return core->fail(META_ERR_ARGUMENT, "argument 'desc->series' is empty: give NULL");
    if (w->format->format != META_IO_VTK)
        return core->fail(
            META_ERR_UNSUPPORTED,
            "argument 'desc->series': only files of META_IO_VTK make a series, not of %s",
            w->format->name);
    if (io_head_time(&w->head, &w->time)) return META_OK;
    return core->fail(
        META_ERR_ARGUMENT,
        "argument 'desc->series' needs an attribute 'time' of one number of META_F64 or "
        "META_F32");
}

/* Two files of one name would be written under one. */
static meta_err check_under_way(const char *path)
{
    bool is = false;
    pthread_mutex_lock(&lock);
    for (const writing *w = under_way; w; w = w->next) is = is || strcmp(w->given, path) == 0;
    pthread_mutex_unlock(&lock);
    if (!is) return META_OK;
    return core->fail(META_ERR_STATE,
                      "argument 'path': %s is still being written: call meta_io_wait() first",
                      path);
}

static meta_err check_arguments(writing *w)
{
    META_TRY(io_path_check(w->given));
    META_TRY(check_under_way(w->given));
    META_TRY(check_desc(w->desc));
    META_TRY(io_fields_check(w->fields, w->field));
    w->format = io_format_of(w->desc->format);
    if (!w->format)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->format' is %d: give META_IO_CHECKPOINT, META_IO_HDF5, "
                          "META_IO_NPY, META_IO_VTK or META_IO_PNG",
                          (int)w->desc->format);
    META_TRY(io_format_check(w->format));
    META_TRY(io_head_copy(&w->head, w->fields, w->field, w->desc->attributes, w->desc->attribute));
    META_TRY(w->format->check(&w->head));
    META_TRY(check_series(w));
    META_TRY(w->format->lay_out(&w->head, w->desc));
    w->boxes = calloc((size_t)w->fields, sizeof(io_box *));
    return w->boxes ? META_OK : io_no_memory((uint64_t)w->fields * sizeof(io_box *));
}

/* ------------------------------------------------------------------ the same on all ranks */

static uint64_t hash_text(const char *text)
{
    return io_checksum(1, text, strlen(text));
}

static void describe_field(io_item *item, const io_field *f, int k)
{
    static const char *const members[] = {".name", ".type", ".box.ndim", ".cells"};
    const int64_t type = f->type, ndim = f->grid.ndim;
    const uint64_t hashes[] = {hash_text(f->name), io_checksum(2, &type, sizeof type),
                               io_checksum(3, &ndim, sizeof ndim),
                               io_checksum(4, f->grid.cells, sizeof f->grid.cells)};
    for (int m = 0; m < 4; ++m) {
        snprintf(item[m].name, sizeof item[m].name, "field[%d]%s", k, members[m]);
        item[m].hash = hashes[m];
    }
}

static uint64_t hash_attribute(const meta_io_attribute *a)
{
    const int64_t kind[3] = {a->text != NULL, a->type, a->count};
    const uint64_t sum = io_checksum(hash_text(a->name), kind, sizeof kind);
    size_t element = 1;
    if (!a->text) core->check_type(a->type, "type", &element);
    return io_checksum(sum, a->text ? a->text : a->numbers, (size_t)a->count * element);
}

static meta_err compare(const writing *w)
{
    enum { OWN = 9 };
    const int count = OWN + 4 * w->fields + w->head.attributes;
    io_item *items = calloc((size_t)count, sizeof *items);
    const meta_io_desc *desc = w->desc;
    const int64_t format = desc->format, place[2] = {desc->axis, desc->plane};
    const double range[2] = {desc->low, desc->high};
    meta_err error =
        io_agree(&w->ranks, items ? META_OK : io_no_memory((uint64_t)count * sizeof *items));
    if (error != META_OK) return free(items), error;
    const io_item own[OWN] = {
        {"path", hash_text(w->given)},
        {"desc->format", io_checksum(5, &format, sizeof format)},
        {"desc->number", io_checksum(6, &desc->number, sizeof desc->number)},
        {"desc->keep", io_checksum(7, &desc->keep, sizeof desc->keep)},
        {"desc->plane", io_checksum(10, place, sizeof place)},
        {"desc->low", io_checksum(11, range, sizeof range)},
        {"desc->series", desc->series ? hash_text(desc->series) : 0},
        {"desc->origin", io_checksum(8, desc->origin, sizeof desc->origin)},
        {"desc->spacing", io_checksum(9, desc->spacing, sizeof desc->spacing)}};
    memcpy(items, own, sizeof own);
    for (int f = 0; f < w->fields; ++f) describe_field(items + OWN + 4 * f, &w->head.field[f], f);
    for (int a = 0; a < w->head.attributes; ++a) {
        io_item *item = &items[OWN + 4 * w->fields + a];
        snprintf(item->name, sizeof item->name, "desc->attribute[%d]", a);
        item->hash = hash_attribute(&w->head.attribute[a]);
    }
    error = io_compare(&w->ranks, count, items);
    free(items);
    return error;
}

/* The boxes of all ranks, before anything is written. */
static meta_err place(writing *w)
{
    for (int f = 0; f < w->fields; ++f) {
        io_part part;
        const io_field *field = &w->head.field[f];
        META_TRY(io_boxes_gather(&w->ranks, io_part_open(&part, &w->field[f], f, &field->grid),
                                 &part.place, &w->boxes[f]));
        META_TRY(io_agree(&w->ranks,
                          io_boxes_check(&w->ranks, &field->grid, w->boxes[f], f, field->name)));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ the file */

/* Rank 0 chooses the number. */
static meta_err choose_name(writing *w)
{
    meta_err error = META_OK;
    w->number = w->desc->number;
    if (w->format->format != META_IO_CHECKPOINT) {
        w->path = io_path(w->given, "");
    } else {
        if (w->ranks.rank == 0 && w->number < 0) {
            error = io_last_number(w->given, &w->number);
            if (error == META_OK && w->number == INT64_MAX)
                error =
                    core->fail(META_ERR_OVERFLOW,
                               "argument 'path': there is a checkpoint %s.%" PRId64 ": remove it",
                               w->given, w->number);
            ++w->number;
        }
        META_TRY(io_agree(&w->ranks, error));
        META_TRY(job->all_from(w->ranks.comm, &w->number, 1, MPI_INT64_T, 0,
                               "while rank 0 chooses the number of a checkpoint"));
        w->path = io_path_number(w->given, w->number);
    }
    w->partial = io_path(w->given, ".partial");
    return io_agree(&w->ranks, w->path && w->partial ? META_OK : io_no_memory(strlen(w->given)));
}

static meta_err begin_file(writing *w)
{
    int file;
    if (w->ranks.rank != 0) return META_OK;
    META_TRY(io_file_create(w->path, w->partial, &file));
    w->created = true;
    close(file);
    return w->format->begin ? w->format->begin(&w->head, w->path, w->partial) : META_OK;
}

/* Where rank 0's library has put the pieces. */
static meta_err share_addresses(writing *w)
{
    for (int f = 0; f < w->fields; ++f) {
        io_field *field = &w->head.field[f];
        int64_t bytes = field->address ? field->grid.pieces * (int64_t)sizeof *field->address : 0;
        void *given = field->address;
        META_TRY(
            job->all_from(w->ranks.comm, &bytes, 1, MPI_INT64_T, 0, "while a file is laid out"));
        if (bytes == 0) continue;
        META_TRY(io_share(&w->ranks, META_OK, &given, &bytes));
        field->address = given;
    }
    return META_OK;
}

static bool has_pieces(const writing *w)
{
    for (int f = 0; f < w->fields; ++f)
        if (io_is_owner(&w->ranks, &w->head.field[f].grid)) return true;
    return false;
}

/* A field that is being written. */
typedef struct target {
    writing *w;
    int f;
    const io_grid *grid; /* the field's, or its plane */
} target;

static meta_err write_piece(void *with, int64_t k, void *data, size_t bytes, bool *in_step)
{
    const target *t = with;
    const io_field *f = &t->w->head.field[t->f];
    if (t->w->format->write_plane)
        return t->w->format->write_plane(&t->w->writer, t->grid, data, t->w->desc);
    if (t->w->format->write) {
        const meta_err error = t->w->format->write(&t->w->writer, t->f, k, data, bytes);
        *in_step = t->w->writer.in_step;
        return error;
    }
    const int64_t at =
        f->address ? f->address[k] : f->offset + k * f->grid.piece * (int64_t)f->element;
    META_TRY(io_queue_write(t->w->queue, t->w->path, t->w->file, data, bytes, at));
    if (f->sums < 0) return META_OK;
    const uint64_t sum = io_checksum(io_piece_seed(t->f, k), data, bytes);
    return io_write_at(t->w->path, t->w->file, &sum, sizeof sum, f->sums + k * (int64_t)sizeof sum);
}

/* For a format that writes pieces itself. */
static meta_err begin_field(writing *w, int f)
{
    if (!w->format->write && !w->format->write_plane) return META_OK;
    w->writer = (io_writer){.ranks = &w->ranks,
                            .head = &w->head,
                            .path = w->path,
                            .file = w->file,
                            .queue = w->queue,
                            .lengths = malloc((size_t)w->ranks.size * sizeof(int64_t)),
                            .in_step = true};
    if (!w->writer.lengths) return io_no_memory((uint64_t)w->ranks.size * sizeof(int64_t));
    return w->ranks.rank == 0 && w->format->begin_field ? w->format->begin_field(&w->writer, f)
                                                        : META_OK;
}

static meta_err end_field(writing *w, int f, meta_err error)
{
    if (!w->format->write && !w->format->write_plane) return error;
    if (error == META_OK && w->ranks.rank == 0 && w->format->end_field)
        error = w->format->end_field(&w->writer, f);
    free(w->writer.lengths);
    free(w->writer.sizes);
    return error;
}

/* One plane of the grid, as one piece, and the ranks' shares of it in place of their boxes. */
static void cut_plane(const writing *w, io_grid *plane, io_box *boxes, io_part *part)
{
    const int axis = w->head.axis;
    if (axis >= 0) {
        const int64_t at = w->head.plane - boxes[w->ranks.rank].first[axis];
        plane->count /= plane->cells[axis];
        plane->cells[axis] = 1;
        part->box.start[axis] += at;
        part->box.end[axis] = part->box.start[axis] + 1;
        for (int r = 0; r < w->ranks.size; ++r) {
            const int64_t there = w->head.plane - boxes[r].first[axis];
            if (boxes[r].count == 0) continue;
            boxes[r].count /= boxes[r].cells[axis];
            if (there < 0 || there >= boxes[r].cells[axis]) boxes[r].count = 0;
            boxes[r].cells[axis] = 1;
            boxes[r].first[axis] = 0;
        }
    }
    io_grid_runs(plane, plane->count);
}

static meta_err write_fields(writing *w, bool *in_step)
{
    for (int f = 0; f < w->fields; ++f) {
        io_part part;
        io_grid grid = w->head.field[f].grid;
        target t = {w, f, &grid};
        meta_err error = io_part_open(&part, &w->field[f], f, &grid);
        if (error == META_OK) error = begin_field(w, f);
        error = io_agree(&w->ranks, error);
        if (error == META_OK && w->format->write_plane) cut_plane(w, &grid, w->boxes[f], &part);
        if (error == META_OK)
            error =
                io_exchange(&w->ranks, &grid, w->boxes[f], &part, true, write_piece, &t, in_step);
        error = end_field(w, f, error);
        if (!*in_step) return error;
        META_TRY(io_agree(&w->ranks, error));
    }
    return META_OK;
}

/* Rank 0, when all data is on the disk. */
static meta_err complete(writing *w)
{
    if (w->ranks.rank != 0) return META_OK;
    META_TRY(io_file_rename(w->partial, w->path));
    w->created = false;
    if (w->format->beside) META_TRY(w->format->beside(&w->head, w->path, w->desc));
    if (w->desc->series) META_TRY(io_series_add(w->desc->series, w->path, w->time));
    if (w->format->format == META_IO_CHECKPOINT && w->desc->keep > 0 &&
        w->number >= w->desc->keep) {
        char *old = io_path_number(w->given, w->number - w->desc->keep);
        if (old) unlink(old);
        free(old);
    }
    return META_OK;
}

/* Everything but what the disk is needed for at the end. */
static meta_err begin_all(writing *w, bool beside, bool *in_step)
{
    META_TRY(io_agree(&w->ranks, check_arguments(w)));
    META_TRY(compare(w));
    META_TRY(place(w));
    META_TRY(choose_name(w));
    META_TRY(io_agree(&w->ranks, begin_file(w)));
    META_TRY(share_addresses(w));
    const bool writes = has_pieces(w) || w->ranks.rank == 0;
    meta_err error = writes ? io_file_open(w->partial, true, &w->file) : META_OK;
    if (error == META_OK && beside && writes)
        error = io_queue_begin(&w->queue, w->path, w->file, (size_t)w->desc->memory);
    META_TRY(io_agree(&w->ranks, error));
    return write_fields(w, in_step);
}

/* What rank 0 writes last. */
static meta_err seal(writing *w)
{
    if (w->ranks.rank != 0 || !w->format->seal) return META_OK;
    if (w->file < 0) META_TRY(io_file_open(w->partial, true, &w->file)); /* the queue closed it */
    return w->format->seal(&w->head, w->path, w->file, w->number, w->desc);
}

/* Close the file, also after an error. Its data comes to the disk in any order: until all is there,
 * it does not have its name. */
static meta_err close_all(writing *w, meta_err error)
{
    char text[IO_TEXT];
    if (w->queue) {
        snprintf(text, sizeof text, "%s", meta_last_error());
        const meta_err queued = io_queue_end(w->queue);
        w->queue = NULL;
        w->file = -1;
        if (error != META_OK) core->fail_as(error, text);
        else error = queued;
    }
    if (error == META_OK) error = seal(w);
    return io_file_close(w->path, &w->file, error);
}

static meta_err finish_all(writing *w, bool in_step, meta_err error)
{
    error = close_all(w, error);
    if (!in_step) return error;
    META_TRY(io_agree(&w->ranks, error));
    return io_agree(&w->ranks, complete(w));
}

/* @return @p error, with its message */
static meta_err end(writing *w, meta_err error)
{
    char text[IO_TEXT];
    snprintf(text, sizeof text, "%s", meta_last_error());
    if (w->created) unlink(w->partial);
    for (int f = 0; w->boxes && f < w->fields; ++f) free(w->boxes[f]);
    free(w->boxes);
    io_head_free(&w->head);
    free(w->path);
    free(w->partial);
    free(w->kept_path);
    free(w->kept_series);
    io_ranks_close(&w->ranks);
    return error == META_OK ? META_OK : core->fail_as(error, text);
}

static meta_err open_and_write(const char *path, const meta_io_desc *desc, int fields,
                               const meta_io_field *field)
{
    bool in_step = true;
    meta_io_desc own;
    writing w = {.given = path, .desc = &own, .fields = fields, .field = field, .file = -1};
    META_TRY(io_desc_get(&own, desc));
    META_TRY(io_ranks_open(&w.ranks, own.comm, "desc->comm"));
    meta_err error = begin_all(&w, false, &in_step);
    return end(&w, error == META_OK ? finish_all(&w, true, META_OK) : close_all(&w, error));
}

meta_err meta_io_write(const char *path, const meta_io_desc *desc, int fields,
                       const meta_io_field *field)
{
    META_TRY(io_enter(__func__));
    return io_leave(open_and_write(path, desc, fields, field));
}

/* ------------------------------------------------------------------ beside computation */

static uint32_t made; /* requests so far */

/* Of what lasts until the request is complete. */
static meta_err keep(writing *w)
{
    w->kept_desc = *w->desc;
    w->kept_path = w->given ? strdup(w->given) : NULL;
    if (w->desc->series) w->kept_series = strdup(w->desc->series);
    if ((w->given && !w->kept_path) || (w->desc->series && !w->kept_series))
        return io_no_memory(strlen(w->given ? w->given : ""));
    if (w->given) w->given = w->kept_path;
    w->kept_desc.series = w->kept_series;
    w->desc = &w->kept_desc;
    return META_OK;
}

static meta_err complete_all(void);

static void add(writing *w, meta_io_request *request)
{
    pthread_mutex_lock(&lock);
    w->id = ++made ? made : ++made;
    w->next = under_way;
    under_way = w;
    *request = (meta_io_request){w->id};
    pthread_mutex_unlock(&lock);
}

static meta_err open_and_begin(const char *path, const meta_io_desc *desc, int fields,
                               const meta_io_field *field, meta_io_request *request)
{
    io_ranks ranks;
    bool in_step = true;
    meta_io_desc own;
    META_TRY(io_desc_get(&own, desc));
    META_TRY(io_ranks_open(&ranks, own.comm, "desc->comm"));
    writing *w = calloc(1, sizeof *w);
    meta_err error = w ? META_OK : io_no_memory(sizeof *w);
    if (w) {
        *w = (writing){.ranks = ranks,
                       .given = path,
                       .desc = &own,
                       .fields = fields,
                       .field = field,
                       .file = -1};
        error = keep(w);
        if (error == META_OK && !request)
            error = core->fail(META_ERR_ARGUMENT, "argument 'request' is NULL");
    }
    error = io_agree(&ranks, error);
    if (error == META_OK) error = begin_all(w, true, &in_step);
    if (error == META_OK) {
        if (w->queue) io_queue_close(w->queue);
        w->field = NULL; /* the program's */
        add(w, request);
        job->at_end(complete_all);
        return META_OK;
    }
    if (!w) {
        io_ranks_close(&ranks);
        return error;
    }
    error = end(w, close_all(w, error));
    free(w);
    return error;
}

meta_err meta_io_write_begin(const char *path, const meta_io_desc *desc, int fields,
                             const meta_io_field *field, meta_io_request *request)
{
    META_TRY(io_enter(__func__));
    return io_leave(open_and_begin(path, desc, fields, field, request));
}

/* @p take: it is under way no more. */
static meta_err find(const meta_io_request *request, bool take, writing **found)
{
    writing **at = &under_way;
    if (!request) return core->fail(META_ERR_ARGUMENT, "argument 'request' is NULL");
    if (request->id == 0)
        return core->fail(META_ERR_HANDLE, "argument 'request' is META_IO_REQUEST_NULL");
    pthread_mutex_lock(&lock);
    while (*at && (*at)->id != request->id) at = &(*at)->next;
    *found = *at;
    if (*at && take) *at = (*at)->next;
    pthread_mutex_unlock(&lock);
    if (*found) return META_OK;
    return core->fail(META_ERR_HANDLE,
                      "argument 'request' is the handle of no file that is being written");
}

static meta_err test_request(meta_io_request request, int *done)
{
    writing *w;
    if (!done) return core->fail(META_ERR_ARGUMENT, "argument 'done' is NULL");
    META_TRY(find(&request, false, &w));
    *done = !w->queue || io_queue_is_done(w->queue);
    return META_OK;
}

meta_err meta_io_test(meta_io_request request, int *done)
{
    META_TRY(io_enter(__func__));
    return io_leave(test_request(request, done));
}

static meta_err wait_for(meta_io_request *request)
{
    writing *w;
    META_TRY(find(request, true, &w));
    *request = (meta_io_request)META_IO_REQUEST_NULL;
    const meta_err error = end(w, finish_all(w, true, META_OK));
    free(w);
    return error;
}

meta_err meta_io_wait(meta_io_request *request)
{
    META_TRY(io_enter(__func__));
    return io_leave(wait_for(request));
}

/* Of a program that leaves the job without meta_io_wait(). */
static meta_err complete_all(void)
{
    meta_err first = META_OK;
    char text[IO_TEXT] = "";
    for (;;) {
        pthread_mutex_lock(&lock);
        writing **last = &under_way; /* the first that was begun, on every rank */
        while (*last && (*last)->next) last = &(*last)->next;
        writing *w = *last;
        *last = NULL;
        pthread_mutex_unlock(&lock);
        if (!w) return first == META_OK ? META_OK : core->fail_as(first, text);
        core->log(
            META_LOG_WARN,
            "meta_comm_finalize: the file %s was never waited for, and is completed now: call "
            "meta_io_wait(), which tells whether it is",
            w->path);
        const meta_err error = end(w, finish_all(w, true, META_OK));
        if (error != META_OK && first == META_OK) {
            first = error;
            snprintf(text, sizeof text, "%s", meta_last_error());
        }
        free(w);
    }
}
