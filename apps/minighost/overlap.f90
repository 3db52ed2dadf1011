! SPDX-License-Identifier: BSD-3-Clause
! --overlap in Fortran: applies the stencil to the interior while the halo exchange is in
! flight.
module minighost_overlap
    use, intrinsic :: iso_c_binding
    use meta
    use minighost_problem
    use minighost_kernel
    use minighost_solver
    implicit none
    private
    public :: overlap_pays, overlap_step

    ! Variables that travel together, and what is done with them.
    type :: group
        type(solver), pointer :: s => null()
        integer :: first = 1, last = 0
        logical(c_bool), pointer :: summed(:) => null()
        integer :: pieces = 0 ! computed so far
    end type

contains

    ! Whether a step is better done in parts, on this rank. A GPU computes while the host sees to
    ! messages. On a CPU who computes is who packs and unpacks, and parts of a block cost more than
    ! the whole. A reproducible sum is one of the whole block, and so are the three passes of
    ! MiniGhost 1.0.
    logical function overlap_pays(p) result(pays)
        type(problem), intent(in) :: p
        type(meta_device_desc) :: device
        logical :: reproducible
        integer :: index, mode, stat
        pays = .false.
        reproducible = .false.
        call meta_get_reproducible(reproducible, stat)
        call check(stat)
        if (reproducible .and. p%overlap == OVERLAP_ON) call note('--overlap on: a reproducible ' &
            // 'sum (META_REPRODUCIBLE=1) is one of a whole block')
        if (p%points == 0 .or. p%reference .or. reproducible) return
        pays = p%overlap == OVERLAP_ON
        if (p%overlap /= OVERLAP_AUTO) return
        device%is_gpu = .false.
        call meta_get_acc(index, mode, stat)
        if (stat == META_OK) call meta_device_info(index, mode, device, stat)
        call check(stat)
        pays = device%is_gpu
    end function

    ! Each part of a block leaves its sum in a place of its own.
    subroutine apply_piece(g, box)
        type(group), intent(inout) :: g
        type(meta_box), intent(in) :: box
        integer :: v, k
        g%pieces = g%pieces + 1
        do v = g%first, g%last
            k = 0
            if (g%summed(v)) k = (v - 1) * MOST_PIECES + g%pieces
            call apply_box(g%s%p, g%s%next(v), g%s%grid(v), box, g%s%pieces, k)
        end do
        call lap(LAP_STENCIL)
    end subroutine

    subroutine compute_after(phase, box, with, stat)
        integer(c_int), intent(in) :: phase
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        call lap(phase)
        select type (with)
        type is (group)
            call apply_piece(with, box)
        end select
        stat = META_OK
    end subroutine

    subroutine inner(box, with, stat)
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        call compute_after(LAP_START, box, with, stat)
    end subroutine

    subroutine outer(box, with, stat)
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        call compute_after(LAP_FINISH, box, with, stat)
    end subroutine

    ! Sums of parts become the block's.
    subroutine add_pieces(g, sums)
        type(group), intent(in) :: g
        type(numbers), intent(in) :: sums
        integer :: v, k, first, last
        do v = g%first, g%last
            if (.not. g%summed(v)) cycle
            k = place_of_sum(g%s, v, g%summed(v))
            first = (v - 1) * MOST_PIECES + 1
            last = first + g%pieces - 1
            if (associated(sums%r8)) sums%r8(k) = added(g%s%pieces%r8(first:last))
            if (associated(sums%r4)) &
                sums%r4(k) = real(added(real(g%s%pieces%r4(first:last), c_double)), c_float)
        end do
    end subroutine

    ! In this order.
    pure function added(pieces) result(total)
        real(c_double), intent(in) :: pieces(:)
        real(c_double) :: total
        integer :: k
        total = 0
        do k = 1, size(pieces)
            total = total + pieces(k)
        end do
    end function

    ! A step of the variables that travel together, from `first` on, in parts.
    subroutine overlap_step(s, first, summed, sums)
        type(solver), pointer :: s
        integer, intent(in) :: first
        logical(c_bool), intent(in), target :: summed(:)
        type(numbers), intent(in) :: sums
        type(group), target :: g
        integer :: stat
        g%s => s
        g%first = first
        g%last = first + s%p%grouped - 1
        g%summed => summed
        call meta_halo_overlap(s%halo, s%grid(g%first:g%last), inner, outer, g, META_ASYNC, stat)
        call check(stat)
        call lap(LAP_FINISH)
        call sum_sides(s, g%first, g%last, sums)
        call lap(LAP_BOUNDARY)
        call meta_flush(stat)
        call check(stat)
        call add_pieces(g, sums)
    end subroutine
end module minighost_overlap
