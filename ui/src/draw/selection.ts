// What is selected: a band over its rows, its edges, and above them a ruler with its length. Pure.
import { duration } from "../format";
import type { Palette } from "../theme";
import { type Geometry, gap, x, y } from "./geometry";

export interface Band {
  from: number;
  to: number;
  rows: number[];
  /** Times at which an edge lies on where something begins or ends. */
  snapped: number[];
}

export function drawSelection(context: CanvasRenderingContext2D, geometry: Geometry, band: Band, palette: Palette): void {
  const [first, last] = [geometry.left, geometry.left + geometry.width];
  const clamp = (at: number) => Math.max(first, Math.min(last, at));
  const [left, right] = [clamp(x(geometry, band.from)), clamp(x(geometry, band.to))];
  const bottom = geometry.top + geometry.rows * geometry.rowHeight;
  const inside = x(geometry, band.to) >= first && x(geometry, band.from) <= last;
  if (!inside) return;
  const high = geometry.rowHeight - gap(geometry);
  context.fillStyle = palette.accent;
  for (const row of band.rows) {
    context.globalAlpha = 0.16;
    context.fillRect(left, y(geometry, row), right - left, geometry.rowHeight);
    context.globalAlpha = 1;
    context.fillRect(left, y(geometry, row), 1.5, high);
    context.fillRect(right - 1.5, y(geometry, row), 1.5, high);
  }
  context.strokeStyle = palette.accent;
  context.lineWidth = 1;
  context.setLineDash([2, 3]);
  for (const at of [left, right]) {
    context.beginPath();
    context.moveTo(at, geometry.top - 4);
    context.lineTo(at, bottom);
    context.stroke();
  }
  context.setLineDash([]);
  for (const time of band.snapped) {
    const at = clamp(x(geometry, time));
    context.beginPath();
    context.moveTo(at, geometry.top + 1);
    context.lineTo(at - 4, geometry.top - 6);
    context.lineTo(at + 4, geometry.top - 6);
    context.fill();
  }
  const middle = geometry.top - 3.5;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left, middle);
  context.lineTo(right, middle);
  context.stroke();
  const text = duration(band.to - band.from);
  context.font = "bold 11px system-ui, sans-serif";
  const wide = context.measureText(text).width + 8;
  const at = Math.max(first + wide / 2, Math.min(last - wide / 2, (left + right) / 2));
  context.fillRect(at - wide / 2, 1, wide, 16);
  context.fillStyle = palette.background;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, at, 9.5);
}
