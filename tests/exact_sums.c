/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact_sums.c
 *  Exact sums of doubles, computed bit by bit, and arrays that are hard to sum. */
#include "config.h"

#include "exact_sums.h"

#include <math.h>
#include <string.h>

enum { BITS = sizeof((exact *)NULL)->bit / sizeof(int64_t), ZERO = 1074 };

void exact_add(exact *sum, double x)
{
    int exponent;
    if (isnan(x)) sum->nan = true;
    else if (isinf(x)) *(x > 0 ? &sum->plus : &sum->minus) = true;
    if (!isfinite(x) || x == 0) return;
    double rest = fabs(frexp(x, &exponent));
    for (int k = exponent + ZERO - 1; rest > 0; --k) {
        rest *= 2;
        if (rest < 1) continue;
        rest -= 1;
        sum->bit[k] += x > 0 ? 1 : -1;
    }
}

double exact_at(const void *array, int64_t at, meta_type type)
{
    return type == META_F64 ? ((const double *)array)[at] : (double)((const float *)array)[at];
}

void exact_add_box(exact *sum, const void *a, const void *b, const meta_box *box, meta_type type)
{
    for (int64_t n = 0; n < case_box_cells(box); ++n) {
        const int64_t at = case_box_index(box, n);
        volatile double x = exact_at(a, at, type);
        if (b) x *= exact_at(b, at, type);
        exact_add(sum, x);
    }
}

/* Binary digits of the magnitude, and its sign. */
static int digits(const exact *sum, char *digit)
{
    int64_t carry = 0;
    int sign = 1;
    for (int pass = 0; pass < 2; ++pass) {
        carry = 0;
        for (int k = 0; k < BITS; ++k) {
            const int64_t whole = sign * sum->bit[k] + carry;
            digit[k] = (char)(whole & 1);
            carry = (whole - digit[k]) / 2;
        }
        if (carry >= 0) break;
        sign = -1;
    }
    return sign;
}

uint64_t exact_round(const exact *sum, meta_type type)
{
    char digit[BITS];
    const int sign = digits(sum, digit), width = type == META_F64 ? 53 : 24;
    const int least = type == META_F64 ? 0 : ZERO - 149;
    int top = BITS - 1, low;
    double x = 0;
    while (top >= 0 && !digit[top]) --top;
    low = top - width + 1 > least ? top - width + 1 : least;
    for (int k = top; k >= low; --k) x = 2 * x + digit[k];
    bool more = false;
    for (int k = low - 2; k >= 0; --k) more |= digit[k];
    if (low > 0 && digit[low - 1] && (more || fmod(x, 2) == 1)) x += 1;
    x = sign * ldexp(x, low - ZERO);
    if (x == 0) x = 0;
    if (sum->plus) x = INFINITY;
    if (sum->minus) x = -INFINITY;
    if (sum->nan || (sum->plus && sum->minus))
        return type == META_F64 ? UINT64_C(0x7ff8000000000000) : UINT64_C(0x7fc00000);
    uint64_t bits = 0;
    const float narrow = (float)x;
    if (type == META_F64) memcpy(&bits, &x, sizeof x);
    else memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

/* ------------------------------------------------------------------ contents */

static double random_binade(int from, int to)
{
    const double x = ldexp(1 + test_random_real(), (int)test_random_in(from, to));
    return test_random_in(0, 1) ? x : -x;
}

static double number(int64_t k, double before, bool wide, int flavour)
{
    const int low = wide ? -1074 : -149, high = wide ? 1022 : 126;
    switch (flavour) {
    case 0:
        return 2 * test_random_real() - 1;
    case 1:
        return random_binade(-40, 40);
    case 2:
        return random_binade(low, high);
    case 3:
        return random_binade(low, low + 60);
    case 4: /* pairs that cancel, among small ones */
        return k % 3 == 2 ? random_binade(low, low + 20) : k % 3 ? -before : random_binade(0, high);
    case 5:
        return test_random_in(0, 3000) ? 2 * test_random_real() - 1 : INFINITY;
    case 6:
        return test_random_in(0, 2000) ? random_binade(-3, 3)
               : test_random_in(0, 1)  ? -INFINITY
                                       : NAN;
    case 7:
        return k % 2 ? -0.0 : 0.0;
    case 8: /* as far from the point of a blast, the temperature falls */
        return ldexp(1.3, -(int)(k % (wide ? 1000 : 140)));
    default:
        return k % 2 ? -before : random_binade(high - 1, high);
    }
}

void exact_fill(void *array, int64_t count, meta_type type, int flavour)
{
    double x = 0;
    for (int64_t k = 0; k < count; ++k) {
        x = number(k, x, type == META_F64, flavour);
        if (type == META_F64) ((double *)array)[k] = x;
        else ((float *)array)[k] = (float)x;
    }
}
