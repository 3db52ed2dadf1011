/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid_io.c
 *  Files of the global grid, read and written collectively. */
#include "config.h"

#include "grid_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "output.h"
#include "watch.h"

static bool is_first(const problem *p)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    return rank == 0;
}

static int64_t grid_bytes(const problem *p)
{
    return blocks_variable_bytes(p, NUMBER_F64) * p->variables;
}

void grid_check_input(const problem *p, const char *option, const char *path)
{
    struct stat status;
    if (!is_first(p) || blocks_has_colon(option, path)) return;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0) {
        failure_note("%s %s: cannot be read: %s", option, path, strerror(errno));
        return;
    }
    if (!S_ISREG(status.st_mode)) {
        failure_note("%s %s: is not a regular file", option, path);
        return;
    }
    const int64_t expected = grid_bytes(p);
    if (status.st_size != expected)
        failure_note("%s %s: has %" PRId64 " bytes; %" PRId64 " x %" PRId64 " x %" PRId64
                     " cells of %d %s of float64 need %" PRId64,
                     option, path, (int64_t)status.st_size, p->global[0], p->global[1],
                     p->global[2], p->variables, p->variables == 1 ? "variable" : "variables",
                     expected);
}

static bool create_file(const char *path, const char *name)
{
    const int descriptor = output_create("--grid-out", path, name);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
}

void grid_check_output(const problem *p, const char *path)
{
    if (is_first(p) && !blocks_has_colon("--grid-out", path)) output_check("--grid-out", path);
}

bool grid_open_input(grid_file *g, const problem *p, const char *path)
{
    *g = (grid_file){.b = {.p = p, .path = path, .type = NUMBER_F64}};
    return blocks_open(&g->b, path, MPI_MODE_RDONLY);
}

bool grid_open_output(grid_file *g, const problem *p, const char *path)
{
    long id = (long)getpid();
    *g = (grid_file){.b = {.p = p, .path = path, .type = NUMBER_F64}};
    watch_begin("a file is created");
    MPI_Bcast(&id, 1, MPI_LONG, 0, p->cart);
    watch_end();
    g->temporary = output_temporary(path, id);
    watch_leaves(g->temporary);
    const bool created = g->temporary != NULL && is_first(p) && create_file(path, g->temporary);
    if (!failure_agree(p->cart)) {
        if (blocks_open(&g->b, g->temporary, MPI_MODE_WRONLY)) return true;
    }
    if (created) unlink(g->temporary);
    watch_leaves(NULL);
    free(g->temporary);
    return false;
}

/* The file's byte order is fixed; the host's is its own. */
static void to_little_endian(const problem *p, double *cells)
{
    const uint16_t probe = 1;
    if (*(const unsigned char *)&probe == 1) return;
    for (int64_t i = 0; i < p->cells; ++i) {
        uint64_t bits;
        memcpy(&bits, &cells[i], sizeof bits);
        bits = __builtin_bswap64(bits);
        memcpy(&cells[i], &bits, sizeof bits);
    }
}

void grid_read(grid_file *g, int variable, double *cells)
{
    memset(cells, 0, (size_t)g->b.p->cells * sizeof *cells);
    blocks_read(&g->b, variable, cells);
    to_little_endian(g->b.p, cells);
}

void grid_write(grid_file *g, int variable, double *cells)
{
    to_little_endian(g->b.p, cells);
    blocks_write(&g->b, variable, cells);
}

static void check_written(const grid_file *g)
{
    struct stat status;
    if (!is_first(g->b.p)) return;
    if (stat(g->temporary, &status) != 0)
        failure_note("%s: cannot be looked at: %s", g->temporary, strerror(errno));
    else if (status.st_size != grid_bytes(g->b.p))
        failure_note("%s: could not be written to its end", g->b.path);
}

bool grid_close(grid_file *g)
{
    const problem *p = g->b.p;
    const bool writing = g->temporary != NULL;
    blocks_close(&g->b, writing);
    if (writing) check_written(g);
    bool right = !failure_agree(p->cart);
    if (writing && is_first(p) && right && rename(g->temporary, g->b.path) != 0)
        failure_note("%s: cannot be renamed to %s: %s", g->temporary, g->b.path, strerror(errno));
    if (writing && right) right = !failure_agree(p->cart);
    if (writing && !right && is_first(p)) unlink(g->temporary);
    if (writing) watch_leaves(NULL);
    free(g->temporary);
    return right;
}
