! A receiver in Fortran that is there 0.1 s before its sender, three times.
!
! expect 2 ranks
! expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 0
program fortran
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    interface
        integer(c_int) function usleep(microseconds) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
        end function
    end interface
    integer :: rank, i
    logical :: balanced

    balanced = command_argument_count() > 0
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Barrier(MPI_COMM_WORLD) ! START
    do i = 1, 3
        call exchange(i)
    end do
    call MPI_Finalize()

contains

    subroutine exchange(word)
        integer, intent(in) :: word
        integer :: in, ignored
        if (rank == 0 .or. balanced) ignored = usleep(100000)
        if (rank == 0) then
            call MPI_Send(word, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
        else
            call MPI_Recv(in, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ! HERE
        end if
    end subroutine
end program
