// Timeline: PEs by time. This file puts the pieces of ../timeline together and asks for the data of the view.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Timeline as Data, Finding } from "../api";
import { functionNames } from "../draw/bins";
import { rowHeight } from "../draw/geometry";
import { levels } from "../draw/spans";
import { count, duration, instant, plural } from "../format";
import { recorded, useApi } from "../load";
import { ColourChoice, colouring, FunctionSwatch } from "../parts/colouring";
import { Failure } from "../parts/states";
import { Legend, Swatch } from "../parts/words";
import { filtered, pinned, rangesOf } from "../pes";
import { numbered, runs, useKinds } from "../runs";
import { amend, route, run } from "../state";
import { Beside, BesideChoice, BesideTables, besideRun, useBeside } from "../timeline/beside";
import { CounterChoice, Counters } from "../timeline/counters";
import { arrive, arriveAt, chosenInstance } from "../timeline/instances";
import { Overview } from "../timeline/overview";
import { Panel } from "../timeline/panel";
import { SearchField, SearchResults } from "../timeline/search";
import { SelectedTables } from "../timeline/selected";
import { Tables } from "../timeline/tables";
import { Tracks } from "../timeline/tracks";
import {
  cursor,
  hidden,
  type Layer,
  listed,
  peCount,
  pes,
  rowPes,
  settled,
  show,
  showPes,
  toggle,
  view,
  whole,
  zoom,
} from "../timeline/view";

/** A row is at least so tall. */
const ROW = 9;
/** So much empty room below the picture is enough for tables. */
const ROOMY = 250;
/** What stands above the pane before it is there, and around the picture besides: strip, legend. */
const ABOVE = 100;
const AROUND = 150;

/** So many PEs of a filter can be asked for. */
const MOST = 2000;

const LAYERS: [Layer, string][] = [
  ["waits", "Waits"],
  ["messages", "Messages"],
  ["collectives", "Collectives"],
  ["critical", "Critical path"],
];

/** Of a run in slices single messages and collectives are not kept. */
const layers = (inSlices: boolean) => LAYERS.filter(([name]) => !inSlices || name === "waits" || name === "critical");

/** Room that the rows do not take. */
const left = (data: Data, available: number): number =>
  available - data.rows.label.length * rowHeight(data.rows.label.length, available, data.spans && levels(data.spans));

function useAvailable(): number {
  const measure = () => {
    const pane = recorded ? null : document.querySelector(".timeline .pane");
    const above = pane ? pane.getBoundingClientRect().top + scrollY : ABOVE;
    return Math.max(240, innerHeight - above - AROUND);
  };
  const [high, setHigh] = useState(measure());
  useEffect(() => {
    const changed = () => setHigh(measure());
    changed();
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }, []);
  return high;
}

export function Timeline() {
  const of = runs.value?.find((it) => it.run === run.value);
  if (!of || numbered(of) === 0 || !of.duration_ns)
    return (
      <>
        <h1>Timeline</h1>
        <p>No event could be read, so there is no timeline. The environment says what was noticed about the archive.</p>
      </>
    );
  if (of.profile_only)
    return (
      <>
        <h1>Timeline</h1>
        <p>
          This run was recorded as a profile: it has sums and no times, so there is no timeline. Record it without --profile to
          have one.
        </p>
      </>
    );
  return <Shown inSlices={of.in_slices === true} />;
}

