/* SPDX-License-Identifier: BSD-3-Clause */
/** @file each_argument.c
 *  Misuses every parameter of the functions of a table, and what its roles give: see
 * each_argument.h.
 */
#include "config.h"

#include "each_argument.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct argument_things argument_things;
#define T argument_things

enum { BYTES = ARGUMENT_CELLS * sizeof(double), OUT_BYTES = 1 << 16 };
static double pattern[ARGUMENT_CELLS];
static _Alignas(64) unsigned char out[OUT_BYTES], out_before[OUT_BYTES];
static size_t out_used;
static argument arguments[ARGUMENT_MOST_PARAMETERS];
static long calls;
static int alone; /* the rank that misuses functions while others do not; -1: all do */

/* ------------------------------------------------------------------ what calls are made with */

void argument_begin(void)
{
    meta_device_desc desc = META_DEVICE_DESC_INIT;
    CHECK_OK(meta_get_acc(NULL, &T.mode));
    CHECK_OK(meta_device_info(0, T.mode, &desc));
    T.device = T.mode == META_AUTO ? ARGUMENT_AUTO : desc.is_host ? ARGUMENT_HOST : ARGUMENT_APART;
    T.box = (meta_box){3,
                       {ARGUMENT_NX, ARGUMENT_NY, ARGUMENT_NZ},
                       {1, 1, 1},
                       {ARGUMENT_NX - 1, ARGUMENT_NY - 1, ARGUMENT_NZ - 1}};
    meta_box beside = T.box;
    --beside.start[2];
    CHECK_OK(meta_face_box(&T.face, &beside));
    for (int k = 0; k < ARGUMENT_CELLS; ++k) pattern[k] = 1 + k % 17;
    for (int k = 0; k < ARGUMENT_BUFFERS; ++k) {
        CHECK_OK(meta_alloc(&T.buffer[k], BYTES));
        CHECK_OK(meta_copy_h2d(T.buffer[k], pattern, BYTES, NULL));
    }
    CHECK_OK(meta_host_alloc(&T.pinned, BYTES));
    T.foreign = malloc(BYTES);
    memcpy(T.foreign, pattern, BYTES);
    T.elsewhere = test_alloc_elsewhere(T.mode, BYTES);
}

void argument_end(void)
{
    for (int k = 0; k < ARGUMENT_BUFFERS; ++k) CHECK_OK(meta_free(T.buffer[k]));
    CHECK_OK(meta_host_free(T.pinned));
    if (T.elsewhere) CHECK_OK(meta_free(T.elsewhere));
    free(T.foreign);
}

void *argument_out(size_t bytes)
{
    void *at = out + out_used;
    out_used += (bytes + 63) / 64 * 64;
    if (out_used > OUT_BYTES) abort();
    return at;
}

void argument_make_event(void)
{
    static const double one = 1;
    CHECK_OK(meta_fill(T.buffer[0], 1, &one, META_F64, &T.event)); /* as it is */
}

void argument_drop_event(meta_err code)
{
    (void)code;
    if (T.event.slot || T.event.generation) CHECK_OK(meta_event_free(&T.event));
}

/* ------------------------------------------------------------------ roles */

argument_misuse *argument_add(argument *a, const char *what, meta_err code)
{
    argument_misuse *wrong = &a->wrong[a->wrongs++];
    if (a->wrongs > ARGUMENT_MOST_WRONG) abort();
    *wrong = (argument_misuse){.value = a->good, .code = code};
    snprintf(wrong->what, sizeof wrong->what, "%s", what);
    return wrong;
}

#define WRONG_POINTER(a, what, code, pointer) ARGUMENT_WRONG(a, what, code, void *, pointer)

