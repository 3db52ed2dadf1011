/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_tree.h
 *  Syntax trees of random kernels, printed in two ways from one tree: in the kernel language, and
 * as the plain C of an oracle, which knows no macro of that language. */
#ifndef META_RANDOM_TREE_H
#define META_RANDOM_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** The types of expressions: the element types in the order of meta_type, and T. */
typedef enum kind { F64, F32, I64, U64, I32, U32, T, KINDS } kind;
/** How a type is spelled, and what ends the names that belong to it. */
extern const char *const spelling[KINDS], *const suffix[KINDS];

/** What an operation may be on T. Where T stands for integers and floating types alike it is
 * NUMBER: a whole number that all of them hold. */
typedef enum family { FLOATING, SIGNED, UNSIGNED, NUMBER } family;

enum { MOST_CHILDREN = 8 };

/** In a form, $0 … $7 are children, $T the element type, $S its suffix. */
typedef struct node {
    const char *form[2]; /**< KERNEL and ORACLE */
    const struct node *child[MOST_CHILDREN];
} node;
enum { KERNEL, ORACLE };

/** Text that lives until tree_reset(), and a node of the same form in both languages, or of two;
 *  children follow, up to NULL. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
const node *same(const char *form, ...) __attribute__((sentinel));
const node *differ(const char *kernel, const char *oracle, ...) __attribute__((sentinel));
/** Statements one after the other; NULL is none. */
const node *follow(const node *first, const node *second);
void tree_reset(void);

/** Whether two trees print the same. */
bool is_same(const node *a, const node *b);
/** Print with lines indented by their braces; @p type is what T stands for in an oracle. */
void print(FILE *to, const node *n, int language, kind type);

/* Random numbers: splitmix64. */
void random_from(uint64_t seed, uint64_t number);
uint64_t random_bits(void);
/** From low to high, both included. */
int64_t between(int64_t low, int64_t high);
/** True once in @p n times. */
bool once_in(int n);

#endif
