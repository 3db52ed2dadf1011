/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_team_errors.c
 *  Misuse of teams: a body that breaks the rules of phases, teams that are too large, and what
 *  META_CHECK finds in them. The kernels are texts, since a program's compiler may refuse them too.
 */
/* TEST: backends=all labels=core */
/* TEST: backends=all auto=yes labels=core with=CHECK=1 */
#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 600 };
static const meta_box box = {1, {CELLS}, {0}, {CELLS}};
static float *in, *out;
static meta_mode mode;

static void begin(int *argc, char ***argv)
{
    void *ptr = NULL;
    float numbers[CELLS];
    test_device.start(argc, argv);
    CHECK_OK(meta_get_acc(NULL, &mode));
    for (int n = 0; n < CELLS; ++n) numbers[n] = (float)n;
    for (int k = 0; k < 2; ++k) {
        CHECK_OK(meta_alloc(&ptr, sizeof numbers));
        *(k ? &out : &in) = ptr;
        CHECK_OK(meta_copy_h2d(ptr, numbers, sizeof numbers, NULL));
    }
}

static int finish(int status)
{
    if (status == 77 || !in) return status;
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(out));
    return test_device.end(status);
}

static const test_setting setting = {.start = begin, .end = finish};

/* ------------------------------------------------------------------ texts */

/* Compile a kernel named @p name, whose body begins in line 5; NULL after a failed check. */
static meta_kernel *kernel_of(const char *name, const char *extents, const char *shared,
                              const char *body)
{
    char text[4096], file[64];
    meta_kernel *kernel = NULL;
    snprintf(file, sizeof file, "%s.kernel.h", name);
    snprintf(text, sizeof text,
             "#define META_KERNEL_TYPES META_KERNEL_F32\n"
             "#include <meta_kernel.h>\n"
             "#define %s_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(VALUE, int32_t, which) %s\n"
             "META_TEAMS(%s, %s)\n"
             "%s\n"
             "#include META_AGAIN\n",
             name, shared, name, extents, body);
    if (!CHECK_OK(meta_kernel_compile(&kernel, name, META_F32, file, text))) return NULL;
    return kernel;
}

static meta_err run(meta_kernel *kernel, int32_t which)
{
    const void *arguments[] = {out, in, &which, NULL};
    return meta_kernel_run(kernel, &box, arguments, NULL);
}

/* @p reads: whether each element of `out` is @p factor times that of `in`. */
static void check_multiples(float factor)
{
    float found[CELLS], expected[CELLS];
    for (int n = 0; n < CELLS; ++n) expected[n] = factor * (float)n;
    CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_F32);
}

/* ------------------------------------------------------------------ the body's rules */

static void refused(const char *name, const char *body, const char *where, const char *why)
{
    meta_kernel *kernel = kernel_of(name, "32, 1, 1", "A(SHARED, T, tile, 32)", body);
    test_case("%s", name);
    if (!kernel) return;
    CHECK_ERR_NAMES(meta_kernel_prepare(kernel), META_ERR_ARGUMENT, where);
    CHECK_CONTAINS(meta_last_error(), why);
    CHECK_CONTAINS(meta_last_error(), name);
    CHECK_ERR_NAMES(run(kernel, 0), META_ERR_ARGUMENT, where);
}

static void what_would_let_other_members_wait_is_refused(void)
{
    refused("leaves",
            "{\n    MEMBERS {\n        ON(out) = ON(in);\n        if (MY(0) > 3) return;\n    }\n}",
            "leaves.kernel.h:8: return", "`continue` ends");
    refused("jumps",
            "{\n    MEMBERS { ON(out) = 0; }\n    if (which)\n    MEMBERS {\n"
            "        while (ON(in) > 0) { if (ON(in) > 1) goto end; break; }\n    }\nend:\n    "
            "return;\n}",
            "jumps.kernel.h:9: goto", "other members");
    refused("nested",
            "{\n    MEMBERS {\n        ON(out) = 0;\n        MEMBERS { ON(out) = 1; }\n    }\n}",
            "nested.kernel.h:8: MEMBERS", "another phase");
    refused("bare", "{\n    MEMBERS ON(out) = ON(in);\n}", "bare.kernel.h:6: MEMBERS",
            "not followed by {");
}

