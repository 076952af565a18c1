//! The definition records of OTF2, one row each, of global and of local files.
//!
//! For the reader, the writer and the importer. To add a record of a newer version, add its row. The first two exist in local files only,
//! where their types 5 and 6 mean something else than in the global file; the table has them as 0x105 and 0x106. Types 5 to 8 without the
//! 0x100 exist in the global file only. An attribute named `self` by the format is `id` here, a STRING record is a [`Text`].
//!
//! What an older version left out is `None`; [`attic`](super::attic) has the values that the C library puts in place.
//!
//! Source: `otf2_global_definitions.h`, `otf2_local_definitions.h` and the generated readers of OTF2 3.0.2.

use super::record::plain_records;

plain_records! {
    /// A definition.
    Definition;
    0x105 "MAPPING_TABLE" MappingTable<'a> { mapping_type: U8, id_map: Map }
    0x106 "CLOCK_OFFSET" ClockOffset { time: U64, offset: I64, standard_deviation: F64 }
    5 "CLOCK_PROPERTIES" ClockProperties { timer_resolution: C64, global_offset: C64, trace_length: C64; later realtime_timestamp: C64 }
    6 "PARADIGM" Paradigm { paradigm: U8, name: C32, paradigm_class: U8 }
    7 "PARADIGM_PROPERTY" ParadigmProperty { paradigm: U8, property: U8, value: Val }
    8 "IO_PARADIGM" IoParadigm<'a> { id: U8, identification: C32, name: C32, io_paradigm_class: U8, io_paradigm_flags: C32, properties: PropertyValues }
    10 "STRING" Text<'a> { id: C32, string: Str }
    11 "ATTRIBUTE" Attribute { id: C32, name: C32, value_type: U8; later description: C32 }
    12 "SYSTEM_TREE_NODE" SystemTreeNode { id: C32, name: C32, class_name: C32, parent: C32 }
    13 "LOCATION_GROUP" LocationGroup { id: C32, name: C32, location_group_type: U8, system_tree_parent: C32; later creating_location_group: C32 }
    14 "LOCATION" Location { id: C64, name: C32, location_type: U8, number_of_events: C64, location_group: C32 }
    15 "REGION" Region { id: C32, name: C32, description: C32, region_type: U8, source_file: C32, begin_line_number: C32, end_line_number: C32; later canonical_name: C32, region_role: U8, paradigm: U8, region_flags: C32 }
    16 "CALLSITE" Callsite { id: C32, source_file: C32, line_number: C32, entered_region: C32, left_region: C32 }
    17 "CALLPATH" Callpath { id: C32, parent: C32, region: C32 }
    18 "GROUP" Group<'a> { id: C32, name: C32, group_type_pre12: U8, members: C64s; later group_type: U8, paradigm: U8, group_flags: C32 }
    19 "METRIC_MEMBER" MetricMember { id: C32, name: C32, description: C32, metric_type: U8, metric_mode: U8, value_type: U8, base: U8, exponent: I64, unit: C32 }
    20 "METRIC_CLASS" MetricClass<'a> { id: C32, metric_members: ShortC32s, metric_occurrence: U8; later recorder_kind: U8 }
    21 "METRIC_INSTANCE" MetricInstance { id: C32, metric_class: C32, recorder: C64, metric_scope: U8, scope: C64 }
    22 "COMM" Comm { id: C32, name: C32, group: C32, parent: C32; later flags: C32 }
    23 "PARAMETER" Parameter { id: C32, name: C32, parameter_type: U8 }
    24 "RMA_WIN" RmaWin { id: C32, name: C32, comm: C32; later flags: C32 }
    25 "METRIC_CLASS_RECORDER" MetricClassRecorder { metric: C32, recorder: C64 }
    26 "SYSTEM_TREE_NODE_PROPERTY" SystemTreeNodeProperty { system_tree_node: C32, name: C32, string_value: C32; later value: Val }
    27 "SYSTEM_TREE_NODE_DOMAIN" SystemTreeNodeDomain { system_tree_node: C32, system_tree_domain: U8 }
    28 "LOCATION_GROUP_PROPERTY" LocationGroupProperty { location_group: C32, name: C32, string_value: C32; later value: Val }
    29 "LOCATION_PROPERTY" LocationProperty { location: C64, name: C32, string_value: C32; later value: Val }
    30 "CART_DIMENSION" CartDimension { id: C32, name: C32, size: C32, cart_periodicity: U8 }
    31 "CART_TOPOLOGY" CartTopology<'a> { id: C32, name: C32, communicator: C32, cart_dimensions: ShortC32s }
    32 "CART_COORDINATE" CartCoordinate<'a> { cart_topology: C32, rank: C32, coordinates: ShortC32s }
    33 "SOURCE_CODE_LOCATION" SourceCodeLocation { id: C32, file: C32, line_number: C32 }
    34 "CALLING_CONTEXT" CallingContext { id: C32, region: C32, source_code_location: C32, parent: C32 }
    35 "CALLING_CONTEXT_PROPERTY" CallingContextProperty { calling_context: C32, name: C32, value: Val }
    36 "INTERRUPT_GENERATOR" InterruptGenerator { id: C32, name: C32, interrupt_generator_mode: U8, base: U8, exponent: I64, period: C64 }
    37 "IO_FILE_PROPERTY" IoFileProperty { io_file: C32, name: C32, value: Val }
    38 "IO_REGULAR_FILE" IoRegularFile { id: C32, name: C32, scope: C32 }
    39 "IO_DIRECTORY" IoDirectory { id: C32, name: C32, scope: C32 }
    40 "IO_HANDLE" IoHandle { id: C32, name: C32, file: C32, io_paradigm: U8, io_handle_flags: C32, comm: C32, parent: C32 }
    41 "IO_PRE_CREATED_HANDLE_STATE" IoPreCreatedHandleState { io_handle: C32, mode: U8, status_flags: C32 }
    42 "CALLPATH_PARAMETER" CallpathParameter { callpath: C32, parameter: C32, value: Val }
    43 "INTER_COMM" InterComm { id: C32, name: C32, group_a: C32, group_b: C32, common_communicator: C32, flags: C32 }
}
