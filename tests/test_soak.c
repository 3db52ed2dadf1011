/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_soak.c
 *  A program that runs for long: rounds of all kinds of work, each with joining and leaving a job,
 *  after which the process holds what it held after the first rounds. Descriptors, threads and MPI
 *  objects exactly; mappings, memory and address space within one per cent, in a short run within
 *  three, beside what a few stacks take.
 *
 *  A few seconds, or a quarter of an hour with META_TEST_LONG=1, or META_TEST_SOAK_SECONDS. */
/* TEST: backends=none mixed=yes auto=yes np=2 labels=comm */
#define META_KERNELS_HERE
#include "soak.kernel.h"

#include "mpi_fault.h"
#include "test_mpi.h"

#include "meta_library.h"

#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { NX = 20, NY = 16, GHOSTS = 1, BUFFERS = 24, THREADS = 3, FEWEST = 8 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------ what the process holds */

enum { DESCRIPTORS, LIVE_THREADS, EXACT, MAPPINGS = EXACT, ADDRESS_KB, RESIDENT_KB, SYSTEM_COUNT };
static const char *const system_name[] = {"descriptors", "threads", "mappings",
                                          "kB of address space", "kB of resident memory"};
typedef struct holdings {
    int64_t system[SYSTEM_COUNT];
    int64_t object[MPI_OBJECT_COUNT];
} holdings;

static int64_t entries_of(const char *path)
{
    int64_t count = 0;
    DIR *folder = opendir(path);
    while (folder && readdir(folder) != NULL) ++count;
    if (folder) closedir(folder);
    return count;
}

static int64_t lines_of(const char *path)
{
    int64_t count = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = getc(file)) != EOF;) count += c == '\n';
    if (file) fclose(file);
    return count;
}

static int64_t status_of(const char *name)
{
    char line[256];
    int64_t value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) value = atoll(line + strlen(name));
    if (file) fclose(file);
    return value;
}

static holdings look(void)
{
    holdings now;
    malloc_trim(0); /* what free() keeps is not held */
    now.system[DESCRIPTORS] = entries_of("/proc/self/fd");
    now.system[LIVE_THREADS] = status_of("Threads:");
    now.system[MAPPINGS] = lines_of("/proc/self/maps");
    now.system[ADDRESS_KB] = status_of("VmSize:");
    now.system[RESIDENT_KB] = status_of("VmRSS:");
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k) now.object[k] = mpi_objects((mpi_object)k);
    return now;
}

/* ------------------------------------------------------------------ work of one process */

static void fill_in(void *buffer, size_t bytes)
{
    unsigned char pattern[256];
    memset(pattern, 0x5a, sizeof pattern);
    CHECK_OK(meta_copy_h2d(buffer, pattern, bytes < sizeof pattern ? bytes : sizeof pattern, NULL));
}

/* Buffers of many sizes, freed in another order than they were made in. */
static void use_memory(int round)
{
    void *buffer[BUFFERS] = {NULL}, *pinned, *wrapped, *host;
    double own[64];
    for (int k = 0; k < BUFFERS; ++k) {
        const size_t bytes = (size_t)1 << (6 + (k + round) % 12);
        if (!CHECK_OK(meta_alloc(&buffer[k], bytes))) return;
        fill_in(buffer[k], bytes);
    }
    CHECK_OK(meta_copy_d2d(buffer[0], buffer[1], 64, META_ASYNC));
    CHECK_OK(meta_label(buffer[2], "labelled"));
    for (int k = 0; k < BUFFERS; ++k) CHECK_OK(meta_free(buffer[(k * 7) % BUFFERS]));
    CHECK_ERR(meta_free(buffer[3]), META_ERR_POINTER);
    if (CHECK_OK(meta_host_alloc(&pinned, 8192))) CHECK_OK(meta_host_free(pinned));
    if (meta_wrap(&wrapped, own, sizeof own, META_NATIVE_HOST) == META_OK) {
        if (meta_host_view(wrapped, &host) == META_OK) CHECK(host == own);
        CHECK_OK(meta_unwrap(wrapped));
    }
}

