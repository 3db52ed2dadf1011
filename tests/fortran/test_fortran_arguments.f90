! SPDX-License-Identifier: BSD-3-Clause
! Each argument of each procedure that Fortran lets a program give wrongly, other than buffers
! (test_fortran_errors.f90): an error that names the procedure and the Fortran argument, and the
! library remains usable.
! TEST: backends=all labels=fortran smoke=yes
module argument_cases
    use, intrinsic :: iso_c_binding
    implicit none

contains

    subroutine note(user, status)
        class(*), intent(inout) :: user
        integer, intent(in) :: status
        select type (user)
        type is (real(c_double))
            user = status
        end select
    end subroutine
end module argument_cases

program test_fortran_arguments
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    use argument_cases
    implicit none
    integer, parameter :: no_numbers(5) = [-1, 1000, 65536, huge(1), -huge(1)]
    integer(c_int64_t), parameter :: most = huge(1_c_int64_t)
    type(meta_buffer) :: d, e, f, n, words
    type(meta_box) :: all, own, none, flat, outside, turned
    type(meta_face) :: face
    type(meta_event) :: stale, event
    real(c_double), target :: x, y
    integer :: result, mode, index_now, k
    call nothing_before_the_start()
    call tests_begin()
    call meta_get_acc(index_now, mode)
    call make_things()
    call devices()
    call memory()
    call events()
    call faces()
    call computing()
    call ready_kernels()
    call kernels()
    call policies_and_profiles()
    call it_still_computes()
    call tests_end()
    call meta_finalize()

