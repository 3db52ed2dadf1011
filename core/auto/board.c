/* SPDX-License-Identifier: BSD-3-Clause */
/** @file board.c
 *  The board of a node, a mapped file. Its name has the user, the version of its layout and the
 *  space of process numbers, so that containers that share the folder and not the numbers have
 *  boards of their own.
 *
 *  A slot's owner is a process: its number, and when it started, because numbers are used again. It
 *  is claimed by compare-and-swap: from 0 to the owner marked as entering, whose uses nobody reads,
 *  and to the owner itself once they are cleared. */
#include "config.h"

#include "auto/board.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 2, LINE = 64 };
static const uint64_t magic = UINT64_C(0x6d626f6172640000) + VERSION;
static const uint64_t entering = UINT64_C(1) << 63;

typedef struct use {
    _Atomic uint64_t identity, load, queued, held; /* load: the bits of a double */
} use;

typedef struct slot {
    _Alignas(LINE) _Atomic uint64_t owner;
    use use[META_BOARD_USES];
} slot;

typedef struct shared {
    _Alignas(LINE) _Atomic uint64_t magic;
    _Atomic uint64_t turn; /* the owner that has it; 0: nobody */
    _Atomic uint64_t high; /* no slot from this one on has been used */
    _Atomic uint64_t moves;
    slot slot[META_BOARD_PROCESSES];
} shared;

struct meta_board {
    shared *shared;
    slot *mine;
    uint64_t self;
};

/* ------------------------------------------------------------------ processes */

/* When the process started, in clock ticks since the machine did; 0: it is not there. The command's
 * name, in parentheses, may have blanks and parentheses. */
static uint64_t start_of(int pid)
{
    enum { BEHIND_NAME = 20 }; /* words from the name to the time */
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    text[length > 0 ? length : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int k = 0; at && k < BEHIND_NAME; ++k) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

static uint64_t owner_of(int pid)
{
    return (uint64_t)pid << 32 | (uint32_t)start_of(pid);
}

/* What is no process number, in a damaged slot, is gone as well. */
static bool is_gone(uint64_t owner)
{
    const int pid = (int)((owner & ~entering) >> 32);
    if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH)) return true;
    return owner_of(pid) != (owner & ~entering);
}

/* ------------------------------------------------------------------ the file */

static void *refuse(char *reason, size_t room, const char *path, const char *why)
{
    snprintf(reason, room, "%s: %s", path, why);
    return NULL;
}

static bool name_of(const char *folder, char *path, size_t room)
{
    struct stat space;
    const uint64_t number = stat("/proc/self/ns/pid", &space) == 0 ? (uint64_t)space.st_ino : 0;
    const int length = snprintf(path, room, "%s/libmeta-board-%u-v%d-%" PRIu64, folder,
                                (unsigned)geteuid(), (int)VERSION, number);
    return length > 0 && (size_t)length < room;
}

/* Whether the file is this user's own. */
static const char *stranger(const struct stat *s)
{
    if (!S_ISREG(s->st_mode)) return "it is not a regular file";
    if (s->st_uid != geteuid()) return "it belongs to another user";
    if (s->st_mode & (S_IRWXG | S_IRWXO)) return "users other than its owner may use it";
    return NULL;
}

/* A new file is empty. Its blocks are taken at once: later a full file system would be a signal. */
static const char *fill(int file, const struct stat *s)
{
    if (s->st_size != 0) return NULL;
    const int error = posix_fallocate(file, 0, sizeof(shared));
    return error == 0 ? NULL : strerror(error);
}

static shared *map(int file)
{
    struct stat s;
    if (fstat(file, &s) != 0 || s.st_size != (off_t)sizeof(shared)) return NULL;
    void *at = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return NULL;
    shared *board = at;
    uint64_t fresh = 0;
    if (atomic_compare_exchange_strong(&board->magic, &fresh, magic) || fresh == magic)
        return board;
    munmap(at, sizeof(shared));
    return NULL;
}

/* Open the file and lock it while it is looked at: two processes must not replace it at once. The
 * system releases the lock of one that dies.
 * *again: another process has replaced the file meanwhile, or this one has removed a damaged one.
 */
static shared *open_file(const char *path, bool *again, char *reason, size_t room)
{
    struct stat s, named;
    shared *board = NULL;
    *again = false;
    const int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (file < 0) return refuse(reason, room, path, strerror(errno));
    const char *why = NULL;
    if (flock(file, LOCK_EX) != 0 || fstat(file, &s) != 0) why = strerror(errno);
    else if (stat(path, &named) != 0 || named.st_ino != s.st_ino) *again = true;
    else why = stranger(&s);
    if (!why && !*again) why = fill(file, &s);
    if (!why && !*again) {
        board = map(file);
        why = board ? NULL : "it is damaged";
        if (!board) *again = unlink(path) == 0;
    }
    flock(file, LOCK_UN); /* a mapped file keeps its lock when it is closed */
    close(file);
    if (why) refuse(reason, room, path, why);
    return board;
}

/* ------------------------------------------------------------------ slots */

static void clear(slot *s)
{
    for (int k = 0; k < META_BOARD_USES; ++k) {
        atomic_store(&s->use[k].identity, 0);
        atomic_store(&s->use[k].load, 0);
        atomic_store(&s->use[k].queued, 0);
        atomic_store(&s->use[k].held, 0);
    }
}

