! SPDX-License-Identifier: BSD-3-Clause
! Queries of devices, back ends, variables, native objects and memory from Fortran.
! TEST: backends=all auto=yes labels=fortran
module chosen_last
    use meta
    use testing
    implicit none

contains

    function last_one(decision, user) result(chosen)
        type(meta_decision), intent(in) :: decision
        class(*), intent(inout) :: user
        integer :: chosen
        chosen = size(decision%candidate)
        select type (user)
        type is (integer)
            user = user + 1
        end select
        call check(decision%kernel /= '' .and. decision%cells == 10, 'what is to be chosen for')
        call check(decision%candidate(chosen)%device /= '', 'the candidate')
    end function
end module chosen_last

program test_fortran_devices
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    use chosen_last
    implicit none
    call versions_and_texts()
    call variables()
    call tests_begin()
    call devices()
    call back_ends()
    call jobs()
    call memory()
    call native_objects()
    call policies()
    call tests_end()
    call meta_finalize()

contains

    subroutine versions_and_texts()
        integer :: major, minor, patch, code
        call promise('the_version_and_the_codes_are_told')
        call meta_version(major, minor, patch)
        call check(major >= 0 .and. minor >= 0 .and. patch >= 0 .and. major + minor > 0, 'numbers')
        do code = 0, META_ERR_COUNT - 1
            call check(index(meta_strerror(code), 'META_') == 1, 'a code''s text')
        end do
        call check(meta_strerror(META_ERR_BOUNDS) == &
            'META_ERR_BOUNDS: a range, box or face leaves its buffer', 'the text of one')
        call check(meta_strerror(-1) == 'unknown error code', 'of none')
    end subroutine

    subroutine variables()
        type(meta_variable_desc) :: desc
        integer :: count, k, found, stat
        character(len=64) :: value
        call promise('variables_are_described')
        call meta_variable_count(count)
        found = 0
        do k = 0, count - 1
            call meta_variable_info(k, desc)
            call check(index(desc%name, 'META_') == 1 .or. desc%name == 'METAMORPH_MODE', 'a name')
            call check(len(desc%description) > 10, 'a description')
            if (desc%name == 'META_MODE') then
                found = found + 1
                call get_environment_variable('META_MODE', value, status=stat)
                call check(allocated(desc%value) .eqv. stat == 0, 'whether it is set')
                if (allocated(desc%value)) call check(desc%value == trim(value), 'its value')
            end if
        end do
        call check(found == 1, 'META_MODE is there once')
        call meta_variable_info(count, desc, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'index'")
    end subroutine

    subroutine devices()
        type(meta_device_desc) :: desc
        integer :: index, mode, count, found, stat
        call promise('the_threads_device_is_described')
        call meta_get_acc(index, mode)
        call meta_device_count(mode, count)
        call check(count > index, 'as many devices')
        call meta_device_info(index, mode, desc)
        call check(desc%mode == mode .and. desc%index == index, 'which one')
        call check(len_trim(desc%name) > 0 .and. desc%memory > 0, 'its name and memory')
        call check(iachar(desc%backend(32:32)) == 32, 'blanks at the end of names')
        call meta_mode_find(trim(desc%backend), found)
        call check(found == mode, 'the mode of its name')
        call meta_set_acc(index, mode)
        call meta_set_acc(0, META_SPREAD)
        call meta_device_info(count, mode, desc, stat)
        call check_err(stat, META_ERR_NO_DEVICE, 'meta_device_info')
    end subroutine

    subroutine back_ends()
        type(meta_backend_desc) :: desc
        integer :: count, k, usable, stat
        call promise('back_ends_are_described')
        call meta_backend_count(count)
        usable = 0
        do k = 0, count - 1
            call meta_backend_info(k, desc)
            call check(len_trim(desc%name) > 0, 'a name')
            call check(desc%usable .neqv. len_trim(desc%reason) > 0, 'usable, or a reason why not')
            if (desc%usable) usable = usable + 1
        end do
        call check(usable > 0, 'one is usable')
        call meta_backend_info(count, desc, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'index'")
    end subroutine

    subroutine jobs()
        integer :: mode, index, threads, stat
        call promise('ranks_are_told_their_devices')
        call meta_rank_device(0, 1, 0, 1, mode, index, threads)
        call check(threads > 0, 'threads')
        call meta_set_job(0, 1, 0, 1, stat)
        call check_err(stat, META_ERR_STATE, 'meta_set_job')
    end subroutine

    subroutine memory()
        type(meta_buffer) :: d
        type(meta_pointer_desc) :: desc
        type(meta_mem_desc) :: before, after
        integer :: index, mode
        integer(c_int64_t) :: bytes
        call promise('memory_is_accounted_for')
        call meta_get_acc(index, mode)
        call meta_mem_info(index, mode, before)
        call meta_alloc(d, META_I32, meta_range([1000]))
        call meta_mem_info(index, mode, after)
        call check_int(after%allocated - before%allocated, 4000_c_int64_t, 'bytes')
        call check_int(after%buffers - before%buffers, 1_c_int64_t, 'buffers')
        call meta_pointer_info(d, desc)
        call check(desc%kind == META_MEMORY_DEVICE .and. desc%mode == mode, 'what it is')
        call check_int(desc%bytes, 4000_c_int64_t, 'its bytes')
        call check(c_associated(desc%base, meta_address(d)), 'its address')
        call meta_type_size(META_I16, bytes)
        call check_int(bytes, 2_c_int64_t, 'the size of an element')
    end subroutine

    subroutine native_objects()
        type(meta_buffer) :: d, w
        type(meta_state) :: state
        type(c_ptr) :: object
        type(meta_device_desc) :: device
        integer(c_int64_t) :: offset
        integer :: index, mode, stat, checked
        call promise('native_objects_can_be_shared')
        call get_environment_variable('META_CHECK', length=checked)
        call meta_get_acc(index, mode)
        call meta_device_info(index, mode, device)
        if (mode /= META_AUTO) then
            call meta_get_state(index, mode, state)
            call meta_set_state(index, mode, state, stat)
            call check_err(stat, META_ERR_STATE, 'meta_set_state')
        end if
        call meta_alloc(d, META_F64, meta_range([10]))
        call meta_native(d, object, offset)
        ! A guard zone would lie before it.
        call check(c_associated(object) .and. (offset == 0 .or. checked > 0), &
            'the object of a buffer')
        call meta_native_end(d)
        if (.not. device%is_host .or. mode == META_AUTO) return
        call meta_wrap(w, object, META_F64, meta_range([10]), META_NATIVE_OBJECT, stat)
        call check_err(stat, META_ERR_OVERLAP, 'meta_wrap')
    end subroutine

    ! With META_MODE=auto the function is asked; on other devices it has no effect.
    subroutine policies()
        type(meta_buffer) :: d
        integer, target :: asked
        integer :: index, mode, stat
        call promise('policies_can_be_the_programs_own')
        call meta_get_acc(index, mode)
        call meta_alloc(d, META_F64, meta_range([10]))
        call meta_set_policy('fastest', META_POLICY_THREAD, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'policy'")
        call meta_set_policy('cost', 7, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'scope'")
        call meta_set_policy('locality', META_POLICY_THREAD)
        asked = 0
        call meta_set_policy_function(last_one, asked, META_POLICY_CALL)
        call meta_fill(d, 1.0_c_double)
        call meta_flush()
        call check((asked > 0) .eqv. (mode == META_AUTO), 'the function is asked')
        call meta_set_policy('', META_POLICY_THREAD)
        call meta_set_policy_function(scope=META_POLICY_CALL)
        call meta_free(d)
    end subroutine
end program test_fortran_devices