/* Of a device buffer, any byte of it. */
static void wrong_addresses(argument *a, void *good)
{
    WRONG_POINTER(a, "NULL", META_ERR_ARGUMENT, NULL);
    WRONG_POINTER(a, "freed", META_ERR_POINTER, T.freed);
    WRONG_POINTER(a, "into a freed one", META_ERR_POINTER, (char *)T.freed + 8);
    WRONG_POINTER(a, "on the stack", META_ERR_POINTER, &good);
    WRONG_POINTER(a, "static", META_ERR_POINTER, pattern);
    WRONG_POINTER(a, "of malloc()", META_ERR_POINTER, T.foreign);
    WRONG_POINTER(a, "of meta_host_alloc()", META_ERR_POINTER, T.pinned);
    WRONG_POINTER(a, "one past the end", META_ERR_POINTER, (char *)good + BYTES);
    WRONG_POINTER(a, "one byte before", META_ERR_POINTER, (char *)good - 1);
    WRONG_POINTER(a, "the first address", META_ERR_POINTER, (void *)1);
    WRONG_POINTER(a, "the last address", META_ERR_POINTER, (void *)UINTPTR_MAX);
}

static void *next_buffer(void)
{
    if (T.used == ARGUMENT_BUFFERS) abort();
    return T.buffer[T.used++];
}

void argument_any_address(argument *a)
{
    void *good = next_buffer();
    ARGUMENT_GOOD(a, void *, good);
    wrong_addresses(a, good);
}

void argument_bytes_buffer(argument *a)
{
    argument_any_address(a);
    a->is_buffer = true;
}

void argument_buffer(argument *a)
{
    void *good = next_buffer();
    ARGUMENT_GOOD(a, void *, good);
    wrong_addresses(a, good);
    WRONG_POINTER(a, "at the last element", META_ERR_BOUNDS, (char *)good + BYTES - sizeof(double));
    WRONG_POINTER(a, "misaligned", META_ERR_ALIGNMENT, (char *)good + 1);
    a->is_buffer = true;
}

/* Of which the first or the second is wrong. */
void argument_buffers(argument *a)
{
    argument single = *a;
    argument_buffer(&single);
    void *const first = T.buffer[T.used - 1], *const second = next_buffer();
    void **list = argument_out(2 * sizeof *list);
    list[0] = first, list[1] = second;
    ARGUMENT_GOOD(a, void *const *, list);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, void *const *, NULL);
    for (int k = 0; k < 2 * single.wrongs; ++k) {
        char what[96];
        const argument_misuse *wrong = &single.wrong[k / 2];
        list = argument_out(2 * sizeof *list);
        list[0] = first, list[1] = second;
        memcpy(&list[k % 2], wrong->value.bytes, sizeof *list);
        snprintf(what, sizeof what, "element %d %.40s", k % 2, wrong->what);
        ARGUMENT_WRONG(a, what, wrong->code, void *const *, list);
    }
}

/* Whether libmeta still has the memory of T.freed. Under AddressSanitizer freed memory goes back to
 * malloc() at once, and may be the program's own by now. */
static bool is_kept(void)
{
#ifdef __SANITIZE_ADDRESS__
    return T.device != ARGUMENT_HOST;
#else
    return true;
#endif
}

/* What libmeta knows not to be the host's, or no longer. */
static void wrong_host_addresses(argument *a)
{
    WRONG_POINTER(a, "NULL", META_ERR_ARGUMENT, NULL);
    if (!is_kept()) return;
    WRONG_POINTER(a, "a freed buffer", META_ERR_POINTER, T.freed);
    WRONG_POINTER(a, "into a freed one", META_ERR_POINTER, (char *)T.freed + 16);
}

void argument_host_array(argument *a)
{
    ARGUMENT_GOOD(a, void *, argument_out(BYTES));
    if (strncmp(a->type, "const", 5) == 0) ARGUMENT_GOOD(a, const void *, pattern);
    wrong_host_addresses(a);
    WRONG_POINTER(a, "a buffer", META_ERR_POINTER, T.buffer[ARGUMENT_BUFFERS - 1]);
    WRONG_POINTER(a, "in a buffer", META_ERR_POINTER, (char *)T.buffer[ARGUMENT_BUFFERS - 1] + 16);
}

void argument_host_number(argument *a)
{
    static const double one = 1;
    argument_host_array(a);
    ARGUMENT_GOOD(a, const void *, &one);
}

