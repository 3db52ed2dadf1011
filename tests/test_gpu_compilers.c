/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_gpu_compilers.c
 *  The application's kernels as programs for CUDA and HIP, without a GPU: NVRTC and hipRTC, where
 * they are installed, compile them without a warning, and the system's C++ compiler, for which a
 * block of threads is a loop, makes of them what computes the same as the kernels' own CPU code. */
/* TEST: labels=core */
#define META_KERNELS_HERE
#include "compiled.kernel.h"
#include "compiled_real.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "compiler.h"
#include "compiler_host.h"
#include "fake_host.h"
#include "gpu_text.h"
#include "kernels/user.h"
#include "program.h"
#include "test.h"

/* ------------------------------------------------------------------ the library's part */

/* A cache that keeps nothing, and the facts of the last lookup. */
static int lookups;
static bool lookups_fail;
static char looked_up_by[8192];
static meta_err look_up(const meta_cached *what)
{
    void *code = NULL;
    size_t bytes = 0, used = 0;
    ++lookups;
    for (uint32_t k = 0; k < what->facts && used < sizeof looked_up_by; ++k)
        used += (size_t)snprintf(looked_up_by + used, sizeof looked_up_by - used, "%s\n",
                                 what->fact[k] ? what->fact[k] : "");
    if (lookups_fail) return META_ERR_DEVICE;
    const meta_err error = what->build(what->with, &code, &bytes);
    free(code);
    return error;
}

static const meta_host host = {.size = sizeof host,
                               .fail = fake_fail,
                               .log = fake_log,
                               .variable = fake_variable,
                               .cached = look_up};
const meta_host *gpu_host = &host;

#define KERNELS_FOR(type)                                                                          \
    &kinds_##type##_kernel, &line_##type##_kernel, &four_##type##_kernel, &wide_##type##_kernel,   \
        &adds_##type##_kernel, &shapes_##type##_kernel, &tiles_##type##_kernel,                    \
        &native_##type##_kernel, &places_##type##_kernel
static meta_kernel *const kernels[] = {KERNELS_FOR(f64),   KERNELS_FOR(f32),  KERNELS_FOR(i64),
                                       KERNELS_FOR(u64),   KERNELS_FOR(i32),  KERNELS_FOR(u32),
                                       &hypot3_f64_kernel, &hypot3_f32_kernel};
enum { KERNELS = sizeof kernels / sizeof *kernels };

void meta_user_each_beside(const meta_kernel *kernel, void (*function)(const meta_kernel *, void *),
                           void *with)
{
    for (int k = 0; k < KERNELS; ++k)
        if (kernels[k]->type == kernel->type && strcmp(kernels[k]->text, kernel->text) == 0)
            function(kernels[k], with);
    if (kernel->state) function(kernel, with); /* one that is not of the program's files */
}

/* Its floating-point sums are to be reproducible. @return whether it has any */
static bool make_exact(struct meta_kernel_state *s)
{
    uint32_t result = 0;
    for (uint32_t n = 0; n < s->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &s->kernel->parameter[n];
        if (!meta_parameter_is_result(p)) continue;
        if (meta_parameter_is_real_sum(p)) {
            s->result[result].combine = META_COMBINE_exact;
            ++s->exact_sums;
        }
        ++result;
    }
    return s->exact_sums > 0;
}

static char *program_with(const meta_kernel *kernel, struct meta_kernel_state *s,
                          gpu_passing passing, uint32_t form)
{
    char *text = meta_user_text(s, form);
    s->checked = s->desc;
    ++s->checked.operands; /* where the checks write */
    const meta_kernel_source source = {.size = sizeof source,
                                       .desc = form & META_USER_CHECKED ? &s->checked : &s->desc,
                                       .type = (uint32_t)kernel->type,
                                       .text = text,
                                       .user = kernel};
    char *program = text ? gpu_program_text(&source, passing) : NULL;
    free(text);
    if (!program) FAIL("no memory for the text of %s", kernel->name);
    return program;
}

static char *program_of(meta_kernel *kernel, struct meta_kernel_state *s, gpu_passing passing)
{
    describe(s, kernel);
    return program_with(kernel, s, passing, 0);
}

static bool has_compiler; /* of whatever kind */

/* Without any compiler nothing can be tested. */
static int end_of_test(int status)
{
    return has_compiler ? status : 77;
}
static const test_setting setting = {.end = end_of_test};

/* ------------------------------------------------------------------ NVRTC and hipRTC */

/* Whether the compiler is missing, or does not know the GPU. */
static bool is_absent(meta_err error)
{
    const bool absent = error == META_ERR_UNSUPPORTED && !strstr(failure, "newer than the driver");
    has_compiler |= !absent;
    return absent;
}

