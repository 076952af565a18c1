// Beside the timeline: what is selected, in words. An instance of a finding, a message, and what is at the cursor.

import type { ComponentChildren } from "preact";
import type { At, Finding, Kind, Timeline } from "../api";
import { length, row } from "../api";
import { bytes, count, duration, instant, plural, seconds, title } from "../format";
import { recorded, useApi } from "../load";
import { Answer } from "../parts/states";
import { File, Swatch } from "../parts/words";
import { pe as peName, pinned } from "../pes";
import { inSlices } from "../runs";
import { link, route, run } from "../state";
import { Bookmarks } from "./bookmarks";
import { chosenInstance, jump, toCause } from "./instances";
import { fit } from "./keys";
import { Selected } from "./selected";
import { selection } from "./selection";
import { chosenMessageAt } from "./tracks";
import { chooseAt, chosenMessage, cursor, pin, view } from "./view";

interface Props {
  timeline: Timeline | undefined;
  kinds: Kind[];
  tell: (text: string) => void;
}

export function Panel({ timeline, kinds, tell }: Props) {
  const { finding, region, text } = route.value.params;
  const spot = cursor.value;
  return (
    <>
      <Selected kinds={kinds} tell={tell} />
      {finding && <Instance id={finding} tell={tell} />}
      {!finding && region && <Turn what={`visit of ${text ?? "the region"}`} tell={tell} />}
      {chosenMessage.value && timeline && <Message timeline={timeline} />}
      {spot ? <AtCursor pe={spot.pe} time={spot.time} kinds={kinds} /> : !selection.value && <Hints />}
      <Bookmarks tell={tell} />
    </>
  );
}

function Hints() {
  return (
    <p class="dim small">
      Click on a bar, a wait or a message, or move the cursor with the arrow keys, to see what it is. A drag selects a piece and
      says what is in it; on the axis it selects all PEs. The wheel zooms, Shift and drag moves, a drag of the names moves rows,
      Alt and wheel chooses how many PEs. <kbd>?</kbd> lists the keys.
    </p>
  );
}

