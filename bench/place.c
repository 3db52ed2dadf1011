/* SPDX-License-Identifier: BSD-3-Clause */
/** @file place.c
 *  The devices that the ranks measure, and the peers loaded for them. */
#include "config.h"

#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "load.h"
#include "note.h"

/* Parse NAME or NAME:N. */
static void choose(const char *backend)
{
    char name[64];
    int64_t index = 0;
    meta_mode mode;
    const size_t length = strcspn(backend, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, backend);
    if (length >= sizeof name ||
        (backend[length] == ':' &&
         (!number_parse(backend + length + 1, &index) || index < 0 || index > 1000000))) {
        note("--backend %s: must be a back end's name, or name:number of its device", backend);
        return;
    }
    if (meta_mode_find(name, &mode) != META_OK)
        note("--backend %s: there is no such back end; meta-info lists them", backend);
    else if (meta_set_acc((int)index, mode) != META_OK)
        note("--backend %s: %s", backend, meta_last_error());
}

static int threads_of(const meta_device_desc *device)
{
    const job *j = job_here();
    int threads = 0;
    if (device->is_gpu) return 0;
    if (meta_rank_device(j->rank, j->size, j->node_rank, j->node_size, NULL, NULL, &threads) ==
        META_OK)
        return threads;
    return device->compute_units;
}

static void add_name(char *list, size_t room, const char *name)
{
    const size_t length = strlen(name), used = strlen(list);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == '+') && (at[length] == '\0' || at[length] == '+')) return;
    snprintf(list + used, room - used, "%s%s", used > 0 ? "+" : "", name);
}

/* Logical and over all ranks. */
static bool everywhere(bool here)
{
    double missing = !here;
    job_most(&missing, 1);
    return missing == 0;
}

static void tell_devices(place *p)
{
    p->backends[0] = '\0';
    for (int r = 0; r < job_here()->size; ++r) {
        char name[sizeof p->device.backend];
        memcpy(name, p->device.backend, sizeof name);
        job_tell(name, sizeof name, r);
        add_name(p->backends, sizeof p->backends, name);
    }
    p->all_host = everywhere(p->device.is_host);
    p->any_gpu = !everywhere(!p->device.is_gpu);
}

static void open_peer(place *p)
{
    char reason[512] = "", text[NOTE_ROOM];
    p->table = peer_open(p->mode, p->index, &p->peer, reason, sizeof reason);
    if (p->table == NULL) note("%s", reason);
    p->has_peer = !note_agree(text);
    if (!p->has_peer) note_print("without peers and their limits: %s", text);
    p->has_blas = everywhere(p->table != NULL && p->table->blas != NULL) && p->has_peer;
    p->any_stages = !everywhere(!place_stages(p)) && p->has_peer;
    p->has_gray_scott = everywhere(p->table != NULL && p->table->gray_scott != NULL) && p->has_peer;
    p->has_sum = everywhere(p->table != NULL && p->table->sum != NULL) && p->has_peer;
}

bool place_stages(const place *p)
{
    return p->table != NULL && p->table->stage != NULL;
}

void place_open(place *p, const char *backend)
{
    *p = (place){.mode = META_SPREAD, .device = META_DEVICE_DESC_INIT};
    if (backend != NULL) choose(backend);
    if (!note_seen() && note_meta(meta_get_acc(&p->index, &p->mode)))
        note_meta(meta_device_info(p->index, p->mode, &p->device));
    p->threads = threads_of(&p->device);
    tell_devices(p);
    if (everywhere(!note_seen())) open_peer(p);
}

void place_close(place *p)
{
    if (p->table != NULL) p->table->close(p->peer);
    p->table = NULL;
}

/* ------------------------------------------------------------------ memory limits */

meta_type type_of(number type)
{
    static const meta_type types[NUMBER_COUNT] = {
        [NUMBER_F64] = META_F64, [NUMBER_F32] = META_F32, [NUMBER_I64] = META_I64,
        [NUMBER_U64] = META_U64, [NUMBER_I32] = META_I32, [NUMBER_U32] = META_U32,
    };
    return types[type];
}

/* The number that follows @p key at the start of a line of file @p path, or -1. */
static double number_in(const char *path, const char *key)
{
    char line[256];
    double value = -1;
    FILE *file = fopen(path, "r");
    while (file != NULL && value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) != 0 || sscanf(line + strlen(key), "%lf", &value) != 1)
            value = -1;
    if (file != NULL) fclose(file);
    return value;
}