/* As a CPU would count once what every work item counts. */
static void contributions_outside_phases_are_refused(void)
{
    meta_kernel *kernel;
    char text[1024];
    static const char *const each[] = {"ADD_TO(GET(hits, 0), 1)", "ADD(sum, 1)", "LOWER(low, 1)",
                                       "RAISE(high, 1)"};
    for (int k = 0; k < 4; ++k) {
        snprintf(text, sizeof text,
                 "#define META_KERNEL_TYPES META_KERNEL_F32\n#include <meta_kernel.h>\n"
                 "#define once_ARGS(A) A(OUT, T, out) A(ADD, int32_t, hits, WHOLE) A(SUM, T, sum) "
                 "A(MIN, T, low) A(MAX, T, high)\n"
                 "META_TEAMS(once, 8, 1, 1) {\n    MEMBERS { ON(out) = 1; ADD(sum, 1); }\n"
                 "    %s;\n}\n#include META_AGAIN\n",
                 each[k]);
        test_case("%s", each[k]);
        if (k > 0) { /* the compiler finds no member's cell */
            CHECK_ERR_NAMES(meta_kernel_compile(&kernel, "once", META_F32, "once.kernel.h", text),
                            META_ERR_ARGUMENT, "does not compile");
            continue;
        }
        if (!CHECK_OK(meta_kernel_compile(&kernel, "once", META_F32, "once.kernel.h", text)))
            return;
        CHECK_ERR_NAMES(meta_kernel_prepare(kernel), META_ERR_ARGUMENT, "once.kernel.h:6: ");
        CHECK_CONTAINS(meta_last_error(), "outside MEMBERS");
    }
}

/* Words in comments, strings and macros, helpers that return, and `return` between phases. */
static void what_only_looks_like_a_mistake_is_accepted(void)
{
    meta_kernel *kernel =
        kernel_of("sound", "32, 1, 1", "A(SHARED, T, tile, 32)",
                  "{ /* return, ADD( and MEMBERS in a comment */\n"
                  "    // MEMBERS return\n"
                  "    /*/ return, in a comment that begins like one that ends */\n"
                  "    const char *text = \"} return MEMBERS {\"; const char quote = '}';\n"
                  "    (void)text; (void)quote;\n"
                  "#define LATER(x) \\\n    MEMBERS x return\n"
                  "    MEMBERS /* a phase */\n"
                  "    { { SHARED(tile, MY(0)) = ON(in); } }\n"
                  "    MEMBERS { ON(out) = which * SHARED(tile, MY(0)); if (which == 2) continue; "
                  "ON(out) += 0; }\n"
                  "    if (which == 2) return;\n"
                  "    MEMBERS { ON(out) = 3 * ON(out); }\n"
                  "#undef LATER\n"
                  "}\n");
    if (!kernel) return;
    if (mode == META_OPENMP) { /* OpenCL C has no pointers to such strings */
        CHECK_OK(run(kernel, 2));
        check_multiples(2);
        CHECK_OK(run(kernel, 1));
        check_multiples(3);
    }
    kernel = kernel_of("leaving", "32, 1, 1", "A(SHARED, T, tile, 32)",
                       "{\n    MEMBERS { ON(out) = 5 * ON(in); }\n    if (which > 1) return;\n"
                       "    MEMBERS { ON(out) = 7 * ON(in); }\n}");
    if (!kernel) return;
    CHECK_OK(run(kernel, 2));
    check_multiples(5);
    CHECK_OK(run(kernel, 1));
    check_multiples(7);
}

