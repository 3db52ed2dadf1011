! SPDX-License-Identifier: BSD-3-Clause
! Each argument of each procedure between ranks, given wrongly on all ranks: an error that names the
! procedure and the Fortran argument on every rank, and no rank waits.
! TEST: backends=openmp,opencl np=1,2 labels=fortran,comm
module comm_argument_cases
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    integer, parameter :: no_numbers(5) = [-7, 1000, 65536, huge(1), -huge(1)]
    integer :: rank, ranks, result, k
    type(meta_buffer), save :: grid, other, packed, unset, freed
    type(meta_halo), save :: plan, plan_that_was
    type(meta_cuts), save :: cuts
    type(meta_face), save :: face
    type(meta_box), save :: own, outside, none
    integer :: cart
    integer, parameter :: one(3) = 1, n(3) = [4, 3, 2]

    interface
        function test_world() bind(c) result(world)
            import
            integer(c_int) :: world
        end function
    end interface

contains

    ! `result` is the error `expected` of `call`, which names `name`; of the rank that fails first
    ! where ranks agree on it.
    subroutine refused(expected, call, name)
        integer, intent(in) :: expected
        character(len=*), intent(in) :: call, name
        call check_err(result, expected, call // ': ')
        call check_err(result, expected, "'" // name)
    end subroutine

    subroutine work(box, with, stat)
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        stat = META_OK
        if (box%ndim < 1) stat = META_ERR_BOUNDS
        select type (with)
        type is (real(c_double))
            with = 1
        end select
    end subroutine

    subroutine speed_work(with, stat)
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        stat = META_OK
        select type (with)
        type is (real(c_double))
            with = 1
        end select
    end subroutine

    subroutine make_things()
        integer :: parts(3), coords(3), low(3), high(3), d
        cart = test_cart_new(3, one)
        call test_cart_place(cart, 3, parts, coords, low, high)
        own = meta_range(n)
        outside = meta_range([1, -1, 1], n)
        call meta_grid_alloc(grid, META_F64, n, one, one)
        call meta_grid_alloc(other, META_F64, n, one, one)
        call meta_alloc(packed, META_F64, meta_range([64]))
        call meta_alloc(freed, META_F64, meta_range([64]))
        call meta_free(freed)
        call meta_fill(grid, 1.0_c_double)
        call meta_fill(packed, 1.0_c_double)
        call meta_face_box(face, grid, own)
        call meta_halo_create(plan, cart, grid, own, one, one)
        plan_that_was = plan
        call meta_halo_free(plan)
        call meta_halo_create(plan, cart, grid, own, one, one)
        call meta_decompose(cuts, cart, n * parts, 1.0_c_double)
        do d = 1, 3
            call check(allocated(cuts%dimension(d)%at), 'the cuts')
        end do
    end subroutine

    subroutine messages()
        type(meta_face) :: empty
        integer(c_int64_t), parameter :: few = 8
        real(c_double) :: x
        type(meta_buffer) :: small
        call promise('arguments_of_messages_are_checked')
        do k = 1, size(no_numbers)
            call meta_packed_send(no_numbers(k), packed, few, 1, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_packed_send', 'dst')
            call meta_packed_recv(no_numbers(k), packed, few, 1, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_packed_recv', 'src')
            call meta_pack_send(no_numbers(k), face, grid, packed, 1, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_pack_send', 'dst')
            call meta_recv_unpack(no_numbers(k), face, grid, packed, 1, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_recv_unpack', 'src')
            call meta_allreduce(x, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_allreduce', 'op')
            if (no_numbers(k) == 1000) cycle
            call meta_packed_send(rank, packed, few, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_packed_send', 'tag')
            call meta_packed_recv(rank, packed, few, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_packed_recv', 'tag')
            call meta_pack_send(rank, face, grid, packed, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_pack_send', 'tag')
            call meta_recv_unpack(rank, face, grid, packed, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_recv_unpack', 'tag')
        end do
        call meta_packed_send(rank, packed, -few, 1, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_packed_send', 'count')
        call meta_packed_recv(rank, packed, huge(few), 1, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_packed_recv', 'packed')
        call meta_packed_send(rank, unset, few, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_packed_send', 'packed')
        call meta_packed_recv(rank, freed, few, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_packed_recv', 'packed')
        call meta_pack_send(rank, face, unset, packed, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_pack_send', 'buf')
        call meta_pack_send(rank, face, grid, freed, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_pack_send', 'packed')
        call meta_pack_send(rank, empty, grid, packed, 1, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_pack_send', 'face')
        call meta_recv_unpack(rank, face, freed, packed, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_recv_unpack', 'buf')
        call meta_recv_unpack(rank, face, grid, unset, 1, stat=result)
        call refused(META_ERR_POINTER, 'meta_recv_unpack', 'packed')
        call meta_recv_unpack(rank, empty, grid, packed, 1, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_recv_unpack', 'face')
        call meta_alloc(small, META_I16, meta_range([4]))
        call meta_allreduce(small, META_MAX, stat=result)
        call check_err(result, META_ERR_TYPE, 'meta_allreduce: ')
        call meta_free(small)
        call meta_allreduce(unset, META_MAX, stat=result)
        call refused(META_ERR_POINTER, 'meta_allreduce', 'recv')
        call meta_allreduce(grid, META_MAX, freed, stat=result)
        call refused(META_ERR_POINTER, 'meta_allreduce', 'send')
        call meta_allreduce(grid, META_MAX, packed, stat=result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_allreduce: ')
    end subroutine

    subroutine plans()
        type(meta_halo) :: new, never
        type(meta_exchange) :: exchange, no_exchange
        real(c_double), target :: with
        call promise('arguments_of_plans_and_exchanges_are_checked')
        with = 0
        do k = 1, size(no_numbers)
            call meta_halo_create(new, cart, grid, own, one, one, no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'kind')
            call meta_halo_create(new, cart, grid, own, one, one, op=no_numbers(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'op')
            call meta_halo_create(new, cart, grid, own, one, one, batch=[no_numbers(k)], stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'batch')
        end do
        call meta_halo_create(new, test_world(), grid, own, one, one, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'cart')
        call meta_halo_create(new, cart, unset, own, one, one, stat=result)
        call refused(META_ERR_POINTER, 'meta_halo_create', 'fields')
        call meta_halo_create(new, cart, freed, own, one, one, stat=result)
        call refused(META_ERR_POINTER, 'meta_halo_create', 'fields')
        call meta_halo_create(new, cart, grid, outside, one, one, stat=result)
        call refused(META_ERR_BOUNDS, 'meta_halo_create', 'box')
        call meta_halo_create(new, cart, grid, none, one, one, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'box')
        call meta_halo_create(new, cart, grid, own, [1, -1, 1], one, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'low')
        call meta_halo_create(new, cart, grid, own, one, [1, 1, -huge(1)], stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'high')
        call meta_halo_create(new, cart, grid, own, one, [1, 1], stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_create', 'low')
        call meta_halo_start(plan_that_was, grid, result)
        call refused(META_ERR_HANDLE, 'meta_halo_start', 'plan')
        call meta_halo_start(plan, freed, result)
        call refused(META_ERR_POINTER, 'meta_halo_start', 'fields')
        call meta_halo_finish(plan_that_was, stat=result)
        call refused(META_ERR_HANDLE, 'meta_halo_finish', 'plan')
        call meta_halo_begin(never, grid, exchange, result)
        call refused(META_ERR_HANDLE, 'meta_halo_begin', 'plan')
        call meta_halo_begin(plan, unset, exchange, result)
        call refused(META_ERR_POINTER, 'meta_halo_begin', 'fields')
        call meta_halo_end(no_exchange, stat=result)
        call refused(META_ERR_HANDLE, 'meta_halo_end', 'exchange')
        call meta_halo_exchange(plan_that_was, grid, stat=result)
        call refused(META_ERR_HANDLE, 'meta_halo_exchange', 'plan')
        call meta_halo_exchange(plan, [grid, other], stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_halo_exchange', 'fields')
        call meta_halo_overlap(never, grid, work, work, with, stat=result)
        call refused(META_ERR_HANDLE, 'meta_halo_overlap', 'plan')
        call meta_halo_overlap(plan, unset, work, work, with, stat=result)
        call refused(META_ERR_POINTER, 'meta_halo_overlap', 'fields')
        call check(with == 0, 'no work was called')
        call meta_halo_free(plan_that_was, result)
        call refused(META_ERR_HANDLE, 'meta_halo_free', 'plan')
        call meta_halo_free(never, result)
        call refused(META_ERR_HANDLE, 'meta_halo_free', 'plan')
    end subroutine

    subroutine blocks()
        type(meta_cuts) :: found, wrong
        integer(c_int64_t) :: first(3), cells(3)
        real(c_double) :: speed, no_speed(3)
        real(c_double), target :: with
        call promise('arguments_of_blocks_are_checked')
        no_speed = [0.0_c_double, -1.0_c_double, -huge(speed)]
        wrong = cuts
        wrong%dimension(1)%at(0) = 2
        do k = 1, size(no_numbers)
            call meta_cuts_block(cuts, cart, no_numbers(k), first, cells, result)
            call refused(META_ERR_ARGUMENT, 'meta_cuts_block', 'rank')
            if (no_numbers(k) > 0) cycle
            call meta_measure_speed(cart, speed_work, with, 1_c_int64_t, no_numbers(k), speed, result)
            call refused(META_ERR_ARGUMENT, 'meta_measure_speed', 'times')
            call meta_measure_speed(cart, speed_work, with, int(no_numbers(k), c_int64_t), 1, &
                speed, result)
            call refused(META_ERR_ARGUMENT, 'meta_measure_speed', 'cells')
            call meta_decompose(found, cart, [no_numbers(k), 4, 4], 1.0_c_double, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_decompose', 'cells')
            call meta_decompose(found, cart, [16, 16, 16], 1.0_c_double, stat=result, &
                most=int(no_numbers(k), c_int64_t))
            call refused(META_ERR_ARGUMENT, 'meta_decompose', 'most')
            call meta_decompose(found, cart, [16, 16, 16], 1.0_c_double, stat=result, &
                least=[1_c_int64_t, int(no_numbers(k), c_int64_t), 1_c_int64_t])
            call refused(META_ERR_ARGUMENT, 'meta_decompose', 'least')
        end do
        do k = 1, size(no_speed)
            call meta_decompose(found, cart, [16, 16, 16], no_speed(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_decompose', 'speed')
            call meta_rebalance(found, cuts, cart, whole(), no_speed(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_rebalance', 'seconds')
            call meta_balance(found, cuts, cart, whole(), no_speed(k), 1.0_c_double, stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_balance', 'computing')
            call meta_balance(found, cuts, cart, whole(), 1.0_c_double, no_speed(k), stat=result)
            call refused(META_ERR_ARGUMENT, 'meta_balance', 'step')
        end do
        call meta_cuts_block(wrong, cart, rank, first, cells, result)
        call refused(META_ERR_ARGUMENT, 'meta_cuts_block', 'cuts')
        call meta_cuts_block(cuts, test_world(), rank, first, cells, result)
        call refused(META_ERR_ARGUMENT, 'meta_cuts_block', 'cart')
        call meta_decompose(found, test_world(), [16, 16, 16], 1.0_c_double, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_decompose', 'cart')
        call meta_decompose(found, cart, [16, 16], 1.0_c_double, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_decompose', 'cells')
        call meta_rebalance(found, wrong, cart, whole(), 1.0_c_double, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_rebalance', 'now')
        call meta_rebalance(found, cuts, test_world(), whole(), 1.0_c_double, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_rebalance', 'cart')
        call meta_rebalance(found, cuts, cart, whole() + 1, 1.0_c_double, stat=result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_rebalance: ')
        call meta_balance(found, wrong, cart, whole(), 1.0_c_double, 1.0_c_double, stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_balance', 'now')
        call meta_balance(found, cuts, test_world(), whole(), 1.0_c_double, 1.0_c_double, &
            stat=result)
        call refused(META_ERR_ARGUMENT, 'meta_balance', 'cart')
        call meta_balance(found, cuts, cart, whole() + 1, 1.0_c_double, 1.0_c_double, stat=result)
        call check_err(result, META_ERR_ARGUMENT, 'meta_balance: ')
        call meta_redistribute(cart, cuts, cuts, [unset], [own], [other], [own], result)
        call refused(META_ERR_POINTER, 'meta_redistribute', 'from')
        call meta_redistribute(cart, cuts, cuts, [grid], [own], [freed], [own], result)
        call refused(META_ERR_POINTER, 'meta_redistribute', 'to')
        call meta_redistribute(cart, cuts, cuts, [grid], [own], [grid], [own], result)
        call check_err(result, META_ERR_OVERLAP, 'meta_redistribute: ')
        call meta_redistribute(cart, cuts, cuts, [grid], [outside], [other], [own], result)
        call refused(META_ERR_BOUNDS, 'meta_redistribute', 'from_box')
        call meta_redistribute(cart, cuts, cuts, [grid], [own], [other], [none], result)
        call refused(META_ERR_ARGUMENT, 'meta_redistribute', 'to_box')
        call meta_redistribute(test_world(), cuts, cuts, [grid], [own], [other], [own], result)
        call refused(META_ERR_ARGUMENT, 'meta_redistribute', 'cart')
        call meta_redistribute(cart, wrong, cuts, [grid], [own], [other], [own], result)
        call refused(META_ERR_ARGUMENT, 'meta_redistribute', 'before')
        call meta_redistribute(cart, cuts, wrong, [grid], [own], [other], [own], result)
        call refused(META_ERR_ARGUMENT, 'meta_redistribute', 'after')
    end subroutine

    ! The extents of the global grid.
    function whole() result(extents)
        integer :: extents(3), d
        do d = 1, 3
            extents(d) = int(cuts%dimension(d)%at(ubound(cuts%dimension(d)%at, 1))) - 1
        end do
    end function

    subroutine life()
        call promise('a_job_is_joined_once')
        call meta_comm_init(result)
        call check_err(result, META_ERR_STATE, 'meta_comm_init: ')
        call meta_comm_attach(test_world(), result)
        call check_err(result, META_ERR_STATE, 'meta_comm_attach: ')
    end subroutine

    subroutine it_goes_on()
        real(c_double) :: x
        call promise('messages_and_exchanges_go_on')
        call meta_halo_exchange(plan, grid, stat=result)
        call check_ok(result, 'meta_halo_exchange')
        x = meta_sum(grid, meta_range(0 * n, n + 1))
        call check(x >= product(n), 'the grid')
        x = 1
        call meta_allreduce(x, META_OP_SUM)
        call check(x == ranks, 'a sum')
        call meta_halo_free(plan)
        call meta_free(grid)
        call meta_free(other)
        call test_cart_free(cart)
    end subroutine
end module comm_argument_cases

program test_fortran_comm_arguments
    use comm_argument_cases
    implicit none
    integer :: stat
    call meta_comm_init(stat)
    call tests_begin(stat)
    call meta_comm_rank(rank, ranks)
    rank_of_test = rank
    call promise('what_is_misused_can_be_made')
    call make_things()
    call messages()
    call plans()
    call blocks()
    call life()
    call it_goes_on()
    call meta_free(packed)
    call meta_comm_finalize(stat)
    call check_ok(stat, 'meta_comm_finalize')
    call meta_packed_send(0, packed, 1_c_int64_t, 1, stat=result)
    call check(result /= META_OK, 'a send without a job')
    call tests_end()
end program test_fortran_comm_arguments
