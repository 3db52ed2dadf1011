/* SPDX-License-Identifier: BSD-3-Clause */
/** @file vti.c
 *  The grid as files in VTK's XML format. Each array is written as it is compressed, and its
 *  header of chunk sizes is filled in afterwards, so only one chunk is held in memory. */
#include "config.h"

#include "vti.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "failure.h"
#include "output.h"

enum { CHUNK = 1 << 20 }; /* bytes that are compressed together */

static const char option[] = "--vti";

/* ------------------------------------------------------------------ XML */

static const char *type_name(const problem *p)
{
    return p->type == NUMBER_F64 ? "Float64" : "Float32";
}

static void print_start(FILE *to, const char *type)
{
    const uint16_t probe = 1;
    const bool little = *(const unsigned char *)&probe == 1;
    fprintf(to,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\"%s>\n",
            type, little ? "LittleEndian" : "BigEndian",
#ifdef HAVE_ZLIB
            " compressor=\"vtkZLibDataCompressor\""
#else
            ""
#endif
    );
}

/* The points around the cells from @p first on. */
static void print_extent(FILE *to, const char *name, const int64_t *first, const int64_t *cells)
{
    fprintf(to, " %s=\"", name);
    for (int d = 0; d < 3; ++d)
        fprintf(to, "%s%" PRId64 " %" PRId64, d > 0 ? " " : "", first[d], first[d] + cells[d]);
    fputc('"', to);
}

static void print_grid(FILE *to, const problem *p, const char *element, const char *more)
{
    const int64_t origin[3] = {0, 0, 0};
    fprintf(to, "  <%s", element);
    print_extent(to, "WholeExtent", origin, p->global);
    fprintf(to, "%s Origin=\"0 0 0\" Spacing=\"1 1 1\">\n", more);
}

/* A file's name may have any character. */
static void print_name(FILE *to, const char *name)
{
    for (; *name != '\0'; ++name)
        if (strchr("&<>\"", *name) != NULL) fprintf(to, "&#%d;", *name);
        else fputc(*name, to);
}

/* ------------------------------------------------------------------ a rank's block */

/* What stands in front of the data; of the same length whatever the offsets are. */
static char *make_head(const problem *p, const int64_t *offsets, size_t *length)
{
    int64_t cells[3];
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (to == NULL) return NULL;
    for (int d = 0; d < 3; ++d) cells[d] = p->own.end[d] - p->own.start[d];
    print_start(to, "ImageData");
    print_grid(to, p, "ImageData", "");
    fprintf(to, "    <Piece");
    print_extent(to, "Extent", p->first, cells);
    fprintf(to, ">\n      <CellData Scalars=\"variable 1\">\n");
    for (int v = 0; v < p->variables; ++v)
        fprintf(to,
                "        <DataArray type=\"%s\" Name=\"variable %d\" format=\"appended\" "
                "offset=\"%020" PRId64 "\"/>\n",
                type_name(p), v + 1, offsets[v]);
    fprintf(to, "      </CellData>\n    </Piece>\n  </ImageData>\n"
                "  <AppendedData encoding=\"raw\">\n_");
    if (fclose(to) == 0) return text;
    free(text);
    return NULL;
}

/* A file being written, and what is on its way into it. */
typedef struct piece {
    const problem *p;
    output file;
    int64_t at; /* bytes of the appended data */
    size_t head;
    size_t chunk_bytes, used;
    uint64_t *sizes; /* of the array's chunks, behind the three numbers about them */
    int64_t chunk, chunks;
    unsigned char *raw, *packed;
    size_t packed_room;
} piece;

static bool append(piece *k, const void *data, size_t bytes)
{
    k->at += (int64_t)bytes;
    return output_write(&k->file, data, bytes);
}

#ifdef HAVE_ZLIB

/* Speed before size: grids are noise to zlib but for their smooth parts. */
static bool end_chunk(piece *k)
{
    uLongf length = k->packed_room;
    if (k->used == 0) return true;
    if (compress2(k->packed, &length, k->raw, k->used, 1) != Z_OK) {
        failure_note_memory((double)k->packed_room);
        return false;
    }
    k->sizes[3 + k->chunk++] = length;
    k->used = 0;
    return append(k, k->packed, length);
}

static size_t packed_room(size_t bytes)
{
    return compressBound(bytes);
}

static int64_t count_numbers(int64_t chunks)
{
    return 3 + chunks;
}

static void describe(piece *k, int64_t bytes)
{
    k->sizes[0] = (uint64_t)k->chunks;
    k->sizes[1] = k->chunk_bytes;
    k->sizes[2] = (uint64_t)bytes % k->chunk_bytes;
}

#else

static bool end_chunk(piece *k)
{
    const size_t bytes = k->used;
    k->used = 0;
    return append(k, k->raw, bytes);
}

static size_t packed_room(size_t bytes)
{
    (void)bytes;
    return 1;
}

static int64_t count_numbers(int64_t chunks)
{
    (void)chunks;
    return 1;
}

static void describe(piece *k, int64_t bytes)
{
    k->sizes[0] = (uint64_t)bytes;
}

#endif

static bool add(piece *k, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        const size_t room = k->chunk_bytes - k->used, part = bytes < room ? bytes : room;
        memcpy(k->raw + k->used, data, part);
        k->used += part;
        data += part;
        bytes -= part;
        if (k->used == k->chunk_bytes && !end_chunk(k)) return false;
    }
    return true;
}

