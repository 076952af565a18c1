// The bounds as a waterfall: from the time of the ideal run, gap by gap, to the actual one. SVG; the words stand beside the bars.
import { scaleLinear } from "d3-scale";
import type { Summary } from "../api";
import { percent, seconds } from "../format";

interface Props {
  bounds: Summary["bounds"];
  gaps: Summary["gaps"];
  duration: number;
  /** What all gaps together lead to. */
  last: string;
}

const ROW = 30;
const NAMES = 190;
const WIDTH = 620;
/** Room for the longest value, "26.4 µs · < 0.01 %", in wide letters too. */
const VALUES = 160;

/** How a gap is coloured: by the kind of time that it is closest to. */
const COLOURS: Record<string, string> = {
  "C'": "messages",
  L: "wait",
  O: "management",
  "M'": "wait",
  D: "wait",
  W: "wait",
  "S'": "synchronisation",
  X: "management",
};

export function Waterfall({ bounds, gaps, duration, last }: Props) {
  const first = bounds[0]?.seconds ?? 0;
  const x = scaleLinear([0, Math.max(duration, first) || 1], [NAMES, WIDTH - VALUES]);
  let at = first;
  const bars = gaps.map((it) => {
    const from = at;
    at += it.seconds;
    return { ...it, from, to: at };
  });
  const height = (bars.length + 2) * ROW;
  return (
    <svg
      class="waterfall"
      viewBox={`0 0 ${WIDTH} ${height}`}
      width={WIDTH}
      role="img"
      aria-label={said(first, gaps, duration, last)}
    >
      <Step y={0} name="Ideal" what="even, nobody waits" from={x(0)} to={x(first)} value={seconds(first)} colour="computation" />
      {bars.map((it, index) => (
        <g key={it.name}>
          <line
            x1={x(it.from)}
            x2={x(it.from)}
            y1={index * ROW + 22}
            y2={(index + 1) * ROW + 8}
            stroke="var(--dim)"
            stroke-dasharray="2 2"
          />
          <Step
            y={(index + 1) * ROW}
            name={`+ ${it.label}`}
            what={it.name}
            title={it.meaning}
            from={x(Math.min(it.from, it.to))}
            to={x(Math.max(it.from, it.to))}
            value={`${seconds(it.seconds)} · ${percent(duration > 0 ? it.seconds / duration : 0)}`}
            colour={COLOURS[it.name] ?? "messages"}
          />
        </g>
      ))}
      <Step
        y={(bars.length + 1) * ROW}
        name={last}
        what=""
        from={x(0)}
        to={x(duration)}
        value={seconds(duration)}
        colour="measurement"
      />
    </svg>
  );
}

interface StepProps {
  y: number;
  name: string;
  what: string;
  title?: string;
  from: number;
  to: number;
  value: string;
  colour: string;
}

function Step({ y, name, what, title, from, to, value, colour }: StepProps) {
  return (
    <g transform={`translate(0 ${y})`}>
      {title && <title>{title}</title>}
      <text class="name" x="0" y="19">
        {name}
        {what && (
          <tspan class="dim" font-weight="400">
            {" "}
            {what}
          </tspan>
        )}
      </text>
      <rect x={from} y="7" width={Math.max(1.5, to - from)} height="16" rx="2" fill={`var(--k-${colour})`} />
      <text x={to + 6} y="19">
        {value}
      </text>
    </g>
  );
}

function said(first: number, gaps: Summary["gaps"], duration: number, last: string): string {
  const parts = gaps.map((it) => `${it.label} adds ${seconds(it.seconds)}`);
  return `Ideal: ${seconds(first)}; ${parts.join("; ")}. ${last}: ${seconds(duration)}.`;
}
