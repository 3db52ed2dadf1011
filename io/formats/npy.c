/* SPDX-License-Identifier: BSD-3-Clause */
/** @file npy.c
 *  NumPy's files of one array: a line of Python that describes it, then its elements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

enum { PREFIX = 8, ALIGN = 64, MOST_HEAD = 1 << 16 };
static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

static char order_here(void)
{
    const uint16_t probe = 1;
    return *(const unsigned char *)&probe == 1 ? '<' : '>';
}

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= (int64_t)sizeof magic && memcmp(start, magic, sizeof magic) == 0;
}

static meta_err check(const io_head *head)
{
    if (head->fields != 1)
        return core->fail(META_ERR_UNSUPPORTED,
                          "argument 'fields' is %d: a file of NumPy has one array; write each to a "
                          "file of its own, or use META_IO_HDF5",
                          head->fields);
    if (head->attributes == 0) return META_OK;
    return core->fail(
        META_ERR_UNSUPPORTED,
        "argument 'desc->attributes' is %d: a file of NumPy has none; use META_IO_HDF5",
        head->attributes);
}

/* ------------------------------------------------------------------ types */

static const struct {
    meta_type type;
    const char *code;
} types[] = {{META_F64, "f8"}, {META_F32, "f4"}, {META_I64, "i8"}, {META_U64, "u8"},
             {META_I32, "i4"}, {META_U32, "u4"}, {META_I16, "i2"}, {META_U16, "u2"},
             {META_I8, "i1"},  {META_U8, "u1"}};
enum { TYPES = sizeof types / sizeof *types };
_Static_assert((int)TYPES == (int)META_TYPE_COUNT, "each type has a code");

/* ------------------------------------------------------------------ writing */

/* All in front of the elements; its length is a multiple of ALIGN. */
static size_t describe(const io_field *f, char *text, size_t room)
{
    char shape[META_MAX_DIM * 22 + 2] = "", descr[4] = "|u1";
    size_t used = 0;
    for (int d = f->grid.ndim - 1; d >= 0; --d)
        used +=
            (size_t)snprintf(shape + used, sizeof shape - used, "%" PRId64 "%s", f->grid.cells[d],
                             d > 0               ? ", "
                             : f->grid.ndim == 1 ? ","
                                                 : "");
    for (int t = 0; t < TYPES; ++t)
        if (types[t].type == f->type)
            snprintf(descr, sizeof descr, "%c%s", f->element == 1 ? '|' : order_here(),
                     types[t].code);
    memcpy(text, magic, sizeof magic);
    text[6] = 1; /* version 1.0 */
    text[7] = 0;
    const int length =
        snprintf(text + PREFIX + 2, room - PREFIX - 2,
                 "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
    const size_t end = (PREFIX + 2 + (size_t)length + 1 + ALIGN - 1) / ALIGN * ALIGN;
    memset(text + PREFIX + 2 + length, ' ', end - PREFIX - 2 - (size_t)length);
    text[end - 1] = '\n';
    text[PREFIX] = (char)((end - PREFIX - 2) & 0xff);
    text[PREFIX + 1] = (char)((end - PREFIX - 2) >> 8);
    return end;
}

static meta_err lay_out(io_head *head, const meta_io_desc *desc)
{
    (void)desc;
    char text[512];
    io_field *f = &head->field[0];
    io_grid_runs(&f->grid, io_piece_room(f->element));
    f->offset = (int64_t)describe(f, text, sizeof text);
    return META_OK;
}

static meta_err begin(io_head *head, const char *path, const char *partial)
{
    char text[512];
    int file;
    const size_t bytes = describe(&head->field[0], text, sizeof text);
    META_TRY(io_file_open(partial, true, &file));
    return io_file_close(path, &file, io_write_at(path, file, text, bytes, 0));
}

/* ------------------------------------------------------------------ reading */

static meta_err refuse(const char *path, const char *why)
{
    return core->fail(META_ERR_FILE, "argument 'path': %s %s", path, why);
}

/* What stands behind the key in the dictionary. */
static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (!at) return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    if (*at != ':') return NULL;
    ++at;
    return at + strspn(at, " ");
}

/* The type as the file has it, with its quotes, for a message: whatever its bytes are, one line. */
static void show_type(const char *descr, char *shown, size_t room)
{
    size_t n = 0;
    for (bool last = false; !last && descr[n] && n + 1 < room; ++n) {
        shown[n] = descr[n] >= ' ' && descr[n] <= '~' ? descr[n] : '?';
        last = n > 0 && descr[n] == '\'';
    }
    shown[n] = '\0';
}

