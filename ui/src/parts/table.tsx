// A table that is sorted by its heads. The order is in the address; long tables show their first rows until asked for all.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count } from "../format";
import { amend, route } from "../state";

export interface Column<Row> {
  key: string;
  title: string;
  /** What the column says, as a tool tip of its head. */
  what?: string;
  cell: (row: Row) => ComponentChildren;
  /** By what it is sorted; numbers fall, texts rise. Without it the column has no order. */
  by?: (row: Row) => number | string | null | undefined;
  number?: boolean;
  wide?: boolean;
}

interface Props<Row> {
  caption: string;
  rows: Row[];
  columns: Column<Row>[];
  id: (row: Row) => string | number;
  /** Key of the address under which the order is kept. */
  sort?: string;
  selected?: string | number | undefined;
  first?: number;
  free?: boolean;
}

function compare(a: number | string | null | undefined, b: number | string | null | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return typeof a === "number" && typeof b === "number" ? b - a : String(a).localeCompare(String(b));
}

/** What holds a table that may be wider, or where it is not free taller, than its place. */
export function Scroll(props: { label: string; free?: boolean | undefined; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class={`scroll ${props.free ? "free" : ""}`} tabIndex={0} aria-label={props.label}>
      {props.children}
    </section>
  );
}

export function Table<Row>({ caption, rows, columns, id, sort = "sort", selected, first = 100, free }: Props<Row>) {
  const [all, setAll] = useState(false);
  const [key = "", way] = (route.value.params[sort] ?? "").split(".");
  const by = columns.find((it) => it.key === key)?.by;
  const sorted = by ? [...rows].sort((a, b) => (way === "up" ? -1 : 1) * compare(by(a), by(b))) : rows;
  const shown = all ? sorted : sorted.slice(0, first);
  const order = (column: Column<Row>) =>
    column.key !== key ? "none" : (way === "up") === Boolean(column.number) ? "ascending" : "descending";
  return (
    <>
      <Scroll label={caption} free={free}>
        <table>
          <caption>{caption}</caption>
          <thead>
            <tr>
              {columns.map((it) => (
                <th
                  key={it.key}
                  scope="col"
                  class={`${it.number ? "number" : ""} ${it.wide ? "wide" : ""}`}
                  title={it.what}
                  aria-sort={it.by ? order(it) : undefined}
                >
                  {it.by ? (
                    <button
                      type="button"
                      onClick={() =>
                        amend({ [sort]: it.key === key && way !== "up" ? `${it.key}.up` : it.key }, { replace: true })
                      }
                    >
                      {it.title}
                    </button>
                  ) : (
                    it.title
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={id(row)} class={selected === id(row) ? "selected" : ""}>
                {columns.map((it) => (
                  <td key={it.key} class={`${it.number ? "number" : ""} ${it.wide ? "wide" : ""}`}>
                    {it.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {sorted.length > shown.length && (
        <p>
          <button type="button" onClick={() => setAll(true)}>
            Show all {count(sorted.length)} rows
          </button>
        </p>
      )}
    </>
  );
}

/** A number with a bar behind it: the share of the largest. */
export function Bar({ share, children, colour }: { share: number; children: ComponentChildren; colour?: string }) {
  const width = `${Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0)) * 100}%`;
  return (
    <>
      <span class="barcell" aria-hidden="true">
        <i style={{ width, background: colour }} />
      </span>
      {children}
    </>
  );
}
