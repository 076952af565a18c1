// The keys of the timeline. Each does what a hand on the pointer can do too.
import type { Timeline } from "../api";
import { amend } from "../state";
import { addBookmark } from "./bookmarks";
import { jump, toCause } from "./instances";
import { zoomToSelection } from "./selected";
import { between, mark, select, selection, selectView } from "./selection";
import { chosenMessageAt, chosenWait, rowOf } from "./tracks";
import { chooseAt, chooseMessage, cursor, listed, pan, panPes, pes, show, view, whole, zoom } from "./view";

/** The cursor, or the middle of the view where there is none. */
function spot(timeline: Timeline): { pe: number; time: number } {
  const { from, to } = view.value;
  return cursor.value ?? { pe: timeline.rows.first[0] ?? 0, time: Math.round((from + to) / 2) };
}

/** A time to zoom at: the cursor, if it is in view. */
function anchor(): number {
  const { from, to } = view.value;
  const time = cursor.value?.time;
  return time !== undefined && time >= from && time <= to ? time : (from + to) / 2;
}

function movePe(timeline: Timeline, by: number): void {
  const { pe, time } = spot(timeline);
  const { first, count } = pes.value;
  const row = rowOf(timeline, pe) ?? 0;
  const next = cursor.value ? timeline.rows.first[row + by] : pe;
  if (typeof next === "number") chooseAt(next, time);
  else if (first + count < listed.value || first > 0) panPes(by * Math.max(1, Math.floor(count / 4)));
}

/** The cursor to the next or last begin or end of a visit on its PE; from afar by a hundredth of the view. */
function step(timeline: Timeline, by: 1 | -1): void {
  const { pe, time } = spot(timeline);
  const { from, to } = view.value;
  const row = rowOf(timeline, pe);
  let next = time + by * Math.max(1, Math.round((to - from) / 100));
  if (timeline.spans) {
    const { spans } = timeline;
    let best = Number.POSITIVE_INFINITY;
    for (let at = 0; at < spans.from.length; at += 1) {
      if (spans.row[at] !== row) continue;
      // The middle of a visit, so that the cursor is in it.
      for (const edge of [spans.from[at] as number, spans.to[at] as number]) {
        const away = (edge - time) * by;
        if (away > 0 && away < best) best = away;
      }
    }
    if (Number.isFinite(best)) next = time + by * best;
  }
  const at = Math.max(0, Math.min(whole.value, next));
  if (at < from || at > to) show({ from: at - (to - from) / 2, to: at + (to - from) / 2 });
  chooseAt(pe, at);
}

function nextMessage(timeline: Timeline, tell: (text: string) => void): void {
  const { messages } = timeline;
  if (!messages || messages.sent.length === 0) {
    tell(messages ? "No messages in view." : "Too many messages in view; zoom in.");
    return;
  }
  const order = messages.sent
    .map((_, at) => at)
    .sort((a, b) => (messages.sent[a] as number) - (messages.sent[b] as number) || a - b);
  const chosen = chosenMessageAt(timeline);
  const place =
    chosen === undefined
      ? order.findIndex((at) => (messages.sent[at] as number) >= spot(timeline).time)
      : order.indexOf(chosen) + 1;
  const at = order[place < 0 || place >= order.length ? 0 : place] as number;
  chooseMessage({
    from_pe: messages.from_pe[at] ?? null,
    sent: messages.sent[at] as number,
    to_pe: messages.to_pe[at] ?? null,
    received: messages.received[at] as number,
  });
}

/** Zooms to what is selected: a message, a wait, or the visit at the cursor. */
export function fit(timeline: Timeline): void {
  const message = chosenMessageAt(timeline);
  const wait = chosenWait(timeline);
  const { messages, waits } = timeline;
  let ends: [number, number] | null = null;
  if (message !== undefined && messages) ends = [messages.sent[message] as number, messages.received[message] as number];
  else if (wait !== undefined) ends = [waits.from[wait] as number, waits.to[wait] as number];
  if (!ends) {
    zoom(0.25, anchor());
    return;
  }
  const [from, to] = [Math.min(...ends), Math.max(...ends)];
  const margin = Math.max(10, (to - from) * 0.35);
  show({ from: from - margin, to: to + margin });
}

/** Marks a corner of a selection at the cursor. */
function markCorner(timeline: Timeline, tell: (text: string) => void): void {
  const { pe, time } = spot(timeline);
  mark.value = { time, row: rowOf(timeline, pe) ?? 0 };
  if (!cursor.value) chooseAt(pe, time);
  tell("Corner marked; move the cursor and press e.");
}

/** Selects from the corner that was marked to the cursor. */
function selectTo(timeline: Timeline, tell: (text: string) => void): void {
  const corner = mark.value;
  const { pe, time } = spot(timeline);
  if (!corner) tell("Mark the other corner with b first.");
  else if (corner.time === time) tell("The corner is at this time; move the cursor along it.");
  else {
    mark.value = null;
    select(between(timeline, corner, { time, row: rowOf(timeline, pe) ?? corner.row }));
  }
}

export function keys(event: KeyboardEvent, timeline: Timeline, tell: (text: string) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const far = event.shiftKey ? 1 : 0.15;
  const turn = async (back: boolean) => {
    const found = await jump(back);
    tell(found ?? (back ? "That was the first." : "That was the last."));
  };
  const actions: Record<string, () => void> = {
    ArrowLeft: () => pan(-far),
    ArrowRight: () => pan(far),
    a: () => pan(-far),
    d: () => pan(far),
    ArrowUp: () => movePe(timeline, -1),
    ArrowDown: () => movePe(timeline, 1),
    "+": () => zoom(0.6, anchor()),
    "=": () => zoom(0.6, anchor()),
    "-": () => zoom(1 / 0.6, anchor()),
    w: () => zoom(0.6, anchor()),
    s: () => zoom(1 / 0.6, anchor()),
    "0": () => show({ from: 0, to: whole.value }),
    ".": () => step(timeline, 1),
    ",": () => step(timeline, -1),
    Enter: () => {
      const { pe, time } = spot(timeline);
      chooseAt(pe, time);
    },
    n: () => void turn(false),
    p: () => void turn(true),
    m: () => nextMessage(timeline, tell),
    f: () => fit(timeline),
    b: () => markCorner(timeline, tell),
    e: () => selectTo(timeline, tell),
    v: () => selectView(timeline),
    k: () => tell(addBookmark()),
    z: () => (selection.value ? zoomToSelection() : tell("Nothing is selected.")),
    c: () => {
      const at = chosenWait(timeline);
      const { waits } = timeline;
      const [pe, from, to] =
        at === undefined ? [null, null, null] : [waits.cause_pe[at], waits.cause_from[at], waits.cause_to[at]];
      if (typeof pe === "number" && typeof from === "number") toCause(pe, from, to ?? from);
      else tell("No wait with a known cause is selected.");
    },
    Escape: () => {
      mark.value = null;
      amend({
        sel: undefined,
        durations: undefined,
        pe: undefined,
        time: undefined,
        message: undefined,
        instance: undefined,
        finding: undefined,
        region: undefined,
        visit: undefined,
        text: undefined,
      });
    },
  };
  const action = actions[event.key] ?? actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}
