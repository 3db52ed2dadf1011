! SPDX-License-Identifier: BSD-3-Clause
! The C functions, structures and enumerators of libmeta as Fortran sees them. Names, arguments and
! layouts are those of meta.h, meta_library.h and meta_comm.h; tests/fortran/test_fortran_binding.sh compares them.
! Programs use module `meta`; these bindings neither check nor convert their arguments.
!
! The binding of meta_NAME is c_NAME. Pointers that may be NULL, and those to arrays or to memory
! of any type, are c_ptr by value. Functions that take an MPI_Comm are bound through support_comm.c,
! and meta_here() through support.c.
module meta_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    integer, parameter :: META_MAX_DIM = 10
    integer, parameter :: META_LABEL_BYTES = 64

    enum, bind(c)
        enumerator :: META_OK = 0, META_ERR_INIT, META_ERR_ARGUMENT, META_ERR_POINTER, &
            META_ERR_BOUNDS, META_ERR_ALIGNMENT, META_ERR_OVERFLOW, META_ERR_OVERLAP, &
            META_ERR_TYPE, META_ERR_WRONG_DEVICE, META_ERR_NO_DEVICE, META_ERR_NO_MEMORY, &
            META_ERR_HANDLE, META_ERR_STATE, META_ERR_ENVIRONMENT, META_ERR_PLUGIN, &
            META_ERR_DEVICE, META_ERR_MPI, META_ERR_MISMATCH, META_ERR_PEER, &
            META_ERR_UNSUPPORTED, META_ERR_FILE, META_ERR_COUNT
    end enum
    enum, bind(c)
        enumerator :: META_SPREAD = 0, META_OPENMP = 1, META_OPENCL = 2, META_CUDA = 3, &
            META_HIP = 4, META_AUTO = 5, META_FIRST_PLUGIN = 16
    end enum
    enum, bind(c)
        enumerator :: META_F64 = 0, META_F32, META_I64, META_U64, META_I32, META_U32, META_I16, &
            META_U16, META_I8, META_U8, META_TYPE_COUNT
    end enum
    enum, bind(c)
        enumerator :: META_POLICY_THREAD = 0, META_POLICY_CALL
    end enum
    enum, bind(c)
        enumerator :: META_NATIVE_HOST = 0, META_NATIVE_OBJECT
    end enum
    enum, bind(c)
        enumerator :: META_MEMORY_DEVICE = 0, META_MEMORY_WRAPPED, META_MEMORY_HOST
    end enum
    enum, bind(c)
        enumerator :: META_SLAB_LOW = 0, META_SLAB_HIGH, META_SLAB_LOW_GHOST, META_SLAB_HIGH_GHOST
    end enum
    enum, bind(c)
        enumerator :: META_BOUNDARY_VALUE = 0, META_BOUNDARY_WALL, META_BOUNDARY_GRADIENT, &
            META_BOUNDARY_EVEN, META_BOUNDARY_ODD, META_BOUNDARY_COUNT
    end enum
    enum, bind(c)
        enumerator :: META_2D5P = 0, META_2D9P, META_3D7P, META_3D27P, META_STENCIL_COUNT
    end enum
    ! META_SUM but for its name, which in Fortran is that of the function meta_sum.
    enum, bind(c)
        enumerator :: META_OP_SUM = 0, META_MIN, META_MAX, META_OP_COUNT
    end enum
    enum, bind(c)
        enumerator :: META_ACTIVITY_KERNEL = 0, META_ACTIVITY_COPY, META_ACTIVITY_MESSAGE, &
            META_ACTIVITY_RANGE, META_ACTIVITY_COUNT
    end enum

    type, bind(c) :: meta_c_event
        integer(c_int32_t) :: slot = 0, generation = 0
    end type
    ! Without initial extents: one is made for every call.
    type, bind(c) :: meta_c_box
        integer(c_int) :: ndim = 0
        integer(c_int64_t) :: size(META_MAX_DIM), start(META_MAX_DIM), end(META_MAX_DIM)
    end type
    type, bind(c) :: meta_c_grid_field
        type(c_ptr) :: name
        integer(c_int) :: type
        integer(c_int) :: stagger(META_MAX_DIM)
        type(c_ptr) :: ptr
        type(meta_c_box) :: box
    end type
    type, bind(c) :: meta_c_face
        integer(c_int64_t) :: start = 0
        integer(c_int) :: count = 0
        integer(c_int64_t) :: size(META_MAX_DIM) = 0, stride(META_MAX_DIM) = 0
    end type
    type, bind(c) :: meta_c_device_desc
        integer(c_size_t) :: size
        integer(c_int) :: mode, index
        character(kind=c_char) :: backend(32), name(128), driver(128)
        integer(c_int64_t) :: memory
        integer(c_int) :: compute_units, has_f64, is_host, is_gpu
        character(kind=c_char) :: pci(16)
    end type
    type, bind(c) :: meta_c_backend_desc
        integer(c_size_t) :: size
        integer(c_int) :: mode, usable, devices
        character(kind=c_char) :: name(32), description(128), reason(256), path(1024)
    end type
    type, bind(c) :: meta_c_variable_desc
        integer(c_size_t) :: size
        type(c_ptr) :: name, values, initial, description, value
    end type
    type, bind(c) :: meta_c_pointer_desc
        integer(c_size_t) :: size
        integer(c_int) :: kind, mode, index
        type(c_ptr) :: base
        integer(c_size_t) :: bytes, offset
        character(kind=c_char) :: label(META_LABEL_BYTES)
    end type
    type, bind(c) :: meta_c_mem_desc
        integer(c_size_t) :: size
        integer(c_int64_t) :: total, allocated, peak, buffers
    end type
    type, bind(c) :: meta_c_pool_desc
        integer(c_size_t) :: size
        integer(c_int64_t) :: limit, kept, blocks, held, held_peak, reused, made, returned
    end type
    type, bind(c) :: meta_c_state
        integer(c_size_t) :: size
        type(c_ptr) :: platform, device, context, queue
    end type
    type, bind(c) :: meta_c_csr
        integer(c_size_t) :: size
        integer(c_int64_t) :: rows, columns, entries
        integer(c_int) :: start_type, value_type
        type(c_ptr) :: start, column, value
    end type
    type, bind(c) :: meta_c_candidate
        integer(c_size_t) :: size
        type(c_ptr) :: device
        integer(c_int) :: mode, index, number, is_known
        real(c_double) :: queued, moving, running, returning
        integer(c_int64_t) :: missing_bytes
    end type
    type, bind(c) :: meta_c_decision
        integer(c_size_t) :: size
        type(c_ptr) :: kernel
        integer(c_int) :: type
        integer(c_int64_t) :: cells, bytes
        integer(c_int) :: candidates
        type(c_ptr) :: candidate
    end type
    type, bind(c) :: meta_c_tool
        integer(c_size_t) :: size
        type(c_ptr) :: user
        type(c_funptr) :: begin, end
    end type

    interface
        function c_strerror(err) bind(c, name="meta_strerror") result(res)
            import
            integer(c_int), value :: err
            type(c_ptr) :: res
        end function
        function c_last_error() bind(c, name="meta_last_error") result(res)
            import
            type(c_ptr) :: res
        end function
        function c_init() bind(c, name="meta_init") result(res)
            import
            integer(c_int) :: res
        end function
        function c_finalize() bind(c, name="meta_finalize") result(res)
            import
            integer(c_int) :: res
        end function
        function c_version(major, minor, patch) bind(c, name="meta_version") result(res)
            import
            integer(c_int), intent(inout) :: major, minor, patch
            integer(c_int) :: res
        end function
        function c_backend_count(count) bind(c, name="meta_backend_count") result(res)
            import
            integer(c_int), intent(inout) :: count
            integer(c_int) :: res
        end function
        function c_backend_info(index, desc) bind(c, name="meta_backend_info") result(res)
            import
            integer(c_int), value :: index
            type(meta_c_backend_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_variable_count(count) bind(c, name="meta_variable_count") result(res)
            import
            integer(c_int), intent(inout) :: count
            integer(c_int) :: res
        end function
        function c_variable_info(index, desc) bind(c, name="meta_variable_info") result(res)
            import
            integer(c_int), value :: index
            type(meta_c_variable_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_mode_find(name, mode) bind(c, name="meta_mode_find") result(res)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(inout) :: mode
            integer(c_int) :: res
        end function
        function c_device_count(mode, count) bind(c, name="meta_device_count") result(res)
            import
            integer(c_int), value :: mode
            integer(c_int), intent(inout) :: count
            integer(c_int) :: res
        end function
        function c_device_info(index, mode, desc) bind(c, name="meta_device_info") result(res)
            import
            integer(c_int), value :: index, mode
            type(meta_c_device_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_set_policy(policy, scope) bind(c, name="meta_set_policy") result(res)
            import
            type(c_ptr), value :: policy
            integer(c_int), value :: scope
            integer(c_int) :: res
        end function
        function c_set_policy_function(function, user, scope) bind(c, &
            name="meta_set_policy_function") result(res)
            import
            type(c_funptr), value :: function
            type(c_ptr), value :: user
            integer(c_int), value :: scope
            integer(c_int) :: res
        end function
        function c_set_acc(index, mode) bind(c, name="meta_set_acc") result(res)
            import
            integer(c_int), value :: index, mode
            integer(c_int) :: res
        end function
        function c_get_acc(index, mode) bind(c, name="meta_get_acc") result(res)
            import
            integer(c_int), intent(inout) :: index, mode
            integer(c_int) :: res
        end function
        function c_set_job(rank, size, node_rank, node_size) bind(c, &
            name="meta_set_job") result(res)
            import
            integer(c_int), value :: rank, size, node_rank, node_size
            integer(c_int) :: res
        end function
        function c_rank_device(rank, size, node_rank, node_size, mode, index, threads) bind(c, &
            name="meta_rank_device") result(res)
            import
            integer(c_int), value :: rank, size, node_rank, node_size
            integer(c_int), intent(inout) :: mode, index, threads
            integer(c_int) :: res
        end function
        function c_type_size(type, bytes) bind(c, name="meta_type_size") result(res)
            import
            integer(c_int), value :: type
            integer(c_size_t), intent(inout) :: bytes
            integer(c_int) :: res
        end function
        function c_alloc(ptr, bytes) bind(c, name="meta_alloc") result(res)
            import
            type(c_ptr), intent(inout) :: ptr
            integer(c_size_t), value :: bytes
            integer(c_int) :: res
        end function
        function c_free(ptr) bind(c, name="meta_free") result(res)
            import
            type(c_ptr), value :: ptr
            integer(c_int) :: res
        end function
        function c_grid_alloc(ptr, box, ndim, cells, low, high, type) bind(c, &
            name="meta_grid_alloc") result(res)
            import
            type(c_ptr), intent(inout) :: ptr
            type(meta_c_box), intent(inout) :: box
            integer(c_int), value :: ndim
            type(c_ptr), value :: cells, low, high
            integer(c_int), value :: type
            integer(c_int) :: res
        end function
        function c_grid_family(field, fields, box, ndim, cells, low, high) bind(c, &
            name="meta_grid_family") result(res)
            import
            type(meta_c_grid_field), intent(inout) :: field(*)
            integer(c_int), value :: fields
            type(c_ptr), value :: box
            integer(c_int), value :: ndim
            type(c_ptr), value :: cells, low, high
            integer(c_int) :: res
        end function
        function c_grid_shape(ptr, box, type) bind(c, name="meta_grid_shape") result(res)
            import
            type(c_ptr), value :: ptr, box
            integer(c_int), value :: type
            integer(c_int) :: res
        end function
        function c_host_alloc(ptr, bytes) bind(c, name="meta_host_alloc") result(res)
            import
            type(c_ptr), intent(inout) :: ptr
            integer(c_size_t), value :: bytes
            integer(c_int) :: res
        end function
        function c_host_free(ptr) bind(c, name="meta_host_free") result(res)
            import
            type(c_ptr), value :: ptr
            integer(c_int) :: res
        end function
        function c_copy_h2d(dst, src, bytes, done) bind(c, name="meta_copy_h2d") result(res)
            import
            type(c_ptr), value :: dst, src
            integer(c_size_t), value :: bytes
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_copy_d2h(dst, src, bytes, done) bind(c, name="meta_copy_d2h") result(res)
            import
            type(c_ptr), value :: dst, src
            integer(c_size_t), value :: bytes
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_copy_d2d(dst, src, bytes, done) bind(c, name="meta_copy_d2d") result(res)
            import
            type(c_ptr), value :: dst, src
            integer(c_size_t), value :: bytes
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_copy_box(dst, dst_box, src, src_box, type, done) bind(c, &
            name="meta_copy_box") result(res)
            import
            type(c_ptr), value :: dst
            type(meta_c_box), intent(in) :: dst_box
            type(c_ptr), value :: src
            type(meta_c_box), intent(in) :: src_box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_copy_box_h2d(dst, dst_box, src, src_box, type, done) bind(c, &
            name="meta_copy_box_h2d") result(res)
            import
            type(c_ptr), value :: dst
            type(meta_c_box), intent(in) :: dst_box
            type(c_ptr), value :: src
            type(meta_c_box), intent(in) :: src_box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_copy_box_d2h(dst, dst_box, src, src_box, type, done) bind(c, &
            name="meta_copy_box_d2h") result(res)
            import
            type(c_ptr), value :: dst
            type(meta_c_box), intent(in) :: dst_box
            type(c_ptr), value :: src
            type(meta_c_box), intent(in) :: src_box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_fill(buf, count, value, type, done) bind(c, name="meta_fill") result(res)
            import
            type(c_ptr), value :: buf
            integer(c_int64_t), value :: count
            type(c_ptr), value :: value
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_fill_box(buf, box, value, type, done) bind(c, name="meta_fill_box") result(res)
            import
            type(c_ptr), value :: buf
            type(meta_c_box), intent(in) :: box
            type(c_ptr), value :: value
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_wrap(ptr, native, bytes, kind) bind(c, name="meta_wrap") result(res)
            import
            type(c_ptr), intent(inout) :: ptr
            type(c_ptr), value :: native
            integer(c_size_t), value :: bytes
            integer(c_int), value :: kind
            integer(c_int) :: res
        end function
        function c_unwrap(ptr) bind(c, name="meta_unwrap") result(res)
            import
            type(c_ptr), value :: ptr
            integer(c_int) :: res
        end function
        function c_pointer_info(ptr, desc) bind(c, name="meta_pointer_info") result(res)
            import
            type(c_ptr), value :: ptr
            type(meta_c_pointer_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_label(ptr, label) bind(c, name="meta_label") result(res)
            import
            type(c_ptr), value :: ptr
            character(kind=c_char), intent(in) :: label(*)
            integer(c_int) :: res
        end function
        ! By way of support.c, which keeps the text until it is read.
        function c_here(file, line) bind(c, name="metaf_here") result(res)
            import
            character(kind=c_char), intent(in) :: file(*)
            integer(c_int), value :: line
            integer(c_int) :: res
        end function
        function c_mem_info(index, mode, desc) bind(c, name="meta_mem_info") result(res)
            import
            integer(c_int), value :: index, mode
            type(meta_c_mem_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_pool_info(index, mode, desc) bind(c, name="meta_pool_info") result(res)
            import
            integer(c_int), value :: index, mode
            type(meta_c_pool_desc), intent(inout) :: desc
            integer(c_int) :: res
        end function
        function c_pool_trim(index, mode, bytes) bind(c, name="meta_pool_trim") result(res)
            import
            integer(c_int), value :: index, mode
            integer(c_size_t), value :: bytes
            integer(c_int) :: res
        end function
        function c_pool_limit(index, mode, bytes) bind(c, name="meta_pool_limit") result(res)
            import
            integer(c_int), value :: index, mode
            integer(c_size_t), value :: bytes
            integer(c_int) :: res
        end function
        function c_flush() bind(c, name="meta_flush") result(res)
            import
            integer(c_int) :: res
        end function
        function c_event_test(event, complete) bind(c, name="meta_event_test") result(res)
            import
            type(meta_c_event), value :: event
            integer(c_int), intent(inout) :: complete
            integer(c_int) :: res
        end function
        function c_event_wait(event) bind(c, name="meta_event_wait") result(res)
            import
            type(meta_c_event), value :: event
            integer(c_int) :: res
        end function
        function c_event_waitall(count, events) bind(c, name="meta_event_waitall") result(res)
            import
            integer(c_size_t), value :: count
            type(c_ptr), value :: events
            integer(c_int) :: res
        end function
        function c_event_then(event, function, user) bind(c, name="meta_event_then") result(res)
            import
            type(meta_c_event), value :: event
            type(c_funptr), value :: function
            type(c_ptr), value :: user
            integer(c_int) :: res
        end function
        function c_event_free(event) bind(c, name="meta_event_free") result(res)
            import
            type(meta_c_event), intent(inout) :: event
            integer(c_int) :: res
        end function
        function c_get_state(index, mode, state) bind(c, name="meta_get_state") result(res)
            import
            integer(c_int), value :: index, mode
            type(meta_c_state), intent(inout) :: state
            integer(c_int) :: res
        end function
        function c_set_state(index, mode, state) bind(c, name="meta_set_state") result(res)
            import
            integer(c_int), value :: index, mode
            type(meta_c_state), intent(in) :: state
            integer(c_int) :: res
        end function
        function c_host_view(ptr, host) bind(c, name="meta_host_view") result(res)
            import
            type(c_ptr), value :: ptr
            type(c_ptr), intent(inout) :: host
            integer(c_int) :: res
        end function
        function c_native(ptr, object, offset) bind(c, name="meta_native") result(res)
            import
            type(c_ptr), value :: ptr
            type(c_ptr), intent(inout) :: object
            integer(c_size_t), intent(inout) :: offset
            integer(c_int) :: res
        end function
        function c_native_end(ptr) bind(c, name="meta_native_end") result(res)
            import
            type(c_ptr), value :: ptr
            integer(c_int) :: res
        end function
        function c_face_make(face, start, count, size, stride) bind(c, &
            name="meta_face_make") result(res)
            import
            type(meta_c_face), intent(inout) :: face
            integer(c_int64_t), value :: start
            integer(c_int), value :: count
            integer(c_int64_t), intent(in) :: size(*), stride(*)
            integer(c_int) :: res
        end function
        function c_face_slab(face, box, axis, slab, width) bind(c, &
            name="meta_face_slab") result(res)
            import
            type(meta_c_face), intent(inout) :: face
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: axis, slab
            integer(c_int64_t), value :: width
            integer(c_int) :: res
        end function
        function c_face_box(face, box) bind(c, name="meta_face_box") result(res)
            import
            type(meta_c_face), intent(inout) :: face
            type(meta_c_box), intent(in) :: box
            integer(c_int) :: res
        end function
        function c_face_elements(face, count) bind(c, name="meta_face_elements") result(res)
            import
            type(meta_c_face), intent(in) :: face
            integer(c_int64_t), intent(inout) :: count
            integer(c_int) :: res
        end function
        function c_pack_face(packed, buf, face, type, done) bind(c, &
            name="meta_pack_face") result(res)
            import
            type(c_ptr), value :: packed, buf
            type(meta_c_face), intent(in) :: face
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_unpack_face(buf, packed, face, type, done) bind(c, &
            name="meta_unpack_face") result(res)
            import
            type(c_ptr), value :: buf, packed
            type(meta_c_face), intent(in) :: face
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_transpose_face(out, in, size, type, done) bind(c, &
            name="meta_transpose_face") result(res)
            import
            type(c_ptr), value :: out, in
            integer(c_int64_t), intent(in) :: size(*)
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_stencil(out, in, box, kind, type, sum, done) bind(c, &
            name="meta_stencil") result(res)
            import
            type(c_ptr), value :: out, in
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: kind, type
            type(c_ptr), value :: sum, done
            integer(c_int) :: res
        end function
        function c_stencil_sums(out, in, box, kind, type, sum, sums, boxes, part, done) &
            bind(c, name="meta_stencil_sums") result(res)
            import
            type(c_ptr), value :: out, in
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: kind, type
            type(c_ptr), value :: sum, sums
            integer(c_int), value :: boxes
            type(meta_c_box), intent(in) :: part(*)
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_reduce(result, buf, box, op, type, done) bind(c, name="meta_reduce") result(res)
            import
            type(c_ptr), value :: result, buf
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: op, type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_reduce_boxes(results, stride, fields, field, boxes, box, op, type, done) &
            bind(c, name="meta_reduce_boxes") result(res)
            import
            type(c_ptr), value :: results
            integer(c_int64_t), value :: stride
            integer(c_int), value :: fields
            type(c_ptr), intent(in) :: field(*)
            integer(c_int), value :: boxes
            type(meta_c_box), intent(in) :: box(*)
            integer(c_int), value :: op, type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_dot(result, a, b, box, type, done) bind(c, name="meta_dot") result(res)
            import
            type(c_ptr), value :: result, a, b
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_set_reproducible(on) bind(c, name="meta_set_reproducible") result(res)
            import
            integer(c_int), value :: on
            integer(c_int) :: res
        end function
        function c_get_reproducible(on) bind(c, name="meta_get_reproducible") result(res)
            import
            integer(c_int), intent(inout) :: on
            integer(c_int) :: res
        end function
        function c_axpy(y, alpha, x, box, type, done) bind(c, name="meta_axpy") result(res)
            import
            type(c_ptr), value :: y, alpha, x
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_axpby(z, a, x, b, y, box, type, done) bind(c, name="meta_axpby") result(res)
            import
            type(c_ptr), value :: z, a, x, b, y
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_xpay(z, x, a, y, box, type, done) bind(c, name="meta_xpay") result(res)
            import
            type(c_ptr), value :: z, x, a, y
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_scale(z, a, x, box, type, done) bind(c, name="meta_scale") result(res)
            import
            type(c_ptr), value :: z, a, x
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_multiply(z, x, y, box, type, done) bind(c, name="meta_multiply") result(res)
            import
            type(c_ptr), value :: z, x, y
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_convert(to, to_type, from, from_type, box, done) bind(c, &
            name="meta_convert") result(res)
            import
            type(c_ptr), value :: to
            integer(c_int), value :: to_type
            type(c_ptr), value :: from
            integer(c_int), value :: from_type
            type(meta_c_box), intent(in) :: box
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_stencil_constant(out, in, weight, box, kind, type, dot, done) bind(c, &
            name="meta_stencil_constant") result(res)
            import
            type(c_ptr), value :: out, in, weight
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: kind, type
            type(c_ptr), value :: dot, done
            integer(c_int) :: res
        end function
        function c_stencil_variable(out, in, weight, box, kind, type, dot, done) bind(c, &
            name="meta_stencil_variable") result(res)
            import
            type(c_ptr), value :: out, in
            type(c_ptr), intent(in) :: weight(*)
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: kind, type
            type(c_ptr), value :: dot, done
            integer(c_int) :: res
        end function
        function c_boundary(array, box, dim, side, width, kind, value, type, done) bind(c, &
            name="meta_boundary") result(res)
            import
            type(c_ptr), value :: array
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: dim, side
            integer(c_int64_t), value :: width
            integer(c_int), value :: kind
            type(c_ptr), value :: value
            integer(c_int), value :: type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_boundary_slab(cells, ghost, inner, box, dim, side, layer, cell) bind(c, &
            name="meta_boundary_slab") result(res)
            import
            type(meta_c_box), intent(inout) :: cells
            integer(c_int64_t), intent(inout) :: ghost, inner
            type(meta_c_box), intent(in) :: box
            integer(c_int), value :: dim, side
            integer(c_int64_t), value :: layer, cell
            integer(c_int) :: res
        end function
        function c_csr_multiply(y, a, matrix, x, b, done) bind(c, &
            name="meta_csr_multiply") result(res)
            import
            type(c_ptr), value :: y, a
            type(meta_c_csr), intent(in) :: matrix
            type(c_ptr), value :: x, b, done
            integer(c_int) :: res
        end function
        function c_csr_check(matrix) bind(c, name="meta_csr_check") result(res)
            import
            type(meta_c_csr), intent(in) :: matrix
            integer(c_int) :: res
        end function
        function c_crc32(result, buf, bytes, done) bind(c, name="meta_crc32") result(res)
            import
            type(c_ptr), value :: result, buf
            integer(c_size_t), value :: bytes
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_prefix_sum(out, in, count, inclusive, type, done) bind(c, &
            name="meta_prefix_sum") result(res)
            import
            type(c_ptr), value :: out, in
            integer(c_int64_t), value :: count
            integer(c_int), value :: inclusive, type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_timers_init() bind(c, name="meta_timers_init") result(res)
            import
            integer(c_int) :: res
        end function
        function c_timers_print() bind(c, name="meta_timers_print") result(res)
            import
            integer(c_int) :: res
        end function
        function c_timers_finalize() bind(c, name="meta_timers_finalize") result(res)
            import
            integer(c_int) :: res
        end function
        function c_range_push(name) bind(c, name="meta_range_push") result(res)
            import
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: res
        end function
        function c_range_pop() bind(c, name="meta_range_pop") result(res)
            import
            integer(c_int) :: res
        end function
        function c_set_tool(tool) bind(c, name="meta_set_tool") result(res)
            import
            type(c_ptr), value :: tool
            integer(c_int) :: res
        end function
    end interface
end module meta_c
