//! From global definitions to the tables of a trace.
//!
//! Definitions may come in any order, twice, or not at all (EZTrace does all three), so they are collected first and built
//! afterwards. Of two with one id the first counts.

use partune_base::{FileId, GroupId, MetricId, PeId, RegionId, StringId, Strings, short};
use partune_import::IdMap;
use partune_paradigm::POSIX_IO;
use partune_trace::{
    Completion, File, Group, GroupKind, IoLayer, Members, Metric, MetricValues, Object, Participants, Pe, Process,
    Region, RegionKind, Role, TraceBuilder, Window,
};
use rustc_hash::FxHashMap;

use super::addresses::AddressAttributes;
use super::definitions::{CommDef, Definitions, GroupDef, RegionDef};
use super::devices::Devices;
use super::properties::Properties;
use super::resolve::{UNDEFINED, UNDEFINED_FILE};
use super::{endings, processors};
use crate::codec::numbers::{metric_mode, role};
use crate::{objects, paradigms};

/// Where the archive's ids are in the tables of the trace.
#[derive(Default)]
pub(super) struct Tables {
    regions: IdMap,
    pub(super) comms: IdMap,
    pub(super) windows: IdMap,
    /// Metric classes and instances: positions in `metric_members`.
    pub(super) metrics: IdMap,
    pub(super) metric_members: Vec<Vec<MetricId>>,
    /// Handles of files: positions in `handle_rows`.
    pub(super) handles: IdMap,
    pub(super) handle_rows: Vec<(FileId, IoLayer)>,
    /// Objects of partune's own export, by their numbers there.
    pub(super) objects: IdMap,
    /// OTF2 groups (member lists), which are not our groups: position in `member_groups`.
    groups: IdMap,
    /// For each OTF2 group the first of our groups with the same members.
    member_groups: Vec<Option<GroupId>>,
    /// Attributes that tell addresses.
    pub(super) addresses: AddressAttributes,
    /// The region of calls whose definition is missing: the last one.
    unknown_region: u32,
}

impl Tables {
    /// The region with a global id; a stand-in if its definition is missing.
    pub(super) fn region(&self, id: u64) -> RegionId {
        RegionId(self.regions.get(id).unwrap_or(self.unknown_region))
    }

    /// The group with the members of an OTF2 group.
    pub(super) fn group_of_members(&self, id: u64) -> Option<GroupId> {
        self.member_groups[self.groups.get(id)? as usize]
    }
}

/// A location with its place in the archive.
pub(super) struct DefinedLocation {
    pub(super) archive_id: u64,
    pub(super) events: u64,
}

const PARADIGM_SAMPLING: u8 = 21;

/// Roles of OTF2 3.1.
const ROLE_KERNEL_LAUNCH: u8 = 39;
const ROLE_KERNEL: u8 = 40;

/// What a region is if its paradigm is known and its name is not: by its OTF2 role.
fn role_of(region_role: u8) -> Role {
    match region_role {
        3 | 4 | 8 | 9 | 10 | 11 => Role::WorkSharing,
        5 => Role::Parallel,
        12..=14 => Role::LockAcquire,
        15 | 16 => Role::GroupSync,
        20 => Role::TaskRun,
        22 => Role::TaskWait,
        23 => Role::OneToAll,
        24 => Role::AllToOne,
        25 | 26 => Role::AllToAll,
        27 => Role::Io,
        29 | 30 => Role::Put,
        ROLE_KERNEL_LAUNCH => Role::TaskCreate,
        _ => Role::Management,
    }
}

/// Fills the builder; returns where the archive's ids went, and the locations in order of PE.
pub(super) fn build(definitions: &Definitions, builder: &mut TraceBuilder) -> (Tables, Vec<DefinedLocation>) {
    builder.resolution = definitions.resolution;
    let mut tables = Tables { addresses: AddressAttributes::new(definitions), ..Tables::default() };
    let locations = pes(definitions, builder);
    regions(definitions, builder, &mut tables);
    groups(definitions, builder, &mut tables);
    metrics(definitions, builder, &mut tables);
    files(definitions, builder, &mut tables);
    objects(definitions, builder, &mut tables);
    let properties = Properties::of(definitions);
    processors::read(&properties, &locations, builder);
    builder.is_partial = definitions.left_out().is_some();
    builder.begins_late = definitions.begins_late();
    endings::read(&properties, &tables, &locations, builder);
    (tables, locations)
}

