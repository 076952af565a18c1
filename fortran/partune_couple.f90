! partune: what kernels of a program do to each other, for Fortran; see include/partune_couple.h, which does the work and is compiled beside:
!
!   mpicc -x c -O2 -DPARTUNE_COUPLE_MPI -DPARTUNE_COUPLE_LINKAGE= -c include/partune_couple.h -o couple.o
!   mpif90 -O2 fortran/partune_couple.f90 app.f90 couple.o
!
!   use partune_couple
!   call partune_couple_kernel('x_solve', x_solve)        subroutines without arguments
!   call partune_couple_kernel('y_solve', y_solve)
!   call partune_couple_doubles(u, size(u))               what they change
!   call partune_couple_iterations(200)
!   if (.not. partune_couple_measure()) then
!     ...                                                 the loop as it always was
!   end if
!
! Arrays have to be contiguous, and to stay where they are: give them the attribute target, or keep them in a module or common block.
module partune_couple
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: partune_couple_kernel, partune_couple_loop, partune_couple_iterations, partune_couple_once
  public :: partune_couple_doubles, partune_couple_floats, partune_couple_rerunnable, partune_couple_measure

  abstract interface
    subroutine kernel()
    end subroutine kernel
  end interface

  interface
    subroutine c_kernel(name, run, data) bind(c, name='partune_couple_kernel')
      import :: c_ptr, c_funptr
      type(c_ptr), value :: name, data
      type(c_funptr), value :: run
    end subroutine c_kernel
    subroutine c_loop(kernels) bind(c, name='partune_couple_loop')
      import :: c_char
      character(kind=c_char), intent(in) :: kernels(*)
    end subroutine c_loop
    subroutine c_iterations(turns) bind(c, name='partune_couple_iterations')
      import :: c_long
      integer(c_long), value :: turns
    end subroutine c_iterations
    subroutine c_once(name, seconds) bind(c, name='partune_couple_once')
      import :: c_ptr, c_double
      type(c_ptr), value :: name
      real(c_double), value :: seconds
    end subroutine c_once
    subroutine c_doubles(state, count) bind(c, name='partune_couple_doubles')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: state
      integer(c_size_t), value :: count
    end subroutine c_doubles
    subroutine c_floats(state, count) bind(c, name='partune_couple_floats')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: state
      integer(c_size_t), value :: count
    end subroutine c_floats
    subroutine c_rerunnable() bind(c, name='partune_couple_rerunnable')
    end subroutine c_rerunnable
    function c_measure() result(measured) bind(c, name='partune_couple_measure')
      import :: c_int
      integer(c_int) :: measured
    end function c_measure
  end interface

  ! Names that C keeps by their address, and what it calls.
  integer, parameter :: most = 80
  character(kind=c_char, len=64), target, save :: names(most)
  integer, save :: named = 0
  type :: holder
    procedure(kernel), pointer, nopass :: run => null()
  end type holder
  type(holder), target, save :: holders(most)

contains

  subroutine partune_couple_kernel(name, run)
    character(len=*), intent(in) :: name
    procedure(kernel) :: run
    type(c_ptr) :: kept
    kept = keep(name)
    holders(named)%run => run
    call c_kernel(kept, c_funloc(call_kernel), c_loc(holders(named)))
  end subroutine partune_couple_kernel

  ! Words, with counts: 'rhs x y*2 add'.
  subroutine partune_couple_loop(kernels)
    character(len=*), intent(in) :: kernels
    call c_loop(trim(kernels)//c_null_char)
  end subroutine partune_couple_loop

  subroutine partune_couple_iterations(turns)
    integer, intent(in) :: turns
    call c_iterations(int(turns, c_long))
  end subroutine partune_couple_iterations

  subroutine partune_couple_once(name, seconds)
    character(len=*), intent(in) :: name
    double precision, intent(in) :: seconds
    call c_once(keep(name), real(seconds, c_double))
  end subroutine partune_couple_once

  ! Arrays of any rank; all their elements.
  subroutine partune_couple_doubles(state, elements)
    real(c_double), intent(in), target :: state(*)
    integer, intent(in) :: elements
    call c_doubles(c_loc(state), int(elements, c_size_t))
  end subroutine partune_couple_doubles

  subroutine partune_couple_floats(state, elements)
    real(c_float), intent(in), target :: state(*)
    integer, intent(in) :: elements
    call c_floats(c_loc(state), int(elements, c_size_t))
  end subroutine partune_couple_floats

  subroutine partune_couple_rerunnable()
    call c_rerunnable()
  end subroutine partune_couple_rerunnable

  logical function partune_couple_measure()
    partune_couple_measure = c_measure() /= 0
  end function partune_couple_measure

  subroutine call_kernel(data) bind(c)
    type(c_ptr), value :: data
    type(holder), pointer :: it
    call c_f_pointer(data, it)
    call it%run()
  end subroutine call_kernel

  function keep(name) result(kept)
    character(len=*), intent(in) :: name
    type(c_ptr) :: kept
    if (named == most) error stop 'partune_couple: too many names'
    named = named + 1
    names(named) = trim(name)//c_null_char
    kept = c_loc(names(named))
  end function keep
end module partune_couple
