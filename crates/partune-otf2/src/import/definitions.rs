//! The global definitions that matter for a trace, collected as they come.

use partune_base::{StringId, Strings};
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::IdMap;
use partune_trace::{IoLayer, PeKind};
use rustc_hash::FxHashMap;

use super::contexts::ContextDef;
use crate::codec::{Definition, Value};
use crate::shallow::{self, Shallow};
use crate::write::{LEFT_OUT, LOST_EVENTS, OFFSET, OVERWRITTEN_EVENTS};
use crate::{ending, io, paradigms};

/// An id that stands for "undefined" in definitions.
const UNDEFINED: u64 = u32::MAX as u64;

/// `OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE`, `OTF2_LOCATION_GROUP_TYPE_ACCELERATOR` and `OTF2_TYPE_STRING`.
const DOMAIN_DEVICE: u8 = 7;
const GROUP_ACCELERATOR: u8 = 2;
const TYPE_STRING: u8 = 11;
/// `OTF2_INTERRUPT_GENERATOR_MODE_TIME`.
const MODE_TIME: u8 = 0;

#[derive(Debug)]
pub(super) struct LocationDef {
    pub(super) id: u64,
    pub(super) name: u64,
    pub(super) kind: PeKind,
    pub(super) events: u64,
    pub(super) group: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LocationGroupDef {
    pub(super) name: u64,
    pub(super) parent: u64,
    /// It is a context on a device, and no process.
    pub(super) is_accelerator: bool,
    /// The group that made it.
    pub(super) creator: u64,
}

/// A part of the machine.
#[derive(Clone, Copy, Debug)]
struct NodeDef {
    name: u64,
    parent: u64,
}

#[derive(Debug)]
pub(super) struct RegionDef {
    pub(super) id: u64,
    pub(super) name: u64,
    pub(super) canonical_name: u64,
    pub(super) file: u64,
    pub(super) line: u32,
    pub(super) role: u8,
    pub(super) paradigm: u8,
    pub(super) flags: u32,
}

#[derive(Debug)]
pub(super) struct GroupDef {
    pub(super) id: u64,
    pub(super) name: u64,
    kind: GroupType,
    pub(super) paradigm: u8,
    global_members: bool,
    pub(super) members: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupType {
    /// Members are locations.
    Locations,
    /// Members are the locations of a paradigm, in order of rank.
    World,
    /// Members are positions in that list.
    Ranks,
    SelfOnly,
    Other,
}

impl GroupDef {
    pub(super) fn is_world(&self) -> bool {
        self.kind == GroupType::World
    }

    pub(super) fn is_self(&self) -> bool {
        self.kind == GroupType::SelfOnly
    }

    /// Whether members are positions in the world of the paradigm.
    pub(super) fn is_indirect(&self) -> bool {
        self.kind == GroupType::Ranks && !self.global_members
    }

    /// MPI names ranks best, then other paradigms of processes, then threads.
    pub(super) fn paradigm_order(&self) -> (bool, bool) {
        (self.paradigm != paradigms::MPI, !self.paradigm_is_process_level())
    }

