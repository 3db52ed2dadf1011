/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_run.c
 *  Runs the blocks of a launch. The threads of a block go in lockstep: those whose next instruction
 * is the lowest run it together, so that divergent threads reconverge behind the branch. */
#include "ptx_module.h"

#include <fenv.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_BARRIER                                                                                 \
    ((uint32_t)1 << 31) /* in a thread's next instruction: it waits at the barrier before */
enum { POISON = 0xdb, MOST_HOST_THREADS = 64 };

/** What one host thread runs blocks with. */
struct ptx_worker {
    ptx_context c;
    char *rows, *shared, *local;
    size_t row_room, shared_room, local_room, access_room;
    uint64_t address[PTX_MOST_THREADS];
    uint32_t next[PTX_MOST_THREADS], warp_epoch[PTX_MOST_THREADS / 32];
    uint16_t lanes[PTX_MOST_THREADS], some[PTX_MOST_THREADS];
    ptx_access *accesses;
    uint64_t executed;
    ptx_worker *next_idle;
};

static atomic_uint_least64_t all_executed;

uint64_t ptx_executed(void)
{
    return atomic_load(&all_executed);
}

/* ------------------------------------------------------------------ faults */

/* The text of a line, without the blanks before it. */
static int line_of(const char *text, int line, const char **found)
{
    for (int k = 1; k < line && *text; ++text) k += *text == '\n';
    *found = text + strspn(text, " \t");
    return (int)strcspn(*found, "\n");
}

void ptx_fail(const ptx_ins *in, ptx_context *c, int status, int thread, const char *format, ...)
{
    if (c->fault->status) return;
    const char *line;
    const int length = line_of(c->kernel->module->text, in->line, &line);
    char what[256];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (in->flow == PTX_UNIFORM) thread = c->first;
    const unsigned x = c->shape[0], y = c->shape[1], t = (unsigned)thread;
    c->fault->status = status;
    snprintf(c->fault->text, sizeof c->fault->text,
             "kernel %.128s, block %u %u %u, thread %u %u %u, PTX line %d (%.*s): %s",
             c->kernel->name, c->block[0], c->block[1], c->block[2], t % x, t / x % y, t / x / y,
             in->line, length < 80 ? length : 80, line, what);
}

/* ------------------------------------------------------------------ which threads run */

static void choose(ptx_context *c, const uint16_t *lanes, int count)
{
    const bool contiguous = lanes[count - 1] - lanes[0] + 1 == count;
    c->lane = contiguous ? NULL : lanes;
    c->lanes = count;
    c->from = lanes[0];
    c->end = lanes[count - 1] + 1;
    c->to = count == c->threads ? ptx_padded(count) : c->end;
}

static const uint8_t *predicate_row(const ptx_ins *in, const ptx_context *c)
{
    return (const uint8_t *)(c->rows + (size_t)in->predicate * c->stride);
}

/* Those of the lanes for which an instruction's predicate holds; it does for some. */
static int select_by_predicate(const ptx_ins *in, const ptx_context *c, const uint16_t *lanes,
                               int count, uint16_t *some)
{
    const uint8_t *p = predicate_row(in, c);
    int found = 0;
    if (!in->has_predicate || in->uniform_predicate) {
        memcpy(some, lanes, (size_t)count * sizeof *some);
        return count;
    }
    for (int j = 0; j < count; ++j) {
        some[found] = lanes[j];
        found += (p[lanes[j]] != 0) != in->negated;
    }
    return found;
}

/* How many these are. */
PTX_CLONES static int count_selected(const ptx_ins *in, const ptx_context *c)
{
    if (!in->has_predicate) return c->lanes;
    const uint8_t *p = predicate_row(in, c);
    int set = 0;
    if (in->uniform_predicate) set = p[0] ? c->lanes : 0;
    else if (!c->lane)
        for (int i = c->from; i < c->end; ++i) set += p[i];
    else
        for (int j = 0; j < c->lanes; ++j) set += p[c->lane[j]];
    return in->negated ? c->lanes - set : set;
}