/* On the host or the device. */
static void element_anywhere(argument *a)
{
    char *good = argument_out(sizeof(double));
    ARGUMENT_GOOD(a, void *, good);
    wrong_host_addresses(a);
    WRONG_POINTER(a, "misaligned", META_ERR_ALIGNMENT, good + 1);
    WRONG_POINTER(a, "misaligned in a buffer", META_ERR_ALIGNMENT,
                  (char *)T.buffer[ARGUMENT_BUFFERS - 1] + 1);
    WRONG_POINTER(a, "partly in a buffer", META_ERR_POINTER,
                  (char *)T.buffer[ARGUMENT_BUFFERS - 1] - 1);
    if (T.elsewhere) {
        argument_misuse *wrong = argument_add(a, "on another device", META_ERR_WRONG_DEVICE);
        memcpy(wrong->value.bytes, &T.elsewhere, sizeof T.elsewhere);
    }
}

void argument_result(argument *a)
{
    element_anywhere(a);
}

void argument_box(argument *a)
{
    static const int dimensions[] = {0, -1, META_MAX_DIM + 1, INT_MAX, INT_MIN};
    static const struct {
        const char *what;
        meta_err code;
    } kinds[] = {{"leaves the array at the low side", META_ERR_BOUNDS},
                 {"starts at INT64_MIN", META_ERR_BOUNDS},
                 {"leaves the array at the high side", META_ERR_BOUNDS},
                 {"ends at INT64_MAX", META_ERR_BOUNDS},
                 {"ends before it starts", META_ERR_BOUNDS},
                 {"has a negative extent", META_ERR_BOUNDS},
                 {"has too many elements", META_ERR_OVERFLOW},
                 {"has an extent of INT64_MAX", META_ERR_OVERFLOW}};
    meta_box *box = argument_out(sizeof *box);
    *box = T.box;
    ARGUMENT_GOOD(a, const meta_box *, box);
    WRONG_POINTER(a, "NULL", META_ERR_ARGUMENT, NULL);
    for (size_t k = 0; k < sizeof dimensions / sizeof *dimensions; ++k) {
        char what[64];
        box = argument_out(sizeof *box);
        *box = T.box;
        box->ndim = dimensions[k];
        snprintf(what, sizeof what, "of %d dimensions", dimensions[k]);
        ARGUMENT_WRONG(a, what, META_ERR_ARGUMENT, const meta_box *, box);
    }
    for (int k = 0; k < (int)(sizeof kinds / sizeof *kinds); ++k)
        for (int d = 0; d < 3; ++d) {
            char what[64];
            int64_t *value;
            box = argument_out(sizeof *box);
            *box = T.box;
            value = k < 2 ? box->start : k < 5 ? box->end : box->size;
            value[d] = (const int64_t[]){-1, INT64_MIN,     box->size[d] + 1, INT64_MAX,
                                         0,  -box->size[d], INT64_MAX / 8,    INT64_MAX}[k];
            snprintf(what, sizeof what, "%s, dimension %d", kinds[k].what, d);
            ARGUMENT_WRONG(a, what, kinds[k].code, const meta_box *, box);
        }
}

void argument_face(argument *a)
{
    static const int counts[] = {0, -1, META_MAX_DIM + 1, INT_MAX, INT_MIN};
    meta_face *face = argument_out(sizeof *face);
    *face = T.face;
    ARGUMENT_GOOD(a, const meta_face *, face);
    WRONG_POINTER(a, "NULL", META_ERR_ARGUMENT, NULL);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
        char what[64];
        face = argument_out(sizeof *face);
        *face = T.face;
        face->count = counts[k];
        snprintf(what, sizeof what, "of %d levels", counts[k]);
        ARGUMENT_WRONG(a, what, META_ERR_ARGUMENT, const meta_face *, face);
    }
    for (int k = 0; k < 4; ++k)
        for (int d = 0; d < 3; ++d) {
            static const char *const kinds[] = {"has a negative size", "has a size of INT64_MIN",
                                                "has a size of INT64_MAX",
                                                "has a size beyond all memory"};
            char what[64];
            face = argument_out(sizeof *face);
            *face = T.face;
            face->size[d] = (const int64_t[]){-1, INT64_MIN, INT64_MAX, INT64_MAX / 4}[k];
            snprintf(what, sizeof what, "%s, level %d", kinds[k], d);
            ARGUMENT_WRONG(a, what, k < 2 ? META_ERR_ARGUMENT : META_ERR_OVERFLOW,
                           const meta_face *, face);
        }
}