static meta_err find_type(const char *path, const char *descr, meta_type *type)
{
    for (int t = 0; descr && *descr == '\'' && descr[1] && t < TYPES; ++t) {
        const size_t length = strlen(types[t].code);
        if (strncmp(descr + 2, types[t].code, length) != 0 || descr[2 + length] != '\'') continue;
        *type = types[t].type;
        if (descr[1] == order_here() || descr[1] == '=' || types[t].code[1] == '1') return META_OK;
        if (strchr("<>", descr[1]) == NULL) break;
        return refuse(path, "has elements of the other byte order: convert it in NumPy, as by "
                            "a.astype(a.dtype.newbyteorder('='))");
    }
    char shown[13];
    show_type(descr ? descr : "nothing", shown, sizeof shown);
    return core->fail(META_ERR_FILE,
                      "argument 'path': %s has elements of type %s, which are none of libmeta's: "
                      "convert it in NumPy, as by a.astype('f8')",
                      path, shown);
}

/* "(3, 4, 5)": the last one is x. */
static bool find_shape(const char *text, int *ndim, int64_t *cells)
{
    int64_t found[META_MAX_DIM];
    int count = 0;
    if (!text || *text != '(') return false;
    for (++text; *text != ')';) {
        char *end;
        const long long extent = strtoll(text, &end, 10);
        if (end == text || count == META_MAX_DIM || extent < 1) return false;
        found[count++] = extent;
        text = end + strspn(end, " L");
        if (*text == ',') text += 1 + strspn(text + 1, " ");
        else if (*text != ')') return false;
    }
    for (int d = 0; d < count; ++d) cells[d] = found[count - 1 - d];
    *ndim = count;
    return count > 0;
}

static meta_err parse(io_head *head, const char *path, const char *text, int64_t start,
                      int64_t size)
{
    meta_type type = META_F64;
    int ndim = 0;
    int64_t cells[META_MAX_DIM];
    const char *order = value_of(text, "'fortran_order'");
    META_TRY(find_type(path, value_of(text, "'descr'"), &type));
    if (!order || (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0))
        return refuse(path, "does not say 'fortran_order': True or False");
    if (!find_shape(value_of(text, "'shape'"), &ndim, cells))
        return refuse(path, "has a shape that no field has: 1 to 10 extents, each at least 1, are "
                            "needed");
    META_TRY(io_head_add_field(head, "array", type, ndim, cells));
    io_field *f = &head->field[0];
    io_grid_runs(&f->grid, io_piece_room(f->element));
    f->reversed = *order == 'T' && ndim > 1;
    f->offset = start;
    if (size - start == f->grid.count * (int64_t)f->element) return META_OK;
    return core->fail(
        META_ERR_FILE, "argument 'path': %s is %s: its array has %" PRId64 " bytes of %" PRId64,
        path, size - start < f->grid.count * (int64_t)f->element ? "cut off" : "too long",
        size - start, f->grid.count * (int64_t)f->element);
}

static meta_err load(io_head *head, const char *path, int file, int64_t *number)
{
    unsigned char prefix[PREFIX + 4] = {0};
    int64_t size;
    (void)number;
    META_TRY(io_file_size(path, file, &size));
    const int64_t begun = size < (int64_t)sizeof prefix ? size : (int64_t)sizeof prefix;
    META_TRY(io_read_at(path, file, prefix, (size_t)begun, 0));
    const int words = prefix[6] == 1 ? 2 : 4;
    if (begun == sizeof prefix && prefix[6] != 1 && prefix[6] != 2 && prefix[6] != 3)
        return refuse(path, "has a version of NumPy's format that is not 1, 2 or 3: save it again");
    int64_t length = 0;
    for (int k = words - 1; k >= 0; --k) length = length << 8 | prefix[PREFIX + k];
    if (begun < (int64_t)sizeof prefix || length > size - PREFIX - words)
        return refuse(path, "is cut off in its description");
    if (length > MOST_HEAD) return refuse(path, "has a description that is too long");
    char *text = calloc(1, (size_t)length + 1);
    if (!text) return io_no_memory((uint64_t)length);
    meta_err error = io_read_at(path, file, text, (size_t)length, PREFIX + words);
    if (error == META_OK) error = parse(head, path, text, PREFIX + words + length, size);
    free(text);
    return error;
}

const io_format io_npy = {.format = META_IO_NPY,
                          .name = "META_IO_NPY",
                          .is_there = true,
                          .is_begun = is_begun,
                          .check = check,
                          .lay_out = lay_out,
                          .begin = begin,
                          .load = load};
