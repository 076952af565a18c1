// What is selected of the timeline: a piece of time, and PEs. It is in the address: `sel=FROM.TO.PES`, with PES as the server takes them: `0-3,8`.
import { computed, signal } from "@preact/signals";
import type { Timeline } from "../api";
import { type Geometry, timeAt, x } from "../draw/geometry";
import { hostOf } from "../pes";
import { amend, route } from "../state";
import { peCount, rowPes, type View, view, whole } from "./view";

export interface Selection extends View {
  /** Ranges of PEs, first and last. */
  pes: [number, number][];
}

/** A corner of a selection: a time and a row. */
export interface Corner {
  time: number;
  row: number;
}

/** So near, in pixels, to where something begins or ends, an edge goes there. */
const NEAR = 7;

export function parse(text: string): Selection | null {
  const [from, to, list = ""] = text.split(".");
  const ranges = list.split(",").map((it) => it.split("-").map(Number));
  const known = ranges.filter((it) => it.length > 0 && it.length < 3 && it.every((pe) => Number.isInteger(pe) && pe >= 0));
  const [begin, end] = [Number(from), Number(to)];
  if (!(end > begin) || known.length !== ranges.length) return null;
  const pes = known.map((it): [number, number] => [it[0] as number, (it[1] ?? it[0]) as number]);
  return { from: Math.max(0, begin), to: Math.min(whole.value, end), pes };
}

export const selection = computed<Selection | null>(() => parse(route.value.params.sel ?? ""));

/** Ranges as the server takes them. */
export const ranges = (of: [number, number][]): string =>
  of.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");

/** Selects a piece of time on some PEs; null selects nothing. */
export function select(next: Selection | null): void {
  const round = (time: number) => Math.max(0, Math.min(whole.value, Math.round(time)));
  const is = next && next.pes.length > 0 && round(next.to) > round(next.from);
  amend({ sel: is ? `${round(next.from)}.${round(next.to)}.${ranges(next.pes)}` : undefined });
}

/** The PEs of rows, from one to another. */
export function pesOf(timeline: Timeline, one: number, other: number): [number, number][] {
  const [top, bottom] = [Math.min(one, other), Math.max(one, other)];
  const found: [number, number][] = [];
  for (let row = top; row <= bottom; row += 1) {
    for (const [first, last] of members(timeline, row)) {
      const before = found[found.length - 1];
      if (before && before[1] + 1 === first) before[1] = last;
      else found.push([first, last]);
    }
  }
  return found;
}

/** The PEs of a row. They follow each other, but where some are filtered out, and on a host on which they need not. */
function members(timeline: Timeline, row: number): [number, number][] {
  const [first, count] = [timeline.rows.first[row], timeline.rows.count[row] ?? 0];
  if (first === null || first === undefined) return [];
  const list = rowPes.value;
  const plain: [number, number][] = [[first, first + count - 1]];
  if (count === 1) return plain;
  if (route.value.params.group === "host") {
    const host = hostOf(first);
    const own = (list ?? Array.from({ length: peCount.value }, (_, pe) => pe)).filter((pe) => hostOf(pe) === host);
    return own.length === count ? own.map((pe) => [pe, pe]) : plain;
  }
  if (!list) return plain;
  const at = list.indexOf(first);
  return list.slice(at, at + count).map((pe) => [pe, pe]);
}

/** What is in view, with all PEs that have a row. */
export function selectView(timeline: Timeline): void {
  select({ ...view.value, pes: pesOf(timeline, 0, timeline.rows.label.length - 1) });
}

/** The rows that are selected. */
export function rowsOf(timeline: Timeline, of: Selection): number[] {
  const is = (row: number) =>
    members(timeline, row).some(([low, high]) => of.pes.some(([from, to]) => from <= high && low <= to));
  return timeline.rows.first.map((_, row) => row).filter(is);
}

/** How many PEs they are. */
export const size = (of: Selection): number => of.pes.reduce((sum, [first, last]) => sum + last - first + 1, 0);

/** The corner that `b` marked, from which `e` selects. */
export const mark = signal<Corner | null>(null);

/** From one corner to another; in the whole height where there is no row. */
export function between(timeline: Timeline, one: Corner, other: Corner): Selection {
  const [from, to] = [Math.min(one.time, other.time), Math.max(one.time, other.time)];
  return { from, to, pes: pesOf(timeline, one.row, other.row) };
}

/** Where something that is drawn on a row (on any, if there is none) begins or ends near a place; else the time there. */
export function snap(timeline: Timeline, geometry: Geometry, row: number | null, px: number): { time: number; snapped: boolean } {
  const free = Math.round(timeAt(geometry, px));
  let [best, away] = [free, NEAR + 0.01];
  const look = (time: number | null | undefined) => {
    if (time === null || time === undefined) return;
    const far = Math.abs(x(geometry, time) - px);
    if (far < away) [best, away] = [time, far];
  };
  const on = (at: number | null | undefined) => row === null || at === row;
  const { spans, waits, messages, collectives } = timeline;
  for (let at = 0; at < waits.row.length; at += 1) {
    if (!on(waits.row[at])) continue;
    look(waits.from[at]);
    look(waits.to[at]);
  }
  for (let at = 0; spans && at < spans.row.length; at += 1) {
    if (!on(spans.row[at])) continue;
    look(spans.from[at]);
    look(spans.to[at]);
  }
  for (let at = 0; messages && at < messages.sent.length; at += 1) {
    if (on(messages.from_row[at])) look(messages.sent[at]);
    if (on(messages.to_row[at])) look(messages.received[at]);
  }
  for (const { members } of collectives)
    for (let at = 0; at < members.row.length; at += 1) {
      if (!on(members.row[at])) continue;
      look(members.enter[at]);
      look(members.exit[at]);
    }
  look(geometry.from);
  look(geometry.to);
  return { time: best, snapped: away <= NEAR };
}
