// History: what the revisions of a program took, figure by figure and finding by finding, with marks where one changed beyond noise.
import { scaleLinear } from "d3-scale";
import type { ComponentChildren } from "preact";
import type { History as Data } from "../api";
import { bytes, count, moment, percent, plural, seconds } from "../format";
import { useApi } from "../load";
import { Answer, What } from "../parts/states";
import { Scroll } from "../parts/table";

type Figure = Data["figures"][number];
type Value = NonNullable<Figure["values"][number]>;
type Changed = NonNullable<Value["changed"]>;

const SIGNS: Record<Changed, string> = { more: "▲", less: "▼", new: "new", gone: "gone" };
const WORDS: Record<Changed, string> = {
  more: "more than before, beyond noise",
  less: "less than before, beyond noise",
  new: "new since the revision before",
  gone: "gone since the revision before",
};

export function History() {
  const answer = useApi<Data>("history");
  return (
    <>
      <div class="head">
        <h1>History</h1>
        <What>
          Revisions from left to right. A figure is the median of the runs of a revision, and the line through it is where the
          median of all that could have been measured lies. The run time is without start-up and shut-down, as far as a run has
          them; the report on a revision has that from the first event to the last as well. A mark says that it differs from the
          revision before by more than these runs differ among themselves: that takes three runs of each; of single runs only the
          run time and findings are judged, by their own spread.
        </What>
      </div>
      <Answer of={answer}>{(data) => <Shown data={data} />}</Answer>
    </>
  );
}

function Shown({ data }: { data: Data }) {
  const { figures, findings, revisions } = data;
  const drawn = figures.filter((it) => it.section === "run" || it.unit === "share");
  const marks = figures.flatMap((it) => it.values.flatMap((value) => value?.changed ?? [])).length;
  return (
    <>
      <p class="summary-lead">
        {plural(revisions.length, "revision")}, {plural(marks, "change")} of a figure beyond noise.
      </p>
      <div class="columns">
        {drawn.map((it) => (
          <section class="card" key={it.name} aria-label={it.label}>
            <h2>{it.label}</h2>
            <Chart figure={it} revisions={revisions} />
          </section>
        ))}
      </div>
      <Over caption="Figures" revisions={revisions}>
        {figures.map((it) => (
          <tr key={`${it.section}.${it.name}`}>
            <th scope="row">{it.label}</th>
            {it.values.map((value, at) => (
              <td key={at} class="number" title={value ? `${show(it, value.low)} to ${show(it, value.high)}` : undefined}>
                {value ? show(it, value.value) : "–"} <Mark of={value?.changed ?? null} />
              </td>
            ))}
          </tr>
        ))}
      </Over>
      <Over caption="Findings, those that lose most in a revision first: seconds on all PEs" revisions={revisions}>
        {findings.map((it, index) => (
          <tr key={index}>
            <th scope="row">
              {it.title} <code>{it.place}</code>
            </th>
            {it.seconds.map((value, at) => (
              <td key={at} class="number">
                {seconds(value)} <Mark of={it.changed[at] ?? null} />
              </td>
            ))}
          </tr>
        ))}
      </Over>
      {data.omitted > 0 && <p class="dim">{plural(data.omitted, "more finding")} lost less.</p>}
    </>
  );
}

const SHOWS: Record<Figure["unit"], (value: number) => string> = { seconds, bytes, count, share: percent };
const show = (of: Figure, value: number) => SHOWS[of.unit](value);

const Mark = ({ of }: { of: Changed | null }) =>
  of && (
    <span class={`mark-${of}`} title={WORDS[of]}>
      <span aria-hidden="true">{SIGNS[of]}</span>
      <span class="hidden">{WORDS[of]}</span>
    </span>
  );

/** A table with a column for each revision, which leads to its report. */
function Over(props: { caption: string; revisions: Data["revisions"]; children: ComponentChildren }) {
  return (
    <Scroll label={props.caption} free>
      <table>
        <caption>{props.caption}</caption>
        <thead>
          <tr>
            <td />
            {props.revisions.map((it) => (
              <th key={it.report} scope="col" class="number" title={it.began_ms === null ? undefined : moment(it.began_ms)}>
                <a href={it.report}>{it.name}</a>
                <br />
                <span class="dim small">
                  {plural(it.runs, "run")}, {plural(it.pes, "PE")}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </Scroll>
  );
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [420, 170, 62, 22];

function Chart({ figure, revisions }: { figure: Figure; revisions: Data["revisions"] }) {
  const known = figure.values.filter((it) => it !== null);
  const high =
    figure.unit === "share" ? Math.max(1, ...known.map((it) => it.high)) : Math.max(...known.map((it) => it.high)) * 1.05;
  const x = scaleLinear([0, Math.max(1, revisions.length - 1)], [LEFT + 12, WIDTH - 16]);
  const y = scaleLinear([0, high || 1], [HEIGHT - BOTTOM, 12]);
  const every = Math.ceil(revisions.length / 6);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      class="history"
      role="img"
      aria-label={`${figure.label} over revisions; the table has the numbers`}
    >
      {y.ticks(4).map((it) => (
        <g key={it}>
          <line x1={LEFT} x2={WIDTH - 8} y1={y(it)} y2={y(it)} stroke="var(--line)" />
          <text x={LEFT - 6} y={y(it) + 4} text-anchor="end" class="dim">
            {show(figure, it)}
          </text>
        </g>
      ))}
      <polyline
        points={figure.values.flatMap((it, at) => (it ? [`${x(at)},${y(it.value)}`] : [])).join(" ")}
        fill="none"
        stroke="var(--accent)"
        stroke-width="1.5"
      />
      {figure.values.map(
        (it, at) =>
          it && (
            <g key={at}>
              <line x1={x(at)} x2={x(at)} y1={y(it.low)} y2={y(it.high)} stroke="var(--accent)" stroke-width="3" opacity="0.4" />
              <circle cx={x(at)} cy={y(it.value)} r={it.changed ? 5 : 3} fill={it.changed ? "var(--bad)" : "var(--accent)"}>
                <title>
                  {revisions[at]?.name}: {show(figure, it.value)}
                  {it.changed ? `, ${WORDS[it.changed]}` : ""}
                </title>
              </circle>
              {at % every === 0 && (
                <text x={x(at)} y={HEIGHT - 6} text-anchor={at > 0 && at === revisions.length - 1 ? "end" : "middle"} class="dim">
                  {revisions[at]?.name.slice(0, 10)}
                </text>
              )}
            </g>
          ),
      )}
    </svg>
  );
}
