! SPDX-License-Identifier: BSD-3-Clause
! Policies of META_AUTO: how the device of a kernel is chosen; see meta_set_policy() in meta.h.
module meta_policies
    use meta_c
    use meta_base
    implicit none
    private
    public :: meta_set_policy, meta_set_policy_function, meta_policy_function
    public :: meta_candidate, meta_decision

    ! A device that could run a kernel, with each term of what that is expected to cost, in seconds.
    type :: meta_candidate
        character(len=48) :: device
        integer :: mode, index, number ! number: in META_AUTO_DEVICES, from 0
        logical :: is_known
        real(c_double) :: queued, moving, running, returning
        integer(c_int64_t) :: missing_bytes
    end type

    ! A kernel whose device is to be chosen.
    type :: meta_decision
        character(len=:), allocatable :: kernel
        integer :: type
        integer(c_int64_t) :: cells, bytes
        type(meta_candidate), allocatable :: candidate(:)
    end type

    abstract interface
        ! The index of the one of decision%candidate that is chosen. It must not call libmeta. `user` is the
        ! argument of meta_set_policy_function().
        function meta_policy_function(decision, user) result(chosen)
            import :: meta_decision
            type(meta_decision), intent(in) :: decision
            class(*), intent(inout) :: user
            integer :: chosen
        end function
    end interface

    type :: chooser
        procedure(meta_policy_function), pointer, nopass :: function => null()
        class(*), pointer :: user => null()
    end type
    ! A function's last ones, of each scope.
    type(chooser), target, save :: current(META_POLICY_THREAD:META_POLICY_CALL)
    ! In place of a `user` that was not given.
    integer, target, save :: nobody = 0

contains

    ! A blank policy: as without this call.
    subroutine meta_set_policy(policy, scope, stat)
        character(len=*), intent(in) :: policy
        integer, intent(in) :: scope
        integer, intent(out), optional :: stat
        character(kind=c_char), target :: text(len_trim(policy) + 1)
        if (policy == '') then
            call finish(c_set_policy(c_null_ptr, scope), stat)
        else
            text = c_text(policy)
            call finish(c_set_policy(c_loc(text), scope), stat)
        end if
    end subroutine

    ! Only for one thread of the program at a time. `user` must have TARGET and stay valid while the
    ! function is used. Without a function: as without this call.
    subroutine meta_set_policy_function(function, user, scope, stat)
        procedure(meta_policy_function), optional :: function
        class(*), intent(in), target, optional :: user
        integer, intent(in) :: scope
        integer, intent(out), optional :: stat
        if (.not. present(function) .or. scope < META_POLICY_THREAD .or. scope > META_POLICY_CALL) then
            call finish(c_set_policy_function(c_null_funptr, c_null_ptr, scope), stat)
            return
        end if
        current(scope)%function => function
        current(scope)%user => nobody
        if (present(user)) current(scope)%user => user
        call finish(c_set_policy_function(c_funloc(ask), c_loc(current(scope)), scope), stat)
    end subroutine

    function ask(decision, user) bind(c, name='') result(place)
        type(meta_c_decision), intent(in) :: decision
        type(c_ptr), value :: user
        integer(c_int) :: place
        type(chooser), pointer :: it
        type(meta_decision) :: d
        type(meta_c_candidate), pointer :: one
        type(c_ptr), pointer :: list(:)
        integer :: k
        call c_f_pointer(user, it)
        call c_f_pointer(decision%candidate, list, [decision%candidates])
        d%kernel = text_of(decision%kernel)
        d%type = decision%type
        d%cells = decision%cells
        d%bytes = decision%bytes
        allocate(d%candidate(decision%candidates))
        do k = 1, decision%candidates
            call c_f_pointer(list(k), one)
            d%candidate(k) = meta_candidate(text_of(one%device), one%mode, one%index, one%number, &
                one%is_known /= 0, one%queued, one%moving, one%running, one%returning, &
                one%missing_bytes)
        end do
        place = int(it%function(d, it%user), c_int) - 1
    end function
end module meta_policies
