// Communication: who gives how much to whom, by bytes, number or time; the heaviest pairs as a table; and of one pair the messages.
import { useCallback, useMemo } from "preact/hooks";
import type { Matrix as Data } from "../api";
import { bytes, count, percent, seconds } from "../format";
import { has, recorded, useApi } from "../load";
import { Heatmap } from "../parts/heatmap";
import { Answer, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { amend, numeric, route, run } from "../state";
import { SharedArrays } from "./array";
import { asking, Between, type Side } from "./between";

const MEASURES: { by: string; title: string; show: (value: number) => string }[] = [
  { by: "bytes", title: "Bytes", show: bytes },
  { by: "count", title: "Number", show: count },
  { by: "seconds", title: "Time", show: seconds },
];

/** How many pairs the table has. */
const PAIRS = 200;

export function Matrix() {
  const measure = MEASURES.find((it) => it.by === route.value.params.by) ?? (MEASURES[0] as (typeof MEASURES)[number]);
  const answer = useApi<Data>(`runs/${run.value}/matrix?by=${measure.by}`);
  return (
    <>
      <div class="head">
        <h1>Communication</h1>
        <What>
          A row gives, a column gets: messages and one-sided accesses. Time is that of the operations which moved it, on the side
          that started it. Collectives are not in here; they are in the profile.
        </What>
      </div>
      <div class="tools">
        <div class="group" role="group" aria-label="Measure">
          {MEASURES.map((it) => (
            <button type="button" key={it.by} aria-pressed={it.by === measure.by} onClick={() => amend({ by: it.by })}>
              {it.title}
            </button>
          ))}
        </div>
      </div>
      <Answer of={answer}>
        {(data) =>
          data.total > 0 ? (
            <Shown data={data} show={measure.show} title={measure.title} />
          ) : (
            <p>No messages and no one-sided accesses were recorded.</p>
          )
        }
      </Answer>
      <SharedArrays />
    </>
  );
}

function Shown({ data, show, title }: { data: Data; show: (value: number) => string; title: string }) {
  const labels = data.rows.label;
  const share = useCallback(
    (row: number, column: number) => {
      const value = data.cells[row]?.[column] ?? 0;
      // The square root keeps small exchanges visible beside large ones.
      return value > 0 ? 0.12 + 0.88 * Math.sqrt(value / (data.most || 1)) : null;
    },
    [data],
  );
  const pairs = useMemo(() => {
    const all = data.cells.flatMap((row, from) => row.map((value, to) => ({ from, to, value })).filter((it) => it.value > 0));
    return all.sort((a, b) => b.value - a.value || a.from - b.from || a.to - b.to);
  }, [data]);
  type Pair = (typeof pairs)[number];
  const columns: Column<Pair>[] = [
    { key: "from", title: "From", by: (it) => it.from, number: true, cell: (it) => `PE ${labels[it.from]}` },
    { key: "to", title: "To", by: (it) => it.to, number: true, cell: (it) => `PE ${labels[it.to]}` },
    {
      key: "value",
      title,
      number: true,
      by: (it) => it.value,
      cell: (it) => <Bar share={it.value / (data.most || 1)}>{show(it.value)}</Bar>,
    },
    { key: "share", title: "Share", number: true, cell: (it) => percent(it.value / data.total) },
  ];
  const side = (at: number): Side | undefined => {
    const [label, first, pes] = [data.rows.label[at], data.rows.first[at], data.rows.count[at]];
    return label === undefined || typeof first !== "number" || pes === undefined ? undefined : { label, first, count: pes };
  };
  // A report holds those of the pairs that have most.
  const opens = (from: number, to: number) => {
    const [giver, getter] = [side(from), side(to)];
    return giver && getter && (!recorded || has(asking(giver, getter, "slowest")));
  };
  const open = (from: number, to: number) => {
    if (opens(from, to)) amend({ giver: from, getter: to });
  };
  columns.push({
    key: "open",
    title: "Messages",
    cell: (it) =>
      opens(it.from, it.to) && (
        <button
          type="button"
          class="plain pair"
          aria-label={`show the messages from PE ${labels[it.from]} to PE ${labels[it.to]}`}
          onClick={() => open(it.from, it.to)}
        >
          show
        </button>
      ),
  });
  const folded = Math.max(...data.rows.count, 1);
  const [giver, getter] = ["giver", "getter"].map((key) => side(numeric(route.value.params, key) ?? -1));
  return (
    <>
      <div class="columns">
        <section aria-label="Matrix">
          <Heatmap
            id="matrix"
            square
            label={`Communication matrix of ${labels.length} rows and columns, by ${title.toLowerCase()}; the heaviest pairs are in the table beside it`}
            rows={labels}
            columns={labels}
            rowTitle="from ↓"
            columnTitle="to →"
            share={share}
            start={pairs[0] && { row: pairs[0].from, column: pairs[0].to }}
            onOpen={open}
            say={(row, column) => `PE ${labels[row]} → PE ${labels[column]}: ${show(data.cells[row]?.[column] ?? 0)}`}
          />
          <p class="dim small">
            In all {show(data.total)}; darkest is {show(data.most)}.{" "}
            {folded > 1 && `Each row and column is up to ${count(folded)} PEs together.`} The colour follows the square root, so
            that small exchanges stay visible. A click on a cell, or Enter, shows its messages
            {recorded && ", of the pairs that have most"}.
          </p>
        </section>
        <section aria-label="Pairs">
          <Table
            caption={`The heaviest ${count(Math.min(PAIRS, pairs.length))} of ${count(pairs.length)} pairs`}
            rows={pairs.slice(0, PAIRS)}
            columns={columns}
            id={(it) => `${it.from} ${it.to}`}
            selected={giver && getter && `${route.value.params.giver} ${route.value.params.getter}`}
          />
        </section>
      </div>
      {giver && getter && <Between giver={giver} getter={getter} />}
    </>
  );
}
