// What is under the pointer: a message, a wait, a visit, or only a row and a time.
import type { Timeline } from "../api";
import { type Geometry, rowAt, timeAt } from "../draw/geometry";
import { ends } from "../draw/lines";
import { lanes, levels, box as spanBox } from "../draw/spans";
import { waitBox } from "../draw/waits";

export interface Hit {
  row: number | null;
  time: number;
  message?: number;
  /** The longest wait there, and how many there are. */
  wait?: number;
  waits: number;
  span?: number;
  collective?: number;
}

/** So near to a line, in pixels, is on it. */
const NEAR = 5;

function distance(px: number, py: number, [x0, y0, x1, y1]: [number, number, number, number]): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const square = dx * dx + dy * dy;
  const share = square === 0 ? 0 : Math.max(0, Math.min(1, ((px - x0) * dx + (py - y0) * dy) / square));
  return Math.hypot(px - x0 - share * dx, py - y0 - share * dy);
}

export function hit(
  timeline: Timeline,
  geometry: Geometry,
  px: number,
  py: number,
  layers: { messages: boolean; waits: boolean },
): Hit {
  const found: Hit = { row: rowAt(geometry, py), time: Math.round(timeAt(geometry, px)), waits: 0 };
  if (layers.messages && timeline.messages) {
    let nearest = NEAR;
    for (let at = 0; at < timeline.messages.sent.length; at += 1) {
      const away = distance(px, py, ends(geometry, timeline.messages, at));
      if (away < nearest) {
        nearest = away;
        found.message = at;
      }
    }
  }
  if (layers.waits && found.row !== null) {
    for (let at = 0; at < timeline.waits.pe.length; at += 1) {
      if (timeline.waits.row[at] !== found.row) continue;
      const box = waitBox(geometry, timeline.waits, at);
      if (!box || px < box[0] - 1 || px > box[0] + Math.max(3, box[2])) continue;
      // They are in order of length.
      found.wait ??= at;
      found.waits += 1;
    }
  }
  if (timeline.spans) {
    const lane = lanes(geometry, levels(timeline.spans));
    for (let at = 0; at < timeline.spans.from.length; at += 1) {
      if (timeline.spans.row[at] !== found.row) continue;
      const [left, top, width, height] = spanBox(geometry, timeline.spans, at, lane);
      if (width > 0 && px >= left && px < left + Math.max(1, width) && py >= top && py < top + height) found.span = at;
    }
  }
  return found;
}
