! SPDX-License-Identifier: BSD-3-Clause
! Files of distributed fields: what is written comes back with other cuts, with its attributes; wrong
! arguments of one rank are errors on all.
! TEST: backends=openmp np=1,3 labels=fortran,io
module file_cases
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    integer, parameter :: nx = 7, ny = 9
    integer :: rank, ranks

    interface
        function test_world() bind(c) result(world)
            import
            integer(c_int) :: world
        end function
        function c_unlink(path) bind(c, name='unlink') result(res)
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int) :: res
        end function
    end interface

contains

    ! The first and last row of a rank, of rows cut from either end.
    subroutine rows(from_above, low, high)
        logical, intent(in) :: from_above
        integer, intent(out) :: low, high
        integer :: place
        place = merge(ranks - 1 - rank, rank, from_above)
        low = ny * place / ranks + 1
        high = ny * (place + 1) / ranks
    end subroutine

    ! A grid with this rank's rows under their global indices, and a ghost cell around.
    subroutine make(grid, low, high, filled)
        type(meta_buffer), intent(out) :: grid
        integer, intent(in) :: low, high
        logical, intent(in) :: filled
        real(c_double), allocatable :: a(:, :)
        integer :: x, y
        allocate (a(0:nx+1, low-1:high+1))
        a = -1
        do y = low, high
            do x = 1, nx
                if (filled) a(x, y) = x + 100 * y
            end do
        end do
        call meta_alloc(grid, META_F64, meta_range([0, low - 1], [nx + 1, high + 1]))
        call meta_copy_h2d(grid, a)
    end subroutine

    function box_of_rows(low, high) result(box)
        integer, intent(in) :: low, high
        type(meta_box) :: box
        box = meta_range([1, low], [nx, high])
    end function

    subroutine check_rows(grid, low, high, text)
        type(meta_buffer), intent(in) :: grid
        integer, intent(in) :: low, high
        character(len=*), intent(in) :: text
        real(c_double), allocatable :: a(:, :)
        integer :: x, y, wrong
        allocate (a(0:nx+1, low-1:high+1))
        call meta_copy_d2h(a, grid)
        wrong = 0
        do y = low, high
            do x = 1, nx
                if (a(x, y) /= x + 100 * y) wrong = wrong + 1
            end do
        end do
        wrong = wrong + count(a(0, :) /= -1) + count(a(nx+1, :) /= -1) + &
            count(a(1:nx, low-1) /= -1) + count(a(1:nx, high+1) /= -1)
        call check_int(int(wrong, c_int64_t), 0_c_int64_t, text // ': wrong cells')
    end subroutine

    subroutine writing_and_reading(path, format)
        character(len=*), intent(in) :: path
        integer, intent(in) :: format
        type(meta_buffer) :: grid, again
        type(meta_io_attributes) :: attributes
        type(meta_io_file) :: file
        character(len=:), allocatable :: text
        real(c_double), allocatable :: reals(:)
        integer(c_int64_t), allocatable :: cells(:)
        real(c_double) :: time
        real(c_float) :: single
        integer(c_int32_t) :: step
        integer(c_int64_t) :: long
        integer :: low, high, found, kind, count, stat
        call rows(.false., low, high)
        call make(grid, low, high, .true.)
        call meta_io_put(attributes, 'time', 0.25_c_double)
        call meta_io_put(attributes, 'single', 1.5_c_float)
        call meta_io_put(attributes, 'step', 12)
        call meta_io_put(attributes, 'long', 2_c_int64_t**40)
        call meta_io_put(attributes, 'corners', [1._c_double, -2._c_double])
        call meta_io_put(attributes, 'title', 'heat')
        call meta_io_write(path, test_world(), format, [meta_io_describe('heat', grid, &
            box_of_rows(low, high), [1, low], [nx, ny])], attributes, keep=2, &
            origin=[0._c_double, 1._c_double], spacing=[0.5_c_double, 0.5_c_double], stat=stat)
        call check_ok(stat, 'meta_io_write')

        call rows(.true., low, high)
        call make(again, low, high, .false.)
        call meta_io_open(file, path, test_world(), format, stat=stat)
        call check_ok(stat, 'meta_io_open')
        call meta_io_file_info(file, format=kind, fields=found, attributes=count)
        call check(kind == format .and. found == 1 .and. count == 6, 'what the file has')
        call meta_io_field_info(file, 1, text, kind, cells)
        call check(text == 'heat' .and. kind == META_F64 .and. all(cells == [nx, ny]), 'the field')
        call meta_io_attribute_find(file, 'time', time)
        call check(time == 0.25, 'a number')
        call meta_io_attribute_find(file, 'single', single)
        call check(single == 1.5, 'a single number')
        call meta_io_attribute_find(file, 'step', step)
        call check(step == 12, 'an integer')
        call meta_io_attribute_find(file, 'long', long)
        call check(long == 2_c_int64_t**40, 'a long integer')
        call meta_io_attribute_find(file, 'corners', reals)
        call check(all(reals == [1, -2]) .and. size(reals) == 2, 'two numbers')
        call meta_io_attribute_find(file, 'title', text)
        call check(text == 'heat', 'a text')
        call meta_io_attribute_find(file, 'title', step, stat)
        call check_err(stat, META_ERR_TYPE, "attribute 'title' is a text")
        call meta_io_attribute_find(file, 'step', text, stat)
        call check_err(stat, META_ERR_TYPE, 'has numbers of META_I32')
        call meta_io_attribute_find(file, 'step', time, stat)
        call check_err(stat, META_ERR_TYPE, "'step' of META_I32")
        call meta_io_attribute_find(file, 'corners', time, stat)
        call check_err(stat, META_ERR_MISMATCH, "'corners' has 2")
        call meta_io_attribute_find(file, 'nothing', time, stat)
        call check_err(stat, META_ERR_ARGUMENT, "no attribute 'nothing'")
        call meta_io_attribute_info(file, 7, text, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'index' is 6")
        call meta_io_read(file, [meta_io_describe('heat', again, box_of_rows(low, high), [1, low])])
        call check_rows(again, low, high, path)
        call meta_io_read(file, [meta_io_describe('cold', again, box_of_rows(low, high), &
            [1, low])], stat)
        call check_err(stat, META_ERR_ARGUMENT, "no field 'cold'")
        call meta_io_close(file, stat)
        call check_ok(stat, 'meta_io_close')
        call meta_io_close(file, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_io_close')
    end subroutine

    subroutine writing_beside(path)
        character(len=*), intent(in) :: path
        type(meta_buffer) :: grid, again
        type(meta_io_request) :: request
        type(meta_io_file) :: file
        integer :: low, high, stat
        logical :: done
        call rows(.false., low, high)
        call make(grid, low, high, .true.)
        call make(again, low, high, .false.)
        call meta_io_write_begin(path, test_world(), META_IO_CHECKPOINT, [meta_io_describe('u', &
            grid, box_of_rows(low, high), [1, low], [nx, ny])], request, stat=stat)
        call check_ok(stat, 'meta_io_write_begin')
        call meta_fill(grid, 0._c_double)
        call meta_io_test(request, done, stat)
        call check_ok(stat, 'meta_io_test')
        call meta_io_wait(request, stat)
        call check_ok(stat, 'meta_io_wait')
        call meta_io_wait(request, stat)
        call check_err(stat, META_ERR_HANDLE, 'META_IO_REQUEST_NULL')
        call meta_io_open(file, path, test_world(), META_IO_CHECKPOINT)
        call meta_io_read(file, [meta_io_describe('u', again, box_of_rows(low, high), [1, low])])
        call meta_io_close(file)
        call check_rows(again, low, high, path)
    end subroutine

    subroutine wrong_arguments()
        type(meta_buffer) :: grid, none
        type(meta_io_field) :: nameless
        integer :: low, high, stat
        call rows(.false., low, high)
        call make(grid, low, high, .true.)
        if (rank == 0) then
            call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [meta_io_describe('u', &
                none, box_of_rows(low, high), [1, low], [nx, ny])], stat=stat)
        else
            call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [meta_io_describe('u', &
                grid, box_of_rows(low, high), [1, low], [nx, ny])], stat=stat)
        end if
        call check_err(stat, META_ERR_POINTER, "the buffer of field 'u' in argument 'fields' is not allocated")
        call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [meta_io_describe('u', &
            grid, box_of_rows(low, high + 2), [1, low], [nx, ny + 2])], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box', dimension 2")
        call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [nameless], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, 'a field without a name')
        call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [meta_io_describe('u', &
            grid, box_of_rows(low, high), [2, low], [nx, ny])], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, 'leave the grid')
    end subroutine

    ! The error names the procedure and the argument.
    subroutine refused(stat, code, call, name)
        integer, intent(in) :: stat, code
        character(len=*), intent(in) :: call, name
        call check_err(stat, code, call // ': ')
        call check_err(stat, code, name)
    end subroutine

    subroutine misuse()
        type(meta_buffer) :: grid
        type(meta_io_field) :: field
        type(meta_io_file) :: file
        type(meta_io_request) :: request
        character(len=:), allocatable :: text
        integer :: low, high, stat, number
        real(c_double) :: time
        logical :: done
        call rows(.false., low, high)
        call make(grid, low, high, .true.)
        field = meta_io_describe('u', grid, box_of_rows(low, high), [1, low], [nx, ny])
        call meta_io_has(-3, done, stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_has', "'format' is -3")
        call meta_io_write('', test_world(), META_IO_CHECKPOINT, [field], stat=stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_write', "'path' is empty")
        call meta_io_write('wrong', test_world(), 77, [field], stat=stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_write', "format' is 77")
        call meta_io_write('wrong', test_world(), META_IO_CHECKPOINT, [field], keep=-1, stat=stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_write', "keep' is -1")
        call meta_io_write_begin('wrong', test_world(), META_IO_CHECKPOINT, [field], request, &
            number=-2, stat=stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_write_begin', "number' is -2")
        call meta_io_test(request, done, stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_test', "'request'")
        call meta_io_wait(request, stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_wait', "'request'")
        call meta_io_open(file, 'no such file', test_world(), META_IO_CHECKPOINT, stat=stat)
        call refused(stat, META_ERR_FILE, 'meta_io_open', "'path'")
        call meta_io_last(test_world(), '', number, stat)
        call refused(stat, META_ERR_ARGUMENT, 'meta_io_last', "'path' is empty")
        call meta_io_read(file, [field], stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_read', "'file' is META_IO_FILE_NULL")
        call meta_io_file_info(file, number=number, stat=stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_file_info', "'file' is META_IO_FILE_NULL")
        call meta_io_field_info(file, 1, text, stat=stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_field_info', "'file' is META_IO_FILE_NULL")
        call meta_io_attribute_info(file, 1, text, stat=stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_attribute_info', "'file' is META_IO_FILE_NULL")
        call meta_io_attribute_find(file, 'time', time, stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_attribute_find', "'file' is META_IO_FILE_NULL")
        call meta_io_close(file, stat)
        call refused(stat, META_ERR_HANDLE, 'meta_io_close', "'file'")
    end subroutine

    subroutine remove(path)
        character(len=*), intent(in) :: path
        integer(c_int) :: ignored
        ignored = c_unlink(path // c_null_char)
    end subroutine
end module file_cases

program test_fortran_files
    use file_cases
    implicit none
    integer :: stat, number
    logical :: has
    call meta_comm_init(stat)
    call tests_begin(stat)
    call meta_comm_rank(rank, ranks)
    rank_of_test = rank
    call promise('checkpoints_come_back')
    if (rank == 0) call remove('fortran_files.0')
    call writing_and_reading('fortran_files', META_IO_CHECKPOINT)
    call meta_io_last(test_world(), 'fortran_files', number)
    call check(number == 0, 'the last number')
    if (rank == 0) call remove('fortran_files.0')
    call promise('files_are_written_beside_computation')
    call writing_beside('fortran_files')
    if (rank == 0) call remove('fortran_files.0')
    call promise('hdf5_files_come_back')
    call meta_io_has(META_IO_HDF5, has, stat)
    call check_ok(stat, 'meta_io_has')
    if (has) call writing_and_reading('fortran_files.h5', META_IO_HDF5)
    if (rank == 0) call remove('fortran_files.h5')
    if (rank == 0) call remove('fortran_files.h5.xmf')
    call promise('wrong_arguments_are_errors_on_all_ranks')
    call wrong_arguments()
    call promise('each_procedure_names_what_is_wrong')
    call misuse()
    call meta_comm_finalize(stat)
    call check_ok(stat, 'meta_comm_finalize')
    call tests_end()
end program test_fortran_files
