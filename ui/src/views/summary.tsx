// Summary: what kind of loss, how much, where it is worst, in plain words; efficiencies; from the ideal run to the actual one.
import type { Summary as Data, FindingRow } from "../api";
import { bytes, count, percent, plural, seconds } from "../format";
import { useApi } from "../load";
import { Answer, Quality, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { Waterfall } from "../parts/waterfall";
import { link, run } from "../state";

export function Summary() {
  const answer = useApi<Data>(`runs/${run.value}/summary`);
  return <Answer of={answer}>{(data) => <Shown data={data} />}</Answer>;
}

function Shown({ data }: { data: Data }) {
  // The sentences of findings stand with them, in the list of the worst places.
  const named = new Set(data.findings.map((it) => it.words));
  const [lead, ...others] = data.sentences.filter((it) => !named.has(it));
  const inThreads = data.thread_bounds.at(-1)?.seconds ?? 0;
  const losses = data.quality.filter((it) => it.severity !== "info");
  return (
    <>
      <div class="head">
        <h1>{data.name}</h1>
        <p class="dim">
          {[data.paradigms.join(", "), data.producer].filter(Boolean).join(" · ")} · <code>{data.path}</code>
        </p>
      </div>
      {data.ending.length > 0 && (
        <ul class="card" aria-label="How the run ended">
          {data.ending.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {losses.length > 0 && <Quality diagnostics={losses} />}
      <dl class="facts">
        <Fact name="Run time" value={seconds(data.duration_s)} more={data.piece ?? "from the first event to the last"} />
        <Fact name="PEs" value={count(data.pes)} more={`in ${plural(data.processes, "process", "processes")}`} />
        {data.device_streams > 0 && (
          <Fact name="GPU streams" value={count(data.device_streams)} more={`on ${plural(data.devices, "device", "devices")}`} />
        )}
        {!data.profile_only && <Fact name="Event records" value={count(data.events)} />}
        {data.waiting !== null && (
          <Fact
            name="Waiting for others"
            value={percent(data.waiting)}
            more={`of the PEs' time between start-up and shut-down (${seconds(data.waiting_s)})`}
          />
        )}
        <Fact name="Findings" value={count(data.findings_count)} />
      </dl>
      <p class="summary-lead">
        <strong>{lead}</strong> {others.join(" ")}
      </p>
      <div class="columns">
        <section class="card" aria-labelledby="worst">
          <h2 id="worst">The worst places</h2>
          <Worst findings={data.findings} all={data.findings_count} timeline={!data.profile_only} />
        </section>
        <div>
          {data.operations.length > 0 && <Operations rows={data.operations} rest={data.operations_rest} />}
          {data.bounds.length > 0 && (
            <section class="card" aria-labelledby="bounds">
              <h2 id="bounds">From the ideal run to the actual one</h2>
              <Waterfall
                bounds={data.bounds}
                gaps={data.gaps}
                duration={data.bounds.at(-1)?.seconds ?? data.duration_s}
                last="Actual"
              />
              <p class="dim small">
                If the work of all PEs were spread evenly and nobody ever waited, the run would take{" "}
                {seconds(data.bounds[0]?.seconds)}. Each gap adds what one kind of loss costs, and all together are the{" "}
                {seconds(data.bounds.at(-1)?.seconds ?? data.duration_s)} that it took between start-up and shut-down.
              </p>
              {data.thread_bounds.length > 0 && (
                <div class="in-threads">
                  <h3>In threads</h3>
                  <Waterfall
                    bounds={data.thread_bounds}
                    gaps={data.thread_gaps.filter((it) => Math.abs(it.seconds) >= 0.0005 * inThreads)}
                    duration={inThreads}
                    last="Process"
                  />
                  <p class="dim small">
                    What processes do in threads is work above. Of a process on average, this is how it comes about.
                  </p>
                </div>
              )}
              <Meanings
                gaps={[...data.gaps, ...data.thread_gaps.filter((it) => !data.gaps.some((known) => known.name === it.name))]}
              />
            </section>
          )}
          {data.efficiency.length > 0 && (
            <section class="card" aria-labelledby="efficiency">
              <h2 id="efficiency">Efficiency</h2>
              <Factors rows={data.efficiency} doubtful={!data.clocks_aligned} />
              <What label="how do these multiply?">
                100 % is no loss. Parallel efficiency is load balance × communication, and communication is serialization ×
                transfer.{" "}
                {data.efficiency.some((it) => it.name === "orchestration") &&
                  "Of devices it is load balance × communication × orchestration: what copying, and having nothing to do, cost them. "}
                The smallest factor says which kind of loss to look at first.
              </What>
            </section>
          )}
        </div>
      </div>
    </>
  );
}

function Meanings({ gaps }: { gaps: Data["gaps"] }) {
  return (
    <details class="gaps">
      <summary>What each gap is</summary>
      <dl class="pairs">
        {gaps.map((it) => (
          <>
            <dt>
              {it.label} {it.name}
            </dt>
            <dd>{it.meaning}</dd>
          </>
        ))}
      </dl>
    </details>
  );
}

type Operation = Data["operations"][number];

/** What operations took of the run; with the last row, which is all others, all that was spent in operations. */
function Operations({ rows, rest }: { rows: Operation[]; rest: Operation | null }) {
  const all = rest ? [...rows, rest] : rows;
  const columns: Column<Operation>[] = [
    {
      key: "construct",
      title: "Operation",
      cell: (it) => (it === rest ? plural(it.constructs, "other", "others") : <code>{it.construct}</code>),
    },
    { key: "count", title: "Calls", number: true, cell: (it) => count(it.count) },
    {
      key: "seconds",
      title: "Time",
      number: true,
      what: "Seconds within the run, summed over PEs",
      cell: (it) => seconds(it.seconds),
    },
    { key: "waiting", title: "Waiting", number: true, cell: (it) => (it.waiting_s === null ? "–" : seconds(it.waiting_s)) },
    { key: "bytes", title: "Bytes", number: true, cell: (it) => (it.bytes > 0 ? bytes(it.bytes) : "–") },
    { key: "fraction", title: "Of run", number: true, what: "Share of run time × PEs", cell: (it) => percent(it.fraction) },
  ];
  return (
    <section class="card" aria-labelledby="operations">
      <h2 id="operations">What operations took</h2>
      <Table
        free
        caption="Operations, longest first"
        rows={all}
        columns={columns}
        id={(it) => (it === rest ? "" : it.construct)}
        sort="osort"
      />
    </section>
  );
}

function Fact({ name, value, more }: { name: string; value: string; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {more && <small>{more}</small>}
      </dd>
    </div>
  );
}

function Worst({ findings, all, timeline }: { findings: FindingRow[]; all: number; timeline: boolean }) {
  if (findings.length === 0) return <p>Nothing was found that loses time worth naming.</p>;
  return (
    <>
      <ol class="worst">
        {findings.map((it) => (
          <li key={it.id}>
            <div>
              <p>
                <strong>{it.title}</strong> <span class="dim">in</span> <code>{it.place}</code>
              </p>
              <p class="small">{it.words}</p>
              <p class="go">
                <a href={link("findings", { finding: it.id })} aria-label={`Details of ${it.title} in ${it.place}`}>
                  Details
                </a>
                {timeline && (
                  <a
                    href={link("timeline", { finding: it.id, instance: 0 })}
                    aria-label={`In the timeline: ${it.title} in ${it.place}`}
                  >
                    In the timeline
                  </a>
                )}
              </p>
            </div>
            <div class="number">
              <strong>{seconds(it.seconds)}</strong>
              <br />
              <span class="dim">{percent(it.fraction)}</span>
              {it.outside_s > 0 && (
                <>
                  <br />
                  <span class="dim small">and {seconds(it.outside_s)} outside of the run</span>
                </>
              )}
            </div>
          </li>
        ))}
      </ol>
      {all > findings.length && (
        <p>
          <a href={link("findings")}>All {count(all)} findings</a>
        </p>
      )}
    </>
  );
}

/** Factors need times of several PEs: a mark says where those cannot be compared. */
function Factors({ rows, doubtful }: { rows: Data["efficiency"]; doubtful: boolean }) {
  const levels = [...new Set(rows.map((it) => it.level))];
  const names = [...new Set(rows.map((it) => it.name))];
  const find = (name: string, level: string) => rows.find((it) => it.name === name && it.level === level);
  const depth = (name: string) => (name === "parallel" ? 0 : name === "serialization" || name === "transfer" ? 2 : 1);
  return (
    <table class="factors">
      <thead>
        <tr>
          <th scope="col">Factor</th>
          {levels.map((it) => (
            <th scope="col" key={it}>
              {it}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name) => {
          const any = rows.find((it) => it.name === name);
          return (
            <tr key={name}>
              <th scope="row" title={any?.meaning} style={{ paddingLeft: `${0.6 + depth(name) * 1.2}rem` }}>
                {any?.label}
                <br />
                <span class="dim small">{any?.meaning}</span>
              </th>
              {levels.map((level) => {
                const value = find(name, level)?.value;
                return (
                  <td key={level} class="number">
                    {value !== undefined && (
                      <Bar share={value} colour={value < 0.8 ? "var(--k-synchronisation)" : "var(--k-computation)"}>
                        {percent(value)}
                        {doubtful && <span title="Doubtful: the clocks of PEs were never aligned."> ?</span>}
                      </Bar>
                    )}
                  </td>
                );
              })}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
