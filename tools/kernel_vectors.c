/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_vectors.c
 *  See kernel_vectors.h. What gcc and clang record is read into one form: the loops of a function,
 * each with its place and whether it became vectors, and the first reason that is given before a
 * loop that did not. */
#include "config.h"

#include "kernel_vectors.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ahead.h"
#include "meta_backend.h"

enum { SETS = META_KERNEL_CHECKED, REASON = 160, NAME = 256 };

/* What became of the loop over cells of a kernel, for a type and an instruction set. */
typedef struct finding {
    bool known;
    int line, column;              /* of META_CELLS; column 0: not known yet */
    int vectors, scalars;          /* versions of the loop that are vectorized, and others */
    bool has_inner, inner_vectors; /* another loop is left in the body, and is vectorized itself */
    int inner_line, branch_line;   /* 0: not in the kernel file */
    char reason[REASON];
} finding;

typedef struct report {
    const kernel_file *file;
    finding *found;      /* SETS of each kernel */
    char reason[REASON]; /* of the loop that the compiler comes to next */
} report;

/* A place in a record. */
typedef struct place {
    bool in_kernel_file;
    int line, column;
} place;

/* ------------------------------------------------------------------ what a record is about */

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Where @p what is in the line; NULL: it is not. */
static const char *in_line(const char *line, const char *what)
{
    const char *found = strstr(line, what);
    return found && found < next_line(line) ? found : NULL;
}

/* The finding of a function such as heat_rows_f64_1_12; NULL: it is no kernel's. */
static finding *finding_of(report *r, const char *function, size_t length)
{
    char name[NAME];
    for (int k = 0; k < r->file->kernels; ++k) {
        const meta_kernel *kernel = r->file->kernel[k];
        const int used = snprintf(name, sizeof name, "%s_rows_%s_", kernel->name,
                                  meta_element_name((uint32_t)kernel->type));
        int set, line;
        if (kernel->team || (size_t)used >= length || strncmp(name, function, (size_t)used) != 0 ||
            sscanf(function + used, "%d_%d", &set, &line) != 2 || set < 0 || set >= SETS)
            continue;
        finding *f = &r->found[k * SETS + set];
        f->known = true;
        f->line = line;
        return f;
    }
    return NULL;
}

static void take_reason(report *r, const place *at, const char *format, int length,
                        const char *text)
{
    char where[32] = "", words[REASON - sizeof where];
    if (*r->reason) return;
    snprintf(words, sizeof words, format, length, text);
    if (at->in_kernel_file) snprintf(where, sizeof where, " (line %d)", at->line);
    snprintf(r->reason, sizeof r->reason, "%s%s", words, where);
}

static void take_loop(report *r, finding *f, const place *at, bool vectorized)
{
    const bool is_cells =
        at->in_kernel_file && at->line == f->line && (f->column == 0 || at->column == f->column);
    if (is_cells) {
        f->column = at->column;
        f->vectors += vectorized;
        f->scalars += !vectorized;
        if (!vectorized && !*f->reason) memcpy(f->reason, r->reason, sizeof f->reason);
    } else {
        if (!f->has_inner) f->inner_line = at->in_kernel_file ? at->line : 0;
        f->has_inner = true;
        f->inner_vectors = f->inner_vectors || vectorized;
    }
    *r->reason = '\0';
}

/* ------------------------------------------------------------------ gcc's dump */

/* The place FILE:LINE:COLUMN at the line's begin. @return what follows it; NULL: there is none */
static const char *read_place(const report *r, const char *line, place *at)
{
    const char *colon = strchr(line, ':');
    while (colon && colon < next_line(line) && !isdigit((unsigned char)colon[1]))
        colon = strchr(colon + 1, ':');
    int used = 0;
    if (!colon || colon >= next_line(line) ||
        sscanf(colon, ":%d:%d%n", &at->line, &at->column, &used) != 2)
        return NULL;
    const size_t length = strlen(r->file->name);
    at->in_kernel_file =
        (size_t)(colon - line) == length && strncmp(line, r->file->name, length) == 0;
    return colon + used;
}

