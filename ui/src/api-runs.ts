// What the server answers about several runs: the documents of `partune compare --json` and `partune scale --json`.

import type { Place } from "./api";

/** How sure a difference is: `grown` and `shrunk` are more than the spread over visits and PEs; the rest says why not. */
export interface Change {
  difference_s: number;
  ratio: number | null;
  noise_s: number | null;
  verdict: string;
}

/** What a place took in one run. */
export interface Sums {
  location?: Place;
  /** Summed over PEs. */
  exclusive_s: number;
  inclusive_s: number;
  visits: number;
  waiting_s: number | null;
  bytes: number;
  pes: number;
  longest_s: number;
}

export interface ComparedPlace {
  construct: string;
  callpath: string[];
  /** `compared_s`: exclusive seconds on the base of the comparison, of which the changes are differences. */
  runs: ((Sums & { compared_s: number }) | null)[];
  /** Of every run but the first against the first. */
  changes: Change[];
}

export interface ComparedFinding {
  pattern: string;
  role: string;
  construct: string;
  callpath: string[];
  runs: ({ location: Place; seconds: number; compared_s: number; fraction: number; count: number } | null)[];
  changes: Change[];
}

export interface Figure {
  section: string;
  name: string;
  values: (number | null)[];
}

export interface Comparison {
  /** How many more each list has. */
  omitted: Record<string, number>;
  runs: {
    archive: string;
    pes: number;
    processes: number;
    profile: boolean;
    duration_s: number;
    speed_up: number | null;
    measured_s: number | null;
    measured_speed_up: number | null;
    change: Change;
  }[];
  /** The base of the comparison: means over PEs, since the runs differ in their number; else sums. */
  per_pe: boolean;
  by_region: boolean;
  notes: string[];
  figures: Figure[];
  callpaths: ComparedPlace[];
  regions: ComparedPlace[];
  findings: ComparedFinding[];
}

export interface ScaledPlace {
  construct: string;
  location: Place;
  callpath: string[];
  kind: string;
  growth: string;
  points: ((Sums & { lost_s: number; factor: number | null }) | null)[];
}

export interface Scaling {
  /** How many more each list has. */
  omitted: Record<string, number>;
  mode: string;
  outcome: string;
  at_pes: number | null;
  limited_by: string | null;
  text: string;
  points: {
    pes: number;
    archive: string;
    archives: string[];
    duration_s: number;
    shortest_s: number;
    longest_s: number;
    speed_up: number;
    ideal_speed_up: number;
    efficiency: number;
    serial_fraction: number | null;
    lost_s: number;
    factors: Record<string, number | null> | null;
  }[];
  notes: string[];
  figures: Figure[];
  callpaths: ScaledPlace[];
  regions: ScaledPlace[];
}