/* Every branch of an #if is judged as if it alone were there. */
static void each_branch_of_an_if_is_judged(void)
{
    meta_kernel *kernel =
        kernel_of("branches", "32, 1, 1", "A(SHARED, T, tile, 32)",
                  "{\n#define ODD \"/*\" // it's /* no comment\n"
                  "#ifdef NOT_THERE /* { */ // {\n    if (which > 1) {\n        MEMBERS {\n"
                  "#elif 0\n            MEMBERS { return; }\n"
                  "#else\n    {\n        MEMBERS {\n#endif\n"
                  "            ON(out) = 2 * ON(in);\n        }\n    }\n"
                  "#if 0 // not yet\n    MEMBERS { return; } }\n#  if 1\n    }\n#  endif\n#endif\n"
                  "#if 1\n    MEMBERS { ON(out) *= 3; }\n#else\n    } MEMBERS goto\n#endif\n"
                  "    // a comment that goes on \\\n    return; MEMBERS return\n"
                  "#if defined NOT_THERE\n    MEMBERS { ON(out) = 5; } }\n"
                  "#else\n    MEMBERS { ON(out) *= 2; }\n}\n#endif\n");
    if (!kernel || !CHECK_OK(run(kernel, 0))) return;
    check_multiples(12);
    refused(
        "closes",
        "{\n    MEMBERS {\n#ifdef NOT_THERE\n        ON(out) = 1; }\n#else\n        ON(out) = 0; "
        "}\n#endif\n    MEMBERS { if (ON(in) > 3) return; }\n}",
        "closes.kernel.h:12: return", "other members");
    refused(
        "elsewhere",
        "{\n    MEMBERS { ON(out) = 0; }\n#ifdef NOT_THERE\n    MEMBERS {\n        return;\n    "
        "}\n#endif\n}",
        "elsewhere.kernel.h:9: return", "other members");
    refused("uneven",
            "{\n#ifndef NOT_THERE\n    MEMBERS {\n#endif\n    ON(out) = 0;\n#ifndef NOT_THERE\n    "
            "}\n#endif\n}",
            "uneven.kernel.h:6: ", "branches of this #if");
    refused("either",
            "{\n#ifndef NOT_THERE\n    MEMBERS {\n#else\n    {\n#endif\n    ON(out) = 0;\n    }\n}",
            "either.kernel.h:6: ", "branches of this #if");
    /* A kernel with two heads, or two bodies, of which one is compiled. */
    kernel =
        kernel_of("heads", "32, 1, 1)\n#ifdef NOT_THERE\n{\n#else\n{\n#endif\nMEMBERS {}\n(void)(0",
                  "A(SHARED, T, tile, 32)", "; MEMBERS { ON(out) = ON(in); } }");
    if (kernel && CHECK_OK(run(kernel, 0))) check_multiples(1);
    refused("bodies",
            "{ MEMBERS { ON(out) = 0; } }\n#ifdef NOT_THERE\nMETA_TEAMS(bodies, 32, 1, 1)\n{\n    "
            "MEMBERS { goto end; }\n}\n#endif",
            "bodies.kernel.h:9: goto", "other members");
}

/* What each member leaves by `break` or `continue` is its own part alone. */
static void a_member_ends_its_part_by_continue(void)
{
    meta_kernel *kernel = kernel_of(
        "parts", "32, 1, 1", "A(SHARED, T, tile, 32)",
        "{\n    MEMBERS { SHARED(tile, MY(0)) = 0; if (which == 0) break; ON(out) = ON(in);\n"
        "        if (MY(0) % 3 == 0) continue; if (MY(0) % 5 == 0) break; SHARED(tile, MY(0)) = 1; "
        "}\n"
        "    MEMBERS { if (SHARED(tile, MY(0)) == 0) continue; ON(out) = 2 * ON(in); }\n}");
    float found[CELLS], expected[CELLS];
    if (!kernel || !CHECK_OK(run(kernel, 1))) return;
    for (int n = 0; n < CELLS; ++n)
        expected[n] = (float)(n % 32 % 3 == 0 || n % 32 % 5 == 0 ? n : 2 * n);
    CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_F32);
}

/* ------------------------------------------------------------------ size */

static const char copying[] = "{\n    MEMBERS { SHARED(tile, MY(0)) = ON(in); }\n"
                              "    MEMBERS { ON(out) = SHARED(tile, MY(0)) * which; }\n}";

/* It runs, or the error has both numbers. */
static void runs_or_is_too_large(const char *name, const char *extents, const char *shared,
                                 const char *number, const char *what)
{
    char list[128];
    snprintf(list, sizeof list, "A(SHARED, T, tile, %s)", shared);
    meta_kernel *kernel = kernel_of(name, extents, list, copying);
    if (!kernel) return;
    const meta_err error = run(kernel, 4);
    if (error == META_OK) {
        check_multiples(4);
        return;
    }
    CHECK(mode != META_OPENMP);
    CHECK_INT(error, META_ERR_UNSUPPORTED);
    CHECK_CONTAINS(meta_last_error(), number);
    CHECK_CONTAINS(meta_last_error(), what);
    CHECK_CONTAINS(meta_last_error(), name);
}

