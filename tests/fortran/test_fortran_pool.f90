! SPDX-License-Identifier: BSD-3-Clause
! The memory pool: reuse of freed memory, how much is kept, and releasing it.
! TEST: backends=all labels=fortran
program test_fortran_pool
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    integer, parameter :: mib = 1024 * 1024
    integer :: index, mode
    call tests_begin()
    call meta_get_acc(index, mode)
    call reuse()
    call limits()
    call trimming()
    call bad_arguments()
    call tests_end()
    call meta_finalize()

contains

    function pool() result(desc)
        type(meta_pool_desc) :: desc
        call meta_pool_info(index, mode, desc)
    end function

    ! An empty pool; false where a checker watches memory, and so nothing is kept.
    logical function emptied(limit)
        integer, intent(in) :: limit
        type(meta_pool_desc) :: desc
        call meta_pool_limit(index, mode, limit)
        call meta_pool_trim(index, mode, 0)
        desc = pool()
        call check_int(desc%kept, 0_c_int64_t, 'bytes that are kept')
        call check_int(desc%blocks, 0_c_int64_t, 'pieces that are kept')
        emptied = desc%limit > 0
        if (emptied) call check_int(desc%limit, int(limit, c_int64_t), 'the limit')
    end function

    ! Left with this procedure.
    subroutine come_and_go(bytes)
        integer, intent(in) :: bytes
        type(meta_buffer) :: d
        call meta_alloc(d, META_I8, meta_range([bytes]))
    end subroutine

    subroutine reuse()
        type(meta_pool_desc) :: before, after
        integer :: k
        call promise('a_finalised_buffer_serves_the_next_one')
        if (.not. emptied(64 * mib)) return
        call come_and_go(3 * mib)
        before = pool()
        call check(before%kept >= 3 * mib .and. before%kept <= before%held, 'what is kept')
        call check_int(before%blocks, 1_c_int64_t, 'pieces')
        call check(before%held_peak >= before%held, 'the most that was held')
        do k = 1, 5
            call come_and_go(3 * mib)
        end do
        after = pool()
        call check_int(after%reused - before%reused, 5_c_int64_t, 'buffers of the same piece')
        call check_int(after%made - before%made, 0_c_int64_t, 'new pieces')
        call check_int(after%held, before%held, 'bytes that are held')
    end subroutine

    subroutine limits()
        type(meta_pool_desc) :: before, after
        call promise('no_more_than_the_limit_is_kept')
        if (.not. emptied(4 * mib)) return
        call come_and_go(3 * mib)
        before = pool()
        call come_and_go(2 * mib)
        after = pool()
        call check(after%kept <= 4 * mib, 'at most the limit')
        call check_int(after%returned - before%returned, 1_c_int64_t, 'the older one went')
        call meta_pool_limit(index, mode, 0)
        after = pool()
        call check_int(after%kept, 0_c_int64_t, 'nothing is kept')
        call come_and_go(mib)
        after = pool()
        call check_int(after%kept, 0_c_int64_t, 'nor later')
    end subroutine

    subroutine trimming()
        type(meta_pool_desc) :: desc
        call promise('trimming_gives_back_what_was_kept_longest')
        if (.not. emptied(64 * mib)) return
        call come_and_go(8 * mib)
        call come_and_go(2 * mib)
        call meta_pool_trim(index, mode, 2_c_int64_t * mib)
        desc = pool()
        call check_int(desc%blocks, 1_c_int64_t, 'the piece of 2 MiB')
        call check(desc%kept <= 2 * mib, 'its bytes')
        call meta_pool_trim(index, mode, 0)
        desc = pool()
        call check_int(desc%blocks, 0_c_int64_t, 'pieces')
    end subroutine

    subroutine bad_arguments()
        type(meta_pool_desc) :: desc
        integer :: count, stat
        call promise('pools_of_no_device_and_negative_sizes_are_errors')
        call meta_device_count(mode, count)
        desc%kept = 77
        call meta_pool_info(count, mode, desc, stat)
        call check_err(stat, META_ERR_NO_DEVICE, 'meta_pool_info')
        call check_int(desc%kept, 77_c_int64_t, 'nothing was written')
        call meta_pool_trim(index, mode, -1, stat)
        call check_err(stat, META_ERR_ARGUMENT, "meta_pool_trim: argument 'bytes' is -1")
        call meta_pool_limit(index, mode, -5_c_int64_t, stat)
        call check_err(stat, META_ERR_ARGUMENT, "meta_pool_limit: argument 'bytes' is -5")
        call meta_pool_limit(count, mode, 0, stat)
        call check_err(stat, META_ERR_NO_DEVICE, 'meta_pool_limit')
    end subroutine
end program test_fortran_pool
