! SPDX-License-Identifier: BSD-3-Clause
! Initialization and finalization, errors, devices, and their native objects.
module meta_devices
    use meta_c
    use meta_base
    implicit none
    private
    public :: meta_init, meta_finalize, meta_version, meta_strerror, meta_last_error
    public :: meta_backend_count, meta_backend_info, meta_backend_desc
    public :: meta_variable_count, meta_variable_info, meta_variable_desc
    public :: meta_device_count, meta_device_info, meta_device_desc, meta_mode_find
    public :: meta_set_acc, meta_get_acc, meta_set_job, meta_rank_device
    public :: meta_get_state, meta_set_state, meta_state

    type :: meta_device_desc
        integer :: mode, index
        character(len=32) :: backend
        character(len=128) :: name, driver
        integer(c_int64_t) :: memory
        integer :: compute_units
        logical :: has_f64, is_host, is_gpu
        character(len=16) :: pci
    end type

    type :: meta_backend_desc
        integer :: mode
        logical :: usable
        integer :: devices
        character(len=32) :: name
        character(len=128) :: description
        character(len=256) :: reason
        character(len=1024) :: path
    end type

    type :: meta_variable_desc
        character(len=:), allocatable :: name, values, initial, description
        character(len=:), allocatable :: value ! not allocated where the variable is not set
    end type

    ! Native objects of a device; see meta_get_state() in meta.h.
    type :: meta_state
        type(c_ptr) :: platform = c_null_ptr, device = c_null_ptr
        type(c_ptr) :: context = c_null_ptr, queue = c_null_ptr
    end type

