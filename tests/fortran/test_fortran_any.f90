! SPDX-License-Identifier: BSD-3-Clause
! Module meta_any: arrays of ranks and kinds that module meta has no overload for.
! TEST: backends=openmp,opencl labels=fortran
program test_fortran_any
    use, intrinsic :: iso_c_binding
    use meta
    use meta_any
    use testing
    implicit none
    call tests_begin()
    call high_ranks()
    call kinds()
    call bad_input()
    call tests_end()
    call meta_finalize()

contains

    subroutine high_ranks()
        real(c_float) :: a(2, 3, 2, 2, 1, 2, 2), b(2, 3, 2, 2, 1, 2, 2)
        type(meta_buffer) :: d
        type(meta_box) :: box
        call promise('arrays_of_rank_7_go_there_and_back')
        call random_number(a)
        b = 0
        call meta_any_alloc(d, a)
        box = meta_bounds(d)
        call check(box%ndim == 7 .and. all(box%upper(1:7) == shape(a)), 'the bounds')
        call meta_any_copy_h2d(d, a)
        call meta_any_copy_d2h(b, d)
        call check(all(a == b), 'the array')
        call check(abs(meta_maxval(d) - maxval(a)) == 0, 'its maximum')
    end subroutine

    subroutine kinds()
        integer(c_int64_t) :: a(3)
        integer(c_int8_t) :: b(2, 2)
        type(meta_buffer) :: d, e
        call promise('kinds_are_told_by_the_descriptor')
        a = 1
        b = 2
        call meta_any_alloc(d, a)
        call check(meta_element_type(d) == META_I64, 'integers of 64 bits')
        call meta_any_alloc(e, b, meta_range([0, 0], [1, 1]))
        call check(meta_element_type(e) == META_I8, 'of 8 bits')
        call meta_any_copy_h2d(e, b)
    end subroutine

    subroutine bad_input()
        complex(c_double) :: z(4)
        real(c_double) :: a(4, 4)
        real(c_double), allocatable, save :: none(:)
        real(c_double), allocatable, target :: host(:)
        type(meta_buffer) :: d, w
        integer :: stat
        call promise('what_cannot_be_described_is_an_error')
        z = 0
        a = 0
        call meta_any_alloc(d, z, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'mold' is of a kind that libmeta does not move")
        call meta_any_alloc(d, META_F64, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'bounds' has no dimension")
        call meta_any_alloc(d, none, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'mold' is not allocated")
        call meta_alloc(d, META_F64, meta_range([2, 4]))
        call meta_any_copy_h2d(d, a(1:4:2, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'src' is not contiguous")
        call meta_any_copy_d2h(a(1:2, :), d, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'dst' is not contiguous")
        allocate (host(10))
        call meta_any_wrap(w, host(1:10:3), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'array' is not contiguous")
    end subroutine
end program test_fortran_any
