/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sim_describe.c
 *  The devices that META_TEST_SIM describes: `NAME word …`, separated by ; or |. A word is
 *
 *  - launch=SECONDS: what each launch costs; rate=BYTES: that kernels move per second
 *  - KERNEL=FACTOR: that kernel, stencil_3d7p or one of the program's, takes so many times as long
 *  - latency=SECONDS and bandwidth=BYTES of the link to the host
 *  - peer=BYTES per second: copies between two devices that have it go at the lower one
 *  - memory=BYTES, in binary units
 *  - slow=SECONDS:FACTOR: kernels that begin later take so many times as long; until=SECONDS: no
 * more
 *  - first=FACTOR: the first launch of each kernel does
 *  - fails=N: launch or copy N, counted from 1, fails, and so do all later ones
 *  - refuses=KERNEL: its compiler takes all kernels but that one
 *  - shares=NAME: it has one engine for everything together with that device
 *  - sync: the host waits for work when it is queued; host: memory is the host's; accelerator: a
 *    GPU, as far as libmeta can tell; nof64
 *
 *  Times end with ns, us, ms or s, sizes with K, M or G. */
#include "sim.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

meta_plugin_device *sim_device;
int sim_devices;

typedef struct unit {
    const char *suffix;
    double scale;
} unit;

static const unit seconds[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {0}};
static const unit rates[] = {{"", 1e-9}, {"K", 1e-6}, {"M", 1e-3}, {"G", 1}, {0}};
static const unit sizes[] = {{"", 1}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {0}};
static const unit numbers[] = {{"", 1}, {0}};

static const struct {
    const char *name;
    const unit *units;
    size_t at; /* of a double in the device */
} keys[] = {{"launch", seconds, offsetof(meta_plugin_device, launch)},
            {"rate", rates, offsetof(meta_plugin_device, rate)},
            {"until", seconds, offsetof(meta_plugin_device, slow_until)},
            {"latency", seconds, offsetof(meta_plugin_device, latency)},
            {"bandwidth", rates, offsetof(meta_plugin_device, bandwidth)},
            {"peer", rates, offsetof(meta_plugin_device, peer)},
            {"memory", sizes, offsetof(meta_plugin_device, memory)},
            {"first", numbers, offsetof(meta_plugin_device, first)},
            {"fails", numbers, offsetof(meta_plugin_device, fails)}};

static const struct {
    const char *name;
    size_t at; /* of a bool in the device */
} flags[] = {{"sync", offsetof(meta_plugin_device, is_sync)},
             {"host", offsetof(meta_plugin_device, is_host)},
             {"accelerator", offsetof(meta_plugin_device, is_gpu)},
             {"nof64", offsetof(meta_plugin_device, lacks_f64)}};

/* A device of which only the name is given. */
static const meta_plugin_device typical = {.launch = 5e3,
                                           .rate = 10,
                                           .first = 1,
                                           .slow_after = INFINITY,
                                           .slow_until = INFINITY,
                                           .slow = 1,
                                           .latency = 5e3,
                                           .bandwidth = 10,
                                           .memory = 0x1p30};

static bool read_number(const char *text, const unit *units, double *value)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || !isfinite(number) || number < 0 || (number == 0 && units == rates))
        return false;
    for (const unit *u = units; u->suffix; ++u) {
        if (strcmp(end, u->suffix) != 0) continue;
        *value = number * u->scale;
        return true;
    }
    return false;
}

static bool read_slow(meta_plugin_device *device, char *value)
{
    char *colon = strchr(value, ':');
    if (!colon) return false;
    *colon = 0;
    const bool is_sound = read_number(value, seconds, &device->slow_after) &&
                          read_number(colon + 1, numbers, &device->slow);
    *colon = ':';
    return is_sound;
}

static bool read_factor(meta_plugin_device *device, const char *key, const char *value)
{
    sim_factor *factor = &device->factor[device->factors];
    if (device->factors == SIM_FACTORS || strlen(key) >= sizeof factor->kernel || !*key)
        return false;
    strcpy(factor->kernel, key);
    ++device->factors;
    return read_number(value, numbers, &factor->factor);
}

