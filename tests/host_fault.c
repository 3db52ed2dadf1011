/* SPDX-License-Identifier: BSD-3-Clause */
/** @file host_fault.c
 *  Functions of the C library that count libmeta's calls and fail on request: see host_fault.h. */
#include "config.h"

#include "host_fault.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static atomic_bool armed, of_driver;
static atomic_long calls, fail_at;
static const char *failed_function;
static void *failed_caller;

/* ------------------------------------------------------------------ who calls */

/* Whether an address is libmeta's, remembered by the address: plugins come and go, but at any one
 * address another library never takes the place of ours in a test's life. */
enum { REMEMBERED = 1 << 14 };
static struct {
    _Atomic(void *) caller;
    atomic_bool ours;
} remembered[REMEMBERED];

static const char *library = "libmeta"; /* and the plugins */

static bool is_ours(void *caller)
{
    const size_t k = ((uintptr_t)caller >> 1) % REMEMBERED;
    static __thread bool within; /* dladdr() may allocate */
    Dl_info info;
    const char *name;
    bool ours;
    if (remembered[k].caller == caller) return remembered[k].ours;
    if (within) return false;
    within = true;
    ours = dladdr(caller, &info) != 0 && info.dli_fname;
    within = false;
    if (!ours) return false;
    name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    ours = strncmp(name, library, strlen(library)) == 0 ||
           (strcmp(library, "libmeta") == 0 &&
            (strcmp(name, "openmp.so") == 0 || strcmp(name, "opencl.so") == 0));
    remembered[k].caller = NULL; /* not another one's answer */
    remembered[k].ours = ours;
    remembered[k].caller = caller;
    return ours;
}

/* Counts a call; whether it is to fail. */
static bool count(const char *function, void *caller)
{
    if (!armed || !is_ours(caller)) return false;
    if (++calls != fail_at) return false;
    failed_function = function;
    failed_caller = caller;
    return true;
}

__attribute__((unused)) static bool fails(const char *function, void *caller)
{
    return !of_driver && count(function, caller);
}

bool host_fault_driver_fails(const char *function, void *caller)
{
    return of_driver && count(function, caller);
}

void host_fault_of_driver(bool driver)
{
    of_driver = driver;
}

void host_fault_of_library(const char *name)
{
    library = name;
    for (size_t k = 0; k < REMEMBERED; ++k) remembered[k].caller = NULL;
}

void host_fault_arm(long n)
{
    calls = 0;
    fail_at = n;
    failed_function = NULL;
    failed_caller = NULL;
    armed = true;
}

bool host_fault_disarm(void)
{
    armed = false;
    return failed_function != NULL;
}

long host_fault_calls(void)
{
    return calls;
}

/* The function that holds @p address, or the library and the offset in it, for addr2line. */
static void place_of(void *address, char *text, size_t room)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) snprintf(text, room, "%p", address);
    else
        snprintf(text, room, "%s+0x%zx", info.dli_fname,
                 (size_t)((char *)address - (char *)info.dli_fbase));
}

const char *host_fault_place(void)
{
    static char text[4352];
    char place[4224];
    if (!failed_function) return "";
    place_of(failed_caller, place, sizeof place);
    snprintf(text, sizeof text, "%s() from %s", failed_function, place);
    return text;
}

const char *host_fault_function(void)
{
    return failed_function ? failed_function : "";
}

/* ------------------------------------------------------------------ blocks of memory */

