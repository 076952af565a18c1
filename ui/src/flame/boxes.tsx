// Flame graph: what is said of a box, and the same boxes as a table.
import type { Flame as Data } from "../api";
import { type Layout, nameOf } from "../draw/flame";
import { count, difference, percent, plural, seconds } from "../format";
import { type Column, Table } from "../parts/table";
import { TipBox } from "../parts/tip";
import { at } from "../parts/words";

/** Rows of the table. */
const ROWS = 500;

/** What is to be said of a box. */
function words(data: Data, box: number): string[] {
  const { boxes } = data;
  const time = boxes.seconds[box] ?? 0;
  const parent = boxes.parent[box];
  const lines = [`${seconds(time)}, ${percent(time / (data.all_s || 1))} of all`];
  if (parent != null) lines[0] += `, ${percent(time / (boxes.seconds[parent] || 1))} of ${nameOf(data, parent)}`;
  if (boxes.function[box] === null) return [...lines, "too small, too deep or too many to be seen; a click gives them more room"];
  lines.push(
    `itself ${seconds(boxes.own_s[box])}${(boxes.waiting_s[box] ?? 0) > 0 ? `; waiting ${seconds(boxes.waiting_s[box])}` : ""}`,
  );
  if (data.functions.region[boxes.function[box] ?? -1] !== null) lines.push(`${plural(boxes.visits[box] ?? 0, "visit")}`);
  const base = boxes.base_s[box];
  if (base != null) lines.push(`${seconds(base)} in the other run: ${difference(time - base, seconds)}`);
  return lines;
}

function source(data: Data, box: number): string {
  const of = data.boxes.function[box] ?? -1;
  return at(data.functions.file[of] ?? "", data.functions.line[of] ?? 0);
}

export function Said({ data, box }: { data: Data; box: number }) {
  const place = source(data, box);
  return (
    <>
      <code>{nameOf(data, box)}</code> {place && <span class="dim">({place})</span>}: {words(data, box).join("; ")}
    </>
  );
}

export function Tip({ data, box, left, top }: { data: Data; box: number; left: number; top: number }) {
  const place = source(data, box);
  return (
    <TipBox left={left} top={top}>
      <p>
        <strong>{nameOf(data, box)}</strong>
      </p>
      {place && <p class="dim small">{place}</p>}
      {words(data, box).map((it) => (
        <p key={it}>{it}</p>
      ))}
    </TipBox>
  );
}

interface Row {
  box: number;
  depth: number;
}

export function Boxes({ data, laid }: { data: Data; laid: Layout }) {
  const { boxes } = data;
  const rows: Row[] = laid.pieces.map((it) => ({ box: it.at, depth: it.depth }));
  rows.sort((a, b) => (boxes.seconds[b.box] ?? 0) - (boxes.seconds[a.box] ?? 0) || a.depth - b.depth);
  const column = (key: string, title: string, of: (box: number) => number | null | undefined): Column<Row> => ({
    key,
    title,
    number: true,
    by: (it) => of(it.box),
    cell: (it) => seconds(of(it.box)),
  });
  return (
    <>
      <Table
        caption="Boxes by time"
        rows={rows.slice(0, ROWS)}
        first={40}
        id={(it) => it.box}
        columns={[
          {
            key: "name",
            title: "Function",
            wide: true,
            by: (it) => nameOf(data, it.box),
            cell: (it) => <code>{nameOf(data, it.box)}</code>,
          },
          { key: "level", title: "Level", number: true, by: (it) => it.depth, cell: (it) => it.depth + 1 },
          column("time", "Time", (box) => boxes.seconds[box]),
          column("own", "Itself", (box) => boxes.own_s[box]),
          column("waiting", "Waiting", (box) => boxes.waiting_s[box]),
          {
            key: "visits",
            title: "Visits",
            number: true,
            by: (it) => boxes.visits[it.box],
            cell: (it) => count(boxes.visits[it.box]),
          },
          ...(data.base_all_s === null ? [] : [column("base", "Other run", (box) => boxes.base_s[box])]),
        ]}
      />
      {rows.length > ROWS && <p class="dim small">{count(rows.length - ROWS)} more boxes have less time.</p>}
    </>
  );
}
