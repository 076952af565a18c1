//! The report: whole, of bounded size, the same on any number of threads, and quiet in a browser.

use std::path::Path;
use std::process::Command;

use partune_engine::Request;
use partune_pages::Runs;
use partune_testkit::outside;
use serde_json::{Value, json};

use crate::archives::archives;

/// What a report may weigh, whatever the archive's size.
const MOST: usize = 1_000_000;

/// The report on an archive, made on so many threads, and the number of its findings.
fn report(anchor: &Path, threads: usize) -> (String, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let opened = partune_engine::open(anchor, &()).expect("the archive opens");
        let diagnosis = partune_engine::analyze(opened, &Request::default(), &());
        let findings = diagnosis.findings.len();
        (partune_pages::report(&Runs::of(Path::new("archive"), diagnosis)), findings)
    })
}

/// The answers that a page holds.
fn answers(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"answers\">").expect("there are answers");
    serde_json::from_str(rest.split("</script>").next().unwrap_or_default()).expect("they are JSON")
}

/// Whether the pages are in this build; else that is said.
fn has_pages(page: &str) -> bool {
    let there = !page.contains("The pages are not in this build");
    if !there {
        outside::missing("ui/dist: run make ui");
    }
    there
}

#[test]
fn every_archive_has_a_whole_report() {
    for archive in archives() {
        let (page, findings) = report(&archive.anchor, 1);
        let name = &archive.name;
        assert!(page == report(&archive.anchor, 8).0, "{name}: other bytes on other numbers of threads");
        assert!(page.len() < MOST, "{name}: {} bytes", page.len());
        let answers = answers(&page);
        let of_run = |question: &str| &answers[format!("runs/0/{question}")];
        for question in ["pes", "kinds", "summary", "findings", "profile", "tree", "balance", "environment", "figures"]
        {
            assert!(!of_run(question).is_null(), "{name}: {question}");
        }
        for by in ["bytes", "count", "seconds"] {
            assert_eq!(of_run(&format!("matrix?by={by}"))["by"], by, "{name}");
        }
        let is_profile = answers["runs"][0]["profile_only"] == true;
        assert_eq!(of_run("timeline").is_null(), is_profile, "{name}");
        let listed = of_run("findings")["findings"].as_array().expect("a list");
        assert_eq!(listed.len(), findings, "{name}");
        // The worst have details, one after the other.
        let ids = || listed.iter().map(|row| row["id"].as_str().expect("a text"));
        let detailed = ids().take_while(|id| !of_run(&format!("findings/{id}")).is_null()).count();
        assert!(detailed >= findings.min(20), "{name}: {detailed} of {findings}");
        // Nothing is loaded: what the page brings is in it.
        let shell = page.split("<style>").chain(page.split("</style>").skip(1)).map(|it| it.split("<script").next());
        for text in shell.flatten() {
            assert!(!text.contains("src=") && !text.contains("href=") && !text.contains("<link"), "{name}: {text}");
        }
        assert!(!page.contains("url(") && !page.contains("@import"), "{name}");
        if has_pages(&page) {
            assert_eq!(page.matches("<script").count(), 2, "{name}: the answers and the script of the pages");
            assert_eq!(page.matches("</script").count(), 2, "{name}");
            assert!(page.contains("default-src 'none'; script-src 'sha256-"), "{name}");
        }
    }
}

#[test]
fn four_thousand_pes_are_folded_and_fit() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let partune =
        |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs");
    let made = partune(&["synth", "--ranks", "4096", "--events", "400K", "-o", &path("big")]);
    assert!(made.status.success());
    let written = partune(&["report", &path("big"), "-o", &path("big.html")]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let page = std::fs::read_to_string(path("big.html")).expect("the report is there");
    assert!(page.len() < MOST, "{} bytes", page.len());
    let answers = answers(&page);
    let timeline = &answers["runs/0/timeline"];
    assert_eq!(timeline["rows"]["count"], json!(vec![64; 64]), "4,096 PEs on 64 rows");
    // A column of a screen is a column of the picture, about.
    assert!(timeline["columns"].as_u64() >= Some(128), "{}", timeline["columns"]);
    // What was left out is counted.
    let pes = &answers["runs/0/pes"];
    let listed = pes["pes"]["name"].as_array().map_or(0, Vec::len) as u64;
    assert_eq!(listed + pes["omitted"].as_u64().expect("a number"), 4096);
}

/// The first names that a page could hold are longer than a page may be.
#[test]
fn names_of_any_length_keep_the_page_small() {
    let visit = |n: u32| {
        let (outer, inner, end) = ("<&".repeat(200), ">".repeat(999), n + 1);
        format!("\"{n} {outer}\" {n}..{end} {{ \"{n} {inner}\" {n}..{end} }} ")
    };
    let text: String = (0..3000).map(visit).collect();
    let page = page(&format!("pe 0 1: {text}"));
    assert!(page.len() < MOST, "{} bytes", page.len());
    let answers = answers(&page);
    let profile = &answers["runs/0/profile"];
    let listed = profile["regions"]["name"].as_array().expect("some fit").len() as u64;
    assert_eq!(listed + profile["omitted"].as_u64().expect("a number"), 6000);
}

