// A few PEs over a short time as a picture: rows of kinds of time, with an axis.
import { useCallback, useMemo } from "preact/hooks";
import type { Kind, Timeline } from "../api";
import { bitmap, drawBins, pilesOfKinds, shares } from "../draw/bins";
import { type Geometry, LEFT, middle, TOP } from "../draw/geometry";
import { drawAxis } from "../draw/timeaxis";
import { palette } from "../theme";
import { Canvas, type Draw } from "./canvas";

/** What of a timeline is drawn here. */
type Piece = Pick<Timeline, "from" | "to" | "columns" | "rows" | "bins">;

const HIGH = 26;

export function Strip({ piece, kinds, label }: { piece: Piece; kinds: Kind[]; label: string }) {
  const colours = palette.value;
  const names = useMemo(() => kinds.map((it) => it.name), [kinds]);
  const image = useMemo(
    () => bitmap(piece, pilesOfKinds(piece, shares(piece), names, colours), HIGH, 2, colours),
    [piece, names, colours],
  );
  const rows = piece.rows.label.length;
  const height = TOP + rows * HIGH + 2;
  const draw: Draw = useCallback(
    (context, width, _height, palette) => {
      const { from, to } = piece;
      const geometry: Geometry = { left: LEFT, top: TOP, width: width - LEFT, height, from, to, rows, rowHeight: HIGH };
      drawBins(context, geometry, piece, image);
      drawAxis(context, geometry, TOP, palette);
      context.textAlign = "right";
      piece.rows.label.forEach((it, row) => {
        context.fillText(`PE ${it}`, LEFT - 6, middle(geometry, row), LEFT - 8);
      });
    },
    [piece, image],
  );
  return <Canvas draw={draw} height={height} label={label} />;
}
