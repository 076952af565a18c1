// Compare: two or more runs, region by region. What grew, what shrank, and whether that is more than the runs spread by themselves.
import type { Change, ComparedFinding, ComparedPlace, Comparison } from "../api-runs";
import { bytes, count, difference, percent, ratio, seconds, title } from "../format";
import { useApi } from "../load";
import { Choice, chosenRuns, runName } from "../parts/choice";
import { Answer, Omitted, What } from "../parts/states";
import { Bar, type Column, Scroll, Table } from "../parts/table";
import { at } from "../parts/words";
import { amend, link, route } from "../state";

export function Compare() {
  const chosen = chosenRuns();
  const answer = useApi<Comparison>(chosen.length > 1 ? `compare?runs=${chosen.join(",")}` : null);
  return (
    <>
      <div class="head">
        <h1>Compare runs</h1>
        <What>
          Places are matched by name and call path. A difference that is smaller than what visits and PEs of one run differ among
          themselves is said to be too small to tell.
        </What>
      </div>
      <Choice base />
      {chosen.length > 1 ? (
        <Answer of={answer}>{(data) => <Shown data={data} runs={chosen} />}</Answer>
      ) : (
        <p>Choose at least two runs.</p>
      )}
    </>
  );
}

const verdict = (it: Change | undefined): string =>
  it ? it.verdict.replaceAll("_", " ").replace("too small to tell", "within noise") : "";

/** The base of all seconds of places and findings. */
const base = (data: Comparison): string =>
  data.per_pe ? "mean over PEs, because the runs have different numbers of PEs" : "summed over PEs";

/** A difference against the base: its sign in words and colour, and the ratio. */
function Difference({ change }: { change: Change | undefined }) {
  if (!change) return <span class="dim">–</span>;
  const told =
    change.verdict === "grown" || change.verdict === "shrunk" || change.verdict === "added" || change.verdict === "gone";
  const tone = !told ? "dim" : change.difference_s > 0 ? "more" : "less";
  return (
    <span class={tone} title={verdict(change)}>
      {difference(change.difference_s, seconds)} {change.ratio !== null && <span class="small">({ratio(change.ratio)})</span>}
    </span>
  );
}

function Shown({ data, runs }: { data: Comparison; runs: number[] }) {
  const names = data.runs.map((_, index) => String.fromCharCode(65 + index));
  return (
    <>
      {data.notes.map((it) => (
        <p class="notice" key={it}>
          {it}
        </p>
      ))}
      <div class="columns">
        <Times data={data} names={names} runs={runs} />
        <Efficiencies data={data} names={names} />
      </div>
      <Findings data={data} names={names} runs={runs} />
      <Places data={data} names={names} />
      <Omitted of={data.omitted} />
    </>
  );
}