    pub(super) fn paradigm_is_process_level(&self) -> bool {
        !paradigms::is_of_threads(self.paradigm)
    }
}

#[derive(Debug)]
pub(super) enum CommDef {
    Intra { id: u64, name: u64, group: u64 },
    Inter { id: u64, name: u64, a: u64, b: u64 },
}

impl CommDef {
    pub(super) fn id(&self) -> u64 {
        match self {
            CommDef::Intra { id, .. } | CommDef::Inter { id, .. } => *id,
        }
    }
}

#[derive(Debug)]
pub(super) struct WindowDef {
    pub(super) id: u64,
    pub(super) name: u64,
    pub(super) comm: u64,
}

#[derive(Debug)]
pub(super) struct MetricMemberDef {
    pub(super) id: u64,
    pub(super) name: u64,
    pub(super) unit: u64,
    pub(super) mode: u8,
    pub(super) scale: f64,
}

#[derive(Debug)]
pub(super) struct MetricClassDef {
    pub(super) id: u64,
    pub(super) members: Vec<u64>,
}

/// A way to a file: its own name, and what is behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct HandleDef {
    pub(super) id: u64,
    pub(super) file: u64,
    pub(super) paradigm: u8,
}

/// Everything that was defined.
#[derive(Default)]
pub(super) struct Definitions {
    pub(super) resolution: u64,
    pub(super) global_offset: u64,
    began: Option<u64>,
    texts: Vec<(u64, String)>,
    /// Attributes of events: id, name, and whether their values are texts.
    pub(super) attributes: Vec<(u64, u64, bool)>,
    text_ids: IdMap,
    nodes: Vec<NodeDef>,
    node_ids: IdMap,
    /// Nodes that are devices.
    device_nodes: IdMap,
    pub(super) location_groups: Vec<LocationGroupDef>,
    location_group_ids: IdMap,
    pub(super) locations: Vec<LocationDef>,
    location_ids: IdMap,
    pub(super) regions: Vec<RegionDef>,
    pub(super) groups: Vec<GroupDef>,
    group_ids: IdMap,
    pub(super) comms: Vec<CommDef>,
    pub(super) windows: Vec<WindowDef>,
    pub(super) metric_members: Vec<MetricMemberDef>,
    pub(super) metric_classes: Vec<MetricClassDef>,
    /// Instance and its class.
    pub(super) metric_instances: Vec<(u64, u64)>,
    /// Files and directories: id and name.
    pub(super) files: Vec<(u64, u64)>,
    pub(super) handles: Vec<HandleDef>,
    /// Interfaces to files: id, what they are known by, and class.
    io_paradigms: Vec<(u8, u64, u8)>,
    pub(super) contexts: Vec<ContextDef>,
    /// Places in the source: id, file and line.
    pub(super) places: Vec<(u64, u64, u32)>,
    /// Properties of locations: location, name and value.
    location_properties: Vec<(u64, u64, Value)>,
    /// Properties of calling contexts: context, name and value.
    context_properties: Vec<(u64, u64, Value)>,
    /// What interrupts programs for samples: id, and seconds between two times if that is what it counts.
    pub(super) generators: Vec<(u64, Option<f64>)>,
    /// Properties of processes: process, name and value.
    process_properties: Vec<(u64, u64, Value)>,
    duplicates: u64,
    /// Regions and groups whose number is not the next one.
    out_of_order: u64,
}

impl Definitions {
    /// Takes in one definition; what a trace has no use for is passed over.
    pub(super) fn add(&mut self, definition: &Definition<'_>) {
        match *definition {
            Definition::ClockProperties(it) => {
                self.resolution = it.timer_resolution;
                self.global_offset = it.global_offset;
                self.began = it.realtime_timestamp;
            }
            Definition::Text(it) => {
                if self.text_ids.insert(u64::from(it.id), self.texts.len() as u32) {
                    self.texts.push((u64::from(it.id), String::from_utf8_lossy(it.string).into_owned()));
                }
            }
            Definition::SystemTreeNode(it) => {
                if self.node_ids.insert(u64::from(it.id), self.nodes.len() as u32) {
                    self.nodes.push(NodeDef { name: u64::from(it.name), parent: u64::from(it.parent) });
                }
            }
            Definition::SystemTreeNodeDomain(it) if it.system_tree_domain == DOMAIN_DEVICE => {
                self.device_nodes.insert(u64::from(it.system_tree_node), 0);
            }
            Definition::LocationGroup(it) => {
                if self.location_group_ids.insert(u64::from(it.id), self.location_groups.len() as u32) {
                    self.location_groups.push(LocationGroupDef {
                        name: u64::from(it.name),
                        parent: u64::from(it.system_tree_parent),
                        is_accelerator: it.location_group_type == GROUP_ACCELERATOR,
                        creator: it.creating_location_group.map_or(UNDEFINED, u64::from),
                    });
                }
            }
            Definition::Location(it) => {
                if !self.location_ids.insert(it.id, self.locations.len() as u32) {
                    self.duplicates += 1;
                    return;
                }
                self.locations.push(LocationDef {
                    id: it.id,
                    name: u64::from(it.name),
                    kind: match it.location_type {
                        2 => PeKind::Accelerator,
                        3 => PeKind::Metric,
                        _ => PeKind::Cpu,
                    },
                    events: it.number_of_events,
                    group: u64::from(it.location_group),
                });
            }
            Definition::Region(it) => {
                let kind = it.kind();
                self.out_of_order += u64::from(it.id as usize != self.regions.len());
                self.regions.push(RegionDef {
                    id: u64::from(it.id),
                    name: u64::from(it.name),
                    canonical_name: u64::from(it.canonical_name_or_name()),
                    file: u64::from(it.source_file),
                    line: it.begin_line_number,
                    role: kind.role,
                    paradigm: kind.paradigm,
                    flags: kind.flags,
                });
            }
            Definition::Group(it) => {
                if !self.group_ids.insert(u64::from(it.id), self.groups.len() as u32) {
                    self.duplicates += 1;
                    return;
                }
                let kind = it.kind();
                self.out_of_order += u64::from(it.id as usize != self.groups.len());
                let group_type = match kind.group_type {
                    1 => GroupType::Locations,
                    4 => GroupType::World,
                    5 => GroupType::Ranks,
                    6 => GroupType::SelfOnly,
                    _ => GroupType::Other,
                };
                self.groups.push(GroupDef {
                    id: u64::from(it.id),
                    name: u64::from(it.name),
                    kind: group_type,
                    paradigm: kind.paradigm,
                    global_members: kind.flags & 1 != 0,
                    members: it.members.iter().collect(),
                });
            }
            Definition::Comm(it) => {
                self.comms.push(CommDef::Intra {
                    id: u64::from(it.id),
                    name: u64::from(it.name),
                    group: u64::from(it.group),
                });
            }
            Definition::InterComm(it) => self.comms.push(CommDef::Inter {
                id: u64::from(it.id),
                name: u64::from(it.name),
                a: u64::from(it.group_a),
                b: u64::from(it.group_b),
            }),
            Definition::RmaWin(it) => {
                self.windows.push(WindowDef {
                    id: u64::from(it.id),
                    name: u64::from(it.name),
                    comm: u64::from(it.comm),
                });
            }
            Definition::MetricMember(it) => self.metric_members.push(MetricMemberDef {
                id: u64::from(it.id),
                name: u64::from(it.name),
                unit: u64::from(it.unit),
                mode: it.metric_mode,
                scale: scale(it.base, it.exponent),
            }),
            Definition::MetricClass(it) => {
                let members = it.metric_members.iter().map(u64::from).collect();
                self.metric_classes.push(MetricClassDef { id: u64::from(it.id), members });
            }
            Definition::MetricInstance(it) => {
                self.metric_instances.push((u64::from(it.id), u64::from(it.metric_class)));
            }
            Definition::IoParadigm(it) => {
                self.io_paradigms.push((it.id, u64::from(it.identification), it.io_paradigm_class));
            }
            Definition::IoRegularFile(it) => self.files.push((u64::from(it.id), u64::from(it.name))),
            Definition::IoDirectory(it) => self.files.push((u64::from(it.id), u64::from(it.name))),
            Definition::IoHandle(it) => self.handles.push(HandleDef {
                id: u64::from(it.id),
                file: u64::from(it.file),
                paradigm: it.io_paradigm,
            }),
            Definition::SourceCodeLocation(it) => {
                self.places.push((u64::from(it.id), u64::from(it.file), it.line_number));
            }
            Definition::CallingContext(it) => self.contexts.push(ContextDef {
                id: u64::from(it.id),
                region: it.region,
                place: u64::from(it.source_code_location),
                parent: u64::from(it.parent),
            }),
            Definition::CallingContextProperty(it) => {
                self.context_properties.push((it.calling_context.into(), it.name.into(), it.value));
            }
            Definition::InterruptGenerator(it) => {
                let seconds = it.period as f64 * scale(it.base, it.exponent);
                let is_time = it.interrupt_generator_mode == MODE_TIME && seconds > 0.0 && seconds.is_finite();
                self.generators.push((it.id.into(), is_time.then_some(seconds)));
            }
            Definition::Attribute(it) => {
                self.attributes.push((u64::from(it.id), u64::from(it.name), it.value_type == TYPE_STRING));
            }
            Definition::LocationProperty(it) => {
                let value = it.value.unwrap_or(Value::String(it.string_value));
                self.location_properties.push((it.location, u64::from(it.name), value));
            }
            Definition::LocationGroupProperty(it) => {
                let value = it.value.unwrap_or(Value::String(it.string_value));
                self.process_properties.push((u64::from(it.location_group), u64::from(it.name), value));
            }
            _ => {}
        }
    }

