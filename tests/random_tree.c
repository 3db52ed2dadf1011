/* SPDX-License-Identifier: BSD-3-Clause */
/** @file random_tree.c
 *  Nodes, and printing them; see random_tree.h. */
#include "random_tree.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const spelling[KINDS] = {"double",  "float",    "int64_t", "uint64_t",
                                     "int32_t", "uint32_t", "T"};
const char *const suffix[KINDS] = {"f64", "f32", "i64", "u64", "i32", "u32", "T"};

/* ------------------------------------------------------------------ memory */

/* Ahead of the memory of a piece, which is aligned for any type. */
typedef struct piece {
    _Alignas(max_align_t) struct piece *next;
} piece;
static piece *pieces;

static void *room_for(size_t bytes)
{
    piece *p = malloc(sizeof *p + bytes);
    if (!p) {
        fputs("no memory for the syntax tree\n", stderr);
        exit(2);
    }
    p->next = pieces;
    pieces = p;
    return p + 1;
}

void tree_reset(void)
{
    for (piece *p = pieces, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    pieces = NULL;
}

/* ------------------------------------------------------------------ nodes */

const char *text(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    char *all = room_for((size_t)length + 1);
    vsnprintf(all, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return all;
}

static const node *made(const char *kernel, const char *oracle, va_list children)
{
    node *n = room_for(sizeof *n);
    memset(n, 0, sizeof *n);
    n->form[KERNEL] = kernel;
    n->form[ORACLE] = oracle;
    for (int k = 0; k < MOST_CHILDREN; ++k)
        if (!(n->child[k] = va_arg(children, const node *))) break;
    return n;
}

const node *same(const char *form, ...)
{
    va_list children;
    va_start(children, form);
    const node *n = made(form, form, children);
    va_end(children);
    return n;
}

const node *differ(const char *kernel, const char *oracle, ...)
{
    va_list children;
    va_start(children, oracle);
    const node *n = made(kernel, oracle, children);
    va_end(children);
    return n;
}

const node *follow(const node *first, const node *second)
{
    if (!first) return second;
    return second ? same("$0$1", first, second, NULL) : first;
}

bool is_same(const node *a, const node *b)
{
    if (a == b) return true;
    if (!a || !b || strcmp(a->form[KERNEL], b->form[KERNEL]) != 0) return false;
    for (int k = 0; k < MOST_CHILDREN && (a->child[k] || b->child[k]); ++k)
        if (!is_same(a->child[k], b->child[k])) return false;
    return true;
}

/* ------------------------------------------------------------------ printing */

/* Where printing is: at the beginning of a line, and within how many braces. */
static int depth;
static bool at_start;

static void put(FILE *to, char c)
{
    if (c == '\n') {
        fputc(c, to);
        at_start = true;
        return;
    }
    if (c == '}') --depth;
    if (at_start && c != '#')
        for (int k = 0; k < depth; ++k) fputs("    ", to);
    at_start = false;
    if (c == '{') ++depth;
    fputc(c, to);
}

static void print_in(FILE *to, const node *n, int language, kind type)
{
    for (const char *c = n->form[language]; *c; ++c) {
        if (*c != '$') {
            put(to, *c);
            continue;
        }
        ++c;
        if (*c == 'T' || *c == 'S') {
            const char *word = *c == 'S' ? suffix[type] : language == KERNEL ? "T" : spelling[type];
            while (*word) put(to, *word++);
        } else {
            print_in(to, n->child[*c - '0'], language, type);
        }
    }
}

void print(FILE *to, const node *n, int language, kind type)
{
    depth = 0;
    at_start = true;
    if (n) print_in(to, n, language, type);
}

/* ------------------------------------------------------------------ random numbers */

static uint64_t state;

uint64_t random_bits(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void random_from(uint64_t seed, uint64_t number)
{
    state = seed;
    state = random_bits() + number;
    state = random_bits();
}

int64_t between(int64_t low, int64_t high)
{
    return low + (int64_t)(random_bits() % ((uint64_t)(high - low) + 1));
}

bool once_in(int n)
{
    return between(1, n) == 1;
}
