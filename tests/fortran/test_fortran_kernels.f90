! SPDX-License-Identifier: BSD-3-Clause
! Kernels of the program's own: arguments of each kind against loops, the device as a place of results,
! shifted arrays, ghost widths, and what is refused.
! TEST: backends=all auto=yes labels=fortran
program test_fortran_kernels
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    type, bind(c) :: growth
        integer(c_int32_t) :: by, limit
    end type
    call tests_begin()
    call arrays_values_and_results()
    call results_on_the_device()
    call places_of_extremes()
    call structures_and_masks()
    call gathers()
    call boxes_without_an_array()
    call other_shapes()
    call lines_alone()
    call ghosts_follow_cells_within()
    call ghost_widths()
    call errors_name_the_argument()
    call tests_end()
    call meta_finalize()

contains

    subroutine arrays_values_and_results()
        real(c_double) :: a(-3:20, 0:17), b(-3:20, 0:17), c(-3:20, 0:17)
        real(c_double), target :: total, largest
        type(meta_buffer) :: da, db
        type(meta_kernel) :: blend
        type(meta_event) :: done
        integer :: i, j, n, low(2), high(2)
        call promise('a_kernel_computes_as_the_loop_does')
        call meta_kernel_find(blend, 'blend', META_F64)
        call meta_alloc(da, a, meta_range(lbound(a), ubound(a)))
        call meta_alloc(db, b, meta_range(lbound(b), ubound(b)))
        do n = 1, 20
            do j = 0, 17
                do i = -3, 20
                    a(i, j) = random_in(-100, 100) / 8d0
                end do
            end do
            b = n
            c = n
            low = [random_in(-2, 10), random_in(0, 9)]
            high = [random_in(8, 20), random_in(7, 15)]
            call meta_copy_h2d(da, a)
            call meta_copy_h2d(db, b)
            total = -1
            largest = -1
            if (mod(n, 2) == 0) then
                call meta_kernel_run(blend, meta_range(low, high), [meta_array(db), &
                    meta_array(da), meta_value(0.5d0), meta_result(total), meta_result(largest)])
            else
                call meta_kernel_run(blend, meta_range(low, high), [meta_array(db), &
                    meta_array(da), meta_value(0.5d0), meta_result(total), meta_result(largest)], &
                    done)
                call meta_event_wait(done)
            end if
            do j = low(2), high(2)
                do i = low(1), high(1)
                    c(i, j) = a(i-1, j) + 0.5d0 * a(i, j+2)
                end do
            end do
            call meta_copy_d2h(b, db)
            call check(all(b == c), 'the array')
            call check(total == sum(c(low(1):high(1), low(2):high(2))), 'the sum')
            if (all(high >= low)) &
                call check(largest == maxval(c(low(1):high(1), low(2):high(2))), 'the maximum')
        end do
        call meta_free(da)
        call meta_free(db)
    end subroutine

    subroutine results_on_the_device()
        real(c_double) :: a(6, 7), sums(1)
        type(meta_buffer) :: da, db, sum_there, max_there
        type(meta_kernel) :: blend
        call promise('results_go_to_the_device')
        call meta_kernel_find(blend, 'blend', META_F64)
        a = 1.5d0
        call meta_alloc(da, a)
        call meta_alloc(db, a)
        call meta_alloc(sum_there, sums)
        call meta_alloc(max_there, sums)
        call meta_copy_h2d(da, a)
        call meta_kernel_run(blend, meta_range([2, 1], [6, 5]), [meta_array(db), meta_array(da), &
            meta_value(1d0), meta_result(sum_there), meta_result(max_there)], META_ASYNC)
        call meta_copy_d2h(sums, sum_there)
        call check(sums(1) == 75, 'the sum')
        call meta_copy_d2h(sums, max_there)
        call check(sums(1) == 3, 'the maximum')
        call meta_free(da)
        call meta_free(db)
        call meta_free(sum_there)
        call meta_free(max_there)
    end subroutine

    subroutine places_of_extremes()
        integer, parameter :: low(2) = [-2, 0], high(2) = [19, 15]
        real(c_double) :: u(-2:21, 0:17)
        integer(c_int32_t) :: masked(-2:21, 0:17)
        integer(c_int64_t) :: words(META_MAX_DIM + 1)
        type(meta_extreme_f64), target :: top, bottom
        type(meta_extreme_i32), target :: other
        type(meta_extreme_i64), target :: column
        type(meta_buffer) :: du, dm, there, small, reals
        type(meta_kernel) :: peak
        real(c_double), target :: plain
        integer :: n, stat
        call promise('extremes_have_their_places')
        call meta_kernel_find(peak, 'peak', META_F64)
        call meta_alloc(du, u, meta_range(lbound(u), ubound(u)))
        call meta_alloc(dm, masked, meta_range(lbound(u), ubound(u)))
        call meta_alloc(there, words)
        call meta_alloc(small, words(2:))
        call meta_alloc(reals, u)
        do n = 1, 30
            call random_number(u)
            u = anint(u * 20) ! ties
            masked = merge(1, 0, u < n)
            if (n > 20) masked = 1
            call meta_copy_h2d(du, u)
            call meta_copy_h2d(dm, masked)
            associate (part => u(low(1):high(1), low(2):high(2)), &
                mask => masked(low(1):high(1), low(2):high(2)))
                call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
                    meta_result(top), meta_result(bottom), meta_result(column)])
                call check(top%value == maxval(part), 'the greatest')
                call check(all(top%index(:2) == maxloc(part) - 1), 'its place')
                call check(all(top%index(3:) == 0), 'dimensions that there are not')
                if (any(mask == 0)) then
                    call check(bottom%value == minval(part, mask == 0), 'the least')
                    call check(all(bottom%index(:2) == minloc(part, mask == 0) - 1), 'its place')
                else
                    call check(bottom%value > huge(plain), 'the least of nothing')
                    call check(all(bottom%index == -1), 'no place')
                    call check(all(column%index == -1), 'no column')
                end if
                call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
                    meta_result(there), meta_result(bottom), meta_result(column)], META_ASYNC)
                call meta_copy_d2h(words, there)
                top = transfer(words, top)
                call check(top%value == maxval(part), 'the greatest in a buffer')
                call check(all(top%index(:2) == maxloc(part) - 1), 'its place in a buffer')
            end associate
        end do
        call meta_flush()
        call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
            meta_result(plain), meta_result(bottom), meta_result(column)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'top' is a result, but must be an extreme with its place")
        call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
            meta_result(other), meta_result(bottom), meta_result(column)], stat=stat)
        call check_err(stat, META_ERR_TYPE, "'top' is of META_I32, the kernel needs META_F64")
        call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
            meta_result(reals), meta_result(bottom), meta_result(column)], stat=stat)
        call check_err(stat, META_ERR_TYPE, "'top' is a buffer of META_F64")
        call meta_kernel_run(peak, meta_range(low, high), [meta_array(du), meta_array(dm), &
            meta_result(small), meta_result(bottom), meta_result(column)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'top'")
        call meta_kernel_find(peak, 'blend', META_F64)
        call meta_kernel_run(peak, meta_range([2, 1], [8, 6]), [meta_array(du), meta_array(reals), &
            meta_value(1d0), meta_result(top), meta_result(plain)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'total' is an extreme with its place, but must be a result")
        call meta_free(du)
        call meta_free(dm)
        call meta_free(there)
        call meta_free(small)
        call meta_free(reals)
    end subroutine

    subroutine structures_and_masks()
        integer(c_int32_t) :: a(9, 8), b(9, 8), mask(9, 8)
        integer(c_int64_t), target :: full
        type(growth), target :: g
        type(meta_buffer) :: field, masked
        type(meta_kernel) :: grow
        integer :: i, j
        call promise('a_structure_is_a_value')
        call meta_kernel_find(grow, 'grow', META_I32)
        do j = 1, 8
            do i = 1, 9
                a(i, j) = random_in(0, 9)
                mask(i, j) = random_in(0, 1)
            end do
        end do
        g = growth(3, 7)
        call meta_alloc(field, a)
        call meta_alloc(masked, META_U32, meta_range([9, 8]))
        call meta_copy_h2d(field, a)
        call meta_copy_h2d(masked, mask)
        call meta_kernel_run(grow, meta_range([9, 8]), [meta_array(field), meta_array(masked), &
            meta_value(c_loc(g)), meta_result(full)])
        call meta_copy_d2h(b, field)
        call check(all(b == merge(min(a + 3, 7), a, mask == 0)), 'the cells')
        call check(full == count(mask == 0 .and. a + 3 >= 7), 'the count')
        call meta_free(field)
        call meta_free(masked)
    end subroutine

    subroutine gathers()
        real(c_double) :: table(100), b(30)
        integer(c_int32_t) :: index(30)
        type(meta_buffer) :: from, to, places
        type(meta_kernel) :: gather
        integer :: i
        call promise('a_table_has_a_shape_of_its_own')
        call meta_kernel_find(gather, 'gather', META_F64)
        do i = 1, 100
            table(i) = i * i
        end do
        do i = 1, 30
            index(i) = random_in(0, 99)
        end do
        call meta_alloc(from, table)
        call meta_alloc(to, b)
        call meta_alloc(places, index)
        call meta_copy_h2d(from, table)
        call meta_copy_h2d(places, index)
        call meta_kernel_run(gather, meta_range([30]), &
            [meta_array(to), meta_array(from), meta_array(places)])
        call meta_copy_d2h(b, to)
        call check(all(b == table(index + 1)), 'the cells')
        call meta_free(from)
        call meta_free(to)
        call meta_free(places)
    end subroutine

    subroutine boxes_without_an_array()
        integer(c_int64_t), target :: sum
        type(meta_buffer) :: weight
        type(meta_kernel) :: places
        integer :: stat
        call promise('without_an_array_of_its_shape_a_box_counts_from_1')
        call meta_kernel_find(places, 'places', META_F64)
        call meta_alloc(weight, [1_c_int64_t, 100_c_int64_t])
        call meta_copy_h2d(weight, [1_c_int64_t, 100_c_int64_t])
        call meta_kernel_run(places, meta_range([2, 3], [4, 3]), &
            [meta_array(weight), meta_result(sum)])
        call check(sum == 1 + 2 + 3 + 3 * 200, 'the indices')
        call meta_kernel_run(places, meta_range([0, 1], [4, 3]), &
            [meta_array(weight), meta_result(sum)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'box': without an array of the box's shape it counts")
        call meta_free(weight)
    end subroutine

    subroutine other_shapes()
        real(c_double) :: a(0:6, 3), b(0:5, 3), line(3), number(1), sums(3)
        type(meta_buffer) :: faces, cells, profile, factor, there, wide
        type(meta_kernel) :: shapes
        integer :: i, j, stat
        call promise('arrays_have_shapes_that_follow_from_the_box')
        call meta_kernel_find(shapes, 'shapes', META_F64)
        do j = 1, 3
            line(j) = 10 * j
            do i = 0, 6
                a(i, j) = i * i + j
            end do
        end do
        number = 2
        sums = 1
        call meta_alloc(faces, a, meta_range(lbound(a), ubound(a)))
        call meta_alloc(cells, b, meta_range(lbound(b), ubound(b)))
        call meta_alloc(wide, a, meta_range(lbound(a), ubound(a)))
        call meta_alloc(profile, line)
        call meta_alloc(there, sums)
        call meta_alloc(factor, number)
        call meta_copy_h2d(faces, a)
        call meta_copy_h2d(profile, line)
        call meta_copy_h2d(factor, number)
        call meta_copy_h2d(there, sums)
        call meta_kernel_run(shapes, meta_bounds(cells), [meta_array(cells), meta_array(faces), &
            meta_array(profile), meta_array(factor), meta_array(there)])
        call meta_copy_d2h(b, cells)
        call meta_copy_d2h(sums, there)
        do j = 1, 3
            call check(all(b(:, j) == 2 * (a(1:6, j) - a(0:5, j)) + line(j)), 'the cells')
            call check(sums(j) == 1 + sum(b(:, j)), 'the sums')
        end do
        call meta_kernel_run(shapes, meta_bounds(cells), [meta_array(wide), meta_array(faces), &
            meta_array(profile), meta_array(factor), meta_array(there)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'faces' differs from 'cells'")
        call meta_kernel_run(shapes, meta_bounds(cells), [meta_array(cells), meta_array(faces), &
            meta_array(faces), meta_array(factor), meta_array(there)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'profile' differs from 'cells'")
        call meta_free(faces)
        call meta_free(cells)
        call meta_free(wide)
        call meta_free(profile)
        call meta_free(there)
        call meta_free(factor)
    end subroutine

    subroutine lines_alone()
        real(c_double) :: line(0:5), plane(0:5, 2)
        real(c_double), target :: sum
        type(meta_buffer) :: profile, other
        type(meta_kernel) :: line_sum
        integer :: j, stat
        call promise('a_line_alone_places_the_box')
        call meta_kernel_find(line_sum, 'line_sum', META_F64)
        do j = 0, 5
            line(j) = 10**j
        end do
        call meta_alloc(profile, line, meta_range(lbound(line), ubound(line)))
        call meta_alloc(other, plane)
        call meta_copy_h2d(profile, line)
        call meta_kernel_run(line_sum, meta_range([1, 1], [3, 4]), &
            [meta_array(profile), meta_result(sum)])
        call check(sum == 3 * 11110, 'from 1')
        call meta_kernel_run(line_sum, meta_range([1, 0], [2, 5]), &
            [meta_array(profile), meta_result(sum)])
        call check(sum == 2 * 111111, 'all')
        call meta_kernel_run(line_sum, meta_range([1, 4], [2, 3]), &
            [meta_array(profile), meta_result(sum)])
        call check(sum == 0, 'of nothing')
        call meta_kernel_run(line_sum, meta_range([1, 1], [2, 6]), &
            [meta_array(profile), meta_result(sum)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 2: 1:6")
        call meta_kernel_run(line_sum, meta_range([1, 1], [2, 2]), &
            [meta_array(other), meta_result(sum)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'profile' differs")
        call meta_free(profile)
        call meta_free(other)
    end subroutine

    subroutine ghosts_follow_cells_within()
        real(c_double) :: a(0:5, 0:4), b(0:5, 0:4)
        type(meta_buffer) :: u
        type(meta_kernel) :: follow
        integer :: i, j, stat
        call promise('a_shifted_array_is_the_same_memory')
        call meta_kernel_find(follow, 'follow', META_F64)
        do j = 0, 4
            do i = 0, 5
                a(i, j) = 10 * i + j
            end do
        end do
        call meta_alloc(u, a, meta_range(lbound(a), ubound(a)))
        call meta_copy_h2d(u, a)
        call meta_kernel_run(follow, meta_range([0, 1], [0, 3]), &
            [meta_array(u), meta_array(meta_shifted(u, [1, 0]))])
        call meta_kernel_run(follow, meta_range([1, 3], [4, 3]), &
            [meta_array(meta_shifted(u, [0, 1])), meta_array(u)])
        call meta_kernel_run(follow, meta_range([1, 4], [4, 4]), &
            [meta_array(u), meta_array(meta_shifted(u, [0, -1]))], stat=stat)
        call check_err(stat, META_ERR_POINTER, "'inner' begins before its buffer")
        call meta_copy_d2h(b, u)
        a(0, 1:3) = a(1, 1:3)
        a(1:4, 4) = a(1:4, 3)
        call check(all(a == b), 'the ghosts')
        call meta_free(u)
    end subroutine

    subroutine ghost_widths()
        type(meta_kernel) :: kernel, none
        integer :: low(2), high(2), stat
        call promise('ghosts_are_as_wide_as_kernels_reach')
        low = 0
        high = [1, 0]
        call meta_kernel_find(kernel, 'blend', META_F64)
        call meta_kernel_reach(kernel, low, high)
        call check(all(low == [1, 0]) .and. all(high == [1, 2]), 'the widths')
        call meta_kernel_prepare(kernel)
        call meta_kernels_prepare([kernel])
        call meta_kernels_prepare([kernel, none], stat=stat)
        call check(stat == META_ERR_ARGUMENT, 'a kernel that was not found')
        call check(index(meta_last_error(), 'NULL at 1') > 0, 'its number')
        call meta_kernels_prepare()
    end subroutine

    subroutine errors_name_the_argument()
        real(c_double) :: a(8, 8)
        real(c_double), target :: total, largest
        real(c_float), target :: short
        type(meta_buffer) :: da, db, small, none
        type(meta_kernel) :: blend, unknown
        integer :: stat
        call promise('errors_name_the_argument')
        call meta_kernel_find(unknown, 'no_such', META_F64, stat)
        call check_err(stat, META_ERR_ARGUMENT, 'no_such')
        call meta_kernel_run(unknown, meta_range([8, 8]), [meta_value(1)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'kernel' is none")
        call meta_kernel_find(blend, 'blend', META_F64)
        a = 1
        call meta_alloc(da, a)
        call meta_alloc(db, a)
        call meta_alloc(small, a(:7, :))
        total = 5
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(db)], &
            stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, 'there are 2 arguments, the kernel has 5')
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(db), &
            meta_result(total), meta_value(1d0), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'weight' is a result, but must be a value")
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(none), &
            meta_value(1d0), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_POINTER, "'from' is not allocated")
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(db), &
            meta_value(1), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_TYPE, "'weight' is of META_I32, the kernel needs META_F64")
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(db), &
            meta_value(1d0), meta_result(short), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_TYPE, "'total' is of META_F32")
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(db), &
            meta_value(c_loc(total)), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_TYPE, "'weight' is a structure in only one")
        call meta_kernel_run(blend, meta_range([2, 1], [7, 6]), [meta_array(da), meta_array(small), &
            meta_value(1d0), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'from' differs from 'to'")
        call meta_kernel_run(blend, meta_range([1, 1], [8, 6]), [meta_array(da), meta_array(db), &
            meta_value(1d0), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 1: 1:8")
        call meta_kernel_run(blend, meta_range([2, 1], [8, 6]), [meta_array(da), meta_array(da), &
            meta_value(1d0), meta_result(total), meta_result(largest)], stat=stat)
        call check_err(stat, META_ERR_OVERLAP, "'to'")
        call check(total == 5, 'an error changed a result')
        call meta_free(da)
        call meta_free(db)
        call meta_free(small)
    end subroutine
end program
