/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid_io.c
 *  Files of the global grid, read and written by all ranks together. */
#include "config.h"

#include "grid_io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"

static int64_t variable_bytes(const problem *p)
{
    return p->global[0] * p->global[1] * p->global[2] * (int64_t)sizeof(double);
}

static bool is_first(const problem *p)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    return rank == 0;
}

/* ROMIO takes what stands before a colon for the name of a file system. */
static bool has_colon(const char *option, const char *path)
{
    if (strchr(path, ':') == NULL) return false;
    failure_note("%s %s: MPI cannot open files with a colon in their name or folder", option, path);
    return true;
}

void grid_check_input(const problem *p, const char *option, const char *path)
{
    struct stat status;
    if (!is_first(p) || has_colon(option, path)) return;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0) {
        failure_note("%s %s: cannot be read: %s", option, path, strerror(errno));
        return;
    }
    if (!S_ISREG(status.st_mode)) {
        failure_note("%s %s: is not a regular file", option, path);
        return;
    }
    const int64_t expected = variable_bytes(p) * p->variables;
    if (status.st_size != expected)
        failure_note("%s %s: has %" PRId64 " bytes; %" PRId64 " x %" PRId64 " x %" PRId64
                     " cells of %d %s of float64 need %" PRId64,
                     option, path, (int64_t)status.st_size, p->global[0], p->global[1],
                     p->global[2], p->variables, p->variables == 1 ? "variable" : "variables",
                     expected);
}

/* Beside the file, so that giving it its name is one step. */
static char *temporary_name(const char *path, long id)
{
    const size_t room = strlen(path) + 32;
    char *name = malloc(room);
    if (name == NULL) failure_note_memory((double)room);
    else snprintf(name, room, "%s.partial-%ld", path, id);
    return name;
}

static bool create_file(const char *path, const char *name)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        failure_note("--grid-out %s: is there already and not a regular file", path);
        return false;
    }
    const bool locked = access(path, F_OK) == 0 && access(path, W_OK) != 0;
    const int descriptor = locked ? -1 : open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor < 0) {
        failure_note("--grid-out %s: cannot be written: %s", path, strerror(errno));
        return false;
    }
    close(descriptor);
    return true;
}

void grid_check_output(const problem *p, const char *path)
{
    if (!is_first(p) || has_colon("--grid-out", path)) return;
    char *name = temporary_name(path, (long)getpid());
    if (name != NULL && create_file(path, name)) unlink(name);
    free(name);
}

static void make_types(grid_file *g)
{
    int global[3], memory[3], mine[3], in_global[3], in_memory[3];
    for (int d = 0; d < 3; ++d) {
        const int c = 2 - d;
        global[c] = (int)g->p->global[d];
        memory[c] = (int)g->p->size[d];
        mine[c] = (int)(g->p->own.end[d] - g->p->own.start[d]);
        in_global[c] = (int)g->p->first[d];
        in_memory[c] = (int)g->p->own.start[d];
    }
    MPI_Type_create_subarray(3, global, mine, in_global, MPI_ORDER_C, MPI_DOUBLE, &g->in_file);
    MPI_Type_create_subarray(3, memory, mine, in_memory, MPI_ORDER_C, MPI_DOUBLE, &g->in_memory);
    MPI_Type_commit(&g->in_file);
    MPI_Type_commit(&g->in_memory);
}

static void free_types(grid_file *g)
{
    MPI_Type_free(&g->in_file);
    MPI_Type_free(&g->in_memory);
}

static void note_mpi(const grid_file *g, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length;
    if (error == MPI_SUCCESS) return;
    MPI_Error_string(error, text, &length);
    for (char *c = text; *c != '\0'; ++c)
        if (*c == '\n') *c = ' ';
    failure_note("%s: cannot be %s: %s", g->path, what, text);
}

static bool open_file(grid_file *g, const char *name, int mode)
{
    make_types(g);
    note_mpi(g, "opened", MPI_File_open(g->p->cart, name, mode, MPI_INFO_NULL, &g->file));
    if (!failure_agree(g->p->cart)) return true;
    free_types(g);
    return false;
}

bool grid_open_input(grid_file *g, const problem *p, const char *path)
{
    *g = (grid_file){.p = p, .path = path};
    return open_file(g, path, MPI_MODE_RDONLY);
}

bool grid_open_output(grid_file *g, const problem *p, const char *path)
{
    long id = (long)getpid();
    *g = (grid_file){.p = p, .path = path};
    MPI_Bcast(&id, 1, MPI_LONG, 0, p->cart);
    g->temporary = temporary_name(path, id);
    const bool created = g->temporary != NULL && is_first(p) && create_file(path, g->temporary);
    if (!failure_agree(p->cart)) {
        if (open_file(g, g->temporary, MPI_MODE_WRONLY)) return true;
    }
    if (created) unlink(g->temporary);
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

static void view_variable(grid_file *g, int variable)
{
    const MPI_Offset start = variable_bytes(g->p) * variable;
    note_mpi(g, "viewed",
             MPI_File_set_view(g->file, start, MPI_DOUBLE, g->in_file, "native", MPI_INFO_NULL));
}

static void note_short(const grid_file *g, const char *what, MPI_Status *status)
{
    int count;
    MPI_Get_count(status, g->in_memory, &count);
    if (count != 1) failure_note("%s: could not be %s to its end", g->path, what);
}

void grid_read(grid_file *g, int variable, double *cells)
{
    MPI_Status status;
    memset(cells, 0, (size_t)g->p->cells * sizeof *cells);
    view_variable(g, variable);
    const int error = MPI_File_read_all(g->file, cells, 1, g->in_memory, &status);
    note_mpi(g, "read", error);
    if (error == MPI_SUCCESS) note_short(g, "read", &status);
    to_little_endian(g->p, cells);
}

void grid_write(grid_file *g, int variable, double *cells)
{
    MPI_Status status;
    to_little_endian(g->p, cells);
    view_variable(g, variable);
    const int error = MPI_File_write_all(g->file, cells, 1, g->in_memory, &status);
    note_mpi(g, "written", error);
    if (error == MPI_SUCCESS) note_short(g, "written", &status);
}

static void check_written(const grid_file *g)
{
    struct stat status;
    if (!is_first(g->p)) return;
    if (stat(g->temporary, &status) != 0)
        failure_note("%s: cannot be looked at: %s", g->temporary, strerror(errno));
    else if (status.st_size != variable_bytes(g->p) * g->p->variables)
        failure_note("%s: could not be written to its end", g->path);
}

bool grid_close(grid_file *g)
{
    const bool writing = g->temporary != NULL;
    if (writing) note_mpi(g, "written", MPI_File_sync(g->file));
    note_mpi(g, "closed", MPI_File_close(&g->file));
    free_types(g);
    if (writing) check_written(g);
    bool right = !failure_agree(g->p->cart);
    if (writing && is_first(g->p) && right && rename(g->temporary, g->path) != 0)
        failure_note("%s: cannot be renamed to %s: %s", g->temporary, g->path, strerror(errno));
    if (writing && right) right = !failure_agree(g->p->cart);
    if (writing && !right && is_first(g->p)) unlink(g->temporary);
    free(g->temporary);
    return right;
}
