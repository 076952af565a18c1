//! The report on paper: Chromium prints it, and poppler's tools say what is on the pages. Where one is missing, that is said and nothing is tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use partune_engine::{Opened, Request};
use partune_pages::Runs;
use partune_testkit::outside;

use crate::archives::archives;

/// A report as a printed document, in a folder that goes with it.
struct Paper {
    folder: tempfile::TempDir,
}

impl Paper {
    /// Prints a page; `options` are of Chromium. None if it is not there.
    fn of(page: &str, options: &[&str]) -> Option<Paper> {
        let here = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if let Some(missing) = ["chromium", "pdftotext", "pdftoppm"].into_iter().find(|program| !here(program)) {
            outside::skipped(&format!("there is no {missing}"));
            return None;
        }
        let paper = Paper { folder: tempfile::tempdir().expect("there is room for a page") };
        std::fs::write(paper.path("page.html"), page).expect("the page is written");
        let run = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"])
            .args(options)
            .arg(format!("--user-data-dir={}", paper.path("profile").display()))
            .arg(format!("--print-to-pdf={}", paper.path("page.pdf").display()))
            .arg(format!("file://{}", paper.path("page.html").display()))
            .output()
            .expect("chromium runs");
        assert!(paper.path("page.pdf").exists(), "{}", String::from_utf8_lossy(&run.stderr));
        Some(paper)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tool(&self, program: &str, options: &[&str], to: &str) {
        let run = Command::new(program)
            .args(options)
            .args([self.path("page.pdf"), self.path(to)])
            .output()
            .expect("the program runs");
        assert!(run.status.success(), "{program}: {}", String::from_utf8_lossy(&run.stderr));
    }

    fn text(&self, options: &[&str]) -> String {
        self.tool("pdftotext", options, "page.txt");
        std::fs::read_to_string(self.path("page.txt")).expect("the text is there")
    }

    /// How many dots of the first pages have each of these colours.
    fn dots<const N: usize>(&self, colours: [[u8; 3]; N]) -> [usize; N] {
        self.tool("pdftoppm", &["-r", "40", "-l", "4"], "page");
        let mut counts = [0; N];
        let files = std::fs::read_dir(self.folder.path()).expect("the folder is there").flatten();
        for file in files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|it| it == "ppm")) {
            let bytes = std::fs::read(file).expect("the picture is there");
            // Three bytes a dot, after a short head; a wrong phase would find none of the colours.
            let lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).expect("it is a picture").0;
            for dot in bytes[lines + 1..].chunks_exact(3) {
                counts.iter_mut().zip(&colours).for_each(|(count, colour)| *count += usize::from(dot == colour));
            }
        }
        counts
    }
}

fn report(opened: impl Into<Opened>) -> String {
    let diagnosis = partune_engine::analyze(opened, &Request::default(), &());
    partune_pages::report(&Runs::of(Path::new("archive"), diagnosis))
}

fn recorded(name: &str) -> Option<String> {
    let anchor = |it: &crate::archives::Archive| (it.name == name).then(|| it.anchor.clone());
    let open = |anchor: &Path| partune_engine::open(anchor, &()).expect("the archive opens");
    archives().iter().find_map(anchor).map(|anchor| report(open(&anchor)))
}

