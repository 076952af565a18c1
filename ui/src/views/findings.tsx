// Findings: the list of places that lose time, and beside it the one that is chosen (finding.tsx).

import type { Findings as Data, FindingRow } from "../api";
import { count, percent, plural, seconds, title } from "../format";
import { has, recorded, useApi } from "../load";
import { Answer, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { pe } from "../pes";
import { runs } from "../runs";
import { amend, link, route, run } from "../state";
import { Finding } from "./finding";
import { Thresholds } from "./thresholds";

const SHOW: Column<FindingRow> = {
  key: "go",
  title: "Timeline",
  cell: (it) => (
    <a
      href={link("timeline", { finding: it.id, instance: 0 })}
      aria-label={`show the longest instance of ${it.title} in ${it.place} in the timeline`}
    >
      show
    </a>
  ),
};

const COLUMNS = (most: number, timeline: boolean): Column<FindingRow>[] => [
  {
    key: "pattern",
    title: "Pattern",
    by: (it) => it.title,
    cell: (it) => (
      <a href={link("findings", { ...keep(), finding: it.id })} aria-label={`${it.title} in ${it.place}: details`}>
        {it.title}
      </a>
    ),
  },
  { key: "place", title: "Place", by: (it) => it.place, wide: true, cell: (it) => <code>{it.place}</code> },
  {
    key: "seconds",
    title: "Time",
    number: true,
    what: "Seconds lost, summed over PEs",
    by: (it) => it.seconds,
    cell: (it) => (
      <Bar share={most > 0 ? it.seconds / most : 0} colour={it.is_wait ? "var(--k-wait)" : "var(--k-synchronisation)"}>
        {seconds(it.seconds)}
      </Bar>
    ),
  },
  {
    key: "fraction",
    title: "Of run",
    number: true,
    what: "Share of run time × PEs",
    by: (it) => it.fraction,
    cell: (it) => percent(it.fraction),
  },
  { key: "count", title: "Times", number: true, by: (it) => it.count, cell: (it) => count(it.count) },
  {
    key: "cause",
    title: "Caused by",
    by: (it) => it.cause ?? "",
    what: "The PE and the place that made most of it",
    cell: (it) =>
      it.cause_pe === null ? (
        <span class="dim">–</span>
      ) : (
        <>
          {pe(it.cause_pe)} <code class="small">{it.cause}</code>
        </>
      ),
  },
  ...(timeline ? [SHOW] : []),
];

/** What a link to another finding of this view keeps of the address. */
function keep(): Record<string, string | undefined> {
  const { text, pattern, sort } = route.value.params;
  return { text, pattern, sort };
}

/** Whether the server would find a text in a finding. */
const contains = (it: FindingRow, text: string): boolean =>
  [it.words, it.place, ...it.callpath].some((name) => name.toLowerCase().includes(text.toLowerCase()));

/** So many findings have their details on paper; the others are in the table. */
const PRINTED = 10;

/** On paper, the worst findings of which a report has details. */
function Others({ findings, but }: { findings: FindingRow[]; but: string | undefined }) {
  const there = findings.filter((it) => it.id !== but && has(`runs/${run.value}/findings/${it.id}`));
  return (
    <div class="paper">
      {there.slice(0, PRINTED - 1).map((it) => (
        <Finding key={it.id} id={it.id} />
      ))}
    </div>
  );
}

export function Findings() {
  const { text = "", pattern = "", finding } = route.value.params;
  const query = new URLSearchParams();
  if (text) query.set("text", text);
  const asked = query.toString();
  const profile = runs.value?.find((it) => it.run === run.value)?.profile_only;
  const answer = useApi<Data>(`runs/${run.value}/findings${asked && !recorded ? `?${asked}` : ""}`);
  return (
    <>
      <div class="head">
        <h1>Findings</h1>
        <What>
          A finding is a place in the program that loses time. Its seconds are summed over PEs, its share is of run time × PEs.
          Waits do not overlap and may be added; imbalance explains waits and may not be added to them. Most often the line to
          change is the one that causes a wait, not the one that waits.
        </What>
      </div>
      <Answer of={answer}>
        {(data) => {
          const patterns = [...new Set(data.findings.map((it) => it.pattern))];
          const wanted = (it: FindingRow) => (!pattern || it.pattern === pattern) && (!recorded || contains(it, text));
          const rows = data.findings.filter(wanted);
          const most = Math.max(...rows.map((it) => it.seconds), 0);
          const chosen = finding ?? rows[0]?.id;
          return (
            <>
              <div class="tools">
                <input
                  type="search"
                  aria-label="Search findings"
                  placeholder="Search place or words ( / )"
                  value={text}
                  onInput={(event) => amend({ text: event.currentTarget.value }, { replace: true })}
                />
                <label>
                  Pattern
                  <select value={pattern} onChange={(event) => amend({ pattern: event.currentTarget.value })}>
                    <option value="">all</option>
                    {patterns.map((it) => (
                      <option key={it} value={it}>
                        {title(it)}
                      </option>
                    ))}
                  </select>
                </label>
                <span class="dim" role="status">
                  {plural(rows.length, "finding")}
                  {data.omitted > 0 && `, and ${count(data.omitted)} smaller ones that are not shown`}
                </span>
              </div>
              {rows.length === 0 ? (
                <p>{text || pattern ? "Nothing matches." : "Nothing was found that loses time worth naming."}</p>
              ) : (
                <div class="split">
                  <div>
                    <Table
                      caption="Findings, worst first"
                      rows={rows}
                      columns={COLUMNS(most, !profile)}
                      id={(it) => it.id}
                      selected={chosen}
                    />
                  </div>
                  {chosen && <Finding id={chosen} alone />}
                </div>
              )}
              {recorded && <Others findings={rows} but={chosen} />}
            </>
          );
        }}
      </Answer>
      <Thresholds />
    </>
  );
}
