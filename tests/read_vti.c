/* SPDX-License-Identifier: BSD-3-Clause */
/** @file read_vti.c
 *  Reads a .pvti file and its pieces according to VTK's XML format, and writes the grid in the
 *  format of --grid-out: read_vti FILE.pvti GRID. Arrays of 32-bit numbers are converted to
 *  64-bit.
 *
 *  It is stricter than VTK: every cell must be in exactly one piece, and all declared data must
 *  exist. */
#include "config.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum { WIDEST = 4096 };

typedef struct text {
    char *bytes;
    size_t size;
} text;

_Noreturn static void fail(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(1);
}

static void *room(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL) fail("read_vti", "no room");
    return memory;
}

static text read_file(const char *path)
{
    FILE *from = fopen(path, "rb");
    text t = {NULL, 0};
    if (from == NULL) fail(path, "cannot be opened");
    fseek(from, 0, SEEK_END);
    t.size = (size_t)ftell(from);
    rewind(from);
    t.bytes = room(t.size);
    if (fread(t.bytes, 1, t.size, from) != t.size) fail(path, "cannot be read");
    fclose(from);
    return t;
}

/* The next element of that name from @p at on, up to its ">", as a string of its own; NULL where
 * there is none. */
static const char *element(const char **at, const char *name)
{
    static char found[WIDEST];
    char start[64];
    snprintf(start, sizeof start, "<%s ", name);
    const char *begin = strstr(*at, start), *end = begin != NULL ? strchr(begin, '>') : NULL;
    if (end == NULL || end - begin >= WIDEST) return NULL;
    memcpy(found, begin, (size_t)(end - begin));
    found[end - begin] = '\0';
    *at = end;
    return found;
}

static void attribute(const char *path, const char *element, const char *name, char value[256])
{
    char start[64];
    snprintf(start, sizeof start, " %s=\"", name);
    const char *begin = strstr(element, start);
    if (begin == NULL) fail(path, name);
    begin += strlen(start);
    size_t length = 0;
    while (*begin != '"' && *begin != '\0') {
        char *end = NULL;
        const long code = strncmp(begin, "&#", 2) == 0 ? strtol(begin + 2, &end, 10) : *begin;
        if (length > 254) fail(path, "a value is too long");
        value[length++] = (char)code;
        begin = end != NULL ? end + 1 : begin + 1;
    }
    value[length] = '\0';
}

static void extent(const char *path, const char *element, const char *name, int64_t e[6])
{
    char value[256];
    attribute(path, element, name, value);
    if (sscanf(value, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &e[0],
               &e[1], &e[2], &e[3], &e[4], &e[5]) != 6)
        fail(path, "an extent has not six numbers");
}

/* ------------------------------------------------------------------ the grid */

static struct {
    int64_t n[3], variables;
    bool narrow, compressed;
    double *cells;
    unsigned char *seen; /* how often each cell came */
} grid;

/* What its head says of the bytes, and that the program reads it on the same machine. */
static void read_head(const char *path, const char *bytes, const char *type)
{
    char value[256];
    const char *at = bytes, *head = element(&at, "VTKFile");
    const uint16_t probe = 1;
    if (head == NULL) fail(path, "no VTKFile");
    attribute(path, head, "type", value);
    if (strcmp(value, type) != 0) fail(path, "of another type");
    attribute(path, head, "header_type", value);
    if (strcmp(value, "UInt64") != 0) fail(path, "other headers");
    attribute(path, head, "byte_order", value);
    if ((strcmp(value, "LittleEndian") == 0) != (*(const unsigned char *)&probe == 1))
        fail(path, "other byte order");
    grid.compressed = strstr(head, "compressor=") != NULL;
}

