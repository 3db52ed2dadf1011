/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_text.c
 *  Kernels whose text is given at run time: they compute on every device what the text says, are
 * compiled once, and whatever is wrong with text or compiler is an error with the reason. */
/* TEST: backends=all binaries=yes labels=core,cache smoke=yes */
#define META_KERNELS_HERE
#include "user_sound.kernel.h"

#include "ahead.h"
#include "caught.h"
#include "run_text.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { CELLS = 1000 };
static const meta_box line = {1, {CELLS}, {1}, {CELLS - 1}};
static meta_kernel *const nothing = (meta_kernel *)(void *)&run_root;

static void refused(meta_err code, const char *file, const char *text, const char *words)
{
    meta_kernel *kernel = nothing;
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "add", META_I32, file, text), code, words);
    CHECK_CONTAINS(meta_last_error(), "meta_kernel_compile: ");
    CHECK(kernel == nothing);
}

/* ------------------------------------------------------------------ what they compute */

/* A text may be given more than once; another one needs another number. */
static int number = 7;

static void check_f64(meta_kernel *kernel, int more)
{
    double before[CELLS], after[CELLS], factor = 3, most = 0, expected = 0;
    void *field = NULL;
    for (int k = 0; k < CELLS; ++k) before[k] = k % 37;
    if (!CHECK_OK(meta_alloc(&field, sizeof before))) return;
    CHECK_OK(meta_copy_h2d(field, before, sizeof before, NULL));
    const void *const arguments[] = {field, &factor, &most};
    CHECK_OK(meta_kernel_run(kernel, &line, arguments, NULL));
    CHECK_OK(meta_copy_d2h(after, field, sizeof after, NULL));
    for (int k = 1; k < CELLS - 1; ++k) {
        before[k] = factor * (before[k] + more);
        if (before[k] > expected) expected = before[k];
    }
    CHECK_ARRAY(after, before, CELLS, META_F64);
    CHECK(most == expected);
    CHECK_OK(meta_free(field));
}

static void check_i32(meta_kernel *kernel, int more)
{
    int32_t before[CELLS], after[CELLS], factor = 3, most = 0;
    void *field = NULL;
    for (int k = 0; k < CELLS; ++k) before[k] = k;
    if (!CHECK_OK(meta_alloc(&field, sizeof before))) return;
    CHECK_OK(meta_copy_h2d(field, before, sizeof before, NULL));
    const void *const arguments[] = {field, &factor, &most};
    CHECK_OK(meta_kernel_run(kernel, &line, arguments, NULL));
    CHECK_OK(meta_copy_d2h(after, field, sizeof after, NULL));
    for (int k = 1; k < CELLS - 1; ++k) before[k] = factor * (before[k] + more);
    CHECK_ARRAY(after, before, CELLS, META_I32);
    CHECK_INT(most, factor * (CELLS - 2 + more));
    CHECK_OK(meta_free(field));
}

static meta_err compile(meta_kernel **kernel, meta_type type)
{
    return meta_kernel_compile(kernel, "add", type, "add.kernel.h", run_text(number));
}

static void a_text_runs_on_every_device(void)
{
    meta_kernel *f64 = NULL, *i32 = NULL, *found = NULL;
    run_begin();
    ++number;
    if (!CHECK_OK(compile(&f64, META_F64)) || !CHECK_OK(compile(&i32, META_I32))) return;
    CHECK_STRING(f64->name, "add");
    CHECK_STRING(f64->file, "add.kernel.h");
    CHECK_STRING(f64->text, run_text(number));
    CHECK_OK(meta_kernel_find("add", META_F64, &found));
    CHECK(found == f64);
    CHECK_OK(meta_kernel_prepare(i32));
    check_i32(i32, number);
    if (meta_kernel_prepare(f64) != META_ERR_TYPE) check_f64(f64, number); /* no double precision */
    run_end();
}

/* Of one name there may be several, in texts that a program generates. */
static void texts_with_kernels_of_one_name_stay_apart(void)
{
    meta_kernel *first = NULL, *second = NULL;
    run_begin();
    ++number;
    CHECK_OK(compile(&first, META_I32));
    ++number;
    CHECK_OK(compile(&second, META_I32));
    CHECK(first != second);
    if (first) check_i32(first, number - 1);
    if (second) check_i32(second, number);
    if (first) check_i32(first, number - 1);
    run_end();
}

static void a_text_is_compiled_once(void)
{
    meta_kernel *first = NULL, *again = NULL, *other = NULL;
    run_begin();
    run_compiler("exec cc \"$@\"");
    ++number;
    CHECK_OK(compile(&first, META_I32));
    CHECK_OK(compile(&again, META_I32));
    CHECK_OK(compile(&other, META_F32));
    CHECK(first == again && other != first);
    CHECK_INT(run_compiles(), 1);
    run_end();
}

