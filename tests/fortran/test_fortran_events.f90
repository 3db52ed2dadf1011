! SPDX-License-Identifier: BSD-3-Clause
! Completion: operations that block, that are tracked by an event and that are not, and procedures
! that are called once an event is complete.
! TEST: backends=all labels=fortran
module event_cases
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    type :: counter
        integer :: calls = 0, status = -1
    end type
contains
    subroutine count_call(user, status)
        class(*), intent(inout) :: user
        integer, intent(in) :: status
        select type (user)
        type is (counter)
            user%calls = user%calls + 1
            user%status = status
        end select
    end subroutine

    ! A callback that calls the library.
    subroutine fill_next(user, status)
        class(*), intent(inout) :: user
        integer, intent(in) :: status
        select type (user)
        type is (meta_buffer)
            if (status == META_OK) call meta_fill(user, 7.0_c_double)
        end select
    end subroutine
end module event_cases

program test_fortran_events
    use event_cases
    use testing
    implicit none
    call tests_begin()
    call tracked_work()
    call untracked_work()
    call many_events()
    call callbacks()
    call callbacks_that_call()
    call the_order_of_work()
    call freed_events()
    call outputs_only_on_success()
    call tests_end()
    call meta_finalize()

contains

    subroutine tracked_work()
        real(c_double), target :: a(1000), b(1000)
        type(meta_buffer) :: d
        type(meta_event) :: there, back
        logical :: complete
        integer :: tries
        call promise('an_event_tells_when_work_is_complete')
        call random_number(a)
        b = 0
        call meta_alloc(d, a)
        call meta_copy_h2d(d, a, there)
        call meta_copy_d2h(b, d, done=back)
        complete = .false.
        do tries = 1, 100000000
            call meta_event_test(back, complete)
            if (complete) exit
        end do
        call check(complete, 'it is complete')
        call meta_event_wait(there)
        call check(all(a == b), 'the array came back')
        call meta_event_free(there)
        call meta_event_free(back)
        call meta_event_wait(back)
    end subroutine

    subroutine untracked_work()
        real(c_double), target :: b(1000)
        type(meta_buffer) :: d
        integer :: k
        call promise('untracked_work_is_done_by_a_flush')
        call meta_alloc(d, b)
        do k = 1, 10
            call meta_fill(d, real(k, c_double), META_ASYNC)
        end do
        call meta_copy_d2h(b, d, META_ASYNC)
        call meta_flush()
        call check(all(b == 10), 'the last fill')
        call check(META_ASYNC%slot == 0, 'META_ASYNC is no event')
    end subroutine

    subroutine many_events()
        type(meta_buffer) :: d(20)
        type(meta_event) :: events(20), none(0)
        integer :: k, stat
        call promise('all_events_are_waited_for')
        do k = 1, 20
            call meta_alloc(d(k), META_I32, meta_range([100]))
            call meta_fill(d(k), k, events(k))
        end do
        call meta_event_waitall(events)
        do k = 1, 20
            call check(meta_sum(d(k), 0) == 100 * k, 'a filled buffer')
            call meta_event_free(events(k))
        end do
        call meta_event_waitall(none, stat)
        call check_ok(stat, 'waiting for nothing')
    end subroutine

    subroutine callbacks()
        type(meta_buffer) :: d
        type(meta_event) :: event
        type(counter), target :: it, other
        call promise('a_procedure_is_called_once_after_an_event')
        call meta_alloc(d, META_F32, meta_range([100]))
        call meta_fill(d, 1.0_c_float, event)
        call meta_event_then(event, count_call, it)
        call meta_event_then(event, count_call, other)
        call meta_event_wait(event)
        call meta_flush()
        call check(it%calls == 1 .and. it%status == META_OK, 'the first one')
        call check(other%calls == 1, 'the second one')
        call meta_event_free(event)
    end subroutine

    subroutine callbacks_that_call()
        type(meta_buffer) :: d
        type(meta_buffer), target :: next
        type(meta_event) :: event
        type(counter), target :: it
        call promise('a_procedure_after_an_event_may_call_the_library')
        call meta_alloc(d, META_F64, meta_range([100]))
        call meta_alloc(next, META_F64, meta_range([10]))
        call meta_fill(next, 1.0_c_double)
        call meta_fill(d, 1.0_c_double, event)
        call meta_event_then(event, fill_next, next)
        call meta_event_free(event) ! it is called all the same
        call meta_flush()
        call check(meta_sum(next) == 70, 'what it filled')
        call promise('the_null_event_is_complete')
        call meta_event_wait(event)
        call meta_event_then(event, count_call, it)
        call meta_flush()
        call check(it%calls == 1 .and. it%status == META_OK, 'its procedure is called')
    end subroutine

    subroutine the_order_of_work()
        real(c_double), target :: a(5000)
        type(meta_buffer) :: d, e
        integer :: k
        call promise('work_is_done_in_the_order_of_the_calls')
        a = 0
        call meta_alloc(d, a)
        call meta_alloc(e, a)
        call meta_fill(d, 1.0_c_double, META_ASYNC)
        call meta_fill(e, 2.0_c_double, META_ASYNC)
        do k = 1, 20 ! as Fibonacci's numbers
            call meta_axpy(d, 1.0_c_double, e, meta_bounds(d), META_ASYNC)
            call meta_axpy(e, 1.0_c_double, d, meta_bounds(d), META_ASYNC)
        end do
        call meta_copy_d2h(a, e, META_ASYNC)
        call meta_free(e) ! completes what is queued on it
        call check(all(a == 433494437.0_c_double), 'the last number')
    end subroutine

    subroutine freed_events()
        type(meta_buffer) :: d
        type(meta_event) :: event, copy
        type(counter), target :: it
        logical :: complete
        integer :: stat
        call promise('a_freed_event_is_an_error')
        call meta_alloc(d, META_I16, meta_range([100]))
        call meta_fill(d, 1_c_int16_t, event)
        copy = event
        call meta_event_wait(event)
        call meta_event_free(event)
        call meta_event_wait(copy, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_event_wait')
        call meta_event_test(copy, complete, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_event_test')
        call meta_event_then(copy, count_call, it, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_event_then')
        call meta_event_free(copy, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_event_free')
    end subroutine

    subroutine outputs_only_on_success()
        type(meta_buffer) :: d
        type(meta_event) :: event
        integer :: stat
        call promise('a_failing_call_leaves_its_event_alone')
        event%slot = 12345
        call meta_fill(d, 1.0_c_double, event, stat)
        call check_err(stat, META_ERR_POINTER, "meta_fill: argument 'buffer' is not allocated")
        call check(event%slot == 12345, 'the event')
    end subroutine
end program test_fortran_events
