/* SPDX-License-Identifier: BSD-3-Clause */
/** @file table.c
 *  Fields and attributes of a file: copied, and as bytes, which rank 0 gives to the others and
 *  checkpoints begin with. Bytes are read without trusting them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

enum { MOST_PIECE = 1 << 28 }; /* bytes of a piece that a file may have */

/* ------------------------------------------------------------------ heads */

meta_err io_head_add_field(io_head *head, const char *name, meta_type type, int ndim,
                           const int64_t *cells)
{
    io_field f = {.type = type, .offset = -1, .sums = -1};
    META_TRY(core->check_type(type, "type", &f.element));
    META_TRY(io_grid_set(&f.grid, ndim, cells, f.element, head->fields));
    io_field *more = realloc(head->field, ((size_t)head->fields + 1) * sizeof *more);
    if (more) head->field = more;
    f.name = strdup(name);
    if (!more || !f.name) {
        free(f.name);
        return io_no_memory(((uint64_t)head->fields + 1) * sizeof *more);
    }
    head->field[head->fields++] = f;
    return META_OK;
}

meta_err io_head_add_attribute(io_head *head, const meta_io_attribute *attribute)
{
    meta_io_attribute a = *attribute;
    size_t element = 0, bytes = 0;
    void *numbers = NULL;
    if (!a.text) {
        META_TRY(core->check_type(a.type, "type", &element));
        bytes = (size_t)a.count * element;
        numbers = malloc(bytes + 1);
        if (numbers) memcpy(numbers, a.numbers, bytes);
    }
    meta_io_attribute *more =
        realloc(head->attribute, ((size_t)head->attributes + 1) * sizeof *more);
    if (more) head->attribute = more;
    char *name = strdup(a.name), *text = a.text ? strdup(a.text) : NULL;
    if (!more || !name || !(a.text ? (void *)text : numbers)) {
        free(name);
        free(text);
        free(numbers);
        return io_no_memory(bytes + (uint64_t)head->attributes * sizeof *more);
    }
    if (a.text) a.type = META_U8, a.count = (int64_t)strlen(a.text);
    a.name = name;
    a.text = text;
    a.numbers = numbers;
    head->attribute[head->attributes++] = a;
    return META_OK;
}

meta_err io_head_copy(io_head *head, int fields, const meta_io_field *field, int attributes,
                      const meta_io_attribute *attribute)
{
    *head = (io_head){.fields = 0};
    for (int f = 0; f < fields; ++f)
        META_TRY(io_head_add_field(head, field[f].name, field[f].type, field[f].box.ndim,
                                   field[f].cells));
    for (int a = 0; a < attributes; ++a) META_TRY(io_head_add_attribute(head, &attribute[a]));
    return META_OK;
}

/* Of a name with an end of a line nothing is kept. */
meta_err io_head_leave_out(io_head *head, io_kind kind, const char *name, const char *why)
{
    const size_t before = head->left_out ? strlen(head->left_out) : 0;
    const size_t more = strlen(name) + strlen(why) + 4;
    if (strchr(name, '\n')) return META_OK;
    char *text = realloc(head->left_out, before + more);
    if (!text) return io_no_memory(before + more);
    head->left_out = text;
    snprintf(text + before, more, "%c%s\n%s\n", kind, name, why);
    return META_OK;
}

bool io_head_left_out(const io_head *head, io_kind kind, const char *name, char why[IO_WHY])
{
    const size_t length = strlen(name);
    const char *line = head->left_out;
    while (line && *line) {
        const char *reason = strchr(line, '\n') + 1, *end = strchr(reason, '\n');
        if (*line == (char)kind && (size_t)(reason - line) == length + 2 &&
            memcmp(line + 1, name, length) == 0) {
            snprintf(why, IO_WHY, "%.*s", (int)(end - reason), reason);
            return true;
        }
        line = end + 1;
    }
    return false;
}

void io_head_free(io_head *head)
{
    free(head->left_out);
    for (int f = 0; f < head->fields; ++f) {
        free(head->field[f].name);
        free(head->field[f].address);
    }
    for (int a = 0; a < head->attributes; ++a) {
        free((void *)(uintptr_t)head->attribute[a].name);
        free((void *)(uintptr_t)head->attribute[a].text);
        free((void *)(uintptr_t)head->attribute[a].numbers);
    }
    free(head->field);
    free(head->attribute);
    *head = (io_head){.fields = 0};
}

/* ------------------------------------------------------------------ to bytes */

/* Where bytes go: counted at first, then written. */
typedef struct sink {
    char *to;
    int64_t bytes;
} sink;

static void put(sink *s, const void *data, int64_t bytes)
{
    const int64_t padded = (bytes + 7) / 8 * 8;
    if (s->to) {
        memset(s->to + s->bytes, 0, (size_t)padded);
        if (bytes > 0) memcpy(s->to + s->bytes, data, (size_t)bytes);
    }
    s->bytes += padded;
}

static void put_number(sink *s, int64_t number)
{
    put(s, &number, sizeof number);
}

static void put_text(sink *s, const char *text)
{
    put_number(s, (int64_t)strlen(text));
    put(s, text, (int64_t)strlen(text));
}

enum { REVERSED = 2 }; /* 0: runs of cells, 1: boxes */

static void put_field(sink *s, const io_field *f)
{
    put_text(s, f->name);
    put_number(s, f->type);
    put_number(s, f->grid.ndim);
    put(s, f->grid.cells, f->grid.ndim * (int64_t)sizeof *f->grid.cells);
    put_number(s, f->reversed ? REVERSED : f->grid.level >= 0);
    put_number(s, f->grid.piece);
    put_number(s, f->offset);
    put_number(s, f->sums);
}

