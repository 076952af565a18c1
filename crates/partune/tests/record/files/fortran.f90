! Files of Fortran and what its library makes of them. The first part of names is the first argument.
!
! expect 2 ranks
program fortran
  use mpi
  implicit none
  integer :: error, rank, i, unit
  character(len=4096) :: name
  real(8) :: value(1000), again(1000)
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call get_command_argument(1, name)
  write (name, '(a,".",i0)') trim(name), rank
  open (newunit=unit, file=trim(name), form='unformatted', access='stream', status='replace')
  do i = 1, 50
    value = i
    write (unit) value
  end do
  close (unit)
  open (newunit=unit, file=trim(name), form='unformatted', access='stream', status='old')
  do i = 1, 50
    read (unit) again
    if (any(again /= i)) call mpi_abort(mpi_comm_world, 2, error)
  end do
  close (unit)
  call mpi_finalize(error)
end program fortran
