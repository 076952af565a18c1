! A module with procedures, an external procedure, an internal one, a named main program.
module solver
  implicit none
  integer, parameter :: n = 100
  real :: field(n)
contains
  subroutine start(seed)
    integer, intent(in) :: seed
    integer :: i
    do i = 1, n
      field(i) = sin(real(i * seed))
    end do
  end subroutine start

  function energy(values) result(sum_of_squares)
    real, intent(in) :: values(:)
    real :: sum_of_squares
    sum_of_squares = dot_product(values, values)
    if (sum_of_squares < 0.0) stop 'negative'
  end function energy
end module solver

subroutine report(label, value)
  implicit none
  character(len=*), intent(in) :: label
  real, intent(in) :: value
  print *, label, trim(shorten(value))
contains
  function shorten(x) result(text)
    real, intent(in) :: x
    character(len=16) :: text
    write (text, '(F10.3)') x
  end function shorten
end subroutine report

program waves
  use solver
  implicit none
  external :: report
  integer :: t
  call start(3)
  do t = 1, 3
    call report('energy', energy(field))
  end do
end program waves
