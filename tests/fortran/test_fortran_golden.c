/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_fortran_golden.c
 *  MiniGhost's solver in Fortran against the results of the MiniGhost 1.0 reference: the cases of
 *  test_golden.c, whose functions call the solver that they are linked with. */
/* TEST: np=1,2,3 labels=fortran,golden */
#include "../test_golden.c"
