! SPDX-License-Identifier: BSD-3-Clause
! A program that initializes and finalizes MPI itself: libmeta uses one of its communicators, and
! does not finalize MPI.
! TEST: backends=openmp np=1,3 labels=fortran,comm
program test_fortran_attach
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none
    interface
        subroutine test_mpi_start() bind(c)
        end subroutine
        function test_mpi_end() bind(c) result(ranks)
            import
            integer(c_int) :: ranks
        end function
    end interface
    integer :: cart, rank, ranks, stat
    integer(c_int64_t) :: total
    type(meta_buffer) :: d
    call test_mpi_start()
    cart = test_cart_new(1, [0])
    call meta_comm_attach(cart, stat)
    call tests_begin(stat)
    call promise('a_communicator_of_the_program_is_enough')
    call meta_comm_rank(rank, ranks)
    rank_of_test = rank
    call meta_alloc(d, META_I64, meta_range([10]))
    call meta_fill(d, int(rank + 1, c_int64_t))
    call test_cart_free(cart) ! libmeta has one of its own
    total = meta_sum(d, total)
    call meta_allreduce(total, META_OP_SUM)
    call check_int(total, 5_c_int64_t * ranks * (ranks + 1), 'the sum over the ranks')
    call meta_comm_attach(cart, stat)
    call check_err(stat, META_ERR_STATE, 'meta_comm_attach')
    call meta_comm_finalize()
    call check(.not. meta_is_allocated(d), 'the buffer went with the library')
    call check(test_mpi_end() == ranks, 'MPI goes on')
    call tests_end()
end program test_fortran_attach
