// What one cell of the matrix is made of: sizes, times on the way, and the messages themselves, each with its way to the timeline.
import { useEffect, useRef } from "preact/hooks";
import type { Transfer, Transfers } from "../api";
import { length, row } from "../api";
import { bytes, count, duration, instant, plural, seconds } from "../format";
import { recorded, useApi } from "../load";
import { durationClasses, Histogram } from "../parts/histogram";
import { Answer } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { timelineLink } from "../parts/words";
import { pe } from "../pes";
import { amend, route, run } from "../state";
import { ranges } from "../timeline/selection";
import { messageKey } from "../timeline/view";

/** Some PEs that follow each other, as a row of the matrix has them. */
export interface Side {
  label: string;
  first: number;
  count: number;
}

const ORDERS: [string, string][] = [
  ["slowest", "longest on their way"],
  ["largest", "largest"],
  ["earliest", "in order of time"],
];

const range = ({ first, count: pes }: Side): string => ranges([[first, first + pes - 1]]);

/** What is asked of a pair. */
export const asking = (giver: Side, getter: Side, order: string): string =>
  `runs/${run.value}/transfers?givers=${range(giver)}&getters=${range(getter)}&order=${order}`;

export function Between({ giver, getter }: { giver: Side; getter: Side }) {
  const { order = "slowest" } = route.value.params;
  const answer = useApi<Transfers>(asking(giver, getter, order));
  const close = () => amend({ giver: undefined, getter: undefined, order: undefined });
  const section = useRef<HTMLElement>(null);
  // It stands below what was clicked on.
  useEffect(() => section.current?.scrollIntoView({ block: "start" }), [giver.first, getter.first]);
  return (
    <section id="between" ref={section} aria-label={`From PE ${giver.label} to PE ${getter.label}`} aria-live="polite">
      <div class="head">
        <h2>
          PE {giver.label} → PE {getter.label}
        </h2>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Answer of={answer}>{(data) => <Shown data={data} order={order} />}</Answer>
    </section>
  );
}

function Shown({ data, order }: { data: Transfers; order: string }) {
  if (data.count === 0) return <p>Nothing went this way.</p>;
  const { sizes, durations } = data;
  const upTo = (to: number | null | undefined) => (to === null || to === undefined ? "" : ` – ${bytes(to)}`);
  const aside = [
    data.unmatched > 0 ? `${plural(data.unmatched, "message")} of which only the send is known` : "",
    data.backwards > 0 ? `${count(data.backwards)} that came before they were sent, by clocks that do not agree` : "",
  ].filter(Boolean);
  return (
    <>
      <p>
        {plural(data.count, "message or access", "messages and accesses")}, {bytes(data.bytes)}, {seconds(data.seconds)} in the
        operations that moved them.{aside.length > 0 && ` Without a time on their way: ${aside.join("; ")}.`}
      </p>
      <div class="columns">
        <section aria-label="Sizes">
          <h3>By size</h3>
          <Histogram
            id="between-sizes"
            caption="Messages and accesses by how large they are"
            classes={sizes.count.map((it, at) => ({ name: `${bytes(sizes.from[at])}${upTo(sizes.to[at])}`, count: it }))}
          />
        </section>
        <section aria-label="Times">
          <h3>By time from the send to the end of the receive</h3>
          <Histogram
            id="between-times"
            caption="Messages and accesses by how long they were on their way"
            classes={durationClasses(durations)}
          />
        </section>
      </div>
      {!recorded && (
        <div class="tools">
          <label>
            First those
            <select id="between-order" value={order} onChange={(event) => amend({ order: event.currentTarget.value })}>
              {ORDERS.map(([name, words]) => (
                <option key={name} value={name}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
      <List data={data} />
    </>
  );
}

/** The address of a message in the timeline, where it is the chosen one; of an access, where it was made. */
function place(it: Transfer): string {
  const [begin, end] = [Math.min(it.sent, it.received), Math.max(it.sent, it.received)];
  return timelineLink(it.from_pe ?? 0, begin, end, { time: it.sent, message: messageKey(it) });
}

function List({ data }: { data: Transfers }) {
  const rows = Array.from({ length: length(data.rows) }, (_, at) => ({ at, ...row<Transfer>(data.rows, at) }));
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    {
      key: "sent",
      title: "Sent",
      number: true,
      by: (it) => it.sent,
      cell: (it) => (
        <a class="message" href={place(it)} title="Show it in the timeline">
          {instant(it.sent, 1000)}
        </a>
      ),
    },
    { key: "kind", title: "What", by: (it) => it.kind, cell: (it) => it.kind },
    { key: "from", title: "From", by: (it) => it.from_pe, cell: (it) => pe(it.from_pe) },
    { key: "to", title: "To", by: (it) => it.to_pe, cell: (it) => pe(it.to_pe) },
    { key: "bytes", title: "Bytes", number: true, by: (it) => it.bytes, cell: (it) => bytes(it.bytes) },
    {
      key: "way",
      title: "On its way",
      what: "From the send to the end of the receive, which may have come late; of an access to its completion",
      number: true,
      by: (it) => it.received - it.sent,
      cell: (it) => (it.received < it.sent ? "–" : duration(it.received - it.sent)),
    },
    { key: "tag", title: "Tag", number: true, by: (it) => it.tag, cell: (it) => it.tag ?? "–" },
    { key: "group", title: "Communicator", by: (it) => it.group, cell: (it) => it.group ?? "–" },
  ];
  return (
    <>
      <Table
        caption={`${plural(rows.length, "message or access", "messages and accesses")}, each with its way to the timeline`}
        rows={rows}
        columns={columns}
        first={20}
        sort="msort"
        id={(it) => it.at}
      />
      {data.omitted > 0 && <p class="dim small">{count(data.omitted)} more are not listed.</p>}
    </>
  );
}
