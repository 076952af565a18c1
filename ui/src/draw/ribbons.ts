// Between two timelines: a ribbon for each stage, from where it is in the one above to where it is in the one below. Pure.
import { difference, duration } from "../format";
import type { Palette } from "../theme";
import { type Geometry, x } from "./geometry";

/** Stages in columns, with their times in the run above and the one below. */
export interface Stages {
  from: number[];
  to: number[];
  base_from: number[];
  base_to: number[];
}

/** How much longer a stage takes above: from -1 (all of it is below) to 1. */
export function longer(stages: Stages, at: number): number {
  const [above, below] = lengths(stages, at);
  return above === below ? 0 : (above - below) / Math.max(above, below);
}

/** How long a stage takes above, and below. */
export function lengths(stages: Stages, at: number): [number, number] {
  const of = (from: number[], to: number[]) => (to[at] ?? 0) - (from[at] ?? 0);
  return [of(stages.from, stages.to), of(stages.base_from, stages.base_to)];
}

/** The corners of a ribbon: left and right above, right and left below. */
function corners(above: Geometry, below: Geometry, stages: Stages, at: number): [number, number, number, number] {
  return [
    x(above, stages.from[at] ?? 0),
    x(above, stages.to[at] ?? 0),
    x(below, stages.base_to[at] ?? 0),
    x(below, stages.base_from[at] ?? 0),
  ];
}

/** The stage at a place, or null. */
export function ribbonAt(
  above: Geometry,
  below: Geometry,
  stages: Stages,
  height: number,
  px: number,
  py: number,
): number | null {
  const down = py / height;
  const found = stages.from.findIndex((_, at) => {
    const [left, right, belowRight, belowLeft] = corners(above, below, stages, at);
    return left + (belowLeft - left) * down <= px && px <= right + (belowRight - right) * down;
  });
  return found < 0 ? null : found;
}

export function drawRibbons(
  context: CanvasRenderingContext2D,
  above: Geometry,
  below: Geometry,
  stages: Stages,
  height: number,
  palette: Palette,
): void {
  context.save();
  context.beginPath();
  context.rect(above.left, 0, above.width, height);
  context.clip();
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let at = 0; at < stages.from.length; at += 1) {
    const [left, right, belowRight, belowLeft] = corners(above, below, stages, at);
    if (Math.max(right, belowRight) < above.left || Math.min(left, belowLeft) > above.left + above.width) continue;
    context.beginPath();
    context.moveTo(left, 0);
    context.lineTo(right, 0);
    context.lineTo(belowRight, height);
    context.lineTo(belowLeft, height);
    context.closePath();
    const colour = palette.diverging((longer(stages, at) + 1) / 2);
    context.fillStyle = colour;
    context.fill();
    // Ribbons that are too narrow for an edge are seen by their colour.
    if (right - left > 4 || belowRight - belowLeft > 4) {
      context.strokeStyle = palette.background;
      context.lineWidth = 1;
      context.stroke();
    }
    const [long, other] = lengths(stages, at);
    const text = difference(long - other, duration);
    const [first, last] = [
      Math.max(above.left, (left + belowLeft) / 2),
      Math.min(above.left + above.width, (right + belowRight) / 2),
    ];
    if (last - first < context.measureText(text).width + 8) continue;
    context.fillStyle = palette.onColour(colour);
    context.fillText(text, (first + last) / 2, height / 2);
  }
  context.restore();
}
