// What differs in view between a run and the one beside it: stages, kinds of time, functions, in words and tables.
import type { Beside, Kind } from "../api";
import { length, row } from "../api";
import { lengths } from "../draw/ribbons";
import { count, difference, duration, plural, ratio, seconds } from "../format";
import { Table } from "../parts/table";
import { Swatch } from "../parts/words";

/** A stage in words: the fifth turn, the block that a synchronisation ends. */
export function stageName(data: Beside, at: number): string {
  const name = data.stages.name[at] ?? "";
  const number = (data.stages.number[at] ?? 0) + 1;
  return data.by === "blocks"
    ? `until ${name}${number > 1 ? `, for the ${ordinal(number)} time` : ""}`
    : `${name}, ${ordinal(number)}`;
}

function ordinal(number: number): string {
  const rule = new Intl.PluralRules("en", { type: "ordinal" }).select(number);
  return `${count(number)}${{ one: "st", two: "nd", few: "rd", other: "th", zero: "th", many: "th" }[rule]}`;
}

export function inWords(data: Beside, at: number): string {
  const [here, there] = lengths(data.stages, at);
  return `${duration(here)} against ${duration(there)}, ${difference(here - there, duration)}`;
}

export function Differences({ data, kinds, name }: { data: Beside; kinds: Kind[]; name: string }) {
  const stages = Array.from({ length: length(data.stages) }, (_, at) => ({ at, ...row(data.stages, at) }));
  const functions = Array.from({ length: length(data.functions) }, (_, at) => ({ at, ...row(data.functions, at) }));
  const times = Array.from({ length: length(data.kinds) }, (_, at) => row(data.kinds, at));
  const change = (here: number, there: number) => (
    <span class={here > there ? "more" : here < there ? "less" : "dim"}>{difference(here - there, seconds)}</span>
  );
  const by = <T,>(of: (it: T) => number) => ({ number: true, by: (it: T) => Math.abs(of(it)) });
  return (
    <details id="beside-tables" open>
      <summary>What differs in view, in seconds of all PEs together</summary>
      {stages.length > 0 && (
        <Table
          caption={`Stages in view, in this run and in ${name}`}
          rows={stages}
          first={20}
          sort="bsort"
          id={(it) => it.at}
          columns={[
            { key: "name", title: "Stage", wide: true, by: (it) => it.from * -1, cell: (it) => stageName(data, it.at) },
            {
              key: "here",
              title: "This run",
              ...by((it: (typeof stages)[0]) => it.to - it.from),
              cell: (it) => duration(it.to - it.from),
            },
            {
              key: "there",
              title: "Other run",
              ...by((it: (typeof stages)[0]) => it.base_to - it.base_from),
              cell: (it) => duration(it.base_to - it.base_from),
            },
            {
              key: "change",
              title: "Difference",
              ...by((it: (typeof stages)[0]) => it.to - it.from - (it.base_to - it.base_from)),
              cell: (it) => (
                <>
                  {change((it.to - it.from) / 1e9, (it.base_to - it.base_from) / 1e9)}{" "}
                  {it.base_to > it.base_from && (
                    <span class="small dim">({ratio((it.to - it.from) / (it.base_to - it.base_from))})</span>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
      <Table
        caption={`Kinds of time in view, in this run and in ${name}`}
        rows={times}
        sort="ksort"
        id={(it) => it.kind}
        columns={[
          {
            key: "name",
            title: "Kind",
            wide: true,
            cell: (it) => (
              <>
                <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
                {kinds[it.kind]?.label ?? ""}
              </>
            ),
          },
          { key: "here", title: "This run", ...by((it: (typeof times)[0]) => it.seconds), cell: (it) => seconds(it.seconds) },
          { key: "there", title: "Other run", ...by((it: (typeof times)[0]) => it.base_s), cell: (it) => seconds(it.base_s) },
          {
            key: "change",
            title: "Difference",
            ...by((it: (typeof times)[0]) => it.seconds - it.base_s),
            cell: (it) => change(it.seconds, it.base_s),
          },
        ]}
      />
      <Table
        caption={`Functions in view by how much they differ, without what they call, in this run and in ${name}`}
        rows={functions}
        first={20}
        sort="dsort"
        id={(it) => it.at}
        columns={[
          {
            key: "name",
            title: "Function",
            wide: true,
            by: (it) => it.name,
            cell: (it) => (
              <>
                <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
                <code>{it.name}</code>
              </>
            ),
          },
          { key: "here", title: "This run", ...by((it: (typeof functions)[0]) => it.seconds), cell: (it) => seconds(it.seconds) },
          { key: "there", title: "Other run", ...by((it: (typeof functions)[0]) => it.base_s), cell: (it) => seconds(it.base_s) },
          {
            key: "change",
            title: "Difference",
            ...by((it: (typeof functions)[0]) => it.seconds - it.base_s),
            cell: (it) => change(it.seconds, it.base_s),
          },
          {
            key: "waiting",
            title: "Waiting",
            ...by((it: (typeof functions)[0]) => it.waiting_s - it.base_waiting_s),
            cell: (it) => change(it.waiting_s, it.base_waiting_s),
          },
          {
            key: "visits",
            title: "Visits",
            ...by((it: (typeof functions)[0]) => it.visits),
            cell: (it) => `${count(it.visits)} / ${count(it.base_visits)}`,
          },
        ]}
      />
      {data.functions_omitted > 0 && (
        <p class="dim small">{plural(data.functions_omitted, "function")} that differ less are not listed.</p>
      )}
    </details>
  );
}