/* Whether the kernel has no body in the language of GPUs, which it would need. */
static bool lacks_form(const meta_kernel *kernel, uint32_t form)
{
    return form & META_USER_NATIVE && strcmp(kernel->name, "native") != 0 &&
           strcmp(kernel->name, "tiles") != 0;
}

/* Of what types the kernels are compiled, where all types would take long. */
typedef enum { ONE_TYPE, TWO_TYPES, ALL_TYPES } types;

static bool is_of(const meta_kernel *kernel, types wanted)
{
    return wanted == ALL_TYPES || kernel->type == META_F32 ||
           (wanted == TWO_TYPES && kernel->type == META_I32);
}

static void compile_for(const gpu_target *target, const char *title, types wanted, uint32_t form)
{
    for (int k = 0; k < KERNELS; ++k) {
        if (!is_of(kernels[k], wanted)) continue;
        if (lacks_form(kernels[k], form)) continue;
        struct meta_kernel_state state;
        gpu_image image = {NULL, 0};
        describe(&state, kernels[k]);
        const bool in_memory =
            gpu_program_bytes(&state.desc) + sizeof(void *) > GPU_PARAMETER_BYTES;
        char *program =
            program_with(kernels[k], &state, in_memory ? GPU_IN_MEMORY : GPU_BY_VALUE, form);
        if (!program) return;
        test_case("%s for %s, %s, form %u", kernels[k]->name,
                  meta_element_name((uint32_t)kernels[k]->type), title, (unsigned)form);
        logged[0] = '\0';
        const meta_err error = gpu_compile(target, kernels[k]->name, program, &image);
        free(program);
        if (is_absent(error)) return;
        if (error != META_OK) FAIL("%s\n%s", failure, logged);
        else if (CHECK(image.bytes > 0) && strstr(logged, "warning")) FAIL("%s", logged);
        free(image.code);
    }
}

static void nvrtc_compiles_every_kind_of_parameter_without_a_warning(void)
{
    static const int capabilities[] = {90, 70, 75, 80, 100};
    const size_t count = test_long() ? sizeof capabilities / sizeof *capabilities : 1;
    for (size_t k = 0; k < count; ++k) {
        char title[32];
        snprintf(title, sizeof title, "sm_%d", capabilities[k]);
        compile_for(&(gpu_target){.capability = capabilities[k]}, title,
                    capabilities[k] == 90 ? ALL_TYPES : TWO_TYPES, 0);
    }
}

/* What runs without META_CHECK is not compiled with a word of it, nor of another language's bodies.
 */
static void a_plain_program_has_no_checks(void)
{
    for (int k = 0; k < KERNELS; ++k) {
        struct meta_kernel_state state;
        char *program = program_of(kernels[k], &state, GPU_BY_VALUE);
        if (!program) return;
        test_case("%s", kernels[k]->name);
        CHECK(!strstr(program, "meta_near"));
        CHECK(!strstr(program, "meta_note"));
        CHECK(!strstr(program, "META_NATIVE_OF"));
        free(program);
        program = program_with(kernels[k], &state, GPU_BY_VALUE, META_USER_CHECKED);
        if (!program) return;
        CHECK(strstr(program, "meta_near_at(") != NULL);
        free(program);
    }
}

/* With the checks of META_CHECK=on, and bodies in the compiler's own language. */
static void nvrtc_and_hiprtc_compile_every_form_without_a_warning(void)
{
    for (uint32_t form = 1; form < META_USER_FORMS; ++form) {
        compile_for(&(gpu_target){.capability = 80}, "sm_80", test_long() ? TWO_TYPES : ONE_TYPE,
                    form);
        compile_for(&(gpu_target){.amd = "gfx90a"}, "gfx90a", test_long() ? TWO_TYPES : ONE_TYPE,
                    form);
    }
}

/* It takes half a second for each. */
static void hiprtc_compiles_every_kind_of_parameter_without_a_warning(void)
{
    compile_for(&(gpu_target){.amd = "gfx90a"}, "gfx90a", test_long() ? ALL_TYPES : TWO_TYPES, 0);
    if (test_long()) compile_for(&(gpu_target){.amd = "gfx1030"}, "gfx1030", TWO_TYPES, 0);
}

