/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_arguments.c
 *  Every parameter of every function of meta.h, meta_library.h and meta_kernel.h, misused in every
 * way that its type allows; the roles of the parameters. See each_argument.h. */
/* TEST: backends=all auto=yes labels=core smoke=yes */
#include "config.h"

#include "each_argument.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "meta_library.h"
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

#include "tests/arguments_core.h"

#define T argument_things

/* ------------------------------------------------------------------ numbers and words */

ARGUMENT_INT_ROLE(index_of_device, int, 0, {-1, META_ERR_NO_DEVICE}, {1000, META_ERR_NO_DEVICE},
                  {INT_MAX, META_ERR_NO_DEVICE}, {INT_MIN, META_ERR_NO_DEVICE})
ARGUMENT_INT_ROLE(index_in_list, int, 0, {-1, META_ERR_ARGUMENT}, {100000, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(mode_of_device, meta_mode, T.mode, {-1, META_ERR_ARGUMENT},
                  {META_SPREAD, META_ERR_ARGUMENT}, {1000, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(rank, int, 0, {-1, META_ERR_ARGUMENT}, {2, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(size_of_job, int, 2, {0, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(bytes_to_allocate, size_t, 64, {0, META_ERR_ARGUMENT},
                  {SIZE_MAX, META_ERR_OVERFLOW}, {(size_t)PTRDIFF_MAX + 1, META_ERR_OVERFLOW},
                  {(size_t)1 << 55, META_ERR_NO_MEMORY})
ARGUMENT_INT_ROLE(bytes_to_wrap, size_t, 64, {0, META_ERR_ARGUMENT}, {SIZE_MAX, META_ERR_OVERFLOW},
                  {(size_t)PTRDIFF_MAX + 1, META_ERR_OVERFLOW})
ARGUMENT_INT_ROLE(bytes_to_copy, size_t, 64, {SIZE_MAX, META_ERR_OVERFLOW})
ARGUMENT_INT_ROLE(bytes_to_keep, size_t, (size_t)64 << 20, {0, META_OK})
ARGUMENT_INT_ROLE(elements, int64_t, 64, {-1, META_ERR_ARGUMENT}, {INT64_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(dimensions, int, 3, {0, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {META_MAX_DIM + 1, META_ERR_ARGUMENT}, {INT_MAX, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(axis, int, 1, {-1, META_ERR_ARGUMENT}, {3, META_ERR_ARGUMENT},
                  {INT_MAX, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(width, int64_t, 1, {-1, META_ERR_ARGUMENT}, {INT64_MIN, META_ERR_ARGUMENT},
                  {100, META_ERR_BOUNDS}, {INT64_MAX, META_ERR_BOUNDS})
ARGUMENT_INT_ROLE(layer, int64_t, 0, {-1, META_ERR_ARGUMENT}, {INT64_MIN, META_ERR_ARGUMENT},
                  {100, META_ERR_BOUNDS}, {INT64_MAX, META_ERR_BOUNDS})
ARGUMENT_INT_ROLE(on_or_off, int, 1, {2, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(few, int, 2, {-1, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(fields, int, 2, {0, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT_MIN, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(stride, int64_t, 2, {1, META_ERR_ARGUMENT}, {-1, META_ERR_ARGUMENT},
                  {INT64_MIN, META_ERR_ARGUMENT}, {INT64_MAX, META_ERR_OVERFLOW})
ARGUMENT_INT_ROLE(face_start, int64_t, 3, {INT64_MIN, META_OK})
ARGUMENT_INT_ROLE(line, int, 1, {-1, META_OK}, {INT_MIN, META_OK})
/* Of more elements than the list has no function can know. */
ARGUMENT_INT_ROLE(events_in_list, size_t, 2, {0, META_OK})
ARGUMENT_INT_ROLE(kernels_in_list, int, 2, {-1, META_ERR_ARGUMENT}, {INT_MIN, META_ERR_ARGUMENT})

#define UNKNOWN(count)                                                                             \
    {-1, META_ERR_ARGUMENT}, {count, META_ERR_ARGUMENT}, {1000, META_ERR_ARGUMENT},                \
        {INT_MAX, META_ERR_ARGUMENT},                                                              \
    {                                                                                              \
        INT_MIN, META_ERR_ARGUMENT                                                                 \
    }
/* As numbers: a compiler may take an enumeration's values for granted. */
ARGUMENT_INT_ROLE(stencil_kind, int, META_3D7P, UNKNOWN(META_STENCIL_COUNT))
ARGUMENT_INT_ROLE(boundary_kind, int, META_BOUNDARY_WALL, UNKNOWN(META_BOUNDARY_COUNT))
ARGUMENT_INT_ROLE(op, int, META_SUM, UNKNOWN(META_OP_COUNT))
ARGUMENT_INT_ROLE(slab, int, META_SLAB_LOW, UNKNOWN(META_SLAB_HIGH_GHOST + 1))
ARGUMENT_INT_ROLE(side, int, META_SLAB_HIGH_GHOST, UNKNOWN(META_SLAB_HIGH_GHOST + 1),
                  {META_SLAB_LOW, META_ERR_ARGUMENT})
ARGUMENT_INT_ROLE(scope, int, META_POLICY_CALL, UNKNOWN(META_POLICY_CALL + 1))

ARGUMENT_DESC_ROLE(device_desc, meta_device_desc, META_DEVICE_DESC_INIT)
ARGUMENT_DESC_ROLE(backend_desc, meta_backend_desc, META_BACKEND_DESC_INIT)
ARGUMENT_DESC_ROLE(variable_desc, meta_variable_desc, META_VARIABLE_DESC_INIT)
ARGUMENT_DESC_ROLE(pointer_desc, meta_pointer_desc, META_POINTER_DESC_INIT)
ARGUMENT_DESC_ROLE(mem_desc, meta_mem_desc, META_MEM_DESC_INIT)
ARGUMENT_DESC_ROLE(pool_desc, meta_pool_desc, META_POOL_DESC_INIT)
ARGUMENT_DESC_ROLE(state, meta_state, META_STATE_INIT)
ARGUMENT_DESC_ROLE(tool, meta_tool, META_TOOL_INIT)

static void words(argument *a, const char *good, const char *const *wrong, size_t count,
                  meta_err code)
{
    ARGUMENT_GOOD(a, const char *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const char *, NULL);
    for (size_t k = 0; k < count; ++k) {
        char what[64];
        snprintf(what, sizeof what, "\"%.32s\"", wrong[k]);
        ARGUMENT_WRONG(a, what, code, const char *, wrong[k]);
    }
}
#define WORDS(role, good, code, ...)                                                               \
    static void role(argument *a)                                                                  \
    {                                                                                              \
        static const char *const wrong[] = {__VA_ARGS__};                                          \
        words(a, good, wrong, sizeof wrong / sizeof *wrong, code);                                 \
    }
WORDS(name_of_mode, "openmp", META_ERR_NO_DEVICE, "", "nonsense", "../openmp", "OpenMPI",
      "openmp:0")
WORDS(name_of_range, "range", META_OK, "")
WORDS(policy, "cost", META_ERR_ARGUMENT, "", "best", "device:", "type:", "random:x", "cost:1")
WORDS(label, "a label", META_OK, "")
WORDS(name_of_file, __FILE__, META_OK, "")
WORDS(name_of_kernel, "sound", META_ERR_ARGUMENT, "", "no_such_kernel")
WORDS(name_of_text, "given.kernel.h", META_ERR_ARGUMENT, "", "a/b.kernel.h", "a b.kernel.h")

/* ------------------------------------------------------------------ arrays and shapes */

static void box_out(argument *a)
{
    ARGUMENT_GOOD(a, meta_box *, argument_out(sizeof(meta_box)));
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_box *, NULL);
}

static void extents(argument *a)
{
    static const int64_t good[META_MAX_DIM] = {4, 5, 6}, negative[META_MAX_DIM] = {4, -1, 6};
    static const int64_t least[META_MAX_DIM] = {INT64_MIN, 5, 6},
                         most[META_MAX_DIM] = {4, INT64_MAX, 6};
    ARGUMENT_GOOD(a, const int64_t *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const int64_t *, NULL);
    ARGUMENT_WRONG(a, "negative", META_ERR_ARGUMENT, const int64_t *, negative);
    ARGUMENT_WRONG(a, "INT64_MIN", META_ERR_ARGUMENT, const int64_t *, least);
    ARGUMENT_WRONG(a, "INT64_MAX", META_ERR_OVERFLOW, const int64_t *, most);
}

static void strides(argument *a)
{
    static const int64_t good[META_MAX_DIM] = {1, 4, 20};
    ARGUMENT_GOOD(a, const int64_t *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const int64_t *, NULL);
}

static void ghosts(argument *a)
{
    static const int good[META_MAX_DIM] = {1, 1, 1}, negative[META_MAX_DIM] = {1, -1, 1};
    static const int least[META_MAX_DIM] = {1, 1, INT_MIN};
    ARGUMENT_GOOD(a, const int *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const int *, NULL);
    ARGUMENT_WRONG(a, "negative", META_ERR_ARGUMENT, const int *, negative);
    ARGUMENT_WRONG(a, "INT_MIN", META_ERR_ARGUMENT, const int *, least);
}

/* Weights of each cell: an array of seven arrays. */
static void weight_arrays(argument *a)
{
    const void **list = argument_out(7 * sizeof *list), **wrong;
    void *const weights = T.buffer[T.used++];
    for (int k = 0; k < 7; ++k) list[k] = weights;
    ARGUMENT_GOOD(a, const void *const *, list);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const void *const *, NULL);
    for (int k = 0; k < 7; ++k) {
        char what[32];
        wrong = argument_out(7 * sizeof *wrong);
        memcpy(wrong, list, 7 * sizeof *wrong);
        wrong[k] = k % 2 ? NULL : T.freed;
        snprintf(what, sizeof what, "%s at %d", k % 2 ? "NULL" : "freed", k);
        ARGUMENT_WRONG(a, what, k % 2 ? META_ERR_ARGUMENT : META_ERR_POINTER, const void *const *,
                       wrong);
    }
}

static void weights(argument *a)
{
    static const double good[27] = {1};
    argument_host_array(a);
    ARGUMENT_GOOD(a, const void *, good);
}

/* Of two boxes, each of a cell or more. */
static void boxes(argument *a)
{
    argument_box(a);
    meta_box *list = argument_out(2 * sizeof *list);
    list[0] = list[1] = T.box;
    ARGUMENT_GOOD(a, const meta_box *, list);
    for (int k = 0; k < a->wrongs; ++k) {
        const meta_box *one;
        memcpy(&one, a->wrong[k].value.bytes, sizeof one);
        if (!one) continue;
        list = argument_out(2 * sizeof *list);
        list[0] = T.box, list[1] = *one;
        memcpy(a->wrong[k].value.bytes, &list, sizeof list);
    }
}

/* ------------------------------------------------------------------ sparse matrices */

enum { ROWS = 8, ENTRIES = 8 };

/* A matrix whose arrays lie in one buffer: it has a value in each row. */
static void matrix(argument *a)
{
    static const int32_t start[ROWS + 1] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, column[ENTRIES] = {0};
    char *const buffer = T.made;
    CHECK_OK(meta_copy_h2d(buffer, start, sizeof start, NULL));
    CHECK_OK(meta_copy_h2d(buffer + 64, column, sizeof column, NULL));
    const meta_csr good = {sizeof good, ROWS,   8,           ENTRIES,     META_I32,
                           META_F64,    buffer, buffer + 64, buffer + 128};
    meta_csr *csr = argument_out(sizeof *csr);
    *csr = good;
    ARGUMENT_GOOD(a, const meta_csr *, csr);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_csr *, NULL);
#define WRONG_MEMBER(what, code, member, value)                                                    \
    do {                                                                                           \
        csr = argument_out(sizeof *csr);                                                           \
        *csr = good;                                                                               \
        csr->member = value;                                                                       \
        ARGUMENT_WRONG(a, what, code, const meta_csr *, csr);                                      \
    } while (0)
    WRONG_MEMBER("without a size", META_ERR_ARGUMENT, size, 0);
    WRONG_MEMBER("of -1 rows", META_ERR_ARGUMENT, rows, -1);
    WRONG_MEMBER("of INT64_MAX rows", ARGUMENT_ANY, rows, INT64_MAX);
    WRONG_MEMBER("of more rows than start has", META_ERR_BOUNDS, rows, 10000);
    WRONG_MEMBER("of -1 columns", META_ERR_ARGUMENT, columns, -1);
    WRONG_MEMBER("of too many columns", ARGUMENT_ANY, columns, INT64_MAX);
    WRONG_MEMBER("of -1 entries", META_ERR_ARGUMENT, entries, -1);
    WRONG_MEMBER("of INT64_MAX entries", ARGUMENT_ANY, entries, INT64_MAX);
    WRONG_MEMBER("of more entries than there are", META_ERR_BOUNDS, entries, 10000);
    WRONG_MEMBER("with start of F64", META_ERR_TYPE, start_type, META_F64);
    WRONG_MEMBER("with values of I8", META_ERR_TYPE, value_type, META_I8);
    WRONG_MEMBER("with start NULL", META_ERR_ARGUMENT, start, NULL);
    WRONG_MEMBER("with start freed", META_ERR_POINTER, start, T.freed);
    WRONG_MEMBER("with start misaligned", META_ERR_ALIGNMENT, start, buffer + 1);
    WRONG_MEMBER("with column NULL", META_ERR_ARGUMENT, column, NULL);
    WRONG_MEMBER("with column on the host", META_ERR_POINTER, column, column);
    WRONG_MEMBER("with value NULL", META_ERR_ARGUMENT, value, NULL);
    WRONG_MEMBER("with value freed", META_ERR_POINTER, value, T.freed);
    WRONG_MEMBER("with value misaligned", META_ERR_ALIGNMENT, value, buffer + 129);
    if (T.elsewhere)
        WRONG_MEMBER("with value elsewhere", META_ERR_WRONG_DEVICE, value, T.elsewhere);
}

/* ------------------------------------------------------------------ kernels of the program's own
 */

static void kernel(argument *a)
{
    static meta_kernel other_version = {.name = "other"};
    ARGUMENT_GOOD(a, meta_kernel *, &sound_f32_kernel);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_kernel *, NULL);
    ARGUMENT_WRONG(a, "of another version", META_ERR_ARGUMENT, meta_kernel *, &other_version);
}

static void kernels(argument *a)
{
    static meta_kernel *const good[] = {&sound_f32_kernel, &sound_f32_kernel};
    static meta_kernel *const wrong[] = {&sound_f32_kernel, NULL};
    ARGUMENT_GOOD(a, meta_kernel *const *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_kernel *const *, NULL);
    ARGUMENT_WRONG(a, "NULL at 1", META_ERR_ARGUMENT, meta_kernel *const *, wrong);
}

static void type_of_kernel(argument *a)
{
    argument_type(a);
    ARGUMENT_GOOD(a, meta_type, META_I32);
    for (int k = 0; k < a->wrongs; ++k) a->wrong[k].code = ARGUMENT_ANY;
    ARGUMENT_WRONG(a, "META_F64", ARGUMENT_ANY, meta_type, META_F64);
}

static void text_of_kernel(argument *a)
{
    ARGUMENT_GOOD(a, const char *, sound_f32_kernel.text);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const char *, NULL);
}

static void ghosts_to_raise(argument *a)
{
    int *widths = argument_out(META_MAX_DIM * sizeof *widths);
    memset(widths, 0, META_MAX_DIM * sizeof *widths);
    ARGUMENT_GOOD(a, int *, widths);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, int *, NULL);
}

static void kernel_arguments(argument *a)
{
    static const int32_t five = 5;
    const void *good[8], **list = argument_out(sizeof good);
    for (int k = 0; k < 5; ++k) good[k] = T.buffer[k];
    good[5] = &five, good[6] = argument_out(8), good[7] = argument_out(8);
    memcpy(list, good, sizeof good);
    ARGUMENT_GOOD(a, const void *const *, list);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const void *const *, NULL);
}

/* ------------------------------------------------------------------ events, memory, states */

static void list_of_events(argument *a)
{
    meta_event *good = argument_out(2 * sizeof *good), *stale = argument_out(2 * sizeof *stale);
    good[0] = stale[0] = T.event;
    good[1] = (meta_event)META_EVENT_NULL;
    stale[1] = (meta_event){T.event.slot, T.event.generation + 7};
    ARGUMENT_GOOD(a, const meta_event *, good);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, const meta_event *, NULL);
    ARGUMENT_WRONG(a, "stale at 1", META_ERR_HANDLE, const meta_event *, stale);
}

static void event_to_free(argument *a)
{
    meta_event *stale = argument_out(sizeof *stale), *none = argument_out(sizeof *none);
    *stale = (meta_event){T.event.slot, T.event.generation + 7};
    *none = (meta_event){UINT32_MAX, UINT32_MAX};
    ARGUMENT_GOOD(a, meta_event *, &T.event);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_event *, NULL);
    ARGUMENT_WRONG(a, "META_ASYNC", META_ERR_ARGUMENT, meta_event *, META_ASYNC);
    ARGUMENT_WRONG(a, "stale", META_ERR_HANDLE, meta_event *, stale);
    ARGUMENT_WRONG(a, "none", META_ERR_HANDLE, meta_event *, none);
}

static void ignore_status(void *user, meta_err status)
{
    (void)user, (void)status;
}

static void callback(argument *a)
{
    typedef void function(void *, meta_err);
    ARGUMENT_GOOD(a, function *, ignore_status);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, function *, NULL);
}

static int first_candidate(const meta_decision *decision, void *user)
{
    (void)decision, (void)user;
    return 0;
}

static void policy_function(argument *a)
{
    ARGUMENT_GOOD(a, meta_policy_function *, first_candidate);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_policy_function *, NULL);
}

static void state_to_set(argument *a)
{
    state(a);
}

/* What `before` made, for functions that end it; the last buffer is of another kind. */
static void made_buffer(argument *a)
{
    void *const pinned = T.pinned;
    if (strcmp(a->function->name, "meta_host_free") == 0) T.pinned = T.buffer[0];
    argument_any_address(a);
    T.pinned = pinned;
    ARGUMENT_WRONG(a, "in the middle", META_ERR_POINTER, void *, (char *)T.made + 8);
    ARGUMENT_GOOD(a, void *, T.made);
}

static void *made_out;
static void made_out_pointer(argument *a)
{
    made_out = argument_out(sizeof(void *));
    ARGUMENT_GOOD(a, void *, made_out);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, void *, NULL);
}

/* Two fields, which the call at hand may fill in. */
static meta_grid_field *family_out;
static void fields_of_family(argument *a)
{
    enum { FIELDS = 2 };
    static const meta_grid_field good[FIELDS] = {{.name = "u", .type = META_F64, .stagger = {1}},
                                                 {.name = "v", .type = META_I16}};
    meta_grid_field *same = argument_out(sizeof good), *untyped = argument_out(sizeof good),
                    *fewer = argument_out(sizeof good);
    family_out = argument_out(sizeof good);
    memcpy(family_out, good, sizeof good);
    memcpy(same, good, sizeof good);
    memcpy(untyped, good, sizeof good);
    memcpy(fewer, good, sizeof good);
    same[1].name = "u";
    untyped[1].type = META_TYPE_COUNT;
    fewer[0].stagger[1] = -2;
    ARGUMENT_GOOD(a, meta_grid_field *, family_out);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, meta_grid_field *, NULL);
    ARGUMENT_WRONG(a, "of one name", META_ERR_ARGUMENT, meta_grid_field *, same);
    ARGUMENT_WRONG(a, "with fewer elements than cells", META_ERR_ARGUMENT, meta_grid_field *,
                   fewer);
    argument_misuse *wrong = argument_add(a, "of no type", META_ERR_TYPE);
    memcpy(wrong->value.bytes, &untyped, sizeof untyped);
    wrong->also = "field[1].type";
}

static void free_family(meta_err code)
{
    for (int k = 0; k < 2 && code == META_OK; ++k) CHECK_OK(meta_free(family_out[k].ptr));
}

/* Of another size than the freed buffer, whose memory it must not have. */
static void make_cells(void)
{
    CHECK_OK(meta_alloc(&T.made, 3 * ARGUMENT_CELLS * sizeof(double)));
}

static void *made(void)
{
    void *ptr;
    memcpy(&ptr, made_out, sizeof ptr);
    return ptr;
}

static void free_allocated(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_free(made()));
}

static void free_host_allocated(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_host_free(made()));
}

static void unwrap_wrapped(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_unwrap(made()));
}

static void make_buffer(void)
{
    CHECK_OK(meta_alloc(&T.made, 256));
}

static void free_buffer(meta_err code)
{
    if (code != META_OK) CHECK_OK(meta_free(T.made));
}

static void free_made(meta_err code)
{
    (void)code;
    CHECK_OK(meta_free(T.made));
}

static void make_host_buffer(void)
{
    CHECK_OK(meta_host_alloc(&T.made, 64));
}

static void free_host_buffer(meta_err code)
{
    if (code != META_OK) CHECK_OK(meta_host_free(T.made));
}

/* Host memory where the device shares it, else the device's own. */
static double to_wrap[64];

static void native(argument *a)
{
    ARGUMENT_GOOD(a, void *, to_wrap);
    ARGUMENT_WRONG(a, "NULL", META_ERR_ARGUMENT, void *, NULL);
    ARGUMENT_WRONG(a, "a buffer", ARGUMENT_ANY, void *, T.buffer[0]);
    ARGUMENT_WRONG(a, "of meta_host_alloc()", ARGUMENT_ANY, void *, T.pinned);
}

ARGUMENT_INT_ROLE(native_kind, int, META_NATIVE_HOST, UNKNOWN(META_NATIVE_OBJECT + 1))

static void make_wrapped(void)
{
    if (T.device != ARGUMENT_APART)
        CHECK_OK(meta_wrap(&T.made, to_wrap, sizeof to_wrap, META_NATIVE_HOST));
    else T.made = T.buffer[0];
}

static void end_wrapped(meta_err code)
{
    if (code != META_OK && T.device != ARGUMENT_APART) CHECK_OK(meta_unwrap(T.made));
}

/* ------------------------------------------------------------------ around calls */

static void default_device(meta_err code)
{
    (void)code;
    CHECK_OK(meta_set_acc(0, META_SPREAD));
}

static void default_policy(meta_err code)
{
    (void)code;
    CHECK_OK(meta_set_policy(NULL, META_POLICY_CALL));
    CHECK_OK(meta_set_policy(NULL, META_POLICY_THREAD));
}

static void default_sums(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_set_reproducible(0));
}

static void keep_freed(meta_err code)
{
    (void)code;
    CHECK_OK(meta_pool_limit(0, T.mode, (size_t)64 << 20));
}

static void no_tool(meta_err code)
{
    (void)code;
    CHECK_OK(meta_set_tool(NULL));
}

static void close_range(meta_err code)
{
    if (code == META_OK) CHECK_OK(meta_range_pop());
}

static void open_range(void)
{
    CHECK_OK(meta_range_push("range"));
}

static void start_again(meta_err code)
{
    (void)code;
    CHECK_OK(meta_init());
    argument_begin();
}

static void forget_place(meta_err code)
{
    (void)code;
    CHECK_OK((meta_here)(NULL, 0));
}

static void start_timers(void)
{
    CHECK_OK(meta_timers_init());
}

static void stop_timers(meta_err code)
{
    (void)code;
    CHECK_OK(meta_timers_finalize());
}

/* ------------------------------------------------------------------ the table */

static const argument_row rows[] = {
    /* what most functions have */
    {NULL, "done", argument_done},
    {NULL, "type", argument_arithmetic},
    {NULL, "box", argument_box},
    {NULL, "dst_box", argument_box},
    {NULL, "src_box", argument_box},
    {NULL, "face", argument_face},
    {NULL, "buf", argument_buffer},
    {NULL, "packed", argument_buffer},
    {NULL, "out", argument_buffer},
    {NULL, "in", argument_buffer},
    {NULL, "x", argument_buffer},
    {NULL, "y", argument_buffer},
    {NULL, "z", argument_buffer},
    {NULL, "to", argument_buffer},
    {NULL, "from", argument_buffer},
    {NULL, "array", argument_buffer},
    {NULL, "dst", argument_buffer},
    {NULL, "src", argument_buffer},
    {NULL, "ptr", argument_any_address},
    {NULL, "a", argument_host_number},
    {NULL, "b", argument_host_number},
    {NULL, "alpha", argument_host_number},
    {NULL, "value", argument_host_number},
    {NULL, "result", argument_result},
    {NULL, "results", argument_result},
    {NULL, "sum", argument_result},
    {NULL, "sums", argument_result},
    {NULL, "dot", argument_result},
    {NULL, "op", op},
    {NULL, "index", index_of_device},
    {NULL, "mode", mode_of_device},
    {NULL, "event", argument_event_handle},
    {NULL, "user", argument_opaque},
    {NULL, "scope", scope},
    {NULL, "rank", rank},
    {NULL, "size", size_of_job},
    {NULL, "node_rank", rank},
    {NULL, "node_size", size_of_job},
    {NULL, "count", argument_out_pointer},
    {NULL, "offset", argument_out_pointer},
    {NULL, "dim", axis},
    {NULL, "kernel", kernel},
    /* devices and variables */
    {NULL, "major", argument_out_pointer},
    {NULL, "minor", argument_out_pointer},
    {NULL, "patch", argument_out_pointer},
    {"meta_backend_info", "index", index_in_list},
    {"meta_backend_info", "desc", backend_desc},
    {"meta_variable_info", "index", index_in_list},
    {"meta_variable_info", "desc", variable_desc},
    {"meta_mode_find", "name", name_of_mode},
    {"meta_mode_find", "mode", argument_out_pointer},
    {"meta_device_info", "desc", device_desc},
    {"meta_get_acc", "index", argument_out_pointer},
    {"meta_get_acc", "mode", argument_out_pointer},
    {"meta_rank_device", "mode", argument_out_pointer},
    {"meta_rank_device", "index", argument_out_pointer},
    {"meta_rank_device", "threads", argument_out_pointer},
    /* memory */
    {"meta_type_size", "bytes", argument_out_pointer},
    {"meta_type_size", "type", argument_type},
    {"meta_alloc", "ptr", made_out_pointer},
    {"meta_alloc", "bytes", bytes_to_allocate},
    {"meta_free", "ptr", made_buffer},
    {"meta_grid_alloc", "ptr", made_out_pointer},
    {"meta_grid_alloc", "box", box_out},
    {"meta_grid_alloc", "ndim", dimensions},
    {"meta_grid_alloc", "cells", extents},
    {"meta_grid_alloc", "low", ghosts},
    {"meta_grid_alloc", "high", ghosts},
    {"meta_grid_alloc", "type", argument_type},
    {"meta_grid_family", "field", fields_of_family},
    {"meta_grid_family", "fields", fields},
    {"meta_grid_family", "box", box_out},
    {"meta_grid_family", "ndim", dimensions},
    {"meta_grid_family", "cells", extents},
    {"meta_grid_family", "low", ghosts},
    {"meta_grid_family", "high", ghosts},
    {"meta_grid_shape", "ptr", made_buffer},
    {"meta_grid_shape", "type", argument_type},
    {"meta_host_alloc", "ptr", made_out_pointer},
    {"meta_host_alloc", "bytes", bytes_to_allocate},
    {"meta_host_free", "ptr", made_buffer},
    {"meta_copy_h2d", "dst", argument_bytes_buffer},
    {"meta_copy_h2d", "src", argument_host_array},
    {NULL, "bytes", bytes_to_copy},
    {"meta_copy_d2h", "dst", argument_host_array},
    {"meta_copy_d2h", "src", argument_bytes_buffer},
    {"meta_copy_d2d", "dst", argument_bytes_buffer},
    {"meta_copy_d2d", "src", argument_bytes_buffer},
    {"meta_copy_box", "type", argument_type},
    {"meta_copy_box_h2d", "src", argument_host_array},
    {"meta_copy_box_h2d", "type", argument_type},
    {"meta_copy_box_d2h", "dst", argument_host_array},
    {"meta_copy_box_d2h", "type", argument_type},
    {"meta_fill", "count", elements},
    {"meta_fill", "type", argument_type},
    {"meta_fill_box", "type", argument_type},
    {"meta_wrap", "ptr", made_out_pointer},
    {"meta_wrap", "native", native},
    {"meta_wrap", "bytes", bytes_to_wrap},
    {"meta_wrap", "kind", native_kind},
    {"meta_host_view", "host", argument_out_pointer},
    {"meta_unwrap", "ptr", made_buffer},
    {"meta_pointer_info", "desc", pointer_desc},
    {"meta_label", "label", label},
    {"meta_here", "file", name_of_file},
    {"meta_here", "line", line},
    {"meta_mem_info", "desc", mem_desc},
    {"meta_pool_info", "desc", pool_desc},
    {"meta_pool_trim", "bytes", bytes_to_keep},
    {"meta_pool_limit", "bytes", bytes_to_keep},
    /* order, sharing, policies */
    {"meta_event_test", "complete", argument_out_pointer},
    {"meta_event_waitall", "count", events_in_list},
    {"meta_event_waitall", "events", list_of_events},
    {"meta_event_then", "function", callback},
    {"meta_event_free", "event", event_to_free},
    {"meta_get_state", "state", state},
    {"meta_set_state", "state", state_to_set},
    {"meta_native", "object", argument_out_pointer},
    {"meta_set_policy", "policy", policy},
    {"meta_set_policy_function", "function", policy_function},
    /* faces */
    {"meta_face_make", "face", argument_out_pointer},
    {"meta_face_make", "start", face_start},
    {"meta_face_make", "count", dimensions},
    {"meta_face_make", "size", extents},
    {"meta_face_make", "stride", strides},
    {"meta_face_slab", "face", argument_out_pointer},
    {"meta_face_slab", "axis", axis},
    {"meta_face_slab", "slab", slab},
    {"meta_face_slab", "width", width},
    {"meta_face_box", "face", argument_out_pointer},
    {"meta_pack_face", "type", argument_type},
    {"meta_unpack_face", "type", argument_type},
    {"meta_transpose_face", "size", extents},
    {"meta_transpose_face", "type", argument_type},
    /* compute */
    {"meta_stencil", "kind", stencil_kind},
    {"meta_stencil_sums", "kind", stencil_kind},
    {"meta_stencil_sums", "boxes", few},
    {"meta_stencil_sums", "part", boxes},
    {"meta_reduce_boxes", "stride", stride},
    {"meta_reduce_boxes", "fields", few},
    {"meta_reduce_boxes", "field", argument_buffers},
    {"meta_reduce_boxes", "boxes", few},
    {"meta_reduce_boxes", "box", boxes},
    {"meta_dot", "a", argument_buffer},
    {"meta_dot", "b", argument_buffer},
    {"meta_set_reproducible", "on", on_or_off},
    {"meta_get_reproducible", "on", argument_out_pointer},
    {"meta_range_push", "name", name_of_range},
    {"meta_set_tool", "tool", tool},
    /* meta_library.h */
    {"meta_convert", "to_type", argument_arithmetic},
    {"meta_convert", "from_type", argument_arithmetic},
    {"meta_stencil_constant", "kind", stencil_kind},
    {"meta_stencil_constant", "weight", weights},
    {"meta_stencil_variable", "kind", stencil_kind},
    {"meta_stencil_variable", "weight", weight_arrays},
    {"meta_boundary", "side", side},
    {"meta_boundary", "width", width},
    {"meta_boundary", "kind", boundary_kind},
    {"meta_boundary_slab", "cells", argument_out_pointer},
    {"meta_boundary_slab", "ghost", argument_out_pointer},
    {"meta_boundary_slab", "inner", argument_out_pointer},
    {"meta_boundary_slab", "side", side},
    {"meta_boundary_slab", "layer", layer},
    {"meta_boundary_slab", "cell", layer},
    {NULL, "matrix", matrix},
    {"meta_crc32", "buf", argument_bytes_buffer},
    {"meta_prefix_sum", "count", elements},
    {"meta_prefix_sum", "inclusive", on_or_off},
    /* meta_kernel.h */
    {"meta_kernel_run", "arguments", kernel_arguments},
    {"meta_kernel_find", "name", name_of_kernel},
    {"meta_kernel_find", "type", type_of_kernel},
    {"meta_kernel_find", "kernel", argument_out_pointer},
    {"meta_kernel_compile", "kernel", argument_out_pointer},
    {"meta_kernel_compile", "name", name_of_kernel},
    {"meta_kernel_compile", "type", type_of_kernel},
    {"meta_kernel_compile", "file", name_of_text},
    {"meta_kernel_compile", "text", text_of_kernel},
    {"meta_kernels_prepare", "kernels", kernels},
    {"meta_kernels_prepare", "count", kernels_in_list},
    {"meta_kernel_reach", "low", ghosts_to_raise},
    {"meta_kernel_reach", "high", ghosts_to_raise},
    {"meta_kernel_at", "index", index_in_list},
    {"meta_kernel_at", "kernel", argument_out_pointer},
};

static const argument_accepted accepted[] = {
    {"meta_version", "major", "NULL", "documented"},
    {"meta_version", "minor", "NULL", "documented"},
    {"meta_version", "patch", "NULL", "documented"},
    {"meta_get_acc", "index", "NULL", "documented: not both"},
    {"meta_get_acc", "mode", "NULL", "documented: not both"},
    {"meta_rank_device", "mode", "NULL", "documented"},
    {"meta_rank_device", "index", "NULL", "documented"},
    {"meta_rank_device", "threads", "NULL", "documented"},
    {"meta_grid_family", "box", "NULL", "documented"},
    {"meta_grid_shape", "box", "NULL", "forgets the shape"},
    {"meta_native", "object", "NULL", "documented: not both"},
    {"meta_native", "offset", "NULL", "documented: not both"},
    {"meta_event_waitall", "count", "0", "waits for nothing"},
    {"meta_device_count", "mode", "0", "META_SPREAD: of all back ends"},
    {"meta_set_acc", "mode", "0", "META_SPREAD: the process's device"},
    {"meta_pool_trim", "bytes", "0", "keeps nothing"},
    {"meta_pool_limit", "bytes", "0", "keeps nothing"},
    {"meta_pointer_info", "ptr", "of meta_host_alloc()", "documented"},
    {"meta_label", "ptr", "of meta_host_alloc()", "documented"},
    {"meta_label", "label", "NULL", "removes the label"},
    {"meta_label", "label", "\"\"", "removes the label"},
    {"meta_here", "file", "NULL", "forgets the place"},
    {"meta_here", "file", "\"\"", "never fails"},
    {"meta_here", "line", "-", "never fails"},
    {"meta_range_push", "name", "\"\"", "a name like any other"},
    {"meta_set_policy", "policy", "NULL", "the policy from before"},
    {"meta_set_policy_function", "function", "NULL", "the policy from before"},
    {"meta_set_tool", "tool", "NULL", "takes the tool away"},
    {"meta_stencil", "sum", "NULL", "no sum is wanted"},
    {"meta_stencil_sums", "sum", "NULL", "no sum is wanted"},
    {"meta_stencil_constant", "dot", "NULL", "no sum is wanted"},
    {"meta_stencil_variable", "dot", "NULL", "no sum is wanted"},
    {"meta_csr_multiply", "a", "NULL", "is 1"},
    {"meta_csr_multiply", "b", "NULL", "is 0"},
    {"meta_face_make", "start", "-", "counts from any address"},
};

static const argument_around around[] = {
    {"meta_init", NULL, NULL, {META_ERR_STATE, META_ERR_STATE, META_ERR_STATE}},
    {"meta_finalize", argument_end, start_again, {META_OK}},
    {"meta_set_acc", NULL, default_device, {META_OK}},
    {"meta_set_job", NULL, NULL, {META_ERR_STATE, META_ERR_STATE, META_ERR_STATE}},
    {"meta_alloc", NULL, free_allocated, {META_OK}},
    {"meta_free", make_buffer, free_buffer, {META_OK}},
    {"meta_grid_alloc", NULL, free_allocated, {META_OK}},
    {"meta_grid_family", NULL, free_family, {META_OK}},
    {"meta_grid_shape", make_cells, free_made, {META_OK}},
    {"meta_host_alloc", NULL, free_host_allocated, {META_OK}},
    {"meta_host_free", make_host_buffer, free_host_buffer, {META_OK}},
    {"meta_wrap", NULL, unwrap_wrapped, {META_OK, META_ERR_POINTER}},
    {"meta_unwrap", make_wrapped, end_wrapped, {META_OK, META_ERR_POINTER}},
    {"meta_host_view", NULL, NULL, {META_OK, META_ERR_UNSUPPORTED, META_ERR_UNSUPPORTED}},
    {"meta_here", NULL, forget_place, {META_OK}},
    {"meta_pool_limit", NULL, keep_freed, {META_OK}},
    {"meta_event_test", argument_make_event, argument_drop_event, {META_OK}},
    {"meta_event_wait", argument_make_event, argument_drop_event, {META_OK}},
    {"meta_event_waitall", argument_make_event, argument_drop_event, {META_OK}},
    {"meta_event_then", argument_make_event, argument_drop_event, {META_OK}},
    {"meta_event_free", argument_make_event, argument_drop_event, {META_OK}},
    {"meta_get_state", NULL, NULL, {META_OK, META_OK, META_ERR_UNSUPPORTED}},
    {"meta_set_state", NULL, NULL, {META_ERR_STATE, META_ERR_STATE, META_ERR_STATE}},
    {"meta_set_policy", NULL, default_policy, {META_OK}},
    {"meta_set_policy_function", NULL, default_policy, {META_OK}},
    {"meta_set_reproducible", NULL, default_sums, {META_OK}},
    {"meta_csr_multiply", make_buffer, free_made, {META_OK}},
    {"meta_csr_check", make_buffer, free_made, {META_OK}},
    {"meta_timers_init", NULL, stop_timers, {META_OK}},
    {"meta_timers_print", start_timers, stop_timers, {META_OK}},
    {"meta_timers_finalize", start_timers, NULL, {META_OK}},
    {"meta_range_push", NULL, close_range, {META_OK}},
    {"meta_range_pop", open_range, NULL, {META_OK}},
    {"meta_set_tool", NULL, no_tool, {META_OK}},
};

/* What returns no error code. */
static const char *const known_others[] = {"meta_strerror",
                                           "meta_last_error",
                                           "meta_kernel_register",
                                           "meta_kernel_unregister",
                                           "meta_kernel_near",
                                           "meta_kernel_element",
                                           NULL};
static const char *const startless[] = {
    "meta_init", "meta_version",     "meta_variable_count",  "meta_variable_info", "meta_type_size",
    "meta_here", "meta_timers_init", "meta_timers_finalize", "meta_set_tool",      NULL};

#define COUNT(array) (sizeof(array) / sizeof *(array))
static const argument_table table = {.function = argument_functions,
                                     .functions = COUNT(argument_functions),
                                     .others = argument_others,
                                     .row = rows,
                                     .rows = COUNT(rows),
                                     .accepted = accepted,
                                     .accepts = COUNT(accepted),
                                     .around = around,
                                     .arounds = COUNT(around),
                                     .known_others = known_others,
                                     .startless = startless};

static void every_argument_is_refused_by_name(void)
{
    test_require_device();
    argument_begin();
    argument_misuse_all(&table);
    argument_end();
    CHECK_OK(meta_finalize());
}

static void every_function_needs_a_started_library(void)
{
    test_require_device();
    argument_begin();
    argument_call_unstarted(&table);
}

TEST_MAIN(PROMISE(every_argument_is_refused_by_name),
          PROMISE(every_function_needs_a_started_library))