/* ------------------------------------------------------------------ straight instructions */

/* Set a row to its first element. */
static void repeat(char *row, int width, int count)
{
    uint16_t *u16 = (void *)row;
    uint32_t *u32 = (void *)row;
    uint64_t *u64 = (void *)row;
    switch (width) {
    case 1:
        memset(row, *row, (size_t)count);
        break;
    case 2:
        for (int i = 1; i < count; ++i) u16[i] = u16[0];
        break;
    case 4:
        for (int i = 1; i < count; ++i) u32[i] = u32[0];
        break;
    default:
        for (int i = 1; i < count; ++i) u64[i] = u64[0];
    }
}

static void broadcast(const ptx_ins *in, const ptx_context *c)
{
    for (int k = 0; k < in->outputs; ++k)
        if (in->broadcast[k]) repeat(PTX_ROW(in, c, k), in->width[k], ptx_padded(c->threads));
}

static void run_uniform(const ptx_ins *in, ptx_context *c)
{
    const uint16_t *lane = c->lane;
    const int lanes = c->lanes, from = c->from, end = c->end, to = c->to;
    c->first = lane ? lane[0] : from;
    c->lane = NULL;
    c->lanes = c->end = c->to = 1;
    c->from = 0;
    in->run(in, c);
    c->lane = lane;
    c->lanes = lanes;
    c->from = from;
    c->end = end;
    c->to = to;
    broadcast(in, c);
}

static void run_predicated(const ptx_ins *in, ptx_worker *w, const uint16_t *lanes, int count)
{
    const int some = select_by_predicate(in, &w->c, lanes, count, w->some);
    if (!some) return;
    choose(&w->c, w->some, some);
    in->run(in, &w->c);
    choose(&w->c, lanes, count);
}

/* ------------------------------------------------------------------ a block */

PTX_CLONES static uint32_t lowest(const uint32_t *next, int count)
{
    uint32_t low = PTX_EXITED;
    for (int i = 0; i < count; ++i) low = next[i] < low ? next[i] : low;
    return low;
}

/* The threads at instruction @p at; *above: the lowest instruction of the others. */
static int gather(const ptx_worker *w, uint32_t at, uint16_t *lanes, uint32_t *above)
{
    int count = 0;
    uint32_t other = PTX_EXITED;
    for (int i = 0; i < w->c.threads; ++i) {
        const uint32_t next = w->next[i];
        lanes[count] = (uint16_t)i;
        count += next == at;
        other = next != at && next < other ? next : other;
    }
    *above = other;
    return count;
}

/* All threads that have not exited wait: they go on together. */
static bool release(ptx_worker *w)
{
    ptx_context *c = &w->c;
    uint32_t where = 0;
    for (int i = 0; i < c->threads; ++i) {
        if (w->next[i] == PTX_EXITED) continue;
        const uint32_t next = w->next[i] & ~AT_BARRIER;
        if (where && next != where) {
            const ptx_ins *here = &c->kernel->code[next - 1], *there = &c->kernel->code[where - 1];
            ptx_fail(here, c, PTX_LAUNCH_FAILURE, i,
                     "it waits at this barrier, and other threads of the block wait at the one of "
                     "PTX line %d",
                     there->line);
            return false;
        }
        where = next;
        w->next[i] = next;
    }
    ++c->epoch;
    return true;
}

