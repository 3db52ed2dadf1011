! SPDX-License-Identifier: BSD-3-Clause
! Plans for exchanging ghost cells.
module meta_halos
    use meta_c_comm
    use meta_base
    implicit none
    private
    public :: meta_halo, meta_halo_create, meta_halo_start, meta_halo_finish, meta_halo_exchange
    public :: meta_halo_overlap, meta_halo_free, meta_halo_work

    ! A plan; copies are of the same one.
    type :: meta_halo
        private
        type(meta_c_halo) :: handle
        integer(c_int64_t) :: origin(META_MAX_DIM) = 0
    end type

    ! meta_halo_create(plan, cart, fields, box, low, high, kind, op, stat): `fields` is a buffer or
    ! an array of buffers that travel together. `box` are this rank's own cells, ghosts outside, by
    ! the buffers' own bounds; an array of boxes, one for each buffer, where they differ (staggered
    ! arrays), the first being that of cells. `low` and `high` have an element a dimension, and
    ! dimension d of `cart` is that of the buffers. The plan is for any buffers of these bounds.
    interface meta_halo_create
        module procedure create_one, create_same, create_each
    end interface
    interface meta_halo_start
        module procedure start_one, start_all
    end interface
    interface meta_halo_exchange
        module procedure exchange_one, exchange_all
    end interface
    interface meta_halo_overlap
        module procedure overlap_one, overlap_all
    end interface

    abstract interface
        ! Work on the cells of `box`, by the bounds of the plan's first buffer; `stat` is 0, or an
        ! error to return.
        subroutine meta_halo_work(box, with, stat)
            import :: meta_box
            type(meta_box), intent(in) :: box
            class(*), intent(inout) :: with
            integer, intent(out) :: stat
        end subroutine
    end interface

    ! What the C functions are given in place of Fortran's procedures.
    type :: works
        procedure(meta_halo_work), pointer, nopass :: interior => null(), boundary => null()
        class(*), pointer :: with => null()
        integer(c_int64_t) :: origin(META_MAX_DIM) = 0
        logical :: failed = .false.
    end type

