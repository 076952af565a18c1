// Memory that PEs share, as an array: which part each PE touches, where the parts lie, and what another distribution would make local.
import { useCallback } from "preact/hooks";
import type { Arrays } from "../api";
import { bytes, count, percent, plural } from "../format";
import { recorded, useApi } from "../load";
import { Heatmap } from "../parts/heatmap";
import { Answer } from "../parts/states";
import { Bar, Table } from "../parts/table";
import { amend, numeric, route, run } from "../state";

type Data = NonNullable<Arrays["array"]>;

/** Rows and columns of the picture of where elements lie. */
const [HIGH, WIDE] = [48, 128];

/** Nothing where no memory is shared, or nobody knows who touches what. */
export function SharedArrays() {
  const { window, block, on } = route.value.params;
  const asked = Object.entries({ window, block, pes: on }).filter(([, value]) => value !== undefined);
  const query = asked.map(([key, value]) => `${key}=${encodeURIComponent(value ?? "")}`).join("&");
  const answer = useApi<Arrays>(`runs/${run.value}/array${query && `?${query}`}`);
  if (!answer.error && !answer.data?.array) return null;
  return (
    <section id="arrays" aria-label="Shared arrays">
      <h2>Shared arrays</h2>
      <Answer of={answer}>
        {({ windows, array }) =>
          array && (
            <>
              {!recorded && windows.window.length > 1 && <Choice windows={windows} array={array} />}
              <Shown data={array} />
            </>
          )
        }
      </Answer>
    </section>
  );
}

function Choice({ windows, array }: { windows: Arrays["windows"]; array: Data }) {
  return (
    <label>
      Memory{" "}
      <select
        value={array.window}
        onChange={(event) => amend({ window: event.currentTarget.value, block: undefined, on: undefined, width: undefined })}
      >
        {windows.window.map((it, at) => (
          <option key={it} value={it}>
            {windows.name[at] || `window ${it}`}, {plural(windows.pes[at] ?? 0, "PE")},{" "}
            {bytes((windows.local_bytes[at] ?? 0) + (windows.remote_bytes[at] ?? 0))} accessed
          </option>
        ))}
      </select>
    </label>
  );
}

function Shown({ data }: { data: Data }) {
  const share = (local: number | null) => (local === null ? "–" : percent(local / (data.accesses || 1)));
  const pes = data.elements / data.each;
  const changed = data.block !== data.each || data.pes !== pes;
  return (
    <>
      <p>
        {plural(data.elements, "element")} of {bytes(data.element_bytes)}, {count(data.each)} on each of {plural(pes, "PE")}.{" "}
        <strong id="local">{share(data.recorded_local)}</strong> of{" "}
        {plural(data.accesses, "recorded access", "recorded accesses")} to an element are where it lies.{" "}
        {changed &&
          (data.local === null ? (
            <>On {plural(data.pes, "PE")} nobody knows who would do what, so only the layout is shown.</>
          ) : (
            <>
              In blocks of {count(data.block)} on {plural(data.pes, "PE")} it would be{" "}
              <strong id="local-then">{share(data.local)}</strong>
              {data.pes !== pes && ", if neighbours in rank share a PE"}.
            </>
          ))}{" "}
        {data.best_block !== null && (
          <>
            Best are blocks of {count(data.best_block)}: {share(data.best_local)}.
          </>
        )}{" "}
        Loads and stores of a PE's own memory are not recorded.
      </p>
      {!recorded && <Layout data={data} changed={changed} />}
      <div class="columns">
        <Touched data={data} />
        <Lies data={data} />
      </div>
      {data.factors.block.length > 0 && <Blocks data={data} share={share} />}
    </>
  );
}

/** What is free to change; each is in the address. */
function Layout({ data, changed }: { data: Data; changed: boolean }) {
  const field = (key: string, title: string, value: number, most: number) => (
    <label>
      {title}{" "}
      <input
        type="number"
        name={key}
        min="1"
        max={most}
        value={value}
        onChange={(event) => {
          const asked = Math.round(Number(event.currentTarget.value));
          amend({ [key]: Math.max(1, Math.min(most, asked || 1)) });
        }}
      />
    </label>
  );
  return (
    <div class="tools">
      {field("block", "Elements of a block", data.block, data.elements)}
      {field("on", "PEs", data.pes, 1 << 20)}
      {field("width", "Elements of a row", width(data), data.elements)}
      {changed && (
        <button type="button" onClick={() => amend({ block: undefined, on: undefined })}>
          As recorded
        </button>
      )}
      {data.best_block !== null && data.best_block !== data.block && (
        <button type="button" onClick={() => amend({ block: data.best_block })}>
          Best block
        </button>
      )}
    </div>
  );
}

