! Images put into the first half of a coarray, and after a barrier into the second one: that barrier orders nothing. The others do: both halves are read
! by the owner's neighbour, and written again.
!
! expect 4 ranks
! expect each: puts 41, put 328, gets 40, got 320
program redundant
  implicit none
  real(8) :: values(2)[*], got
  integer :: i, me, next, after
  logical :: good = .true.
  me = this_image()
  next = mod(me, num_images()) + 1
  after = mod(next, num_images()) + 1
  values = 0
  sync all
  do i = 1, 20
    values(1)[next] = me + i
    sync all ! REDUNDANT
    values(2)[next] = me - i
    sync all ! NEEDED
    got = values(2)[after]
    good = good .and. got == next - i
    got = values(1)[after]
    good = good .and. got == next + i
    sync all ! AGAIN
  end do
  values(1)[next] = 0
  if (.not. good) error stop 1
end program