void argument_type(argument *a)
{
    static const int unknown[] = {-1, META_TYPE_COUNT, 1000, INT_MAX, INT_MIN};
    ARGUMENT_GOOD(a, meta_type, META_F64);
    for (size_t k = 0; k < sizeof unknown / sizeof *unknown; ++k) {
        char what[32];
        snprintf(what, sizeof what, "%d", unknown[k]);
        ARGUMENT_WRONG(a, what, META_ERR_TYPE, meta_type, (meta_type)unknown[k]);
    }
}

void argument_arithmetic(argument *a)
{
    argument_type(a);
    ARGUMENT_WRONG(a, "META_I16", META_ERR_TYPE, meta_type, META_I16);
    ARGUMENT_WRONG(a, "META_U8", META_ERR_TYPE, meta_type, META_U8);
}

/* NULL and META_ASYNC are no misuse; an event shows where one is written. */
void argument_done(argument *a)
{
    meta_event *event = argument_out(sizeof *event);
    *event = (meta_event)META_EVENT_NULL;
    ARGUMENT_GOOD(a, meta_event *, event);
}

void argument_out_pointer(argument *a)
{
    ARGUMENT_GOOD(a, void *, argument_out(sizeof(meta_box)));
    WRONG_POINTER(a, "NULL", META_ERR_ARGUMENT, NULL);
}

void argument_event_handle(argument *a)
{
    const meta_event right = T.event;
    meta_event stale;
    argument_make_event();
    stale = T.event;
    argument_drop_event(META_OK);
    T.event = right;
    const meta_event wrong[] = {stale,
                                {T.event.slot, T.event.generation + 1},
                                {0, 2},
                                {1u << 31, 1},
                                {UINT32_MAX, UINT32_MAX},
                                {T.event.slot, 0},
                                {77, 0}};
    ARGUMENT_GOOD(a, meta_event, T.event);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        char what[64];
        snprintf(what, sizeof what, "{%" PRIu32 ", %" PRIu32 "}", wrong[k].slot,
                 wrong[k].generation);
        ARGUMENT_WRONG(a, k ? what : "freed", META_ERR_HANDLE, meta_event, wrong[k]);
    }
}

void argument_opaque(argument *a)
{
    ARGUMENT_GOOD(a, void *, NULL);
}

/* ------------------------------------------------------------------ calls */

static argument_role *role_of(const argument_table *t, const char *function, const char *name)
{
    argument_role *role = NULL;
    for (size_t k = 0; k < t->rows; ++k) {
        if (strcmp(t->row[k].name, name) != 0) continue;
        if (!t->row[k].function) role = role ? role : t->row[k].role;
        else if (strcmp(t->row[k].function, function) == 0) return t->row[k].role;
    }
    return role;
}

static const argument_around *around_of(const argument_table *t, const char *function)
{
    static const argument_around nothing;
    for (size_t k = 0; k < t->arounds; ++k)
        if (strcmp(t->around[k].function, function) == 0) return &t->around[k];
    return &nothing;
}

