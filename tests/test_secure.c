/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_secure.c
 *  A process that has more rights than the user who started it follows nothing in that user's
 *  environment: as the kernel says it by AT_SECURE, which this program can stand in for, and, where
 *  the test runs as root, in a setuid copy of it that another user starts. And back ends are not
 *  loaded from where others can write. */
/* TEST: labels=core,cache smoke=yes */
#include "test.h"

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "run_text.h"
#include "says_secure.h"
#include "scratch.h"

static const struct {
    const char *name, *value;
} hostile[] = {{"META_MODE", "plain"},
               {"META_CC", "/tmp/compiler"},
               {"META_CACHE_DIR", "/tmp/cache"},
               {"META_KERNEL_PATH", "/tmp/kernels"},
               {"META_LOG", "debug"},
               {"META_LEARN", "on:/tmp/learned"},
               {"META_PROFILE", "json:/tmp/p"},
               {"META_AUTO_DEVICES", "plain"}};

/* With a module of somebody's own, and a log file of somebody's choice. */
static void set_hostile(const char *log)
{
    for (size_t k = 0; k < sizeof hostile / sizeof *hostile; ++k)
        setenv(hostile[k].name, hostile[k].value, 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_LOG_FILE", log, 1);
}

/* ------------------------------------------------------------------ what such a process does */

static void check_nothing_is_followed(const char *log)
{
    meta_mode mode = META_SPREAD;
    int count = 0, variables = 0;
    void *buffer;
    CHECK_OK(meta_init());
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_INT(mode, META_OPENMP);
    CHECK_OK(meta_alloc(&buffer, 4096));
    CHECK_OK(meta_free(buffer));
    CHECK_OK(meta_variable_count(&variables));
    for (int k = 0; k < variables; ++k) {
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        CHECK_OK(meta_variable_info(k, &desc));
        test_case("%s", desc.name);
        CHECK(desc.value == NULL);
    }
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        CHECK_OK(meta_backend_info(k, &desc));
        test_case("%s: %s", desc.name, desc.reason);
        CHECK(strcmp(desc.name, "plain") != 0);
        CHECK_INT(desc.usable, strcmp(desc.name, "openmp") == 0);
        if (*desc.path && !desc.usable) CHECK_CONTAINS(desc.reason, "more rights than the user");
    }
    test_case("the end");
    CHECK_OK(meta_finalize());
    CHECK(access(log, F_OK) != 0);
}

static void use_as_if_secure(void *argument)
{
    const char *log = argument;
    set_hostile(log);
    says_secure = true;
    check_nothing_is_followed(log);
}

static void a_process_with_more_rights_than_its_user_follows_no_variable(void)
{
    char folder[PATH_MAX], log[PATH_MAX + 8];
    scratch_make("secure", folder, sizeof folder);
    snprintf(log, sizeof log, "%s/log", folder);
    CHECK_CHILD(use_as_if_secure, log);
    scratch_remove(folder);
}

static void compile_as_if_secure(void *argument)
{
    enum { NUMBER = 779311 }; /* so that no test has left its code in a cache */
    meta_kernel *kernel;
    (void)argument;
    says_secure = true;
    CHECK_OK(meta_init());
    CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "add", META_F64, "add.kernel.h", run_text(NUMBER)),
                    META_ERR_UNSUPPORTED, "more rights than the user who started it");
    CHECK_OK(meta_finalize());
}

static void a_process_with_more_rights_than_its_user_starts_no_compiler(void)
{
    CHECK_CHILD(compile_as_if_secure, NULL);
}

/* ------------------------------------------------------------------ the same by the kernel's word
 */

static bool copy_file(const char *from, const char *to, mode_t mode)
{
    char bytes[1 << 16];
    ssize_t got = 0;
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool done = in >= 0 && out >= 0;
    while (done && (got = read(in, bytes, sizeof bytes)) > 0)
        done = write(out, bytes, (size_t)got) == got;
    done = done && got == 0 && fchmod(out, mode) == 0;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return done;
}

/* Started by the setuid copy of this program. */
static void nothing_is_followed_here(void)
{
    const char *log = getenv("META_LOG_FILE");
    if (!log || !getauxval(AT_SECURE)) return;
    CHECK(getuid() != geteuid());
    check_nothing_is_followed(log);
}

