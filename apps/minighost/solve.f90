! SPDX-License-Identifier: BSD-3-Clause
! MiniGhost's solver in Fortran with module `meta`, the counterpart of solve.c. Both share every
! other file of the program, through the interface solve.h.
module minighost_solve
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_kernel
    use minighost_solver
    use minighost_overlap
    implicit none
    private

    ! Of solve.h.
    type, bind(c) :: solver_array
        type(c_ptr) :: cells
        integer(c_int64_t) :: size(3), first(3), last(3)
    end type

contains

    ! ---------------------------------------------------------------- life

    subroutine begin() bind(c, name='solver_begin')
        integer :: stat
        call meta_comm_init(stat)
        call check(stat)
    end subroutine

    subroutine end_all() bind(c, name='solver_end')
        integer :: stat
        call meta_comm_finalize(stat)
        call check(stat)
    end subroutine

    subroutine wait() bind(c, name='solver_wait')
        integer :: stat
        call meta_flush(stat)
        call check(stat)
    end subroutine

    function create(p) bind(c, name='solver_create') result(handle)
        type(c_ptr), value :: p
        type(c_ptr) :: handle
        type(solver), pointer :: s
        handle = c_null_ptr
        s => solver_new(problem_of(p))
        if (.not. associated(s)) return
        handle = c_loc(s)
        s%split = overlap_pays(s%p)
    end function

    subroutine free(handle) bind(c, name='solver_free')
        type(c_ptr), value :: handle
        type(solver), pointer :: s
        call c_f_pointer(handle, s)
        call solver_delete(s)
    end subroutine

    ! ---------------------------------------------------------------- cells

    ! Both arrays, because the ghost cells outside the domain are never written again.
    subroutine put(handle, variable, cells) bind(c, name='solver_put')
        type(c_ptr), value :: handle, cells
        integer(c_int), value :: variable
        type(solver), pointer :: s
        call c_f_pointer(handle, s)
        call array_put(s%p, s%grid(variable + 1), cells)
        call array_put(s%p, s%next(variable + 1), cells)
    end subroutine

    subroutine get(handle, variable, cells) bind(c, name='solver_get')
        type(c_ptr), value :: handle, cells
        integer(c_int), value :: variable
        type(solver), pointer :: s
        call c_f_pointer(handle, s)
        call array_get(s%p, cells, s%grid(variable + 1))
    end subroutine

    subroutine where_is(handle, variable, array) bind(c, name='solver_where')
        type(c_ptr), value :: handle
        integer(c_int), value :: variable
        type(solver_array), intent(out) :: array
        type(solver), pointer :: s
        type(meta_c_box) :: own
        integer :: stat
        call c_f_pointer(handle, s)
        own = meta_box_for_c(s%grid(variable + 1), s%p%own, stat)
        call check(stat)
        array%cells = meta_address(s%grid(variable + 1), stat)
        call check(stat)
        array%size = own%size(:3)
        array%first = own%start(:3)
        array%last = own%end(:3)
    end subroutine

    ! ---------------------------------------------------------------- sums

    function reproducible() bind(c, name='solver_reproducible') result(on)
        logical(c_bool) :: on
        logical :: is_on
        integer :: stat
        is_on = .false.
        call meta_get_reproducible(is_on, stat)
        call check(stat)
        on = is_on
    end function

    subroutine add_ranks(totals, sums, count, type) bind(c, name='solver_add_ranks')
        type(c_ptr), value :: totals, sums
        integer(c_int64_t), value :: count
        integer(c_int), value :: type
        type(numbers) :: all, mine
        integer :: stat
        all = numbers_at(totals, type, int(count))
        mine = numbers_at(sums, type, int(count))
        if (associated(all%r8)) then
            call meta_allreduce(all%r8, META_OP_SUM, mine%r8, stat=stat)
        else
            call meta_allreduce(all%r4, META_OP_SUM, mine%r4, stat=stat)
        end if
        call check(stat)
    end subroutine

    subroutine sum_of_cells(handle, variable, total) bind(c, name='solver_sum')
        type(c_ptr), value :: handle, total
        integer(c_int), value :: variable
        type(solver), pointer :: s
        call c_f_pointer(handle, s)
        call sum_box(s%grid(variable + 1), s%p%own, numbers_at(total, s%p%type, 1), 1)
        call wait()
    end subroutine

    ! ---------------------------------------------------------------- time steps

    subroutine exchange(s, first, sums)
        type(solver), intent(in) :: s
        integer, intent(in) :: first
        type(numbers), intent(in) :: sums
        integer :: last, stat
        last = first + s%p%grouped - 1
        call meta_halo_start(s%halo, s%grid(first:last), stat)
        call check(stat)
        call lap(LAP_START)
        if (sums_apart(s)) call sum_sides(s, first, last, sums)
        call lap(LAP_BOUNDARY)
        call meta_halo_finish(s%halo, META_ASYNC, stat)
        call check(stat)
        call lap(LAP_FINISH)
    end subroutine

    subroutine step(handle, summed, sums) bind(c, name='solver_step')
        type(c_ptr), value :: handle, summed, sums
        type(solver), pointer :: s
        logical(c_bool), pointer :: asked(:)
        type(numbers) :: results
        integer :: v, stat
        call c_f_pointer(handle, s)
        call meta_range_push('time step', stat)
        call check(stat)
        call c_f_pointer(summed, asked, [s%p%variables])
        results = sums_at(s%p, sums)
        do v = 1, s%p%variables
            if (mod(v - 1, s%p%grouped) == 0) then
                if (s%split) then
                    call overlap_step(s, v, asked, results)
                else
                    call exchange(s, v, results)
                end if
            end if
            if (s%p%points == 0 .or. s%split) cycle
            call apply_to(s, v, asked(v), results)
            call lap(LAP_STENCIL)
        end do
        call wait()
        call meta_range_pop(stat)
        call check(stat)
        call swap(s)
    end subroutine
end module minighost_solve