/* As by `env -i`. */
static void a_program_without_environment_compiles(void)
{
    char **const all = environ, command[PATH_MAX], *said = NULL;
    environ = NULL;
    const meta_err error =
        meta_ahead_table.check(META_CHECK_C, "add.kernel.h", run_text(number), command, &said);
    environ = all;
    CHECK_OK(error);
    CHECK_STRING(said, "");
    free(said);
}

static void a_text_that_is_linked_in_is_not_compiled(void)
{
    meta_kernel *kernel = NULL;
    run_begin();
    setenv("META_CC", "/no/such/compiler", 1);
    CHECK_OK(meta_kernel_compile(&kernel, "sound", META_I32, "other.h", sound_i32_kernel.text));
    CHECK(kernel == &sound_i32_kernel);
    run_end();
}

static void *compile_in_thread(void *argument)
{
    meta_kernel *kernel = NULL;
    static char text[RUN_ROOM];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!*text) snprintf(text, sizeof text, "%s", run_text(number));
    pthread_mutex_unlock(&lock);
    *(meta_err *)argument = meta_kernel_compile(&kernel, "add", META_I32, "add.kernel.h", text);
    return NULL;
}

static void of_threads_with_one_text_one_compiles(void)
{
    pthread_t thread[4];
    meta_err error[4];
    run_begin();
    run_compiler("exec cc \"$@\"");
    ++number;
    for (int k = 0; k < 4; ++k) pthread_create(&thread[k], NULL, compile_in_thread, &error[k]);
    for (int k = 0; k < 4; ++k) pthread_join(thread[k], NULL);
    for (int k = 0; k < 4; ++k) CHECK_INT(error[k], META_OK);
    CHECK_INT(run_compiles(), 1);
    run_end();
}

/* ------------------------------------------------------------------ a program that has children */

static void reap_all(int signal_number)
{
    (void)signal_number;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
}

static void a_program_may_take_care_of_children_as_it_likes(void)
{
    void (*const handlers[])(int) = {SIG_IGN, reap_all};
    meta_kernel *kernel = NULL;
    run_begin();
    for (int k = 0; k < 2; ++k) {
        void (*const before)(int) = signal(SIGCHLD, handlers[k]);
        ++number;
        test_case("SIGCHLD is %s", k ? "handled" : "ignored");
        const meta_err error = compile(&kernel, META_I32);
        refused(META_ERR_ARGUMENT, "a.h", "what is this", "a.h:1");
        signal(SIGCHLD, before); /* an OpenCL driver may have children of its own */
        if (CHECK_OK(error)) check_i32(kernel, number);
    }
    const pid_t child = fork();
    if (child == 0) _exit(5);
    int status = 0;
    ++number;
    CHECK_OK(compile(&kernel, META_I32));
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    run_end();
}

/* ------------------------------------------------------------------ wrong texts */

static void a_mistake_is_reported_with_its_file_and_line(void)
{
    char text[RUN_ROOM];
    run_begin();
    ++number;
    snprintf(text, sizeof text, "%s", run_text(number));
    memcpy(strstr(text, "factor *"), "factur *", 8);
    refused(META_ERR_ARGUMENT, "add.kernel.h", text, "add.kernel.h:10:");
    CHECK_CONTAINS(meta_last_error(), "factur");
    CHECK(!strstr(meta_last_error(), run_root));
    refused(META_ERR_ARGUMENT, "a.h", "#include \"of_the_program.h\"\n", "of_the_program.h");
    refused(META_ERR_ARGUMENT, "a.h", "", "a.h) has no kernel");
    refused(META_ERR_ARGUMENT, "a.h", "#include <meta_kernel.h>\n#include META_AGAIN\n",
            "has no kernel");
    refused(META_ERR_ARGUMENT, "add.kernel.h",
            "#define add_ARGS(A) A(INN, T, field)\n#include <meta_kernel.h>\nMETA_CELLS(add) {}\n",
            "add.kernel.h:1: list of kernel add: 'INN' is no kind of parameter");
    refused(META_ERR_ARGUMENT, "a.h", "/* */\n  #  pragma once // a comment\nMETA_CELLS(a) {}\n",
            "a.h:2: #pragma once keeps");
    refused(META_ERR_ARGUMENT, "a.h",
            "#ifndef A_H\n#define A_H 1\n#include <meta_kernel.h>\n#include META_AGAIN\n#endif\n",
            "a.h:1: the include guard #ifndef A_H keeps");
    setenv("META_CC", "cc -ffast-math", 1);
    refused(META_ERR_ARGUMENT, "add.kernel.h", run_text(number), "-ffast-math");
    run_end();
}

