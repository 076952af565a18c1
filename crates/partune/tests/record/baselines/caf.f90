! Two images that work alike; each puts to the other one, and gets from it, and both take a lock.
!
! expect 2 ranks
program balanced
  use, intrinsic :: iso_fortran_env
  implicit none
  type(lock_type) :: key[*]
  real(8) :: shared(512)[*], own(512)
  integer :: turn, i, other
  other = 3 - this_image()
  own = 1
  do turn = 1, 20
    do i = 1, 1000000
      own(1) = sqrt(own(1) + i)
    end do
    sync all
    shared(:)[other] = own
    sync all
    own = shared(:)[other]
    sync images (other)
    lock (key[1])
    unlock (key[1])
  end do
  if (own(1) < 0) error stop 1
end program
