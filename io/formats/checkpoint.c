/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint.c
 *  libmeta's own files, from which a run continues with the same bits. In the writer's byte order:
 *
 *      checkpoint_header
 *      the head: fields and attributes, see table.c
 *      for each field: a checksum of each piece
 *      for each field: the grid, x fastest
 *
 *  The header is written last, so what is not complete is no checkpoint. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

enum { VERSION = 1, ORDER = 0x01020304 };
static const char magic[8] = {'m', 'e', 't', 'a', 'i', 'o', 'C', 'P'};

typedef struct checkpoint_header {
    char magic[8];
    uint32_t order, version;
    int64_t bytes;      /* of the whole file */
    int64_t number;     /* of the checkpoint */
    int64_t head_bytes; /* behind this */
    uint64_t head_sum;
    uint64_t sum; /* of all members before it */
} checkpoint_header;
_Static_assert(sizeof(checkpoint_header) == 56, "the header has no gaps");

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= (int64_t)sizeof magic && memcmp(start, magic, sizeof magic) == 0;
}

static meta_err check(const io_head *head)
{
    (void)head;
    return META_OK;
}

static int64_t data_bytes(const io_field *f)
{
    return f->grid.count * (int64_t)f->element;
}

/* Behind the last field. */
static int64_t end_of(const io_head *head, int64_t head_bytes)
{
    if (head->fields == 0) return (int64_t)sizeof(checkpoint_header) + head_bytes;
    const io_field *last = &head->field[head->fields - 1];
    return last->offset + data_bytes(last);
}

static meta_err lay_out(io_head *head, const meta_io_desc *desc)
{
    int64_t bytes;
    (void)desc;
    for (int f = 0; f < head->fields; ++f)
        io_grid_runs(&head->field[f].grid, io_piece_room(head->field[f].element));
    void *encoded = io_head_encode(head, &bytes); /* its length does not depend on offsets */
    free(encoded);
    if (!encoded) return io_no_memory((uint64_t)bytes);
    int64_t at = (int64_t)sizeof(checkpoint_header) + bytes;
    for (int f = 0; f < head->fields; ++f) {
        head->field[f].sums = at;
        at += head->field[f].grid.pieces * (int64_t)sizeof(uint64_t);
    }
    for (int f = 0; f < head->fields; ++f) {
        head->field[f].offset = at;
        if (__builtin_add_overflow(at, data_bytes(&head->field[f]), &at))
            return core->fail(META_ERR_OVERFLOW,
                              "argument 'field': the fields have more bytes than any file");
    }
    return META_OK;
}

static meta_err seal(const io_head *head, const char *path, int file, int64_t number,
                     const meta_io_desc *desc)
{
    (void)desc;
    checkpoint_header h = {.order = ORDER, .version = VERSION, .number = number};
    void *encoded = io_head_encode(head, &h.head_bytes);
    if (!encoded) return io_no_memory((uint64_t)h.head_bytes);
    memcpy(h.magic, magic, sizeof magic);
    h.bytes = end_of(head, h.head_bytes);
    h.head_sum = io_checksum(0, encoded, (size_t)h.head_bytes);
    h.sum = io_checksum(0, &h, offsetof(checkpoint_header, sum));
    meta_err error = io_write_at(path, file, encoded, (size_t)h.head_bytes, sizeof h);
    if (error == META_OK) error = io_write_at(path, file, &h, sizeof h, 0);
    free(encoded);
    return error;
}

static meta_err refuse(const char *path, const char *why)
{
    return core->fail(META_ERR_FILE, "argument 'path': checkpoint %s %s", path, why);
}

