! SPDX-License-Identifier: BSD-3-Clause
! Halo exchange: plans and exchanges of ghost cells.
module meta_halos
    use meta_c_comm
    use meta_base
    implicit none
    private
    public :: meta_halo, meta_halo_create, meta_halo_start, meta_halo_finish, meta_halo_exchange
    public :: meta_halo_overlap, meta_halo_free, meta_halo_work
    public :: meta_exchange, meta_halo_begin, meta_halo_end

    ! A handle of a plan; copies refer to the same plan.
    type :: meta_halo
        private
        type(meta_c_halo) :: handle
        type(buffer_body), allocatable :: like(:) ! the buffers that it was made with
    end type

    ! An exchange of a plan of which several are under way; copies are of the same one.
    type :: meta_exchange
        private
        type(meta_c_exchange) :: handle
    end type

    ! meta_halo_create(plan, cart, fields, box, low, high, kind, op, batch, stat): `fields` is a
    ! buffer or an array of buffers exchanged together. `box` is the range of this rank's owned
    ! cells, in the buffers' bounds, with ghost cells outside; or an array of boxes, one per buffer,
    ! if they differ (staggered arrays), the first being that of cells. `low` and `high` have one
    ! element per dimension of the first buffer; dimension d of `cart` is that of the buffers. What a
    ! buffer has beyond is a batch, with 0 ghosts, all of whose elements travel; or `batch` is an
    ! array of the dimensions that are, as [1] for u(species, x, y, z). Any buffers with these bounds
    ! fit.
    interface meta_halo_create
        module procedure create_one, create_same, create_each
    end interface
    ! meta_halo_begin(plan, fields, exchange, stat) and meta_halo_end(exchange, done, stat)
    interface meta_halo_begin
        module procedure begin_one, begin_all
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

    ! C callbacks that call the Fortran procedures.
    type :: works
        procedure(meta_halo_work), pointer, nopass :: interior => null(), boundary => null()
        class(*), pointer :: with => null()
        integer(c_int64_t) :: origin(META_MAX_DIM) = 0
        logical :: failed = .false.
    end type

