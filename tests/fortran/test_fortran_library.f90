! SPDX-License-Identifier: BSD-3-Clause
! The ready kernels: linear algebra, conversion, stencils, boundary conditions, sparse matrices,
! checksums and prefix sums, against the loop or the intrinsic.
! TEST: backends=all labels=fortran
program test_fortran_library
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    call tests_begin()
    call linear_algebra()
    call conversion()
    call stencils()
    call boundaries()
    call a_slab_of_the_programs_own()
    call sparse_matrices()
    call checksums()
    call prefix_sums()
    call tests_end()
    call meta_finalize()

contains

    subroutine linear_algebra()
        real(c_float) :: x(0:9, -2:5), y(0:9, -2:5), z(0:9, -2:5)
        integer(c_int32_t) :: ix(12), iz(12)
        type(meta_buffer) :: dx, dy, dz, di, dj
        type(meta_box) :: box
        integer :: stat, n
        call promise('linear_algebra_is_that_of_array_expressions')
        call random_number(x)
        call random_number(y)
        z = -1
        call meta_alloc(dx, x, meta_range([0, -2], [9, 5]))
        call meta_alloc(dy, y, meta_range([0, -2], [9, 5]))
        call meta_alloc(dz, z, meta_range([0, -2], [9, 5]))
        call meta_copy_h2d(dx, x)
        call meta_copy_h2d(dy, y)
        call meta_copy_h2d(dz, z)
        box = meta_range([1, -2], [8, 4])
        call meta_axpby(dz, 2.0_c_float, dx, 0.5_c_float, dy, box)
        call meta_copy_d2h(z, dz)
        call check(all(z(1:8, -2:4) == 2 * x(1:8, -2:4) + 0.5_c_float * y(1:8, -2:4)), 'axpby')
        call check(all(z(0, :) == -1) .and. all(z(9, :) == -1) .and. all(z(:, 5) == -1), 'beyond')
        call meta_xpay(dz, dx, 4.0_c_float, dz, box)
        call meta_scale(dx, 0.25_c_float, dx, box)
        call meta_multiply(dy, dx, dy, box)
        y(1:8, -2:4) = 0.25_c_float * x(1:8, -2:4) * y(1:8, -2:4)
        z(1:8, -2:4) = x(1:8, -2:4) + 4 * z(1:8, -2:4)
        x = 0
        call meta_copy_d2h(x, dz)
        call check(all(x == z), 'xpay in place')
        call meta_copy_d2h(x, dy)
        call check(all(x == y), 'multiply in place')
        ix = [(n, n = 1, 12)]
        call meta_alloc(di, ix, meta_range([12]))
        call meta_alloc(dj, ix, meta_range([12]))
        call meta_copy_h2d(di, ix)
        call meta_scale(dj, -3, di, meta_range([12]))
        call meta_copy_d2h(iz, dj)
        call check(all(iz == -3 * ix), 'integers')
        call meta_scale(dz, 1.0_c_double, dx, box, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'a' is of kind META_F64, the buffer of META_F32")
        call meta_axpby(dz, 1.0_c_float, dx, 1.0_c_float, di, box, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'y'")
        call meta_multiply(dz, dz, dz, box, stat=stat)
        call check_err(stat, META_ERR_OVERLAP, "'z'")
    end subroutine

    subroutine conversion()
        real(c_float) :: x(5)
        integer(c_int32_t) :: n(5)
        type(meta_buffer) :: dx, dn, other
        integer :: stat
        call promise('types_are_converted')
        x = [1.5_c_float, -1.5_c_float, 3e9_c_float, -3e9_c_float, 0.0_c_float]
        call meta_alloc(dx, x)
        call meta_alloc(dn, META_I32, meta_range([5]))
        call meta_alloc(other, META_I32, meta_range([6]))
        call meta_copy_h2d(dx, x)
        call meta_convert(dn, dx, meta_range([5]))
        call meta_copy_d2h(n, dn)
        call check(all(n == [1, -1, huge(n), -huge(n) - n(1), 0]), 'to integers')
        call meta_convert(dx, dn, meta_range([2]))
        call meta_copy_d2h(x, dx)
        call check(all(x(1:2) == [1, -1]), 'to reals')
        call meta_convert(other, dx, meta_range([5]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'to' and 'from' differ")
    end subroutine

    subroutine stencils()
        real(c_float) :: a(0:7, 0:6), b(0:7, 0:6), w(5), expected
        real(c_float) :: dot
        type(meta_buffer) :: da, db, dw(5), place
        type(meta_box) :: box
        integer :: i, j, k, stat
        call promise('weighted_stencils_are_those_of_the_loop')
        call random_number(a)
        w = [1.0, 2.0, -4.0, 0.5, 8.0]
        b = 0
        call meta_alloc(da, a, meta_range([0, 0], [7, 6]))
        call meta_alloc(db, b, meta_range([0, 0], [7, 6]))
        call meta_copy_h2d(da, a)
        call meta_copy_h2d(db, b)
        do k = 1, 5
            call meta_alloc(dw(k), b, meta_range([0, 0], [7, 6]))
            b = w(k)
            call meta_copy_h2d(dw(k), b)
        end do
        box = meta_range([1, 1], [6, 5])
        call meta_stencil_constant(db, da, w, box, META_2D5P, dot)
        call meta_copy_d2h(b, db)
        do j = 1, 5
            do i = 1, 6
                expected = w(1) * a(i, j - 1)
                expected = expected + w(2) * a(i - 1, j)
                expected = expected + w(3) * a(i, j)
                expected = expected + w(4) * a(i + 1, j)
                expected = expected + w(5) * a(i, j + 1)
                call check(abs(b(i, j) - expected) <= 1e-5, 'a cell')
            end do
        end do
        call check(abs(dot - sum(a(1:6, 1:5) * b(1:6, 1:5))) < 1e-3, 'dot')
        a = b
        call meta_alloc(place, META_F32, meta_range([1]))
        call meta_stencil_variable(db, da, dw, box, META_2D5P, place)
        call meta_copy_d2h(b, db)
        call check(all(a(1:6, 1:5) == b(1:6, 1:5)), 'weights of cells')
        call meta_copy_d2h(w(1:1), place)
        call check(abs(w(1) - dot) < 1e-3, 'dot on the device')
        call meta_stencil_constant(db, da, w(1:4), box, META_2D5P, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'weight' has 4 elements")
        call meta_stencil_constant(db, da, w(1:5), meta_range([0, 1], [6, 5]), META_2D5P, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "meta_stencil_constant: argument 'box'")
        call meta_stencil_variable(db, da, dw(1:3), box, META_2D5P, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'weight' has 3 elements")
        call meta_stencil_variable(db, da, [dw(1:4), place], box, META_2D5P, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'weight(5)'")
    end subroutine

    subroutine boundaries()
        integer(c_int32_t) :: a(-2:7, 0:3), expected(-2:7, 0:3)
        type(meta_buffer) :: da
        type(meta_box) :: own
        integer :: n, stat
        call promise('ghosts_follow_the_cells')
        a = reshape([(n, n = 1, 40)], [10, 4])
        expected = a
        call meta_alloc(da, a, meta_range([-2, 0], [7, 3]))
        call meta_copy_h2d(da, a)
        own = meta_range([0, 1], [5, 2])
        call meta_boundary(da, own, 1, META_SLAB_LOW_GHOST, 2, META_BOUNDARY_ODD)
        call meta_boundary(da, own, 1, META_SLAB_HIGH_GHOST, 2, META_BOUNDARY_GRADIENT, 10)
        call meta_boundary(da, own, 2, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_VALUE, 7)
        call meta_boundary(da, own, 2, META_SLAB_HIGH_GHOST, 1, META_BOUNDARY_WALL, 100)
        expected(-1, 1:2) = -a(0, 1:2)
        expected(-2, 1:2) = -a(1, 1:2)
        expected(6, 1:2) = a(5, 1:2) + 10
        expected(7, 1:2) = a(5, 1:2) + 20
        expected(0:5, 0) = 7
        expected(0:5, 3) = 200 - a(0:5, 2)
        call meta_copy_d2h(a, da)
        call check(all(a == expected), 'the ghosts')
        call meta_boundary(da, own, 1, META_SLAB_LOW_GHOST, 3, META_BOUNDARY_EVEN, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'width' takes 3 layers")
        call meta_boundary(da, own, 3, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_EVEN, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'dim' is 3")
    end subroutine

    subroutine a_slab_of_the_programs_own()
        real(c_float) :: a(-1:4, 6)
        type(meta_buffer) :: da
        type(meta_box) :: cells
        integer(c_int64_t) :: ghost, inner
        integer :: stat
        call promise('a_slab_counts_like_the_buffer')
        call meta_alloc(da, a, meta_range([-1, 1], [4, 6]))
        call meta_boundary_slab(cells, ghost, inner, da, meta_range([0, 2], [3, 5]), 2, &
            META_SLAB_LOW_GHOST, 0, 1)
        call check(all(cells%lower(1:2) == [0, 1]) .and. all(cells%upper(1:2) == [3, 1]), 'low')
        call check(ghost == 0 .and. inner == 12, 'its distances')
        call meta_boundary_slab(cells, ghost, inner, da, meta_range([0, 2], [3, 5]), 1, &
            META_SLAB_HIGH_GHOST, 0, 0)
        call check(all(cells%lower(1:2) == [3, 2]) .and. all(cells%upper(1:2) == [3, 5]), 'high')
        call check(ghost == 1 .and. inner == 0, 'its distances')
        call meta_boundary_slab(cells, ghost, inner, da, meta_range([0, 2], [3, 5]), 1, &
            META_SLAB_HIGH_GHOST, 1, 0, stat)
        call check_err(stat, META_ERR_BOUNDS, "'layer' takes 2 layers")
    end subroutine

    ! Rows (1 2), none, (3 4 5).
    subroutine sparse_matrices()
        integer(c_int32_t), parameter :: start(4) = [0, 2, 2, 5], column(5) = [0, 2, 1, 2, 3]
        real(c_float) :: value(5), x(4), y(3)
        type(meta_csr) :: matrix
        type(meta_buffer) :: dx, dy, longer
        integer :: stat
        call promise('a_matrix_times_a_vector')
        value = [1, 2, 3, 4, 5]
        x = [1, 10, 100, 1000]
        y = [1, 1, 1]
        matrix%columns = 4
        call meta_alloc(matrix%start, start)
        call meta_alloc(matrix%column, column)
        call meta_alloc(matrix%value, value)
        call meta_alloc(dx, x)
        call meta_alloc(dy, y)
        call meta_copy_h2d(matrix%start, start)
        call meta_copy_h2d(matrix%column, column)
        call meta_copy_h2d(matrix%value, value)
        call meta_copy_h2d(dx, x)
        call meta_copy_h2d(dy, y)
        call meta_csr_check(matrix)
        call meta_csr_multiply(dy, 2.0_c_float, matrix, dx, 3.0_c_float)
        call meta_copy_d2h(y, dy)
        call check(all(y == [405, 3, 10863]), 'a A x + b y')
        call meta_csr_multiply(dy, matrix, dx)
        call meta_copy_d2h(y, dy)
        call check(all(y == [201, 0, 5430]), 'A x')
        matrix%columns = 3
        call meta_csr_check(matrix, stat)
        call check_err(stat, META_ERR_BOUNDS, 'entry 4')
        matrix%columns = 4
        call meta_alloc(longer, [x, x])
        call meta_csr_multiply(longer, matrix, dx, stat=stat)
        call check_ok(stat, 'a longer y')
        matrix%columns = 5
        call meta_csr_multiply(dy, matrix, dx, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'x' has fewer")
        matrix%column = matrix%value
        call meta_csr_multiply(dy, matrix, dx, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'matrix%column'")
    end subroutine

    subroutine checksums()
        integer(c_int8_t) :: text(9)
        integer(c_int32_t) :: found(1)
        type(meta_buffer) :: dt, place
        integer :: n, stat
        call promise('the_checksum_is_that_of_zlib')
        text = int([(iachar('0') + n, n = 1, 9)], c_int8_t)
        call meta_alloc(dt, text)
        call meta_alloc(place, META_I32, meta_range([1]))
        call meta_copy_h2d(dt, text)
        call meta_crc32(found(1), dt)
        call check(found(1) == int(z'4BF43926') - huge(found(1)) - 1, 'of 123456789')
        found = 0
        call meta_crc32(place, dt)
        call meta_copy_d2h(found, place)
        call check(found(1) == int(z'4BF43926') - huge(found(1)) - 1, 'on the device')
        call meta_crc32(dt, dt, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'result'")
    end subroutine

    subroutine prefix_sums()
        integer(c_int64_t) :: a(1000), sums(1000)
        type(meta_buffer) :: da, ds, other, padded
        integer :: n, stat
        call promise('prefix_sums_are_those_of_the_loop')
        a = [(int(n, c_int64_t)**2 - 500, n = 1, 1000)]
        call meta_alloc(da, a)
        call meta_alloc(ds, a)
        call meta_alloc(other, META_I64, meta_range([5]))
        call meta_copy_h2d(da, a)
        call meta_prefix_sum(ds, da, .true.)
        call meta_copy_d2h(sums, ds)
        call check(all(sums == [(sum(a(1:n)), n = 1, 1000)]), 'inclusive')
        call meta_prefix_sum(da, da, .false.)
        call meta_copy_d2h(sums, da)
        call check(all(sums == [(sum(a(1:n)), n = 0, 999)]), 'exclusive, in place')
        call meta_prefix_sum(other, da, .true., stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'out' and 'in' differ in size")
        ! Large grids are padded at the lower end as well.
        call meta_grid_alloc(padded, META_I64, [3500000], low=[1], high=[1])
        call meta_fill_box(padded, meta_bounds(padded), 1_c_int64_t)
        call meta_prefix_sum(padded, padded, .true.)
        call check(meta_maxval(padded, 0_c_int64_t) == 3500002, 'of a padded grid')
        call check(meta_minval(padded, 0_c_int64_t) == 1, 'its first')
        call meta_free(padded)
    end subroutine
end program test_fortran_library