static uint64_t number_at(const unsigned char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static unsigned char *unpack(const char *path, const unsigned char *at, const unsigned char *end,
                             size_t expected)
{
    unsigned char *raw = room(expected);
    if (at + 8 > end) fail(path, "cut off");
    if (!grid.compressed) {
        if (number_at(at) != expected || at + 8 + expected > end) fail(path, "wrong length");
        memcpy(raw, at + 8, expected);
        return raw;
    }
#ifdef HAVE_ZLIB
    const uint64_t chunks = number_at(at), whole = number_at(at + 8), last = number_at(at + 16);
    const unsigned char *data = at + 8 * (3 + chunks);
    size_t done = 0;
    for (uint64_t k = 0; k < chunks; ++k) {
        const uint64_t packed = number_at(at + 8 * (3 + k));
        uLongf length = k == chunks - 1 && last != 0 ? last : whole;
        if (data + packed > end || done + length > expected) fail(path, "wrong length");
        const uLongf wanted = length;
        if (uncompress(raw + done, &length, data, packed) != Z_OK || length != wanted)
            fail(path, "cannot be uncompressed");
        data += packed;
        done += length;
    }
    if (done != expected) fail(path, "wrong length");
    return raw;
#else
    fail(path, "compressed, and there is no zlib");
#endif
}

static void put_block(const int64_t e[6], int64_t variable, const unsigned char *raw)
{
    const int64_t *n = grid.n;
    for (int64_t z = e[4]; z < e[5]; ++z)
        for (int64_t y = e[2]; y < e[3]; ++y)
            for (int64_t x = e[0]; x < e[1]; ++x) {
                const int64_t to = ((variable * n[2] + z) * n[1] + y) * n[0] + x;
                float narrow;
                if (grid.narrow) memcpy(&narrow, raw, 4);
                if (grid.narrow) grid.cells[to] = narrow;
                else memcpy(&grid.cells[to], raw, 8);
                raw += grid.narrow ? 4 : 8;
                ++grid.seen[to];
            }
}

static void read_piece(const char *path, const int64_t expected[6])
{
    char value[256], wanted[64];
    const text file = read_file(path);
    const char *at = file.bytes, *data = strstr(file.bytes, "<AppendedData encoding=\"raw\">");
    int64_t e[6];
    read_head(path, file.bytes, "ImageData");
    if (data == NULL || (data = strchr(data, '_')) == NULL) fail(path, "no data");
    const char *piece = element(&at, "Piece");
    if (piece == NULL) fail(path, "no Piece");
    extent(path, piece, "Extent", e);
    if (memcmp(e, expected, sizeof e) != 0) fail(path, "another extent");
    const size_t cells = (size_t)((e[1] - e[0]) * (e[3] - e[2]) * (e[5] - e[4]));
    for (int64_t v = 0; v < grid.variables; ++v) {
        const char *array = element(&at, "DataArray");
        if (array == NULL) fail(path, "too few arrays");
        attribute(path, array, "Name", value);
        snprintf(wanted, sizeof wanted, "variable %" PRId64, v + 1);
        if (strcmp(value, wanted) != 0) fail(path, "an array has another name");
        attribute(path, array, "type", value);
        if (strcmp(value, grid.narrow ? "Float32" : "Float64") != 0) fail(path, "another type");
        attribute(path, array, "offset", value);
        unsigned char *raw =
            unpack(path, (const unsigned char *)data + 1 + strtoull(value, NULL, 10),
                   (const unsigned char *)file.bytes + file.size, cells * (grid.narrow ? 4 : 8));
        put_block(e, v, raw);
        free(raw);
    }
    free(file.bytes);
}

static void read_index(const char *path)
{
    const text file = read_file(path);
    const char *at = file.bytes, *found;
    char value[256], name[WIDEST];
    int64_t e[6];
    read_head(path, file.bytes, "PImageData");
    if ((found = element(&at, "PImageData")) == NULL) fail(path, "no PImageData");
    extent(path, found, "WholeExtent", e);
    for (int d = 0; d < 3; ++d) grid.n[d] = e[2 * d + 1] - e[2 * d];
    for (; (found = element(&at, "PDataArray")) != NULL; ++grid.variables) {
        attribute(path, found, "type", value);
        grid.narrow = strcmp(value, "Float32") == 0;
    }
    const size_t cells = (size_t)(grid.n[0] * grid.n[1] * grid.n[2] * grid.variables);
    grid.cells = room(cells * sizeof(double));
    grid.seen = room(cells);
    char *copy = strdup(path), *folder = dirname(copy);
    for (at = file.bytes; (found = element(&at, "Piece")) != NULL;) {
        extent(path, found, "Extent", e);
        attribute(path, found, "Source", value);
        snprintf(name, sizeof name, "%s/%s", folder, value);
        read_piece(name, e);
    }
    for (size_t k = 0; k < cells; ++k)
        if (grid.seen[k] != 1) fail(path, "a cell is in no piece or in several");
    free(copy);
    free(file.bytes);
}

int main(int argc, char **argv)
{
    if (argc != 3) fail("read_vti", "FILE.pvti GRID");
    read_index(argv[1]);
    const size_t cells = (size_t)(grid.n[0] * grid.n[1] * grid.n[2] * grid.variables);
    FILE *to = fopen(argv[2], "wb");
    if (to == NULL || fwrite(grid.cells, sizeof(double), cells, to) != cells || fclose(to) != 0)
        fail(argv[2], "cannot be written");
    free(grid.cells);
    free(grid.seen);
    return 0;
}
