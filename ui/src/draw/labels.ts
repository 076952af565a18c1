// Names of rows, left of a picture.
import type { Palette } from "../theme";
import { type Geometry, middle } from "./geometry";

/** As many as have room; of those the chosen row has its name in any case. */
export function drawLabels(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  labels: string[],
  chosen: number | null,
  palette: Palette,
): void {
  const every = Math.max(1, Math.ceil(13 / geometry.rowHeight));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < geometry.rows; row += 1) {
    if (row % every !== 0 && row !== chosen) continue;
    if (chosen !== null && row !== chosen && Math.abs(row - chosen) < every) continue;
    context.font = row === chosen ? "bold 11px system-ui, sans-serif" : "11px system-ui, sans-serif";
    context.fillStyle = row === chosen ? palette.ink : palette.dim;
    context.fillText(labels[row] ?? "", geometry.left - 6, middle(geometry, row), geometry.left - 10);
  }
}
