// Numbers as people read them: three digits that count, and the unit that fits. Pure functions, no state.
import { format } from "d3-format";

const grouped = format(",");
const [whole, tenths, hundredths] = [format(".0f"), format(".1f"), format(".2f")];
const significant = format(".3r");
const short = format(".3~r");
const scaled = format(".3~s");

/** Three digits, more before the point and fewer behind it; halves away from zero. Text of the command line has numbers so, too. */
function three(value: number): string {
  const size = Math.abs(value);
  // Next to these limits: the number that is written 9.995 is a little less.
  return (size >= 99.95 ? whole : size > 9.995 ? tenths : hundredths)(value);
}

/** The same without zeros at the end. */
const trimmed = (value: number): string => (Math.abs(value) < 100 ? short : whole)(value);

/** A value and its unit, as in "257 ms". Non-breaking, so that a table never parts them. */
function withUnit(value: number, unit: string): string {
  return `${value === 0 ? "0" : three(value)}\u00a0${unit}`;
}

/** Seconds as a person says them: 1.07 s, 257 ms, 1.56 µs. */
export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return withUnit(0, "s");
  if (size >= 0.9995) return withUnit(value, "s");
  if (size >= 0.9995e-3) return withUnit(value * 1e3, "ms");
  if (size >= 0.9995e-6) return withUnit(value * 1e6, "µs");
  return withUnit(value * 1e9, "ns");
}

/** A duration in nanoseconds, as seconds() shows it. */
export const duration = (ns: number | null | undefined): string => seconds(ns === null || ns === undefined ? null : ns / 1e9);

/** A moment, given in milliseconds since 1970: 2026-11-25 15:25:25 UTC. */
export const moment = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** A share of one: 53.1 %. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  if (share !== 0 && Math.abs(share) < 0.00005) return "<\u00a00.01\u00a0%";
  return `${share === 0 ? "0" : three(share * 100)}\u00a0%`;
}

/** Bytes in powers of 1024: 4 KiB. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let rest = value;
  let unit = 0;
  while (Math.abs(rest) >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${grouped(Math.round(rest))}\u00a0B` : `${trimmed(rest)}\u00a0${units[unit] ?? ""}`;
}

/** A value of a metric, in the archive's unit: 3.42G instructions, 12 MiB; `each` is what it is per, as in "/s". */
export function quantity(value: number | null | undefined, unit: string, each = ""): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (/^(b|bytes?)$/i.test(unit)) return bytes(value) + each;
  const named = unit === "#" || unit === "" ? "" : `\u00a0${unit}`;
  return (Math.abs(value) < 1 && value !== 0 ? significant(value) : scaled(value)) + named + each;
}

/** A count with thousands apart: 180,036. */
export const count = (value: number | null | undefined): string =>
  value === null || value === undefined || !Number.isFinite(value) ? "–" : grouped(Math.round(value));

/** A count and its noun: 1 PE, 4 PEs. */
export const plural = (value: number, noun: string, many = `${noun}s`): string => `${count(value)} ${value === 1 ? noun : many}`;

/** A ratio of two figures: 1.25×. */
export const ratio = (value: number | null | undefined): string =>
  value === null || value === undefined || !Number.isFinite(value) ? "–" : `${trimmed(value)}×`;

/** A value of a measure: of time, of bytes, a plain number, or what a counter counted. */
export const amount = (value: number | undefined, unit: string): string =>
  unit === "s" ? seconds(value) : unit === "" ? count(value) : quantity(value, unit);

/** A difference with its sign: +12 ms, −3 ms. */
export function difference(value: number, show: (value: number) => string): string {
  if (value === 0) return show(0);
  return (value > 0 ? "+" : "−") + show(Math.abs(value));
}

/** The unit in which a step of an axis is a plain number, and how many nanoseconds it has. */
export function timeUnit(step: number): { unit: string; ns: number } {
  if (step >= 1e8) return { unit: "s", ns: 1e9 };
  if (step >= 1e5) return { unit: "ms", ns: 1e6 };
  if (step >= 1e2) return { unit: "µs", ns: 1e3 };
  return { unit: "ns", ns: 1 };
}

/** A point in time, exact enough for the step in which it is looked at: 831.250 ms. */
export function instant(ns: number, step: number): string {
  if (ns === 0) return withUnit(0, "s");
  const size = Math.abs(ns);
  const { unit, ns: scale } = size >= 1e9 ? { unit: "s", ns: 1e9 } : size >= 1e6 ? { unit: "ms", ns: 1e6 } : timeUnit(1);
  const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / Math.max(step, 1)))));
  return `${(ns / scale).toFixed(digits)}\u00a0${unit}`;
}

/** "late_sender" as a title: Late sender. */
export function title(name: string): string {
  const words = name.replaceAll("_", " ").replace("nxn", "N × N");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
