! SPDX-License-Identifier: BSD-3-Clause
! Internals of the Fortran solver: solve.f90, overlap.f90 for --overlap, and solve_move.f90 for
! uneven blocks.
module minighost_solver
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_kernel
    implicit none
    private
    public :: solver, solver_new, solver_delete, create_plan, free_plan, create_next, free_all
    public :: MOST_PIECES, sums_at, sums_apart, sum_sides, place_of_sum, apply_to, swap

    ! A block's own cells are computed at once, or in its inner part and up to six more.
    integer, parameter :: MOST_PIECES = 7

    ! grid(v) has variable v's values now; its new ones are left in next(v), which in MiniGhost 1.0
    ! is one array for all.
    type :: solver
        type(problem) :: p
        integer :: threads = 0 ! see threads_of_loops()
        type(meta_halo) :: halo
        type(meta_buffer), allocatable :: grid(:), next(:)
        logical :: planned = .false. ! whether there is a plan
        logical :: split = .false.   ! the inner part is computed while ghost cells travel
        type(numbers) :: pieces      ! then: the sums of the parts, MOST_PIECES for each variable
    end type

contains

    ! ---------------------------------------------------------------- life

    ! Collective. Null where a rank has no memory.
    function solver_new(p) result(s)
        type(problem), intent(in) :: p
        type(solver), pointer :: s
        integer :: v, stat
        nullify (s)
        allocate (s, stat=stat)
        if (stat == 0) allocate (s%grid(p%variables), s%next(p%variables), stat=stat)
        if (stat == 0) call numbers_new(s%pieces, p%type, MOST_PIECES * p%variables, stat)
        if (stat /= 0) call failure_note_memory(16.0_c_double * p%variables)
        if (agree(p)) then
            if (associated(s)) call solver_delete(s)
            nullify (s)
            return
        end if
        s%p = p
        s%threads = threads_of_loops(p)
        do v = 1, p%variables
            call array_new(p, s%grid(v))
        end do
        call create_next(s)
        if (.not. agree(p)) call create_plan(s)
    end function

    ! Its buffers would go with it; what fails is to be known.
    subroutine solver_delete(s)
        type(solver), pointer :: s
        call free_plan(s)
        if (allocated(s%grid)) call free_all(s%grid)
        if (allocated(s%next)) call free_all(s%next)
        call numbers_delete(s%pieces)
        deallocate (s)
    end subroutine

    subroutine free_all(arrays)
        type(meta_buffer), intent(inout) :: arrays(:)
        integer :: k, stat
        do k = 1, size(arrays)
            if (.not. meta_is_allocated(arrays(k))) cycle
            call meta_free(arrays(k), stat)
            call check(stat)
        end do
    end subroutine

    subroutine create_next(s)
        type(solver), intent(inout) :: s
        integer :: v
        do v = 1, size(s%next)
            if (s%p%reference .and. v > 1) then
                s%next(v) = s%next(1)
            else
                call array_new(s%p, s%next(v))
            end if
        end do
    end subroutine

    ! Collective. The plan of the block's exchange.
    subroutine create_plan(s)
        type(solver), intent(inout) :: s
        integer(c_int) :: kind
        integer :: stat
        kind = META_HALO_FACES
        if (s%p%corners) kind = META_HALO_ALL
        call meta_halo_create(s%halo, s%p%cart, s%grid(1:s%p%grouped), s%p%own, low=[1, 1, 1], &
            high=[1, 1, 1], kind=kind, stat=stat)
        call check(stat)
        s%planned = stat == META_OK
    end subroutine

    subroutine free_plan(s)
        type(solver), intent(inout) :: s
        integer :: stat
        if (.not. s%planned) return
        call meta_halo_free(s%halo, stat)
        call check(stat)
        s%planned = .false.
    end subroutine

    ! ---------------------------------------------------------------- a variable's part of a step

    ! The sums of a time step at an address of the program: for each variable those of the flux
    ! terms, and then that of its new values.
    function sums_at(p, address) result(sums)
        type(problem), intent(in) :: p
        type(c_ptr), intent(in) :: address
        type(numbers) :: sums
        sums = numbers_at(address, p%type, p%variables * (p%terms + 1))
    end function

    ! Whether the sums at the sides are taken on their own, while ghost cells travel, which they do
    ! not need: in the passes of MiniGhost 1.0, and where their time is asked for. Otherwise the
    ! stencil, which reads the same cells, adds them up.
    logical function sums_apart(s) result(apart)
        type(solver), intent(in) :: s
        apart = laps_on()
        apart = apart .or. s%p%points == 0 .or. s%p%reference
    end function

    ! Queue the sums of the cells at the domain's sides, of variables `first` to `last`.
    subroutine sum_sides(s, first, last, sums)
        type(solver), intent(in) :: s
        integer, intent(in) :: first, last
        type(numbers), intent(in) :: sums
        real(c_double), pointer :: r8(:, :)
        real(c_float), pointer :: r4(:, :)
        integer :: n, stat
        n = s%p%terms
        if (associated(sums%r8)) then
            r8(1:n + 1, 1:s%p%variables) => sums%r8
            call meta_reduce_boxes(r8(:, first:last), s%grid(first:last), s%p%term(1:n), &
                META_OP_SUM, META_ASYNC, stat)
        else
            r4(1:n + 1, 1:s%p%variables) => sums%r4
            call meta_reduce_boxes(r4(:, first:last), s%grid(first:last), s%p%term(1:n), &
                META_OP_SUM, META_ASYNC, stat)
        end if
        call check(stat)
    end subroutine

    ! The place among the sums of that of a variable's new values; 0 if it is not `summed`.
    integer function place_of_sum(s, v, summed) result(k)
        type(solver), intent(in) :: s
        integer, intent(in) :: v
        logical(c_bool), intent(in) :: summed
        k = 0
        if (summed) k = v * (s%p%terms + 1)
    end function

    ! Queue it: a variable's new values, and the sums at the sides unless they are apart.
    subroutine apply_to(s, v, summed, sums)
        type(solver), intent(in) :: s
        integer, intent(in) :: v
        logical(c_bool), intent(in) :: summed
        type(numbers), intent(in) :: sums
        integer :: first
        logical :: apart
        first = (v - 1) * (s%p%terms + 1) + 1
        apart = sums_apart(s)
        if (apart .or. s%p%terms == 0) then
            call apply(s%p, s%threads, s%next(v), s%grid(v), sums, place_of_sum(s, v, summed))
        else
            call apply_and_sum(s%p, s%next(v), s%grid(v), sums, place_of_sum(s, v, summed), first)
        end if
    end subroutine

    ! The new values are the values now.
    subroutine swap(s)
        type(solver), intent(inout) :: s
        type(meta_buffer), allocatable :: old(:)
        if (s%p%points == 0 .or. s%p%reference) return
        call move_alloc(s%grid, old)
        call move_alloc(s%next, s%grid)
        call move_alloc(old, s%next)
    end subroutine
end module minighost_solver
