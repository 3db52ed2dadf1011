/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sim.c
 *  The back end sim: its devices and their memory. META_TEST_SIM describes the devices, see
 * sim_describe.c; without it there are none. META_TEST_SIM_EAGER=1 runs work when it is queued.
 * META_TEST_SIM_REPORT=FILE appends what each device has done to a file, META_TEST_SIM_LOG=FILE the
 * device and the kernels of each launch, and each refusal of one. META_TEST_SIM_CROWD=FILE: see
 * sim_crowd. */
#include "sim.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const meta_host *sim_host;
sim_crowd *sim_others;
pthread_mutex_t sim_lock = PTHREAD_MUTEX_INITIALIZER;

static FILE *launches; /* META_TEST_SIM_LOG; NULL: not wanted */

void sim_log(const meta_plugin_device *device, const meta_launch *launch)
{
    if (!launches) return;
    fprintf(launches, "%s", device->name);
    for (size_t k = 0; k < launch->count; ++k)
        fprintf(launches, " %s", meta_launch_call(launch, k)->desc->name);
    fputc('\n', launches);
}

void sim_log_refusal(const meta_plugin_device *device, const char *kernel)
{
    if (launches) fprintf(launches, "%s refuses %s\n", device->name, kernel);
}

/* A file that cannot be mapped is a test's mistake. */
static void map_crowd(void)
{
    const char *path = getenv("META_TEST_SIM_CROWD");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    sim_others = NULL;
    if (!path) return;
    void *at = mmap(NULL, sizeof(sim_crowd), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        perror(path);
        abort();
    }
    close(file);
    sim_others = at;
}

static meta_err init(const meta_host *libmeta)
{
    const char *text = getenv("META_TEST_SIM"), *eager = getenv("META_TEST_SIM_EAGER");
    const char *log = getenv("META_TEST_SIM_LOG");
    launches = log ? fopen(log, "a") : NULL;
    sim_host = libmeta;
    sim_kernels_begin(libmeta);
    map_crowd();
    sim_clock_begin(eager && strcmp(eager, "1") == 0);
    return sim_describe(text ? text : "");
}

/* busy_us is the time that kernels took. */
static void report(FILE *file)
{
    for (const meta_plugin_device *d = sim_device; d < sim_device + sim_devices; ++d)
        fprintf(file,
                "%s launches %" PRIu64 " copies %" PRIu64 " bytes_in %" PRIu64 " bytes_out %" PRIu64
                " bytes_peer %" PRIu64 " busy_us %.3f\n",
                d->name, d->launches, d->copies, d->bytes_in, d->bytes_out, d->bytes_peer,
                (double)d->busy / 1e3);
    fprintf(file, "time_us %.3f\n", (double)sim_now() / 1e3);
}

static void fini(void)
{
    const char *path = getenv("META_TEST_SIM_REPORT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        report(file);
        fclose(file);
    }
    if (launches) fclose(launches);
    launches = NULL;
    if (sim_others) munmap(sim_others, sizeof *sim_others);
    sim_others = NULL;
    free(sim_device);
    sim_device = NULL;
    sim_devices = 0;
}

/* ------------------------------------------------------------------ devices */

static int device_count(char *reason, size_t room)
{
    if (sim_devices == 0) snprintf(reason, room, "META_TEST_SIM describes no device");
    return sim_devices;
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    const meta_plugin_device *device = &sim_device[index];
    /* Devices called gpu0 and gpu1 are two of a kind. */
    size_t letters = strlen(device->name);
    while (letters > 1 && strchr("0123456789-", device->name[letters - 1])) --letters;
    snprintf(desc->name, sizeof desc->name, "%.*s", (int)letters, device->name);
    snprintf(desc->driver, sizeof desc->driver, "simulated");
    desc->memory = (uint64_t)device->memory;
    desc->compute_units = 1;
    desc->has_f64 = !device->lacks_f64;
    desc->is_gpu = device->is_gpu;
    desc->is_host = device->is_host;
    return META_OK;
}

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    if (state && (state->platform || state->device || state->context || state->queue))
        return sim_host->fail(META_ERR_ARGUMENT,
                              "argument 'state': this back end has no native objects");
    *device = &sim_device[index];
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

