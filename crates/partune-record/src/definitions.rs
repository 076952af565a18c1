//! Writes the global definitions of an archive.
//!
//! Of what only recordings have; the rest is [`Definitions`].

use std::borrow::Cow;

use partune_base::{StringId, Strings, short};
use partune_otf2::codec::definition::{
    Attribute, CallingContext, CallingContextProperty, InterComm, InterruptGenerator, IoHandle, IoRegularFile,
    LocationGroupProperty, LocationProperty, SourceCodeLocation,
};
use partune_otf2::codec::numbers::{group, metric, occurrence, region_flag, role, value};
use partune_otf2::codec::{CodecError, Value};
use partune_otf2::write::{CounterRow, Definitions, OFFSET, RegionRow};
use partune_otf2::{io, paradigms};
use partune_parts::layout::attributes;
use partune_parts::log::Interface;
use partune_trace::IoLayer;

use crate::contexts::{Contexts, Kind, NONE};
use crate::roles;
use crate::unify::{CommRow, Unified};
use crate::worlds::Worlds;

/// The global definitions of a recording in the making.
pub(crate) struct Global<'t, S> {
    pub(crate) to: Definitions<S>,
    strings: &'t Strings,
}

/// The value of a property.
pub(crate) enum Property<'a> {
    Number(u64),
    Text(Cow<'a, str>),
}

impl<'t, S: FnMut(&[u8])> Global<'t, S> {
    pub(crate) fn new(sink: S, strings: &'t Strings) -> Result<Self, CodecError> {
        Ok(Global { to: Definitions::new(sink)?, strings })
    }

    /// Ends the file; the number of definitions.
    pub(crate) fn finish(self) -> u64 {
        self.to.finish()
    }

    fn string(&mut self, id: StringId) -> Result<u32, CodecError> {
        let strings = self.strings;
        if id.is_some() { self.to.text(strings.get(id)) } else { Ok(NONE) }
    }

