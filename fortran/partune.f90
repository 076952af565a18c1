! partune: marks in a program, for Fortran.
!
!   use partune
!   call partune_region_begin('assemble')
!   ...
!   call partune_region_end('assemble')
!
!   call partune_loop_begin('time steps')
!   do ...
!     call partune_iteration_begin()
!     ...
!     call partune_iteration_end()
!   end do
!   call partune_loop_end()
!
! and partune_phase_begin, partune_phase_end for phases of a program; partune_record_off() and partune_record_on() leave out
! what lies between, on all threads. Compile this file with the program; nothing has to be
! linked (with a C library older than glibc 2.34: -ldl). The functions of the recorder are looked up by the first mark; where
! it is not loaded, a mark is
! a call and a branch.
!
! Marks belong to their thread, and end in reverse order of their begins.
module partune
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: partune_region_begin, partune_region_end, partune_phase_begin, partune_phase_end
  public :: partune_loop_begin, partune_loop_end, partune_iteration_begin, partune_iteration_end
  public :: partune_record_off, partune_record_on

  abstract interface
    subroutine named(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine named
    subroutine plain() bind(c)
    end subroutine plain
  end interface

  interface
    ! The default handle, which is null in the C libraries of Linux, searches everything that is loaded.
    function dlsym(handle, name) result(address) bind(c, name='dlsym')
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function dlsym
  end interface

  procedure(named), pointer :: region_begin => null(), region_end => null()
  procedure(named), pointer :: phase_begin => null(), phase_end => null()
  procedure(named), pointer :: loop_begin => null()
  procedure(plain), pointer :: loop_end => null(), iteration_begin => null(), iteration_end => null()
  procedure(plain), pointer :: record_off => null(), record_on => null()

  ! Threads may look up at the same time: they find the same addresses, and the last word written says that all are there.
  integer, volatile :: state = 0
  integer, parameter :: unknown = 0, absent = 1, present = 2

contains

  subroutine partune_region_begin(name)
    character(len=*), intent(in) :: name
    if (recorded()) call region_begin(trim(name)//c_null_char)
  end subroutine partune_region_begin

  subroutine partune_region_end(name)
    character(len=*), intent(in) :: name
    if (recorded()) call region_end(trim(name)//c_null_char)
  end subroutine partune_region_end

  subroutine partune_phase_begin(name)
    character(len=*), intent(in) :: name
    if (recorded()) call phase_begin(trim(name)//c_null_char)
  end subroutine partune_phase_begin

  subroutine partune_phase_end(name)
    character(len=*), intent(in) :: name
    if (recorded()) call phase_end(trim(name)//c_null_char)
  end subroutine partune_phase_end

  subroutine partune_loop_begin(name)
    character(len=*), intent(in) :: name
    if (recorded()) call loop_begin(trim(name)//c_null_char)
  end subroutine partune_loop_begin

  subroutine partune_loop_end()
    if (recorded()) call loop_end()
  end subroutine partune_loop_end

  subroutine partune_iteration_begin()
    if (recorded()) call iteration_begin()
  end subroutine partune_iteration_begin

  subroutine partune_iteration_end()
    if (recorded()) call iteration_end()
  end subroutine partune_iteration_end

  subroutine partune_record_off()
    if (recorded()) call record_off()
  end subroutine partune_record_off

  subroutine partune_record_on()
    if (recorded()) call record_on()
  end subroutine partune_record_on

  function recorded()
    logical :: recorded
    if (state == unknown) call look_up()
    recorded = state == present
  end function recorded

  subroutine look_up()
    logical :: all_there
    all_there = .true.
    call find_named('partune_region_begin', region_begin)
    call find_named('partune_region_end', region_end)
    call find_named('partune_phase_begin', phase_begin)
    call find_named('partune_phase_end', phase_end)
    call find_named('partune_loop_begin', loop_begin)
    call find_plain('partune_loop_end', loop_end)
    call find_plain('partune_iteration_begin', iteration_begin)
    call find_plain('partune_iteration_end', iteration_end)
    call find_plain('partune_record_off', record_off)
    call find_plain('partune_record_on', record_on)
    if (all_there) then
      state = present
    else
      state = absent
    end if
  contains
    subroutine find_named(name, pointer)
      character(len=*), intent(in) :: name
      procedure(named), pointer, intent(inout) :: pointer
      type(c_funptr) :: address
      address = dlsym(c_null_ptr, name//c_null_char)
      all_there = all_there .and. c_associated(address)
      if (c_associated(address)) call c_f_procpointer(address, pointer)
    end subroutine find_named
    subroutine find_plain(name, pointer)
      character(len=*), intent(in) :: name
      procedure(plain), pointer, intent(inout) :: pointer
      type(c_funptr) :: address
      address = dlsym(c_null_ptr, name//c_null_char)
      all_there = all_there .and. c_associated(address)
      if (c_associated(address)) call c_f_procpointer(address, pointer)
    end subroutine find_plain
  end subroutine look_up
end module partune
