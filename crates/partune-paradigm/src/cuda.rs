//! CUDA: the runtime (`cuda*`) and driver (`cu*`) calls of the host, as CUPTI names them.
//!
//! Kernels are user code and no rows. A device seen from the host: copies are puts and gets, synchronisation waits for the device,
//! and what is put into a stream (a launch, an event to be recorded or waited for there) is a task that is created. A call without
//! a row counts as management, where the producer says that it is a CUDA call.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static CUDA: Paradigm = Paradigm {
    name: "CUDA",
    aliases: &["cupti"],
    class: Class::Accelerator,
    otf2: Some(5),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// What the driver appends when a signature changes or the default stream is a thread's own.
const SUFFIXES: [&str; 5] = ["_ptsz", "_ptds", "_v3020", "_v3", "_v2"];

fn recognise(name: &str) -> Option<&'static Construct> {
    if !name.starts_with("cu") && !name.starts_with("__cuda") {
        return None;
    }
    let stem = SUFFIXES.iter().fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name));
    EXACT.get(stem)
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| EXACT.get(name)).or_else(|| {
        let rest = ["__cuda", "cuda", "cu"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
        if rest.starts_with(|c: char| c.is_ascii_uppercase()) { EXACT.get(OTHER) } else { None }
    })
}

/// The row of calls that have none.
const OTHER: &str = "other CUDA call";

