! SPDX-License-Identifier: BSD-3-Clause
! Load balancing: decomposition of grids into blocks by the ranks' speeds, and redistribution.
module meta_blocks
    use meta_c_comm
    use meta_base
    implicit none
    private
    public :: meta_cuts, meta_cuts_block, meta_measure_speed, meta_speed_work, meta_decompose
    public :: meta_rebalance, meta_balance, meta_redistribute

    type :: cuts_of_dimension
        integer(c_int64_t), allocatable :: at(:)
    end type

    ! The ranks whose coordinate along dimension d of a Cartesian communicator is k, from 0 on, hold
    ! the planes dimension(d)%at(k) to dimension(d)%at(k + 1) - 1 of the grid, which begin at 1.
    type :: meta_cuts
        integer :: ndim = 0
        type(cuts_of_dimension) :: dimension(META_MAX_DIM)
    end type

    ! meta_decompose(cuts, cart, cells, speed, least, most, seconds, stat)
    interface meta_decompose
        module procedure decompose, decompose_int64
    end interface
    ! meta_rebalance(next, now, cart, cells, seconds, least, most, before, after, stat)
    interface meta_rebalance
        module procedure rebalance, rebalance_int64
    end interface
    ! meta_balance(next, now, cart, cells, computing, step, least, most, gain, stat)
    interface meta_balance
        module procedure balance, balance_int64
    end interface

    abstract interface
        ! What is measured: queue it (META_ASYNC) or do it, once; `stat` is 0 or an error.
        subroutine meta_speed_work(with, stat)
            class(*), intent(inout) :: with
            integer, intent(out) :: stat
        end subroutine
    end interface

    type :: work_of
        procedure(meta_speed_work), pointer, nopass :: work => null()
        class(*), pointer :: with => null()
        logical :: failed = .false.
    end type

    ! Cuts as C has them, planes from 0 on.
    type :: c_planes
        integer(c_int64_t), pointer :: at(:) => null()
    end type