function Shown({ inSlices }: { inSlices: boolean }) {
  const available = useAvailable();
  const [width, setWidth] = useState(0);
  // What was told is of the address at which it was, and goes with it.
  const [said, setSaid] = useState({ text: "", at: "" });
  const told = said.at === route.value.address ? said.text : "";
  const tell = useCallback((text: string) => setSaid({ text, at: route.value.address }), []);
  const { finding, region, visit: at, group = "none", order } = route.value.params;
  // Pinned rows stay while the others move, so which have a row is asked PE by PE.
  const pins = pinned.value.length > 0;
  const only = rowPes.value;
  const by = recorded || inSlices ? "kind" : colouring("kind");
  const pesAsked = `${only ? `&only=${rangesOf(pins ? only : only.slice(0, MOST))}` : ""}${order ? `&order=${order}` : ""}`;
  useEffect(() => {
    // A link that names a region only: where it is first.
    if (region !== undefined && at === undefined && !recorded && !inSlices) void arriveAt(region);
  }, [region, at, inSlices]);
  const kinds = useKinds(run.value).data;
  const { from, to } = settled.value;
  const shown = pes.value;
  const beside = !inSlices && besideRun() !== undefined;
  // Two timelines share the room that one would have.
  const room = beside ? available / 2 : available;
  const rows = Math.max(8, Math.min(512, Math.floor((room - 34) / ROW)));
  const columns = Math.max(64, Math.min(2048, Math.round(width)));
  const part = `${pins ? "" : `&first=${shown.first}&pes=${shown.count}`}${pesAsked}`;
  const both = useBeside(only?.length === 0 ? null : part);
  const counted = typeof chosenInstance() === "number";
  const detail = useApi<Finding>(finding && counted ? `runs/${run.value}/findings/${encodeURIComponent(finding)}` : null);
  useEffect(() => {
    if (detail.data && detail.data.id === finding) arrive(detail.data);
  }, [detail.data, finding]);
  const answer = useApi<Data>(
    recorded
      ? `runs/${run.value}/timeline`
      : width > 0 && !counted && only?.length !== 0
        ? `runs/${run.value}/timeline?from=${from}&to=${to}&columns=${columns}&rows=${rows}${part}${group === "none" ? "" : `&group=${group}`}${by === "function" ? "&by=function" : ""}`
        : null,
  );
  const data = answer.data;
  return (
    <>
      <Tools told={told} loading={answer.loading} inSlices={inSlices} />
      {inSlices && (
        <p class="notice" id="in-slices">
          This run is too large to keep its events: it was looked at in slices, and the picture is made of sums. What counters
          counted is among all figures.{" "}
          {recorded
            ? "partune view shows parts of it."
            : "Select a part of it and choose “Analyse only this” to see visits, messages and what is in it."}
        </p>
      )}
      {answer.error && <Failure error={answer.error} />}
      <div class="timeline">
        <div>
          <div class="pane">
            {kinds && <Overview kinds={kinds} />}
            {only?.length === 0 ? (
              <p class="notice">No PE, process or host has a name with “{route.value.params.filter}”.</p>
            ) : data && kinds ? (
              <Tracks timeline={data} kinds={kinds} available={room} onWidth={setWidth} tell={tell} />
            ) : (
              <Measure onWidth={setWidth} />
            )}
            {data && kinds && beside && only?.length !== 0 && (
              <Beside answer={both} timeline={data} kinds={kinds} available={room} columns={columns} rows={rows} />
            )}
            {data && !inSlices && <Counters asked={part} columns={columns} />}
          </div>
          <div class="tools">
            {data?.functions && by === "function" ? (
              <FunctionLegend data={data} />
            ) : (
              kinds && (
                <Legend
                  kinds={kinds}
                  only={data ? [...data.bins.kinds, kinds.findIndex((it) => it.name === "idle")] : undefined}
                />
              )
            )}
            <LineLegend inSlices={inSlices} />
          </div>
          {data && <Counts data={data} />}
          {kinds && <BesideTables answer={both} kinds={kinds} />}
          {kinds && <SelectedTables kinds={kinds} />}
          {data && <Tables timeline={data} roomy={!recorded && left(data, available) > ROOMY} />}
        </div>
        <aside class="card" aria-label="Selection">
          {kinds && <SearchResults kinds={kinds} />}
          <Panel timeline={data} kinds={kinds ?? []} tell={tell} />
        </aside>
      </div>
    </>
  );
}

/** Stands where the picture will be, to learn its width. */
function Measure({ onWidth }: { onWidth: (width: number) => void }) {
  return (
    <p
      class="loading"
      role="status"
      ref={(element) => {
        if (element) onWidth(Math.max(64, element.clientWidth - 72));
      }}
    >
      Loading …
    </p>
  );
}

function Tools({ told, loading, inSlices }: { told: string; loading: boolean; inSlices: boolean }) {
  const { from, to } = view.value;
  const { group = "none" } = route.value.params;
  const devices = runs.value?.find((it) => it.run === run.value)?.device_streams;
  const shown = pes.value;
  const all = listed.value;
  const centre = cursor.value?.pe ?? shown.first + shown.count / 2;
  const anchor = cursor.value?.time ?? (from + to) / 2;
  return (
    <div class="tools">
      <h1 class="hidden">Timeline</h1>
      {!recorded && <SearchField />}
      <div class="group" role="group" aria-label="Zoom">
        <button type="button" onClick={() => zoom(0.5, anchor)} aria-label="Zoom in" title="Key: +">
          +
        </button>
        <button type="button" onClick={() => zoom(2, anchor)} aria-label="Zoom out" title="Key: −">
          −
        </button>
        <button type="button" onClick={() => show({ from: 0, to: whole.value })} title="Key: 0">
          Whole run
        </button>
      </div>
      {!recorded && (
        <label>
          Rows
          <select
            value={group}
            onChange={(event) => amend({ group: event.currentTarget.value === "none" ? undefined : event.currentTarget.value })}
          >
            <option value="none">PEs</option>
            <option value="process">processes</option>
            <option value="host">hosts</option>
            {Boolean(devices) && <option value="device">devices</option>}
          </select>
        </label>
      )}
      {!recorded && !inSlices && <ColourChoice own="kind" />}
      {!inSlices && <CounterChoice />}
      {!inSlices && <BesideChoice />}
      {!recorded && <Filter />}
      {!recorded && all > 8 && (
        <div class="group" role="group" aria-label="How many PEs">
          <button type="button" onClick={() => showPes(shown.count / 2, centre)} aria-label="fewer PEs">
            fewer
          </button>
          <button type="button" onClick={() => showPes(shown.count * 2, centre)} aria-label="more PEs">
            more
          </button>
          <button type="button" onClick={() => showPes(all, 0)} disabled={shown.count === all}>
            all {count(all)} PEs
          </button>
        </div>
      )}
      <div class="group" role="group" aria-label="Layers">
        {layers(inSlices).map(([name, words]) => (
          <button type="button" key={name} aria-pressed={!hidden.value.has(name)} onClick={() => toggle(name)}>
            {words}
          </button>
        ))}
      </div>
      <span id="range" data-from={from} data-to={to}>
        {instant(from, (to - from) / 1000)} – {instant(to, (to - from) / 1000)} <strong>{duration(to - from)}</strong>
      </span>
      <span class="dim" role="status">
        {loading ? "…" : told}
      </span>
    </div>
  );
}

