! The kernels of NPB's BT, SP and LU, and what they change, for partune couple. bench/coupling.sh compiles this with -DBT, -DSP or -DLU beside NPB 3.4, and puts a
! call of it before the loop of a copy of the sources.
subroutine partune_npb
#ifdef BT
  use bt_data, only: u, rhs, us, vs, ws, qs, rho_i, square
#endif
#ifdef SP
  use sp_data, only: u, rhs, us, vs, ws, qs, rho_i, square, ainv, speed, lhs
#endif
#ifdef LU
  use lu_data, only: u, rsd
#endif
  use mpi
  use partune_couple
  implicit none
  integer :: error
#ifdef LU
  external :: ssor_iter, ssor_lt, ssor_ut, ssor_rs
  call partune_couple_kernel('ssor_iter', ssor_iter)
  call partune_couple_kernel('ssor_lt', ssor_lt)
  call partune_couple_kernel('ssor_ut', ssor_ut)
  call partune_couple_kernel('ssor_rs', ssor_rs)
  call partune_couple_doubles(u, size(u))
  call partune_couple_doubles(rsd, size(rsd))
#else
  external :: copy_faces, txinvr, x_solve, y_solve, z_solve, add
  call partune_couple_kernel('copy_faces', copy_faces)
#ifdef SP
  call partune_couple_kernel('txinvr', txinvr)
#endif
  call partune_couple_kernel('x_solve', x_solve)
  call partune_couple_kernel('y_solve', y_solve)
  call partune_couple_kernel('z_solve', z_solve)
  call partune_couple_kernel('add', add)
  call partune_couple_doubles(u, size(u))
  call partune_couple_doubles(rhs, size(rhs))
  call partune_couple_doubles(us, size(us))
  call partune_couple_doubles(vs, size(vs))
  call partune_couple_doubles(ws, size(ws))
  call partune_couple_doubles(qs, size(qs))
  call partune_couple_doubles(rho_i, size(rho_i))
  call partune_couple_doubles(square, size(square))
#endif
#ifdef SP
  call partune_couple_doubles(ainv, size(ainv))
  call partune_couple_doubles(speed, size(speed))
  call partune_couple_doubles(lhs, size(lhs))
#endif
  call partune_couple_iterations(TURNS)
  if (partune_couple_measure()) then
    call MPI_Finalize(error)
    stop
  end if
end subroutine partune_npb

#ifdef LU
! LU has its kernels in one loop: a right-hand side for a step of time, the lower and the upper triangle plane by plane, and what comes out of it.
subroutine ssor_iter
  use lu_data
  implicit none
  rsd(:, ist:iend, jst:jend, 2:nz - 1) = dt * rsd(:, ist:iend, jst:jend, 2:nz - 1)
end subroutine ssor_iter

subroutine ssor_lt
  use lu_data
  implicit none
  integer :: j, k
  do k = 2, nz - 1
    call exchange_1(rsd, k, 0)
    do j = jst, jend
      call jacld(j, k)
      call blts(isiz1, isiz2, isiz3, nx, ny, nz, j, k, omega, rsd, a, b, c, d, ist, iend, jst, jend, nx0, ny0, ipt, jpt)
    end do
    call exchange_1(rsd, k, 2)
  end do
end subroutine ssor_lt

subroutine ssor_ut
  use lu_data
  implicit none
  integer :: j, k
  double precision :: tv(5, isiz1)
  do k = nz - 1, 2, -1
    call exchange_1(rsd, k, 1)
    do j = jend, jst, -1
      call jacu(j, k)
      call buts(isiz1, isiz2, isiz3, nx, ny, nz, j, k, omega, rsd, tv, d, a, b, c, ist, iend, jst, jend, nx0, ny0, ipt, jpt)
    end do
    call exchange_1(rsd, k, 3)
  end do
end subroutine ssor_ut

subroutine ssor_rs
  use lu_data
  implicit none
  double precision :: factor
  factor = 1 / (omega * (2 - omega))
  u(:, ist:iend, jst:jend, 2:nz - 1) = u(:, ist:iend, jst:jend, 2:nz - 1) + factor * rsd(:, ist:iend, jst:jend, 2:nz - 1)
  call rhs
end subroutine ssor_rs
#endif
