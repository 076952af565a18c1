// Another run below the timeline, moved so that what the view begins with is below itself; between them what each stage takes more or less, and in
// tables what differs. All numbers are the server's answer about the piece that is in view and the same piece of the other run.
import { useCallback, useState } from "preact/hooks";
import type { Beside as Data, Kind, Pes, Run, Timeline } from "../api";
import { length } from "../api";
import { LEFT, timeAt } from "../draw/geometry";
import { drawLabels } from "../draw/labels";
import { drawRibbons, ribbonAt } from "../draw/ribbons";
import { drawAxis } from "../draw/timeaxis";
import { count, difference, duration, instant, plural } from "../format";
import { type Loaded, recorded, useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { Failure } from "../parts/states";
import { TipBox } from "../parts/tip";
import { rangesOf } from "../pes";
import { numbered, runs } from "../runs";
import { amend, link, numeric, route, run } from "../state";
import { Differences, inWords, stageName } from "./differences";
import { hit } from "./hit";
import { usePicture } from "./picture";
import { Tip } from "./tip";
import { hidden, settled, view, wheelTime } from "./view";

/** Height of what stands between the two. */
const BETWEEN = 34;
/** Stages, as the server calls them and as people do. */
const BY: [string, string][] = [
  ["turns", "marked turns"],
  ["phases", "marked phases"],
  ["blocks", "synchronisations"],
  ["visits", "visits of the function"],
  ["time", "time"],
];

/** The other runs of which events are known. */
const others = () =>
  (runs.value ?? []).filter(
    (it) => it.run !== run.value && it.state === "ready" && !it.profile_only && !it.in_slices && numbered(it) > 0,
  );

/** The run that is beside this one, if it can be. */
export const besideRun = () => {
  const wanted = numeric(route.value.params, "beside");
  return recorded ? undefined : others().find((it) => it.run === wanted);
};

/** What is asked for, and the region whose visits are stages. */
const asked = () => {
  const { align, region } = route.value.params;
  return align === "visits" && region === undefined ? {} : { align, region };
};

export function BesideChoice() {
  const all = others();
  if (recorded || all.length === 0) return null;
  return (
    <label>
      Beside
      <select
        id="beside-run"
        class="short"
        value={besideRun()?.run ?? ""}
        onChange={(event) => amend({ beside: event.currentTarget.value, align: undefined })}
      >
        <option value="">nothing</option>
        {all.map((it) => (
          <option key={it.run} value={it.run}>
            {it.name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What is answered of the piece in view and of the same piece of the other run. `part` is the question for PEs; none asks nothing. */
export function useBeside(part: string | null): Loaded<Data> {
  const other = besideRun();
  const { from, to } = settled.value;
  const { align, region } = asked();
  const by = `${align ? `&by=${align}` : ""}${align === "visits" ? `&region=${region}` : ""}`;
  const wanted = other && part !== null;
  return useApi<Data>(wanted ? `runs/${run.value}/beside?base=${other.run}&from=${from}&to=${to}${by}${part}` : null);
}

interface Props {
  answer: Loaded<Data>;
  /** What is above. */
  timeline: Timeline;
  kinds: Kind[];
  available: number;
  columns: number;
  rows: number;
}

/** The other run, and the ribbons between. */
export function Beside(props: Props) {
  const { data, error } = props.answer;
  const other = besideRun();
  if (error) return <Failure error={error} />;
  return other && data ? <Shown {...props} data={data} other={other} /> : null;
}

/** The same in words and tables. */
export function BesideTables({ answer: { data }, kinds }: { answer: Loaded<Data>; kinds: Kind[] }) {
  const other = besideRun();
  if (!other || !data) return null;
  return (
    <section id="beside-differs" aria-label={`What differs from ${other.name}`}>
      <Said data={data} other={other} />
      <Differences data={data} kinds={kinds} name={other.name} />
    </section>
  );
}

/** A time of this run as one of the other: what the view begins with is below itself, and from there on the scale is the same, or such that both
 * pieces have the same width. */
function moved(data: Data, time: number): number {
  const [long, there] = [data.to - data.from, data.base_to - data.base_from];
  const scale = route.value.params.fit === "1" && there > 0 ? there / long : 1;
  return data.base_from + (time - data.from) * scale;
}

function Shown({ data, other, timeline, kinds, available, columns, rows }: Props & { data: Data; other: Run }) {
  const { group = "none", colour } = route.value.params;
  // Of PEs in the order of waiting those have rows that wait most.
  const above = timeline.rows.count.reduce((sum, it) => sum + it, 0);
  const pes = data.pes.slice(0, above).filter((it) => it !== null);
  const there = pes.length > 0 && data.base_from < (other.duration_ns ?? 0);
  const grouped = group === "none" ? "" : `&group=${group}`;
  const by = colour === "function" ? "&by=function" : "";
  const to = Math.round(moved(data, data.to));
  const below = useApi<Timeline>(
    there
      ? `runs/${other.run}/timeline?from=${data.base_from}&to=${to}&columns=${columns}&rows=${rows}&only=${rangesOf(pes)}${grouped}${by}`
      : null,
  );
  return (
    <section id="beside" aria-label={`Beside it: ${other.name}`}>
      {below.error && <Failure error={below.error} />}
      {!there && (
        <p class="notice">
          {pes.length === 0 ? `${other.name} has none of these PEs.` : `${other.name} has ended before what is in view.`}
        </p>
      )}
      {there && below.data && <Pictures data={data} timeline={below.data} kinds={kinds} available={available} other={other} />}
    </section>
  );
}

interface Below {
  data: Data;
  timeline: Timeline;
  kinds: Kind[];
  available: number;
  other: Run;
}

function Pictures({ data, timeline, kinds, available, other }: Below) {
  const names = useApi<Pes>(`runs/${other.run}/pes`).data?.pes.name;
  const [width, setWidth] = useState(900);
  const [over, setOver] = useState<{ px: number; py: number; left: number; top: number; between: boolean } | null>(null);
  const { from, to } = view.value;
  const [first, last] = [moved(data, from), moved(data, to)];
  const picture = usePicture(timeline, kinds, available, width, { from: first, to: last });
  const { geometry } = picture;
  const above = { ...geometry, from, to };
  const { stages } = data;
  const between: Draw = useCallback(
    (context, _width, _height, palette) => drawRibbons(context, above, geometry, stages, BETWEEN, palette),
    [stages, from, to, first, last, width],
  );
  const draw: Draw = useCallback(
    (context, _width, _height, palette) => {
      picture.paint(context, { finding: null, region: -1 }, palette);
      drawAxis(context, geometry, geometry.top, palette);
      drawLabels(context, geometry, timeline.rows.label, null, palette);
    },
    [timeline, picture.paint],
  );
  const wheel = (event: WheelEvent, px: number) => wheelTime(event, timeAt(above, px));
  const pointed = (between: boolean) => (event: PointerEvent, px: number, py: number) =>
    setOver(px < LEFT ? null : { px, py, left: event.clientX, top: event.clientY, between });
  const off = hidden.value;
  const stage = over?.between ? ribbonAt(above, geometry, stages, BETWEEN, over.px, over.py) : null;
  return (
    <>
      {length(stages) > 0 && (
        <Canvas
          id="ribbons"
          draw={between}
          height={BETWEEN}
          label="A ribbon for each stage, from the run above to the one below; orange takes longer above, blue less. The table below says the same."
          onPointerMove={pointed(true)}
          onPointerLeave={() => setOver(null)}
          onWheel={wheel}
        />
      )}
      <Canvas
        id="beside-tracks"
        draw={draw}
        height={picture.height}
        label={`Timeline of ${other.name}, moved so that what the view begins with is below itself`}
        onSize={setWidth}
        onPointerMove={pointed(false)}
        onPointerLeave={() => setOver(null)}
        onWheel={wheel}
      />
      {over && !over.between && (
        <Tip
          hit={hit(timeline, geometry, over.px, over.py, { messages: !off.has("messages"), waits: !off.has("waits") })}
          timeline={timeline}
          piles={picture.piles}
          kinds={kinds}
          nameOf={(pe) => `PE ${names?.[pe ?? -1] ?? pe ?? "–"}`}
          left={over.left}
          top={over.top}
        />
      )}
      {over && stage !== null && (
        <TipBox left={over.left} top={over.top}>
          <p>{stageName(data, stage)}</p>
          <p>{inWords(data, stage)}</p>
        </TipBox>
      )}
    </>
  );
}

/** What is below what, and why. */
function Said({ data, other }: { data: Data; other: Run }) {
  const { region, fit } = route.value.params;
  const step = (data.to - data.from) / 1000;
  const [here, there] = [data.to - data.from, data.base_to - data.base_from];
  const only = [
    data.only_here > 0 ? `${count(data.only_here)} only here` : "",
    data.only_there > 0 ? `${count(data.only_there)} only there` : "",
  ].filter(Boolean);
  const pes = data.pes.filter((it) => it !== null).length;
  const parts = [
    `${duration(here)} against ${duration(there)}`,
    data.by === "time" ? "" : `${plural(data.stages_count, "stage")} in view`,
    only.length > 0 ? `in the whole runs ${only.join(" and ")}` : "",
    pes < data.pes.length ? `of ${plural(data.pes.length, "PE")} in view the other run has ${count(pes)}` : "",
    pes < data.base_pes ? `of its ${plural(data.base_pes, "PE")} ${count(pes)} are compared` : "",
  ];
  const offered = BY.filter(([name]) => data.can.includes(name) || name === data.by || (name === "visits" && region));
  const turned = { run: other.run, from: data.base_from, to: data.base_to, beside: run.value };
  return (
    <div class="tools" id="beside-words">
      <label>
        Aligned by
        <select id="align" value={data.by} onChange={(event) => amend({ align: event.currentTarget.value })}>
          {offered.map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <button type="button" id="fit" aria-pressed={fit === "1"} onClick={() => amend({ fit: fit !== "1" })}>
        same width
      </button>
      <span>
        This piece takes <strong>{difference(here - there, duration)}</strong> ({parts.filter(Boolean).join("; ")}). In{" "}
        <a href={link("timeline", { ...turned, align: data.by === "visits" ? undefined : asked().align })}>{other.name}</a> it is
        from {instant(data.base_from, step)} to {instant(data.base_to, step)}.
      </span>
    </div>
  );
}
