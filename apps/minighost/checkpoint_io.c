/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_io.c
 *  Checkpoints in files of libmeta_io: a field for each variable, and an attribute for each number
 *  of the state. Calls of libmeta_io fail on all ranks alike. */
#include "config.h"

#include "checkpoint.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "meta_io.h"
#include "output.h"
#include "watch.h"

#define AT(member) offsetof(checkpoint_state, member)
static const struct {
    const char *name;
    size_t at;
    int64_t least, most;
} numbers[] = {
    {"round", AT(round), 1, INT_MAX},
    {"step", AT(step), 1, INT_MAX},
    {"before", AT(before), 0, INT64_MAX / 2},
    {"stencil", AT(stencil), STENCIL_NONE, STENCIL_3D27P},
    {"debug_grid", AT(debug_grid), 0, 1},
    {"comm_method", AT(comm_method), METHOD_BSPMA, METHOD_SVAF},
    {"num_spikes", AT(num_spikes), 0, INT_MAX},
    {"num_tsteps", AT(num_tsteps), 1, INT_MAX},
    {"percent_sum", AT(percent_sum), 0, 100},
    {"report_diffusion", AT(report_diffusion), 0, INT_MAX},
    {"error_tol", AT(error_tol), 0, 300},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers, NAME_ROOM = 24 };

bool checkpoint_is_there(void)
{
    return true;
}

static int64_t *number_of(checkpoint_state *is, int k)
{
    return (int64_t *)(void *)((char *)is + numbers[k].at);
}

static char *name_with(const char *path, const char *end)
{
    const size_t room = strlen(path) + strlen(end) + 1;
    char *name = malloc(room);
    if (name == NULL) failure_note_memory((double)room);
    else snprintf(name, room, "%s%s", path, end);
    return name;
}

static char *name_of(const char *path, int64_t which)
{
    char end[NAME_ROOM];
    snprintf(end, sizeof end, ".%" PRId64, which);
    return name_with(path, end);
}

/* As reports and snapshots call a variable. */
static void name_variable(char *name, int variable)
{
    snprintf(name, NAME_ROOM, "variable %d", variable + 1);
}

/* Note that a call has failed on the file @p path. Users need not know which argument that was, but
 * on which rank it failed, unless that is rank 0. */
static bool works(meta_err err, const char *path, const char *what)
{
    int rank = 0, length = 0;
    if (err == META_OK) return true;
    if (err == META_ERR_PEER) failure_abort(meta_last_error());
    const char *text = meta_last_error();
    if (sscanf(text, "rank %d: %n", &rank, &length) != 1 || rank == 0) length = 0;
    const char *argument = strstr(text, "argument '");
    const char *why = argument != NULL ? strstr(argument, "': ") : NULL;
    failure_note("checkpoint %s cannot be %s: %.*s%s", path, what, why != NULL ? length : 0, text,
                 why != NULL ? why + 3 : text);
    return false;
}

static bool is_first(MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank == 0;
}

/* ------------------------------------------------------------------ what stands before the grid */

/* An attribute, if the file has it with that type and count. */
static const void *find(const checkpoint *c, const char *name, meta_type type, int64_t count)
{
    meta_io_attribute a;
    if (meta_io_attribute_find(*c->file, name, &a) == META_OK && a.text == NULL && a.type == type &&
        a.count == count)
        return a.numbers;
    failure_note("checkpoint %s is not one of MiniGhost: it has no '%s'", c->path, name);
    return NULL;
}

static bool is_possible(const checkpoint_state *is)
{
    for (int k = 0; k < NUMBERS; ++k) {
        const int64_t value = *number_of((checkpoint_state *)(uintptr_t)is, k);
        if (value < numbers[k].least || value > numbers[k].most) return false;
    }
    return is->step <= is->num_tsteps && is->round <= (is->num_spikes > 0 ? is->num_spikes : 1) &&
           is->before <= (is->round - 1) * INT_MAX && (is->round > 1 || is->before == 0);
}

static bool read_numbers(checkpoint *c)
{
    for (int k = 0; k < NUMBERS; ++k) {
        const void *value = find(c, numbers[k].name, META_I64, 1);
        if (value == NULL) return false;
        memcpy(number_of(&c->is, k), value, sizeof(int64_t));
    }
    if (is_possible(&c->is)) return true;
    failure_note("checkpoint %s has numbers that no run can have written", c->path);
    return false;
}

