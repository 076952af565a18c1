//! SYCL 2020: the methods that give work to a device or wait for it, and the calls of the layer below them in oneAPI's
//! implementation: Unified Runtime (`ur…`) and the plug-in interface before it (`pi…`).
//!
//! Methods are known by their qualified names without arguments and without the implementation's inline namespace:
//! `sycl::_V1::queue::wait()` is `sycl::queue::wait`. Kernels are user code and no rows.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static SYCL: Paradigm = Paradigm {
    name: "SYCL",
    aliases: &["unifiedruntime", "ur", "dpcpp"],
    class: Class::Accelerator,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    if name.starts_with("ur") {
        return EXACT.get(name);
    }
    if let Some(call) = name.strip_prefix("pi") {
        return EXACT.get(&format!("ur{}", renamed(call)));
    }
    let method = name.split_once('(').map_or(name, |(method, _)| method);
    let method = method.strip_prefix("cl::").unwrap_or(method).strip_prefix("sycl::")?;
    EXACT.get(&format!("sycl::{}", method.strip_prefix("_V1::").unwrap_or(method)))
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| EXACT.get(name)).or_else(|| {
        let rest = ["ur", "pi"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
        if rest.starts_with(|c: char| c.is_ascii_uppercase()) { EXACT.get(OTHER) } else { None }
    })
}

/// What Unified Runtime calls a function of the plug-in interface, where it is not the same.
fn renamed(call: &str) -> &str {
    match call {
        "EventsWait" => "EventWait",
        "extUSMEnqueueMemcpy" | "extUSMEnqueueMemcpy2D" => "EnqueueUSMMemcpy",
        "extUSMEnqueueFill" | "extUSMEnqueueMemset" => "EnqueueUSMFill",
        "extUSMEnqueuePrefetch" => "EnqueueUSMPrefetch",
        other => other,
    }
}

/// The row of calls that have none.
const OTHER: &str = "other SYCL call";

static CONSTRUCTS: &[Construct] = constructs! {
    // Queues
    "sycl::queue::submit" => TaskCreate, NonBlocking;
    "sycl::queue::single_task" => TaskCreate, NonBlocking;
    "sycl::queue::parallel_for" => TaskCreate, NonBlocking;
    "sycl::queue::memcpy" => Put, NonBlocking;
    "sycl::queue::copy" => Put, NonBlocking;
    "sycl::queue::memset" => Put, NonBlocking;
    "sycl::queue::fill" => Put, NonBlocking;
    "sycl::queue::prefetch" => Put, NonBlocking;
    "sycl::queue::wait" => DeviceWait;
    "sycl::queue::wait_and_throw" => DeviceWait;
    "sycl::event::wait" => DeviceWait;
    "sycl::event::wait_and_throw" => DeviceWait;
    "sycl::malloc_device" => Management;
    "sycl::malloc_host" => Management;
    "sycl::malloc_shared" => Management;
    "sycl::free" => Management;
    // Unified Runtime: devices, memory, programs
    "urAdapterGet" => Inquiry;
    "urPlatformGet" => Inquiry;
    "urDeviceGet" => Inquiry;
    "urDeviceGetInfo" => Inquiry;
    "urContextCreate" => Management;
    "urContextRelease" => Management;
    "urQueueCreate" => Management;
    "urQueueRelease" => Management;
    "urMemBufferCreate" => Management;
    "urMemRelease" => Management;
    "urUSMDeviceAlloc" => Management;
    "urUSMHostAlloc" => Management;
    "urUSMSharedAlloc" => Management;
    "urUSMFree" => Management;
    "urProgramBuild" => Management;
    "urKernelCreate" => Management;
    "urKernelRelease" => Management;
    "urEventRelease" => Management;
    // Unified Runtime: copies
    "urEnqueueMemBufferRead" => Get, NonBlocking;
    "urEnqueueMemBufferReadRect" => Get, NonBlocking;
    "urEnqueueMemBufferMap" => Get, NonBlocking;
    "urEnqueueMemBufferWrite" => Put, NonBlocking;
    "urEnqueueMemBufferWriteRect" => Put, NonBlocking;
    "urEnqueueMemBufferCopy" => Put, NonBlocking;
    "urEnqueueMemBufferCopyRect" => Put, NonBlocking;
    "urEnqueueMemBufferFill" => Put, NonBlocking;
    "urEnqueueMemUnmap" => Put, NonBlocking;
    "urEnqueueUSMMemcpy" => Put, NonBlocking;
    "urEnqueueUSMMemcpy2D" => Put, NonBlocking;
    "urEnqueueUSMFill" => Put, NonBlocking;
    "urEnqueueUSMPrefetch" => Put, NonBlocking;
    // Unified Runtime: kernels and waiting
    "urEnqueueKernelLaunch" => TaskCreate, NonBlocking;
    "urEnqueueCooperativeKernelLaunchExp" => TaskCreate, NonBlocking;
    "urEnqueueEventsWait" => TaskCreate, NonBlocking;
    "urEnqueueEventsWaitWithBarrier" => TaskCreate, NonBlocking;
    "urQueueFlush" => Management, NonBlocking;
    "urQueueFinish" => DeviceWait;
    "urEventWait" => DeviceWait;
    "urEventGetInfo" => DeviceWait, NonBlocking;
    // Anything else
    "other SYCL call" => Management;
};