contains

    ! ---------------------------------------------------------------- cuts between the languages

    function planes_new(planes, ndim, sizes, call, cuts) result(err)
        type(c_planes), intent(inout) :: planes(META_MAX_DIM)
        integer, intent(in) :: ndim, sizes(:)
        character(len=*), intent(in) :: call
        type(meta_c_cuts), intent(out) :: cuts
        integer(c_int) :: err
        integer :: d, failed
        err = META_OK
        cuts%at = c_null_ptr
        do d = 1, ndim
            allocate (planes(d)%at(sizes(d)), stat=failed)
            if (failed /= 0) then
                err = fail(META_ERR_NO_MEMORY, call, 'the host has no memory for cuts')
                return
            end if
            planes(d)%at = 0
            cuts%at(d) = c_loc(planes(d)%at(1))
        end do
    end function

    subroutine planes_free(planes)
        type(c_planes), intent(inout) :: planes(META_MAX_DIM)
        integer :: d
        do d = 1, META_MAX_DIM
            if (associated(planes(d)%at)) deallocate (planes(d)%at)
        end do
    end subroutine

    ! How many ranks there are along each dimension of `cart`.
    function parts_of(cart, call, ndim, parts) result(err)
        integer, intent(in) :: cart
        character(len=*), intent(in) :: call
        integer(c_int), intent(out) :: ndim, parts(META_MAX_DIM)
        integer(c_int) :: err
        ndim = 0
        err = c_cart_parts(cart, META_MAX_DIM, ndim, parts)
        if (err /= META_OK) err = fail(META_ERR_ARGUMENT, call, &
            "argument 'cart' is no Cartesian communicator of 1 to 10 dimensions")
    end function

    ! What the program gives, of a communicator with `parts` ranks along each dimension.
    function planes_given(cuts, ndim, parts, call, name, planes, c) result(err)
        type(meta_cuts), intent(in) :: cuts
        integer(c_int), intent(in) :: ndim, parts(:)
        character(len=*), intent(in) :: call, name
        type(c_planes), intent(inout) :: planes(META_MAX_DIM)
        type(meta_c_cuts), intent(out) :: c
        integer(c_int) :: err
        integer :: d
        logical :: fits
        err = META_OK
        c%at = c_null_ptr
        fits = cuts%ndim == ndim
        do d = 1, ndim
            if (fits) fits = allocated(cuts%dimension(d)%at)
            if (fits) fits = size(cuts%dimension(d)%at) == parts(d) + 1
        end do
        if (.not. fits) then
            err = fail(META_ERR_ARGUMENT, call, "argument '" // name // "' has not, for each " // &
                "dimension of the communicator, an element more than there are ranks along it")
            return
        end if
        do d = 1, ndim
            if (err == META_OK) err = need_planes(cuts%dimension(d)%at, d, call, name)
        end do
        if (err == META_OK) err = planes_new(planes, ndim, parts(1:ndim) + 1, call, c)
        if (err /= META_OK) return
        do d = 1, ndim
            planes(d)%at = cuts%dimension(d)%at - 1
        end do
    end function

    ! Planes begin at 1 and never fall.
    function need_planes(at, d, call, name) result(err)
        integer(c_int64_t), intent(in) :: at(:)
        integer, intent(in) :: d
        character(len=*), intent(in) :: call, name
        integer(c_int) :: err
        character(len=:), allocatable :: which
        integer :: k
        err = META_OK
        which = "argument '" // name // '%dimension(' // digits_of(int(d, c_int64_t)) // ")%at'"
        if (at(1) /= 1) err = fail(META_ERR_ARGUMENT, call, which // ' begins at plane ' // &
            digits_of(at(1)) // ': it must be 1')
        do k = 2, size(at)
            if (err == META_OK .and. at(k) < at(k - 1)) err = fail(META_ERR_ARGUMENT, call, &
                which // ' falls from ' // digits_of(at(k - 1)) // ' to ' // digits_of(at(k)))
        end do
    end function

    subroutine planes_taken(planes, ndim, cuts)
        type(c_planes), intent(in) :: planes(META_MAX_DIM)
        integer, intent(in) :: ndim
        type(meta_cuts), intent(inout) :: cuts
        integer :: d
        cuts%ndim = ndim
        do d = 1, META_MAX_DIM
            if (allocated(cuts%dimension(d)%at)) deallocate (cuts%dimension(d)%at)
            if (d > ndim) cycle
            allocate (cuts%dimension(d)%at(0:size(planes(d)%at) - 1))
            cuts%dimension(d)%at = planes(d)%at + 1
        end do
    end subroutine

    ! ---------------------------------------------------------------- blocks

    ! The global indices of the first cell of the block of `rank`, from 1 on, and its extents.
    subroutine meta_cuts_block(cuts, cart, rank, first, cells, stat)
        type(meta_cuts), intent(in) :: cuts
        integer, intent(in) :: cart, rank
        integer(c_int64_t), intent(inout) :: first(:), cells(:)
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_cuts_block'
        type(c_planes) :: planes(META_MAX_DIM)
        type(meta_c_cuts) :: c
        integer(c_int64_t) :: c_first(META_MAX_DIM), c_cells(META_MAX_DIM)
        integer(c_int) :: err, ndim, parts(META_MAX_DIM)
        err = parts_of(cart, call, ndim, parts)
        if (err == META_OK) err = planes_given(cuts, ndim, parts, call, 'cuts', planes, c)
        if (err == META_OK .and. (size(first) < ndim .or. size(cells) < ndim)) err = fail( &
            META_ERR_ARGUMENT, call, "argument 'first' or 'cells' has not an element a dimension")
        if (err == META_OK) err = c_cuts_block(c, cart, rank, c_first, c_cells)
        if (err == META_OK) then
            first(1:ndim) = c_first(1:ndim) + 1
            cells(1:ndim) = c_cells(1:ndim)
        end if
        call planes_free(planes)
        call finish(err, stat)
    end subroutine

    ! ---------------------------------------------------------------- speeds

    subroutine meta_measure_speed(comm, work, with, cells, times, speed, stat)
        integer, intent(in) :: comm
        procedure(meta_speed_work) :: work
        class(*), intent(inout), target :: with
        integer(c_int64_t), intent(in) :: cells
        integer, intent(in) :: times
        real(c_double), intent(inout) :: speed
        integer, intent(out), optional :: stat
        type(work_of), target :: it
        type(c_ptr) :: at
        integer(c_int) :: err
        it%work => work
        it%with => with
        at = c_loc(it)
        err = c_measure_speed(comm, c_funloc(do_work), at, cells, times, speed)
        if (it%failed) err = passed_on(err)
        call finish(err, stat)
    end subroutine

    function do_work(with) bind(c, name='') result(err)
        type(c_ptr), value :: with
        integer(c_int) :: err
        type(work_of), pointer :: it
        integer :: stat
        call c_f_pointer(with, it)
        call it%work(it%with, stat)
        err = stat
        if (err /= META_OK) it%failed = .true.
    end function

    ! ---------------------------------------------------------------- cutting

    ! An element for each dimension that C has.
    pure function ten(values) result(all)
        integer(c_int64_t), intent(in) :: values(:)
        integer(c_int64_t) :: all(META_MAX_DIM)
        integer :: n
        all = 0
        n = min(size(values), META_MAX_DIM)
        all(1:n) = values(1:n)
    end function

    ! An array that is not given is not handed on: gfortran 12 looks into its descriptor.
    subroutine decompose(cuts, cart, cells, speed, least, most, seconds, stat)
        type(meta_cuts), intent(inout) :: cuts
        integer, intent(in) :: cart
        integer, intent(in) :: cells(:)
        real(c_double), intent(in) :: speed
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: seconds
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call decompose_grid(cuts, cart, int(cells, c_int64_t), speed, planes, most, seconds, stat)
    end subroutine

    subroutine decompose_int64(cuts, cart, cells, speed, least, most, seconds, stat)
        type(meta_cuts), intent(inout) :: cuts
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:)
        real(c_double), intent(in) :: speed
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: seconds
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call decompose_grid(cuts, cart, cells, speed, planes, most, seconds, stat)
    end subroutine

    subroutine decompose_grid(cuts, cart, cells, speed, least, most, seconds, stat)
        type(meta_cuts), intent(inout) :: cuts
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:), least(META_MAX_DIM)
        real(c_double), intent(in) :: speed
        integer(c_int64_t), intent(in), optional :: most
        real(c_double), intent(inout), optional :: seconds
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_decompose'
        type(c_planes) :: planes(META_MAX_DIM)
        type(meta_c_cuts) :: c
        integer(c_int64_t) :: room
        integer(c_int) :: err, in_c, ndim, parts(META_MAX_DIM)
        real(c_double) :: longest
        room = 0
        if (present(most)) room = most
        err = parts_of(cart, call, ndim, parts)
        if (err == META_OK) then
            ! The other ranks learn of an error, instead of waiting for this one.
            err = planes_new(planes, ndim, parts(1:ndim) + 1, call, c)
            if (err /= META_OK) call metaf_refuse(code_of(err))
            in_c = c_decompose(c, cart, ten(cells), least, speed, room, longest)
            if (err /= META_OK) call metaf_refuse(META_OK)
            if (err == META_OK) err = in_c
        end if
        if (err == META_OK) call planes_taken(planes, ndim, cuts)
        if (err == META_OK .and. present(seconds)) seconds = longest
        call planes_free(planes)
        call finish(err, stat)
    end subroutine

    subroutine rebalance(next, now, cart, cells, seconds, least, most, before, after, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer, intent(in) :: cells(:)
        real(c_double), intent(in) :: seconds
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: before, after
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call rebalance_grid(next, now, cart, int(cells, c_int64_t), seconds, planes, most, before, &
            after, stat)
    end subroutine

    subroutine rebalance_int64(next, now, cart, cells, seconds, least, most, before, after, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:)
        real(c_double), intent(in) :: seconds
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: before, after
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call rebalance_grid(next, now, cart, cells, seconds, planes, most, before, after, stat)
    end subroutine

    subroutine rebalance_grid(next, now, cart, cells, seconds, least, most, before, after, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:), least(META_MAX_DIM)
        real(c_double), intent(in) :: seconds
        integer(c_int64_t), intent(in), optional :: most
        real(c_double), intent(inout), optional :: before, after
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_rebalance'
        type(c_planes) :: given(META_MAX_DIM), taken(META_MAX_DIM)
        type(meta_c_cuts) :: c_now, c_next
        integer(c_int64_t) :: room
        integer(c_int) :: err, ignored, ndim, parts(META_MAX_DIM)
        real(c_double) :: was, will
        room = 0
        if (present(most)) room = most
        c_next%at = c_null_ptr
        err = parts_of(cart, call, ndim, parts)
        if (err == META_OK) then
            err = planes_given(now, ndim, parts, call, 'now', given, c_now)
            if (err == META_OK) err = planes_new(taken, ndim, parts(1:ndim) + 1, call, c_next)
            if (err == META_OK) then
                err = c_rebalance(c_next, c_now, cart, ten(cells), least, room, seconds, was, will)
            else
                ! The other ranks learn of it, instead of waiting for this one.
                call metaf_refuse(code_of(err))
                ignored = c_rebalance(c_next, c_now, cart, ten(cells), least, room, seconds, was, &
                    will)
                call metaf_refuse(META_OK)
            end if
        end if
        if (err == META_OK) call planes_taken(taken, ndim, next)
        if (err == META_OK .and. present(before)) before = was
        if (err == META_OK .and. present(after)) after = will
        call planes_free(given)
        call planes_free(taken)
        call finish(err, stat)
    end subroutine

    subroutine balance(next, now, cart, cells, computing, step, least, most, gain, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer, intent(in) :: cells(:)
        real(c_double), intent(in) :: computing, step
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: gain
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call balance_grid(next, now, cart, int(cells, c_int64_t), computing, step, planes, most, &
            gain, stat)
    end subroutine

    subroutine balance_int64(next, now, cart, cells, computing, step, least, most, gain, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:)
        real(c_double), intent(in) :: computing, step
        integer(c_int64_t), intent(in), optional :: least(:), most
        real(c_double), intent(inout), optional :: gain
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: planes(META_MAX_DIM)
        planes = 0
        if (present(least)) planes = ten(least)
        call balance_grid(next, now, cart, cells, computing, step, planes, most, gain, stat)
    end subroutine

    subroutine balance_grid(next, now, cart, cells, computing, step, least, most, gain, stat)
        type(meta_cuts), intent(inout) :: next
        type(meta_cuts), intent(in) :: now
        integer, intent(in) :: cart
        integer(c_int64_t), intent(in) :: cells(:), least(META_MAX_DIM)
        real(c_double), intent(in) :: computing, step
        integer(c_int64_t), intent(in), optional :: most
        real(c_double), intent(inout), optional :: gain
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_balance'
        type(c_planes) :: given(META_MAX_DIM), taken(META_MAX_DIM)
        type(meta_c_cuts) :: c_now, c_next
        integer(c_int64_t) :: room
        integer(c_int) :: err, ignored, ndim, parts(META_MAX_DIM)
        real(c_double) :: gained
        room = 0
        if (present(most)) room = most
        c_next%at = c_null_ptr
        err = parts_of(cart, call, ndim, parts)
        if (err == META_OK) then
            err = planes_given(now, ndim, parts, call, 'now', given, c_now)
            if (err == META_OK) err = planes_new(taken, ndim, parts(1:ndim) + 1, call, c_next)
            if (err == META_OK) then
                err = c_balance(c_next, c_now, cart, ten(cells), least, room, computing, step, &
                    gained)
            else
                ! The other ranks learn of it, instead of waiting for this one.
                call metaf_refuse(code_of(err))
                ignored = c_balance(c_next, c_now, cart, ten(cells), least, room, computing, &
                    step, gained)
                call metaf_refuse(META_OK)
            end if
        end if
        if (err == META_OK) call planes_taken(taken, ndim, next)
        if (err == META_OK .and. present(gain)) gain = gained
        call planes_free(given)
        call planes_free(taken)
        call finish(err, stat)
    end subroutine

    ! The own cells of from(k), those in from_box(k), go to to_box(k) of to(k), for each k.
    subroutine meta_redistribute(cart, before, after, from, from_box, to, to_box, stat)
        integer, intent(in) :: cart
        type(meta_cuts), intent(in) :: before, after
        type(meta_buffer), intent(in) :: from(:), to(:)
        type(meta_box), intent(in) :: from_box(:), to_box(:)
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_redistribute'
        type(c_planes) :: old(META_MAX_DIM), new(META_MAX_DIM)
        type(meta_c_cuts) :: c_before, c_after
        type(meta_c_redistribute_field) :: fields(size(from))
        type(buffer_body) :: source, target
        integer(c_int) :: err, ignored, ndim, parts(META_MAX_DIM)
        integer :: k
        c_before%at = c_null_ptr
        c_after%at = c_null_ptr
        err = parts_of(cart, call, ndim, parts)
        if (err == META_OK) err = planes_given(before, ndim, parts, call, 'before', old, c_before)
        if (err == META_OK) err = planes_given(after, ndim, parts, call, 'after', new, c_after)
        if (err == META_OK .and. any([size(to), size(from_box), size(to_box)] /= size(from))) &
            err = fail(META_ERR_ARGUMENT, call, &
            "arguments 'from', 'from_box', 'to' and 'to_box' differ in size")
        do k = 1, size(from)
            if (err == META_OK) err = body_of(from(k), call, 'from', source)
            if (err == META_OK) err = body_of(to(k), call, 'to', target)
            if (err == META_OK .and. source%type /= target%type) &
                err = fail(META_ERR_TYPE, call, "arguments 'from' and 'to' differ in type")
            if (err == META_OK) &
                err = box_of(source, from_box(k), call, 'from_box', fields(k)%from_box)
            if (err == META_OK) err = box_of(target, to_box(k), call, 'to_box', fields(k)%to_box)
            if (err /= META_OK) exit
            fields(k)%type = source%type
            fields(k)%from = source%address
            fields(k)%to = target%address
        end do
        if (err == META_OK) then
            err = c_redistribute(cart, c_before, c_after, size(from), fields)
        else
            ! The other ranks learn of it, instead of waiting for this one: no box has 0 dimensions,
            ! and no call -1 fields.
            do k = 1, size(from)
                fields(k)%from_box%ndim = 0
            end do
            call metaf_refuse(code_of(err))
            ignored = c_redistribute(cart, c_before, c_after, merge(size(from), -1, &
                size(from) > 0), fields)
            call metaf_refuse(META_OK)
        end if
        call planes_free(old)
        call planes_free(new)
        call finish(err, stat)
    end subroutine
end module meta_blocks