static int64_t block_bytes(const problem *p)
{
    int64_t bytes = (int64_t)number_size(p->type);
    for (int d = 0; d < 3; ++d) bytes *= p->own.end[d] - p->own.start[d];
    return bytes;
}

static bool add_rows(piece *k, const void *cells)
{
    const problem *p = k->p;
    const size_t row = (size_t)(p->own.end[0] - p->own.start[0]) * number_size(p->type);
    for (int64_t z = p->own.start[2]; z < p->own.end[2]; ++z)
        for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y) {
            const int64_t place = (z * p->size[1] + y) * p->size[0] + p->own.start[0];
            if (!add(k, number_at(cells, place, p->type), row)) return false;
        }
    return end_chunk(k);
}

static bool write_array(piece *k, const void *cells)
{
    const size_t numbers = (size_t)count_numbers(k->chunks) * sizeof *k->sizes;
    const long long start = (long long)k->head + k->at;
    memset(k->sizes, 0, numbers);
    k->chunk = 0;
    if (!append(k, k->sizes, numbers) || !add_rows(k, cells)) return false;
    describe(k, block_bytes(k->p));
    return output_rewrite(&k->file, k->sizes, numbers, start);
}

/* The head, at first with wrong offsets. */
static bool write_head(piece *k, const int64_t *offsets)
{
    char *head = make_head(k->p, offsets, &k->head);
    if (head == NULL) failure_note_memory(4096);
    const bool right = head != NULL && (k->at == 0 ? output_write(&k->file, head, k->head)
                                                   : output_rewrite(&k->file, head, k->head, 0));
    free(head);
    return right;
}

static bool write_arrays(piece *k, const grid_source *from, int64_t *offsets)
{
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    if (!write_head(k, offsets)) return false;
    for (int v = 0; v < k->p->variables; ++v) {
        offsets[v] = k->at;
        from->get(from->context, v, from->cells);
        if (!write_array(k, from->cells)) return false;
    }
    return append(k, tail, sizeof tail - 1) && write_head(k, offsets);
}

static bool allocate(piece *k)
{
    const int64_t bytes = block_bytes(k->p);
    k->chunk_bytes = bytes < CHUNK ? (size_t)bytes : CHUNK;
    k->chunks = (bytes + (int64_t)k->chunk_bytes - 1) / (int64_t)k->chunk_bytes;
    k->packed_room = packed_room(k->chunk_bytes);
    k->sizes = calloc((size_t)(3 + k->chunks), sizeof *k->sizes);
    k->raw = malloc(k->chunk_bytes);
    k->packed = malloc(k->packed_room);
    if (k->sizes != NULL && k->raw != NULL && k->packed != NULL) return true;
    failure_note_memory((double)k->chunk_bytes + (double)k->packed_room);
    return false;
}

/* Whether the file was written. */
static bool write_piece(const problem *p, const char *path, const grid_source *from)
{
    piece k = {.p = p};
    int64_t *offsets = calloc((size_t)p->variables, sizeof *offsets);
    bool right = allocate(&k) && offsets != NULL && output_open(&k.file, option, path);
    if (right) {
        right = write_arrays(&k, from, offsets);
        if (right) right = output_close(&k.file);
        else output_discard(&k.file);
    }
    free(offsets);
    free(k.sizes);
    free(k.raw);
    free(k.packed);
    return right;
}

/* ------------------------------------------------------------------ the file of them all */

static void print_pieces(FILE *to, const problem *p, const char *base)
{
    int ranks;
    MPI_Comm_size(p->cart, &ranks);
    for (int rank = 0; rank < ranks; ++rank) {
        int64_t first[3], cells[3];
        problem_block(p, rank, first, cells);
        fprintf(to, "    <Piece");
        print_extent(to, "Extent", first, cells);
        fprintf(to, " Source=\"");
        print_name(to, base);
        fprintf(to, "_%d.vti\"/>\n", rank);
    }
}

/* @p name is that of the pieces without their numbers. */
static void write_index(const problem *p, const char *path, const char *name)
{
    const char *slash = strrchr(name, '/');
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to != NULL) {
        print_start(to, "PImageData");
        print_grid(to, p, "PImageData", " GhostLevel=\"0\"");
        fprintf(to, "    <PCellData Scalars=\"variable 1\">\n");
        for (int v = 0; v < p->variables; ++v)
            fprintf(to, "      <PDataArray type=\"%s\" Name=\"variable %d\"/>\n", type_name(p),
                    v + 1);
        fprintf(to, "    </PCellData>\n");
        print_pieces(to, p, slash != NULL ? slash + 1 : name);
        fprintf(to, "  </PImageData>\n</VTKFile>\n");
    }
    if (to == NULL || fclose(to) != 0) failure_note_memory((double)size);
    else output_whole(option, path, text, size);
    free(text);
}

void vti_write(const problem *p, int64_t step, const grid_source *from)
{
    int rank;
    char end[32];
    MPI_Comm_rank(p->cart, &rank);
    snprintf(end, sizeof end, "_%d.vti", rank);
    char *path = snapshot_name(p->o.vti, step, end);
    char *name = snapshot_name(p->o.vti, step, "");
    char *index = snapshot_name(p->o.vti, step, ".pvti");
    const bool written = path != NULL && write_piece(p, path, from);
    const bool failed = failure_agree(p->cart);
    if (!failed && rank == 0) write_index(p, index, name);
    if (failure_agree(p->cart) && written) unlink(path);
    free(path);
    free(name);
    free(index);
}