enum { BLOCKS = 1 << 16 };
typedef struct block {
    void *at; /* NULL: empty */
    void *caller;
    long number;
} block;
static block blocks[BLOCKS];
static _Atomic long live;
static long numbered;
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static size_t home_of(void *at)
{
    return (size_t)(((uintptr_t)at >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48) % BLOCKS;
}

__attribute__((unused)) static void *note(void *at, void *caller)
{
    if (!at || !is_ours(caller)) return at;
    lock();
    size_t k = home_of(at);
    while (blocks[k].at && blocks[k].at != at) k = (k + 1) % BLOCKS;
    if (!blocks[k].at && live < BLOCKS / 2) ++live;
    blocks[k] = (block){at, caller, numbered++};
    unlock();
    return at;
}

/* Those behind it in its run are entered anew, so that none is lost behind a gap. */
__attribute__((unused)) static void forget(void *at)
{
    if (!at || live == 0) return;
    lock();
    size_t k = home_of(at);
    while (blocks[k].at && blocks[k].at != at) k = (k + 1) % BLOCKS;
    if (blocks[k].at) {
        --live;
        blocks[k].at = NULL;
        for (k = (k + 1) % BLOCKS; blocks[k].at; k = (k + 1) % BLOCKS) {
            const block moved = blocks[k];
            blocks[k].at = NULL;
            size_t to = home_of(moved.at);
            while (blocks[to].at) to = (to + 1) % BLOCKS;
            blocks[to] = moved;
        }
    }
    unlock();
}

long host_fault_blocks(void)
{
    return live;
}

long host_fault_blocks_kept(long before)
{
    const struct timespec nap = {0, 10000000};
    for (int naps = 0; live > before && naps < 100; ++naps) nanosleep(&nap, NULL);
    return live - before;
}

long host_fault_next_block(void)
{
    return numbered;
}

const char *host_fault_blocks_text(long from)
{
    static char text[8192];
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < BLOCKS && used < sizeof text / 2; ++k)
        if (blocks[k].at && blocks[k].number >= from) {
            char place[1024];
            place_of(blocks[k].caller, place, sizeof place);
            used += (size_t)snprintf(text + used, sizeof text - used, "\n      %s", place);
        }
    return text;
}

int host_fault_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return -1;
    while (readdir(folder)) ++count;
    closedir(folder);
    return count;
}

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
bool host_fault_possible(void)
{
    return false;
}
#else
bool host_fault_possible(void)
{
    return true;
}

/* ------------------------------------------------------------------ the functions */

/* What dlsym() itself allocates, before the real function is known. */
static _Alignas(64) char early[1 << 14];
static size_t early_used;

static void *early_block(size_t bytes)
{
    void *at = early + early_used;
    early_used += (bytes + 63) / 64 * 64;
    return early_used <= sizeof early ? at : NULL;
}

static bool is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + sizeof early;
}

/* The next function of that name behind this program; NULL while it is looked for. */
#define REAL(name)                                                                                 \
    static __typeof__(name) *real;                                                                 \
    static bool looking;                                                                           \
    if (!real && !looking) {                                                                       \
        looking = true;                                                                            \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        looking = false;                                                                           \
    }
#define FAILS(name) fails(#name, __builtin_return_address(0))
#define NOTE(at)    note((at), __builtin_return_address(0))

#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
    REAL(malloc)
    if (!real) return early_block(bytes);
    if (FAILS(malloc)) return errno = ENOMEM, NULL;
    return NOTE(real(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    REAL(calloc)
    if (!real) return early_block(count * bytes);
    if (FAILS(calloc)) return errno = ENOMEM, NULL;
    return NOTE(real(count, bytes));
}

void *realloc(void *at, size_t bytes)
{
    REAL(realloc)
    void *to;
    if (is_early(at)) {
        to = malloc(bytes);
        return to ? memcpy(to, at, bytes) : NULL;
    }
    if (FAILS(realloc)) return errno = ENOMEM, NULL;
    forget(at);
    to = real(at, bytes);
    return NOTE(to ? to : at);
}

void free(void *at)
{
    REAL(free)
    if (is_early(at) || !real) return;
    forget(at);
    real(at);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    REAL(aligned_alloc)
    if (FAILS(aligned_alloc)) return errno = ENOMEM, NULL;
    return NOTE(real(alignment, bytes));
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    REAL(posix_memalign)
    if (FAILS(posix_memalign)) return ENOMEM;
    const int error = real(at, alignment, bytes);
    if (error == 0) NOTE(*at);
    return error;
}

char *strdup(const char *text)
{
    REAL(strdup)
    if (FAILS(strdup)) return errno = ENOMEM, NULL;
    return NOTE(real(text));
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    REAL(mmap)
    if (FAILS(mmap)) return errno = ENOMEM, MAP_FAILED;
    return real(at, bytes, protection, flags, file, offset);
}

int open(const char *path, int flags, ...)
{
    typedef int function(const char *, int, ...);
    static function *real;
    va_list more;
    mode_t mode;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "open");
    if (FAILS(open)) return errno = EMFILE, -1;
    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    typedef int function(int, const char *, int, ...);
    static function *real;
    va_list more;
    mode_t mode;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "openat");
    if (FAILS(openat)) return errno = EMFILE, -1;
    va_start(more, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return real(folder, path, flags, mode);
}

