/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_write.c
 *  Writing checkpoints; a crash at any moment leaves the existing ones intact. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocks.h"
#include "checkpoint.h"
#include "checkpoint_files.h"
#include "failure.h"
#include "output.h"
#include "watch.h"

/* One that is being written. */
typedef struct writing {
    char *path, *partial; /* on every rank */
    checkpoint_header h;
    checkpoint_word *words; /* on rank 0 */
    uint64_t *planes;
} writing;

static bool is_first(const problem *p)
{
    int rank;
    MPI_Comm_rank(p->cart, &rank);
    return rank == 0;
}

/* On rank 0. A run that restarts from a checkpoint adds to those there are. */
static int64_t first_number(const options *o)
{
    const int64_t last = checkpoint_last("--checkpoint_file", o->checkpoint_file);
    if (last < 0 || o->restart_cp_num >= -1) return last + 1;
    failure_note("--checkpoint_file %s: there is a checkpoint %s.%" PRId64
                 " already; go on from it "
                 "with --restart_cp_num -1, remove it, or give another name",
                 o->checkpoint_file, o->checkpoint_file, last);
    return 0;
}

void checkpoints_begin(checkpoints *w, const problem *p)
{
    const options *o = &p->o;
    *w = (checkpoints){.p = p};
    if (o->checkpoint_interval == 0) return;
    if (is_first(p) && !blocks_has_colon("--checkpoint_file", o->checkpoint_file)) {
        w->next = first_number(o);
        char *name = checkpoint_name(o->checkpoint_file, w->next);
        if (name != NULL && !failure_seen()) output_check("--checkpoint_file", name);
        free(name);
    }
    MPI_Bcast(&w->next, 1, MPI_INT64_T, 0, p->cart);
}

void checkpoints_end(checkpoints *w)
{
    free(w->last);
    w->last = NULL;
}

static void describe(writing *k, const checkpoints *w, int round, int64_t step, int64_t before)
{
    const problem *p = w->p;
    k->h = (checkpoint_header){
        .type = p->type,
        .global = {p->global[0], p->global[1], p->global[2]},
        .variables = p->variables,
        .number = w->next,
        .round = round,
        .step = step,
        .stencil = p->o.stencil,
        .comm_method = p->o.comm_method,
        .num_spikes = p->o.num_spikes,
        .num_tsteps = p->o.num_tsteps,
        .percent_sum = p->o.percent_sum,
        .report_diffusion = p->o.report_diffusion,
        .error_tol = p->o.error_tol,
    };
    k->h.marks = checkpoint_marks(&k->h, p->o.debug_grid != 0, before);
    k->path = checkpoint_name(p->o.checkpoint_file, w->next);
    k->partial = checkpoint_partial_name(p->o.checkpoint_file);
    k->planes = checkpoint_planes(p);
    if (!is_first(p)) return;
    const size_t words = (size_t)(p->variables * checkpoint_words(&k->h));
    k->words = calloc(words, sizeof *k->words);
    if (k->words == NULL) failure_note_memory((double)words * sizeof *k->words);
}

static bool note(const writing *k)
{
    failure_note("checkpoint %s cannot be written: %s", k->path, strerror(errno));
    return false;
}

/* On rank 0: what the last one that was broken off left is overwritten. */
static void create_file(const writing *k)
{
    const int to = open(k->partial, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (to < 0) note(k);
    else close(to);
}

/* On rank 0: a variable's words. */
static void fill_words(writing *k, int variable, double source, double flux)
{
    checkpoint_word *words = k->words + variable * checkpoint_words(&k->h);
    words[WORD_SOURCE].value = source;
    words[WORD_FLUX].value = flux;
    for (int64_t z = 0; z < k->h.global[2]; ++z) words[WORD_PLANES + z].checksum = k->planes[z];
}

static bool write_at(int to, const void *data, int64_t bytes, off_t at)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t written =
            pwrite(to, (const char *)data + done, (size_t)(bytes - done), at + done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        done += written;
    }
    return true;
}

/* What stands before the grid, behind which everything is there. */
static bool write_head(const writing *k, int to)
{
    const int64_t size = sizeof k->h, rest = checkpoint_grid_start(&k->h) - size;
    return write_at(to, k->words, rest, size) && write_at(to, &k->h, size, 0) &&
           (fsync(to) == 0 || errno == EINVAL);
}

/* On rank 0, after the grid is on the disk: what stands before it, and the file's name. */
static void complete(writing *k)
{
    checkpoint_seal(&k->h, k->words);
    const int to = open(k->partial, O_WRONLY);
    const bool whole = to >= 0 && lseek(to, 0, SEEK_END) == k->h.bytes;
    if (to >= 0 && !whole) failure_note("checkpoint %s cannot be written to its end", k->path);
    bool right = whole && write_head(k, to);
    if (!right) note(k);
    if (to >= 0 && close(to) != 0 && right) right = note(k);
    if (right && rename(k->partial, k->path) != 0) right = note(k);
    if (right) output_sync_folder(k->path);
}

static void write_grid(writing *k, const checkpoints *w, const double *source, const double *flux,
                       const grid_source *from)
{
    const problem *p = w->p;
    blocks b = {.p = p,
                .kind = "checkpoint ",
                .path = k->path,
                .type = p->type,
                .start = checkpoint_grid_start(&k->h)};
    if (is_first(p)) create_file(k);
    if (failure_agree(p->cart) || !blocks_open(&b, k->partial, MPI_MODE_WRONLY)) return;
    for (int v = 0; v < p->variables; ++v) {
        from->get(from->context, v, from->cells);
        checkpoint_sum_planes(p, from->cells, k->planes);
        if (is_first(p)) fill_words(k, v, source[v], flux[v]);
        blocks_write(&b, v, from->cells);
    }
    blocks_close(&b, true);
    if (!failure_agree(p->cart) && is_first(p)) complete(k);
}

/* Only as many as --checkpoint_keep says stay; the newest is complete by now. */
static void drop_old(const checkpoints *w)
{
    const options *o = &w->p->o;
    if (o->checkpoint_keep == 0 || w->next < o->checkpoint_keep) return;
    char *old = checkpoint_name(o->checkpoint_file, w->next - o->checkpoint_keep);
    if (old != NULL) unlink(old);
    free(old);
}

void checkpoints_write(checkpoints *w, int round, int64_t step, int64_t before,
                       const double *source, const double *flux, const grid_source *from)
{
    const problem *p = w->p;
    writing k = {.path = NULL};
    failure_lenient();
    describe(&k, w, round, step, before);
    watch_leaves(k.partial);
    if (!failure_agree(p->cart)) write_grid(&k, w, source, flux, from);
    if (failure_forgive(p->cart)) {
        ++w->failed;
        if (is_first(p) && k.partial != NULL) unlink(k.partial);
    } else {
        if (is_first(p)) drop_old(w);
        free(w->last);
        w->last = k.path;
        k.path = NULL;
        ++w->written;
        ++w->next;
    }
    watch_leaves(NULL);
    free(k.path);
    free(k.partial);
    free(k.words);
    free(k.planes);
}
