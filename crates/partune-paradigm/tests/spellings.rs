//! Spellings: what each producer and language calls a construct.

use partune_paradigm::recognise;
use partune_trace::Completion::{self, Blocking, Buffered, NonBlocking, Persistent, Synchronous};
use partune_trace::Role::{self, *};

/// Each row: canonical name, role, completion, and names that mean it without a hint.
#[rustfmt::skip]
const SPELLINGS: &[(&str, Role, Completion, &[&str])] = &[
    ("MPI_Send", Send, Blocking, &["MPI_Send", "PMPI_Send", "MPI_Send_c", "PMPI_Send_c", "MPI_SEND", "PMPI_SEND", "mpi_send", "mpi_send_",
        "mpi_send__", "pmpi_send", "pmpi_send_", "pmpi_send__", "mpi_send_f08_", "pmpi_send_f08_", "mpi_send_f08ts_", "mpi_send_f08ts_large_",
        "mpi_send_c_", "MPI_Send_f", "MPI_Send_f08", "MPI_Send()", " MPI_Send "]),
    ("MPI_Ssend", Send, Synchronous, &["MPI_Ssend", "mpi_ssend_"]),
    ("MPI_Bsend", Send, Buffered, &["MPI_Bsend"]),
    ("MPI_Rsend", Send, Blocking, &["MPI_Rsend"]),
    ("MPI_Issend", Send, NonBlocking, &["MPI_Issend", "mpi_issend_"]),
    ("MPI_Recv_init", Recv, Persistent, &["MPI_Recv_init", "MPI_Recv_init_c", "mpi_recv_init_f08ts_"]),
    ("MPI_Precv_init", Recv, Persistent, &["MPI_Precv_init", "PMPI_Precv_init", "mpi_precv_init_"]),
    ("MPI_Pack", Management, Blocking, &["MPI_Pack", "PMPI_Pack", "pmpi_pack_"]),
    ("MPI_Startall", SendRecv, NonBlocking, &["MPI_Startall"]),
    ("MPI_Sendrecv_replace", SendRecv, Blocking, &["mpi_sendrecv_replace_"]),
    ("MPI_Mprobe", Probe, Blocking, &["MPI_Mprobe"]),
    ("MPI_Iprobe", Probe, NonBlocking, &["MPI_Iprobe"]),
    ("MPI_Waitall", CommSync, Blocking, &["MPI_Waitall", "mpi_waitall_"]),
    ("MPI_Testany", CommSync, NonBlocking, &["MPI_Testany"]),
    ("MPI_Parrived", CommSync, NonBlocking, &["MPI_Parrived"]),
    ("MPI_Barrier", GroupSync, Blocking, &["MPI_Barrier", "mpi_barrier_"]),
    ("MPI_Ibarrier", GroupNotify, NonBlocking, &["MPI_Ibarrier"]),
    ("MPI_Iscatterv", OneToAll, NonBlocking, &["MPI_Iscatterv", "MPI_Iscatterv_c"]),
    ("MPI_Reduce_init", AllToOne, Persistent, &["MPI_Reduce_init", "MPIX_Reduce_init"]),
    ("MPI_Reduce_scatter_block", AllToAll, Blocking, &["MPI_Reduce_scatter_block"]),
    ("MPI_Ineighbor_alltoallw", SendRecv, NonBlocking, &["MPI_Ineighbor_alltoallw"]),
    ("MPI_Exscan", Scan, Blocking, &["MPI_Exscan"]),
    ("MPI_Comm_split", GlobalAlloc, Blocking, &["MPI_Comm_split"]),
    ("MPI_Comm_idup", GlobalAlloc, NonBlocking, &["MPI_Comm_idup"]),
    ("MPI_Put", Put, NonBlocking, &["MPI_Put"]),
    ("MPI_Raccumulate", Put, NonBlocking, &["MPI_Raccumulate"]),
    ("MPI_Fetch_and_op", Atomic, NonBlocking, &["MPI_Fetch_and_op"]),
    ("MPI_Win_fence", RmaGroupSync, Blocking, &["MPI_Win_fence"]),
    ("MPI_Win_post", RmaPost, NonBlocking, &["MPI_Win_post"]),
    ("MPI_Win_start", RmaStart, Blocking, &["MPI_Win_start"]),
    ("MPI_Win_complete", RmaComplete, Blocking, &["mpi_win_complete_"]),
    ("MPI_Win_wait", RmaWait, Blocking, &["MPI_Win_wait"]),
    ("MPI_Win_test", RmaWait, NonBlocking, &["MPI_Win_test"]),
    ("MPI_Win_lock_all", LockAcquire, Blocking, &["MPI_Win_lock_all"]),
    ("MPI_Win_unlock", LockRelease, Blocking, &["MPI_Win_unlock"]),
    ("MPI_Win_flush_local_all", CommSync, Blocking, &["MPI_Win_flush_local_all"]),
    ("MPI_File_open", GlobalAlloc, Blocking, &["MPI_File_open"]),
    ("MPI_File_iwrite_at_all", Io, NonBlocking, &["MPI_File_iwrite_at_all"]),
    ("MPI_Info_f2c", Inquiry, Blocking, &["MPI_Info_f2c"]),
    ("MPI_Wtime", Inquiry, Blocking, &["MPI_Wtime", "mpi_wtime_", "MPI_WTIME"]),
    ("MPI_T_pvar_read", Inquiry, Blocking, &["MPI_T_pvar_read"]),
    ("MPI_Type_create_f90_real", Management, Blocking, &["MPI_Type_create_f90_real", "mpi_type_create_f90_real_"]),
    ("MPI_Comm_spawn", PeManagement, Blocking, &["MPI_Comm_spawn"]),
    ("omp parallel", Parallel, Blocking, &["!$omp parallel", "!$omp parallel @cg.f:167", "!$omp parallel@0x4021", "!$omp parallel @0x00004021",
        "OpenMP parallel", "#pragma omp parallel"]),
    ("omp implicit task", Parallel, Blocking, &["!$omp implicit task", "!$omp implicit_task", "OpenMP implicit task"]),
    ("omp barrier", GroupSync, Blocking, &["!$omp barrier @cg.f:178", "OpenMP barrier"]),
    ("omp implicit barrier", GroupSync, Blocking, &["!$omp implicit barrier @is.c:468", "OpenMP implicit barrier"]),
    ("omp implicit barrier (teams)", GroupSync, Blocking, &["!$omp implicit barrier (teams) @a.c:1"]),
    ("omp wait barrier", GroupSync, Blocking, &["!$omp wait_barrier"]),
    ("omp do", WorkSharing, Blocking, &["!$omp do @cg.f:189"]),
    ("omp for/do", WorkSharing, Blocking, &["!$omp for/do @a.c:3"]),
    ("omp loop", WorkSharing, Blocking, &["!$omp loop", "OpenMP loop"]),
    ("omp single sblock", WorkSharing, Blocking, &["!$omp single sblock @a.c:9"]),
    ("omp critical", LockAcquire, Blocking, &["!$omp critical @jacobi_cuda.c:200", "!$omp critical (queue) @a.c:7"]),
    ("omp critical sblock", User, Blocking, &["!$omp critical sblock @jacobi_cuda.c:200"]),
    ("omp acquire mutex", LockAcquire, Blocking, &["OpenMP acquire mutex"]),
    ("omp create task", TaskCreate, Blocking, &["!$omp create task @a.c:1"]),
    ("omp task", TaskRun, Blocking, &["!$omp task", "OpenMP task"]),
    ("omp taskwait", TaskWait, Blocking, &["!$omp taskwait @a.c:1"]),
    ("omp target (kernel execution)", User, Blocking, &["!$omp target (kernel execution)"]),
    ("omp_set_lock", LockAcquire, Blocking, &["omp_set_lock", "omp_set_lock_", "omp_set_lock_8_", "OMP_SET_LOCK"]),
    ("omp_test_nest_lock", LockAcquire, NonBlocking, &["omp_test_nest_lock"]),
    ("shmem_put", Put, Blocking, &["shmem_put", "shmem_double_put", "pshmem_double_put", "shmem_ctx_longlong_put", "shmem_put64", "shmem_ctx_put8",
        "shmem_complexf_put", "SHMEM_REAL_PUT", "shmem_integer_put_", "shmem_put4_", "shmem_int_put()"]),
    ("shmem_putmem", Put, Blocking, &["shmem_putmem", "shmem_ctx_putmem"]),
    ("shmem_get_nbi", Get, NonBlocking, &["shmem_get128_nbi", "shmem_ctx_uint64_get_nbi", "shmem_ptrdiff_get_nbi"]),
    ("shmem_p", Put, Blocking, &["shmem_int_p", "shmemx_int16_p", "shmem_ctx_size_p"]),
    ("shmem_g", Get, Blocking, &["shmem_longdouble_g"]),
    ("shmem_put_signal_nbi", Put, NonBlocking, &["shmem_double_put_signal_nbi", "shmem_ctx_put32_signal_nbi"]),
    ("shmem_putmem_signal", Put, Blocking, &["shmem_ctx_putmem_signal"]),
    ("shmem_atomic_fetch_add", Atomic, Blocking, &["shmem_ctx_int_atomic_fetch_add", "shmem_int32_atomic_fetch_add"]),
    ("shmem_atomic_compare_swap_nbi", Atomic, NonBlocking, &["shmem_long_atomic_compare_swap_nbi"]),
    ("shmem_fadd", Atomic, Blocking, &["shmem_longlong_fadd", "shmemx_int64_fadd", "SHMEM_INT4_FADD"]),
    ("shmem_quiet", CommSync, Blocking, &["shmem_quiet", "shmem_ctx_quiet", "SHMEM_QUIET"]),
    ("shmem_ctx_destroy", CommSync, Blocking, &["shmem_ctx_destroy"]),
    ("shmem_wait_until", WaitOnValue, Blocking, &["shmem_wait_until", "shmem_ushort_wait_until", "shmemx_int32_wait_until"]),
    ("shmem_test_any_vector", WaitOnValue, NonBlocking, &["shmem_size_test_any_vector"]),
    ("shmem_signal_wait_until", WaitOnValue, Blocking, &["shmem_signal_wait_until"]),
    ("shmem_barrier_all", GroupSync, Blocking, &["shmem_barrier_all", "shmem_barrier_all_"]),
    ("shmem_team_sync", GroupSync, Blocking, &["shmem_team_sync"]),
    ("shmem_broadcast", OneToAll, Blocking, &["shmem_broadcast32", "shmem_int_broadcast", "shmem_broadcast4_"]),
    ("shmem_sum_to_all", AllToAll, Blocking, &["shmem_complexd_sum_to_all", "shmem_int_sum_to_all", "SHMEM_SUM_INT4_TO_ALL"]),
    ("shmem_xor_reduce", AllToAll, Blocking, &["shmem_uint8_xor_reduce"]),
    ("shmem_test_lock", LockAcquire, NonBlocking, &["shmem_test_lock"]),
    ("shmalloc", GlobalAlloc, Blocking, &["shmalloc"]),
    ("_num_pes", Inquiry, Blocking, &["_num_pes"]),
    ("sync all", GroupSync, Blocking, &["_gfortran_caf_sync_all", "caf_sync_all", "_caf_extensions_sync_all"]),
    ("event wait", WaitOnValue, Blocking, &["_gfortran_caf_event_wait"]),
    ("put", Put, Blocking, &["_gfortran_caf_send", "_gfortran_caf_send_by_ref", "_gfortran_caf_send_to_remote"]),
    ("co_sum", AllToAll, Blocking, &["_gfortran_caf_co_sum"]),
    ("upc_memput", Put, Blocking, &["upc_memput", "GASP_UPC_MEMPUT"]),
    ("upc_notify", GroupNotify, NonBlocking, &["upc_notify"]),
    ("upc_wait", GroupWait, Blocking, &["upc_wait", "GASP_UPC_WAIT"]),
    ("upc_all_reduce", AllToOne, Blocking, &["upc_all_reduceD", "upc_all_reduceUC", "GASP_UPC_ALL_REDUCE"]),
    ("upc_all_prefix_reduce", Scan, Blocking, &["upc_all_prefix_reduceLD"]),
    ("pthread_mutex_lock", LockAcquire, Blocking, &["pthread_mutex_lock"]),
    ("pthread_attr", Management, Blocking, &["pthread_attr_init", "pthread_mutexattr_settype"]),
    ("pthread_barrier_wait", GroupSync, Blocking, &["pthread_barrier_wait"]),
    ("cuMemcpyDtoH", Get, Blocking, &["cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2_ptds"]),
    ("cudaDeviceSynchronize", DeviceWait, Blocking, &["cudaDeviceSynchronize", "cudaDeviceSynchronize_v3020"]),
    ("cuStreamSynchronize", DeviceWait, Blocking, &["cuStreamSynchronize", "cuStreamSynchronize_ptsz"]),
    ("cudaStreamWaitEvent", TaskCreate, NonBlocking, &["cudaStreamWaitEvent"]),
    ("hipEventSynchronize", DeviceWait, Blocking, &["hipEventSynchronize"]),
    ("hipMemcpy", Put, Blocking, &["hipMemcpy", "hipMemcpy_spt"]),
    ("hsa_signal_wait_scacquire", DeviceWait, Blocking, &["hsa_signal_wait_scacquire"]),
    ("clFinish", DeviceWait, Blocking, &["clFinish"]),
    ("WAIT FOR COMMAND QUEUE", DeviceWait, Blocking, &["WAIT FOR COMMAND QUEUE"]),
    ("clEnqueueNDRangeKernel", TaskCreate, NonBlocking, &["clEnqueueNDRangeKernel"]),
    ("acc_wait", DeviceWait, Blocking, &["acc_wait", "acc_wait_", "acc_wait_h_", "acc_wait@stencil.c:12", "openacc_wait"]),
    ("acc_upload", Put, Blocking, &["acc_upload@stencil.c:12"]),
    ("acc_present_or_copyin", Put, Blocking, &["acc_present_or_copyin_array_h_"]),
    ("sycl::queue::wait", DeviceWait, Blocking, &["sycl::queue::wait()", "sycl::_V1::queue::wait()", "cl::sycl::queue::wait()"]),
    ("sycl::queue::memcpy", Put, NonBlocking, &["sycl::_V1::queue::memcpy(void*, void const*, unsigned long)"]),
    ("urQueueFinish", DeviceWait, Blocking, &["urQueueFinish", "piQueueFinish"]),
    ("urEventWait", DeviceWait, Blocking, &["urEventWait", "piEventsWait"]),
    ("urEnqueueUSMMemcpy", Put, NonBlocking, &["urEnqueueUSMMemcpy", "piextUSMEnqueueMemcpy"]),
    ("zeCommandQueueSynchronize", DeviceWait, Blocking, &["zeCommandQueueSynchronize"]),
    ("zeCommandListAppendLaunchKernel", TaskCreate, NonBlocking, &["zeCommandListAppendLaunchKernel"]),
    ("hipLaunchKernel", TaskCreate, NonBlocking, &["hipLaunchKernel"]),
    ("fread", Io, Blocking, &["fread"]),
    ("TRACE BUFFER FLUSH", Measurement, Blocking, &["TRACE BUFFER FLUSH"]),
];

