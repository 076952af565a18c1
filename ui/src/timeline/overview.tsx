// The whole run in a strip above the timeline, with a window that shows what is in view. Drag in it to look elsewhere.
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import type { Kind, Timeline } from "../api";
import { bitmap, drawBins, pilesOfFunctions, pilesOfKinds, shares } from "../draw/bins";
import { type Geometry, LEFT, timeAt, x } from "../draw/geometry";
import { recorded, useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { colouring } from "../parts/colouring";
import { run } from "../state";
import { palette } from "../theme";
import { cursor, show, view, whole } from "./view";

const HEIGHT = 46;

export function Overview({ kinds }: { kinds: Kind[] }) {
  // By function it is one pile of all PEs: sixteen colours in low rows would be none.
  const asked = colouring("kind") === "function" ? "?columns=1400&rows=1&by=function" : "?columns=800&rows=8";
  const answer = useApi<Timeline>(`runs/${run.value}/timeline${recorded ? "" : asked}`);
  return answer.data ? <Strip timeline={answer.data} kinds={kinds} /> : <div class="overview" />;
}

function Strip({ timeline, kinds }: { timeline: Timeline; kinds: Kind[] }) {
  const [width, setWidth] = useState(900);
  const held = useRef<number | null>(null);
  const names = useMemo(() => kinds.map((it) => it.name), [kinds]);
  const rows = timeline.rows.label.length;
  const high = Math.max(2, Math.floor((HEIGHT - 8) / rows));
  const colours = palette.value;
  const image = useMemo(() => {
    const piles = timeline.functions ? pilesOfFunctions : pilesOfKinds;
    return bitmap(timeline, piles(timeline, shares(timeline), names, colours), high, 0, colours);
  }, [timeline, names, high, colours]);
  const geometry: Geometry = {
    left: LEFT,
    top: 4,
    width: Math.max(50, width - LEFT),
    height: HEIGHT,
    from: 0,
    to: whole.value,
    rows,
    rowHeight: high,
  };
  const { from, to } = view.value;
  const time = cursor.value?.time;
  const draw: Draw = useCallback(
    (context, _width, _height, palette) => {
      drawBins(context, geometry, timeline, image);
      const [left, right] = [x(geometry, from), Math.max(x(geometry, from) + 3, x(geometry, to))];
      context.fillStyle = palette.background;
      context.globalAlpha = 0.62;
      context.fillRect(LEFT, 0, left - LEFT, HEIGHT);
      context.fillRect(right, 0, width - right, HEIGHT);
      context.globalAlpha = 1;
      context.strokeStyle = palette.accent;
      context.lineWidth = 2;
      context.strokeRect(left, 1, right - left, HEIGHT - 2);
      if (time !== undefined) {
        context.fillStyle = palette.ink;
        context.fillRect(x(geometry, time) - 0.5, 0, 1, HEIGHT);
      }
      context.fillStyle = palette.dim;
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText("whole run", LEFT - 6, HEIGHT / 2);
    },
    [timeline, image, from, to, width, time],
  );
  const centre = (at: number) => {
    const length = view.value.to - view.value.from;
    const middle = timeAt(geometry, at);
    show({ from: middle - length / 2, to: middle + length / 2 });
  };
  return (
    <div class="overview">
      <Canvas
        draw={draw}
        height={HEIGHT}
        label="The whole run; the frame is what the timeline shows"
        onSize={setWidth}
        onPointerDown={(event, px) => {
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
          held.current = px;
        }}
        onPointerMove={(_event, px) => {
          if (held.current === null) return;
          const [a, b] = [timeAt(geometry, held.current), timeAt(geometry, px)];
          if (Math.abs(px - held.current) > 3) show({ from: Math.min(a, b), to: Math.max(a, b) });
        }}
        onPointerUp={(_event, px) => {
          if (held.current !== null && Math.abs(px - held.current) <= 3) centre(px);
          held.current = null;
        }}
      />
    </div>
  );
}
