! SPDX-License-Identifier: BSD-3-Clause
! The C functions, structures and enumerators of libmeta_io as Fortran sees them; see meta_c.f90.
module meta_c_io
    use meta_c
    implicit none
    public

    enum, bind(c)
        enumerator :: META_IO_ANY = 0, META_IO_CHECKPOINT, META_IO_HDF5, META_IO_NPY, &
            META_IO_VTK, META_IO_PNG, META_IO_FORMAT_COUNT
    end enum

    type, bind(c) :: meta_c_io_field
        type(c_ptr) :: name = c_null_ptr, buf = c_null_ptr
        integer(c_int) :: type = META_TYPE_COUNT
        type(meta_c_box) :: box
        integer(c_int64_t) :: first(META_MAX_DIM) = 0, cells(META_MAX_DIM) = 0
    end type
    type, bind(c) :: meta_c_io_attribute
        type(c_ptr) :: name = c_null_ptr, text = c_null_ptr
        integer(c_int) :: type = META_TYPE_COUNT
        integer(c_int64_t) :: count = 0
        type(c_ptr) :: numbers = c_null_ptr
    end type
    type, bind(c) :: meta_c_io_file
        integer(c_int32_t) :: slot = 0, generation = 0
    end type
    type, bind(c) :: meta_c_io_file_desc
        integer(c_size_t) :: size
        type(c_ptr) :: path = c_null_ptr
        integer(c_int) :: format = META_IO_ANY, fields = 0, attributes = 0
        integer(c_int64_t) :: number = -1
    end type

    type, bind(c) :: meta_c_io_request
        integer(c_int32_t) :: id = 0
    end type

    interface
        function c_io_test(request, done) bind(c, name="meta_io_test") result(res)
            import
            type(meta_c_io_request), value :: request
            integer(c_int), intent(inout) :: done
            integer(c_int) :: res
        end function
        function c_io_wait(request) bind(c, name="meta_io_wait") result(res)
            import
            type(meta_c_io_request), intent(inout) :: request
            integer(c_int) :: res
        end function
        function c_io_has(format, has) bind(c, name="meta_io_has") result(res)
            import
            integer(c_int), value :: format
            integer(c_int), intent(inout) :: has
            integer(c_int) :: res
        end function
        function c_io_file_info(file, desc) bind(c, name="meta_io_file_info") result(res)
            import
            type(meta_c_io_file), value :: file
            type(meta_c_io_file_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_io_field_info(file, index, field) bind(c, name="meta_io_field_info") result(res)
            import
            type(meta_c_io_file), value :: file
            integer(c_int), value :: index
            type(meta_c_io_field), intent(inout) :: field
            integer(c_int) :: res
        end function
        function c_io_attribute_info(file, index, attribute) bind(c, &
            name="meta_io_attribute_info") result(res)
            import
            type(meta_c_io_file), value :: file
            integer(c_int), value :: index
            type(meta_c_io_attribute), intent(inout) :: attribute
            integer(c_int) :: res
        end function
        function c_io_attribute_find(file, name, attribute) bind(c, &
            name="meta_io_attribute_find") result(res)
            import
            type(meta_c_io_file), value :: file
            character(kind=c_char), intent(in) :: name(*)
            type(meta_c_io_attribute), intent(inout) :: attribute
            integer(c_int) :: res
        end function
        function c_io_read(file, fields, field) bind(c, name="meta_io_read") result(res)
            import
            type(meta_c_io_file), value :: file
            integer(c_int), value :: fields
            type(meta_c_io_field), intent(in) :: field(*)
            integer(c_int) :: res
        end function
        function c_io_close(file) bind(c, name="meta_io_close") result(res)
            import
            type(meta_c_io_file), intent(inout) :: file
            integer(c_int) :: res
        end function
    end interface
    ! What takes an MPI_Comm, through support_io.c.
    interface
        function c_io_write(path, comm, format, attributes, attribute, number, keep, origin, &
            spacing, series, memory, axis, plane, low, high, fields, field, request) &
            bind(c, name="metaf_io_write") result(res)
            import
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: comm, format, attributes
            type(meta_c_io_attribute), intent(in) :: attribute(*)
            integer(c_int64_t), value :: number, keep
            real(c_double), intent(in) :: origin(*), spacing(*)
            type(c_ptr), value :: series
            integer(c_int64_t), value :: memory
            integer(c_int), value :: axis
            integer(c_int64_t), value :: plane
            real(c_double), value :: low, high
            integer(c_int), value :: fields
            type(meta_c_io_field), intent(in) :: field(*)
            type(c_ptr), value :: request
            integer(c_int) :: res
        end function
        function c_io_open(file, path, comm, format, number) bind(c, name="metaf_io_open") &
            result(res)
            import
            type(meta_c_io_file), intent(inout) :: file
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int), value :: comm, format
            integer(c_int64_t), value :: number
            integer(c_int) :: res
        end function
        function c_io_last(comm, path, number) bind(c, name="metaf_io_last") result(res)
            import
            integer(c_int), value :: comm
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int64_t), intent(inout) :: number
            integer(c_int) :: res
        end function
    end interface
end module meta_c_io
