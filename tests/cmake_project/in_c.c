/* SPDX-License-Identifier: BSD-3-Clause */
/** @file in_c.c
 *  Component core, in C. */
#include <meta.h>

#include <stdio.h>

int main(void)
{
    const double one = 1;
    double sum = 0;
    const meta_box box = {1, {100}, {0}, {100}};
    void *x = NULL;
    meta_err err = meta_init();
    if (!err) err = meta_alloc(&x, 800);
    if (!err) err = meta_fill(x, 100, &one, META_F64, NULL);
    if (!err) err = meta_reduce(&sum, x, &box, META_SUM, META_F64, NULL);
    if (!err) err = meta_free(x);
    if (!err) err = meta_finalize();
    if (err) return fprintf(stderr, "%s\n", meta_last_error()), 1;
    printf("sum %.1f\n", sum);
    return 0;
}
