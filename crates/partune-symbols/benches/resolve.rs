//! Resolves ten thousand addresses of a module and prints how long it took.
//!
//! `cargo bench -p partune-symbols -- MODULE`. Without a module (as under `cargo test --benches`) it does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::time::Instant;

use partune_base::Strings;
use partune_symbols::{Address, Module, NoFiles, Storage};

const ADDRESSES: u64 = 10_000;

fn main() {
    let Some(path) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        eprintln!("usage: resolve MODULE");
        return;
    };
    let bytes = std::fs::read(&path).expect("the module can be read");
    for _ in 0..5 {
        let storage = Storage::new();
        let start = Instant::now();
        let module = Module::parse(&path, &bytes, &NoFiles, &storage).expect("an ELF file");
        let opened = start.elapsed().as_secs_f64();
        let functions = module.functions();
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else { return };
        let step = ((last.end - first.start) / ADDRESSES).max(1);
        let addresses: Vec<_> = (0..ADDRESSES).map(|index| Address::Return(first.start + index * step)).collect();
        let mut strings = Strings::default();
        let mut resolve = || {
            let start = Instant::now();
            let places = module.resolve(&addresses, &mut strings);
            let frames: usize = places.iter().map(|(_, frames)| frames.len()).sum();
            (start.elapsed().as_secs_f64(), frames)
        };
        let (cold, frames) = resolve();
        let (warm, _) = resolve();
        println!("open {opened:.3} s, 10,000 addresses {cold:.3} s, again {warm:.3} s ({frames} frames)");
    }
}