    pub(crate) fn paradigms<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), CodecError> {
        // Both names come first.
        let [user, compiler] = ["User", "Compiler"];
        self.to.text(user)?;
        self.to.text(compiler)?;
        let own = [(paradigms::USER, user), (paradigms::COMPILER, compiler)];
        let is_told = |number: u8| number == paradigms::UNKNOWN || own.iter().any(|(known, _)| *known == number);
        let others = names.map(|name| (paradigms::number(name), name)).filter(|(number, _)| !is_told(*number));
        for (number, name) in own.into_iter().chain(others) {
            self.to.paradigm(number, name)?;
        }
        Ok(())
    }

    /// A process on a node, with properties.
    pub(crate) fn process(
        &mut self,
        id: u32,
        name: &str,
        node: u32,
        about: &[(String, String)],
    ) -> Result<(), CodecError> {
        self.to.process(id, name, node)?;
        for (key, value) in about {
            let (key, value) = (self.to.text(key)?, self.to.text(value)?);
            self.to.put(LocationGroupProperty {
                location_group: id,
                name: key,
                string_value: value,
                value: Some(Value::String(value)),
            })?;
        }
        Ok(())
    }

    pub(crate) fn location(
        &mut self,
        id: u64,
        name: &str,
        process: u32,
        events: u64,
        about: &[(&str, Property<'_>)],
    ) -> Result<(), CodecError> {
        self.to.thread(id, name, process, events)?;
        for (name, value) in about {
            let name = self.to.text(name)?;
            let (string_value, value) = match value {
                Property::Number(number) => (self.to.text(&number.to_string())?, Value::U64(*number)),
                Property::Text(text) => {
                    let text = self.to.text(text)?;
                    (text, Value::String(text))
                }
            };
            self.to.put(LocationProperty { location: id, name, string_value, value: Some(value) })?;
        }
        Ok(())
    }

    /// Regions, places in the source and call paths.
    pub(crate) fn code(&mut self, contexts: &Contexts) -> Result<(), CodecError> {
        for (region, id) in contexts.regions.rows.iter().zip(0..) {
            let whole = self.string(region.name)?;
            let name = match region.kind {
                Kind::Function => self.to.text(&short(self.strings.get(region.name)))?,
                Kind::Construct(_) | Kind::Code | Kind::Phase | Kind::Loop | Kind::Iteration => whole,
            };
            let (role, paradigm, flags) = match region.kind {
                Kind::Function => (role::FUNCTION, paradigms::COMPILER, 0),
                Kind::Construct(of) => {
                    let of = self.strings.get(of);
                    (roles::of(self.strings.get(region.name), of), paradigms::number(of), 0)
                }
                Kind::Code => (role::CODE, paradigms::USER, 0),
                Kind::Phase => (role::CODE, paradigms::USER, region_flag::PHASE),
                Kind::Loop => (role::LOOP, paradigms::USER, region_flag::DYNAMIC),
                Kind::Iteration => (role::CODE, paradigms::USER, region_flag::DYNAMIC | region_flag::PHASE),
            };
            let file = match region.kind {
                Kind::Construct(name) => self.string(name)?,
                _ => self.string(region.file)?,
            };
            self.to.region(id, RegionRow { name, whole, file, lines: (region.line, 0), role, paradigm, flags })?;
        }
        for (&(file, line_number), id) in contexts.sites.rows.iter().zip(0..) {
            let file = self.string(file)?;
            self.to.put(SourceCodeLocation { id, file, line_number })?;
        }
        for (context, id) in contexts.tree.rows.iter().zip(0..) {
            let (region, source_code_location, parent) = (context.region, context.site, context.parent);
            self.to.put(CallingContext { id, region, source_code_location, parent })?;
        }
        let offsets = contexts.tree.rows.iter().zip(0..).filter_map(|(context, id)| Some((id, context.offset?)));
        for (calling_context, offset) in offsets {
            let name = self.to.text(OFFSET)?;
            self.to.put(CallingContextProperty { calling_context, name, value: Value::U64(offset) })?;
        }
        Ok(())
    }

    /// Groups, communicators, windows and files.
    pub(crate) fn communication(&mut self, unified: &Unified, worlds: &Worlds) -> Result<(), CodecError> {
        const SELF: u32 = 1;
        let first = worlds.first_group();
        let mpi = &worlds.paradigms[0];
        self.to.group(0, &mpi.paradigm, group::COMM_LOCATIONS, paradigms::MPI, &mpi.locations)?;
        self.to.group(SELF, "MPI_COMM_SELF", group::COMM_SELF, paradigms::MPI, &[])?;
        // Before the groups whose members are positions in them.
        for (of, id) in worlds.paradigms.iter().skip(1).zip(SELF + 1..) {
            self.to.group(id, &of.paradigm, group::COMM_LOCATIONS, paradigms::number(&of.paradigm), &of.locations)?;
        }
        for (group, id) in unified.groups.iter().zip(first..) {
            let name = &worlds.paradigms[group.paradigm].paradigm;
            let number = paradigms::number(name);
            // Of a paradigm that OTF2 has no number for, the name says which it is.
            let name = if number == paradigms::UNKNOWN { name } else { "" };
            self.to.group(id, name, group::COMM, number, &group.members)?;
        }
        for (comm, id) in unified.comms.iter().zip(0..) {
            let parent = comm.parent;
            match comm.row {
                CommRow::Alone => self.to.comm(id, &comm.name, SELF, parent)?,
                CommRow::Intra(group) => self.to.comm(id, &comm.name, first + group, parent)?,
                CommRow::Inter(a, b) => {
                    let (name, group_a, group_b) = (self.to.text(&comm.name)?, first + a, first + b);
                    self.to.put(InterComm { id, name, group_a, group_b, common_communicator: parent, flags: 0 })?;
                }
            }
        }
        for ((name, comm), id) in unified.windows.iter().zip(0..) {
            self.to.window(id, name, *comm)?;
        }
        let has_files = !unified.handles.rows.is_empty();
        let is_used = |id: u32| match id {
            attributes::POLLS => true,
            attributes::DISPLACEMENT => has_files || !unified.windows.is_empty(),
            _ => !unified.windows.is_empty(),
        };
        for (name, id) in attributes::NAMES.iter().zip(0..).filter(|(_, id)| is_used(*id)) {
            let (name, description) = (self.to.text(name)?, self.to.text("")?);
            self.to.put(Attribute { id, name, value_type: value::UINT64, description: Some(description) })?;
        }
        for (&file, id) in unified.files.rows.iter().zip(0..) {
            let name = self.string(file)?;
            self.to.put(IoRegularFile { id, name, scope: 0 })?;
        }
        let layer = |by| match by {
            Interface::Posix => IoLayer::Direct,
            Interface::Streams => IoLayer::Buffered,
            Interface::Mpi => IoLayer::Parallel,
        };
        let handles = &unified.handles.rows;
        // All of them: readers expect that numbers are without gaps.
        for layer in IoLayer::ALL.into_iter().filter(|_| !handles.is_empty()) {
            io::define(layer, &mut self.to)?;
        }
        for (&(file, by, _), id) in handles.iter().zip(0..) {
            let name = self.string(unified.files.rows[file as usize])?;
            let io_paradigm = layer(by) as u8;
            self.to.put(IoHandle { id, name, file, io_paradigm, io_handle_flags: 0, comm: NONE, parent: NONE })?;
        }
        Ok(())
    }

    /// What samples are taken by: the CPU time between two of them, in nanoseconds.
    pub(crate) fn sampling(&mut self, period: Option<u64>) -> Result<(), CodecError> {
        const TIME: u8 = 0;
        const DECIMAL: u8 = 1;
        let Some(period) = period else { return Ok(()) };
        let name = self.to.text("CPU time of the thread")?;
        let (interrupt_generator_mode, base, exponent) = (TIME, DECIMAL, -9);
        self.to.put(InterruptGenerator { id: 0, name, interrupt_generator_mode, base, exponent, period })
    }

    pub(crate) fn metrics(&mut self, unified: &Unified) -> Result<(), CodecError> {
        let (kind, occurrence) = (metric::OTHER, occurrence::SYNCHRONOUS);
        for (&(name, unit, grows), id) in unified.metrics.rows.iter().zip(0..) {
            let (name, description, unit) = (self.string(name)?, self.to.text("")?, self.string(unit)?);
            self.to.counter(id, CounterRow { name, description, unit, kind, occurrence, is_gauge: !grows })?;
        }
        Ok(())
    }
}
