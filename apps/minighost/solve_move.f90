! SPDX-License-Identifier: BSD-3-Clause
! Load balancing in the Fortran solver: measuring its speed, decomposing the grid into uneven
! blocks, and redistributing cells between blocks.
module minighost_move
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_kernel
    use minighost_solver
    implicit none
    private

    type :: measured
        type(solver), pointer :: s => null()
        type(numbers) :: sums
    end type

contains

    ! ---------------------------------------------------------------- speed

    subroutine compute_all(with, stat)
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        select type (with)
        type is (measured)
            call compute_variables(with%s, with%sums)
        end select
        stat = META_OK
        if (failure_seen()) stat = META_ERR_STATE
    end subroutine

    subroutine compute_variables(s, sums)
        type(solver), intent(inout) :: s
        type(numbers), intent(in) :: sums
        integer :: v
        call sum_sides(s, 1, s%p%variables, sums)
        do v = 1, s%p%variables
            call apply_to(s, v, problem_checks(s%p%c, v - 1), sums)
        end do
        call swap(s)
    end subroutine

    function speed_of(p) bind(c, name='solver_speed') result(speed)
        type(c_ptr), value :: p
        real(c_double) :: speed
        integer, parameter :: TIMES = 11
        type(measured), target :: m
        type(problem) :: its
        integer :: v, stat
        its = problem_of(p)
        speed = 0
        m%s => solver_new(its)
        call numbers_new(m%sums, its%type, its%variables * (its%terms + 1), stat)
        if (associated(m%s)) then
            do v = 1, its%variables
                call array_clear(its, m%s%grid(v))
                call array_clear(its, m%s%next(v))
            end do
        end if
        if (.not. agree(its)) then
            call meta_measure_speed(its%cart, compute_all, m, product(its%cells), TIMES, speed, &
                stat)
            call check(stat)
        end if
        if (associated(m%s)) call solver_delete(m%s)
        call numbers_delete(m%sums)
    end function

    ! ---------------------------------------------------------------- cuts

    subroutine cut_by_speed(p, speed, most, cut) bind(c, name='solver_cut')
        type(c_ptr), value :: p
        real(c_double), value :: speed
        integer(c_int64_t), value :: most
        type(c_ptr), intent(in) :: cut(3)
        type(problem) :: its
        type(meta_cuts) :: cuts
        integer :: stat
        its = problem_of(p)
        call meta_decompose(cuts, its%cart, its%global, speed, most=most, stat=stat)
        call check(stat)
        if (stat == META_OK) call give_cuts(cuts, cut)
    end subroutine

    subroutine cut_by_seconds(p, seconds, most, cut, before, after) bind(c, name='solver_recut')
        type(c_ptr), value :: p
        real(c_double), value :: seconds
        integer(c_int64_t), value :: most
        type(c_ptr), intent(in) :: cut(3)
        real(c_double), intent(inout) :: before, after
        type(problem) :: its
        type(meta_cuts) :: next
        integer :: stat
        its = problem_of(p)
        call meta_rebalance(next, its%cuts, its%cart, its%global, seconds, most=most, &
            before=before, after=after, stat=stat)
        call check(stat)
        if (stat == META_OK) call give_cuts(next, cut)
    end subroutine

    ! ---------------------------------------------------------------- moving cells

    ! Work arrays are recreated: there is never more than one array beyond those that the blocks
    ! need.
    subroutine move(handle, p, cut) bind(c, name='solver_move')
        type(c_ptr), value :: handle, p
        type(c_ptr), intent(inout) :: cut(3)
        type(solver), pointer :: s
        type(problem) :: before
        integer :: v, stat
        call c_f_pointer(handle, s)
        before = s%p
        call free_plan(s)
        call free_all(s%next)
        call problem_exchange_cuts(p, cut)
        s%p = problem_of(p)
        do v = 1, s%p%variables
            call move_variable(s, v, before)
        end do
        call create_next(s)
        do v = 1, s%p%variables
            if (v == 1 .or. .not. s%p%reference) call array_clear(s%p, s%next(v))
        end do
        if (.not. agree(s%p)) call create_plan(s)
        call meta_flush(stat)
        call check(stat)
    end subroutine

    ! A variable's cells from its old array to a new one.
    subroutine move_variable(s, v, before)
        type(solver), intent(inout) :: s
        integer, intent(in) :: v
        type(problem), intent(in) :: before
        type(meta_buffer) :: moved(1)
        integer :: stat
        call array_new(s%p, moved(1))
        call array_clear(s%p, moved(1))
        call meta_redistribute(s%p%cart, before%cuts, s%p%cuts, s%grid(v:v), [before%own], moved, &
            [s%p%own], stat)
        call check(stat)
        call meta_free(s%grid(v), stat)
        call check(stat)
        s%grid(v) = moved(1)
    end subroutine
end module minighost_move