#[test]
fn all_views_are_printed_after_a_short_summary() {
    for page in ["ring", "scorep84-lulesh-hybrid-8x2"].into_iter().filter_map(recorded) {
        let Some(paper) = Paper::of(&page, &[]) else { return };
        let text = paper.text(&[]);
        for view in ["The worst places", "Findings", "Profile", "Load balance", "Communication", "Environment"] {
            assert!(text.contains(view), "{view}");
        }
        let details = page.matches("\"runs/0/findings/").count();
        // A new page begins with a form feed.
        let wheres = text.lines().filter(|line| line.trim_start_matches('\u{c}') == "Where").count();
        assert_eq!(wheres, details.min(10), "details of findings");
        let scalars = page.split("\"scalars\":[{\"name\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert!(scalars.clone().count() > 5);
        for name in scalars {
            assert!(text.contains(name), "{name}: what is closed on the screen");
        }
        assert!(!text.contains("How it is computed") && !text.contains("**Source**"), "books are not printed");
        // The summary is on two pages at most, and is all that is on them.
        let begins = text.split('\u{c}').position(|page| page.contains("Findings, worst first"));
        assert!(begins.is_some_and(|page| page == 1 || page == 2), "{begins:?}");
        assert!(!text.contains("Skip to the view"), "what leads nowhere on paper is not printed");
    }
}

/// Its text is that of `analyze`, whoever cannot run scripts.
#[test]
fn without_its_script_the_text_is_printed() {
    let Some(page) = recorded("ring") else { return };
    let (before, rest) = page.split_once("<script type=\"module\">").expect("there is a script");
    let (_, after) = rest.split_once("</script>").expect("it ends");
    let Some(paper) = Paper::of(&format!("{before}{after}"), &[]) else { return };
    let text = paper.text(&["-layout"]);
    assert!(text.contains("what to mend first") && text.contains("next:"), "{text}");
}

#[test]
fn nothing_is_cut_at_the_edge_of_a_page() {
    let Some(page) = recorded("scorep84-lulesh-hybrid-8x2").or_else(|| recorded("ring")) else { return };
    let Some(paper) = Paper::of(&page, &[]) else { return };
    let text = paper.text(&["-bbox"]);
    let number = |line: &str, name: &str| -> f64 {
        let (_, rest) = line.split_once(&format!("{name}=\"")).expect("it is there");
        rest.split('"').next().and_then(|it| it.parse().ok()).expect("it is a number")
    };
    let mut width = 0.0;
    let mut words = 0;
    for line in text.lines().map(str::trim) {
        if line.starts_with("<page") {
            width = number(line, "width");
        } else if line.starts_with("<word") {
            words += 1;
            // Half of the margin is a word that ran over.
            assert!(number(line, "xMin") >= 17.0 && number(line, "xMax") <= width - 17.0, "{line} of {width}");
        }
    }
    assert!(words > 1000, "{words} words");
}

#[test]
fn a_table_goes_on_with_its_head() {
    let visit = |n: u32| {
        let (begin, end) = (n * 10, n * 10 + 10);
        format!("r{n:02}x {begin}..{end} ")
    };
    let visits: String = (0..60).map(visit).collect();
    let page = report(partune_testkit::trace(&format!("pe 0 1: main 0..600 {{ {visits} }}")));
    let Some(paper) = Paper::of(&page, &[]) else { return };
    let text = paper.text(&["-layout"]);
    let row = |line: &&str| {
        let name = line.split_whitespace().next().unwrap_or_default();
        name.len() == 4 && name.starts_with('r') && name.ends_with('x') && line.split_whitespace().count() > 4
    };
    let pages: Vec<(usize, bool)> = text
        .split('\u{c}')
        .skip_while(|page| !page.starts_with("Profile"))
        .take_while(|page| !page.starts_with("Load balance"))
        .map(|page| (page.lines().filter(row).count(), page.contains("Exclusive") && page.contains("Inclusive")))
        .filter(|(rows, _)| *rows > 0)
        .collect();
    assert!(pages.len() > 1, "the table is longer than a page: {pages:?}");
    assert!(pages.iter().all(|(_, head)| *head), "{pages:?}");
    // All but the region around them, which has its own row.
    assert!(pages.iter().map(|(rows, _)| rows).sum::<usize>() >= 59, "{pages:?}");
}

#[test]
fn colours_are_those_of_the_light_page() {
    let Some(page) = recorded("ring") else { return };
    // Computation, waiting, the panel of a finding; and the ground of the dark page.
    let colours = [[0x94, 0xc3, 0xa2], [0xc4, 0x20, 0x2f], [0xf5, 0xf6, 0xf8], [0x14, 0x17, 0x1b]];
    let Some(light) = Paper::of(&page, &[]) else { return };
    let dots = light.dots(colours);
    assert!(dots[0] > 500 && dots[1] > 100 && dots[2] > 5000, "{dots:?}");
    assert_eq!(dots[3], 0, "{dots:?}");
    let Some(dark) = Paper::of(&page, &["--blink-settings=preferredColorScheme=0"]) else { return };
    assert_eq!(dark.dots(colours), dots, "who reads in the dark prints the same");
}