static void exact_sums_compile_without_a_warning(void)
{
    const gpu_target targets[] = {{.capability = 70}, {.capability = 90}, {.amd = "gfx90a"}};
    for (size_t t = 0; t < sizeof targets / sizeof *targets; ++t)
        for (int k = 0; k < KERNELS * META_USER_FORMS; ++k) {
            meta_kernel *kernel = kernels[k / META_USER_FORMS];
            const uint32_t form = (uint32_t)k % META_USER_FORMS;
            struct meta_kernel_state state;
            gpu_image image = {NULL, 0};
            describe(&state, kernel);
            if (!make_exact(&state) || lacks_form(kernel, form)) continue;
            const bool sampled = targets[t].capability == 90
                                     ? form == 0 || kernel->type == META_F32
                                     : form == 0 && targets[t].amd && kernel->type == META_F32;
            if (!sampled && !test_long()) continue;
            char *program = program_with(kernel, &state, GPU_BY_VALUE, form);
            if (!program) return;
            test_case("%s for %s, target %d, form %u", kernel->name,
                      meta_element_name((uint32_t)kernel->type), (int)t, (unsigned)form);
            logged[0] = '\0';
            CHECK_CONTAINS(program, "META_USER_REPRODUCIBLE");
            const meta_err error = gpu_compile(&targets[t], kernel->name, program, &image);
            free(program);
            if (is_absent(error)) break;
            if (error != META_OK) FAIL("%s\n%s", failure, logged);
            else if (CHECK(image.bytes > 0) && strstr(logged, "warning")) FAIL("%s", logged);
            free(image.code);
        }
}

/* With checks, and in the body in the compiler's own language. */
static void exact_sums_and_forms_compile_on_the_host_without_a_warning(void)
{
    for (int k = 0; k < KERNELS * META_USER_FORMS; ++k) {
        meta_kernel *kernel = kernels[k / META_USER_FORMS];
        const uint32_t form = (uint32_t)k % META_USER_FORMS;
        struct meta_kernel_state state;
        void *module, *function;
        describe(&state, kernel);
        const bool exact = make_exact(&state);
        if (lacks_form(kernel, form) || (form != 0 && kernel->type != META_F32)) continue;
        if (!exact) describe(&state, kernel);
        if (!exact && form == 0) continue; /* which other promises compile */
        char *program = program_with(kernel, &state, GPU_ON_HOST, form);
        if (!program) return;
        test_case("%s for %s, form %u", kernel->name, meta_element_name((uint32_t)kernel->type),
                  (unsigned)form);
        logged[0] = '\0';
        const meta_err error = gpu_compile_host(kernel->name, program, &module, &function);
        free(program);
        if (is_absent(error)) return;
        if (CHECK_INT(error, META_OK)) gpu_host_code_close(module);
        else FAIL("%s\n%s", failure, logged);
        if (strstr(logged, "warning")) FAIL("%s", logged);
    }
}

/* The driver compiles PTX for later GPUs than the compiler's. */
static void a_gpu_that_nvrtc_does_not_know_gets_ptx(void)
{
    struct meta_kernel_state state;
    gpu_image image = {NULL, 0};
    char *program = program_of(&kinds_f64_kernel, &state, GPU_BY_VALUE);
    if (!program) return;
    logged[0] = '\0';
    const meta_err error = gpu_compile(&(gpu_target){.capability = 990}, "kinds", program, &image);
    free(program);
    if (is_absent(error)) return;
    if (error != META_OK) FAIL("%s", failure);
    else if (CHECK(image.bytes > 0)) CHECK_CONTAINS(image.code, ".target sm_");
    CHECK_CONTAINS(logged, "does not know GPUs of compute capability 99.0");
    free(image.code);
}

static bool is_bare; /* a machine without compilers */
void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags)
{
    return is_bare ? NULL : __real_dlopen(file, flags);
}

static void compile_with_none(void *unused)
{
    gpu_image image = {NULL, 0};
    (void)unused;
    is_bare = true;
    CHECK_INT(gpu_compile(&(gpu_target){.capability = 90}, "any", "", &image),
              META_ERR_UNSUPPORTED);
    CHECK_CONTAINS(failure, "no NVRTC was found, which is in libnvrtc.so.");
    CHECK_INT(gpu_compile(&(gpu_target){.amd = "gfx90a"}, "any", "", &image), META_ERR_UNSUPPORTED);
    CHECK_CONTAINS(failure, "no hipRTC was found, which is in libhiprtc.so");
}

/* In a process that has looked for none yet. */
static void without_a_compiler_the_error_names_the_library_that_is_missing(void)
{
    CHECK_CHILD(compile_with_none, NULL);
}

static void must_be_here(const char *compiler)
{
    const char *ci = getenv("META_TEST_CI");
    if (!ci || strcmp(ci, "1") != 0) return;
    has_compiler = true; /* lest this end as skipped */
    FAIL("META_TEST_CI=1 asks for %s, which is not here", compiler);
}

