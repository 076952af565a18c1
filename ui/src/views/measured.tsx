// Call tree, measure, PEs: which measure stands beside the call tree, and what each PE has of the call path that is chosen.
import type { Measured as Data } from "../api";
import { amount, plural } from "../format";
import { has, type Loaded, recorded, useApi } from "../load";
import { Answer } from "../parts/states";
import { Bar, Table } from "../parts/table";
import { inSlices } from "../runs";
import { amend, numeric, route, run } from "../state";
import { useMetrics } from "../timeline/counters";

const MEASURES: [string, string][] = [
  ["time", "time"],
  ["waiting", "waiting"],
  ["visits", "visits"],
  ["bytes", "bytes moved"],
];

/** Counters are `counter.3` in the address. */
const measure = () => route.value.params.of ?? "time";

/** What is asked of one for the whole program, which a report holds of the first of them. */
function asking(name: string): string {
  const [of, metric] = name.split(".");
  return `runs/${run.value}/measured?of=${of}${of === "counter" ? `&metric=${metric}` : ""}`;
}

function useMeasured(path: number | undefined, wanted = true): Loaded<Data> {
  const below = path === undefined || recorded ? "" : `&path=${path}`;
  return useApi<Data>(wanted ? `${asking(measure())}${below}` : null);
}

/** What the measure is called. */
function useName(): string {
  const metrics = useMetrics();
  const [of, metric] = measure().split(".");
  return MEASURES.find(([name]) => name === of)?.[1] ?? metrics?.name[Number(metric)] ?? "";
}

/** What the table beside the call tree has more: a value for each call path, as text. None of time, which is there anyway. */
export function useAmounts(): { title: string; of: (path: number | null) => { own: string; whole: string } } | null {
  const title = useName();
  const isShown = measure() === "time";
  const { data } = useMeasured(undefined, !isShown);
  if (isShown || !data) return null;
  const at = new Map(data.paths.path.map((path, index) => [path, index]));
  const text = (values: number[], index: number | undefined) => (index === undefined ? "–" : amount(values[index], data.unit));
  return {
    title,
    of: (path) => ({ own: text(data.paths.own, at.get(path)), whole: text(data.paths.whole, at.get(path)) }),
  };
}

export function MeasureChoice() {
  const metrics = useMetrics();
  // What each PE counted is not kept of slices.
  const counters = inSlices() ? [] : (metrics?.name.map((name, at): [string, string] => [`counter.${at}`, name]) ?? []);
  const shown = [...MEASURES, ...counters.filter((_, at) => metrics?.counts[at])].filter(([of]) => !recorded || has(asking(of)));
  if (shown.length === 0) return null;
  return (
    <label>
      Measure
      <select
        id="measure"
        value={measure()}
        onChange={(event) => amend({ of: event.currentTarget.value === "time" ? undefined : event.currentTarget.value })}
      >
        {shown.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What each PE has of the call path in the address, or of the whole program. */
export function ByPe() {
  const path = recorded ? undefined : numeric(route.value.params, "node");
  const answer = useMeasured(path, !recorded || has(asking(measure())));
  if (recorded && !answer.data) return null;
  return (
    <section id="by-pe" aria-label="The chosen call path by PE">
      <Answer of={answer}>{(data) => <Rows data={data} chosen={path !== undefined} />}</Answer>
    </section>
  );
}

function Rows({ data, chosen }: { data: Data; chosen: boolean }) {
  const named = useName();
  const rows = data.rows.label.map((label, at) => ({
    label,
    at,
    own: data.own[at] ?? 0,
    whole: data.whole[at] ?? 0,
    count: data.rows.count[at] ?? 1,
  }));
  const values = rows.map((it) => it.whole);
  const most = Math.max(...values, 0);
  const sum = values.reduce((all, it) => all + it, 0);
  const mean = sum / Math.max(1, rows.length);
  const show = (value: number) => amount(value, data.unit);
  const folded = rows.some((it) => it.count > 1);
  return (
    <>
      <p class="dim small">
        {chosen
          ? "This call path with what it calls"
          : `The whole program${recorded ? "" : "; choose a call path for that alone"}`}
        : {show(sum)} of {named} on {plural(rows.length, folded ? "row of PEs" : "PE", folded ? "rows of PEs" : "PEs")},{" "}
        {show(Math.min(...values, most))} to {show(most)}, in the mean {show(data.unit === "" ? Math.round(mean) : mean)}.{" "}
        {chosen && (
          <button type="button" class="plain" onClick={() => amend({ node: undefined }, { replace: true })}>
            Whole program
          </button>
        )}
      </p>
      <Table
        caption={`${named} by PE`}
        rows={rows}
        first={64}
        sort="psort"
        id={(it) => it.at}
        columns={[
          { key: "pe", title: "PE", by: (it) => -it.at, number: true, cell: (it) => it.label },
          {
            key: "whole",
            title: "With calls",
            number: true,
            wide: true,
            by: (it) => it.whole,
            cell: (it) => <Bar share={it.whole / (most || 1)}>{show(it.whole)}</Bar>,
          },
          { key: "own", title: "Own", number: true, by: (it) => it.own, cell: (it) => show(it.own) },
        ]}
      />
    </>
  );
}
