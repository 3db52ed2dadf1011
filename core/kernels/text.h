/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text.h
 *  Writing the text of a kernel for a device's compiler: what text.c, which writes the whole,
 * shares with the files that write its parts. */
#ifndef META_KERNELS_TEXT_H
#define META_KERNELS_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "kernels/user.h"

/** A text that is being written. */
typedef struct meta_text {
    FILE *p;
    uint32_t form; /**< of META_USER_CHECKED and META_USER_NATIVE */
    const struct meta_kernel_state *state;
    bool renames; /**< names of the file that the device's language reserves, see text_file.c */
} meta_text;

static inline bool meta_text_is_checked(const meta_text *w)
{
    return (w->form & META_USER_CHECKED) != 0;
}

static inline bool meta_text_is_native(const meta_text *w)
{
    return (w->form & META_USER_NATIVE) != 0;
}

/** How the text reaches word @p k of the values. */
void meta_text_word(const meta_text *w, uint32_t k);

/** Whether a result is an exact sum. */
static inline bool meta_text_is_exact(const meta_text *w, const meta_kernel_parameter *p)
{
    return w->state->exact_sums > 0 && meta_parameter_is_real_sum(p);
}

/* text_file.c */
/** Whether the names in the text of that form that a device's language reserves are replaced: not
 * where the file has words that it means in such a language. */
bool meta_text_renames(const meta_kernel *kernel, uint32_t form);
/** What a name of the file begins with in the text, which it does not in the file. */
const char *meta_text_own(const meta_text *w, const char *name);
/** A type of the file's, and a blank. */
void meta_text_type(const meta_text *w, const char *type);
/** The file. */
void meta_text_file(const meta_text *w);

/** The type in which the body contributes to a result: of a sum wider, as of the built-in sums. */
static inline const char *meta_text_contribution(const meta_kernel_parameter *p)
{
    static const char *const sums[] = {
#define META_SUM_NAME(NAME, name, bytes, wide, sum) [META_##NAME] = "meta_" #sum,
        META_ARITHMETIC_TYPES(META_SUM_NAME)
#undef META_SUM_NAME
    };
    static const char *const names[] = {
#define META_CONTRIBUTION(NAME, name, bytes, wide, sum) [META_##NAME] = "meta_contributed_" #name,
        META_ARITHMETIC_TYPES(META_CONTRIBUTION)
#undef META_CONTRIBUTION
    };
    return p->kind == META_PARAMETER_SUM ? sums[p->type] : names[p->type];
}

/* text_body.c: the function that holds the body. Parameter number n of the kernel is called
 * meta_p<n> where it is called, and member m of the shared memory meta_m<m>: names of the program's
 * must not meet those of the back end's text. */
/** The words of the form, and a function's head for each kernel of the file, ahead of the file. */
void meta_text_words(const meta_text *w);
/** Variables of the caller that the call needs, once. */
void meta_text_checks(const meta_text *w);
/** An array's pointer, from the element on whose index the C expression @p index is. */
void meta_text_array(const meta_text *w, uint32_t parameter, unsigned array, const char *index);
/** The call, a statement. */
void meta_text_call(const meta_text *w);

/* text_divides.c */
/** Whether a body may access an element that is the same for all cells, by an index that it divides
 * for: LLVM must not vectorize the loop over them. */
bool meta_text_divides(const meta_kernel *kernel);

/* text_rows.c */
/** What stands before a loop over cells or members: those that add to the same elements, or share
 * what the checks write, are not independent. */
const char *meta_text_pragma(const meta_text *w);
/** The statements that run the body for every cell of a space, row by row. */
void meta_text_rows(const meta_text *w);

/* text_team.c */
/** Definitions of the kernel's extents as a team, ahead of its file; of others than teams too, as a
 *  file may have both. */
void meta_text_team_extents(const meta_text *w);
/** The statements that run the body for every team of a space. */
void meta_text_teams(const meta_text *w);

#endif