static meta_err check_header(const checkpoint_header *h, const char *path, int64_t size)
{
    if (h->order == __builtin_bswap32(ORDER))
        return refuse(path, "was written by a machine of the other byte order: continue there, or "
                            "write HDF5 there");
    if (h->order == ORDER && h->version != VERSION)
        return core->fail(META_ERR_FILE,
                          "argument 'path': checkpoint %s has version %" PRIu32
                          " of the format, and this library reads version %d: use the release of "
                          "libmeta that wrote it",
                          path, h->version, VERSION);
    if (h->order != ORDER || h->sum != io_checksum(0, h, offsetof(checkpoint_header, sum)))
        return refuse(path, "is damaged: its header does not have its checksum; open an older one");
    if (h->bytes != size)
        return core->fail(META_ERR_FILE,
                          "argument 'path': checkpoint %s is %s: it has %" PRId64
                          " bytes of %" PRId64 "; open an older one",
                          path, size < h->bytes ? "cut off" : "too long", size, h->bytes);
    if (h->head_bytes < 0 || h->head_bytes > size - (int64_t)sizeof *h || h->number < -1)
        return refuse(path, "has a header that was not written by this library");
    return META_OK;
}

/* Whether the places in the file are those that it was laid out with. */
static bool is_laid_out(const io_head *head, int64_t head_bytes, int64_t size)
{
    int64_t at = (int64_t)sizeof(checkpoint_header) + head_bytes;
    for (int f = 0; f < head->fields; ++f) {
        const io_field *field = &head->field[f];
        if (field->sums != at || field->grid.level >= 0 || field->grid.pieces > (size - at) / 8)
            return false;
        at += field->grid.pieces * (int64_t)sizeof(uint64_t);
    }
    for (int f = 0; f < head->fields; ++f) {
        if (head->field[f].offset != at || data_bytes(&head->field[f]) > size - at) return false;
        at += data_bytes(&head->field[f]);
    }
    return at == size;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether names are allowed and different; they are left in another order. */
static bool are_names(const char **name, int count)
{
    for (int k = 0; k < count; ++k)
        if (io_name_check(name[k], "name") != META_OK) return false;
    qsort(name, (size_t)count, sizeof *name, by_text);
    for (int k = 1; k < count; ++k)
        if (strcmp(name[k - 1], name[k]) == 0) return false;
    return true;
}

/* Whether meta_io_write() would write these fields and attributes. */
static bool is_allowed(const io_head *head)
{
    const int most = head->fields > head->attributes ? head->fields : head->attributes;
    const char **name = malloc((size_t)most * sizeof *name + 1);
    bool right = name && head->fields >= 1;
    for (int f = 0; f < head->fields && right; ++f) name[f] = head->field[f].name;
    right = right && are_names(name, head->fields);
    for (int a = 0; a < head->attributes && right; ++a) {
        name[a] = head->attribute[a].name;
        right = head->attribute[a].text || head->attribute[a].count >= 1;
    }
    right = right && are_names(name, head->attributes);
    free(name);
    return right;
}

static meta_err load_head(io_head *head, const checkpoint_header *h, const char *path, int file)
{
    void *encoded = malloc((size_t)h->head_bytes + 1);
    if (!encoded) return io_no_memory((uint64_t)h->head_bytes);
    meta_err error = io_read_at(path, file, encoded, (size_t)h->head_bytes, sizeof *h);
    if (error == META_OK && h->head_sum != io_checksum(0, encoded, (size_t)h->head_bytes))
        error = refuse(path, "is damaged: its table of fields does not have its checksum; open an "
                             "older one");
    if (error == META_OK && !(io_head_decode(head, encoded, h->head_bytes) &&
                              is_laid_out(head, h->head_bytes, h->bytes) && is_allowed(head)))
        error = refuse(path, "has a table of fields that was not written by this library");
    free(encoded);
    return error;
}

static meta_err load(io_head *head, const char *path, int file, int64_t *number)
{
    checkpoint_header h;
    int64_t size;
    META_TRY(io_file_size(path, file, &size));
    if (size < (int64_t)sizeof h)
        return core->fail(META_ERR_FILE,
                          "argument 'path': checkpoint %s is cut off: it has only %" PRId64
                          " bytes; open an older one",
                          path, size);
    META_TRY(io_read_at(path, file, &h, sizeof h, 0));
    META_TRY(check_header(&h, path, size));
    *number = h.number;
    return load_head(head, &h, path, file);
}

const io_format io_checkpoint = {.format = META_IO_CHECKPOINT,
                                 .name = "META_IO_CHECKPOINT",
                                 .is_there = true,
                                 .is_begun = is_begun,
                                 .check = check,
                                 .lay_out = lay_out,
                                 .seal = seal,
                                 .load = load};