/* What code is kept by in the cache: the compiler, its file and its options. */
static void the_compiler_of_a_gpu_is_known_by_its_file(void)
{
    char said[4096] = "";
    gpu_compiler_facts(&(gpu_target){.capability = 90}, said, sizeof said);
    if (strcmp(said, "no NVRTC") == 0) must_be_here("NVRTC");
    else {
        has_compiler = true;
        CHECK_CONTAINS(said, "NVRTC 1");
        CHECK_CONTAINS(said, " -arch=");
        CHECK_CONTAINS(said, "libnvrtc.so");
        CHECK_CONTAINS(said, " bytes of ");
    }
    gpu_compiler_facts(&(gpu_target){.amd = "gfx90a"}, said, sizeof said);
    if (strcmp(said, "no hipRTC") == 0) must_be_here("hipRTC");
    else CHECK_CONTAINS(said, "--offload-arch=gfx90a");
}

/* Each kernel of a program asks for them. */
static void what_is_known_of_a_compiler_is_looked_up_once(void)
{
    const gpu_target targets[] = {{.capability = 80}, {.capability = 86}, {.amd = "gfx1100"}};
    char said[3][4096], again[4096];
    for (size_t k = 0; k < sizeof targets / sizeof *targets; ++k) {
        test_case("target %zu", k);
        lookups = 0;
        gpu_compiler_facts(&targets[k], said[k], sizeof said[k]);
        CHECK_INT(lookups, 1);
    }
    lookups = 0;
    for (size_t k = 0; k < sizeof targets / sizeof *targets; ++k) {
        test_case("target %zu again", k);
        if (strncmp(said[k], "no ", 3) == 0) continue; /* one may be found later */
        gpu_compiler_facts(&targets[k], again, sizeof again);
        CHECK_STRING(again, said[k]);
    }
    CHECK_INT(lookups, 0);
}

/* Lest a compiler be taken from the cache that would not be found now. */
static void what_is_cached_of_a_compiler_depends_on_each_variable_that_leads_to_one(void)
{
    static const char *const variables[2][3] = {{"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"},
                                                {"LD_LIBRARY_PATH", "ROCM_PATH", "HIP_PATH"}};
    const gpu_target targets[2] = {{.capability = 87}, {.amd = "gfx906"}};
    char said[4096], before[sizeof looked_up_by];
    lookups_fail = true; /* each call looks it up */
    for (int k = 0; k < 6; ++k) {
        const char *name = variables[k / 3][k % 3], *value = getenv(name);
        char *kept = value ? strdup(value) : NULL;
        test_case("%s", name);
        gpu_compiler_facts(&targets[k / 3], said, sizeof said);
        memcpy(before, looked_up_by, sizeof before);
        setenv(name, "/nowhere", 1);
        gpu_compiler_facts(&targets[k / 3], said, sizeof said);
        CHECK(strcmp(looked_up_by, before) != 0);
        if (kept) setenv(name, kept, 1);
        else unsetenv(name);
        free(kept);
    }
    lookups_fail = false;
}

/* A driver does not load code of later versions of CUDA. */
static void an_nvrtc_that_is_newer_than_the_driver_is_not_used(void)
{
    gpu_image image = {NULL, 0};
    const meta_err error =
        gpu_compile(&(gpu_target){.capability = 80, .driver = 9}, "any", "", &image);
    if (is_absent(error)) return;
    CHECK_INT(error, META_ERR_UNSUPPORTED);
    CHECK_CONTAINS(failure, "newer than the driver, which serves CUDA 9");
}

/* ------------------------------------------------------------------ mistakes */

static const char wrong_text[] = "#include <meta_kernel.h>\n"
                                 "#define wrong_ARGS(A) A(OUT, T, to)\n"
                                 "META_CELLS(wrong)\n"
                                 "{\n"
                                 "    AT1(to, 0) = nowhere;\n"
                                 "}\n"
                                 "#include META_AGAIN\n";
static const meta_kernel_parameter wrong_parameters[] = {
    {"T", "to", META_PARAMETER_OUT, META_F64, 8, META_PARAMETER_CELL, {0}, {0}, 0, {0}}};
static meta_kernel wrong = {.size = sizeof wrong,
                            .name = "wrong",
                            .type = META_F64,
                            .file = "wrong.kernel.h",
                            .text = wrong_text,
                            .parameter = wrong_parameters,
                            .parameters = 1};

