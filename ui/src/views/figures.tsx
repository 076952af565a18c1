// All figures: what every analysis says, the first rows of its tables, and how it computes them.
import type { Figures as Data } from "../api";
import { count } from "../format";
import { useApi } from "../load";
import { Answer } from "../parts/states";
import { type Column, Table } from "../parts/table";
import { run } from "../state";

type Section = Data[number];

export function Figures() {
  const answer = useApi<Data>(`runs/${run.value}/figures`);
  return (
    <>
      <div class="head">
        <h1>All figures</h1>
        <p class="dim">What each analysis found, and how it computes it. partune analyze --json has every row.</p>
      </div>
      <Answer of={answer}>{(data) => data.map((it) => <Shown key={it.name} section={it} />)}</Answer>
    </>
  );
}

function Shown({ section }: { section: Section }) {
  return (
    <details class="figures">
      <summary>
        <strong>{section.name}</strong> <span class="dim">{section.title}</span>
      </summary>
      {section.scalars.length > 0 && (
        <dl class="pairs">
          {section.scalars.map((it) => (
            <>
              <dt>{it.name}</dt>
              <dd>{it.text}</dd>
            </>
          ))}
        </dl>
      )}
      {section.tables.map((it) => (
        <Rows key={it.name} table={it} sort={`${section.name}-${it.name}`.replaceAll(" ", "-")} />
      ))}
      {section.notes.map((it) => (
        <p class="dim" key={it}>
          Note: {it}
        </p>
      ))}
      {section.book && (
        <details>
          <summary>How it is computed</summary>
          <pre class="code book">{section.book}</pre>
        </details>
      )}
    </details>
  );
}

function Rows({ table, sort }: { table: Section["tables"][number]; sort: string }) {
  const rows = Array.from({ length: table.columns[0]?.texts.length ?? 0 }, (_, at) => at);
  const columns = table.columns.map(({ name, texts, values }, index): Column<number> => {
    const by = (at: number) => (values ? values[at] : texts[at]);
    return { key: String(index), title: name, number: values !== null, wide: false, by, cell: (at) => texts[at] };
  });
  const cut = rows.length < table.count ? `; the first ${count(rows.length)} of ${count(table.count)} rows` : "";
  return <Table caption={`${table.name}${cut}`} rows={rows} columns={columns} id={(at) => at} sort={sort} first={25} />;
}
