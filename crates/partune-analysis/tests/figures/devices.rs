//! Devices and what the host waits of them: a program on two devices by hand, and silence where there is none.

use partune_analysis::Outcome;

use super::{assert_close, at_path, figure, numbers, scalar};

/// Milliseconds. The first device computes in 22..80 (two streams, 50..60 in both) and copies in 10..20; the second computes in 30..56.
const TWO_DEVICES: &str = "resolution 1000
    device first = 0.1 0.2
    device second = 0.3
    pe 0: main 0..100 { work 0..10 hipMemcpy 10..20 hipLaunchKernel 20..21 work 21..40 hipDeviceSynchronize 40..90 work 90..100 }
    pe 0.1: kernel 22..60
    pe 0.2: hipMemcpyAsync 10..20 kernel 50..80
    pe 0.3: kernel 30..56";

fn has(outcome: &Outcome, name: &str) -> bool {
    outcome.sections.iter().flat_map(|section| &section.scalars).any(|scalar| scalar.name == name)
}

#[test]
fn devices_have_factors_of_their_own() {
    let (_, outcome) = figure(TWO_DEVICES, "efficiency");
    // k = 58, 26; a = 68, 26; T = 100.
    let factors = ["device_parallel", "device_load_balance", "device_communication", "device_orchestration"];
    let expected = [84.0 / 200.0, 84.0 / 116.0, 58.0 / 68.0, 68.0 / 100.0];
    assert_close(&factors.map(|name| scalar(&outcome, name)), &expected);
    assert_close(&numbers(&outcome, "device_times", "streams"), &[2.0, 1.0]);
    assert_close(&numbers(&outcome, "device_times", "kernels"), &[0.058, 0.026]);
    assert_close(&numbers(&outcome, "device_times", "copies"), &[0.010, 0.0]);
    assert_close(&numbers(&outcome, "device_times", "idle"), &[0.032, 0.074]);
}

#[test]
fn the_host_is_one_pe_and_its_waiting_is_told() {
    let (trace, outcome) = figure(TWO_DEVICES, "efficiency");
    assert_eq!((trace.cpu_pes().count(), trace.cpu_processes().count()), (1, 1));
    assert_eq!((trace.device_pes().count(), trace.devices()), (3, 2));
    // 39 of 100 ms outside of calls to devices, which take 10 + 1 + 50.
    assert_close(&["parallel", "load_balance", "offload"].map(|name| scalar(&outcome, name)), &[0.39, 1.0, 0.39]);
    assert_close(&["device_call_seconds", "device_wait_seconds"].map(|it| scalar(&outcome, it)), &[0.061, 0.050]);
    // Of 40..90 the first device computes until 80.
    let place = |name| at_path(&trace, &outcome, "device_waits", "main/hipDeviceSynchronize", name);
    assert_close(&["count", "seconds", "computing", "copying", "idle"].map(place), &[1.0, 0.050, 0.040, 0.0, 0.010]);
}

#[test]
fn kernels_are_computation_copies_are_transfers() {
    let (_, outcome) = figure(TWO_DEVICES, "profile");
    assert_close(&numbers(&outcome, "activities", "computation"), &[0.039, 0.038, 0.030, 0.026]);
    assert_close(&numbers(&outcome, "activities", "communication"), &[0.010, 0.0, 0.010, 0.0]);
    assert_close(&numbers(&outcome, "activities", "synchronization"), &[0.050, 0.0, 0.0, 0.0]);
    assert_close(&numbers(&outcome, "activities", "management"), &[0.001, 0.0, 0.0, 0.0]);
}

/// A device copies one after the other what the host gave it; the host's own puts are the host's.
#[test]
fn copies_of_a_device_are_no_small_or_serial_transfers() {
    let text = |pe: &str, kind: &str, device: &str| {
        let puts = " shmem_putmem put(to=1, bytes=8)";
        let puts: Vec<String> = (10..18).map(|at| puts.replace(" put(", &format!(" {at}..{} put(", at + 1))).collect();
        let puts = puts.concat();
        format!("resolution 1000\n{device}\npe {pe}: {kind} 0..100 {{ {puts} }}\npe 1: main 0..100")
    };
    for analysis in ["small_transfers", "serial_transfers"] {
        let (_, outcome) = figure(&text("0.1", "kernel", "device one = 0.1\npe 0: main 0..100"), analysis);
        assert_eq!(outcome.findings.len(), 0, "{analysis}");
    }
    let (_, outcome) = figure(&text("0", "main", ""), "small_transfers");
    assert_eq!(outcome.findings.len(), 1);
}

#[test]
fn other_processes_devices_are_not_what_a_host_waits_for() {
    let text = "resolution 1000
        device only = 1.1
        pe 0: main 0..100 { work 0..40 cudaDeviceSynchronize 40..90 work 90..100 }
        pe 1: main 0..100 { work 0..100 }
        pe 1.1: kernel 40..90";
    let (trace, outcome) = figure(text, "efficiency");
    let place = |name| at_path(&trace, &outcome, "device_waits", "main/cudaDeviceSynchronize", name);
    assert_close(&["computing", "idle"].map(place), &[0.0, 0.050]);
}

#[test]
fn silent_without_devices() {
    let (_, outcome) =
        figure("pe 0 1: main 0..100 { work 0..40 MPI_Barrier 40..60 barrier work 60..100 }", "efficiency");
    for name in ["device_parallel", "offload", "device_call_seconds", "device_wait_seconds"] {
        assert!(!has(&outcome, name), "{name}");
    }
    assert!(outcome.sections.iter().all(|section| section.tables.iter().all(|it| !it.name.starts_with("device"))));
    // A host that waits, of whose devices nothing was recorded: no factors of devices, and nothing is said of what they did.
    let (_, outcome) = figure("pe 0: main 0..100 { work 0..40 clFinish 40..60 work 60..100 }", "efficiency");
    assert!(!has(&outcome, "device_parallel") && has(&outcome, "device_wait_seconds"));
    let tables = || outcome.sections.iter().flat_map(|section| &section.tables);
    assert!(tables().all(|it| it.name != "device_times"));
    assert!(tables().flat_map(|it| &it.columns).all(|it| it.name != "computing"));
}
