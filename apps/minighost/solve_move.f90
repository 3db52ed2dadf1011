! SPDX-License-Identifier: BSD-3-Clause
! Load balancing in the Fortran solver: finding uneven blocks, and redistributing cells between
! blocks.
module minighost_move
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_kernel
    use minighost_solver
    implicit none
    private

contains

    ! ---------------------------------------------------------------- cuts

    subroutine balance(p, cart, computing, step, most, cut, gain) bind(c, name='solver_balance')
        type(c_ptr), value :: p
        integer(c_int), value :: cart
        real(c_double), value :: computing, step
        integer(c_int64_t), value :: most
        type(c_ptr), intent(in) :: cut(3)
        real(c_double), intent(inout) :: gain
        type(problem) :: its
        type(meta_cuts) :: next
        integer :: stat
        its = problem_of(p)
        call meta_balance(next, its%cuts, cart, its%global, computing, step, most=most, gain=gain, &
            stat=stat)
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
