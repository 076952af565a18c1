! Every statement, so often as its place says, more often the higher the image; and what it did is right.
!
! expect 4 ranks
module reduction
contains
  pure integer function product_of(a, b)
    integer, intent(in) :: a, b
    product_of = a * b
  end function
end module

program counts
  use iso_fortran_env
  use reduction
  implicit none
  type node
    real(8), allocatable :: values(:)
  end type
  integer :: fixed(8)[*], me, n, next, before, i, value, again, here(8), total
  integer, allocatable :: made(:)[:]
  type(node) :: tree[*]
  type(lock_type) :: locks(2)[*]
  type(event_type) :: events(3)[*]
  integer(atomic_int_kind) :: number[*], old
  type(team_type) :: half
  logical :: got, good = .true.
  me = this_image()
  n = num_images()
  next = mod(me, n) + 1
  before = mod(me + n - 2, n) + 1
  fixed = me
  number = 0
  allocate (made(4)[*])
  allocate (tree%values(2 * me))
  tree%values = me
  made = 0
  sync all

  do i = 1, 1 + me
    fixed(2)[next] = 10 * me
  end do
  do i = 1, 2 + me
    made(1:3)[next] = [me, i, 7]
  end do
  do i = 1, 2 * me
    tree[next]%values(1) = 2.5d0
  end do
  sync all
  good = good .and. fixed(2) == 10 * before .and. made(1) == before .and. made(3) == 7 .and. tree%values(1) == 2.5d0
  do i = 1, 3 + me
    value = fixed(2)[next]
    good = good .and. value == 10 * me
  end do
  do i = 1, me
    here(1:4) = fixed(1:8:2)[next]
    here(1:2) = fixed([3, 2])[next]
    good = good .and. here(2) == 10 * me
  end do
  value = int(2 * tree[next]%values(1))
  good = good .and. value == 5
  sync all
  made(1:2)[next] = fixed(1:2)[before]
  sync all

  do i = 1, me
    sync memory
  end do
  sync images([next, before])
  sync images(*)
  if (me <= 2) sync images(3 - me)
  do i = 1, 1 + me
    lock (locks(2)[1])
    unlock (locks(2)[1])
    critical
      value = value + 1
    end critical
  end do
  lock (locks(1)[me], acquired_lock=got)
  good = good .and. got
  lock (locks(1)[me], acquired_lock=got, stat=value)
  unlock (locks(1)[me])
  do i = 1, 2
    event post(events(3)[next])
  end do
  event wait(events(3), until_count=2)
  call event_query(events(1), value)
  good = good .and. value == 0

  do i = 1, me
    call atomic_add(number[1], 1)
    call atomic_fetch_add(number[1], 1, old)
  end do
  sync all
  call atomic_ref(value, number[1])
  good = good .and. value == 20
  sync all
  call atomic_and(number[next], 3)
  call atomic_xor(number[next], 1)
  call atomic_fetch_and(number[next], 1, old)
  call atomic_fetch_xor(number[next], 1, old)
  call atomic_cas(number[next], old, 0, 1)
  sync all
  call atomic_define(number[next], me)
  sync all
  good = good .and. number == before

  value = me
  call co_sum(value)
  good = good .and. value == 10
  value = me
  call co_max(value)
  good = good .and. value == 4
  call co_min(value)
  again = me
  call co_broadcast(again, source_image=3)
  good = good .and. again == 3
  value = me
  call co_reduce(value, product_of)
  good = good .and. value == 24
  call co_sum(value, result_image=2)
  call co_min(value, result_image=2)
  call co_max(value, result_image=2)
  call co_reduce(value, product_of, result_image=2)

  form team(1 + mod(me, 2), half)
  do i = 1, me
    sync team(half)
    if (i == 1) exit
  end do
  change team(half)
    total = this_image()
    call co_sum(total)
    good = good .and. total == 3
    fixed(5)[3 - this_image()] = 100 + me
    sync all
  end team
  good = good .and. fixed(5) == 100 + merge(me - 2, me + 2, me > 2)
  deallocate (tree%values)
  deallocate (made)
  sync all
  if (.not. good) error stop 1
end program