/* The function that a statement `x = name (…)` or `name (…)` calls. @return the length of its name,
 * 0: none */
static int called(const char *statement, const char **name)
{
    static const char builtin[] = "__builtin_";
    const char *at = in_line(statement, " = ");
    int length = 0;
    if (!at) at = in_line(statement, ": ");
    if (!at) return 0;
    at += strspn(at, " :=");
    while (isalnum((unsigned char)at[length]) || at[length] == '_') ++length;
    if (length == 0 || strncmp(at + length, " (", 2) != 0) return 0;
    const int skipped = strncmp(at, builtin, sizeof builtin - 1) == 0 ? (int)sizeof builtin - 1 : 0;
    *name = at + skipped;
    return length - skipped;
}

static const char atomic[] = "additions to an ADD array are atomic near other threads' cells";

/* What gcc means by words that it has for itself. */
static const struct {
    const char *gcc, *words;
} meanings[] = {{"control flow", "control flow in the loop"},
                {"number of iterations", "its number of iterations cannot be computed"},
                {"no vectype", "no vectors of that type"},
                {"unsupported data-type", "no vectors of that type"},
                {"dependence", "cells may depend on each other"},
                {"alias", "cells may depend on each other"},
                {"profitable", "the compiler expects no gain"},
                {"relevant stmt not supported", "no vector instruction for an operation"},
                {"clobbers memory", "a statement that the compiler cannot analyse"}};

static void read_reason(report *r, const finding *f, const place *at, const char *text)
{
    place here = *at;
    const char *name;
    const int length = called(text, &name);
    if (at->line == f->line) here.in_kernel_file = false; /* of the loop as a whole */
    if (length > 0 && strncmp(name, "__atomic_", 9) == 0) {
        take_reason(r, &here, "%.*s", REASON, atomic);
        return;
    }
    if (length > 0 && in_line(text, "clobbers memory")) {
        take_reason(r, &here, "a call of %.*s()", length, name);
        return;
    }
    if (length > 0 && in_line(text, "stmt not supported")) {
        take_reason(r, &here, "no vector instruction for %.*s()", length, name);
        return;
    }
    for (size_t k = 0; k < sizeof meanings / sizeof *meanings; ++k)
        if (in_line(text, meanings[k].gcc)) {
            take_reason(r, &here, "%.*s", REASON, meanings[k].words);
            return;
        }
    const char *words = in_line(text, "not vectorized: ");
    words = words ? words + strlen("not vectorized: ") : text;
    take_reason(r, &here, "%.*s", (int)strcspn(words, ".\n"), words);
}

static void read_gcc_line(report *r, finding *f, const char *line)
{
    place at;
    const char *rest = *line == ' ' ? in_line(line, "[") : NULL;
    if (rest && (in_line(line, "] if (") || in_line(line, "] switch ("))) {
        if (!f->branch_line && read_place(r, rest + 1, &at) && at.in_kernel_file &&
            at.line != f->line)
            f->branch_line = at.line;
        return;
    }
    rest = read_place(r, line, &at);
    if (!rest) return;
    if (strncmp(rest, ": optimized: ", 13) == 0 && in_line(rest, "loop vectorized"))
        take_loop(r, f, &at, true);
    else if (strncmp(rest, ": missed: ", 10) != 0) return;
    else if (in_line(rest, "couldn't vectorize loop")) take_loop(r, f, &at, false);
    else if (in_line(rest, "not vectorized: ") || in_line(rest, "clobbers memory"))
        read_reason(r, f, &at, rest + 10);
}

static void read_gcc(report *r, const char *record)
{
    static const char title[] = ";; Function ";
    finding *f = NULL;
    for (const char *line = record; *line; line = next_line(line)) {
        if (strncmp(line, title, sizeof title - 1) == 0) {
            const char *name = line + sizeof title - 1;
            f = finding_of(r, name, strcspn(name, " \n"));
            *r->reason = '\0';
        } else if (f) {
            read_gcc_line(r, f, line);
        }
    }
}

/* ------------------------------------------------------------------ clang's record */

