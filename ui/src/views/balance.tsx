// Load balance: what each PE does with its time; which events are uneven; who has more than the others, by region and by block.
import { useCallback, useMemo, useState } from "preact/hooks";
import { type Balance as Data, length, row } from "../api";
import { drawStack, LEFT, rowHeight } from "../draw/stack";
import { count, percent, plural, seconds } from "../format";
import { useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { Answer, Fold, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { Legend, Swatch } from "../parts/words";
import { pe } from "../pes";
import { useKinds } from "../runs";
import { link, run } from "../state";
import { Maps } from "./maps";

export function Balance() {
  const answer = useApi<Data>(`runs/${run.value}/balance`);
  return (
    <>
      <div class="head">
        <h1>Load balance</h1>
        <What>
          PEs that have more to compute than others make those wait. A bar is one PE, or the mean of several where there are many.
          Maps show the useful time of each PE against the mean of all: orange has more, blue less.
        </What>
      </div>
      <Answer of={answer}>
        {(data) => (
          <>
            <Stacks data={data} />
            <Maps data={data} />
            <Events data={data} />
          </>
        )}
      </Answer>
    </>
  );
}

function Stacks({ data }: { data: Data }) {
  const kinds = useKinds(run.value).data ?? [];
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const names = useMemo(() => data.kinds.map((it) => kinds[it]?.name ?? "management"), [data, kinds]);
  const rows = length(data.rows);
  const most = useMemo(() => {
    const sums = data.rows.label.map((_, at) =>
      names.reduce((sum, kind, index) => (kind === "wait" ? sum : sum + (data.seconds[index]?.[at] ?? 0)), 0),
    );
    return Math.max(...sums, 0);
  }, [data, names]);
  const draw: Draw = useCallback(
    (context, width, _height, palette) =>
      drawStack(context, width, { labels: data.rows.label, seconds: data.seconds, kinds: names, most, cursor }, palette),
    [data, names, most, cursor],
  );
  const high = rowHeight(rows);
  const say = (at: number) =>
    names
      .map((kind, index) => ({
        kind,
        value: data.seconds[index]?.[at] ?? 0,
        label: kinds[data.kinds[index] ?? 0]?.label ?? kind,
      }))
      .filter((it) => it.value > 0);
  const folded = Math.max(...data.rows.count, 1);
  return (
    <section aria-labelledby="stack">
      <h2 id="stack">What each PE does with its time</h2>
      <Legend kinds={kinds} only={data.kinds} />
      <Canvas
        id="stack-map"
        draw={draw}
        height={rows * high + 2}
        label="Seconds of each PE by kind of time; the table below has the same. Arrow keys move the cursor."
        focusable
        onKeyDown={(event) => {
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (!by) return;
          event.preventDefault();
          setCursor((at) => Math.max(0, Math.min(rows - 1, at === undefined ? 0 : at + by)));
        }}
        onPointerMove={(_event, x, y) => setCursor(x > LEFT - 60 && y < rows * high ? Math.floor(y / high) : undefined)}
      />
      <p class="said" role="status">
        {cursor !== undefined && cursor < rows ? (
          <>
            PE {data.rows.label[cursor]}:{" "}
            {say(cursor)
              .map((it) => `${it.label} ${seconds(it.value)}`)
              .join(", ")}
          </>
        ) : (
          <span class="dim">
            Waiting (hatched) lies over the operations in which it happens; the rest add up to the run.
            {folded > 1 && ` A row is the mean of up to ${count(folded)} PEs.`}
          </span>
        )}
      </p>
      <Fold title="The same as a table">
        {() => (
          <Table
            caption="Seconds of a PE by kind of time"
            rows={data.rows.label.map((label, at) => ({ label, at }))}
            id={(it) => it.at}
            sort="ssort"
            columns={[
              { key: "pe", title: "PE", by: (it) => it.at, cell: (it) => it.label },
              ...names.map(
                (kind, index): Column<{ label: string; at: number }> => ({
                  key: kind,
                  title: kinds[data.kinds[index] ?? 0]?.label ?? kind,
                  number: true,
                  by: (it) => data.seconds[index]?.[it.at],
                  cell: (it) => seconds(data.seconds[index]?.[it.at]),
                }),
              ),
            ]}
          />
        )}
      </Fold>
    </section>
  );
}

function Events({ data }: { data: Data }) {
  const kinds = useKinds(run.value).data ?? [];
  const rows = Array.from({ length: length(data.events) }, (_, index) => row(data.events, index));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    {
      key: "name",
      title: "Event",
      wide: true,
      by: (it) => it.name,
      cell: (it) => (
        <>
          <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
          {it.region === null ? (
            it.name
          ) : (
            <a href={link("timeline", { text: it.name, region: it.region })}>
              <code>{it.name}</code>
            </a>
          )}
        </>
      ),
    },
    {
      key: "over",
      title: "Most above mean",
      number: true,
      what: "What the PE that has most has above the mean",
      by: (it) => it.most_s - it.mean_s,
      cell: (it) => seconds(it.most_s - it.mean_s),
    },
    {
      key: "spread",
      title: "Spread",
      number: true,
      what: "(most − mean) / most: 0 is even",
      by: (it) => it.spread,
      cell: (it) => (
        <Bar share={it.spread} colour="var(--k-synchronisation)">
          {percent(it.spread)}
        </Bar>
      ),
    },
    { key: "least", title: "Least", number: true, by: (it) => it.least_s, cell: (it) => seconds(it.least_s) },
    { key: "mean", title: "Mean", number: true, by: (it) => it.mean_s, cell: (it) => seconds(it.mean_s) },
    { key: "most", title: "Most", number: true, by: (it) => it.most_s, cell: (it) => seconds(it.most_s) },
    { key: "pe", title: "On PE", number: true, by: (it) => it.most_pe, cell: (it) => pe(it.most_pe) },
    { key: "total", title: "All PEs", number: true, by: (it) => it.total_s, cell: (it) => seconds(it.total_s) },
  ];
  return (
    <section aria-labelledby="events">
      <h2 id="events">Which events are uneven</h2>
      <Table
        caption={`The ${plural(rows.length, "region")} whose most loaded PE has most above the mean`}
        rows={rows}
        columns={columns}
        id={(it) => it.region ?? "outside"}
        first={30}
      />
    </section>
  );
}
