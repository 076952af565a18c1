// Environment: what recorded the run, where it ran, its clock, groups and metrics, and what was noticed about the archive.
import { type Environment as Data, length, row } from "../api";
import { count, moment } from "../format";
import { useApi } from "../load";
import { Answer, Omitted, Quality } from "../parts/states";
import { Table } from "../parts/table";
import { run } from "../state";

export function Environment() {
  const answer = useApi<Data>(`runs/${run.value}/environment`);
  return (
    <>
      <h1>Environment</h1>
      <Answer of={answer}>{(data) => <Shown data={data} />}</Answer>
    </>
  );
}

/** Where the archive comes from, as far as its recorder tells. */
function origin(data: Data) {
  const known = (name: string, value: string | null) => (value ? [{ name, value }] : []);
  return [
    ...known("Command", data.command),
    ...known("Recorded", data.began_ms === null ? null : moment(data.began_ms)),
    ...known("Recorded by", data.producer),
    ...data.libraries.flatMap((it) => known("Libraries", it)),
    ...data.compilers.flatMap((it) => known("Compiled by", it)),
  ];
}

function Facts({ rows }: { rows: { name: string; value: string }[] }) {
  return (
    <dl class="pairs">
      {rows.map((it) => (
        <>
          <dt>{it.name}</dt>
          <dd>{it.value}</dd>
        </>
      ))}
    </dl>
  );
}

const all = <Row extends object>(columns: { [Key in keyof Row]: Row[Key][] }) =>
  Array.from({ length: length(columns) }, (_, index) => ({ ...row<Row>(columns, index), index }));

function Shown({ data }: { data: Data }) {
  return (
    <div class="columns">
      <section class="card" aria-labelledby="archive">
        <h2 id="archive">Archive</h2>
        <Facts rows={[...origin(data), ...data.facts]} />
      </section>
      <section class="card" aria-labelledby="machine">
        <h2 id="machine">Machine</h2>
        {data.machine ? (
          <pre class="code">{data.machine}</pre>
        ) : (
          <p class="dim">
            No description of the machine was given. One is made by partune machine measure and given by --machine FILE; then
            operations are compared with what the machine needs for them.
          </p>
        )}
      </section>
      <section class="card" aria-labelledby="quality">
        <h2 id="quality">Quality of the archive</h2>
        {data.quality.length === 0 ? (
          <p>Nothing was noticed: every event could be read, matched and ordered.</p>
        ) : (
          <Quality diagnostics={data.quality} />
        )}
      </section>
      <section class="card" aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        <Table
          caption="Processes and where they ran"
          rows={all(data.processes)}
          sort="psort"
          id={(it) => it.index}
          columns={[
            { key: "name", title: "Process", by: (it) => it.name, cell: (it) => it.name },
            { key: "host", title: "Host", by: (it) => it.host, cell: (it) => it.host ?? <span class="dim">unknown</span> },
            { key: "pes", title: "PEs", number: true, by: (it) => it.pes, cell: (it) => count(it.pes) },
          ]}
        />
      </section>
      {length(data.groups) > 0 && (
        <section class="card" aria-labelledby="groups">
          <h2 id="groups">Groups</h2>
          <Table
            caption="Communicators, teams and their sizes"
            rows={all(data.groups)}
            sort="gsort"
            id={(it) => it.index}
            columns={[
              {
                key: "name",
                title: "Group",
                by: (it) => it.name,
                wide: true,
                cell: (it) => it.name || <span class="dim">unnamed</span>,
              },
              { key: "paradigm", title: "Model", by: (it) => it.paradigm, cell: (it) => it.paradigm },
              { key: "members", title: "PEs", number: true, by: (it) => it.members, cell: (it) => count(it.members) },
            ]}
          />
        </section>
      )}
      {length(data.metrics) > 0 && (
        <section class="card" aria-labelledby="metrics">
          <h2 id="metrics">Metrics</h2>
          <Table
            caption="Values that were recorded beside the events"
            rows={all(data.metrics)}
            sort="msort"
            id={(it) => it.index}
            columns={[
              { key: "name", title: "Metric", by: (it) => it.name, wide: true, cell: (it) => it.name },
              { key: "unit", title: "Unit", cell: (it) => it.unit },
            ]}
          />
        </section>
      )}
      <Omitted of={data.omitted} />
    </div>
  );
}