    /// What stands between the accesses of an interface and the system.
    pub(super) fn layer(&self, paradigm: u8) -> IoLayer {
        let known = self.io_paradigms.iter().find(|(id, ..)| *id == paradigm);
        known.map_or(IoLayer::Direct, |(_, name, class)| io::layer(self.text(*name), *class))
    }

    /// Where contexts are in the code of their module, by the archive's id of the context.
    pub(super) fn offsets(&self) -> FxHashMap<u64, u64> {
        let name = self.texts().find(|(_, text)| *text == OFFSET).map(|(id, _)| id);
        let own = self.context_properties.iter().filter(|(_, it, _)| Some(*it) == name);
        own.map(|(context, _, value)| (*context, self.number(*value))).collect()
    }

    /// The text of a string definition; empty if there is none.
    pub(super) fn text(&self, id: u64) -> &str {
        self.text_ids.get(id).map_or("", |at| &self.texts[at as usize].1)
    }

    /// All texts and their ids.
    pub(super) fn texts(&self) -> impl Iterator<Item = (u64, &str)> {
        self.texts.iter().map(|(id, text)| (*id, text.as_str()))
    }

    pub(super) fn intern(&self, strings: &mut Strings, id: u64) -> StringId {
        match self.text(id) {
            "" => StringId::NONE,
            text => strings.intern(text),
        }
    }

