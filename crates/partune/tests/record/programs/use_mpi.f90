! The module `mpi`, on 4 ranks around a ring.
!
! expect 4 ranks
! expect each: MPI_Isend 2, MPI_Irecv 2, MPI_Waitall 1, MPI_Wait 1, MPI_Test 1, MPI_Allreduce 1, MPI_Gather 1
! expect each: sends 2, sent 16, receives 2, received 16, collectives 2
program use_mpi
    use mpi
    implicit none
    integer :: rank, ranks, left, right, error, requests(2), statuses(MPI_STATUS_SIZE, 2), total
    integer, allocatable :: all(:)
    double precision :: in(2), out
    logical :: done

    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    out = rank
    allocate(all(0:ranks - 1))

    call MPI_Irecv(in(1), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, statuses, error)
    if (statuses(MPI_SOURCE, 1) /= left) stop 1

    call MPI_Irecv(in(2), 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), error)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, error)
    requests(1) = MPI_REQUEST_NULL
    call MPI_Test(requests(1), done, MPI_STATUS_IGNORE, error)
    if (.not. done) stop 2
    call MPI_Waitany(1, requests(2:2), total, MPI_STATUS_IGNORE, error)
    if (total /= 1) stop 3

    total = rank
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Gather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, error)
    if (total /= 6 .or. (rank == 0 .and. all(ranks - 1) /= ranks - 1)) stop 4
    if (any(nint(in) /= left)) stop 5
    call MPI_Finalize(error)
end program
