! Ten puts, and an end that is none: by the argument.
!
! expect 2 ranks
! expect status any
! expect rank 1: puts 10, put 40
program ends
  use iso_c_binding
  implicit none
  interface
    subroutine abort() bind(C)
    end subroutine
    integer(c_int) function raise(number) bind(C)
      import
      integer(c_int), value :: number
    end function
    integer(c_int) function pause() bind(C)
      import
    end function
  end interface
  character(10) :: argument
  integer :: there[*], i, done
  call get_command_argument(1, argument)
  sync all
  do i = 1, 10
    there[3 - this_image()] = i
  end do
  sync all
  if (this_image() == 1) done = pause()
  select case (argument)
    case ('kill'); done = raise(9_c_int)
    case ('abort'); call abort()
    case ('error'); error stop 3
    case ('stop'); stop 4
    case ('fail'); fail image
  end select
end program
