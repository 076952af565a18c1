// Lines of the timeline: messages, collectives, the critical path. Each joins what happened on one row to another.
import type { Collective, Columns, Message, Timeline } from "../api";
import type { Palette } from "../theme";
import { type Geometry, gap, middle, x, y } from "./geometry";

/** The ends of a message in pixels. An end on a PE that is not in the view lies above or below the rows. */
export function ends(geometry: Geometry, messages: Columns<Message>, at: number): [number, number, number, number] {
  const [from, to] = [messages.from_row[at], messages.to_row[at]];
  const below = geometry.top + geometry.rows * geometry.rowHeight + 6;
  const beyond = (own: number | null | undefined, ownPe: number, otherPe: number) =>
    own !== null && own !== undefined ? middle(geometry, own) : ownPe < otherPe ? geometry.top - 4 : below;
  const [fromPe, toPe] = [messages.from_pe[at] as number, messages.to_pe[at] as number];
  return [
    x(geometry, messages.sent[at] as number),
    beyond(from, fromPe, toPe),
    x(geometry, messages.received[at] as number),
    beyond(to, toPe, fromPe),
  ];
}

function arrow(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number, size: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - size * Math.cos(angle - 0.42), y1 - size * Math.sin(angle - 0.42));
  context.lineTo(x1 - size * Math.cos(angle + 0.42), y1 - size * Math.sin(angle + 0.42));
  context.closePath();
  context.fill();
}

export { arrow };

export function drawMessages(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  messages: Columns<Message>,
  chosen: number | undefined,
  palette: Palette,
): void {
  const many = messages.sent.length;
  context.strokeStyle = palette.message;
  context.fillStyle = palette.message;
  context.lineWidth = many > 400 ? 0.6 : 1.1;
  context.globalAlpha = many > 1000 ? 0.45 : many > 300 ? 0.7 : 0.95;
  for (let at = 0; at < many; at += 1) {
    if (at === chosen) continue;
    arrow(context, ...ends(geometry, messages, at), many > 400 ? 4 : 7);
  }
  context.globalAlpha = 1;
  if (chosen !== undefined && chosen < many) {
    const spot = ends(geometry, messages, chosen);
    context.lineWidth = 5;
    context.strokeStyle = palette.background;
    context.fillStyle = palette.background;
    arrow(context, ...spot, 12);
    context.lineWidth = 3;
    context.strokeStyle = palette.accent;
    context.fillStyle = palette.accent;
    arrow(context, ...spot, 10);
  }
}

/** A collective: through the enters of its members, and through their exits. */
export function drawCollectives(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  collectives: Collective[],
  palette: Palette,
): void {
  context.strokeStyle = palette.collective;
  context.lineWidth = collectives.length > 60 ? 0.7 : 1.3;
  context.globalAlpha = collectives.length > 60 ? 0.6 : 0.9;
  for (const { members } of collectives) {
    if (members.row.length < 2) continue;
    const order = members.row.map((_, at) => at).sort((a, b) => (members.row[a] as number) - (members.row[b] as number));
    for (const times of [members.enter, members.exit]) {
      context.setLineDash(times === members.enter ? [] : [2, 3]);
      context.beginPath();
      order.forEach((at, index) => {
        const [px, py] = [x(geometry, times[at] as number), middle(geometry, members.row[at] as number)];
        if (index === 0) context.moveTo(px, py);
        else context.lineTo(px, py);
      });
      context.stroke();
    }
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** So many pixels lie between two ways from PE to PE that are both drawn; more of them would hide everything. */
const APART = 5;

/** Rows that are lower show no names, so the critical path goes through their middle. */
const OUTLINED = 14;

/** Shorter pieces, in pixels, have edges above and below only: ends would fill them. */
const ENDED = 10;

/**
 * The critical path: what the run's length hangs on, as an outline around its pieces that leaves names free, and how it goes from PE to PE where
 * there is room to show it.
 */
export function drawCriticalPath(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  path: Timeline["critical_path"],
  palette: Palette,
): void {
  const high = geometry.rowHeight >= OUTLINED ? geometry.rowHeight - gap(geometry) - 2 : 0;
  const pieces: { row: number; from: number; to: number; follows: boolean }[] = [];
  let follows = false;
  for (let at = 0; at < path.pe.length; at += 1) {
    const row = path.row[at];
    const last = pieces[pieces.length - 1];
    if (row === null || row === undefined) {
      follows = false;
      continue;
    }
    const from = x(geometry, path.from[at] as number);
    const to = Math.max(from + 1, x(geometry, path.to[at] as number));
    if (follows && last?.row === row) last.to = to;
    else pieces.push({ row, from, to, follows });
    follows = true;
  }
  for (const [width, colour] of [
    [4, palette.background],
    [2, palette.critical],
  ] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.beginPath();
    let joined = Number.NEGATIVE_INFINITY;
    for (const [at, { row, from, to, follows: does }] of pieces.entries()) {
      const top = high > 0 ? y(geometry, row) + 1 : middle(geometry, row);
      const last = pieces[at - 1];
      if (does && last && from - joined >= APART) {
        const above = high > 0 ? y(geometry, last.row) + 1 : middle(geometry, last.row);
        context.moveTo(last.to, last.row < row ? above + high : above);
        context.lineTo(from, last.row < row ? top : top + high);
        joined = from;
      }
      if (high > 0 && to - from >= ENDED) context.rect(from, top, to - from, high);
      else
        for (const level of high > 0 ? [top, top + high] : [top]) {
          context.moveTo(from, level);
          context.lineTo(to, level);
        }
    }
    context.stroke();
  }
}