contains

    ! ---------------------------------------------------------------- life and errors

    subroutine meta_init(stat)
        integer, intent(out), optional :: stat
        call finish(c_init(), stat)
    end subroutine

    ! Every buffer, event and plan is invalid afterwards.
    subroutine meta_finalize(stat)
        integer, intent(out), optional :: stat
        integer(c_int) :: err
        err = c_finalize()
        call buffers_forget(err)
        call finish(err, stat)
    end subroutine

    subroutine meta_version(major, minor, patch, stat)
        integer, intent(inout) :: major, minor, patch
        integer, intent(out), optional :: stat
        call finish(c_version(major, minor, patch), stat)
    end subroutine

    ! The name and meaning of an error code.
    function meta_strerror(err) result(text)
        integer, intent(in) :: err
        character(len=:), allocatable :: text
        text = text_of(c_strerror(err))
    end function

    ! The error message of this thread's last failed call.
    function meta_last_error() result(text)
        character(len=:), allocatable :: text
        text = message_text()
    end function

    ! ---------------------------------------------------------------- back ends and variables

    subroutine meta_backend_count(count, stat)
        integer, intent(inout) :: count
        integer, intent(out), optional :: stat
        call finish(c_backend_count(count), stat)
    end subroutine

    ! Back end `index`, from 0 on, as in C and in META_MODE.
    subroutine meta_backend_info(index, desc, stat)
        integer, intent(in) :: index
        type(meta_backend_desc), intent(inout) :: desc
        integer, intent(out), optional :: stat
        type(meta_c_backend_desc) :: c
        integer(c_int) :: err
        c%size = size(transfer(c, [0_c_int8_t]))
        err = c_backend_info(index, c)
        if (err == META_OK) then
            desc%mode = c%mode
            desc%usable = c%usable /= 0
            desc%devices = c%devices
            desc%name = joined(c%name)
            desc%description = joined(c%description)
            desc%reason = joined(c%reason)
            desc%path = joined(c%path)
        end if
        call finish(err, stat)
    end subroutine

    subroutine meta_variable_count(count, stat)
        integer, intent(inout) :: count
        integer, intent(out), optional :: stat
        call finish(c_variable_count(count), stat)
    end subroutine

    ! The META_* variable `index`, from 0 on.
    subroutine meta_variable_info(index, desc, stat)
        integer, intent(in) :: index
        type(meta_variable_desc), intent(inout) :: desc
        integer, intent(out), optional :: stat
        type(meta_c_variable_desc) :: c
        integer(c_int) :: err
        c%size = size(transfer(c, [0_c_int8_t]))
        err = c_variable_info(index, c)
        if (err == META_OK) then
            desc%name = text_of(c%name)
            desc%values = text_of(c%values)
            desc%initial = text_of(c%initial)
            desc%description = text_of(c%description)
            if (allocated(desc%value)) deallocate (desc%value)
            if (c_associated(c%value)) desc%value = text_of(c%value)
        end if
        call finish(err, stat)
    end subroutine

    ! ---------------------------------------------------------------- devices

    subroutine meta_mode_find(name, mode, stat)
        character(len=*), intent(in) :: name
        integer, intent(inout) :: mode
        integer, intent(out), optional :: stat
        call finish(c_mode_find(c_text(name), mode), stat)
    end subroutine

    subroutine meta_device_count(mode, count, stat)
        integer, intent(in) :: mode
        integer, intent(inout) :: count
        integer, intent(out), optional :: stat
        call finish(c_device_count(mode, count), stat)
    end subroutine

    ! Device `index` of `mode`, from 0 on.
    subroutine meta_device_info(index, mode, desc, stat)
        integer, intent(in) :: index, mode
        type(meta_device_desc), intent(inout) :: desc
        integer, intent(out), optional :: stat
        type(meta_c_device_desc) :: c
        integer(c_int) :: err
        c%size = size(transfer(c, [0_c_int8_t]))
        err = c_device_info(index, mode, c)
        if (err == META_OK) then
            desc%mode = c%mode
            desc%index = c%index
            desc%backend = joined(c%backend)
            desc%name = joined(c%name)
            desc%driver = joined(c%driver)
            desc%memory = c%memory
            desc%compute_units = c%compute_units
            desc%has_f64 = c%has_f64 /= 0
            desc%is_host = c%is_host /= 0
            desc%is_gpu = c%is_gpu /= 0
            desc%pci = joined(c%pci)
        end if
        call finish(err, stat)
    end subroutine

    subroutine meta_set_acc(index, mode, stat)
        integer, intent(in) :: index, mode
        integer, intent(out), optional :: stat
        call finish(c_set_acc(index, mode), stat)
    end subroutine

    subroutine meta_get_acc(index, mode, stat)
        integer, intent(inout) :: index, mode
        integer, intent(out), optional :: stat
        call finish(c_get_acc(index, mode), stat)
    end subroutine

    subroutine meta_set_job(rank, size, node_rank, node_size, stat)
        integer, intent(in) :: rank, size, node_rank, node_size
        integer, intent(out), optional :: stat
        call finish(c_set_job(rank, size, node_rank, node_size), stat)
    end subroutine

    subroutine meta_rank_device(rank, size, node_rank, node_size, mode, index, threads, stat)
        integer, intent(in) :: rank, size, node_rank, node_size
        integer, intent(inout) :: mode, index, threads
        integer, intent(out), optional :: stat
        call finish(c_rank_device(rank, size, node_rank, node_size, mode, index, threads), stat)
    end subroutine

    ! ---------------------------------------------------------------- native objects

    subroutine meta_get_state(index, mode, state, stat)
        integer, intent(in) :: index, mode
        type(meta_state), intent(inout) :: state
        integer, intent(out), optional :: stat
        type(meta_c_state) :: c
        integer(c_int) :: err
        c = c_state(meta_state())
        err = c_get_state(index, mode, c)
        if (err == META_OK) state = meta_state(c%platform, c%device, c%context, c%queue)
        call finish(err, stat)
    end subroutine

    subroutine meta_set_state(index, mode, state, stat)
        integer, intent(in) :: index, mode
        type(meta_state), intent(in) :: state
        integer, intent(out), optional :: stat
        call finish(c_set_state(index, mode, c_state(state)), stat)
    end subroutine

    function c_state(state) result(c)
        type(meta_state), intent(in) :: state
        type(meta_c_state) :: c
        c%size = size(transfer(c, [0_c_int8_t]))
        c%platform = state%platform
        c%device = state%device
        c%context = state%context
        c%queue = state%queue
    end function
end module meta_devices