/* A failure of the loader has a text, so that of a library that does not exist serves. */
void *dlopen(const char *path, int flags)
{
    REAL(dlopen)
    if (FAILS(dlopen)) return real("/no/such/library", flags);
    return real(path, flags);
}

/* name, result, parameters, arguments, what a failure returns, errno */
#define FUNCTION(name, result, parameters, arguments, failure, number)                             \
    result name parameters                                                                         \
    {                                                                                              \
        REAL(name)                                                                                 \
        if (FAILS(name)) return errno = (number), (failure);                                       \
        return real arguments;                                                                     \
    }
FUNCTION(fopen, FILE *, (const char *path, const char *how), (path, how), NULL, EMFILE)
FUNCTION(opendir, DIR *, (const char *path), (path), NULL, EMFILE)
FUNCTION(fdopendir, DIR *, (int file), (file), NULL, ENOMEM)
FUNCTION(open_memstream, FILE *, (char **at, size_t *bytes), (at, bytes), NULL, ENOMEM)
FUNCTION(memfd_create, int, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
FUNCTION(mkdir, int, (const char *path, mode_t mode), (path, mode), -1, EACCES)
FUNCTION(mkdtemp, char *, (char *path), (path), NULL, EACCES)
FUNCTION(write, ssize_t, (int file, const void *at, size_t bytes), (file, at, bytes), -1, ENOSPC)
FUNCTION(pwrite, ssize_t, (int file, const void *at, size_t bytes, off_t from),
         (file, at, bytes, from), -1, ENOSPC)
FUNCTION(pread, ssize_t, (int file, void *at, size_t bytes, off_t from), (file, at, bytes, from),
         -1, EIO)
FUNCTION(ftruncate, int, (int file, off_t bytes), (file, bytes), -1, ENOSPC)
FUNCTION(posix_fallocate, int, (int file, off_t from, off_t bytes), (file, from, bytes), ENOSPC,
         ENOSPC)
FUNCTION(renameat, int, (int from_folder, const char *from, int to_folder, const char *to),
         (from_folder, from, to_folder, to), -1, EIO)
FUNCTION(flock, int, (int file, int how), (file, how), -1, ENOLCK)
FUNCTION(pipe2, int, (int file[2], int flags), (file, flags), -1, EMFILE)
FUNCTION(posix_spawn, int,
         (pid_t * child, const char *path, const posix_spawn_file_actions_t *actions,
          const posix_spawnattr_t *attributes, char *const arguments[], char *const variables[]),
         (child, path, actions, attributes, arguments, variables), EAGAIN, EAGAIN)
FUNCTION(pthread_create, int,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *with),
         (thread, attributes, start, with), EAGAIN, EAGAIN)
FUNCTION(pthread_key_create, int, (pthread_key_t * key, void (*end)(void *)), (key, end), EAGAIN,
         EAGAIN)
FUNCTION(newlocale, locale_t, (int which, const char *name, locale_t base), (which, name, base),
         (locale_t)0, ENOMEM)

/* The stream remembers the error, for those who ask in the end. */
static void note_error(FILE *file)
{
#ifdef __GLIBC__
    enum { ERROR_SEEN = 0x20 };
    file->_flags |= ERROR_SEEN;
#else
    (void)file;
#endif
}

#define STREAM_FUNCTION(name, result, parameters, arguments, failure, number)                      \
    result name parameters                                                                         \
    {                                                                                              \
        REAL(name)                                                                                 \
        if (FAILS(name)) return note_error(file), errno = (number), (failure);                     \
        return real arguments;                                                                     \
    }
STREAM_FUNCTION(fwrite, size_t, (const void *at, size_t bytes, size_t count, FILE *file),
                (at, bytes, count, file), 0, ENOSPC)
STREAM_FUNCTION(fread, size_t, (void *at, size_t bytes, size_t count, FILE *file),
                (at, bytes, count, file), 0, EIO)
STREAM_FUNCTION(fgets, char *, (char *at, int bytes, FILE *file), (at, bytes, file), NULL, EIO)
STREAM_FUNCTION(fflush, int, (FILE * file), (file), EOF, ENOSPC)

/* What was written may be lost, but the file is closed. */
int fclose(FILE *file)
{
    REAL(fclose)
    const bool lost = FAILS(fclose);
    const int error = real(file);
    return lost ? (errno = ENOSPC, EOF) : error;
}

#pragma GCC visibility pop
#endif