static CONSTRUCTS: &[Construct] = constructs! {
    // Memory
    "cudaMalloc" => Management;
    "cudaMallocHost" => Management;
    "cudaMallocManaged" => Management;
    "cudaMallocPitch" => Management;
    "cudaMalloc3D" => Management;
    "cudaMallocArray" => Management;
    "cudaHostAlloc" => Management;
    "cudaHostRegister" => Management;
    "cudaHostUnregister" => Management;
    "cudaFree" => Management;
    "cudaFreeHost" => Management;
    "cudaFreeArray" => Management;
    "cudaHostGetDevicePointer" => Management;
    "cudaMallocAsync" => Management, NonBlocking;
    "cudaFreeAsync" => Management, NonBlocking;
    "cudaMallocFromPoolAsync" => Management, NonBlocking;
    "cudaPointerGetAttributes" => Inquiry;
    "cudaMemGetInfo" => Inquiry;
    // Copies: to the device or where the call says
    "cudaMemcpy" => Put;
    "cudaMemcpy2D" => Put;
    "cudaMemcpy3D" => Put;
    "cudaMemcpyPeer" => Put;
    "cudaMemcpyToSymbol" => Put;
    "cudaMemset" => Put;
    "cudaMemset2D" => Put;
    "cudaMemset3D" => Put;
    "cudaMemcpyFromSymbol" => Get;
    "cudaMemcpyAsync" => Put, NonBlocking;
    "cudaMemcpy2DAsync" => Put, NonBlocking;
    "cudaMemcpy3DAsync" => Put, NonBlocking;
    "cudaMemcpyPeerAsync" => Put, NonBlocking;
    "cudaMemcpyToSymbolAsync" => Put, NonBlocking;
    "cudaMemsetAsync" => Put, NonBlocking;
    "cudaMemset2DAsync" => Put, NonBlocking;
    "cudaMemset3DAsync" => Put, NonBlocking;
    "cudaMemPrefetchAsync" => Put, NonBlocking;
    "cudaMemcpyFromSymbolAsync" => Get, NonBlocking;
    // Kernels and graphs: launching does not wait
    "cudaLaunchKernel" => TaskCreate, NonBlocking;
    "cudaLaunchKernelExC" => TaskCreate, NonBlocking;
    "cudaLaunchCooperativeKernel" => TaskCreate, NonBlocking;
    "cudaLaunchHostFunc" => TaskCreate, NonBlocking;
    "cudaLaunch" => TaskCreate, NonBlocking;
    "cudaGraphLaunch" => TaskCreate, NonBlocking;
    "cudaGraphCreate" => Management;
    "cudaGraphDestroy" => Management;
    "cudaGraphInstantiate" => Management;
    "cudaGraphExecDestroy" => Management;
    "cudaStreamBeginCapture" => Management;
    "cudaStreamEndCapture" => Management;
    // Synchronisation of the host with a device
    "cudaDeviceSynchronize" => DeviceWait;
    "cudaThreadSynchronize" => DeviceWait;
    "cudaStreamSynchronize" => DeviceWait;
    "cudaEventSynchronize" => DeviceWait;
    "cudaSynchronize" => DeviceWait;
    "cudaStreamQuery" => DeviceWait, NonBlocking;
    "cudaEventQuery" => DeviceWait, NonBlocking;
    "cudaStreamWaitEvent" => TaskCreate, NonBlocking;
    "cudaEventRecord" => TaskCreate, NonBlocking;
    "cudaEventRecordWithFlags" => TaskCreate, NonBlocking;
    // Streams and events
    "cudaStreamCreate" => Management;
    "cudaStreamCreateWithFlags" => Management;
    "cudaStreamCreateWithPriority" => Management;
    "cudaStreamDestroy" => Management;
    "cudaStreamAddCallback" => Management;
    "cudaEventCreate" => Management;
    "cudaEventCreateWithFlags" => Management;
    "cudaEventDestroy" => Management;
    "cudaEventElapsedTime" => Inquiry;
    // Devices
    "cudaGetDevice" => Inquiry;
    "cudaGetDeviceCount" => Inquiry;
    "cudaGetDeviceProperties" => Inquiry;
    "cudaDeviceGetAttribute" => Inquiry;
    "cudaDeviceCanAccessPeer" => Inquiry;
    "cudaDriverGetVersion" => Inquiry;
    "cudaRuntimeGetVersion" => Inquiry;
    "cudaGetLastError" => Inquiry;
    "cudaPeekAtLastError" => Inquiry;
    "cudaGetErrorString" => Inquiry;
    "cudaGetErrorName" => Inquiry;
    "cudaSetDevice" => Management;
    "cudaSetDeviceFlags" => Management;
    "cudaDeviceReset" => Management;
    "cudaDeviceEnablePeerAccess" => Management;
    "cudaDeviceDisablePeerAccess" => Management;
    "cudaFuncSetAttribute" => Management;
    "cudaFuncSetCacheConfig" => Management;
    // Driver: set-up and inquiry
    "cuInit" => Management;
    "cuDriverGetVersion" => Inquiry;
    "cuDeviceGet" => Inquiry;
    "cuDeviceGetAttribute" => Inquiry;
    "cuDeviceGetCount" => Inquiry;
    "cuDeviceGetName" => Inquiry;
    "cuDeviceTotalMem" => Inquiry;
    "cuDeviceGetUuid" => Inquiry;
    "cuCtxGetCurrent" => Inquiry;
    "cuCtxGetDevice" => Inquiry;
    "cuModuleGetFunction" => Inquiry;
    "cuModuleGetGlobal" => Inquiry;
    "cuMemGetInfo" => Inquiry;
    "cuPointerGetAttribute" => Inquiry;
    "cuEventElapsedTime" => Inquiry;
    "cuCtxCreate" => Management;
    "cuCtxDestroy" => Management;
    "cuCtxSetCurrent" => Management;
    "cuCtxPushCurrent" => Management;
    "cuCtxPopCurrent" => Management;
    "cuDevicePrimaryCtxRetain" => Management;
    "cuDevicePrimaryCtxRelease" => Management;
    "cuModuleLoad" => Management;
    "cuModuleLoadData" => Management;
    "cuModuleLoadDataEx" => Management;
    "cuModuleUnload" => Management;
    "cuStreamCreate" => Management;
    "cuStreamDestroy" => Management;
    "cuEventCreate" => Management;
    "cuEventDestroy" => Management;
    // Driver: memory and copies
    "cuMemAlloc" => Management;
    "cuMemAllocHost" => Management;
    "cuMemAllocManaged" => Management;
    "cuMemAllocPitch" => Management;
    "cuMemFree" => Management;
    "cuMemFreeHost" => Management;
    "cuMemHostAlloc" => Management;
    "cuMemHostRegister" => Management;
    "cuMemHostUnregister" => Management;
    "cuMemcpy" => Put;
    "cuMemcpyHtoD" => Put;
    "cuMemcpyDtoD" => Put;
    "cuMemcpyPeer" => Put;
    "cuMemcpy2D" => Put;
    "cuMemcpy3D" => Put;
    "cuMemsetD8" => Put;
    "cuMemsetD16" => Put;
    "cuMemsetD32" => Put;
    "cuMemcpyDtoH" => Get;
    "cuMemcpyAsync" => Put, NonBlocking;
    "cuMemcpyHtoDAsync" => Put, NonBlocking;
    "cuMemcpyDtoDAsync" => Put, NonBlocking;
    "cuMemcpyPeerAsync" => Put, NonBlocking;
    "cuMemsetD8Async" => Put, NonBlocking;
    "cuMemsetD16Async" => Put, NonBlocking;
    "cuMemsetD32Async" => Put, NonBlocking;
    "cuMemcpyDtoHAsync" => Get, NonBlocking;
    // Driver: kernels and synchronisation
    "cuLaunchKernel" => TaskCreate, NonBlocking;
    "cuLaunchKernelEx" => TaskCreate, NonBlocking;
    "cuLaunchCooperativeKernel" => TaskCreate, NonBlocking;
    "cuGraphLaunch" => TaskCreate, NonBlocking;
    "cuCtxSynchronize" => DeviceWait;
    "cuStreamSynchronize" => DeviceWait;
    "cuEventSynchronize" => DeviceWait;
    "cuStreamQuery" => DeviceWait, NonBlocking;
    "cuEventQuery" => DeviceWait, NonBlocking;
    "cuStreamWaitEvent" => TaskCreate, NonBlocking;
    "cuEventRecord" => TaskCreate, NonBlocking;
    // Anything else
    "__cudaPushCallConfiguration" => Management;
    "__cudaPopCallConfiguration" => Management;
    "other CUDA call" => Management;
};
