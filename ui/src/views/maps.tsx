// Maps of the load balance: which PE has more useful time than the mean of all, block by block and region by region.
import { useMemo } from "preact/hooks";
import type { Balance as Data } from "../api";
import { seconds } from "../format";
import { Heatmap } from "../parts/heatmap";
import { Fold } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { go } from "../state";

/** Seconds against the mean of their column, as a share from 0 (least) over a half (the mean) to 1 (most). */
function against(seconds: number[][]): (row: number, column: number) => number | null {
  const columns = seconds[0]?.length ?? 0;
  const means = Array.from(
    { length: columns },
    (_, column) => seconds.reduce((sum, it) => sum + (it[column] ?? 0), 0) / (seconds.length || 1),
  );
  const widest = Math.max(...seconds.flatMap((it) => it.map((value, column) => Math.abs(value - (means[column] ?? 0)))), 0) || 1;
  return (row, column) => {
    const value = seconds[row]?.[column];
    if (value === undefined) return null;
    const apart = (value - (means[column] ?? 0)) / widest;
    // The root lets small differences be seen beside large ones.
    return 0.5 + (Math.sign(apart) * Math.sqrt(Math.abs(apart))) / 2;
  };
}

/** The seconds of a map as a table, a row a PE. */
function MapTable({ rows, columns, values, sort }: { rows: string[]; columns: string[]; values: number[][]; sort: string }) {
  return (
    <Fold title="The same as a table">
      {() => (
        <Table
          caption="Seconds of each PE"
          rows={rows.map((label, at) => ({ label, at }))}
          id={(it) => it.at}
          sort={sort}
          columns={[
            { key: "pe", title: "PE", by: (it) => it.at, cell: (it) => it.label },
            ...columns.map(
              (title, index): Column<{ label: string; at: number }> => ({
                key: String(index),
                title,
                number: true,
                by: (it) => values[it.at]?.[index],
                cell: (it) => seconds(values[it.at]?.[index]),
              }),
            ),
          ]}
        />
      )}
    </Fold>
  );
}

export function Maps({ data }: { data: Data }) {
  const regions = useMemo(() => against(data.regions.seconds), [data]);
  const blocks = useMemo(() => (data.blocks ? against(data.blocks.seconds) : null), [data]);
  const blockNames = useMemo(() => data.blocks?.first.map(String) ?? [], [data]);
  const mean = (seconds: number[][], column: number) =>
    seconds.reduce((sum, it) => sum + (it[column] ?? 0), 0) / (seconds.length || 1);
  const cell = (table: number[][], at: number, column: number) =>
    `${seconds(table[at]?.[column])} (mean of all ${seconds(mean(table, column))})`;
  return (
    <div class="columns">
      {data.blocks && blocks && blockNames.length > 0 && (
        <section aria-labelledby="blocks">
          <h2 id="blocks">PE × block</h2>
          <p class="dim small">
            A block is the time between one global synchronisation and the next. Enter, or a click, shows it in the timeline.
          </p>
          <Heatmap
            id="block-map"
            diverging
            label="Useful time of each PE in each block, against the mean"
            rows={data.rows.label}
            columns={blockNames}
            rowTitle="PE ↓"
            columnTitle="block →"
            share={blocks}
            say={(at, column) =>
              `PE ${data.rows.label[at]}, block ${blockNames[column]}: ${cell(data.blocks?.seconds ?? [], at, column)}`
            }
            onOpen={(at, column) => {
              const [from, to] = [data.blocks?.from[column] ?? 0, data.blocks?.to[column] ?? 0];
              if (to > from) go("timeline", { from, to, pe: data.rows.first[at], time: Math.round((from + to) / 2) });
            }}
          />
          <MapTable
            rows={data.rows.label}
            columns={blockNames.map((it) => `block ${it}`)}
            values={data.blocks.seconds}
            sort="bsort"
          />
        </section>
      )}
      {data.regions.names.length > 0 && (
        <section aria-labelledby="regions">
          <h2 id="regions">PE × region</h2>
          <p class="dim small">
            Exclusive time of each PE in the regions that have most. Enter, or a click, searches the region in the timeline.
          </p>
          <Heatmap
            id="region-map"
            diverging
            label="Exclusive time of each PE in each region, against the mean"
            rows={data.rows.label}
            columns={data.regions.names}
            slanted
            rowTitle="PE ↓"
            columnTitle="region →"
            share={regions}
            say={(at, column) =>
              `PE ${data.rows.label[at]}, ${data.regions.names[column]}: ${cell(data.regions.seconds, at, column)}`
            }
            onOpen={(_at, column) => go("timeline", { text: data.regions.names[column], region: data.regions.region[column] })}
          />
          <MapTable rows={data.rows.label} columns={data.regions.names} values={data.regions.seconds} sort="rsort" />
        </section>
      )}
    </div>
  );
}
