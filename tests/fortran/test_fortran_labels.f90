! SPDX-License-Identifier: BSD-3-Clause
! Labels and allocation sites of buffers: labels given at allocation or later, and source locations,
! in descriptors and in errors of both layers. With --leak, for
! tests/fortran/test_fortran_stderr.sh, buffers that are never freed.
! TEST: backends=all labels=fortran smoke=yes
program test_fortran_labels
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    character(len=16) :: argument
    type(meta_buffer) :: kept, gone, unsaid
    call get_command_argument(1, argument)
    if (argument == '--leak') call leave_buffers()
    call tests_begin()
    call labels_of_all_memory()
    call labels_later()
    call texts()
    call errors_found_in_fortran()
    call errors_found_in_c()
    call freed_buffers()
    call places()
    call what_has_no_label()
    call tests_end()
    call meta_finalize()

contains

    subroutine leave_buffers()
        real(c_float), pointer :: pinned(:)
        call meta_init()
        call meta_here('solver.F90', 12)
        call meta_alloc(kept, META_F64, meta_range([100]), label='forgotten')
        call meta_alloc(gone, META_F64, meta_range([100]), label='remembered')
        call meta_free(gone)
        call meta_here('solver.F90', 34)
        call meta_host_alloc(pinned, meta_range([25]), label='staging')
        call meta_alloc(unsaid, META_F64, meta_range([50]), label='unsaid')
        call meta_finalize()
        stop
    end subroutine

    subroutine has_label(buffer, label)
        type(meta_buffer), intent(in) :: buffer
        character(len=*), intent(in) :: label
        type(meta_pointer_desc) :: desc
        call meta_pointer_info(buffer, desc)
        call check(desc%label == label, 'the label ' // trim(desc%label) // ' is ' // label)
    end subroutine

    subroutine labels_of_all_memory()
        real(c_double), target :: a(8)
        real(c_double), pointer :: pinned(:, :)
        type(meta_buffer) :: d, e, grid, wrap, object
        type(meta_pointer_desc) :: desc
        type(meta_device_desc) :: device
        integer :: index, mode
        call promise('whatever_allocates_takes_a_label')
        a = 0
        call meta_alloc(d, META_F64, meta_range([4, 5]), label='by type')
        call has_label(d, 'by type')
        call meta_alloc(e, a, label='by mold')
        call has_label(e, 'by mold')
        call meta_grid_alloc(grid, META_F32, [4, 4], [1, 1], [1, 1], label='grid')
        call has_label(grid, 'grid')
        call meta_host_alloc(pinned, meta_range([0, 0], [3, 4]), label='pinned')
        call meta_pointer_info(pinned, desc)
        call check(desc%label == 'pinned' .and. desc%kind == META_MEMORY_HOST, 'pinned memory')
        call check_int(desc%bytes, 160_c_int64_t, 'its bytes')
        call meta_pointer_info(c_loc(pinned(1, 1)), desc)
        call check(desc%label == 'pinned', 'the label behind an address')
        call check_int(desc%offset, 40_c_int64_t, 'how far into it the address is')
        call meta_host_free(pinned)
        call meta_get_acc(index, mode)
        call meta_device_info(index, mode, device)
        if (.not. device%is_host) return
        call meta_wrap(wrap, a, label='wrapped')
        call has_label(wrap, 'wrapped')
        call meta_unwrap(wrap)
        call meta_wrap(object, c_loc(a), META_F64, meta_range([8]), META_NATIVE_HOST, &
            label='an object')
        call has_label(object, 'an object')
        call meta_unwrap(object)
    end subroutine

    subroutine labels_later()
        real(c_float), pointer :: pinned(:)
        integer(c_int64_t), target :: other(3)
        type(meta_buffer) :: d, copy, none
        type(meta_pointer_desc) :: desc
        integer :: stat
        call promise('a_label_can_be_changed_and_taken_away')
        call meta_alloc(d, META_I16, meta_range([7]))
        call has_label(d, '')
        call meta_label(d, 'density')
        call has_label(d, 'density')
        copy = d
        call has_label(copy, 'density')
        call meta_label(meta_address(d), 'pressure')
        call has_label(d, 'pressure')
        call meta_label(copy, '')
        call has_label(d, '')
        call meta_host_alloc(pinned, meta_range([9]))
        call meta_label(pinned, 'staging')
        call meta_pointer_info(pinned, desc)
        call check(desc%label == 'staging', 'the label of pinned memory')
        call meta_host_free(pinned)

        call promise('only_what_libmeta_has_takes_a_label')
        other = 0
        call meta_label(none, 'nothing', stat)
        call check_err(stat, META_ERR_POINTER, "meta_label: argument 'buffer' is not allocated")
        call meta_label(other, 'no buffer', stat)
        call check_err(stat, META_ERR_POINTER, "meta_label: argument 'buffer' (")
        call meta_label(c_loc(other), 'no buffer', stat)
        call check_err(stat, META_ERR_POINTER, "meta_label: argument 'buffer' (")
        call meta_label(c_null_ptr, 'no buffer', stat)
        call check_err(stat, META_ERR_ARGUMENT, "meta_label: argument 'buffer' is NULL")
        call meta_pointer_info(other, desc, stat)
        call check_err(stat, META_ERR_POINTER, "meta_pointer_info: argument 'buffer' (")
        call meta_label(pinned, 'no more', stat)
        call check_err(stat, META_ERR_POINTER, "meta_label: argument 'buffer' is not allocated")
    end subroutine

    subroutine texts()
        type(meta_buffer) :: d
        character(len=100) :: long
        call promise('labels_end_before_blanks_and_at_63_characters')
        long = repeat('x', 100)
        call meta_alloc(d, META_F64, meta_range([4]), label='a b   ')
        call has_label(d, 'a b')
        call meta_label(d, long)
        call has_label(d, long(1:META_LABEL_BYTES - 1))
        long = 'short'
        call meta_label(d, long)
        call has_label(d, 'short')
    end subroutine

    subroutine errors_found_in_fortran()
        real(c_double) :: a(4, 5)
        type(meta_buffer) :: d
        integer :: stat
        call promise('errors_that_fortran_finds_name_the_label')
        a = 0
        call meta_alloc(d, META_F64, meta_range([4, 4]), label='density')
        call meta_fill_box(d, meta_range([4, 5]), 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "leaves the buffer's bounds 1:4 (""density"")")
        call meta_copy_h2d(d, a, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, &
            "'src', dimension 2 has 5 elements, 'dst' 4 (""density"")")
        call meta_fill_box(d, meta_range([4]), 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "has rank 1, the buffer 2 (""density"")")
        call meta_alloc(d, a, stat=stat)
        call check_err(stat, META_ERR_STATE, "'buffer' is allocated already (""density"")")
    end subroutine

    subroutine errors_found_in_c()
        type(meta_buffer) :: d
        type(meta_face) :: face
        integer :: stat
        call promise('errors_that_c_finds_name_label_and_place')
        call meta_here('/home/me/solver.F90', 56)
        call meta_alloc(d, META_F64, meta_range([8]), label='density')
        call meta_face_box(face, d, meta_range([1], [4]))
        call meta_pack_face(d, d, face, stat=stat)
        call check_err(stat, META_ERR_OVERLAP, &
            '("density", allocated at /home/me/solver.F90:56)')
    end subroutine

    subroutine freed_buffers()
        type(meta_buffer) :: d, copy, e
        integer :: stat
        call promise('a_freed_buffer_is_named_with_both_its_places')
        call meta_here('solver.F90', 7)
        call meta_alloc(d, META_F64, meta_range([5000]), label='pressure')
        copy = d
        call meta_here('solver.F90', 8)
        call meta_free(d)
        call meta_fill(copy, 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' was freed " // &
            '("pressure", allocated at solver.F90:7, freed at solver.F90:8)')
        call meta_free(d, stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' was freed " // &
            '("pressure", allocated at solver.F90:7, freed at solver.F90:8)')
        ! Its memory, or the reference's, is another buffer's: no label is better than a wrong one.
        call meta_alloc(e, META_F64, meta_range([5000]), label='velocity')
        call meta_fill(copy, 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' was freed")
        call check(index(meta_last_error(), 'velocity') == 0, 'the other one is not named')
    end subroutine

    ! The place of what was allocated last, as an error has it.
    subroutine has_place(d, place, is_there)
        type(meta_buffer), intent(in) :: d
        character(len=*), intent(in) :: place
        logical, intent(in) :: is_there
        type(meta_face) :: face
        integer :: stat
        call meta_face_box(face, d, meta_range([1]))
        call meta_pack_face(d, d, face, stat=stat)
        call check_err(stat, META_ERR_OVERLAP, 'allocated at')
        call check((index(meta_last_error(), place) > 0) .eqv. is_there, 'the place ' // place // &
            ' in ' // meta_last_error())
    end subroutine

    subroutine places()
        type(meta_buffer) :: a, b, c, d, none
        character(len=400) :: path
        integer :: stat
        call promise('a_place_is_said_for_one_call')
        call meta_here('here.F90', 1)
        call meta_alloc(a, META_F64, meta_range([4]))
        call meta_alloc(b, META_F64, meta_range([4]))
        call has_place(a, 'here.F90:1', .true.)
        call has_place(b, 'here.F90:1', .false.)
        call meta_here('failed.F90', 2)
        call meta_alloc(none, META_F64, meta_range([0]), stat)
        call check_err(stat, META_ERR_ARGUMENT, "'bounds'")
        call meta_alloc(c, META_F64, meta_range([4]))
        call has_place(c, 'failed.F90', .false.)
        call meta_here('taken_back.F90', 3)
        call meta_here('', 0)
        path = repeat('/folder', 50) // '/end.F90'
        call meta_here(path, 4)
        call meta_alloc(d, META_F64, meta_range([4]))
        call has_place(d, '/folder/end.F90:4', .true.)
    end subroutine

    subroutine what_has_no_label()
        type(meta_buffer) :: d
        type(meta_pointer_desc) :: desc
        integer :: stat
        call promise('an_absent_label_is_none')
        call meta_alloc(d, META_F64, meta_range([4]))
        call meta_pointer_info(d, desc)
        call check(desc%label == '', 'no label')
        call meta_fill_box(d, meta_range([5]), 1.0_c_double, stat=stat)
        call check(index(meta_last_error(), '(') == 0, 'no parentheses in ' // meta_last_error())
    end subroutine
end program test_fortran_labels