/* Their grid; that each is there shows when it is read. */
static bool read_fields(checkpoint *c)
{
    meta_io_file_desc info = META_IO_FILE_DESC_INIT;
    check(meta_io_file_info(*c->file, &info));
    bool same = info.fields >= 1 && info.fields <= MAX_VARIABLES;
    c->is.variables = info.fields;
    for (int k = 0; k < info.fields && same; ++k) {
        meta_io_field f;
        check(meta_io_field_info(*c->file, k, &f));
        if (k == 0) c->is.type = f.type == META_F32 ? NUMBER_F32 : NUMBER_F64;
        if (k == 0) memcpy(c->is.global, f.cells, sizeof c->is.global);
        same = f.box.ndim == 3 && f.type == type_of(c->is.type) &&
               memcmp(c->is.global, f.cells, sizeof c->is.global) == 0;
        for (int d = 0; d < 3; ++d) same = same && f.cells[d] >= 1 && f.cells[d] <= INT_MAX - 2;
    }
    if (!same) failure_note("checkpoint %s is not one of MiniGhost: it has other fields", c->path);
    return same;
}

static double *read_sums(const checkpoint *c, const char *name)
{
    const size_t bytes = (size_t)c->is.variables * sizeof(double);
    const void *there = find(c, name, META_F64, c->is.variables);
    double *sums = there != NULL ? malloc(bytes) : NULL;
    if (there != NULL && sums == NULL) failure_note_memory((double)bytes);
    if (sums != NULL) memcpy(sums, there, bytes);
    return sums;
}

static void close_file(checkpoint *c)
{
    if (c->file != NULL && c->file->generation != 0) check(meta_io_close(c->file));
}

static void read_head(checkpoint *c)
{
    meta_io_desc d = META_IO_DESC_INIT;
    d.comm = MPI_COMM_WORLD;
    d.format = META_IO_CHECKPOINT;
    d.number = c->number;
    if (!works(meta_io_open(c->file, c->base, &d), c->path, "read")) return;
    if (!read_numbers(c) || !read_fields(c)) return;
    c->source = read_sums(c, "source");
    c->flux = read_sums(c, "flux");
}

/* The number of the one to restart from, and its name. */
static bool choose(checkpoint *c)
{
    c->file = calloc(1, sizeof *c->file);
    if (c->file == NULL) failure_note_memory(sizeof *c->file);
    if (c->number < 0 && !works(meta_io_last(MPI_COMM_WORLD, c->base, &c->number), c->base, "read"))
        return false;
    if (c->number < 0)
        failure_note("--restart_file %s: there is no checkpoint %s.0, %s.1 or further", c->base,
                     c->base, c->base);
    else c->path = name_of(c->base, c->number);
    return !failure_agree(MPI_COMM_WORLD);
}

bool checkpoint_load(checkpoint *c, const options *o)
{
    *c = (checkpoint){.base = o->restart_file, .number = o->restart_cp_num};
    if (choose(c)) read_head(c);
    if (!failure_agree(MPI_COMM_WORLD)) return true;
    checkpoint_free(c);
    return false;
}

void checkpoint_free(checkpoint *c)
{
    close_file(c);
    free(c->file);
    free(c->path);
    free(c->source);
    free(c->flux);
    *c = (checkpoint){.path = NULL};
}

/* ------------------------------------------------------------------ the grid */

static meta_io_field describe(const problem *p, const char *name, void *cells, const int64_t *size,
                              const region *own)
{
    meta_io_field f = {.name = name, .buf = cells, .type = type_of(p->type), .box = {.ndim = 3}};
    for (int d = 0; d < 3; ++d) {
        f.box.size[d] = size[d];
        f.box.start[d] = own->start[d];
        f.box.end[d] = own->end[d];
        f.first[d] = p->first[d];
        f.cells[d] = p->global[d];
    }
    return f;
}

bool checkpoint_read(checkpoint *c, const problem *p, void *cells, solver *s)
{
    char name[NAME_ROOM];
    bool right = true;
    for (int v = 0; v < p->variables && right; ++v) {
        memset(cells, 0, (size_t)p->cells * number_size(p->type));
        name_variable(name, v);
        const meta_io_field f = describe(p, name, cells, p->size, &p->own);
        right = works(meta_io_read(*c->file, 1, &f), c->path, "read");
        if (right) solver_put(s, v, cells);
    }
    close_file(c);
    return !failure_agree(p->cart);
}

