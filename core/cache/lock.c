/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lock.c
 *  Locks between the processes of a node. One compile a node: who is first compiles, others wait
 * while it lives and moves.
 *
 *  The lock is a file that its holder has locked with flock(): the system releases it when the
 *  holder dies. While it compiles, a thread sets the file's time, so one that is stopped or stuck
 * is seen not to move. It is passed by, not robbed: whoever has waited for it goes on to a next
 * file. */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 3, BEAT_MS = 500, STILL_SECONDS = 5, NAP_MS = 5 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------ the holder moves */

struct meta_lock_beat {
    int file;
    bool end;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ends;
};

static void *run_beat(void *argument)
{
    struct meta_lock_beat *b = argument;
    pthread_mutex_lock(&b->lock);
    while (!b->end) {
        struct timespec next;
        futimens(b->file, NULL);
        meta_compiling();
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += BEAT_MS * 1000000L;
        next.tv_sec += next.tv_nsec / 1000000000L;
        next.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&b->ends, &b->lock, &next);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Without memory or threads the lock is held all the same. */
static struct meta_lock_beat *begin_beat(int file)
{
    struct meta_lock_beat *b = calloc(1, sizeof *b);
    pthread_condattr_t clock;
    sigset_t all, before;
    if (!b) return NULL;
    b->file = file;
    pthread_mutex_init(&b->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&b->ends, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* the program's handlers run on its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&b->thread, NULL, run_beat, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) return b;
    pthread_cond_destroy(&b->ends);
    pthread_mutex_destroy(&b->lock);
    free(b);
    return NULL;
}

static void end_beat(struct meta_lock_beat *b)
{
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    b->end = true;
    pthread_cond_signal(&b->ends);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->ends);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* ------------------------------------------------------------------ others wait */

typedef enum outcome { LOCKED, LOCKED_AFTER_A_WAIT, PASSED_BY, NO_LOCKS } outcome;

static outcome wait_for(int file, const char *title)
{
    const struct timespec nap = {0, NAP_MS * 1000000L};
    const double began = seconds(), most = meta_jit_timeout() + STILL_SECONDS;
    double moved = began, now;
    struct timespec last = {0, 0};
    struct stat about;
    for (bool first = true;; first = false) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return first ? LOCKED : LOCKED_AFTER_A_WAIT;
        if (errno != EWOULDBLOCK && errno != EINTR) return NO_LOCKS;
        if (fstat(file, &about) != 0) return NO_LOCKS;
        now = seconds();
        if (about.st_mtim.tv_sec != last.tv_sec || about.st_mtim.tv_nsec != last.tv_nsec)
            moved = now;
        last = about.st_mtim;
        if (now - moved > STILL_SECONDS || now - began > most) break;
        meta_compiling();
        nanosleep(&nap, NULL);
    }
    meta_log(META_LOG_INFO,
             "%s: another process has been compiling it for %.0f s, %s: it is no longer waited for",
             title, now - began, now - moved > STILL_SECONDS ? "but does not move" : "too long");
    return PASSED_BY;
}

/* Of another cache it is another lock; the node's name is there in case nodes share the folder. */
static void name_lock(meta_cache_lock *lock, const meta_cache_key *key, int number)
{
    char folder[PATH_MAX] = "", node[65] = "";
    meta_cache_key of = *key;
    meta_cache_folder_path(0, folder, sizeof folder);
    meta_cache_key_text(&of, folder);
    gethostname(node, sizeof node - 1);
    for (char *c = node; *c; ++c)
        if (*c == '/') *c = '-';
    snprintf(lock->name, sizeof lock->name, "lock-%016llx%016llx-%s.%d",
             (unsigned long long)of.part[0], (unsigned long long)of.part[1], node, number);
}

/* Whether it is held now. A holder whose compile failed marks the file by a byte: those who have
 * waited for it then fail side by side, not one after the other. */
static bool take(meta_cache_lock *lock, int file, outcome how)
{
    struct stat about;
    if (how == LOCKED_AFTER_A_WAIT && fstat(file, &about) == 0 && about.st_size > 0) {
        close(file);
        return false;
    }
    if (ftruncate(file, 0) != 0) {
        close(file);
        return false;
    }
    lock->file = file;
    lock->beat = begin_beat(file);
    return true;
}

void meta_cache_lock_take(meta_cache_lock *lock, const meta_cache_key *key, const char *title)
{
    memset(lock, 0, sizeof *lock);
    const int folder = meta_lock_folder();
    if (folder < 0) return;
    meta_folder_sweep(folder, "lock-");
    for (int number = 0; number < FILES; ++number) {
        name_lock(lock, key, number);
        const int file =
            openat(folder, lock->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0) break;
        const outcome how = wait_for(file, title);
        if (how == LOCKED || how == LOCKED_AFTER_A_WAIT) {
            if (!take(lock, file, how)) break;
            lock->folder = folder;
            return;
        }
        close(file);
        if (how == NO_LOCKS) break;
    }
    close(folder);
}

void meta_cache_lock_release(meta_cache_lock *lock, bool kept)
{
    if (lock->file <= 0) return;
    end_beat(lock->beat);
    /* Whoever still waits for a file that is removed finds the code in the cache. */
    if (kept) unlinkat(lock->folder, lock->name, 0);
    else if (pwrite(lock->file, "", 1, 0) != 1) meta_log(META_LOG_DEBUG, "a lock was not marked");
    flock(lock->file, LOCK_UN);
    close(lock->file);
    close(lock->folder);
    memset(lock, 0, sizeof *lock);
}

/* ------------------------------------------------------------------ a file is changed */

/* @return whether the file is locked before @p end */
static bool lock_until(int file, double end)
{
    const struct timespec nap = {0, 1000000L};
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || seconds() > end) return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* The file may have been removed by the one who held it before. */
static bool is_in_place(int file, int folder, const char *name)
{
    struct stat held, named;
    return fstat(file, &held) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

void meta_file_lock_take(meta_file_lock *lock, const meta_cache_key *key)
{
    const double patience = 10;
    const double end = seconds() + patience;
    memset(lock, 0, sizeof *lock);
    const int folder = meta_lock_folder();
    if (folder < 0) return;
    snprintf(lock->name, sizeof lock->name, "lock-file-%016llx%016llx",
             (unsigned long long)key->part[0], (unsigned long long)key->part[1]);
    for (;;) {
        const int file =
            openat(folder, lock->name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0) break;
        const bool locked = lock_until(file, end);
        if (locked && is_in_place(file, folder, lock->name)) {
            lock->file = file;
            lock->folder = folder;
            return;
        }
        close(file);
        if (!locked) break;
    }
    close(folder);
}

void meta_file_lock_release(meta_file_lock *lock)
{
    if (lock->file <= 0) return;
    unlinkat(lock->folder, lock->name, 0);
    close(lock->file);
    close(lock->folder);
    memset(lock, 0, sizeof *lock);
}
