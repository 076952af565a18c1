! The same; names are trimmed.
program marks
  use partune
  implicit none
  integer :: i
  call partune_phase_begin('setup  ')
  call partune_loop_begin('steps')
  do i = 1, 2
    call partune_iteration_begin()
    call partune_region_begin('solve')
    call partune_region_end('solve ')
    call partune_iteration_end()
  end do
  call partune_loop_end()
  call partune_phase_end('setup')
  call partune_record_off()
  call partune_region_begin('unseen')
  call partune_region_end('unseen')
  call partune_record_on()
  print '(a)', 'done'
end program marks
