! SPDX-License-Identifier: BSD-3-Clause
! Sod's shock tube along x (J. Comput. Phys. 27, 1978) by the kernels of euler.c, in Fortran and with the same bits, on
! any ranks. euler_step.h says what a step is, euler.kernel.h where its parts are from; `meta-kernel fortran` writes
! module euler_kernels of the latter. One file of C holds the kernels: euler_kernels.c.
!
!     $(meta-info --launcher) -n 2 ./euler_fortran NX NY FILE
!
! FILE gets the density at time 0.2, for NumPy.
program euler_fortran
    use, intrinsic :: iso_c_binding
    use mpi
    use meta
    use euler_kernels
    implicit none
    ! The state comes first: what a step begins with, and exchanges.
    enum, bind(c)
        enumerator :: RHO = 1, E, U, V, U1, V1, D, W, HEAT, FX, FY, MF, EF
    end enum
    integer, parameter :: ghosts = 4
    real(c_double), parameter :: courant = 0.5_c_double, end_time = 0.2_c_double

    ! As in euler.kernel.h.
    type, bind(c) :: gases
        integer(c_int64_t) :: low(2), high(2)
        real(c_double) :: density(2), energy(2)
    end type
    type, bind(c) :: wall
        integer(c_int64_t) :: cell, node, outwards, along, cell_rows
        real(c_double) :: u, v
    end type

    type(meta_buffer) :: a(EF), swap
    type(meta_halo) :: halo
    type(meta_extreme_f64), target :: first_least
    type(gases), target :: gas
    real(c_double), target :: least, crossing
    real(c_double) :: time, dt, safe, edge
    integer :: grid(2), dims(2), at(2), first(2), cells(2) ! first, cells: this rank's in the whole grid
    integer :: rank, ranks, cart, axis, step, k, ierr
    character(len=256) :: word(3)

    call meta_comm_init()
    call meta_comm_rank(rank, ranks)
    if (command_argument_count() /= 3) error stop 'usage: euler_fortran NX NY FILE'
    do k = 1, 3
        call get_command_argument(k, word(k))
    end do
    read (word(:2), *) grid

    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierr)
    if (grid(1) < grid(2)) dims = dims([2, 1])
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., cart, ierr)
    call MPI_Cart_coords(cart, rank, 2, at, ierr)
    first = grid * at / dims + 1
    cells = grid * (at + 1) / dims - first + 1
    if (any(grid < ghosts * dims)) error stop 'each rank needs 4 cells along an axis'
    edge = 1 / real(maxval(grid), c_double)

    call meta_grid_family(a, [field('density', 0, 0), field('energy', 0, 0), field('u', 1, 1), field('v', 1, 1), &
        field('new u', 1, 1), field('new v', 1, 1), field('moved density', 0, 0), field('pressure', 0, 0), &
        field('heat', 1, 1), field('flux in x', 1, 0), field('flux in y', 0, 1), field('mass flux', 1, 1), &
        field('energy of flux', 1, 1)], cells, low=[ghosts, ghosts], high=[ghosts, ghosts])
    do k = RHO, EF
        call meta_fill(a(k), 0d0, done=META_ASYNC)
    end do
    call meta_halo_create(halo, cart, a(RHO:V), [widened(0, 0, 0), widened(0, 0, 0), widened(0, 0, 1), &
        widened(0, 0, 1)], low=[ghosts, ghosts], high=[ghosts, ghosts], kind=META_HALO_ALL)

    ! INDEX() in a kernel counts from 0 at an array's lower bound, the outermost ghost.
    gas%low = ghosts + 1 - first
    gas%high = gas%low + grid
    gas%high(1) = gas%high(1) - grid(1) / 2
    gas%density = [0.125_c_double, 1.0_c_double]
    gas%energy = [2.0_c_double, 2.5_c_double]
    call euler_begin_f64(widened(0, 0, 0), a(RHO), a(E), c_loc(gas), META_ASYNC)
    call euler_limit_f64(widened(0, 0, 0), a(E), a(U), a(V), first_least)
    least = first_least%value
    call exchange()

    time = 0
    step = 0
    do while (time < end_time)
        safe = courant * edge * crossing
        dt = min(safe, end_time - time)
        axis = 1 + mod(step, 2)
        call move(dt / edge)
        call sweep(axis, a(U1), a(V1), a(U), a(V), more=3)
        call sweep(3 - axis, a(U), a(V), a(U1), a(V1), more=1)
        do k = U, V
            swap = a(k)
            a(k) = a(k + 2)
            a(k + 2) = swap
        end do
        time = merge(time + dt, end_time, safe < end_time - time)
        step = step + 1
        call exchange()
    end do

    call meta_io_write(trim(word(3)), cart, META_IO_NPY, [meta_io_describe('density', a(RHO), widened(0, 0, 0), &
        first, grid)])
    if (rank == 0) print '(i0, a, i0, a)', ranks, ' ranks: ', step, ' steps'
    call meta_halo_free(halo)
    do k = RHO, EF
        call meta_free(a(k))
    end do
    call MPI_Comm_free(cart, ierr)
    call meta_comm_finalize()