contains

    ! ---------------------------------------------------------------- making plans

    subroutine create_one(plan, cart, fields, box, low, high, kind, op, batch, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields
        type(meta_box), intent(in) :: box
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(in), optional :: batch(:)
        integer, intent(out), optional :: stat
        type(meta_buffer) :: all(1)
        integer :: none(0)
        all(1) = fields
        if (present(batch)) then
            call create(plan, cart, all, [box], low, high, kind, op, batch, stat)
        else
            call create(plan, cart, all, [box], low, high, kind, op, none, stat)
        end if
    end subroutine

    subroutine create_same(plan, cart, fields, box, low, high, kind, op, batch, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: box
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(in), optional :: batch(:)
        integer, intent(out), optional :: stat
        type(meta_box) :: each(size(fields))
        integer :: none(0)
        each = box
        if (present(batch)) then
            call create(plan, cart, fields, each, low, high, kind, op, batch, stat)
        else
            call create(plan, cart, fields, each, low, high, kind, op, none, stat)
        end if
    end subroutine

    subroutine create_each(plan, cart, fields, box, low, high, kind, op, batch, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: box(:)
        integer, intent(in) :: low(:), high(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(in), optional :: batch(:)
        integer, intent(out), optional :: stat
        integer :: none(0)
        if (present(batch)) then
            call create(plan, cart, fields, box, low, high, kind, op, batch, stat)
        else
            call create(plan, cart, fields, box, low, high, kind, op, none, stat)
        end if
    end subroutine

    ! A batch that is not given comes as an array without elements: gfortran 12 looks into the
    ! descriptor of one that is absent.
    subroutine create(plan, cart, fields, box, low, high, kind, op, batch, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(in) :: cart
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: box(:)
        integer, intent(in) :: low(:), high(:), batch(:)
        integer(c_int), intent(in), optional :: kind, op
        integer, intent(out), optional :: stat
        type(meta_c_halo_field), target :: each(size(fields) + 1)
        type(buffer_body) :: like(size(fields))
        integer(c_int) :: err, ignored, wanted, what, lows(META_MAX_DIM), highs(META_MAX_DIM)
        integer(c_int32_t) :: mask
        wanted = META_HALO_FACES
        if (present(kind)) wanted = kind
        what = META_HALO_COPY
        if (present(op)) what = op
        mask = 0
        err = described(fields, box, low, high, batch, like, each)
        if (err == META_OK) err = mask_of(batch, like(1)%ndim, mask)
        lows = 0
        highs = 0
        if (err == META_OK) then
            lows(1:size(low)) = low
            highs(1:size(high)) = high
            err = c_halo_create(plan%handle, cart, each(1)%box, lows, highs, wanted, &
                size(fields), each(1)%type, what, c_loc(each(1)), mask)
        else
            ! The other ranks learn of it, instead of waiting for this one: no plan has 0 arrays.
            call metaf_refuse(code_of(err))
            ignored = c_halo_create(plan%handle, cart, each(1)%box, lows, highs, wanted, &
                0, META_F64, what, c_null_ptr, mask)
            call metaf_refuse(META_OK)
        end if
        if (err == META_OK) plan%like = like
        call finish(err, stat)
    end subroutine

    ! The dimensions that are a batch, a bit each.
    function mask_of(batch, ndim, mask) result(err)
        integer, intent(in) :: batch(:)
        integer(c_int), intent(in) :: ndim
        integer(c_int32_t), intent(inout) :: mask
        integer(c_int) :: err
        integer :: k
        err = META_OK
        do k = 1, size(batch)
            if (batch(k) >= 1 .and. batch(k) <= ndim) then
                mask = ibset(mask, batch(k) - 1)
            else if (err == META_OK) then
                err = fail(META_ERR_ARGUMENT, 'meta_halo_create', "argument 'batch' has " // &
                    digits_of(int(batch(k), c_int64_t)) // ', but the first buffer has ' // &
                    digits_of(int(ndim, c_int64_t)) // ' dimensions, which count from 1')
            end if
        end do
    end function

    ! The buffers of a plan as C has them, with ghosts that lie within their bounds.
    function described(fields, box, low, high, batch, like, each) result(err)
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_box), intent(in) :: box(:)
        integer, intent(in) :: low(:), high(:), batch(:)
        type(buffer_body), intent(out) :: like(:)
        type(meta_c_halo_field), intent(out) :: each(:)
        integer(c_int) :: err
        character(len=*), parameter :: call = 'meta_halo_create'
        integer :: k
        err = META_OK
        if (size(fields) < 1) then
            err = fail(META_ERR_ARGUMENT, call, "argument 'fields' has no element")
        else if (size(box) /= size(fields)) then
            err = fail(META_ERR_ARGUMENT, call, "arguments 'fields' and 'box' differ in size")
        end if
        do k = 1, size(fields)
            if (err == META_OK) &
                err = body_of(fields(k), call, element('fields', k, size(fields)), like(k))
            if (err == META_OK) err = box_of(like(k), box(k), call, &
                element('box', k, size(fields)), each(k)%box)
            if (err == META_OK .and. any([size(low), size(high)] /= like(1)%ndim)) &
                err = fail(META_ERR_ARGUMENT, call, "argument 'low' or 'high' has not an " // &
                'element for each dimension of the first buffer')
            ! Which ghosts a buffer of another rank has, C knows.
            if (err == META_OK .and. (size(batch) == 0 .or. like(k)%ndim == like(1)%ndim)) &
                err = ghosts_within(like(k), box(k), low, high)
            each(k)%type = like(k)%type
        end do
    end function

    ! An element of an array that is an argument, the argument where it is the only one.
    function element(name, k, count) result(text)
        character(len=*), intent(in) :: name
        integer, intent(in) :: k, count
        character(len=:), allocatable :: text
        text = name
        if (count > 1) text = name // '(' // digits_of(int(k, c_int64_t)) // ')'
    end function

    ! Ghosts lie within the bounds, whatever padding is beyond.
    function ghosts_within(body, box, low, high) result(err)
        type(buffer_body), intent(in) :: body
        type(meta_box), intent(in) :: box
        integer, intent(in) :: low(:), high(:)
        integer(c_int) :: err
        integer :: d
        err = META_OK
        do d = 1, min(body%ndim, size(low))
            if (err /= META_OK .or. box%upper(d) < box%lower(d)) cycle
            if (low(d) > box%lower(d) - body%lower(d) .or. &
                high(d) > body%upper(d) - box%upper(d)) err = fail(META_ERR_BOUNDS, &
                'meta_halo_create', "arguments 'low' and 'high', dimension " // &
                digits_of(int(d, c_int64_t)) // ': ' // digits_of(int(low(d), c_int64_t)) // &
                ' and ' // digits_of(int(high(d), c_int64_t)) // ' ghosts are asked for, but ' // &
                "the buffer's bounds leave " // digits_of(box%lower(d) - body%lower(d)) // &
                ' and ' // digits_of(body%upper(d) - box%upper(d)) // ' outside the box' // &
                words_of(body))
        end do
    end function

    subroutine meta_halo_free(plan, stat)
        type(meta_halo), intent(inout) :: plan
        integer, intent(out), optional :: stat
        integer(c_int) :: err
        err = c_halo_free(plan%handle)
        if (err == META_OK .and. allocated(plan%like)) deallocate (plan%like)
        call finish(err, stat)
    end subroutine

    ! ---------------------------------------------------------------- exchanging

    ! The buffers of an exchange: as many, of the same types and bounds, as the plan was made with.
    function addresses_of(plan, fields, call, addresses) result(err)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        character(len=*), intent(in) :: call
        type(c_ptr), intent(out) :: addresses(:)
        integer(c_int) :: err
        integer :: k
        err = META_OK
        addresses = c_null_ptr
        if (.not. allocated(plan%like)) return ! no plan at all, as C will say
        err = need_count(plan, size(fields), call)
        if (err /= META_OK) return
        do k = 1, size(fields)
            addresses(k) = address_if_alike(fields(k), plan%like(k))
            if (c_associated(addresses(k))) cycle
            err = unlike(fields(k), plan%like(k), call, element('fields', k, size(fields)))
            return
        end do
    end function

    ! The same of a plan for one buffer, without making an array of it: a copy of a buffer counts.
    function address_of(plan, field, call, address) result(err)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: field
        character(len=*), intent(in) :: call
        type(c_ptr), intent(out) :: address(1)
        integer(c_int) :: err
        err = META_OK
        address = c_null_ptr
        if (.not. allocated(plan%like)) return
        err = need_count(plan, 1, call)
        if (err /= META_OK) return
        address(1) = address_if_alike(field, plan%like(1))
        if (.not. c_associated(address(1))) err = unlike(field, plan%like(1), call, 'fields')
    end function

    function need_count(plan, count, call) result(err)
        type(meta_halo), intent(in) :: plan
        integer, intent(in) :: count
        character(len=*), intent(in) :: call
        integer(c_int) :: err
        err = META_OK
        if (count /= size(plan%like)) err = fail(META_ERR_ARGUMENT, call, &
            "argument 'fields' has " // digits_of(int(count, c_int64_t)) // &
            ' buffers, the plan ' // digits_of(size(plan%like, kind=c_int64_t)))
    end function

    ! The address of a buffer; null if it differs from the one that the plan was created with. The
    ! success path formats no text, because every exchange calls this.
    function address_if_alike(field, like) result(address)
        type(meta_buffer), intent(in) :: field
        type(buffer_body), intent(in) :: like
        type(c_ptr) :: address
        type(buffer_body), pointer :: body
        integer :: n
        address = c_null_ptr
        n = like%ndim
        body => body_if_any(field)
        if (.not. associated(body)) return
        if (body%type /= like%type .or. body%ndim /= n) return
        if (any(body%lower(1:n) /= like%lower(1:n)) .or. &
            any(body%upper(1:n) /= like%upper(1:n)) .or. &
            any(body%size(1:n) /= like%size(1:n)) .or. &
            any(body%origin(1:n) /= like%origin(1:n))) return
        address = body%address
    end function

    ! How such a buffer differs.
    function unlike(field, like, call, name) result(err)
        type(meta_buffer), intent(in) :: field
        type(buffer_body), intent(in) :: like
        character(len=*), intent(in) :: call, name
        integer(c_int) :: err
        type(buffer_body), pointer :: body
        integer :: n
        err = find_body(field, call, name, body)
        if (err /= META_OK) return
        n = like%ndim
        if (body%type /= like%type) then
            err = fail(META_ERR_TYPE, call, "argument '" // name // "' is of " // &
                type_name(body%type) // ', the plan of ' // type_name(like%type) // words_of(body))
        else if (body%ndim /= n) then
            err = fail(META_ERR_ARGUMENT, call, "argument '" // name // "' has rank " // &
                digits_of(int(body%ndim, c_int64_t)) // ', the plan ' // &
                digits_of(int(n, c_int64_t)) // words_of(body))
        else
            err = fail(META_ERR_BOUNDS, call, "argument '" // name // &
                "' has not the bounds or padding that the plan was made for" // words_of(body))
        end if
    end function

    subroutine begin_one(plan, fields, exchange, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields
        type(meta_exchange), intent(inout) :: exchange
        integer, intent(out), optional :: stat
        type(c_ptr), target :: address(1)
        integer(c_int) :: err
        err = address_of(plan, fields, 'meta_halo_begin', address)
        if (err == META_OK) err = c_halo_begin(plan%handle, c_loc(address(1)), exchange%handle)
        call finish(err, stat)
    end subroutine

    subroutine begin_all(plan, fields, exchange, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_exchange), intent(inout) :: exchange
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(plan, fields, 'meta_halo_begin', addresses)
        if (err == META_OK) err = c_halo_begin(plan%handle, c_loc(addresses(1)), exchange%handle)
        call finish(err, stat)
    end subroutine

    subroutine meta_halo_end(exchange, done, stat)
        type(meta_exchange), intent(inout) :: exchange
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        call finish(c_halo_end(exchange%handle, event_at(done)), stat)
    end subroutine

    subroutine start_one(plan, fields, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields
        integer, intent(out), optional :: stat
        type(c_ptr), target :: address(1)
        integer(c_int) :: err
        err = address_of(plan, fields, 'meta_halo_start', address)
        if (err == META_OK) err = c_halo_start(plan%handle, c_loc(address(1)))
        call finish(err, stat)
    end subroutine

    subroutine start_all(plan, fields, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(plan, fields, 'meta_halo_start', addresses)
        if (err == META_OK) err = c_halo_start(plan%handle, c_loc(addresses(1)))
        call finish(err, stat)
    end subroutine

    subroutine meta_halo_finish(plan, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        call finish(c_halo_finish(plan%handle, event_at(done)), stat)
    end subroutine

    subroutine exchange_one(plan, fields, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: address(1)
        integer(c_int) :: err
        err = address_of(plan, fields, 'meta_halo_exchange', address)
        if (err == META_OK) err = c_halo_exchange(plan%handle, c_loc(address(1)), event_at(done))
        call finish(err, stat)
    end subroutine

    subroutine exchange_all(plan, fields, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(plan, fields, 'meta_halo_exchange', addresses)
        if (err == META_OK) &
            err = c_halo_exchange(plan%handle, c_loc(addresses(1)), event_at(done))
        call finish(err, stat)
    end subroutine

    ! ---------------------------------------------------------------- beside computation

    subroutine overlap_one(plan, fields, interior, boundary, with, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields
        procedure(meta_halo_work) :: interior, boundary
        class(*), intent(inout), target :: with
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: address(1)
        integer(c_int) :: err
        err = address_of(plan, fields, 'meta_halo_overlap', address)
        if (err == META_OK) &
            err = overlap(plan, c_loc(address(1)), interior, boundary, with, done)
        call finish(err, stat)
    end subroutine

    subroutine overlap_all(plan, fields, interior, boundary, with, done, stat)
        type(meta_halo), intent(in) :: plan
        type(meta_buffer), intent(in) :: fields(:)
        procedure(meta_halo_work) :: interior, boundary
        class(*), intent(inout), target :: with
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(c_ptr), target :: addresses(size(fields) + 1)
        integer(c_int) :: err
        err = addresses_of(plan, fields, 'meta_halo_overlap', addresses)
        if (err == META_OK) &
            err = overlap(plan, c_loc(addresses(1)), interior, boundary, with, done)
        call finish(err, stat)
    end subroutine

    function overlap(plan, addresses, interior, boundary, with, done) result(err)
        type(meta_halo), intent(in) :: plan
        type(c_ptr), intent(in) :: addresses
        procedure(meta_halo_work) :: interior, boundary
        class(*), intent(inout), target :: with
        type(meta_event), intent(inout), optional, target :: done
        integer(c_int) :: err
        type(works), target :: both
        both%interior => interior
        both%boundary => boundary
        both%with => with
        if (allocated(plan%like)) both%origin = plan%like(1)%origin
        err = c_halo_overlap(plan%handle, addresses, c_funloc(do_interior), &
            c_funloc(do_boundary), c_loc(both), event_at(done))
        if (both%failed) err = passed_on(err)
    end function

    function do_interior(box, with) bind(c, name='') result(err)
        type(meta_c_box), intent(in) :: box
        type(c_ptr), value :: with
        integer(c_int) :: err
        type(works), pointer :: both
        call c_f_pointer(with, both)
        err = answer_of(both%interior, box, both)
    end function

    function do_boundary(box, with) bind(c, name='') result(err)
        type(meta_c_box), intent(in) :: box
        type(c_ptr), value :: with
        integer(c_int) :: err
        type(works), pointer :: both
        call c_f_pointer(with, both)
        err = answer_of(both%boundary, box, both)
    end function

    function answer_of(work, box, both) result(err)
        procedure(meta_halo_work) :: work
        type(meta_c_box), intent(in) :: box
        type(works), intent(inout) :: both
        integer(c_int) :: err
        integer :: stat
        call work(program_box(box, both%origin), both%with, stat)
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