/// Processes in order of rank, PEs in order of (process, thread), so that a PE of a program without threads is its rank.
fn pes(definitions: &Definitions, builder: &mut TraceBuilder) -> Vec<DefinedLocation> {
    // The rank of a process is that of its location in the world of a paradigm (comm locations), MPI before others.
    let mut rank_of_location = IdMap::default();
    let mut worlds: Vec<&GroupDef> = definitions.groups.iter().filter(|group| group.is_world()).collect();
    worlds.sort_by_key(|group| group.paradigm_order());
    if let Some(world) = worlds.first() {
        for (rank, location) in world.members.iter().enumerate() {
            rank_of_location.insert(*location, rank as u32);
        }
    }
    let mut devices = Devices::new(definitions);
    let mut group_index = IdMap::default();
    let mut groups: Vec<(Option<u32>, usize, Vec<usize>)> = Vec::new();
    for (index, location) in definitions.locations.iter().enumerate() {
        let process = devices.process(location);
        let at = group_index.get(process).unwrap_or_else(|| {
            groups.push((None, groups.len(), Vec::new()));
            group_index.insert(process, groups.len() as u32 - 1);
            groups.len() as u32 - 1
        });
        let group = &mut groups[at as usize];
        group.2.push(index);
        if let Some(rank) = rank_of_location.get(location.id) {
            group.0 = Some(group.0.map_or(rank, |other: u32| other.min(rank)));
        }
    }
    groups.sort_by_key(|(rank, order, _)| (rank.unwrap_or(u32::MAX), *order));

    let mut locations = Vec::with_capacity(definitions.locations.len());
    for (rank, _, mut members) in groups {
        members.sort_by_key(|index| (definitions.locations[*index].kind, *index));
        let first = members.first().map(|index| &definitions.locations[*index]);
        let group = first.and_then(|location| definitions.location_group(devices.process(location)));
        let process = builder.processes.push(Process {
            name: group.map_or(StringId::NONE, |group| definitions.intern(&mut builder.strings, group.name)),
            rank,
            node: group.map_or(StringId::NONE, |group| {
                definitions.intern(&mut builder.strings, definitions.node_name(group.parent))
            }),
            pes: Vec::new(),
        });
        for (thread, index) in members.into_iter().enumerate() {
            let location = &definitions.locations[index];
            let name = definitions.intern(&mut builder.strings, location.name);
            let pe = builder.pes.push(Pe {
                name,
                kind: location.kind,
                process,
                thread: thread as u32,
                device: devices.device(location),
                archive_id: location.id,
            });
            builder.processes[process].pes.push(pe);
            locations.push(DefinedLocation { archive_id: location.id, events: location.events });
        }
    }
    locations
}

fn regions(definitions: &Definitions, builder: &mut TraceBuilder, tables: &mut Tables) {
    // A construct that bindings of several languages spell each in their own way is one.
    let mut spelled: FxHashMap<Region, RegionId> = FxHashMap::default();
    for region in &definitions.regions {
        let row = region_row(definitions, &mut builder.strings, region);
        let next = RegionId(builder.regions.len() as u32);
        let is_construct = row.name == row.construct && row.role != Role::User;
        let id = spelled.get(&row).filter(|_| is_construct).copied().unwrap_or(next);
        if tables.regions.insert(region.id, id.0) && id == next {
            builder.regions.push(row);
            spelled.insert(row, id);
        }
    }
    let name = builder.strings.intern("(undefined region)");
    tables.unknown_region = builder.regions.len() as u32;
    builder.regions.push(Region::of_user(name));
}