/* ------------------------------------------------------------------ writing */

/* A run that restarts from a checkpoint adds to those there are. */
static void choose_next(checkpoints *w)
{
    const options *o = &w->p->o;
    int64_t last;
    if (!works(meta_io_last(w->p->cart, o->checkpoint_file, &last), o->checkpoint_file, "written"))
        return;
    w->next = last < INT64_MAX ? last + 1 : last;
    if (last == INT64_MAX || (last >= 0 && o->restart_cp_num < -1))
        failure_note("--checkpoint_file %s: there is a checkpoint %s.%" PRId64
                     " already; go on from it "
                     "with --restart_cp_num -1, remove it, or give another name",
                     o->checkpoint_file, o->checkpoint_file, last);
}

void checkpoints_begin(checkpoints *w, const problem *p)
{
    *w = (checkpoints){.p = p};
    if (p->o.checkpoint_interval == 0) return;
    choose_next(w);
    if (!is_first(p->cart) || failure_seen()) return;
    char *name = name_of(p->o.checkpoint_file, w->next);
    if (name != NULL) output_check("--checkpoint_file", name);
    free(name);
}

void checkpoints_end(checkpoints *w)
{
    free(w->last);
    w->last = NULL;
}

static checkpoint_state state_of(const problem *p, int round, int64_t step, int64_t before)
{
    const options *o = &p->o;
    return (checkpoint_state){.round = round,
                              .step = step,
                              .before = before,
                              .stencil = o->stencil,
                              .debug_grid = o->debug_grid,
                              .comm_method = o->comm_method,
                              .num_spikes = o->num_spikes,
                              .num_tsteps = o->num_tsteps,
                              .percent_sum = o->percent_sum,
                              .report_diffusion = o->report_diffusion,
                              .error_tol = o->error_tol};
}

/* The solver's arrays, with their names behind the fields; to be freed. */
static meta_io_field *fields_of(const problem *p, solver *s)
{
    const size_t variables = (size_t)p->variables;
    meta_io_field *field = malloc(variables * (sizeof *field + NAME_ROOM));
    if (field == NULL) {
        failure_note_memory((double)variables * (sizeof *field + NAME_ROOM));
        return NULL;
    }
    char *name = (char *)(field + variables);
    for (int v = 0; v < p->variables; ++v, name += NAME_ROOM) {
        solver_array a;
        solver_where(s, v, &a);
        name_variable(name, v);
        field[v] = describe(p, name, a.cells, a.size, &a.own);
    }
    return field;
}

static meta_err write_file(const checkpoints *w, checkpoint_state *is, const double *source,
                           const double *flux, const meta_io_field *field)
{
    const problem *p = w->p;
    meta_io_attribute attribute[NUMBERS + 2];
    meta_io_desc d = META_IO_DESC_INIT;
    for (int k = 0; k < NUMBERS; ++k)
        attribute[k] = (meta_io_attribute){numbers[k].name, NULL, META_I64, 1, number_of(is, k)};
    attribute[NUMBERS] = (meta_io_attribute){"source", NULL, META_F64, p->variables, source};
    attribute[NUMBERS + 1] = (meta_io_attribute){"flux", NULL, META_F64, p->variables, flux};
    d.comm = p->cart;
    d.format = META_IO_CHECKPOINT;
    d.attributes = NUMBERS + 2;
    d.attribute = attribute;
    d.number = w->next;
    d.keep = p->o.checkpoint_keep;
    return meta_io_write(p->o.checkpoint_file, &d, p->variables, field);
}

void checkpoints_write(checkpoints *w, int round, int64_t step, int64_t before,
                       const double *source, const double *flux, solver *s)
{
    const problem *p = w->p;
    checkpoint_state is = state_of(p, round, step, before);
    failure_lenient();
    char *path = name_of(p->o.checkpoint_file, w->next);
    char *partial = name_with(p->o.checkpoint_file, ".partial");
    meta_io_field *field = fields_of(p, s);
    watch_leaves(partial);
    if (!failure_agree(p->cart)) works(write_file(w, &is, source, flux, field), path, "written");
    watch_leaves(NULL);
    free(partial);
    free(field);
    if (failure_forgive(p->cart)) {
        ++w->failed;
        free(path);
        return;
    }
    free(w->last);
    w->last = path;
    ++w->written;
    ++w->next;
}
