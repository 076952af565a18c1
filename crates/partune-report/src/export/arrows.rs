//! What PEs have to do with each other, in Chrome's trace format: waits with their causes, messages and one-sided accesses.
//!
//! A PE that waited has a second track right below its own, since a wait may end inside of what its operation calls. Arrows have numbers
//! that no other arrow has, and never run back in time, which viewers would not draw: an access from when it was started to when it was
//! complete, a message from send to receive, and one from the begin of a wait to the operation that it was for.

use partune_analysis::{Wait, Waits};
use partune_base::{PeId, Time};
use partune_index::Index;
use partune_picture::Moved;
use partune_trace::RmaTransferKind;
use serde_json::{Value, json};

use super::ExportError;
use super::chrome::{Micros, Writer};
use crate::{names, words};

impl Writer<'_> {
    /// Thread numbers after those of all PEs are tracks of waits.
    fn wait_place(&self, pe: PeId) -> String {
        let process = self.trace.pes().get(pe).map_or(0, |it| it.process.0);
        format!("\"pid\":{process},\"tid\":{}", self.trace.pes().len() as u64 + u64::from(pe.0))
    }

    /// Names of the tracks of waits, each below its PE.
    pub(super) fn wait_names(&mut self, waits: &Waits) -> Result<(), ExportError> {
        for pe in self.trace.active_pes().filter(|pe| !waits.of_pe(*pe).is_empty()) {
            let place = self.wait_place(pe);
            let name = json!({ "name": format!("PE {}: waits", names::pe(self.trace, pe)) });
            let order = 2 * u64::from(pe.0) + 1;
            self.event(format_args!("\"ph\":\"M\",\"name\":\"thread_name\",{place},\"args\":{name}"))?;
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"thread_sort_index\",{place},\"args\":{{\"sort_index\":{order}}}"
            ))?;
        }
        Ok(())
    }

    /// The waits of a PE as complete events, with arrows to their causes where these are known.
    pub(super) fn waits(&mut self, waits: &[Wait]) -> Result<(), ExportError> {
        let trace = self.trace;
        let construct = |pe: PeId, visit| names::construct(trace, trace.streams()[pe].visits.at(visit).path);
        for wait in waits {
            let place = self.wait_place(wait.pe);
            let (begin, end) = (self.micros(wait.begin), self.micros(wait.end));
            let mut args = json!({
                "pattern": wait.pattern.name(),
                "seconds": self.clock.seconds(wait.duration()),
                "operation": construct(wait.pe, wait.operation),
            });
            if wait.cause.pe.is_some() {
                args["cause"] = json!(format!("PE {}", names::pe(trace, wait.cause.pe)));
            }
            let known = wait.cause.pe.is_some() && wait.cause.visit.is_some();
            let cause = known.then(|| trace.streams()[wait.cause.pe].visits.at(wait.cause.visit));
            if cause.is_some() {
                args["cause_operation"] = json!(construct(wait.cause.pe, wait.cause.visit));
            }
            let (name, duration) = (json!(words::title(wait.pattern)), Micros(end.0 - begin.0));
            self.event(format_args!(
                "\"ph\":\"X\",{place},\"ts\":{begin},\"dur\":{duration},\"name\":{name},\"cat\":\"wait\",\"args\":{args}"
            ))?;
            // An operation that was over before the wait began has no place for the arrow's end.
            if let Some(cause) = cause.filter(|cause| cause.exit >= wait.begin) {
                let (to, at) = (self.place(wait.cause.pe), cause.enter.max(wait.begin));
                self.arrow("wait", "wait", (&place, wait.begin), (&to, at), &json!({}))?;
            }
        }
        Ok(())
    }

    /// An arrow lies in the operations at its ends: it begins where the send does, and ends where the receive does.
    pub(super) fn messages(&mut self, index: &Index) -> Result<(), ExportError> {
        for message in index.messages.iter().copied() {
            let send = self.trace.streams()[message.sender].sends[message.send as usize];
            let args = json!({ "bytes": send.bytes, "tag": send.tag });
            self.moved("message", "message", &Moved::Message(message), &args)?;
        }
        Ok(())
    }

    /// Accesses to memory of a PE that is known and recorded something; of a get the data come from there.
    pub(super) fn accesses(&mut self, index: &Index) -> Result<(), ExportError> {
        let trace = self.trace;
        let recorded = |pe: PeId| trace.streams().get(pe).is_some_and(|stream| !stream.visits.is_empty());
        for pe in trace.active_pes() {
            for access in index.rma.of_pe(pe).iter().copied() {
                let row = &trace.streams()[pe].transfers[access.row as usize];
                if !recorded(row.target) {
                    continue;
                }
                let name = match row.kind {
                    RmaTransferKind::Put => "put",
                    RmaTransferKind::Get => "get",
                    RmaTransferKind::Atomic => "atomic",
                };
                self.moved("access", name, &Moved::Access(access), &json!({ "bytes": row.bytes }))?;
            }
        }
        Ok(())
    }

    fn moved(&mut self, category: &str, name: &str, moved: &Moved, args: &Value) -> Result<(), ExportError> {
        let ((from, begin), (to, end)) = moved.ends(self.trace);
        // Where clocks could not be repaired, a message seems to arrive too early.
        let (from, to) = (self.place(from), self.place(to));
        self.arrow(category, name, (&from, begin), (&to, end.max(begin)), args)
    }

    fn arrow(
        &mut self,
        category: &str,
        name: &str,
        from: (&str, Time),
        to: (&str, Time),
        args: &Value,
    ) -> Result<(), ExportError> {
        let what = format!("\"name\":\"{name}\",\"cat\":\"{category}\",\"id\":{}", self.arrows);
        self.arrows += 1;
        let (begin, end) = (self.micros(from.1), self.micros(to.1));
        self.event(format_args!("\"ph\":\"s\",{},\"ts\":{begin},{what},\"args\":{args}", from.0))?;
        self.event(format_args!("\"ph\":\"f\",\"bp\":\"e\",{},\"ts\":{end},{what}", to.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a category.
    fn events(text: &str, cat: &str) -> Vec<Value> {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &partune_engine::Request::default(), &());
        let mut out = Vec::new();
        crate::chrome(&diagnosis, &mut out).unwrap();
        let mut document: Value = serde_json::from_slice(&out).unwrap();
        let mut events = document["traceEvents"].take();
        events.as_array_mut().unwrap().drain(..).filter(|it| it["cat"] == cat).collect()
    }

    fn late_sender(posted: u32) -> String {
        format!(
            "pe 0: main 0..100 {{ work 0..40 MPI_Send 40..52 send(to=1, tag=7, bytes=8) }}
             pe 1: main 0..100 {{ work 0..{posted} MPI_Recv {posted}..54 recv(from=0, tag=7, bytes=8) }}"
        )
    }

    #[test]
    fn a_wait_is_a_slice_with_an_arrow_to_its_cause() {
        let found = events(&late_sender(10), "wait");
        let expected = json!([
            {
                "ph": "X", "pid": 1, "tid": 3, "ts": 0.010, "dur": 0.030, "name": "Late sender", "cat": "wait",
                "args": { "pattern": "late_sender", "seconds": 3e-8, "operation": "MPI_Recv", "cause": "PE 0", "cause_operation": "MPI_Send" },
            },
            { "ph": "s", "pid": 1, "tid": 3, "ts": 0.010, "name": "wait", "cat": "wait", "id": 0, "args": {} },
            { "ph": "f", "bp": "e", "pid": 0, "tid": 0, "ts": 0.040, "name": "wait", "cat": "wait", "id": 0 },
        ]);
        assert_eq!(json!(found), expected);
    }

    #[test]
    fn who_comes_last_has_no_wait() {
        assert!(events(&late_sender(40), "wait").is_empty());
        assert_eq!(events(&late_sender(40), "message").len(), 2, "but the message is there");
    }

    #[test]
    fn accesses_are_arrows_the_way_the_data_go() {
        let text =
            "pe 0: main 0..100 { shmem_putmem 20..30 put(to=1, bytes=64) shmem_getmem 40..60 get(to=1, bytes=16) }
                    pe 1: main 0..100 { work 0..90 }";
        let ends = |name: &str| -> Vec<(String, u64, f64)> {
            let of = |it: &Value| (it["ph"].to_string(), it["tid"].as_u64().unwrap(), it["ts"].as_f64().unwrap());
            events(text, "access").iter().filter(|it| it["name"] == name).map(of).collect()
        };
        let arrow = |from: (u64, f64), to: (u64, f64)| {
            vec![("\"s\"".to_owned(), from.0, from.1), ("\"f\"".to_owned(), to.0, to.1)]
        };
        assert_eq!(ends("put"), arrow((0, 0.02), (1, 0.03)));
        assert_eq!(ends("get"), arrow((1, 0.04), (0, 0.06)));
        assert_eq!(events(text, "access")[0]["args"], json!({ "bytes": 64 }));
        assert_eq!(events(text, "access").len(), 4);
        assert!(events(text, "message").is_empty() && events(text, "wait").is_empty());
    }

    #[test]
    fn accesses_to_nobody_known_have_no_arrow() {
        let text = "pe 0: main 0..100 { shmem_putmem 20..30 put(to=1, bytes=64) }
                    pe 1: ";
        assert!(events(text, "access").is_empty(), "the other PE has no track");
    }
}
