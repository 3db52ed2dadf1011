/* SPDX-License-Identifier: BSD-3-Clause */
/** @file xdmf.c
 *  The file beside an HDF5 file by which viewers find its fields on a regular grid: XDMF 2. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"

/* Extents with the slowest first. */
static void print_extents(FILE *to, const io_grid *grid, int dims, int more)
{
    for (int d = dims - 1; d >= 0; --d)
        fprintf(to, "%" PRId64 "%s", (d < grid->ndim ? grid->cells[d] : 1) + more,
                d > 0 ? " " : "");
}

static void print_reals(FILE *to, const double *values, int dims)
{
    fprintf(to,
            "        <DataItem Format=\"XML\" NumberType=\"Float\" Precision=\"8\" "
            "Dimensions=\"%d\">",
            dims);
    for (int d = dims - 1; d >= 0; --d) fprintf(to, "%.17g%s", values[d], d > 0 ? " " : "");
    fprintf(to, "</DataItem>\n");
}

static void print_field(FILE *to, const io_field *f, const char *file)
{
    const bool is_real = f->type == META_F64 || f->type == META_F32;
    const bool is_signed =
        f->type == META_I64 || f->type == META_I32 || f->type == META_I16 || f->type == META_I8;
    const char *kind = is_real ? "Float" : is_signed ? "Int" : "UInt";
    if (f->element == 1) kind = is_signed ? "Char" : "UChar";
    if (f->type == META_U64) kind = "Int"; /* viewers take 32 bits of a UInt */
    fprintf(to, "      <Attribute Name=\"");
    io_xml_text(to, f->name);
    fprintf(to,
            "\" AttributeType=\"Scalar\" Center=\"Cell\">\n        <DataItem Format=\"HDF\" "
            "NumberType=\"%s\" Precision=\"%zu\" Dimensions=\"",
            kind, f->element);
    print_extents(to, &f->grid, f->grid.ndim, 0);
    fprintf(to, "\">");
    io_xml_text(to, file);
    /* The slash behind it: ParaView's reader drops the last letter if it is not of ASCII, or a
     * blank. */
    fprintf(to, ":/");
    io_xml_text(to, f->name);
    fprintf(to, "/</DataItem>\n      </Attribute>\n");
}

static void print_time(FILE *to, const io_head *head)
{
    double time;
    if (io_head_time(head, &time)) fprintf(to, "      <Time Value=\"%.17g\"/>\n", time);
}

static bool are_alike(const io_grid *a, const io_grid *b)
{
    return a->ndim == b->ndim && memcmp(a->cells, b->cells, sizeof a->cells) == 0;
}

/* Readers end the file's name, and the data set's, at a colon. */
static bool can_be_named(const char *name)
{
    return strchr(name, ':') == NULL;
}

/* The fields with the extents of field @p first; a grid of one dimension is drawn as one of two. */
static void print_grid(FILE *to, const io_head *head, int first, const char *file,
                       const meta_io_desc *desc)
{
    const io_grid *grid = &head->field[first].grid;
    const int dims = grid->ndim < 2 ? 2 : grid->ndim;
    fprintf(to, "    <Grid Name=\"");
    for (int d = 0; d < grid->ndim; ++d)
        fprintf(to, "%s%" PRId64, d > 0 ? "x" : "", grid->cells[d]);
    fprintf(to, "\" GridType=\"Uniform\">\n");
    print_time(to, head);
    fprintf(to, "      <Topology TopologyType=\"%dDCoRectMesh\" Dimensions=\"", dims);
    print_extents(to, grid, dims, 1);
    fprintf(to, "\"/>\n      <Geometry GeometryType=\"%s\">\n",
            dims == 3 ? "ORIGIN_DXDYDZ" : "ORIGIN_DXDY");
    print_reals(to, desc->origin, dims);
    print_reals(to, desc->spacing, dims);
    fprintf(to, "      </Geometry>\n");
    for (int f = first; f < head->fields; ++f)
        if (can_be_named(head->field[f].name) && are_alike(&head->field[f].grid, grid))
            print_field(to, &head->field[f], file);
    fprintf(to, "    </Grid>\n");
}

static void print_all(FILE *to, const io_head *head, const char *file, const meta_io_desc *desc)
{
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
            "<Xdmf Version=\"2.0\">\n  <Domain>\n");
    for (int f = 0; f < head->fields; ++f) {
        bool is_new = head->field[f].grid.ndim <= 3 && can_be_named(head->field[f].name);
        for (int e = 0; e < f && is_new; ++e)
            is_new = !can_be_named(head->field[e].name) ||
                     !are_alike(&head->field[e].grid, &head->field[f].grid);
        if (is_new) print_grid(to, head, f, file, desc);
    }
    fprintf(to, "  </Domain>\n</Xdmf>\n");
}

meta_err io_xdmf_write(const io_head *head, const char *path, const meta_io_desc *desc)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    for (int f = 0; f < head->fields; ++f)
        if (!can_be_named(head->field[f].name))
            core->log(
                META_LOG_WARN,
                "%s.xmf is without the field '%s', whose name has a colon: readers of XDMF would "
                "not find it",
                path, head->field[f].name);
    if (!can_be_named(file)) {
        core->log(META_LOG_WARN,
                  "there is no %s.xmf: readers of XDMF do not find a file whose name has a colon",
                  path);
        return META_OK;
    }
    char *text = NULL, *name = io_path(path, ".xmf");
    size_t bytes = 0;
    FILE *to = name ? open_memstream(&text, &bytes) : NULL;
    meta_err error = META_OK;
    const locale_t before = meta_plain_begin();
    if (to) print_all(to, head, file, desc);
    meta_plain_end(before);
    if (!to || fclose(to) != 0) error = io_no_memory(bytes);
    else error = io_file_whole(name, text, bytes);
    free(text);
    free(name);
    return error;
}
