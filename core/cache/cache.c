/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cache.c
 *  Code from the cache, or compiled once and kept: the order of the steps, for all back ends. */
#include "cache/cache.h"

#include "base/secure.h"

#include "build_log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ keys */

typedef struct keys {
    meta_cache_key exact;
    meta_cache_key loose; /* of any build of the compiler */
} keys;

static keys keys_of(const meta_cached *what)
{
    keys k = {META_CACHE_KEY_INIT, META_CACHE_KEY_INIT};
    const uint32_t first = what->facts - what->compiler_facts;
    meta_cache_key_text(&k.exact, what->kind);
    for (uint32_t n = 0; n < first; ++n) meta_cache_key_text(&k.exact, what->fact[n]);
    k.loose = k.exact;
    for (uint32_t n = first; n < what->facts; ++n) meta_cache_key_text(&k.exact, what->fact[n]);
    meta_cache_key_text(&k.loose, "any build of the compiler");
    return k;
}

/* ------------------------------------------------------------------ memory */

/* Code that no folder takes, for this process's next device or start of the library. */
typedef struct memory_entry {
    meta_cache_key key;
    void *code;
    size_t bytes;
    struct memory_entry *next;
} memory_entry;
static _Atomic(memory_entry *) memory; /* entries are only added, and never change */

static const memory_entry *in_memory(const meta_cache_key *key)
{
    const memory_entry *e = memory;
    while (e && !meta_cache_key_same(&e->key, key)) e = e->next;
    return e;
}

static void keep_in_memory(const meta_cache_key *key, const void *code, size_t bytes)
{
    memory_entry *e = malloc(sizeof *e);
    void *copy = malloc(bytes);
    if (!e || !copy) {
        free(e);
        free(copy);
        return;
    }
    memcpy(copy, code, bytes);
    *e = (memory_entry){*key, copy, bytes, memory};
    while (!atomic_compare_exchange_weak(&memory, &e->next, e)) continue;
}

/* ------------------------------------------------------------------ loading and keeping */

static bool load_code(const meta_cached *what, const void *code, size_t bytes)
{
    if (what->load(what->with, code, bytes) == META_OK) return true;
    meta_log(META_LOG_INFO, "%s: the code in the cache is refused: %s", what->title,
             meta_last_error());
    return false;
}

/* @p why becomes what was wrong with a file that may have the code. */
static bool load(const meta_cached *what, const meta_cache_key *key, char why[META_CACHE_WHY])
{
    const memory_entry *e = in_memory(key);
    if (e && load_code(what, e->code, e->bytes)) return true;
    bool loaded = false;
    for (int k = 0; k < META_CACHE_FOLDERS && !loaded; ++k) {
        const int folder = meta_cache_folder(k, false);
        size_t bytes = 0;
        void *code = folder >= 0
                         ? meta_cache_read(folder, META_THIS_USER, what->kind, key, &bytes, why)
                         : NULL;
        loaded = code && load_code(what, code, bytes);
        free(code);
        if (folder >= 0) close(folder);
    }
    return loaded;
}

/* Code that was made ahead of time, of whatever build of the compiler: it was put there to be used.
 * @p why as above. */
static bool load_prebuilt(const meta_cached *what, const keys *k, char why[META_CACHE_WHY])
{
    bool loaded = false;
    for (int n = 0, folder; !loaded && (folder = meta_kernel_folder(n)) != -2; ++n) {
        if (folder < 0) continue;
        size_t bytes = 0;
        void *code =
            meta_cache_read(folder, META_THIS_USER_OR_ROOT, what->kind, &k->exact, &bytes, why);
        if (!code && what->compiler_facts > 0)
            code =
                meta_cache_read(folder, META_THIS_USER_OR_ROOT, what->kind, &k->loose, &bytes, why);
        loaded = code && load_code(what, code, bytes);
        if (code && !loaded)
            snprintf(why, META_CACHE_WHY, "what is there is refused: %s", meta_last_error());
        free(code);
        close(folder);
    }
    return loaded;
}

/* In the first folder that takes it. @return whether other processes will find it */
static bool keep(const meta_cached *what, const meta_cache_key *key, const void *code, size_t bytes)
{
    char path[PATH_MAX];
    for (int k = 0; k < META_CACHE_FOLDERS; ++k) {
        const int folder = meta_cache_folder(k, true);
        if (folder < 0) continue;
        const int error = meta_cache_write(folder, what->kind, key, code, bytes);
        close(folder);
        if (!error) return true;
        meta_cache_folder_path(k, path, sizeof path);
        meta_log(META_LOG_INFO, "%s: its code is not kept in %s: %s", what->title, path,
                 strerror(error));
    }
    if (!in_memory(key)) keep_in_memory(key, code, bytes);
    return false;
}

