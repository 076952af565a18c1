// Bookmarks: moments of a PE and pieces of the timeline, each with a note. They are in the address and every view keeps them, so a link has
// them, to a report too: `marks` has a line for each, `RUN:PE@TIME note` or `RUN:FROM.TO.PES note`.
import { computed } from "@preact/signals";
import { instant } from "../format";
import { around } from "../parts/words";
import { pe as peName } from "../pes";
import { amend, route, run } from "../state";
import { parse, selection } from "./selection";
import { cursor, peCount, showPe, view, whole } from "./view";

export interface Bookmark {
  /** Position in the address. */
  at: number;
  run: number;
  /** As the address has it, without the note. */
  place: string;
  from: number;
  /** The same as `from` for a moment. */
  to: number;
  /** Of a moment. */
  pe: number | null;
  note: string;
}

/** So many are kept, with notes of so many letters: addresses cannot be longer everywhere. */
const MOST = 40;
const LONGEST = 200;

function read(line: string, at: number): Bookmark | null {
  const [, of, place = "", pe, time, note = ""] = /^(\d+):((?:(\d+)@(\d+))|[\d.,-]+)(?: (.*))?$/.exec(line) ?? [];
  if (of === undefined) return null;
  const known = { at, run: Number(of), place, note };
  if (pe !== undefined) return { ...known, from: Number(time), to: Number(time), pe: Number(pe) };
  const piece = parse(place);
  return piece && { ...known, from: piece.from, to: piece.to, pe: null };
}

const lines = computed(() => (route.value.params.marks ?? "").split("\n").filter(Boolean).slice(0, MOST));

/** Those of the run that is looked at, in the order in which they were made. */
export const bookmarks = computed(() => lines.value.map(read).filter((it): it is Bookmark => it?.run === run.value));

const write = (next: string[], replace = false) => amend({ marks: next.join("\n") }, { replace });

/** Makes one of what is selected, else of the cursor, and says what stood in the way. */
export function addBookmark(): string {
  const spot = cursor.value;
  const { sel } = route.value.params;
  const place = selection.value ? sel : spot && `${spot.pe}@${Math.round(spot.time)}`;
  if (!place) return "Move the cursor or select a piece first.";
  const line = `${run.value}:${place}`;
  if (lines.value.some((it) => it === line || it.startsWith(`${line} `))) return "It has a bookmark.";
  if (lines.value.length >= MOST) return `There are ${MOST} bookmarks, which is as many as an address holds.`;
  write([...lines.value, line]);
  // What is typed next is its note.
  requestAnimationFrame(() => document.querySelector<HTMLInputElement>("#bookmarks li:last-child input")?.focus());
  return "Bookmark made.";
}

function change(of: Bookmark, line: string | null): void {
  write(
    lines.value.flatMap((it, at) => (at !== of.at ? [it] : line === null ? [] : [line])),
    line !== null,
  );
}

function visit(of: Bookmark): void {
  const { from, to } = view.value;
  const wide = to - from;
  const near = { from: Math.max(0, Math.round(of.from - wide / 2)), to: Math.min(whole.value, Math.round(of.from + wide / 2)) };
  const inView = from <= of.from && of.to <= to;
  if (of.pe === null) amend({ sel: of.place, ...around(of.from, Math.min(of.to, whole.value)) });
  else showPe(Math.min(of.pe, peCount.value - 1), of.from, inView ? {} : near);
}

export function Bookmarks({ tell }: { tell: (text: string) => void }) {
  const all = bookmarks.value;
  if (all.length === 0 && !cursor.value && !selection.value) return null;
  return (
    <section id="bookmarks" aria-label="Bookmarks">
      <h3>Bookmarks</h3>
      <ol class="found">
        {all.map((it, index) => (
          <li key={it.place} class="bookmark">
            <button type="button" class="plain" onClick={() => visit(it)} aria-label={`To bookmark ${index + 1}`}>
              {index + 1}
            </button>{" "}
            <input
              type="text"
              aria-label={`Note of bookmark ${index + 1}`}
              placeholder={it.pe === null ? "piece of time" : peName(it.pe)}
              maxLength={LONGEST}
              value={it.note}
              onInput={(event) => change(it, `${it.run}:${it.place} ${event.currentTarget.value.trimStart()}`)}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === "Escape") document.getElementById("tracks")?.focus();
              }}
            />{" "}
            <button type="button" class="plain" onClick={() => change(it, null)} aria-label={`Remove bookmark ${index + 1}`}>
              ×
            </button>
            <br />
            <span class="dim small">
              {it.pe === null ? "from" : `${peName(it.pe)} at`} {instant(it.from, whole.value / 1e5)}
              {it.pe === null && ` to ${instant(it.to, whole.value / 1e5)}`}
            </span>
          </li>
        ))}
      </ol>
      <p>
        <button type="button" id="add-bookmark" onClick={() => tell(addBookmark())} title="Key: k">
          Bookmark {selection.value ? "the selection" : "the cursor"}
        </button>
      </p>
      {all.length > 0 && <p class="dim small">Bookmarks and notes are in the address: whoever gets the link has them.</p>}
    </section>
  );
}
