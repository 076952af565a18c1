// Bookmarks on the axis: a flag with its number, a line down the rows for a moment, a bracket for a piece of time. Pure.
import type { Palette } from "../theme";
import { type Geometry, x } from "./geometry";

/** Half of a flag's width, and its height. */
const HALF = 8;
const HIGH = 13;

export function drawBookmarks(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  of: { from: number; to: number }[],
  palette: Palette,
): void {
  const [first, last] = [geometry.left, geometry.left + geometry.width];
  const bottom = geometry.top + geometry.rows * geometry.rowHeight;
  context.save();
  context.beginPath();
  context.rect(first - HALF, 0, geometry.width + 2 * HALF, geometry.height);
  context.clip();
  context.font = "bold 10px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  of.forEach(({ from, to }, index) => {
    const [left, right] = [x(geometry, from), x(geometry, to)];
    if (right < first || left > last) return;
    context.strokeStyle = palette.accent;
    context.fillStyle = palette.accent;
    context.lineWidth = 1;
    context.setLineDash([1, 3]);
    for (const edge of from === to ? [left] : [left, right]) {
      context.beginPath();
      context.moveTo(edge, HIGH);
      context.lineTo(edge, bottom);
      context.stroke();
    }
    context.setLineDash([]);
    if (from !== to) context.fillRect(left, HIGH - 1, right - left, 2);
    const at = Math.max(first, Math.min(last, left));
    context.fillRect(at - HALF, 0, 2 * HALF, HIGH);
    context.fillStyle = palette.background;
    context.fillText(String(index + 1), at, HIGH / 2 + 0.5);
  });
  context.restore();
}
