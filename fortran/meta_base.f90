! SPDX-License-Identifier: BSD-3-Clause
! Shared by every part of module `meta`: reference-counted device buffers, index ranges, events, and
! error reporting.
!
! The reference count is kept in C (support.c). A type(meta_buffer) holds its reference in an
! allocatable component with a finalizer: compilers that do not finalize function results (gfortran
! before 13) still deallocate their components, and so finalize the reference. A bitwise copy made
! implicitly by the compiler is recognized by its `self`, which is the address of the original
! reference; such copies are not counted.
module meta_base
    use, intrinsic :: iso_fortran_env, only: error_unit
    use meta_c, meta_event => meta_c_event
    implicit none
    private
    public :: meta_buffer, meta_box, meta_event, META_ASYNC
    public :: meta_range, meta_bounds, meta_is_allocated, meta_element_type, meta_address
    public :: meta_c_box, meta_box_for_c
    ! Internal to the modules of `meta`.
    public :: buffer_body, host_array, OURS, WRAPPED, BORROWED
    public :: fail, fail_types, fail_starts, code_of, finish, passed_on, event_at, body_of, find_body, body_if_any
    public :: adopt, release, buffers_forget
    public :: whole, box_of, is_contiguous, extents_of, type_name, type_bytes, type_matches
    public :: need_host, digits_of, text_of, c_text, need_free, message_text, address_plus, ndim_of
    public :: joined, descriptor_size, called, words_of, renamed, need_arithmetic

    ! A range of the program's own indices, both ends included; none where upper < lower.
    type :: meta_box
        integer :: ndim = 0
        integer(c_int64_t) :: lower(META_MAX_DIM) = 1, upper(META_MAX_DIM) = 0
    end type

    ! metaf_body of support.h.
    type, bind(c) :: buffer_body
        integer(c_int64_t) :: generation = 0
        type(c_ptr) :: address = c_null_ptr
        integer(c_int) :: type = META_TYPE_COUNT, ndim = 1, owner = 0, is_grid = 0
        integer(c_int64_t) :: size(META_MAX_DIM), origin(META_MAX_DIM)
        integer(c_int64_t) :: lower(META_MAX_DIM), upper(META_MAX_DIM)
    end type
    enum, bind(c)
        enumerator :: OURS = 0, WRAPPED, BORROWED
    end enum

    ! Without default values: under -std=f2003 gfortran 13 and later finalize the value with which a
    ! component of such a type is allocated.
    type :: reference
        type(c_ptr) :: body
        integer(c_int64_t) :: generation
        integer(c_int64_t) :: self
    contains
        final :: reference_final
    end type

    ! Device memory with its element type and bounds. Assignment makes another reference to the same
    ! memory, which is freed with the last reference, or by meta_free().
    type :: meta_buffer
        private
        type(reference), allocatable :: ref
    contains
        procedure, private :: assign
        generic :: assignment(=) => assign
    end type

    ! Instead of an event: queue the operation without tracking it.
    type(meta_event), target, save :: META_ASYNC

    ! An array of the program: metaf_array of support.h.
    type, bind(c) :: host_array
        type(c_ptr) :: address
        integer(c_int) :: type = 0, ndim = 0
        integer(c_int64_t) :: extent(META_MAX_DIM) = 1
        integer(c_int) :: contiguous = 1
    end type

    ! meta_range(upper): 1 to upper; meta_range(lower, upper).
    interface meta_range
        module procedure range_from_1, range_from_1_int64, range_both, range_both_int64
    end interface

    ! Errors detected in Fortran have this added to their code until finish().
    integer(c_int), parameter :: FOUND_HERE = 1000

    interface
        function metaf_body_new(address, type, owner) bind(c) result(res)
            import
            type(c_ptr), value :: address
            integer(c_int), value :: type, owner
            type(c_ptr) :: res
        end function
        ! Pure for the sake of elemental assignment: nothing that Fortran can see changes.
        pure function metaf_body_keep(body, generation) bind(c) result(res)
            import
            type(c_ptr), intent(in), value :: body
            integer(c_int64_t), intent(in), value :: generation
            integer(c_int) :: res
        end function
        pure subroutine metaf_body_drop(body, generation) bind(c)
            import
            type(c_ptr), intent(in), value :: body
            integer(c_int64_t), intent(in), value :: generation
        end subroutine
        pure function metaf_body_ndim(body, generation) bind(c) result(res)
            import
            type(c_ptr), intent(in), value :: body
            integer(c_int64_t), intent(in), value :: generation
            integer(c_int) :: res
        end function
        function metaf_body_free(body, generation) bind(c) result(res)
            import
            type(c_ptr), value :: body
            integer(c_int64_t), value :: generation
            integer(c_int) :: res
        end function
        subroutine metaf_bodies_forget() bind(c)
        end subroutine
        pure function metaf_self(self) bind(c) result(res)
            import
            integer(c_int64_t), intent(in) :: self
            integer(c_int64_t) :: res
        end function
        function metaf_fail(code, text) bind(c) result(res)
            import
            integer(c_int), value :: code
            character(kind=c_char), intent(in) :: text(*)
            integer(c_int) :: res
        end function
        function metaf_message() bind(c) result(res)
            import
            type(c_ptr) :: res
        end function
        subroutine metaf_failed_in_c() bind(c)
        end subroutine
    end interface

