! SPDX-License-Identifier: BSD-3-Clause
! Profiling: timers, named ranges, and callbacks of another tool.
module meta_profiling
    use meta_c
    use meta_base
    implicit none
    private
    public :: meta_timers_init, meta_timers_print, meta_timers_finalize
    public :: meta_range_push, meta_range_pop
    public :: meta_set_tool, meta_tool_begin, meta_tool_end

    ! Both are called from any thread of the program, concurrently, and must not call libmeta.
    ! `user` is the argument of meta_set_tool().
    abstract interface
        ! Work of a kind META_ACTIVITY_KERNEL and so on is about to be queued, or begins. It reads
        ! and writes `bytes`; `id` is its number, never 0 and used once in a process.
        subroutine meta_tool_begin(user, activity, name, bytes, id)
            import :: c_int64_t
            class(*), intent(inout) :: user
            integer, intent(in) :: activity
            character(len=*), intent(in) :: name
            integer(c_int64_t), intent(in) :: bytes, id
        end subroutine
        ! It ran from `begin` to `end`, nanoseconds of CLOCK_MONOTONIC; 0 where that is not known.
        subroutine meta_tool_end(user, activity, id, begin, end)
            import :: c_int64_t
            class(*), intent(inout) :: user
            integer, intent(in) :: activity
            integer(c_int64_t), intent(in) :: id, begin, end
        end subroutine
    end interface

    type :: tool
        procedure(meta_tool_begin), pointer, nopass :: begin => null()
        procedure(meta_tool_end), pointer, nopass :: end => null()
        class(*), pointer :: user => null()
    end type
    type(tool), target, save :: current
    ! In place of a `user` that was not given.
    integer, target, save :: nobody = 0

contains

    subroutine meta_timers_init(stat)
        integer, intent(out), optional :: stat
        call finish(c_timers_init(), stat)
    end subroutine

    subroutine meta_timers_print(stat)
        integer, intent(out), optional :: stat
        call finish(c_timers_print(), stat)
    end subroutine

    subroutine meta_timers_finalize(stat)
        integer, intent(out), optional :: stat
        call finish(c_timers_finalize(), stat)
    end subroutine

    subroutine meta_range_push(name, stat)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: stat
        call finish(c_range_push(c_text(name)), stat)
    end subroutine

    subroutine meta_range_pop(stat)
        integer, intent(out), optional :: stat
        call finish(c_range_pop(), stat)
    end subroutine

    ! Registers these procedures for all activities that begin from now on; without arguments,
    ! unregisters them. Call it while no other thread calls the library. `user` must have TARGET and
    ! stay valid until then.
    subroutine meta_set_tool(begin, end, user, stat)
        procedure(meta_tool_begin), optional :: begin
        procedure(meta_tool_end), optional :: end
        class(*), intent(in), target, optional :: user
        integer, intent(out), optional :: stat
        type(meta_c_tool), target :: c
        integer(c_int) :: err
        err = c_set_tool(c_null_ptr)
        current = tool()
        c%size = size(transfer(c, [0_c_int8_t]))
        c%user = c_loc(current)
        c%begin = c_null_funptr
        c%end = c_null_funptr
        current%user => nobody
        if (present(user)) current%user => user
        if (present(begin)) then
            current%begin => begin
            c%begin = c_funloc(tell_begin)
        end if
        if (present(end)) then
            current%end => end
            c%end = c_funloc(tell_end)
        end if
        if (err == META_OK .and. (present(begin) .or. present(end))) err = c_set_tool(c_loc(c))
        call finish(err, stat)
    end subroutine

    subroutine tell_begin(user, activity, name, bytes, id) bind(c, name='')
        type(c_ptr), value :: user
        integer(c_int), value :: activity
        type(c_ptr), value :: name
        integer(c_int64_t), value :: bytes, id
        type(tool), pointer :: it
        call c_f_pointer(user, it)
        call it%begin(it%user, activity, text_of(name), bytes, id)
    end subroutine

    subroutine tell_end(user, activity, id, begin, end) bind(c, name='')
        type(c_ptr), value :: user
        integer(c_int), value :: activity
        integer(c_int64_t), value :: id, begin, end
        type(tool), pointer :: it
        call c_f_pointer(user, it)
        call it%end(it%user, activity, id, begin, end)
    end subroutine
end module meta_profiling