/* Send threads to the targets that a predicate, or an index, chooses for each. */
static void diverge(const ptx_ins *in, ptx_worker *w, const uint16_t *lanes, int count, uint32_t at)
{
    const int taken = select_by_predicate(in, &w->c, lanes, count, w->some);
    for (int j = 0; j < count; ++j) w->next[lanes[j]] = at + 1;
    if (in->flow == PTX_BRANCH) {
        for (int j = 0; j < taken; ++j) w->next[w->some[j]] = (uint32_t)in->target;
        return;
    }
    const uint32_t *index = PTX_ROW(in, &w->c, 0);
    for (int j = 0; j < taken; ++j) {
        const int i = w->some[j];
        if (index[i] >= (uint32_t)in->targets) {
            ptx_fail(in, &w->c, PTX_LAUNCH_FAILURE, i, "its index %u is not below %d", index[i],
                     in->targets);
            return;
        }
        w->next[i] = (uint32_t)w->c.kernel->targets[in->target + (int32_t)index[i]];
    }
}

/* Run the threads at instruction @p at until they part, stop, or reach instruction @p above. */
static void run_group(ptx_worker *w, uint32_t at, const uint16_t *lanes, int count, uint32_t above)
{
    ptx_context *c = &w->c;
    const ptx_ins *code = c->kernel->code;
    choose(c, lanes, count);
    while (at < above) {
        const ptx_ins *in = &code[at];
        w->executed += (uint64_t)count;
        if (in->flow <= PTX_UNIFORM) {
            if (in->flow == PTX_UNIFORM) run_uniform(in, c);
            else if (in->has_predicate) run_predicated(in, w, lanes, count);
            else in->run(in, c);
            if (c->fault->status) return;
            ++at;
            continue;
        }
        const int taken = count_selected(in, c);
        if (taken == 0) {
            ++at;
        } else if (in->flow == PTX_BRANCH && taken == count) {
            at = (uint32_t)in->target;
        } else if (in->flow == PTX_BRANCH || in->flow == PTX_INDEXED) {
            diverge(in, w, lanes, count, at);
            return;
        } else {
            const int some = select_by_predicate(in, c, lanes, count, w->some);
            for (int j = 0; j < count; ++j) w->next[lanes[j]] = at + 1;
            if (in->flow == PTX_TRAP) ptx_fail(in, c, PTX_LAUNCH_FAILURE, w->some[0], "a trap");
            for (int j = 0; j < some; ++j)
                w->next[w->some[j]] = in->flow == PTX_EXIT ? PTX_EXITED : (at + 1) | AT_BARRIER;
            return;
        }
    }
    for (int j = 0; j < count; ++j) w->next[lanes[j]] = at;
}

static void run_block(ptx_worker *w)
{
    ptx_context *c = &w->c;
    memset(w->next, 0, sizeof w->next);
    memset(c->shared, POISON, c->shared_bytes);
    if (c->local_bytes) memset(c->local, POISON, c->local_bytes * (size_t)c->threads);
    ++c->epoch;
    while (!c->fault->status) {
        uint32_t above;
        const uint32_t at = lowest(w->next, c->threads);
        if (at == PTX_EXITED) return;
        if (at >= AT_BARRIER) {
            if (!release(w)) return;
            continue;
        }
        const int count = gather(w, at, w->lanes, &above);
        run_group(w, at, w->lanes, count, above);
    }
}

/* ------------------------------------------------------------------ a worker */

static bool make_room(char **bytes, size_t *room, size_t need)
{
    if (*bytes && need <= *room) return true;
    free(*bytes);
    need = (need / 64 + 1) * 64;
    *bytes = aligned_alloc(64, need);
    *room = *bytes ? need : 0;
    if (*bytes) memset(*bytes, 0, need);
    return *bytes != NULL;
}

static uint64_t special_of_thread(ptx_special special, const unsigned shape[3], unsigned i)
{
    const uint64_t bit = (uint64_t)1 << i % 32;
    switch (special) {
    case PTX_TID_X:
        return i % shape[0];
    case PTX_TID_Y:
        return i / shape[0] % shape[1];
    case PTX_TID_Z:
        return i / shape[0] / shape[1];
    case PTX_LANE:
        return i % 32;
    case PTX_WARP:
        return i / 32;
    case PTX_MASK_EQ:
        return bit;
    case PTX_MASK_LT:
        return bit - 1;
    case PTX_MASK_LE:
        return 2 * bit - 1;
    case PTX_MASK_GT:
        return ~(2 * bit - 1);
    default:
        return ~(bit - 1);
    }
}

