! SPDX-License-Identifier: BSD-3-Clause
! The life of a Fortran program, for test_fortran_failures.c: it stops at the first error.
module failing_life
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    private
    public :: life, said

    integer, parameter :: n = 8
    character(len=512), save :: message = ''

contains

    subroutine count_call(user, status)
        class(*), intent(inout) :: user
        integer, intent(in) :: status
        select type (user)
        type is (integer)
            user = user + 1 + 0 * status
        end select
    end subroutine

    integer function first_candidate(decision, user) result(chosen)
        type(meta_decision), intent(in) :: decision
        class(*), intent(inout) :: user
        chosen = 1
        if (decision%cells < 0) call count_call(user, 0)
    end function

    ! @return META_OK, the first error, or -1 where there was none and a result is wrong.
    integer(c_int) function life() bind(c, name='test_life') result(err)
        integer :: code
        call live(code)
        err = int(code, c_int)
    end function

    ! The message of its error.
    subroutine said(text) bind(c, name='test_said')
        character(kind=c_char), intent(out) :: text(513)
        integer :: k
        do k = 1, len_trim(message)
            text(k) = message(k:k)
        end do
        text(len_trim(message) + 1) = c_null_char
    end subroutine

    subroutine live(code)
        integer, intent(out) :: code
        type(meta_buffer) :: a, b, packed
        integer :: ignored
        message = ''
        call meta_init(code)
        if (code /= META_OK) message = meta_last_error()
        if (code /= META_OK) return
        call describe(code)
        if (code == META_OK) call memory(a, b, packed, code)
        if (code == META_OK) call move(a, b, packed, code)
        if (code == META_OK) call wait(a, code)
        if (code == META_OK) call compute(a, b, packed, code)
        if (code == META_OK) call measure(code)
        if (code > META_OK) message = meta_last_error()
        if (meta_is_allocated(a)) call meta_free(a, ignored)
        if (meta_is_allocated(b)) call meta_free(b, ignored)
        if (meta_is_allocated(packed)) call meta_free(packed, ignored)
        call meta_finalize(ignored)
        if (code == META_OK .and. ignored /= META_OK) message = meta_last_error()
        if (code == META_OK) code = ignored
        if (ignored /= META_OK) call meta_finalize(ignored)
    end subroutine

    subroutine describe(code)
        integer, intent(out) :: code
        type(meta_backend_desc) :: backend
        type(meta_variable_desc) :: variable
        type(meta_device_desc) :: device
        type(meta_mem_desc) :: memory_desc
        integer :: index, mode, count
        integer, target :: called
        called = 0
        call meta_get_acc(index, mode, code)
        if (code == META_OK) call meta_backend_count(count, code)
        if (code == META_OK) call meta_backend_info(0, backend, code)
        if (code == META_OK) call meta_variable_count(count, code)
        if (code == META_OK) call meta_variable_info(0, variable, code)
        if (code == META_OK) call meta_device_count(mode, count, code)
        if (code == META_OK) call meta_device_info(index, mode, device, code)
        if (code == META_OK) call meta_mem_info(index, mode, memory_desc, code)
        if (code == META_OK) call meta_set_policy('cost', META_POLICY_THREAD, code)
        if (code == META_OK) call meta_set_policy_function(first_candidate, called, &
            META_POLICY_THREAD, code)
        if (code == META_OK) call meta_set_policy_function(scope=META_POLICY_THREAD, stat=code)
    end subroutine

    subroutine memory(a, b, packed, code)
        type(meta_buffer), intent(inout) :: a, b, packed
        integer, intent(out) :: code
        type(meta_pointer_desc) :: pointer_desc
        type(meta_buffer) :: wrapped, pair(2)
        type(meta_grid_field) :: field(2)
        real(c_double), pointer :: pinned(:)
        real(c_double), target :: own(n)
        logical :: is_host
        type(meta_device_desc) :: device
        integer :: index, mode, ignored
        nullify (pinned)
        own = 1
        call meta_alloc(a, META_F64, meta_range([n, n]), code)
        if (code == META_OK) call meta_grid_alloc(b, META_F64, [n, n], [0, 0], [0, 0], code)
        field(1) = meta_grid_field('x', META_F64)
        field(2) = meta_grid_field('y', META_F32, [1, 0])
        if (code == META_OK) call meta_grid_family(pair, field, [n, n], [0, 0], [1, 0], code)
        if (meta_is_allocated(pair(1)) .neqv. meta_is_allocated(pair(2))) code = -1
        if (meta_is_allocated(pair(1))) call meta_free(pair(1), ignored)
        if (meta_is_allocated(pair(2))) call meta_free(pair(2), ignored)
        if (code == META_OK) call meta_alloc(packed, META_F64, meta_range([n * n]), code)
        if (code == META_OK) call meta_label(a, 'density', code)
        if (code == META_OK) call meta_pointer_info(a, pointer_desc, code)
        if (code == META_OK) call meta_host_alloc(pinned, meta_range([n]), code)
        if (code == META_OK) pinned = 1
        if (associated(pinned)) call meta_host_free(pinned, ignored)
        if (code == META_OK) call meta_get_acc(index, mode, code)
        if (code == META_OK) call meta_device_info(index, mode, device, code)
        if (code /= META_OK) return
        is_host = device%is_host
        if (.not. is_host) return
        call meta_wrap(wrapped, own, stat=code)
        if (code == META_OK) call meta_unwrap(wrapped, code)
        if (code == META_OK) return
        if (meta_is_allocated(wrapped)) call meta_unwrap(wrapped, ignored)
    end subroutine

    subroutine move(a, b, packed, code)
        type(meta_buffer), intent(in) :: a, b, packed
        integer, intent(out) :: code
        real(c_double) :: x(n, n), y(n, n)
        type(meta_buffer) :: again
        type(meta_box) :: own
        type(meta_face) :: face
        integer :: k
        x = reshape([(real(k, c_double), k=1, n * n)], [n, n])
        own = meta_range([2, 2], [n - 1, n - 1])
        call meta_copy_h2d(a, x, stat=code)
        again = a
        if (code == META_OK) call meta_copy_d2d(b, again, META_ASYNC, code)
        if (code == META_OK) call meta_face_box(face, a, own, code)
        if (code == META_OK) call meta_pack_face(packed, a, face, stat=code)
        if (code == META_OK) call meta_unpack_face(a, packed, face, stat=code)
        if (code == META_OK) call meta_copy_box(b, meta_range([1, 1], [n - 2, n - 2]), a, own, stat=code)
        if (code == META_OK) call meta_copy_d2h(y, a, stat=code)
        if (code == META_OK .and. any(x /= y)) code = -1
    end subroutine

    subroutine wait(a, code)
        type(meta_buffer), intent(in) :: a
        integer, intent(out) :: code
        type(meta_event) :: event
        integer, target :: called
        integer :: ignored
        logical :: complete
        called = 0
        call meta_fill(a, 2.0_c_double, event, code)
        if (code == META_OK) call meta_event_then(event, count_call, called, code)
        if (code == META_OK) call meta_event_test(event, complete, code)
        if (code == META_OK) call meta_event_waitall([event], code)
        if (code == META_OK) call meta_flush(code)
        call meta_event_free(event, ignored)
        if (code == META_OK) code = ignored
        if (code == META_OK .and. called /= 1) code = -1
    end subroutine

    subroutine compute(a, b, packed, code)
        type(meta_buffer), intent(in) :: a, b, packed
        integer, intent(out) :: code
        type(meta_box) :: all, own
        real(c_double) :: total, two(1, 1)
        integer(c_int64_t), allocatable :: at(:)
        integer(c_int32_t) :: crc
        all = meta_bounds(a, code)
        own = meta_range([2, 2], [n - 1, n - 1])
        if (code == META_OK) call meta_reduce(total, a, all, META_OP_SUM, stat=code)
        if (code == META_OK .and. total /= 2 * n * n) code = -1
        if (code == META_OK) call meta_reduce_boxes(two, [a], [own], META_MAX, stat=code)
        if (code == META_OK .and. two(1, 1) /= 2) code = -1
        if (code == META_OK) call meta_fill(b, 1.0_c_double, stat=code)
        if (code == META_OK) call meta_stencil(a, same_as(b), own, META_2D5P, stat=code)
        if (code == META_OK) call meta_stencil_sums(a, same_as(b), own, META_2D5P, two(:, 1), [own], &
            stat=code)
        if (code == META_OK) total = meta_sum(b, stat=code)
        if (code == META_OK .and. total /= n * n) code = -1
        if (code == META_OK) at = meta_maxloc(b, stat=code)
        if (code == META_OK) call meta_dot(total, a, a, all, stat=code)
        if (code == META_OK) call meta_axpy(a, 1.0_c_double, same_as(b), all, stat=code)
        if (code == META_OK) call meta_scale(a, 2.0_c_double, same_as(b), all, stat=code)
        if (code == META_OK) call meta_crc32(crc, a, stat=code)
        if (code == META_OK) call meta_fill(packed, 1.0_c_double, stat=code)
        if (code == META_OK) call meta_prefix_sum(packed, packed, .true., stat=code)
        if (code == META_OK) call meta_kernels_prepare(stat=code)
    end subroutine

    ! Another reference to the same memory.
    function same_as(b) result(same)
        type(meta_buffer), intent(in) :: b
        type(meta_buffer) :: same
        same = b
    end function

    subroutine measure(code)
        integer, intent(out) :: code
        integer :: ignored
        call meta_timers_init(code)
        if (code /= META_OK) return
        call meta_range_push('range', code)
        if (code == META_OK) call meta_range_pop(code)
        call meta_timers_finalize(ignored)
        if (code == META_OK) code = ignored
    end subroutine
end module failing_life