contains

    ! ---------------------------------------------------------------- making plans

    subroutine create_one(plan, cart, field, box, low, high, kind, op, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: field
        type(meta_box), intent(in) :: box
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(out), optional :: stat
        type(meta_buffer) :: fields(1)
        fields(1) = field
        call create_each(plan, cart, fields, [box], low, high, kind, op, stat)
    end subroutine

    subroutine create_same(plan, cart, fields, box, low, high, kind, op, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: box
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(out), optional :: stat
        type(meta_box) :: boxes(size(fields))
        boxes = box
        call create_each(plan, cart, fields, boxes, low, high, kind, op, stat)
    end subroutine

    subroutine create_each(plan, cart, fields, boxes, low, high, kind, op, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: boxes(:)
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_halo_create'
        type(meta_c_halo_field), target :: each(size(fields) + 1)
        type(buffer_body) :: body
        integer(c_int) :: err, ignored, wanted, what, lows(META_MAX_DIM), highs(META_MAX_DIM)
        integer :: k
        wanted = META_HALO_FACES
        if (present(kind)) wanted = kind
        what = META_HALO_COPY
        if (present(op)) what = op
        err = META_OK
        if (size(fields) < 1) then
            err = fail(META_ERR_ARGUMENT, call, "argument 'fields' has no element")
        else if (size(boxes) /= size(fields)) then
            err = fail(META_ERR_ARGUMENT, call, "arguments 'fields' and 'boxes' differ in size")
        end if
        do k = size(fields), 1, -1
            if (err == META_OK) err = body_of(fields(k), call, 'fields', body)
            if (err == META_OK) err = box_of(body, boxes(k), call, 'box', each(k)%box)
            each(k)%type = body%type
        end do
        if (err == META_OK .and. any([size(low), size(high)] /= body%ndim)) &
            err = fail(META_ERR_ARGUMENT, call, "argument 'low' or 'high' has not an element " // &
            'for each dimension of the buffers')
        lows = 0
        highs = 0
        if (err == META_OK) then
            lows(1:size(low)) = low
            highs(1:size(high)) = high
            err = c_halo_create(plan%handle, cart, each(1)%box, lows, highs, wanted, &
                size(fields), each(1)%type, what, c_loc(each(1)))
        else
            ! The other ranks learn of it, instead of waiting for this one: no plan has 0 arrays.
            ignored = c_halo_create(plan%handle, cart, each(1)%box, lows, highs, wanted, &
                0, META_F64, what, c_null_ptr)
        end if
        if (err == META_OK) plan%origin = body%origin
        call finish(err, stat)
    end subroutine

    subroutine meta_halo_free(plan, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(out), optional :: stat
        call finish(c_halo_free(plan%handle), stat)
    end subroutine

    ! ---------------------------------------------------------------- exchanging

    function addresses_of(fields, call, addresses) result(err)
        type(meta_buffer), intent(in) :: fields(:)
        character(len=*), intent(in) :: call
        type(c_ptr), intent(out) :: addresses(:)
        integer(c_int) :: err
        type(buffer_body) :: body
        integer :: k
        err = META_OK
        do k = 1, size(fields)
            if (err == META_OK) err = body_of(fields(k), call, 'fields', body)
            addresses(k) = body%address
        end do
    end function

    subroutine start_one(plan, field, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: field
        integer, intent(out), optional :: stat
        type(meta_buffer) :: fields(1)
        fields(1) = field
        call start_all(plan, fields, stat)
    end subroutine

    subroutine start_all(plan, fields, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(fields, 'meta_halo_start', addresses)
        if (err == META_OK) err = c_halo_start(plan%handle, c_loc(addresses(1)))
        call finish(err, stat)
    end subroutine

    subroutine meta_halo_finish(plan, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        call finish(c_halo_finish(plan%handle, event_at(done)), stat)
    end subroutine

    subroutine exchange_one(plan, field, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: field
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(meta_buffer) :: fields(1)
        fields(1) = field
        call exchange_all(plan, fields, done, stat)
    end subroutine

    subroutine exchange_all(plan, fields, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(fields, 'meta_halo_exchange', addresses)
        if (err == META_OK) &
            err = c_halo_exchange(plan%handle, c_loc(addresses(1)), event_at(done))
        call finish(err, stat)
    end subroutine

    ! ---------------------------------------------------------------- beside computation

    subroutine overlap_one(plan, field, interior, boundary, with, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: field
        procedure(meta_halo_work) :: interior, boundary
        class(*), intent(inout), target :: with
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(meta_buffer) :: fields(1)
        fields(1) = field
        call overlap_all(plan, fields, interior, boundary, with, done, stat)
    end subroutine

    subroutine overlap_all(plan, fields, interior, boundary, with, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        procedure(meta_halo_work) :: interior, boundary
        class(*), intent(inout), target :: with
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        type(works), target :: both
        integer(c_int) :: err
        err = addresses_of(fields, 'meta_halo_overlap', addresses)
        both%interior => interior
        both%boundary => boundary
        both%with => with
        both%origin = plan%origin
        if (err == META_OK) err = c_halo_overlap(plan%handle, c_loc(addresses(1)), &
            c_funloc(do_interior), c_funloc(do_boundary), c_loc(both), event_at(done))
        if (both%failed) err = passed_on(err)
        call finish(err, stat)
    end subroutine

    function do_interior(box, with) bind(c) result(err)
        type(meta_c_box), intent(in) :: box
        type(c_ptr), value :: with
        integer(c_int) :: err
        type(works), pointer :: both
        integer :: stat
        call c_f_pointer(with, both)
        call both%interior(program_box(box, both%origin), both%with, stat)
        err = stat
        if (err /= META_OK) both%failed = .true.
    end function

    function do_boundary(box, with) bind(c) result(err)
        type(meta_c_box), intent(in) :: box
        type(c_ptr), value :: with
        integer(c_int) :: err
        type(works), pointer :: both
        integer :: stat
        call c_f_pointer(with, both)
        call both%boundary(program_box(box, both%origin), both%with, stat)
        err = stat
        if (err /= META_OK) both%failed = .true.
    end function

    function program_box(c, origin) result(box)
        type(meta_c_box), intent(in) :: c
        integer(c_int64_t), intent(in) :: origin(META_MAX_DIM)
        type(meta_box) :: box
        integer :: n
        n = c%ndim
        box%ndim = n
        box%lower(1:n) = c%start(1:n) + origin(1:n)
        box%upper(1:n) = c%end(1:n) + origin(1:n) - 1
    end function
end module meta_halos
