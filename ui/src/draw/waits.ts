// Waits in the timeline: hatched, with an arrow from where a wait ended to the operation of the PE that ended it.
import type { Columns, Wait } from "../api";
import type { Palette } from "../theme";
import { type Geometry, gap, middle, x, y } from "./geometry";
import { hatch } from "./hatch";
import { arrow } from "./lines";

/** So many waits in view have arrows at once; of more, only the one that is chosen. */
const ARROWS = 60;

/** What tells where in a row a wait is drawn: the lanes of call levels, and the level of each wait. */
export interface Levels {
  lane: { height: number; shown: number };
  level: number[];
}

/** Which wait is chosen, those of which finding stand out, and where in a row they are drawn. */
export interface Shown {
  chosen: number | undefined;
  finding: number | null;
  levels: Levels | undefined;
}

/** The box of a wait: the level of its operation, or the whole row where rows are flat. */
export function waitBox(
  geometry: Geometry,
  waits: Columns<Wait>,
  at: number,
  levels?: Levels,
): [number, number, number, number] | null {
  const row = waits.row[at];
  if (row === null || row === undefined) return null;
  const left = Math.max(geometry.left, x(geometry, waits.from[at] as number));
  const right = Math.min(geometry.left + geometry.width, x(geometry, waits.to[at] as number));
  if (levels && levels.lane.shown > 1)
    return [
      left,
      y(geometry, row) + Math.min(levels.level[at] ?? 0, levels.lane.shown - 1) * levels.lane.height,
      right - left,
      levels.lane.height - 1,
    ];
  return [left, y(geometry, row), right - left, geometry.rowHeight - gap(geometry)];
}

export function drawWaits(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  waits: Columns<Wait>,
  options: Shown,
  palette: Palette,
): void {
  const shade = hatch(context, palette.wait);
  const many = waits.pe.length;
  for (let at = 0; at < many; at += 1) {
    const place = waitBox(geometry, waits, at, options.levels);
    if (!place || place[2] <= 0) continue;
    const [left, top, width, height] = place;
    const own = options.finding === null || waits.finding[at] === options.finding;
    context.globalAlpha = own ? 1 : 0.45;
    const exact = options.levels !== undefined;
    // From afar the piles have their red foot already, so only what is wide is hatched as well.
    if (exact || width > 6) {
      context.fillStyle = shade;
      context.fillRect(left, top + (exact ? 0 : height * 0.4), width, exact ? height : height * 0.6);
    }
    if (exact) {
      const foot = Math.max(2, Math.min(5, height * 0.2));
      context.fillStyle = palette.wait;
      context.fillRect(left, top + height - foot, Math.max(1, width), foot);
    }
    context.globalAlpha = 1;
  }
  if (options.chosen !== undefined) {
    const place = waitBox(geometry, waits, options.chosen, options.levels);
    if (place) {
      context.lineWidth = 2;
      context.strokeStyle = palette.wait;
      context.strokeRect(place[0] - 1, place[1], Math.max(3, place[2]) + 2, place[3]);
    }
  }
}

/** The arrows from waits to what ended them; over everything else. */
export function drawCauses(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  waits: Columns<Wait>,
  options: Shown,
  palette: Palette,
): void {
  const many = waits.pe.length;
  for (let at = 0; at < many; at += 1) {
    if (at !== options.chosen && (many > ARROWS || !options.levels)) continue;
    if (at !== options.chosen) drawCause(context, geometry, waits, at, false, palette);
  }
  if (options.chosen !== undefined) drawCause(context, geometry, waits, options.chosen, true, palette);
}

function drawCause(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  waits: Columns<Wait>,
  at: number,
  chosen: boolean,
  palette: Palette,
): void {
  const [row, causeRow, causeFrom, causeTo] = [waits.row[at], waits.cause_row[at], waits.cause_from[at], waits.cause_to[at]];
  if (row === null || row === undefined || causeRow === null || causeRow === undefined || causeRow === row) return;
  if (causeFrom === null || causeFrom === undefined) return;
  const end = x(geometry, waits.to[at] as number);
  const [left, right] = [x(geometry, causeFrom), x(geometry, causeTo ?? causeFrom)];
  // The head is where the causing operation begins, or where the wait ended if that lies within it.
  const head = Math.min(Math.max(left, Math.min(end, right)), geometry.left + geometry.width + 20);
  if (chosen) {
    context.lineWidth = 2;
    context.strokeStyle = palette.ink;
    context.strokeRect(
      Math.max(left, geometry.left),
      y(geometry, causeRow),
      Math.max(3, right - Math.max(left, geometry.left)),
      geometry.rowHeight - gap(geometry),
    );
  }
  const start = middle(geometry, row) + geometry.rowHeight * 0.25;
  const finish = middle(geometry, causeRow) + (causeRow > row ? -1 : 1) * geometry.rowHeight * 0.15;
  for (const [width, colour] of chosen
    ? ([
        [5, palette.background],
        [2.5, palette.wait],
      ] as const)
    : ([[1, palette.wait]] as const)) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    arrow(context, end, start, head, finish, chosen ? 11 : 6);
  }
}
