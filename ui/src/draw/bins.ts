// The timeline from afar: each row and column is a pile of kinds of time, or of functions, as tall as their shares; the foot is red as far as
// PEs waited. It is made once as a bitmap, a pixel a column, and then only stretched while one zooms.
import type { Timeline } from "../api";
import type { Palette } from "../theme";
import { type Geometry, x } from "./geometry";

/** What of an answer the picture needs. */
type Bins = Pick<Timeline, "from" | "to" | "columns" | "rows" | "bins">;

/** Shares as bytes: that of class k in column c of row r is at (r × columns + c) × stride + k. */
export interface Shares {
  data: Uint8Array;
  stride: number;
}

/** What is piled up: a colour a class from the bottom up, null for one that is not; and the class that is the foot, if there is one. */
export interface Piles extends Shares {
  colours: (string | null)[];
  foot: Shares & { at: number };
}

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The kinds of an answer. */
export const shares = (timeline: Bins): Shares => ({ data: bytesOf(timeline.bins.data), stride: timeline.bins.kinds.length });

/** Its functions, if they were asked for. */
export const functionShares = (timeline: Timeline): Shares | null =>
  timeline.functions && { data: bytesOf(timeline.functions.data), stride: timeline.functions.function.length };

/** What those functions are called. */
export const functionNames = (timeline: Timeline): string[] =>
  timeline.functions?.function.map((it) => (it === null ? "all other functions" : (timeline.regions[it] ?? ""))) ?? [];

/** Piles of kinds of time; `names` are those of all kinds. */
export function pilesOfKinds(timeline: Bins, kinds: Shares, names: string[], palette: Palette): Piles {
  const colours = timeline.bins.kinds.map((kind) => (names[kind] === "wait" ? null : palette.kind(names[kind] ?? "management")));
  return { ...kinds, colours, foot: { ...kinds, at: timeline.bins.kinds.findIndex((kind) => names[kind] === "wait") } };
}

/** The same piles of functions, if there are some. */
export function pilesOfFunctions(timeline: Timeline, kinds: Shares, names: string[], palette: Palette): Piles {
  const of = functionShares(timeline);
  const plain = pilesOfKinds(timeline, kinds, names, palette);
  if (!of || !timeline.functions) return plain;
  const colours = timeline.functions.function.map((it) =>
    it === null ? palette.kind("management") : palette.named(timeline.regions[it] ?? ""),
  );
  return { ...of, colours, foot: plain.foot };
}

/** A pixel of an opaque colour, as it lies in memory here. */
function pixel(hex: string): number {
  const value = Number.parseInt(hex.slice(1, 7), 16);
  const bytes = new Uint8Array([(value >> 16) & 255, (value >> 8) & 255, value & 255, 255]);
  return new Uint32Array(bytes.buffer)[0] ?? 0;
}

/** How much of a row its foot of waits takes at most. */
const FOOT = 0.34;

/** Paints all rows, `high` pixels each, with `space` empty pixels below. */
export function bitmap(
  timeline: Bins,
  { data, stride, colours, foot: waits }: Piles,
  high: number,
  space: number,
  palette: Palette,
): HTMLCanvasElement {
  const rows = timeline.rows.label.length;
  const columns = timeline.columns;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, columns);
  canvas.height = Math.max(1, rows * high);
  const context = canvas.getContext("2d");
  if (!context || rows === 0) return canvas;
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const piled = colours.map((colour) => (colour === null ? 0 : pixel(colour)));
  const idle = pixel(palette.kind("idle"));
  const waiting = pixel(palette.wait);
  const inside = Math.max(1, high - space);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const cell = row * columns + column;
      const first = row * high * columns + column;
      const waited = waits.at < 0 ? 0 : (waits.data[cell * waits.stride + waits.at] ?? 0) / 255;
      // Little waiting in a low row is no line: it would look like much.
      const red = waited * inside * FOOT;
      const foot = red > 0.3 ? Math.max(1, Math.round(red)) : 0;
      // From the bottom up, in their order, each as tall as its share; what is left is idle.
      let line = inside - 1;
      let sum = 0;
      for (let at = 0; at < stride; at += 1) {
        const share = data[cell * stride + at] ?? 0;
        const colour = piled[at] ?? 0;
        if (share === 0 || colour === 0) continue;
        sum += share;
        const until = inside - 1 - Math.round((Math.min(255, sum) / 255) * inside);
        for (; line > until; line -= 1) pixels[first + line * columns] = colour;
      }
      for (; line >= 0; line -= 1) pixels[first + line * columns] = idle;
      for (let at = inside - foot; at < inside; at += 1) pixels[first + at * columns] = waiting;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Stretches a bitmap to where its time is in the view. */
export function drawBins(context: CanvasRenderingContext2D, geometry: Geometry, timeline: Bins, image: HTMLCanvasElement): void {
  const left = x(geometry, timeline.from);
  const right = x(geometry, timeline.to);
  context.imageSmoothingEnabled = false;
  context.drawImage(image, left, geometry.top, right - left, geometry.rows * geometry.rowHeight);
}
