c     The header mpif.h in fixed form: ten messages from rank 0 to rank 1.
c
c     expect 2 ranks
c     expect rank 0: MPI_Send 10, sends 10, sent 80
c     expect rank 1: MPI_Recv 10, receives 10, received 80
c     expect each: MPI_Reduce 1, MPI_Barrier 1, collectives 2
      program mpifh
      implicit none
      include 'mpif.h'
      integer rank, error, i
      double precision x, total
      call mpi_init(error)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
      do 10 i = 1, 10
      x = i
      if (rank .eq. 0) then
         call mpi_send(x, 1, MPI_DOUBLE_PRECISION, 1, i,
     &                 MPI_COMM_WORLD, error)
      else
         call mpi_recv(x, 1, MPI_DOUBLE_PRECISION, 0, MPI_ANY_TAG,
     &                 MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      end if
   10 continue
      call MPI_REDUCE(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &                MPI_COMM_WORLD, error)
      call Mpi_Barrier(MPI_COMM_WORLD, error)
      if (rank .eq. 0 .and. total .ne. 20.0d0) stop 1
      call mpi_finalize(error)
      end