#[test]
fn spellings() {
    for &(canonical, role, completion, names) in SPELLINGS {
        for &name in names {
            // Whatever the producer says: EZTrace calls everything a user's function.
            for hint in [None, Some("USER"), Some("COMPILER"), Some("QTTHREAD"), Some("")] {
                let found = recognise(name, hint).unwrap_or_else(|| panic!("{name}, {hint:?}")).construct;
                assert_eq!((found.name, found.role, found.completion), (canonical, role, completion), "{name}");
            }
        }
    }
}

/// Names that only the producer's word makes a construct.
#[test]
fn ordinary_names_need_a_hint() {
    for (name, hint, canonical) in [
        ("read", "POSIX I/O", "read"),
        ("open", "POSIX_IO", "open"),
        ("printf", "ISO C I/O", "printf"),
        ("my_pe", "SHMEM", "my_pe"),
        ("NUM_PES", "OpenSHMEM", "num_pes"),
        ("sync all", "CAF", "sync all"),
        ("SYNC_ALL", "CAF", "sync all"),
        ("lock", "coarray", "lock"),
        ("put", "CAF", "put"),
        ("parallel @a.c:2", "OPENMP", "omp parallel"),
        ("cudaGraphicsMapResources", "CUDA", "other CUDA call"),
        ("hipIpcOpenMemHandle", "HIP", "other HIP call"),
        ("clIcdGetPlatformIDs", "OPENCL", "other OpenCL call"),
        ("acc_update", "OPENACC", "acc_update"),
        ("zetTracerExpCreate", "Level Zero", "other Level Zero call"),
        ("urVirtualMemMap", "SYCL", "other SYCL call"),
    ] {
        assert_eq!(recognise(name, Some(hint)).map(|found| found.construct.name), Some(canonical), "{name}");
        assert_eq!(recognise(name, None), None, "{name}");
        assert_eq!(recognise(name, Some("MPI")), None, "{name}");
    }
}