    pub(super) fn location_group(&self, id: u64) -> Option<LocationGroupDef> {
        self.location_group_ids.get(id).map(|at| self.location_groups[at as usize])
    }

    /// The string id of the name of the machine's node that a system-tree node is, or that a device belongs to.
    pub(super) fn node_name(&self, id: u64) -> u64 {
        let mut node = self.node(id);
        // As many steps as there are nodes: parents may form a circle.
        for _ in 0..self.nodes.len() {
            match node {
                Some((id, NodeDef { parent, .. })) if self.is_device(id) => node = self.node(parent),
                _ => break,
            }
        }
        node.map_or(UNDEFINED, |(_, node)| node.name)
    }

    fn node(&self, id: u64) -> Option<(u64, NodeDef)> {
        self.node_ids.get(id).map(|at| (id, self.nodes[at as usize]))
    }

    /// Whether a system-tree node is a device.
    pub(super) fn is_device(&self, id: u64) -> bool {
        self.device_nodes.get(id).is_some()
    }

    /// How many PEs lost events while they were recorded, and how many events, by the property in which partune's own recorder counts them.
    fn lost_events(&self, property: &str) -> (u64, u64) {
        let lost = self.location_properties.iter().filter(|(_, name, _)| self.text(*name) == property);
        let lost = lost.map(|(_, _, value)| self.number(*value)).filter(|events| *events > 0);
        lost.fold((0, 0), |(pes, sum): (u64, u64), events| (pes + 1, sum.saturating_add(events)))
    }

    /// Whether the newest events were kept, so that the run had begun before the first of them.
    pub(super) fn begins_late(&self) -> bool {
        self.lost_events(OVERWRITTEN_EVENTS).0 > 0
    }

    /// How many processes ended without finishing, and of how many that is known, by partune's own recorder.
    fn ended(&self) -> (u64, u64) {
        let ends = self.process_properties.iter().filter(|(_, name, _)| self.text(*name) == ending::END);
        let is_early = |value: &Value| {
            let text = self.value_text(*value);
            matches!(text, ending::KILLED | ending::ABORT) || text.starts_with(ending::SIGNAL)
        };
        ends.fold((0, 0), |(some, all), (_, _, end)| (some + u64::from(is_early(end)), all + 1))
    }

    /// When the first event was, in nanoseconds since 1970.
    pub(super) fn began(&self) -> Option<u64> {
        self.began.filter(|time| *time > 0 && *time < u64::MAX)
    }

    /// By what choice of the user calls of some functions were not recorded, in partune's own recordings.
    pub(super) fn left_out(&self) -> Option<&str> {
        self.process_texts().find_map(|(_, name, words)| (name == LEFT_OUT).then_some(words))
    }

