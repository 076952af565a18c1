! Twelve reals in a coarray, four on each of three images, but image q + 1 reads elements q, q + 3, q + 6, q + 9: half of them lie on another
! image, and would not if the elements were dealt out one by one. What is read with holes, by a vector or through a component has no address.
!
! expect 3 ranks
! expect each: gets 7, got 80
program addresses
  implicit none
  type node
    real(8), allocatable :: values(:)
  end type
  real(8), allocatable :: mine(:)[:], other(:)[:]
  type(node) :: tree[*]
  real(8) :: pair(2), one
  integer :: i, me, next
  logical :: good = .true.
  allocate (mine(4)[*], other(4)[*])
  allocate (tree%values(2))
  me = this_image()
  next = mod(me, num_images()) + 1
  mine = [(4 * (me - 1) + i, i = 0, 3)]
  other = mine
  tree%values = me
  sync all
  do i = me - 1, 11, 3
    one = mine(mod(i, 4) + 1)[i / 4 + 1]
    good = good .and. one == i
  end do
  pair = other(1:3:2)[next]
  good = good .and. pair(2) == 4 * (next - 1) + 2
  pair = other([4, 1])[next]
  good = good .and. pair(1) == 4 * (next - 1) + 3
  pair = tree[next]%values(1:2)
  good = good .and. pair(2) == next
  sync all
  if (.not. good) error stop 1
end program
