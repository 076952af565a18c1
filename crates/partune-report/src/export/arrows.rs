//! What PEs have to do with each other, in Chrome's trace format: waits with their causes, messages and one-sided accesses.
//!
//! A PE that waited has a second track right below its own, since a wait may end inside of what its operation calls. Arrows have numbers
//! that no other arrow has, and never run back in time, which viewers would not draw: an access from when it was started to when it was
//! complete, a message from send to receive, and one from the begin of a wait to the operation that it was for.

use partune_base::{PeId, Time};
use partune_engine::{Transfer, TransferKind};
use serde_json::{Value, json};

use super::ExportError;
use super::chrome::{Micros, Writer};
use crate::{names, words};

impl Writer<'_> {
    /// Thread numbers after those of all PEs are tracks of waits.
    fn wait_place(&self, pe: PeId) -> String {
        let process = self.run.pe(pe).map_or(0, |it| it.process.0);
        format!("\"pid\":{process},\"tid\":{}", self.run.pes().len() as u64 + u64::from(pe.0))
    }

    /// Names of the tracks of waits, each below its PE.
    pub(super) fn wait_names(&mut self) -> Result<(), ExportError> {
        let run = self.run;
        for pe in run.active_pes().iter().copied().filter(|pe| run.waits(*pe).len() > 0) {
            let place = self.wait_place(pe);
            let name = json!({ "name": format!("PE {}: waits", names::pe(run, pe)) });
            let order = 2 * u64::from(pe.0) + 1;
            self.event(format_args!("\"ph\":\"M\",\"name\":\"thread_name\",{place},\"args\":{name}"))?;
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"thread_sort_index\",{place},\"args\":{{\"sort_index\":{order}}}"
            ))?;
        }
        Ok(())
    }

    /// The waits of a PE as complete events, with arrows to their causes where these are known.
    pub(super) fn waits(&mut self, pe: PeId) -> Result<(), ExportError> {
        let run = self.run;
        for wait in run.waits(pe) {
            let place = self.wait_place(wait.pe);
            let (begin, end) = (self.micros(wait.begin), self.micros(wait.end));
            let mut args = json!({
                "pattern": wait.pattern.name(),
                "seconds": self.clock.seconds(wait.duration()),
                "operation": names::construct(run, wait.path),
            });
            if wait.cause_pe.is_some() {
                args["cause"] = json!(format!("PE {}", names::pe(run, wait.cause_pe)));
            }
            if let Some(cause) = wait.cause {
                args["cause_operation"] = json!(names::construct(run, cause.path));
            }
            let (name, duration) = (json!(words::title(wait.pattern)), Micros(end.0 - begin.0));
            self.event(format_args!(
                "\"ph\":\"X\",{place},\"ts\":{begin},\"dur\":{duration},\"name\":{name},\"cat\":\"wait\",\"args\":{args}"
            ))?;
            // An operation that was over before the wait began has no place for the arrow's end.
            if let Some(cause) = wait.cause.filter(|cause| cause.exit >= wait.begin) {
                let (to, at) = (self.place(cause.pe), cause.enter.max(wait.begin));
                self.arrow("wait", "wait", (&place, wait.begin), (&to, at), &json!({}))?;
            }
        }
        Ok(())
    }

    /// An arrow lies in the operations at its ends: it begins where the send does, and ends where the receive does.
    pub(super) fn messages(&mut self) -> Result<(), ExportError> {
        self.run.messages().try_for_each(|message| self.transfer(&message))
    }

    /// Accesses to memory of a PE that is known and recorded something; of a get the data come from there.
    pub(super) fn accesses(&mut self) -> Result<(), ExportError> {
        let run = self.run;
        run.active_pes().iter().flat_map(|pe| run.accesses(*pe)).try_for_each(|access| self.transfer(&access))
    }

    fn transfer(&mut self, it: &Transfer) -> Result<(), ExportError> {
        let (category, args) = match it.kind {
            TransferKind::Message { tag, .. } => ("message", json!({ "bytes": it.bytes, "tag": tag })),
            TransferKind::Put | TransferKind::Get | TransferKind::Atomic => ("access", json!({ "bytes": it.bytes })),
        };
        // Where clocks could not be repaired, a message seems to arrive too early.
        let (from, to) = (self.place(it.from), self.place(it.to));
        self.arrow(category, it.kind.name(), (&from, it.begin), (&to, it.end.max(it.begin)), &args)
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
