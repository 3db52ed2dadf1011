/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.cpp
 *  Device discovery, and opening a device, with a stream of its own or the application's. */
#include "gpu.h"

#include <cstdio>
#include <cstdlib>

/* ------------------------------------------------------------------ discovery */

/* CUDA encodes a version as 1000 * major + 10 * minor, HIP as 10000000 * major + 100000 * minor. */
static void write_version(char *text, size_t room, int version)
{
#if defined(META_GPU_CUDA)
    snprintf(text, room, "%d.%d", version / 1000, version % 1000 / 10);
#else
    snprintf(text, room, "%d.%d", version / 10000000, version / 100000 % 100);
#endif
}

static void versions(char *driver, char *runtime, size_t room)
{
    int version = 0;
    snprintf(driver, room, "none");
    snprintf(runtime, room, "unknown");
    if (GPU(DriverGetVersion)(&version) == GPU(Success) && version > 0)
        write_version(driver, room, version);
    if (GPU(RuntimeGetVersion)(&version) == GPU(Success)) write_version(runtime, room, version);
}

static void describe_failure(gpu_status status, char *reason, size_t room)
{
    char driver[32], runtime[32];
    int version = 0;
    if (status == GPU(Success) || status == GPU(ErrorNoDevice)) {
        snprintf(reason, room, "no %s device is visible; is %s set?", GPU_TITLE, GPU_VISIBLE);
        return;
    }
    versions(driver, runtime, sizeof driver);
    if (status == GPU(ErrorInsufficientDriver) &&
        (GPU(DriverGetVersion)(&version) != GPU(Success) || version == 0))
        snprintf(reason, room,
                 "no driver for %s devices is installed, or none that runtime %s can use",
                 GPU_TITLE, runtime);
    else if (status == GPU(ErrorInsufficientDriver))
        snprintf(reason, room,
                 "the driver serves %s %s, but this plugin was built with %s; install "
                 "a newer driver or build with an older toolkit",
                 GPU_TITLE, driver, runtime);
    else
        snprintf(reason, room, "%sGetDeviceCount: %s (%s)", GPU_PREFIX, GPU(GetErrorString)(status),
                 GPU(GetErrorName)(status));
}

int gpu_device_count(char *reason, size_t room)
{
    int count = 0;
    const gpu_status status = GPU(GetDeviceCount)(&count);
    if (status == GPU(Success) && count > 0) return count;
    (void)GPU(GetLastError)();
    describe_failure(status, reason, room);
    return 0;
}

meta_err gpu_device_info(int index, meta_device_desc *desc)
{
    char driver[32], runtime[32];
    gpu_properties found;
    GPU_TRY(GetDeviceProperties, (&found, index));
    versions(driver, runtime, sizeof driver);
    snprintf(desc->name, sizeof desc->name, "%.*s", (int)sizeof desc->name - 1, found.name);
    snprintf(desc->driver, sizeof desc->driver, "%s driver %s, runtime %s", GPU_TITLE, driver,
             runtime);
    desc->memory = found.totalGlobalMem;
    desc->compute_units = found.multiProcessorCount;
    desc->has_f64 = 1;
    desc->is_host = 0;
    desc->is_gpu = GPU_IS_GPU;
    if (GPU_IS_GPU)
        snprintf(desc->pci, sizeof desc->pci, "%04x:%02x:%02x.0", found.pciDomainID & 0xffff,
                 found.pciBusID & 0xff, found.pciDeviceID & 0xff);
    return META_OK;
}

/* ------------------------------------------------------------------ opening */

meta_err gpu_use(const meta_plugin_device *device)
{
    GPU_TRY(SetDevice, (device->ordinal));
    return META_OK;
}

meta_err gpu_stream_create(int urgent, gpu_stream *stream)
{
    int least = 0, greatest = 0;
    GPU_TRY(DeviceGetStreamPriorityRange, (&least, &greatest));
    GPU_TRY(StreamCreateWithPriority, (stream, GPU(StreamNonBlocking), urgent ? greatest : least));
    return META_OK;
}

static meta_err adopt(meta_plugin_device *device, const meta_state *state)
{
    if (state->platform || state->device || state->context)
        return gpu_host->fail(META_ERR_ARGUMENT,
                              "argument 'state': of a %s device the library takes a stream, in "
                              "queue; platform, device and context must be NULL",
                              GPU_TITLE);
    device->adopted = (gpu_stream)state->queue;
    return META_OK;
}

/* An event can only be recorded on a stream of its own device. */
static meta_err check_adopted(meta_plugin_device *device)
{
    gpu_event event;
    META_TRY(gpu_event_take(device, &event));
    const gpu_status status = GPU(EventRecord)(event, device->adopted);
    gpu_event_keep(device, event);
    if (status == GPU_NOT_ITS_OWN) {
        (void)GPU(GetLastError)();
        return gpu_host->fail(META_ERR_ARGUMENT,
                              "argument 'state': its queue is no stream of %s device %d", GPU_TITLE,
                              device->ordinal);
    }
    GPU_TRY_AS(GPU_PREFIX "EventRecord", status);
    return META_OK;
}

static meta_err open_device(meta_plugin_device *device, const meta_state *state)
{
    if (state) META_TRY(adopt(device, state));
    META_TRY(gpu_use(device));
    if (device->adopted) META_TRY(check_adopted(device));
    GPU_TRY(GetDeviceProperties, (&device->properties, device->ordinal));
    const int units = device->properties.multiProcessorCount;
    device->units = units > 0 ? units : 1;
    META_TRY(gpu_stream_create(0, &device->memory));
    return gpu_pool_open(device);
}

meta_err gpu_open(int index, const meta_state *state, meta_plugin_device **device)
{
    meta_plugin_device *opened = (meta_plugin_device *)calloc(1, sizeof *opened);
    if (!opened) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    opened->ordinal = index;
    pthread_mutex_init(&opened->lock, NULL);
    const meta_err error = open_device(opened, state);
    if (error != META_OK) return gpu_close(opened), error;
    *device = opened;
    return META_OK;
}

void gpu_close(meta_plugin_device *device)
{
    GPU_NOTE(SetDevice, (device->ordinal));
    for (size_t k = 0; k < device->events.count; ++k)
        GPU_NOTE(EventDestroy, (device->events.event[k]));
    for (size_t k = 0; k < device->timed.count; ++k)
        GPU_NOTE(EventDestroy, (device->timed.event[k]));
    if (device->clock.base) GPU_NOTE(EventDestroy, (device->clock.base));
    free(device->events.event);
    free(device->timed.event);
    if (device->memory) GPU_NOTE(StreamSynchronize, (device->memory));
    gpu_pool_close(device);
    if (device->memory) GPU_NOTE(StreamDestroy, (device->memory));
    pthread_mutex_destroy(&device->lock);
    free(device);
}

meta_err gpu_state(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state)
{
    (void)device;
    state->queue = queue ? queue->stream : NULL;
    if (!queue) return META_OK;
    pthread_mutex_lock(&queue->lock);
    queue->given = 1;
    pthread_mutex_unlock(&queue->lock);
    return META_OK;
}
