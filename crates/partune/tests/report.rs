//! The report: complete and well linked, of bounded size, the same on any number of threads, and quiet in a browser.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use partune_engine::Request;
use partune_testkit::outside;

use crate::archives::archives;

/// What a report may weigh, whatever the archive's size.
const MOST: usize = 2_000_000;

/// The report on an archive, made on so many threads, and the number of its findings.
fn report(anchor: &Path, threads: usize) -> (String, usize) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let opened = partune_engine::open(anchor, &()).expect("the archive opens");
        let diagnosis = partune_engine::analyze(opened, &Request::default(), &());
        (partune_report::html(&diagnosis, "archive", None), diagnosis.findings.len())
    })
}

/// The values of an attribute, in order.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begin = format!(" {attribute}=\"");
    page.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_archive_has_a_whole_report() {
    for archive in archives() {
        let (page, findings) = report(&archive.anchor, 1);
        let name = &archive.name;
        assert!(page == report(&archive.anchor, 8).0, "{name}: other bytes on other numbers of threads");
        assert!(page.len() < MOST, "{name}: {} bytes", page.len());
        for part in ["summary", "findings", "timeline", "profile", "balance", "communication", "environment", "figures"]
        {
            assert!(page.contains(&format!("<h2 id=\"{part}\">")), "{name}: {part}");
        }
        let ids = values(&page, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: an id comes twice");
        for target in values(&page, "href") {
            assert!(target.strip_prefix('#').is_some_and(|id| unique.contains(id)), "{name}: {target} leads nowhere");
        }
        let details = ids.iter().filter(|id| id.starts_with("finding-")).count();
        assert_eq!(details, findings.min(20), "{name}");
        // One script, of our own; nothing is loaded.
        assert_eq!(page.matches("<script").count(), 1, "{name}");
        assert!(values(&page, "src").is_empty() && !page.contains("url(") && !page.contains("@import"), "{name}");
        for (open, close) in
            [("<table", "</table>"), ("<details", "</details>"), ("<svg", "</svg>"), ("<section", "</section>")]
        {
            assert_eq!(page.matches(open).count(), page.matches(close).count(), "{name}: {open}");
        }
        assert_eq!(page.matches("<table").count(), page.matches("<caption").count(), "{name}: a table has no caption");
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
    assert!(page.contains("4096 PEs on 64 rows of 64 PEs each"));
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
        let shown = shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        assert!(shown.contains("computing") && shown.contains("reading the clock"), "{shown}");
        assert!(page.contains(shown.trim_end()), "{shown}");
    };
    let with = report(&["--machine", &machine]);
    told(&with, &machine);
    assert!(with.contains("As it was measured") && !with.contains("No machine description was given"));
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
    assert!(without.contains("No machine description was given") && !without.contains("As it was measured"));
    std::fs::write(path("bad.toml"), "partune_machine = 1\nrates = 7\n").expect("the file is written");
    let (code, _, error) = partune(&["report", &ring, "-o", &path("no.html"), "--machine", &path("bad.toml")]);
    assert!(code == Some(1) && error.contains("remedy") && !folder.path().join("no.html").exists(), "{error}");
}

/// Where Chromium is installed, it must load a page without a word on its console: no error, no violation of the page's own policy.
#[test]
#[allow(clippy::print_stdout, reason = "what a test skips is said")]
fn a_browser_has_nothing_to_say() {
    let folder = tempfile::tempdir().expect("there is room for a page");
    for archive in archives().iter().filter(|it| ["ring", "scorep84-lulesh-hybrid-8x2"].contains(&it.name.as_str())) {
        let page = folder.path().join("page.html");
        std::fs::write(&page, report(&archive.anchor, 2).0).expect("the page is written");
        let run = Command::new("chromium")
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--enable-logging=stderr",
                "--virtual-time-budget=2000",
            ])
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg("--dump-dom")
            .arg(format!("file://{}", page.display()))
            .output();
        let Ok(run) = run else {
            outside::missing("chromium");
            return;
        };
        let (dom, log) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        let said: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(said.is_empty(), "{}: {said:?}", archive.name);
        // The script ran: heads of tables became buttons.
        assert!(dom.contains("<button type=\"button\">"), "{}: {log}", archive.name);
    }
}
