// The picture of the timeline: it puts the painters together, and turns pointer and wheel into moves of the view.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Kind, Timeline } from "../api";
import { drawBookmarks } from "../draw/bookmarks";
import { type Geometry, gap, LEFT, middle, rowAt, TOP, timeAt, x, y } from "../draw/geometry";
import { drawLabels } from "../draw/labels";
import { drawSelection } from "../draw/selection";
import { drawAxis } from "../draw/timeaxis";
import { Canvas, type Draw } from "../parts/canvas";
import { route } from "../state";
import type { Palette } from "../theme";
import { bookmarks } from "./bookmarks";
import { type Hit, hit } from "./hit";
import { chosenInstance } from "./instances";
import { keys } from "./keys";
import { usePicture } from "./picture";
import { zoomToSelection } from "./selected";
import { between, type Corner, mark, rowsOf, type Selection, select, selection, snap } from "./selection";
import { Tip } from "./tip";
import {
  chooseAt,
  chooseMessage,
  chosenMessage,
  cursor,
  hidden,
  listed,
  panPes,
  pes,
  show,
  showPes,
  view,
  wheelTime,
  zoom,
} from "./view";

interface Props {
  timeline: Timeline;
  kinds: Kind[];
  available: number;
  onWidth: (width: number) => void;
  tell: (text: string) => void;
}

/** What a hand holds: the view, the rows, or a corner of a selection (without a row the selection is of all). */
interface Drag {
  what: "view" | "rows" | "corner";
  x: number;
  y: number;
  from: number;
  to: number;
  corner: { time: number; row: number | null };
  /** The other edge of the selection is moved, and its PEs stay. */
  kept: Selection | null;
  /** What was selected so far. */
  band: Selection | null;
  moved: boolean;
}

/** So near to an edge of the selection, in pixels, a hand takes it. */
const GRIP = 4;

/** Position of the wait that is chosen: that of the instance in the address, else the one at the cursor. */
export function chosenWait(timeline: Timeline): number | undefined {
  const { waits } = timeline;
  const instance = chosenInstance();
  const spot = cursor.value;
  let found: number | undefined;
  for (let at = 0; at < waits.pe.length; at += 1) {
    if (instance !== null && typeof instance !== "number" && waits.pe[at] === instance.pe && waits.from[at] === instance.from)
      return at;
    if (spot && waits.pe[at] === spot.pe && (waits.from[at] as number) <= spot.time && spot.time <= (waits.to[at] as number))
      found ??= at;
  }
  return found;
}

export function chosenMessageAt(timeline: Timeline): number | undefined {
  const wanted = chosenMessage.value;
  const { messages } = timeline;
  if (!wanted || !messages) return undefined;
  const at = messages.sent.findIndex(
    (sent, index) =>
      sent === wanted.sent &&
      messages.from_pe[index] === wanted.from_pe &&
      messages.to_pe[index] === wanted.to_pe &&
      messages.received[index] === wanted.received,
  );
  return at < 0 ? undefined : at;
}

/** The row of a PE, or null where it is not in view. */
export function rowOf(timeline: Timeline, pe: number): number | null {
  const { first, count } = timeline.rows;
  const at = first.findIndex((it, index) => it !== null && it <= pe && pe < it + (count[index] as number));
  return at < 0 ? null : at;
}