/** Which PEs have rows, by name, and in which order. */
function Filter() {
  const { filter = "", order = "number" } = route.value.params;
  return (
    <>
      <input
        type="search"
        class="short"
        aria-label="PEs, processes or hosts by name or regular expression"
        placeholder="PE names"
        value={filter}
        onInput={(event) => amend({ filter: event.currentTarget.value, first: undefined, pes: undefined }, { replace: true })}
      />
      <label>
        Order
        <select
          value={order}
          onChange={(event) =>
            amend({
              order: event.currentTarget.value === "number" ? undefined : event.currentTarget.value,
              first: undefined,
              pes: undefined,
            })
          }
        >
          <option value="number">by number</option>
          <option value="waiting">by waiting</option>
        </select>
      </label>
    </>
  );
}

/** The functions that are told apart, and what has no function. */
function FunctionLegend({ data }: { data: Data }) {
  const of = data.functions?.function ?? [];
  return (
    <ul class="legend" id="functions" aria-label="Colours">
      {functionNames(data).map((name, at) => (
        <li key={of[at] ?? "others"}>
          {of[at] === null ? <Swatch kind="management" /> : <FunctionSwatch name={name} />}
          {name}
        </li>
      ))}
      <li>
        <Swatch kind="idle" />
        in no recorded function
      </li>
      <li>
        <Swatch kind="wait" />
        waiting for another PE
      </li>
    </ul>
  );
}

function LineLegend({ inSlices }: { inSlices: boolean }) {
  const lines: [string, string, string][] = [
    ["message", "var(--message)", ""],
    ["collective, enters and exits", "var(--k-collective)", ""],
    [inSlices ? "critical path, its longest parts" : "critical path", "var(--critical)", ""],
  ];
  const drawn = inSlices ? lines.slice(-1) : lines;
  return (
    <ul class="legend" aria-label="Lines">
      {drawn.map(([name, colour]) => (
        <li key={name}>
          <svg width="18" height="8" aria-hidden="true">
            <line x1="0" x2="18" y1="4" y2="4" stroke={colour} stroke-width="2" />
          </svg>{" "}
          {name}
        </li>
      ))}
    </ul>
  );
}

/** What is in view and what is not drawn of it. */
function Counts({ data }: { data: Data }) {
  const most = Math.max(...data.rows.count, 1);
  const parts = [
    data.spans
      ? `every visit is drawn (${count(data.spans_count)})`
      : `a column is ${duration((data.to - data.from) / data.columns)}; heights are shares of time, the red foot is waiting`,
    most > 1 ? `a row is up to ${count(most)} PEs` : "",
    data.pes_omitted > 0 ? `${plural(data.pes_omitted, "PE")} that wait less have no row` : "",
    filtered.value ? `${count(filtered.value.length)} of ${plural(peCount.value, "PE")} have that name` : "",
    data.waits_count === null
      ? `${plural(data.waits.pe.length, "wait")} of the longest of each place`
      : `${plural(data.waits_count, "wait")}${data.waits_count > data.waits.pe.length ? `, the longest ${count(data.waits.pe.length)} drawn` : ""}`,
    data.messages_count === null
      ? ""
      : `${plural(data.messages_count, "message")}${data.messages ? "" : recorded ? ", too many to draw" : ", drawn when at most 2,000 are in view"}`,
    data.collectives_count === null
      ? ""
      : `${plural(data.collectives_count, "collective")}${data.collectives_count > data.collectives.length ? `, the longest ${count(data.collectives.length)} drawn` : ""}`,
  ];
  return (
    <p class="dim small" id="counts">
      In view: {parts.filter(Boolean).join("; ")}.
    </p>
  );
}