/// Construct, paradigm and role of a region. Producers' paradigms are hints: names decide.
fn region_row(definitions: &Definitions, strings: &mut Strings, region: &RegionDef) -> Region {
    let (name_text, canonical_text) = (definitions.text(region.name), definitions.text(region.canonical_name));
    // All of a name, where the other one is its short form, as our own writers have it.
    let whole = strings.intern(if short(canonical_text) == name_text { canonical_text } else { name_text });
    // Interfaces to files have no numbers; a role says that ordinary names are theirs.
    let is_of_files =
        matches!(region.role, role::FILE_IO | role::FILE_IO_METADATA) && region.paradigm != paradigms::MPI;
    let told = || paradigms::name(region.paradigm).or_else(|| paradigm_for_file(definitions, region));
    let hint = if is_of_files { Some(POSIX_IO.name) } else { told() };
    let file = if region.line > 0 { definitions.intern(strings, region.file) } else { StringId::NONE };
    let recognised =
        partune_paradigm::recognise(name_text, hint).or_else(|| partune_paradigm::recognise(canonical_text, hint));
    let (construct, paradigm, role, completion, participants) = match recognised {
        Some(it) => (
            strings.intern(construct_name(name_text, it.construct.name)),
            strings.intern(it.paradigm.name),
            it.construct.role,
            it.construct.completion,
            it.construct.participants,
        ),
        None if region.is_users() => (whole, StringId::NONE, Role::User, Completion::Blocking, Participants::Own),
        None => {
            let (paradigm, role) = (strings.intern(hint.unwrap_or("unknown")), role_of(region.role));
            let participants = match role.participants() {
                Participants::Group if paradigms::is_of_threads(region.paradigm) => Participants::Team,
                usual => usual,
            };
            (whole, paradigm, role, Completion::Blocking, participants)
        }
    };
    let kind = if role == Role::User { region.users_kind() } else { RegionKind::Function };
    // By whatever binding it is called, it has the name of the specification.
    let is_spelling = recognised.is_some() && name_text.chars().all(is_of_identifier);
    let whole = if is_spelling { construct } else { whole };
    let name = whole;
    Region { name, whole, construct, paradigm, role, completion, participants, kind, file, line: region.line }
}

/// The paradigm of a region of one that OTF2 has no number for: constructs, which have no line, have it for their file.
fn paradigm_for_file(definitions: &Definitions, region: &RegionDef) -> Option<&'static str> {
    let name = definitions.text(region.file);
    let of = || partune_paradigm::PARADIGMS.iter().map(|paradigm| paradigm.name).find(|paradigm| *paradigm == name);
    if region.paradigm == paradigms::UNKNOWN && region.line == 0 { of() } else { None }
}

/// How to call a construct: by its canonical name if the producer only spells it differently (`mpi_send_`) or decorates it
/// (`!$omp barrier @cg.f:12`); by its own if it is one of a family (`shmem_long_put` of `shmem_put`).
fn construct_name<'a>(own: &'a str, canonical: &'a str) -> &'a str {
    let letters = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    let is_identifier = own.chars().all(is_of_identifier);
    let (own_letters, canonical_letters) = (letters(own), letters(canonical));
    let same = own_letters.strip_prefix('p').unwrap_or(&own_letters).ends_with(&canonical_letters)
        || own_letters.starts_with(&canonical_letters);
    if is_identifier && !same { own } else { canonical }
}

