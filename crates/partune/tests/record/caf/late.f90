! Whoever is late in each thing that images do together. Sleep has no samples: it is in what the calls before and after it have in common, so there is
! one before.
! At its end an image says when it was in the operations where it waits, `in MARK TURN RANK ENTER EXIT`, when it let others go on,
! `gives MARK TURN RANK TIME 0`, and what its sleep took over what it asked for, `worked RANK RATIO MARK`. Ranks are images less one.
!
! expect 4 ranks
! expect flags -fno-inline
! expect wait wait_on_value at EVENT: event wait, ranks 1, 0.30 s, causes 0, path parts::events, in parts::events
! expect wait wait_on_lock at LOCK: lock, ranks 3, 0.30 s, causes 2, path parts::locks, in parts::locks
! expect wait wait_on_lock at CRITICAL: critical, ranks 1, 0.30 s, causes 0, path parts::one_by_one, in parts::one_by_one
! expect wait wait_at_barrier at ALL: sync all, ranks 0 2 3, 0.30 s, causes 1, path parts::meet, in parts::meet
! expect wait late_partner at IMAGES: sync images, ranks 0, 0.30 s, causes 2, path parts::pairs, in parts::pairs
! expect wait wait_at_barrier at TEAM: sync team, ranks 1, 0.30 s, causes 3, path parts::halves, in parts::halves
! expect wait late_broadcast at BROADCAST: co_broadcast, ranks 0 2 3, 0.30 s, causes 1, path parts::give, in parts::give
! expect wait wait_at_nxn at REDUCTION: co_sum, ranks 0 1 2, 0.30 s, causes 3, path parts::add, in parts::add
! expect wait early_reduce at ROOT: co_max result_image, ranks 1, 0.30 s, causes 2, path parts::greatest, in parts::greatest
module parts
  use iso_c_binding
  use iso_fortran_env
  implicit none
  type record
    character(4) :: what
    character(9) :: mark
    integer :: turn
    real(8) :: enter, leave
  end type
  interface
    integer(c_int) function usleep(microseconds) bind(C)
      import
      integer(c_int), value :: microseconds
    end function
  end interface
  type(record) :: said(200)
  integer :: count = 0, turn, me, bad = 0
  logical :: balanced = .false.
  character(9) :: mark
  real(8) :: asked = 0, took = 0
  type(event_type) :: posted[*]
  type(lock_type) :: held[*]
  type(team_type) :: half
contains
  real(8) function now()
    integer(8) :: ticks, rate
    call system_clock(ticks, rate)
    now = real(ticks, 8) / real(rate, 8)
  end function

  subroutine say(what, enter, leave)
    character(*), intent(in) :: what
    real(8), intent(in) :: enter, leave
    count = count + 1
    said(count) = record(what, mark, turn, enter, leave)
  end subroutine

  subroutine late(is_late)
    logical, intent(in) :: is_late
    real(8) :: start
    integer :: done
    if (.not. (is_late .or. balanced)) return
    start = now()
    done = usleep(100000_c_int)
    asked = asked + 0.1d0
    took = took + now() - start
  end subroutine

  subroutine events()
    real(8) :: enter
    sync memory
    call late(me == 1)
    if (me == 1) then
      event post(posted[2])
      call say('gives', now(), 0d0)
    end if
    if (me == 2) then
      enter = now()
      event wait(posted) ! EVENT
      call say('in', enter, now())
    end if
  end subroutine

  subroutine locks()
    real(8) :: enter
    if (me == 3) lock(held[1])
    sync all
    call late(me == 3)
    if (me == 3) then
      call say('gives', now(), 0d0)
      unlock(held[1])
    end if
    if (me == 4) then
      enter = now()
      lock(held[1]) ! LOCK
      call say('in', enter, now())
      unlock(held[1])
    end if
  end subroutine

  subroutine one_by_one()
    real(8) :: enter
    integer :: done
    if (balanced) call late(.true.)
    if (balanced .or. me > 2) return
    if (me == 2) done = usleep(20000_c_int)
    enter = now()
    critical ! CRITICAL
      if (me == 2) call say('in', enter, now())
      call late(me == 1)
      if (me == 1) call say('gives', now(), 0d0)
    end critical
  end subroutine

  subroutine meet()
    real(8) :: enter
    sync memory
    call late(me == 2)
    enter = now()
    sync all ! ALL
    call say('in', enter, now())
  end subroutine

  subroutine pairs()
    real(8) :: enter
    sync memory
    call late(me == 3)
    enter = now()
    if (me == 1) sync images(3) ! IMAGES
    if (me == 3) sync images([1])
    if (me == 1 .or. me == 3) call say('in', enter, now())
  end subroutine

  subroutine halves()
    real(8) :: enter
    sync memory
    call late(me == 4)
    enter = now()
    if (mod(me, 2) == 1) return
    sync team(half) ! TEAM
    call say('in', enter, now())
  end subroutine

  subroutine give()
    integer :: value
    real(8) :: enter
    sync memory
    value = merge(turn, 0, me == 2)
    call late(me == 2)
    if (me == 2) call say('gives', now(), 0d0)
    enter = now()
    call co_broadcast(value, source_image=2) ! BROADCAST
    call say('in', enter, now())
    if (value /= turn) bad = 1
  end subroutine

  subroutine add()
    integer :: value
    real(8) :: enter
    sync memory
    value = me
    call late(me == 4)
    enter = now()
    call co_sum(value) ! REDUCTION
    call say('in', enter, now())
    if (value /= 10) bad = 1
  end subroutine

  subroutine greatest()
    integer :: value
    real(8) :: enter
    sync memory
    value = me
    call late(me == 3)
    if (me == 3) call say('gives', now(), 0d0)
    enter = now()
    call co_max(value, result_image=2) ! ROOT
    if (me == 2) call say('in', enter, now())
    if (me == 2 .and. value /= 4) bad = 1
  end subroutine
end module

program lateness
  use parts
  implicit none
  character(9) :: argument
  character(9), parameter :: marks(9) = [character(9) :: 'EVENT', 'LOCK', 'CRITICAL', 'ALL', 'IMAGES', 'TEAM', 'BROADCAST', &
    'REDUCTION', 'ROOT']
  integer :: i
  me = this_image()
  call get_command_argument(1, argument)
  balanced = argument == 'balanced'
  form team(2 - mod(me, 2), half)
  sync all ! START
  do i = 1, size(marks)
    mark = marks(i)
    asked = 0
    took = 0
    do turn = 1, 3
      select case (i)
        case (1); call events()
        case (2); call locks()
        case (3); call one_by_one()
        case (4); call meet()
        case (5); call pairs()
        case (6); call halves()
        case (7); call give()
        case (8); call add()
        case (9); call greatest()
      end select
      sync all
    end do
    if (asked > 0) then
      turn = 0
      call say('work', took / asked, 0d0)
    end if
  end do
  do i = 1, count
    if (said(i)%what == 'work') then
      write (*, '(a, 1x, i0, 1x, f0.6, 1x, a)') 'worked', me - 1, said(i)%enter, trim(said(i)%mark)
    else
      write (*, '(a, 1x, a, 1x, i0, 1x, i0, 1x, f0.9, 1x, f0.9)') trim(merge('gives', 'in   ', said(i)%what == 'give')), &
        trim(said(i)%mark), said(i)%turn, me - 1, said(i)%enter, said(i)%leave
    end if
  end do
  if (bad /= 0) error stop 1
end program
