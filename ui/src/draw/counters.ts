// Metrics over time: on each row a step a column, filled from zero, all rows on one scale.
import type { Counters } from "../api";
import type { Palette } from "../theme";
import { type Geometry, gap, x, y } from "./geometry";
import { drawLabels } from "./labels";

/** The least and the most of all that is shown, zero among them. */
export function extent(values: Counters["values"]): [number, number] {
  let [least, most] = [0, 0];
  for (const row of values) for (const value of row) [least, most] = [Math.min(least, value ?? 0), Math.max(most, value ?? 0)];
  return [least, most];
}

export function drawCounters(context: CanvasRenderingContext2D, geometry: Geometry, data: Counters, palette: Palette): void {
  const [least, most] = extent(data.values);
  const range = most - least || 1;
  const high = geometry.rowHeight - gap(geometry);
  const edge = (column: number) => x(geometry, data.from + ((data.to - data.from) * column) / data.columns);
  context.save();
  context.beginPath();
  context.rect(geometry.left, 0, geometry.width, geometry.height);
  context.clip();
  data.values.forEach((row, at) => {
    const zero = y(geometry, at) + high * (most / range);
    context.fillStyle = palette.line;
    context.fillRect(geometry.left, zero, geometry.width, 1);
    context.fillStyle = palette.accent;
    row.forEach((value, column) => {
      if (value === null) return;
      const by = (high * value) / range;
      const [left, right] = [edge(column), edge(column + 1)];
      // Neighbours leave no hairs between them, and a value that is known is seen.
      context.fillRect(left, by >= 0 ? zero - Math.max(1, by) : zero, Math.max(1, right - left + 0.5), Math.max(1, Math.abs(by)));
    });
  });
  context.restore();
  drawLabels(context, geometry, data.rows.label, null, palette);
}