fn is_of_identifier(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

impl RegionDef {
    const ROLE_UNKNOWN: u8 = 0;
    const ROLE_FUNCTION: u8 = 1;
    const ROLE_LOOP: u8 = 3;
    const ROLE_CODE: u8 = 4;
    const FLAG_DYNAMIC: u32 = 1;
    const FLAG_PHASE: u32 = 2;

    /// What a region of the user is marked as. Score-P's dynamic loop has the flag DYNAMIC, its turns have both flags, a phase has
    /// PHASE; lines of which each execution is looked at by itself are a turn too.
    fn users_kind(&self) -> RegionKind {
        let (dynamic, phase) = (self.flags & Self::FLAG_DYNAMIC != 0, self.flags & Self::FLAG_PHASE != 0);
        match (dynamic, phase) {
            (true, true) => RegionKind::Iteration,
            (true, false) if self.role == Self::ROLE_CODE => RegionKind::Iteration,
            (false, true) => RegionKind::Phase,
            (true | false, false) if [Self::ROLE_LOOP, Self::ROLE_CODE].contains(&self.role) => RegionKind::Block,
            (true | false, false) => RegionKind::Function,
        }
    }

    /// Whether an unknown name in this paradigm is user code: functions of kernels and the program itself are.
    fn is_users(&self) -> bool {
        match self.paradigm {
            0
            | paradigms::USER
            | paradigms::COMPILER
            | paradigms::MEASUREMENT
            | PARADIGM_SAMPLING
            | paradigms::NONE => true,
            // Kernels on accelerators carry the paradigm of their runtime.
            number if paradigms::is_of_devices(number) => {
                [Self::ROLE_UNKNOWN, Self::ROLE_FUNCTION, ROLE_KERNEL].contains(&self.role)
            }
            _ => false,
        }
    }
}

/// Communicators and teams with their members, then windows on them.
fn groups(definitions: &Definitions, builder: &mut TraceBuilder, tables: &mut Tables) {
    let mut pe_of_location = IdMap::default();
    for (pe, row) in builder.pes.iter_ids() {
        pe_of_location.insert(row.archive_id, pe.0);
    }
    let pe = |location: &u64| pe_of_location.get(*location).map_or(PeId::NONE, PeId);
    // Members of an OTF2 group as PEs. Paradigms that OTF2 has no number for are told apart by the names of their groups.
    let paradigm_of = |group: &GroupDef| {
        let by_name = || partune_paradigm::paradigm(definitions.text(group.name)).map(|paradigm| paradigm.name);
        if group.paradigm == paradigms::UNKNOWN { by_name() } else { paradigms::name(group.paradigm) }
    };
    let world_of = |group: &GroupDef| {
        let same = |world: &&GroupDef| world.paradigm == group.paradigm && paradigm_of(world) == paradigm_of(group);
        definitions.groups.iter().filter(|world| world.is_world()).find(same)
    };
    let ranks = |group: &GroupDef| -> Vec<PeId> {
        if !group.is_indirect() {
            return group.members.iter().map(pe).collect();
        }
        let world = world_of(group);
        let location = |index: &u64| world.and_then(|world| world.members.get(usize::try_from(*index).ok()?));
        group.members.iter().map(|index| location(index).map_or(PeId::NONE, pe)).collect()
    };
    // Each once, whatever number of communicators is on it.
    let members: Vec<Members> = definitions.groups.iter().map(|group| ranks(group).into()).collect();
    let mut group_at = IdMap::default();
    for (at, group) in definitions.groups.iter().enumerate() {
        group_at.insert(group.id, at as u32);
    }
    for group in &definitions.groups {
        if tables.groups.insert(group.id, tables.member_groups.len() as u32) {
            tables.member_groups.push(None);
        }
    }
    let find = |id: u64| group_at.get(id).map(|at| (&definitions.groups[at as usize], &members[at as usize]));
    // One world per paradigm: a process may be in several.
    let mut worlds: Vec<Option<&str>> = Vec::new();
    for comm in &definitions.comms {
        let row = match *comm {
            CommDef::Intra { name, group, .. } => {
                let Some((group, members)) = find(group) else { continue };
                let is_world = group.paradigm_is_process_level() && !worlds.contains(&paradigm_of(group)) && {
                    world_of(group).is_some_and(|world| world.members.len() == members.len())
                };
                let kind = if group.is_self() {
                    GroupKind::SelfOnly
                } else if !group.paradigm_is_process_level() {
                    GroupKind::Team
                } else if is_world {
                    worlds.push(paradigm_of(group));
                    GroupKind::World
                } else {
                    GroupKind::Communicator
                };
                let name = definitions.intern(&mut builder.strings, name);
                let paradigm = builder.strings.intern(paradigm_of(group).unwrap_or(""));
                let members = if kind == GroupKind::SelfOnly { Members::default() } else { members.clone() };
                Group { name, kind, paradigm, members }
            }
            CommDef::Inter { name, a, b, .. } => {
                let (Some((a, first)), Some((_, second))) = (find(a), find(b)) else { continue };
                let members = Members::joined(first, second);
                let name = definitions.intern(&mut builder.strings, name);
                let paradigm = builder.strings.intern(paradigm_of(a).unwrap_or(""));
                Group { name, kind: GroupKind::Inter, paradigm, members }
            }
        };
        let id = GroupId(builder.groups.len() as u32);
        if tables.comms.insert(comm.id(), id.0) {
            builder.groups.push(row);
            if let CommDef::Intra { group, .. } = comm
                && let Some(at) = tables.groups.get(*group)
            {
                tables.member_groups[at as usize].get_or_insert(id);
            }
        }
    }
    // Groups that only RMA synchronisation names.
    for (group, members) in definitions.groups.iter().zip(&members).filter(|(group, _)| group.is_indirect()) {
        let Some(at) = tables.groups.get(group.id) else { continue };
        if tables.member_groups[at as usize].is_none() {
            let members = members.clone();
            let name = definitions.intern(&mut builder.strings, group.name);
            let paradigm = builder.strings.intern(paradigm_of(group).unwrap_or(""));
            let id = builder.groups.push(Group { name, kind: GroupKind::Communicator, paradigm, members });
            tables.member_groups[at as usize] = Some(id);
        }
    }
    for window in &definitions.windows {
        let name = definitions.intern(&mut builder.strings, window.name);
        let group = tables.comms.get(window.comm).map_or(GroupId::NONE, GroupId);
        if tables.windows.insert(window.id, builder.windows.len() as u32) {
            builder.windows.push(Window { name, group });
        }
    }
}

/// Files by their names: producers number one as often as it is opened. A handle may have none, as those of standard streams.
fn files(definitions: &Definitions, builder: &mut TraceBuilder, tables: &mut Tables) {
    let mut files = IdMap::default();
    let mut named: FxHashMap<StringId, FileId> = FxHashMap::default();
    for (id, name) in &definitions.files {
        let name = definitions.intern(&mut builder.strings, *name);
        let known = named.get(&name).filter(|_| name.is_some()).copied();
        let next = FileId(builder.files.len() as u32);
        if files.insert(*id, known.unwrap_or(next).0) && known.is_none() {
            builder.files.push(File { name });
            named.insert(name, next);
        }
    }
    for handle in &definitions.handles {
        let has_file = handle.file != UNDEFINED.into();
        let file = files.get(handle.file).map_or(if has_file { UNDEFINED_FILE } else { FileId::NONE }, FileId);
        if tables.handles.insert(handle.id, tables.handle_rows.len() as u32) {
            tables.handle_rows.push((file, definitions.layer(handle.paradigm)));
        }
    }
}

/// Objects that partune's own export defines.
fn objects(definitions: &Definitions, builder: &mut TraceBuilder, tables: &mut Tables) {
    let objects = definitions.process_texts().filter_map(|(_, name, text)| Some((objects::number(name)?, text)));
    let mut objects: Vec<(u32, &str)> = objects.collect();
    objects.sort_unstable();
    for (number, text) in objects {
        let Some((class, index, home)) = objects::parse(text) else { continue };
        if tables.objects.insert(number.into(), builder.objects.len() as u32) {
            let class = builder.strings.intern(class);
            builder.objects.push(Object { class, index: index.into(), home: home.map_or(PeId::NONE, PeId) });
        }
    }
}

fn metrics(definitions: &Definitions, builder: &mut TraceBuilder, tables: &mut Tables) {
    let mut members = IdMap::default();
    for member in &definitions.metric_members {
        let row = Metric {
            name: definitions.intern(&mut builder.strings, member.name),
            unit: definitions.intern(&mut builder.strings, member.unit),
            values: match (member.mode & metric_mode::VALUE, member.mode & metric_mode::TIMING) {
                (metric_mode::ACCUMULATED, _) => MetricValues::Accumulated,
                (metric_mode::RELATIVE, _) => MetricValues::Last,
                (_, metric_mode::NEXT) => MetricValues::Next,
                _ => MetricValues::Point,
            },
            scale: member.scale,
        };
        if members.insert(member.id, builder.metrics.len() as u32) {
            builder.metrics.push(row);
        }
    }
    for class in &definitions.metric_classes {
        let ids = class.members.iter().map(|id| members.get(*id).map_or(MetricId::NONE, MetricId)).collect();
        if tables.metrics.insert(class.id, tables.metric_members.len() as u32) {
            tables.metric_members.push(ids);
        }
    }
    for (id, class) in &definitions.metric_instances {
        if let Some(at) = tables.metrics.get(*class) {
            tables.metrics.insert(*id, at);
        }
    }
}
