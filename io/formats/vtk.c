/* SPDX-License-Identifier: BSD-3-Clause */
/** @file vtk.c
 *  VTK's XML files of image data, with cell data compressed by zlib. A piece of the grid is a block
 * of the format: ranks compress one each, tell each other how long it has become, and write it.
 * What stands in front has places of fixed length for the offsets, and is written last. */
#include "formats/formats.h"

#ifdef HAVE_ZLIB

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= 8 && memcmp(start, "<VTKFile", 8) == 0;
}

static meta_err check(const io_head *head)
{
    for (int f = 0; f < head->fields; ++f) {
        const io_grid *grid = &head->field[f].grid;
        if (grid->ndim > 3)
            return core->fail(
                META_ERR_UNSUPPORTED,
                "argument 'field[%d].box' has %d dimensions: VTK's files have 1 to 3; "
                "use META_IO_HDF5",
                f, grid->ndim);
        if (memcmp(grid->cells, head->field[0].grid.cells, sizeof grid->cells) != 0)
            return core->fail(
                META_ERR_UNSUPPORTED,
                "argument 'field[%d].cells' differs from 'field[0].cells': fields of a "
                "file of VTK have the same extents; write several, or use META_IO_HDF5",
                f);
    }
    return META_OK;
}

/* ------------------------------------------------------------------ what stands in front */

static const char *type_name(meta_type type)
{
    static const char *const names[META_TYPE_COUNT] = {
        [META_F64] = "Float64", [META_F32] = "Float32", [META_I64] = "Int64", [META_U64] = "UInt64",
        [META_I32] = "Int32",   [META_U32] = "UInt32",  [META_I16] = "Int16", [META_U16] = "UInt16",
        [META_I8] = "Int8",     [META_U8] = "UInt8"};
    return names[type];
}

static void print_number(FILE *to, meta_type type, const char *at)
{
#define PRINT(TYPE, type, format)                                                                  \
    case TYPE: {                                                                                   \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        fprintf(to, " " format, value);                                                            \
        return;                                                                                    \
    }
    switch (type) {
        PRINT(META_F64, double, "%.17g")
        PRINT(META_F32, float, "%.9g")
        PRINT(META_I64, int64_t, "%" PRId64)
        PRINT(META_U64, uint64_t, "%" PRIu64)
        PRINT(META_I32, int32_t, "%" PRId32)
        PRINT(META_U32, uint32_t, "%" PRIu32)
        PRINT(META_I16, int16_t, "%" PRId16)
        PRINT(META_U16, uint16_t, "%" PRIu16)
        PRINT(META_I8, int8_t, "%" PRId8)
        PRINT(META_U8, uint8_t, "%" PRIu8)
    default:
        return;
    }
#undef PRINT
}

static void print_attribute(FILE *to, const meta_io_attribute *a)
{
    size_t element = 1;
    fprintf(to, "      <%s type=\"%s\" Name=\"", a->text ? "Array" : "DataArray",
            a->text ? "String" : type_name(a->type));
    io_xml_text(to, a->name);
    fprintf(to, "\" NumberOfTuples=\"%" PRId64 "\" format=\"ascii\">", a->text ? 1 : a->count);
    if (!a->text) core->check_type(a->type, "type", &element);
    for (int64_t k = 0; k < a->count; ++k)
        if (a->text) fprintf(to, " %d", (unsigned char)a->text[k]);
        else print_number(to, a->type, (const char *)a->numbers + (size_t)k * element);
    fprintf(to, "%s\n", a->text ? " 0</Array>" : "</DataArray>");
}

static void print_attributes(FILE *to, const io_head *head)
{
    double time;
    if (head->attributes == 0) return;
    fprintf(to, "    <FieldData>\n");
    for (int k = 0; k < head->attributes; ++k) print_attribute(to, &head->attribute[k]);
    if (io_head_time(head, &time))
        fprintf(to,
                "      <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\"> %.17g</DataArray>\n",
                time);
    fprintf(to, "    </FieldData>\n");
}

static void print_triple(FILE *to, const char *name, const double *values, double none, int ndim)
{
    fprintf(to, " %s=\"", name);
    for (int d = 0; d < 3; ++d)
        fprintf(to, "%s%.17g", d > 0 ? " " : "", d < ndim ? values[d] : none);
    fputc('"', to);
}

static void print_extent(FILE *to, const char *name, const io_grid *grid)
{
    fprintf(to, " %s=\"", name);
    for (int d = 0; d < 3; ++d)
        fprintf(to, "%s0 %" PRId64, d > 0 ? " " : "", d < grid->ndim ? grid->cells[d] : 0);
    fputc('"', to);
}

/* Its length does not depend on the offsets, which count from @p start on. */
static void print_head(FILE *to, const io_head *head, const meta_io_desc *desc, int64_t start)
{
    const uint16_t probe = 1;
    const io_grid *grid = &head->field[0].grid;
    fprintf(to,
            "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\" "
            "compressor=\"vtkZLibDataCompressor\">\n  <ImageData",
            *(const unsigned char *)&probe == 1 ? "LittleEndian" : "BigEndian");
    print_extent(to, "WholeExtent", grid);
    print_triple(to, "Origin", desc->origin, 0, grid->ndim);
    print_triple(to, "Spacing", desc->spacing, 1, grid->ndim);
    fprintf(to, ">\n");
    print_attributes(to, head);
    fprintf(to, "    <Piece");
    print_extent(to, "Extent", grid);
    fprintf(to, ">\n      <CellData Scalars=\"");
    io_xml_text(to, head->field[0].name);
    fprintf(to, "\">\n");
    for (int f = 0; f < head->fields; ++f) {
        fprintf(to, "        <DataArray type=\"%s\" Name=\"", type_name(head->field[f].type));
        io_xml_text(to, head->field[f].name);
        fprintf(to, "\" format=\"appended\" offset=\"%020" PRId64 "\"/>\n",
                head->field[f].offset < 0 ? 0 : head->field[f].offset - start);
    }
    fprintf(to, "      </CellData>\n    </Piece>\n  </ImageData>\n"
                "  <AppendedData encoding=\"raw\">\n_");
}

