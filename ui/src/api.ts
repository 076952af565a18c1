// Names for what the server answers. The types are in answers.ts, made from the server's own; what they mean is in docs/view-api.md.
// How answers are fetched is in load.ts. Times are integer nanoseconds from the begin of the run, what ends in `_s` is seconds, `null` is "not known".

import type { Answers } from "./answers";

/** Arrays of equal length, one per column: `columns{a, b}` of the document. */
export type Columns<Row> = { [Key in keyof Row]: Row[Key][] };

/** What a row of such a table is. */
type RowOf<Table> = { [Key in keyof Table]: Table[Key] extends (infer Cell)[] ? Cell : never };

/** What a list consists of. */
type Item<List> = List extends (infer Entry)[] ? Entry : never;

export type Run = Item<Answers["runs"]>;
export type Kind = Item<Answers["runs/R/kinds"]>;
export type Pes = Answers["runs/R/pes"];
export type Summary = Answers["runs/R/summary"];
export type Diagnostic = Item<Summary["quality"]>;
export type Findings = Answers["runs/R/findings"];
export type FindingRow = Item<Findings["findings"]>;
export type Place = FindingRow["location"];
export type Finding = Answers["runs/R/findings/*"];
export type Instance = RowOf<Finding["instances"]>;
export type Timeline = Answers["runs/R/timeline"];
/** The nodes of a picture: several PEs are folded into one row. `first` is its first PE, `count` how many it has. */
export type Rows = Timeline["rows"];
export type Wait = RowOf<Timeline["waits"]>;
export type Message = RowOf<NonNullable<Timeline["messages"]>>;
export type Collective = Item<Timeline["collectives"]>;
export type Span = RowOf<NonNullable<Timeline["spans"]>>;
export type Selected = Answers["runs/R/selection"];
export type Beside = Answers["runs/R/beside"];
export type At = Answers["runs/R/at"];
export type Found = Answers["runs/R/find"];
export type Profile = Answers["runs/R/profile"];
export type Tree = Answers["runs/R/tree"];
export type Arrays = Answers["runs/R/array"];
export type Thresholds = Answers["runs/R/thresholds"];
export type Measured = Answers["runs/R/measured"];
export type TreeNode = RowOf<Tree["nodes"]>;
export type Flame = Answers["runs/R/flame"];
export type Balance = Answers["runs/R/balance"];
export type Matrix = Answers["runs/R/matrix"];
export type Transfers = Answers["runs/R/transfers"];
export type Transfer = RowOf<Transfers["rows"]>;
export type Metrics = Answers["runs/R/metrics"];
export type Counters = Answers["runs/R/counters"];
export type SourceFiles = Answers["runs/R/sources"];
export type SourceText = Answers["runs/R/source"];
export type History = Answers["history"];
export type Figures = Answers["runs/R/figures"];
export type Environment = Answers["runs/R/environment"];

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
