! SPDX-License-Identifier: BSD-3-Clause
! Water that runs from a hill, in a periodic square distributed over all ranks. Each rank computes on
! the device that META_MODE or META_RANK_MAP gives it, by the kernel in shallow_water.kernel.h, of
! which `meta-kernel fortran` writes module shallow_water_kernels. One file of C holds the kernel:
! shallow_water_kernels.c.
!
!     $(meta-info --launcher) -n 2 ./shallow_water [--check] [STEPS]
!
! --check computes the same serially and counts the cells that differ in any bit.
program shallow_water
    use, intrinsic :: iso_c_binding
    use mpi
    use meta
    use shallow_water_kernels
    implicit none
    integer, parameter :: n = 60 ! cells along an edge of the whole square
    real(c_double), parameter :: gravity = 9.8125_c_double
    type(meta_buffer) :: now(3), next(3), swap(3) ! height, discharge along x, along y
    type(meta_halo) :: halo
    type(meta_box) :: own
    real(c_double), allocatable :: grid(:,:,:), mine(:,:)
    real(c_double), target :: ratio, speed
    integer(c_int64_t), target :: wrong
    integer :: rank, ranks, dims(2), at(2), first(2), last(2), cart, steps, step, ierr, k
    character(len=16) :: word
    logical :: check

    call meta_comm_init()
    call meta_comm_rank(rank, ranks)
    call get_command_argument(1, word)
    check = word == '--check'
    if (check) call get_command_argument(2, word)
    steps = 100
    if (word /= '') read (word, *) steps

    ! This rank's cells: first … last along each dimension.
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., cart, ierr)
    call MPI_Cart_coords(cart, rank, 2, at, ierr)
    first = n * at / dims + 1
    last = n * (at + 1) / dims
    own = meta_range(first, last)

    call fill(grid)
    do k = 1, 3
        call meta_alloc(now(k), META_F64, meta_range(first - 1, last + 1))
        call meta_alloc(next(k), META_F64, meta_range(first - 1, last + 1))
        call meta_copy_h2d(now(k), grid(first(1):last(1), first(2):last(2), k) * 1, box=own)
    end do
    call meta_halo_create(halo, cart, now, own, low=[1, 1], high=[1, 1])

    speed = 12
    do step = 1, steps
        ratio = 0.4_c_double / speed
        call meta_halo_exchange(halo, now, META_ASYNC)
        call shallow_water_f64(own, next(1), next(2), next(3), now(1), now(2), now(3), gravity, &
            ratio, speed)
        call meta_allreduce(speed, META_MAX)
        swap = now
        now = next
        next = swap
    end do
    if (rank == 0) print '(i0, a, i0, a, f8.5)', ranks, ' ranks: fastest wave in step ', steps, ': ', speed

    wrong = 0
    if (check) then
        call compute_serially(grid)
        allocate (mine(first(1):last(1), first(2):last(2)))
        do k = 1, 3
            call meta_copy_d2h(mine, now(k), box=own)
            wrong = wrong + count(mine /= grid(first(1):last(1), first(2):last(2), k))
        end do
        call meta_allreduce(wrong, META_OP_SUM)
        if (rank == 0) print '(a, i0)', 'wrong cells: ', wrong
    end if
    call meta_halo_free(halo)
    do k = 1, 3
        call meta_free(now(k))
        call meta_free(next(k))
    end do
    call MPI_Comm_free(cart, ierr)
    call meta_comm_finalize()
    if (wrong > 0) stop 1

contains

    ! A hill of water at rest, with ghosts around the square.
    subroutine fill(a)
        real(c_double), allocatable, intent(out) :: a(:,:,:)
        integer :: x, y
        allocate (a(0:n+1, 0:n+1, 3))
        a = 0
        do y = 1, n
            do x = 1, n
                a(x, y, 1) = 10 + 2 * max(0d0, 1 - ((x - 20)**2 + (y - 25)**2) / 100d0)
            end do
        end do
    end subroutine

    subroutine compute_serially(a)
        real(c_double), intent(inout) :: a(0:, 0:, :)
        real(c_double), allocatable :: b(:,:,:)
        real(c_double) :: r, fastest
        integer :: x, y, t
        allocate (b(0:n+1, 0:n+1, 3))
        fastest = 12
        do t = 1, steps
            r = 0.4_c_double / fastest / 2
            a(0, :, :) = a(n, :, :)
            a(n+1, :, :) = a(1, :, :)
            a(:, 0, :) = a(:, n, :)
            a(:, n+1, :) = a(:, 1, :)
            fastest = 0
            do y = 1, n
                do x = 1, n
                    b(x, y, :) = (a(x-1, y, :) + a(x+1, y, :) + a(x, y-1, :) + a(x, y+1, :)) / 4 - r * &
                        (flux(a(x+1, y, :), 2) - flux(a(x-1, y, :), 2) + &
                        flux(a(x, y+1, :), 3) - flux(a(x, y-1, :), 3))
                    fastest = max(fastest, max(abs(b(x, y, 2)), abs(b(x, y, 3))) / b(x, y, 1) + &
                        sqrt(gravity * b(x, y, 1)))
                end do
            end do
            a = b
        end do
    end subroutine

    ! What flows through a cell's side: along x where `along` is 2, along y where it is 3.
    pure function flux(u, along) result(f)
        real(c_double), intent(in) :: u(3)
        integer, intent(in) :: along
        real(c_double) :: f(3)
        f(1) = u(along)
        f(2:3) = u(2) * u(3) / u(1)
        f(along) = u(along) * u(along) / u(1) + gravity / 2 * u(1) * u(1)
    end function
end program
