//! OpenACC 3.3: the library's routines, and the events of its profiling interface as Score-P (`acc_wait@file.c:12`) and TAU
//! (`openacc_wait`) name them.
//!
//! Kernels are user code and no rows. A compute construct contains its launch, its copies and its waiting, so it is management
//! where only it is recorded: what of it waited is not told. Names that a user's function could have need the producer's word.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static OPENACC: Paradigm = Paradigm {
    name: "OpenACC",
    aliases: &["acc"],
    class: Class::Accelerator,
    otf2: Some(18),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// Names of events of producers that are not evidence enough by themselves.
const ORDINARY: [&str; 5] = ["acc_alloc", "acc_update", "acc_compute", "acc_upload", "acc_download"];

fn recognise(name: &str) -> Option<&'static Construct> {
    let has_place = name.contains('@');
    recognise_hinted(name).filter(|construct| has_place || !ORDINARY.contains(&construct.name))
}

/// Without the place after it, TAU's prefix, and the endings that GNU Fortran gives to routines by their arguments.
fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    let stem = name.split_once('@').map_or(name, |(stem, _)| stem);
    if let Some(event) = stem.strip_prefix("openacc_") {
        return EXACT.get(&format!("acc_{event}"));
    }
    if !stem.starts_with("acc_") {
        return None;
    }
    EXACT.get(stem).or_else(|| {
        let stem = stem.strip_suffix("_h_").or_else(|| stem.strip_suffix('_'))?;
        let kinds = ["_32", "_64", "_array"];
        EXACT.get(kinds.iter().find_map(|kind| stem.strip_suffix(kind)).unwrap_or(stem))
    })
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Devices
    "acc_init" => Management;
    "acc_init_device" => Management;
    "acc_shutdown" => Management;
    "acc_shutdown_device" => Management;
    "acc_device_init" => Management;
    "acc_device_shutdown" => Management;
    "acc_set_device_type" => Management;
    "acc_set_device_num" => Management;
    "acc_get_num_devices" => Inquiry;
    "acc_get_device_type" => Inquiry;
    "acc_get_device_num" => Inquiry;
    "acc_get_property" => Inquiry;
    "acc_get_property_string" => Inquiry;
    "acc_on_device" => Inquiry;
    "acc_register_library" => Management;
    "acc_prof_register" => Management;
    "acc_prof_unregister" => Management;
    "acc_prof_lookup" => Management;
    "acc_get_current_cuda_device" => Inquiry;
    "acc_get_current_cuda_context" => Inquiry;
    "acc_get_cuda_stream" => Inquiry;
    "acc_set_cuda_stream" => Management;
    // Waiting
    "acc_wait" => DeviceWait;
    "acc_implicit_wait" => DeviceWait;
    "acc_async_wait" => DeviceWait;
    "acc_async_wait_all" => DeviceWait;
    "acc_wait_device" => DeviceWait;
    "acc_wait_all" => DeviceWait;
    "acc_wait_all_device" => DeviceWait;
    "acc_async_test" => DeviceWait, NonBlocking;
    "acc_async_test_device" => DeviceWait, NonBlocking;
    "acc_async_test_all" => DeviceWait, NonBlocking;
    "acc_async_test_all_device" => DeviceWait, NonBlocking;
    "acc_wait_async" => TaskCreate, NonBlocking;
    "acc_wait_device_async" => TaskCreate, NonBlocking;
    "acc_wait_all_async" => TaskCreate, NonBlocking;
    "acc_wait_all_device_async" => TaskCreate, NonBlocking;
    "acc_get_default_async" => Inquiry;
    "acc_set_default_async" => Management;
    // Memory
    "acc_malloc" => Management;
    "acc_free" => Management;
    "acc_alloc" => Management;
    "acc_create" => Management;
    "acc_pcreate" => Management;
    "acc_present_or_create" => Management;
    "acc_create_async" => Management, NonBlocking;
    "acc_delete" => Management;
    "acc_delete_async" => Management, NonBlocking;
    "acc_delete_finalize" => Management;
    "acc_delete_finalize_async" => Management, NonBlocking;
    "acc_map_data" => Management;
    "acc_unmap_data" => Management;
    "acc_attach" => Management;
    "acc_attach_async" => Management, NonBlocking;
    "acc_detach" => Management;
    "acc_detach_async" => Management, NonBlocking;
    "acc_detach_finalize" => Management;
    "acc_detach_finalize_async" => Management, NonBlocking;
    "acc_deviceptr" => Inquiry;
    "acc_hostptr" => Inquiry;
    "acc_is_present" => Inquiry;
    // Copies
    "acc_copyin" => Put;
    "acc_pcopyin" => Put;
    "acc_present_or_copyin" => Put;
    "acc_copyin_async" => Put, NonBlocking;
    "acc_update_device" => Put;
    "acc_update_device_async" => Put, NonBlocking;
    "acc_memcpy_to_device" => Put;
    "acc_memcpy_to_device_async" => Put, NonBlocking;
    "acc_memcpy_device" => Put;
    "acc_memcpy_device_async" => Put, NonBlocking;
    "acc_memcpy_d2d" => Put;
    "acc_memcpy_d2d_async" => Put, NonBlocking;
    "acc_copyout" => Get;
    "acc_copyout_async" => Get, NonBlocking;
    "acc_copyout_finalize" => Get;
    "acc_copyout_finalize_async" => Get, NonBlocking;
    "acc_update_self" => Get;
    "acc_update_self_async" => Get, NonBlocking;
    "acc_memcpy_from_device" => Get;
    "acc_memcpy_from_device_async" => Get, NonBlocking;
    "acc_upload" => Put;
    "acc_enqueue_upload" => Put;
    "acc_download" => Get;
    "acc_enqueue_download" => Get;
    // Constructs
    "acc_compute" => Management;
    "acc_compute_construct" => Management;
    "acc_data_enter" => Management;
    "acc_data_exit" => Management;
    "acc_data_construct_enter" => Management;
    "acc_data_construct_exit" => Management;
    "acc_enter_data" => Management;
    "acc_exit_data" => Management;
    "acc_update" => Management;
    "acc_update_construct" => Management;
    "acc_launch_kernel" => TaskCreate, NonBlocking;
    "acc_enqueue_launch" => TaskCreate, NonBlocking;
    "acc_enqueue_kernel_launch" => TaskCreate, NonBlocking;
};
