/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learn.c
 *  META_LEARN: what is learned of kernels and links is kept for the next processes, or what they
 * have kept is fixed, so that decisions can be repeated. */
#include "auto/learn.h"
#include "auto/auto.h"
#include "auto/link.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cache/cache.h"

static bool reads;
static char named[PATH_MAX];
static meta_learn_place place;
static meta_learned known; /* as it was read */

meta_err meta_learn_read(void)
{
    static const char *const words[] = {"off", "read", "on"};
    enum { OFF, READ, ON, WORDS };
    const char *text = meta_variable("META_LEARN");
    const char *colon = text ? strchr(text, ':') : NULL;
    const size_t length = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
    int k = text ? OFF : ON;
    while (text && k < WORDS &&
           (strlen(words[k]) != length || strncmp(text, words[k], length) != 0))
        ++k;
    if (k == WORDS || (colon && (k == OFF || !colon[1])))
        return meta_fail(META_ERR_ENVIRONMENT,
                         "META_LEARN=%s: give off, read, on, read:FILE or on:FILE", text);
    if (colon && strlen(colon + 1) >= sizeof named)
        return meta_fail(META_ERR_ENVIRONMENT,
                         "META_LEARN: the file's name has %zu characters, "
                         "more than %d",
                         strlen(colon + 1), PATH_MAX - 1);
    reads = k != OFF;
    place.only_read = k == READ;
    place.named = colon ? strcpy(named, colon + 1) : NULL;
    return META_OK;
}

/* ------------------------------------------------------------------ the machine */

/* Two drivers of one device, or two numbers of threads, differ in speed; checked kernels are slow.
 */
static void describe_machine(char *text, size_t room)
{
    bool is_checked = false;
    meta_variable_switch("META_CHECK", &is_checked);
    size_t at =
        (size_t)snprintf(text, room, "libmeta %d.%d.%d, %d devices, %d threads%s\n",
                         META_VERSION_MAJOR, META_VERSION_MINOR, META_VERSION_PATCH,
                         meta_auto.devices, meta_threads(), is_checked ? ", META_CHECK=on" : "");
    for (int d = 0; d < meta_auto.devices; ++d) {
        const meta_device *device = meta_auto.device[d].device;
        meta_device_desc desc = META_DEVICE_DESC_INIT;
        if (meta_device_describe(device, &desc) != META_OK) *desc.name = '\0';
        for (char *c = desc.name; *c; ++c)
            if (*c == '\n') *c = ' ';
        for (char *c = desc.driver; *c; ++c)
            if (*c == '\n') *c = ' ';
        const int length =
            snprintf(text + at, room - at, "device %d %s, %d units: %s, %s\n", d,
                     device->backend->name, desc.compute_units, desc.name, desc.driver);
        at += (size_t)length < room - at ? (size_t)length : 0;
    }
}

/* ------------------------------------------------------------------ kernels */

/* Of two kernels that differ in what they access, or in their text, each has its own times. */
static uint64_t identity_of(const meta_kernel_desc *desc)
{
    meta_cache_key key = META_CACHE_KEY_INIT;
    const uint32_t traits[] = {desc->family, desc->values,   desc->combine, desc->grid,
                               desc->passes, desc->operands, desc->results};
    meta_cache_key_add(&key, traits, sizeof traits);
    for (uint32_t k = 0; k < desc->operands; ++k)
        meta_cache_key_add(&key, &desc->operand[k], sizeof desc->operand[k]);
    for (uint32_t k = 0; k < desc->results; ++k)
        meta_cache_key_add(&key, &desc->result[k], sizeof desc->result[k]);
    if (desc->family == META_FAMILY_USER)
        meta_cache_key_add(&key, &meta_user_of(desc)->identity, sizeof(uint64_t));
    return key.part[0];
}

int meta_learn_kernel(const meta_kernel_desc *desc, uint32_t type)
{
    const uint64_t identity = identity_of(desc);
    const int before = meta_times_kernels(meta_auto.times);
    const int number = meta_times_kernel(meta_auto.times, desc->name, type, identity);
    if (number < before) return number; /* it is not new */
    for (size_t k = 0; k < known.count; ++k) {
        const meta_learned_line *l = &known.line[k];
        if (l->identity == identity && l->type == type && strcmp(l->name, desc->name) == 0)
            meta_times_import(meta_auto.times, number, &l->runs);
    }
    return number;
}

/* ------------------------------------------------------------------ begin and end */

void meta_learn_open(void)
{
    meta_auto.is_fixed = reads && place.only_read;
    place.is_foreign = false;
    if (meta_auto.is_fixed) meta_times_fix(meta_auto.times);
    if (!reads) return;
    describe_machine(place.machine, sizeof place.machine);
    meta_learn_load(&place, &known);
    for (int d = 0; d < meta_auto.devices; ++d) {
        for (int o = 0; o < META_OCTAVES; ++o)
            meta_times_raise_pace(meta_auto.times, d, &known.pace[d][o]);
        for (int from = 0; from < meta_auto.devices; ++from)
            meta_auto_link_import(from, d, &known.link[from][d]);
    }
}

/* Of the runs in a window the ranks of a node replace half and one, each its share of them. */
static int share_of_runs(void)
{
    const int half = META_TIMES_WINDOW / 2 + 1;
    int rank, size;
    meta_job_place(&rank, &size);
    return (half + size - 1) / size;
}

static void add_kernel(meta_learned *table, int number)
{
    const int share = share_of_runs();
    const char *name;
    uint32_t type;
    uint64_t identity;
    meta_times_identify(meta_auto.times, number, &name, &type, &identity);
    for (int d = 0; d < meta_auto.devices; ++d)
        for (int o = 0; o < META_OCTAVES; ++o) {
            meta_time_runs runs;
            if (meta_times_export(meta_auto.times, number, d, o, &runs))
                meta_learned_add(table, name, type, identity, &runs, share);
        }
}

static void add_all(meta_learned *table)
{
    ++table->turn;
    for (int k = 0; k < meta_times_kernels(meta_auto.times); ++k) add_kernel(table, k);
    for (int d = 0; d < meta_auto.devices; ++d) {
        const meta_pace *pace = meta_times_pace(meta_auto.times, d);
        for (int o = 0; o < META_OCTAVES; ++o) meta_learned_add_pace(table, d, &pace->best[o]);
        for (int from = 0; from < meta_auto.devices; ++from) {
            meta_learned_link own;
            if (meta_auto_link_export(from, d, &own)) meta_learned_add_link(table, from, d, &own);
        }
    }
}

/* Whether this process has timed anything. */
static bool has_learned(void)
{
    meta_time_runs runs;
    meta_learned_link link;
    for (int d = 0; d < meta_auto.devices; ++d) {
        for (int from = 0; from < meta_auto.devices; ++from)
            if (meta_auto_link_export(from, d, &link)) return true;
        for (int k = 0; k < meta_times_kernels(meta_auto.times); ++k)
            for (int o = 0; o < META_OCTAVES; ++o)
                if (meta_times_export(meta_auto.times, k, d, o, &runs)) return true;
    }
    return false;
}

void meta_learn_close(void)
{
    meta_learned_clear(&known);
    meta_auto_read_samples();
    if (reads && !place.only_read && has_learned()) meta_learn_change(&place, add_all);
}
