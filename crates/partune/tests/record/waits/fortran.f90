! A receiver in Fortran that is there 0.1 s before its sender, three times.
!
! expect 2 ranks
! expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 0
program fortran
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_int
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    interface
        integer(c_int) function usleep(microseconds) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
        end function
    end interface
    integer :: rank, i
    integer(int64) :: asked = 0, took = 0, met(2, 3)
    logical :: balanced

    balanced = command_argument_count() > 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Barrier(MPI_COMM_WORLD) ! START
    do i = 1, 3
        call exchange(i)
    end do
    call MPI_Finalize()
    ! As `work.h` has it.
    if (asked > 0) print '("worked ", i0, 1x, f0.6)', rank, real(took) / real(asked)
    do i = 1, 3
        print '("met ", i0, 2(1x, i0, ".", i9.9))', rank, met(1, i) / 10**9, mod(met(1, i), 10_int64**9), &
            met(2, i) / 10**9, mod(met(2, i), 10_int64**9)
    end do

contains

    subroutine exchange(word)
        integer, intent(in) :: word
        integer :: in, ignored
        integer(int64) :: start
        if (rank == 0 .or. balanced) then
            start = now()
            ignored = usleep(100000)
            took = took + now() - start
            asked = asked + 100000000
        end if
        met(1, word) = now()
        if (rank == 0) then
            call MPI_Send(word, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
        else
            call MPI_Recv(in, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! HERE
        end if
        met(2, word) = now()
    end subroutine

    ! Nanoseconds of the clock that all processes of a machine share.
    integer(int64) function now()
        call system_clock(now)
    end function
end program
