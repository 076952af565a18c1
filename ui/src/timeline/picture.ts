// What PEs did, painted: the rows of a timeline with the lines between them. One painter for the run that is looked at and for one beside it.
import { useCallback, useMemo, useRef } from "preact/hooks";
import type { Kind, Timeline } from "../api";
import {
  bitmap,
  drawBins,
  functionNames,
  functionShares,
  pilesOfFunctions,
  pilesOfKinds,
  type Shares,
  shares,
} from "../draw/bins";
import { type Geometry, gap, LEFT, rowHeight, TOP } from "../draw/geometry";
import { drawCollectives, drawCriticalPath, drawMessages } from "../draw/lines";
import { drawSpanNames, drawSpans, lanes, levels, spanLook, waitLevels } from "../draw/spans";
import { drawCauses, drawWaits } from "../draw/waits";
import { recorded } from "../load";
import { colouring } from "../parts/colouring";
import { type Palette, palette } from "../theme";
import { hidden, type View } from "./view";

/** What stands out: a wait and a message by position, a finding and a region by their number in the answer. */
export interface Marks {
  wait?: number | undefined;
  message?: number | undefined;
  finding: number | null;
  region: number;
}

export interface Picture {
  geometry: Geometry;
  height: number;
  /** What piles consist of, for who tells of them. */
  piles: { labels: string[]; shares: Shares };
  paint: (context: CanvasRenderingContext2D, marks: Marks, colours: Palette) => void;
}

/**
 * What was painted last: of what, and from which time on. Once the same is wanted again, moved in time or with something else drawn over it, its pixels
 * are kept, since lines take a browser longest.
 */
interface Painted {
  of: unknown[];
  from: number;
  pixels: HTMLCanvasElement | null;
}

/** What is painted aside is as large as what it is for, and as sharp. */
function aside(context: CanvasRenderingContext2D, draw: (own: CanvasRenderingContext2D) => void): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [context.canvas.width, context.canvas.height];
  const own = canvas.getContext("2d", { willReadFrequently: true });
  if (own) {
    own.setTransform(context.getTransform());
    draw(own);
  }
  return canvas;
}

/** `view` is the interval that is drawn, in times of the timeline's run. */
export function usePicture(timeline: Timeline, kinds: Kind[], available: number, width: number, view: View): Picture {
  const names = useMemo(() => kinds.map((it) => it.name), [kinds]);
  const bins = useMemo(() => shares(timeline), [timeline]);
  const by = recorded ? "kind" : colouring("kind");
  const piles = useMemo(() => {
    const functions = by === "function" ? functionShares(timeline) : null;
    if (functions) return { labels: functionNames(timeline), shares: functions };
    return { labels: timeline.bins.kinds.map((kind) => kinds[kind]?.label ?? ""), shares: bins };
  }, [timeline, bins, kinds, by]);
  const level = useMemo(() => waitLevels(timeline), [timeline]);
  const rows = timeline.rows.label.length;
  const high = rowHeight(rows, available - TOP - 8, timeline.spans ? levels(timeline.spans) : null);
  const height = TOP + rows * high + 8;
  const { from, to } = view;
  const geometry: Geometry = { left: LEFT, top: TOP, width: Math.max(50, width - LEFT), height, from, to, rows, rowHeight: high };
  const colours = palette.value;
  const image = useMemo(() => {
    if (timeline.spans) return null;
    const pile = by === "function" ? pilesOfFunctions : pilesOfKinds;
    return bitmap(timeline, pile(timeline, bins, names, colours), high, gap(geometry), colours);
  }, [timeline, bins, names, high, colours, by]);
  const off = hidden.value;
  const draw = useCallback(
    (context: CanvasRenderingContext2D, geometry: Geometry, { wait, message, finding, region }: Marks, colour: Palette) => {
      const { spans } = timeline;
      const look = spanLook(timeline, names, by, colour);
      if (image) drawBins(context, geometry, timeline, image);
      else if (spans) drawSpans(context, geometry, spans, look, region, colour);
      const placed = spans ? { lane: lanes(geometry, levels(spans)), level } : undefined;
      const marked = { chosen: wait, finding, levels: placed };
      if (!off.has("waits")) drawWaits(context, geometry, timeline.waits, marked, colour);
      if (!off.has("collectives") && rows > 1) drawCollectives(context, geometry, timeline.collectives, colour);
      if (!off.has("critical")) drawCriticalPath(context, geometry, timeline.critical_path, colour);
      if (spans) drawSpanNames(context, geometry, timeline, look);
      if (!off.has("messages") && timeline.messages) drawMessages(context, geometry, timeline.messages, message, colour);
      if (!off.has("waits")) drawCauses(context, geometry, timeline.waits, marked, colour);
    },
    [timeline, image, names, by, level, off],
  );
  const last = useRef<Painted | null>(null);
  const paint = useCallback(
    (context: CanvasRenderingContext2D, marks: Marks, colour: Palette) => {
      const { wait, message, finding, region } = marks;
      const [wide, tall] = [context.canvas.width, context.canvas.height];
      const of = [draw, to - from, width, height, high, wait, message, finding, region, colour, wide, tall];
      const clip = (of: CanvasRenderingContext2D) => {
        of.beginPath();
        of.rect(geometry.left, 0, geometry.width, height);
        of.clip();
      };
      context.save();
      clip(context);
      const same = last.current?.of.every((it, at) => it === of[at]) ? last.current : null;
      if (same) {
        const then = { ...geometry, from: same.from, to: same.from + to - from };
        same.pixels ??= aside(context, (own) => {
          clip(own);
          draw(own, then, marks, colour);
        });
        const moved = ((same.from - from) / (to - from)) * geometry.width * context.getTransform().a;
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.drawImage(same.pixels, Math.round(moved), 0);
      } else {
        last.current = { of, from, pixels: null };
        draw(context, geometry, marks, colour);
      }
      context.restore();
    },
    [draw, from, to, width, height, high],
  );
  return { geometry, height, piles, paint };
}
