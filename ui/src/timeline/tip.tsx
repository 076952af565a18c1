// What is under the pointer, in a few words beside it.

import type { Kind, Timeline } from "../api";
import { bytes, count, duration, instant, percent, title } from "../format";
import { pe } from "../pes";
import type { Hit } from "./hit";

interface Props {
  hit: Hit;
  timeline: Timeline;
  bins: Uint8Array;
  kinds: Kind[];
  left: number;
  top: number;
}

export function Tip({ hit, timeline, bins, kinds, left, top }: Props) {
  const lines = words(hit, timeline, bins, kinds);
  if (lines.length === 0) return null;
  const turned = left > innerWidth - 340;
  return (
    <div
      class="tip"
      style={{
        left: turned ? "auto" : `${left + 14}px`,
        right: turned ? `${innerWidth - left + 14}px` : "auto",
        top: `${Math.min(top + 16, innerHeight - 90)}px`,
      }}
    >
      {lines.map((it) => (
        <p key={it}>{it}</p>
      ))}
    </div>
  );
}

function words(hit: Hit, timeline: Timeline, bins: Uint8Array, kinds: Kind[]): string[] {
  const lines: string[] = [];
  const { messages, waits, spans } = timeline;
  if (hit.message !== undefined && messages) {
    const at = hit.message;
    lines.push(
      `Message ${pe(messages.from_pe[at])} → ${pe(messages.to_pe[at])}, ${bytes(messages.bytes[at])}, tag ${messages.tag[at] ?? "–"}`,
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
    const first = (hit.row * timeline.columns + column) * timeline.bins.kinds.length;
    const parts = timeline.bins.kinds
      .map((kind, index) => ({ label: kinds[kind]?.label ?? "", value: (bins[first + index] ?? 0) / 255 }))
      .filter((it) => it.value > 0.01)
      .sort((a, b) => b.value - a.value);
    if (parts.length > 0) lines.push(parts.map((it) => `${it.label} ${percent(it.value)}`).join(", "));
    else lines.push("nothing recorded");
  }
  if (hit.wait !== undefined) {
    const at = hit.wait;
    const cause = waits.cause_pe[at];
    lines.push(
      `${hit.waits > 1 ? `${count(hit.waits)} waits here, the longest: ` : ""}${title(timeline.patterns[waits.pattern[at] as number] ?? "wait")}: waits ${duration((waits.to[at] as number) - (waits.from[at] as number))}${cause === null || cause === undefined ? "" : ` for ${pe(cause)}`}`,
    );
  }
  return lines;
}