static void count_call(void *user, meta_err status)
{
    ++*(int *)user;
    CHECK_INT(status, META_OK);
}

/* Built-in kernels, ready ones, the program's own and one whose call is refused; events of all
 * kinds. */
static void use_kernels(void)
{
    const int64_t cells[] = {NX, NY};
    const int ghosts[] = {GHOSTS, GHOSTS};
    const double one = 1, zero = 0;
    double sum = 0, change = -1, dot = 0;
    uint32_t checksum = 0;
    meta_box box;
    meta_face face;
    meta_event event[3];
    int64_t elements = 0;
    int calls = 0;
    void *a, *b, *packed;
    if (!CHECK_OK(meta_grid_alloc(&a, &box, 2, cells, ghosts, ghosts, META_F64)) ||
        !CHECK_OK(meta_grid_alloc(&b, &box, 2, cells, ghosts, ghosts, META_F64)))
        return;
    const int64_t all = box.size[0] * box.size[1];
    CHECK_OK(meta_fill(a, all, &one, META_F64, &event[0]));
    CHECK_OK(meta_event_then(event[0], count_call, &calls));
    CHECK_OK(meta_fill(b, all, &zero, META_F64, META_ASYNC));
    CHECK_OK(meta_stencil(b, a, &box, META_2D5P, META_F64, &sum, &event[1]));
    CHECK_OK(relax_f64(&box, b, a, 0.5, &change, &event[2]));
    CHECK_OK(meta_event_waitall(3, event));
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_event_free(&event[k]));
    CHECK_OK(meta_dot(&dot, a, b, &box, META_F64, NULL));
    CHECK_OK(meta_axpby(b, &one, a, &one, b, &box, META_F64, META_ASYNC));
    CHECK_OK(meta_boundary(b, &box, 0, META_SLAB_LOW_GHOST, GHOSTS, META_BOUNDARY_WALL, &one,
                           META_F64, META_ASYNC));
    CHECK_OK(meta_crc32(&checksum, b, (size_t)all * sizeof(double), NULL));
    CHECK_OK(meta_face_slab(&face, &box, 0, META_SLAB_LOW, GHOSTS));
    CHECK_OK(meta_face_elements(&face, &elements));
    if (CHECK_OK(meta_alloc(&packed, (size_t)elements * sizeof(double)))) {
        CHECK_OK(meta_pack_face(packed, b, &face, META_F64, META_ASYNC));
        CHECK_OK(meta_unpack_face(a, packed, &face, META_F64, META_ASYNC));
        CHECK_OK(meta_free(packed));
    }
    CHECK_ERR(meta_stencil(b, a, &box, META_3D7P, META_F64, &sum, NULL), META_ERR_ARGUMENT);
    CHECK_OK(meta_flush());
    CHECK_INT(calls, 1);
    CHECK_NEAR(change, 0, 1e-9);
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_free(b));
}

static void *work_apart(void *fault)
{
    const double one = 1;
    double sum = 0;
    const meta_box box = {1, {500}, {0}, {500}};
    void *buffer;
    *(meta_err *)fault = meta_alloc(&buffer, 500 * sizeof(double));
    if (*(meta_err *)fault != META_OK) return NULL;
    const meta_err error[] = {meta_fill(buffer, 500, &one, META_F64, META_ASYNC),
                              meta_reduce(&sum, buffer, &box, META_SUM, META_F64, NULL),
                              meta_free(buffer)};
    for (int k = 0; k < 3; ++k)
        if (error[k] != META_OK) *(meta_err *)fault = error[k];
    if (!(sum >= 500 && sum <= 500)) *(meta_err *)fault = META_ERR_DEVICE;
    return NULL;
}

/* Threads that end: what the library keeps of each has to go with it. */
static void use_threads(void)
{
    pthread_t thread[THREADS];
    meta_err fault[THREADS];
    for (int k = 0; k < THREADS; ++k)
        if (!CHECK_INT(pthread_create(&thread[k], NULL, work_apart, &fault[k]), 0)) return;
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(thread[k], NULL);
        CHECK_INT(fault[k], META_OK);
    }
}

/* ------------------------------------------------------------------ work of all processes */

