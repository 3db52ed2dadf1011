! SPDX-License-Identifier: BSD-3-Clause
! Fortran view of MiniGhost's problem, and bindings of the C functions that the solver needs:
! failures, laps, options. problem.h documents the members of a problem.
module minighost_problem
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    private
    public :: problem, problem_of, numbers, numbers_at, numbers_new, numbers_delete
    public :: check, note, agree, give_cuts
    public :: failure_note_memory
    public :: LAP_STENCIL, LAP_BOUNDARY, LAP_START, LAP_FINISH, OVERLAP_AUTO, OVERLAP_ON
    public :: lap, laps_on, failure_seen, problem_checks, problem_exchange_cuts, minighost_threads

    ! As in laps.h and options.h; solve_f.c looks whether they are.
    enum, bind(c)
        enumerator :: LAP_STENCIL = 0, LAP_BOUNDARY, LAP_START = 3, LAP_FINISH
    end enum
    enum, bind(c)
        enumerator :: OVERLAP_AUTO = 0, OVERLAP_ON
    end enum

    integer, parameter :: MOST_TERMS = 26

    ! minighost_shape of solve_f.h.
    type, bind(c) :: shape_of_problem
        integer(c_int64_t) :: global(3), cells(3)
        integer(c_int64_t) :: lower(3, MOST_TERMS), upper(3, MOST_TERMS)
        type(c_ptr) :: cut(3)
        integer(c_int) :: parts(3), cart, type, stencil, variables, grouped, points, terms
        integer(c_int) :: corners, reference, overlap
    end type

    ! This rank's block has the cells 1 to cells(d) along dimension d, ghosts at 0 and cells(d) + 1.
    type :: problem
        type(c_ptr) :: c = c_null_ptr ! for the program's C
        integer(c_int64_t) :: global(3) = 0, cells(3) = 0
        type(meta_box) :: own, all, term(MOST_TERMS)
        type(meta_cuts) :: cuts
        integer :: cart, type, stencil, variables, grouped, points, terms, overlap
        logical :: corners, reference
    end type

    ! An array of numbers of the problem's type, which the one of the pointers is to that is
    ! associated; none where neither is.
    type :: numbers
        real(c_double), pointer :: r8(:) => null()
        real(c_float), pointer :: r4(:) => null()
    end type

    interface
        subroutine minighost_shape_of(p, shape) bind(c)
            import
            type(c_ptr), value :: p
            type(shape_of_problem), intent(out) :: shape
        end subroutine
        function minighost_threads(p) bind(c) result(threads)
            import
            type(c_ptr), value :: p
            integer(c_int) :: threads
        end function
        subroutine minighost_failed(err, message) bind(c)
            import
            integer(c_int), value :: err
            character(kind=c_char), intent(in) :: message(*)
        end subroutine
        function minighost_agree(p) bind(c) result(seen)
            import
            type(c_ptr), value :: p
            logical(c_bool) :: seen
        end function
        subroutine failure_note_memory(bytes) bind(c)
            import
            real(c_double), value :: bytes
        end subroutine
        function failure_seen() bind(c) result(seen)
            import
            logical(c_bool) :: seen
        end function
        subroutine lap(part) bind(c)
            import
            integer(c_int), value :: part
        end subroutine
        function laps_on() bind(c) result(on)
            import
            logical(c_bool) :: on
        end function
        ! Variables count from 0 on in C.
        function problem_checks(p, variable) bind(c) result(checks)
            import
            type(c_ptr), value :: p
            integer(c_int), value :: variable
            logical(c_bool) :: checks
        end function
        subroutine problem_exchange_cuts(p, cut) bind(c)
            import
            type(c_ptr), value :: p
            type(c_ptr), intent(inout) :: cut(3)
        end subroutine
    end interface

contains

    function problem_of(c) result(p)
        type(c_ptr), intent(in) :: c
        type(problem) :: p
        type(shape_of_problem) :: s
        integer :: t
        call minighost_shape_of(c, s)
        p%c = c
        p%global = s%global
        p%cells = s%cells
        p%own = meta_range(s%cells)
        p%all = meta_range(0 * s%cells, s%cells + 1)
        do t = 1, s%terms
            p%term(t) = meta_range(s%lower(:, t), s%upper(:, t))
        end do
        p%cuts = cuts_of(s)
        p%cart = s%cart
        p%type = s%type
        p%stencil = s%stencil
        p%variables = s%variables
        p%grouped = s%grouped
        p%points = s%points
        p%terms = s%terms
        p%overlap = s%overlap
        p%corners = s%corners /= 0
        p%reference = s%reference /= 0
    end function

    ! The planes that each part of the grid begins with: in C they count from 0 on.
    function cuts_of(s) result(cuts)
        type(shape_of_problem), intent(in) :: s
        type(meta_cuts) :: cuts
        integer(c_int64_t), pointer :: planes(:)
        integer :: d
        cuts%ndim = 3
        do d = 1, 3
            call c_f_pointer(s%cut(d), planes, [s%parts(d) + 1])
            allocate (cuts%dimension(d)%at(0:s%parts(d)))
            cuts%dimension(d)%at = planes + 1
        end do
    end function

    ! Write cuts where the program's C has room for them.
    subroutine give_cuts(cuts, c)
        type(meta_cuts), intent(in) :: cuts
        type(c_ptr), intent(in) :: c(3)
        integer(c_int64_t), pointer :: planes(:)
        integer :: d
        do d = 1, 3
            call c_f_pointer(c(d), planes, [size(cuts%dimension(d)%at)])
            planes = cuts%dimension(d)%at - 1
        end do
    end subroutine

    ! ---------------------------------------------------------------- numbers

    ! The `count` numbers of `type` at an address.
    function numbers_at(address, type, count) result(these)
        type(c_ptr), intent(in) :: address
        integer, intent(in) :: type, count
        type(numbers) :: these
        if (type == META_F64) then
            call c_f_pointer(address, these%r8, [count])
        else
            call c_f_pointer(address, these%r4, [count])
        end if
    end function

    ! Room for `count` numbers; `stat` as ALLOCATE has it.
    subroutine numbers_new(these, type, count, stat)
        type(numbers), intent(inout) :: these
        integer, intent(in) :: type, count
        integer, intent(out) :: stat
        if (type == META_F64) then
            allocate (these%r8(count), stat=stat)
        else
            allocate (these%r4(count), stat=stat)
        end if
        if (stat /= 0) call failure_note_memory(8.0_c_double * count)
    end subroutine

    subroutine numbers_delete(these)
        type(numbers), intent(inout) :: these
        if (associated(these%r8)) deallocate (these%r8)
        if (associated(these%r4)) deallocate (these%r4)
    end subroutine

    ! ---------------------------------------------------------------- failures

    ! As check() of check.h: note a failed call; the program continues to where the ranks agree.
    subroutine check(stat)
        integer, intent(in) :: stat
        character(len=:), allocatable :: text
        if (stat == META_OK) return
        text = meta_last_error()
        if (text == '') text = meta_strerror(stat)
        call minighost_failed(stat, text // c_null_char)
    end subroutine

    ! Note a failure that is not libmeta's.
    subroutine note(text)
        character(len=*), intent(in) :: text
        call minighost_failed(META_ERR_UNSUPPORTED, text // c_null_char)
    end subroutine

    ! Collective. Whether any rank has noted a failure.
    logical function agree(p)
        type(problem), intent(in) :: p
        agree = minighost_agree(p%c)
    end function
end module minighost_problem