#[test]
fn names_are_text_and_nothing_else() {
    let hostile = "</script></title><script>alert(1)</script>'--><img src=x onerror=alert(1)>&lt;{answers}{script}<!--";
    let page = page(&format!(
        "pe 0: \"{hostile}\" 0..100 {{ work@<script>x</script>.c:3 0..40 MPI_Send 40..50 send(to=1, bytes=8) }}
         pe 1: \"{hostile}\" 0..100 {{ MPI_Recv 10..50 recv(from=0, bytes=8) }}"
    ));
    assert!(!page.contains("<img") && !page.contains("<script>alert") && !page.contains("<!--"));
    let scripts = if has_pages(&page) { 2 } else { 1 };
    assert_eq!(page.matches("<script").count(), scripts, "only the page's own");
    assert_eq!(page.matches("</script").count(), scripts);
    // And they are kept as they are.
    let names = answers(&page)["runs/0/profile"]["regions"]["name"].to_string();
    assert!(
        names.contains("</script></title><script>alert(1)</script>'--><img src=x onerror=alert(1)>&lt;"),
        "{names}"
    );
}

#[test]
fn an_empty_trace_has_a_page() {
    assert_eq!(answers(&page(""))["runs/0/findings"]["findings"], json!([]));
}

/// The report on a trace in the testkit's language.
fn page(text: &str) -> String {
    let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
    partune_pages::report(&Runs::of(Path::new("runs/</title><script>alert(1)</script>/traces.otf2"), diagnosis))
}

#[test]
fn an_archive_that_is_not_there_is_told_with_a_remedy() {
    let output = Command::new(env!("CARGO_BIN_EXE_partune"))
        .args(["report", "/no/such/archive", "-o", "/no/such/file.html"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("remedy"));
}

/// A page takes the place of a page, and of nothing else: not of the archive that it is made of.
#[test]
fn only_pages_are_replaced() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let ring = crate::archives::workspace().join("examples/archives/ring").display().to_string();
    let report = |to: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args(["report", &ring, "-o"]).arg(to).output().expect("the binary runs")
    };
    let (page, text) = (folder.path().join("run.html"), folder.path().join("text"));
    assert!(report(&page).status.success() && report(&page).status.success());
    std::fs::write(&text, "mine").expect("there is room for a file");
    let output = report(&text);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("there is such a file already") && said.contains("remedy: give another name"), "{said}");
    assert_eq!(std::fs::read_to_string(&text).expect("it is there"), "mine");
}

/// A machine that is really measured, with one process, which needs no MPI.
#[test]
fn the_machine_is_told_as_it_was_measured() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let partune = |args: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs");
        (
            run.status.code(),
            String::from_utf8_lossy(&run.stdout).into_owned(),
            String::from_utf8_lossy(&run.stderr).into_owned(),
        )
    };
    let ring = crate::archives::workspace().join("examples/archives/ring").display().to_string();
    let (machine, page) = (path("machine.toml"), path("run.html"));
    assert_eq!(partune(&["machine", "measure", "--budget", "0.5", "-o", &machine]).0, Some(0));
    let report = |machine: &[&str]| {
        let (code, _, error) = partune(&[&["report", &ring, "-o", &page], machine].concat());
        assert_eq!(code, Some(0), "{error}");
        std::fs::read_to_string(&page).expect("the report is there")
    };
    let told = |page: &str, machine: &str| {
        let (code, shown, error) = partune(&["machine", "show", machine]);
        assert_eq!(code, Some(0), "{error}");
        assert!(shown.contains("computing") && shown.contains("reading the clock"), "{shown}");
        assert_eq!(answers(page)["runs/0/environment"]["machine"], shown);
    };
    let with = report(&["--machine", &machine]);
    told(&with, &machine);
    // Texts of the file are texts in the page, whatever they hold.
    let text = std::fs::read_to_string(&machine).expect("the file is there");
    let hostile = text.replacen("kernel = \"", "kernel = \"</pre><img src=x onerror=alert(1)>", 1);
    assert_ne!(text, hostile);
    std::fs::write(path("hostile.toml"), hostile).expect("the file is written");
    let page = report(&["--machine", &path("hostile.toml")]);
    told(&page, &path("hostile.toml"));
    assert!(!page.contains("<img"));
    // Without one, that is said; one that is wrong is told with a remedy.
    let without = report(&[]);
    assert!(answers(&without)["runs/0/environment"]["machine"].is_null());
    std::fs::write(path("bad.toml"), "partune_machine = 1\nrates = 7\n").expect("the file is written");
    let (code, _, error) = partune(&["report", &ring, "-o", &path("no.html"), "--machine", &path("bad.toml")]);
    assert!(code == Some(1) && error.contains("remedy") && !folder.path().join("no.html").exists(), "{error}");
}
