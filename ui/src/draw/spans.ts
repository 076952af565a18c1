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

/** A level is at least so tall, and at most. */
const LOW = 11;
const TALL = 64;

/** Height of a level, and how many have a lane of their own: what is deeper lies in the last one, innermost uppermost. */
export function lanes(geometry: Geometry, deepest: number): { height: number; shown: number } {
  const room = geometry.rowHeight - gap(geometry);
  const shown = Math.max(1, Math.min(deepest, Math.floor(room / LOW)));
  return shown > 1 ? { height: Math.min(TALL, Math.floor(room / shown)), shown } : { height: room, shown };
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
  const level = Math.min(spans.depth[at] as number, lane.shown - 1);
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

/** The colour of each visit, and that of its name. */
export interface SpanLook {
  colour(at: number): string;
  ink(at: number): string;
}

/** By kind of time, of which `names` has all, or by function. */
export function spanLook(timeline: Timeline, names: string[], by: "kind" | "function", palette: Palette): SpanLook {
  const { spans, regions } = timeline;
  if (by === "kind") {
    const kind = (at: number) => names[spans?.kind[at] ?? 0] ?? "computation";
    return { colour: (at) => palette.kind(kind(at)), ink: (at) => palette.on(kind(at)) };
  }
  const colours = regions.map((name) => palette.named(name));
  const inks = colours.map(palette.onColour);
  return {
    colour: (at) => colours[spans?.region[at] ?? -1] ?? palette.line,
    ink: (at) => inks[spans?.region[at] ?? -1] ?? palette.ink,
  };
}

/** The boxes of all visits. Names are drawn later, over the hatching of waits. */
export function drawSpans(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  spans: Columns<Span>,
  look: SpanLook,
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
    context.fillStyle = look.colour(at);
    // A visit that is too short for a pixel is still seen, and neighbours keep a hair of distance where there is room.
    context.fillRect(left, top, Math.max(0.6, width > 3 ? width - 0.7 : width), lane.shown > 1 ? height - 1 : height);
    if (spans.region[at] !== marked) continue;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.75, top + 0.75, Math.max(1, width - 2), height - 2);
  }
}

/** A name has at least so much room, in pixels. */
const NAME = 34;

/** Where the name of a visit can stand: in the first piece of its box that is wide enough and in which no other of its lane lies. */
function free(
  geometry: Geometry,
  spans: Columns<Span>,
  at: number,
  lane: { height: number; shown: number },
): [number, number] | null {
  const [left, , width] = box(geometry, spans, at, lane);
  const right = left + width;
  const depth = spans.depth[at] as number;
  if (depth < lane.shown - 1) return width > NAME ? [left, right] : null;
  let from = left;
  // What lies in it follows it.
  for (let next = at + 1; next < spans.from.length && right - from > NAME; next += 1) {
    if (spans.row[next] !== spans.row[at] || (spans.depth[next] as number) <= depth) break;
    if ((spans.depth[next] as number) !== depth + 1) continue;
    const [start, , wide] = box(geometry, spans, next, lane);
    if (start - from > NAME) return [from, start];
    from = Math.max(from, start + wide);
  }
  return right - from > NAME ? [from, right] : null;
}

/** The names of visits that have room for one. */
export function drawSpanNames(context: CanvasRenderingContext2D, geometry: Geometry, timeline: Timeline, look: SpanLook): void {
  const spans = timeline.spans;
  if (!spans) return;
  const lane = lanes(geometry, levels(spans));
  if (lane.height < 10) return;
  context.font = `${lane.height >= 14 ? 12 : 10}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.lineWidth = 3;
  context.lineJoin = "round";
  for (let at = 0; at < spans.from.length; at += 1) {
    const place = free(geometry, spans, at, lane);
    if (!place) continue;
    const [, top, , height] = box(geometry, spans, at, lane);
    const [left, right] = place;
    const name = timeline.regions[spans.region[at] as number] ?? "";
    context.save();
    context.beginPath();
    context.rect(left, top, right - left - 4, height);
    context.clip();
    // A rim in the colour of the box keeps the name readable where the box is hatched.
    context.strokeStyle = look.colour(at);
    context.strokeText(name, left + 4, top + height / 2);
    context.fillStyle = look.ink(at);
    context.fillText(name, left + 4, top + height / 2);
    context.restore();
  }
}