/* ------------------------------------------------------------------ all of it */

static meta_err build(const meta_cached *what, const keys *k, bool *kept)
{
    void *code = NULL;
    size_t bytes = 0;
    meta_log(META_LOG_DEBUG, "compiling %s", what->title);
    const meta_err error = what->build(what->with, &code, &bytes);
    if (error == META_OK && code && bytes > 0) {
        *kept = keep(what, &k->exact, code, bytes);
        if (what->compiler_facts > 0) keep(what, &k->loose, code, bytes);
        if (!*kept && meta_cache_is_only()) {
            free(code);
            return meta_fail(META_ERR_DEVICE,
                             "%s cannot be written to the folder: META_LOG=info says why",
                             what->title);
        }
    }
    free(code);
    return error;
}

static meta_err refuse_to_compile(const meta_cached *what, const char *why)
{
    char path[PATH_MAX] = "";
    const char *prebuilt = meta_variable("META_KERNEL_PATH");
    if (meta_is_secure())
        return meta_fail(META_ERR_UNSUPPORTED,
                         "%s is compiled when it first runs, which a process with more rights than "
                         "the user who started it must not do",
                         what->title);
    meta_cache_folder_path(0, path, sizeof path);
    return meta_fail(
        META_ERR_UNSUPPORTED,
        "%s is not in the cache%s%s, %s%s%s%s%s%sand META_JIT=load does not allow to compile "
        "it; run it once with META_JIT=on, or build it by meta-kernel build",
        what->title, *path ? ", " : "", path, prebuilt ? "nor in META_KERNEL_PATH, " : "",
        prebuilt ? prebuilt : "", *why ? " (" : "", why, *why ? ")" : "", prebuilt ? ", " : "");
}

meta_err meta_cached_put(const meta_cached *what, const void *code, size_t bytes)
{
    const keys k = keys_of(what);
    const int folder = meta_cache_folder(0, true);
    const int error =
        folder < 0 ? 0
                   : meta_cache_write(folder, what->kind,
                                      what->compiler_facts > 0 ? &k.loose : &k.exact, code, bytes);
    char path[PATH_MAX] = "the cache";
    if (folder >= 0) close(folder);
    if (folder >= 0 && !error) return META_OK;
    meta_cache_folder_path(0, path, sizeof path);
    return meta_fail(META_ERR_UNSUPPORTED, "%s cannot be written to %s: %s", what->title, path,
                     folder < 0 ? "the folder cannot be used, and a warning in the log says why"
                                : strerror(error));
}

static meta_err load_or_build(const meta_cached *what)
{
    const double start = meta_milliseconds();
    const char *how = "loaded from the cache";
    meta_cache_lock lock;
    bool kept = true;
    meta_err error = META_OK;
    if (meta_jit() == META_JIT_OFF)
        return meta_fail(META_ERR_UNSUPPORTED,
                         "%s is compiled when it first runs, which META_JIT=off does not allow; "
                         "unset it, or give load for code that is in the cache",
                         what->title);
    const keys k = keys_of(what);
    char why[META_CACHE_WHY] = "";
    if (!load(what, &k.exact, why) && !load_prebuilt(what, &k, why)) {
        if (meta_jit() == META_JIT_LOAD || !what->build) {
            if (what->compiler_facts == 0 || !load(what, &k.loose, why))
                return refuse_to_compile(what, why);
        } else {
            meta_cache_lock_take(&lock, &k.exact, what->title);
            how = "loaded from the cache after another process built it,";
            if (!load(what, &k.exact, why)) {
                how = "built";
                kept = false;
                error = build(what, &k, &kept);
            }
            meta_cache_lock_release(&lock, kept);
            if (error == META_ERR_UNSUPPORTED && what->compiler_facts > 0) {
                char *message = meta_error_copy();
                how = "loaded from the cache, where another compiler left it,";
                if (load(what, &k.loose, why)) error = META_OK;
                else if (message) meta_fail_as(error, message);
                free(message);
            }
        }
    }
    if (error == META_OK)
        meta_log(META_LOG_INFO, "%s %s in %.0f ms", what->title, how, meta_milliseconds() - start);
    return error;
}

meta_err meta_cached_code(const meta_cached *what)
{
    meta_cached own;
    META_GET_DESC(own, what, build, sizeof(meta_cached));
    return load_or_build(&own);
}