static char *wrong_program(gpu_passing passing)
{
    struct meta_kernel_state state;
    wrong.state = &state; /* for meta_user_each_beside() */
    char *program = program_of(&wrong, &state, passing);
    wrong.state = NULL;
    logged[0] = '\0';
    return program;
}

/* File and line as GCC and clang, or as NVIDIA's compilers write them. */
static void check_place(meta_err error)
{
    CHECK_INT(error, META_ERR_DEVICE);
    if (!strstr(failure, "wrong.kernel.h(5)")) CHECK_CONTAINS(failure, "wrong.kernel.h:5");
    CHECK_CONTAINS(failure, "nowhere");
    CHECK_CONTAINS(logged, "nowhere");
}

static void a_mistake_is_reported_with_its_file_and_line(void)
{
    const gpu_target targets[] = {{.capability = 90}, {.amd = "gfx90a"}};
    for (int k = 0; k < 2; ++k) {
        gpu_image image = {NULL, 0};
        char *program = wrong_program(GPU_BY_VALUE);
        if (!program) return;
        const meta_err error = gpu_compile(&targets[k], "wrong", program, &image);
        free(program);
        if (!is_absent(error)) check_place(error);
        free(image.code);
    }
    void *module, *function;
    char *program = wrong_program(GPU_ON_HOST);
    if (!program) return;
    const meta_err error = gpu_compile_host("wrong", program, &module, &function);
    free(program);
    if (!is_absent(error)) check_place(error);
}

/* ------------------------------------------------------------------ what programs compute */

/* Room for an argument: its neighbours lie in the same array. */
enum { SIDE = 9, REACH = 2, AREA = 1 << 15, MOST_BLOCKS = 64 };

typedef struct run {
    meta_kernel *kernel;
    struct meta_kernel_state state;
    meta_box box;
    void *array[META_KERNEL_PARAMETERS]; /* by parameter */
    void *again[META_KERNEL_PARAMETERS]; /* for the CPU code */
    uint64_t value[META_KERNEL_PARAMETERS][META_KERNEL_VALUE / 8];
} run;

