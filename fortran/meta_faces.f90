! SPDX-License-Identifier: BSD-3-Clause
! Faces (strided sections) of buffers: pack and unpack.
module meta_faces
    use meta_c, meta_face => meta_c_face
    use meta_base
    implicit none
    private
    public :: meta_face, meta_face_make, meta_face_slab, meta_face_box, meta_face_elements
    public :: meta_pack_face, meta_unpack_face, meta_transpose_face
    ! For module meta_messages.
    public :: packed_with

    ! meta_face_make(face, buffer, first, size, stride): `first` are the program's indices of the
    ! first element; level k has size(k) elements, stride(k) elements apart.
    interface meta_face_make
        module procedure face_make, face_make_int64
    end interface

    interface meta_transpose_face
        module procedure transpose_face, transpose_face_int64
    end interface

contains

    subroutine face_make(face, buffer, first, size, stride, stat)
        type(meta_face), intent(inout) :: face
        type(meta_buffer), intent(in) :: buffer
        integer, intent(in) :: first(:), size(:), stride(:)
        integer, intent(out), optional :: stat
        call face_make_int64(face, buffer, int(first, c_int64_t), int(size, c_int64_t), &
            int(stride, c_int64_t), stat)
    end subroutine

    subroutine face_make_int64(face, buffer, first, size, stride, stat)
        type(meta_face), intent(inout) :: face
        type(meta_buffer), intent(in) :: buffer
        integer(c_int64_t), intent(in) :: first(:), size(:), stride(:)
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_face_make'
        type(buffer_body) :: body
        type(meta_c_box) :: cell
        integer(c_int64_t) :: start, pitch
        integer(c_int) :: err
        integer :: d
        err = body_of(buffer, call, 'buffer', body)
        if (err == META_OK .and. ubound(size, 1) /= ubound(stride, 1)) err = fail( &
            META_ERR_ARGUMENT, call, "arguments 'size' and 'stride' differ in size")
        if (err == META_OK .and. (ubound(size, 1) < 1 .or. ubound(size, 1) > META_MAX_DIM)) &
            err = fail(META_ERR_ARGUMENT, call, "argument 'size' has " // &
            digits_of(ubound(size, 1, c_int64_t)) // ' elements: give one a level, 1 to 10')
        if (err == META_OK) err = box_of(body, meta_range(first, first), call, 'first', cell)
        if (err == META_OK) then
            start = 0
            pitch = 1
            do d = 1, body%ndim
                start = start + cell%start(d) * pitch
                pitch = pitch * body%size(d)
            end do
            err = c_face_make(face, start, ubound(size, 1), levels(size), levels(stride))
        end if
        call finish(err, stat)
    end subroutine

    ! As many elements as a face can have levels, so that none is missing.
    pure function levels(values) result(all)
        integer(c_int64_t), intent(in) :: values(:)
        integer(c_int64_t) :: all(META_MAX_DIM)
        all = 0
        all(1:min(size(values), META_MAX_DIM)) = values(1:min(size(values), META_MAX_DIM))
    end function

    ! The slab of `width` elements at a side of `box` in `buffer`; axis 1 is the first dimension.
    subroutine meta_face_slab(face, buffer, box, axis, slab, width, stat)
        type(meta_face), intent(inout) :: face
        type(meta_buffer), intent(in) :: buffer
        type(meta_box), intent(in) :: box
        integer, intent(in) :: axis
        integer(c_int), intent(in) :: slab
        integer, intent(in) :: width
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_face_slab'
        type(buffer_body) :: body
        type(meta_c_box) :: cells
        integer(c_int) :: err
        err = body_of(buffer, call, 'buffer', body)
        if (err == META_OK) err = box_of(body, box, call, 'box', cells)
        if (err == META_OK .and. (axis < 1 .or. axis > body%ndim)) err = fail(META_ERR_ARGUMENT, &
            call, "argument 'axis' is " // digits_of(int(axis, c_int64_t)) // &
            ', the buffer has dimensions 1 to ' // digits_of(int(body%ndim, c_int64_t)))
        if (err == META_OK) err = need_ghosts(body, box, axis, slab, width)
        if (err == META_OK) err = c_face_slab(face, cells, axis - 1, slab, int(width, c_int64_t))
        call finish(err, stat)
    end subroutine

    ! A slab outside the box must be within the bounds; padding does not count.
    function need_ghosts(body, box, axis, slab, width) result(err)
        type(buffer_body), intent(in) :: body
        type(meta_box), intent(in) :: box
        integer, intent(in) :: axis, width
        integer(c_int), intent(in) :: slab
        integer(c_int) :: err
        integer(c_int64_t) :: most
        err = META_OK
        most = width
        if (slab == META_SLAB_LOW_GHOST) most = box%lower(axis) - body%lower(axis)
        if (slab == META_SLAB_HIGH_GHOST) most = body%upper(axis) - box%upper(axis)
        if (width > most) err = fail(META_ERR_BOUNDS, 'meta_face_slab', "argument 'width' is " // &
            digits_of(int(width, c_int64_t)) // ", but the buffer's bounds leave " // &
            digits_of(most) // ' elements outside the box along dimension ' // &
            digits_of(int(axis, c_int64_t)) // words_of(body))
    end function

    ! All elements of `box` in `buffer`.
    subroutine meta_face_box(face, buffer, box, stat)
        type(meta_face), intent(inout) :: face
        type(meta_buffer), intent(in) :: buffer
        type(meta_box), intent(in) :: box
        integer, intent(out), optional :: stat
        type(buffer_body) :: body
        type(meta_c_box) :: cells
        integer(c_int) :: err
        err = body_of(buffer, 'meta_face_box', 'buffer', body)
        if (err == META_OK) err = box_of(body, box, 'meta_face_box', 'box', cells)
        if (err == META_OK) err = c_face_box(face, cells)
        call finish(err, stat)
    end subroutine

    subroutine meta_face_elements(face, count, stat)
        type(meta_face), intent(in) :: face
        integer(c_int64_t), intent(inout) :: count
        integer, intent(out), optional :: stat
        call finish(c_face_elements(face, count), stat)
    end subroutine

    ! A buffer and the packed buffer of its faces, of one type.
    function packed_with(buf, packed, call, array, line) result(err)
        type(meta_buffer), intent(in) :: buf, packed
        character(len=*), intent(in) :: call
        type(buffer_body), pointer :: array, line
        integer(c_int) :: err
        err = find_body(packed, call, 'packed', line)
        if (err == META_OK) err = find_body(buf, call, 'buf', array)
        if (err /= META_OK) return
        if (array%type /= line%type) err = fail_types(call, 'packed', line, 'buf', array)
    end function

    subroutine meta_pack_face(packed, buf, face, done, stat)
        type(meta_buffer), intent(in) :: packed, buf
        type(meta_face), intent(in) :: face
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(buffer_body), pointer :: array, line
        integer(c_int) :: err
        err = packed_with(buf, packed, 'meta_pack_face', array, line)
        if (err == META_OK) &
            err = c_pack_face(line%address, array%address, face, array%type, event_at(done))
        call finish(err, stat)
    end subroutine

    subroutine meta_unpack_face(buf, packed, face, done, stat)
        type(meta_buffer), intent(in) :: buf, packed
        type(meta_face), intent(in) :: face
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(buffer_body), pointer :: array, line
        integer(c_int) :: err
        err = packed_with(buf, packed, 'meta_unpack_face', array, line)
        if (err == META_OK) &
            err = c_unpack_face(array%address, line%address, face, array%type, event_at(done))
        call finish(err, stat)
    end subroutine

    ! `in` holds size(1) x size(2) elements, the first fastest; `out` gets size(2) x size(1).
    subroutine transpose_face(out, in, size, done, stat)
        type(meta_buffer), intent(in) :: out, in
        integer, intent(in) :: size(2)
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        call transpose_face_int64(out, in, int(size, c_int64_t), done, stat)
    end subroutine

    subroutine transpose_face_int64(out, in, size, done, stat)
        type(meta_buffer), intent(in) :: out, in
        integer(c_int64_t), intent(in) :: size(2)
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        character(len=*), parameter :: call = 'meta_transpose_face'
        type(buffer_body), pointer :: to, from
        integer(c_int) :: err
        err = find_body(out, call, 'out', to)
        if (err == META_OK) err = find_body(in, call, 'in', from)
        if (err == META_OK) then
            if (to%type /= from%type) err = fail_types(call, 'out', to, 'in', from)
        end if
        if (err == META_OK) &
            err = c_transpose_face(to%address, from%address, size, to%type, event_at(done))
        call finish(err, stat)
    end subroutine
end module meta_faces
