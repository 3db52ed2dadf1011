! SPDX-License-Identifier: BSD-3-Clause
! The 3D dot product in Fortran with module `meta`, the counterpart of dot3d.c. Both share every
! other file of the program; dot3d_f.c passes the block's shape and records failures.
module dot3d_fortran
    use, intrinsic :: iso_c_binding
    use meta
    implicit none
    private

    ! As in dot3d_f.h.
    type, bind(c) :: shape_of_block
        integer(c_int64_t) :: size(3), plane
        integer(c_int) :: type, previous, next
    end type

    type :: dot3d
        type(shape_of_block) :: k
        type(meta_buffer) :: a, b, send, recv
        type(meta_box) :: own, ghost ! the planes x = 1 to n, and that of the left neighbour, x = 0
        type(meta_face) :: last, first
    end type

    interface
        subroutine dot3d_shape(k, shape) bind(c)
            import
            type(c_ptr), value :: k
            type(shape_of_block), intent(out) :: shape
        end subroutine
        subroutine dot3d_failed(err, message) bind(c)
            import
            integer(c_int), value :: err
            character(kind=c_char), intent(in) :: message(*)
        end subroutine
    end interface

contains

    ! As check() of check.h.
    subroutine check(stat)
        integer, intent(in) :: stat
        if (stat /= META_OK) call dot3d_failed(stat, meta_last_error() // c_null_char)
    end subroutine

    subroutine begin() bind(c, name='dot3d_begin')
        integer :: stat
        call meta_comm_init(stat)
        call check(stat)
    end subroutine

    subroutine end_all() bind(c, name='dot3d_end')
        integer :: stat
        call meta_comm_finalize(stat)
        call check(stat)
    end subroutine

    function create(k, fields) bind(c, name='dot3d_create') result(handle)
        type(c_ptr), value :: k, fields
        type(c_ptr) :: handle
        type(dot3d), pointer :: d
        type(meta_box) :: all
        integer :: stat
        allocate (d)
        handle = c_loc(d)
        call dot3d_shape(k, d%k)
        all = meta_range([0_c_int64_t, 1_c_int64_t, 1_c_int64_t], &
            [d%k%size(1) - 1, d%k%size(2), d%k%size(3)])
        d%own = meta_range([1_c_int64_t, 1_c_int64_t, 1_c_int64_t], all%upper(1:3))
        d%ghost = meta_range(all%lower(1:3), [0_c_int64_t, d%k%size(2), d%k%size(3)])
        call meta_alloc(d%a, d%k%type, all, stat)
        if (stat == META_OK) call meta_alloc(d%b, d%k%type, all, stat)
        if (stat == META_OK) call meta_alloc(d%send, d%k%type, meta_range([d%k%plane]), stat)
        if (stat == META_OK) call meta_alloc(d%recv, d%k%type, meta_range([d%k%plane]), stat)
        if (stat == META_OK) call meta_face_slab(d%last, d%a, d%own, 1, META_SLAB_HIGH, 1, stat)
        if (stat == META_OK) &
            call meta_face_slab(d%first, d%a, d%own, 1, META_SLAB_LOW_GHOST, 1, stat)
        if (stat == META_OK) call put(d, fields, stat)
        call check(stat)
    end function

    ! The fields a and b, which follow one another.
    subroutine put(d, fields, stat)
        type(dot3d), intent(in) :: d
        type(c_ptr), intent(in) :: fields
        integer, intent(out) :: stat
        integer(c_int64_t) :: n(4)
        real(c_double), pointer :: r8(:, :, :, :)
        real(c_float), pointer :: r4(:, :, :, :)
        integer(c_int64_t), pointer :: i8(:, :, :, :)
        integer(c_int32_t), pointer :: i4(:, :, :, :)
        n = [d%k%size, 2_c_int64_t]
        select case (d%k%type)
        case (META_F64)
            call c_f_pointer(fields, r8, n)
            call meta_copy_h2d(d%a, r8(:, :, :, 1), stat=stat)
            if (stat == META_OK) call meta_copy_h2d(d%b, r8(:, :, :, 2), stat=stat)
        case (META_F32)
            call c_f_pointer(fields, r4, n)
            call meta_copy_h2d(d%a, r4(:, :, :, 1), stat=stat)
            if (stat == META_OK) call meta_copy_h2d(d%b, r4(:, :, :, 2), stat=stat)
        case (META_I64, META_U64)
            call c_f_pointer(fields, i8, n)
            call meta_copy_h2d(d%a, i8(:, :, :, 1), stat=stat)
            if (stat == META_OK) call meta_copy_h2d(d%b, i8(:, :, :, 2), stat=stat)
        case default
            call c_f_pointer(fields, i4, n)
            call meta_copy_h2d(d%a, i4(:, :, :, 1), stat=stat)
            if (stat == META_OK) call meta_copy_h2d(d%b, i4(:, :, :, 2), stat=stat)
        end select
    end subroutine

    ! Its buffers go with it.
    subroutine free(handle) bind(c, name='dot3d_free')
        type(c_ptr), value :: handle
        type(dot3d), pointer :: d
        call c_f_pointer(handle, d)
        deallocate (d)
    end subroutine

    ! The dot product over `box`, of all ranks where `ranks`, in an element of the block's type.
    subroutine dot(d, box, ranks, result, stat)
        type(dot3d), intent(in) :: d
        type(meta_box), intent(in) :: box
        logical, intent(in) :: ranks
        type(c_ptr), intent(in) :: result
        integer, intent(out) :: stat
        real(c_double), pointer :: r8
        real(c_float), pointer :: r4
        integer(c_int64_t), pointer :: i8
        integer(c_int32_t), pointer :: i4
        select case (d%k%type)
        case (META_F64)
            call c_f_pointer(result, r8)
            call meta_dot(r8, d%a, d%b, box, stat=stat)
            if (ranks .and. stat == META_OK) call meta_allreduce(r8, META_OP_SUM, stat=stat)
        case (META_F32)
            call c_f_pointer(result, r4)
            call meta_dot(r4, d%a, d%b, box, stat=stat)
            if (ranks .and. stat == META_OK) call meta_allreduce(r4, META_OP_SUM, stat=stat)
        case (META_I64, META_U64)
            call c_f_pointer(result, i8)
            call meta_dot(i8, d%a, d%b, box, stat=stat)
            if (ranks .and. stat == META_OK) call meta_allreduce(i8, META_OP_SUM, stat=stat)
        case default
            call c_f_pointer(result, i4)
            call meta_dot(i4, d%a, d%b, box, stat=stat)
            if (ranks .and. stat == META_OK) call meta_allreduce(i4, META_OP_SUM, stat=stat)
        end select
    end subroutine

    subroutine iterate(handle, result) bind(c, name='dot3d_iterate')
        type(c_ptr), value :: handle, result
        type(dot3d), pointer :: d
        integer :: stat
        call c_f_pointer(handle, d)
        call meta_pack_send(d%k%next, d%last, d%a, d%send, 0, stat=stat)
        call check(stat)
        call meta_recv_unpack(d%k%previous, d%first, d%a, d%recv, 0, stat=stat)
        call check(stat)
        call dot(d, d%own, .true., result, stat)
        call check(stat)
    end subroutine

    subroutine ghost_plane(handle, result) bind(c, name='dot3d_ghost')
        type(c_ptr), value :: handle, result
        type(dot3d), pointer :: d
        integer :: stat
        call c_f_pointer(handle, d)
        call dot(d, d%ghost, .false., result, stat)
        call check(stat)
    end subroutine
end module dot3d_fortran
