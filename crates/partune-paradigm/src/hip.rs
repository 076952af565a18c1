//! HIP: the runtime calls of the host, and those of HSA below it.
//!
//! As CUDA: kernels are user code, copies are puts and gets, synchronisation waits for the device, a launch creates a task. A call
//! without a row counts as management, where the producer says that it is a HIP call.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static HIP: Paradigm = Paradigm {
    name: "HIP",
    aliases: &["rocm", "hsa", "rocr"],
    class: Class::Accelerator,
    otf2: Some(23),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    EXACT.get(name.strip_suffix("_spt").unwrap_or(name))
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| EXACT.get(name)).or_else(|| {
        let rest = ["__hip", "hip"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
        if rest.starts_with(|c: char| c.is_ascii_uppercase()) { EXACT.get(OTHER) } else { None }
    })
}

/// The row of calls that have none.
const OTHER: &str = "other HIP call";

static CONSTRUCTS: &[Construct] = constructs! {
    // Memory
    "hipHostMalloc" => Management;
    "hipHostFree" => Management;
    "hipMalloc" => Management;
    "hipMallocHost" => Management;
    "hipMallocManaged" => Management;
    "hipMallocPitch" => Management;
    "hipMalloc3D" => Management;
    "hipMallocArray" => Management;
    "hipHostAlloc" => Management;
    "hipHostRegister" => Management;
    "hipHostUnregister" => Management;
    "hipFree" => Management;
    "hipFreeHost" => Management;
    "hipFreeArray" => Management;
    "hipHostGetDevicePointer" => Management;
    "hipMallocAsync" => Management, NonBlocking;
    "hipFreeAsync" => Management, NonBlocking;
    "hipMallocFromPoolAsync" => Management, NonBlocking;
    "hipPointerGetAttributes" => Inquiry;
    "hipMemGetInfo" => Inquiry;
    // Copies: to the device or where the call says
    "hipMemcpy" => Put;
    "hipMemcpy2D" => Put;
    "hipMemcpy3D" => Put;
    "hipMemcpyPeer" => Put;
    "hipMemcpyToSymbol" => Put;
    "hipMemset" => Put;
    "hipMemset2D" => Put;
    "hipMemset3D" => Put;
    "hipMemcpyHtoD" => Put;
    "hipMemcpyDtoD" => Put;
    "hipMemcpyWithStream" => Put;
    "hipMemcpyDtoH" => Get;
    "hipMemcpyFromSymbol" => Get;
    "hipMemcpyAsync" => Put, NonBlocking;
    "hipMemcpy2DAsync" => Put, NonBlocking;
    "hipMemcpy3DAsync" => Put, NonBlocking;
    "hipMemcpyPeerAsync" => Put, NonBlocking;
    "hipMemcpyToSymbolAsync" => Put, NonBlocking;
    "hipMemsetAsync" => Put, NonBlocking;
    "hipMemset2DAsync" => Put, NonBlocking;
    "hipMemset3DAsync" => Put, NonBlocking;
    "hipMemPrefetchAsync" => Put, NonBlocking;
    "hipMemcpyFromSymbolAsync" => Get, NonBlocking;
    "hipMemcpyHtoDAsync" => Put, NonBlocking;
    "hipMemcpyDtoDAsync" => Put, NonBlocking;
    "hipMemcpyDtoHAsync" => Get, NonBlocking;
    // Kernels and graphs: launching does not wait
    "hipModuleLaunchKernel" => TaskCreate, NonBlocking;
    "hipExtLaunchKernel" => TaskCreate, NonBlocking;
    "hipHccModuleLaunchKernel" => TaskCreate, NonBlocking;
    "hipExtModuleLaunchKernel" => TaskCreate, NonBlocking;
    "hipLaunchByPtr" => TaskCreate, NonBlocking;
    "hipLaunchKernel" => TaskCreate, NonBlocking;
    "hipLaunchKernelExC" => TaskCreate, NonBlocking;
    "hipLaunchCooperativeKernel" => TaskCreate, NonBlocking;
    "hipLaunchHostFunc" => TaskCreate, NonBlocking;
    "hipLaunch" => TaskCreate, NonBlocking;
    "hipGraphLaunch" => TaskCreate, NonBlocking;
    "hipGraphCreate" => Management;
    "hipGraphDestroy" => Management;
    "hipGraphInstantiate" => Management;
    "hipGraphExecDestroy" => Management;
    "hipStreamBeginCapture" => Management;
    "hipStreamEndCapture" => Management;
    // Synchronisation of the host with a device
    "hipDeviceSynchronize" => DeviceWait;
    "hipStreamSynchronize" => DeviceWait;
    "hipEventSynchronize" => DeviceWait;
    "hipStreamQuery" => DeviceWait, NonBlocking;
    "hipEventQuery" => DeviceWait, NonBlocking;
    "hipStreamWaitEvent" => TaskCreate, NonBlocking;
    "hipEventRecord" => TaskCreate, NonBlocking;
    "hipEventRecordWithFlags" => TaskCreate, NonBlocking;
    // Streams and events
    "hipStreamCreate" => Management;
    "hipStreamCreateWithFlags" => Management;
    "hipStreamCreateWithPriority" => Management;
    "hipStreamDestroy" => Management;
    "hipStreamAddCallback" => Management;
    "hipEventCreate" => Management;
    "hipEventCreateWithFlags" => Management;
    "hipEventDestroy" => Management;
    "hipEventElapsedTime" => Inquiry;
    // Devices
    "hipModuleGetFunction" => Inquiry;
    "hipCtxGetDevice" => Inquiry;
    "hipGetDevice" => Inquiry;
    "hipGetDeviceCount" => Inquiry;
    "hipGetDeviceProperties" => Inquiry;
    "hipDeviceGetAttribute" => Inquiry;
    "hipDeviceCanAccessPeer" => Inquiry;
    "hipDriverGetVersion" => Inquiry;
    "hipRuntimeGetVersion" => Inquiry;
    "hipGetLastError" => Inquiry;
    "hipPeekAtLastError" => Inquiry;
    "hipGetErrorString" => Inquiry;
    "hipGetErrorName" => Inquiry;
    "hipInit" => Management;
    "hipModuleLoad" => Management;
    "hipModuleLoadData" => Management;
    "hipModuleUnload" => Management;
    "hipSetDevice" => Management;
    "hipSetDeviceFlags" => Management;
    "hipDeviceReset" => Management;
    "hipDeviceEnablePeerAccess" => Management;
    "hipDeviceDisablePeerAccess" => Management;
    "hipFuncSetAttribute" => Management;
    "hipFuncSetCacheConfig" => Management;
    // HSA
    "hsa_init" => Management;
    "hsa_shut_down" => Management;
    "hsa_signal_create" => Management;
    "hsa_signal_destroy" => Management;
    "hsa_memory_allocate" => Management;
    "hsa_memory_free" => Management;
    "hsa_amd_memory_pool_allocate" => Management;
    "hsa_amd_memory_pool_free" => Management;
    "hsa_queue_create" => Management;
    "hsa_queue_destroy" => Management;
    "hsa_memory_copy" => Put;
    "hsa_amd_memory_fill" => Put;
    "hsa_amd_memory_async_copy" => Put, NonBlocking;
    "hsa_amd_memory_async_copy_on_engine" => Put, NonBlocking;
    "hsa_signal_wait_relaxed" => DeviceWait;
    "hsa_signal_wait_acquire" => DeviceWait;
    "hsa_signal_wait_scacquire" => DeviceWait;
    "hsa_amd_signal_wait_all" => DeviceWait;
    "hsa_amd_signal_wait_any" => DeviceWait;
    // Anything else
    "__hipPushCallConfiguration" => Management;
    "__hipPopCallConfiguration" => Management;
    "other HIP call" => Management;
};
