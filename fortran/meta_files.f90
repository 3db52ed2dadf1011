! SPDX-License-Identifier: BSD-3-Clause
! Files of distributed fields.
module meta_files
    use meta_c_io
    use meta_c_comm, only: metaf_refuse
    use meta_base
    implicit none
    private
    public :: meta_io_field, meta_io_attributes, meta_io_file, meta_io_request, meta_io_describe
    public :: meta_io_write_begin, meta_io_test, meta_io_wait
    public :: meta_io_has, meta_io_write, meta_io_open, meta_io_read, meta_io_close, meta_io_last
    public :: meta_io_file_info, meta_io_field_info, meta_io_attribute_info
    public :: meta_io_put, meta_io_attribute_find

    integer, parameter :: NAME_BYTES = 128

    ! A range `box` of a buffer, whose first cell is cell `first` of a grid of `cells` cells; both
    ! begin at 1. Without cells, when reading, the file's are taken. For calls before the buffer is
    ! freed or assigned: it keeps no reference to it.
    type :: meta_io_field
        private
        character(len=NAME_BYTES + 1) :: name = ''
        type(buffer_body) :: body ! its address is null where there is no memory
        type(meta_box) :: box
        integer(c_int64_t) :: first(META_MAX_DIM) = 1, cells(META_MAX_DIM) = 0
    end type

    type :: attribute
        character(kind=c_char), allocatable :: name(:), text(:)
        integer(c_int8_t), allocatable :: numbers(:)
        integer(c_int) :: type = META_TYPE_COUNT
        integer(c_int64_t) :: count = 0
    end type

    ! Names with texts or numbers, which meta_io_put() adds.
    type :: meta_io_attributes
        private
        integer :: count = 0
        type(attribute), allocatable :: item(:)
    end type

    type :: meta_io_file
        private
        type(meta_c_io_file) :: handle
    end type

    type :: meta_io_request
        private
        type(meta_c_io_request) :: handle
    end type

    ! meta_io_describe(name, buffer, box, first, cells)
    interface meta_io_describe
        module procedure describe, describe_int64
    end interface
    ! meta_io_put(attributes, name, value)
    interface meta_io_put
        module procedure put_text, put_r8, put_r4, put_i8, put_i4, put_r8s, put_r4s, put_i8s, &
            put_i4s
    end interface
    ! meta_io_attribute_find(file, name, value, stat)
    interface meta_io_attribute_find
        module procedure find_text, find_r8, find_r4, find_i8, find_i4, find_r8s, find_r4s, &
            find_i8s, find_i4s
    end interface