/* Small whole numbers, of which sums are exact; those of indices are in range. */
static void fill(void *array, const meta_kernel_parameter *p, size_t bytes)
{
    for (size_t k = 0; k < bytes / p->bytes; ++k) {
        const int n = (int)test_random_in(0, 9);
        switch (p->type) {
#define STORE(NAME, name, size, wide, sum)                                                         \
    case META_##NAME:                                                                              \
        ((meta_##name *)array)[k] = (meta_##name)n;                                                \
        break;
            META_ARITHMETIC_TYPES(STORE)
#undef STORE
        default:
            ((char *)array)[k] = (char)n; /* a byte */
        }
    }
}

static bool begin(run *r, meta_kernel *kernel, int ndim)
{
    memset(r, 0, sizeof *r);
    r->kernel = kernel;
    r->box.ndim = ndim;
    for (int d = 0; d < ndim; ++d) {
        r->box.size[d] = SIDE + 2 * d;
        r->box.start[d] = REACH;
        r->box.end[d] = r->box.size[d] - REACH;
    }
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (p->kind == META_PARAMETER_VALUE) {
            const double numbers[8] = {2, 3, 4, 5, 6, 7, 8, 9};
            if (strcmp(p->type_name, "compiled_pair") == 0)
                memcpy(r->value[n], &(compiled_pair){1.5, 7}, sizeof(compiled_pair));
            else if (strcmp(p->type_name, "compiled_block") == 0)
                memcpy(r->value[n], numbers, sizeof numbers);
            else fill(r->value[n], p, p->bytes);
        } else if (p->kind < META_PARAMETER_VALUE) {
            r->array[n] = malloc(AREA * p->bytes);
            r->again[n] = malloc(AREA * p->bytes);
            if (!r->array[n] || !r->again[n]) return FAIL("no memory"), false;
            fill(r->array[n], p, AREA * p->bytes);
            memcpy(r->again[n], r->array[n], AREA * p->bytes);
        }
    }
    return true;
}

static void end(run *r)
{
    for (uint32_t n = 0; n < r->kernel->parameters; ++n) {
        free(r->array[n]);
        free(r->again[n]);
    }
}

/* The index of the box's first cell in an array, and the array's strides. */
static int64_t first_of(const run *r, const meta_kernel_parameter *p, int64_t stride[META_MAX_DIM])
{
    int64_t first = 0, step = 1;
    memset(stride, 0, META_MAX_DIM * sizeof *stride);
    if (p->reach == META_PARAMETER_WHOLE || p->kind == META_PARAMETER_SCALAR) return 0;
    for (int d = 0; d < r->box.ndim; ++d) {
        if (p->dropped >> d & 1) continue;
        stride[d] = step;
        first += r->box.start[d] * step;
        step *= r->box.size[d] + p->grown[d];
    }
    return first;
}

static bool has_place(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT;
}

/* Run the program block by block. @p partials has two times MOST_BLOCKS words for each result. */
static void run_program(const run *r, gpu_host_function *function, gpu_mapping mapping,
                        uint64_t *partials)
{
    static uint64_t arguments[GPU_PROGRAM_BYTES / 8 + 1];
    void *object[META_KERNEL_ARRAYS];
    uint64_t value[META_KERNEL_PARAMETERS * META_KERNEL_VALUE / 8 + META_KERNEL_DIMS] = {0};
    uint32_t arrays = 0, words = 0;
    union {
        meta_space space;
        char bytes[sizeof(meta_space) + META_KERNEL_ARRAYS * sizeof(meta_layout)];
    } in = {.space = {.ndim = r->box.ndim, .rows = 1}};
    const meta_call call = {
        .desc = &r->state.desc, .space = &in.space, .object = object, .values = value};
    for (int d = 0; d < r->box.ndim; ++d) {
        in.space.extent[d] = r->box.end[d] - r->box.start[d];
        if (d > 0) in.space.rows *= in.space.extent[d];
    }
    for (uint32_t n = 0; n < r->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &r->kernel->parameter[n];
        if (p->kind == META_PARAMETER_VALUE) {
            memcpy(&value[words], r->value[n], p->bytes);
            words += (p->bytes + 7) / 8;
        } else if (p->kind < META_PARAMETER_VALUE) {
            meta_layout *layout = (meta_layout *)(uintptr_t)meta_call_layout(&call, arrays);
            int64_t stride[META_MAX_DIM];
            layout->base = first_of(r, p, stride);
            memcpy(layout->stride, stride, sizeof stride);
            object[arrays++] = r->array[n];
        }
    }
    for (int d = 0; d < META_KERNEL_DIMS && d < r->box.ndim; ++d)
        value[words + (uint32_t)d] = (uint64_t)r->box.start[d];
    gpu_program_arguments(&call, &mapping, arguments);
    for (uint32_t b = 0; b < mapping.wide * mapping.high; ++b)
        function(arguments, partials, b, mapping.wide * mapping.high);
}

/* Coordinates @p x of the box's next team or row, from dimension @p d on; false behind the last. */
static bool next_of(const run *r, int64_t *x, int d)
{
    for (; d < r->box.ndim; x[d++] = 0) {
        const meta_kernel_team *team = r->kernel->team;
        x[d] += team && d < META_KERNEL_TEAM_DIMS ? team->extent[d] : 1;
        if (x[d] < r->box.end[d] - r->box.start[d]) return true;
    }
    return false;
}

/* The team whose first cell is at @p x. */
static meta_kernel_place place_of(const run *r, const int64_t *x)
{
    meta_kernel_place p = {{0}, {1, 1, 1}, {0}, {1, 1, 1, 1}};
    for (int d = 0; d < META_KERNEL_DIMS && d < r->box.ndim; ++d) {
        const int64_t side = d < META_KERNEL_TEAM_DIMS ? r->kernel->team->extent[d] : 1;
        const int64_t cells = r->box.end[d] - r->box.start[d];
        p.start[d] = r->box.start[d] + x[d];
        p.number[d] = x[d] / side;
        p.teams[d] = (cells + side - 1) / side;
        if (d < META_KERNEL_TEAM_DIMS) p.extent[d] = cells - x[d] < side ? cells - x[d] : side;
    }
    return p;
}

/* The number in the box of the cell at @p x. */
static int64_t number_of(const run *r, const int64_t *x)
{
    int64_t number = 0, cells = 1;
    for (int d = 0; d < r->box.ndim; cells *= r->box.end[d] - r->box.start[d], ++d)
        number += x[d] * cells;
    return number;
}

/* Run the CPU code, row by row or team by team. @p lanes has META_KERNEL_LANES accumulators for
 * each result. */
static void run_cpu(const run *r, uint64_t (*lanes)[META_KERNEL_LANES])
{
    meta_kernel_cpu_argument argument[META_KERNEL_PARAMETERS];
    int64_t stride[META_MAX_DIM], x[META_MAX_DIM] = {0};
    uint32_t result = 0;
    const int64_t columns = r->box.end[0] - r->box.start[0];
    do {
        meta_kernel_teams team;
        meta_kernel_rows rows = {
            .cells = columns, .rows = 1, .number = number_of(r, x), .columns = columns};
        if (r->box.ndim > 1) rows.planes = columns * (r->box.end[1] - r->box.start[1]);
        for (int d = 0; d < META_KERNEL_DIMS && d < r->box.ndim; ++d)
            rows.index[d] = r->box.start[d] + x[d];
        result = 0;
        for (uint32_t n = 0; n < r->kernel->parameters; ++n) {
            const meta_kernel_parameter *p = &r->kernel->parameter[n];
            int64_t from = first_of(r, p, stride);
            for (int d = 0; d < r->box.ndim; ++d) from += x[d] * stride[d];
            if (p->kind == META_PARAMETER_VALUE) argument[n].at = (void *)(uintptr_t)r->value[n];
            else if (p->kind > META_PARAMETER_VALUE) argument[n].at = lanes[result++];
            else argument[n].at = (char *)r->again[n] + from * (int64_t)p->bytes;
            memcpy(argument[n].stride, stride, sizeof argument[n].stride);
        }
        rows.argument = argument;
        team.rows = rows;
        if (r->kernel->team) team.place = place_of(r, x);
        r->kernel->cpu[META_KERNEL_BASELINE](&team.rows);
    } while (next_of(r, x, r->kernel->team ? 0 : 1));
}

/* The first extreme of @p count pairs of a value, which double holds, and its cell's number. */
static double first_extreme(const meta_kernel_parameter *p, const uint64_t *from, uint32_t count,
                            int64_t *number)
{
    double best = 0;
    *number = -1;
    for (uint32_t k = 0; k < count; ++k) {
        const int64_t at = (int64_t)from[2 * k + 1];
        double x = 0;
        switch (p->type) {
#define LOAD(NAME, name, bytes, wide, sum)                                                         \
    case META_##NAME:                                                                              \
        x = (double)*(const meta_##name *)(const void *)&from[2 * k];                              \
        break;
            META_ARITHMETIC_TYPES(LOAD)
#undef LOAD
        default:
            break;
        }
        if (p->kind == META_PARAMETER_MAX_AT) x = -x;
        if (at < 0 || (*number >= 0 && (x > best || (x == best && at > *number)))) continue;
        best = x;
        *number = at;
    }
    return best;
}

/* Combine @p count accumulators of a result as numbers that double holds. */
static double combined(const meta_kernel_parameter *p, const void *from, uint32_t count)
{
    double all = 0;
    for (uint32_t k = 0; k < count; ++k) {
        double x = 0;
        switch (p->type) {
#define LOAD(NAME, name, bytes, wide, sum_)                                                        \
    case META_##NAME:                                                                              \
        x = p->kind == META_PARAMETER_SUM ? (double)((const meta_##sum_ *)from)[k]                 \
                                          : (double)((const meta_##name *)from)[k];                \
        break;
            META_ARITHMETIC_TYPES(LOAD)
#undef LOAD
        default:
            break;
        }
        if (p->kind == META_PARAMETER_SUM) all += x;
        else if (k == 0 || (p->kind == META_PARAMETER_MIN ? x < all : x > all)) all = x;
    }
    return all;
}

/* Accumulators to which nothing has been contributed. */
static void set_lanes(const meta_kernel_parameter *p, uint64_t lanes[META_KERNEL_LANES])
{
    const bool is_min = p->kind == META_PARAMETER_MIN;
    memset(lanes, 0, META_KERNEL_LANES * sizeof *lanes);
    if (has_place(p)) lanes[1] = UINT64_MAX; /* no cell */
    if (has_place(p)) return;
    if (p->kind == META_PARAMETER_SUM) return;
    for (int k = 0; k < META_KERNEL_LANES; ++k) switch (p->type) {
        case META_F64:
            ((double *)lanes)[k] = is_min ? 1e300 : -1e300;
            break;
        case META_F32:
            ((float *)lanes)[k] = is_min ? 1e30f : -1e30f;
            break;
        case META_I64:
            ((int64_t *)lanes)[k] = is_min ? INT64_MAX : INT64_MIN;
            break;
        case META_U64:
            ((uint64_t *)lanes)[k] = is_min ? UINT64_MAX : 0;
            break;
        case META_I32:
            ((int32_t *)lanes)[k] = is_min ? INT32_MAX : INT32_MIN;
            break;
        default:
            ((uint32_t *)lanes)[k] = is_min ? UINT32_MAX : 0;
            break;
        }
}

static void compare(const run *r, const uint64_t *partials, uint32_t blocks,
                    uint64_t (*lanes)[META_KERNEL_LANES])
{
    uint32_t result = 0, words = 0;
    for (uint32_t n = 0; n < r->kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &r->kernel->parameter[n];
        if (has_place(p)) {
            int64_t at, expected_at;
            const double found = first_extreme(p, partials + (size_t)words * blocks, blocks, &at);
            const double expected = first_extreme(p, lanes[result++], 1, &expected_at);
            const bool is_value = CHECK(found == expected), is_at = CHECK_INT(at, expected_at);
            if (!is_value || !is_at) FAIL("that is result %s", p->name);
            if (strcmp(p->name, "none") == 0) CHECK_INT(at, -1);
            words += 2;
        } else if (p->kind < META_PARAMETER_VALUE) {
            CHECK_ARRAY(r->array[n], r->again[n], AREA, (meta_type)p->type);
        } else if (p->kind > META_PARAMETER_VALUE) {
            const double found = combined(p, partials + (size_t)words++ * blocks, blocks);
            const double expected = combined(p, lanes[result], META_KERNEL_LANES);
            if (!CHECK_NEAR(found, expected, 1e-12)) FAIL("that is result %s", p->name);
            ++result;
        }
    }
}

static void check_kernel(meta_kernel *kernel, int ndim, const gpu_mapping *mapping)
{
    static uint64_t partials[2 * META_KERNEL_PARAMETERS * MOST_BLOCKS];
    static uint64_t lanes[META_KERNEL_PARAMETERS][META_KERNEL_LANES];
    struct meta_kernel_state state;
    void *module, *function;
    gpu_host_function *call;
    uint32_t result = 0;
    run r;
    char *program = program_of(kernel, &state, GPU_ON_HOST);
    if (!program) return;
    logged[0] = failure[0] = '\0';
    const meta_err error = gpu_compile_host(kernel->name, program, &module, &function);
    free(program);
    if (is_absent(error)) return;
    if (error != META_OK) {
        FAIL("%s\n%s", failure, logged);
        return;
    }
    if (strstr(logged, "warning")) FAIL("%s", logged);
    memcpy(&call, &function, sizeof call);
    if (begin(&r, kernel, ndim)) {
        describe(&r.state, kernel);
        for (uint32_t n = 0; n < kernel->parameters; ++n)
            if (kernel->parameter[n].kind > META_PARAMETER_VALUE)
                set_lanes(&kernel->parameter[n], lanes[result++]);
        run_program(&r, call, *mapping, partials);
        run_cpu(&r, lanes);
        compare(&r, partials, mapping->wide * mapping->high, lanes);
    }
    end(&r);
    gpu_host_code_close(module);
}

/* Threads and blocks across columns and rows, of which some have nothing to do. */
static void programs_compute_what_the_kernels_do_on_the_cpu(void)
{
    static const gpu_mapping mappings[] = {{3, 1, 5, 1}, {1, 2, 3, 4}, {8, 1, 7, 3}, {0, 3, 2, 2}};
    /* The fake CUDA runs all of them, as NVRTC compiles them. */
    const int step = test_long() ? 1 : 3;
    for (int k = 0; k < KERNELS; k += step) {
        const char *name = kernels[k]->name;
        const int ndim = *name == 'l' ? 1 : *name == 'f' ? 4 : *name == 'w' ? 2 : 3;
        test_case("%s for %s", name, meta_element_name((uint32_t)kernels[k]->type));
        check_kernel(kernels[k], ndim, &mappings[k % 4]);
    }
}

TEST_MAIN_WITH(&setting, PROMISE(without_a_compiler_the_error_names_the_library_that_is_missing),
               PROMISE(programs_compute_what_the_kernels_do_on_the_cpu),
               PROMISE(nvrtc_compiles_every_kind_of_parameter_without_a_warning),
               PROMISE(exact_sums_compile_without_a_warning),
               PROMISE(exact_sums_and_forms_compile_on_the_host_without_a_warning),
               PROMISE(hiprtc_compiles_every_kind_of_parameter_without_a_warning),
               PROMISE(a_plain_program_has_no_checks),
               PROMISE(nvrtc_and_hiprtc_compile_every_form_without_a_warning),
               PROMISE(a_gpu_that_nvrtc_does_not_know_gets_ptx),
               PROMISE(the_compiler_of_a_gpu_is_known_by_its_file),
               PROMISE(what_is_known_of_a_compiler_is_looked_up_once),
               PROMISE(what_is_cached_of_a_compiler_depends_on_each_variable_that_leads_to_one),
               PROMISE(an_nvrtc_that_is_newer_than_the_driver_is_not_used),
               PROMISE(a_mistake_is_reported_with_its_file_and_line))
