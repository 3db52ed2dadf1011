! SPDX-License-Identifier: BSD-3-Clause
! The computation of a time step on one variable after its halo exchange, as --kernel selects it:
! libmeta's stencil with its sum in one pass over memory, or MiniGhost 1.0's three passes; and the
! arrays this is done on.
module minighost_kernel
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_reference
    implicit none
    private
    public :: array_new, array_clear, array_put, array_get
    public :: threads_of_loops, sum_box, apply, apply_box, apply_and_sum

contains

    ! ---------------------------------------------------------------- arrays

    ! An array of the problem's block on this rank's device; MiniGhost 1.0 has no padding.
    subroutine array_new(p, array)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(inout) :: array
        integer :: stat
        if (p%reference) then
            call meta_alloc(array, p%type, p%all, stat)
        else
            call meta_grid_alloc(array, p%type, p%cells, low=[1, 1, 1], high=[1, 1, 1], stat=stat)
        end if
        call check(stat)
    end subroutine

    ! Set all cells to zero, ghost cells too.
    subroutine array_clear(p, array)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(in) :: array
        integer :: stat
        if (p%type == META_F64) then
            call meta_fill_box(array, p%all, 0.0_c_double, META_ASYNC, stat)
        else
            call meta_fill_box(array, p%all, 0.0_c_float, META_ASYNC, stat)
        end if
        call check(stat)
    end subroutine

    ! Copy the block's cells at an address of the program, ghost cells too, to an array; and back.
    subroutine array_put(p, array, cells)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(in) :: array
        type(c_ptr), intent(in) :: cells
        real(c_double), pointer :: r8(:, :, :)
        real(c_float), pointer :: r4(:, :, :)
        integer :: stat
        if (p%type == META_F64) then
            call c_f_pointer(cells, r8, p%cells + 2)
            call meta_copy_h2d(array, r8, box=p%all, stat=stat)
        else
            call c_f_pointer(cells, r4, p%cells + 2)
            call meta_copy_h2d(array, r4, box=p%all, stat=stat)
        end if
        call check(stat)
    end subroutine

    subroutine array_get(p, cells, array)
        type(problem), intent(in) :: p
        type(c_ptr), intent(in) :: cells
        type(meta_buffer), intent(in) :: array
        real(c_double), pointer :: r8(:, :, :)
        real(c_float), pointer :: r4(:, :, :)
        integer :: stat
        if (p%type == META_F64) then
            call c_f_pointer(cells, r8, p%cells + 2)
            call meta_copy_d2h(r8, array, box=p%all, stat=stat)
        else
            call c_f_pointer(cells, r4, p%cells + 2)
            call meta_copy_d2h(r4, array, box=p%all, stat=stat)
        end if
        call check(stat)
    end subroutine

    ! ---------------------------------------------------------------- computing

    ! Collective. How many threads the plain loops of --kernel reference have, where memory is the
    ! host's; 0 where libmeta computes.
    integer function threads_of_loops(p) result(threads)
        type(problem), intent(in) :: p
        type(meta_device_desc) :: device
        integer :: index, mode, stat
        threads = 0
        if (.not. p%reference) return
        threads = minighost_threads(p%c)
        device%is_host = .false.
        call meta_get_acc(index, mode, stat)
        if (stat == META_OK) call meta_device_info(index, mode, device, stat)
        call check(stat)
        if (.not. device%is_host) threads = 0
    end function

    ! Queue it: the sum of some cells, to number k of `sums`.
    subroutine sum_box(array, box, sums, k)
        type(meta_buffer), intent(in) :: array
        type(meta_box), intent(in) :: box
        type(numbers), intent(in) :: sums
        integer, intent(in) :: k
        integer :: stat
        if (associated(sums%r8)) then
            call meta_reduce(sums%r8(k), array, box, META_OP_SUM, META_ASYNC, stat)
        else
            call meta_reduce(sums%r4(k), array, box, META_OP_SUM, META_ASYNC, stat)
        end if
        call check(stat)
    end subroutine

    ! Queue it: the average of the points of each cell in `box` of `array`, into `next`, and the sum
    ! of the averages to number k of `sums`; to nowhere if that is 0.
    subroutine apply_box(p, next, array, box, sums, k)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(in) :: next, array
        type(meta_box), intent(in) :: box
        type(numbers), intent(in) :: sums
        integer, intent(in) :: k
        integer :: stat
        if (k == 0) then
            call meta_stencil(next, array, box, p%stencil, META_ASYNC, stat)
        else if (associated(sums%r8)) then
            call meta_stencil(next, array, box, p%stencil, sums%r8(k), META_ASYNC, stat)
        else
            call meta_stencil(next, array, box, p%stencil, sums%r4(k), META_ASYNC, stat)
        end if
        call check(stat)
    end subroutine

    ! The same for all own cells, and the sums of the cells at the domain's sides to `sums` from
    ! number `first` on.
    subroutine apply_and_sum(p, next, array, sums, k, first)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(in) :: next, array
        type(numbers), intent(in) :: sums
        integer, intent(in) :: k, first
        integer :: last, stat
        last = first + p%terms - 1
        associate (own => p%own, kind => p%stencil, sides => p%term(1:p%terms))
            if (associated(sums%r8) .and. k == 0) then
                call meta_stencil_sums(next, array, own, kind, sums%r8(first:last), sides, &
                    META_ASYNC, stat)
            else if (associated(sums%r8)) then
                call meta_stencil_sums(next, array, own, kind, sums%r8(k), sums%r8(first:last), &
                    sides, META_ASYNC, stat)
            else if (k == 0) then
                call meta_stencil_sums(next, array, own, kind, sums%r4(first:last), sides, &
                    META_ASYNC, stat)
            else
                call meta_stencil_sums(next, array, own, kind, sums%r4(k), sums%r4(first:last), &
                    sides, META_ASYNC, stat)
            end if
        end associate
        call check(stat)
    end subroutine

    ! The same without those; with --kernel reference through `next` back to `array`, as MiniGhost 1.0
    ! does it.
    subroutine apply(p, threads, next, array, sums, k)
        type(problem), intent(in) :: p
        integer, intent(in) :: threads, k
        type(meta_buffer), intent(in) :: next, array
        type(numbers), intent(in) :: sums
        if (threads > 0) then
            call apply_loops(p, threads, next, array, sums, k)
        else if (p%reference) then
            call apply_passes(p, next, array, sums, k)
        else
            call apply_box(p, next, array, p%own, sums, k)
        end if
    end subroutine

    subroutine apply_passes(p, work, array, sums, k)
        type(problem), intent(in) :: p
        type(meta_buffer), intent(in) :: work, array
        type(numbers), intent(in) :: sums
        integer, intent(in) :: k
        integer :: stat
        call meta_stencil(work, array, p%own, p%stencil, META_ASYNC, stat)
        call check(stat)
        call meta_copy_box(array, p%own, work, p%own, META_ASYNC, stat)
        call check(stat)
        if (k > 0) call sum_box(array, p%own, sums, k)
    end subroutine

    ! The loops run now: what was queued must be done.
    subroutine apply_loops(p, threads, work, array, sums, k)
        type(problem), intent(in) :: p
        integer, intent(in) :: threads, k
        type(meta_buffer), intent(in) :: work, array
        type(numbers), intent(in) :: sums
        real(c_double), pointer :: work_8(:, :, :), cells_8(:, :, :)
        real(c_float), pointer :: work_4(:, :, :), cells_4(:, :, :)
        logical :: reproducible, by_loop
        integer :: stat
        reproducible = .false.
        call meta_flush(stat)
        call check(stat)
        call meta_get_reproducible(reproducible, stat)
        call check(stat)
        by_loop = k > 0 .and. .not. reproducible
        if (p%type == META_F64) then
            call c_f_pointer(meta_address(work), work_8, p%cells + 2)
            call c_f_pointer(meta_address(array), cells_8, p%cells + 2)
            call reference_stencil(work_8, cells_8, p%cells, p%points, threads)
            call reference_copy(cells_8, work_8, p%cells, threads)
            if (by_loop) call reference_sum(sums%r8(k), cells_8, p%cells, threads)
        else
            call c_f_pointer(meta_address(work), work_4, p%cells + 2)
            call c_f_pointer(meta_address(array), cells_4, p%cells + 2)
            call reference_stencil(work_4, cells_4, p%cells, p%points, threads)
            call reference_copy(cells_4, work_4, p%cells, threads)
            if (by_loop) call reference_sum(sums%r4(k), cells_4, p%cells, threads)
        end if
        if (k > 0 .and. reproducible) call sum_box(array, p%own, sums, k)
    end subroutine
end module minighost_kernel
