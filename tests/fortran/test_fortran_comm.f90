! SPDX-License-Identifier: BSD-3-Clause
! Ranks: messages, reductions, halo exchange with overlap, decomposition and redistribution, each
! compared with values computed from the global index of a cell.
! TEST: backends=openmp,opencl np=1,2,3 mixed=yes labels=fortran,comm
module comm_cases
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    integer :: rank, ranks

    ! What the procedures of an overlapped exchange work on.
    type :: problem
        type(meta_buffer) :: in, out
        integer :: interiors = 0
        integer(c_int64_t) :: cells = 0
        integer :: answer = META_OK
    end type

    interface
        function test_world() bind(c) result(world)
            import
            integer(c_int) :: world
        end function
    end interface

contains

    subroutine work_interior(box, with, stat)
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        select type (with)
        type is (problem)
            with%interiors = with%interiors + 1
        end select
        call work_boundary(box, with, stat)
    end subroutine

    subroutine work_boundary(box, with, stat)
        type(meta_box), intent(in) :: box
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        stat = META_ERR_UNSUPPORTED
        select type (with)
        type is (problem)
            with%cells = with%cells + product(box%upper(1:3) - box%lower(1:3) + 1)
            call meta_stencil(with%out, with%in, box, META_3D7P, META_ASYNC, stat)
            if (with%answer /= META_OK) stat = with%answer
        end select
    end subroutine

    subroutine fill_work(with, stat)
        class(*), intent(inout) :: with
        integer, intent(out) :: stat
        stat = META_ERR_UNSUPPORTED
        select type (with)
        type is (problem)
            call meta_fill(with%out, 1.0_c_double, META_ASYNC, stat)
            with%interiors = with%interiors + 1
        end select
    end subroutine

    subroutine ring_of_messages()
        integer(c_int32_t) :: a(3, 5), line(15)
        type(meta_buffer) :: grid, out, in
        type(meta_face) :: face
        type(meta_event) :: sent
        integer :: left, right, k, stat
        call promise('messages_go_round_a_ring')
        left = modulo(rank - 1, ranks)
        right = modulo(rank + 1, ranks)
        call meta_alloc(out, line)
        call meta_alloc(in, line)
        line = [(100 * rank + k, k=1, 15)]
        call meta_copy_h2d(out, line)
        call meta_packed_send(right, out, 15_c_int64_t, 7, sent)
        call meta_packed_recv(left, in, 15_c_int64_t, 7)
        call meta_event_wait(sent)
        call meta_event_free(sent)
        call meta_copy_d2h(line, in)
        call check(all(line == [(100 * left + k, k=1, 15)]), 'what came')

        call promise('faces_are_sent_and_received')
        a = rank
        call meta_alloc(grid, a, meta_range([0, 0], [2, 4]))
        call meta_copy_h2d(grid, a)
        call meta_face_box(face, grid, meta_range([0, 4], [2, 4]))
        call meta_pack_send(right, face, grid, out, 8, META_ASYNC)
        call meta_face_box(face, grid, meta_range([0, 0], [2, 0]))
        call meta_recv_unpack(left, face, grid, in, 8)
        call meta_copy_d2h(a, grid)
        call check(all(a(:, 1) == left) .and. all(a(:, 2:) == rank), 'the received column')
        call meta_flush()

        call promise('messages_that_do_not_fit_are_errors')
        call meta_packed_send(right, out, 15_c_int64_t, 9, META_ASYNC)
        call meta_packed_recv(left, in, 14_c_int64_t, 9, stat=stat)
        call check_err(stat, META_ERR_MISMATCH, '15')
        call meta_packed_send(ranks, out, 15_c_int64_t, 9, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'dst'")
        call meta_packed_send(right, out, 16_c_int64_t, 9, stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'packed'")
        call meta_flush()
    end subroutine

    subroutine reductions()
        real(c_double) :: x, y, a(2, 3), b(2, 3)
        real(c_double), allocatable :: none(:, :), no_scalar
        integer(c_int64_t) :: n
        type(meta_buffer) :: d, e
        integer :: stat
        call promise('all_ranks_reduce_scalars_arrays_and_buffers')
        x = rank + 1
        call meta_allreduce(y, META_OP_SUM, x)
        call check(y == ranks * (ranks + 1) / 2, 'a sum')
        call meta_allreduce(x, META_MAX)
        call check(x == ranks, 'a maximum in place')
        n = -rank
        call meta_allreduce(n, META_MIN)
        call check_int(n, int(1 - ranks, c_int64_t), 'a minimum of integers')
        a = rank
        call meta_allreduce(b, META_OP_SUM, a)
        call check(all(b == ranks * (ranks - 1) / 2), 'an array')
        call meta_alloc(d, a)
        call meta_copy_h2d(d, a)
        call meta_allreduce(d, META_MAX)
        call meta_copy_d2h(a, d)
        call check(all(a == ranks - 1), 'a buffer')
        call meta_allreduce(a(1:1, :), META_MAX, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'recv' is not contiguous")
        call meta_allreduce(none, META_MAX, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'recv' is not allocated")
        call meta_allreduce(b, META_MAX, a(1:1, :), stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'send' is not contiguous")
        call meta_allreduce(b, META_MAX, b(:, 1:2), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'recv' and 'send' differ in extents")
        call meta_allreduce(no_scalar, META_MAX, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'recv' is not allocated")
        call meta_allreduce(d, META_MAX, e, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'send' is not allocated")
        call meta_alloc(e, META_F64, meta_range([6]))
        call meta_allreduce(d, META_MAX, e, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'recv' and 'send' differ in rank")
        call meta_free(e)
        call meta_alloc(e, META_I8, meta_range([6]))
        call meta_allreduce(e, META_MAX, stat=stat)
        call check_err(stat, META_ERR_TYPE, "'recv' is of META_I8, which is moved but not")
    end subroutine

    ! The value of a global cell; indices from 0 on, round the periodic grid.
    pure function cell(i, j, k, n, parts) result(value)
        integer, intent(in) :: i, j, k, n(3), parts(3)
        real(c_double) :: value
        value = modulo(i, n(1) * parts(1)) + 100 * modulo(j, n(2) * parts(2)) + &
            10000 * modulo(k, n(3) * parts(3))
    end function

    ! A block of n cells a rank with a ghost cell around it; own cells hold their cell().
    subroutine make_block(cart, n, a, grid, first, parts)
        integer, intent(in) :: cart, n(3)
        real(c_double), intent(out) :: a(0:, 0:, 0:)
        type(meta_buffer), intent(out) :: grid
        integer, intent(out) :: first(3), parts(3)
        integer :: coords(3), low(3), high(3), i, j, k
        call test_cart_place(cart, 3, parts, coords, low, high)
        first = coords * n
        a = -1
        do k = 1, n(3)
            do j = 1, n(2)
                do i = 1, n(1)
                    a(i, j, k) = cell(first(1) + i - 1, first(2) + j - 1, first(3) + k - 1, n, &
                        parts)
                end do
            end do
        end do
        call meta_grid_alloc(grid, META_F64, n, [1, 1, 1], [1, 1, 1])
        call meta_copy_h2d(grid, a)
    end subroutine

    subroutine check_ghosts(a, n, first, parts)
        real(c_double), intent(in) :: a(0:, 0:, 0:)
        integer, intent(in) :: n(3), first(3), parts(3)
        integer :: i, j, k, wrong
        wrong = 0
        do k = 0, n(3) + 1
            do j = 0, n(2) + 1
                do i = 0, n(1) + 1
                    if (a(i, j, k) /= cell(first(1) + i - 1, first(2) + j - 1, first(3) + k - 1, &
                        n, parts)) wrong = wrong + 1
                end do
            end do
        end do
        call check_int(int(wrong, c_int64_t), 0_c_int64_t, 'wrong cells')
    end subroutine

    subroutine halo_exchange()
        integer, parameter :: n(3) = [5, 4, 3]
        real(c_double) :: a(0:6, 0:5, 0:4)
        type(meta_buffer) :: grid, second
        type(meta_halo) :: plan
        type(meta_traffic) :: traffic
        integer :: cart, first(3), parts(3), stat
        call promise('ghosts_hold_the_neighbours_cells')
        cart = test_cart_new(3, [1, 1, 1])
        call make_block(cart, n, a, grid, first, parts)
        call meta_halo_create(plan, cart, grid, meta_range(n), [1, 1, 1], [1, 1, 1], META_HALO_ALL)
        call meta_halo_exchange(plan, grid)
        call meta_copy_d2h(a, grid)
        call check_ghosts(a, n, first, parts)
        call meta_comm_traffic(traffic)
        call check(sum(traffic%messages_sent) > 0, 'messages are counted')
        call check(meta_path_name(META_PATH_SHARED) == 'shared', 'the name of a path')
        call meta_halo_start(plan, grid)
        call meta_halo_start(plan, grid, stat)
        call check_err(stat, META_ERR_STATE, 'meta_halo_start')
        call meta_halo_finish(plan)
        call meta_halo_finish(plan, stat=stat)
        call check_err(stat, META_ERR_STATE, 'meta_halo_finish')
        call meta_halo_free(plan)
        call meta_halo_free(plan, stat)
        call check_err(stat, META_ERR_HANDLE, 'meta_halo_free')

        call promise('several_arrays_travel_together')
        call make_block(cart, n, a, second, first, parts)
        call make_block(cart, n, a, grid, first, parts)
        call meta_halo_create(plan, cart, [grid, second], meta_range(n), [1, 1, 1], [1, 1, 1], &
            META_HALO_ALL)
        call meta_halo_exchange(plan, [grid, second], META_ASYNC)
        call meta_copy_d2h(a, grid)
        call check_ghosts(a, n, first, parts)
        call meta_copy_d2h(a, second)
        call check_ghosts(a, n, first, parts)
        call meta_halo_free(plan)

        call promise('ghosts_are_added_to_the_neighbours')
        call meta_fill(grid, 1.0_c_double)
        call meta_halo_create(plan, cart, grid, meta_range(n), [1, 1, 1], [1, 1, 1], &
            op=META_HALO_ADD)
        call meta_halo_exchange(plan, grid)
        call check(meta_sum(grid, meta_range(n)) == product(n) + &
            2 * (n(1) * n(2) + n(2) * n(3) + n(1) * n(3)), 'the sum')
        call meta_halo_free(plan)
        call test_cart_free(cart)
    end subroutine

    subroutine bad_plans()
        type(meta_buffer) :: grid
        type(meta_halo) :: plan
        type(meta_box) :: box
        integer :: cart, stat
        call promise('a_plan_that_cannot_be_is_an_error_on_all_ranks')
        cart = test_cart_new(3, [1, 1, 1])
        call meta_grid_alloc(grid, META_F64, [4, 4, 4], [1, 1, 1], [1, 1, 1])
        box = meta_range([4, 4, 4])
        if (rank == 0) box = meta_range([0, 1, 1], [6, 4, 4])
        call meta_halo_create(plan, cart, grid, box, [1, 1, 1], [1, 1, 1], stat=stat)
        if (rank == 0) then
            call check_err(stat, META_ERR_BOUNDS, "argument 'box', dimension 1: 0:6 leaves")
        else
            call check_err(stat, META_ERR_BOUNDS, &
                "rank 0: meta_halo_create: argument 'box', dimension 1: 0:6 leaves")
        end if
        call meta_halo_create(plan, cart, grid, meta_range([4, 4, 4]), [1, 1], [1, 1, 1], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'low' or 'high'")
        call meta_halo_create(plan, test_world(), grid, meta_range([4, 4, 4]), [1, 1, 1], &
            [1, 1, 1], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, 'meta_halo_create')
        call test_cart_free(cart)
    end subroutine

    ! Buffers that are not those of the plan, one kind of difference each.
    subroutine unlike_buffers()
        type(meta_buffer) :: grid, second, other, wider, flat, none
        type(meta_halo) :: plan
        type(problem), target :: it
        integer :: cart, stat
        call promise('a_plan_is_for_buffers_like_those_it_was_made_with')
        cart = test_cart_new(3, [1, 1, 1])
        call meta_grid_alloc(grid, META_F64, [4, 4, 4], [1, 1, 1], [1, 1, 1])
        call meta_grid_alloc(second, META_F64, [4, 4, 4], [1, 1, 1], [1, 1, 1])
        call meta_grid_alloc(other, META_I64, [4, 4, 4], [1, 1, 1], [1, 1, 1], label='numbers')
        call meta_grid_alloc(wider, META_F64, [4, 4, 4], [2, 1, 1], [1, 1, 1])
        call meta_alloc(flat, META_F64, meta_range([216]))
        call meta_fill(grid, 1.0_c_double)
        call meta_fill(second, 1.0_c_double)
        call meta_halo_exchange(plan, grid, stat=stat)
        call check_err(stat, META_ERR_HANDLE, "meta_halo_exchange: argument 'plan'")
        call meta_halo_create(plan, cart, [grid, second], meta_range([4, 4, 4]), [1, 1, 1], &
            [1, 1, 1])
        call meta_halo_exchange(plan, grid, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'fields' has 1 buffers, the plan 2")
        call meta_halo_start(plan, [grid, other], stat)
        call check_err(stat, META_ERR_TYPE, &
            "'fields(2)' is of META_I64, the plan of META_F64 (""numbers"")")
        call meta_halo_exchange(plan, [grid, wider], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'fields(2)' has not the bounds")
        call meta_halo_exchange(plan, [flat, grid], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'fields(1)' has rank 1, the plan 3")
        call meta_halo_overlap(plan, [grid, none], work_interior, work_boundary, it, stat=stat)
        call check_err(stat, META_ERR_POINTER, &
            "meta_halo_overlap: argument 'fields(2)' is not allocated")
        call meta_halo_exchange(plan, [grid, grid], stat=stat)
        call check_err(stat, META_ERR_OVERLAP, "'fields(1)' and 'fields(2)'")
        call meta_halo_exchange(plan, [grid, second], stat=stat)
        call check_ok(stat, 'the right ones')
        call meta_halo_free(plan)
        call meta_halo_create(plan, cart, grid, meta_range([4, 4, 4]), [1, 2, 1], [1, 1, 1], &
            stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'low' and 'high', dimension 2: 2 and 1 ghosts")
        call meta_halo_create(plan, cart, [grid, second], [meta_range([4, 4, 4])], [1, 1, 1], &
            [1, 1, 1], stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'fields' and 'box' differ in size")
        call meta_halo_create(plan, cart, [grid, other], [meta_range([4, 4, 4]), &
            meta_range([2, 4, 4])], [1, 1, 1], [1, 1, 1], stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'box(2)', dimension 1")
        call test_cart_free(cart)
    end subroutine

    subroutine overlap()
        integer, parameter :: n(3) = [6, 5, 4]
        real(c_double) :: a(0:7, 0:6, 0:5), b(0:7, 0:6, 0:5)
        type(problem), target :: it
        type(meta_halo) :: plan
        integer :: cart, first(3), parts(3), stat
        call promise('a_stencil_beside_the_exchange_is_that_after_it')
        cart = test_cart_new(3, [1, 1, 1])
        call make_block(cart, n, a, it%in, first, parts)
        call make_block(cart, n, b, it%out, first, parts)
        call meta_halo_create(plan, cart, it%in, meta_range(n), [1, 1, 1], [1, 1, 1])
        call meta_halo_overlap(plan, it%in, work_interior, work_boundary, it, META_ASYNC)
        call meta_copy_d2h(a, it%out)
        call check(it%interiors == 1, 'one interior')
        call check_int(it%cells, int(product(n), c_int64_t), 'cells that were worked on')
        call meta_stencil(it%out, it%in, meta_range(n), META_3D7P)
        call meta_copy_d2h(b, it%out)
        call check(all(a(1:6, 1:5, 1:4) == b(1:6, 1:5, 1:4)), 'the same bits')

        call promise('an_error_of_the_work_is_returned')
        it%answer = META_ERR_DEVICE
        call meta_halo_overlap(plan, it%in, work_interior, work_boundary, it, stat=stat)
        call check(stat == META_ERR_DEVICE, 'the work''s own error')
        call meta_halo_free(plan)
        call test_cart_free(cart)
    end subroutine

    subroutine cutting()
        integer, parameter :: n(3) = [17, 12, 9]
        type(meta_cuts) :: even, skewed, empty
        type(meta_buffer) :: from(1), to(1)
        type(meta_box) :: box, moved, wrong
        type(problem), target :: it
        integer(c_int64_t) :: cells(3), start(3), there(3), total
        real(c_double) :: seconds, speed, before, after, mine, gain
        real(c_double), allocatable :: a(:, :, :)
        integer :: cart, i, j, k, d, stat
        call promise('a_grid_is_cut_by_the_ranks_speeds')
        cart = test_cart_new(3, [0, 0, 0])
        call meta_decompose(even, cart, n, 1.0_c_double, seconds=seconds)
        call meta_cuts_block(even, cart, rank, start, cells)
        total = product(cells)
        call meta_allreduce(total, META_OP_SUM)
        call check_int(total, int(product(n), c_int64_t), 'cells of all blocks')
        do d = 1, 3
            call check(even%dimension(d)%at(0) == 1, 'planes begin at 1')
            call check(even%dimension(d)%at(ubound(even%dimension(d)%at, 1)) == n(d) + 1, 'the end')
        end do
        call meta_decompose(skewed, cart, n, 1.0_c_double + 3 * rank, least=[2_c_int64_t, &
            2_c_int64_t, 2_c_int64_t], seconds=after)
        call check(after <= seconds .or. ranks == 1, 'faster ranks make it faster')
        call meta_cuts_block(empty, cart, rank, start, cells, stat)
        call check_err(stat, META_ERR_ARGUMENT, "argument 'cuts' has not")
        call meta_decompose(even, test_world(), n, 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_ARGUMENT, "'cart' is no Cartesian communicator")

        call promise('cells_are_moved_to_where_they_belong')
        call meta_cuts_block(even, cart, rank, start, cells)
        call meta_cuts_block(skewed, cart, rank, there, cells)
        call meta_cuts_block(even, cart, rank, start, cells)
        allocate (a(cells(1), cells(2), cells(3)))
        do k = 1, int(cells(3))
            do j = 1, int(cells(2))
                do i = 1, int(cells(1))
                    a(i, j, k) = start(1) + i - 1 + 100 * (start(2) + j - 1) + &
                        10000 * (start(3) + k - 1)
                end do
            end do
        end do
        box = meta_range(start, start + cells - 1)
        call meta_alloc(from(1), a, box)
        call meta_copy_h2d(from(1), a)
        call meta_cuts_block(skewed, cart, rank, there, cells)
        moved = meta_range(there, there + cells - 1)
        call meta_alloc(to(1), META_F64, moved)
        call meta_redistribute(cart, even, skewed, from, [box], to, [moved])
        wrong = box
        if (rank == 0) wrong%upper(1) = box%upper(1) + 1
        call meta_redistribute(cart, even, skewed, from, [wrong], to, [moved], stat)
        if (rank == 0) then
            call check_err(stat, META_ERR_BOUNDS, "argument 'from_box', dimension 1")
        else
            call check_err(stat, META_ERR_BOUNDS, "rank 0: meta_redistribute: argument " // &
                "'from_box', dimension 1")
        end if
        deallocate (a)
        allocate (a(there(1):moved%upper(1), there(2):moved%upper(2), there(3):moved%upper(3)))
        call meta_copy_d2h(a, to(1))
        total = 0
        do k = lbound(a, 3), ubound(a, 3)
            do j = lbound(a, 2), ubound(a, 2)
                do i = lbound(a, 1), ubound(a, 1)
                    if (a(i, j, k) /= i + 100 * j + 10000 * k) total = total + 1
                end do
            end do
        end do
        call check_int(total, 0_c_int64_t, 'wrong cells')

        call promise('cuts_are_made_anew_by_the_time_a_step_took')
        call meta_rebalance(empty, even, cart, n, 1.0_c_double + rank, before=before, after=after)
        call check(before == ranks, 'the slowest rank')
        call check(after <= before, 'no worse')
        skewed = even
        if (rank == 0) deallocate (skewed%dimension(1)%at)
        call meta_rebalance(empty, skewed, cart, n, 1.0_c_double, stat=stat)
        if (rank == 0) then
            call check_err(stat, META_ERR_ARGUMENT, "argument 'now' has not")
        else
            call check_err(stat, META_ERR_ARGUMENT, "rank 0: meta_rebalance: argument 'now' has not")
        end if
        call meta_cuts_block(empty, cart, rank, start, cells)
        call check(all(cells >= 1), 'a block')
        skewed = even
        skewed%dimension(2)%at = skewed%dimension(2)%at - 1
        call meta_cuts_block(skewed, cart, rank, start, cells, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'cuts%dimension(2)%at' begins at plane 0")
        skewed = even
        skewed%dimension(1)%at(1) = 0
        call meta_cuts_block(skewed, cart, rank, start, cells, stat)
        call check_err(stat, META_ERR_ARGUMENT, "'cuts%dimension(1)%at' falls from 1 to 0")
        call meta_cuts_block(even, cart, ranks, start, cells, stat)
        call check_err(stat, META_ERR_ARGUMENT, "meta_cuts_block: argument 'rank'")

        call promise('cuts_are_found_by_trial')
        skewed = even
        gain = 1
        do k = 1, 30
            if (gain <= 0) exit
            call meta_cuts_block(skewed, cart, rank, start, cells)
            mine = (1.0_c_double + rank) * product(cells)
            seconds = mine
            call meta_allreduce(seconds, META_MAX)
            if (k == 1) before = seconds
            after = seconds
            call meta_balance(empty, skewed, cart, n, mine, seconds + 1, gain=gain)
            skewed = empty
        end do
        call check(gain == 0, 'it comes to an end')
        call check(after < before .or. ranks == 1, 'faster than even blocks')
        call meta_balance(empty, skewed, cart, int(n, c_int64_t), 1.0_c_double, 2.0_c_double, &
            least=[1_c_int64_t, 1_c_int64_t, 1_c_int64_t], most=int(product(n), c_int64_t))
        skewed = even
        if (rank == 0) deallocate (skewed%dimension(1)%at)
        call meta_balance(empty, skewed, cart, n, 1.0_c_double, 1.0_c_double, stat=stat)
        if (rank == 0) then
            call check_err(stat, META_ERR_ARGUMENT, "argument 'now' has not")
        else
            call check_err(stat, META_ERR_ARGUMENT, "rank 0: meta_balance: argument 'now' has not")
        end if

        call promise('a_kernels_speed_is_measured')
        call meta_alloc(it%out, META_F64, meta_range([1000]))
        call meta_measure_speed(test_world(), fill_work, it, 1000_c_int64_t, 3, speed)
        call check(speed > 0 .and. it%interiors > 3, 'a speed')
        call test_cart_free(cart)
    end subroutine
end module comm_cases

program test_fortran_comm
    use comm_cases
    implicit none
    integer :: stat
    call meta_comm_init(stat)
    call tests_begin(stat)
    call meta_comm_rank(rank, ranks)
    rank_of_test = rank
    call ring_of_messages()
    call reductions()
    call halo_exchange()
    call bad_plans()
    call unlike_buffers()
    call overlap()
    call cutting()
    call promise('attaching_twice_is_an_error')
    call meta_comm_attach(test_world(), stat)
    call check_err(stat, META_ERR_STATE, 'meta_comm_attach')
    call meta_comm_finalize(stat)
    call check_ok(stat, 'meta_comm_finalize')
    call promise('a_second_finalize_is_an_error')
    call meta_comm_finalize(stat)
    call check_err(stat, META_ERR_INIT, 'meta_comm_finalize')
    call tests_end()
end program test_fortran_comm
