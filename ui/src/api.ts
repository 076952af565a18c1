// What the server answers, exactly as docs/view-api.md says it. Types only: how it is fetched is in load.ts.
// Times are integer nanoseconds from the begin of the run, what ends in `_s` is seconds, `null` is "not known".

/** Arrays of equal length, one a column: `columns{a, b}` of the document. */
export type Columns<Row> = { [Key in keyof Row]: Row[Key][] };

export interface Run {
  run: number;
  name: string;
  path: string;
  state: "opening" | "ready" | "failed";
  stage: string;
  fraction: number;
  message: string;
  remedy: string;
  pes: number | null;
  processes: number | null;
  device_streams: number | null;
  events: number | null;
  duration_ns: number | null;
  profile_only: boolean | null;
  producer: string | null;
}

export interface Kind {
  kind: number;
  name: string;
  label: string;
}

export interface Pes {
  pes: Columns<{ name: string; process: number; host: number | null; thread: string; kind: string }>;
  processes: { name: string; host: number | null; first: number; count: number }[];
  hosts: string[];
  omitted?: number;
}

export interface Place {
  file: string;
  line: number;
  function: string;
}

export interface Diagnostic {
  severity: "info" | "data_loss" | "error";
  message: string;
  remedy: string;
  count: number;
}

export interface FindingRow {
  id: string;
  pattern: string;
  title: string;
  words: string;
  seconds: number;
  fraction: number;
  count: number;
  role: string;
  construct: string;
  place: string;
  location: Place;
  callpath: string[];
  is_wait: boolean;
  worst_pe: number | null;
  worst_pe_s: number | null;
  cause_pe: number | null;
  cause: string | null;
  cause_s: number | null;
}

export interface Summary {
  name: string;
  path: string;
  producer: string | null;
  paradigms: string[];
  pes: number;
  processes: number;
  device_streams: number;
  devices: number;
  events: number;
  duration_s: number;
  profile_only: boolean;
  /** Null for a profile, which knows no waits. */
  waiting_s: number | null;
  waiting: number | null;
  /** Whether times of different PEs can be compared. If not, efficiency and bounds are doubtful. */
  clocks_aligned: boolean;
  sentences: string[];
  efficiency: { name: string; label: string; meaning: string; level: string; value: number }[];
  bounds: { name: string; seconds: number }[];
  gaps: { name: string; label: string; meaning: string; seconds: number }[];
  quality: Diagnostic[];
  findings: FindingRow[];
  findings_count: number;
}

export interface Findings {
  findings: FindingRow[];
  omitted: number;
}

export interface Instance {
  pe: number;
  from: number;
  to: number;
  seconds: number;
  cause_pe: number | null;
  cause_from: number | null;
  cause_to: number | null;
  cause: string | null;
}

interface Spot {
  construct: string;
  place: string;
  location: Place;
  callpath: string[];
}

export interface Finding extends FindingRow {
  meaning: string;
  advice: string;
  facts: { name: string; value: number; label: string; text: string }[];
  pes: Columns<{ pe: number; seconds: number }>;
  pes_rest: { count: number; seconds: number };
  /** `words`: what the PE did, as a person says it. */
  causes: (Spot & {
    pe: number | null;
    words: string;
    seconds: number;
    origin: Spot | null;
    via_s: number;
    via: { pe: number | null; place: string }[];
  })[];
  unexplained_s: number;
  frames: { name: string; file: string; line: number; called_file: string; called_line: number }[];
  callpaths: { callpath: string[]; caller: string; seconds: number }[];
  instances: Columns<Instance>;
  instances_count: number;
}

/** The nodes of a picture: several PEs are folded into one row. `first` is its first PE, `count` how many it has. */
export type Rows = Columns<{ label: string; first: number; count: number }>;

export interface Wait {
  pe: number;
  row: number | null;
  from: number;
  to: number;
  pattern: number;
  finding: number | null;
  cause_pe: number | null;
  cause_row: number | null;
  cause_from: number | null;
  cause_to: number | null;
}

export interface Message {
  from_pe: number;
  from_row: number | null;
  sent: number;
  to_pe: number;
  to_row: number | null;
  received: number;
  bytes: number | null;
  tag: number | null;
  group: number | null;
}

export interface Collective {
  construct: string;
  group: string;
  members: Columns<{ row: number; pe: number; enter: number; exit: number }>;
  count: number;
}

