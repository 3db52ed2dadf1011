/* SPDX-License-Identifier: BSD-3-Clause */
/** @file slice.c
 *  An image of one plane of the grid, z constant, with its colour scale. */
#include "config.h"

#include "slice.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "failure.h"
#include "output.h"

/* Pixels around the plane, and of the scale beside it. */
enum { LEFT = 88, TOP = 56, BOTTOM = 56, GAP = 24, SCALE = 24, LABELS = 150, TICK = 6 };
enum { USUAL_SIDE = 640, LONGEST_SIDE = 1000, SHORTEST_SIDE = 200 };

static int variable_of(const problem *p)
{
    return (int)p->o.png_variable - 1;
}

static int64_t plane_of(const problem *p)
{
    return options_given(&p->o, "png-plane") ? p->o.png_plane : p->global[2] / 2;
}

void slice_check(const problem *p)
{
    if (!canvas_has_png())
        failure_note(
            "--png: this program was built without libpng; install it (Debian: libpng-dev) "
            "and configure anew");
    else if (variable_of(p) >= p->variables)
        failure_note("--png-variable %" PRId64 ": there %s only %d", p->o.png_variable,
                     p->variables == 1 ? "is" : "are", p->variables);
    else if (plane_of(p) >= p->global[2])
        failure_note("--png-plane %" PRId64 ": the grid has only %" PRId64 " planes, from 0 on",
                     p->o.png_plane, p->global[2]);
}

/* ------------------------------------------------------------------ the cells */

/* A rank's part of the plane, in a row; 0 cells where it has none. */
static int64_t part_of(const problem *p, int rank, int64_t *first, int64_t *cells)
{
    problem_block(p, rank, first, cells);
    const int64_t z = plane_of(p) - first[2];
    return z < 0 || z >= cells[2] ? 0 : cells[0] * cells[1];
}

/* The part's cells, one row behind the other, at the beginning of the array of double. */
static void cut_out(const problem *p, double *cells)
{
    const int64_t z = plane_of(p) - p->first[2] + p->own.start[2];
    const int64_t row = p->own.end[0] - p->own.start[0];
    double *to = cells;
    for (int64_t y = p->own.start[1]; y < p->own.end[1]; ++y, to += row)
        memmove(to, cells + (z * p->size[1] + y) * p->size[0] + p->own.start[0],
                (size_t)row * sizeof *cells);
}

static void put_in(const problem *p, double *plane, const double *part, const int64_t *first,
                   const int64_t *cells)
{
    for (int64_t y = 0; y < cells[1]; ++y)
        memcpy(plane + (first[1] + y) * p->global[0] + first[0], part + y * cells[0],
               (size_t)cells[0] * sizeof *part);
}

/* Rank 0 takes the parts in turn. */
static void collect(const problem *p, double *plane, double *part, double *mine)
{
    int rank, ranks;
    int64_t first[3], cells[3];
    MPI_Comm_rank(p->cart, &rank);
    MPI_Comm_size(p->cart, &ranks);
    for (int from = 0; from < ranks; ++from) {
        const int64_t count = part_of(p, from, first, cells);
        if (count == 0) continue;
        if (from == 0 && rank == 0) put_in(p, plane, mine, first, cells);
        else if (rank == from) MPI_Send(mine, (int)count, MPI_DOUBLE, 0, 0, p->cart);
        else if (rank == 0) {
            MPI_Recv(part, (int)count, MPI_DOUBLE, from, 0, p->cart, MPI_STATUS_IGNORE);
            put_in(p, plane, part, first, cells);
        }
    }
}

/* The largest part must be one message. */
static int64_t largest_part(const problem *p)
{
    return problem_thickest(p, 0) * problem_thickest(p, 1);
}

/* ------------------------------------------------------------------ the colours */

