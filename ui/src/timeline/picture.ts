// What PEs did, painted: the rows of a timeline with the lines between them. One painter for the run that is looked at and for one beside it.
import { useCallback, useMemo } from "preact/hooks";
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
  const paint = useCallback(
    (context: CanvasRenderingContext2D, { wait, message, finding, region }: Marks, colour: Palette) => {
      const { spans } = timeline;
      const look = spanLook(timeline, names, by, colour);
      context.save();
      context.beginPath();
      context.rect(geometry.left, 0, geometry.width, height);
      context.clip();
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
      context.restore();
    },
    [timeline, image, names, by, level, from, to, width, high, off],
  );
  return { geometry, height, piles, paint };
}
