// A metric below the timeline, over the same time: what it says, or how it grows, per PE or summed.
import { useCallback, useState } from "preact/hooks";
import type { Counters as Data, Metrics } from "../api";
import { drawCounters, extent } from "../draw/counters";
import { type Geometry, LEFT, rowAt, timeAt, x } from "../draw/geometry";
import { duration, instant, quantity } from "../format";
import { has, recorded, useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { Failure } from "../parts/states";
import { amend, numeric, route, run } from "../state";
import { chooseAt, cursor, settled, view } from "./view";

const HIGH = 26;
const SUMMED = 64;
/** PEs on rows of their own; more are folded. */
const ROWS = 16;

const chosen = () => numeric(route.value.params, "counter");

/** What the run has. */
export function useMetrics(): Metrics | undefined {
  return useApi<Metrics>(`runs/${run.value}/metrics`).data;
}

/** Counters are looked at as they grow, gauges as they are. */
const readingOf = (metrics: Metrics, at: number): string =>
  (recorded ? undefined : route.value.params.as) ?? (metrics.counts[at] ? "rate" : "level");

/** What is asked of one over the whole run, which a report holds of the first of them. */
const asking = (metrics: Metrics, at: number) => `runs/${run.value}/counters?metric=${at}&as=${readingOf(metrics, at)}`;

export function CounterChoice() {
  const metrics = useMetrics();
  const at = chosen();
  const shown = metrics?.name.map((_, index) => !recorded || has(asking(metrics, index)));
  if (!metrics || !shown?.includes(true)) return null;
  return (
    <>
      <label>
        Counter
        <select
          id="counter"
          class="short"
          value={at ?? ""}
          onChange={(event) => amend({ counter: event.currentTarget.value, as: undefined })}
        >
          <option value="">none</option>
          {metrics.name.map(
            (name, index) =>
              shown[index] && (
                <option key={`${index} ${name}`} value={index}>
                  {name}
                </option>
              ),
          )}
        </select>
      </label>
      {at !== undefined && !recorded && (
        <div class="group" role="group" aria-label="Counter">
          {[
            ["level", "value"],
            ["rate", "per second"],
          ].map(([name, words]) => (
            <button type="button" key={name} aria-pressed={readingOf(metrics, at) === name} onClick={() => amend({ as: name })}>
              {words}
            </button>
          ))}
          <button
            type="button"
            aria-pressed={route.value.params.summed === "1"}
            onClick={() => amend({ summed: route.value.params.summed !== "1" })}
          >
            summed
          </button>
        </div>
      )}
    </>
  );
}

/** The picture; `asked` says of which PEs, as for the timeline. */
export function Counters({ asked, columns }: { asked: string; columns: number }) {
  const metrics = useMetrics();
  const at = chosen();
  const name = at === undefined ? undefined : metrics?.name[at];
  const { from, to } = settled.value;
  const summed = route.value.params.summed === "1";
  const part = `&from=${from}&to=${to}&columns=${Math.min(columns, 2048)}&rows=${summed ? 1 : ROWS}${asked}`;
  const answer = useApi<Data>(
    metrics && at !== undefined && name !== undefined ? `${asking(metrics, at)}${recorded ? "" : part}` : null,
  );
  if (answer.error) return <Failure error={answer.error} />;
  if (!metrics || at === undefined || name === undefined || !answer.data) return null;
  return <Picture data={answer.data} name={name} unit={metrics.unit[at] ?? ""} high={summed ? SUMMED : HIGH} />;
}

function Picture({ data, name, unit, high }: { data: Data; name: string; unit: string; high: number }) {
  const [width, setWidth] = useState(900);
  const [over, setOver] = useState<{ px: number; py: number } | null>(null);
  const { from, to } = view.value;
  const rows = data.rows.label.length;
  const height = rows * high;
  const geometry: Geometry = { left: LEFT, top: 0, width: Math.max(50, width - LEFT), height, from, to, rows, rowHeight: high };
  const time = cursor.value?.time;
  const draw: Draw = useCallback(
    (context, _width, _height, palette) => {
      drawCounters(context, geometry, data, palette);
      if (time === undefined || time < from || time > to) return;
      context.fillStyle = palette.ink;
      context.fillRect(x(geometry, time) - 0.5, 0, 1, height);
    },
    [data, from, to, width, high, time],
  );
  const each = data.reading === "rate" ? "/s" : "";
  const show = (value: number | null | undefined) => quantity(value, unit, each);
  const column = duration((data.to - data.from) / data.columns);
  const [least, most] = extent(data.values);
  const folded = Math.max(...data.rows.count, 0) > 1;
  if (rows === 0) return <p class="dim small">None of these PEs has samples of {name}.</p>;

  const row = over ? rowAt(geometry, over.py) : null;
  const there = over && row !== null && over.px >= LEFT ? timeAt(geometry, over.px) : null;
  const said = () => {
    if (there === null || row === null) return null;
    const at = Math.floor(((there - data.from) / (data.to - data.from)) * data.columns);
    return `PE ${data.rows.label[row]} at ${instant(there, (to - from) / 1000)}: ${show(data.values[row]?.[at])}`;
  };
  return (
    <section id="counters" aria-label={`Counter ${name}`}>
      <Canvas
        id="counter-tracks"
        draw={draw}
        height={height}
        label={`${name} over time on ${rows} rows of PEs, from ${show(least)} to ${show(most)}`}
        onSize={setWidth}
        onPointerMove={(_event, px, py) => setOver({ px, py })}
        onPointerLeave={() => setOver(null)}
        onPointerUp={(_event, px, py) => {
          const pe = data.rows.first[rowAt(geometry, py) ?? -1];
          if (px >= LEFT && typeof pe === "number") chooseAt(pe, timeAt(geometry, px));
        }}
      />
      <p class="dim small" id="counter-scale">
        <strong>{name}</strong>
        {data.reading === "rate" ? ", per second" : ""}: all rows from {show(least)} to {show(most)}; a column is {column}, and
        has its mean{folded ? "; a row is the sum of its PEs" : ""}. {said()}
      </p>
    </section>
  );
}
