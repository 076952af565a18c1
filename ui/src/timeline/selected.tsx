// The numbers of what is selected: beside the picture what it is, below it by function and by PE. All are the server's; nothing is added up here
// but for shares.
import type { Selected as Data, Kind } from "../api";
import { length, row } from "../api";
import { bytes, count, duration, instant, percent, plural, seconds, title } from "../format";
import { recorded, useApi } from "../load";
import { durationClasses, Histogram } from "../parts/histogram";
import { Answer } from "../parts/states";
import { Bar, Table } from "../parts/table";
import { Swatch } from "../parts/words";
import { pe as peName } from "../pes";
import { inSlices, otherwise } from "../runs";
import { amend, go, link, route, run } from "../state";
import { ranges, type Selection, select, selection, size } from "./selection";
import { show } from "./view";

const MOVED: Record<Data["moved"]["what"][number], string> = {
  sent: "messages sent",
  received: "messages received",
  put: "puts",
  got: "gets",
  atomic: "atomic accesses",
  collective: "parts in collectives",
  read: "reads of files",
  written: "writes to files",
};

/** The question for a selection; durations are of a region, or of all. */
function path(of: Selection): string {
  const region = route.value.params.durations;
  return `runs/${run.value}/selection?from=${of.from}&to=${of.to}&only=${ranges(of.pes)}${region === undefined ? "" : `&region=${region}`}`;
}

/** Shows the piece that is selected and nothing else. */
export function zoomToSelection(): void {
  const of = selection.value;
  if (of) show({ from: of.from, to: of.to });
}

/** Which PEs, in words. */
function pesInWords(of: Selection): string {
  const said = of.pes.slice(0, 4).map(([first, last]) => (first === last ? peName(first) : `${peName(first)} – ${peName(last)}`));
  return `${plural(size(of), "PE")}: ${said.join(", ")}${of.pes.length > 4 ? ", …" : ""}`;
}

export function Selected({ kinds, tell }: { kinds: Kind[]; tell: (text: string) => void }) {
  const of = selection.value;
  const answer = useApi<Data>(of && !recorded && !inSlices() ? path(of) : null);
  if (!of) return null;
  const step = (of.to - of.from) / 1000;
  return (
    <section id="selection" aria-label="Selection" aria-live="polite">
      <h3>Selection</h3>
      <dl>
        <dt>Length</dt>
        <dd>
          <strong>{duration(of.to - of.from)}</strong>
        </dd>
        <dt>From</dt>
        <dd>{instant(of.from, step)}</dd>
        <dt>To</dt>
        <dd>{instant(of.to, step)}</dd>
        <dt>On</dt>
        <dd>{pesInWords(of)}</dd>
      </dl>
      <p class="tools">
        <button type="button" id="zoom-to-selection" onClick={zoomToSelection} title="Key: z">
          Zoom to it
        </button>
        {!recorded && <Piece of={of} tell={tell} />}
        {!recorded && !inSlices() && (
          <a id="flame-of-selection" href={link("flame", { from: of.from, to: of.to, only: ranges(of.pes) })}>
            Flame graph of it
          </a>
        )}
        <button type="button" onClick={() => select(null)} title="Key: Esc">
          Clear
        </button>
      </p>
      {recorded ? (
        <p class="dim small">
          A report has no numbers of pieces; <code>partune view ARCHIVE</code> has.
        </p>
      ) : inSlices() ? (
        <p class="dim small">“Analyse only this” says what is in it.</p>
      ) : (
        <Answer of={answer}>{(data) => <Numbers data={data} kinds={kinds} />}</Answer>
      )}
    </section>
  );
}