static uint64_t special_of_block(const ptx_fixed *f, const ptx_context *c, const ptx_launch *l)
{
    switch (f->special) {
    case PTX_NTID_X:
    case PTX_NTID_Y:
    case PTX_NTID_Z:
        return l->block[f->special - PTX_NTID_X];
    case PTX_NCTAID_X:
    case PTX_NCTAID_Y:
    case PTX_NCTAID_Z:
        return l->grid[f->special - PTX_NCTAID_X];
    case PTX_CTAID_X:
    case PTX_CTAID_Y:
    case PTX_CTAID_Z:
        return c->block[f->special - PTX_CTAID_X];
    case PTX_DYNAMIC_BYTES:
        return l->dynamic_shared;
    case PTX_TOTAL_BYTES:
        return c->shared_bytes;
    default:
        return f->value;
    }
}

static void fill(const ptx_fixed *f, ptx_context *c, const ptx_launch *l)
{
    char *row = c->rows + (size_t)f->row * c->stride;
    if (f->special < PTX_NTID_X) {
        uint32_t *each = (void *)row;
        for (unsigned i = 0; i < (unsigned)c->threads; ++i)
            each[i] = (uint32_t)special_of_thread(f->special, c->shape, i);
        return;
    }
    const uint64_t value = special_of_block(f, c, l);
    memcpy(row, &value, f->width);
    if (f->broadcast) repeat(row, f->width, ptx_padded(c->threads));
}

static bool is_of_a_block(const ptx_fixed *f)
{
    return f->special >= PTX_CTAID_X && f->special <= PTX_CTAID_Z;
}

static bool prepare(ptx_worker *w, ptx_kernel *k, const ptx_memory *memory, const ptx_launch *l,
                    ptx_fault *fault)
{
    ptx_context *c = &w->c;
    const int threads = (int)(l->block[0] * l->block[1] * l->block[2]);
    *c = (ptx_context){.threads = threads,
                       .stride = (size_t)(threads + 63) / 64 * 64 + 16,
                       .address = w->address,
                       .at = w->next,
                       .warp_epoch = w->warp_epoch,
                       .param = l->arguments,
                       .param_bytes = k->facts.argument_bytes,
                       .shared_bytes = k->facts.shared_bytes,
                       .local_bytes = k->local_bytes,
                       .memory = memory,
                       .constant = k->module->globals,
                       .constants = k->module->constant_count,
                       .kernel = k,
                       .fault = fault};
    memcpy(c->shape, l->block, sizeof c->shape);
    if (l->dynamic_shared)
        c->shared_bytes = ptx_dynamic_offset(c->shared_bytes) + l->dynamic_shared;
    if (!make_room(&w->rows, &w->row_room, k->row_bytes * c->stride + 64) ||
        !make_room(&w->shared, &w->shared_room, c->shared_bytes) ||
        !make_room(&w->local, &w->local_room, k->local_bytes * (size_t)threads))
        return false;
    c->rows = w->rows;
    c->shared = w->shared;
    c->local = w->local;
    if (l->find_races) {
        free(w->accesses);
        w->accesses = calloc(2 * c->shared_bytes + 1, sizeof *w->accesses);
        if (!w->accesses) return false;
        c->wrote = w->accesses;
        c->read = w->accesses + c->shared_bytes;
    }
    for (int n = 0; n < k->fixed_count; ++n)
        if (!is_of_a_block(&k->fixed[n])) fill(&k->fixed[n], c, l);
    return true;
}

void ptx_free_workers(ptx_worker *w)
{
    while (w) {
        ptx_worker *next = w->next_idle;
        free(w->rows);
        free(w->shared);
        free(w->local);
        free(w->accesses);
        free(w);
        w = next;
    }
}

