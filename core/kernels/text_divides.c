/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text_divides.c
 *  Finds the kernels whose loop the vectorizer of LLVM 16 and later may compile wrongly.
 *
 *  An example is `if (INDEX(0) % 3 == 1) x = GET(table, a / b);` with unsigned a and b. LLVM cannot
 * divide ahead of the loop, as b may be 0, so it divides in each lane whose condition holds. But
 * the address is the same in all lanes, and it computes that from the quotient of lane 0 alone. If
 * lane 0 did not divide, the others read or write at an undefined address. Seen with LLVM 17 to 20
 * and 22, not with 14 and 15, and only with unsigned divisions, which cannot be recognized in the
 * text. */
#include "kernels/text.h"
#include "kernels/words.h"

/* Whether what follows the operator is a number. */
static bool is_by_number(const meta_words *operator)
{
    meta_words next = *operator;
    meta_words_next_everywhere(&next);
    if (meta_words_is(&next, "=")) meta_words_next_everywhere(&next);
    return next.length > 0 && (*next.word == '.' || (*next.word >= '0' && *next.word <= '9'));
}

/* An element that an index of the same value in all cells names for all of them. */
static bool has_common_elements(const meta_kernel *kernel, bool has_arrays_of_its_own)
{
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (meta_parameter_is_array(p) && p->kind != META_PARAMETER_SCALAR &&
            (p->reach == META_PARAMETER_WHOLE || (p->dropped & 1)))
            return true;
    }
    return kernel->team || has_arrays_of_its_own;
}

bool meta_text_divides(const meta_kernel *kernel)
{
    bool divides = false, has_arrays = false;
    meta_words w = {.at = kernel->text, .line = 1};
    for (meta_words_next_everywhere(&w); w.length > 0; meta_words_next_everywhere(&w)) {
        if (w.is_directive && meta_words_is(&w, "include")) meta_words_next(&w);
        divides |= (*w.word == '/' || *w.word == '%') && !is_by_number(&w);
        has_arrays |= *w.word == '[';
    }
    return divides && has_common_elements(kernel, has_arrays);
}
