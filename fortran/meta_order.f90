! SPDX-License-Identifier: BSD-3-Clause
! Completion of operations: events.
module meta_order
    use meta_c
    use meta_base
    implicit none
    private
    public :: meta_flush, meta_event_test, meta_event_wait, meta_event_waitall, meta_event_then
    public :: meta_event_free, meta_event_function

    abstract interface
        ! Called once with what meta_event_then() was given and the operation's error.
        subroutine meta_event_function(user, status)
            class(*), intent(inout) :: user
            integer, intent(in) :: status
        end subroutine
    end interface

    type :: waiting
        procedure(meta_event_function), pointer, nopass :: function => null()
        class(*), pointer :: user => null()
    end type

contains

    subroutine meta_flush(stat)
        integer, intent(out), optional :: stat
        call finish(c_flush(), stat)
    end subroutine

    subroutine meta_event_test(event, complete, stat)
        type(meta_event), intent(in) :: event
        logical, intent(inout) :: complete
        integer, intent(out), optional :: stat
        integer(c_int) :: c, err
        err = c_event_test(event, c)
        if (err == META_OK) complete = c /= 0
        call finish(err, stat)
    end subroutine

    subroutine meta_event_wait(event, stat)
        type(meta_event), intent(in) :: event
        integer, intent(out), optional :: stat
        call finish(c_event_wait(event), stat)
    end subroutine

    subroutine meta_event_waitall(events, stat)
        type(meta_event), intent(in), target :: events(:)
        integer, intent(out), optional :: stat
        type(meta_event), target :: all(size(events) + 1)
        all(1:size(events)) = events
        call finish(c_event_waitall(int(size(events), c_size_t), c_loc(all(1))), stat)
    end subroutine

    ! `user` must stay valid, and have TARGET, until `function` was called.
    subroutine meta_event_then(event, function, user, stat)
        type(meta_event), intent(in) :: event
        procedure(meta_event_function) :: function
        class(*), intent(in), target :: user
        integer, intent(out), optional :: stat
        type(waiting), pointer :: new
        integer(c_int) :: err
        integer :: failed
        allocate (new, stat=failed)
        if (failed /= 0) then
            call finish(fail(META_ERR_NO_MEMORY, 'meta_event_then', &
                'the host has no memory for a function to be called'), stat)
            return
        end if
        new%function => function
        new%user => user
        err = c_event_then(event, c_funloc(complete_one), c_loc(new))
        if (err /= META_OK) deallocate (new)
        call finish(err, stat)
    end subroutine

    subroutine complete_one(user, status) bind(c, name='')
        type(c_ptr), value :: user
        integer(c_int), value :: status
        type(waiting), pointer :: it
        type(waiting) :: copy
        call c_f_pointer(user, it)
        copy = it
        deallocate (it)
        call copy%function(copy%user, status)
    end subroutine

    subroutine meta_event_free(event, stat)
        type(meta_event), intent(inout) :: event
        integer, intent(out), optional :: stat
        call finish(c_event_free(event), stat)
    end subroutine
end module meta_order
