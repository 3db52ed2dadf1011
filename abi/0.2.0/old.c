/* SPDX-License-Identifier: BSD-3-Clause */
/** @file old.c
 *  A plug-in of 0.2.0: examples/plain.c as it was there, which also runs kernels of programs, by
 *  their CPU code, and uses each of the library's services. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "meta_host_kernels.h"

static const meta_host *host;

static meta_err init(const meta_host *libmeta)
{
    host = libmeta;
    if (host->size < sizeof *host)
        return host->fail(META_ERR_PLUGIN, "the library's table is smaller than in 0.2.0");
    host->log(META_LOG_DEBUG, "%d threads, timing %d, mode %s", host->threads(), host->timing(),
              host->variable("META_MODE"));
    return META_OK;
}

/* ------------------------------------------------------------------ the device */

/* There is one device and it has no state: this object stands for it and its queues. */
static char only;

static int device_count(char *reason, size_t room)
{
    (void)reason, (void)room;
    return 1;
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    (void)index;
    snprintf(desc->name, sizeof desc->name, "one thread");
    snprintf(desc->driver, sizeof desc->driver, "none");
    desc->memory = (uint64_t)1 << 30;
    desc->compute_units = 1;
    desc->has_f64 = 1;
    desc->is_host = 1;
    if (desc->size < sizeof *desc)
        return host->fail(META_ERR_PLUGIN, "meta_device_desc is smaller than in 0.2.0");
    return META_OK;
}

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    (void)index;
    if (state && state->size < sizeof *state)
        return host->fail(META_ERR_PLUGIN, "meta_state is smaller than in 0.2.0");
    if (state && (state->platform || state->device || state->context || state->queue))
        return host->fail(META_ERR_ARGUMENT,
                          "argument 'state': this back end has no native objects");
    *device = (meta_plugin_device *)(void *)&only;
    return META_OK;
}

static void close_device(meta_plugin_device *device)
{
    (void)device;
}

static meta_err state_of(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state)
{
    (void)device, (void)queue, (void)state;
    return META_OK;
}

/* ------------------------------------------------------------------ memory */

static meta_err allocate(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    void *address;
    (void)device;
    if (posix_memalign(&address, 64, bytes) != 0)
        return host->fail(META_ERR_NO_MEMORY, "the host has no %zu bytes left", bytes);
    *memory = (meta_memory){address, address, bytes};
    return META_OK;
}

static void release(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    free(memory->object);
}

static meta_err wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory)
{
    (void)device, (void)kind;
    *memory = (meta_memory){native, native, bytes};
    return META_OK;
}

static void unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device, (void)memory;
}

/* ------------------------------------------------------------------ kernels of programs */

typedef struct user_kernel {
    const meta_kernel *kernel;
    meta_kernel_cpu *run;
} user_kernel;

/* Its "code" is the number of the variant, which the library keeps. */
static meta_err code_load(void *with, const void *code, size_t bytes)
{
    user_kernel *u = with;
    if (bytes != 1) return host->fail(META_ERR_DEVICE, "the code has %zu bytes", bytes);
    u->run = u->kernel->cpu[*(const unsigned char *)code];
    return META_OK;
}

static meta_err code_build(void *with, void **code, size_t *bytes)
{
    user_kernel *u = with;
    *code = malloc(1);
    if (!*code) return host->fail(META_ERR_NO_MEMORY, "the host has no byte left");
    *(unsigned char *)*code = META_KERNEL_BASELINE;
    *bytes = 1;
    u->run = u->kernel->cpu[META_KERNEL_BASELINE];
    return META_OK;
}

