// What the timeline looks at: the interval of time and of PEs, the cursor, the selection. All of it is in the address; while
// a hand moves the view it is ahead of the address, which follows when the hand rests.
import { computed, signal } from "@preact/signals";
import type { Message } from "../api";
import { recorded } from "../load";
import { others, pinned } from "../pes";
import { numbered, runs } from "../runs";
import { amend, numeric, route, run } from "../state";

export interface View {
  from: number;
  to: number;
}

/** The shortest interval one can look at. */
const SHORTEST = 8;

/** Length of the run in nanoseconds. */
export const whole = computed(() => Math.max(1, runs.value?.find((it) => it.run === run.value)?.duration_ns ?? 1));
/** How many PEs can have a row. */
export const peCount = computed(() => Math.max(1, numbered(runs.value?.find((it) => it.run === run.value))));

const ahead = signal<View | null>(null);

/** The interval that the address says. */
export const settled = computed<View>(() => {
  const { params } = route.value;
  const from = Math.max(0, Math.min(numeric(params, "from") ?? 0, whole.value - 1));
  const to = Math.min(whole.value, numeric(params, "to") ?? whole.value);
  return to > from ? { from, to } : { from: 0, to: whole.value };
});

/** The interval that is drawn. */
export const view = computed<View>(() => ahead.value ?? settled.value);

let timer = 0;

/** Shows an interval; the address follows a moment later. */
export function show(next: View): void {
  const length = Math.max(SHORTEST, Math.min(whole.value, Math.round(next.to - next.from)));
  const from = Math.max(0, Math.min(Math.round(next.from), whole.value - length));
  ahead.value = { from, to: from + length };
  clearTimeout(timer);
  timer = window.setTimeout(settle, 140);
}

function settle(): void {
  const next = ahead.value;
  if (!next || route.value.view !== "timeline") {
    ahead.value = null;
    return;
  }
  const all = next.from === 0 && next.to >= whole.value;
  amend({ from: all ? undefined : next.from, to: all ? undefined : next.to }, { merge: true });
  ahead.value = null;
}

// Who goes Back, or follows a link, wants that interval and not the one that was on its way.
addEventListener("popstate", () => {
  clearTimeout(timer);
  ahead.value = null;
});

/** Zooms by a factor (below 1: nearer) around a time that stays where it is. */
export function zoom(factor: number, around: number): void {
  const { from, to } = view.value;
  const anchor = Math.min(to, Math.max(from, around));
  const length = Math.max(SHORTEST, (to - from) * factor);
  const share = (anchor - from) / (to - from);
  show({ from: anchor - share * length, to: anchor + (1 - share) * length });
}

/** Moves by a part of the view. */
export function pan(part: number): void {
  const { from, to } = view.value;
  const by = (to - from) * part;
  show({ from: from + by, to: to + by });
}

/** Moves by the wheel if it goes to the side, or Shift is held; else zooms around a time. */
export function wheelTime(event: WheelEvent, around: number): void {
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 900);
  else zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * 0.004), around);
}

/** How many PEs can have a row that moves: those that the filter finds, or all, but for pinned ones. */
export const listed = computed(() => Math.max(1, others.value?.length ?? peCount.value));

/** The PEs of the view, as positions among those; in a report all of them. */
export const pes = computed(() => {
  const params = recorded ? {} : route.value.params;
  const first = Math.max(0, Math.min(Math.trunc(numeric(params, "first") ?? 0), listed.value - 1));
  const wanted = Math.trunc(numeric(params, "pes") ?? listed.value);
  return { first, count: Math.max(1, Math.min(wanted, listed.value - first)) };
});

/** Whether a PE has a row somewhere, above or below the view it may be. */
export const hasRow = (pe: number): boolean => pinned.value.includes(pe) || (others.value?.includes(pe) ?? true);

/** The PEs that have a row now, in their order; null if they are those of `pes`, by number. */
export const rowPes = computed<number[] | null>(() => {
  const { first, count } = pes.value;
  return pinned.value.length === 0 ? others.value : [...pinned.value, ...(others.value ?? []).slice(first, first + count)];
});