/* The value behind @p key in a remark, which ends at @p end. @return its length, 0: none */
static int value_of(const char *remark, const char *end, const char *key, const char **value)
{
    const char *at = strstr(remark, key);
    if (!at || at >= end) return 0;
    at += strlen(key);
    at += strspn(at, " \n");
    const char quote = *at == '\'' || *at == '"' ? *at++ : '\0';
    *value = at;
    return quote != '\0' ? (int)(strchr(at, quote) ? strchr(at, quote) - at : 0)
                         : (int)strcspn(at, ",}\n");
}

static bool is_value(const char *remark, const char *end, const char *key, const char *wanted)
{
    const char *value;
    const int length = value_of(remark, end, key, &value);
    return (size_t)length == strlen(wanted) && strncmp(value, wanted, (size_t)length) == 0;
}

static void read_clang_place(const report *r, const char *remark, const char *end, place *at)
{
    const char *file, *value;
    const int length = value_of(remark, end, "{ File:", &file);
    const char *slash = memrchr(file, '/', (size_t)length);
    const char *base = slash ? slash + 1 : file;
    const size_t rest = (size_t)(file + length - base);
    at->in_kernel_file = rest == strlen(r->file->name) && strncmp(base, r->file->name, rest) == 0;
    at->line = value_of(remark, end, " Line:", &value) ? atoi(value) : 0;
    at->column = value_of(remark, end, " Column:", &value) ? atoi(value) : 0;
}

/* An argument of the remark that tells more than `loop not vectorized: `. */
static void read_clang_reason(report *r, const char *remark, const char *end, const place *at)
{
    static const char not [] = "loop not vectorized: ";
    const char *text;
    int length;
    while ((length = value_of(remark, end, "- String:", &text)) > 0) {
        remark = text;
        if ((size_t)length >= sizeof not -1 && strncmp(text, not, sizeof not -1) == 0) {
            text += sizeof not -1;
            length -= (int)sizeof not -1;
        }
        if (length == 0) continue;
        take_reason(r, at, "%.*s", length, text);
        return;
    }
}

static void read_clang_remark(report *r, finding *f, const char *remark, const char *end)
{
    place at;
    if (!strstr(remark, "DebugLoc:") || strstr(remark, "DebugLoc:") >= end) return;
    read_clang_place(r, remark, end, &at);
    if (is_value(remark, end, "\nName:", "Vectorized")) take_loop(r, f, &at, true);
    else if (is_value(remark, end, "\nName:", "MissedDetails")) take_loop(r, f, &at, false);
    else if (strncmp(remark, "--- !Analysis", 13) == 0 &&
             !is_value(remark, end, "\nName:", "InterleavingNotBeneficial"))
        read_clang_reason(r, remark, end, &at);
}

static void read_clang(report *r, const char *record)
{
    const char *end, *function;
    finding *last = NULL;
    for (const char *remark = strstr(record, "--- !"); remark; remark = strstr(end, "--- !")) {
        end = strstr(remark, "\n...");
        if (!end) return;
        const int length = value_of(remark, end, "\nFunction:", &function);
        finding *f = length > 0 ? finding_of(r, function, (size_t)length) : NULL;
        if (f != last) *r->reason = '\0';
        last = f;
        if (f) read_clang_remark(r, f, remark, end);
    }
    /* Of a kernel without a remark no loop is left. */
    for (int k = 0; k < r->file->kernels * SETS; ++k) r->found[k].known = true;
}

/* ------------------------------------------------------------------ the lines */

#ifdef __aarch64__
static const char *const sets[] = {"the target", "SVE"};
#else
static const char *const sets[] = {"the target", "AVX2", "AVX-512"};
#endif
enum { HERE = sizeof sets / sizeof *sets };

static void put_reason(const finding *f, char *text, size_t room)
{
    const char *instead = f->inner_vectors ? ", which is vectorized instead" : "";
    if (f->has_inner && f->inner_line == 0) snprintf(text, room, "%s", atomic);
    else if (f->has_inner)
        snprintf(text, room, "a loop in the body (line %d)%s", f->inner_line, instead);
    else if (strstr(f->reason, "control flow") && f->branch_line && !strstr(f->reason, "(line "))
        snprintf(text, room, "%s (line %d)", f->reason, f->branch_line);
    else snprintf(text, room, "%s", *f->reason ? f->reason : "the compiler does not say why");
}