static meta_err user_create(const meta_kernel_source *source, meta_plugin_kernel **kernel)
{
    const char *const facts[] = {source->desc->name, source->text};
    if (source->size < sizeof *source || source->desc->size < sizeof *source->desc ||
        source->user->size < sizeof *source->user)
        return host->fail(META_ERR_PLUGIN, "kernel %s: a structure is smaller than in 0.2.0",
                          source->desc->name);
    for (uint32_t n = 0; n < source->desc->results; ++n)
        if (meta_has_place(source->desc->result[n].combine) ||
            source->desc->result[n].combine == META_COMBINE_exact)
            return host->fail(META_ERR_UNSUPPORTED, "kernel %s: only sums and extremes",
                              source->desc->name);
    user_kernel *u = calloc(1, sizeof *u);
    if (!u) return host->fail(META_ERR_NO_MEMORY, "the host has no memory for a kernel");
    u->kernel = source->user;
    const meta_cached code = {.size = sizeof code,
                              .kind = "old",
                              .title = source->desc->name,
                              .fact = facts,
                              .facts = 2,
                              .with = u,
                              .load = code_load,
                              .build = code_build};
    *kernel = (meta_plugin_kernel *)(void *)u;
    /* Behind it is memory that cannot be accessed. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED || mprotect(room + page, page, PROT_NONE) != 0)
        return free(u), host->fail(META_ERR_NO_MEMORY, "the host has no pages left");
    const meta_err error =
        meta_host_cached(host, memcpy(room + page - sizeof code, &code, sizeof code));
    munmap(room, 2 * page);
    return error;
}

/* Accumulators of a result of type double or int64_t, which all types of sums here are. */
typedef union lanes {
    double f64[META_KERNEL_LANES];
    int64_t i64[META_KERNEL_LANES];
    int32_t i32[META_KERNEL_LANES];
} lanes;

static void result_begin(lanes *l, const meta_result_desc *r)
{
    const int sign = r->combine == META_COMBINE_min ? 1 : -1;
    memset(l, 0, sizeof *l);
    for (int k = 0; k < META_KERNEL_LANES && r->combine != META_COMBINE_sum; ++k) {
        if (r->type == META_F64) l->f64[k] = sign * HUGE_VAL;
        else if (r->type == META_I64) l->i64[k] = sign > 0 ? INT64_MAX : INT64_MIN;
        else l->i32[k] = sign > 0 ? INT32_MAX : INT32_MIN;
    }
}

#define COMBINE(member)                                                                            \
    do {                                                                                           \
        for (int k = 1; k < META_KERNEL_LANES; ++k) {                                              \
            if (r->combine == META_COMBINE_sum) l->member[0] += l->member[k];                      \
            else if ((r->combine == META_COMBINE_min) == (l->member[k] < l->member[0]))            \
                l->member[0] = l->member[k];                                                       \
        }                                                                                          \
        memcpy(to, l->member, sizeof *l->member);                                                  \
    } while (0)
static void result_end(lanes *l, const meta_result_desc *r, void *to)
{
    if (r->type == META_F64) COMBINE(f64);
    else if (r->type == META_I64) COMBINE(i64);
    else COMBINE(i32);
}

/* Set where the arrays' cell (c[0], c[1], …) lies. */
static void place(const meta_call *call, const meta_kernel *kernel, const meta_i64 *c,
                  meta_kernel_cpu_argument *argument)
{
    uint32_t array = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (!meta_parameter_is_array(p)) continue;
        const meta_layout *layout = meta_call_layout(call, array);
        meta_i64 element = layout->base;
        for (int d = 0; d < call->space->ndim; ++d) element += c[d] * layout->stride[d];
        for (int d = 0; d < META_KERNEL_DIMS; ++d) argument[n].stride[d] = layout->stride[d];
        argument[n].at = (char *)call->object[array++] + element * (meta_i64)p->bytes;
    }
}

/* Each row by itself; teams are placed as meta_kernel_team.h says. */
static void user_run(const meta_call *call)
{
    const user_kernel *u = (const user_kernel *)(const void *)call->kernel;
    const meta_kernel *kernel = u->kernel;
    const meta_kernel_team *team = meta_kernel_team_of(kernel);
    const meta_space *space = call->space;
    meta_kernel_cpu_argument argument[META_KERNEL_PARAMETERS];
    lanes sums[META_KERNEL_PARAMETERS];
    const char *value = call->values;
    uint32_t result = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (meta_parameter_is_result(p)) {
            argument[n].at = &sums[result];
            result_begin(&sums[result], &call->desc->result[result]);
            ++result;
        } else if (!meta_parameter_is_array(p)) {
            argument[n].at = (void *)(uintptr_t)value;
            value += meta_parameter_words(p) * sizeof(uint64_t);
        }
    }
    const meta_i64 step[2] = {team ? team->extent[0] : space->extent[0],
                              team ? team->extent[1] : 1};
    for (meta_i64 z = 0; z < (space->ndim > 2 ? space->extent[2] : 1); ++z)
        for (meta_i64 y = 0; y < (space->ndim > 1 ? space->extent[1] : 1); y += step[1])
            for (meta_i64 x = 0; x < space->extent[0]; x += step[0]) {
                const meta_i64 c[META_MAX_DIM] = {x, y, z};
                meta_kernel_teams work = {.rows = {.cells = team ? 1 : space->extent[0],
                                                   .rows = 1,
                                                   .argument = argument,
                                                   .kernel = kernel,
                                                   .columns = space->extent[0]}};
                place(call, kernel, c, argument);
                for (int d = 0; d < META_KERNEL_DIMS; ++d)
                    work.rows.index[d] = work.place.start[d] =
                        d < space->ndim ? call->start[d] + c[d] : 0;
                for (int d = 0; team && d < META_KERNEL_TEAM_DIMS; ++d) {
                    const meta_i64 left = d < space->ndim ? space->extent[d] - c[d] : 1;
                    work.place.extent[d] = left < team->extent[d] ? left : team->extent[d];
                    work.place.teams[d] = meta_team_count(team, space, d);
                    work.place.number[d] = c[d] / team->extent[d];
                }
                u->run(&work.rows);
            }
    for (uint32_t n = 0; n < result; ++n)
        result_end(&sums[n], &call->desc->result[n], meta_result_memory(&call->result[n]));
}

