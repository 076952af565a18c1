//! Prints events as `otf2-print` does, but for the names of what they refer to, which are left out on both sides.

use partune_otf2::codec::idmap::Mapping;
use partune_otf2::codec::{
    Attribute, AttributeList, Definition, Event, EventVisitor, IdMap, Scope, Value, read_definitions,
};

use super::archives::{Archive, Location};

/// The attributes of a printed event without names: quoted text, and ranks' locations in parentheses.
pub(crate) fn normalized(attributes: &str) -> String {
    let mut plain = String::new();
    let mut quoted = false;
    for part in attributes.split('"') {
        if !quoted {
            plain.push_str(part);
        }
        quoted = !quoted;
    }
    // What refers to nothing is named so; the reference follows all the same.
    let plain = plain.replace(" (INVALID)", "").replace("INVALID <", "<");
    let mut text = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    // `Receiver: 0 ( <0>)`: a rank and the location it stands for.
    while let Some(start) = text.find(" ( <").or(text.find(" (<")).filter(|_| !text.contains(';')) {
        let Some(length) = text[start..].find(')') else { break };
        text.replace_range(start..=start + length, "");
    }
    if let Some(rest) = text.strip_prefix("Model: ") {
        text = rest.split_once(", ").map_or_else(String::new, |(_, rest)| rest.to_string());
    }
    // `(name <17>; UINT64; 5)` in metrics: the member is the class's, not the event's.
    if text.starts_with("Metric: ") {
        text = text.split("; ").map(|part| part.split(" (").next().unwrap_or_default()).collect::<Vec<_>>().join("; ");
    }
    text
}

/// Collects events as lines of text, with global ids and corrected times.
pub(crate) struct Printer {
    pub(crate) lines: Vec<String>,
    attributes: Vec<Attribute>,
    maps: Vec<IdMap>,
    clock: Vec<(u64, i64)>,
}

impl Printer {
    pub(crate) fn new(archive: &Archive, location: &Location) -> Printer {
        let mut printer =
            Printer { lines: Vec::new(), attributes: Vec::new(), maps: vec![IdMap::Identity; 15], clock: Vec::new() };
        if let Some(bytes) = &location.definitions {
            read_definitions(bytes, archive.anchor.definition_chunk_size, Scope::Local, &mut |definition| {
                match definition {
                    Definition::MappingTable(table) => {
                        printer.maps[usize::from(table.mapping_type)] = IdMap::new(&table.id_map);
                    }
                    Definition::ClockOffset(offset) => printer.clock.push((offset.time, offset.offset)),
                    _ => {}
                }
            })
            .unwrap();
        }
        printer
    }

    /// The time that the C library makes of a local one: linear between two clock offsets, and beyond them as in the nearest interval.
    fn corrected(&self, time: u64) -> u64 {
        let interval = self.clock.windows(2).rev().find(|pair| pair[0].0 <= time).or(self.clock.windows(2).next());
        let Some(&[(begin, offset), (end, next)]) = interval else { return time };
        let slope = (next as f64 - offset as f64) / (end - begin) as f64;
        let shift = (slope * (time as f64 - begin as f64)).round_ties_even();
        time.wrapping_add_signed(offset).wrapping_add_signed(shift as i64)
    }

    fn map(&self, mapping: Mapping, id: u64) -> u64 {
        self.maps[mapping as usize].get(id)
    }

    fn line(&mut self, time: u64, event: &Event<'_>) {
        let text = attributes(&event.map(&|mapping, id| self.map(mapping, id)), &|id| self.map(Mapping::String, id));
        let mut line = format!("{} {} {text}", event.name(), self.corrected(time));
        if !self.attributes.is_empty() {
            let list: Vec<String> =
                self.attributes.iter().map(|one| attribute(one.map(&|mapping, id| self.map(mapping, id)))).collect();
            line = format!("{line} + {}", list.join(", "));
            self.attributes.clear();
        }
        self.lines.push(line);
    }
}

