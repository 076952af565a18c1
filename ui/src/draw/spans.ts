// The timeline from near: every visit, with its name where there is room. Tall rows show the call stack, a level a line;
// flat rows show the innermost visit, because those are painted last.
import type { Columns, Span, Timeline } from "../api";
import type { Palette } from "../theme";
import { type Geometry, gap, x, y } from "./geometry";

/** Levels of the deepest stack. */
export function levels(spans: Columns<Span>): number {
  let most = 0;
  for (const depth of spans.depth) if (depth > most) most = depth;
  return most + 1;
}

/** Height of a level, and how many of them are shown. */
export function lanes(geometry: Geometry, deepest: number): { height: number; shown: number } {
  const room = geometry.rowHeight - gap(geometry);
  const height = Math.floor(room / deepest);
  if (height >= 9) return { height: Math.min(20, height), shown: deepest };
  return { height: room, shown: 1 };
}

/** The box of a span: left, top, width, height in pixels. */
export function box(
  geometry: Geometry,
  spans: Columns<Span>,
  at: number,
  lane: { height: number; shown: number },
): [number, number, number, number] {
  const left = Math.max(geometry.left, x(geometry, spans.from[at] as number));
  const right = Math.min(geometry.left + geometry.width, x(geometry, spans.to[at] as number));
  const level = lane.shown > 1 ? (spans.depth[at] as number) : 0;
  return [left, y(geometry, spans.row[at] as number) + level * lane.height, right - left, lane.height];
}

export function drawSpans(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  timeline: Timeline,
  names: string[],
  marked: number | undefined,
  palette: Palette,
): void {
  const spans = timeline.spans;
  if (!spans) return;
  const lane = lanes(geometry, levels(spans));
  const room = geometry.rowHeight - gap(geometry);
  for (let row = 0; row < geometry.rows; row += 1) {
    context.fillStyle = palette.kind("idle");
    context.fillRect(geometry.left, y(geometry, row), geometry.width, room);
  }
  context.font = `${lane.height >= 14 ? 12 : 10}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let at = 0; at < spans.from.length; at += 1) {
    const [left, top, width, height] = box(geometry, spans, at, lane);
    if (width <= 0) continue;
    const kind = names[spans.kind[at] as number] ?? "computation";
    context.fillStyle = palette.kind(kind);
    // A visit that is too short for a pixel is still seen, and neighbours keep a hair of distance where there is room.
    context.fillRect(left, top, Math.max(0.6, width > 3 ? width - 0.7 : width), lane.shown > 1 ? height - 1 : height);
    const name = timeline.regions[spans.region[at] as number] ?? "";
    if (width > 34 && height >= 10) {
      context.save();
      context.beginPath();
      context.rect(left, top, width - 4, height);
      context.clip();
      context.fillStyle = palette.on(kind);
      context.fillText(name, left + 4, top + height / 2);
      context.restore();
    }
    if (marked !== undefined && (spans.region[at] as number) === marked) {
      context.strokeStyle = palette.ink;
      context.lineWidth = 1.5;
      context.strokeRect(left + 0.75, top + 0.75, Math.max(1, width - 2), height - 2);
    }
  }
}