/* More than 64 KiB: the first and the last line are there. */
static void a_compilers_words_are_all_in_the_error(void)
{
    static char said[1 << 20];
    run_begin();
    run_compiler(
        "n=0; while test $n -lt 3000; do echo \"a.h:$n: error: word $n of many\"; n=$((n + 1)); "
        "done; exit 1");
    ++number;
    catch_errors();
    refused(META_ERR_ARGUMENT, "a.h", run_text(number), "a.h:0: error: word 0 of many");
    take_caught(said, sizeof said);
    CHECK_CONTAINS(said, "a.h:0: error: word 0 of many");
    CHECK_CONTAINS(said, "a.h:2999: error: word 2999 of many");
    CHECK_CONTAINS(meta_last_error(), "a.h:2999: error: word 2999 of many");
    CHECK(strlen(meta_last_error()) > 1 << 16);
    meta_kernel *kernel = nothing;
    CHECK_ERR_NAMES(meta_kernel_find("nobody", META_F64, &kernel), META_ERR_ARGUMENT, "nobody");
    CHECK(strlen(meta_last_error()) < 1000);
    run_end();
}

static void wrong_arguments_are_refused(void)
{
    static const char *const files[] = {
        "",     ".",  "..",     "a/b",           "/a",       "a b", "a\"b",
        "a\nb", "-o", "meta.h", "meta_kernel.h", "a\xc3\xa4"};
    char longest[200];
    meta_kernel *kernel = nothing;
    run_begin();
    const char *text = run_text(++number);
    for (size_t k = 0; k < sizeof files / sizeof *files; ++k) {
        test_case("file %s", files[k]);
        refused(META_ERR_ARGUMENT, files[k], text, "'file'");
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refused(META_ERR_ARGUMENT, longest, text, "'file'");
    refused(META_ERR_ARGUMENT, NULL, text, "'file'");
    refused(META_ERR_ARGUMENT, "a.h", NULL, "'text'");
    CHECK_ERR_NAMES(meta_kernel_compile(NULL, "add", META_I32, "a.h", text), META_ERR_ARGUMENT,
                    "'kernel'");
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, NULL, META_I32, "a.h", text), META_ERR_ARGUMENT,
                    "'name'");
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "add", META_U8, "a.h", text), META_ERR_TYPE,
                    "'type'");
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "add", (meta_type)-1, "a.h", text), META_ERR_TYPE,
                    "'type'");
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "sub", META_I32, "a.h", text), META_ERR_ARGUMENT,
                    "'name'");
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "add", META_U64, "a.h", text), META_ERR_ARGUMENT,
                    "u64");
    CHECK(kernel == nothing);
    run_end();
}

/* ------------------------------------------------------------------ wrong compilers */

static void a_missing_compiler_is_an_error_that_says_what_was_looked_for(void)
{
    char *path = strdup(getenv("PATH"));
    run_begin();
    ++number;
    setenv("PATH", run_root, 1);
    refused(META_ERR_UNSUPPORTED, "a.h", run_text(number), "META_CC");
    CHECK_CONTAINS(meta_last_error(), "cc, gcc and clang");
    setenv("PATH", path, 1);
    free(path);
    setenv("META_CC", "no-such-compiler -O2", 1);
    refused(META_ERR_UNSUPPORTED, "a.h", run_text(number), "META_CC=no-such-compiler -O2");
    setenv("META_CC", run_root, 1); /* a folder */
    refused(META_ERR_UNSUPPORTED, "a.h", run_text(number), run_root);
    meta_kernel *kernel = NULL;
    setenv("META_CC", " cc  -O1 ", 1);
    if (CHECK_OK(compile(&kernel, META_I32))) check_i32(kernel, number);
    run_end();
}

static void a_compiler_that_breaks_is_an_error(void)
{
    meta_kernel *kernel = NULL;
    run_begin();
    ++number;
    run_compiler("exit 0");
    refused(META_ERR_DEVICE, "a.h", run_text(number), "reports success");
    run_compiler("while test \"$1\" != -o; do shift; done; echo rubbish >\"$2\"");
    refused(META_ERR_DEVICE, "a.h", run_text(number), "not a 64-bit shared object");
    run_compiler("echo all is lost; kill -9 $$");
    refused(META_ERR_DEVICE, "a.h", run_text(number), "signal 9");
    CHECK_CONTAINS(meta_last_error(), "all is lost");
    run_compiler("exit 1");
    refused(META_ERR_ARGUMENT, "a.h", run_text(number), "says: nothing");
    CHECK_INT(run_compiles(), 4);
    run_compiler("exec cc \"$@\"");
    if (CHECK_OK(compile(&kernel, META_I32))) check_i32(kernel, number);
    run_end();
}