/* What fresh memory is filled with. */
static int pattern_of(const meta_plugin_device *device)
{
    return (0xa5 + 17 * device->index) & 0xff;
}

/* Touching the address of memory that is not the host's crashes the process. */
static void *reserve(void *object, size_t bytes, bool is_host)
{
    void *address = object;
    if (!is_host)
        address = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static meta_err allocate(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    void *object = NULL, *address = NULL;
    bool fits;
    pthread_mutex_lock(&sim_lock);
    sim_submit();
    fits = device->used + (double)bytes <= device->memory;
    if (fits) device->used += (double)bytes;
    pthread_mutex_unlock(&sim_lock);
    if (!fits)
        return sim_host->fail(META_ERR_NO_MEMORY, "device %s has no %zu bytes left", device->name,
                              bytes);
    if (posix_memalign(&object, 64, bytes) == 0) address = reserve(object, bytes, device->is_host);
    else object = NULL;
    if (!address) {
        free(object);
        pthread_mutex_lock(&sim_lock);
        device->used -= (double)bytes;
        pthread_mutex_unlock(&sim_lock);
        return sim_host->fail(META_ERR_NO_MEMORY, "the host has no %zu bytes left", bytes);
    }
    memset(object, pattern_of(device), bytes);
    *memory = (meta_memory){address, object, bytes};
    return META_OK;
}

/* A test must see this: the work would use what is memory of something else by then. */
static void refuse(const meta_plugin_device *device, const char *what)
{
    fprintf(stderr, "sim: %s of device %s is freed, but queued work uses it\n", what, device->name);
    abort();
}

static void release(meta_plugin_device *device, const meta_memory *memory)
{
    pthread_mutex_lock(&sim_lock);
    if (sim_is_object_used(memory->object)) refuse(device, "memory");
    device->used -= (double)memory->bytes;
    pthread_mutex_unlock(&sim_lock);
    if (memory->address != memory->object) munmap(memory->address, memory->bytes);
    free(memory->object);
}

static meta_err wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory)
{
    (void)kind;
    if (!device->is_host)
        return sim_host->fail(META_ERR_POINTER,
                              "argument 'native' is a host array, and device %s has memory "
                              "of its own",
                              device->name);
    *memory = (meta_memory){native, native, bytes};
    return META_OK;
}

static void unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    pthread_mutex_lock(&sim_lock);
    if (sim_is_object_used(memory->object)) refuse(device, "wrapped memory");
    pthread_mutex_unlock(&sim_lock);
}

/* ------------------------------------------------------------------ kernels and peers */

static void kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    pthread_mutex_lock(&sim_lock);
    if (sim_is_kernel_used(kernel)) refuse(device, "a kernel");
    pthread_mutex_unlock(&sim_lock);
    sim_kernel_free(kernel);
}

static int copy_peer(meta_plugin_device *device, meta_plugin_device *peer)
{
    return device->peer > 0 && peer->peer > 0;
}

static uint64_t now(void)
{
    pthread_mutex_lock(&sim_lock);
    const uint64_t time = sim_now();
    pthread_mutex_unlock(&sim_lock);
    return time;
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
    .kernel_create = sim_kernel_create,
    .kernel_destroy = kernel_destroy,
    .queue_create = sim_queue_create,
    .queue_destroy = sim_queue_destroy,
    .queue_finish = sim_queue_finish,
    .queue_after = sim_queue_after,
    .queue_wait = sim_queue_wait,
    .copy = sim_copy,
    .copy_peer = copy_peer,
    .launch = sim_launch,
    .ticket_test = sim_ticket_test,
    .ticket_wait = sim_ticket_wait,
    .ticket_release = sim_ticket_release,
    .now = now,
#ifndef SIM_BLIND
    .checks = META_CHECKS_CPU,
#endif
};

META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .size = sizeof meta_plugin_v2,
#ifdef SIM_BLIND
    .abi_minor = 4, /* the last one without checks */
    .name = "blind",
#else
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .name = "sim",
#endif
    .description = "simulated devices with a virtual clock",
    .init = init,
    .fini = fini,
    .ops = &ops,
};
