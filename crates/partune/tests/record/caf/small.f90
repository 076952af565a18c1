! Image 1 puts five hundred elements one by one where one put would do.
!
! expect 2 ranks
! expect rank 0: puts 500, put 4000
program small
  implicit none
  real(8) :: values(500)[*]
  integer :: i
  values = 0
  sync all
  if (this_image() == 1) then
    do i = 1, 500
      values(i)[2] = i ! HERE
    end do
  end if
  sync all
  if (this_image() == 2 .and. values(500) /= 500) error stop 1
end program
