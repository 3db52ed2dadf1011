/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz.c
 *  The driver of the fuzz targets, see fuzz.h: mutates valid inputs, and watches the target. */
#include "config.h"

#include "fuzz.h"
#include "fuzz_edges.h"
#include "progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 1 << 14, CORPUS = 1024, HUGE_PIECE = 1 << 26, MOST_LIVE = 4096, PATIENCE = 60 };

static const uint8_t *current; /* the input at hand */
static size_t current_size;
static char failed_name[2304];
static int terminal = 2, said = -1; /* the error stream, and where it goes while inputs run */
static long inputs, accepted;

static char folder[64], start_folder[2048];

static void remove_folder(void)
{
    DIR *list = *folder != '\0' ? opendir(folder) : NULL;
    char path[512];
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (list != NULL) closedir(list);
    if (*folder != '\0') rmdir(folder);
}

/* ------------------------------------------------------------------ the end of a bad input */

static void say(const char *text)
{
    if (write(terminal, text, strlen(text)) < 0) return;
}

/* Only what a signal handler may do. */
static void keep_input(void)
{
    if (current == NULL) return;
    const int to = open(failed_name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    size_t done = 0;
    while (to >= 0 && done < current_size) {
        const ssize_t written = write(to, current + done, current_size - done);
        if (written <= 0) break;
        done += (size_t)written;
    }
    say(to >= 0 && done == current_size ? "the input is in "
                                        : "the input could not be written to ");
    say(failed_name);
    say("; give this file's name to the program to see it again\n");
    if (to >= 0) close(to);
}

static void show_said(void)
{
    char part[512];
    ssize_t length;
    for (off_t at = 0; said >= 0 && (length = pread(said, part, sizeof part, at)) > 0; at += length)
        if (write(terminal, part, (size_t)length) < 0) return;
}

static void on_signal(int number)
{
    signal(number, SIG_DFL);
    say(number == SIGALRM ? "BROKEN: an input takes longer than a minute\n"
                          : "BROKEN: a signal ended the program\n");
    show_said();
    keep_input();
    if (number == SIGALRM) _exit(1);
    raise(number);
}

void fuzz_fail(const char *format, ...)
{
    va_list arguments;
    char text[512];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say("BROKEN: ");
    say(text);
    say("\n");
    show_said();
    keep_input();
    remove_folder();
    _exit(1);
}

/* Where sanitizers watch, their own report comes first; it ends in SIGABRT. */
#ifdef __SANITIZE_ADDRESS__
#define OPTIONS __attribute__((visibility("default"), used))
OPTIONS const char *__asan_default_options(void);
OPTIONS const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return "abort_on_error=1:detect_odr_violation=0"; /* the first of two definitions counts */
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}
#endif

static void catch_signals(void)
{
#ifdef __SANITIZE_ADDRESS__
    static const int numbers[] = {SIGABRT, SIGALRM};
#else
    static const int numbers[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#endif
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) signal(numbers[k], on_signal);
}

/* ------------------------------------------------------------------ what is allocated */

static int lives; /* pieces that were allocated and not freed */

#ifndef FUZZ_LIBFUZZER

/* The linker sends the calls of a target that is linked with --wrap here; those of libraries below
 * it go on as they were. */
#define REAL __attribute__((weak))
REAL void *__real_malloc(size_t bytes);
REAL void *__real_calloc(size_t count, size_t bytes);
REAL void *__real_realloc(void *old, size_t bytes);
REAL char *__real_strdup(const char *text);
REAL void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static void *live[MOST_LIVE];

static void *born(void *memory, size_t bytes)
{
    if (current != NULL && bytes > HUGE_PIECE) fuzz_fail("%zu bytes were asked for at once", bytes);
    if (current != NULL && memory != NULL && lives < MOST_LIVE) live[lives++] = memory;
    return memory;
}

static void died(void *memory)
{
    for (int k = lives - 1; k >= 0; --k)
        if (live[k] == memory) {
            live[k] = live[--lives];
            return;
        }
}

