! SPDX-License-Identifier: BSD-3-Clause
! Families of grids: arrays of cells, faces and nodes, of several types, in one call, against loops;
! shapes that buffers are given; and what cannot be in one call.
! TEST: backends=all auto=yes labels=fortran
program test_fortran_family
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    ! The arrays of a family, in their order.
    integer, parameter :: P = 1, Q = 2, U = 3, V = 4, W = 5, N = 6
    call tests_begin()
    call a_family_has_its_bounds()
    call arrays_of_cells_and_faces()
    call kernels_of_all()
    call shapes_of_other_buffers()
    call the_array_without_a_shape_counts()
    call errors_of_families()
    call errors_of_calls()
    call tests_end()
    call meta_finalize()

contains

    ! Cells p and q, faces u in x and v in y, cells w and nodes n of other types.
    function fields() result(field)
        type(meta_grid_field) :: field(6)
        field = [meta_grid_field('p', META_F64), meta_grid_field('q', META_F64, [0, 0]), &
            meta_grid_field('u', META_F64, [1, 0]), meta_grid_field('v', META_F64, [0, 1]), &
            meta_grid_field('w', META_F32), meta_grid_field('n', META_I32, [1, 1])]
    end function

    ! A family and its size: sometimes of so many cells that it is padded.
    subroutine make_family(grid, cells, low, high, large)
        type(meta_buffer), intent(inout) :: grid(6)
        integer, intent(out) :: cells(2), low(2), high(2)
        logical, intent(in) :: large
        integer :: d
        do d = 1, 2
            cells(d) = random_in(1, 9)
            low(d) = random_in(1, 3)
            high(d) = random_in(1, 3)
        end do
        if (large) cells = cells + [231, 190]
        call meta_grid_family(grid, fields(), cells, low, high)
    end subroutine

    subroutine free_all(grid)
        type(meta_buffer), intent(inout) :: grid(:)
        integer :: k
        do k = 1, size(grid)
            call meta_free(grid(k))
        end do
    end subroutine

    ! Small whole numbers, so that sums are exact, in all of a grid.
    subroutine put_numbers(grid, a)
        type(meta_buffer), intent(in) :: grid
        real(c_double), allocatable, intent(inout) :: a(:, :)
        type(meta_box) :: b
        integer :: i, j
        b = meta_bounds(grid)
        if (allocated(a)) deallocate (a)
        allocate (a(b%lower(1):b%upper(1), b%lower(2):b%upper(2)))
        do j = lbound(a, 2), ubound(a, 2)
            do i = lbound(a, 1), ubound(a, 1)
                a(i, j) = random_in(-40, 40)
            end do
        end do
        select case (meta_element_type(grid))
        case (META_F32)
            call meta_copy_h2d(grid, real(a, c_float))
        case (META_I32)
            call meta_copy_h2d(grid, int(a, c_int32_t))
        case default
            call meta_copy_h2d(grid, a)
        end select
    end subroutine

    subroutine check_numbers(grid, a, text)
        type(meta_buffer), intent(in) :: grid
        real(c_double), intent(in) :: a(:, :)
        character(len=*), intent(in) :: text
        real(c_double) :: b(size(a, 1), size(a, 2))
        real(c_float) :: f(size(a, 1), size(a, 2))
        integer(c_int32_t) :: i(size(a, 1), size(a, 2))
        select case (meta_element_type(grid))
        case (META_F32)
            call meta_copy_d2h(f, grid)
            b = f
        case (META_I32)
            call meta_copy_d2h(i, grid)
            b = i
        case default
            call meta_copy_d2h(b, grid)
        end select
        call check(all(a == b), text)
    end subroutine

    subroutine a_family_has_its_bounds()
        type(meta_buffer) :: grid(6)
        type(meta_box) :: b
        type(meta_c_box) :: first, c
        type(meta_pointer_desc) :: desc
        type(meta_grid_field) :: field(6)
        integer :: cells(2), low(2), high(2), k, round
        integer(c_int64_t) :: before
        call promise('a_family_has_the_bounds_of_its_cells_and_staggers')
        field = fields()
        before = buffers_now()
        do round = 1, 12
            call make_family(grid, cells, low, high, large=round > 9)
            first = meta_box_for_c(grid(1), meta_range(cells))
            do k = 1, 6
                b = meta_bounds(grid(k))
                call check(b%ndim == 2 .and. all(b%lower(:2) == 1 - low), 'lower bounds')
                call check(all(b%upper(:2) == cells + field(k)%stagger(:2) + high), 'upper bounds')
                call check(meta_element_type(grid(k)) == field(k)%type, 'the type')
                c = meta_box_for_c(grid(k), meta_range(cells))
                call check(c%size(1) == first%size(1) .and. all(c%start(:2) == low), 'the layout')
                call meta_pointer_info(grid(k), desc)
                call check(desc%label == field(k)%name, 'the label')
            end do
            call free_all(grid)
        end do
        call check_int(buffers_now(), before, 'buffers')
        ! Negative staggers, and indices of 64 bits.
        call meta_grid_family(grid(1:1), [meta_grid_field('edges', META_I64, [-2, 3, 0])], &
            [8_c_int64_t, 4_c_int64_t, 3_c_int64_t], [1, 0, 2], [2, 1, 0])
        b = meta_bounds(grid(1))
        call check(all(b%lower(:3) == [0, 1, -1]) .and. all(b%upper(:3) == [8, 8, 3]), 'edges')
        call meta_free(grid(1))
    end subroutine

    subroutine arrays_of_cells_and_faces()
        type(meta_buffer) :: grid(6)
        real(c_double), allocatable :: a(:, :), b(:, :), c(:, :), x(:, :), y(:, :)
        real(c_double) :: found, sums(2, 3)
        type(meta_box) :: box, part
        integer :: cells(2), low(2), high(2), round, nx, ny, k
        call promise('arrays_of_cells_and_faces_meet_in_a_call')
        do round = 1, 12
            call make_family(grid, cells, low, high, large=round > 9)
            nx = cells(1)
            ny = cells(2)
            box = meta_range(cells)
            call put_numbers(grid(P), a)
            call put_numbers(grid(U), b)
            call put_numbers(grid(V), c)
            call meta_axpy(grid(U), 2.0_c_double, grid(P), box)
            b(1:nx, 1:ny) = b(1:nx, 1:ny) + 2 * a(1:nx, 1:ny)
            call meta_axpy(grid(P), -1.0_c_double, grid(V), box)
            a(1:nx, 1:ny) = a(1:nx, 1:ny) - c(1:nx, 1:ny)
            call check_numbers(grid(U), b, 'faces of cells')
            call check_numbers(grid(P), a, 'cells of faces')
            part = meta_range([1 - low(1), 1], [random_in(1, nx), ny + high(2)])
            found = meta_dot_product(grid(U), grid(V), part)
            call check(found == sum(b(part%lower(1):part%upper(1), part%lower(2):part%upper(2)) * &
                c(part%lower(1):part%upper(1), part%lower(2):part%upper(2))), 'faces by faces')
            call meta_fill_box(grid(U), meta_range([nx + 1, 1], [nx + 1, ny]), 3.0_c_double)
            b(nx + 1, 1:ny) = 3
            call check_numbers(grid(U), b, 'the last faces')
            ! One box of several arrays, and three arrays.
            call meta_reduce_boxes(sums, [grid(P), grid(U), grid(V)], [box, part], META_OP_SUM)
            do k = 1, 2
                if (k == 2) box = part
                x = a(box%lower(1):box%upper(1), box%lower(2):box%upper(2))
                y = b(box%lower(1):box%upper(1), box%lower(2):box%upper(2))
                call check(sums(k, 1) == sum(x) .and. sums(k, 2) == sum(y), 'sums of boxes')
            end do
            box = meta_range(cells)
            call meta_axpby(grid(Q), 2.0_c_double, grid(U), 1.0_c_double, grid(V), box)
            call check(meta_dot_product(grid(Q), grid(Q), box) == &
                sum((2 * b(1:nx, 1:ny) + c(1:nx, 1:ny))**2), 'three arrays')
            ! Types, by conversion; a stencil whose arrays differ.
            call meta_convert(grid(N), grid(U), box)
            call meta_convert(grid(W), grid(N), box)
            call check(meta_sum(grid(N), box) == sum(b(1:nx, 1:ny)), 'to integers')
            call check(meta_sum(grid(W), box) == sum(b(1:nx, 1:ny)), 'to other reals')
            call meta_stencil(grid(V), grid(U), box, META_2D5P)
            call meta_copy_d2h(c, grid(V))
            x = (b(1:nx, 1:ny) + b(0:nx-1, 1:ny) + b(2:nx+1, 1:ny) + b(1:nx, 0:ny-1) + &
                b(1:nx, 2:ny+1)) / 5
            call check(all(abs(c(1:nx, 1:ny) - x) < 1e-12_c_double), 'a stencil')
            call free_all(grid)
        end do
    end subroutine

    subroutine kernels_of_all()
        type(meta_buffer) :: grid(6), line, sums
        type(meta_kernel) :: all_of, shapes
        real(c_double), allocatable :: a(:, :), faces(:, :), nodes(:, :), thin(:, :)
        real(c_double), allocatable :: profile(:), added(:)
        real(c_double), target :: total
        integer :: cells(2), low(2), high(2), round, nx, ny, j
        type(meta_buffer) :: factor
        call promise('kernels_take_cells_faces_and_nodes_of_several_types')
        call meta_kernel_find(all_of, 'family', META_F64)
        call meta_kernel_find(shapes, 'shapes', META_F64)
        call meta_alloc(factor, [2.0_c_double])
        call meta_copy_h2d(factor, [2.0_c_double])
        do round = 1, 12
            call make_family(grid, cells, low, high, large=round > 9)
            nx = cells(1)
            ny = cells(2)
            call put_numbers(grid(P), a)
            call put_numbers(grid(U), faces)
            call put_numbers(grid(N), nodes)
            call put_numbers(grid(W), thin)
            call meta_kernel_run(all_of, meta_range(cells), [meta_array(grid(P)), &
                meta_array(grid(U)), meta_array(grid(N)), meta_array(grid(W)), meta_result(total)])
            a(1:nx, 1:ny) = faces(2:nx+1, 1:ny) - faces(1:nx, 1:ny) + nodes(2:nx+1, 2:ny+1) - &
                nodes(1:nx, 1:ny) + thin(1:nx, 1:ny)
            call check(total == sum(a(1:nx, 1:ny)), 'the sum')
            call check_numbers(grid(P), a, 'the cells')
            ! Faces that the kernel declares as such, and lines without a shape beside padded grids.
            allocate (profile(1-low(2):ny+high(2)), added(1-low(2):ny+high(2)))
            do j = lbound(profile, 1), ubound(profile, 1)
                profile(j) = random_in(-9, 9)
            end do
            added = 1
            call meta_alloc(line, profile, meta_range(lbound(profile), ubound(profile)))
            call meta_alloc(sums, added, meta_range(lbound(added), ubound(added)))
            call meta_copy_h2d(line, profile)
            call meta_copy_h2d(sums, added)
            call meta_kernel_run(shapes, meta_range(cells), [meta_array(grid(P)), &
                meta_array(grid(U)), meta_array(line), meta_array(factor), meta_array(sums)])
            do j = 1, ny
                a(1:nx, j) = 2 * (faces(2:nx+1, j) - faces(1:nx, j)) + profile(j)
                added(j) = added(j) + sum(a(1:nx, j))
            end do
            call check_numbers(grid(P), a, 'the cells of a kernel with shapes')
            call meta_copy_d2h(profile, sums)
            call check(all(profile == added), 'the sums of rows')
            deallocate (profile, added)
            call meta_free(line)
            call meta_free(sums)
            call free_all(grid)
        end do
        call meta_free(factor)
    end subroutine

    subroutine shapes_of_other_buffers()
        type(meta_buffer) :: cells, faces, again
        real(c_double) :: a(0:6, 0:4), b(0:7, 0:4)
        integer :: stat
        call promise('a_buffer_is_given_a_shape_and_loses_it')
        a = 2
        b = 3
        call meta_alloc(cells, a, meta_range(lbound(a), ubound(a)), label='cells')
        call meta_alloc(faces, b, meta_range(lbound(b), ubound(b)), label='faces')
        call meta_copy_h2d(cells, a)
        call meta_copy_h2d(faces, b)
        call meta_axpy(faces, 1.0_c_double, cells, meta_range([5, 3]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'y' and 'x' differ in bounds or padding")
        again = faces
        call meta_grid_shape(again, meta_range([6, 3]))
        call meta_axpy(faces, 1.0_c_double, cells, meta_range([5, 3]))
        b(1:5, 1:3) = b(1:5, 1:3) + 2
        call check_numbers(faces, b, 'a shape beside none')
        call meta_grid_shape(cells, meta_range([5, 3]))
        call meta_axpy(cells, 1.0_c_double, faces, meta_range([5, 3]))
        a(1:5, 1:3) = a(1:5, 1:3) + b(1:5, 1:3)
        call check_numbers(cells, a, 'two shapes')
        call meta_grid_shape(faces, meta_range([0, 3]))
        call meta_axpy(faces, 1.0_c_double, cells, meta_range([0, 1], [0, 3]))
        b(0, 1:3) = b(0, 1:3) + a(0, 1:3)
        call check_numbers(faces, b, 'no cells of its own')
        call meta_grid_shape(cells)
        call meta_grid_shape(faces)
        call meta_axpy(cells, 1.0_c_double, again, meta_range([5, 3]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'y' and 'x' differ in bounds or padding")
        call meta_grid_shape(faces, meta_range([8, 3]), stat)
        call check_err(stat, META_ERR_BOUNDS, "meta_grid_shape: argument 'box', dimension 1: 1:8 leaves")
        call meta_grid_shape(meta_shifted(faces, [1, 0]), meta_range([6, 3]), stat)
        call check_err(stat, META_ERR_POINTER, "meta_grid_shape: argument 'buffer'")
        call meta_free(faces)
        call meta_grid_shape(again, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_grid_shape: argument 'buffer' was freed")
        call meta_free(cells)
    end subroutine

    ! Whichever argument it is: the others go by their own extents.
    subroutine the_array_without_a_shape_counts()
        type(meta_buffer) :: grid(6), dense, weight(5), none(3)
        real(c_double), allocatable :: a(:, :), b(:, :), d(:, :)
        real(c_double) :: sums(1, 3)
        integer :: cells(2), low(2), high(2), k, nx, ny
        type(meta_kernel) :: follow
        type(meta_box) :: box
        call promise('an_array_without_a_shape_gives_the_box_its_extents')
        call make_family(grid, cells, low, high, large=.true.)
        nx = cells(1)
        ny = cells(2)
        box = meta_range(cells)
        call meta_alloc(dense, META_F64, meta_range(1 - low, cells + high + 1))
        call put_numbers(grid(P), a)
        call put_numbers(grid(U), b)
        call put_numbers(dense, d)
        none = [grid(P), dense, grid(U)]
        call meta_reduce_boxes(sums, none, [box], META_OP_SUM)
        call check(all(sums(1, :) == [sum(a(1:nx, 1:ny)), sum(d(1:nx, 1:ny)), sum(b(1:nx, 1:ny))]), &
            'sums of boxes')
        call meta_multiply(grid(V), grid(U), dense, box)
        call check(meta_sum(grid(V), box) == sum(b(1:nx, 1:ny) * d(1:nx, 1:ny)), 'the last one')
        call meta_multiply(grid(V), dense, grid(U), box)
        call check(meta_sum(grid(V), box) == sum(b(1:nx, 1:ny) * d(1:nx, 1:ny)), 'the second one')
        do k = 1, 5
            weight(k) = grid(U)
        end do
        weight(3) = dense
        call meta_stencil_variable(grid(V), grid(P), weight, box, META_2D5P)
        call check(meta_sum(grid(V), box) == sum(b(1:nx, 1:ny) * (a(1:nx, 0:ny-1) + &
            a(0:nx-1, 1:ny) + a(2:nx+1, 1:ny) + a(1:nx, 2:ny+1)) + d(1:nx, 1:ny) * a(1:nx, 1:ny)), &
            'a weight')
        call meta_multiply(dense, grid(P), grid(U), box)
        call check(meta_sum(dense, box) == sum(a(1:nx, 1:ny) * b(1:nx, 1:ny)), 'the first one')
        ! A grid that is shifted is none.
        call put_numbers(dense, d)
        call meta_grid_shape(dense, box)
        call meta_kernel_find(follow, 'follow', META_F64)
        call meta_kernel_run(follow, box, [meta_array(grid(P)), meta_array(meta_shifted(dense, [1, 0]))])
        a(1:nx, 1:ny) = d(2:nx+1, 1:ny)
        call check_numbers(grid(P), a, 'a shifted one')
        call meta_kernel_run(follow, box, [meta_array(grid(U)), meta_array(dense)])
        b(1:nx, 1:ny) = d(1:nx, 1:ny)
        call check_numbers(grid(U), b, 'two grids')
        call meta_free(dense)
        call free_all(grid)
    end subroutine

    subroutine errors_of_families()
        type(meta_buffer) :: two(2), one(1)
        type(meta_grid_field) :: field(2)
        integer(c_int64_t) :: before
        integer :: stat
        call promise('families_that_cannot_be_are_errors')
        before = buffers_now()
        field = [meta_grid_field('u', META_F64), meta_grid_field('u', META_F32)]
        call meta_grid_family(two, field, [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'field': field(1) and field(2) are both called 'u'")
        field = [meta_grid_field('u', META_F64), meta_grid_field('v', META_F32, [0, -2])]
        call meta_grid_family(two, field, [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, 'field(2)%stagger(2) is -2, and there are 1 ghosts')
        field(2) = meta_grid_field('v', META_TYPE_COUNT)
        call meta_grid_family(two, field, [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_TYPE, "'field(2)%type' is no element type")
        field = [meta_grid_field('u', META_F64), meta_grid_field('v', META_F32)]
        call meta_grid_family(one, field, [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'buffer' has 1 elements, 'field' 2")
        call meta_grid_family(one(1:0), field(1:0), [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'buffer' has 0 elements, 'field' 0")
        call meta_grid_family(two, field, [4, 3], [1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'cells', 'low' and 'high' differ in size")
        call meta_grid_family(two, field, [4, 3], [1, -1], [1, 1], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'low': low(2) is -1")
        call check(.not. any([meta_is_allocated(two(1)), meta_is_allocated(two(2))]), 'no buffer')
        call meta_alloc(two(2), META_F64, meta_range([2]))
        call meta_grid_family(two, field, [4, 3], [1, 1], [1, 1], stat)
        call check_err(stat, META_ERR_STATE, "meta_grid_family: argument 'buffer' is allocated already")
        call meta_free(two(2))
        call check_int(buffers_now(), before, 'buffers')
    end subroutine

    subroutine errors_of_calls()
        type(meta_buffer) :: grid(6), other(2)
        type(meta_kernel) :: all_of
        real(c_double), target :: total
        integer :: stat
        call promise('a_call_names_the_grids_that_do_not_meet')
        call meta_kernel_find(all_of, 'family', META_F64)
        call meta_grid_family(grid, fields(), [4, 3], [1, 1], [1, 1])
        call meta_grid_family(other, [meta_grid_field('far', META_F64), &
            meta_grid_field('thin', META_F32)], [4, 3], [1, 2], [1, 1])
        call meta_fill(grid(P), 1.0_c_double)
        call meta_axpy(grid(P), 1.0_c_double, other(1), meta_range([4, 3]), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "meta_axpy: arguments 'y' (""p"") and 'x' (""far"") " // &
            'are grids that begin at the indices 0 and -1 along dimension 2: ')
        call meta_axpy(grid(U), 1.0_c_double, grid(P), meta_range([6, 3]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 1: 1:6 leaves the bounds of 'x', 0:5 (""p"")")
        call meta_axpy(grid(P), 1.0_c_double, grid(U), meta_range([6, 3]), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 1: 1:6 leaves the bounds of 'y', 0:5 (""p"")")
        total = meta_dot_product(grid(P), grid(U), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'a' and 'b' differ in bounds: give a box")
        call meta_axpy(grid(P), 1.0_c_double, grid(W), meta_range([4, 3]), stat=stat)
        call check_err(stat, META_ERR_TYPE, "'y' is of META_F64, 'x' of META_F32")
        call meta_copy_d2d(grid(U), grid(P), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'dst' and 'src' differ in extents")
        call meta_copy_box(grid(U), meta_range([5, 3]), grid(P), meta_range([4, 3]), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'src_box' covers 4 cells along dimension 1")
        total = 7
        call meta_kernel_run(all_of, meta_range([4, 3]), [meta_array(grid(P)), meta_array(grid(U)), &
            meta_array(grid(N)), meta_array(other(2)), meta_result(total)], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "family: arguments 'cells' (""p"") and 'thin' " // &
            '("thin") are grids that begin at the indices 0 and -1 along dimension 2: ')
        call meta_kernel_run(all_of, meta_range([6, 3]), [meta_array(grid(U)), meta_array(grid(P)), &
            meta_array(grid(N)), meta_array(grid(W)), meta_result(total)], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 1: 1:6 leaves no element for the " // &
            "kernel to reach over in 'faces', whose bounds are 0:5 (""p"")")
        call check(total == 7, 'an error wrote a result')
        call check(meta_sum(grid(P)) == 30, 'an error wrote')
        call free_all(grid)
        call free_all(other)
    end subroutine
end program