static void put_attribute(sink *s, const meta_io_attribute *a)
{
    size_t element = 1;
    put_text(s, a->name);
    put_number(s, a->text != NULL);
    put_number(s, a->type);
    put_number(s, a->count);
    if (!a->text) core->check_type(a->type, "type", &element);
    put(s, a->text ? a->text : a->numbers, a->count * (int64_t)element);
}

static void put_head(sink *s, const io_head *head)
{
    put_number(s, head->fields);
    put_number(s, head->attributes);
    for (int f = 0; f < head->fields; ++f) put_field(s, &head->field[f]);
    for (int a = 0; a < head->attributes; ++a) put_attribute(s, &head->attribute[a]);
    if (head->left_out) put_text(s, head->left_out);
}

void *io_head_encode(const io_head *head, int64_t *bytes)
{
    sink counted = {NULL, 0};
    put_head(&counted, head);
    sink s = {malloc((size_t)counted.bytes), 0};
    if (s.to) put_head(&s, head);
    *bytes = counted.bytes;
    return s.to;
}

/* ------------------------------------------------------------------ from bytes */

typedef struct reader {
    const char *at;
    int64_t left;
    bool right; /* so far */
} reader;

static const char *get(reader *r, int64_t bytes)
{
    const char *at = r->at;
    r->right = r->right && bytes >= 0 && bytes <= r->left && (bytes + 7) / 8 * 8 <= r->left;
    if (!r->right) return NULL;
    r->at += (bytes + 7) / 8 * 8;
    r->left -= (bytes + 7) / 8 * 8;
    return at;
}

static int64_t get_number(reader *r)
{
    int64_t number = 0;
    const char *at = get(r, sizeof number);
    if (at) memcpy(&number, at, sizeof number);
    return number;
}

/* A text of less than @p room bytes with its end. */
static void get_text(reader *r, char *text, int64_t room)
{
    const int64_t length = get_number(r);
    r->right = r->right && length >= 0 && length < room;
    const char *at = get(r, length);
    if (at) memcpy(text, at, (size_t)length);
    text[at ? length : 0] = '\0';
    r->right = r->right && (int64_t)strlen(text) == length;
}

static void get_field(reader *r, io_head *head)
{
    char name[META_IO_NAME_BYTES];
    int64_t cells[META_MAX_DIM] = {0};
    get_text(r, name, sizeof name);
    const int64_t type = get_number(r), ndim = get_number(r);
    r->right = r->right && type >= 0 && type < META_TYPE_COUNT && ndim >= 1 && ndim <= META_MAX_DIM;
    const char *at = get(r, r->right ? ndim * (int64_t)sizeof *cells : -1);
    if (at) memcpy(cells, at, (size_t)ndim * sizeof *cells);
    const int64_t cut = get_number(r);
    const int64_t piece = get_number(r), offset = get_number(r), sums = get_number(r);
    if (!r->right) return;
    r->right = io_head_add_field(head, name, (meta_type)type, (int)ndim, cells) == META_OK;
    if (!r->right) return;
    io_field *f = &head->field[head->fields - 1];
    r->right = piece >= 1 && piece <= f->grid.count && piece <= MOST_PIECE / (int64_t)f->element;
    if (!r->right) return;
    if (cut != 0 && cut != REVERSED) io_grid_boxes(&f->grid, piece);
    else io_grid_runs(&f->grid, piece);
    f->reversed = cut == REVERSED;
    r->right = f->grid.piece == piece;
    f->offset = offset;
    f->sums = sums;
}

static void get_attribute(reader *r, io_head *head)
{
    char name[META_IO_NAME_BYTES];
    size_t element = 1;
    char *text = NULL;
    get_text(r, name, sizeof name);
    const bool is_text = get_number(r) != 0;
    const int64_t type = get_number(r), count = get_number(r);
    r->right = r->right && type >= 0 && type < META_TYPE_COUNT && count >= 0 && count <= r->left;
    if (!r->right) return;
    if (!is_text) core->check_type((meta_type)type, "type", &element);
    const char *at = get(r, count * (int64_t)element);
    if (!at) return;
    if (is_text) text = strndup(at, (size_t)count);
    r->right = !is_text || (text && (int64_t)strlen(text) == count);
    const meta_io_attribute a = {name, text, (meta_type)type, count, at};
    r->right = r->right && io_head_add_attribute(head, &a) == META_OK;
    free(text);
}

/* Only complete pairs of lines. */
static void get_left_out(reader *r, io_head *head)
{
    const int64_t length = get_number(r);
    const char *at = get(r, length);
    char *text = at ? strndup(at, (size_t)length) : NULL;
    int64_t lines = 0;
    head->left_out = text;
    /* In a damaged file the text may end before its length. */
    r->right = r->right && text && length > 0 && (int64_t)strlen(text) == length;
    for (int64_t k = 0; r->right && k < length; ++k) lines += text[k] == '\n';
    r->right = r->right && lines % 2 == 0 && text[length - 1] == '\n';
}

bool io_head_decode(io_head *head, const void *bytes, int64_t count)
{
    reader r = {bytes, count, true};
    *head = (io_head){.fields = 0};
    const int64_t fields = get_number(&r), attributes = get_number(&r);
    for (int64_t f = 0; f < fields && r.right; ++f) get_field(&r, head);
    for (int64_t a = 0; a < attributes && r.right; ++a) get_attribute(&r, head);
    if (r.right && r.left > 0) get_left_out(&r, head);
    if (r.right && r.left == 0 && fields >= 0 && attributes >= 0) return true;
    io_head_free(head);
    return false;
}
