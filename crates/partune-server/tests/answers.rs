//! What is answered about every archive: bounded, and with sums that hold.

use serde_json::Value;

use crate::site::{Site, site};

/// Runs that are open: number, name, number of PEs, length, whether it is a profile.
fn runs(site: &Site) -> Vec<(u64, String, u64, i64, bool)> {
    let runs = site.ask("runs");
    let ready = runs.as_array().unwrap().iter().filter(|run| run["state"] == "ready");
    let row = |run: &Value| {
        let name = run["name"].as_str().unwrap().to_owned();
        let pes = run["pes"].as_u64().unwrap() + run["device_streams"].as_u64().unwrap();
        let length = run["duration_ns"].as_i64().unwrap();
        (run["run"].as_u64().unwrap(), name, pes, length, run["profile_only"].as_bool().unwrap())
    };
    ready.map(row).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// All columns of an object have the same length, which is told.
#[track_caller]
fn length(columns: &Value) -> usize {
    let columns = columns.as_object().unwrap();
    let lengths: Vec<usize> = columns.values().map(|column| column.as_array().unwrap().len()).collect();
    assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{lengths:?}");
    lengths.first().copied().unwrap_or(0)
}

fn bytes(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn all_archives_open() {
    let all = site().ask("runs");
    for run in all.as_array().unwrap() {
        // One is not there, one has lost its event files.
        let nothing = run["path"] == "/no/such/archive" || run["name"] == "casita-4_mpi_lammps_colloid";
        assert_eq!(run["state"], if nothing { "failed" } else { "ready" }, "{run}");
        assert_eq!(run["remedy"] != "", nothing, "{run}");
    }
}

#[test]
fn lists_are_consistent() {
    let site = site();
    let kinds = site.ask("runs/0/kinds");
    assert_eq!((kinds.as_array().unwrap().len(), &kinds[11]["name"]), (12, &Value::from("wait")));
    let mut of_threads = 0;
    for (run, name, pes, length_ns, profile) in runs(site) {
        let listed = site.ask(&format!("runs/{run}/pes"));
        assert_eq!(length(&listed["pes"]) as u64 + listed["omitted"].as_u64().unwrap(), pes, "{name}");
        let of_processes: u64 =
            listed["processes"].as_array().unwrap().iter().map(|it| it["count"].as_u64().unwrap()).sum();
        assert_eq!(of_processes, pes, "{name}");

        let summary = site.ask(&format!("runs/{run}/summary"));
        assert!((summary["duration_s"].as_f64().unwrap() - length_ns as f64 * 1e-9).abs() < 1e-8, "{name}");
        assert!(!summary["sentences"].as_array().unwrap().is_empty() || profile || pes == 0, "{name}");
        let seconds = |it: &Value| it["seconds"].as_f64().unwrap();
        let same = |one: f64, other: f64| (one - other).abs() < 1e-6 * one.max(1.0);
        for (bounds, gaps) in [("bounds", "gaps"), ("thread_bounds", "thread_gaps")] {
            if let [first, .., last] = summary[bounds].as_array().unwrap().as_slice() {
                let sum = seconds(first) + summary[gaps].as_array().unwrap().iter().map(seconds).sum::<f64>();
                assert!(same(sum, seconds(last)), "{name}: {gaps} add up");
            }
        }
        if let Some(last) = summary["thread_bounds"].as_array().unwrap().last() {
            assert!(same(seconds(last), seconds(&summary["bounds"][0])), "{name}: threads end where processes begin");
            of_threads += 1;
        }
        let environment = site.ask(&format!("runs/{run}/environment"));
        assert!(!environment["facts"].as_array().unwrap().is_empty());
        length(&environment["groups"]);
    }
    assert!(of_threads > 0);
}

#[test]
fn findings_have_details_and_instances() {
    let site = site();
    let mut seen = 0;
    for (run, name, pes, length_ns, _) in runs(site) {
        let list = site.ask(&format!("runs/{run}/findings"));
        let findings = list["findings"].as_array().unwrap();
        let pattern = findings.first().map(|first| first["pattern"].as_str().unwrap());
        if let Some(pattern) = pattern {
            let some = site.ask(&format!("runs/{run}/findings?pattern={pattern}"));
            let some = some["findings"].as_array().unwrap().len();
            assert!(some > 0 && some <= findings.len());
        }
        assert_eq!(site.ask(&format!("runs/{run}/findings?text=no+such+place%21"))["findings"], Value::Array(vec![]));
        for finding in findings {
            seen += 1;
            let id = finding["id"].as_str().unwrap();
            let detail = site.ask(&format!("runs/{run}/findings/{id}"));
            let seconds = finding["seconds"].as_f64().unwrap();
            let of_pes: f64 = numbers(&detail["pes"]["seconds"]).iter().sum();
            let all = of_pes + detail["pes_rest"]["seconds"].as_f64().unwrap();
            let waits = finding["is_wait"] == true;
            assert!(!waits || (all - seconds).abs() <= 1e-6 * seconds + 1e-8, "{name} {id}: {all} is {seconds}");
            let instances = length(&detail["instances"]);
            assert!(instances <= 200, "{name} {id}");
            let of_instances = numbers(&detail["instances"]["seconds"]);
            if finding["is_wait"] == true {
                assert_eq!(instances as u64, detail["instances_count"].as_u64().unwrap().min(200), "{name} {id}");
                assert!(of_instances.windows(2).all(|pair| pair[0] >= pair[1]), "{name} {id}: longest first");
                if instances < 200 {
                    assert!((of_instances.iter().sum::<f64>() - seconds).abs() <= 1e-6 * seconds + 1e-8, "{name} {id}");
                }
                walk(site, run, id, instances);
            }
            for pe in detail["instances"]["pe"].as_array().unwrap() {
                assert!(pe.as_u64().unwrap() < pes, "{name} {id}");
            }
            assert!(numbers(&detail["instances"]["to"]).iter().all(|to| *to <= length_ns as f64), "{name} {id}");
        }
    }
    assert!(seen > 0, "some archive has a finding");
}

/// From the first instance to the second and back.
fn walk(site: &Site, run: u64, id: &str, instances: usize) {
    let next = |query: &str| site.ask(&format!("runs/{run}/findings/{id}/next?{query}"))["instance"].clone();
    let first = next("after=-9223372036854775808");
    assert!(first["from"].is_i64(), "{id}");
    assert_eq!(next(&format!("after={}&back=1", first["from"])), Value::Null, "{id}: nothing before the first");
    let second = next(&format!("after={}", first["from"]));
    if instances > 1 && !second.is_null() {
        assert!(second["from"].as_i64() > first["from"].as_i64());
        let back = next(&format!("after={}&back=1", second["from"]));
        assert_eq!(back["from"], first["from"], "{id}");
    }
    assert_eq!(next("after=9223372036854775807"), Value::Null, "{id}");
}

/// Boxes make up the one that they stand on, both ways and however few there are; and all of them the run.
#[test]
fn flame_graphs_add_up() {
    let site = site();
    let mut seen = 0;
    for (run, name, pes, length_ns, profile) in runs(site) {
        let half = length_ns / 2;
        let mut queries = vec![String::new(), "stacking=callers".to_owned(), "levels=2".to_owned()];
        if pes > 1 {
            queries.extend(["only=1".to_owned(), "stacking=callers&only=1".to_owned()]);
        }
        if !profile && half > 0 {
            queries.extend([format!("from=0&to={half}"), format!("stacking=callers&from={half}")]);
        }
        for query in queries {
            let flame = site.ask(&format!("runs/{run}/flame?{query}"));
            let boxes = length(&flame["boxes"]);
            assert!(boxes <= 4000, "{name} {query}: {boxes}");
            seen += boxes;
            let all = flame["all_s"].as_f64().unwrap();
            let (seconds, own) = (numbers(&flame["boxes"]["seconds"]), numbers(&flame["boxes"]["own_s"]));
            let (mut first, mut on) = (0.0, own.clone());
            for (at, parent) in flame["boxes"]["parent"].as_array().unwrap().iter().enumerate() {
                match parent.as_u64() {
                    Some(parent) => on[parent as usize] += seconds[at],
                    None => first += seconds[at],
                }
            }
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs() + 1e-9;
            assert!(near(first, all), "{name} {query}: {first} is {all}");
            for (sum, time) in on.iter().zip(&seconds) {
                assert!(near(*sum, *time), "{name} {query}: {sum} is {time}");
            }
        }
        // The two halves of the run make up the whole; what is outside of functions is counted alike in parts.
        if !profile && half > 0 {
            let part = |query: String| site.ask(&format!("runs/{run}/flame?{query}"))["all_s"].as_f64().unwrap();
            let whole = part("from=0".to_owned()) - part(format!("from=0&to={half}")) - part(format!("from={half}"));
            assert!(whole.abs() < 1e-6 * (pes as f64 * length_ns as f64 * 1e-9) + 1e-6, "{name}: {whole}");
        }
        // A box that is opened is the box that was there.
        let flame = site.ask(&format!("runs/{run}/flame"));
        let region = &flame["functions"]["region"][flame["boxes"]["function"][0].as_u64().unwrap_or(u64::MAX) as usize];
        if let Some(region) = region.as_u64() {
            let opened = site.ask(&format!("runs/{run}/flame?under={region}"));
            assert_eq!(
                (&opened["under"], &opened["boxes"]["seconds"][0]),
                (&1.into(), &flame["boxes"]["seconds"][0]),
                "{name}"
            );
        }
        for wrong in ["under=4294967294", "under=x", "stacking=up", "base=99", "base=0&only=0", "levels=65"] {
            assert_ne!(site.get(&format!("runs/{run}/flame?{wrong}")).status, 200, "{name} {wrong}");
        }
    }
    assert!(seen > 0, "some archive has boxes");
}

#[test]
fn time_lines_hold_at_any_zoom() {
    let site = site();
    let mut lines = [0usize; 5];
    for (run, name, pes, length_ns, profile) in runs(site) {
        if profile {
            assert_eq!(site.get(&format!("runs/{run}/timeline")).status, 404, "{name}");
            assert_eq!(site.get(&format!("runs/{run}/at?pe=0&time=0")).status, 404, "{name}");
            continue;
        }
        let third = length_ns / 3;
        for query in [
            String::new(),
            "columns=4096&rows=512".to_owned(),
            "columns=64&rows=1".to_owned(),
            "columns=100&group=process".to_owned(),
            "columns=100&group=host&rows=2".to_owned(),
            format!("from={third}&to={}&columns=300", 2 * third + 1),
            format!("from={third}&to={}&columns=50&first={}&pes=1", third + 1000, pes / 2),
            format!("from={third}&to={}&columns=50", third + 1),
            "from=-9223372036854775808&to=9223372036854775807&columns=7".to_owned(),
            "from=9000000000000000000&to=9100000000000000000&columns=7".to_owned(),
        ] {
            let view = site.ask(&format!("runs/{run}/timeline?{query}"));
            check(&name, &query, &view, pes, &mut lines);
        }
    }
    assert!(lines.iter().all(|count| *count > 0), "spans, waits, messages, collectives, critical path: {lines:?}");
}

fn check(name: &str, query: &str, view: &Value, pes: u64, lines: &mut [usize; 5]) {
    let what = format!("{name} {query}");
    let (rows, columns) = (length(&view["rows"]), view["columns"].as_u64().unwrap() as usize);
    assert!(
        (rows > 0 || pes == 0) && rows <= 512 && (1..=4096).contains(&columns) && rows * columns <= 1 << 18,
        "{what}"
    );
    let counts = numbers(&view["rows"]["count"]);
    assert!(counts.iter().sum::<f64>() as u64 <= pes, "{what}");
    let kinds = numbers(&view["bins"]["kinds"]);
    let data = bytes(view["bins"]["data"].as_str().unwrap());
    assert_eq!(data.len(), rows * columns * kinds.len(), "{what}");
    assert!(!kinds.contains(&10.0), "{what}: idle is the rest");
    if !kinds.is_empty() {
        for bin in data.chunks(kinds.len()) {
            let shares = bin.iter().zip(&kinds).filter(|(_, kind)| **kind < 10.0);
            let sum: u32 = shares.map(|(share, _)| u32::from(*share)).sum();
            assert!(sum <= 255 + kinds.len() as u32, "{what}: kinds are parts of the whole: {bin:?}");
        }
    }
    if !view["spans"].is_null() {
        assert!(length(&view["spans"]) <= 8192, "{what}");
        assert_eq!(length(&view["spans"]) as u64, view["spans_count"].as_u64().unwrap());
        let regions = view["regions"].as_array().unwrap().len() as f64;
        assert!(numbers(&view["spans"]["region"]).iter().all(|region| *region < regions), "{what}");
        lines[0] += length(&view["spans"]);
    }
    let row =
        |column: &Value| column.as_array().unwrap().iter().all(|row| row.as_u64().is_none_or(|row| row < rows as u64));
    assert!(length(&view["waits"]) <= 2000 && row(&view["waits"]["row"]) && row(&view["waits"]["cause_row"]), "{what}");
    assert_eq!(length(&view["waits"]) as u64, view["waits_count"].as_u64().unwrap().min(2000), "{what}");
    lines[1] += length(&view["waits"]);
    if !view["messages"].is_null() {
        assert!(length(&view["messages"]) <= 2000 && row(&view["messages"]["from_row"]), "{what}");
        lines[2] += length(&view["messages"]);
    }
    let collectives = view["collectives"].as_array().unwrap();
    assert!(collectives.len() <= 300, "{what}");
    for collective in collectives {
        assert!(row(&collective["members"]["row"]) && length(&collective["members"]) <= rows, "{what}");
    }
    lines[3] += collectives.len();
    assert!(length(&view["critical_path"]) <= 2000 && row(&view["critical_path"]["row"]), "{what}");
    lines[4] += length(&view["critical_path"]);
}

#[test]
fn a_moment_is_what_the_time_line_shows() {
    let site = site();
    let mut seen = [0usize; 5];
    for (run, name, pes, length_ns, profile) in runs(site) {
        // As many that messages of the examples are met, which are all that there is in a clone.
        const MOMENTS: u64 = 60;
        for slot in 0..if profile || pes == 0 { 0 } else { MOMENTS } {
            let (pe, time) = (slot * pes / MOMENTS, length_ns / MOMENTS as i64 * slot as i64 + 3);
            let at = site.ask(&format!("runs/{run}/at?pe={pe}&time={time}"));
            length(&at["stack"]);
            let (from, to) = (numbers(&at["stack"]["from"]), numbers(&at["stack"]["to"]));
            assert!(from.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: outermost first");
            assert!(from.iter().zip(&to).all(|(from, to)| *from <= time as f64 && *to >= time as f64), "{name}");
            if let Some(from) = at["operation"]["from"].as_i64() {
                assert!(from <= time && at["operation"]["to"].as_i64().unwrap() >= time, "{name}");
            }
            for (seen, key) in seen.iter_mut().zip(["operation", "messages", "transfers", "collective", "waits"]) {
                let value = &at[key];
                *seen += usize::from(!value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
            }
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0 && seen[3] > 0 && seen[4] > 0, "{seen:?}");
}

#[test]
fn profiles_are_sums() {
    let site = site();
    for (run, name, pes, _, profile) in runs(site) {
        let flat = site.ask(&format!("runs/{run}/profile"));
        let regions = &flat["regions"];
        assert!(length(regions) <= 1000, "{name}");
        let exclusive: f64 = numbers(&regions["exclusive_s"]).iter().sum();
        assert!(numbers(&regions["exclusive_s"]).windows(2).all(|pair| pair[0] >= pair[1]), "{name}");

        let tree = site.ask(&format!("runs/{run}/tree"));
        let all = tree["all_s"].as_f64().unwrap();
        if flat["omitted"] == 0 && !profile {
            assert!((exclusive - all).abs() <= 1e-6 * all + 1e-7, "{name}: {exclusive} is {all}");
        }
        let roots: f64 = numbers(&tree["nodes"]["inclusive_s"]).iter().sum();
        assert!(tree["omitted"] != 0 || (roots - all).abs() <= 1e-6 * all + 1e-7, "{name}");
        let deep = site.ask(&format!("runs/{run}/tree?depth=64"));
        let nodes = &deep["nodes"];
        assert!(length(nodes) <= 2000, "{name}");
        let (inclusive, depth) = (numbers(&nodes["inclusive_s"]), numbers(&nodes["depth"]));
        for (at, parent) in nodes["parent"].as_array().unwrap().iter().enumerate() {
            if let Some(parent) = parent.as_u64() {
                assert!((depth[at] - depth[parent as usize] - 1.0).abs() < 0.1, "{name}");
                assert!(inclusive[at] <= inclusive[parent as usize] * (1.0 + 1e-9) + 1e-9 || pes > 1, "{name}");
            }
        }
        if let Some(path) = tree["nodes"]["path"].as_array().unwrap().first() {
            let below = site.ask(&format!("runs/{run}/tree?path={path}"));
            let children = tree["nodes"]["children"][0].as_u64().unwrap();
            assert_eq!(length(&below["nodes"]) as u64, children.min(2000), "{name}");
        }
        // The code outside of all regions has a name, and cannot be found in the timeline.
        let is_region: Vec<bool> =
            regions["region"].as_array().unwrap().iter().map(|region| !region.is_null()).collect();
        let names = regions["name"].as_array().unwrap().iter().zip(is_region);
        assert!(
            names.clone().all(|(name, is_region)| is_region || name == "code outside of recorded regions"),
            "{name}"
        );
        if let Some(found) = names.clone().find(|it| it.1).and_then(|(name, _)| name.as_str()) {
            let plain: String = found.chars().take_while(char::is_ascii_alphanumeric).collect();
            if !plain.is_empty() {
                find(site, run, &name, &plain, profile);
            }
        }
    }
}

/// A region is found, and its visits one after the other.
fn find(site: &Site, run: u64, name: &str, text: &str, profile: bool) {
    let found = site.ask(&format!("runs/{run}/find?text={}", text.to_uppercase()));
    let first = &found["regions"][0];
    assert!(first["name"].as_str().unwrap().to_lowercase().contains(&text.to_lowercase()), "{name}");
    if profile {
        return;
    }
    let next =
        |query: String| site.ask(&format!("runs/{run}/next?region={}&{query}", first["region"]))["visit"].clone();
    let one = next(format!("after={}", first["from"].as_i64().unwrap() - 1));
    assert_eq!((&one["from"], one["from"].is_i64()), (&first["from"], true), "{name}: the first is the first");
    let two = next(format!("after={}", one["from"]));
    if !two.is_null() {
        assert!(two["from"].as_i64() > one["from"].as_i64(), "{name}");
        assert!(next(format!("after={}&back=1", two["from"]))["from"].as_i64() < two["from"].as_i64(), "{name}");
    }
    assert_eq!(next(format!("after={}&back=1", one["from"])), Value::Null, "{name}");
}

#[test]
fn kinds_make_up_the_run_of_every_pe() {
    let site = site();
    for (run, name, pes, length_ns, profile) in runs(site) {
        let balance = site.ask(&format!("runs/{run}/balance?rows=512"));
        let rows = length(&balance["rows"]);
        assert!(rows as u64 <= pes.min(512), "{name}");
        let kinds = numbers(&balance["kinds"]);
        let seconds: Vec<Vec<f64>> = balance["seconds"].as_array().unwrap().iter().map(numbers).collect();
        let run_s = length_ns as f64 * 1e-9;
        for row in 0..if profile { 0 } else { rows } {
            let parts = kinds.iter().zip(&seconds).filter(|(kind, _)| **kind < 11.0);
            let sum: f64 = parts.map(|(_, values)| values[row]).sum();
            assert!((sum - run_s).abs() <= 1e-6 * run_s + 1e-8, "{name} row {row}: {sum} is {run_s}");
        }
        let regions = balance["regions"]["names"].as_array().unwrap().len();
        assert!(regions <= 60, "{name}");
        let heat = balance["regions"]["seconds"].as_array().unwrap();
        assert!(heat.iter().all(|row| row.as_array().unwrap().len() == regions), "{name}");
        assert!(length(&balance["events"]) <= 200, "{name}");
        if !balance["blocks"].is_null() {
            let blocks = balance["blocks"]["first"].as_array().unwrap().len();
            assert!(blocks <= 60 && balance["blocks"]["seconds"].as_array().unwrap().len() == rows, "{name}");
        }
    }
}

#[test]
fn matrices_hold_what_was_sent() {
    let site = site();
    let mut total = 0.0;
    for (run, name, ..) in runs(site) {
        for by in ["bytes", "count", "seconds"] {
            let matrix = site.ask(&format!("runs/{run}/matrix?by={by}"));
            let rows = length(&matrix["rows"]);
            let cells: Vec<Vec<f64>> = matrix["cells"].as_array().unwrap().iter().map(numbers).collect();
            assert!(rows <= 256 && cells.len() == rows && cells.iter().all(|row| row.len() == rows), "{name}");
            let sum: f64 = cells.iter().flatten().sum();
            let all = matrix["total"].as_f64().unwrap();
            assert!((sum - all).abs() <= 1e-9 * all, "{name} {by}: {sum} is {all}");
            // Folded, nothing is lost.
            let folded = site.ask(&format!("runs/{run}/matrix?by={by}&rows=2"));
            assert!(
                length(&folded["rows"]) <= 2 && (folded["total"].as_f64().unwrap() - all).abs() <= 1e-9 * all,
                "{name}"
            );
            total += all;
        }
    }
    assert!(total > 0.0);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let site = site();
    for question in
        ["runs/0/timeline?columns=200", "runs/0/findings", "runs/0/balance", "runs/0/matrix", "runs/0/tree?depth=9"]
    {
        assert_eq!(site.get(question).body, site.get(question).body, "{question}");
    }
}

#[test]
fn runs_are_put_together() {
    let site = site();
    let runs = runs(site);
    let number = |part: &str| runs.iter().find(|run| run.1.contains(part)).map(|run| run.0);
    // Two runs that are always there; better ones if the shared archives are.
    let (one, two) = (number("npb-cg.S").unwrap_or(0), number("npb-lu.S").unwrap_or(1));
    let compared = site.ask(&format!("compare?runs={one},{two}"));
    assert_eq!((compared["kind"].as_str(), compared["runs"].as_array().unwrap().len()), (Some("compare"), 2));
    for list in ["callpaths", "regions", "findings"] {
        let rows = compared[list].as_array().unwrap();
        assert!(rows.len() <= 500 && compared["omitted"][list].is_u64(), "{list}");
        assert!(rows.iter().all(|row| row["runs"].as_array().unwrap().len() == 2), "{list}");
    }
}

#[test]
fn scaling_needs_two_numbers_of_pes() {
    let site = site();
    let runs = runs(site);
    let by_pes = |wanted: &dyn Fn(u64) -> bool| runs.iter().find(|run| run.3 > 0 && wanted(run.2)).map(|run| run.0);
    let Some(few) = by_pes(&|pes| pes == 4) else { return };
    let Some(more) = by_pes(&|pes| pes > 4) else { return };
    for mode in ["strong", "weak"] {
        let scaling = site.ask(&format!("scaling?runs={few},{more}&mode={mode}"));
        assert_eq!(scaling["points"].as_array().unwrap().len(), 2);
        assert_eq!((scaling["kind"].as_str(), scaling["mode"].as_str()), (Some("scale"), Some(mode)));
    }
    assert_eq!(site.get(&format!("scaling?runs={few}")).status, 400);
}