static meta_err kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel)
{
    (void)device;
    if (source->desc->family == META_FAMILY_USER) return user_create(source, kernel);
    return meta_host_kernel_create(host, source, kernel);
}

static void kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    const uintptr_t at = (uintptr_t)kernel, table = (uintptr_t)&meta_host_table;
    (void)device;
    if (at < table || at >= table + sizeof meta_host_table) free(kernel);
}

static void run(const meta_call *call)
{
    if (call->desc->family == META_FAMILY_USER) user_run(call);
    else meta_host_run(call);
}

/* ------------------------------------------------------------------ queues, copies and launches */

static meta_err queue_create(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue)
{
    (void)kind;
    *queue = (meta_plugin_queue *)(void *)device;
    return META_OK;
}

static void queue_destroy(meta_plugin_queue *queue)
{
    (void)queue;
}

static meta_err queue_finish(meta_plugin_queue *queue)
{
    (void)queue;
    return META_OK;
}

/* Work is complete when the call that queues it returns: there is nothing to order. */
static meta_err queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    (void)queue, (void)earlier;
    return META_OK;
}

static meta_err queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    (void)queue, (void)ticket;
    return META_OK;
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *what)
{
    char *mine = (char *)what->object + what->offset;
    (void)queue;
    if (what->size < sizeof *what)
        return host->fail(META_ERR_PLUGIN, "a copy is smaller than in 0.2.0");
    if (what->kind == META_COPY_H2D) memmove(mine, what->host, what->bytes);
    else memmove(what->host, mine, what->bytes);
    if (what->ticket) *what->ticket = NULL; /* complete */
    return META_OK;
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *unit)
{
    (void)queue;
    if (unit->size < sizeof *unit || unit->calls->size < sizeof *unit->calls)
        return host->fail(META_ERR_PLUGIN, "a launch is smaller than in 0.2.0");
    for (size_t k = 0; k < unit->count; ++k) run(meta_launch_call(unit, k));
    if (unit->ticket) *unit->ticket = NULL;
    return META_OK;
}

/* The only ticket ever returned is NULL, the complete one. */
static meta_err ticket_test(meta_ticket ticket, int *complete)
{
    (void)ticket;
    *complete = 1;
    return META_OK;
}

static meta_err ticket_wait(meta_ticket ticket)
{
    (void)ticket;
    return META_OK;
}

static void ticket_release(meta_ticket ticket)
{
    (void)ticket;
}

static const meta_ops ops = {
    .size = sizeof ops,
    .device_count = device_count,
    .device_info = device_info,
    .open = open_device,
    .close = close_device,
    .state = state_of,
    .alloc = allocate,
    .free = release,
    .wrap = wrap,
    .unwrap = unwrap,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_finish = queue_finish,
    .queue_after = queue_after,
    .queue_wait = queue_wait,
    .copy = copy,
    .launch = launch,
    .ticket_test = ticket_test,
    .ticket_wait = ticket_wait,
    .ticket_release = ticket_release,
};

META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof meta_plugin_v2,
    .name = "old", /* the file is old.so */
    .description = "a back end of 0.2.0",
    .init = init,
    .ops = &ops,
};