static void use_messages(void)
{
    const int next = (test_rank + 1) % test_size, last = (test_rank + test_size - 1) % test_size;
    const double mine = test_rank;
    double sum = 0;
    for (size_t bytes = 64; bytes <= (size_t)1 << 20; bytes <<= 7) {
        void *out, *in;
        meta_event got;
        if (!CHECK_OK(meta_alloc(&out, bytes)) || !CHECK_OK(meta_alloc(&in, bytes))) return;
        fill_in(out, bytes);
        CHECK_OK(meta_packed_recv(last, in, (int64_t)bytes, META_U8, 3, &got));
        CHECK_OK(meta_packed_send(next, out, (int64_t)bytes, META_U8, 3, META_ASYNC));
        CHECK_OK(meta_event_wait(got));
        CHECK_OK(meta_event_free(&got));
        CHECK_OK(meta_flush());
        CHECK_OK(meta_free(out));
        CHECK_OK(meta_free(in));
    }
    CHECK_OK(meta_allreduce(&sum, &mine, 1, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, test_size * (test_size - 1) / 2, 0);
}

static meta_err relax_part(const meta_box *part, void *with)
{
    void **field = with;
    double change;
    return relax_f64(part, field[1], field[0], 0.5, &change, NULL);
}

static void use_plans(MPI_Comm cart, void **field, const meta_box *box)
{
    meta_halo_desc desc = META_HALO_DESC(cart, *box, GHOSTS, META_HALO_ALL, 1, META_F64);
    meta_halo plan;
    meta_exchange exchange;
    meta_event done;
    if (!CHECK_OK(meta_halo_create(&plan, &desc))) return;
    for (int k = 0; k < 3; ++k) CHECK_OK(meta_halo_exchange(plan, field, META_ASYNC));
    CHECK_OK(meta_halo_exchange(plan, field, &done));
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    CHECK_OK(meta_halo_begin(plan, field, &exchange));
    CHECK_OK(meta_halo_end(&exchange, NULL));
    CHECK_OK(meta_halo_overlap(plan, field, relax_part, relax_part, field, NULL));
    CHECK_OK(meta_flush());
    CHECK_OK(meta_halo_free(&plan));
}

/* Cut by speeds, and moved there. */
static void use_cuts(MPI_Comm cart, int grid)
{
    int64_t before[3], after[3], y[2][2] = {{0, NY}, {0, NY}};
    const meta_cuts from = {{before, y[0]}}, to = {{after, y[1]}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    meta_redistribute_field moved = {.type = META_F64};
    desc.cart = cart;
    desc.cells[0] = grid;
    desc.cells[1] = NY;
    for (int k = 0; k <= test_size; ++k) before[k] = (int64_t)grid * k / test_size;
    desc.speed = 1 + test_rank;
    if (!CHECK_OK(meta_decompose(&to, &desc, NULL))) return;
    void *old, *new;
    const int64_t had = before[test_rank + 1] - before[test_rank],
                  has = after[test_rank + 1] - after[test_rank];
    moved.from_box = (meta_box){2, {had, NY}, {0, 0}, {had, NY}};
    moved.to_box = (meta_box){2, {has, NY}, {0, 0}, {has, NY}};
    if (!CHECK_OK(meta_alloc(&old, (size_t)had * NY * sizeof(double))) ||
        !CHECK_OK(meta_alloc(&new, (size_t)has * NY * sizeof(double))))
        return;
    moved.from = old;
    moved.to = new;
    CHECK_OK(meta_redistribute(cart, &from, &to, 1, &moved));
    CHECK_OK(meta_free(old));
    CHECK_OK(meta_free(new));
}

static void use_grid(void)
{
    const int extent[] = {test_size, 1}, periodic[] = {1, 0};
    const int64_t cells[] = {NX, NY};
    const int ghosts[] = {GHOSTS, GHOSTS};
    const double one = 1;
    MPI_Comm cart;
    meta_box box;
    void *field[2];
    MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &cart);
    for (int k = 0; k < 2; ++k) {
        if (!CHECK_OK(meta_grid_alloc(&field[k], &box, 2, cells, ghosts, ghosts, META_F64))) return;
        CHECK_OK(meta_fill(field[k], box.size[0] * box.size[1], &one, META_F64, META_ASYNC));
    }
    use_plans(cart, field, &box);
    use_cuts(cart, NX * test_size);
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(field[k]));
    MPI_Comm_free(&cart);
}

