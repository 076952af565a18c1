! The Fortran 2008 binding, with ierror and without it, on 4 ranks around a ring.
!
! expect 4 ranks
! expect each: MPI_Send 1, MPI_Recv 1, MPI_Isend 1, MPI_Irecv 1, MPI_Waitall 1, MPI_Sendrecv 1
! expect each: MPI_Allreduce 2, MPI_Barrier 1, MPI_Bcast 1, MPI_Comm_split 1
! expect each: sends 3, sent 24, receives 3, received 24, collectives 4
program f08
    use mpi_f08
    implicit none
    integer :: rank, ranks, left, right, error, total
    double precision :: in(2), out(2)
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    type(MPI_Comm) :: half

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    out = rank
    in = -1

    if (modulo(rank, 2) == 0) then
        call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD)
        call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    else
        call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, error)
        call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, error)
        if (status%MPI_SOURCE /= left) error stop 1
    end if
    call MPI_Irecv(in(2), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(out(2), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    if (any(nint(in) /= left)) error stop 2
    call MPI_Sendrecv(out, 1, MPI_DOUBLE_PRECISION, right, 3, in, 1, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, status)

    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (total /= 6) error stop 3
    call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), 0, half)
    call MPI_Bcast(total, 1, MPI_INTEGER, 0, half)
    call MPI_Barrier(half, error)
    call MPI_Comm_free(half)
    call MPI_Finalize()
end program