void *__wrap_malloc(size_t bytes)
{
    return born(__real_malloc(bytes), bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return born(__real_calloc(count, bytes), count * bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    died(old);
    return born(__real_realloc(old, bytes), bytes);
}

char *__wrap_strdup(const char *text)
{
    return born(__real_strdup(text), strlen(text) + 1);
}

void __wrap_free(void *memory)
{
    died(memory);
    __real_free(memory);
}

#endif

/* ------------------------------------------------------------------ what targets use */

void fuzz_accept(void)
{
    ++accepted;
}

const char *fuzz_said(void)
{
    static char text[4096];
    fflush(stderr);
    const ssize_t length = said >= 0 ? pread(said, text, sizeof text - 1, 0) : 0;
    text[length > 0 ? length : 0] = '\0';
    return text;
}

const char *fuzz_folder(void)
{
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/meta-fuzz-XXXXXX", place);
    if (mkdtemp(folder) == NULL) fuzz_fail("no folder in %s: %s", place, strerror(errno));
    atexit(remove_folder);
    return folder;
}

const char *fuzz_built(const char *name)
{
    static char path[4096];
    const char *build = getenv("META_TEST_BUILDDIR");
    snprintf(path, sizeof path, "%s/%s", build != NULL ? build : start_folder, name);
    return path;
}

void fuzz_check_heap(void)
{
    static long calls;
    static size_t then;
    if (++calls % 1024 != 0) return;
    const size_t now = mallinfo2().uordblks;
    if (calls > 4096 && now > then + (1 << 20))
        fuzz_fail("the heap grew by %zu bytes in 1024 inputs", now - then);
    then = now;
}

void fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *to = fopen(path, "wb");
    const size_t written = to != NULL ? fwrite(data, 1, size, to) : 0;
    if (to == NULL || fclose(to) != 0 || written != size)
        fuzz_fail("%s cannot be written: %s", path, strerror(errno));
}

int fuzz_same(const char *path, const void *data, size_t size)
{
    static unsigned char found[4 * ROOM];
    FILE *from = fopen(path, "rb");
    const size_t length = from != NULL ? fread(found, 1, sizeof found, from) : 0;
    if (from != NULL) fclose(from);
    return from != NULL && length == size && memcmp(found, data, size) == 0;
}

/* ------------------------------------------------------------------ inputs */

static void run_input(const uint8_t *data, size_t size)
{
    lives = 0;
    if (said >= 0 && (ftruncate(said, 0) != 0 || lseek(said, 0, SEEK_SET) != 0)) return;
    current = data;
    current_size = size;
    alarm(PATIENCE);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    if (lives > 0) fuzz_fail("%d pieces of memory were not given back", lives);
    current = NULL;
    ++inputs;
}

#ifndef FUZZ_LIBFUZZER

typedef struct input {
    uint8_t data[ROOM];
    size_t size;
} input;

static input corpus[CORPUS];
static int known, kept; /* inputs, and how many of them were kept in this run and earlier ones */
static FILE *keeping;   /* the file of those that a long run keeps, or NULL */

/* Sebastiano Vigna's splitmix64. */
static uint64_t state;
static uint64_t next_random(void)
{
    uint64_t x = (state += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static size_t below(size_t end)
{
    return end > 0 ? (size_t)(next_random() % end) : 0;
}

/* What lengths and numbers of files are when they mean harm. */
static uint64_t extreme(size_t size)
{
    const uint64_t
        one = 1,
        list[] = {
            0,         1,          2,         UINT64_MAX, INT64_MAX,        one << 63,
            INT32_MAX, UINT32_MAX, one << 31, one << 32,  one << below(64), (one << below(64)) - 1,
            size,      size + 1,   size - 1,  size / 8,   next_random()};
    return list[below(sizeof list / sizeof *list)];
}

static void change_number(input *k)
{
    static const size_t widths[] = {1, 2, 4, 8, 8, 8};
    const size_t width = widths[below(6)];
    uint64_t value = extreme(k->size), old = 0;
    if (k->size < width) return;
    const size_t at = below(k->size - width + 1) / width * width;
    memcpy(&old, k->data + at, width);
    if (below(3) == 0) value = old + below(9) - 4;
    memcpy(k->data + at, &value, width);
}

/* A part of another input, or of this one, in the place of a part. */
static void put_part(input *k)
{
    const input *from = &corpus[below((size_t)known)];
    if (from->size == 0) return;
    const size_t start = below(from->size), length = 1 + below(from->size - start);
    const size_t at = below(k->size + 1);
    const size_t part = length < ROOM - at ? length : ROOM - at;
    memmove(k->data + at, from->data + start, part);
    if (at + part > k->size) k->size = at + part;
}

static void insert(input *k, const void *data, size_t size)
{
    const size_t at = below(k->size + 1);
    if (k->size + size > ROOM) return;
    memmove(k->data + at + size, k->data + at, k->size - at);
    memcpy(k->data + at, data, size);
    k->size += size;
}

static void take_out(input *k)
{
    const size_t at = below(k->size), size = 1 + below(k->size - at < 16 ? k->size - at : 16);
    if (at + size > k->size) return;
    memmove(k->data + at, k->data + at + size, k->size - at - size);
    k->size -= size;
}

static void insert_word(input *k)
{
    const uint64_t any = next_random();
    size_t count = 0;
    while (fuzz_here.words != NULL && fuzz_here.words[count] != NULL) ++count;
    const char *word = count > 0 ? fuzz_here.words[below(count)] : (const char *)&any;
    insert(k, word, count > 0 ? strlen(word) : 1 + below(8));
}

static void change(input *k)
{
    switch (below(8)) {
    case 0:
    case 1:
        if (k->size > 0) k->data[below(k->size)] ^= (uint8_t)(1u << below(8));
        break;
    case 2:
        if (k->size > 0) k->data[below(k->size)] = (uint8_t)next_random();
        break;
    case 3:
        k->size = below(k->size + 1);
        break;
    case 4:
        put_part(k);
        break;
    case 5:
        take_out(k);
        break;
    case 6:
        insert_word(k);
        break;
    default:
        change_number(k);
    }
}

static void make_input(input *k)
{
    *k = corpus[below((size_t)known)];
    for (size_t changes = 1 + below(4); changes > 0; --changes) change(k);
    if (fuzz_here.repair != NULL) fuzz_here.repair(k->data, k->size, next_random());
}

static void run_seeds(void)
{
    for (; known < fuzz_here.seeds; ++known) {
        input *k = &corpus[known];
        const long before = accepted;
        k->size = fuzz_here.seed(known, k->data, ROOM);
        run_input(k->data, k->size);
        current = k->data;
        if (accepted == before) fuzz_fail("valid input number %d is refused", known);
        current = NULL;
    }
}

/* Later inputs are made of it as well. */
static void keep(const input *k)
{
    const size_t seeds = (size_t)fuzz_here.seeds;
    corpus[known < CORPUS ? (size_t)known++ : seeds + below(CORPUS - seeds)] = *k;
    ++kept;
}

/* What an earlier part of this run kept. */
static void take_up(const char *path)
{
    static input k;
    FILE *from = fopen(path, "rb");
    while (from != NULL && fread(&k.size, sizeof k.size, 1, from) == 1 && k.size <= ROOM &&
           fread(k.data, 1, k.size, from) == k.size) {
        run_input(k.data, k.size);
        keep(&k);
    }
    if (from != NULL) fclose(from);
}

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* An input that reached an edge of the reader which no other one had reached is kept, or where
 * edges are not known, one that was accepted. */
static void run_changed(double done, double seconds)
{
    static input k;
    const double begin = clock_seconds() - done;
    for (double now = done; now < seconds; now = clock_seconds() - begin) {
        const long before = accepted, edges = fuzz_edges();
        make_input(&k);
        run_input(k.data, k.size);
        if (edges > 0 ? fuzz_edges() > edges : accepted > before) {
            keep(&k);
            if (keeping != NULL) {
                fwrite(&k.size, sizeof k.size, 1, keeping);
                fwrite(k.data, 1, k.size, keeping);
                fflush(keeping);
            }
        }
        progress_at((int64_t)now);
    }
}

/* A long run that was stopped goes on with the time that is left and the inputs that it kept.
 * @return the seconds of this part */
static double run_all(double seconds)
{
    char name[64], path[4096];
    snprintf(name, sizeof name, "fuzz_%s", fuzz_here.name);
    const int64_t done = progress_begin(name, 0, (int64_t)seconds, true);
    snprintf(name, sizeof name, "fuzz_%s.kept", fuzz_here.name);
    snprintf(path, sizeof path, "%s", progress_file(name));
    state += (uint64_t)done;
    run_seeds();
    if (done > 0) take_up(path);
    else unlink(path);
    if (seconds >= 60) keeping = fopen(path, "ab");
    run_changed((double)done, seconds);
    progress_end((int64_t)seconds);
    if (keeping != NULL) fclose(keeping);
    unlink(path);
    return seconds - (double)done;
}

static int run_file(const char *path)
{
    static input k;
    FILE *from = fopen(path, "rb");
    if (from == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 2;
    }
    k.size = fread(k.data, 1, ROOM, from);
    fclose(from);
    const long before = accepted;
    run_input(k.data, k.size);
    printf("%s: %s\n", path, accepted > before ? "accepted" : "refused");
    return 0;
}

/* The value of a META_TEST_… variable. */
static double asked(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtod(text, NULL) : otherwise;
}

static void send_errors_aside(void)
{
    terminal = dup(2);
    said = memfd_create("said", 0);
    if (said >= 0) dup2(said, 2);
}

/* Most of what can be found shows under sanitizers alone. */
#ifdef __SANITIZE_ADDRESS__
enum { USUAL_SECONDS = 10, LONG_SECONDS = 1800 };
#else
enum { USUAL_SECONDS = 1, LONG_SECONDS = 1800 };
#endif

int main(int argc, char **argv)
{
    const double seconds = asked("META_TEST_FUZZ_SECONDS",
                                 asked("META_TEST_LONG", 0) == 1 ? LONG_SECONDS : USUAL_SECONDS);
    if (getcwd(start_folder, sizeof start_folder) == NULL)
        fuzz_fail("no folder is the current one");
    snprintf(failed_name, sizeof failed_name, "%s/fuzz-%s.input", start_folder, fuzz_here.name);
    LLVMFuzzerInitialize(&argc, &argv);
    catch_signals();
    if (argc > 1) {
        int worst = 0;
        for (int k = 1; k < argc && worst == 0; ++k) worst = run_file(argv[k]);
        return worst;
    }
    state = (uint64_t)asked("META_TEST_SEED", (double)time(NULL));
    printf("fuzz_%s: META_TEST_SEED=%llu, %g s\n", fuzz_here.name, (unsigned long long)state,
           seconds);
    fflush(stdout);
    send_errors_aside();
    fuzz_edges_begin();
    const double part = run_all(seconds);
    dup2(terminal, 2);
    printf("figure: %ld inputs in %g s, of which %ld were accepted, none wrong; %ld edges of the "
           "reader reached, %d inputs kept\n",
           inputs, part, accepted, fuzz_edges(), kept);
    return 0;
}

#endif