static bool is_among(const char *const *names, const char *name)
{
    for (; names && *names; ++names)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static bool is_parameter(const argument_function *f, const char *name)
{
    for (int k = 0; k < f->parameters; ++k)
        if (strcmp(f->parameter[k].name, name) == 0) return true;
    return false;
}

/* Buffers that are wrong by what the call's other ones are. */
static void relate_buffers(const argument_function *f)
{
    for (int k = 0; k < f->parameters; ++k)
        for (int other = 0; other < f->parameters; ++other) {
            argument *a = &arguments[k];
            const argument *b = &arguments[other];
            argument_misuse *wrong;
            char *shared;
            if (k == other || !a->is_buffer || !b->is_buffer) continue;
            if (T.elsewhere) {
                wrong = argument_add(a, "on another device", META_ERR_WRONG_DEVICE);
                memcpy(wrong->value.bytes, &T.elsewhere, sizeof T.elsewhere);
                wrong->also = b->name;
            }
            if (strncmp(a->type, "const", 5) == 0) continue;
            memcpy(&shared, b->good.bytes, sizeof shared);
            /* A packed face, or a grid, then has cells of the other one's. */
            shared += is_parameter(f, "bytes") ? 16 : 2 * ARGUMENT_NX * sizeof(double);
            wrong = argument_add(a, "overlapping another one", META_ERR_OVERLAP);
            memcpy(wrong->value.bytes, &shared, sizeof shared);
            wrong->also = b->name;
        }
}

/* Correct arguments for a call, and what would be wrong. */
static bool ask_roles(const argument_table *t, const argument_function *f, argument_value *value)
{
    T.used = 0;
    out_used = 0;
    memset(out, 0x5a, sizeof out);
    for (int k = 0; k < f->parameters; ++k) {
        argument *a = &arguments[k];
        argument_role *role = role_of(t, f->name, f->parameter[k].name);
        *a = (argument){
            .function = f, .number = k, .name = f->parameter[k].name, .type = f->parameter[k].type};
        if (!role) return FAIL("'%s' of %s has no role", a->name, f->name);
        role(a);
        value[k] = a->good;
    }
    relate_buffers(f);
    memcpy(out_before, out, sizeof out);
    return true;
}

/* The same for a call that is made now. */
static bool prepare(const argument_table *t, const argument_function *f, argument_value *value)
{
    const argument_around *around = around_of(t, f->name);
    /* Anew each time: an allocation that fails gives the pool's memory back. */
    CHECK_OK(meta_alloc(&T.freed, BYTES));
    CHECK_OK(meta_free(T.freed));
    if (around->before) around->before();
    return ask_roles(t, f, value);
}

/* Behind the rank, which messages name that ranks agree on; others than that one must be told. */
static const char *behind_rank(const char *message, bool must)
{
    int rank, length = 0;
    if (sscanf(message, "rank %d: %n", &rank, &length) != 1 || length == 0) {
        if (must) FAIL("the message does not name the rank: %s", message);
        return message;
    }
    if (rank != (alone < 0 ? 0 : alone)) FAIL("the message names another rank: %s", message);
    return message + length;
}

/* The message begins with the function and names the argument, or a part of it. Lack of memory is
 * no argument's. */
static void check_message(const argument_function *f, const char *name, const char *also,
                          meta_err code)
{
    const char *message = behind_rank(meta_last_error(), alone >= 0 && alone != test_rank);
    const size_t length = strlen(f->name);
    char quoted[64], quoted_also[64];
    snprintf(quoted, sizeof quoted, "'%s", name);
    snprintf(quoted_also, sizeof quoted_also, "'%s", also ? also : name);
    if (strncmp(message, f->name, length) != 0 || message[length] != ':')
        FAIL("the message does not begin with %s: %s", f->name, message);
    if (code == META_ERR_NO_MEMORY) return;
    for (const char *at = message; (at = strchr(at, '\'')) != NULL; ++at)
        for (int k = 0; k < 2; ++k) {
            const char *wanted = k ? quoted_also : quoted;
            if (strncmp(at, wanted, strlen(wanted)) == 0 &&
                strchr("'[-.0123456789", at[strlen(wanted)]))
                return;
        }
    FAIL("the message does not name '%s': %s", name, message);
}

/* Whether a misuse of @p a is in a list; those that are found there are noted in @p used. */
static bool is_listed(const argument_accepted *list, size_t rows, bool *used, const argument *a,
                      const char *what)
{
    bool found = false;
    for (size_t k = 0; k < rows; ++k) {
        const argument_accepted *row = &list[k];
        if ((row->function && strcmp(row->function, a->function->name) != 0) ||
            strcmp(row->name, a->name) != 0 || strncmp(row->what, what, strlen(row->what)) != 0)
            continue;
        used[k] = found = true;
    }
    return found;
}

static void end_event(const argument_function *f, const argument_value *value)
{
    for (int k = 0; k < f->parameters; ++k)
        if (strcmp(f->parameter[k].name, "done") == 0) {
            meta_event *event;
            memcpy(&event, value[k].bytes, sizeof event);
            if (event && event != META_ASYNC && event->slot) {
                CHECK_OK(meta_event_wait(*event));
                CHECK_OK(meta_event_free(event));
            }
        }
}

static void after(const argument_table *t, const argument_function *f, meta_err code,
                  const argument_value *value)
{
    const argument_around *around = around_of(t, f->name);
    if (code == META_OK) end_event(f, value);
    if (around->after) around->after(code);
}

void argument_restore(void)
{
    for (int k = 0; k < ARGUMENT_BUFFERS; ++k)
        CHECK_OK(meta_copy_h2d(T.buffer[k], pattern, BYTES, NULL));
}

static void check_buffers(void)
{
    static double found[ARGUMENT_CELLS];
    for (int k = 0; k < ARGUMENT_BUFFERS; ++k)
        if (CHECK_OK(meta_copy_d2h(found, T.buffer[k], BYTES, NULL)))
            CHECK_ARRAY(found, pattern, ARGUMENT_CELLS, META_F64);
}

static void check_computes(void)
{
    const meta_box all = {1, {ARGUMENT_CELLS}, {0}, {ARGUMENT_CELLS}};
    double sum = 0, expected = 0;
    for (int k = 0; k < ARGUMENT_CELLS; ++k) expected += pattern[k] * pattern[k];
    CHECK_OK(meta_dot(&sum, T.buffer[0], T.buffer[1], &all, META_F64, NULL));
    CHECK_NEAR(sum, expected, 1e-14);
}

static uint64_t live_buffers(void)
{
    meta_mem_desc desc = META_MEM_DESC_INIT;
    CHECK_OK(meta_mem_info(0, T.mode, &desc));
    return desc.buffers;
}

/* What of the table's lists has occurred. */
typedef struct occurred {
    bool *accepted, *untold;
} occurred;

/* Where one rank alone is wrong, ranks may compare what they were given first. */
static bool is_right_code(const argument_misuse *w, meta_err code)
{
    if (w->code == ARGUMENT_ANY || code == w->code) return code != META_OK;
    return alone >= 0 && code == META_ERR_MISMATCH;
}

/* The misuse @p w of @p a is an error that names it, or accepted. */
static void check_misuse(const argument_function *f, const argument *a, const argument_misuse *w,
                         bool accepted, meta_err code)
{
    if (accepted) {
        if (code != META_OK)
            FAIL("gives %s, but is said to be accepted\n    message: %s", meta_strerror(code),
                 meta_last_error());
    } else if (!is_right_code(w, code))
        FAIL("gives %s, expected %s\n    message: %s", meta_strerror(code),
             w->code == ARGUMENT_ANY ? "an error" : meta_strerror(w->code), meta_last_error());
    else {
        check_message(f, a->name, w->also, code);
        if (memcmp(out, out_before, sizeof out) != 0) FAIL("an output was written");
    }
}

static meta_err call_correctly(const argument_table *t, const argument_function *f,
                               const argument_value *value)
{
    const meta_err code = f->call(value);
    if (code != around_of(t, f->name)->good[T.device])
        FAIL("%s gives %s\n    message: %s", f->name, meta_strerror(code), meta_last_error());
    return code;
}

/* One misuse of parameter @p k: on all ranks, or on one. */
static void misuse_once(const argument_table *t, const argument_function *f, int k, int wrong,
                        occurred *used)
{
    argument_value value[ARGUMENT_MOST_PARAMETERS];
    const argument *a = &arguments[k];
    const argument_misuse *w = &a->wrong[wrong];
    const bool mine = alone < 0 || alone == test_rank;
    meta_err code;
    prepare(t, f, value);
    test_case("%s: '%s' is %s", f->name, a->name, w->what);
    const bool accepted = is_listed(t->accepted, t->accepts, used->accepted, a, w->what);
    const bool told =
        is_among(t->agreed, f->name) && !is_listed(t->untold, t->untolds, used->untold, a, w->what);
    if (mine) value[k] = w->value;
    if (mine || (told && !accepted)) {
        code = f->call(value);
        check_misuse(f, a, w, accepted, code);
    } else code = call_correctly(t, f, value);
    if (alone == test_rank && !accepted && !told) {
        value[k] = a->good;
        code = call_correctly(t, f, value);
    }
    calls += mine;
    after(t, f, code, value);
    if (code == META_OK) argument_restore();
}

static void misuse(const argument_table *t, const argument_function *f, occurred *used)
{
    argument_value value[ARGUMENT_MOST_PARAMETERS];
    int wrongs[ARGUMENT_MOST_PARAMETERS];
    const uint64_t live = live_buffers();
    test_case("%s as it should be", f->name);
    if (!prepare(t, f, value)) return;
    for (int k = 0; k < f->parameters; ++k) wrongs[k] = arguments[k].wrongs;
    after(t, f, call_correctly(t, f, value), value);
    argument_restore();
    for (int k = 0; k < f->parameters; ++k)
        for (int wrong = 0; wrong < wrongs[k]; ++wrong) misuse_once(t, f, k, wrong, used);
    test_case("after the misuse of %s", f->name);
    CHECK_OK(meta_flush());
    check_buffers();
    check_computes();
    CHECK_U64(live_buffers(), live);
}

static void check_list(const argument_accepted *list, size_t rows, const bool *used,
                       const char *name)
{
    test_case("the list of what is %s", name);
    for (size_t k = 0; k < rows; ++k)
        if (!used[k])
            FAIL("'%s' of %s is never %s", list[k].name,
                 list[k].function ? list[k].function : "any function", list[k].what);
}

void argument_misuse_on(const argument_table *t, int rank)
{
    occurred used = {calloc(t->accepts + 1, sizeof(bool)), calloc(t->untolds + 1, sizeof(bool))};
    alone = rank;
    calls = 0;
    for (const char *const *other = t->others; *other; ++other)
        if (!is_among(t->known_others, *other)) FAIL("%s is not known to this test", *other);
    for (size_t k = 0; k < t->functions; ++k) misuse(t, &t->function[k], &used);
    check_list(t->accepted, t->accepts, used.accepted, "accepted");
    check_list(t->untold, t->untolds, used.untold, "not told to other ranks");
    if (test_rank == (rank < 0 ? 0 : rank))
        printf("note   %zu functions misused in %ld ways, on %s\n", t->functions, calls,
               rank >= 0       ? "one rank"
               : test_size > 1 ? "all ranks"
                               : "the only rank");
    free(used.accepted);
    free(used.untold);
}

void argument_misuse_all(const argument_table *t)
{
    argument_misuse_on(t, -1);
}

void argument_call_unstarted(const argument_table *t)
{
    argument_value(*value)[ARGUMENT_MOST_PARAMETERS] = calloc(t->functions, sizeof *value);
    T.made = T.buffer[0];
    for (size_t k = 0; k < t->functions; ++k) ask_roles(t, &t->function[k], value[k]);
    if (t->end) t->end();
    else {
        argument_end();
        CHECK_OK(meta_finalize());
    }
    for (size_t k = 0; k < t->functions; ++k) {
        const argument_function *f = &t->function[k];
        const char *message;
        meta_err code;
        if (is_among(t->startless, f->name)) continue;
        test_case("%s of a library that is not started", f->name);
        memset(out, 0x5a, sizeof out);
        memcpy(out_before, out, sizeof out);
        code = f->call(value[k]);
        message = meta_last_error();
        if (!CHECK_INT(code, META_ERR_INIT)) continue;
        if (strncmp(message, f->name, strlen(f->name)) != 0 || message[strlen(f->name)] != ':')
            FAIL("the message does not begin with %s: %s", f->name, message);
        if (memcmp(out, out_before, sizeof out) != 0) FAIL("an output was written");
    }
    free(value);
}
