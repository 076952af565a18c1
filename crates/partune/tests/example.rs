//! The program in `examples/ring` waits for known times; its archive says so. See `examples/ring/README.md`.

use partune_engine::Request;

use crate::archives::workspace;

#[test]
fn the_planted_waits_of_ring_are_found_with_their_causes() {
    let opened = partune_engine::open(&workspace().join("examples/archives/ring"), &()).expect("the archive opens");
    let diagnosis = partune_engine::analyze(opened, &Request::default(), &());
    let seconds = |span| diagnosis.run.seconds(span);
    // Pattern, seconds, ranks that wait, ranks that are the root of most of it.
    let planted: [(&str, f64, &[u32], &[u32]); 3] = [
        ("late_sender", 0.20, &[1, 3], &[2]),
        // Ranks 1 and 3 come late to it because they waited for rank 2.
        ("wait_at_nxn", 0.10, &[0], &[2]),
        ("late_broadcast", 0.09, &[1, 2, 3], &[0]),
    ];
    for (pattern, expected, waiting, causing) in planted {
        let found = diagnosis.findings.iter().map(|it| &it.finding).find(|it| it.pattern.name() == pattern);
        let found = found.unwrap_or_else(|| panic!("{pattern} is found"));
        assert!((seconds(found.time) / expected - 1.0).abs() < 0.05, "{pattern}: {} s", seconds(found.time));
        let most: Vec<u32> =
            found.pes.iter().filter(|(_, time)| seconds(*time) > 0.1 * expected).map(|it| it.0.0).collect();
        assert_eq!(most, waiting, "{pattern}");
        let mut causes: Vec<u32> =
            found.causes.iter().filter(|cause| seconds(cause.time) > 0.1 * expected).map(|cause| cause.pe.0).collect();
        causes.sort_unstable();
        assert_eq!(causes, causing, "{pattern}");
    }
}
