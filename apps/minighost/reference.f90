! SPDX-License-Identifier: BSD-3-Clause
! MiniGhost 1.0's algorithm in plain OpenMP loops, the counterpart of reference.c, for host
! memory: the averages are written to a work array, copied back into the grid, and then summed,
! each in a pass of its own.

module minighost_reference_double
    use, intrinsic :: iso_c_binding
    implicit none
    private
    integer, parameter :: kind_of_cell = c_double
    include 'reference_passes.inc'
end module minighost_reference_double

module minighost_reference_single
    use, intrinsic :: iso_c_binding
    implicit none
    private
    integer, parameter :: kind_of_cell = c_float
    include 'reference_passes.inc'
end module minighost_reference_single

module minighost_reference
    use minighost_reference_double
    use minighost_reference_single
    implicit none
    public
end module minighost_reference