contains

    function field(name, x, y)
        character(len=*), intent(in) :: name
        integer, intent(in) :: x, y
        type(meta_grid_field) :: field
        field = meta_grid_field(name, META_F64, [x, y])
    end function

    ! The own cells and so many more at either side of an axis; of nodes, one more at high sides.
    function widened(x, y, nodes) result(box)
        integer, intent(in) :: x, y, nodes
        type(meta_box) :: box
        box = meta_range([1 - x, 1 - y], [cells(1) + x + nodes, cells(2) + y + nodes])
    end function

    ! Make ready for the next step: the least of all ranks comes while ghosts travel.
    subroutine exchange()
        call meta_halo_start(halo, a(RHO:V))
        call meta_allreduce(crossing, META_MIN, least)
        call meta_halo_finish(halo, META_ASYNC)
        call set_wall(1, at(1) == 0, -1)
        call set_wall(1, at(1) == dims(1) - 1, 1)
        call set_wall(2, at(2) == 0, -1)
        call set_wall(2, at(2) == dims(2) - 1, 1)
    end subroutine

    ! Set the ghosts behind a wall: in y behind those in x, on the ghosts of which they depend.
    subroutine set_wall(axis, is_wall, outwards)
        integer, intent(in) :: axis, outwards
        logical, intent(in) :: is_wall
        type(wall), target :: this
        type(meta_c_box) :: c
        integer(c_int64_t) :: layer(2)
        if (.not. is_wall) return
        c = meta_box_for_c(a(RHO), widened(0, 0, 0))
        layer = [1_c_int64_t, c%size(1)]
        this%node = merge(c%start(axis), c%end(axis), outwards < 0) * layer(axis)
        this%cell = this%node - merge(0_c_int64_t, layer(axis), outwards < 0)
        this%outwards = outwards * layer(axis)
        this%along = layer(3 - axis)
        this%cell_rows = cells(3 - axis) + 2 * ghosts
        this%u = merge(-1, 1, axis == 1)
        this%v = merge(-1, 1, axis == 2)
        call euler_wall_f64(meta_range([ghosts, int(this%cell_rows) + 1]), a(RHO), a(E), a(U), a(V), c_loc(this))
    end subroutine

    ! Move the cells with the flow, as far as `r` edges at speed 1.
    subroutine move(r)
        real(c_double), intent(in) :: r
        call euler_press_f64(widened(4, 4, 0), a(W), a(RHO), a(E), a(U), a(V), r, META_ASYNC)
        call euler_accelerate_f64(widened(3, 3, 1), a(U1), a(V1), a(U), a(V), a(W), a(RHO), r, META_ASYNC)
        call euler_lagrange_f64(widened(3, 3, 1), a(E), a(D), a(FX), a(FY), a(RHO), a(W), a(U), a(V), a(U1), a(V1), &
            r, META_ASYNC)
    end subroutine

    ! Sweep along `axis`: the first time, with more = 3, for cells and nodes beyond the own ones as well, which the
    ! second sweep reads.
    subroutine sweep(axis, from_u, from_v, to_u, to_v, more)
        integer, intent(in) :: axis, more
        type(meta_buffer), intent(in) :: from_u, from_v, to_u, to_v
        if (axis == 1) then
            call euler_flux_x_f64(meta_range([0, 1 - more], [cells(1) + 2, cells(2) + more]), a(MF), a(EF), a(FX), &
                a(RHO), a(D), a(E), META_ASYNC)
            call euler_nodes_x_f64(widened(0, more - 1, 1), to_u, to_v, a(HEAT), a(MF), a(RHO), from_u, from_v, &
                META_ASYNC)
            if (more > 1) then
                call euler_cells_x_f64(widened(1, more, 0), a(RHO), a(E), a(MF), a(EF), a(HEAT), a(D), a(FY), &
                    META_ASYNC)
            else
                call euler_finish_x_f64(widened(0, 0, 0), a(RHO), a(E), a(MF), a(EF), a(HEAT), to_u, to_v, least)
            end if
        else
            call euler_flux_y_f64(meta_range([1 - more, 0], [cells(1) + more, cells(2) + 2]), a(MF), a(EF), a(FY), &
                a(RHO), a(D), a(E), META_ASYNC)
            call euler_nodes_y_f64(widened(more - 1, 0, 1), to_u, to_v, a(HEAT), a(MF), a(RHO), from_u, from_v, &
                META_ASYNC)
            if (more > 1) then
                call euler_cells_y_f64(widened(more, 1, 0), a(RHO), a(E), a(MF), a(EF), a(HEAT), a(D), a(FX), &
                    META_ASYNC)
            else
                call euler_finish_y_f64(widened(0, 0, 0), a(RHO), a(E), a(MF), a(EF), a(HEAT), to_u, to_v, least)
            end if
        end if
    end subroutine
end program
