/* SPDX-License-Identifier: BSD-3-Clause */
/** @file child.h
 *  For tests of whole processes: runs a function in a child process and reads what it wrote to
 *  standard error. The parent must not have computed with OpenMP before, because its threads do
 *  not survive a fork. */
#ifndef META_TEST_CHILD_H
#define META_TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>

/** How a child ended: exit status 0 (its checks held) or 1, or the signal that ended it. */
typedef struct test_end {
    int status; /**< of its exit, -1 where a signal ended it */
    int signal; /**< 0 where none did */
} test_end;

/** Run @p body in a child process. Its failing checks are printed there; they count here only
 * through the status. Where @p text is given, what the child writes to its standard error stream
 * goes there, cut off at @p room. */
test_end test_child(void (*body)(void *), void *argument, char *text, size_t room);

/** The checks of @p body held and no signal ended it; says which if not. */
#define CHECK_CHILD(body, argument)                                                                \
    test_check_child(test_child((body), (argument), NULL, 0), __FILE__, __LINE__, #body)
/** The same with a text. */
#define CHECK_CHILD_SAYS(body, argument, text)                                                     \
    test_check_child(test_child((body), (argument), (text), sizeof(text)), __FILE__, __LINE__,     \
                     #body)
bool test_check_child(test_end end, const char *file, int line, const char *text);

#endif