/* The node's available memory as far as known; a container's limit may be below the machine's. */
static double host_available(void)
{
    double available = number_in("/proc/meminfo", "MemAvailable:") * 1024;
    const double limit = number_in("/sys/fs/cgroup/memory.max", "");
    const double used = number_in("/sys/fs/cgroup/memory.stat", "anon ");
    if (limit > 0 && used >= 0 && (available < 0 || limit - used < available))
        available = limit - used;
    return available;
}

void place_need(const place *p, double device_bytes, double host_bytes)
{
    static const double MiB = 0x1p20;
    meta_mem_desc memory = META_MEM_DESC_INIT;
    const double available = 0.9 * host_available();
    const double on_host =
        (host_bytes + (p->device.is_gpu ? 0 : device_bytes)) * job_here()->node_size;
    if (available >= 0 && on_host > available)
        note("%.0f MiB of host memory are needed and %.0f are to be had; choose a smaller size",
             on_host / MiB, available / MiB);
    if (!note_meta(meta_mem_info(p->index, p->mode, &memory))) return;
    const double left = (double)memory.total - (double)memory.allocated;
    if (device_bytes > left)
        note("%.0f MiB of device memory are needed and %.0f are to be had; choose a smaller size",
             device_bytes / MiB, left / MiB);
}

/* ------------------------------------------------------------------ buffers */

static void one_of(number type, void *one)
{
    static const double f64 = 1;
    static const float f32 = 1;
    static const uint64_t whole = 1;
    static const uint32_t half = 1;
    const void *ones[NUMBER_COUNT] = {
        [NUMBER_F64] = &f64,   [NUMBER_F32] = &f32,  [NUMBER_I64] = &whole,
        [NUMBER_U64] = &whole, [NUMBER_I32] = &half, [NUMBER_U32] = &half,
    };
    memcpy(one, ones[type], number_size(type));
}

/* A native object would keep a buffer of META_MODE=auto on one device, and has no peer to use it.
 */
static void make_native(buffer *b)
{
    int index;
    meta_mode mode = META_SPREAD;
    if (note_meta(meta_get_acc(&index, &mode)) && mode != META_AUTO)
        note_meta(meta_native(b->at, &b->native.object, &b->native.offset));
}

/* First-touch and initialise the elements, if the allocation succeeded. */
static void buffer_begin(buffer *b, bool allocated, int64_t count, number type)
{
    uint64_t one;
    one_of(type, &one);
    if (!allocated) {
        b->at = NULL;
        return;
    }
    note_meta(meta_fill(b->at, count, &one, type_of(type), NULL));
    make_native(b);
}

void buffer_create(buffer *b, int64_t count, number type)
{
    *b = (buffer){.at = NULL};
    if (note_seen()) return;
    const bool allocated = note_meta(meta_alloc(&b->at, (size_t)count * number_size(type)));
    buffer_begin(b, allocated, count, type);
}

void buffer_create_grid(buffer *b, meta_box *own, int64_t n, int64_t ghosts, number type)
{
    const int64_t cells[3] = {n, n, n};
    const int wide = (int)ghosts, around[3] = {wide, wide, wide};
    *b = (buffer){.at = NULL};
    if (note_seen()) return;
    const bool allocated =
        note_meta(meta_grid_alloc(&b->at, own, 3, cells, around, around, type_of(type)));
    buffer_begin(b, allocated, allocated ? own->size[0] * own->size[1] * own->size[2] : 0, type);
}

void buffer_create_host(buffer *b, int64_t count, number type)
{
    const size_t bytes = (size_t)count * number_size(type);
    *b = (buffer){.on_host = true};
    if (note_seen()) return;
    if (posix_memalign(&b->at, 64, bytes) != 0) {
        b->at = NULL;
        note("no room in host memory for %zu bytes", bytes);
        return;
    }
    for (int64_t i = 0; i < count; ++i) one_of(type, number_at(b->at, i, type));
}

void buffer_free(buffer *b)
{
    if (b->on_host) free(b->at);
    else if (b->at != NULL) note_meta(meta_free(b->at));
    *b = (buffer){.at = NULL};
}

meta_peer_memory buffer_native(const buffer *b, int64_t offset)
{
    return (meta_peer_memory){b->native.object, b->native.offset + (size_t)offset};
}
