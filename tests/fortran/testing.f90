! SPDX-License-Identifier: BSD-3-Clause
! The test harness for Fortran, the counterpart of tests/test.h: a promise is kept if
! none of its checks fails. Exit status 0: all kept, 1: some broken, 77: there is no such device.
module testing
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    private
    public :: promise, check, check_int, check_ok, check_err, tests_begin, tests_end, random_in
    public :: rank_of_test, buffers_now
    ! In programs that are linked with cart.c.
    public :: test_cart_new, test_cart_free, test_cart_place

    character(len=80) :: name = 'no promise'
    integer :: failures = 0, broken = 0
    logical :: running = .false.
    integer, parameter :: seed = 20151013
    integer(c_int64_t) :: state = seed
    integer :: rank_of_test = 0

    interface
        function test_cart_new(ndims, periodic) bind(c) result(cart)
            import
            integer(c_int), value :: ndims
            integer(c_int), intent(in) :: periodic(*)
            integer(c_int) :: cart
        end function
        subroutine test_cart_free(cart) bind(c)
            import
            integer(c_int), value :: cart
        end subroutine
        subroutine test_cart_place(cart, ndims, parts, coords, low, high) bind(c)
            import
            integer(c_int), value :: cart, ndims
            integer(c_int), intent(out) :: parts(*), coords(*), low(*), high(*)
        end subroutine
    end interface

contains

    ! Start libmeta and open the device of META_MODE; or judge how `started` did so.
    subroutine tests_begin(started)
        integer, intent(in), optional :: started
        integer :: stat, index, mode
        if (present(started)) then
            stat = started
        else
            call meta_init()
            call meta_get_acc(index, mode, stat)
        end if
        if (stat == META_ERR_NO_DEVICE) then
            call required()
            print '(2a)', 'skipped: ', meta_last_error()
            stop 77
        else if (stat /= META_OK) then
            print '(a)', meta_last_error()
            stop 1
        end if
    end subroutine

    ! A back end that must be there is no reason to skip.
    subroutine required()
        character(len=256) :: mode, backends
        call get_environment_variable('META_MODE', mode)
        call get_environment_variable('META_REQUIRE_BACKENDS', backends)
        if (len_trim(mode) == 0) return
        if (index(',' // trim(backends) // ',', ',' // trim(mode) // ',') == 0) return
        print '(2a)', 'META_REQUIRE_BACKENDS names ', trim(mode)
        stop 1
    end subroutine

    ! Ends the last promise, and the program where one was broken.
    subroutine tests_end()
        call last_promise()
        if (broken > 0) stop 1
    end subroutine

    subroutine last_promise()
        if (.not. running) return
        if (failures == 0) then
            if (rank_of_test == 0) print '(2a)', 'kept   ', trim(name)
        else
            print '(2a)', 'BROKEN ', trim(name)
            broken = broken + 1
        end if
        running = .false.
    end subroutine

    ! Begin the promise `text`; its random cases are the same in every run.
    subroutine promise(text)
        character(len=*), intent(in) :: text
        integer :: k
        call last_promise()
        name = text
        failures = 0
        running = .true.
        state = seed
        do k = 1, len(text)
            state = ieor(ishft(state, 5), state + ichar(text(k:k)))
        end do
    end subroutine

    subroutine failed(text)
        character(len=*), intent(in) :: text
        failures = failures + 1
        if (failures <= 10) print '(4a,i0,a,i0)', trim(text), new_line('a'), '    in ', &
            trim(name) // ', seed ', seed, ', rank ', rank_of_test
    end subroutine

    subroutine check(holds, text)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: text
        if (.not. holds) call failed(text // ' does not hold')
    end subroutine

    subroutine check_int(found, expected, text)
        integer(c_int64_t), intent(in) :: found, expected
        character(len=*), intent(in) :: text
        character(len=64) :: values
        if (found == expected) return
        write (values, '(a,i0,a,i0)') ' is ', found, ', expected ', expected
        call failed(text // trim(values))
    end subroutine

    subroutine check_ok(stat, text)
        integer, intent(in) :: stat
        character(len=*), intent(in) :: text
        if (stat /= META_OK) call failed(text // ' fails: ' // meta_last_error())
    end subroutine

    ! A call returned the error it should, and its message has `part` in it.
    subroutine check_err(stat, expected, part)
        integer, intent(in) :: stat, expected
        character(len=*), intent(in) :: part
        if (stat /= expected) then
            call failed('expected ' // meta_strerror(expected) // ', found ' // &
                meta_strerror(stat) // ': ' // meta_last_error())
        else if (index(meta_last_error(), part) == 0) then
            call failed('the message is "' // meta_last_error() // '", expected in it: ' // part)
        end if
    end subroutine

    ! A random number from low to high, both included.
    integer function random_in(low, high)
        integer, intent(in) :: low, high
        state = ieor(state, ishft(state, 13))
        state = ieor(state, ishft(state, -7))
        state = ieor(state, ishft(state, 17))
        random_in = low + int(modulo(ishft(state, -1), int(high - low + 1, c_int64_t)))
    end function

    ! How many buffers there are on this thread's device.
    integer(c_int64_t) function buffers_now()
        type(meta_mem_desc) :: desc
        integer :: index, mode
        call meta_get_acc(index, mode)
        call meta_mem_info(index, mode, desc)
        buffers_now = desc%buffers
    end function
end module testing
