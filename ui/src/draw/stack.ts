// A bar a PE: its seconds by kind of time, one after the other; below each the part that was waited. Pure.
import type { Palette } from "../theme";
import { hatch } from "./hatch";

export interface Stack {
  labels: string[];
  /** Seconds of each kind (first index) of each row. */
  seconds: number[][];
  kinds: string[];
  /** The whole width, in seconds. */
  most: number;
  cursor: number | undefined;
}

export const LEFT = 64;

export function rowHeight(rows: number): number {
  return rows <= 12 ? 26 : rows <= 40 ? 16 : rows <= 80 ? 9 : 5;
}

export function drawStack(context: CanvasRenderingContext2D, width: number, stack: Stack, palette: Palette): void {
  const high = rowHeight(stack.labels.length);
  const scale = (width - LEFT - 4) / (stack.most || 1);
  const gap = high > 8 ? 3 : high > 5 ? 1 : 0;
  const shade = hatch(context, palette.wait);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  const wait = stack.kinds.indexOf("wait");
  const every = Math.ceil(13 / high);
  stack.labels.forEach((label, row) => {
    const top = row * high;
    let x = LEFT;
    let afterComputation = LEFT;
    stack.kinds.forEach((kind, index) => {
      if (kind === "wait") return;
      const wide = (stack.seconds[index]?.[row] ?? 0) * scale;
      context.fillStyle = palette.kind(kind);
      context.fillRect(x, top, wide, high - gap);
      x += wide;
      if (kind === "computation") afterComputation = x;
    });
    const waited = wait < 0 ? 0 : (stack.seconds[wait]?.[row] ?? 0) * scale;
    if (waited > 0) {
      // Low bars have no room for hatching.
      const foot = high > 8 ? 0.25 : 0.5;
      if (high > 8) {
        context.fillStyle = shade;
        context.fillRect(afterComputation, top, waited, high - gap);
      }
      context.fillStyle = palette.wait;
      context.fillRect(afterComputation, top + (high - gap) * (1 - foot), waited, Math.max(1, (high - gap) * foot));
    }
    if (row % every === 0) {
      context.fillStyle = row === stack.cursor ? palette.ink : palette.dim;
      context.fillText(label, LEFT - 6, top + (high - gap) / 2, LEFT - 8);
    }
    if (row === stack.cursor) {
      context.strokeStyle = palette.ink;
      context.lineWidth = 1.5;
      context.strokeRect(LEFT - 1, top - 1, width - LEFT - 3, high - gap + 2);
    }
  });
}
