! The kernels of livermore.c in Fortran.
module arrays
  use iso_c_binding
  implicit none
  integer, parameter :: n = 480, columns = 25, plane = 101
  real(c_double), bind(C) :: x(0:1023), y(0:1023), z(0:1023), u(0:1023), v(0:1023), w(0:1023)
  real(c_double), bind(C) :: b(0:63, 0:63), px(0:columns - 1, 0:127), cx(0:columns - 1, 0:127)
  real(c_double), bind(C) :: u1(0:4, 0:plane - 1, 0:1), u2(0:4, 0:plane - 1, 0:1), u3(0:4, 0:plane - 1, 0:1)
  real(c_double), bind(C) :: du1(0:plane - 1), du2(0:plane - 1), du3(0:plane - 1)
  real(c_double), bind(C) :: q, r, t
end module arrays

integer(c_long) function lfk1() bind(C)
  use arrays
  integer :: k
  real(c_double) :: a, c, d
  a = q; c = r; d = t
  do k = 0, n - 1
    x(k) = a + y(k)*(c*z(k + 10) + d*z(k + 11))
  end do
  lfk1 = n
end function

integer(c_long) function lfk2() bind(C)
  use arrays
  integer :: left, first, next, i, k
  lfk2 = 0; left = n; next = 0
  do
    first = next
    next = next + left
    left = left/2
    i = next - 1
    do k = first + 1, next - 1, 2
      i = i + 1
      x(i) = x(k) - v(k)*x(k - 1) - v(k + 1)*x(k + 1)
    end do
    lfk2 = lfk2 + (next - first)/2
    if (left <= 0) exit
  end do
end function

integer(c_long) function lfk3() bind(C)
  use arrays
  integer :: k
  real(c_double) :: total
  total = w(0)
  do k = 0, n - 1
    total = total + z(k)*x(k)
  end do
  w(0) = total
  lfk3 = n
end function

integer(c_long) function lfk4() bind(C)
  use arrays
  integer :: k, j, at
  real(c_double) :: total
  lfk4 = 0
  do k = 6, 1000, (1001 - 7)/2
    at = k - 6
    total = x(k - 1)
    do j = 4, n - 1, 5
      total = total - x(at)*y(j)
      at = at + 1
    end do
    x(k - 1) = y(4)*total
    lfk4 = lfk4 + n/5
  end do
end function

integer(c_long) function lfk5() bind(C)
  use arrays
  integer :: i
  x(0) = x(n - 1)
  do i = 1, n - 1
    x(i) = z(i)*(y(i) - x(i - 1))
  end do
  lfk5 = n - 1
end function

integer(c_long) function lfk6() bind(C)
  use arrays
  integer :: i, k
  real(c_double) :: total
  lfk6 = 0
  do i = 1, 63
    total = 0.01d0
    do k = 0, i - 1
      total = total + b(i, k)*w(i - k - 1)
    end do
    w(i) = total
    lfk6 = lfk6 + i
  end do
end function

integer(c_long) function lfk7() bind(C)
  use arrays
  integer :: k
  real(c_double) :: a, c, d
  a = q; c = r; d = t
  do k = 0, n - 1
    x(k) = u(k) + c*(z(k) + c*y(k)) + d*(u(k + 3) + c*(u(k + 2) + c*u(k + 1)) &
         + d*(u(k + 6) + a*(u(k + 5) + a*u(k + 4))))
  end do
  lfk7 = n
end function

integer(c_long) function lfk8() bind(C)
  use arrays
  integer :: kx, ky
  real(c_double), parameter :: a11 = 0.03d0, a12 = 0.02d0, a13 = 0.01d0, a21 = 0.01d0, a22 = 0.02d0, a23 = 0.03d0, &
                               a31 = 0.02d0, a32 = 0.01d0, a33 = 0.03d0, sig = 0.5d0
  do kx = 1, 2
    do ky = 1, plane - 2
      du1(ky) = u1(kx, ky + 1, 0) - u1(kx, ky - 1, 0)
      du2(ky) = u2(kx, ky + 1, 0) - u2(kx, ky - 1, 0)
      du3(ky) = u3(kx, ky + 1, 0) - u3(kx, ky - 1, 0)
      u1(kx, ky, 1) = u1(kx, ky, 0) + a11*du1(ky) + a12*du2(ky) + a13*du3(ky) &
                      + sig*(u1(kx + 1, ky, 0) - 2*u1(kx, ky, 0) + u1(kx - 1, ky, 0))
      u2(kx, ky, 1) = u2(kx, ky, 0) + a21*du1(ky) + a22*du2(ky) + a23*du3(ky) &
                      + sig*(u2(kx + 1, ky, 0) - 2*u2(kx, ky, 0) + u2(kx - 1, ky, 0))
      u3(kx, ky, 1) = u3(kx, ky, 0) + a31*du1(ky) + a32*du2(ky) + a33*du3(ky) &
                      + sig*(u3(kx + 1, ky, 0) - 2*u3(kx, ky, 0) + u3(kx - 1, ky, 0))
    end do
  end do
  lfk8 = 2*(plane - 2)
end function

integer(c_long) function lfk9() bind(C)
  use arrays
  integer :: i
  real(c_double), parameter :: dm22 = 0.1d0, dm23 = 0.2d0, dm24 = 0.3d0, dm25 = 0.4d0, dm26 = 0.5d0, dm27 = 0.6d0, &
                               dm28 = 0.7d0, c0 = 0.8d0
  do i = 0, 100
    px(0, i) = dm28*px(12, i) + dm27*px(11, i) + dm26*px(10, i) + dm25*px(9, i) + dm24*px(8, i) &
               + dm23*px(7, i) + dm22*px(6, i) + c0*(px(4, i) + px(5, i)) + px(2, i)
  end do
  lfk9 = 101
end function

integer(c_long) function lfk10() bind(C)
  use arrays
  integer :: i
  real(c_double) :: ar, br, cr
  do i = 0, 59
    ar = cx(4, i)
    br = ar - px(4, i); px(4, i) = ar
    cr = br - px(5, i); px(5, i) = br
    ar = cr - px(6, i); px(6, i) = cr
    br = ar - px(7, i); px(7, i) = ar
    cr = br - px(8, i); px(8, i) = br
    ar = cr - px(9, i); px(9, i) = cr
    br = ar - px(10, i); px(10, i) = ar
    cr = br - px(11, i); px(11, i) = br
    px(13, i) = cr - px(12, i); px(12, i) = cr
  end do
  lfk10 = 60
end function

integer(c_long) function lfk11() bind(C)
  use arrays
  integer :: k
  x(0) = x(n - 1) + y(0)
  do k = 1, n - 1
    x(k) = x(k - 1) + y(k)
  end do
  lfk11 = n - 1
end function

integer(c_long) function lfk12() bind(C)
  use arrays
  integer :: k
  do k = 0, n - 1
    x(k) = y(k + 1) - y(k)
  end do
  lfk12 = n
end function