static meta_err make_head(const io_head *head, const meta_io_desc *desc, int64_t start, char **text,
                          size_t *bytes)
{
    FILE *to = open_memstream(text, bytes);
    const locale_t before = meta_plain_begin();
    if (to) print_head(to, head, desc, start);
    meta_plain_end(before);
    return to && fclose(to) == 0 ? META_OK : io_no_memory(1 << 12);
}

static meta_err lay_out(io_head *head, const meta_io_desc *desc)
{
    char *text = NULL;
    size_t bytes = 0;
    for (int f = 0; f < head->fields; ++f) {
        io_grid *grid = &head->field[f].grid;
        io_grid_runs(grid, io_piece_room(head->field[f].element));
        grid->in_turn = true;
    }
    const meta_err error = make_head(head, desc, 0, &text, &bytes);
    head->end = (int64_t)bytes;
    free(text);
    return error;
}

static meta_err seal(const io_head *head, const char *path, int file, int64_t number,
                     const meta_io_desc *desc)
{
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    char *text = NULL;
    size_t bytes = 0;
    (void)number;
    /* Offsets count from behind the underscore. */
    meta_err error = make_head(head, desc, head->field[0].offset, &text, &bytes);
    if (error == META_OK) error = io_write_at(path, file, text, bytes, 0);
    if (error == META_OK) error = io_write_at(path, file, tail, sizeof tail - 1, head->end);
    free(text);
    return error;
}

/* ------------------------------------------------------------------ compression */

/* Speed before size: grids are noise to zlib but for their smooth parts. */
static meta_err pack(const void *data, size_t bytes, void **packed, size_t *length)
{
    uLongf used = compressBound(bytes);
    *packed = malloc(used);
    if (!*packed) return io_no_memory(used);
    if (compress2(*packed, &used, data, bytes, 1) == Z_OK) {
        *length = used;
        return META_OK;
    }
    free(*packed);
    *packed = NULL;
    return io_no_memory(bytes);
}

/* What stands before the blocks of a field: how many, how long, and how long each has become. */
static int64_t numbers_bytes(const io_grid *grid)
{
    return (3 + grid->pieces) * (int64_t)sizeof(uint64_t);
}

/* Called on every rank in each round, as all learn where the blocks of the round come. */
static meta_err write_block(io_writer *w, int f, int64_t k, const void *data, size_t bytes)
{
    io_field *field = &w->head->field[f];
    void *packed = NULL;
    size_t length = 0;
    if (field->offset < 0) {
        field->offset = w->head->end;
        w->head->end += numbers_bytes(&field->grid);
    }
    meta_err error = k >= 0 ? pack(data, bytes, &packed, &length) : META_OK;
    const int64_t mine = k >= 0 ? (int64_t)length : -1;
    const meta_err shared = job->all_gather(w->ranks->comm, &mine, (int)sizeof mine, w->lengths,
                                            "while ranks tell each other how long blocks are");
    if (shared != META_OK) {
        w->in_step = false;
        free(packed);
        return shared;
    }
    for (int r = 0; r < w->ranks->size; ++r) {
        if (w->lengths[r] < 0) continue;
        if (r == w->ranks->rank && error == META_OK)
            error = io_queue_write(w->queue, w->path, w->file, packed, length, w->head->end);
        if (w->sizes) w->sizes[3 + w->blocks++] = (uint64_t)w->lengths[r];
        w->head->end += w->lengths[r];
    }
    free(packed);
    return error;
}

/* Rank 0. */
static meta_err begin_field(io_writer *w, int f)
{
    const uint64_t bytes = (uint64_t)numbers_bytes(&w->head->field[f].grid);
    w->blocks = 0;
    w->sizes = calloc(1, bytes);
    return w->sizes ? META_OK : io_no_memory(bytes);
}

/* Rank 0, behind the last block. */
static meta_err end_field(io_writer *w, int f)
{
    const io_field *field = &w->head->field[f];
    const uint64_t bytes = (uint64_t)field->grid.count * field->element;
    const uint64_t block = (uint64_t)field->grid.piece * field->element;
    w->sizes[0] = (uint64_t)field->grid.pieces;
    w->sizes[1] = block;
    w->sizes[2] = bytes % block;
    return io_queue_write(w->queue, w->path, w->file, w->sizes, (size_t)numbers_bytes(&field->grid),
                          field->offset);
}

const io_format io_vtk = {.format = META_IO_VTK,
                          .name = "META_IO_VTK",
                          .is_there = true,
                          .is_begun = is_begun,
                          .check = check,
                          .lay_out = lay_out,
                          .begin_field = begin_field,
                          .write = write_block,
                          .end_field = end_field,
                          .seal = seal};

#else

#include <string.h>

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= 8 && memcmp(start, "<VTKFile", 8) == 0;
}

const io_format io_vtk = {.format = META_IO_VTK,
                          .name = "META_IO_VTK",
                          .is_there = false,
                          .why = "install zlib (Debian: zlib1g-dev), and configure and build anew",
                          .is_begun = is_begun};

#endif
