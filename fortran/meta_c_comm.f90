! SPDX-License-Identifier: BSD-3-Clause
! The C functions, structures and enumerators of libmeta_comm as Fortran sees them; see meta_c.f90.
module meta_c_comm
    use meta_c
    implicit none
    public

    enum, bind(c)
        enumerator :: META_HALO_FACES = 0, META_HALO_ALL
    end enum
    enum, bind(c)
        enumerator :: META_HALO_COPY = 0, META_HALO_ADD
    end enum
    enum, bind(c)
        enumerator :: META_PATH_SELF = 0, META_PATH_SHARED, META_PATH_HOST, META_PATH_STAGED, &
            META_PATH_DIRECT, META_PATH_COUNT
    end enum

    type, bind(c) :: meta_c_halo
        integer(c_int32_t) :: slot = 0, generation = 0
    end type
    type, bind(c) :: meta_c_exchange
        integer(c_int32_t) :: slot = 0, generation = 0
    end type
    type, bind(c) :: meta_c_halo_field
        integer(c_int) :: type
        type(meta_c_box) :: box
    end type
    type, bind(c) :: meta_c_cuts
        type(c_ptr) :: at(META_MAX_DIM)
    end type
    type, bind(c) :: meta_c_redistribute_field
        integer(c_int) :: type
        type(c_ptr) :: from
        type(meta_c_box) :: from_box
        type(c_ptr) :: to
        type(meta_c_box) :: to_box
    end type
    type, bind(c) :: meta_c_traffic
        integer(c_size_t) :: size
        integer(c_int64_t) :: messages_sent(0:META_PATH_COUNT-1), bytes_sent(0:META_PATH_COUNT-1)
        integer(c_int64_t) :: messages_received(0:META_PATH_COUNT-1), &
            bytes_received(0:META_PATH_COUNT-1)
    end type

    interface
        function c_comm_init(argc, argv) bind(c, name="meta_comm_init") result(res)
            import
            type(c_ptr), value :: argc, argv
            integer(c_int) :: res
        end function
        function c_comm_finalize() bind(c, name="meta_comm_finalize") result(res)
            import
            integer(c_int) :: res
        end function
        function c_comm_rank(rank, size) bind(c, name="meta_comm_rank") result(res)
            import
            integer(c_int), intent(inout) :: rank, size
            integer(c_int) :: res
        end function
        function c_packed_send(dst, packed, count, type, tag, done) bind(c, &
            name="meta_packed_send") result(res)
            import
            integer(c_int), value :: dst
            type(c_ptr), value :: packed
            integer(c_int64_t), value :: count
            integer(c_int), value :: type, tag
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_packed_recv(src, packed, count, type, tag, done) bind(c, &
            name="meta_packed_recv") result(res)
            import
            integer(c_int), value :: src
            type(c_ptr), value :: packed
            integer(c_int64_t), value :: count
            integer(c_int), value :: type, tag
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_pack_send(dst, face, buf, packed, type, tag, done) bind(c, &
            name="meta_pack_send") result(res)
            import
            integer(c_int), value :: dst
            type(meta_c_face), intent(in) :: face
            type(c_ptr), value :: buf, packed
            integer(c_int), value :: type, tag
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_recv_unpack(src, face, buf, packed, type, tag, done) bind(c, &
            name="meta_recv_unpack") result(res)
            import
            integer(c_int), value :: src
            type(meta_c_face), intent(in) :: face
            type(c_ptr), value :: buf, packed
            integer(c_int), value :: type, tag
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_allreduce(recv, send, count, op, type, done) bind(c, &
            name="meta_allreduce") result(res)
            import
            type(c_ptr), value :: recv, send
            integer(c_int64_t), value :: count
            integer(c_int), value :: op, type
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_halo_begin(plan, fields, exchange) bind(c, name="meta_halo_begin") result(res)
            import
            type(meta_c_halo), value :: plan
            type(c_ptr), value :: fields
            type(meta_c_exchange), intent(inout) :: exchange
            integer(c_int) :: res
        end function
        function c_halo_end(exchange, done) bind(c, name="meta_halo_end") result(res)
            import
            type(meta_c_exchange), intent(inout) :: exchange
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_halo_start(plan, fields) bind(c, name="meta_halo_start") result(res)
            import
            type(meta_c_halo), value :: plan
            type(c_ptr), value :: fields
            integer(c_int) :: res
        end function
        function c_halo_finish(plan, done) bind(c, name="meta_halo_finish") result(res)
            import
            type(meta_c_halo), value :: plan
            type(c_ptr), value :: done
            integer(c_int) :: res
        end function
        function c_halo_exchange(plan, fields, done) bind(c, name="meta_halo_exchange") result(res)
            import
            type(meta_c_halo), value :: plan
            type(c_ptr), value :: fields, done
            integer(c_int) :: res
        end function
        function c_halo_overlap(plan, fields, interior, boundary, with, done) bind(c, &
            name="meta_halo_overlap") result(res)
            import
            type(meta_c_halo), value :: plan
            type(c_ptr), value :: fields
            type(c_funptr), value :: interior, boundary
            type(c_ptr), value :: with, done
            integer(c_int) :: res
        end function
        function c_halo_free(plan) bind(c, name="meta_halo_free") result(res)
            import
            type(meta_c_halo), intent(inout) :: plan
            integer(c_int) :: res
        end function
        function c_comm_traffic(traffic) bind(c, name="meta_comm_traffic") result(res)
            import
            type(meta_c_traffic), intent(inout) :: traffic
            integer(c_int) :: res
        end function
        function c_path_name(path) bind(c, name="meta_path_name") result(res)
            import
            integer(c_int), value :: path
            type(c_ptr) :: res
        end function
    end interface
    ! What takes an MPI_Comm, through support_comm.c.
    interface
        function c_comm_attach(comm) bind(c, name="metaf_comm_attach") result(res)
            import
            integer(c_int), value :: comm
            integer(c_int) :: res
        end function
        function c_halo_create(plan, cart, box, low, high, kind, fields, type, op, field, &
            batch) bind(c, name="metaf_halo_create") result(res)
            import
            type(meta_c_halo), intent(inout) :: plan
            integer(c_int), value :: cart
            type(meta_c_box), intent(in) :: box
            integer(c_int), intent(in) :: low(*), high(*)
            integer(c_int), value :: kind, fields, type, op
            type(c_ptr), value :: field
            integer(c_int32_t), value :: batch
            integer(c_int) :: res
        end function
        function c_cuts_block(cuts, cart, rank, first, cells) bind(c, &
            name="metaf_cuts_block") result(res)
            import
            type(meta_c_cuts), intent(in) :: cuts
            integer(c_int), value :: cart, rank
            integer(c_int64_t), intent(inout) :: first(*), cells(*)
            integer(c_int) :: res
        end function
        function c_measure_speed(comm, work, with, cells, times, speed) bind(c, &
            name="metaf_measure_speed") result(res)
            import
            integer(c_int), value :: comm
            type(c_funptr), value :: work
            type(c_ptr), value :: with
            integer(c_int64_t), value :: cells
            integer(c_int), value :: times
            real(c_double), intent(inout) :: speed
            integer(c_int) :: res
        end function
        function c_decompose(cuts, cart, cells, least, speed, most, seconds) bind(c, &
            name="metaf_decompose") result(res)
            import
            type(meta_c_cuts), intent(in) :: cuts
            integer(c_int), value :: cart
            integer(c_int64_t), intent(in) :: cells(*), least(*)
            real(c_double), value :: speed
            integer(c_int64_t), value :: most
            real(c_double), intent(inout) :: seconds
            integer(c_int) :: res
        end function
        function c_rebalance(next, now, cart, cells, least, most, seconds, before, after) bind(c, &
            name="metaf_rebalance") result(res)
            import
            type(meta_c_cuts), intent(in) :: next, now
            integer(c_int), value :: cart
            integer(c_int64_t), intent(in) :: cells(*), least(*)
            integer(c_int64_t), value :: most
            real(c_double), value :: seconds
            real(c_double), intent(inout) :: before, after
            integer(c_int) :: res
        end function
        function c_balance(next, now, cart, cells, least, most, computing, step, gain) bind(c, &
            name="metaf_balance") result(res)
            import
            type(meta_c_cuts), intent(in) :: next, now
            integer(c_int), value :: cart
            integer(c_int64_t), intent(in) :: cells(*), least(*)
            integer(c_int64_t), value :: most
            real(c_double), value :: computing, step
            real(c_double), intent(inout) :: gain
            integer(c_int) :: res
        end function
        function c_redistribute(cart, before, after, fields, field) bind(c, &
            name="metaf_redistribute") result(res)
            import
            integer(c_int), value :: cart
            type(meta_c_cuts), intent(in) :: before, after
            integer(c_int), value :: fields
            type(meta_c_redistribute_field), intent(in) :: field(*)
            integer(c_int) :: res
        end function
        ! The rest is not of libmeta's API; see support_comm.h.
        subroutine metaf_refuse(code) bind(c)
            import
            integer(c_int), value :: code
        end subroutine
        function c_cart_parts(cart, most, dims, parts) bind(c, name="metaf_cart_parts") result(res)
            import
            integer(c_int), value :: cart, most
            integer(c_int), intent(inout) :: dims, parts(*)
            integer(c_int) :: res
        end function
    end interface
end module meta_c_comm