contains

    subroutine make_things()
        all = meta_range([8, 6])
        own = meta_range([2, 2], [7, 5])
        flat = meta_range([48])
        outside = meta_range([0, 1], [8, 6])
        turned = meta_range([7, 2], [2, 5])
        call meta_alloc(d, META_F64, all)
        call meta_alloc(e, META_F64, all)
        call meta_alloc(f, META_F32, all)
        call meta_alloc(n, META_I32, all)
        call meta_alloc(words, META_U8, all)
        call meta_fill(d, 1.0_c_double)
        call meta_fill(e, 2.0_c_double)
        call meta_face_box(face, d, own)
        call meta_fill(d, 1.0_c_double, event)
        call meta_event_wait(event)
        stale = event
        call meta_event_free(event)
        x = 1
    end subroutine

    ! `result` is the error `expected`, its message begins with `call` and names `name`.
    subroutine refused(expected, call, name)
        integer, intent(in) :: expected
        character(len=*), intent(in) :: call, name
        call check_err(result, expected, call // ': ')
        call check_err(result, expected, "'" // name)
    end subroutine

    subroutine nothing_before_the_start()
        type(meta_event) :: null
        integer :: count
        integer(c_int64_t) :: bytes
        call promise('nothing_works_before_meta_init')
        call meta_device_count(META_OPENMP, count, result)
        call check_err(result, META_ERR_INIT, 'meta_device_count: ')
        call meta_set_acc(0, META_OPENMP, result)
        call check_err(result, META_ERR_INIT, 'meta_set_acc: ')
        call meta_flush(result)
        call check_err(result, META_ERR_INIT, 'meta_flush: ')
        call meta_event_wait(null, result)
        call check_err(result, META_ERR_INIT, 'meta_event_wait: ')
        call meta_range_push('range', result)
        call check_err(result, META_ERR_INIT, 'meta_range_push: ')
        call meta_type_size(META_F64, bytes, result)
        call check_ok(result, 'the size of a type')
        call meta_finalize(result)
        call check_err(result, META_ERR_INIT, 'meta_finalize: ')
    end subroutine

    subroutine devices()
        type(meta_backend_desc) :: backend
        type(meta_variable_desc) :: variable
        type(meta_device_desc) :: device
        type(meta_mem_desc) :: memory_desc
        type(meta_pool_desc) :: pool
        type(meta_state) :: state
        integer :: found, number, threads, no
        integer(c_int64_t) :: bytes
        call promise('numbers_of_devices_and_ranks_are_checked')
        do k = 1, size(no_numbers)
            no = no_numbers(k)
            call meta_backend_info(no, backend, result)
            call refused(META_ERR_ARGUMENT, 'meta_backend_info', 'index')
            call meta_variable_info(no, variable, result)
            call refused(META_ERR_ARGUMENT, 'meta_variable_info', 'index')
            call meta_device_count(no, found, result)
            call refused(META_ERR_ARGUMENT, 'meta_device_count', 'mode')
            call meta_device_info(no, mode, device, result)
            call refused(META_ERR_NO_DEVICE, 'meta_device_info', 'index')
            call meta_device_info(0, no, device, result)
            call refused(META_ERR_ARGUMENT, 'meta_device_info', 'mode')
            call meta_set_acc(no, mode, result)
            call refused(META_ERR_NO_DEVICE, 'meta_set_acc', 'index')
            call meta_set_acc(0, no, result)
            call refused(META_ERR_ARGUMENT, 'meta_set_acc', 'mode')
            call meta_mem_info(no, mode, memory_desc, result)
            call refused(META_ERR_NO_DEVICE, 'meta_mem_info', 'index')
            call meta_mem_info(0, no, memory_desc, result)
            call refused(META_ERR_ARGUMENT, 'meta_mem_info', 'mode')
            call meta_pool_info(no, mode, pool, result)
            call refused(META_ERR_NO_DEVICE, 'meta_pool_info', 'index')
            call meta_pool_info(0, no, pool, result)
            call refused(META_ERR_ARGUMENT, 'meta_pool_info', 'mode')
            call meta_pool_trim(no, mode, 0, result)
            call refused(META_ERR_NO_DEVICE, 'meta_pool_trim', 'index')
            call meta_pool_trim(0, no, 0, result)
            call refused(META_ERR_ARGUMENT, 'meta_pool_trim', 'mode')
            call meta_pool_limit(no, mode, 0, result)
            call refused(META_ERR_NO_DEVICE, 'meta_pool_limit', 'index')
            call meta_pool_limit(0, no, 0, result)
            call refused(META_ERR_ARGUMENT, 'meta_pool_limit', 'mode')
            call meta_get_state(no, mode, state, result)
            call check_err(result, META_ERR_NO_DEVICE, "meta_get_state: argument 'index'")
            call meta_get_state(0, no, state, result)
            call refused(META_ERR_ARGUMENT, 'meta_get_state', 'mode')
            call meta_type_size(no, bytes, result)
            call refused(META_ERR_TYPE, 'meta_type_size', 'type')
            found = 77
            call meta_rank_device(no, 2, 0, 2, found, number, threads, result)
            call refused(META_ERR_ARGUMENT, 'meta_rank_device', 'rank')
            call meta_rank_device(0, 2, no, 2, found, number, threads, result)
            call refused(META_ERR_ARGUMENT, 'meta_rank_device', 'node_rank')
            call check(found == 77, 'what is not found is not written')
            if (no > 0) cycle
            call meta_rank_device(0, no, 0, 2, found, number, threads, result)
            call refused(META_ERR_ARGUMENT, 'meta_rank_device', 'size')
            call meta_pool_trim(0, mode, no, result)
            call refused(META_ERR_ARGUMENT, 'meta_pool_trim', 'bytes')
            call meta_pool_limit(0, mode, int(no, c_int64_t), result)
            call refused(META_ERR_ARGUMENT, 'meta_pool_limit', 'bytes')
        end do
        call meta_mode_find('', found, result)
        call refused(META_ERR_NO_DEVICE, 'meta_mode_find', 'name')
        call meta_mode_find('../openmp', found, result)
        call refused(META_ERR_NO_DEVICE, 'meta_mode_find', 'name')
        call meta_set_job(0, 1, 0, 1, result)
        call check_err(result, META_ERR_STATE, 'meta_set_job: ')
        call meta_set_state(0, mode, state, result)
        call check_err(result, META_ERR_STATE, 'meta_set_state: ')
        call meta_init(result)
        call check_err(result, META_ERR_STATE, 'meta_init: ')
    end subroutine

    subroutine memory()
        type(meta_buffer) :: new
        type(meta_buffer) :: pair(2)
        type(meta_grid_field) :: field(2)
        type(meta_pointer_desc) :: desc
        real(c_double), pointer :: p(:)
        real(c_double), target :: a(8, 6), line(4)
        type(c_ptr) :: object
        call promise('shapes_types_and_addresses_of_memory_are_checked')
        nullify (p)
        a = 0
        do k = 1, size(no_numbers)
            call meta_alloc(new, no_numbers(k), all, result)
            call refused(META_ERR_TYPE, 'meta_alloc', 'type')
            call meta_grid_alloc(new, no_numbers(k), [4], [1], [1], result)
            call refused(META_ERR_TYPE, 'meta_grid_alloc', 'type')
            field = [meta_grid_field('u', META_F64), meta_grid_field('', no_numbers(k))]
            call meta_grid_family(pair, field, [4], [1], [1], result)
            call refused(META_ERR_TYPE, 'meta_grid_family', 'field(2)%type')
            call meta_wrap(new, c_loc(line), no_numbers(k), meta_range([4]), META_NATIVE_HOST, &
                result)
            call refused(META_ERR_TYPE, 'meta_wrap', 'type')
            call meta_wrap(new, c_loc(line), META_F64, meta_range([4]), no_numbers(k), result)
            call refused(META_ERR_ARGUMENT, 'meta_wrap', 'kind')
        end do
        call meta_alloc(new, META_F64, none, result)
        call refused(META_ERR_ARGUMENT, 'meta_alloc', 'bounds')
        call meta_alloc(new, META_F64, turned, result)
        call refused(META_ERR_ARGUMENT, 'meta_alloc', 'bounds')
        call meta_alloc(new, META_F64, meta_range([-most], [most]), result)
        call refused(META_ERR_OVERFLOW, 'meta_alloc', 'bounds')
        call meta_alloc(new, a, flat, result)
        call refused(META_ERR_ARGUMENT, 'meta_alloc', 'bounds')
        call meta_grid_alloc(new, META_F64, [4, -1], [1, 1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_alloc', 'cells')
        call meta_grid_alloc(new, META_F64, [4, 4], [1, -1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_alloc', 'low')
        call meta_grid_alloc(new, META_F64, [4, 4], [1, 1], [-huge(1), 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_alloc', 'high')
        call meta_grid_alloc(new, META_F64, [most, most], [1, 1], [1, 1], result)
        call check_err(result, META_ERR_OVERFLOW, 'meta_grid_alloc: ')
        call meta_grid_alloc(new, META_F64, [4, 4], [1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_alloc', 'low')
        field = [meta_grid_field('u', META_F64), meta_grid_field('v', META_F64, [0, -huge(1)])]
        call meta_grid_family(pair, field, [4, 4], [1, 1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_family', 'field')
        call meta_grid_family(pair(1:1), field, [4, 4], [1, 1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_family', 'buffer')
        field(2) = meta_grid_field('v', META_F64, [0, huge(1)])
        call meta_grid_family(pair, field, [4, -1], [1, 1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_family', 'cells')
        call meta_grid_family(pair, field, [4, 4], [1, -1], [1, 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_family', 'low')
        call meta_grid_family(pair, field, [4, 4], [1, 1], [-huge(1), 1], result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_family', 'high')
        call meta_grid_family(pair, field, [most, most], [1, 1], [1, 1], result)
        call check_err(result, META_ERR_OVERFLOW, 'meta_grid_family: ')
        call check(.not. meta_is_allocated(pair(1)), 'no family')
        call meta_grid_shape(d, outside, result)
        call refused(META_ERR_BOUNDS, 'meta_grid_shape', 'box')
        call meta_grid_shape(d, none, result)
        call refused(META_ERR_ARGUMENT, 'meta_grid_shape', 'box')
        call meta_grid_shape(new, own, result)
        call refused(META_ERR_POINTER, 'meta_grid_shape', 'buffer')
        call check(.not. meta_is_allocated(new), 'no buffer')
        call meta_host_alloc(p, meta_range([2, 2]), result)
        call refused(META_ERR_ARGUMENT, 'meta_host_alloc', 'bounds')
        call meta_host_alloc(p, none, result)
        call refused(META_ERR_ARGUMENT, 'meta_host_alloc', 'bounds')
        call check(.not. associated(p), 'no array')
        call meta_host_free(p, result)
        call check_err(result, META_ERR_POINTER, 'meta_host_free: ')
        p => line
        call meta_host_free(p, result)
        call check_err(result, META_ERR_POINTER, 'meta_host_free: ')
        call check(associated(p, line), 'the array is there still')
        call meta_wrap(new, c_null_ptr, META_F64, meta_range([4]), META_NATIVE_HOST, result)
        call refused(META_ERR_ARGUMENT, 'meta_wrap', 'native')
        call meta_wrap(new, c_loc(line), META_F64, none, META_NATIVE_HOST, result)
        call refused(META_ERR_ARGUMENT, 'meta_wrap', 'bounds')
        call meta_wrap(new, line, all, result)
        call refused(META_ERR_ARGUMENT, 'meta_wrap', 'bounds')
        call check(.not. meta_is_allocated(new), 'no buffer')
        object = c_loc(line)
        call meta_pointer_info(object, desc, result)
        call refused(META_ERR_POINTER, 'meta_pointer_info', 'buffer')
        call meta_pointer_info(c_null_ptr, desc, result)
        call refused(META_ERR_ARGUMENT, 'meta_pointer_info', 'buffer')
        call meta_pointer_info(line, desc, result)
        call refused(META_ERR_POINTER, 'meta_pointer_info', 'buffer')
        call meta_label(object, 'label', result)
        call refused(META_ERR_POINTER, 'meta_label', 'buffer')
        call meta_label(c_null_ptr, 'label', result)
        call refused(META_ERR_ARGUMENT, 'meta_label', 'buffer')
        call meta_host_view(d, p, result)
        if (result /= META_ERR_UNSUPPORTED) call refused(META_ERR_ARGUMENT, 'meta_host_view', 'array')
        call meta_copy_h2d(d, a, box=outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_h2d', 'box')
        call meta_copy_d2h(a, d, box=none, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_copy_d2h', 'box')
        call meta_copy_box_h2d(d, outside, a, own, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_box_h2d', 'dst_box')
        call meta_copy_box_h2d(d, own, a, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_box_h2d', 'src_box')
        call meta_copy_box_h2d(d, flat, a, own, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_copy_box_h2d', 'dst_box')
        call meta_copy_box_d2h(a, outside, d, own, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_box_d2h', 'dst_box')
        call meta_copy_box_d2h(a, own, d, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_box_d2h', 'src_box')
        call meta_copy_box(d, outside, e, own, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_copy_box', 'dst_box')
        call meta_copy_box(d, own, e, none, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_copy_box', 'src_box')
        call meta_copy_box(d, own, f, own, stat=result)
        call refused(META_ERR_TYPE, 'meta_copy_box', 'src')
        call meta_fill_box(d, outside, x, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_fill_box', 'box')
        call meta_fill(d, 1.0_c_float, stat=result)
        call refused(META_ERR_TYPE, 'meta_fill', 'value')
    end subroutine

    subroutine events()
        type(meta_event) :: wrong, none_at_all
        logical :: complete
        call promise('stale_events_are_errors')
        wrong%slot = -1
        wrong%generation = -1
        complete = .false.
        call meta_event_test(stale, complete, result)
        call refused(META_ERR_HANDLE, 'meta_event_test', 'event')
        call meta_event_test(wrong, complete, result)
        call refused(META_ERR_HANDLE, 'meta_event_test', 'event')
        call check(.not. complete, 'what is not known is not complete')
        call meta_event_wait(stale, result)
        call refused(META_ERR_HANDLE, 'meta_event_wait', 'event')
        call meta_event_waitall([none_at_all, stale], result)
        call refused(META_ERR_HANDLE, 'meta_event_waitall', 'events')
        call meta_event_then(stale, note, x, result)
        call refused(META_ERR_HANDLE, 'meta_event_then', 'event')
        call meta_event_free(wrong, result)
        call refused(META_ERR_HANDLE, 'meta_event_free', 'event')
    end subroutine

    subroutine faces()
        type(meta_face) :: new, empty
        integer(c_int64_t) :: count
        call promise('faces_that_cannot_be_are_errors')
        do k = 1, size(no_numbers)
            call meta_face_slab(new, d, own, no_numbers(k), META_SLAB_LOW, 1, result)
            call refused(META_ERR_ARGUMENT, 'meta_face_slab', 'axis')
            call meta_face_slab(new, d, own, 1, no_numbers(k), 1, result)
            call refused(META_ERR_ARGUMENT, 'meta_face_slab', 'slab')
            call meta_face_slab(new, d, own, 1, META_SLAB_LOW, no_numbers(k), result)
            call refused(merge(META_ERR_BOUNDS, META_ERR_ARGUMENT, no_numbers(k) > 0), &
                'meta_face_slab', 'width')
        end do
        call meta_face_slab(new, d, outside, 1, META_SLAB_LOW, 1, result)
        call refused(META_ERR_BOUNDS, 'meta_face_slab', 'box')
        call meta_face_make(new, d, [1, 1], [-1], [1], result)
        call refused(META_ERR_ARGUMENT, 'meta_face_make', 'size')
        call meta_face_make(new, d, [1], [2], [1], result)
        call refused(META_ERR_ARGUMENT, 'meta_face_make', 'first')
        call meta_face_make(new, d, [1, 1], [2, 2], [1], result)
        call refused(META_ERR_ARGUMENT, 'meta_face_make', 'stride')
        call meta_face_box(new, d, outside, result)
        call refused(META_ERR_BOUNDS, 'meta_face_box', 'box')
        call meta_face_box(new, d, none, result)
        call refused(META_ERR_ARGUMENT, 'meta_face_box', 'box')
        call meta_face_elements(empty, count, result)
        call refused(META_ERR_ARGUMENT, 'meta_face_elements', 'face')
        call meta_pack_face(e, d, empty, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_pack_face', 'face')
        call meta_unpack_face(e, d, empty, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_unpack_face', 'face')
        call meta_pack_face(f, d, face, stat=result)
        call refused(META_ERR_TYPE, 'meta_pack_face', 'packed')
        call meta_transpose_face(e, d, [-1, 6], stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_transpose_face', 'size')
        call meta_transpose_face(e, d, [most, most], stat=result)
        call refused(META_ERR_OVERFLOW, 'meta_transpose_face', 'size')
        call meta_transpose_face(e, d, [8, 7], stat=result)
        call check_err(result, META_ERR_BOUNDS, 'meta_transpose_face: ')
    end subroutine

    subroutine computing()
        real(c_double) :: two(1, 2)
        call promise('operations_and_boxes_of_computing_are_checked')
        do k = 1, size(no_numbers)
            call meta_stencil(e, d, own, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_stencil', 'kind')
            call meta_stencil_sums(e, d, own, no_numbers(k), two(1, :), [own], stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_stencil_sums', 'kind')
            call meta_reduce(x, d, own, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_reduce', 'op')
            call meta_reduce_boxes(two, [d, e], [own], no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_reduce_boxes', 'op')
        end do
        call meta_stencil(e, d, own, META_3D7P, stat=result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_stencil: ')
        call meta_stencil(e, d, outside, META_2D5P, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_stencil', 'box')
        call meta_stencil_sums(e, d, outside, META_2D5P, two(1, :), [own], stat=result)
        call refused(META_ERR_BOUNDS, 'meta_stencil_sums', 'box')
        call meta_stencil_sums(e, d, own, META_2D5P, two(1, :), [outside], stat=result)
        call refused(META_ERR_BOUNDS, 'meta_stencil_sums', 'part')
        call meta_reduce(x, d, outside, META_MAX, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_reduce', 'box')
        call meta_reduce(x, d, none, META_MAX, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_reduce', 'box')
        call meta_reduce_boxes(two(:, 1:1), [d, e], [own], META_MAX, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_reduce_boxes', 'results')
        call meta_reduce_boxes(two, [d, e], [outside], META_MAX, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_reduce_boxes', 'box')
        call meta_dot(x, d, e, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_dot', 'box')
        call meta_dot(x, d, f, own, stat=result)
        call refused(META_ERR_TYPE, 'meta_dot', 'b')
        call meta_axpy(d, 1.0_c_float, e, own, stat=result)
        call refused(META_ERR_TYPE, 'meta_axpy', 'alpha')
        call meta_axpy(d, 1.0_c_double, e, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_axpy', 'box')
        y = meta_sum(d, outside, result)
        call refused(META_ERR_BOUNDS, 'meta_sum', 'box')
        y = meta_minval(d, outside, result)
        call refused(META_ERR_BOUNDS, 'meta_minval', 'box')
        y = meta_maxval(d, 1.0_c_double, none, result)
        call refused(META_ERR_ARGUMENT, 'meta_maxval', 'box')
        y = meta_dot_product(d, e, outside, result)
        call refused(META_ERR_BOUNDS, 'meta_dot_product', 'box')
        call check(size(meta_minloc(d, outside, result)) > 0, 'no place')
        call refused(META_ERR_BOUNDS, 'meta_minloc', 'box')
        call check(size(meta_maxloc(d, none, result)) > 0, 'no place')
        call refused(META_ERR_ARGUMENT, 'meta_maxloc', 'box')
    end subroutine

    subroutine ready_kernels()
        type(meta_csr) :: matrix
        type(meta_box) :: slab
        integer(c_int64_t) :: ghost, inner
        integer(c_int32_t) :: sum_of_all
        real(c_double) :: weights(5)
        type(meta_buffer) :: nothing
        call promise('arguments_of_ready_kernels_are_checked')
        weights = 0
        call meta_axpby(nothing, x, d, x, e, own, stat=result)
        call refused(META_ERR_POINTER, 'meta_axpby', 'z')
        call meta_axpby(d, x, d, x, f, own, stat=result)
        call refused(META_ERR_TYPE, 'meta_axpby', 'y')
        call meta_axpby(d, x, d, x, e, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_axpby', 'box')
        call meta_xpay(d, nothing, x, e, own, stat=result)
        call refused(META_ERR_POINTER, 'meta_xpay', 'x')
        call meta_scale(d, x, nothing, own, stat=result)
        call refused(META_ERR_POINTER, 'meta_scale', 'x')
        call meta_scale(d, 1.0_c_float, e, own, stat=result)
        call refused(META_ERR_TYPE, 'meta_scale', 'a')
        call meta_multiply(d, e, nothing, own, stat=result)
        call refused(META_ERR_POINTER, 'meta_multiply', 'y')
        call meta_convert(f, nothing, own, stat=result)
        call refused(META_ERR_POINTER, 'meta_convert', 'from')
        call meta_convert(words, d, own, stat=result)
        call check_err(result, META_ERR_TYPE, 'meta_convert: ')
        call meta_convert(f, d, outside, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_convert', 'box')
        do k = 1, size(no_numbers)
            call meta_stencil_constant(e, d, weights, own, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_stencil_constant', 'kind')
            call meta_stencil_variable(e, d, [d, d, d, d, d], own, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_stencil_variable', 'kind')
            call meta_boundary(d, own, no_numbers(k), META_SLAB_LOW_GHOST, 1, &
                META_BOUNDARY_WALL, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_boundary', 'dim')
            call meta_boundary(d, own, 1, no_numbers(k), 1, META_BOUNDARY_WALL, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_boundary', 'side')
            call meta_boundary(d, own, 1, META_SLAB_LOW_GHOST, 1, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_boundary', 'kind')
            call meta_boundary_slab(slab, ghost, inner, d, own, no_numbers(k), &
                META_SLAB_LOW_GHOST, 1, 1, result)
            call refused(META_ERR_ARGUMENT, 'meta_boundary_slab', 'dim')
        end do
        call meta_stencil_constant(e, d, weights(1:4), own, META_2D5P, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_stencil_constant', 'weight')
        call meta_stencil_variable(e, d, [d, d, d, d, nothing], own, META_2D5P, stat=result)
        call refused(META_ERR_POINTER, 'meta_stencil_variable', 'weight')
        call meta_boundary(d, own, 1, META_SLAB_LOW_GHOST, -1, META_BOUNDARY_WALL, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_boundary', 'width')
        call meta_boundary(nothing, own, 1, META_SLAB_LOW_GHOST, 1, META_BOUNDARY_WALL, stat=result)
        call refused(META_ERR_POINTER, 'meta_boundary', 'array')
        call meta_csr_check(matrix, result)
        call check_err(result, META_ERR_POINTER, 'meta_csr_check: ')
        call meta_csr_multiply(d, matrix, e, stat=result)
        call check_err(result, META_ERR_POINTER, 'meta_csr_multiply: ')
        call meta_crc32(sum_of_all, nothing, stat=result)
        call refused(META_ERR_POINTER, 'meta_crc32', 'buf')
        call meta_prefix_sum(nothing, d, .true., stat=result)
        call refused(META_ERR_POINTER, 'meta_prefix_sum', 'out')
        call meta_prefix_sum(d, e, .true., stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_prefix_sum', 'out')
    end subroutine

    subroutine kernels()
        type(meta_kernel) :: kernel
        integer :: low(META_MAX_DIM), high(META_MAX_DIM)
        call promise('kernels_that_are_not_there_are_errors')
        low = 0
        high = 0
        call meta_kernel_find(kernel, 'no_such_kernel', META_F64, result)
        call refused(META_ERR_ARGUMENT, 'meta_kernel_find', 'name')
        call meta_kernel_find(kernel, 'no_such_kernel', -1, result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_kernel_find: ')
        call meta_kernel_compile(kernel, 'a', META_F64, 'a/b.kernel.h', 'text', result)
        call refused(META_ERR_ARGUMENT, 'meta_kernel_compile', 'file')
        call meta_kernel_run(kernel, own, [meta_array(d)], stat=result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_kernel_run: ')
        call meta_kernel_prepare(kernel, result)
        call refused(META_ERR_ARGUMENT, 'meta_kernel_prepare', 'kernel')
        call meta_kernels_prepare([kernel, kernel], result)
        call refused(META_ERR_ARGUMENT, 'meta_kernels_prepare', 'kernels')
        call meta_kernel_reach(kernel, low, high, result)
        call refused(META_ERR_ARGUMENT, 'meta_kernel_reach', 'kernel')
    end subroutine

    subroutine policies_and_profiles()
        call promise('policies_and_ranges_are_checked')
        call meta_set_policy('best', META_POLICY_THREAD, result)
        call refused(META_ERR_ARGUMENT, 'meta_set_policy', 'policy')
        do k = 1, size(no_numbers)
            call meta_set_policy('cost', no_numbers(k), result)
            call refused(META_ERR_ARGUMENT, 'meta_set_policy', 'scope')
            call meta_set_policy_function(scope=no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_set_policy_function', 'scope')
        end do
        call meta_range_pop(result)
        call check_err(result, META_ERR_STATE, 'meta_range_pop: ')
        call meta_timers_print(result)
        call check_err(result, META_ERR_STATE, 'meta_timers_print: ')
    end subroutine

    subroutine it_still_computes()
        call promise('nothing_was_written_and_the_library_still_computes')
        call meta_flush(result)
        call check_ok(result, 'meta_flush')
        x = meta_sum(d)
        y = meta_sum(e)
        call check(x == 48 .and. y == 96, 'the buffers')
        call meta_dot(x, d, e, all)
        call check(x == 96, 'a product')
        call check_int(buffers_now(), 5_c_int64_t, 'buffers')
        call meta_free(d)
        call meta_free(e)
        call meta_free(f)
        call meta_free(n)
        call meta_free(words)
    end subroutine
end program test_fortran_arguments