export function Tracks({ timeline, kinds, available, onWidth, tell }: Props) {
  const [width, setWidth] = useState(900);
  // Where the pointer is, and not what is there: that changes below a pointer that rests.
  const [over, setOver] = useState<{ px: number; py: number; left: number; top: number } | null>(null);
  const [band, setBand] = useState<{ of: Selection; snapped: number[] } | null>(null);
  const drag = useRef<Drag | null>(null);
  const picture = usePicture(timeline, kinds, available, width, view.value);
  const { geometry, height } = picture;
  const { from, to, rows, rowHeight: high } = geometry;
  const off = hidden.value;
  const spot = cursor.value;
  const finding = timeline.findings.indexOf(route.value.params.finding ?? "");
  const region = route.value.params.text ? timeline.regions.indexOf(route.value.params.text) : -1;
  const wait = chosenWait(timeline);
  const message = chosenMessageAt(timeline);
  const selected = band ?? (selection.value && { of: selection.value, snapped: [] });
  const corner = mark.value;

  // The keys work as well while nothing in the view has the focus, as after a change of the view.
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const here = route.value.view === "timeline";
      if (here && (target === document.body || target.id === "main")) keys(event, timeline, tell);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [timeline, tell]);

  const draw: Draw = useCallback(
    (context, _width, _height, colour) => {
      const bottom = geometry.top + geometry.rows * geometry.rowHeight;
      picture.paint(context, { wait, message, finding: finding < 0 ? null : finding, region }, colour);
      drawAxis(context, geometry, geometry.top, colour);
      drawBookmarks(context, geometry, bookmarks.value, colour);
      drawLabels(context, geometry, timeline.rows.label, spot ? rowOf(timeline, spot.pe) : null, colour);
      if (spot) drawCursor(context, geometry, timeline, spot, bottom, colour);
      if (selected)
        drawSelection(context, geometry, { ...selected.of, ...selected, rows: rowsOf(timeline, selected.of) }, colour);
      if (corner) drawMark(context, geometry, corner, colour);
    },
    [
      timeline,
      picture.paint,
      spot?.pe,
      spot?.time,
      finding,
      region,
      wait,
      message,
      band,
      selection.value,
      bookmarks.value,
      corner,
    ],
  );

  /** The corner below a pointer: at an edge of what is drawn there, if one is near. */
  const cornerAt = (event: PointerEvent, px: number, row: number | null) => {
    const there = event.altKey ? { time: Math.round(timeAt(geometry, px)), snapped: false } : snap(timeline, geometry, row, px);
    return { ...there, row };
  };
  const down = (event: PointerEvent, px: number, py: number) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    const row = rowAt(geometry, py);
    const of = selection.value;
    const edges = of && row !== null && rowsOf(timeline, of).includes(row) ? [of.from, of.to] : [];
    const taken = edges.findIndex((time) => Math.abs(x(geometry, time) - px) <= GRIP);
    const other = edges[1 - taken];
    drag.current = {
      what: px < LEFT ? "rows" : event.shiftKey ? "view" : "corner",
      x: px,
      y: py,
      from,
      to,
      corner: taken < 0 || other === undefined ? cornerAt(event, px, row) : { time: other, row },
      kept: taken < 0 ? null : of,
      band: null,
      moved: false,
    };
  };
  const move = (event: PointerEvent, px: number, py: number) => {
    const held = drag.current;
    if (!held) {
      setOver(px < LEFT ? null : { px, py, left: event.clientX, top: event.clientY });
      return;
    }
    if (Math.abs(px - held.x) > 3 || Math.abs(py - held.y) > 3) held.moved = true;
    if (!held.moved) return;
    setOver(null);
    if (held.what === "view") {
      const by = ((px - held.x) / geometry.width) * (held.to - held.from);
      show({ from: held.from - by, to: held.to - by });
    } else if (held.what === "rows") {
      const by = Math.trunc((held.y - py) / high);
      if (by === 0) return;
      held.y -= by * high;
      panPes(by * (timeline.rows.count[0] ?? 1));
    } else {
      const row = Math.max(0, Math.min(rows - 1, Math.floor((py - geometry.top) / high)));
      const end = cornerAt(event, Math.max(LEFT, Math.min(px, LEFT + geometry.width)), row);
      const start: Corner = { time: held.corner.time, row: held.corner.row ?? 0 };
      const whole = between(timeline, start, { time: end.time, row: held.corner.row === null ? rows - 1 : row });
      held.band = held.kept ? { ...whole, pes: held.kept.pes } : whole;
      setBand({ of: held.band, snapped: end.snapped ? [end.time] : [] });
    }
  };
  const up = (_event: PointerEvent, px: number, py: number) => {
    const held = drag.current;
    drag.current = null;
    if (!held) return;
    setBand(null);
    if (held.moved) {
      if (held.what === "corner") select(held.band);
      return;
    }
    const found = under(px, py);
    const { messages } = timeline;
    if (found.message !== undefined && messages) {
      const at = found.message;
      chooseMessage({
        from_pe: messages.from_pe[at] ?? null,
        sent: messages.sent[at] as number,
        to_pe: messages.to_pe[at] ?? null,
        received: messages.received[at] as number,
      });
    } else if (found.row !== null && px >= LEFT) {
      chooseAt(timeline.rows.first[found.row] as number, found.time);
    }
  };
  const under = (px: number, py: number): Hit =>
    hit(timeline, geometry, px, py, { messages: !off.has("messages"), waits: !off.has("waits") });
  const twice = (_event: MouseEvent, px: number) => {
    const time = timeAt(geometry, px);
    const of = selection.value;
    if (of && of.from <= time && time <= of.to) zoomToSelection();
    else zoom(0.25, time);
  };
  const wheel = (event: WheelEvent, px: number, py: number) => {
    if (px < LEFT && !event.altKey && !event.shiftKey && pes.value.count < listed.value) {
      event.preventDefault();
      panPes(Math.sign(event.deltaY) * Math.max(1, Math.floor(pes.value.count / 8)));
    } else if (event.altKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) {
      event.preventDefault();
      const row = Math.max(0, Math.min(rows - 1, Math.floor((py - TOP) / high)));
      const shown = timeline.rows.count.reduce((sum, it) => sum + it, 0);
      showPes(shown * (event.deltaY > 0 ? 2 : 0.5), timeline.rows.first[row] as number);
    } else wheelTime(event, timeAt(geometry, px));
  };

  return (
    <>
      <Canvas
        id="tracks"
        draw={draw}
        height={height}
        label="Timeline: PEs from top to bottom, time from left to right. Arrow keys move, plus and minus zoom, question mark lists all keys. What is at the cursor is said beside it; what is in view is in the tables below."
        focusable
        onSize={(wide) => {
          setWidth(wide);
          onWidth(Math.max(50, wide - LEFT));
        }}
        onKeyDown={(event) => keys(event, timeline, tell)}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerLeave={() => setOver(null)}
        onDoubleClick={twice}
        onWheel={wheel}
      />
      {over && (
        <Tip
          hit={under(over.px, over.py)}
          timeline={timeline}
          piles={picture.piles}
          kinds={kinds}
          left={over.left}
          top={over.top}
        />
      )}
    </>
  );
}