static void a_team_that_is_too_large_for_the_device_is_refused_with_both_numbers(void)
{
    runs_or_is_too_large("crowd", "65536, 1, 1", "1024", "65536 members", "at most ");
    runs_or_is_too_large("hoard", "64, 1, 1", "16384", "65536 bytes", " has ");
    runs_or_is_too_large("thousand", "1000, 1, 1", "1000", "1000 members", "at most ");
}

static void impossible_teams_are_refused_on_every_device(void)
{
    meta_kernel *kernel = kernel_of("tall", "4, 1, 1", "A(SHARED, T, tile, 4)", copying);
    if (!kernel) return;
    meta_kernel_team team = *kernel->team;
    meta_kernel wrong = *kernel;
    wrong.team = &team;
    wrong.state = NULL;
    team.extent[1] = 0;
    CHECK_ERR_NAMES(run(&wrong, 1), META_ERR_ARGUMENT, "dimension 1 is 0");
    team.extent[1] = 65536;
    CHECK_ERR_NAMES(run(&wrong, 1), META_ERR_ARGUMENT, "262144 members");
    team.extent[1] = 1;
    meta_kernel_shared shared = team.shared[0];
    team.shared = &shared;
    shared.count = 0;
    CHECK_ERR_NAMES(run(&wrong, 1), META_ERR_ARGUMENT, "tile has no element");
    shared.count = 16385;
    CHECK_ERR_NAMES(run(&wrong, 1), META_ERR_ARGUMENT, "65540 bytes");
}

/* ------------------------------------------------------------------ META_CHECK */

static bool is_checked(void)
{
    const char *check = getenv("META_CHECK");
    return check && (strcmp(check, "1") == 0 || strcmp(check, "on") == 0);
}

static void meta_check_finds_what_a_team_does_out_of_bounds(void)
{
    meta_kernel *kernel;
    if (!is_checked()) {
        CHECK(true);
        return;
    }
    kernel = kernel_of("skips", "32, 1, 1", "A(SHARED, T, tile, 32)",
                       "{\n    MEMBERS { if (INDEX(0) >= which) ON(out) = ON(in); }\n}");
    if (!kernel) return;
    CHECK_OK(run(kernel, 0));
    CHECK_ERR_NAMES(run(kernel, 3), META_ERR_ARGUMENT, "every cell");
    kernel = kernel_of("strays", "32, 1, 1", "A(SHARED, T, tile, 32)",
                       "{\n    MEMBERS { ON(out) = 1; }\n"
                       "    MEMBERS { ON(out) = MY(0) == 3 ? AT1(in, which) : 0; }\n}");
    if (!kernel) return;
    CHECK_OK(run(kernel, 0));
    CHECK_ERR_NAMES(run(kernel, 2), META_ERR_BOUNDS,
                    "strays.kernel.h:7: AT() of 'in' at (2, 0, 0, 0)");
    kernel =
        kernel_of("spills", "32, 1, 1", "A(SHARED, T, tile, 31) A(SHARED, int32_t, other, 32)",
                  "{\n    MEMBERS { SHARED(other, MY(0)) = 1; }\n"
                  "    MEMBERS { if (MY(0) < which) SHARED(tile, MY(0)) = 1; ON(out) = 1; }\n}");
    if (!kernel) return;
    CHECK_OK(run(kernel, 31));
    CHECK_ERR_NAMES(run(kernel, 32), META_ERR_BOUNDS,
                    "spills.kernel.h:7: SHARED() of 'tile', element 31 of 31");
    /* What a team has not written is a NaN. */
    kernel = kernel_of(
        "unset", "32, 1, 1", "A(SHARED, T, tile, 32)",
        "{\n    MEMBERS { ON(out) = SHARED(tile, MY(0)) == SHARED(tile, MY(0)) ? 1 : 0; }\n}");
    if (!kernel) return;
    CHECK_OK(run(kernel, 0));
    check_multiples(0);
}

TEST_MAIN_WITH(&setting, PROMISE(what_would_let_other_members_wait_is_refused),
               PROMISE(contributions_outside_phases_are_refused),
               PROMISE(what_only_looks_like_a_mistake_is_accepted),
               PROMISE(each_branch_of_an_if_is_judged), PROMISE(a_member_ends_its_part_by_continue),
               PROMISE(a_team_that_is_too_large_for_the_device_is_refused_with_both_numbers),
               PROMISE(impossible_teams_are_refused_on_every_device),
               PROMISE(meta_check_finds_what_a_team_does_out_of_bounds))
