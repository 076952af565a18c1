// What the timeline shows, as tables: for screen readers, for copying, and for those who want the numbers.

import { length, row, type Timeline } from "../api";
import { bytes, count, duration, instant, title } from "../format";
import { recorded } from "../load";
import { Fold } from "../parts/states";
import { Table } from "../parts/table";
import { pe } from "../pes";
import { chooseAt, chooseMessage } from "./view";

/** So many rows of each. */
const ROWS = 50;

const rowsOf = <Row extends object>(columns: { [Key in keyof Row]: Row[Key][] }) =>
  Array.from({ length: length(columns) }, (_, index) => ({ ...row<Row>(columns, index), index }));

export function Tables({ timeline, roomy }: { timeline: Timeline; roomy: boolean }) {
  return (
    <Fold id="tables" title="What is in view, as tables" roomy={roomy}>
      {() => <Shown timeline={timeline} />}
    </Fold>
  );
}

function Shown({ timeline }: { timeline: Timeline }) {
  const step = (timeline.to - timeline.from) / 1000;
  const waits = rowsOf(timeline.waits).sort((a, b) => b.to - b.from - (a.to - a.from) || a.index - b.index);
  const messages = timeline.messages ? rowsOf(timeline.messages) : [];
  return (
    <div class="columns">
      <div>
        <Table
          caption={
            timeline.waits_count === null
              ? "The longest waits of the run in view"
              : `Waits in view, longest first (${count(timeline.waits_count)})`
          }
          rows={waits}
          first={ROWS}
          sort="wsort"
          id={(it) => it.index}
          columns={[
            {
              key: "pe",
              title: "PE",
              by: (it) => it.pe,
              cell: (it) => (
                <button type="button" class="plain" onClick={() => chooseAt(it.pe, Math.floor((it.from + it.to) / 2))}>
                  {pe(it.pe)}
                </button>
              ),
            },
            { key: "what", title: "Pattern", cell: (it) => title(timeline.patterns[it.pattern] ?? "") },
            { key: "from", title: "From", number: true, by: (it) => it.from, cell: (it) => instant(it.from, step) },
            { key: "took", title: "Took", number: true, by: (it) => it.to - it.from, cell: (it) => duration(it.to - it.from) },
            {
              key: "cause",
              title: "For",
              by: (it) => it.cause_pe,
              cell: (it) => (it.cause_pe === null ? "–" : pe(it.cause_pe)),
            },
          ]}
        />
      </div>
      <div>
        {timeline.messages ? (
          <Table
            caption={`Messages in view (${count(messages.length)})`}
            rows={messages}
            first={ROWS}
            sort="msort"
            id={(it) => it.index}
            columns={[
              {
                key: "from",
                title: "From",
                by: (it) => it.from_pe,
                cell: (it) => (
                  <button type="button" class="plain message" onClick={() => chooseMessage(it)}>
                    {pe(it.from_pe)} → {pe(it.to_pe)}
                  </button>
                ),
              },
              { key: "bytes", title: "Bytes", number: true, by: (it) => it.bytes, cell: (it) => bytes(it.bytes) },
              { key: "tag", title: "Tag", number: true, by: (it) => it.tag, cell: (it) => it.tag ?? "–" },
              { key: "sent", title: "Sent", number: true, by: (it) => it.sent, cell: (it) => instant(it.sent, step) },
              {
                key: "way",
                title: "On its way",
                number: true,
                by: (it) => it.received - it.sent,
                cell: (it) => duration(it.received - it.sent),
              },
            ]}
          />
        ) : (
          <p class="dim">
            {timeline.messages_count === null
              ? "Which messages are in view is known of a part of the run that is analysed by itself."
              : `${count(timeline.messages_count)} messages are in view; ${recorded ? "too many to draw and list." : "they are drawn and listed when there are at most 2,000."}`}
          </p>
        )}
      </div>
    </div>
  );
}
