// Where things are in the timeline: time to pixels, rows to pixels, and back.

export interface Geometry {
  /** Width of the names on the left, and height of the axis above. */
  left: number;
  top: number;
  width: number;
  height: number;
  from: number;
  to: number;
  rows: number;
  rowHeight: number;
}

export const LEFT = 72;
export const TOP = 26;

export const x = (it: Geometry, time: number): number => it.left + ((time - it.from) / (it.to - it.from)) * it.width;
export const timeAt = (it: Geometry, at: number): number => it.from + ((at - it.left) / it.width) * (it.to - it.from);
export const y = (it: Geometry, row: number): number => it.top + row * it.rowHeight;
export const middle = (it: Geometry, row: number): number => it.top + (row + 0.5) * it.rowHeight;

/** The row at a height, or null outside. */
export function rowAt(it: Geometry, at: number): number | null {
  const row = Math.floor((at - it.top) / it.rowHeight);
  return row < 0 || row >= it.rows ? null : row;
}

/** Space between two rows. */
export const gap = (it: Geometry): number => (it.rowHeight >= 12 ? 2 : it.rowHeight >= 6 ? 1 : 0);

/** The tallest row of piles, and of visits a level. */
const PILE = 180;
const LEVEL = 64;

/** How tall rows are: as tall as there is room, but not taller than what they show. */
export function rowHeight(rows: number, available: number, levels: number | null): number {
  const most = levels === null ? PILE : Math.max(PILE / 2, levels * LEVEL + 4);
  return Math.max(5, Math.min(most, Math.floor(available / Math.max(1, rows))));
}
