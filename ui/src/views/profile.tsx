// Profile: where the time goes, by region (flat) and by call path (tree); the flame graph has it as a picture.

import type { Profile as Data } from "../api";
import { length, row } from "../api";
import { bytes, count, percent, seconds } from "../format";
import { recorded, useApi } from "../load";
import { Answer, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { Legend, Swatch } from "../parts/words";
import { pe } from "../pes";
import { useKinds } from "../runs";
import { amend, link, route, run } from "../state";
import { SourceLink } from "./source";
import { CallTree } from "./tree";

const SHAPES = [
  { name: "flat", title: "By region" },
  { name: "tree", title: "Call tree" },
];

export function Profile() {
  const { show = "flat", text = "" } = route.value.params;
  const kinds = useKinds(run.value).data ?? [];
  return (
    <>
      <div class="head">
        <h1>Profile</h1>
        <What>
          Inclusive time is from enter to leave, exclusive time without what was called meanwhile; both are summed over visits and
          PEs. Waiting is the part that the behaviour of another PE cost.
        </What>
      </div>
      <div class="tools">
        <div class="group" role="group" aria-label="Shape">
          {SHAPES.map((it) => (
            <button type="button" key={it.name} aria-pressed={it.name === show} onClick={() => amend({ show: it.name })}>
              {it.title}
            </button>
          ))}
        </div>
        <input
          type="search"
          aria-label="Search regions"
          placeholder="Search regions ( / )"
          value={text}
          onInput={(event) => amend({ text: event.currentTarget.value }, { replace: true })}
        />
        <Legend kinds={kinds.filter((it) => it.name !== "idle")} />
      </div>
      {show === "flat" && <Flat text={text} />}
      {show === "tree" && <CallTree text={text} />}
      {recorded && (
        <div class="paper">
          <CallTree text="" share={0.05} />
        </div>
      )}
    </>
  );
}

function Flat({ text }: { text: string }) {
  const answer = useApi<Data>(`runs/${run.value}/profile`);
  const kinds = useKinds(run.value).data ?? [];
  return (
    <Answer of={answer}>
      {(data) => {
        const all = Array.from({ length: length(data.regions) }, (_, index) => row(data.regions, index));
        type Row = (typeof all)[number];
        const wanted = text.toLowerCase();
        const rows = wanted ? all.filter((it) => it.name.toLowerCase().includes(wanted)) : all;
        const most = Math.max(...all.map((it) => it.exclusive_s), 0);
        const total = all.reduce((sum, it) => sum + it.exclusive_s, 0);
        const columns: Column<Row>[] = [
          {
            key: "name",
            title: "Region",
            wide: true,
            by: (it) => it.name,
            cell: (it) => (
              <>
                <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
                {it.region === null ? (
                  it.name
                ) : (
                  <a href={link("timeline", { text: it.name, region: it.region })} title="Find it in the timeline">
                    <code>{it.name}</code>
                  </a>
                )}
              </>
            ),
          },
          { key: "file", title: "Source", by: (it) => it.file, cell: (it) => <SourceLink file={it.file} line={it.line} /> },
          {
            key: "exclusive",
            title: "Exclusive",
            what: "Time in it and in nothing that it called, all PEs together",
            number: true,
            by: (it) => it.exclusive_s,
            cell: (it) => (
              <Bar share={it.exclusive_s / (most || 1)} colour={`var(--k-${kinds[it.kind]?.name ?? "computation"})`}>
                {seconds(it.exclusive_s)}
              </Bar>
            ),
          },
          {
            key: "share",
            title: "Share",
            number: true,
            what: "Of all exclusive time",
            by: (it) => it.exclusive_s,
            cell: (it) => percent(it.exclusive_s / (total || 1)),
          },
          {
            key: "inclusive",
            title: "Inclusive",
            number: true,
            by: (it) => it.inclusive_s,
            cell: (it) => seconds(it.inclusive_s),
          },
          {
            key: "waiting",
            title: "Waiting",
            number: true,
            what: "Of the inclusive time, what another PE's behaviour cost",
            by: (it) => it.waiting_s,
            cell: (it) => (it.waiting_s > 0 ? seconds(it.waiting_s) : "–"),
          },
          {
            key: "visits",
            title: "Visits",
            number: true,
            by: (it) => it.visits,
            cell: (it) => (it.region === null ? "–" : count(it.visits)),
          },
          { key: "pes", title: "PEs", number: true, by: (it) => it.pes, cell: (it) => count(it.pes) },
          {
            key: "least",
            title: "Least",
            number: true,
            what: "Exclusive time of the PE that has least",
            by: (it) => it.least_s,
            cell: (it) => seconds(it.least_s),
          },
          { key: "mean", title: "Mean", number: true, by: (it) => it.mean_s, cell: (it) => seconds(it.mean_s) },
          {
            key: "most",
            title: "Most",
            number: true,
            what: "Exclusive time of the PE that has most",
            by: (it) => it.most_s,
            cell: (it) => (
              <>
                {seconds(it.most_s)} {it.most_pe !== null && <span class="dim small">{pe(it.most_pe)}</span>}
              </>
            ),
          },
          { key: "bytes", title: "Bytes", number: true, by: (it) => it.bytes, cell: (it) => (it.bytes ? bytes(it.bytes) : "–") },
        ];
        return (
          <>
            <Table
              caption={`Regions by exclusive time${wanted ? `, whose name contains “${text}”` : ""}`}
              rows={rows}
              columns={columns}
              id={(it) => it.region ?? "outside"}
            />
            {data.omitted > 0 && <p class="dim">{count(data.omitted)} more regions have less time and are not shown.</p>}
          </>
        );
      }}
    </Answer>
  );
}