static bool read_name(char *to, size_t room, const char *value)
{
    if (strlen(value) >= room || !*value) return false;
    strcpy(to, value);
    return true;
}

static bool read_value(meta_plugin_device *device, const char *key, char *value)
{
    for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k)
        if (strcmp(key, keys[k].name) == 0)
            return read_number(value, keys[k].units,
                               (double *)(void *)((char *)device + keys[k].at));
    if (strcmp(key, "slow") == 0) return read_slow(device, value);
    if (strcmp(key, "shares") == 0) return read_name(device->shares, sizeof device->shares, value);
    if (strcmp(key, "refuses") == 0)
        return read_name(device->refuses, sizeof device->refuses, value);
    return read_factor(device, key, value);
}

static bool read_word(meta_plugin_device *device, char *word)
{
    char *equals = strchr(word, '=');
    for (size_t k = 0; k < sizeof flags / sizeof *flags; ++k)
        if (strcmp(word, flags[k].name) == 0) return *(bool *)((char *)device + flags[k].at) = true;
    if (!equals) return false;
    *equals = 0;
    const bool is_sound = read_value(device, word, equals + 1);
    *equals = '=';
    return is_sound;
}

static meta_plugin_device *find(const char *name)
{
    for (int k = 0; k < sim_devices; ++k)
        if (strcmp(sim_device[k].name, name) == 0) return &sim_device[k];
    return NULL;
}

static meta_err read_device(char *text)
{
    char *rest = NULL, *word = strtok_r(text, " \t\n", &rest);
    if (!word) return META_OK; /* after the last semicolon */
    if (strlen(word) >= SIM_NAME || strchr(word, '='))
        return sim_host->fail(META_ERR_ENVIRONMENT, "META_TEST_SIM: '%s' is not a device's name",
                              word);
    if (find(word))
        return sim_host->fail(META_ERR_ENVIRONMENT, "META_TEST_SIM: device '%s' is there twice",
                              word);
    meta_plugin_device *device = &sim_device[sim_devices];
    *device = typical;
    device->index = sim_devices++;
    strcpy(device->name, word);
    while ((word = strtok_r(NULL, " \t\n", &rest)))
        if (!read_word(device, word))
            return sim_host->fail(META_ERR_ENVIRONMENT,
                                  "META_TEST_SIM: device %s: '%s' is not understood", device->name,
                                  word);
    return META_OK;
}

/* A chain of devices that share ends with one that shares with none. */
static meta_err find_owner(meta_plugin_device *device)
{
    device->owner = device;
    for (int steps = 0; device->owner->shares[0]; ++steps) {
        meta_plugin_device *next = find(device->owner->shares);
        if (!next || steps == sim_devices)
            return sim_host->fail(META_ERR_ENVIRONMENT,
                                  "META_TEST_SIM: device %s: 'shares=%s' names %s", device->name,
                                  device->owner->shares, next ? "a cycle" : "no other device");
        device->owner = next;
    }
    if (device->owner != device) device->owner->is_shared = true;
    return META_OK;
}

static meta_err read_all(char *copy)
{
    char *rest = NULL;
    for (char *text = strtok_r(copy, ";|", &rest); text; text = strtok_r(NULL, ";|", &rest))
        META_TRY(read_device(text));
    for (int k = 0; k < sim_devices; ++k) META_TRY(find_owner(&sim_device[k]));
    return META_OK;
}

meta_err sim_describe(const char *text)
{
    size_t most = 1;
    char *copy = strdup(text);
    for (const char *c = text; *c; ++c) most += *c == ';' || *c == '|';
    free(sim_device);
    sim_devices = 0;
    sim_device = calloc(most, sizeof *sim_device);
    const meta_err error = copy && sim_device
                               ? read_all(copy)
                               : sim_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    free(copy);
    if (error != META_OK) sim_devices = 0;
    return error;
}