static ptx_worker *take_worker(ptx_module *m)
{
    pthread_mutex_lock(&m->lock);
    ptx_worker *w = m->idle;
    if (w) m->idle = w->next_idle;
    pthread_mutex_unlock(&m->lock);
    return w ? w : calloc(1, sizeof *w);
}

static void return_worker(ptx_module *m, ptx_worker *w)
{
    pthread_mutex_lock(&m->lock);
    w->next_idle = m->idle;
    m->idle = w;
    pthread_mutex_unlock(&m->lock);
}

/* ------------------------------------------------------------------ a launch */

typedef struct running {
    ptx_kernel *kernel;
    const ptx_memory *memory;
    const ptx_launch *launch;
    ptx_fault *fault;
    uint64_t blocks;
    atomic_uint_least64_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
} running;

static void report(running *r, const ptx_fault *fault)
{
    atomic_store(&r->failed, true);
    pthread_mutex_lock(&r->lock);
    if (!r->fault->status) *r->fault = *fault;
    pthread_mutex_unlock(&r->lock);
}

static void *run_blocks(void *given)
{
    running *r = given;
    const ptx_launch *l = r->launch;
    ptx_kernel *k = r->kernel;
    ptx_fault fault = {0};
    ptx_worker *w = take_worker(k->module);
    if (!w || !prepare(w, k, r->memory, l, &fault)) {
        fault = (ptx_fault){PTX_LAUNCH_FAILURE, "out of the host's memory"};
        report(r, &fault);
        if (w) return_worker(k->module, w);
        return NULL;
    }
    fenv_t host;
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    w->executed = 0;
    for (uint64_t b; !atomic_load(&r->failed) && (b = atomic_fetch_add(&r->next, 1)) < r->blocks;) {
        w->c.block[0] = (unsigned)(b % l->grid[0]);
        w->c.block[1] = (unsigned)(b / l->grid[0] % l->grid[1]);
        w->c.block[2] = (unsigned)(b / l->grid[0] / l->grid[1]);
        for (int n = 0; n < k->fixed_count; ++n)
            if (is_of_a_block(&k->fixed[n])) fill(&k->fixed[n], &w->c, l);
        run_block(w);
        if (fault.status) report(r, &fault);
    }
    fesetenv(&host);
    atomic_fetch_add(&all_executed, w->executed);
    return_worker(k->module, w);
    return NULL;
}

static bool is_a_shape(const ptx_launch *l)
{
    for (int d = 0; d < 3; ++d)
        if (!l->grid[d] || !l->block[d] || l->block[d] > PTX_MOST_THREADS) return false;
    return l->block[0] * l->block[1] * l->block[2] <= PTX_MOST_THREADS;
}

int ptx_run(ptx_kernel *k, const ptx_memory *memory, const ptx_launch *l, ptx_fault *fault)
{
    enum { BLOCKS_PER_THREAD = 4 };
    running r = {.kernel = k, .memory = memory, .launch = l, .fault = fault};
    pthread_t others[MOST_HOST_THREADS];
    int started = 0;
    *fault = (ptx_fault){0};
    if (!is_a_shape(l)) {
        *fault = (ptx_fault){PTX_LAUNCH_FAILURE,
                             "a launch of no threads, or of more than 1024 in a block"};
        return 0;
    }
    pthread_mutex_init(&r.lock, NULL);
    r.blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    while (started < l->threads - 1 && started < MOST_HOST_THREADS &&
           r.blocks >= (uint64_t)BLOCKS_PER_THREAD * (uint64_t)(started + 2) &&
           pthread_create(&others[started], NULL, run_blocks, &r) == 0)
        ++started;
    run_blocks(&r);
    for (int n = 0; n < started; ++n) pthread_join(others[n], NULL);
    pthread_mutex_destroy(&r.lock);
    return fault->status == 0;
}