impl EventVisitor for Printer {
    fn enter(&mut self, time: u64, region: u32) {
        self.line(time, &Event::Enter { region });
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.line(time, &Event::Leave { region });
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.line(time, event);
    }
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        self.attributes.extend(&attributes);
    }
}

fn attribute(Attribute { attribute, value }: Attribute) -> String {
    let value = match value {
        Value::U64(value) => format!("UINT64; {value}"),
        Value::U32(value) => format!("UINT32; {value}"),
        Value::I64(value) => format!("INT64; {value}"),
        Value::String(id) => format!("STRING; {}", reference(id)),
        Value::Location(id) => format!("LOCATION; <{id}>"),
        Value::SourceCodeLocation(id) => format!("SOURCE_CODE_LOCATION; {}", reference(id)),
        other => format!("{other:?}"),
    };
    format!("( <{attribute}>; {value})")
}

fn reference(id: u32) -> String {
    if id == u32::MAX { "UNDEFINED".to_string() } else { format!("<{id}>") }
}

fn rank(rank: u32) -> String {
    match rank {
        0xffff_ffff => "NONE".to_string(),
        0xffff_fffe => "SELF".to_string(),
        0xffff_fffd => "THIS_GROUP".to_string(),
        rank => rank.to_string(),
    }
}

const OPERATIONS: [&str; 23] = [
    "BARRIER",
    "BCAST",
    "GATHER",
    "GATHERV",
    "SCATTER",
    "SCATTERV",
    "ALLGATHER",
    "ALLGATHERV",
    "ALLTOALL",
    "ALLTOALLV",
    "ALLTOALLW",
    "ALLREDUCE",
    "REDUCE",
    "REDUCE_SCATTER",
    "SCAN",
    "EXSCAN",
    "REDUCE_SCATTER_BLOCK",
    "CREATE_HANDLE",
    "DESTROY_HANDLE",
    "ALLOCATE",
    "DEALLOCATE",
    "CREATE_HANDLE_AND_ALLOCATE",
    "DESTROY_HANDLE_AND_DEALLOCATE",
];

fn levels(bits: u32) -> String {
    let names: Vec<&str> =
        [(1, "PROCESS"), (2, "MEMORY")].iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    if names.is_empty() { "NONE".to_string() } else { format!("{{{}}}", names.join(", ")) }
}

