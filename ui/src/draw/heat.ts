// A heat map: cells in rows and columns, coloured by their share of the largest. Pure: data and a size to pixels.
import type { Palette } from "../theme";

export interface Heat {
  rows: number;
  columns: number;
  /** Share of a cell, 0 to 1; null leaves it empty. */
  share: (row: number, column: number) => number | null;
  /** Blue below the middle, orange above it; else from pale to dark. */
  diverging?: boolean;
  cursor?: { row: number; column: number } | undefined;
}

/** Where the cells are: left and top of the map, and its size. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export function drawHeat(context: CanvasRenderingContext2D, box: Box, heat: Heat, palette: Palette): void {
  const { rows, columns } = heat;
  context.fillStyle = palette.heat(0);
  context.fillRect(box.left, box.top, box.width, box.height);
  // Edges on whole pixels, so that neighbours neither overlap nor leave a gap.
  const x = (column: number) => Math.round(box.left + (box.width * column) / columns);
  const y = (row: number) => Math.round(box.top + (box.height * row) / rows);
  const gap = box.width / columns > 8 && box.height / rows > 8 ? 1 : 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const share = heat.share(row, column);
      if (share === null) continue;
      context.fillStyle = heat.diverging ? palette.diverging(share) : palette.heat(share);
      context.fillRect(x(column), y(row), Math.max(1, x(column + 1) - x(column) - gap), Math.max(1, y(row + 1) - y(row) - gap));
    }
  }
  if (heat.cursor) {
    const { row, column } = heat.cursor;
    context.lineWidth = 2;
    context.strokeStyle = palette.critical;
    context.strokeRect(
      x(column) - 1,
      y(row) - 1,
      Math.max(3, x(column + 1) - x(column)) + 1,
      Math.max(3, y(row + 1) - y(row)) + 1,
    );
  }
}

/** The cell at a point, or null outside of the map. */
export function cellAt(
  box: Box,
  heat: { rows: number; columns: number },
  x: number,
  y: number,
): { row: number; column: number } | null {
  const column = Math.floor(((x - box.left) / box.width) * heat.columns);
  const row = Math.floor(((y - box.top) / box.height) * heat.rows);
  if (row < 0 || column < 0 || row >= heat.rows || column >= heat.columns) return null;
  return { row, column };
}

/** Names along the rows, as many as have room. */
export function drawNames(
  context: CanvasRenderingContext2D,
  box: Box,
  names: string[],
  palette: Palette,
  along: "rows" | "columns",
): void {
  const size = (along === "rows" ? box.height : box.width) / Math.max(1, names.length);
  const every = Math.max(1, Math.ceil((along === "rows" ? 14 : 34) / size));
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = palette.dim;
  context.textBaseline = "middle";
  context.textAlign = along === "rows" ? "right" : "center";
  for (let index = 0; index < names.length; index += every) {
    const middle = size * (index + 0.5);
    if (along === "rows") context.fillText(names[index] ?? "", box.left - 6, box.top + middle, box.left - 8);
    else context.fillText(names[index] ?? "", box.left + middle, box.top - 9, size * every - 2);
  }
}

/** Long names above the columns, aslant, each cut to its end of the room; as many as have room. */
export function drawSlanted(context: CanvasRenderingContext2D, box: Box, names: string[], palette: Palette): void {
  const size = box.width / Math.max(1, names.length);
  const every = Math.max(1, Math.ceil(14 / size));
  const angle = Math.PI / 5;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = palette.dim;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let index = 0; index < names.length; index += every) {
    const x = box.left + size * (index + 0.5);
    const room = Math.min((box.top - 24) / Math.sin(angle), (box.left + box.width + 60 - x) / Math.cos(angle));
    context.save();
    context.translate(x, box.top - 8);
    context.rotate(-angle);
    context.fillText(cut(context, names[index] ?? "", room), 0, 0);
    context.restore();
  }
}

/** A text that fits, with three dots for its middle: names that are alike differ at their ends. */
function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  for (let length = text.length - 1; length > 1; length -= 1) {
    const front = Math.floor(length / 2);
    const short = `${text.slice(0, front)}…${text.slice(front - length)}`;
    if (context.measureText(short).width <= room) return short;
  }
  return "";
}
