! MPI and coarrays in one program. What the coarray library does of MPI is not shown, what the program does is.
!
! expect 4 ranks
! expect each: MPI_Barrier 1, MPI_Allreduce 1, MPI_Comm_rank 1, collectives 2, puts 1, put 4
program mixed
  use mpi
  implicit none
  integer :: there[*], total, rank, error, me, n
  me = this_image()
  n = num_images()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  sync all
  there[mod(me, n) + 1] = me
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  sync all
  if (rank /= me - 1 .or. total /= n .or. there /= mod(me + n - 2, n) + 1) error stop 1
end program
