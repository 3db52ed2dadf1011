! SPDX-License-Identifier: BSD-3-Clause
! Ranges of the program's own indices: filling and copying boxes, grids with ghosts and padding,
! sections of arrays, faces, each against the same assignment to an array.
! TEST: backends=all auto=yes labels=fortran
program test_fortran_boxes
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    call tests_begin()
    call filling_a_box()
    call copying_a_box()
    call sections_of_arrays()
    call boxes_of_arrays()
    call grids_have_the_bounds()
    call padded_grids_copy_as_others()
    call slabs()
    call slabs_of_any_width()
    call faces_from_parts()
    call transposing()
    call within_an_array()
    call large_indices()
    call loops_of_the_program()
    call empty_ranges()
    call tests_end()
    call meta_finalize()

contains

    ! A range within the bounds, perhaps of one element.
    function random_box(lower, upper) result(box)
        integer, intent(in) :: lower(3), upper(3)
        type(meta_box) :: box
        integer :: d, low(3), high(3)
        do d = 1, 3
            low(d) = random_in(lower(d), upper(d))
            high(d) = random_in(low(d), upper(d))
        end do
        box = meta_range(low, high)
    end function

    ! An array with bounds of its own, and the same on the device.
    subroutine random_grid(a, buffer)
        real(c_double), allocatable, intent(out) :: a(:, :, :)
        type(meta_buffer), intent(out) :: buffer
        integer :: lower(3), upper(3), d, i, j, k
        do d = 1, 3
            lower(d) = random_in(-3, 3)
            upper(d) = lower(d) + random_in(0, 6)
        end do
        allocate (a(lower(1):upper(1), lower(2):upper(2), lower(3):upper(3)))
        do k = lower(3), upper(3)
            do j = lower(2), upper(2)
                do i = lower(1), upper(1)
                    a(i, j, k) = random_in(-1000, 1000)
                end do
            end do
        end do
        call meta_alloc(buffer, a, meta_range(lower, upper))
        call meta_copy_h2d(buffer, a)
    end subroutine

    subroutine same(buffer, a, text)
        type(meta_buffer), intent(in) :: buffer
        real(c_double), intent(in) :: a(:, :, :)
        character(len=*), intent(in) :: text
        real(c_double) :: found(size(a, 1), size(a, 2), size(a, 3))
        call meta_copy_d2h(found, buffer)
        call check(all(found == a), text)
    end subroutine

    subroutine filling_a_box()
        real(c_double), allocatable :: a(:, :, :)
        type(meta_buffer) :: buffer
        type(meta_box) :: b
        integer :: n
        call promise('a_box_is_filled_by_the_programs_indices')
        do n = 1, 40
            call random_grid(a, buffer)
            b = random_box(lbound(a), ubound(a))
            call meta_fill_box(buffer, b, real(n, c_double))
            a(b%lower(1):b%upper(1), b%lower(2):b%upper(2), b%lower(3):b%upper(3)) = n
            call same(buffer, a, 'the filled array')
        end do
    end subroutine

    subroutine copying_a_box()
        real(c_double), allocatable :: a(:, :, :), c(:, :, :)
        type(meta_buffer) :: from, to
        type(meta_box) :: s, d
        integer :: n, k
        call promise('a_box_is_copied_between_arrays_of_other_bounds')
        do n = 1, 40
            call random_grid(a, from)
            call random_grid(c, to)
            s = random_box(lbound(a), ubound(a))
            do k = 1, 3
                s%upper(k) = min(s%upper(k), s%lower(k) + size(c, k) - 1)
                d%lower(k) = lbound(c, k)
                d%upper(k) = d%lower(k) + s%upper(k) - s%lower(k)
            end do
            d%ndim = 3
            call meta_copy_box(to, d, from, s)
            c(d%lower(1):d%upper(1), d%lower(2):d%upper(2), d%lower(3):d%upper(3)) = &
                a(s%lower(1):s%upper(1), s%lower(2):s%upper(2), s%lower(3):s%upper(3))
            call same(to, c, 'the copied box')
        end do
    end subroutine

    subroutine boxes_of_arrays()
        real(c_double), allocatable :: a(:, :, :), c(:, :, :), found(:, :, :)
        type(meta_buffer) :: buffer
        type(meta_box) :: s, d
        integer :: n, k, stat
        call promise('a_box_of_an_array_goes_to_a_box_of_a_buffer_and_back')
        do n = 1, 40
            call random_grid(a, buffer)
            allocate (c(random_in(1, 9), random_in(1, 9), random_in(1, 9)))
            c = n
            d = random_box(lbound(a), ubound(a))
            s = random_box([1, 1, 1], shape(c))
            do k = 1, 3
                s%upper(k) = min(s%upper(k), s%lower(k) + d%upper(k) - d%lower(k))
                d%upper(k) = d%lower(k) + s%upper(k) - s%lower(k)
            end do
            call meta_copy_box_h2d(buffer, d, c, s)
            a(d%lower(1):d%upper(1), d%lower(2):d%upper(2), d%lower(3):d%upper(3)) = n
            call same(buffer, a, 'the buffer')
            a = 2 * a
            call meta_copy_h2d(buffer, a)
            allocate (found(size(c, 1), size(c, 2), size(c, 3)))
            found = c
            found(s%lower(1):s%upper(1), s%lower(2):s%upper(2), s%lower(3):s%upper(3)) = 2 * n
            call meta_copy_box_d2h(c, s, buffer, d)
            call check(all(c == found), 'the array')
            deallocate (c, found)
        end do
        allocate (c(2, 2, 2))
        s = meta_range([1, 1, 1], [2, 2, 3])
        call meta_copy_box_d2h(c, s, buffer, d, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'dst_box', dimension 3")
        call meta_copy_box_d2h(c, meta_range([1, 1], [2, 2]), buffer, d, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'dst_box' has rank 2, 'dst' 3")
        call meta_copy_box_h2d(buffer, s, c, s, stat=stat)
        call check(stat /= META_OK, 'a box outside')
    end subroutine

    subroutine sections_of_arrays()
        real(c_double), allocatable :: a(:, :, :), part(:, :, :)
        type(meta_buffer) :: buffer
        type(meta_box) :: b
        integer :: n
        call promise('a_section_goes_to_and_from_an_array')
        do n = 1, 40
            call random_grid(a, buffer)
            b = random_box(lbound(a), ubound(a))
            part = a(b%lower(1):b%upper(1), b%lower(2):b%upper(2), b%lower(3):b%upper(3))
            part = part + 1
            call meta_copy_h2d(buffer, part, box=b)
            a(b%lower(1):b%upper(1), b%lower(2):b%upper(2), b%lower(3):b%upper(3)) = part
            call same(buffer, a, 'the array with the section in it')
            part = 0
            call meta_copy_d2h(part, buffer, box=b)
            call check(all(part == a(b%lower(1):b%upper(1), b%lower(2):b%upper(2), &
                b%lower(3):b%upper(3))), 'the section')
        end do
    end subroutine

    subroutine grids_have_the_bounds()
        real(c_double) :: a(0:5, -1:4, 3), b(0:5, -1:4, 3)
        type(meta_buffer) :: grid
        type(meta_box) :: bounds
        integer :: stat
        call promise('a_grid_has_its_ghosts_as_bounds')
        call random_number(a)
        call meta_grid_alloc(grid, META_F64, [4, 3, 3], [1, 2, 0], [1, 1, 0])
        bounds = meta_bounds(grid)
        call check(all(bounds%lower(1:3) == [0, -1, 1]), 'lower bounds')
        call check(all(bounds%upper(1:3) == [5, 4, 3]), 'upper bounds')
        call meta_copy_h2d(grid, a)
        call meta_fill_box(grid, meta_range([4, 3, 3]), 7.0_c_double)
        call meta_copy_d2h(b, grid)
        a(1:4, 1:3, :) = 7
        call check(all(a == b), 'own cells filled, ghosts not')
        call meta_free(grid)
        call meta_grid_alloc(grid, META_F64, [4, 3, 3], [1, 2], [1, 1, 0], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'cells', 'low' and 'high' differ in size")
    end subroutine

    subroutine padded_grids_copy_as_others()
        integer, parameter :: n = 151
        real(c_double), allocatable :: a(:, :, :), b(:, :, :)
        real(c_double), pointer :: view(:, :, :)
        type(meta_buffer) :: grid, dense
        integer :: i, j, k, stat
        call promise('a_padded_grid_copies_as_a_dense_one')
        allocate (a(0:n + 1, 0:n + 1, 0:n + 1), b(0:n + 1, 0:n + 1, 0:n + 1))
        do k = 0, n + 1
            do j = 0, n + 1
                do i = 0, n + 1
                    a(i, j, k) = i + 1000.0_c_double * (j + 1000.0_c_double * k)
                end do
            end do
        end do
        call meta_grid_alloc(grid, META_F64, [n, n, n], [1, 1, 1], [1, 1, 1])
        call meta_copy_h2d(grid, a)
        call meta_copy_d2h(b, grid)
        call check(all(a == b), 'there and back')
        call meta_alloc(dense, a, meta_range([0, 0, 0], [n + 1, n + 1, n + 1]))
        call meta_copy_d2d(dense, grid)
        b = 0
        call meta_copy_d2h(b, dense)
        call check(all(a == b), 'to a dense array')
        call check(all(meta_maxloc(grid) == [n + 1, n + 1, n + 1]), 'where the largest is')
        call meta_host_view(grid, view, stat)
        if (stat /= META_OK) return ! not the host's memory
        call check(all(lbound(view) == 0) .and. all(ubound(view) == n + 1), 'the bounds of a view')
        call check(all(view == a), 'a view')
        view(n + 1, 0, n) = -1
        call meta_copy_d2h(b, grid)
        call check(all(meta_minloc(grid) == [n + 1, 0, n]), 'where the view was written')
        b(n + 1, 0, n) = a(n + 1, 0, n)
        call check(all(a == b), 'nowhere else')
    end subroutine

    subroutine slabs()
        real(c_double), allocatable :: a(:, :, :), packed(:)
        type(meta_buffer) :: buffer, line
        type(meta_box) :: own
        type(meta_face) :: face
        integer(c_int64_t) :: count
        integer :: n, axis, side, lower(3), upper(3), low(3), high(3)
        call promise('a_slab_is_packed_and_unpacked_where_it_is')
        do n = 1, 24
            call random_grid(a, buffer)
            if (any(shape(a) < 3)) cycle
            lower = lbound(a) + 1
            upper = ubound(a) - 1
            own = meta_range(lower, upper)
            axis = random_in(1, 3)
            side = random_in(0, 3)
            low = lower
            high = upper
            select case (side)
            case (0)
                high(axis) = low(axis)
            case (1)
                low(axis) = high(axis)
            case (2)
                low(axis) = lower(axis) - 1
                high(axis) = low(axis)
            case default
                high(axis) = upper(axis) + 1
                low(axis) = high(axis)
            end select
            call meta_face_slab(face, buffer, own, axis, side, 1)
            call meta_face_elements(face, count)
            call check_int(count, product(int(high - low + 1, c_int64_t)), 'elements')
            if (allocated(packed)) deallocate (packed)
            allocate (packed(count))
            if (meta_is_allocated(line)) call meta_free(line)
            call meta_alloc(line, packed)
            call meta_pack_face(line, buffer, face)
            call meta_copy_d2h(packed, line)
            call check(all(packed == reshape(a(low(1):high(1), low(2):high(2), low(3):high(3)), &
                [size(packed)])), 'the packed slab')
            packed = -packed
            call meta_copy_h2d(line, packed)
            call meta_unpack_face(buffer, line, face)
            a(low(1):high(1), low(2):high(2), low(3):high(3)) = &
                -a(low(1):high(1), low(2):high(2), low(3):high(3))
            call same(buffer, a, 'the unpacked array')
        end do
    end subroutine

    subroutine slabs_of_any_width()
        real(c_double), allocatable :: a(:, :, :)
        real(c_double) :: list(1)
        type(meta_buffer) :: buffer, line
        type(meta_box) :: own
        type(meta_face) :: face
        integer(c_int64_t) :: count
        integer :: n, axis, width, low(3), high(3)
        call promise('a_slab_has_the_width_that_was_asked_for')
        call meta_alloc(line, META_F64, meta_range([1000]))
        do n = 1, 30
            call random_grid(a, buffer)
            low = lbound(a)
            high = ubound(a)
            own = meta_range(low, high)
            axis = random_in(1, 3)
            width = random_in(0, size(a, axis))
            call meta_face_slab(face, buffer, own, axis, META_SLAB_HIGH, width)
            low(axis) = high(axis) - width + 1
            call meta_face_elements(face, count)
            call check_int(count, int(size(a(low(1):high(1), low(2):high(2), low(3):high(3))), &
                c_int64_t), 'elements')
            if (count == 0) cycle
            call meta_pack_face(line, buffer, face)
            list = meta_sum(line, meta_range([1_c_int64_t], [count]))
            call check(list(1) == sum(a(low(1):high(1), low(2):high(2), low(3):high(3))), &
                'their sum')
        end do
    end subroutine

    subroutine within_an_array()
        real(c_double) :: a(0:9, 6)
        type(meta_buffer) :: buffer
        integer :: stat
        call promise('a_box_is_copied_within_an_array')
        call random_number(a)
        call meta_alloc(buffer, a, meta_range([0, 1], [9, 6]))
        call meta_copy_h2d(buffer, a)
        call meta_copy_box(buffer, meta_range([0, 4], [9, 5]), buffer, meta_range([0, 1], [9, 2]))
        a(:, 4:5) = a(:, 1:2)
        call meta_copy_box(buffer, meta_range([6, 1], [8, 6]), buffer, meta_range([1, 1], [3, 6]))
        a(6:8, :) = a(1:3, :)
        call same_2d(buffer, a)
        call meta_copy_box(buffer, meta_range([0, 2], [9, 3]), buffer, meta_range([0, 1], [9, 2]), &
            stat=stat)
        call check_err(stat, META_ERR_OVERLAP, "arguments 'dst'")
        call meta_copy_d2d(buffer, buffer, stat=stat)
        call check_err(stat, META_ERR_OVERLAP, "arguments 'dst'")
        call same_2d(buffer, a)
    end subroutine

    subroutine same_2d(buffer, a)
        type(meta_buffer), intent(in) :: buffer
        real(c_double), intent(in) :: a(:, :)
        real(c_double) :: found(size(a, 1), size(a, 2))
        call meta_copy_d2h(found, buffer)
        call check(all(found == a), 'the array')
    end subroutine

    ! Only a few of the elements are ever touched.
    subroutine large_indices()
        integer(c_int64_t), parameter :: first = 2_c_int64_t**31, last = first + 99
        integer(c_int8_t) :: a(100), b(100)
        type(meta_buffer) :: buffer
        integer :: k, stat
        call promise('indices_go_beyond_2_to_the_31')
        call meta_alloc(buffer, META_I8, meta_range([-5_c_int64_t], [last]), stat)
        if (stat == META_ERR_NO_MEMORY) return
        call check_ok(stat, 'meta_alloc')
        a = [(int(k, c_int8_t), k=1, 100)]
        call meta_copy_h2d(buffer, a, box=meta_range([first], [last]))
        call meta_fill_box(buffer, meta_range([first + 10], [first + 19]), 77_c_int8_t)
        a(11:20) = 77
        call meta_copy_d2h(b, buffer, box=meta_range([first], [last]))
        call check(all(a == b), 'the last elements')
        call meta_fill_box(buffer, meta_range([first], [last + 1]), 1_c_int8_t, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, &
            "2147483648:2147483748 leaves the buffer's bounds -5:2147483747")
    end subroutine

    subroutine loops_of_the_program()
        real(c_double), pointer :: p(:, :)
        type(meta_buffer) :: buffer
        type(meta_device_desc) :: device
        integer :: index, mode
        call promise('loops_between_calls_see_the_memory_of_a_host_device')
        call meta_get_acc(index, mode)
        call meta_device_info(index, mode, device)
        if (.not. device%is_host) return
        call meta_alloc(buffer, META_F64, meta_range([20, 30]))
        call meta_fill(buffer, 2.0_c_double)
        call c_f_pointer(meta_address(buffer), p, [20, 30])
        p(3, 4) = p(3, 4) + p(5, 6)
        call check(meta_sum(buffer) == 1202, 'the sum')
        call check(all(meta_maxloc(buffer) == [3, 4]), 'the element')
        call padded_for_c()
    end subroutine

    ! A grid that is large enough to have padding.
    subroutine padded_for_c()
        real(c_double), pointer :: p(:, :)
        type(meta_buffer) :: grid
        type(meta_c_box) :: c
        type(meta_box) :: some
        integer :: stat
        call meta_grid_alloc(grid, META_F64, [2047, 2048], low=[1, 1], high=[1, 1])
        call meta_fill_box(grid, meta_bounds(grid), 1.0_c_double)
        some = meta_range([3, 5], [2047, 2049])
        c = meta_box_for_c(grid, some)
        call check(c%ndim == 2 .and. c%size(1) >= 2049 .and. c%size(2) >= 2050, 'the extents')
        call check(c%end(1) - c%start(1) == 2045 .and. c%end(2) - c%start(2) == 2045, 'the cells')
        call c_f_pointer(meta_address(grid), p, c%size(:2))
        p(c%start(1) + 1, c%start(2) + 1) = 4
        p(c%end(1), c%end(2)) = 3
        call check(all(meta_maxloc(grid, some) == [3, 5]), 'the first cell')
        call check(meta_sum(grid, some) == 2045.0_c_double**2 + 5, 'the last cell')
        c = meta_box_for_c(grid, meta_range([0, 0], [2049, 5]), stat)
        call check(stat == META_ERR_BOUNDS, 'a box that leaves the bounds')
    end subroutine

    subroutine faces_from_parts()
        real(c_double) :: a(0:4, 2:5), packed(6)
        type(meta_buffer) :: buffer, line
        type(meta_face) :: face
        integer :: stat
        call promise('a_face_begins_at_the_programs_indices')
        call random_number(a)
        call meta_alloc(buffer, a, meta_range([0, 2], [4, 5]))
        call meta_copy_h2d(buffer, a)
        call meta_alloc(line, packed)
        ! Every second element of rows 3, 4 and 5, the rows first.
        call meta_face_make(face, buffer, [1, 3], [3, 2], [5, 2])
        call meta_pack_face(line, buffer, face)
        call meta_copy_d2h(packed, line)
        call check(all(packed == [a(1, 3:5), a(3, 3:5)]), 'the packed face')
        call meta_face_make(face, buffer, [5, 3], [3, 2], [5, 2], stat)
        call check_err(stat, META_ERR_BOUNDS, &
            "'first', dimension 1: 5:5 leaves the buffer's bounds 0:4")
        call meta_face_make(face, buffer, [1, 3], [3], [5, 2], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'size' and 'stride' differ in size")
        call meta_face_box(face, buffer, meta_range([1, 2], [3, 3]))
        call meta_pack_face(line, buffer, face)
        call meta_copy_d2h(packed, line)
        call check(all(packed == reshape(a(1:3, 2:3), [6])), 'a box as a face')
    end subroutine

    subroutine transposing()
        integer(c_int32_t) :: a(7, 3), b(3, 7)
        type(meta_buffer) :: from, to
        integer :: k
        call promise('a_face_is_transposed_as_fortran_does')
        a = reshape([(k, k=1, 21)], [7, 3])
        call meta_alloc(from, a)
        call meta_alloc(to, b)
        call meta_copy_h2d(from, a)
        call meta_transpose_face(to, from, shape(a))
        call meta_copy_d2h(b, to)
        call check(all(b == transpose(a)), 'the transpose')
    end subroutine

    subroutine empty_ranges()
        real(c_double) :: a(4, 4), none(4, 0)
        type(meta_buffer) :: buffer
        integer :: stat
        call promise('an_empty_range_is_no_work')
        a = 1
        call meta_alloc(buffer, a)
        call meta_copy_h2d(buffer, a)
        call meta_fill_box(buffer, meta_range([1, 3], [4, 2]), 5.0_c_double, stat=stat)
        call check_ok(stat, 'meta_fill_box')
        call meta_copy_h2d(buffer, none, stat=stat, box=meta_range([1, 3], [4, 2]))
        call check_ok(stat, 'meta_copy_h2d')
        call check(meta_sum(buffer) == 16, 'nothing was written')
        call check(meta_sum(buffer, meta_range([1, 3], [4, 2])) == 0, 'the sum of nothing')
        call check(all(meta_minloc(buffer, meta_range([1, 3], [4, 2])) == [0, 2]), &
            'where nothing is')
    end subroutine
end program test_fortran_boxes
