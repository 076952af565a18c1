// Source: what the lines of files cost, beside their text where it may be shown; findings and their advice stand below their line.
import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { length, row, type SourceFiles, type SourceText } from "../api";
import { count, plural, seconds } from "../format";
import { has, recorded, useApi } from "../load";
import { Answer, What } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { File } from "../parts/words";
import { amend, link, numeric, route, run } from "../state";

type Lines = SourceText["lines"];
type Cost = { [Key in keyof Lines]: Lines[Key][number] };

/** So many lines are taken at once where a file is long. */
const PAGE = 2000;

const time = (value: number) => (value > 0 ? seconds(value) : "");
const COSTS: [keyof Cost & `${string}_s`, string, string][] = [
  ["waiting_s", "Waiting", "What the behaviour of other PEs cost the operations at the line"],
  ["caused_s", "Caused", "Seconds that what is done there makes other PEs lose, as findings say"],
  ["calls_s", "In calls", "From enter to exit of what the line calls, all PEs together"],
  ["own_s", "Own", "Exclusive time of the functions and marked parts that begin at the line"],
];

export function Source() {
  const { file } = route.value.params;
  const answer = useApi<SourceFiles>(`runs/${run.value}/sources`);
  return (
    <>
      <div class="head">
        <h1>Source</h1>
        <What>
          Lines as the archive knows them: those that call something, and those at which functions begin. Seconds are of all PEs
          together. Text is shown from folders that were named with --source, and from nowhere else.
        </What>
      </div>
      <Answer of={answer}>{(data) => (file === undefined ? <Files data={data} /> : <Text file={file} />)}</Answer>
    </>
  );
}

function Files({ data }: { data: SourceFiles }) {
  const rows = Array.from({ length: length(data.files) }, (_, at) => row<Cost>(data.files, at));
  if (rows.length === 0) return <p>The archive says of nothing in which file it is.</p>;
  const columns: Column<Cost>[] = [
    {
      key: "file",
      title: "File",
      wide: true,
      by: (it) => it.file,
      cell: (it) =>
        recorded && !has(path(it.file)) ? <code>{it.file}</code> : <a href={link("source", { file: it.file })}>{it.file}</a>,
    },
    ...COSTS.map(
      ([key, title, what]): Column<Cost> => ({
        key,
        title,
        what,
        number: true,
        by: (it) => it[key],
        cell: (it) => time(it[key]) || "–",
      }),
    ),
    { key: "lines", title: "Lines", number: true, by: (it) => it.line, cell: (it) => count(it.line) },
  ];
  return (
    <>
      {!data.shown && (
        <p class="dim">
          Their text is not shown: start <code>partune view</code> with <code>--source FOLDER</code> to see it beside the numbers.
        </p>
      )}
      <Table caption="Files, those with most waiting first" rows={rows} columns={columns} id={(it) => it.file} free />
      {data.omitted > 0 && <p class="dim">{plural(data.omitted, "more file")} cost less.</p>}
    </>
  );
}

const path = (file: string, from?: number) =>
  `runs/${run.value}/source?file=${encodeURIComponent(file)}${from === undefined ? "" : `&from=${from}`}`;

function Text({ file }: { file: string }) {
  const answer = useApi<SourceText>(path(file, recorded ? undefined : numeric(route.value.params, "first")));
  return (
    <>
      <p>
        <a href={link("source")}>All files</a>
      </p>
      <Answer of={answer}>{(data) => <Shown data={data} />}</Answer>
    </>
  );
}

function Shown({ data }: { data: SourceText }) {
  const costs = new Map(
    Array.from({ length: data.lines.line.length }, (_, at) => [data.lines.line[at], row<Cost>(data.lines, at)]),
  );
  const text = data.text ?? null;
  const chosen = numeric(route.value.params, "line");
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(`line-${chosen}`)?.scrollIntoView({ block: "center" });
  }, [chosen, data]);
  const numbers = text ? text.map((_, at) => data.from + at) : [...costs.keys()].map(Number);
  const last = data.from + (text?.length ?? 0) - 1;
  const worst = [...costs.values()]
    .map((it) => ({ line: it.line, most: Math.max(it.waiting_s, it.caused_s, it.own_s) }))
    .filter((it) => it.most > 0)
    .sort((a, b) => b.most - a.most)
    .slice(0, 12);
  const most = worst[0]?.most ?? 1;
  const go = (first: number) => amend({ first: Math.max(1, first), line: undefined });
  return (
    <>
      <h2>
        <code>{data.file}</code>
      </h2>
      {data.why && <p class="notice">{data.why}.</p>}
      {worst.length > 0 && (
        <nav aria-label="Lines that cost most" class="tools">
          Most at line
          {worst.map((it) => (
            <a key={it.line} href={link("source", { file: data.file, line: it.line, first: route.value.params.first })}>
              {it.line}
            </a>
          ))}
        </nav>
      )}
      {text && (data.from > 1 || last < data.count) && (
        <p class="tools">
          Lines {count(data.from)} to {count(last)} of {count(data.count)}
          {!recorded && (
            <span class="group">
              <button type="button" disabled={data.from <= 1} onClick={() => go(data.from - PAGE)}>
                Before
              </button>
              <button type="button" disabled={last >= data.count} onClick={() => go(last + 1)}>
                After
              </button>
            </span>
          )}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scroll source" tabIndex={0} aria-label="The file with what its lines cost">
        <table>
          <thead>
            <tr>
              {COSTS.map(([key, title, what]) => (
                <th key={key} scope="col" class="number" title={what}>
                  {title}
                </th>
              ))}
              <th scope="col" class="number">
                Line
              </th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {numbers.map((line) => {
              const it = costs.get(line);
              const share = it ? Math.max(it.waiting_s, it.caused_s, it.own_s) / most : 0;
              return (
                <Fragment key={line}>
                  <tr id={`line-${line}`} class={line === chosen ? "selected" : ""}>
                    {COSTS.map(([key]) => (
                      <td key={key} class={`number ${key}`}>
                        {it && time(it[key])}
                      </td>
                    ))}
                    <td class="number dim">{line}</td>
                    <td>
                      <code style={share > 0 ? { "--share": `${Math.round(share * 100)}%` } : undefined}>
                        {text?.[line - data.from] ?? ""}
                      </code>
                    </td>
                  </tr>
                  {data.findings
                    .filter((finding) => finding.line === line)
                    .map((finding) => (
                      <tr key={finding.id} class="note">
                        <td colSpan={COSTS.length + 1} />
                        <td>
                          <a href={link("findings", { finding: finding.id })}>{finding.title}</a>, {seconds(finding.seconds)}.{" "}
                          {finding.advice}
                        </td>
                      </tr>
                    ))}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </section>
      {data.omitted > 0 && <p class="dim">{plural(data.omitted, "more line")} of which something is known.</p>}
    </>
  );
}

/** A file and a line as a link to their text. */
export const SourceLink = ({ file, line }: { file: string; line: number }) =>
  !file || (recorded && !has(path(file))) ? (
    <File file={file} line={line} />
  ) : (
    <a href={link("source", { file, line: line || undefined })}>
      <File file={file} line={line} />
    </a>
  );
