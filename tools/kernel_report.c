/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_report.c
 *  See kernel_report.h. */
#include "config.h"

#include "kernel_report.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernel_mistake.h"
#include "meta_backend.h"

/* The compiler's messages, as lines of their own. */
static void print_messages(const char *said)
{
    const size_t length = said ? strlen(said) : 0;
    if (length > 0) printf("%s%s", said, said[length - 1] == '\n' ? "" : "\n");
}

void kernel_report_line(kernel_report *r, const char *what, const char *target, meta_err error,
                        const char *said, const char *install)
{
    if (error == META_ERR_UNSUPPORTED || error == META_ERR_TYPE) {
        kernel_report_missing(r, what, target, "%s%s%s", meta_last_error(), install ? "; " : "",
                              install ? install : "");
        return;
    }
    printf("%s, %s: %s\n", what, target, error == META_OK ? r->done : meta_last_error());
    if (error == META_OK) print_messages(said);
    else r->refused = true;
    fflush(stdout);
}

void kernel_report_mistake(kernel_report *r, const char *file, const char *target, const char *said)
{
    printf("%s, %s: does not compile (--verbose has all that the compiler says):\n", file, target);
    kernel_mistake_write(file, said, stdout);
    fflush(stdout);
    r->refused = true;
}

void kernel_report_missing(kernel_report *r, const char *what, const char *target,
                           const char *reason, ...)
{
    va_list arguments;
    va_start(arguments, reason);
    printf("%s, %s: %s: ", what, target, r->missing);
    vprintf(reason, arguments);
    putchar('\n');
    va_end(arguments);
    fflush(stdout);
    r->incomplete = true;
}

const char *kernel_report_name(const meta_kernel *kernel)
{
    static char text[128];
    snprintf(text, sizeof text, "%.100s %s", kernel->name,
             meta_element_name((uint32_t)kernel->type));
    return text;
}

kernel_outcome kernel_report_outcome(const kernel_report *r)
{
    return r->refused ? OUTCOME_REFUSED : r->incomplete ? OUTCOME_INCOMPLETE : OUTCOME_DONE;
}

kernel_outcome kernel_report_worse(kernel_outcome a, kernel_outcome b)
{
    static const int badness[] = {[OUTCOME_DONE] = 0,
                                  [OUTCOME_INCOMPLETE] = 1,
                                  [OUTCOME_REFUSED] = 2,
                                  [OUTCOME_NOT_DONE] = 3};
    return badness[a] >= badness[b] ? a : b;
}