/** Puts a PE above all others, or one place up or down among those that are there already, or lets it go. */
export function pin(pe: number, way: "pin" | "up" | "down" | "unpin"): void {
  const pins = pinned.value.filter((it) => it !== pe);
  const at = pinned.value.indexOf(pe);
  if (way !== "unpin") pins.splice(way === "pin" ? pins.length : Math.max(0, at + (way === "up" ? -1 : 1)), 0, pe);
  amend({ pin: pins.join(",") });
}

/** Shows so many PEs, the one at the cursor among them. */
export function showPes(count: number, around: number): void {
  if (recorded) return;
  const all = listed.value;
  const size = Math.max(1, Math.min(all, Math.round(count)));
  const place = others.value ? Math.max(0, others.value.indexOf(Math.round(around))) : around;
  const first = Math.max(0, Math.min(all - size, Math.round(place - size / 2)));
  amend(size === all ? { first: undefined, pes: undefined } : { first, pes: size });
}

/** Puts the cursor on a PE at a time, with its row in view. */
export function showPe(pe: number, time: number, more: Record<string, number | undefined> = {}): void {
  const { first, count } = pes.value;
  const { filter, order } = route.value.params;
  const kept = hasRow(pe);
  const place = others.value?.indexOf(pe) ?? pe;
  const away = !pinned.value.includes(pe) && (place < first || place >= first + count);
  const scrolls = (!kept || filter === undefined) && order === undefined && away;
  const next = Math.max(0, Math.min(listed.value - count, Math.round(place - count / 2)));
  amend({
    pe,
    time: Math.round(time),
    message: undefined,
    filter: kept ? filter : undefined,
    ...(scrolls && { first: next }),
    ...more,
  });
}

/** Moves by PEs. */
export function panPes(by: number): void {
  const { first, count } = pes.value;
  const next = Math.max(0, Math.min(listed.value - count, first + by));
  if (!recorded && next !== first) amend({ first: next, pes: count }, { merge: true });
}

/** The cursor: a PE and a time. */
export const cursor = computed(() => {
  const { params } = route.value;
  const pe = numeric(params, "pe");
  const time = numeric(params, "time");
  return pe === undefined || time === undefined
    ? null
    : { pe: Math.max(0, Math.min(peCount.value - 1, pe)), time: Math.max(0, Math.min(whole.value, time)) };
});

export type Layer = "waits" | "messages" | "collectives" | "critical";

/** Layers that are hidden, as the address says. */
export const hidden = computed(() => new Set((route.value.params.hide ?? "").split(".").filter(Boolean) as Layer[]));

export function toggle(layer: Layer): void {
  const next = new Set(hidden.value);
  if (!next.delete(layer)) next.add(layer);
  amend({ hide: [...next].join(".") }, { replace: true });
}

/** A message in the address: who sent when to whom, and when it was received. */
export interface MessageId {
  from_pe: number;
  sent: number;
  to_pe: number;
  received: number;
}

export const chosenMessage = computed<MessageId | null>(() => {
  const parts = (route.value.params.message ?? "").split(".").map(Number);
  const [from_pe, sent, to_pe, received] = parts;
  if (parts.length !== 4 || parts.some((it) => !Number.isFinite(it))) return null;
  return { from_pe: from_pe as number, sent: sent as number, to_pe: to_pe as number, received: received as number };
});

/** A message as the address has it. One whose ends are not both among the PEs that are shown has no address. */
export const messageKey = (it: Pick<Message, keyof MessageId>): string | undefined =>
  it.from_pe === null || it.to_pe === null ? undefined : `${it.from_pe}.${it.sent}.${it.to_pe}.${it.received}`;

/** Selects a message; the view stays. */
export function chooseMessage(it: Pick<Message, keyof MessageId>): void {
  const message = messageKey(it);
  if (message !== undefined) amend({ message, pe: it.from_pe, time: it.sent });
}

/** Selects a point, whatever is there. */
export function chooseAt(pe: number, time: number): void {
  amend({ pe, time: Math.round(time), message: undefined }, { merge: true });
}