/** Opens the piece of time as a run by itself, with every analysis. */
function Piece({ of, tell }: { of: Selection; tell: (text: string) => void }) {
  const open = async () => {
    try {
      go("summary", { run: await otherwise(`from=${of.from}&to=${of.to}`) });
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <button type="button" id="analyse-selection" onClick={() => void open()} title="All PEs, in this piece of time">
      Analyse only this
    </button>
  );
}

function Numbers({ data, kinds }: { data: Data; kinds: Kind[] }) {
  const all = ((data.to - data.from) / 1e9) * data.pes;
  const moved = Array.from({ length: length(data.moved) }, (_, at) => row(data.moved, at));
  const waits = Array.from({ length: length(data.waits) }, (_, at) => row(data.waits, at));
  return (
    <>
      <h3>Time by kind</h3>
      <ul class="found" id="selection-kinds">
        {data.kinds.kind.map((kind, at) => (
          <li key={kind}>
            <Swatch kind={kinds[kind]?.name ?? "computation"} />
            {kinds[kind]?.label ?? ""}{" "}
            <span class="dim small">
              {seconds(data.kinds.seconds[at])}, {percent((data.kinds.seconds[at] ?? 0) / (all || 1))}
            </span>
          </li>
        ))}
      </ul>
      {waits.length > 0 && (
        <>
          <h3>Waits</h3>
          <ul class="found" id="selection-waits">
            {waits.map((it) => (
              <li key={it.pattern}>
                {it.title}{" "}
                <span class="dim small">
                  {seconds(it.seconds)} in {count(it.count)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {moved.length > 0 && (
        <>
          <h3>Moved</h3>
          <ul class="found" id="selection-moved">
            {moved.map((it) => (
              <li key={it.what}>
                {count(it.count)} {MOVED[it.what]} <span class="dim small">{bytes(it.bytes)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <Durations data={data} />
    </>
  );
}

/** How long visits took: a bar a class. */
function Durations({ data }: { data: Data }) {
  const region = route.value.params.durations;
  const at = data.functions.region.indexOf(region === undefined ? null : Number(region));
  const name = region === undefined ? "all visits" : `visits of ${data.functions.name[at] ?? "a region"}`;
  return (
    <>
      <h3>How long {name} took</h3>
      <Histogram id="selection-durations" caption="Visits by how long they took" classes={durationClasses(data.durations)} />
      {region !== undefined && (
        <p>
          <button type="button" class="plain" onClick={() => amend({ durations: undefined }, { replace: true })}>
            Of all visits
          </button>
        </p>
      )}
    </>
  );
}

/** By function and by PE, below the picture. */
export function SelectedTables({ kinds }: { kinds: Kind[] }) {
  const of = selection.value;
  const answer = useApi<Data>(of && !recorded && !inSlices() ? path(of) : null);
  if (!of || recorded || !answer.data) return null;
  return (
    <section id="selection-tables" aria-label="Selection by function and by PE">
      <ByFunction data={answer.data} kinds={kinds} />
      <ByPe data={answer.data} kinds={kinds} />
    </section>
  );
}

function ByFunction({ data, kinds }: { data: Data; kinds: Kind[] }) {
  const rows = Array.from({ length: length(data.functions) }, (_, at) => row(data.functions, at));
  const most = Math.max(...rows.map((it) => it.exclusive_s), 0);
  return (
    <>
      <Table
        caption="Functions in the selection, by exclusive time"
        rows={rows}
        first={20}
        sort="fsort"
        id={(it) => it.region ?? "outside"}
        columns={[
          {
            key: "name",
            title: "Function",
            wide: true,
            by: (it) => it.name,
            cell: (it) => (
              <>
                <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
                {it.region === null ? (
                  it.name
                ) : (
                  <button
                    type="button"
                    class="plain"
                    title="How long its visits took"
                    aria-pressed={route.value.params.durations === String(it.region)}
                    onClick={() => amend({ durations: it.region }, { replace: true })}
                  >
                    <code>{it.name}</code>
                  </button>
                )}
              </>
            ),
          },
          {
            key: "exclusive",
            title: "Exclusive",
            number: true,
            by: (it) => it.exclusive_s,
            cell: (it) => (
              <Bar share={it.exclusive_s / (most || 1)} colour={`var(--k-${kinds[it.kind]?.name ?? "computation"})`}>
                {seconds(it.exclusive_s)}
              </Bar>
            ),
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
          {
            key: "most",
            title: "Most",
            what: "Exclusive time of the PE that has most",
            number: true,
            by: (it) => it.most_s,
            cell: (it) => (
              <>
                {seconds(it.most_s)} {it.most_pe !== null && <span class="dim small">{peName(it.most_pe)}</span>}
              </>
            ),
          },
        ]}
      />
      {data.functions_omitted > 0 && <p class="dim small">{count(data.functions_omitted)} more have less time.</p>}
    </>
  );
}

function ByPe({ data, kinds }: { data: Data; kinds: Kind[] }) {
  const rows = data.rows.label.map((label, at) => ({ at, label, pes: data.rows.count[at] ?? 1 }));
  const of = (kind: number, at: number) => data.seconds[kind]?.[at] ?? 0;
  const folded = rows.some((it) => it.pes > 1);
  return (
    <Table
      caption={`Time of ${folded ? "PEs, several on a row" : "PEs"} in the selection`}
      rows={rows}
      first={20}
      sort="esort"
      id={(it) => it.at}
      columns={[
        { key: "pe", title: folded ? "PEs" : "PE", by: (it) => it.at, cell: (it) => it.label },
        ...data.kinds.kind.map((kind, index) => ({
          key: kinds[kind]?.name ?? String(kind),
          title: title(kinds[kind]?.name ?? ""),
          number: true,
          by: (it: { at: number }) => of(index, it.at),
          cell: (it: { at: number }) => (of(index, it.at) > 0 ? seconds(of(index, it.at)) : "–"),
        })),
      ]}
    />
  );
}
