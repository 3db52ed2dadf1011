! SPDX-License-Identifier: BSD-3-Clause
! Profiling: timers, ranges, and tool callbacks. With --summary,
! for tests/fortran/test_fortran_stderr.sh, prints the summary table.
! TEST: backends=all labels=fortran smoke=yes
module profiling_cases
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    integer, parameter :: most = 64

    ! What a tool has heard.
    type :: listener
        integer :: begins = 0, ends = 0, wrong = 0
        integer :: activity(most) = -1
        integer(c_int64_t) :: id(most) = 0, bytes(most) = 0
        character(len=20) :: name(most) = ''
        logical :: ended(most) = .false.
    end type

contains

    subroutine hear_begin(user, activity, name, bytes, id)
        class(*), intent(inout) :: user
        integer, intent(in) :: activity
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: bytes, id
        integer :: n
        select type (user)
        type is (listener)
            if (id == 0 .or. any(user%id == id) .or. user%begins == most) then
                user%wrong = user%wrong + 1
                return
            end if
            n = user%begins + 1
            user%begins = n
            user%activity(n) = activity
            user%name(n) = name
            user%bytes(n) = bytes
            user%id(n) = id
        end select
    end subroutine

    subroutine hear_end(user, activity, id, begin, end)
        class(*), intent(inout) :: user
        integer, intent(in) :: activity
        integer(c_int64_t), intent(in) :: id, begin, end
        integer :: k
        select type (user)
        type is (listener)
            do k = 1, user%begins
                if (user%id(k) /= id) cycle
                if (user%ended(k) .or. user%activity(k) /= activity .or. end < begin) exit
                user%ended(k) = .true.
                user%ends = user%ends + 1
                return
            end do
            user%wrong = user%wrong + 1
        end select
    end subroutine

    ! Five fills, a copy each way and a reduction, in two ranges.
    subroutine known_work()
        real(c_double), target :: a(1000)
        type(meta_buffer) :: d
        real(c_double) :: total
        integer :: k
        a = 1
        call meta_range_push('outer')
        call meta_alloc(d, a)
        call meta_range_push('inner')
        do k = 1, 5
            call meta_fill(d, real(k, c_double), META_ASYNC)
        end do
        call meta_range_pop()
        call meta_copy_h2d(d, a)
        call meta_copy_d2h(a, d, META_ASYNC)
        total = meta_sum(d)
        call meta_range_pop()
        call meta_flush()
    end subroutine
end module profiling_cases

program test_fortran_profiling
    use profiling_cases
    use testing
    implicit none
    character(len=16) :: argument
    call get_command_argument(1, argument)
    if (argument == '--summary') call print_a_summary()
    call tests_begin()
    call timers()
    call ranges()
    call a_tool()
    call tools_come_and_go()
    call tests_end()
    call meta_finalize()

contains

    subroutine print_a_summary()
        call meta_init()
        call meta_timers_init()
        call known_work()
        call meta_timers_print()
        call meta_timers_finalize()
        call known_work()
        call meta_finalize()
        stop
    end subroutine

    subroutine timers()
        integer :: stat
        call promise('timers_are_started_before_they_are_printed')
        call meta_timers_print(stat)
        call check_err(stat, META_ERR_STATE, 'meta_timers_print')
        call meta_timers_finalize(stat)
        call check_err(stat, META_ERR_STATE, 'meta_timers_finalize')
        call meta_timers_init(stat)
        call check_ok(stat, 'meta_timers_init')
        call meta_timers_init(stat)
        call check_err(stat, META_ERR_STATE, 'meta_timers_init')
        call known_work()
        call meta_timers_finalize(stat)
        call check_ok(stat, 'meta_timers_finalize')
    end subroutine

    subroutine ranges()
        integer :: k, stat
        call promise('ranges_nest_and_every_one_is_closed_once')
        call meta_range_pop(stat)
        call check_err(stat, META_ERR_STATE, 'meta_range_pop')
        do k = 1, 64
            call meta_range_push('deep', stat)
            call check_ok(stat, 'meta_range_push')
        end do
        call meta_range_push('too deep', stat)
        call check_err(stat, META_ERR_STATE, 'meta_range_push')
        do k = 1, 64
            call meta_range_pop(stat)
            call check_ok(stat, 'meta_range_pop')
        end do
        call meta_range_pop(stat)
        call check_err(stat, META_ERR_STATE, 'meta_range_pop')
    end subroutine

    ! How often `name` begins among what was heard.
    integer function times(it, name)
        type(listener), intent(in) :: it
        character(len=*), intent(in) :: name
        times = count(it%name(1:it%begins) == name)
    end function

    subroutine a_tool()
        type(listener), target :: it
        integer :: k, n
        call promise('a_tool_gets_each_begin_and_end_once')
        call meta_set_tool(hear_begin, hear_end, it)
        call known_work()
        call meta_set_tool() ! tells the ends that are left
        n = it%begins
        call known_work()
        call check_int(int(it%begins, c_int64_t), int(n, c_int64_t), 'what was heard afterwards')
        call check_int(int(it%wrong, c_int64_t), 0_c_int64_t, 'what should not be')
        call check_int(int(n, c_int64_t), 10_c_int64_t, 'beginnings')
        call check_int(int(it%ends, c_int64_t), int(n, c_int64_t), 'ends')
        call check(it%name(1) == 'outer' .and. it%activity(1) == META_ACTIVITY_RANGE, 'the range')
        call check(times(it, 'inner') == 1, 'the one in it')
        call check(times(it, 'fill f64') == 5, 'fills')
        call check(times(it, 'copy h2d') == 1 .and. times(it, 'copy d2h') == 1, 'copies')
        do k = 1, n
            if (it%name(k) == 'fill f64') call check(it%activity(k) == META_ACTIVITY_KERNEL .and. &
                it%bytes(k) == 8000, 'a fill')
            if (it%name(k) == 'copy h2d') call check(it%activity(k) == META_ACTIVITY_COPY .and. &
                it%bytes(k) == 8000, 'a copy')
        end do
    end subroutine

    subroutine tools_come_and_go()
        type(listener), target :: first, second
        integer :: stat
        call promise('a_tool_may_listen_to_one_thing')
        call meta_set_tool(begin=hear_begin, user=first)
        call known_work()
        call meta_set_tool(end=hear_end, user=second, stat=stat)
        call check_ok(stat, 'meta_set_tool')
        call meta_set_tool()
        call check(first%begins == 10 .and. first%ends == 0, 'beginnings alone')
        call check(second%begins == 0, 'ends alone')
        call meta_set_tool(hear_begin, hear_end) ! tells nobody of them
        call known_work()
        call meta_set_tool(stat=stat)
        call check_ok(stat, 'meta_set_tool')
        call check(first%begins == 10, 'no more')
    end subroutine
end program test_fortran_profiling
