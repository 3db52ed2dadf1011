/* SPDX-License-Identifier: BSD-3-Clause */
/** @file team.c
 *  Kernels of teams: whether their extents and the memory that members share are possible, and
 * whether the body keeps the rules that no compiler knows. A member that leaves a phase by `return`
 * would let the others of its team wait at the next barrier for ever; a contribution to a result
 * outside phases would count once for each work item. */
#include "kernels/kernels.h"
#include "kernels/words.h"

/* ------------------------------------------------------------------ the body */

/* Read up to the first word of the body, which is behind META_TEAMS(name, …) {. */
static bool find_body(meta_words *r, const char *name)
{
    for (meta_words_next(r); r->length > 0; meta_words_next(r)) {
        if (!meta_words_is(r, "META_TEAMS")) continue;
        meta_words_next(r);
        if (!meta_words_is(r, "(")) continue;
        meta_words_next(r);
        if (!meta_words_is(r, name)) continue;
        while (r->length > 0 && !meta_words_is(r, "{")) meta_words_next(r);
        return r->length > 0;
    }
    return false;
}

static bool is_one_of(const meta_words *r, const char *const *words)
{
    for (; *words; ++words)
        if (meta_words_is(r, *words)) return true;
    return false;
}

static meta_err refuse(const meta_kernel *k, const meta_words *r, const char *why)
{
    return meta_fail(META_ERR_ARGUMENT, "kernel %s, %s:%d: %.*s %s", k->name, k->file, r->word_line,
                     (int)r->length, r->word, why);
}

static meta_err check_body(const meta_kernel *k)
{
    static const char *const leave[] = {"return", "goto", NULL};
    static const char *const contribute[] = {"ADD", "LOWER", "RAISE", "ADD_TO", NULL};
    meta_words r = {.at = k->text, .line = 1};
    int depth = 1, phase = 0; /* the depth of the braces of MEMBERS { }; 0 outside */
    if (!find_body(&r, k->name)) return META_OK;
    for (meta_words_next(&r); r.length > 0 && depth > 0; meta_words_next(&r)) {
        if (meta_words_is(&r, "{")) ++depth;
        else if (meta_words_is(&r, "}")) {
            if (depth-- == phase) phase = 0;
        } else if (meta_words_is(&r, "MEMBERS")) {
            if (phase)
                return refuse(k, &r, "begins within another phase: phases follow each other");
            const meta_words before = r;
            meta_words_next(&r);
            if (!meta_words_is(&r, "{")) return refuse(k, &before, "is not followed by {");
            phase = ++depth;
        } else if (phase && is_one_of(&r, leave)) {
            return refuse(k, &r,
                          "in a phase: the other members would wait for ever; `continue` ends a "
                          "member's part in the phase");
        } else if (!phase && is_one_of(&r, contribute)) {
            return refuse(k, &r,
                          "outside MEMBERS { }: work items of a GPU would do it each, a CPU once; "
                          "let one member do it, as in MEMBERS { if (MY(0) == 0) … }");
        }
    }
    return META_OK;
}

/* ------------------------------------------------------------------ extents and memory */

static meta_err check_memory(const meta_kernel *k)
{
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < k->team->shareds; ++n) {
        const meta_kernel_shared *s = &k->team->shared[n];
        if (s->count == 0 || s->bytes == 0)
            return meta_fail(META_ERR_ARGUMENT, "kernel %s: shared memory %s has no element",
                             k->name, s->name);
        bytes += (uint64_t)s->bytes * s->count;
    }
    if (bytes > META_KERNEL_SHARED_BYTES)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: the members of a team share %llu bytes, but at most %d are "
                         "possible",
                         k->name, (unsigned long long)bytes, META_KERNEL_SHARED_BYTES);
    return META_OK;
}

meta_err meta_team_check(const meta_kernel *k)
{
    uint64_t members = 1;
    for (int d = 0; d < META_KERNEL_TEAM_DIMS; ++d) {
        const uint32_t extent = k->team->extent[d];
        if (extent == 0 || extent > META_KERNEL_MEMBERS)
            return meta_fail(
                META_ERR_ARGUMENT,
                "kernel %s: the extent of a team along dimension %d is %u, but 1 to %d "
                "are possible",
                k->name, d, (unsigned)extent, META_KERNEL_MEMBERS);
        members *= extent;
    }
    if (members > META_KERNEL_MEMBERS)
        return meta_fail(META_ERR_ARGUMENT,
                         "kernel %s: a team has %llu members, but at most %d are possible", k->name,
                         (unsigned long long)members, META_KERNEL_MEMBERS);
    META_TRY(check_memory(k));
    return k->text ? check_body(k) : META_OK;
}