function Times({ data, names, runs }: { data: Comparison; names: string[]; runs: number[] }) {
  const most = Math.max(...data.runs.map((it) => it.duration_s), 0);
  return (
    <section class="card" aria-labelledby="times">
      <h2 id="times">Run time</h2>
      <Scroll label="Run time of each run" free>
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col" class="number">
                PEs
              </th>
              <th scope="col" class="number">
                Time
              </th>
              <th scope="col" class="number" title="Without start-up and shut-down">
                Inner part
              </th>
              <th scope="col" class="number">
                Speed-up
              </th>
              <th scope="col">Against A</th>
            </tr>
          </thead>
          <tbody>
            {data.runs.map((it, index) => (
              <tr key={it.archive + String(index)}>
                <th scope="row">
                  <strong>{names[index]}</strong>{" "}
                  <a href={link("summary", { run: runs[index] })}>{runName(runs[index], it.archive)}</a>
                </th>
                <td class="number">{count(it.pes)}</td>
                <td class="number">
                  <Bar share={it.duration_s / (most || 1)}>{seconds(it.duration_s)}</Bar>
                </td>
                <td class="number">{seconds(it.measured_s)}</td>
                <td class="number">{ratio(it.speed_up)}</td>
                <td>
                  {index === 0 ? (
                    <span class="dim">base</span>
                  ) : (
                    <>
                      <Difference change={it.change} />{" "}
                      <a
                        href={link("flame", { run: runs[index], base: runs[0] })}
                        title="What took longer, and what less, in boxes"
                      >
                        as flame graph
                      </a>
                    </>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Efficiencies({ data, names }: { data: Comparison; names: string[] }) {
  const factors = data.figures.filter((it) => it.section === "efficiency" && !it.name.endsWith("seconds"));
  const rows = [...factors, ...data.figures.filter((it) => it.section === "bounds")];
  if (rows.length === 0) return null;
  return (
    <section class="card" aria-labelledby="figures">
      <h2 id="figures">Efficiency and bounds</h2>
      <Scroll label="Efficiency and bounds of each run" free>
        <table>
          <thead>
            <tr>
              <th scope="col">Figure</th>
              {names.map((it, index) => (
                <th scope="col" class="number" key={`${it}${index}`}>
                  {it}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((it) => (
              <tr key={it.section + it.name}>
                <th scope="row">{it.section === "bounds" ? it.name.replaceAll("_", " ") : title(it.name)}</th>
                {it.values.map((value, index) => (
                  <td class="number" key={`${it.name}${names[index]}`}>
                    {it.section === "efficiency" ? percent(value) : seconds(value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

/** Columns of a run each, and of the difference of each to the first. */
function runColumns<Row extends { changes: Change[] }>(
  names: string[],
  value: (row: Row, run: number) => number | null,
): Column<Row>[] {
  return [
    ...names.map(
      (name, index): Column<Row> => ({
        key: `run${index}`,
        title: name,
        number: true,
        by: (it) => value(it, index),
        cell: (it) => seconds(value(it, index)),
      }),
    ),
    ...names.slice(1).map(
      (name, index): Column<Row> => ({
        key: `change${index}`,
        title: `${name} − ${names[0]}`,
        number: true,
        what: `${name} against ${names[0]}`,
        by: (it) => Math.abs(it.changes[index]?.difference_s ?? 0),
        cell: (it) => <Difference change={it.changes[index]} />,
      }),
    ),
  ];
}

function Findings({ data, names, runs }: { data: Comparison; names: string[]; runs: number[] }) {
  if (data.findings.length === 0) return null;
  const columns: Column<ComparedFinding>[] = [
    { key: "pattern", title: "Finding", by: (it) => it.pattern, cell: (it) => title(it.pattern) },
    {
      key: "place",
      title: "Place",
      wide: true,
      cell: (it) => <code title={it.callpath.join(" › ")}>{it.place}</code>,
    },
    ...runColumns<ComparedFinding>(names, (it, run) => it.runs[run]?.compared_s ?? null),
    { key: "what", title: "What became of it", cell: (it) => it.changes.map(verdict).join(", ") },
    {
      key: "go",
      title: "Show",
      cell: (it) => {
        const here = it.runs.findIndex((sums) => sums !== null);
        return (
          <a
            href={link("findings", { run: runs[here], pattern: it.pattern })}
            aria-label={`findings of run ${names[here]}: ${title(it.pattern)} in ${it.place}`}
          >
            findings
          </a>
        );
      },
    },
  ];
  const keyed = data.findings.map((it, index) => ({ ...it, index }));
  return (
    <section aria-labelledby="changed">
      <h2 id="changed">Findings: new, gone, changed</h2>
      <Table
        caption={`Seconds, ${base(data)}`}
        rows={keyed}
        columns={columns as Column<(typeof keyed)[number]>[]}
        id={(it) => it.index}
        sort="fsort"
        first={20}
      />
    </section>
  );
}

function Places({ data, names }: { data: Comparison; names: string[] }) {
  const { places = data.by_region ? "regions" : "callpaths", text = "" } = route.value.params;
  const all = places === "regions" ? data.regions : data.callpaths;
  const wanted = text.toLowerCase();
  const most = Math.max(...all.flatMap((it) => it.changes.map((change) => Math.abs(change.difference_s))), 0);
  const rows = all
    .map((it, index) => ({ ...it, index }))
    .filter((it) => wanted === "" || it.callpath.join(" ").toLowerCase().includes(wanted));
  type Row = ComparedPlace & { index: number };
  const columns: Column<Row>[] = [
    {
      key: "place",
      title: places === "regions" ? "Region" : "Call path",
      wide: true,
      by: (it) => it.construct,
      cell: (it) => {
        const place = it.runs.find((sums) => sums !== null)?.location;
        return (
          <>
            <code>{it.construct}</code>{" "}
            {place && place.file !== "" && (
              <span class="dim small">{at(place.file.slice(place.file.lastIndexOf("/") + 1), place.line)}</span>
            )}
            {places !== "regions" && it.callpath.length > 1 && (
              <div class="dim small">{it.callpath.slice(0, -1).join(" › ")}</div>
            )}
          </>
        );
      },
    },
    ...runColumns<Row>(names, (it, run) => it.runs[run]?.compared_s ?? null),
    {
      key: "share",
      title: "How much",
      cell: (it) => {
        const change = it.changes.reduce((a, b) => (Math.abs(b.difference_s) > Math.abs(a.difference_s) ? b : a));
        return (
          <>
            <Bar share={Math.abs(change.difference_s) / (most || 1)} colour={change.difference_s > 0 ? "var(--d6)" : "var(--d0)"}>
              <span class="small">{verdict(change)}</span>
            </Bar>
            {it.most_on.map(
              (on, run) =>
                on && (
                  <div class="dim small" key={names[run + 1]}>
                    most on PE {on.pe}
                    {names.length > 2 && ` in ${names[run + 1]}`}: {difference(on.difference_s, seconds)}
                    {on.ratio !== null && ` (${ratio(on.ratio)})`}
                  </div>
                ),
            )}
          </>
        );
      },
    },
    { key: "visits", title: "Visits", number: true, cell: (it) => it.runs.map((sums) => count(sums?.visits)).join(" / ") },
    {
      key: "bytes",
      title: "Bytes",
      number: true,
      cell: (it) => it.runs.map((sums) => (sums?.bytes ? bytes(sums.bytes) : "–")).join(" / "),
    },
  ];
  return (
    <section aria-labelledby="places">
      <h2 id="places">Region by region</h2>
      <div class="tools">
        <div class="group" role="group" aria-label="Places">
          {(["callpaths", "regions"] as const).map((it) => (
            <button type="button" key={it} aria-pressed={places === it} onClick={() => amend({ places: it })}>
              {it === "regions" ? "By region" : "By call path"}
            </button>
          ))}
        </div>
        <input
          type="search"
          aria-label="Search places"
          placeholder="Search places ( / )"
          value={text}
          onInput={(event) => amend({ text: event.currentTarget.value }, { replace: true })}
        />
      </div>
      <Table
        caption={`Exclusive time, ${base(data)}; largest difference first. Visits and bytes are summed over PEs`}
        rows={rows}
        columns={columns}
        id={(it) => it.index}
      />
    </section>
  );
}
