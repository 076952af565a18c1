//! Builds the collectors, which are shared libraries of their own, and packs them, so that partune can carry them.
//!
//! They are compiled for speed whatever partune itself is compiled for, and with frame pointers, by which a wrapper finds its caller.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let root = here.ancestors().nth(2).expect("crates/partune-record lies two folders deep");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // OUT_DIR is TARGET/PROFILE/build/PACKAGE/out. All profiles share the collectors.
    let target = out.ancestors().nth(4).expect("cargo nests OUT_DIR in the target folder").join("collectors");
    for part in [
        "partune-adapt",
        "partune-collectors",
        "partune-collect",
        "partune-collect-caf",
        "partune-collect-gasp",
        "partune-collect-mpi",
        "partune-collect-openmp",
        "partune-collect-files",
        "partune-collect-shmem",
        "partune-collect-threads",
        "partune-mpi-abi",
        "partune-parts",
    ] {
        let folder = root.join("crates").join(part);
        for name in ["src", "build", "build.rs", "Cargo.toml"] {
            if folder.join(name).exists() {
                println!("cargo::rerun-if-changed={}", folder.join(name).display());
            }
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    let library = build(root, &target, "partune-collectors");
    println!("cargo::rustc-env=PARTUNE_LIBRARY={}", library.display());
    let packed = out.join("collectors.gz");
    let mut packer = GzEncoder::new(File::create(&packed).expect("room in OUT_DIR"), Compression::best());
    packer.write_all(&fs::read(&library).expect("it was built")).expect("room in OUT_DIR");
    packer.finish().expect("room in OUT_DIR");
    println!("cargo::rustc-env=PARTUNE_COLLECTORS={}", packed.display());
}

fn build(root: &Path, target: &Path, package: &str) -> PathBuf {
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    // As this kind of library alone: one that is also a Rust library, which its tests need, is not optimised across crates.
    command.current_dir(root).args(["rustc", "--profile", "collector", "--package", package, "--lib"]);
    command.args(["--crate-type", "cdylib"]);
    command.arg("--target-dir").arg(target);
    // What the outer build was told is not meant for this one.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_") && text != "CARGO_HOME"
            || ["RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"].contains(&&*text)
        {
            command.env_remove(name);
        }
    }
    // A frame must stand from the first instruction on: the compiler may not make it later where a fast path needs none.
    command.env("CARGO_ENCODED_RUSTFLAGS", "-Cforce-frame-pointers=yes\x1f-Cllvm-args=-enable-shrink-wrap=false");
    let status = command.status().expect("cargo runs");
    assert!(status.success(), "the collector {package} does not build");
    target.join("collector").join(format!("lib{}.so", package.replace('-', "_")))
}
