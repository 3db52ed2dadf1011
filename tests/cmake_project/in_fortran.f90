! SPDX-License-Identifier: BSD-3-Clause
! Component fortran.
program in_fortran
    use meta
    implicit none
    type(meta_buffer) :: x
    double precision :: total
    call meta_init()
    call meta_alloc(x, META_F64, meta_range([100]))
    call meta_fill(x, 1d0)
    total = meta_sum(x)
    call meta_free(x)
    call meta_finalize()
    print '(a,f0.1)', 'sum ', total
end program in_fortran