/* A job: joined, used, half of the time with a profile, and left. */
static void use_everything(int round)
{
    const bool profiled = round % 2 == 1;
    if (profiled) CHECK_OK(meta_timers_init());
    test_require(meta_comm_init(NULL, NULL));
    for (int k = 0; k < 3; ++k) {
        CHECK_OK(meta_range_push("step"));
        use_memory(k);
        use_kernels();
        use_threads();
        use_messages();
        use_grid();
        CHECK_OK(meta_range_pop());
    }
    if (profiled) CHECK_OK(meta_timers_finalize());
    CHECK_OK(meta_comm_finalize());
}

/* ------------------------------------------------------------------ the promise */

/* A part of what was held, and what glibc does as threads happen to meet: it keeps a stack for the
 * next one, or an arena has a hole. A leak of many rounds would add up. */
static int64_t may_grow(int kind, int64_t had)
{
    const int64_t parts = test_long() ? 100 : 30;
    const int64_t chance[SYSTEM_COUNT] = {0, 0, 2 * THREADS, THREADS * INT64_C(8192), 512};
    return kind < EXACT ? 0 : had / parts + chance[kind];
}

static void check_flat(const holdings *before, const holdings *after)
{
    const char *sanitize = getenv("META_TEST_SANITIZE"); /* which keep what was freed */
    const bool is_sanitized = sanitize && strcmp(sanitize, "no") != 0;
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k) {
        test_case("MPI's objects of kind %s", mpi_object_name((mpi_object)k));
        CHECK_INT(after->object[k], before->object[k]);
    }
    for (int k = 0; k < (is_sanitized ? EXACT : SYSTEM_COUNT); ++k) {
        const int64_t had = before->system[k], has = after->system[k];
        test_case("%s: %" PRId64 ", and %" PRId64 " in the end", system_name[k], had, has);
        if (k < EXACT) CHECK_INT(has, had);
        else CHECK(has <= had + may_grow(k, had));
    }
}

/* In one piece, as the other ranks write too. */
static void report(int rounds, int warm, const holdings *before, const holdings *after)
{
    char text[512];
    int used = snprintf(text, sizeof text, "rank %d: %d rounds after %d", test_rank, rounds, warm);
    for (int k = 0; k < SYSTEM_COUNT; ++k)
        used += snprintf(text + used, sizeof text - (size_t)used, ", %" PRId64 " %s (%+" PRId64 ")",
                         after->system[k], system_name[k], after->system[k] - before->system[k]);
    puts(text);
}

/* The same decision on all ranks. */
static bool goes_on(double until, int round)
{
    int on = round < FEWEST || seconds() < until;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

static void a_process_holds_after_many_rounds_what_it_held_after_a_few(void)
{
    const char *wanted = getenv("META_TEST_SOAK_SECONDS");
    const double lasts = wanted ? atof(wanted) : test_long() ? 900 : 2, began = seconds();
    holdings before = {{0}, {0}}, after;
    int round = 0, warm = 0;
    /* The first ones fill pools and tables, and load what is loaded once. */
    while (goes_on(began + 0.1 * lasts, round) && test_failures() == 0) use_everything(round++);
    warm = round;
    before = look();
    for (round = 0; goes_on(began + lasts, round) && test_failures() == 0;) use_everything(round++);
    after = look();
    report(round, warm, &before, &after);
    check_flat(&before, &after);
}

/* Threads that allocate at the same moment would make malloc() reserve another arena now and then.
 */
static void start(int *argc, char ***argv)
{
    mallopt(M_ARENA_MAX, 1);
    test_mpi_start(argc, argv);
}

static const test_setting with_one_arena = {start, test_mpi_worst, test_mpi_end};
TEST_MAIN_WITH(&with_one_arena, PROMISE(a_process_holds_after_many_rounds_what_it_held_after_a_few))
