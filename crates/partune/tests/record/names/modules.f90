! Procedures of modules, inside of others and by themselves, and one call of MPI by each binding.
!
! expect 2 ranks
module halo
contains
   subroutine exchange(rank)
      integer, intent(in) :: rank
      call inner(rank)
   contains
      subroutine inner(rank)
         use mpi_f08
         integer, intent(in) :: rank
         integer :: mine, theirs
         mine = rank
         call MPI_Sendrecv(mine, 1, MPI_INTEGER, 1 - rank, 0, theirs, 1, MPI_INTEGER, 1 - rank, 0, &
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE)
         if (theirs /= 1 - rank) error stop
      end subroutine
   end subroutine
end module

subroutine plain(rank)
   use mpi
   integer, intent(in) :: rank
   integer :: mine, theirs, error, all, one
   mine = rank
   one = 1
   call MPI_SENDRECV(mine, 1, MPI_INTEGER, 1 - rank, 0, theirs, 1, MPI_INTEGER, 1 - rank, 0, &
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
   call mpi_allreduce(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
   if (theirs /= 1 - rank .or. all /= 2) error stop
end subroutine

program modules
   use halo
   implicit none
   include 'mpif.h'
   integer :: rank, error
   external :: plain
   call MPI_INIT(error)
   call MPI_COMM_RANK(MPI_COMM_WORLD, rank, error)
   call exchange(rank)
   call plain(rank)
   call MPI_BARRIER(MPI_COMM_WORLD, error)
   call MPI_FINALIZE(error)
end program
