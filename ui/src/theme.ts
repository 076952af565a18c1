// Dark and light, and the palette for canvases, which cannot read style sheets: it is read from the sheet's variables.
import { computed, effect, signal } from "@preact/signals";
import { COLOURS, colourOf } from "./draw/functions";

export type Theme = "auto" | "light" | "dark";

const KEY = "partune-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => {
  systemDark.value = system.matches;
});

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  }
}

export const theme = signal<Theme>(stored());
/** Paper is light, whatever the screen is. */
export const printing = signal(false);
export const dark = computed(() => !printing.value && (theme.value === "auto" ? systemDark.value : theme.value === "dark"));

effect(() => {
  document.documentElement.dataset.theme = dark.value ? "dark" : "light";
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // A browser that stores nothing only forgets the choice.
  }
});

/** Colours of a canvas. `kind` is that of a kind of time, `heat` and `diverging` go from 0 to 1. */
export interface Palette {
  background: string;
  panel: string;
  ink: string;
  dim: string;
  line: string;
  accent: string;
  wait: string;
  message: string;
  collective: string;
  critical: string;
  kind(name: string): string;
  /** Black or white, whichever is read better on the kind's colour. */
  on(name: string): string;
  /** The colour of a function, and black or white on any colour. */
  named(name: string): string;
  onColour(colour: string): string;
  heat(share: number): string;
  diverging(share: number): string;
}

/** Red, green and blue of `#rrggbb` or `rgb(…)`, from 0 to 255. */
function parts(colour: string): number[] | null {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour.trim())?.[1];
  if (hex) return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  const plain = /^rgb\((\d+), *(\d+), *(\d+)\)$/.exec(colour.trim());
  return plain ? plain.slice(1).map(Number) : null;
}

function luminance(colour: string): number {
  const of = parts(colour);
  if (!of) return 0.5;
  const [red = 0, green = 0, blue = 0] = of.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const onColour = (colour: string): string => (luminance(colour) > 0.18 ? "#0b0d10" : "#ffffff");

function mix(stops: string[], share: number): string {
  const at = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(at));
  const part = at - low;
  const parse = (hex: string) => [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16));
  const from = parse(stops[low] ?? "#000000");
  const to = parse(stops[low + 1] ?? "#000000");
  return `rgb(${from.map((value, index) => Math.round(value + ((to[index] ?? 0) - value) * part)).join(",")})`;
}

/** Colours for shares from 0 to 1, made once: a map asks for tens of thousands. */
function ramp(stops: string[]): (share: number) => string {
  const steps = 128;
  const colours = Array.from({ length: steps + 1 }, (_, step) => mix(stops, step / steps));
  return (share) => colours[Math.round(Math.min(1, Math.max(0, share)) * steps)] ?? (colours[0] as string);
}

/** The palette of the theme that is on. */
export const palette = computed<Palette>(() => {
  void dark.value;
  const style = getComputedStyle(document.documentElement);
  const variable = (name: string) => style.getPropertyValue(name).trim();
  const kinds = new Map<string, string>();
  const kind = (name: string) => {
    let colour = kinds.get(name);
    if (colour === undefined) {
      colour = variable(`--k-${name}`) || variable("--k-management");
      kinds.set(name, colour);
    }
    return colour;
  };
  const functions = Array.from({ length: COLOURS }, (_, at) => variable(`--f${at}`));
  const heat = ramp([0, 1, 2, 3, 4, 5, 6, 7].map((step) => variable(`--h${step}`)));
  const diverging = ramp([0, 1, 2, 3, 4, 5, 6].map((step) => variable(`--d${step}`)));
  return {
    background: variable("--bg"),
    panel: variable("--panel"),
    ink: variable("--ink"),
    dim: variable("--dim"),
    line: variable("--line"),
    accent: variable("--accent"),
    wait: variable("--k-wait"),
    message: variable("--message"),
    collective: variable("--k-collective"),
    critical: variable("--critical"),
    kind,
    on: (name) => onColour(kind(name)),
    named: (name) => functions[colourOf(name)] ?? variable("--k-computation"),
    onColour,
    heat,
    diverging,
  };
});
