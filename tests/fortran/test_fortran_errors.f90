! SPDX-License-Identifier: BSD-3-Clause
! Invalid arguments in Fortran: each is an error that names the Fortran argument, and the library
! remains usable.
! TEST: backends=all labels=fortran smoke=yes
program test_fortran_errors
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    character(len=16) :: argument
    ! Of every_buffer_argument() and is_missing().
    logical :: are_freed
    integer :: result
    call get_command_argument(1, argument)
    if (argument == '--stop') call stop_without_stat()
    call before_the_start()
    call tests_begin()
    call unallocated()
    call every_buffer_argument(.false.)
    call every_buffer_argument(.true.)
    call not_contiguous()
    call wrong_kind()
    call wrong_rank_and_extents()
    call out_of_bounds()
    call freed_twice()
    call allocated_twice()
    call small_integers()
    call ghosts_and_padding()
    call bad_shapes()
    call terms_of_fortran()
    call messages_of_both_layers()
    call tests_end()
    call meta_finalize()
    call finalised_twice()
    call tests_end()

contains

    ! For tests/fortran/test_fortran_stop.sh: an error without `stat` ends the program.
    subroutine stop_without_stat()
        real(c_double) :: a(4, 4)
        type(meta_buffer) :: d
        call meta_init()
        call meta_alloc(d, META_F64, meta_range([4, 5]))
        call meta_copy_h2d(d, a)
        print '(a)', 'still running'
        stop 3
    end subroutine

    subroutine before_the_start()
        type(meta_buffer) :: d
        integer :: stat
        call promise('nothing_works_before_meta_init')
        call meta_alloc(d, META_F64, meta_range([4]), stat)
        call check_err(stat, META_ERR_INIT, 'meta_alloc')
        call check(.not. meta_is_allocated(d), 'the buffer')
    end subroutine

    subroutine finalised_twice()
        integer :: stat
        call promise('a_second_finalize_is_an_error')
        call meta_finalize(stat)
        call check_err(stat, META_ERR_INIT, 'meta_finalize')
    end subroutine

    subroutine unallocated()
        real(c_double), allocatable :: a(:, :)
        real(c_float), pointer :: p(:)
        real(c_double) :: b(4, 4)
        type(meta_buffer) :: d, none, other
        type(meta_face) :: face
        integer :: stat
        call promise('what_is_not_allocated_is_an_error')
        nullify (p)
        call meta_alloc(d, b)
        call meta_copy_h2d(d, a, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_h2d: argument 'src' is not allocated")
        call meta_copy_d2h(a, d, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_d2h: argument 'dst' is not allocated")
        call meta_alloc(other, p, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_alloc: argument 'mold' is not allocated")
        call meta_wrap(other, a, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_wrap: argument 'array' is not allocated")
        call meta_copy_h2d(none, b, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_h2d: argument 'dst' is not allocated")
        call meta_copy_d2d(d, none, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_d2d: argument 'src' is not allocated")
        call meta_pack_face(none, d, face, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_pack_face: argument 'packed' is not allocated")
        call meta_stencil(d, none, meta_bounds(d), META_2D5P, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_stencil: argument 'in' is not allocated")
        call check(meta_sum(none, stat=stat) == 0, 'the sum of nothing')
        call check_err(stat, META_ERR_POINTER, "meta_sum: argument 'buffer' is not allocated")
        call check(size(meta_minloc(none, stat=stat)) == 1, 'the place of nothing')
        call check_err(stat, META_ERR_POINTER, "meta_minloc: argument 'buffer' is not allocated")
        call meta_free(none, stat)
        call check_err(stat, META_ERR_POINTER, "meta_free: argument 'buffer' is not allocated")
    end subroutine

    ! Each argument that is a buffer, of each procedure: never allocated, or freed.
    subroutine every_buffer_argument(freed)
        logical, intent(in) :: freed
        real(c_double) :: x, y(1)
        type(meta_buffer) :: d, e, none
        type(meta_box) :: all, some
        type(meta_c_box) :: for_c
        type(meta_face) :: face
        type(meta_pointer_desc) :: desc
        type(c_ptr) :: object
        integer(c_int64_t) :: offset
        integer :: type
        are_freed = freed
        if (freed) then
            call promise('freed_buffers_are_errors_by_their_argument')
        else
            call promise('unallocated_buffers_are_errors_by_their_argument')
        end if
        all = meta_range([6, 6])
        some = meta_range([2, 2], [5, 5])
        x = 1
        call meta_alloc(d, META_F64, all)
        call meta_alloc(e, META_F64, all)
        call meta_face_box(face, d, some)
        if (freed) call meta_alloc(none, META_F64, all)
        if (freed) call meta_free(none)
        call meta_unwrap(none, result)
        call is_missing('meta_unwrap', 'buffer')
        call meta_label(none, 'nothing', result)
        call is_missing('meta_label', 'buffer')
        call meta_pointer_info(none, desc, result)
        call is_missing('meta_pointer_info', 'buffer')
        call meta_native(none, object, offset, result)
        call is_missing('meta_native', 'buffer')
        call meta_native_end(none, result)
        call is_missing('meta_native_end', 'buffer')
        call meta_host_view(none, object, result)
        call is_missing('meta_host_view', 'buffer')
        all = meta_bounds(none, result)
        call is_missing('meta_bounds', 'buffer')
        all = meta_bounds(d)
        type = meta_element_type(none, result)
        call is_missing('meta_element_type', 'buffer')
        object = meta_address(none, result)
        call is_missing('meta_address', 'buffer')
        for_c = meta_box_for_c(none, some, result)
        call is_missing('meta_box_for_c', 'buffer')
        call meta_copy_d2d(none, d, stat=result)
        call is_missing('meta_copy_d2d', 'dst')
        call meta_copy_d2d(d, none, stat=result)
        call is_missing('meta_copy_d2d', 'src')
        call meta_copy_box(none, some, d, some, stat=result)
        call is_missing('meta_copy_box', 'dst')
        call meta_copy_box(d, some, none, some, stat=result)
        call is_missing('meta_copy_box', 'src')
        call meta_fill(none, x, stat=result)
        call is_missing('meta_fill', 'buffer')
        call meta_fill_box(none, some, x, stat=result)
        call is_missing('meta_fill_box', 'buffer')
        call meta_face_make(face, none, [2, 2], [3], [1], result)
        call is_missing('meta_face_make', 'buffer')
        call meta_face_slab(face, none, some, 1, META_SLAB_LOW, 1, result)
        call is_missing('meta_face_slab', 'buffer')
        call meta_face_box(face, none, some, result)
        call is_missing('meta_face_box', 'buffer')
        call meta_pack_face(none, d, face, stat=result)
        call is_missing('meta_pack_face', 'packed')
        call meta_pack_face(d, none, face, stat=result)
        call is_missing('meta_pack_face', 'buf')
        call meta_unpack_face(none, d, face, stat=result)
        call is_missing('meta_unpack_face', 'buf')
        call meta_unpack_face(d, none, face, stat=result)
        call is_missing('meta_unpack_face', 'packed')
        call meta_transpose_face(none, d, [6, 6], stat=result)
        call is_missing('meta_transpose_face', 'out')
        call meta_transpose_face(d, none, [6, 6], stat=result)
        call is_missing('meta_transpose_face', 'in')
        call meta_stencil(none, d, some, META_2D5P, stat=result)
        call is_missing('meta_stencil', 'out')
        call meta_stencil(d, none, some, META_2D5P, x, stat=result)
        call is_missing('meta_stencil', 'in')
        call meta_stencil(d, e, some, META_2D5P, none, stat=result)
        call is_missing('meta_stencil', 'sum')
        call meta_stencil_sums(none, d, some, META_2D5P, x, y, [some], stat=result)
        call is_missing('meta_stencil_sums', 'out')
        call meta_stencil_sums(d, none, some, META_2D5P, y, [some], stat=result)
        call is_missing('meta_stencil_sums', 'in')
        call meta_stencil_sums(d, e, some, META_2D5P, none, e, [some], stat=result)
        call is_missing('meta_stencil_sums', 'sum')
        call meta_stencil_sums(d, e, some, META_2D5P, none, [some], stat=result)
        call is_missing('meta_stencil_sums', 'sums')
        call meta_reduce(x, none, some, META_MAX, stat=result)
        call is_missing('meta_reduce', 'buf')
        call meta_reduce(none, d, some, META_MAX, stat=result)
        call is_missing('meta_reduce', 'result')
        call meta_dot(x, none, d, some, stat=result)
        call is_missing('meta_dot', 'a')
        call meta_dot(x, d, none, some, stat=result)
        call is_missing('meta_dot', 'b')
        call meta_dot(none, d, d, some, stat=result)
        call is_missing('meta_dot', 'result')
        call meta_axpy(none, x, d, some, stat=result)
        call is_missing('meta_axpy', 'y')
        call meta_axpy(d, x, none, some, stat=result)
        call is_missing('meta_axpy', 'x')
        x = meta_minval(none, stat=result)
        call is_missing('meta_minval', 'buffer')
        x = meta_maxval(none, x, stat=result)
        call is_missing('meta_maxval', 'buffer')
        x = meta_sum(none, some, result)
        call is_missing('meta_sum', 'buffer')
        x = meta_dot_product(none, d, stat=result)
        call is_missing('meta_dot_product', 'a')
        x = meta_dot_product(d, none, x, stat=result)
        call is_missing('meta_dot_product', 'b')
        call check(size(meta_maxloc(none, stat=result)) == 1, 'the place of nothing')
        call is_missing('meta_maxloc', 'buffer')
    end subroutine

    subroutine is_missing(call, name)
        character(len=*), intent(in) :: call, name
        if (are_freed) then
            call check_err(result, META_ERR_POINTER, call // ": argument '" // name // &
                "' was freed")
        else
            call check_err(result, META_ERR_POINTER, call // ": argument '" // name // &
                "' is not allocated")
        end if
    end subroutine

    subroutine not_contiguous()
        real(c_double), target :: a(8, 6, 4), before(8, 6, 4)
        real(c_double), pointer :: p(:, :, :)
        integer(c_int8_t) :: bytes(20)
        type(meta_buffer) :: d, line, small, w
        integer :: stat
        call promise('an_array_with_gaps_is_an_error_and_no_copy')
        call random_number(a)
        before = a
        call meta_alloc(d, META_F64, meta_range([4, 6, 4]))
        call meta_fill(d, 5.0_c_double)
        call meta_copy_h2d(d, a(1:4, :, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'src' is not contiguous")
        call meta_copy_h2d(d, a(1:8:2, :, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'src' is not contiguous")
        call check(meta_sum(d) == 5 * 4 * 6 * 4, 'the buffer is as before')
        p => a(8:2:-2, :, :)
        call meta_copy_d2h(p, d, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'dst' is not contiguous")
        call check(all(a == before), 'the array is as before')
        call meta_alloc(small, META_F64, meta_range([8, 3, 4]))
        call meta_copy_h2d(small, a(:, 2:4, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'src' is not contiguous")
        call meta_alloc(line, META_I8, meta_range([10]))
        call meta_copy_d2h(bytes(1:20:2), line, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'dst' is not contiguous")
        call meta_wrap(w, a(:, 2:4, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'array' is not contiguous")
        call check(.not. meta_is_allocated(w), 'no wrap')

        call promise('sections_without_gaps_are_copied')
        call meta_free(small)
        call meta_alloc(small, META_F64, meta_range([8, 6, 2]))
        call meta_copy_h2d(small, a(:, :, 2:3))
        call check(meta_maxval(small) == maxval(a(:, :, 2:3)), 'planes')
        call meta_free(small)
        call meta_alloc(small, META_F64, meta_range([8, 1, 1]))
        call meta_copy_h2d(small, a(:, 3:3, 4:4))
        call check(meta_minval(small) == minval(a(:, 3, 4)), 'a column')
        call meta_copy_d2h(bytes(11:20), line, stat=stat)
        call check_ok(stat, 'the end of an array')
    end subroutine

    subroutine wrong_kind()
        real(c_float) :: a(4)
        integer(c_int64_t) :: n(4)
        integer(c_int32_t) :: u(4)
        type(meta_buffer) :: d, e, f
        integer :: stat
        call promise('an_array_of_another_kind_is_an_error')
        a = 0
        n = 0
        u = -1
        call meta_alloc(d, META_F64, meta_range([4]))
        call meta_copy_h2d(d, a, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'src' is of kind META_F32, 'dst' of META_F64")
        call meta_copy_d2h(n, d, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'dst' is of kind META_I64, 'src' of META_F64")
        call meta_fill(d, 1.0_c_float, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'value' is of kind META_F32, 'buffer' of META_F64")
        call meta_alloc(e, a)
        call meta_copy_d2d(d, e, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'dst' is of META_F64, 'src' of META_F32")
        call check(meta_dot_product(d, e, stat=stat) == 0, 'no product')
        call check_err(stat, META_ERR_TYPE, "'a' is of META_F64, 'b' of META_F32")
        call meta_alloc(f, META_U32, meta_range([4]))
        call meta_copy_h2d(f, u, stat=stat)
        call check_ok(stat, 'unsigned numbers in an integer array')
        call meta_alloc(d, 99, meta_range([4]), stat)
        call check_err(stat, META_ERR_STATE, "'buffer' is allocated already")
        call meta_free(d)
        call meta_alloc(d, 99, meta_range([4]), stat)
        call check_err(stat, META_ERR_TYPE, "'type' is no element type")
    end subroutine

    subroutine wrong_rank_and_extents()
        real(c_double) :: a(4, 4), b(16), c(4, 5), p(2, 2)
        type(meta_buffer) :: d, e
        integer :: stat
        call promise('an_array_of_another_rank_or_shape_is_an_error')
        a = 0
        b = 0
        c = 0
        p = 0
        call meta_alloc(d, a)
        call meta_copy_h2d(d, b, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'src' has rank 1, 'dst' 2")
        call meta_copy_h2d(d, c, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'src', dimension 2 has 5 elements, 'dst' 4")
        call meta_copy_d2h(p, d, stat=stat, box=meta_range([2, 2], [3, 4]))
        call check_err(stat, META_ERR_BOUNDS, "'dst', dimension 2 has 2 elements, argument 'box' 3")
        call meta_fill_box(d, meta_range([4]), 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'box' has rank 1, the buffer 2")
        call meta_alloc(e, c)
        call meta_copy_d2d(d, e, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'dst' and 'src' differ in extents")
        call meta_free(e)
        call meta_alloc(e, a, meta_range([0, 0], [4, 3]), stat)
        call check_err(stat, META_ERR_BOUNDS, &
            "'mold', dimension 1 has 4 elements, argument 'bounds' 5")
    end subroutine

    subroutine out_of_bounds()
        type(meta_buffer) :: d
        type(meta_face) :: face
        integer :: stat
        call promise('a_section_out_of_bounds_is_an_error')
        call meta_alloc(d, META_F64, meta_range([0, -1], [9, 5]))
        call meta_fill_box(d, meta_range([0, -1], [10, 5]), 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, &
            "meta_fill_box: argument 'box', dimension 1: 0:10 leaves the buffer's bounds 0:9")
        call check(meta_sum(d, meta_range([0, -2], [9, 5]), stat) == 0, 'no sum')
        call check_err(stat, META_ERR_BOUNDS, "dimension 2: -2:5 leaves the buffer's bounds -1:5")
        call meta_face_slab(face, d, meta_range([1, 0], [8, 4]), 3, META_SLAB_LOW, 1, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'axis' is 3, the buffer has dimensions 1 to 2")
        call meta_face_slab(face, d, meta_range([1, 0], [8, 4]), 1, META_SLAB_LOW_GHOST, 2, stat)
        call check_err(stat, META_ERR_BOUNDS, 'meta_face_slab')
        call meta_stencil(d, d, meta_bounds(d), META_2D5P, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, 'meta_stencil')
    end subroutine

    subroutine freed_twice()
        type(meta_buffer) :: d
        integer :: stat
        call promise('a_second_free_is_an_error')
        call meta_alloc(d, META_F64, meta_range([4]))
        call meta_free(d, stat)
        call check_ok(stat, 'the first')
        call meta_free(d, stat)
        call check_err(stat, META_ERR_POINTER, "meta_free: argument 'buffer' was freed")
        call meta_unwrap(d, stat)
        call check_err(stat, META_ERR_POINTER, "meta_unwrap: argument 'buffer' was freed")
    end subroutine

    subroutine small_integers()
        type(meta_buffer) :: d
        type(meta_box) :: all
        integer(c_int32_t) :: n
        integer :: stat
        call promise('small_integers_are_not_computed_with')
        all = meta_range([4])
        call meta_alloc(d, META_I16, all, label='counts')
        call meta_fill(d, 1_c_int16_t)
        call check(meta_sum(d, stat=stat) == 0, 'no sum')
        call check_err(stat, META_ERR_TYPE, &
            "meta_sum: argument 'buffer' is of META_I16, which is moved but not computed with")
        n = meta_maxval(d, 0_c_int32_t, stat=stat)
        call check_err(stat, META_ERR_TYPE, "meta_maxval: argument 'buffer' is of META_I16")
        call check(size(meta_minloc(d, stat=stat)) == 1, 'no place')
        call check_err(stat, META_ERR_TYPE, "meta_minloc: argument 'buffer' is of META_I16")
        call meta_reduce(d, d, all, META_MAX, stat=stat)
        call check_err(stat, META_ERR_TYPE, "meta_reduce: argument 'buf' is of META_I16")
        call meta_dot(d, d, d, all, stat=stat)
        call check_err(stat, META_ERR_TYPE, "meta_dot: argument 'a' is of META_I16")
        call meta_axpy(d, 1_c_int32_t, d, all, stat=stat)
        call check_err(stat, META_ERR_TYPE, "meta_axpy: argument 'y' is of META_I16")
        call meta_stencil(d, d, all, META_2D5P, stat=stat)
        call check_err(stat, META_ERR_TYPE, "meta_stencil: argument 'out' is of META_I16")
        call check(index(meta_last_error(), '("counts")') > 0, 'the label')
    end subroutine

    ! A grid of 24 MiB is padded: there is memory beyond its bounds.
    subroutine ghosts_and_padding()
        type(meta_buffer) :: in, out
        type(meta_face) :: face
        type(meta_box) :: own
        integer :: stat
        call promise('padding_is_outside_the_bounds')
        own = meta_range([2049, 1600])
        call meta_grid_alloc(in, META_F64, [2049, 1600], [0, 1], [1, 1])
        call meta_grid_alloc(out, META_F64, [2049, 1600], [0, 1], [1, 1])
        call meta_face_slab(face, in, own, 1, META_SLAB_LOW_GHOST, 1, stat)
        call check_err(stat, META_ERR_BOUNDS, "'width' is 1, but the buffer's bounds leave 0 " // &
            'elements outside the box along dimension 1')
        call meta_face_slab(face, in, own, 1, META_SLAB_HIGH_GHOST, 2, stat)
        call check_err(stat, META_ERR_BOUNDS, "'width' is 2, but the buffer's bounds leave 1")
        call meta_face_slab(face, in, own, 2, META_SLAB_LOW_GHOST, 1, stat)
        call check_ok(stat, 'ghosts that are there')
        call meta_stencil(out, in, own, META_2D5P, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 1: 1:2049 leaves no element " // &
            "for the stencil to reach over in the buffer's bounds 1:2050")
        call meta_fill_box(in, meta_range([0, 1], [2049, 1600]), 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "dimension 1: 0:2049 leaves the buffer's bounds")
    end subroutine

    ! What C says of dimensions and members of descriptions.
    subroutine terms_of_fortran()
        type(meta_buffer) :: d
        type(meta_face) :: face
        integer :: stat
        call promise('messages_of_c_are_in_terms_of_fortran')
        call meta_alloc(d, META_F64, meta_range([8, 8]), label='dimension 0 of u[0]')
        call meta_copy_box(d, meta_range([2, 4]), d, meta_range([5, 1], [6, 3]), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'src_box' covers 3 cells along dimension 2")
        call meta_face_slab(face, d, meta_range([4, 8]), 1, META_SLAB_HIGH, 5, stat)
        call check_err(stat, META_ERR_BOUNDS, 'there are 4 cells in the box along dimension 1')
        call meta_face_make(face, d, [1, 1], [3, -2], [1, 8], stat)
        call check_err(stat, META_ERR_ARGUMENT, 'size(2) is -2')
        call meta_face_make(face, d, [1, 1], [integer ::], [integer ::], stat)
        call check_err(stat, META_ERR_ARGUMENT, "'size' has 0 elements")
        call meta_face_box(face, d, meta_range([4, 8]))
        call meta_pack_face(d, d, face, stat=stat)
        call check_err(stat, META_ERR_OVERLAP, '("dimension 0 of u[0]"')
    end subroutine

    subroutine allocated_twice()
        type(meta_buffer) :: d
        integer :: stat
        call promise('allocating_what_is_allocated_is_an_error')
        call meta_alloc(d, META_F64, meta_range([4]))
        call meta_fill(d, 1.0_c_double)
        call meta_alloc(d, META_F64, meta_range([8]), stat)
        call check_err(stat, META_ERR_STATE, "meta_alloc: argument 'buffer' is allocated already")
        call meta_grid_alloc(d, META_F64, [4], [1], [1], stat)
        call check_err(stat, META_ERR_STATE, "'buffer' is allocated already")
        call meta_unwrap(d, stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' is no wrapped memory")
        call check(meta_sum(d) == 4, 'it is as it was')
    end subroutine

    subroutine bad_shapes()
        type(meta_buffer) :: d
        integer(c_int64_t), parameter :: huge_extent = 2_c_int64_t**40
        integer :: stat
        call promise('shapes_that_cannot_be_are_errors')
        call meta_alloc(d, META_F64, meta_range([4, 0]), stat)
        call check_err(stat, META_ERR_ARGUMENT, "'bounds', dimension 2 has no element")
        call meta_alloc(d, META_F64, meta_range([1, 1], [4]), stat)
        call check_err(stat, META_ERR_ARGUMENT, "'bounds' has no dimension")
        call meta_alloc(d, META_F64, meta_range([huge_extent, huge_extent]), stat)
        call check_err(stat, META_ERR_OVERFLOW, "'bounds' has more bytes than fit")
        call meta_alloc(d, META_F64, meta_range([huge_extent, 1024_c_int64_t]), stat)
        call check_err(stat, META_ERR_NO_MEMORY, 'meta_alloc')
        call check(.not. meta_is_allocated(d), 'the buffer')
    end subroutine

    subroutine messages_of_both_layers()
        type(meta_buffer) :: d
        real(c_double) :: a(4)
        integer :: stat, mode
        call promise('the_message_is_that_of_the_last_failure')
        a = 0
        call meta_copy_h2d(d, a, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_h2d: argument 'dst'")
        call meta_mode_find('no such back end', mode, stat)
        call check_err(stat, META_ERR_NO_DEVICE, 'meta_mode_find')
        call meta_copy_h2d(d, a, stat=stat)
        call check_err(stat, META_ERR_POINTER, "meta_copy_h2d: argument 'dst'")
    end subroutine
end program test_fortran_errors
