/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint.c
 *  Restart from a checkpoint: selecting, validating and reading it. */
#include "config.h"

#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blocks.h"
#include "checkpoint_files.h"
#include "failure.h"

static bool is_first(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank == 0;
}

/* ------------------------------------------------------------------ what stands before the grid */

/* All @p bytes, or as many as there are. */
static int64_t read_some(int from, void *to, int64_t bytes)
{
    int64_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(from, (char *)to + done, (size_t)(bytes - done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += got;
    }
    return done;
}

static void read_words(checkpoint *c, int from)
{
    const int64_t bytes = checkpoint_grid_start(&c->h) - (int64_t)sizeof c->h;
    c->words = malloc((size_t)bytes);
    if (c->words == NULL) failure_note_memory((double)bytes);
    else if (read_some(from, c->words, bytes) != bytes || !checkpoint_check_words(&c->h, c->words))
        failure_note("checkpoint %s is damaged: its tables do not have their checksum", c->path);
}

static void read_head(checkpoint *c, int from)
{
    char start[sizeof c->h], why[160];
    struct stat status;
    if (fstat(from, &status) != 0 || !S_ISREG(status.st_mode)) {
        failure_note("checkpoint %s is not a regular file", c->path);
        return;
    }
    const int64_t available = read_some(from, start, sizeof start);
    if (!checkpoint_check(start, available, status.st_size, why, sizeof why)) {
        failure_note("checkpoint %s %s", c->path, why);
        return;
    }
    memcpy(&c->h, start, sizeof c->h);
    read_words(c, from);
}

/* On rank 0. */
static void open_and_read(checkpoint *c, const options *o)
{
    c->path = checkpoint_find(o->restart_file, o->restart_cp_num);
    if (c->path == NULL || blocks_has_colon("--restart_file", c->path)) return;
    const int from = open(c->path, O_RDONLY);
    if (from < 0) {
        failure_note("checkpoint %s cannot be read: %s", c->path, strerror(errno));
        return;
    }
    read_head(c, from);
    close(from);
}

/* The others get it from rank 0. */
static void *share(void *mine, int64_t bytes)
{
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (!is_first(MPI_COMM_WORLD)) mine = malloc((size_t)bytes);
    if (mine == NULL) failure_note_memory((double)bytes);
    if (failure_agree(MPI_COMM_WORLD)) return mine;
    for (int64_t at = 0; at < bytes; at += 1 << 30) {
        const int64_t rest = bytes - at;
        MPI_Bcast((char *)mine + at, rest < 1 << 30 ? (int)rest : 1 << 30, MPI_BYTE, 0,
                  MPI_COMM_WORLD);
    }
    return mine;
}

bool checkpoint_load(checkpoint *c, const options *o)
{
    *c = (checkpoint){.path = NULL};
    if (is_first(MPI_COMM_WORLD)) open_and_read(c, o);
    if (!failure_agree(MPI_COMM_WORLD)) {
        MPI_Bcast(&c->h, (int)sizeof c->h, MPI_BYTE, 0, MPI_COMM_WORLD);
        c->path = share(c->path, c->path != NULL ? (int64_t)strlen(c->path) + 1 : 0);
    }
    if (!failure_agree(MPI_COMM_WORLD))
        c->words = share(c->words, checkpoint_grid_start(&c->h) - (int64_t)sizeof c->h);
    if (!failure_agree(MPI_COMM_WORLD)) return true;
    checkpoint_free(c);
    return false;
}

void checkpoint_free(checkpoint *c)
{
    free(c->path);
    free(c->words);
    *c = (checkpoint){.path = NULL};
}

/* ------------------------------------------------------------------ the options */

/* Take a value where it was not given; where it must be the same, it must. */
static void take(const checkpoint *c, const options *o, const char *name, int64_t *value,
                 int64_t written, bool same)
{
    if (!options_given(o, name)) *value = written;
    else if (same && *value != written)
        failure_note("--%s %" PRId64 ": checkpoint %s was written with %" PRId64, name, *value,
                     c->path, written);
}

static void take_grid(const checkpoint *c, options *o)
{
    static const char *const names[] = {"scaling", "nx", "ny", "nz", "ndim"};
    for (int k = 0; k < 5; ++k)
        if (options_given(o, names[k])) return;
    o->scaling = SCALING_STRONG;
    memcpy(o->n, c->h.global, sizeof o->n);
}

static void take_type(const checkpoint *c, options *o)
{
    const number type = (number)c->h.type;
    if (!options_given(o, "type")) o->type = type;
    else if (o->type != type)
        failure_note("--type %s: checkpoint %s was written with %s", number_name(o->type), c->path,
                     number_name(type));
}

void checkpoint_options(const checkpoint *c, options *o)
{
    const checkpoint_header *h = &c->h;
    take_grid(c, o);
    take_type(c, o);
    take(c, o, "num_vars", &o->num_vars, h->variables, true);
    take(c, o, "stencil", &o->stencil, h->stencil, true);
    take(c, o, "debug_grid", &o->debug_grid, h->marks & 1, true);
    take(c, o, "comm_method", &o->comm_method, h->comm_method, false);
    take(c, o, "num_spikes", &o->num_spikes, h->num_spikes, false);
    take(c, o, "num_tsteps", &o->num_tsteps, h->num_tsteps, false);
    take(c, o, "percent_sum", &o->percent_sum, h->percent_sum, false);
    take(c, o, "report_diffusion", &o->report_diffusion, h->report_diffusion, false);
    take(c, o, "error_tol", &o->error_tol, h->error_tol, false);
    if (o->num_tsteps < h->step)
        failure_note("--num_tsteps %" PRId64 ": checkpoint %s is of time step %" PRId64,
                     o->num_tsteps, c->path, h->step);
    if ((o->num_spikes > 0 ? o->num_spikes : 1) < h->round)
        failure_note("--num_spikes %" PRId64 ": checkpoint %s is of spike %" PRId64, o->num_spikes,
                     c->path, h->round);
}

void checkpoint_compare(const checkpoint *c, const problem *p)
{
    const int64_t *mine = p->global, *its = c->h.global;
    if (memcmp(mine, its, sizeof p->global) != 0)
        failure_note("checkpoint %s is of a grid of %" PRId64 " x %" PRId64 " x %" PRId64
                     " cells, not %" PRId64 " x %" PRId64 " x %" PRId64,
                     c->path, its[0], its[1], its[2], mine[0], mine[1], mine[2]);
}

/* ------------------------------------------------------------------ the grid */

/* On rank 0: the planes of @p variable add up to their checksums. */
static void compare_planes(const checkpoint *c, int variable, const uint64_t *planes)
{
    const checkpoint_word *words = c->words + variable * checkpoint_words(&c->h) + WORD_PLANES;
    for (int64_t z = 0; z < c->h.global[2]; ++z)
        if (planes[z] != words[z].checksum) {
            failure_note("checkpoint %s is damaged: variable %d does not have its checksum at "
                         "z = %" PRId64,
                         c->path, variable + 1, z);
            return;
        }
}

bool checkpoint_read(const checkpoint *c, const problem *p, void *cells,
                     void (*put)(void *context, int variable, const void *cells), void *context)
{
    blocks b = {.p = p,
                .kind = "checkpoint ",
                .path = c->path,
                .type = p->type,
                .start = checkpoint_grid_start(&c->h)};
    uint64_t *planes = checkpoint_planes(p);
    if (failure_agree(p->cart) || !blocks_open(&b, c->path, MPI_MODE_RDONLY)) {
        free(planes);
        return false;
    }
    for (int v = 0; v < p->variables; ++v) {
        memset(cells, 0, (size_t)p->cells * number_size(p->type));
        blocks_read(&b, v, cells);
        checkpoint_sum_planes(p, cells, planes);
        if (is_first(p->cart)) compare_planes(c, v, planes);
        put(context, v, cells);
    }
    blocks_close(&b, false);
    free(planes);
    return !failure_agree(p->cart);
}
