/* SPDX-License-Identifier: BSD-3-Clause */
/** @file in_metamorph.c
 *  Component metamorph: a program of MetaMorph. */
#include <metamorph.h>
#include <stdio.h>

int main(void)
{
    double numbers[4] = {1, 2, 3, 4}, zero = 0, sum = 0;
    a_dim3 size = {4, 1, 1}, start = {0, 0, 0}, end = {3, 0, 0};
    void *array, *result;
    meta_set_acc(-1, metaModePreferGeneric);
    if (meta_alloc(&array, sizeof numbers) || meta_alloc(&result, sizeof sum)) return 1;
    meta_copy_h2d(array, numbers, sizeof numbers, false, NULL, NULL);
    meta_copy_h2d(result, &zero, sizeof zero, false, NULL, NULL);
    meta_reduce(NULL, NULL, array, &size, &start, &end, result, meta_db, false, NULL, NULL);
    meta_copy_d2h(&sum, result, sizeof sum, false, NULL, NULL);
    printf("sum %.1f\n", sum);
    return 0;
}