/* The library starts again, as it reads its variables then. */
static void restart(void)
{
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
}

static void a_compiler_that_hangs_is_killed_with_its_parts(void)
{
    char path[RUN_ROOM + 16];
    long part = 0;
    meta_kernel *kernel = NULL;
    run_begin();
    ++number;
    setenv("META_JIT_TIMEOUT", "0.5", 1);
    restart();
    run_compiler("sleep 1000 & echo $! >\"$(dirname \"$0\")/part\"; wait");
    const double begun = run_seconds();
    refused(META_ERR_DEVICE, "a.h", run_text(number), "within 0.5 s");
    CHECK_CONTAINS(meta_last_error(), "META_JIT_TIMEOUT");
    if (run_seconds() - begun > 20) FAIL("it took %.1f s", run_seconds() - begun);
    snprintf(path, sizeof path, "%s/part", run_root);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%ld", &part) != 1) FAIL("no %s", path);
    if (file) fclose(file);
    for (int k = 0; k < 500 && part && kill((pid_t)part, 0) == 0; ++k) usleep(10000);
    if (part && kill((pid_t)part, 0) == 0) {
        /* Nobody may be there to wait for it: then it is dead all the same. */
        char state[RUN_ROOM] = "";
        snprintf(path, sizeof path, "/proc/%ld/stat", part);
        file = fopen(path, "r");
        if (file && !fgets(state, sizeof state, file)) *state = '\0';
        if (file) fclose(file);
        CHECK(!*state || strstr(state, ") Z "));
    }
    unsetenv("META_JIT_TIMEOUT");
    restart();
    unsetenv("META_CC");
    if (CHECK_OK(compile(&kernel, META_I32))) check_i32(kernel, number);
    run_end();
}

static void meta_jit_says_what_may_be_done(void)
{
    meta_kernel *kernel = NULL;
    meta_mode mode = META_OPENMP;
    run_begin();
    ++number;
    setenv("META_JIT", "off", 1);
    restart();
    refused(META_ERR_UNSUPPORTED, "a.h", run_text(number), "META_JIT=off");
    setenv("META_JIT", "load", 1);
    restart();
    refused(META_ERR_UNSUPPORTED, "a.h", run_text(number), "META_JIT=load");
    unsetenv("META_JIT");
    restart();
    if (CHECK_OK(compile(&kernel, META_I32))) {
        check_i32(kernel, number);
        /* What the device's compiler made is in the cache too, the library's own kernels included.
         */
        setenv("META_JIT", "load", 1);
        restart();
        check_i32(kernel, number);
        setenv("META_JIT", "off", 1);
        restart();
        CHECK_OK(meta_get_acc(NULL, &mode));
        if (mode == META_OPENMP) check_i32(kernel, number);
        else CHECK_ERR_NAMES(meta_kernel_prepare(kernel), META_ERR_UNSUPPORTED, "META_JIT=off");
    }
    unsetenv("META_JIT");
    restart();
    run_end();
}

static void a_read_only_place_to_compile_in_is_an_error_or_none(void)
{
    meta_kernel *kernel = NULL;
    run_begin();
    ++number;
    setenv("TMPDIR", "/proc", 1); /* /dev/shm is left */
    const meta_err error = compile(&kernel, META_I32);
    setenv("TMPDIR", run_root, 1);
    if (error == META_OK) check_i32(kernel, number);
    else CHECK_CONTAINS(meta_last_error(), "TMPDIR");
    run_end();
}

TEST_DEVICE_MAIN(PROMISE(a_text_runs_on_every_device),
                 PROMISE(texts_with_kernels_of_one_name_stay_apart),
                 PROMISE(a_text_is_compiled_once), PROMISE(a_program_without_environment_compiles),
                 PROMISE(a_text_that_is_linked_in_is_not_compiled),
                 PROMISE(of_threads_with_one_text_one_compiles),
                 PROMISE(a_program_may_take_care_of_children_as_it_likes),
                 PROMISE(a_mistake_is_reported_with_its_file_and_line),
                 PROMISE(a_compilers_words_are_all_in_the_error),
                 PROMISE(wrong_arguments_are_refused),
                 PROMISE(a_missing_compiler_is_an_error_that_says_what_was_looked_for),
                 PROMISE(a_compiler_that_breaks_is_an_error),
                 PROMISE(a_compiler_that_hangs_is_killed_with_its_parts),
                 PROMISE(meta_jit_says_what_may_be_done),
                 PROMISE(a_read_only_place_to_compile_in_is_an_error_or_none))