/* A finding in words: what is said of a loop, and behind the sets why. */
typedef struct sentence {
    char what[64], why[2 * REASON];
} sentence;

static sentence sentence_of(const finding *f)
{
    sentence s = {"vectorized", ""};
    const bool no_loop = f->vectors + f->scalars == 0 && !f->has_inner;
    if (no_loop) strcpy(s.what, "no loop is left (memset or memcpy)");
    else if (f->vectors == 0) strcpy(s.what, "not vectorized");
    else if (f->scalars > 0) strcpy(s.what, "vectorized in part");
    if (!no_loop && (f->vectors == 0 || f->scalars > 0)) {
        strcpy(s.why, ": ");
        put_reason(f, s.why + 2, sizeof s.why - 2);
    }
    return s;
}

static bool are_equal(const finding *a, const finding *b)
{
    if (!a->known || !b->known) return a->known == b->known;
    const sentence first = sentence_of(a), second = sentence_of(b);
    return strcmp(first.what, second.what) == 0 && strcmp(first.why, second.why) == 0;
}

/* The lines on a kernel for types with equal findings: one for each group of sets. */
static void print_sets(const char *name, const char *types, const finding *found)
{
    bool said[HERE] = {false};
    for (int s = 0; s < HERE; ++s) {
        if (said[s] || !found[s].known) continue;
        const sentence words = sentence_of(&found[s]);
        printf("%s %s: %s for ", name, types, words.what);
        for (int other = s; other < HERE; ++other) {
            if (said[other] || !are_equal(&found[s], &found[other])) continue;
            printf("%s%s", other == s ? "" : ", ", sets[other]);
            said[other] = true;
        }
        printf("%s\n", words.why);
    }
}

static bool have_equal_findings(const report *r, int a, int b)
{
    for (int s = 0; s < HERE; ++s)
        if (!are_equal(&r->found[a * SETS + s], &r->found[b * SETS + s])) return false;
    return true;
}

static bool is_same_kernel(const report *r, int a, int b)
{
    return !r->file->kernel[a]->team &&
           strcmp(r->file->kernel[a]->name, r->file->kernel[b]->name) == 0;
}

/* The lines on kernel @p k, and on its other types with the same findings, which are marked in @p
 * said. */
static void print_types(const report *r, int k, bool *said)
{
    char types[64] = "";
    for (int other = k; other < r->file->kernels; ++other) {
        const size_t used = strlen(types);
        if (said[other] || !is_same_kernel(r, k, other) || !have_equal_findings(r, k, other))
            continue;
        said[other] = true;
        snprintf(types + used, sizeof types - used, "%s%s", used ? ", " : "",
                 meta_element_name((uint32_t)r->file->kernel[other]->type));
    }
    print_sets(r->file->kernel[k]->name, types, &r->found[k * SETS]);
}

static void print_lines(const report *r)
{
    const int count = r->file->kernels;
    bool *said = calloc((size_t)count + 1, sizeof *said);
    for (int k = 0; k < count && said; ++k)
        for (int type = k; type < count; ++type)
            if (is_same_kernel(r, k, type) && !said[type]) print_types(r, type, said);
    free(said);
}

void kernel_vectors_print(const kernel_file *file)
{
    meta_record_kind kind;
    char *record;
    report r = {.file = file};
    const meta_err error = meta_ahead_table.record(file->name, file->text, &kind, &record);
    if (error != META_OK) {
        printf("%s: no report on vectors: %s\n", file->name, meta_last_error());
    } else {
        r.found = calloc((size_t)file->kernels * SETS + 1, sizeof *r.found);
        if (r.found && kind == META_RECORD_GCC) read_gcc(&r, record);
        else if (r.found) read_clang(&r, record);
        if (r.found) print_lines(&r);
        free(r.found);
    }
    free(record);
    fflush(stdout);
}