fn attributes(event: &Event<'_>, string: &dyn Fn(u64) -> u64) -> String {
    let lock = |kind: u8| if kind == 0 { "EXCLUSIVE" } else { "SHARED" };
    match *event {
        Event::Enter { region } | Event::Leave { region } => format!("Region: {}", reference(region)),
        Event::MeasurementOnOff { measurement_mode } => {
            format!("Mode: {}", if measurement_mode == 1 { "ON" } else { "OFF" })
        }
        Event::MpiSend { receiver, communicator, msg_tag, msg_length } => {
            format!(
                "Receiver: {receiver}, Communicator: {}, Tag: {msg_tag}, Length: {msg_length}",
                reference(communicator)
            )
        }
        Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id } => format!(
            "Receiver: {receiver}, Communicator: {}, Tag: {msg_tag}, Length: {msg_length}, Request: {request_id}",
            reference(communicator)
        ),
        Event::MpiRecv { sender, communicator, msg_tag, msg_length } => {
            format!("Sender: {sender}, Communicator: {}, Tag: {msg_tag}, Length: {msg_length}", reference(communicator))
        }
        Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id } => format!(
            "Sender: {sender}, Communicator: {}, Tag: {msg_tag}, Length: {msg_length}, Request: {request_id}",
            reference(communicator)
        ),
        Event::MpiIsendComplete { request_id } | Event::MpiIrecvRequest { request_id } => {
            format!("Request: {request_id}")
        }
        Event::MpiCollectiveBegin {} | Event::RmaCollectiveBegin {} | Event::ThreadJoin { .. } => String::new(),
        Event::MpiCollectiveEnd { collective_op, communicator, root, size_sent, size_received } => format!(
            "Operation: {}, Communicator: {}, Root: {}, Sent: {size_sent}, Received: {size_received}",
            OPERATIONS[usize::from(collective_op)],
            reference(communicator),
            rank(root)
        ),
        Event::Metric { metric, values } => {
            let plural = if values.len() == 1 { "Value" } else { "Values" };
            let mut parts = vec![format!("Metric: {metric}, {} {plural}:", values.len())];
            for value in &values {
                let (kind, value) = match value.kind {
                    4 => ("UINT64", value.bits.to_string()),
                    8 => ("INT64", (value.bits as i64).to_string()),
                    _ => ("DOUBLE", format!("{:.6}", f64::from_bits(value.bits))),
                };
                parts.push(kind.to_string());
                parts.push(format!("{value})"));
            }
            // The separators between several values carry the next member's name, which `normalized` cuts off.
            parts.join("; ").replace("); ", "),; ")
        }
        Event::ParameterUnsignedInt { parameter, value } => {
            format!("Parameter: {}, Value: {value}", reference(parameter))
        }
        Event::RmaWinCreate { win } | Event::RmaWinDestroy { win } | Event::RmaWaitChange { win } => {
            format!("Window: {}", reference(win))
        }
        Event::RmaCollectiveEnd { collective_op, sync_level, win, root, bytes_sent, bytes_received } => format!(
            "Operation: {}, Window: {}, Level of Synchronicity: {}, Root: {}, Sent: {bytes_sent}, Received: {bytes_received}",
            OPERATIONS[usize::from(collective_op)],
            reference(win),
            levels(sync_level),
            rank(root)
        ),
        Event::RmaRequestLock { win, remote, lock_id, lock_type } => {
            format!("Window: {}, Remote: {remote}, Lock: {lock_id}, Type: {}", reference(win), lock(lock_type))
        }
        Event::RmaReleaseLock { win, remote, lock_id } => {
            format!("Window: {}, Remote: {remote}, Lock: {lock_id}", reference(win))
        }
        Event::RmaPut { win, remote, bytes, matching_id } | Event::RmaGet { win, remote, bytes, matching_id } => {
            format!("Window: {}, Remote: {remote}, Bytes: {bytes}, Matching: {matching_id}", reference(win))
        }
        Event::RmaOpCompleteBlocking { win, matching_id }
        | Event::RmaOpCompleteNonBlocking { win, matching_id }
        | Event::RmaOpCompleteRemote { win, matching_id } => {
            format!("Window: {}, Matching: {matching_id}", reference(win))
        }
        Event::ThreadFork { number_of_requested_threads, .. } => {
            format!("# Requested Threads: {number_of_requested_threads}")
        }
        Event::ThreadTeamBegin { thread_team } | Event::ThreadTeamEnd { thread_team } => {
            format!("Thread Team: {}", reference(thread_team))
        }
        Event::ThreadAcquireLock { lock_id, acquisition_order, .. }
        | Event::ThreadReleaseLock { lock_id, acquisition_order, .. } => {
            format!("Lock: {lock_id}, Acquisition Order: {acquisition_order}")
        }
        Event::ThreadBegin { thread_contingent, sequence_count }
        | Event::ThreadEnd { thread_contingent, sequence_count } => {
            format!("Thread Contingent: {}, Sequence Count: {sequence_count}", reference(thread_contingent))
        }
        Event::ProgramBegin { program_name, program_arguments } => {
            let arguments: Vec<String> =
                program_arguments.iter().map(|id| reference(string(u64::from(id)) as u32)).collect();
            let plural = if arguments.len() == 1 { "Argument" } else { "Arguments" };
            let list = if arguments.is_empty() { String::new() } else { format!(": {}", arguments.join(", ")) };
            format!("Name: {}, {} {plural}{list}", reference(program_name), arguments.len())
        }
        Event::ProgramEnd { exit_status } if exit_status == i64::MIN => "Exit status: UNDEFINED".to_string(),
        Event::ProgramEnd { exit_status } => format!("Exit status: {exit_status}"),
        Event::CommCreate { communicator } | Event::CommDestroy { communicator } => {
            format!("Communicator: {}", reference(communicator))
        }
        ref other => format!("{other:?}"),
    }
}
