! SPDX-License-Identifier: BSD-3-Clause
! Plans of one and two dimensions, with ghosts of any width, periodic or not, for arrays of several
! types of which one is staggered: every element is compared with its global index.
! TEST: backends=none auto=yes np=2 labels=fortran,comm
! TEST: backends=openmp,opencl np=1,2,3 mixed=yes labels=fortran,comm
module halo_cases
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    integer :: rank, ranks

    ! One exchange in two dimensions, as this rank sees it.
    type :: situation
        integer :: n(2), low(2), high(2), kind, first(2), all(2)
        logical :: has_low(2), has_high(2), periodic(2)
    end type

contains

    subroutine random_situation(s, cart)
        type(situation), intent(out) :: s
        integer, intent(out) :: cart
        integer :: parts(2), coords(2), lows(2), highs(2), flags(2), d
        do d = 1, 2
            s%n(d) = random_in(3, 6)
            s%low(d) = random_in(0, 2)
            s%high(d) = random_in(0, 2)
            flags(d) = random_in(0, 1)
        end do
        s%kind = META_HALO_FACES
        if (random_in(0, 1) == 1) s%kind = META_HALO_ALL
        cart = test_cart_new(2, flags)
        call test_cart_place(cart, 2, parts, coords, lows, highs)
        s%periodic = flags == 1
        s%has_low = lows >= 0 ! no neighbour is a negative rank
        s%has_high = highs >= 0
        s%first = coords * s%n
        s%all = parts * s%n
    end subroutine

    ! What the element of global indices from 0 on holds.
    integer function global_value(s, i, j) result(value)
        type(situation), intent(in) :: s
        integer, intent(in) :: i, j
        integer :: x, y
        x = i
        y = j
        if (s%periodic(1)) x = modulo(x, s%all(1))
        if (s%periodic(2)) y = modulo(y, s%all(2))
        value = x + 100 * y
    end function

    ! The same of an array with `more` own elements than cells along x; -1: nothing came there.
    integer function expected(s, more, i, j) result(value)
        type(situation), intent(in) :: s
        integer, intent(in) :: more, i, j
        logical :: ghost(2), comes(2)
        integer :: at(2), last(2), d
        at = [i, j]
        last = s%n + [more, 0]
        do d = 1, 2
            ghost(d) = at(d) < 1 .or. at(d) > last(d)
            comes(d) = .not. ghost(d) .or. (at(d) < 1 .and. s%has_low(d)) .or. &
                (at(d) > last(d) .and. s%has_high(d))
        end do
        value = -1
        if (.not. all(comes)) return
        if (all(ghost) .and. s%kind == META_HALO_FACES) return
        value = global_value(s, s%first(1) + i - 1, s%first(2) + j - 1)
    end function

    subroutine fill_own(a, s, more)
        type(situation), intent(in) :: s
        integer(c_int32_t), intent(inout) :: a(1 - s%low(1):, 1 - s%low(2):)
        integer, intent(in) :: more
        integer :: i, j
        a = -1
        do j = 1, s%n(2)
            do i = 1, s%n(1) + more
                a(i, j) = global_value(s, s%first(1) + i - 1, s%first(2) + j - 1)
            end do
        end do
    end subroutine

    subroutine check_all(a, s, more, text)
        type(situation), intent(in) :: s
        integer(c_int32_t), intent(in) :: a(1 - s%low(1):, 1 - s%low(2):)
        integer, intent(in) :: more
        character(len=*), intent(in) :: text
        character(len=80) :: found
        integer :: i, j
        found = ''
        search: do j = lbound(a, 2), ubound(a, 2)
            do i = lbound(a, 1), ubound(a, 1)
                if (a(i, j) == expected(s, more, i, j)) cycle
                write (found, '(a,2(1x,i0),2(a,i0))') ' element', i, j, ' is ', a(i, j), &
                    ', expected ', expected(s, more, i, j)
                exit search
            end do
        end do search
        call check(found == '', text // trim(found))
    end subroutine

    subroutine two_dimensions()
        integer(c_int32_t), allocatable :: a(:, :), b(:, :)
        type(meta_buffer) :: fields(2)
        type(meta_box) :: own(2)
        type(meta_halo) :: plan
        type(meta_event) :: done
        type(situation) :: s
        integer :: k, cart
        call promise('every_element_is_as_its_global_index_says')
        do k = 1, 12
            call random_situation(s, cart)
            allocate (a(1 - s%low(1):s%n(1) + s%high(1), 1 - s%low(2):s%n(2) + s%high(2)))
            allocate (b(1 - s%low(1):s%n(1) + 1 + s%high(1), 1 - s%low(2):s%n(2) + s%high(2)))
            call fill_own(a, s, 0)
            call fill_own(b, s, 1)
            if (mod(k, 2) == 0) then
                call meta_grid_family(fields, [meta_grid_field('cells', META_I32), &
                    meta_grid_field('nodes', META_F32, [1, 0])], s%n, s%low, s%high)
            else
                call meta_alloc(fields(1), a, meta_range(lbound(a), ubound(a)), label='cells')
                call meta_alloc(fields(2), META_F32, meta_range(lbound(b), ubound(b)), label='nodes')
            end if
            call meta_copy_h2d(fields(1), a)
            call meta_copy_h2d(fields(2), real(b, c_float))
            own = [meta_range(s%n), meta_range(s%n + [1, 0])]
            call meta_halo_create(plan, cart, fields, own, s%low, s%high, s%kind)
            call meta_halo_start(plan, fields)
            call meta_halo_finish(plan, done)
            call meta_event_wait(done)
            call meta_event_free(done)
            call meta_copy_d2h(a, fields(1))
            call check_all(a, s, 0, 'the cells:')
            call nodes(fields(2), b)
            call check_all(b, s, 1, 'the nodes:')
            call meta_halo_free(plan)
            call meta_free(fields(1))
            call meta_free(fields(2))
            call test_cart_free(cart)
            deallocate (a, b)
        end do
    end subroutine

    subroutine nodes(buffer, b)
        type(meta_buffer), intent(in) :: buffer
        integer(c_int32_t), intent(inout) :: b(:, :)
        real(c_float) :: found(size(b, 1), size(b, 2))
        call meta_copy_d2h(found, buffer)
        b = nint(found)
    end subroutine

    ! Three species of cells, behind the dimensions of the communicator, beside an array without
    ! any, and before them.
    subroutine batches()
        integer, parameter :: species = 3
        integer(c_int32_t), allocatable :: one(:, :), last(:, :, :), first(:, :, :)
        type(meta_buffer) :: fields(2), front
        type(meta_box) :: own(2)
        type(meta_halo) :: plan
        type(situation) :: s
        integer :: k, i, cart, stat
        call promise('a_batch_travels_with_every_cell')
        do k = 1, 8
            call random_situation(s, cart)
            allocate (one(1 - s%low(1):s%n(1) + s%high(1), 1 - s%low(2):s%n(2) + s%high(2)))
            allocate (last(size(one, 1), size(one, 2), species))
            allocate (first(species, size(one, 1), size(one, 2)))
            call fill_own(one, s, 0)
            do i = 1, species
                last(:, :, i) = one + 10000 * i
                first(i, :, :) = one + 10000 * i
            end do
            call meta_alloc(fields(1), last, &
                meta_range([lbound(one), 1], [ubound(one), species]), label='last')
            call meta_alloc(fields(2), one, meta_range(lbound(one), ubound(one)), label='none')
            call meta_alloc(front, first, &
                meta_range([1, lbound(one)], [species, ubound(one)]), label='first')
            call meta_copy_h2d(fields(1), last)
            call meta_copy_h2d(fields(2), one)
            call meta_copy_h2d(front, first)
            own = [meta_range([s%n, species]), meta_range(s%n)]
            call meta_halo_create(plan, cart, fields, own, [s%low, 0], [s%high, 0], s%kind)
            call meta_halo_exchange(plan, fields)
            call meta_halo_free(plan)
            call meta_halo_create(plan, cart, front, meta_range([species, s%n]), [0, s%low], &
                [0, s%high], s%kind, batch=[1])
            call meta_halo_exchange(plan, front)
            call meta_halo_free(plan)
            call meta_copy_d2h(last, fields(1))
            call meta_copy_d2h(one, fields(2))
            call meta_copy_d2h(first, front)
            call check_all(one, s, 0, 'without:')
            do i = 1, species
                call check_all(last(:, :, i) - 10000 * i, s, 0, 'last:')
                call check_all(first(i, :, :) - 10000 * i, s, 0, 'first:')
            end do
            call meta_halo_create(plan, cart, front, meta_range([species, s%n]), [0, s%low], &
                [0, s%high], s%kind, batch=[4], stat=stat)
            call check_err(stat, META_ERR_ARGUMENT, "'batch' has 4, but the first buffer has 3")
            call meta_halo_create(plan, cart, fields(1), own(1), s%low, s%high, stat=stat)
            call check_err(stat, META_ERR_ARGUMENT, "'low' or 'high' has not an element")
            call meta_halo_create(plan, cart, front, meta_range([species, s%n]), [0, s%low], &
                [0, s%high], s%kind, batch=[1, 2], stat=stat)
            call check_err(stat, META_ERR_ARGUMENT, "'batch' leaves 1 of the 3")
            call meta_free(fields(1))
            call meta_free(fields(2))
            call meta_free(front)
            call test_cart_free(cart)
            deallocate (one, last, first)
        end do
    end subroutine

    subroutine one_dimension()
        type(meta_buffer) :: line
        type(meta_halo) :: plan
        real(c_double) :: total
        integer :: cart
        call promise('what_ghosts_hold_is_added_along_a_line')
        cart = test_cart_new(1, [1])
        call meta_grid_alloc(line, META_F64, [7], [2], [3])
        call meta_fill(line, 1.0_c_double)
        call meta_halo_create(plan, cart, line, meta_range([7]), [2], [3], op=META_HALO_ADD)
        call meta_halo_exchange(plan, line)
        total = meta_sum(line, meta_range([7]))
        call meta_allreduce(total, META_OP_SUM)
        call check(total == 12 * ranks, 'the sum')
        call check(meta_sum(line) == meta_sum(line, meta_range([7])) + 5, 'ghosts stay as they are')
        call meta_halo_free(plan)
        call test_cart_free(cart)
    end subroutine

    ! Of a plan for lines of nine numbers each, ended in the opposite order.
    subroutine several_exchanges()
        integer, parameter :: count = 4
        type(meta_buffer) :: line(count), other
        type(meta_halo) :: plan
        type(meta_exchange) :: exchange(count), ended
        type(meta_event) :: done
        integer(c_int64_t) :: a(0:10)
        integer :: cart, k, step, stat
        call promise('several_exchanges_of_a_plan_are_under_way')
        cart = test_cart_new(1, [1])
        do k = 1, count
            call meta_alloc(line(k), META_I64, meta_range([0], [10]))
        end do
        call meta_alloc(other, META_I64, meta_range([0], [11]))
        call meta_halo_create(plan, cart, line(1), meta_range([9]), [1], [1])
        call meta_halo_begin(plan, other, exchange(1), stat=stat)
        call check_err(stat, META_ERR_BOUNDS, "'fields'")
        do step = 1, 3
            do k = 1, count
                call meta_fill(line(k), int(100 * step + 10 * k + rank, c_int64_t))
                if (k == 2) call meta_halo_begin(plan, [line(k)], exchange(k))
                if (k /= 2) call meta_halo_begin(plan, line(k), exchange(k))
            end do
            ended = exchange(1)
            do k = count, 1, -1
                if (k == 3) then
                    call meta_halo_end(exchange(k), done)
                    call meta_event_wait(done)
                    call meta_event_free(done)
                else
                    call meta_halo_end(exchange(k))
                end if
                call meta_copy_d2h(a, line(k))
                call check_int(a(0), int(100 * step + 10 * k, c_int64_t) + &
                    modulo(rank - 1, ranks), 'the low ghost')
                call check_int(a(10), int(100 * step + 10 * k, c_int64_t) + &
                    modulo(rank + 1, ranks), 'the high ghost')
            end do
        end do
        call meta_halo_end(exchange(1), stat=stat)
        call check_err(stat, META_ERR_HANDLE, 'META_EXCHANGE_NULL')
        call meta_halo_end(ended, stat=stat)
        call check_err(stat, META_ERR_HANDLE, 'was ended')
        call meta_halo_free(plan)
        call test_cart_free(cart)
    end subroutine

    ! Numbers whose sum in any other way is another one.
    subroutine reproducible_sums()
        real(c_double) :: a(4), total
        type(meta_buffer) :: d
        logical :: was
        integer :: stat
        call promise('sums_over_ranks_are_exact_where_they_are_reproducible')
        call meta_get_reproducible(was)
        a = [0.0_c_double, 1.0_c_double, 2.0_c_double**(-60), 0.0_c_double]
        if (rank == 0) a(1) = 1e30_c_double
        if (rank == ranks - 1) a(4) = -1e30_c_double
        call meta_alloc(d, a)
        call meta_copy_h2d(d, a)
        call meta_set_reproducible(.true.)
        call meta_reduce(total, d, meta_bounds(d), META_OP_SUM, stat=stat)
        if (stat == META_OK) then
            call meta_allreduce(total, META_OP_SUM)
            call check(total == ranks, 'the sum')
        else
            call check_err(stat, META_ERR_UNSUPPORTED, 'meta_reduce')
        end if
        call meta_set_reproducible(was)
    end subroutine

    subroutine fields_move_together()
        integer, parameter :: n(2) = [13, 7]
        type(meta_cuts) :: before, after
        type(meta_buffer) :: from(2), to(2)
        type(meta_box) :: old, new
        integer(c_int64_t) :: start(2), cells(2)
        integer(c_int16_t), allocatable :: a(:, :)
        integer :: cart, i, j, wrong
        call promise('two_arrays_of_a_grid_are_moved')
        cart = test_cart_new(2, [0, 0])
        call meta_decompose(before, cart, n, 1.0_c_double)
        call meta_decompose(after, cart, n, 1.0_c_double + rank)
        call meta_cuts_block(before, cart, rank, start, cells)
        old = meta_range(start, start + cells - 1)
        call meta_alloc(from(1), META_I16, old)
        call meta_alloc(from(2), META_F64, old)
        allocate (a(start(1):old%upper(1), start(2):old%upper(2)))
        do j = lbound(a, 2), ubound(a, 2)
            do i = lbound(a, 1), ubound(a, 1)
                a(i, j) = int(i + 100 * j, c_int16_t)
            end do
        end do
        call meta_copy_h2d(from(1), a)
        call meta_copy_h2d(from(2), real(a, c_double))
        call meta_cuts_block(after, cart, rank, start, cells)
        new = meta_range(start, start + cells - 1)
        call meta_alloc(to(1), META_I16, new)
        call meta_alloc(to(2), META_F64, new)
        call meta_redistribute(cart, before, after, from, [old, old], to, [new, new])
        deallocate (a)
        allocate (a(start(1):new%upper(1), start(2):new%upper(2)))
        call meta_copy_d2h(a, to(1))
        wrong = 0
        do j = lbound(a, 2), ubound(a, 2)
            do i = lbound(a, 1), ubound(a, 1)
                if (a(i, j) /= i + 100 * j) wrong = wrong + 1
            end do
        end do
        call check_int(int(wrong, c_int64_t), 0_c_int64_t, 'wrong cells')
        call check(meta_sum(to(2)) == sum(real(a, c_double)), 'the other array')
        call test_cart_free(cart)
    end subroutine
end module halo_cases

program test_fortran_halos
    use halo_cases
    implicit none
    integer :: stat
    call meta_comm_init(stat)
    call tests_begin(stat)
    call meta_comm_rank(rank, ranks)
    rank_of_test = rank
    call two_dimensions()
    call batches()
    call one_dimension()
    call several_exchanges()
    call reproducible_sums()
    call fields_move_together()
    call meta_comm_finalize(stat)
    call check_ok(stat, 'meta_comm_finalize')
    call tests_end()
end program test_fortran_halos