    /// Properties of processes that are texts: group, name, and text.
    pub(super) fn process_texts(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        self.process_properties.iter().map(|(group, name, value)| (*group, self.text(*name), self.value_text(*value)))
    }

    /// Properties of locations that are numbers: location, name, and number.
    pub(super) fn location_numbers(&self) -> impl Iterator<Item = (u64, &str, u64)> {
        self.location_properties.iter().map(|(id, name, value)| (*id, self.text(*name), self.number(*value)))
    }

    /// The same that are texts.
    pub(super) fn location_texts(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        self.location_properties.iter().map(|(id, name, value)| (*id, self.text(*name), self.value_text(*value)))
    }

    /// A value as a text; empty if it is none.
    fn value_text(&self, value: Value) -> &str {
        if let Value::String(id) = value { self.text(id.into()) } else { "" }
    }

    /// A value as a number; 0 if it is none, or negative.
    fn number(&self, value: Value) -> u64 {
        match value {
            Value::U8(it) => it.into(),
            Value::U16(it) => it.into(),
            Value::U32(it) => it.into(),
            Value::U64(it) => it,
            Value::I8(it) => it.try_into().unwrap_or(0),
            Value::I16(it) => it.try_into().unwrap_or(0),
            Value::I32(it) => it.try_into().unwrap_or(0),
            Value::I64(it) => it.try_into().unwrap_or(0),
            Value::String(id) => self.text(id.into()).parse().unwrap_or(0),
            _ => 0,
        }
    }

    pub(super) fn report(&self, quality: &mut Quality) {
        quality.add(
            Diagnostic::info(
                Code::DuplicateDefinitions,
                "locations or groups are defined more than once; the first definition counts",
                "a fault of the producer, harmless where the definitions agree",
            )
            .times(self.duplicates),
        );
        quality.add(
            Diagnostic::info(
                Code::UnorderedDefinitions,
                "regions or groups are not defined in the order of their numbers, or numbers are left out",
                "a fault of the producer, harmless: definitions are taken by number, in any order",
            )
            .times(self.out_of_order),
        );
        let (pes, events) = self.lost_events(OVERWRITTEN_EVENTS);
        if pes > 0 {
            let message = format!("the newest events were kept: {events} earlier events of {pes} PEs are missing");
            let remedy = "record with a larger --max-size to have more of them; what is there is analysed";
            quality.add(Diagnostic::data_loss(Code::LostEvents, message, remedy));
        }
        let (pes, events) = self.lost_events(LOST_EVENTS);
        if pes > 0 {
            let message = format!(
                "the recording stopped before the program ended: {events} later events of {pes} PEs are missing"
            );
            let remedy = "see that the disk has room, or record with a larger --max-size; what is there is analysed";
            quality.add(Diagnostic::data_loss(Code::LostEvents, message, remedy));
        }
        if let Some(words) = self.left_out() {
            let message =
                format!("functions were left out of the recording ({words}): what they did and waited for is not seen");
            let remedy =
                "time in them counts for the code around them; record without --only and --not to see all of it";
            quality.add(Diagnostic::info(Code::LeftOutCalls, message, remedy));
        }
        let shallow = self.location_texts().filter(|(_, name, _)| *name == shallow::SHALLOW);
        let shallow: Vec<Shallow> = shallow.filter_map(|(_, _, text)| text.parse().ok()).collect();
        shallow::note(&shallow, self.locations.len()).into_iter().for_each(|note| quality.add(note));
        let (killed, processes) = self.ended();
        if killed > 0 {
            let message = format!(
                "the run was ended: {killed} of {processes} processes did not finish (killed, crashed or aborted)"
            );
            let remedy =
                "what they did until then was recorded; what was under way has no end, and may lack its partner";
            quality.add(Diagnostic::info(Code::EndedEarly, message, remedy));
        }
        if self.locations.is_empty() {
            quality.add(Diagnostic::error(
                Code::NoLocations,
                "no location is defined, so there is nothing to analyse",
                "check that the archive's .def file is complete",
            ));
        }
    }
}

/// The factor of a metric's unit: base 0 is 2, base 1 is 10.
fn scale(base: u8, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-300, 300) as i32;
    if base == 0 { 2f64.powi(exponent) } else { 10f64.powi(exponent) }
}