/// Names of users, close to those of constructs.
#[test]
fn users_keep_their_names() {
    for name in [
        "main",
        "exchange",
        "mpi_setup",
        "mpi_",
        "MPI_Foo",
        "Mpi_Send",
        "mpi_Send",
        "MPI_send",
        "PMPI",
        "xMPI_Send",
        "my_MPI_Send",
        "Comm::MPI_Send",
        "comm.mpi_send_",
        "mpi_sendx",
        "barrier",
        "omp",
        "omp_solver",
        "parallel",
        "main._omp_fn.0",
        "shmem_solve",
        "shmem_my_put",
        "shmemput",
        "shmem_foo_put",
        "upc_solve",
        "upc_all_reduceX",
        "caf_solve",
        "caf_put",
        "caf_allocate",
        "pthread_worker",
        "read",
        "write",
        "open",
        "lock",
        "send",
        "get",
        "put",
        "wait",
        "sync",
        "my_pe",
        "cublasSaxpy",
        "custom_kernel",
        "copy_kernel",
        "_Z11copy_kernelPfPKfii",
        "heavy_kernel(float*, float const*)",
        "hipster",
        "clamp",
        "clFinishAll",
        "acc_updates",
        "acc_update",
        "acceleration",
        "pivot",
        "pi",
        "urSolve",
        "zeta",
        "sycl::solve",
        "queue::wait",
        "IO",
        "threads",
        "LAMMPS_NS::Atom::init()",
        "ats_one_scorep",
    ] {
        for hint in [None, Some("USER"), Some("COMPILER"), Some("MPI"), Some("MEASUREMENT_SYSTEM")] {
            assert_eq!(recognise(name, hint).map(|found| found.construct.name), None, "{name}, {hint:?}");
        }
    }
    for kernel in ["_Z11copy_kernelPfPKfii", "custom_kernel", "heavy_kernel(float*, float const*)"] {
        assert_eq!(recognise(kernel, Some("CUDA")), None);
        assert_eq!(recognise(kernel, Some("HIP")), None);
    }
}
