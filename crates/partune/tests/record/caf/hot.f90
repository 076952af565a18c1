! All images put large blocks into the coarray of image 1 at the same time; with the argument `ring` each puts into its neighbour's, where nobody else does.
!
! expect 4 ranks
! expect each: puts 10, put 167772160
program hot
  use iso_fortran_env
  implicit none
  integer, parameter :: length = 2 * 1024**2
  integer(int64), allocatable :: all(:, :)[:], own(:)
  character(4) :: argument
  integer :: i, me, there
  allocate (all(length, 4)[*], own(length))
  me = this_image()
  call get_command_argument(1, argument)
  there = merge(mod(me, num_images()) + 1, 1, argument == 'ring')
  own = me
  sync all
  do i = 1, 10
    all(:, me)[there] = own ! HERE
    sync all
  end do
  if (argument /= 'ring' .and. me == 1) then
    if (all(length, 4) /= 4) error stop 1
  end if
end program