contains

    ! ---------------------------------------------------------------- fields

    function describe_int64(name, buffer, box, first, cells) result(field)
        character(len=*), intent(in) :: name
        type(meta_buffer), intent(in) :: buffer
        type(meta_box), intent(in) :: box
        integer(c_int64_t), intent(in) :: first(:)
        integer(c_int64_t), intent(in), optional :: cells(:)
        type(meta_io_field) :: field
        type(buffer_body), pointer :: body
        integer :: n
        field%name = name
        body => body_if_any(buffer)
        if (associated(body)) field%body = body
        field%box = box
        n = min(size(first), META_MAX_DIM)
        field%first(1:n) = first(1:n)
        if (.not. present(cells)) return
        n = min(size(cells), META_MAX_DIM)
        field%cells(1:n) = cells(1:n)
    end function

    function describe(name, buffer, box, first, cells) result(field)
        character(len=*), intent(in) :: name
        type(meta_buffer), intent(in) :: buffer
        type(meta_box), intent(in) :: box
        integer, intent(in) :: first(:)
        integer, intent(in), optional :: cells(:)
        type(meta_io_field) :: field
        field = describe_int64(name, buffer, box, int(first, c_int64_t))
        if (present(cells)) field = describe_int64(name, buffer, box, int(first, c_int64_t), &
            int(cells, c_int64_t))
    end function

    ! The fields as C has them; `names` has the names' memory.
    function fields_given(fields, call, names, c) result(err)
        type(meta_io_field), intent(in) :: fields(:)
        character(len=*), intent(in) :: call
        character(kind=c_char), intent(inout), target :: names(:, :)
        type(meta_c_io_field), intent(inout) :: c(:)
        integer(c_int) :: err
        integer :: f, k
        err = META_OK
        do f = 1, size(fields)
            if (fields(f)%name == '') err = fail(META_ERR_ARGUMENT, call, &
                "argument 'fields' has a field without a name: make it with meta_io_describe()")
            if (err == META_OK .and. .not. c_associated(fields(f)%body%address)) &
                err = fail(META_ERR_POINTER, call, "the buffer of field '" // &
                trim(fields(f)%name) // "' in argument 'fields' is not allocated")
            if (err == META_OK) err = box_of(fields(f)%body, fields(f)%box, call, &
                "box", c(f)%box)
            if (err /= META_OK) return
            names(:, f) = c_null_char
            do k = 1, len_trim(fields(f)%name)
                names(k, f) = fields(f)%name(k:k)
            end do
            c(f)%name = c_loc(names(1, f))
            c(f)%buf = fields(f)%body%address
            c(f)%type = fields(f)%body%type
            c(f)%first = fields(f)%first - 1
            c(f)%cells = fields(f)%cells
        end do
    end function

    ! ---------------------------------------------------------------- attributes

    ! Room for one more, called `name`.
    subroutine add(list, name)
        type(meta_io_attributes), intent(inout) :: list
        character(len=*), intent(in) :: name
        type(attribute), allocatable :: more(:)
        allocate (more(list%count + 1))
        if (allocated(list%item)) more(1:list%count) = list%item
        call move_alloc(more, list%item)
        list%count = list%count + 1
        allocate (list%item(list%count)%name(len_trim(name) + 1))
        list%item(list%count)%name = c_text(name)
    end subroutine

    subroutine put_text(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name, value
        call add(attributes, name)
        allocate (attributes%item(attributes%count)%text(len_trim(value) + 1))
        attributes%item(attributes%count)%text = c_text(value)
    end subroutine

    subroutine put_bytes(list, name, type, count, bytes)
        type(meta_io_attributes), intent(inout) :: list
        character(len=*), intent(in) :: name
        integer(c_int), intent(in) :: type
        integer, intent(in) :: count
        integer(c_int8_t), intent(in) :: bytes(:)
        call add(list, name)
        allocate (list%item(list%count)%numbers(size(bytes)))
        list%item(list%count)%numbers = bytes
        list%item(list%count)%type = type
        list%item(list%count)%count = count
    end subroutine

    subroutine put_r8s(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        real(c_double), intent(in) :: value(:)
        call put_bytes(attributes, name, META_F64, size(value), transfer(value, [0_c_int8_t]))
    end subroutine

    subroutine put_r4s(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        real(c_float), intent(in) :: value(:)
        call put_bytes(attributes, name, META_F32, size(value), transfer(value, [0_c_int8_t]))
    end subroutine

    subroutine put_i8s(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: value(:)
        call put_bytes(attributes, name, META_I64, size(value), transfer(value, [0_c_int8_t]))
    end subroutine

    subroutine put_i4s(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: value(:)
        call put_bytes(attributes, name, META_I32, size(value), transfer(value, [0_c_int8_t]))
    end subroutine

    subroutine put_r8(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        real(c_double), intent(in) :: value
        call put_r8s(attributes, name, [value])
    end subroutine

    subroutine put_r4(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        real(c_float), intent(in) :: value
        call put_r4s(attributes, name, [value])
    end subroutine

    subroutine put_i8(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(in) :: value
        call put_i8s(attributes, name, [value])
    end subroutine

    subroutine put_i4(attributes, name, value)
        type(meta_io_attributes), intent(inout) :: attributes
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(in) :: value
        call put_i4s(attributes, name, [value])
    end subroutine

    ! ---------------------------------------------------------------- writing

    subroutine meta_io_has(format, has, stat)
        integer, intent(in) :: format
        logical, intent(out) :: has
        integer, intent(out), optional :: stat
        integer(c_int) :: found
        found = 0
        call finish(c_io_has(format, found), stat)
        has = found /= 0
    end subroutine

    ! Both: with a request the file is written beside computation.
    function write_or_begin(call, path, comm, format, fields, attributes, number, keep, origin, &
        spacing, series, memory, axis, plane, range, request) result(err)
        character(len=*), intent(in) :: call
        character(len=*), intent(in) :: path
        integer, intent(in) :: comm, format
        type(meta_io_field), intent(in) :: fields(:)
        type(meta_io_attributes), intent(in), optional, target :: attributes
        integer, intent(in), optional :: number, keep
        real(c_double), intent(in), optional :: origin(:), spacing(:)
        character(len=*), intent(in), optional :: series
        integer(c_int64_t), intent(in), optional :: memory
        integer, intent(in), optional :: axis, plane
        real(c_double), intent(in), optional :: range(2)
        type(c_ptr), intent(in) :: request
        character(kind=c_char), target :: names(NAME_BYTES + 2, size(fields))
        type(meta_c_io_field) :: c(size(fields))
        type(meta_c_io_attribute), allocatable :: given(:)
        character(kind=c_char), allocatable, target :: series_name(:)
        type(c_ptr) :: series_at
        real(c_double) :: corner(META_MAX_DIM), edges(META_MAX_DIM)
        integer(c_int64_t) :: which, kept, most, cut
        integer(c_int) :: along
        real(c_double) :: limits(2)
        integer(c_int) :: err, ignored
        integer :: count, k
        corner = 0
        edges = 1
        which = -1
        kept = 0
        most = 256_c_int64_t * 2**20
        count = 0
        if (present(memory)) most = memory
        along = -1
        cut = -1
        limits = 0
        if (present(axis)) along = axis - 1
        if (present(plane)) cut = plane - 1
        if (present(range)) limits = range
        if (present(origin)) corner(1:min(size(origin), META_MAX_DIM)) = &
            origin(1:min(size(origin), META_MAX_DIM))
        if (present(spacing)) edges(1:min(size(spacing), META_MAX_DIM)) = &
            spacing(1:min(size(spacing), META_MAX_DIM))
        series_at = c_null_ptr
        if (present(series)) then
            allocate (series_name(len_trim(series) + 1))
            series_name = c_text(series)
            series_at = c_loc(series_name(1))
        end if
        if (present(number)) which = number
        if (present(keep)) kept = keep
        if (present(attributes)) count = attributes%count
        allocate (given(count))
        do k = 1, count
            given(k)%name = c_loc(attributes%item(k)%name(1))
            if (allocated(attributes%item(k)%text)) then
                given(k)%text = c_loc(attributes%item(k)%text(1))
            else if (size(attributes%item(k)%numbers) > 0) then
                given(k)%numbers = c_loc(attributes%item(k)%numbers(1))
            end if
            given(k)%type = attributes%item(k)%type
            given(k)%count = attributes%item(k)%count
        end do
        err = fields_given(fields, call, names, c)
        if (err == META_OK) then
            err = c_io_write(c_text(path), comm, format, count, given, which, kept, corner, edges, &
                series_at, most, along, cut, limits(1), limits(2), size(fields), c, request)
        else
            ! The other ranks learn of it, instead of waiting for this one: no file has -1 fields.
            call metaf_refuse(code_of(err))
            ignored = c_io_write(c_text(path), comm, format, count, given, which, kept, corner, &
                edges, series_at, most, along, cut, limits(1), limits(2), -1, c, request)
            call metaf_refuse(META_OK)
        end if
    end function

    subroutine meta_io_write(path, comm, format, fields, attributes, number, keep, origin, &
        spacing, series, axis, plane, range, stat)
        character(len=*), intent(in) :: path
        integer, intent(in) :: comm, format
        type(meta_io_field), intent(in) :: fields(:)
        type(meta_io_attributes), intent(in), optional, target :: attributes
        integer, intent(in), optional :: number, keep, axis, plane
        real(c_double), intent(in), optional :: range(2)
        real(c_double), intent(in), optional :: origin(:), spacing(:)
        character(len=*), intent(in), optional :: series
        integer, intent(out), optional :: stat
        call finish(write_or_begin('meta_io_write', path, comm, format, fields, attributes, &
            number, keep, origin, spacing, series, axis=axis, plane=plane, range=range, &
            request=c_null_ptr), stat)
    end subroutine

    subroutine meta_io_write_begin(path, comm, format, fields, request, attributes, number, keep, &
        origin, spacing, series, memory, axis, plane, range, stat)
        character(len=*), intent(in) :: path
        integer, intent(in) :: comm, format
        type(meta_io_field), intent(in) :: fields(:)
        type(meta_io_request), intent(inout), target :: request
        type(meta_io_attributes), intent(in), optional, target :: attributes
        integer, intent(in), optional :: number, keep, axis, plane
        real(c_double), intent(in), optional :: range(2)
        real(c_double), intent(in), optional :: origin(:), spacing(:)
        character(len=*), intent(in), optional :: series
        integer(c_int64_t), intent(in), optional :: memory
        integer, intent(out), optional :: stat
        call finish(write_or_begin('meta_io_write_begin', path, comm, format, fields, attributes, &
            number, keep, origin, spacing, series, memory, axis, plane, range, &
            c_loc(request%handle)), stat)
    end subroutine

    ! Whether this rank's part is on the disk.
    subroutine meta_io_test(request, done, stat)
        type(meta_io_request), intent(in) :: request
        logical, intent(out) :: done
        integer, intent(out), optional :: stat
        integer(c_int) :: is_done
        is_done = 0
        call finish(c_io_test(request%handle, is_done), stat)
        done = is_done /= 0
    end subroutine

    subroutine meta_io_wait(request, stat)
        type(meta_io_request), intent(inout) :: request
        integer, intent(out), optional :: stat
        call finish(c_io_wait(request%handle), stat)
    end subroutine

    ! ---------------------------------------------------------------- reading

    subroutine meta_io_open(file, path, comm, format, number, stat)
        type(meta_io_file), intent(inout) :: file
        character(len=*), intent(in) :: path
        integer, intent(in) :: comm
        integer, intent(in), optional :: format, number
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: which
        integer(c_int) :: how
        which = -1
        how = META_IO_ANY
        if (present(number)) which = number
        if (present(format)) how = format
        call finish(c_io_open(file%handle, c_text(path), comm, how, which), stat)
    end subroutine

    subroutine meta_io_read(file, fields, stat)
        type(meta_io_file), intent(in) :: file
        type(meta_io_field), intent(in) :: fields(:)
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_io_read'
        character(kind=c_char), target :: names(NAME_BYTES + 2, size(fields))
        type(meta_c_io_field) :: c(size(fields))
        integer(c_int) :: err, ignored
        err = fields_given(fields, call, names, c)
        if (err == META_OK) then
            err = c_io_read(file%handle, size(fields), c)
        else
            call metaf_refuse(code_of(err))
            ignored = c_io_read(file%handle, -1, c)
            call metaf_refuse(META_OK)
        end if
        call finish(err, stat)
    end subroutine

    subroutine meta_io_close(file, stat)
        type(meta_io_file), intent(inout) :: file
        integer, intent(out), optional :: stat
        call finish(c_io_close(file%handle), stat)
    end subroutine

    subroutine meta_io_last(comm, path, number, stat)
        integer, intent(in) :: comm
        character(len=*), intent(in) :: path
        integer, intent(out) :: number
        integer, intent(out), optional :: stat
        integer(c_int64_t) :: last
        last = -1
        call finish(c_io_last(comm, c_text(path), last), stat)
        number = int(last)
    end subroutine

    ! ---------------------------------------------------------------- what a file has

    subroutine meta_io_file_info(file, path, format, fields, attributes, number, stat)
        type(meta_io_file), intent(in) :: file
        character(len=:), allocatable, intent(out), optional :: path
        integer, intent(out), optional :: format, fields, attributes, number, stat
        type(meta_c_io_file_desc) :: desc
        integer(c_int) :: err
        desc%size = size(transfer(desc, [0_c_int8_t]))
        err = c_io_file_info(file%handle, desc)
        if (present(path)) path = ''
        if (present(path) .and. err == META_OK) path = text_of(desc%path)
        if (present(format)) format = desc%format
        if (present(fields)) fields = desc%fields
        if (present(attributes)) attributes = desc%attributes
        if (present(number)) number = int(desc%number)
        call finish(err, stat)
    end subroutine

    ! Field `index`, from 1 on; `cells` has an element for each dimension.
    subroutine meta_io_field_info(file, index, name, type, cells, stat)
        type(meta_io_file), intent(in) :: file
        integer, intent(in) :: index
        character(len=:), allocatable, intent(out), optional :: name
        integer, intent(out), optional :: type
        integer(c_int64_t), allocatable, intent(out), optional :: cells(:)
        integer, intent(out), optional :: stat
        type(meta_c_io_field) :: field
        integer(c_int) :: err
        field%box%ndim = 0
        err = c_io_field_info(file%handle, index - 1, field)
        if (present(name)) name = ''
        if (present(name) .and. err == META_OK) name = text_of(field%name)
        if (present(type)) type = field%type
        if (present(cells)) then
            allocate (cells(field%box%ndim))
            cells = field%cells(1:field%box%ndim)
        end if
        call finish(err, stat)
    end subroutine

    ! Attribute `index`, from 1 on: `count` is 0 where it is a text.
    subroutine meta_io_attribute_info(file, index, name, type, count, stat)
        type(meta_io_file), intent(in) :: file
        integer, intent(in) :: index
        character(len=:), allocatable, intent(out), optional :: name
        integer, intent(out), optional :: type, count, stat
        type(meta_c_io_attribute) :: found
        integer(c_int) :: err
        err = c_io_attribute_info(file%handle, index - 1, found)
        if (present(name)) name = ''
        if (present(name) .and. err == META_OK) name = text_of(found%name)
        if (present(type)) type = found%type
        if (present(count)) count = merge(0, int(found%count), c_associated(found%text))
        call finish(err, stat)
    end subroutine

    ! The attribute `name`, of `type`, or a text where that is META_TYPE_COUNT.
    function find(file, name, type, found) result(err)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int), intent(in) :: type
        type(meta_c_io_attribute), intent(inout) :: found
        integer(c_int) :: err
        character(len=*), parameter :: call = 'meta_io_attribute_find'
        err = c_io_attribute_find(file%handle, c_text(name), found)
        if (err /= META_OK) return
        if (type == META_TYPE_COUNT .and. .not. c_associated(found%text)) then
            err = fail(META_ERR_TYPE, call, "argument 'value' is a text, and attribute '" // &
                name // "' has numbers of " // type_name(found%type))
        else if (type /= META_TYPE_COUNT .and. c_associated(found%text)) then
            err = fail(META_ERR_TYPE, call, "argument 'value' is of " // type_name(type) // &
                ", and attribute '" // name // "' is a text")
        else if (type /= META_TYPE_COUNT .and. .not. type_matches(type, found%type)) then
            err = fail(META_ERR_TYPE, call, "argument 'value' is of " // type_name(type) // &
                ", and attribute '" // name // "' of " // type_name(found%type))
        end if
    end function

    ! One number.
    function find_one(file, name, type, found) result(err)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int), intent(in) :: type
        type(meta_c_io_attribute), intent(inout) :: found
        integer(c_int) :: err
        err = find(file, name, type, found)
        if (err == META_OK .and. found%count /= 1) err = fail(META_ERR_MISMATCH, &
            'meta_io_attribute_find', "argument 'value' is one number, and attribute '" // name // &
            "' has " // digits_of(found%count))
    end function

    subroutine find_text(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        character(len=:), allocatable, intent(out) :: value
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        integer(c_int) :: err
        err = find(file, name, META_TYPE_COUNT, found)
        value = ''
        if (err == META_OK) value = text_of(found%text)
        call finish(err, stat)
    end subroutine

    subroutine find_r8(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        real(c_double), intent(inout) :: value
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        real(c_double), pointer :: there
        integer(c_int) :: err
        err = find_one(file, name, META_F64, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there)
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_r4(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        real(c_float), intent(inout) :: value
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        real(c_float), pointer :: there
        integer(c_int) :: err
        err = find_one(file, name, META_F32, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there)
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_i8(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int64_t), intent(inout) :: value
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        integer(c_int64_t), pointer :: there
        integer(c_int) :: err
        err = find_one(file, name, META_I64, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there)
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_i4(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int32_t), intent(inout) :: value
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        integer(c_int32_t), pointer :: there
        integer(c_int) :: err
        err = find_one(file, name, META_I32, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there)
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_r8s(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        real(c_double), allocatable, intent(out) :: value(:)
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        real(c_double), pointer :: there(:)
        integer(c_int) :: err
        err = find(file, name, META_F64, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there, [found%count])
            allocate (value(size(there)))
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_r4s(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        real(c_float), allocatable, intent(out) :: value(:)
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        real(c_float), pointer :: there(:)
        integer(c_int) :: err
        err = find(file, name, META_F32, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there, [found%count])
            allocate (value(size(there)))
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_i8s(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int64_t), allocatable, intent(out) :: value(:)
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        integer(c_int64_t), pointer :: there(:)
        integer(c_int) :: err
        err = find(file, name, META_I64, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there, [found%count])
            allocate (value(size(there)))
            value = there
        end if
        call finish(err, stat)
    end subroutine

    subroutine find_i4s(file, name, value, stat)
        type(meta_io_file), intent(in) :: file
        character(len=*), intent(in) :: name
        integer(c_int32_t), allocatable, intent(out) :: value(:)
        integer, intent(out), optional :: stat
        type(meta_c_io_attribute) :: found
        integer(c_int32_t), pointer :: there(:)
        integer(c_int) :: err
        err = find(file, name, META_I32, found)
        if (err == META_OK) then
            call c_f_pointer(found%numbers, there, [found%count])
            allocate (value(size(there)))
            value = there
        end if
        call finish(err, stat)
    end subroutine
end module meta_files
