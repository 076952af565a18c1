//! The table of regions of the synthetic program: its functions, and the constructs it calls.

use partune_otf2::codec::numbers::role;
use partune_otf2::paradigms;

use crate::SynthOptions;
use crate::options::Model;

/// A row of the table.
pub(crate) struct RegionRow {
    pub(crate) name: &'static str,
    pub(crate) role: u8,
    pub(crate) paradigm: u8,
    /// First and last line in `solver.c`; 0 for constructs without a place.
    pub(crate) lines: (u32, u32),
}

macro_rules! regions {
    ($($region:ident $name:literal $role:ident $paradigm:ident $first:literal..$last:literal)*) => {
        /// A region of the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Region { $($region),* }

        /// All regions, in the order of [`Region`].
        pub(crate) const REGIONS: &[RegionRow] = &[$(
            RegionRow { name: $name, role: role::$role, paradigm: paradigms::$paradigm, lines: ($first, $last) }
        ),*];
    };
}

regions! {
    Main "main" FUNCTION COMPILER 200..260
    TimeStep "time_step" FUNCTION COMPILER 170..195
    ComputeFlux "compute_flux" FUNCTION COMPILER 40..70
    KernelA "kernel_a" FUNCTION COMPILER 10..19
    KernelB "kernel_b" FUNCTION COMPILER 21..30
    ExchangeHalo "exchange_halo" FUNCTION COMPILER 72..101
    Pack "pack" FUNCTION COMPILER 32..34
    Unpack "unpack" FUNCTION COMPILER 36..38
    PassRing "pass_ring" FUNCTION COMPILER 103..117
    PackBlock "pack_block" FUNCTION COMPILER 119..121
    NeedBlock "need_block" FUNCTION COMPILER 123..125
    CheckResidual "check_residual" FUNCTION COMPILER 127..150
    KernelDot "kernel_dot" FUNCTION COMPILER 152..154
    SumLocal "sum_local" FUNCTION COMPILER 156..158
    ReadControl "read_control" FUNCTION COMPILER 160..162
    WriteState "write_state" FUNCTION COMPILER 164..166
    UpdateNorm "update_norm" FUNCTION COMPILER 167..168
    MpiInit "MPI_Init" FUNCTION MPI 0..0
    MpiFinalize "MPI_Finalize" FUNCTION MPI 0..0
    MpiIsend "MPI_Isend" POINT_TO_POINT MPI 0..0
    MpiIrecv "MPI_Irecv" POINT_TO_POINT MPI 0..0
    MpiWaitall "MPI_Waitall" POINT_TO_POINT MPI 0..0
    MpiSend "MPI_Send" POINT_TO_POINT MPI 0..0
    MpiRecv "MPI_Recv" POINT_TO_POINT MPI 0..0
    MpiAllreduce "MPI_Allreduce" ALL_TO_ALL MPI 0..0
    MpiReduce "MPI_Reduce" ALL_TO_ONE MPI 0..0
    MpiBcast "MPI_Bcast" ONE_TO_ALL MPI 0..0
    MpiBarrier "MPI_Barrier" BARRIER MPI 0..0
    OmpParallel "!$omp parallel @solver.c:44" PARALLEL OPENMP 44..66
    OmpFor "!$omp for @solver.c:46" LOOP OPENMP 46..54
    OmpImplicitBarrier "!$omp implicit barrier @solver.c:54" IMPLICIT_BARRIER OPENMP 54..54
    OmpCritical "!$omp critical @solver.c:58" CRITICAL OPENMP 58..62
    OmpCriticalBlock "!$omp critical sblock @solver.c:58" CRITICAL_BLOCK OPENMP 58..62
    OmpEndBarrier "!$omp implicit barrier @solver.c:66" IMPLICIT_BARRIER OPENMP 66..66
    ShmemInit "shmem_init" FUNCTION SHMEM 0..0
    ShmemFinalize "shmem_finalize" FUNCTION SHMEM 0..0
    ShmemPutmem "shmem_putmem" RMA SHMEM 0..0
    ShmemFence "shmem_fence" RMA SHMEM 0..0
    ShmemLongP "shmem_long_p" RMA SHMEM 0..0
    ShmemLongWaitUntil "shmem_long_wait_until" POINT_TO_POINT SHMEM 0..0
    ShmemBarrierAll "shmem_barrier_all" BARRIER SHMEM 0..0
    ShmemSum "shmem_double_sum_to_all" ALL_TO_ALL SHMEM 0..0
    ShmemBroadcast "shmem_broadcast64" ONE_TO_ALL SHMEM 0..0
    ShmemSetLock "shmem_set_lock" FUNCTION SHMEM 0..0
    ShmemClearLock "shmem_clear_lock" FUNCTION SHMEM 0..0
}

/// The id of each region in the archive: dense over the paradigms that the program uses; `None` for the others.
pub(crate) fn region_ids(options: &SynthOptions) -> Vec<Option<u32>> {
    let used = |number: u8| match number {
        paradigms::MPI => options.model == Model::Mpi,
        paradigms::SHMEM => options.model == Model::Shmem,
        paradigms::OPENMP => options.hybrid(),
        _ => true,
    };
    let mut next = 0..;
    REGIONS.iter().map(|row| if used(row.paradigm) { next.next() } else { None }).collect()
}