function Pairs({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl>
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

function Turn({ what, tell }: { what: string; tell: (text: string) => void }) {
  const turn = async (back: boolean) => tell((await jump(back)) ?? (back ? "That was the first." : "That was the last."));
  return (
    <p class="group" role="group" aria-label={`Jump to another ${what}`}>
      <button type="button" onClick={() => void turn(true)} title="Key: p">
        ‹ Previous
      </button>
      <button type="button" onClick={() => void turn(false)} title="Key: n">
        Next ›
      </button>
    </p>
  );
}

function Instance({ id, tell }: { id: string; tell: (text: string) => void }) {
  const answer = useApi<Finding>(`runs/${run.value}/findings/${encodeURIComponent(id)}`);
  const instance = chosenInstance();
  return (
    <section aria-label="Finding" id="selected-finding">
      <Answer of={answer}>
        {(data) => {
          const own = instance !== null && typeof instance !== "number" ? instance : null;
          const rank = own
            ? data.instances.from.findIndex((from, at) => from === own.from && data.instances.pe[at] === own.pe)
            : -1;
          return (
            <>
              <h3>
                <a href={link("findings", { finding: id })}>{data.title}</a>
              </h3>
              <p class="small">
                <code>{data.place}</code>
              </p>
              <p class="small dim">
                {seconds(data.seconds)} in {plural(data.instances_count, "instance")}. {data.meaning}
              </p>
              {own && (
                <Pairs
                  of={[
                    [data.is_wait ? "Waiting" : "On", peName(own.pe)],
                    ["For", duration(own.to - own.from)],
                    ["From", instant(own.from, (own.to - own.from) / 100)],
                    ["Rank", rank >= 0 ? `${count(rank + 1)} of ${count(data.instances_count)} by length` : ""],
                  ]}
                />
              )}
              <Turn what="instance" tell={tell} />
            </>
          );
        }}
      </Answer>
    </section>
  );
}

function Message({ timeline }: { timeline: Timeline }) {
  const at = chosenMessageAt(timeline);
  const wanted = chosenMessage.value;
  if (!wanted) return null;
  const { messages } = timeline;
  const known = at !== undefined && messages ? row(messages, at) : null;
  return (
    <section aria-label="Message" id="selected-message">
      <h3>Message</h3>
      <Pairs
        of={[
          ["From", peName(wanted.from_pe)],
          ["To", peName(wanted.to_pe)],
          [
            "Bytes",
            known ? `${bytes(known.bytes)}${(known.bytes ?? 0) >= 1024 ? ` (${count(known.bytes)})` : ""}` : "not in view",
          ],
          ["Tag", known?.tag ?? ""],
          ["Group", known?.group === null || known === null ? "" : timeline.groups[known.group]],
          ["Sent", instant(wanted.sent, Math.max(1, (wanted.received - wanted.sent) / 100))],
          ["Received", instant(wanted.received, Math.max(1, (wanted.received - wanted.sent) / 100))],
          ["On its way", duration(wanted.received - wanted.sent)],
        ]}
      />
      <p class="group">
        <button type="button" id="zoom-to-message" onClick={() => fit(timeline)} title="Key: f">
          Zoom to it
        </button>
        <button type="button" onClick={() => chooseAt(wanted.to_pe, wanted.received)}>
          To its receiver
        </button>
      </p>
    </section>
  );
}

function AtCursor({ pe, time, kinds }: { pe: number; time: number; kinds: Kind[] }) {
  const answer = useApi<At>(inSlices() ? null : `runs/${run.value}/at?pe=${pe}&time=${time}`);
  const step = (view.value.to - view.value.from) / 1000;
  return (
    <section aria-label="At the cursor" id="at-cursor" aria-live="polite">
      <h3>
        {peName(pe)} at {instant(time, step)}
      </h3>
      {!recorded && <Pin pe={pe} />}
      {inSlices() ? (
        <p class="dim small">What a PE does at a moment is known of a part that is analysed by itself.</p>
      ) : (
        <Answer of={answer}>{(data) => <Found data={data} kinds={kinds} />}</Answer>
      )}
    </section>
  );
}

/** Keeps the row of a PE above all others. */
function Pin({ pe }: { pe: number }) {
  const at = pinned.value.indexOf(pe);
  return (
    <p class="group" role="group" aria-label={`The row of ${peName(pe)}`}>
      <button type="button" aria-pressed={at >= 0} onClick={() => pin(pe, at >= 0 ? "unpin" : "pin")}>
        Pinned
      </button>
      {at >= 0 && pinned.value.length > 1 && (
        <>
          <button type="button" disabled={at === 0} onClick={() => pin(pe, "up")}>
            Up
          </button>
          <button type="button" disabled={at === pinned.value.length - 1} onClick={() => pin(pe, "down")}>
            Down
          </button>
        </>
      )}
    </p>
  );
}

function Found({ data, kinds }: { data: At; kinds: Kind[] }) {
  const frames = Array.from({ length: length(data.stack) }, (_, index) => row(data.stack, index));
  const { operation, waits, collective } = data;
  if (frames.length === 0 && !operation) return <p class="dim">Nothing was recorded here.</p>;
  return (
    <>
      {waits.map((wait, number) => (
        <div class="notice error" id={number === 0 ? "at-wait" : undefined} key={wait.from}>
          <p>
            <strong>{wait.title || title(wait.pattern)}</strong>: waits {seconds(wait.seconds)}
            {wait.cause_pe !== null && (
              <>
                {" "}
                for {peName(wait.cause_pe)} <code>{wait.cause ?? ""}</code>
              </>
            )}
          </p>
          <p class="tools">
            {wait.cause_pe !== null && wait.cause_from !== null && (
              <button
                type="button"
                class="plain"
                onClick={() =>
                  toCause(wait.cause_pe as number, wait.cause_from as number, wait.cause_to ?? (wait.cause_from as number))
                }
                title="Key: c"
              >
                To its cause
              </button>
            )}
            {wait.finding && <a href={link("findings", { finding: wait.finding })}>Finding</a>}
          </p>
        </div>
      ))}
      {operation && (
        <Pairs
          of={[
            ["Operation", <code key="o">{operation.construct}</code>],
            ["Role", operation.role.replaceAll("_", " ")],
            ["Took", duration(operation.to - operation.from)],
            ["Place", <code key="p">{operation.place}</code>],
          ]}
        />
      )}
      {collective && (
        <Pairs
          of={[
            ["Group", `${collective.group} (${plural(collective.members, "member")})`],
            ["Root", collective.root === null ? "" : peName(collective.root)],
            ["Last to come", collective.last_pe === null ? "" : peName(collective.last_pe)],
            ["Sent", collective.sent === null ? "" : bytes(collective.sent)],
            ["Received", collective.received === null ? "" : bytes(collective.received)],
          ]}
        />
      )}
      {data.messages.map((it) => (
        <p class="small" key={`${it.way}${it.pe}${it.sent}`}>
          {it.way === "sent" ? "Sent to" : "Received from"} {it.pe === null ? "–" : peName(it.pe)}:{" "}
          <strong>{bytes(it.bytes)}</strong>, tag {it.tag ?? "–"}, {it.group ?? ""}
        </p>
      ))}
      {data.transfers.map((it) => (
        <p class="small" key={`${it.kind}${it.pe}${it.time}`}>
          {title(it.kind)} with {it.pe === null ? "–" : peName(it.pe)}: <strong>{bytes(it.bytes)}</strong>
        </p>
      ))}
      {frames.length > 0 && (
        <>
          <h3>Call path</h3>
          <ol class="path">
            {frames.map((it, depth) => (
              <li key={`${it.path}-${it.from}`} style={{ "--depth": String(Math.min(depth, 8)) }}>
                <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
                <code>{it.name}</code> <span class="dim small">{duration(it.to - it.from)}</span>{" "}
                {it.called_file ? (
                  <span class="dim small">
                    called at <File file={it.called_file} line={it.called_line} />
                  </span>
                ) : (
                  it.file && <File file={it.file} line={it.line} />
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}
