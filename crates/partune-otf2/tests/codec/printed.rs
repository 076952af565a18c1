//! Every event and every definition of every archive, by number and by value, as `otf2-print` prints them.

use std::collections::BTreeMap;

use partune_otf2::codec::{Definition, Scope, read_definitions};

use super::archives::{Archive, archives, otf2_print, records};
use super::printer::{Printer, normalized};

/// Numbers of events by location and type, and each event's time and attributes in order.
#[test]
fn events_are_those_that_the_library_prints() {
    for archive in archives() {
        let Some(printed) = otf2_print(&archive.path, &[]) else { return };
        let mut expected: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        let mut last = 0;
        for line in printed.text.lines() {
            if let Some((name, rest)) = records(line).next() {
                let mut words = rest.split_whitespace();
                let Some(Ok(location)) = words.next().map(str::parse) else { continue };
                let time = words.next().unwrap();
                // A location may have the number that the time is; the time is the second.
                let attributes = rest.trim_start().split_once(' ').unwrap().1.trim_start().strip_prefix(time).unwrap();
                expected.entry(location).or_default().push(format!("{name} {time} {}", normalized(attributes)));
                last = location;
            } else if let Some((_, list)) = line.split_once("ADDITIONAL ATTRIBUTES: ") {
                let event = expected.get_mut(&last).and_then(|events| events.last_mut()).unwrap();
                *event = format!("{event} + {}", normalized(list));
            }
        }
        let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for location in &archive.locations {
            let mut printer = Printer::new(archive, location);
            let events = archive.read_events(location, &mut printer);
            assert_eq!(events, printer.lines.len() as u64);
            if events > 0 {
                found.insert(location.id, printer.lines);
            }
        }
        let (found_types, expected_types) = (by_type(&found), by_type(&expected));
        for (key, count) in &expected_types {
            assert_eq!(found_types.get(key), Some(count), "{}: {key:?}", archive.name);
        }
        assert_eq!(found_types.len(), expected_types.len(), "{}", archive.name);
        for (location, expected) in &expected {
            for (index, (found, expected)) in found[location].iter().zip(expected).enumerate() {
                assert_eq!(found, expected, "{}, location {location}, event {index}", archive.name);
            }
        }
    }
}

fn by_type(events: &BTreeMap<u64, Vec<String>>) -> BTreeMap<(u64, &str), u64> {
    let mut counts = BTreeMap::new();
    for (location, lines) in events {
        for line in lines {
            *counts.entry((*location, line.split(' ').next().unwrap())).or_insert(0) += 1;
        }
    }
    counts
}

#[test]
fn one_archive_has_the_number_of_events_that_its_makers_note() {
    let named: Vec<&Archive> = archives().iter().filter(|archive| archive.name == "fastotf2-mi300").collect();
    for archive in named {
        let events: u64 = archive
            .locations
            .iter()
            .map(|location| archive.read_events(location, &mut Printer::new(archive, location)))
            .sum();
        assert_eq!(events, 72_670);
    }
}

/// Numbers of global definitions by type, and their ids.
#[test]
fn global_definitions_are_those_that_the_library_prints() {
    for archive in archives() {
        let Some(printed) = otf2_print(&archive.path, &["-G"]) else { return };
        let names: Vec<&str> = Definition::TYPES.iter().map(|(_, name)| *name).collect();
        let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, _) in records(&printed.text).filter(|(name, _)| names.contains(name)) {
            *expected.entry(name).or_insert(0) += 1;
        }
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        let outcome = read_definitions(
            &archive.definitions,
            archive.anchor.definition_chunk_size,
            Scope::Global,
            &mut |definition| {
                *found.entry(definition.name()).or_insert(0) += 1;
            },
        )
        .unwrap();
        assert!(outcome.damage.is_none(), "{}: {:?}", archive.name, outcome.damage);
        assert_eq!(outcome.definitions, archive.anchor.global_definitions, "{}", archive.name);
        assert_eq!(found, expected, "{}", archive.name);
    }
}

/// The text of strings, which every other definition refers to.
#[test]
fn strings_are_those_that_the_library_prints() {
    for archive in archives() {
        let Some(printed) = otf2_print(&archive.path, &["-G"]) else { return };
        read_definitions(
            &archive.definitions,
            archive.anchor.definition_chunk_size,
            Scope::Global,
            &mut |definition| {
                if let Definition::Text(text) = definition {
                    let line = format!("STRING {:>33}  \"{}\"\n", text.id, String::from_utf8_lossy(text.string));
                    assert!(printed.text.contains(&line), "{}: {line}", archive.name);
                }
            },
        )
        .unwrap();
    }
}

/// Mapping tables and clock offsets of each location, with all their values.
#[test]
fn local_definitions_are_those_that_the_library_prints() {
    const KINDS: [&str; 15] = [
        "STRING",
        "ATTRIBUTE",
        "LOCATION",
        "REGION",
        "GROUP",
        "METRIC",
        "COMM",
        "PARAMETER",
        "RMA_WIN",
        "SOURCE_CODE_LOCATION",
        "CALLING_CONTEXT",
        "INTERRUPT_GENERATOR",
        "IO_FILE",
        "IO_HANDLE",
        "LOCATION_GROUP",
    ];
    for archive in archives() {
        let Some(printed) = otf2_print(&archive.path, &["-M", "-C"]) else { return };
        let mut expected: Vec<String> = records(&printed.text)
            .map(|(name, rest)| format!("{name} {}", rest.split_whitespace().collect::<Vec<_>>().join(" ")))
            .collect();
        let mut found = Vec::new();
        for location in &archive.locations {
            let Some(bytes) = &location.definitions else { continue };
            let outcome =
                read_definitions(bytes, archive.anchor.definition_chunk_size, Scope::Local, &mut |definition| {
                    match definition {
                        Definition::MappingTable(table) => {
                            let mut entries = Vec::new();
                            let sparse = table.id_map.is_sparse();
                            table.id_map.for_each(|local, global| {
                                entries.push(if sparse { format!("{local}=>{global}") } else { global.to_string() });
                            });
                            let (open, close) = if sparse { ('{', '}') } else { ('[', ']') };
                            let kind = KINDS[usize::from(table.mapping_type)];
                            found.push(format!(
                                "MAPPING_TABLE {} Type: {kind}, {open}{}{close}",
                                location.id,
                                entries.join(",")
                            ));
                        }
                        Definition::ClockOffset(offset) => found.push(format!(
                            "CLOCK_OFFSET {} Time: {}, Offset: {:+}, StdDev: {}",
                            location.id, offset.time, offset.offset, offset.standard_deviation
                        )),
                        _ => {}
                    }
                })
                .unwrap();
            assert!(outcome.damage.is_none(), "{}, location {}: {:?}", archive.name, location.id, outcome.damage);
        }
        expected.retain(|line| line.starts_with("MAPPING_TABLE") || line.starts_with("CLOCK_OFFSET"));
        // The library reads local definitions only together with events, which one archive has lost.
        if archive.locations.iter().any(|location| location.events.is_none()) {
            assert_eq!(expected.len(), 0);
            continue;
        }
        expected.sort();
        found.sort();
        assert_eq!(found.len(), expected.len(), "{}", archive.name);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found == expected, "{}: {found:.200} is not {expected:.200}", archive.name);
        }
    }
}
