// The axis of time: round steps in the unit that fits. Deep in a long run the axis counts from a base that is written at its left.
import { ticks } from "d3-array";
import { instant, timeUnit } from "../format";
import type { Palette } from "../theme";
import { type Geometry, x } from "./geometry";

/** Times of the marks, their distance, and from where they are counted. */
export function marks(from: number, to: number, width: number): { times: number[]; step: number; base: number } {
  const times = ticks(from, to, Math.max(2, Math.floor(width / 110)));
  const step = times.length > 1 ? (times[1] as number) - (times[0] as number) : to - from;
  // More than five digits before the step would not be read: then the axis is relative.
  const base = to > 0 && step > 0 && to / step > 1e5 ? (times[0] ?? from) : 0;
  return { times, step, base };
}

export function markLabel(time: number, step: number, base: number): string {
  const { unit, ns } = timeUnit(Math.max(step, Math.abs(time - base) / 1e4));
  const digits = Math.max(0, Math.min(3, Math.ceil(Math.log10(ns / Math.max(step, 1)))));
  const value = ((time - base) / ns).toFixed(digits);
  return `${base > 0 ? "+" : ""}${value} ${unit}`;
}

export function drawAxis(context: CanvasRenderingContext2D, geometry: Geometry, bottom: number, palette: Palette): void {
  const { times, step, base } = marks(geometry.from, geometry.to, geometry.width);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.fillStyle = palette.dim;
  context.textAlign = "left";
  for (const time of times) {
    const at = Math.round(x(geometry, time)) + 0.5;
    context.beginPath();
    context.moveTo(at, geometry.top - 6);
    context.lineTo(at, bottom);
    context.stroke();
    if (at < geometry.left + geometry.width - 30) context.fillText(markLabel(time, step, base), at + 3, 9);
  }
  if (base > 0) {
    context.textAlign = "right";
    context.fillText(instant(base, step), geometry.left - 6, 9, geometry.left - 8);
  }
}