/* From dark to light, so that it is one in grey as well. */
static colour colour_of(double share)
{
    static const colour stops[] = {
        {18, 22, 72}, {28, 84, 142}, {24, 144, 148}, {108, 190, 96}, {250, 232, 92}};
    enum { LAST = sizeof stops / sizeof *stops - 1 };
    if (isnan(share)) return (colour){200, 0, 160};
    const double at = fmin(fmax(share, 0), 1) * LAST;
    const int low = at >= LAST ? LAST - 1 : (int)at;
    const double part = at - low;
    const colour a = stops[low], b = stops[low + 1];
    return (colour){(unsigned char)lround(a.red + part * (b.red - a.red)),
                    (unsigned char)lround(a.green + part * (b.green - a.green)),
                    (unsigned char)lround(a.blue + part * (b.blue - a.blue))};
}

typedef struct picture {
    const problem *p;
    const double *plane;
    double least, most; /* of its finite values */
    int width, height;  /* of the plane in pixels */
    canvas c;
} picture;

static void find_range(picture *k)
{
    const int64_t cells = k->p->global[0] * k->p->global[1];
    k->least = INFINITY;
    k->most = -INFINITY;
    for (int64_t i = 0; i < cells; ++i) {
        if (!isfinite(k->plane[i])) continue;
        k->least = fmin(k->least, k->plane[i]);
        k->most = fmax(k->most, k->plane[i]);
    }
    if (k->least > k->most) k->least = k->most = 0;
}

static double share_of(const picture *k, double value)
{
    return k->most > k->least ? (value - k->least) / (k->most - k->least) : value - k->least;
}

/* ------------------------------------------------------------------ the picture */

static void measure(picture *k)
{
    const int64_t *n = k->p->global, longest = n[0] > n[1] ? n[0] : n[1];
    const double dots = longest > USUAL_SIDE ? fmin(1, (double)LONGEST_SIDE / (double)longest)
                                             : (double)(USUAL_SIDE / longest);
    k->width = (int)fmax(1, round(dots * (double)n[0]));
    k->height = (int)fmax(1, round(dots * (double)n[1]));
}

/* The mean of the cells that a pixel stands for; one cell where there are more pixels. */
static double value_at(const picture *k, int column, int row)
{
    const int64_t nx = k->p->global[0], ny = k->p->global[1];
    const int64_t x0 = column * nx / k->width, x1 = (column + 1) * nx / k->width;
    const int64_t y0 = row * ny / k->height, y1 = (row + 1) * ny / k->height;
    double sum = 0;
    int64_t count = 0;
    for (int64_t y = y0; y < y1 || y == y0; ++y)
        for (int64_t x = x0; x < x1 || x == x0; ++x, ++count) sum += k->plane[y * nx + x];
    return sum / (double)count;
}

/* Upwards, as y is drawn. */
static void draw_plane(picture *k)
{
    const colour black = {0, 0, 0};
    canvas_fill(&k->c, LEFT - 1, TOP - 1, k->width + 2, k->height + 2, black);
    for (int row = 0; row < k->height; ++row)
        for (int column = 0; column < k->width; ++column)
            canvas_fill(&k->c, LEFT + column, TOP + k->height - 1 - row, 1, 1,
                        colour_of(share_of(k, value_at(k, column, row))));
}

static void draw_number(picture *k, int64_t value, int right, int y)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    canvas_text(&k->c, right - (int)strlen(text) * CANVAS_ADVANCE, y, text);
}

static void draw_axes(picture *k)
{
    const colour black = {0, 0, 0};
    const int bottom = TOP + k->height, right = LEFT + k->width;
    const int64_t *n = k->p->global;
    canvas_fill(&k->c, LEFT - 1, bottom, 1, TICK, black);
    canvas_fill(&k->c, right, bottom, 1, TICK, black);
    canvas_fill(&k->c, LEFT - 1 - TICK, bottom, TICK, 1, black);
    canvas_fill(&k->c, LEFT - 1 - TICK, TOP - 1, TICK, 1, black);
    if (k->width > LEFT) canvas_text(&k->c, LEFT, bottom + TICK + 4, "0");
    draw_number(k, n[0], right + CANVAS_ADVANCE / 2, bottom + TICK + 4);
    canvas_text(&k->c, LEFT + k->width / 2 - CANVAS_ADVANCE / 2, bottom + TICK + 24, "x");
    if (k->height > 3 * CANVAS_LINE) draw_number(k, 0, LEFT - TICK - 6, bottom - CANVAS_LINE);
    draw_number(k, n[1], LEFT - TICK - 6, TOP);
    if (k->height > 5 * CANVAS_LINE)
        canvas_text(&k->c, LEFT - TICK - 6 - CANVAS_ADVANCE, TOP + k->height / 2 - CANVAS_LINE / 2,
                    "y");
}

