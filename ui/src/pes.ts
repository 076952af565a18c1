// How PEs are called: `3`, or `0.2` for a thread; and which of them are looked at by their names. Everything else knows PEs by number.
import { computed, effect, signal } from "@preact/signals";
import type { Pes } from "./api";
import { get, recorded } from "./load";
import { runs } from "./runs";
import { route, run } from "./state";

const known = signal<Pes | undefined>(undefined);
const names = computed(() => known.value?.pes.name ?? []);

/** Asks for the names of the run that is looked at, once it is open. */
export function watchPes(): void {
  effect(() => {
    const of = run.value;
    known.value = undefined;
    if (runs.value?.find((it) => it.run === of)?.state !== "ready") return;
    get<Pes>(`runs/${of}/pes`).then(
      (pes) => {
        if (run.peek() === of) known.value = pes;
      },
      // Without names PEs are called by their numbers; the view says what is wrong with the server.
      () => {},
    );
  });
}

/** A PE as people call it: "PE 0.2". */
export const pe = (number: number | null | undefined): string => `PE ${names.value[number ?? -1] ?? number ?? "–"}`;

/** The host of a PE, as a number; null if nobody knows. */
export const hostOf = (number: number): number | null => known.value?.pes.host[number] ?? null;

/** What is looked for in names: a regular expression, or the text itself where it is none. */
function pattern(text: string): (name: string) => boolean {
  try {
    const expression = new RegExp(text, "i");
    return (name) => expression.test(name);
  } catch {
    const plain = text.toLowerCase();
    return (name) => name.toLowerCase().includes(plain);
  }
}

/** The PEs whose name, or that of their process or host, the filter of the address finds; null if there is none. */
export const filtered = computed<number[] | null>(() => {
  const { filter } = route.value.params;
  const pes = known.value;
  if (!filter || !pes || recorded) return null;
  const is = pattern(filter);
  const processes = pes.processes.map((it) => is(it.name));
  const hosts = pes.hosts.map(is);
  const { name, process, host } = pes.pes;
  const found = name
    .map((_, at) => at)
    .filter((at) => {
      const where = host[at];
      return is(name[at] ?? "") || processes[process[at] ?? -1] || (typeof where === "number" && hosts[where]);
    });
  return found;
});

/** The PEs whose rows stand above all others, in the order of the address. */
export const pinned = computed<number[]>(() => {
  const most = names.value.length;
  const of = recorded ? [] : (route.value.params.pin ?? "").split(",").filter(Boolean).map(Number);
  return [...new Set(of)].filter((pe) => Number.isInteger(pe) && pe >= 0 && pe < most);
});

/** The PEs that can have a row besides the pinned ones, in order; null if that is all of them. */
export const others = computed<number[] | null>(() => {
  const pins = pinned.value;
  if (pins.length === 0) return filtered.value;
  return (filtered.value ?? names.value.map((_, pe) => pe)).filter((pe) => !pins.includes(pe));
});

/** Numbers as the server takes them: `0-3,8`. */
export function rangesOf(of: number[]): string {
  const found: [number, number][] = [];
  for (const it of of) {
    const last = found[found.length - 1];
    if (last && last[1] + 1 === it) last[1] = it;
    else found.push([it, it]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}