static void start_as_another_user(void *argument)
{
    char *words[] = {argument, "nothing_is_followed_here", NULL};
    if (setgid(12345) != 0 || setuid(12345) != 0) return; /* there are no other users here */
    execv(argument, words);
    FAIL("%s does not start", (const char *)argument);
}

static void a_setuid_program_follows_no_variable_of_the_user_who_starts_it(void)
{
    char folder[] = "/tmp/meta-secure-XXXXXX", program[PATH_MAX], log[64], own[PATH_MAX] = "";
    struct statvfs system;
    /* Where there is no other user to start it, or no setuid, the first promise's way remains. */
    if (!CHECK(statvfs("/tmp", &system) == 0 && getauxval(AT_SECURE) == 0)) return;
    if (geteuid() != 0 || (system.f_flag & ST_NOSUID)) return;
    if (!CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0)) return;
    if (!CHECK(mkdtemp(folder) != NULL && chmod(folder, 0755) == 0)) return;
    snprintf(program, sizeof program, "%s/setuid", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    set_hostile(log);
    if (CHECK(copy_file(own, program, 04755))) CHECK_CHILD(start_as_another_user, program);
    scratch_remove(folder);
}

/* ------------------------------------------------------------------ who may have written it */

static void look_for_plain(void *argument)
{
    int count = 0, found = 0;
    setenv("META_BACKEND_PATH", argument, 1);
    unsetenv("META_MODE");
    CHECK_OK(meta_init());
    CHECK_OK(meta_backend_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_backend_desc desc = META_BACKEND_DESC_INIT;
        CHECK_OK(meta_backend_info(k, &desc));
        found += strcmp(desc.name, "plain") == 0 && desc.usable;
    }
    CHECK_OK(meta_finalize());
    if (!found) _exit(3);
}

static void check_found(const char *folder, bool found, const char *words)
{
    char text[4096] = "";
    const test_end end = test_child(look_for_plain, (void *)(uintptr_t)folder, text, sizeof text);
    CHECK_INT(end.signal, 0);
    CHECK_INT(end.status, found ? 0 : 3);
    if (words) CHECK_CONTAINS(text, words);
}

static void no_back_end_is_loaded_from_where_others_can_write(void)
{
    char folder[PATH_MAX], module[PATH_MAX + 16];
    scratch_make("plugins", folder, sizeof folder);
    snprintf(module, sizeof module, "%s/plain.so", folder);
    if (!CHECK(copy_file(test_built("tests/plugins/.libs/plain.so"), module, 0755))) return;
    test_case("nobody else");
    CHECK(chmod(folder, 0755) == 0);
    check_found(folder, true, NULL);
    test_case("this process's own group");
    CHECK(chmod(folder, 0775) == 0);
    check_found(folder, true, NULL);
    test_case("everybody, the folder");
    CHECK(chmod(folder, 0757) == 0);
    check_found(folder, false, "others can write to it (mode 757)");
    test_case("everybody, in a folder like /tmp");
    CHECK(chmod(folder, 01777) == 0);
    check_found(folder, false, "others can write to it");
    test_case("everybody, the file");
    CHECK(chmod(folder, 0755) == 0 && chmod(module, 0757) == 0);
    check_found(folder, false, "plain.so: others can write to it (mode 757)");
    if (geteuid() == 0) {
        test_case("another group");
        CHECK(chmod(module, 0755) == 0 && chmod(folder, 0775) == 0 && chown(folder, 0, 12345) == 0);
        check_found(folder, false, "others can write to it (mode 775)");
    }
    scratch_remove(folder);
}

int main(int argc, char **argv)
{
    static const test_promise promises[] = {
        PROMISE(a_process_with_more_rights_than_its_user_follows_no_variable),
        PROMISE(a_process_with_more_rights_than_its_user_starts_no_compiler),
        PROMISE(a_setuid_program_follows_no_variable_of_the_user_who_starts_it),
        PROMISE(no_back_end_is_loaded_from_where_others_can_write)};
    static const test_promise there[] = {PROMISE(nothing_is_followed_here)};
    if (argc == 2 && strcmp(argv[1], there[0].name) == 0)
        return test_run(argc, argv, NULL, there, 1);
    return test_run(argc, argv, NULL, promises, sizeof promises / sizeof *promises);
}
