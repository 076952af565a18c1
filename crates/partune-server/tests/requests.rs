//! The fuzz target's function over the questions that it begins with, and over mutations of them, so that it runs without a nightly compiler.

#[path = "../../../fuzz/requests.rs"]
mod fuzzed;

use std::fs;
use std::path::Path;

use partune_testkit::mutate::Random;

use self::fuzzed::requests;

#[test]
fn what_is_asked_is_answered_or_refused() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/requests");
    let mut files: Vec<_> = fs::read_dir(seeds).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 15, "a question of each kind: {files:?}");
    for (file, round) in files.iter().zip(0..) {
        let seed = fs::read(file).unwrap();
        // The profile has no time line, and no moment in it.
        let status = requests(&seed);
        assert!(matches!(status, Some(200 | 404)), "{}: {status:?}", file.display());
        let stranger = String::from_utf8_lossy(&seed).replace("TOKEN", "token");
        assert_eq!(requests(stranger.as_bytes()), Some(403), "{}", file.display());
        let mut random = Random::new(round);
        for _ in 0..50 {
            requests(&mutated(&seed, &mut random));
        }
    }
    assert_eq!(
        requests(b"POST /TOKEN/api/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"),
        Some(405)
    );
    assert_eq!(requests(b""), None);
    assert_eq!(requests(b"GET /TOKEN/api/runs HTTP/1.1\r\nHost: loc"), None);
}

fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let (at, end) = (random.below(bytes.len()), random.below(bytes.len()));
        match random.below(4) {
            0 => bytes[at] = b"\r\n /?&=%:.-0189\0\xff"[random.below(17)],
            1 => drop(bytes.drain(at.min(end)..at.max(end).min(at.min(end) + 10))),
            2 => {
                let given = ["-1", "99999999999999999999", "%00", "..", "\r\n"][random.below(5)];
                bytes.splice(at..at, given.bytes());
            }
            _ => {
                let piece = bytes[at.min(end)..at.max(end)].to_vec();
                bytes.splice(at..at, piece.into_iter().take(30));
            }
        }
        if bytes.is_empty() {
            bytes.push(b'G');
        }
    }
    bytes
}
