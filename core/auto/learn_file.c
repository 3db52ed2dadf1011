/* SPDX-License-Identifier: BSD-3-Clause */
/** @file learn_file.c
 *  The file in which what was learned is kept: one for each machine in the cache's folder, or the
 * one that META_LEARN names. Processes change it one after the other, each what the last one left,
 * and readers see a complete one. */
#include "auto/auto.h"
#include "auto/learn.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cache.h"

typedef struct spot {
    int folder; /* open; -1: there is none */
    char name[NAME_MAX + 1];
    char path[PATH_MAX + NAME_MAX + 2];
} spot;

/* ------------------------------------------------------------------ where it is */

static void name_by_machine(const char *machine, char *name, size_t room)
{
    meta_cache_key key = META_CACHE_KEY_INIT;
    const uint32_t format = META_LEARNED_FORMAT;
    meta_cache_key_add(&key, &format, sizeof format);
    meta_cache_key_text(&key, machine);
    snprintf(name, room, "learned-%016" PRIx64 "%016" PRIx64 ".txt", key.part[0], key.part[1]);
}

static bool open_named(const char *path, spot *s)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(s->path, sizeof s->path, "%s", path);
    snprintf(s->name, sizeof s->name, "%s", slash ? slash + 1 : path);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    s->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s->folder >= 0;
}

static bool open_folder(int index, bool make, spot *s)
{
    char folder[PATH_MAX];
    s->folder = meta_cache_folder(index, make);
    if (s->folder < 0 || !meta_cache_folder_path(index, folder, sizeof folder)) return false;
    snprintf(s->path, sizeof s->path, "%s/%s", folder, s->name);
    return true;
}

static bool can_be_written(const spot *s)
{
    return faccessat(s->folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* The folder with the file; one that can be written comes first, since there it is kept. */
static bool find_to_read(const meta_learn_place *place, spot *s)
{
    if (place->named) return open_named(place->named, s);
    name_by_machine(place->machine, s->name, sizeof s->name);
    for (int any = 0; any < 2; ++any)
        for (int k = 0; k < META_CACHE_FOLDERS; ++k) {
            if (!open_folder(k, false, s)) continue;
            if (faccessat(s->folder, s->name, F_OK, 0) == 0 && (any || can_be_written(s)))
                return true;
            close(s->folder);
        }
    return false;
}

static bool find_to_write(const meta_learn_place *place, spot *s)
{
    if (place->named) return open_named(place->named, s);
    name_by_machine(place->machine, s->name, sizeof s->name);
    for (int k = 0; k < META_CACHE_FOLDERS; ++k) {
        if (!open_folder(k, true, s)) continue;
        if (can_be_written(s)) return true;
        close(s->folder);
    }
    return false;
}

/* ------------------------------------------------------------------ reading */

/* What is there, as a table. @return false with the @p reason, which is empty if there is nothing
 */
static bool read_table(const meta_learn_place *place, const spot *s, meta_learned *table,
                       char *reason, size_t room)
{
    const meta_owners owners = place->named ? META_THIS_USER_OR_ROOT : META_THIS_USER;
    size_t bytes;
    char *text =
        meta_file_read(s->folder, s->name, owners, META_LEARNED_BYTES, &bytes, reason, room);
    if (!text) return false;
    const bool read =
        meta_learned_parse(table, text, bytes, place->machine, meta_auto.devices, reason, room);
    free(text);
    return read;
}

static void say_missing(const meta_learn_place *place)
{
    char folder[PATH_MAX], name[NAME_MAX + 1];
    if (!place->only_read) return;
    name_by_machine(place->machine, name, sizeof name);
    if (place->named)
        meta_log(META_LOG_WARN,
                 "META_LEARN=read:%s: there is no such file, so calls stay where their data is; "
                 "META_LEARN=on:%s makes one",
                 place->named, place->named);
    else if (meta_cache_folder_path(0, folder, sizeof folder))
        meta_log(META_LOG_WARN,
                 "META_LEARN=read: there is no %s/%s, so calls stay where their data is: run once "
                 "with META_LEARN=on on this machine",
                 folder, name);
    else
        meta_log(META_LOG_WARN,
                 "META_LEARN=read: there is no folder to read from, so calls stay where their data "
                 "is: set META_CACHE_DIR, or name a file by META_LEARN=read:FILE");
}

static void say_useless(const meta_learn_place *place, const char *path, const char *reason)
{
    const char *remedy = "META_LEARN=on replaces it";
    if (!place->only_read) remedy = "it is replaced at the end";
    if (place->named) remedy = "name another file, or remove it and make it by META_LEARN=on:FILE";
    meta_log(META_LOG_WARN, "what was learned is not read from %s: %s; %s", path, reason, remedy);
}

static void say_not_kept(const char *path, const char *reason)
{
    meta_log(META_LOG_WARN,
             "what was learned is not kept in %s: %s; META_CACHE_DIR or META_LEARN=on:FILE can "
             "name another place, META_LEARN=off needs none",
             path, reason);
}

void meta_learn_load(meta_learn_place *place, meta_learned *table)
{
    char reason[512] = "";
    spot s;
    const bool found = find_to_read(place, &s);
    const bool read = found && read_table(place, &s, table, reason, sizeof reason);
    if (found) close(s.folder);
    if (read) {
        meta_log(META_LOG_INFO, "META_MODE=auto: %zu times of kernels are known from %s",
                 table->count, s.path);
        return;
    }
    if (!found && place->named && !place->only_read) say_not_kept(s.path, strerror(errno));
    else if (*reason) say_useless(place, s.path, reason);
    else say_missing(place);
    place->is_foreign = place->named && (!found || *reason);
}

/* ------------------------------------------------------------------ changing */

/* Of the file, by whatever path it is reached. */
static meta_cache_key lock_of(const spot *s)
{
    meta_cache_key key = META_CACHE_KEY_INIT;
    struct stat about;
    if (fstat(s->folder, &about) == 0) {
        const uint64_t where[] = {(uint64_t)about.st_dev, (uint64_t)about.st_ino};
        meta_cache_key_add(&key, where, sizeof where);
    }
    meta_cache_key_text(&key, s->name);
    return key;
}

static void change_at(meta_learn_place *place, const spot *s, void (*add)(meta_learned *))
{
    char reason[512];
    meta_learned table = {.turn = 0};
    size_t bytes = 0;
    const bool read = read_table(place, s, &table, reason, sizeof reason);
    if (!read && *reason && place->named) {
        place->is_foreign = true;
        say_not_kept(s->path, reason);
        return;
    }
    add(&table);
    char *text = meta_learned_text(&table, place->machine, &bytes);
    const meta_file_part all = {text, bytes};
    const int error = text ? meta_file_replace(s->folder, s->name, &all, 1) : ENOMEM;
    if (error) say_not_kept(s->path, strerror(error));
    free(text);
    meta_learned_clear(&table);
}

void meta_learn_change(meta_learn_place *place, void (*add)(meta_learned *table))
{
    meta_file_lock lock;
    spot s;
    if (place->is_foreign) return;
    if (!find_to_write(place, &s)) {
        if (place->named) say_not_kept(s.path, strerror(errno));
        return;
    }
    const meta_cache_key key = lock_of(&s);
    meta_file_lock_take(&lock, &key);
    change_at(place, &s, add);
    meta_file_lock_release(&lock);
    close(s.folder);
}
