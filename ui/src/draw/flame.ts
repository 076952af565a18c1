// A flame graph: boxes from the top, a level a row, as wide as their time; the red foot is what of it was waited. Pure.
import type { Flame } from "../api";
import type { Palette } from "../theme";

/** A box with its place: x from 0 to 1 of the width, depth from 0. */
export interface Piece {
  at: number;
  parent: number | null;
  x0: number;
  x1: number;
  depth: number;
  /** It leads to the box that is opened. */
  leads: boolean;
}

export interface Layout {
  pieces: Piece[];
  /** Of each box of the answer its piece, if it has one. */
  of: Map<number, Piece>;
  depth: number;
  /** The box that is opened. */
  top: number | null;
}

/** The boxes of the answer on the way of these functions: as far as it holds them. */
export function wayTo(flame: Flame, under: number[]): number[] {
  const { boxes, functions } = flame;
  const way: number[] = [];
  for (const region of under) {
    const parent = way.length > 0 ? way[way.length - 1] : null;
    const at = boxes.parent.findIndex((of, index) => of === parent && functions.region[boxes.function[index] ?? -1] === region);
    if (at < 0) break;
    way.push(at);
  }
  return way;
}

/** The functions that lead to a box, and the box itself; null where it is no function. */
export function wayOf(flame: Flame, at: number): number[] | null {
  const way: number[] = [];
  for (let box: number | null | undefined = at; box !== null && box !== undefined; box = flame.boxes.parent[box]) {
    const region: number | null | undefined = flame.functions.region[flame.boxes.function[box] ?? -1];
    if (region === null || region === undefined) return null;
    way.unshift(region);
  }
  return way;
}

/** Lays out what stands on the last box of a way, and the way above it in the whole width. */
export function layout(flame: Flame, way: number[]): Layout {
  const { boxes } = flame;
  const children = new Map<number | null, number[]>();
  boxes.parent.forEach((parent, at) => {
    const list = children.get(parent);
    if (list) list.push(at);
    else children.set(parent, [at]);
  });
  const top = way[way.length - 1] ?? null;
  const pieces: Piece[] = way.map((at, depth) => ({ at, parent: boxes.parent[at] ?? null, x0: 0, x1: 1, depth, leads: true }));
  const whole = (top === null ? flame.all_s : boxes.seconds[top]) || 1;
  const open: { box: number | null; x0: number; depth: number }[] = [{ box: top, x0: 0, depth: way.length }];
  for (let next = open.pop(); next; next = open.pop()) {
    let x = next.x0;
    for (const at of children.get(next.box) ?? []) {
      const wide = (boxes.seconds[at] ?? 0) / whole;
      pieces.push({ at, parent: next.box, x0: x, x1: x + wide, depth: next.depth, leads: false });
      open.push({ box: at, x0: x, depth: next.depth + 1 });
      x += wide;
    }
  }
  const depth = pieces.reduce((most, it) => Math.max(most, it.depth + 1), 0);
  return { pieces, of: new Map(pieces.map((it) => [it.at, it])), depth, top };
}

/** What a box is called. */
export function nameOf(flame: Flame, at: number): string {
  const of = flame.boxes.function[at];
  if (of !== null && of !== undefined) return flame.functions.name[of] ?? "";
  const count = flame.boxes.count[at] ?? 0;
  return count === 1 ? "1 function" : `${count} functions`;
}

/** A level is at least so high, and at most; together they take no more than so much, if they can. */
const [LOW, TALL, ROOM] = [22, 34, 480];

export const levelHeight = ({ depth }: Layout): number => Math.max(LOW, Math.min(TALL, Math.floor(ROOM / Math.max(1, depth))));

/** A name has at least so much room, in pixels. */
const NAME = 24;

export interface Look {
  /** The colour of a box, and that of text on it. */
  colour(at: number): string;
  ink(at: number): string;
  /** Boxes that are not found are pale. */
  found(at: number): boolean;
  cursor: number | undefined;
}

export function drawFlame(
  context: CanvasRenderingContext2D,
  width: number,
  flame: Flame,
  laid: Layout,
  look: Look,
  palette: Palette,
): void {
  const { boxes } = flame;
  const high = levelHeight(laid);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  let chosen: [number, number, number] | null = null;
  for (const piece of laid.pieces) {
    const { at } = piece;
    const left = piece.x0 * width;
    const wide = piece.x1 * width - left;
    if (wide < 0.4) continue;
    const top = piece.depth * high;
    const isRest = boxes.function[at] === null;
    context.globalAlpha = look.found(at) ? 1 : 0.3;
    context.fillStyle = isRest ? palette.line : look.colour(at);
    // Neighbours keep a hair of distance where there is room.
    const broad = wide > 3 ? wide - 1 : Math.max(0.5, wide - 0.2);
    context.fillRect(left, top, broad, high - 1);
    const waiting = boxes.waiting_s[at] ?? 0;
    const seconds = boxes.seconds[at] ?? 0;
    if (waiting > 0 && seconds > 0) {
      context.fillStyle = palette.wait;
      context.fillRect(left, top + high - 4, Math.max(0.5, Math.min(1, waiting / seconds) * broad), 3);
    }
    if (wide > NAME) {
      context.fillStyle = isRest ? palette.ink : look.ink(at);
      context.save();
      context.beginPath();
      context.rect(left, top, wide - 3, high);
      context.clip();
      context.fillText(nameOf(flame, at), left + 4, top + high / 2 - 1);
      context.restore();
    }
    context.globalAlpha = 1;
    if (look.cursor === at) chosen = [left, top, broad];
  }
  if (!chosen) return;
  const [left, top, broad] = chosen;
  context.lineWidth = 2;
  context.strokeStyle = palette.ink;
  context.strokeRect(left + 1, top + 1, Math.max(1, broad - 2), high - 3);
}

/** The piece at a point, or undefined. */
export function pieceAt(laid: Layout, width: number, x: number, y: number): Piece | undefined {
  const depth = Math.floor(y / levelHeight(laid));
  return laid.pieces.find((it) => it.depth === depth && it.x0 * width <= x && x < it.x1 * width);
}
