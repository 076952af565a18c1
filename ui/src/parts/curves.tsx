// A small chart of lines over the number of PEs, both axes by powers of two or linear. SVG; the table beside it has the numbers.
import { scaleLinear, scaleLog } from "d3-scale";

export interface Curve {
  name: string;
  colour: string;
  dashed?: boolean;
  values: (number | null)[];
}

interface Props {
  pes: number[];
  curves: Curve[];
  /** Show of a value, for the axis and for tool tips. */
  show: (value: number) => string;
  label: string;
  log: boolean;
  most?: number;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [540, 270, 58, 30];

export function Curves({ pes, curves, show, label, log, most }: Props) {
  const values = curves.flatMap((it) => it.values).filter((it): it is number => it !== null && it > 0);
  const high = Math.max(most ?? 0, ...values);
  const low = Math.min(...values);
  const x = scaleLog([Math.min(...pes), Math.max(...pes)], [LEFT + 12, WIDTH - 16]).base(2);
  const y = log
    ? scaleLog([low * 0.9, high * 1.1], [HEIGHT - BOTTOM, 10]).base(2)
    : scaleLinear([0, high * 1.02], [HEIGHT - BOTTOM, 10]);
  const marks = log ? y.ticks(5).filter((it) => Number.isInteger(Math.log2(it))) : y.ticks(5);
  const line = (it: Curve) =>
    it.values
      .map((value, index) => (value === null || value <= 0 ? null : `${x(pes[index] as number)},${y(value)}`))
      .filter(Boolean)
      .join(" ");
  return (
    <figure class="curves">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} role="img" aria-label={label}>
        {marks.map((mark) => (
          <g key={mark}>
            <line x1={LEFT} x2={WIDTH - 8} y1={y(mark)} y2={y(mark)} stroke="var(--line)" />
            <text x={LEFT - 6} y={y(mark) + 4} text-anchor="end" class="dim">
              {show(mark)}
            </text>
          </g>
        ))}
        {pes.map((it) => (
          <text key={it} x={x(it)} y={HEIGHT - 10} text-anchor="middle" class="dim">
            {it}
          </text>
        ))}
        <text x={LEFT - 6} y={HEIGHT - 10} text-anchor="end" class="dim">
          PEs
        </text>
        {curves.map((it) => (
          <g key={it.name}>
            <polyline
              points={line(it)}
              fill="none"
              stroke={it.colour}
              stroke-width="2"
              stroke-dasharray={it.dashed ? "5 4" : undefined}
            />
            {!it.dashed &&
              it.values.map(
                (value, index) =>
                  value !== null &&
                  value > 0 && (
                    <circle key={pes[index]} cx={x(pes[index] as number)} cy={y(value)} r="4" fill={it.colour}>
                      <title>
                        {it.name} on {pes[index]} PEs: {show(value)}
                      </title>
                    </circle>
                  ),
              )}
          </g>
        ))}
      </svg>
      <figcaption>
        <ul class="legend">
          {curves.map((it) => (
            <li key={it.name}>
              <svg width="18" height="8" aria-hidden="true">
                <line
                  x1="0"
                  x2="18"
                  y1="4"
                  y2="4"
                  stroke={it.colour}
                  stroke-width="2"
                  stroke-dasharray={it.dashed ? "5 4" : undefined}
                />
              </svg>{" "}
              {it.name}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