/** The row length of the array as it is drawn: that of the address, or what makes it about as wide as it is on each PE. */
const width = (data: Data): number =>
  Math.max(1, Math.min(data.elements, numeric(route.value.params, "width") ?? Math.min(WIDE, data.each)));

function Touched({ data }: { data: Data }) {
  const columns = data.touched[0]?.length ?? 0;
  const begin = (column: number) => Math.floor((data.elements * column) / columns);
  const most = Math.max(1, ...data.touched.flat());
  const share = useCallback(
    (row: number, column: number) => {
      const [all, home] = [data.touched[row]?.[column] ?? 0, data.at_home?.[row]?.[column] ?? 0];
      if (all === 0) return null;
      const strong = 0.1 + 0.4 * Math.sqrt(all / most);
      return home * 2 > all ? 0.5 - strong : 0.5 + strong;
    },
    [data],
  );
  const names = Array.from({ length: columns }, (_, column) => count(begin(column)));
  return (
    <section aria-label="Who touches what">
      <h3>Who touches what</h3>
      <Heatmap
        id="touched"
        diverging
        label={`Accesses of ${data.rows.label.length} rows of PEs to ${count(data.elements)} elements; the numbers are in the table of blocks`}
        rows={data.rows.label}
        columns={names}
        rowTitle="PE ↓"
        columnTitle="element →"
        share={share}
        say={(row, column) => {
          const [from, to] = [begin(column), begin(column + 1) - 1];
          const [all, home] = [data.touched[row]?.[column] ?? 0, data.at_home?.[row]?.[column]];
          const elements = from >= to ? `element ${count(from)}` : `elements ${count(from)} to ${count(to)}`;
          return `PE ${data.rows.label[row]} touches ${elements} ${count(all)} times${home === undefined ? "" : `, ${count(home)} of them at home`}`;
        }}
      />
      <p class="dim small">Blue: most of it lies on the PE that touches it; orange: elsewhere.</p>
    </section>
  );
}

function Lies({ data }: { data: Data }) {
  const wide = width(data);
  const high = Math.ceil(data.elements / wide);
  const [rows, columns] = [Math.min(HIGH, high), Math.min(WIDE, wide)];
  const row = (at: number) => Math.floor((high * at) / rows);
  const column = (at: number) => Math.floor((wide * at) / columns);
  const element = (y: number, x: number) => row(y) * wide + column(x);
  const owner = (it: number) => Math.floor(it / data.block) % data.pes;
  const share = useCallback(
    (y: number, x: number) => {
      const it = element(y, x);
      return it >= data.elements ? null : data.pes === 1 ? 0.5 : 0.1 + (0.9 * owner(it)) / (data.pes - 1);
    },
    [data, wide],
  );
  const thinned = high > rows || wide > columns;
  return (
    <section aria-label="Where it lies">
      <h3>Where it lies</h3>
      <Heatmap
        id="lies"
        label={`Elements in rows of ${count(wide)}, darker the higher the rank of the PE that they lie on`}
        rows={Array.from({ length: rows }, (_, y) => count(row(y) * wide))}
        columns={Array.from({ length: columns }, (_, x) => count(column(x)))}
        rowTitle="from ↓"
        columnTitle="+ →"
        share={share}
        say={(y, x) => {
          const it = element(y, x);
          return it >= data.elements ? "after the last element" : `element ${count(it)} lies on rank ${count(owner(it))}`;
        }}
      />
      <p class="dim small">
        Darker is a higher rank. {count(data.largest)} elements lie on the PE that has most.
        {thinned && " Of elements that share a cell the first is shown."}
      </p>
    </section>
  );
}

function Blocks({ data, share }: { data: Data; share: (local: number | null) => string }) {
  const rows = data.factors.block.map((block, at) => ({ block, local: data.factors.local[at] ?? 0 }));
  return (
    <Table
      caption={`Accesses at home by size of block, on ${plural(data.pes, "PE")}`}
      rows={rows}
      first={16}
      sort="bsort"
      id={(it) => it.block}
      selected={data.block}
      columns={[
        {
          key: "block",
          title: "Elements of a block",
          number: true,
          by: (it) => it.block,
          cell: (it) =>
            recorded ? (
              count(it.block)
            ) : (
              <button
                type="button"
                class="plain"
                aria-label={`blocks of ${it.block}`}
                onClick={() => amend({ block: it.block }, { replace: true })}
              >
                {count(it.block)}
              </button>
            ),
        },
        {
          key: "home",
          title: "At home",
          number: true,
          wide: true,
          by: (it) => it.local,
          cell: (it) => <Bar share={it.local / (data.accesses || 1)}>{share(it.local)}</Bar>,
        },
        { key: "count", title: "Accesses", number: true, by: (it) => it.local, cell: (it) => count(it.local) },
      ]}
    />
  );
}
