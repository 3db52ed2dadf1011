! SPDX-License-Identifier: BSD-3-Clause
! Arrays of any rank up to 10 and any kind that libmeta can copy, without an overload for each: for
! compilers with type(*), dimension(..) of Fortran 2018. The procedures behave like meta_alloc,
! meta_copy_h2d, meta_copy_d2h and meta_wrap of module `meta`.
module meta_any
    use, intrinsic :: iso_c_binding, only: c_int
    use meta_c, only: META_ERR_TYPE
    use meta_base, only: meta_buffer, meta_box, meta_event, host_array, fail, finish
    use meta_memory, only: alloc_like, copy_in, copy_out, wrap_array
    implicit none
    private
    public :: meta_any_alloc, meta_any_copy_h2d, meta_any_copy_d2h, meta_any_wrap

    interface
        ! Describe `a`, or return 0 where libmeta has no such element type.
        function metaf_describe(a, array) bind(c) result(known)
            import :: c_int, host_array
            type(*), intent(in) :: a(..)
            type(host_array), intent(out) :: array
            integer(c_int) :: known
        end function
    end interface

contains

    function described(known, call, name) result(err)
        integer(c_int), intent(in) :: known
        character(len=*), intent(in) :: call, name
        integer(c_int) :: err
        err = 0
        if (known == 0) err = fail(META_ERR_TYPE, call, "argument '" // name // &
            "' is of a kind that libmeta does not move, or of a rank above 10")
    end function

    subroutine meta_any_alloc(buffer, mold, bounds, stat, label)
        type(meta_buffer), intent(inout) :: buffer
        type(*), intent(in), target :: mold(..)
        type(meta_box), intent(in), optional :: bounds
        integer, intent(out), optional :: stat
        character(len=*), intent(in), optional :: label
        type(host_array) :: array
        integer(c_int) :: err
        err = described(metaf_describe(mold, array), 'meta_any_alloc', 'mold')
        if (err == 0) then
            call alloc_like(buffer, array, bounds, stat, label)
        else
            call finish(err, stat)
        end if
    end subroutine

    subroutine meta_any_copy_h2d(dst, src, done, stat, box)
        type(meta_buffer), intent(in) :: dst
        type(*), intent(in), target :: src(..)
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(meta_box), intent(in), optional :: box
        type(host_array) :: array
        integer(c_int) :: err
        err = described(metaf_describe(src, array), 'meta_any_copy_h2d', 'src')
        if (err == 0) then
            call copy_in(dst, array, done, stat, box)
        else
            call finish(err, stat)
        end if
    end subroutine

    subroutine meta_any_copy_d2h(dst, src, done, stat, box)
        type(*), intent(inout), target :: dst(..)
        type(meta_buffer), intent(in) :: src
        type(meta_event), intent(inout), optional, target :: done
        integer, intent(out), optional :: stat
        type(meta_box), intent(in), optional :: box
        type(host_array) :: array
        integer(c_int) :: err
        err = described(metaf_describe(dst, array), 'meta_any_copy_d2h', 'dst')
        if (err == 0) then
            call copy_out(array, src, done, stat, box)
        else
            call finish(err, stat)
        end if
    end subroutine

    subroutine meta_any_wrap(buffer, array, bounds, stat, label)
        type(meta_buffer), intent(inout) :: buffer
        type(*), intent(inout), target :: array(..)
        type(meta_box), intent(in), optional :: bounds
        integer, intent(out), optional :: stat
        character(len=*), intent(in), optional :: label
        type(host_array) :: it
        integer(c_int) :: err
        err = described(metaf_describe(array, it), 'meta_any_wrap', 'array')
        if (err == 0) then
            call wrap_array(buffer, it, bounds, stat, label)
        else
            call finish(err, stat)
        end if
    end subroutine
end module meta_any