static void raise_high(shared *board, uint64_t to)
{
    uint64_t high = atomic_load(&board->high);
    while (high < to && !atomic_compare_exchange_weak(&board->high, &high, to)) {
    }
}

static slot *claim(shared *board, uint64_t self)
{
    for (uint64_t k = 0; k < META_BOARD_PROCESSES; ++k) {
        slot *s = &board->slot[k];
        uint64_t owner = atomic_load(&s->owner);
        if (owner != 0 && owner != self && !is_gone(owner)) continue;
        if (!atomic_compare_exchange_strong(&s->owner, &owner, self | entering)) continue;
        clear(s);
        raise_high(board, k + 1);
        atomic_store(&s->owner, self);
        return s;
    }
    return NULL;
}

static uint64_t high_of(const meta_board *b)
{
    const uint64_t high = atomic_load_explicit(&b->shared->high, memory_order_acquire);
    return high < META_BOARD_PROCESSES ? high : META_BOARD_PROCESSES;
}

int meta_board_bury(meta_board *b)
{
    int left = 0;
    for (uint64_t k = 0; k < high_of(b); ++k) {
        slot *s = &b->shared->slot[k];
        uint64_t owner = atomic_load(&s->owner);
        if (s == b->mine || owner == 0) continue;
        if (!is_gone(owner)) ++left;
        else if (atomic_compare_exchange_strong(&s->owner, &owner, 0)) meta_board_moved(b);
    }
    return left;
}

/* ------------------------------------------------------------------ the board */

meta_board *meta_board_open(const char *folder, char *reason, size_t room)
{
    enum { TRIES = 100 };
    char path[1024];
    bool again = true;
    if (!name_of(folder, path, sizeof path)) return refuse(reason, room, folder, "too long a name");
    meta_board *b = calloc(1, sizeof *b);
    if (!b) return refuse(reason, room, path, "the host has no memory");
    for (int k = 0; again && !b->shared && k < TRIES; ++k)
        b->shared = open_file(path, &again, reason, room);
    b->self = owner_of((int)getpid());
    if (b->shared) {
        b->mine = claim(b->shared, b->self);
        if (b->mine) return meta_board_moved(b), b;
        munmap(b->shared, sizeof *b->shared);
        refuse(reason, room, path, "all its slots are taken by processes");
    }
    free(b);
    return NULL;
}

void meta_board_close(meta_board *b)
{
    if (!b) return;
    meta_board_turn_end(b);
    atomic_store(&b->mine->owner, 0);
    meta_board_moved(b);
    munmap(b->shared, sizeof *b->shared);
    free(b);
}

/* FNV-1a, by Fowler, Noll and Vo. */
uint64_t meta_board_identity(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; ++text) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

void meta_board_set(meta_board *b, int number, uint64_t identity, const meta_board_use *of)
{
    use *u = &b->mine->use[number];
    uint64_t load;
    memcpy(&load, &of->load, sizeof load);
    atomic_store_explicit(&u->load, load, memory_order_relaxed);
    atomic_store_explicit(&u->queued, of->queued, memory_order_relaxed);
    atomic_store_explicit(&u->held, of->held, memory_order_relaxed);
    atomic_store_explicit(&u->identity, identity, memory_order_release);
}

static void add(const use *u, meta_board_use *sum)
{
    const uint64_t bits = atomic_load_explicit(&u->load, memory_order_relaxed);
    double load;
    memcpy(&load, &bits, sizeof load);
    if (load > 0 && load < 1e6) sum->load += load; /* neither NaN, nor of a damaged slot */
    sum->queued += atomic_load_explicit(&u->queued, memory_order_relaxed);
    sum->held += atomic_load_explicit(&u->held, memory_order_relaxed);
}

void meta_board_others(meta_board *b, uint64_t identity, meta_board_use *sum)
{
    *sum = (meta_board_use){0};
    for (uint64_t k = 0; k < high_of(b); ++k) {
        const slot *s = &b->shared->slot[k];
        const uint64_t owner = atomic_load_explicit(&s->owner, memory_order_acquire);
        if (s == b->mine || owner == 0 || owner & entering) continue;
        for (int n = 0; n < META_BOARD_USES; ++n)
            if (atomic_load_explicit(&s->use[n].identity, memory_order_acquire) == identity)
                add(&s->use[n], sum);
    }
}

/* Whoever finds the turn with a process that is gone takes it over. */
bool meta_board_turn(meta_board *b)
{
    uint64_t owner = 0;
    if (atomic_compare_exchange_strong(&b->shared->turn, &owner, b->self)) return true;
    return owner != b->self && is_gone(owner) &&
           atomic_compare_exchange_strong(&b->shared->turn, &owner, b->self);
}

void meta_board_turn_end(meta_board *b)
{
    uint64_t self = b->self;
    atomic_compare_exchange_strong(&b->shared->turn, &self, 0);
}

const _Atomic uint64_t *meta_board_moves(const meta_board *b)
{
    return &b->shared->moves;
}

uint64_t meta_board_moved(meta_board *b)
{
    return atomic_fetch_add(&b->shared->moves, 1);
}
