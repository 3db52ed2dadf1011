! SPDX-License-Identifier: BSD-3-Clause
! Computation: reductions against Fortran's intrinsics, locations of extremes, dot product, axpy,
! stencils against the loop, and the kinds of results.
! TEST: backends=all labels=fortran
program test_fortran_compute
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    call tests_begin()
    call integers_as_intrinsics()
    call reals_as_intrinsics()
    call extremes_are_found()
    call a_nan_is_found()
    call kinds_of_results()
    call several_boxes()
    call results_on_the_device()
    call axpy_and_dot()
    call stencils()
    call stencils_with_sums()
    call integer_stencils()
    call nothing_and_infinity()
    call results_in_flight()
    call reproducible_sums()
    call tests_end()
    call meta_finalize()

contains

    subroutine integers_as_intrinsics()
        integer(c_int32_t) :: a(-2:5, 0:6)
        integer(c_int64_t) :: b(-2:5, 0:6)
        type(meta_buffer) :: da, db
        type(meta_box) :: s
        integer :: n, i, j
        call promise('integers_reduce_as_the_intrinsics_do')
        call meta_alloc(da, a, meta_range([-2, 0], [5, 6]))
        call meta_alloc(db, b, meta_range([-2, 0], [5, 6]))
        do n = 1, 20
            do j = 0, 6
                do i = -2, 5
                    a(i, j) = random_in(-100, 100)
                    b(i, j) = random_in(-100, 100) * 1000000000_c_int64_t
                end do
            end do
            call meta_copy_h2d(da, a)
            call meta_copy_h2d(db, b)
            s = meta_range([random_in(-2, 1), random_in(0, 3)], [random_in(1, 5), random_in(3, 6)])
            call check(meta_sum(da, 0) == sum(a), 'the sum')
            call check(meta_sum(db, 0_c_int64_t) == sum(b), 'the sum of 64 bits')
            call check(meta_minval(da, 0) == minval(a), 'the minimum')
            call check(meta_maxval(db, 0_c_int64_t) == maxval(b), 'the maximum')
            call check(meta_sum(da, 0, s) == &
                sum(a(s%lower(1):s%upper(1), s%lower(2):s%upper(2))), 'the sum of a section')
            call check(meta_maxval(da, s) == &
                maxval(a(s%lower(1):s%upper(1), s%lower(2):s%upper(2))), 'its maximum')
            call check(meta_dot_product(da, da, 0, s) == &
                sum(a(s%lower(1):s%upper(1), s%lower(2):s%upper(2))**2), 'its product with itself')
        end do
    end subroutine

    ! Each box of each field by the intrinsic of its section.
    subroutine several_boxes()
        integer(c_int64_t) :: a(-1:8, 0:5, 3), sums(8, 3), before(8, 3)
        type(meta_buffer) :: fields(2), results
        type(meta_box) :: box(6)
        integer :: n, b, f, d, low(3), high(3), stat
        integer(c_int64_t) :: wanted
        call promise('each_box_of_each_field_is_reduced')
        do f = 1, 2
            call meta_alloc(fields(f), META_I64, meta_range([-1, 0, 1], [8, 5, 3]))
        end do
        call meta_alloc(results, META_I64, meta_range([8, 3]))
        do n = 1, 10
            do b = 1, 6
                do d = 1, 3
                    low(d) = random_in(lbound(a, d), ubound(a, d))
                    high(d) = random_in(low(d) - 1, ubound(a, d))
                end do
                box(b) = meta_range(low, high)
            end do
            do f = 1, 2
                call meta_copy_h2d(fields(f), numbers(n, f))
            end do
            before = -7
            sums = before
            call meta_reduce_boxes(sums, fields, box, META_OP_SUM)
            do f = 1, 2
                a = numbers(n, f)
                do b = 1, 6
                    wanted = sum(a(box(b)%lower(1):box(b)%upper(1), &
                        box(b)%lower(2):box(b)%upper(2), box(b)%lower(3):box(b)%upper(3)))
                    call check(sums(b, f) == wanted, 'a box of a field')
                    before(b, f) = wanted
                end do
            end do
            call check(all(sums == before), 'what lies beyond stays')
            sums = -7
            call meta_copy_h2d(results, sums)
            call meta_reduce_boxes(results, fields, box, META_OP_SUM, META_ASYNC)
            call meta_copy_d2h(sums, results)
            call check(all(sums == before), 'on the device')
        end do
        call meta_reduce_boxes(sums(1:5, :), fields, box, META_OP_SUM, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'results' is not contiguous")
        call meta_reduce_boxes(sums(:, 1:1), fields, box, META_OP_SUM, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'results' has 8 x 1 elements")
        box(3) = meta_range([-1, 0, 1], [9, 5, 3])
        call meta_reduce_boxes(sums, fields, box, META_OP_SUM, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box(3)'")
        fields(2) = results
        call meta_reduce_boxes(sums, fields, box(1:2), META_OP_SUM, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'field(1)' and 'field(2)' differ in rank")
        call meta_reduce_boxes(sums, fields(1:0), box, META_OP_SUM)
        call check(all(sums == before), 'no field')
    end subroutine

    function numbers(n, f) result(a)
        integer, intent(in) :: n, f
        integer(c_int64_t) :: a(10, 6, 3)
        integer :: k
        a = reshape([(int(k, c_int64_t)**2 * f + n, k = 1, 180)], [10, 6, 3])
    end function

    subroutine reals_as_intrinsics()
        real(c_double) :: a(11, 3, 2, 2)
        real(c_float) :: b(11, 3, 2, 2)
        type(meta_buffer) :: da, db
        integer :: stat
        call promise('reals_reduce_as_the_intrinsics_do')
        call random_number(a)
        b = real(a, c_float)
        call meta_alloc(da, a)
        call meta_alloc(db, b)
        call meta_copy_h2d(da, a)
        call meta_copy_h2d(db, b)
        call check(abs(meta_sum(da) - sum(a)) < 1e-11_c_double, 'the sum')
        call check(abs(meta_sum(db) - sum(real(b, c_double))) < 1e-4_c_double, 'of single ones')
        call check(meta_minval(db) == minval(b), 'the minimum')
        call check(meta_maxval(da) == maxval(a), 'the maximum')
        call check(abs(meta_dot_product(da, da) - sum(a * a)) < 1e-11_c_double, 'the dot product')
        call check(meta_maxval(db, 0.0_c_float) == maxval(b), 'of its own kind')
        call check(meta_maxval(db, 0.0_c_double, stat=stat) == 0, 'a kind that is another one')
        call check_err(stat, META_ERR_TYPE, "'mold' is of kind META_F64, the buffer of META_F32")
    end subroutine

    subroutine extremes_are_found()
        integer(c_int32_t) :: a(0:8, -3:3, 2)
        type(meta_buffer) :: da
        type(meta_box) :: s
        integer :: n, i, j, k, at(3)
        call promise('the_first_extreme_in_array_order_is_found')
        call meta_alloc(da, a, meta_range([0, -3, 1], [8, 3, 2]))
        do n = 1, 30
            do k = 1, 2
                do j = -3, 3
                    do i = 0, 8
                        a(i, j, k) = random_in(1, 12) ! so that there are several
                    end do
                end do
            end do
            call meta_copy_h2d(da, a)
            at = minloc(a) + lbound(a) - 1
            call check(all(meta_minloc(da) == at), 'the minimum')
            at = maxloc(a) + lbound(a) - 1
            call check(all(meta_maxloc(da) == at), 'the maximum')
            s = meta_range([random_in(0, 4), random_in(-3, 0), 1], [random_in(4, 8), &
                random_in(0, 3), 2])
            at = minloc(a(s%lower(1):s%upper(1), s%lower(2):s%upper(2), :)) + &
                int([s%lower(1), s%lower(2), 1_c_int64_t]) - 1
            call check(all(meta_minloc(da, s) == at), 'the minimum of a section')
        end do
    end subroutine

    subroutine a_nan_is_found()
        real(c_double) :: a(20), zero
        type(meta_buffer) :: da
        call promise('a_nan_is_every_extreme')
        zero = 0
        call random_number(a)
        a(7) = zero / zero
        a(13) = a(7)
        call meta_alloc(da, a)
        call meta_copy_h2d(da, a)
        call check(all(meta_minloc(da) == [7]), 'where the minimum is')
        call check(all(meta_maxloc(da, meta_range([8], [20])) == [13]), 'where the maximum is')
        a = 0
        a(3) = -zero
        call meta_copy_h2d(da, a)
        call check(all(meta_maxloc(da) == [1]), 'zeros of both signs are equal')
    end subroutine

    subroutine kinds_of_results()
        integer(c_int64_t) :: a(3)
        integer(c_int32_t) :: u(2)
        type(meta_buffer) :: da, du
        real(c_double) :: found
        integer :: stat
        call promise('a_result_that_a_double_cannot_hold_is_an_error')
        a = [2_c_int64_t**53, 1_c_int64_t, 0_c_int64_t]
        call meta_alloc(da, a)
        call meta_copy_h2d(da, a)
        found = meta_sum(da, stat=stat)
        call check_err(stat, META_ERR_OVERFLOW, "give 0_c_int64_t as argument 'mold'")
        call check(meta_sum(da, 0_c_int64_t) == 2_c_int64_t**53 + 1, 'with a mold')
        found = meta_sum(da, meta_range([2], [3]))
        call check(found == 1, 'one that fits')
        u = [-1, 0]
        call meta_alloc(du, META_U32, meta_range([2]))
        call meta_copy_h2d(du, u)
        call check(meta_maxval(du) == 4294967295.0_c_double, 'the largest unsigned number')
        call check(meta_maxval(du, 0) == -1, 'its bits')
    end subroutine

    subroutine results_on_the_device()
        real(c_double) :: a(100), host, list(1)
        real(c_float) :: wrong
        type(meta_buffer) :: da, place
        integer :: stat
        call promise('results_go_to_scalars_and_to_buffers')
        call random_number(a)
        call meta_alloc(da, a)
        call meta_copy_h2d(da, a)
        call meta_alloc(place, META_F64, meta_range([1]))
        call meta_reduce(host, da, meta_bounds(da), META_MAX)
        call meta_reduce(place, da, meta_bounds(da), META_MAX)
        call meta_copy_d2h(list, place)
        call check(host == maxval(a) .and. list(1) == host, 'the maximum')
        call meta_dot(place, da, da, meta_bounds(da))
        call meta_copy_d2h(list, place)
        call meta_dot(host, da, da, meta_bounds(da))
        call check(list(1) == host, 'the dot product')
        call meta_reduce(wrong, da, meta_bounds(da), META_OP_SUM, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'result' is of kind META_F32")
        call meta_reduce(host, da, meta_bounds(da), 17, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'op' is 17")
    end subroutine

    subroutine axpy_and_dot()
        real(c_double) :: x(0:9, 5), y(0:9, 5), z(0:9, 5)
        type(meta_buffer) :: dx, dy, other
        integer :: stat
        call promise('axpy_adds_on_a_box')
        call random_number(x)
        call random_number(y)
        call meta_alloc(dx, x, meta_range([0, 1], [9, 5]))
        call meta_alloc(dy, y, meta_range([0, 1], [9, 5]))
        call meta_copy_h2d(dx, x)
        call meta_copy_h2d(dy, y)
        call meta_axpy(dy, 2.0_c_double, dx, meta_range([1, 2], [8, 4]))
        call meta_copy_d2h(z, dy)
        y(1:8, 2:4) = y(1:8, 2:4) + 2 * x(1:8, 2:4)
        call check(all(abs(y - z) <= 1e-15_c_double), 'y')
        call meta_alloc(other, x)
        call meta_axpy(dy, 2.0_c_double, other, meta_range([1, 2], [8, 4]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'y' and 'x' differ in bounds")
        call meta_axpy(dy, 2.0_c_float, dx, meta_range([1, 2], [8, 4]), stat=stat)
        call check_err(stat, META_ERR_TYPE, "'alpha' is of kind META_F32")
    end subroutine

    subroutine stencils()
        real(c_double) :: a(0:6, 0:5, 0:4), b(0:6, 0:5, 0:4), c(0:6, 0:5, 0:4), sum_found
        type(meta_buffer) :: in, out, place
        integer :: i, j, k
        call promise('a_stencil_is_the_average_of_its_points')
        call random_number(a)
        b = 0
        call meta_grid_alloc(in, META_F64, [5, 4, 3], [1, 1, 1], [1, 1, 1])
        call meta_grid_alloc(out, META_F64, [5, 4, 3], [1, 1, 1], [1, 1, 1])
        call meta_copy_h2d(in, a)
        call meta_copy_h2d(out, b)
        call meta_stencil(out, in, meta_range([5, 4, 3]), META_3D7P, sum_found)
        call meta_copy_d2h(c, out)
        do k = 1, 3
            do j = 1, 4
                do i = 1, 5
                    b(i, j, k) = (a(i, j, k) + a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + &
                        a(i, j + 1, k) + a(i, j, k - 1) + a(i, j, k + 1)) / 7
                end do
            end do
        end do
        call check(maxval(abs(b - c)) < 1e-15_c_double, 'the array')
        call check(abs(sum_found - sum(b)) < 1e-13_c_double, 'the sum')
        call meta_alloc(place, META_F64, meta_range([1]))
        call meta_stencil(out, in, meta_range([5, 4, 3]), META_3D7P, place)
        call check(meta_sum(place) == sum_found, 'the sum on the device')
        call meta_stencil(out, in, meta_range([5, 4, 3]), META_3D27P)
        call check(abs(meta_maxval(out, meta_range([3, 2, 2], [3, 2, 2])) - &
            sum(a(2:4, 1:3, 1:3)) / 27) < 1e-14_c_double, 'a cell of 27 points')
    end subroutine

    ! Of sides, of ghosts with them, of everything, of nothing.
    subroutine stencils_with_sums()
        real(c_double) :: a(0:6, 0:5, 0:4), b(0:6, 0:5, 0:4), c(0:6, 0:5, 0:4), total, sums(7)
        real(c_float) :: singles(4)
        type(meta_buffer) :: in, out, again, place, places, flat
        type(meta_box) :: own, part(5)
        integer :: k, stat
        call promise('sums_of_boxes_come_with_a_stencil')
        own = meta_range([5, 4, 3])
        part = [meta_range([1, 1, 1], [1, 4, 3]), meta_range([5, 1, 1], [5, 4, 3]), &
            meta_range([0, 2, 3], [6, 3, 4]), own, meta_range([2, 3, 1], [4, 2, 3])]
        call random_number(a)
        call meta_grid_alloc(in, META_F64, [5, 4, 3], [1, 1, 1], [1, 1, 1])
        call meta_grid_alloc(out, META_F64, [5, 4, 3], [1, 1, 1], [1, 1, 1])
        call meta_grid_alloc(again, META_F64, [5, 4, 3], [1, 1, 1], [1, 1, 1])
        call meta_alloc(place, META_F64, meta_range([1]))
        call meta_alloc(places, META_F64, meta_range([7]))
        call meta_alloc(flat, META_F64, meta_range([7, 1]))
        call meta_copy_h2d(in, a)
        call meta_copy_h2d(out, a)
        call meta_copy_h2d(again, a)
        call meta_stencil(again, in, own, META_3D7P, total)
        call meta_copy_d2h(b, again)
        do k = 1, 4
            sums = -7
            call meta_copy_h2d(places, sums)
            select case (k)
            case (1)
                call meta_stencil_sums(out, in, own, META_3D7P, total, sums, part)
            case (2)
                call meta_stencil_sums(out, in, own, META_3D7P, sums, part, META_ASYNC)
                call meta_flush()
            case (3)
                call meta_stencil_sums(out, in, own, META_3D7P, place, places, part)
                total = meta_sum(place)
            case default
                call meta_stencil_sums(out, in, own, META_3D7P, places, part)
            end select
            if (k > 2) call meta_copy_d2h(sums, places)
            call meta_copy_d2h(c, out)
            call check(all(b == c), 'the array')
            call check(abs(total - sum(b(1:5, 1:4, 1:3))) < 1e-12_c_double, 'the sum')
            call check(abs(sums(1) - sum(a(1, 1:4, 1:3))) < 1e-12_c_double, 'of a low side')
            call check(abs(sums(2) - sum(a(5, 1:4, 1:3))) < 1e-12_c_double, 'of a high side')
            call check(abs(sums(3) - sum(a(0:6, 2:3, 3:4))) < 1e-12_c_double, 'with ghosts')
            call check(abs(sums(4) - sum(a(1:5, 1:4, 1:3))) < 1e-12_c_double, 'of all')
            call check(sums(5) == 0, 'of nothing')
            call check(all(sums(6:) == -7), 'what lies beyond stays')
        end do
        call meta_stencil_sums(out, in, own, META_3D7P, total, sums(1:4), part, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'sums' has 4 elements, and boxes are 5")
        call meta_stencil_sums(out, in, own, META_3D7P, sums(1:7:2), part(1:2), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'sums' is not contiguous")
        call meta_stencil_sums(out, in, own, META_3D7P, singles, part(1:2), stat=stat)
        call check_err(stat, META_ERR_TYPE, "'sums' is of kind")
        call meta_stencil_sums(out, in, own, META_3D7P, place, flat, part(1:2), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'sums' has rank 2: give a buffer of rank 1")
        part(2) = meta_range([5, 1, 1], [7, 4, 3])
        call meta_stencil_sums(out, in, own, META_3D7P, total, sums, part, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'part(2)'")
        call meta_stencil_sums(out, in, own, META_3D7P, total, sums, part(1:0))
    end subroutine

    ! The points of a stencil, added and divided as Fortran does.
    integer(c_int32_t) function average(a, i, j, k, kind)
        integer(c_int32_t), intent(in) :: a(-1:, 0:, 2:)
        integer, intent(in) :: i, j, k, kind
        select case (kind)
        case (META_2D5P)
            average = (a(i, j, k) + a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + &
                a(i, j + 1, k)) / 5
        case (META_2D9P)
            average = sum(a(i - 1:i + 1, j - 1:j + 1, k)) / 9
        case (META_3D7P)
            average = (a(i, j, k) + a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + &
                a(i, j + 1, k) + a(i, j, k - 1) + a(i, j, k + 1)) / 7
        case default
            average = sum(a(i - 1:i + 1, j - 1:j + 1, k - 1:k + 1)) / 27
        end select
    end function

    subroutine integer_stencils()
        integer(c_int32_t) :: a(-1:7, 0:6, 2:8), b(-1:7, 0:6, 2:8), c(-1:7, 0:6, 2:8), total
        type(meta_buffer) :: in, out
        integer :: n, kind, i, j, k, low(3), high(3), d
        call promise('stencils_of_integers_are_exact_on_any_box')
        call meta_alloc(in, a, meta_range([-1, 0, 2], [7, 6, 8]))
        call meta_alloc(out, a, meta_range([-1, 0, 2], [7, 6, 8]))
        do n = 1, 24
            kind = mod(n, META_STENCIL_COUNT)
            do d = 1, 3
                low(d) = random_in(lbound(a, d) + 1, ubound(a, d) - 1)
                high(d) = random_in(low(d), ubound(a, d) - 1)
            end do
            do k = 2, 8
                do j = 0, 6
                    do i = -1, 7
                        a(i, j, k) = random_in(-100000, 100000)
                    end do
                end do
            end do
            b = n
            call meta_copy_h2d(in, a)
            call meta_copy_h2d(out, b)
            call meta_stencil(out, in, meta_range(low, high), kind, total)
            do k = low(3), high(3)
                do j = low(2), high(2)
                    do i = low(1), high(1)
                        b(i, j, k) = average(a, i, j, k, kind)
                    end do
                end do
            end do
            call meta_copy_d2h(c, out)
            call check(all(b == c), 'the array')
            call check(total == sum(b(low(1):high(1), low(2):high(2), low(3):high(3))), 'the sum')
        end do
    end subroutine

    subroutine nothing_and_infinity()
        real(c_double) :: a(3)
        integer(c_int32_t) :: n(3)
        type(meta_buffer) :: d, e
        type(meta_box) :: none
        call promise('an_empty_section_has_the_extremes_of_its_type')
        a = [1, 2, 3]
        n = [1, 2, 3]
        none = meta_range([3], [2])
        call meta_alloc(d, a)
        call meta_alloc(e, n)
        call meta_copy_h2d(d, a)
        call meta_copy_h2d(e, n)
        call check(meta_minval(d, none) > huge(a), 'the minimum of no reals')
        call check(meta_maxval(d, none) < -huge(a), 'their maximum')
        call check(meta_minval(e, 0, none) == huge(n), 'the minimum of no integers')
        call check(meta_maxval(e, 0, none) + huge(n) == -1, 'their maximum')
        call check(meta_dot_product(e, e, 0, none) == 0, 'their product')
        a(2) = meta_minval(d, none)
        call meta_copy_h2d(d, a)
        call check(meta_sum(d) > huge(a), 'the sum with infinity')
        call check(all(meta_maxloc(d) == [2]), 'where it is')
    end subroutine

    subroutine results_in_flight()
        integer, parameter :: count = 300
        real(c_double), target :: found(count)
        type(meta_buffer) :: d
        integer :: k
        call promise('many_results_are_under_way_at_once')
        call meta_alloc(d, META_F64, meta_range([100]))
        found = -1
        do k = 1, count
            call meta_fill(d, real(k, c_double), META_ASYNC)
            call meta_reduce(found(k), d, meta_range([10], [29]), META_OP_SUM, META_ASYNC)
        end do
        call meta_flush()
        call check(all(found == [(20.0_c_double * k, k=1, count)]), 'each in its turn')
    end subroutine

    subroutine reproducible_sums()
        real(c_double) :: a(1000), found
        logical :: was, on
        type(meta_buffer) :: da
        integer :: stat
        call promise('reproducible_sums_are_exact')
        call meta_get_reproducible(was)
        a = 0
        a(1) = 1e30_c_double
        a(500) = 1
        a(1000) = -1e30_c_double
        call meta_alloc(da, a)
        call meta_copy_h2d(da, a)
        call meta_set_reproducible(.true.)
        call meta_get_reproducible(on)
        call check(on, 'they are on')
        found = meta_sum(da, stat=stat)
        if (stat /= META_ERR_UNSUPPORTED) call check(found == 1, 'the sum')
        call meta_set_reproducible(was)
    end subroutine
end program test_fortran_compute