export interface Span {
  row: number;
  from: number;
  to: number;
  depth: number;
  region: number;
  kind: number;
}

export interface Timeline {
  from: number;
  to: number;
  columns: number;
  rows: Rows;
  bins: { kinds: number[]; data: string };
  spans: Columns<Span> | null;
  spans_count: number | null;
  regions: string[];
  waits: Columns<Wait>;
  waits_count: number;
  messages: Columns<Message> | null;
  messages_count: number;
  collectives: Collective[];
  collectives_count: number;
  critical_path: Columns<{ pe: number; row: number | null; from: number; to: number }>;
  critical_path_count: number;
  patterns: string[];
  findings: string[];
  groups: string[];
}

export interface At {
  pe: number;
  time: number;
  stack: Columns<{
    name: string;
    region: number;
    path: number;
    from: number;
    to: number;
    file: string;
    line: number;
    called_file: string;
    called_line: number;
    kind: number;
  }>;
  operation: { construct: string; role: string; kind: number; from: number; to: number; place: string } | null;
  messages: {
    way: "sent" | "received";
    pe: number | null;
    bytes: number | null;
    tag: number | null;
    group: string | null;
    sent: number | null;
    received: number | null;
  }[];
  transfers: { kind: string; pe: number | null; bytes: number | null; time: number | null }[];
  collective: {
    construct: string;
    group: string;
    members: number;
    root: number | null;
    last_pe: number | null;
    last_enter: number | null;
    sent: number | null;
    received: number | null;
  } | null;
  waits: {
    pattern: string;
    title: string;
    finding: string | null;
    from: number;
    to: number;
    seconds: number;
    cause_pe: number | null;
    cause: string | null;
    cause_from: number | null;
    cause_to: number | null;
  }[];
}

export interface FoundRegion {
  region: number;
  name: string;
  kind: number;
  file: string;
  line: number;
  inclusive_s: number;
  exclusive_s: number;
  visits: number;
  pe: number | null;
  from: number | null;
  to: number | null;
}

export interface Profile {
  regions: Columns<{
    /** None for the code outside of all. */
    region: number | null;
    name: string;
    kind: number;
    file: string;
    line: number;
    visits: number;
    pes: number;
    inclusive_s: number;
    exclusive_s: number;
    least_s: number;
    mean_s: number;
    most_s: number;
    most_pe: number | null;
    waiting_s: number;
    bytes: number | null;
  }>;
  omitted: number;
}

export interface TreeNode {
  /** None for the code outside of all. */
  path: number | null;
  parent: number | null;
  depth: number;
  region: number | null;
  name: string;
  kind: number;
  file: string;
  line: number;
  inclusive_s: number;
  exclusive_s: number;
  visits: number;
  pes: number;
  most_s: number;
  waiting_s: number;
  children: number;
}

export interface Tree {
  all_s: number;
  nodes: Columns<TreeNode>;
  omitted: number;
}

export interface Balance {
  rows: Rows;
  kinds: number[];
  seconds: number[][];
  regions: { names: string[]; region: number[]; seconds: number[][] };
  blocks: { first: number[]; count: number[]; from: number[]; to: number[]; seconds: number[][] } | null;
  events: Columns<{
    name: string;
    region: number | null;
    kind: number;
    total_s: number;
    mean_s: number;
    least_s: number;
    most_s: number;
    most_pe: number | null;
    spread: number;
  }>;
}

export interface Matrix {
  rows: Rows;
  by: string;
  cells: number[][];
  total: number;
  most: number;
}

export interface Environment {
  /** Several lines of text. */
  machine: string | null;
  producer: string | null;
  facts: { name: string; value: string }[];
  processes: Columns<{ name: string; host: string | null; pes: number }>;
  groups: Columns<{ name: string; paradigm: string; members: number }>;
  metrics: Columns<{ name: string; unit: string }>;
  quality: Diagnostic[];
}

/** How many rows a table of columns has. */
export const length = <Row extends object>(columns: Columns<Row>): number => {
  for (const key in columns) return columns[key].length;
  return 0;
};

/** One row of a table of columns. Costs an object: not for loops over long tables. */
export function row<Row extends object>(columns: Columns<Row>, at: number): Row {
  const out: Partial<Row> = {};
  for (const key in columns) out[key] = columns[key][at];
  return out as Row;
}
