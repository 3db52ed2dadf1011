! SPDX-License-Identifier: BSD-3-Clause
! References to device memory: however buffers are created, copied, returned and left, the memory
! is valid while a variable refers to it, and is freed once, with the last reference.
! TEST: backends=openmp,opencl labels=fortran smoke=yes
module reference_cases
    use, intrinsic :: iso_c_binding
    use meta
    use testing
    implicit none

    ! Types with buffers have assignments of their own, as the guide asks for: gfortran 13 and later
    ! copy their components bit by bit otherwise.
    type :: object
        type(meta_buffer) :: field
        integer :: number = 0
    contains
        procedure, private :: assign_object
        generic :: assignment(=) => assign_object
    end type
    type, extends(object) :: larger
        type(meta_buffer) :: pair(2)
        type(meta_buffer), allocatable :: list(:)
    contains
        procedure, private :: assign_larger
        generic :: assignment(=) => assign_larger
    end type

contains

    elemental subroutine assign_object(lhs, rhs)
        class(object), intent(inout) :: lhs
        type(object), intent(in) :: rhs
        lhs%field = rhs%field
        lhs%number = rhs%number
    end subroutine

    elemental subroutine assign_larger(lhs, rhs)
        class(larger), intent(inout) :: lhs
        type(larger), intent(in) :: rhs
        integer :: k
        lhs%field = rhs%field
        lhs%number = rhs%number
        lhs%pair = rhs%pair
        if (allocated(lhs%list)) deallocate (lhs%list)
        if (.not. allocated(rhs%list)) return
        allocate (lhs%list(size(rhs%list)))
        do k = 1, size(rhs%list)
            lhs%list(k) = rhs%list(k)
        end do
    end subroutine

    ! A buffer of four numbers with this value.
    function make(value) result(buffer)
        real(c_double), intent(in) :: value
        type(meta_buffer) :: buffer
        call meta_alloc(buffer, META_F64, meta_range([4]))
        call meta_fill(buffer, value)
    end function

    ! The same through a local variable.
    function make_by_copy(value) result(buffer)
        real(c_double), intent(in) :: value
        type(meta_buffer) :: buffer, local
        local = make(value)
        buffer = local
    end function

    function make_allocatable(value) result(buffer)
        real(c_double), intent(in) :: value
        type(meta_buffer), allocatable :: buffer
        allocate (buffer)
        buffer = make(value)
    end function

    function make_object(value) result(made)
        real(c_double), intent(in) :: value
        type(object) :: made
        made%field = make(value)
    end function

    function make_larger(value) result(made)
        real(c_double), intent(in) :: value
        type(larger) :: made
        made%field = make(value)
        made%pair(1) = make(value + 1)
        made%pair(2) = made%pair(1)
        allocate (made%list(3))
        made%list(2) = make(value + 2)
    end function

    subroutine holds(buffer, value, text)
        type(meta_buffer), intent(in) :: buffer
        real(c_double), intent(in) :: value
        character(len=*), intent(in) :: text
        integer :: stat
        real(c_double) :: sum
        sum = meta_sum(buffer, stat=stat)
        call check_ok(stat, text)
        if (stat == META_OK) call check(abs(sum - 4 * value) < 1e-12_c_double, text)
    end subroutine

    subroutine replaced(buffer, value)
        type(meta_buffer), intent(out) :: buffer
        real(c_double), intent(in) :: value
        buffer = make(value)
    end subroutine

    ! ---------------------------------------------------------------- what a scope may do

    subroutine function_results()
        type(meta_buffer) :: a, b
        a = make(1.0_c_double)
        b = make_by_copy(2.0_c_double)
        call holds(a, 1.0_c_double, 'a result')
        call holds(b, 2.0_c_double, 'a result that was a copy')
        a = b
        call holds(a, 2.0_c_double, 'a copy')
        b = make(3.0_c_double)
        call holds(a, 2.0_c_double, 'what b was')
        call holds(b, 3.0_c_double, 'what b is')
        call check_int(buffers_now(), 2_c_int64_t, 'buffers')
    end subroutine

    subroutine results_as_arguments()
        call holds(make(1.0_c_double), 1.0_c_double, 'a result as an argument')
        call holds(make_by_copy(2.0_c_double), 2.0_c_double, 'another one')
        call holds(make_allocatable(3.0_c_double), 3.0_c_double, 'an allocatable one')
    end subroutine

    subroutine a_loop()
        type(meta_buffer) :: a
        integer :: k
        do k = 1, 20
            a = make(real(k, c_double))
            a = make_by_copy(real(k, c_double))
            a = make_allocatable(real(k, c_double))
            call holds(a, real(k, c_double), 'the last one')
            call check_int(buffers_now(), 1_c_int64_t, 'buffers')
        end do
    end subroutine

    subroutine assignment_to_itself()
        type(meta_buffer) :: a, b
        a = make(5.0_c_double)
        a = a
        a = (a)
        b = (a)
        a = b
        call holds(a, 5.0_c_double, 'a')
        call holds(b, 5.0_c_double, 'b')
        call check_int(buffers_now(), 1_c_int64_t, 'buffers')
    end subroutine

    subroutine swapping()
        type(meta_buffer) :: a, b, c
        a = make(1.0_c_double)
        b = make(2.0_c_double)
        c = a
        a = b
        b = c
        call holds(a, 2.0_c_double, 'a')
        call holds(b, 1.0_c_double, 'b')
    end subroutine

    subroutine an_argument_of_intent_out()
        type(meta_buffer) :: a
        a = make(1.0_c_double)
        call replaced(a, 2.0_c_double)
        call replaced(a, 3.0_c_double)
        call holds(a, 3.0_c_double, 'a')
        call check_int(buffers_now(), 1_c_int64_t, 'buffers')
    end subroutine

    subroutine arrays_of_buffers()
        type(meta_buffer), allocatable :: a(:)
        type(meta_buffer) :: b(3)
        integer :: k
        allocate (a(3))
        do k = 1, 3
            a(k) = make(real(k, c_double))
        end do
        b = a
        do k = 1, 3
            call holds(b(k), real(k, c_double), 'a copied array')
        end do
        b(1:2) = b(2:3)
        call holds(b(1), 2.0_c_double, 'a shifted element')
        call holds(b(2), 3.0_c_double, 'another one')
        deallocate (a)
        do k = 1, 3
            call holds(b(k), real(min(k + 1, 3), c_double), 'an element whose origin went')
        end do
        call check_int(buffers_now(), 2_c_int64_t, 'buffers')
    end subroutine

    subroutine components()
        type(object) :: a, b
        a = make_object(1.0_c_double)
        call holds(a%field, 1.0_c_double, 'a component of a result')
        b = a
        a = make_object(2.0_c_double)
        call holds(b%field, 1.0_c_double, 'a copied component')
        call holds(a%field, 2.0_c_double, 'a replaced one')
    end subroutine

    subroutine nested_components()
        type(larger) :: a, b
        a = make_larger(1.0_c_double)
        call holds(a%field, 1.0_c_double, 'an inherited component')
        call holds(a%pair(1), 2.0_c_double, 'an array component')
        call holds(a%pair(2), 2.0_c_double, 'its other element')
        call holds(a%list(2), 3.0_c_double, 'an allocatable component')
        b = a
        call holds(b%field, 1.0_c_double, 'a copied component')
        call holds(b%list(2), 3.0_c_double, 'a copied allocatable one')
    end subroutine

    subroutine moved_allocations()
        type(meta_buffer), allocatable :: a, b
        class(meta_buffer), allocatable :: c
        allocate (a)
        a = make(1.0_c_double)
        call move_alloc(a, b)
        call holds(b, 1.0_c_double, 'a moved one')
        allocate (c)
        c = b
        deallocate (b)
        call check_int(buffers_now(), 1_c_int64_t, 'buffers')
    end subroutine

    subroutine freed_by_hand()
        type(meta_buffer) :: a, b
        integer :: stat
        a = make(1.0_c_double)
        b = a
        call meta_free(a)
        call check_int(buffers_now(), 0_c_int64_t, 'buffers')
        call check(.not. meta_is_allocated(b), 'a copy of what was freed is not allocated')
        call meta_fill(b, 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' was freed")
        call meta_free(b, stat)
        call check_err(stat, META_ERR_POINTER, "'buffer' was freed")
        call meta_alloc(a, META_F64, meta_range([4]))
        call meta_fill(a, 2.0_c_double)
        call holds(a, 2.0_c_double, 'a buffer used again')
        call check(.not. meta_is_allocated(b), 'the copy is not the new one')
    end subroutine

    ! A structure constructor's copies are made bit by bit: they do not count, and do no harm.
    subroutine copies_without_assignment()
        type(object) :: a
        type(meta_buffer) :: b
        type(meta_buffer), allocatable :: c
        b = make(1.0_c_double)
        a = object(b, 3)
        allocate (c, source=b)
        call holds(a%field, 1.0_c_double, 'a constructed component')
        call holds(c, 1.0_c_double, 'a sourced allocation')
        deallocate (c)
        call holds(b, 1.0_c_double, 'the original')
        call check_int(buffers_now(), 1_c_int64_t, 'buffers')
    end subroutine

    ! Whoever uses such a copy when the last reference has gone is told what it was.
    subroutine a_copy_without_assignment_that_is_left()
        type(meta_buffer) :: b
        type(meta_buffer), allocatable :: c
        integer :: stat
        b = make(1.0_c_double)
        allocate (c, source=b)
        b = make(2.0_c_double)
        call meta_fill(c, 1.0_c_double, stat=stat)
        call check_err(stat, META_ERR_POINTER, 'copied it without the assignment of type(meta_buffer)')
        call meta_fill(b, 1.0_c_double)
    end subroutine

    subroutine kept_in_a_module()
        type(meta_buffer), save :: kept
        kept = make(1.0_c_double)
    end subroutine

    ! ---------------------------------------------------------------- and after it

    subroutine leaves_nothing(scope, text)
        interface
            subroutine scope()
            end subroutine
        end interface
        character(len=*), intent(in) :: text
        call promise(text)
        call scope()
        call check_int(buffers_now(), 0_c_int64_t, 'buffers that are left')
    end subroutine
end module reference_cases

program test_fortran_references
    use reference_cases
    implicit none
    integer :: stat
    call tests_begin()
    call leaves_nothing(function_results, 'function_results_are_freed_once')
    call leaves_nothing(results_as_arguments, 'results_as_arguments_are_freed_after_the_call')
    call leaves_nothing(a_loop, 'a_loop_holds_one_buffer')
    call leaves_nothing(assignment_to_itself, 'assignment_to_itself_changes_nothing')
    call leaves_nothing(swapping, 'buffers_can_be_swapped')
    call leaves_nothing(an_argument_of_intent_out, 'intent_out_frees_what_was_there')
    call leaves_nothing(arrays_of_buffers, 'arrays_of_buffers_count_each_element')
    call leaves_nothing(components, 'components_are_counted')
    call leaves_nothing(nested_components, 'nested_components_are_counted')
    call leaves_nothing(moved_allocations, 'moved_allocations_are_counted')
    call leaves_nothing(freed_by_hand, 'meta_free_ends_every_copy')
    call leaves_nothing(copies_without_assignment, 'copies_without_assignment_do_no_harm')
    call leaves_nothing(a_copy_without_assignment_that_is_left, 'an_error_names_copies_without_assignment')

    call promise('a_buffer_that_outlives_the_library_is_no_buffer')
    call kept_in_a_module()
    call meta_finalize()
    call meta_finalize(stat)
    call check_err(stat, META_ERR_INIT, 'meta_finalize')
    call meta_init()
    call kept_in_a_module()
    call check_int(buffers_now(), 1_c_int64_t, 'buffers')
    call tests_end()
    call meta_finalize()
end program test_fortran_references
