! What Fortran programs pass by address: MPI_IN_PLACE, MPI_STATUS_IGNORE, requests and statuses in arrays. Two ranks.
program sentinels
  MODULE
  implicit none
  integer :: rank, peer, ierr, x(4), y(4), i, at, n, indices(2)
  REQUEST :: requests(2)
  STATUS :: status STATUS_SIZE
  logical :: flag
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  peer = 1 - rank
  x = rank
  call MPI_Allreduce(MPI_IN_PLACE, x, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(x, y, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Send(x, 3, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierr)
  else
    call MPI_Recv(y, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end if
  do i = 1, 3
    call MPI_Irecv(y, 4, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(x, i, MPI_INTEGER, peer, i, MPI_COMM_WORLD, requests(2), ierr)
    if (i == 1) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    if (i == 2) then
      call MPI_Waitany(2, requests, at, status, ierr)
      call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, ierr)
      call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE, ierr)
    end if
    if (i == 3) then
      at = 0
      do while (at < 2)
        call MPI_Testsome(2, requests, n, indices, MPI_STATUSES_IGNORE, ierr)
        at = at + n
      end do
    end if
  end do
  call MPI_Comm_set_name(MPI_COMM_WORLD, 'all of us', ierr)
  call MPI_Iprobe(peer, 99, MPI_COMM_WORLD, flag, status, ierr)
  call MPI_Finalize(ierr)
end program
