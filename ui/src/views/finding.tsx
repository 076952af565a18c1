// One finding: what it means, where it is with source lines, who waits, who makes them wait, and its instances.

import { type Finding as Data, type Instance, length, row } from "../api";
import { count, duration, instant, percent, plural, seconds } from "../format";
import { useApi } from "../load";
import { Answer, Omitted } from "../parts/states";
import { Strip } from "../parts/strip";
import { type Column, Table } from "../parts/table";
import { at, CallPath, Legend, Source, timelineLink } from "../parts/words";
import { pe } from "../pes";
import { useKinds } from "../runs";
import { link, run } from "../state";
import { SourceLink } from "./source";

/** `alone`: the one that is chosen, which links and keys lead to. */
export function Finding({ id, alone }: { id: string; alone?: boolean }) {
  const answer = useApi<Data>(`runs/${run.value}/findings/${encodeURIComponent(id)}`);
  return (
    <section class="card" aria-label={alone ? "The finding that is chosen" : `Finding ${id}`} id={alone ? "finding" : undefined}>
      <Answer of={answer}>{(data) => <Shown data={data} alone={alone} />}</Answer>
    </section>
  );
}

function Shown({ data, alone }: { data: Data; alone: boolean | undefined }) {
  return (
    <>
      <h2>
        {data.title} in <code>{data.construct || data.place}</code>
      </h2>
      <p>
        <strong>{seconds(data.seconds)}</strong> · {percent(data.fraction)} of the run · {plural(data.count, "time")}
        {data.outside_s > 0 && <> · and {seconds(data.outside_s)} outside of the run</>}
        {length(data.instances) > 0 && (
          <>
            {" · "}
            <a href={link("timeline", { finding: data.id, instance: 0 })} id={alone ? "show-in-timeline" : undefined}>
              Show in the timeline
            </a>
          </>
        )}
      </p>
      <p>{data.meaning}</p>
      {data.advice && (
        <p class="next">
          <strong>Next:</strong> {data.advice}
        </p>
      )}
      <h3>Where</h3>
      <p>
        {data.callpath.length === 0 ? (
          data.place
        ) : data.location.file ? (
          <SourceLink {...data.location} />
        ) : (
          <Source place={data.location} />
        )}{" "}
        {data.location.function && <span class="dim">in {data.location.function}</span>}
      </p>
      {data.lines.length > 1 && <Lines data={data} />}
      <Frames data={data} />
      {data.callpaths.length > 1 && <Paths data={data} />}
      {data.longest && <Longest piece={data.longest} took={data.instances} />}
      <h3>{data.is_wait ? "Who waits" : "On which PEs"}</h3>
      <PeBars data={data} />
      {data.causes.length > 0 && <Causes data={data} />}
      {length(data.instances) > 0 && <Instances data={data} />}
      <Omitted of={data.omitted} />
      {data.facts.length > 0 && (
        <details>
          <summary>Figures of the analysis</summary>
          <dl class="pairs">
            {data.facts.map((it) => (
              <>
                <dt>{it.label}</dt>
                <dd>{it.text}</dd>
              </>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

function Frames({ data }: { data: Data }) {
  if (data.frames.length === 0) return data.callpath.length > 0 ? <CallPath names={data.callpath} /> : null;
  return (
    <details open={data.frames.length <= 8}>
      <summary>Call path, {plural(data.frames.length, "call")}</summary>
      <ol class="path">
        {data.frames.map((it, depth) => {
          const called = at(it.called_file, it.called_line);
          const defined = at(it.file, it.line);
          return (
            <li key={depth} style={{ "--depth": String(Math.min(depth, 10)) }}>
              <code>{it.name}</code>{" "}
              <span class="dim small">
                {called ? `called at ${called}` : ""}
                {called && defined ? ", " : ""}
                {defined ? `defined at ${defined}` : ""}
              </span>
            </li>
          );
        })}
      </ol>
    </details>
  );
}

// The lines that it is at, the one that costs most first.
function Lines({ data }: { data: Data }) {
  return (
    <details open={data.lines.length <= 8}>
      <summary>{plural(data.lines.length, "line")}</summary>
      <ul class="path">
        {data.lines.map((it, index) => (
          <li key={index}>
            {seconds(it.seconds)} <Source place={it} /> {it.function && <span class="dim">in {it.function}</span>}
          </li>
        ))}
      </ul>
    </details>
  );
}

// The call paths that lead to the place, the one that costs most first.
function Paths({ data }: { data: Data }) {
  return (
    <details open={data.callpaths.length <= 4}>
      <summary>{plural(data.callpaths.length, "call path")} to this place</summary>
      <ul class="path">
        {data.callpaths.map((it, index) => (
          <li key={index} title={it.callpath.join(" › ")}>
            {seconds(it.seconds)} <span class="dim">called from</span> <code>{it.caller}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

// What the PE that waits longest at once did meanwhile, and below it the one that made it wait.
function Longest({ piece, took }: { piece: NonNullable<Data["longest"]>; took: Data["instances"] }) {
  const kinds = useKinds(run.value).data ?? [];
  const of = piece.rows.label;
  const said = `The longest instance: PE ${of[0]} waits ${seconds(took.seconds[0])}${of.length > 1 ? `; below it, what PE ${of[1]} did meanwhile` : ""}.`;
  return (
    <figure>
      <Strip piece={piece} kinds={kinds} label={said} />
      <Legend kinds={kinds} only={piece.bins.kinds} />
      <figcaption class="dim small">{said}</figcaption>
    </figure>
  );
}

function PeBars({ data }: { data: Data }) {
  const rows = length(data.pes);
  const most = Math.max(...data.pes.seconds, 0);
  const shown = Array.from({ length: Math.min(rows, 8) }, (_, index) => row(data.pes, index));
  const named = shown.map((it) => `${pe(it.pe)} ${seconds(it.seconds)}`).join(", ");
  const rest = rows - shown.length + data.pes_rest.count;
  return (
    <>
      <p>
        {named}
        {rest > 0 && <span class="dim">, and {plural(rest, "other")}</span>}
      </p>
      {rows > 1 && (
        <div class="bars" role="img" aria-label={`Seconds of ${plural(rows, "PE")}, worst first: ${named}`}>
          {data.pes.seconds.map((value, index) => (
            <svg key={data.pes.pe[index]} width="12" height="64" aria-hidden="true">
              <title>
                {pe(data.pes.pe[index])}: {seconds(value)}
              </title>
              <rect
                y={64 - (64 * value) / (most || 1)}
                width="12"
                height={(64 * value) / (most || 1)}
                fill={data.is_wait ? "var(--k-wait)" : "var(--k-synchronisation)"}
              />
            </svg>
          ))}
        </div>
      )}
    </>
  );
}

function Causes({ data }: { data: Data }) {
  const columns: Column<Data["causes"][number]>[] = [
    { key: "pe", title: "PE", cell: (it) => (it.pe === null ? "several" : pe(it.pe)) },
    { key: "what", title: "What it did", wide: true, cell: (it) => <code title={it.callpath.join(" › ")}>{it.words}</code> },
    {
      key: "via",
      title: "Through",
      wide: true,
      cell: (it) =>
        it.via.length > 0 ? (
          <span title={`${seconds(it.via_s)} of it came through others that were kept waiting themselves`}>
            {it.via.map((link) => `${link.pe === null ? "" : `${pe(link.pe)} `}${link.place}`).join(", ")}
          </span>
        ) : (
          <span class="dim">–</span>
        ),
    },
    { key: "time", title: "Time", number: true, cell: (it) => seconds(it.seconds) },
  ];
  return (
    <>
      <h3>Caused by</h3>
      <Table
        free
        first={8}
        caption="Who made it, largest first"
        rows={data.causes.map((it, index) => ({ ...it, index }))}
        columns={columns}
        id={(it) => (it as { index?: number }).index ?? 0}
      />
      {data.other_causes_s > 0 && <p class="dim small">{seconds(data.other_causes_s)} were made by others together.</p>}
      {data.unexplained_s > 0 && <p class="dim small">{seconds(data.unexplained_s)} have no cause that could be named.</p>}
    </>
  );
}

function Instances({ data }: { data: Data }) {
  const rows = Array.from({ length: length(data.instances) }, (_, index) => ({ ...row<Instance>(data.instances, index), index }));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    {
      key: "pe",
      title: "PE",
      cell: (it) => (
        <a
          class="instance"
          href={timelineLink(it.pe, it.from, it.to, { finding: data.id, instance: it.index })}
          aria-label={`Instance ${it.index + 1}, ${pe(it.pe)}, ${seconds(it.seconds)}, in the timeline`}
        >
          {pe(it.pe)}
        </a>
      ),
    },
    { key: "from", title: "At", number: true, cell: (it) => instant(it.from, Math.max(1, (it.to - it.from) / 100)) },
    { key: "took", title: "Took", number: true, cell: (it) => duration(it.to - it.from) },
    {
      key: "cause",
      title: "Ended by",
      wide: true,
      cell: (it) =>
        it.cause_pe === null ? (
          <span class="dim">–</span>
        ) : (
          <span>
            {pe(it.cause_pe)} <code>{it.cause ?? ""}</code>
          </span>
        ),
    },
  ];
  return (
    <>
      <h3>Instances</h3>
      <Table
        free
        first={10}
        caption={`The longest ${count(rows.length)} of ${count(data.instances_count)}; each is a link into the timeline`}
        rows={rows}
        columns={columns}
        id={(it) => it.index}
        sort="isort"
      />
    </>
  );
}
