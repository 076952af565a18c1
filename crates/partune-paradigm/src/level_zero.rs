//! Level Zero 1.x: the calls of the host.
//!
//! Kernels are user code and no rows. What is appended to a command list is work that is given to the device; a call without a row
//! counts as management, where the producer says that it is a call of Level Zero.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static LEVEL_ZERO: Paradigm = Paradigm {
    name: "Level Zero",
    aliases: &["ze", "l0"],
    class: Class::Accelerator,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    if name.starts_with("ze") { EXACT.get(name) } else { None }
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| EXACT.get(name)).or_else(|| {
        let rest = ["zet", "zes", "ze"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
        if rest.starts_with(|c: char| c.is_ascii_uppercase()) { EXACT.get(OTHER) } else { None }
    })
}

/// The row of calls that have none.
const OTHER: &str = "other Level Zero call";

static CONSTRUCTS: &[Construct] = constructs! {
    "zeInit" => Management;
    "zeDriverGet" => Inquiry;
    "zeDeviceGet" => Inquiry;
    "zeDeviceGetProperties" => Inquiry;
    "zeContextCreate" => Management;
    "zeContextDestroy" => Management;
    // Queues and lists
    "zeCommandQueueCreate" => Management;
    "zeCommandQueueDestroy" => Management;
    "zeCommandListCreate" => Management;
    "zeCommandListCreateImmediate" => Management;
    "zeCommandListClose" => Management;
    "zeCommandListReset" => Management;
    "zeCommandListDestroy" => Management;
    "zeCommandQueueExecuteCommandLists" => TaskCreate, NonBlocking;
    "zeCommandListImmediateAppendCommandListsExp" => TaskCreate, NonBlocking;
    "zeCommandListAppendBarrier" => TaskCreate, NonBlocking;
    "zeCommandListAppendSignalEvent" => TaskCreate, NonBlocking;
    "zeCommandListAppendWaitOnEvents" => TaskCreate, NonBlocking;
    "zeCommandListAppendEventReset" => TaskCreate, NonBlocking;
    // Copies
    "zeCommandListAppendMemoryCopy" => Put, NonBlocking;
    "zeCommandListAppendMemoryCopyRegion" => Put, NonBlocking;
    "zeCommandListAppendMemoryFill" => Put, NonBlocking;
    "zeCommandListAppendMemoryPrefetch" => Put, NonBlocking;
    // Kernels
    "zeModuleCreate" => Management;
    "zeModuleDestroy" => Management;
    "zeKernelCreate" => Management;
    "zeKernelDestroy" => Management;
    "zeKernelSetArgumentValue" => Management;
    "zeKernelSetGroupSize" => Management;
    "zeCommandListAppendLaunchKernel" => TaskCreate, NonBlocking;
    "zeCommandListAppendLaunchKernelIndirect" => TaskCreate, NonBlocking;
    "zeCommandListAppendLaunchCooperativeKernel" => TaskCreate, NonBlocking;
    // Waiting
    "zeCommandQueueSynchronize" => DeviceWait;
    "zeCommandListHostSynchronize" => DeviceWait;
    "zeEventHostSynchronize" => DeviceWait;
    "zeFenceHostSynchronize" => DeviceWait;
    "zeEventQueryStatus" => DeviceWait, NonBlocking;
    "zeFenceQueryStatus" => DeviceWait, NonBlocking;
    "zeEventPoolCreate" => Management;
    "zeEventPoolDestroy" => Management;
    "zeEventCreate" => Management;
    "zeEventDestroy" => Management;
    "zeEventHostReset" => Management;
    "zeEventHostSignal" => Management;
    "zeFenceCreate" => Management;
    "zeFenceDestroy" => Management;
    "zeFenceReset" => Management;
    // Memory
    "zeMemAllocDevice" => Management;
    "zeMemAllocHost" => Management;
    "zeMemAllocShared" => Management;
    "zeMemFree" => Management;
    "zeMemGetAllocProperties" => Inquiry;
    // Anything else
    "other Level Zero call" => Management;
};
