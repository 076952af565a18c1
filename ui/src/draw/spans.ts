// The timeline from near: every visit, and its name where there is room. Tall rows show the call stack, a level a line;
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
  if (deepest > 1 && height >= 9) return { height: Math.min(24, height), shown: deepest };
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

/** For each wait the level of the innermost visit that it is in, so that it is drawn there. Made once for an answer. */
export function waitLevels(timeline: Timeline): number[] {
  const { spans, waits } = timeline;
  if (!spans) return [];
  const rows = new Map<number, number[]>();
  spans.row.forEach((row, at) => {
    const list = rows.get(row);
    if (list) list.push(at);
    else rows.set(row, [at]);
  });
  return waits.pe.map((_, wait) => {
    let level = 0;
    for (const at of rows.get(waits.row[wait] ?? -1) ?? []) {
      const holds =
        (spans.from[at] as number) <= (waits.from[wait] as number) && (waits.to[wait] as number) <= (spans.to[at] as number);
      if (holds && (spans.depth[at] as number) > level) level = spans.depth[at] as number;
    }
    return level;
  });
}

/** The boxes of all visits. Names are drawn later, over the hatching of waits. */
export function drawSpans(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  spans: Columns<Span>,
  names: string[],
  marked: number,
  palette: Palette,
): void {
  const lane = lanes(geometry, levels(spans));
  const room = geometry.rowHeight - gap(geometry);
  for (let row = 0; row < geometry.rows; row += 1) {
    context.fillStyle = palette.kind("idle");
    context.fillRect(geometry.left, y(geometry, row), geometry.width, room);
  }
  for (let at = 0; at < spans.from.length; at += 1) {
    const [left, top, width, height] = box(geometry, spans, at, lane);
    if (width <= 0) continue;
    context.fillStyle = palette.kind(names[spans.kind[at] as number] ?? "computation");
    // A visit that is too short for a pixel is still seen, and neighbours keep a hair of distance where there is room.
    context.fillRect(left, top, Math.max(0.6, width > 3 ? width - 0.7 : width), lane.shown > 1 ? height - 1 : height);
    if (spans.region[at] !== marked) continue;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, top + 0.75, Math.max(1, width - 2), height - 2);
  }
}

/** The names of visits that have room for one; in flat rows those of the innermost. */
export function drawSpanNames(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  timeline: Timeline,
  names: string[],
  palette: Palette,
): void {
  const spans = timeline.spans;
  if (!spans) return;
  const lane = lanes(geometry, levels(spans));
  context.font = `${lane.height >= 14 ? 12 : 10}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.lineWidth = 3;
  context.lineJoin = "round";
  for (let at = 0; at < spans.from.length; at += 1) {
    const [left, top, width, height] = box(geometry, spans, at, lane);
    if (width <= 34 || height < 10) continue;
    const kind = names[spans.kind[at] as number] ?? "computation";
    const name = timeline.regions[spans.region[at] as number] ?? "";
    context.save();
    context.beginPath();
    context.rect(left, top, width - 4, height);
    context.clip();
    // A rim in the colour of the box keeps the name readable where the box is hatched, or holds others.
    context.strokeStyle = palette.kind(kind);
    context.strokeText(name, left + 4, top + height / 2);
    context.fillStyle = palette.on(kind);
    context.fillText(name, left + 4, top + height / 2);
    context.restore();
  }
}
