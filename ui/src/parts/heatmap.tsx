// A heat map with names, a cursor for the keyboard, and what the cell at the cursor says, in words below it.
import { useCallback, useState } from "preact/hooks";
import { type Box, cellAt, drawHeat, drawNames, drawSlanted } from "../draw/heat";
import { Canvas, type Draw } from "./canvas";

interface Props {
  id: string;
  label: string;
  rows: string[];
  columns: string[];
  rowTitle: string;
  columnTitle: string;
  share: (row: number, column: number) => number | null;
  /** What a cell says, in words. */
  say: (row: number, column: number) => string;
  diverging?: boolean;
  square?: boolean;
  /** Columns have long names, which are written aslant. */
  slanted?: boolean;
  onOpen?: (row: number, column: number) => void;
  /** Where the cursor is at first. */
  start?: { row: number; column: number } | undefined;
}

const LEFT = 64;
const TOP = 34;
const SLANTED_TOP = 104;

export function Heatmap(props: Props) {
  const [cursor, setCursor] = useState<{ row: number; column: number } | undefined>(undefined);
  const [width, setWidth] = useState(800);
  const { rows, columns } = props;
  const side = Math.max(240, Math.min(620, width - LEFT - 8));
  const high = props.square ? side : Math.max(90, Math.min(520, rows.length * 18));
  const top = props.slanted ? SLANTED_TOP : TOP;
  const box: Box = {
    left: LEFT,
    top,
    width: props.square ? side : Math.max(50, width - LEFT - (props.slanted ? 64 : 4)),
    height: high,
  };
  const place = cursor && cursor.row < rows.length && cursor.column < columns.length ? cursor : undefined;

  const draw: Draw = useCallback(
    (context, _width, _height, palette) => {
      drawHeat(
        context,
        box,
        { rows: rows.length, columns: columns.length, share: props.share, diverging: props.diverging ?? false, cursor: place },
        palette,
      );
      drawNames(context, box, rows, palette, "rows");
      if (props.slanted) drawSlanted(context, box, columns, palette);
      else drawNames(context, box, columns, palette, "columns");
      context.fillStyle = palette.dim;
      context.textAlign = "left";
      context.fillText(props.columnTitle, box.left, 8);
      context.textAlign = "right";
      context.fillText(props.rowTitle, box.left - 6, box.top - 9, LEFT - 8);
    },
    [props.share, rows, columns, place?.row, place?.column, width, props.diverging],
  );

  const move = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const step = steps[event.key];
    const from = place ?? props.start ?? { row: 0, column: 0 };
    if (step) {
      event.preventDefault();
      const next = (at: number, by: number, size: number) => Math.max(0, Math.min(size - 1, at + by));
      setCursor(place ? { row: next(from.row, step[0], rows.length), column: next(from.column, step[1], columns.length) } : from);
    } else if (event.key === "Enter" && place) props.onOpen?.(place.row, place.column);
    else if (event.key === "Escape") setCursor(undefined);
  };

  return (
    <>
      <Canvas
        id={props.id}
        draw={draw}
        height={high + top + 4}
        label={`${props.label}. Arrow keys move the cursor.`}
        focusable
        onSize={setWidth}
        onKeyDown={move}
        onPointerMove={(_event, x, y) => {
          const cell = cellAt(box, { rows: rows.length, columns: columns.length }, x, y);
          if (cell && (cell.row !== place?.row || cell.column !== place?.column)) setCursor(cell);
        }}
        onPointerDown={(_event, x, y) => {
          const cell = cellAt(box, { rows: rows.length, columns: columns.length }, x, y);
          if (cell) props.onOpen?.(cell.row, cell.column);
        }}
      />
      <p class="said" role="status">
        {place ? (
          props.say(place.row, place.column)
        ) : (
          <span class="dim">Point at a cell, or focus the map and use the arrow keys.</span>
        )}
      </p>
    </>
  );
}