static void draw_scale(picture *k)
{
    const colour black = {0, 0, 0};
    const int x = LEFT + k->width + GAP, height = k->c.height - TOP - BOTTOM;
    canvas_fill(&k->c, x - 1, TOP - 1, SCALE + 2, height + 2, black);
    for (int row = 0; row < height; ++row)
        canvas_fill(&k->c, x, TOP + height - 1 - row, SCALE, 1, colour_of((row + 0.5) / height));
    for (int tick = 0; tick <= 4; ++tick) {
        const int y = TOP + height - 1 - tick * (height - 1) / 4;
        char text[32];
        snprintf(text, sizeof text, "%.4g", k->least + tick * (k->most - k->least) / 4);
        canvas_fill(&k->c, x + SCALE + 1, y, TICK, 1, black);
        canvas_text(&k->c, x + SCALE + TICK + 6, y - CANVAS_LINE / 2, text);
    }
}

static void draw(picture *k, int64_t step)
{
    char title[128];
    snprintf(title, sizeof title, "MiniGhost: variable %d, z = %" PRId64 ", time step %" PRId64,
             variable_of(k->p) + 1, plane_of(k->p), step);
    const int width = LEFT + k->width + GAP + SCALE + LABELS;
    const int titled = LEFT + (int)strlen(title) * CANVAS_ADVANCE + GAP;
    const int height = k->height > SHORTEST_SIDE ? k->height : SHORTEST_SIDE;
    if (!canvas_create(&k->c, width > titled ? width : titled, TOP + height + BOTTOM)) return;
    canvas_text(&k->c, LEFT, TOP / 2 - CANVAS_LINE / 2, title);
    draw_plane(k);
    draw_axes(k);
    draw_scale(k);
}

static void write_picture(const problem *p, const double *plane, int64_t step)
{
    picture k = {.p = p, .plane = plane};
    size_t bytes = 0;
    find_range(&k);
    measure(&k);
    draw(&k, step);
    void *content = k.c.pixels != NULL ? canvas_png(&k.c, &bytes) : NULL;
    char *path = snapshot_name(p->o.png, step, ".png");
    if (content != NULL && path != NULL) output_whole("--png", path, content, bytes);
    canvas_free(&k.c);
    free(content);
    free(path);
}

void slice_write(const problem *p, int64_t step, const grid_source *from)
{
    int rank;
    int64_t first[3], cells[3];
    double *plane = NULL, *part = NULL;
    MPI_Comm_rank(p->cart, &rank);
    if (largest_part(p) > INT_MAX)
        failure_note("--png: a rank's part of the plane has more than %d cells", INT_MAX);
    if (rank == 0) {
        plane = malloc((size_t)(p->global[0] * p->global[1]) * sizeof *plane);
        part = malloc((size_t)largest_part(p) * sizeof *part);
        if (plane == NULL || part == NULL)
            failure_note_memory(2.0 * (double)p->global[0] * (double)p->global[1] * sizeof *plane);
    }
    if (!failure_agree(p->cart)) {
        if (part_of(p, rank, first, cells) > 0) {
            from->get(from->context, variable_of(p), from->cells);
            problem_widen(p, from->cells);
            cut_out(p, from->cells);
        }
        collect(p, plane, part, from->cells);
        if (rank == 0) write_picture(p, plane, step);
    }
    free(plane);
    free(part);
}
