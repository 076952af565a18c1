// Small pieces of text that every view uses: PEs, source places, kinds of time, call paths.
import type { Kind, Place } from "../api";
import { link } from "../state";

/** A file and line, as editors take it. Empty where it is not known. */
export function at(file: string, line: number): string {
  if (!file) return "";
  return line > 0 ? `${file}:${line}` : file;
}

export function Source({ place }: { place: Place }) {
  const text = at(place.file, place.line);
  return text ? <code>{text}</code> : <span class="dim">no source line recorded</span>;
}

/** The last part of a path; the whole is in the tool tip. */
export function File({ file, line }: { file: string; line: number }) {
  if (!file) return <span class="dim">–</span>;
  const short = file.slice(file.lastIndexOf("/") + 1);
  return <code title={at(file, line)}>{at(short, line)}</code>;
}

/** The colour of a kind of time, with its word. */
export function Swatch({ kind }: { kind: string }) {
  return <span class="swatch" aria-hidden="true" style={{ background: `var(--k-${kind})` }} />;
}

/** What the colours mean. */
export function Legend({ kinds, only }: { kinds: Kind[]; only?: number[] }) {
  const shown = only ? kinds.filter((it) => only.includes(it.kind)) : kinds;
  return (
    <ul class="legend" aria-label="Colours">
      {shown.map((it) => (
        <li key={it.kind}>
          <Swatch kind={it.name} />
          {it.label}
        </li>
      ))}
    </ul>
  );
}

/** A call path from outside in, a line a call. */
export function CallPath({ names }: { names: string[] }) {
  return (
    <ol class="path">
      {names.map((name, depth) => (
        <li key={depth} style={{ "--depth": String(depth) }}>
          <code>{name}</code>
        </li>
      ))}
    </ol>
  );
}

/** Some time around an interval, so that one sees what was before and after. */
export function around(from: number, to: number): { from: number; to: number } {
  const margin = Math.max(20, Math.round((to - from) * 0.6));
  return { from: Math.max(0, Math.floor(from - margin)), to: Math.ceil(to + margin) };
}

/** The address of an interval on a PE in the timeline. */
export function timelineLink(
  pe: number,
  from: number,
  to: number,
  more: Record<string, string | number | undefined> = {},
): string {
  return link("timeline", { ...around(from, to), pe, time: Math.round((from + to) / 2), ...more });
}
