// What is under the pointer, in a few words beside it.

import type { Kind, Timeline } from "../api";
import type { Shares } from "../draw/bins";
import { bytes, count, duration, instant, percent, title } from "../format";
import { TipBox } from "../parts/tip";
import { pe } from "../pes";
import type { Hit } from "./hit";

interface Props {
  hit: Hit;
  timeline: Timeline;
  /** Names of what piles consist of, and their shares. */
  piles: { labels: string[]; shares: Shares };
  kinds: Kind[];
  /** How PEs are called, where they are not those of the run that is looked at. */
  nameOf?: typeof pe;
  left: number;
  top: number;
}

export function Tip({ hit, timeline, piles, kinds, nameOf = pe, left, top }: Props) {
  const lines = words(hit, timeline, piles, kinds, nameOf);
  if (lines.length === 0) return null;
  return (
    <TipBox left={left} top={top}>
      {lines.map((it) => (
        <p key={it}>{it}</p>
      ))}
    </TipBox>
  );
}

function words(hit: Hit, timeline: Timeline, { labels, shares }: Props["piles"], kinds: Kind[], nameOf: typeof pe): string[] {
  const lines: string[] = [];
  const { messages, waits, spans } = timeline;
  if (hit.message !== undefined && messages) {
    const at = hit.message;
    lines.push(
      `Message ${nameOf(messages.from_pe[at])} → ${nameOf(messages.to_pe[at])}, ${bytes(messages.bytes[at])}, tag ${messages.tag[at] ?? "–"}`,
      `on its way ${duration((messages.received[at] as number) - (messages.sent[at] as number))}`,
    );
    return lines;
  }
  if (hit.row === null) return lines;
  const label = timeline.rows.label[hit.row] ?? "";
  lines.push(`PE ${label} at ${instant(hit.time, (timeline.to - timeline.from) / 1000)}`);
  if (hit.span !== undefined && spans) {
    const at = hit.span;
    lines.push(
      `${timeline.regions[spans.region[at] as number]}: ${duration((spans.to[at] as number) - (spans.from[at] as number))} (${kinds[spans.kind[at] as number]?.label ?? ""})`,
    );
  } else if (!spans) {
    const column = Math.floor(((hit.time - timeline.from) / (timeline.to - timeline.from)) * timeline.columns);
    const first = (hit.row * timeline.columns + column) * shares.stride;
    const parts = labels
      .map((label, index) => ({ label, value: (shares.data[first + index] ?? 0) / 255 }))
      .filter((it) => it.value > 0.01)
      .sort((a, b) => b.value - a.value);
    if (parts.length > 0) lines.push(parts.map((it) => `${it.label} ${percent(it.value)}`).join(", "));
    else lines.push("nothing recorded");
  }
  if (hit.wait !== undefined) {
    const at = hit.wait;
    const cause = waits.cause_pe[at];
    lines.push(
      `${hit.waits > 1 ? `${count(hit.waits)} waits here, the longest: ` : ""}${title(timeline.patterns[waits.pattern[at] as number] ?? "wait")}: waits ${duration((waits.to[at] as number) - (waits.from[at] as number))}${cause === null || cause === undefined ? "" : ` for ${nameOf(cause)}`}`,
    );
  }
  return lines;
}