contains

    ! ---------------------------------------------------------------- errors and texts

    ! The error `code` of function `call`.
    function fail(code, call, text) result(err)
        integer(c_int), intent(in) :: code
        character(len=*), intent(in) :: call, text
        integer(c_int) :: err
        err = metaf_fail(code, c_text(call // ': ' // text))
        if (err < FOUND_HERE) err = err + FOUND_HERE
    end function

    ! Two buffers that must be of one type.
    function fail_types(call, a_name, a, b_name, b) result(err)
        character(len=*), intent(in) :: call, a_name, b_name
        type(buffer_body), intent(in) :: a, b
        integer(c_int) :: err
        err = fail(META_ERR_TYPE, call, "argument '" // a_name // "' is of " // &
            type_name(a%type) // ", '" // b_name // "' of " // type_name(b%type))
    end function

    ! Two grids of a call in which an index is not the same cell along `dimension`, where their first
    ! elements have the indices `a_first` and `b_first`.
    function fail_starts(call, a_name, a, a_first, b_name, b, b_first, dimension) result(err)
        character(len=*), intent(in) :: call, a_name, b_name
        type(buffer_body), intent(in) :: a, b
        integer(c_int64_t), intent(in) :: a_first, b_first
        integer, intent(in) :: dimension
        integer(c_int) :: err
        err = fail(META_ERR_ARGUMENT, call, "arguments '" // a_name // "'" // words_of(a) // &
            " and '" // b_name // "'" // words_of(b) // ' are grids that begin at the indices ' // &
            digits_of(a_first) // ' and ' // digits_of(b_first) // ' along dimension ' // &
            digits_of(int(dimension, c_int64_t)) // ': allocate both with as many ghosts ' // &
            'below the own cells, as by meta_grid_family()')
    end function

    ! The code of what fail() returned.
    pure function code_of(err) result(code)
        integer(c_int), intent(in) :: err
        integer(c_int) :: code
        code = mod(err, FOUND_HERE)
    end function

    ! An error of the program's own procedure: the message is whatever that left.
    function passed_on(code) result(err)
        integer(c_int), intent(in) :: code
        integer(c_int) :: err
        err = code
        if (err /= META_OK) err = err + FOUND_HERE
    end function

    ! Return `err` in stat; without stat an error stops the program.
    subroutine finish(err, stat)
        integer(c_int), intent(in) :: err
        integer, intent(out), optional :: stat
        if (err > 0 .and. err < FOUND_HERE) call metaf_failed_in_c()
        if (present(stat)) then
            stat = code_of(err)
        else if (err /= META_OK) then
            write (error_unit, '(a)') message_text()
            stop 1
        end if
    end subroutine

    function message_text() result(text)
        character(len=:), allocatable :: text
        text = text_of(metaf_message())
    end function

    pure function c_text(text) result(c)
        character(len=*), intent(in) :: text
        character(kind=c_char) :: c(len_trim(text) + 1)
        integer :: k
        do k = 1, len_trim(text)
            c(k) = text(k:k)
        end do
        c(len_trim(text) + 1) = c_null_char
    end function

    ! Converts a C string; a null pointer gives an empty string.
    function text_of(c) result(text)
        type(c_ptr), intent(in) :: c
        character(len=:), allocatable :: text
        character(kind=c_char), pointer :: char(:)
        integer :: k, n
        text = ''
        if (.not. c_associated(c)) return
        call c_f_pointer(c, char, [huge(n)])
        n = 0
        do while (char(n + 1) /= c_null_char)
            n = n + 1
        end do
        deallocate (text)
        allocate (character(len=n) :: text)
        do k = 1, n
            text(k:k) = char(k)
        end do
    end function

    ! The text in an array of C's characters.
    pure function joined(c) result(text)
        character(kind=c_char), intent(in) :: c(:)
        character(len=size(c)) :: text
        integer :: k
        text = ''
        do k = 1, size(c)
            if (c(k) == c_null_char) return
            text(k:k) = c(k)
        end do
    end function

    ! An error of the C library, with its message in Fortran's terms.
    function renamed(err, from, to) result(res)
        integer(c_int), intent(in) :: err
        character(len=*), intent(in) :: from, to
        integer(c_int) :: res
        character(len=:), allocatable :: text
        integer :: k
        res = err
        if (err <= META_OK .or. err >= FOUND_HERE) return
        call metaf_failed_in_c()
        text = message_text()
        k = index(text, "argument '" // from // "'")
        if (k == 0) return
        k = k + len("argument '")
        res = metaf_fail(err, c_text(text(:k-1) // to // text(k+len(from):))) + FOUND_HERE
    end function

    function digits_of(number) result(text)
        integer(c_int64_t), intent(in) :: number
        character(len=:), allocatable :: text
        character(len=24) :: wide
        write (wide, '(i0)') number
        text = trim(wide)
    end function

    ! ---------------------------------------------------------------- events

    logical function is_async(done)
        type(meta_event), intent(in), target :: done
        type(c_ptr) :: given, async
        given = c_loc(done)
        async = c_loc(META_ASYNC)
        is_async = c_associated(given, async)
    end function

    ! The C argument `done`.
    function event_at(done) result(at)
        type(meta_event), intent(in), target, optional :: done
        type(c_ptr) :: at
        at = c_null_ptr
        if (.not. present(done)) return
        at = c_loc(done)
        if (is_async(done)) at = transfer(-1_c_intptr_t, at)
    end function

    ! ---------------------------------------------------------------- element types

    function type_name(type) result(name)
        integer(c_int), intent(in) :: type
        character(len=:), allocatable :: name
        character(len=8), parameter :: names(0:META_TYPE_COUNT - 1) = ['META_F64', 'META_F32', &
            'META_I64', 'META_U64', 'META_I32', 'META_U32', 'META_I16', 'META_U16', 'META_I8 ', &
            'META_U8 ']
        name = 'unknown'
        if (type >= 0 .and. type < META_TYPE_COUNT) name = trim(names(type))
    end function

    function type_bytes(type) result(bytes)
        integer(c_int), intent(in) :: type
        integer(c_int64_t) :: bytes
        integer, parameter :: of(0:META_TYPE_COUNT - 1) = [8, 4, 8, 8, 4, 4, 2, 2, 1, 1]
        bytes = 0
        if (type >= 0 .and. type < META_TYPE_COUNT) bytes = of(type)
    end function

    ! Fortran's integers hold the unsigned types' bits.
    logical function type_matches(a, b)
        integer(c_int), intent(in) :: a, b
        type_matches = a == b .or. (a >= META_I64 .and. a / 2 == b / 2 .and. b >= META_I64)
    end function

    ! ---------------------------------------------------------------- ranges of indices

    function range_both_int64(lower, upper) result(box)
        integer(c_int64_t), intent(in) :: lower(:), upper(:)
        type(meta_box) :: box
        integer :: n
        ! A shape that cannot be is refused where the range is used.
        if (size(lower) /= size(upper) .or. size(lower) > META_MAX_DIM) return
        n = size(lower)
        box%ndim = n
        box%lower(1:n) = lower
        box%upper(1:n) = upper
    end function

    function range_both(lower, upper) result(box)
        integer, intent(in) :: lower(:), upper(:)
        type(meta_box) :: box
        box = range_both_int64(int(lower, c_int64_t), int(upper, c_int64_t))
    end function

    function range_from_1(upper) result(box)
        integer, intent(in) :: upper(:)
        type(meta_box) :: box
        box = range_from_1_int64(int(upper, c_int64_t))
    end function

    function range_from_1_int64(upper) result(box)
        integer(c_int64_t), intent(in) :: upper(:)
        type(meta_box) :: box
        integer(c_int64_t) :: lower(size(upper))
        lower = 1
        box = range_both_int64(lower, upper)
    end function

    ! The extents of a range, 0 if it is empty, the largest number if it is more.
    pure function extents_of(box) result(extent)
        type(meta_box), intent(in) :: box
        integer(c_int64_t) :: extent(META_MAX_DIM)
        integer :: d
        extent = 1
        do d = 1, box%ndim
            if (box%upper(d) < box%lower(d)) then
                extent(d) = 0
            else if (box%lower(d) <= 0 .and. box%upper(d) >= huge(extent) + box%lower(d)) then
                extent(d) = huge(extent)
            else
                extent(d) = box%upper(d) - box%lower(d) + 1
            end if
        end do
    end function

    ! All elements of a buffer, without padding.
    function whole(body) result(box)
        type(buffer_body), intent(in) :: body
        type(meta_box) :: box
        box%ndim = body%ndim
        box%lower(1:body%ndim) = body%lower(1:body%ndim)
        box%upper(1:body%ndim) = body%upper(1:body%ndim)
    end function

    ! Converts `box` of a buffer to the C box `c`. It must be within the buffer's bounds. `array` is the
    ! argument's name where the call has several buffers of different bounds.
    function box_of(body, box, call, name, c, array) result(err)
        type(buffer_body), intent(in) :: body
        type(meta_box), intent(in) :: box
        character(len=*), intent(in) :: call, name
        type(meta_c_box), intent(inout) :: c
        character(len=*), intent(in), optional :: array
        integer(c_int) :: err
        character(len=:), allocatable :: whose
        integer :: d
        err = META_OK
        if (box%ndim /= body%ndim) then
            err = fail(META_ERR_ARGUMENT, call, "argument '" // name // "' has rank " // &
                digits_of(int(box%ndim, c_int64_t)) // ', the buffer ' // &
                digits_of(int(body%ndim, c_int64_t)) // words_of(body))
            return
        end if
        c%ndim = body%ndim
        do d = 1, body%ndim
            c%size(d) = body%size(d)
            c%start(d) = 0
            c%end(d) = 0
            if (box%upper(d) < box%lower(d)) cycle
            if (box%lower(d) < body%lower(d) .or. box%upper(d) > body%upper(d)) then
                whose = "the buffer's bounds "
                if (present(array)) whose = "the bounds of '" // array // "', "
                err = fail(META_ERR_BOUNDS, call, "argument '" // name // "', dimension " // &
                    digits_of(int(d, c_int64_t)) // ': ' // digits_of(box%lower(d)) // ':' // &
                    digits_of(box%upper(d)) // ' leaves ' // whose // &
                    digits_of(body%lower(d)) // ':' // digits_of(body%upper(d)) // words_of(body))
                return
            end if
            c%start(d) = box%lower(d) - body%origin(d)
            c%end(d) = box%upper(d) - body%origin(d) + 1
        end do
    end function

    ! Whether the cells of a box are contiguous in memory, and the offset of the first.
    logical function is_contiguous(c, first)
        type(meta_c_box), intent(in) :: c
        integer(c_int64_t), intent(out) :: first
        integer(c_int64_t) :: pitch
        logical :: all_so_far
        integer :: d
        is_contiguous = .true.
        all_so_far = .true.
        first = 0
        pitch = 1
        do d = 1, c%ndim
            if (.not. all_so_far .and. c%end(d) - c%start(d) /= 1) is_contiguous = .false.
            if (c%end(d) - c%start(d) /= c%size(d)) all_so_far = .false.
            first = first + c%start(d) * pitch
            pitch = pitch * c%size(d)
        end do
    end function

    ! Checks that a host array argument is allocated and contiguous.
    function need_host(host, call, name) result(err)
        type(host_array), intent(in) :: host
        character(len=*), intent(in) :: call, name
        integer(c_int) :: err
        err = META_OK
        if (.not. c_associated(host%address)) then
            err = fail(META_ERR_POINTER, call, "argument '" // name // "' is not allocated")
        else if (host%contiguous == 0) then
            err = fail(META_ERR_ARGUMENT, call, "argument '" // name // "' is not contiguous: " // &
                'copy the section to an array of its own, or give the whole array')
        end if
    end function

    function address_plus(address, bytes) result(sum)
        type(c_ptr), intent(in) :: address
        integer(c_int64_t), intent(in) :: bytes
        type(c_ptr) :: sum
        sum = transfer(transfer(address, 0_c_intptr_t) + int(bytes, c_intptr_t), sum)
    end function

    ! ---------------------------------------------------------------- buffers

    pure logical function is_registered(ref)
        type(reference), intent(in) :: ref
        is_registered = ref%self /= 0
        if (is_registered) is_registered = ref%self == metaf_self(ref%self)
    end function

    pure subroutine make_empty(ref)
        type(reference), intent(inout) :: ref
        ref%body = c_null_ptr
        ref%generation = 0
        ref%self = 0
    end subroutine

    pure subroutine release_reference(body, generation)
        type(c_ptr), intent(in) :: body
        integer(c_int64_t), intent(in) :: generation
        call metaf_body_drop(body, generation)
    end subroutine

    subroutine reference_final(ref)
        type(reference), intent(inout) :: ref
        if (is_registered(ref)) call release_reference(ref%body, ref%generation)
        ref%self = 0
    end subroutine

    ! The component is not deallocated: a compiler may still access it, as gfortran does in a = (a).
    elemental subroutine assign(lhs, rhs)
        class(meta_buffer), intent(inout) :: lhs
        type(meta_buffer), intent(in) :: rhs
        type(c_ptr) :: body
        integer(c_int64_t) :: generation
        integer(c_int) :: kept
        if (.not. allocated(lhs%ref) .and. .not. allocated(rhs%ref)) return
        if (.not. allocated(lhs%ref)) then
            allocate (lhs%ref)
            call make_empty(lhs%ref)
        end if
        body = c_null_ptr
        generation = 0
        if (allocated(rhs%ref)) then
            body = rhs%ref%body
            generation = rhs%ref%generation
        end if
        ! Where rhs is to nothing any more, so will lhs be.
        kept = metaf_body_keep(body, generation)
        if (is_registered(lhs%ref)) call release_reference(lhs%ref%body, lhs%ref%generation)
        lhs%ref%body = body
        lhs%ref%generation = generation
        lhs%ref%self = 0
        if (kept /= 0) lhs%ref%self = metaf_self(lhs%ref%self)
    end subroutine

    ! The memory behind `buffer`, argument `name` of `call`.
    function body_of(buffer, call, name, body) result(err)
        type(meta_buffer), intent(in) :: buffer
        character(len=*), intent(in) :: call, name
        type(buffer_body), intent(out) :: body
        integer(c_int) :: err
        type(buffer_body), pointer :: found
        err = find_body(buffer, call, name, found)
        if (err == META_OK) body = found
    end function

    ! The same without a copy, for frequent calls. Not null if there is no error.
    function find_body(buffer, call, name, body) result(err)
        type(meta_buffer), intent(in) :: buffer
        character(len=*), intent(in) :: call, name
        type(buffer_body), pointer :: body
        integer(c_int) :: err
        err = META_OK
        body => body_if_any(buffer)
        if (associated(body)) return
        if (allocated(buffer%ref)) then
            if (c_associated(buffer%ref%body)) then
                call c_f_pointer(buffer%ref%body, body)
                err = fail(META_ERR_POINTER, call, "argument '" // name // "' was freed" // &
                    words_of_freed(body, buffer%ref%generation) // words_of_copy(buffer%ref))
                return
            end if
        end if
        err = fail(META_ERR_POINTER, call, "argument '" // name // "' is not allocated")
    end function

    ! The same, null if there is none.
    function body_if_any(buffer) result(body)
        type(meta_buffer), intent(in) :: buffer
        type(buffer_body), pointer :: body
        nullify (body)
        if (.not. allocated(buffer%ref)) return
        if (.not. c_associated(buffer%ref%body)) return
        call c_f_pointer(buffer%ref%body, body)
        if (body%generation /= buffer%ref%generation) nullify (body)
    end function

    ! The structure's size in bytes, as C has it.
    function descriptor_size(desc) result(bytes)
        type(meta_c_pointer_desc), intent(in) :: desc
        integer(c_size_t) :: bytes
        bytes = size(transfer(desc, [0_c_int8_t]))
    end function

    ! The label of a buffer, to be appended to its name in messages.
    function words_of(body) result(words)
        type(buffer_body), intent(in) :: body
        character(len=:), allocatable :: words
        type(meta_c_pointer_desc) :: desc
        words = ''
        desc%size = descriptor_size(desc)
        if (c_pointer_info(body%address, desc) /= META_OK) return
        if (desc%label(1) /= c_null_char) words = ' ("' // trim(joined(desc%label)) // '")'
    end function

    ! What libmeta knows about the memory of a stale reference of `generation`: its label, and where
    ! it was allocated and freed. Empty once the memory is reused.
    function words_of_freed(body, generation) result(words)
        type(buffer_body), intent(in) :: body
        integer(c_int64_t), intent(in) :: generation
        character(len=:), allocatable :: words, text
        type(meta_c_pointer_desc) :: desc
        character(len=*), parameter :: freed = 'that was freed'
        integer :: k
        words = ''
        if (body%generation /= generation + 1) return
        desc%size = descriptor_size(desc)
        if (c_pointer_info(body%address, desc) /= META_ERR_POINTER) return
        text = text_of(c_last_error())
        k = index(text, freed)
        if (k > 0) words = text(k+len(freed):)
    end function

    ! Why a reference that was never counted is stale.
    function words_of_copy(ref) result(words)
        type(reference), intent(in) :: ref
        character(len=:), allocatable :: words
        words = ''
        if (ref%self /= 0 .and. .not. is_registered(ref)) words = '; the compiler has ' // &
            'copied it without the assignment of type(meta_buffer): give a type with buffers ' // &
            'an assignment(=) of its own (doc/fortran.md)'
    end function

    ! Labels new memory.
    subroutine called(address, label)
        type(c_ptr), intent(in) :: address
        character(len=*), intent(in), optional :: label
        integer(c_int) :: ignored
        if (present(label)) ignored = c_label(address, c_text(label))
    end subroutine

    ! The rank of a buffer, 1 if it is not allocated; for specification expressions.
    pure integer function ndim_of(buffer)
        type(meta_buffer), intent(in) :: buffer
        ndim_of = 1
        if (allocated(buffer%ref)) ndim_of = metaf_body_ndim(buffer%ref%body, buffer%ref%generation)
    end function

    ! Buffers of small integers support copies but no arithmetic.
    function need_arithmetic(body, call, name) result(err)
        type(buffer_body), intent(in) :: body
        character(len=*), intent(in) :: call, name
        integer(c_int) :: err
        err = META_OK
        if (body%type >= META_I16) err = fail(META_ERR_TYPE, call, "argument '" // name // &
            "' is of " // type_name(body%type) // ', which is moved but not computed with' // &
            words_of(body))
    end function

    ! Like Fortran's ALLOCATE: the buffer must not be allocated yet.
    function need_free(buffer, call) result(err)
        type(meta_buffer), intent(in) :: buffer
        character(len=*), intent(in) :: call
        integer(c_int) :: err
        type(buffer_body) :: body
        err = META_OK
        if (.not. meta_is_allocated(buffer)) return
        err = body_of(buffer, call, 'buffer', body)
        err = fail(META_ERR_STATE, call, "argument 'buffer' is allocated already" // &
            words_of(body) // ': free it first')
    end function

    ! Make `buffer` the first reference to memory of the given shape.
    function adopt(buffer, shape, owner, call) result(err)
        type(meta_buffer), intent(inout) :: buffer
        type(buffer_body), intent(in) :: shape
        integer(c_int), intent(in) :: owner
        character(len=*), intent(in) :: call
        integer(c_int) :: err
        type(buffer_body), pointer :: body
        type(c_ptr) :: new
        integer :: failed
        err = META_OK
        failed = 0
        new = c_null_ptr
        if (.not. allocated(buffer%ref)) then
            allocate (buffer%ref, stat=failed)
            if (failed == 0) call make_empty(buffer%ref)
        end if
        if (failed == 0) new = metaf_body_new(shape%address, shape%type, owner)
        if (.not. c_associated(new)) then
            err = fail(META_ERR_NO_MEMORY, call, 'no memory for the description of a buffer')
            return
        end if
        call c_f_pointer(new, body)
        body%ndim = shape%ndim
        body%is_grid = shape%is_grid
        body%size = shape%size
        body%origin = shape%origin
        body%lower = shape%lower
        body%upper = shape%upper
        if (is_registered(buffer%ref)) &
            call release_reference(buffer%ref%body, buffer%ref%generation)
        buffer%ref%body = new
        buffer%ref%generation = body%generation
        buffer%ref%self = metaf_self(buffer%ref%self)
    end function

    ! Free the memory that every copy of `buffer` refers to.
    function release(buffer) result(err)
        type(meta_buffer), intent(inout) :: buffer
        integer(c_int) :: err
        err = metaf_body_free(buffer%ref%body, buffer%ref%generation)
    end function

    ! After a call with error `err` that may have finalized the library, and so freed all memory.
    ! Querying that must not overwrite the error message.
    subroutine buffers_forget(err)
        integer(c_int), intent(inout) :: err
        character(len=:), allocatable :: text
        integer(c_int) :: on
        text = ''
        if (err /= META_OK) then
            call metaf_failed_in_c()
            text = message_text()
        end if
        if (c_get_reproducible(on) == META_ERR_INIT) call metaf_bodies_forget()
        if (err /= META_OK) err = metaf_fail(err, c_text(text)) + FOUND_HERE
    end subroutine

    ! Whether `buffer` refers to memory that has not been freed.
    logical function meta_is_allocated(buffer)
        type(meta_buffer), intent(in) :: buffer
        type(buffer_body), pointer :: body
        meta_is_allocated = .false.
        if (.not. allocated(buffer%ref)) return
        if (.not. c_associated(buffer%ref%body)) return
        call c_f_pointer(buffer%ref%body, body)
        meta_is_allocated = body%generation == buffer%ref%generation
    end function

    ! All elements of `buffer`, by its own bounds.
    function meta_bounds(buffer, stat) result(box)
        type(meta_buffer), intent(in) :: buffer
        integer, intent(out), optional :: stat
        type(meta_box) :: box
        type(buffer_body) :: body
        integer(c_int) :: err
        err = body_of(buffer, 'meta_bounds', 'buffer', body)
        if (err == META_OK) box = whole(body)
        call finish(err, stat)
    end function

    ! META_F64 and so on.
    function meta_element_type(buffer, stat) result(type)
        type(meta_buffer), intent(in) :: buffer
        integer, intent(out), optional :: stat
        integer(c_int) :: type
        type(buffer_body) :: body
        integer(c_int) :: err
        type = META_TYPE_COUNT
        err = body_of(buffer, 'meta_element_type', 'buffer', body)
        if (err == META_OK) type = body%type
        call finish(err, stat)
    end function

    ! The address of the first element allocated, for C; it is valid as long as the buffer.
    function meta_address(buffer, stat) result(address)
        type(meta_buffer), intent(in) :: buffer
        integer, intent(out), optional :: stat
        type(c_ptr) :: address
        type(buffer_body) :: body
        integer(c_int) :: err
        address = c_null_ptr
        err = body_of(buffer, 'meta_address', 'buffer', body)
        if (err == META_OK) address = body%address
        call finish(err, stat)
    end function

    ! A box for C, as its meta_box, of the array at meta_address(): its extents with all padding, and
    ! indices from 0 on.
    function meta_box_for_c(buffer, box, stat) result(c)
        type(meta_buffer), intent(in) :: buffer
        type(meta_box), intent(in) :: box
        integer, intent(out), optional :: stat
        type(meta_c_box) :: c
        type(buffer_body) :: body
        integer(c_int) :: err
        err = body_of(buffer, 'meta_box_for_c', 'buffer', body)
        if (err == META_OK) err = box_of(body, box, 'meta_box_for_c', 'box', c)
        call finish(err, stat)
    end function
end module meta_base
