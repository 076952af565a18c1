// Names for what the server answers about several runs: the documents of `partune compare --json` and `partune scale --json`, cut to what a page shows.

import type { Answers } from "./answers";

/** How many more each list has. */
type Cut = { omitted: Record<string, number> };

export type Comparison = Answers["compare"] & Cut;
export type ComparedPlace = Comparison["callpaths"][number];
export type ComparedFinding = Comparison["findings"][number];
/** How sure a difference is: `grown` and `shrunk` are more than the spread over visits and PEs; the rest says why not. */
export type Change = ComparedPlace["changes"][number];

export type Scaling = Answers["scaling"] & Cut;
export type ScaledPlace = Scaling["callpaths"][number];