/** The corner that was marked by a key. */
function drawMark(context: CanvasRenderingContext2D, geometry: Geometry, corner: Corner, colours: Palette): void {
  const at = x(geometry, corner.time);
  if (at < geometry.left || at > geometry.left + geometry.width) return;
  context.fillStyle = colours.accent;
  context.fillRect(at - 1, y(geometry, corner.row), 2, geometry.rowHeight);
  context.beginPath();
  context.moveTo(at, geometry.top);
  context.lineTo(at - 5, geometry.top - 8);
  context.lineTo(at + 5, geometry.top - 8);
  context.fill();
}

function drawCursor(
  context: CanvasRenderingContext2D,
  geometry: Geometry,
  timeline: Timeline,
  spot: { pe: number; time: number },
  bottom: number,
  colours: Palette,
): void {
  const row = rowOf(timeline, spot.pe);
  const at = Math.round(x(geometry, spot.time)) + 0.5;
  context.strokeStyle = colours.ink;
  context.lineWidth = 1;
  if (at >= geometry.left && at <= geometry.left + geometry.width) {
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(at, geometry.top - 6);
    context.lineTo(at, bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colours.ink;
    if (row !== null) context.fillRect(at - 2.5, middle(geometry, row) - 2.5, 5, 5);
  }
  if (row === null) return;
  context.strokeRect(geometry.left + 0.5, y(geometry, row) + 0.5, geometry.width - 1, geometry.rowHeight - gap(geometry) - 1);
}
