// Scaling: how the time of a program goes down, or stays, with more PEs; against the ideal, by factors, and which places keep it from it.
import type { Scaling as Data, ScaledPlace } from "../api-runs";
import { count, percent, plural, ratio, seconds } from "../format";
import { useApi } from "../load";
import { Choice, chosenRuns } from "../parts/choice";
import { Curves } from "../parts/curves";
import { Answer, Omitted, What } from "../parts/states";
import { Bar, type Column, Table } from "../parts/table";
import { at } from "../parts/words";
import { runs } from "../runs";
import { amend, route } from "../state";

export function Scaling() {
  const chosen = chosenRuns();
  const weak = route.value.params.mode === "weak";
  const sizes = new Set(runs.value?.filter((it) => chosen.includes(it.run)).map((it) => it.pes));
  const answer = useApi<Data>(sizes.size > 1 ? `scaling?runs=${chosen.join(",")}${weak ? "&mode=weak" : ""}` : null);
  return (
    <>
      <div class="head">
        <h1>Scaling</h1>
        <What>
          Strong scaling is one problem on more PEs: ideally twice the PEs take half the time. Weak scaling is a problem that
          grows with the PEs: ideally the time stays. Efficiency is what was reached of the ideal, and the product of its factors;
          a factor below 1 says what became worse against the smallest run.
        </What>
      </div>
      <Choice base={false} />
      <div class="tools">
        <div class="group" role="group" aria-label="Kind of scaling">
          <button type="button" aria-pressed={!weak} onClick={() => amend({ mode: undefined })}>
            Strong
          </button>
          <button type="button" aria-pressed={weak} onClick={() => amend({ mode: "weak" })}>
            Weak
          </button>
        </div>
      </div>
      {sizes.size > 1 ? (
        <Answer of={answer}>{(data) => <Shown data={data} />}</Answer>
      ) : (
        <p>Choose at least two runs on different numbers of PEs.</p>
      )}
    </>
  );
}

function Shown({ data }: { data: Data }) {
  const pes = data.points.map((it) => it.pes);
  const factors = [...new Set(data.points.flatMap((it) => Object.keys(it.factors ?? {})))];
  return (
    <>
      <p class="summary-lead">{data.text}</p>
      {data.notes.map((it) => (
        <p class="notice" key={it}>
          {it}
        </p>
      ))}
      <div class="columns">
        <section class="card" aria-labelledby="speed">
          <h2 id="speed">Speed-up</h2>
          <Curves
            pes={pes}
            log
            show={(value) => ratio(value)}
            label="Speed-up over the number of PEs, and the ideal; the table below has the numbers"
            curves={[
              { name: "ideal", colour: "var(--dim)", dashed: true, values: data.points.map((it) => it.ideal_speed_up) },
              { name: "speed-up", colour: "var(--k-messages)", values: data.points.map((it) => it.speed_up) },
            ]}
          />
        </section>
        <section class="card" aria-labelledby="efficiency">
          <h2 id="efficiency">Efficiency against the ideal</h2>
          <Curves
            pes={pes}
            log={false}
            most={1}
            show={(value) => percent(value)}
            label="Efficiency over the number of PEs, and the ideal of 100 percent; the table below has the numbers"
            curves={[
              { name: "ideal", colour: "var(--dim)", dashed: true, values: pes.map(() => 1) },
              { name: "efficiency", colour: "var(--k-collective)", values: data.points.map((it) => it.efficiency) },
            ]}
          />
        </section>
      </div>
      <section aria-labelledby="points">
        <h2 id="points">By number of PEs</h2>
        <div class="scroll free">
          <table>
            <caption>Factors are against the smallest run: 1 is as good as there; their product is the efficiency</caption>
            <thead>
              <tr>
                {["PEs", "Runs", "Time", "Speed-up", "Ideal", "Efficiency"].map((it) => (
                  <th scope="col" class="number" key={it}>
                    {it}
                  </th>
                ))}
                {factors.map((it) => (
                  <th scope="col" class="number" key={it}>
                    {it.replaceAll("_", " ")}
                  </th>
                ))}
                <th
                  scope="col"
                  class="number"
                  title="Karp and Flatt: the share of the program that behaves as if only one PE did it"
                >
                  Serial fraction
                </th>
                <th scope="col" class="number" title="What the PEs spent more than the ideal run">
                  Lost
                </th>
              </tr>
            </thead>
            <tbody>
              {data.points.map((it) => (
                <tr key={it.pes}>
                  <th scope="row" class="number">
                    {count(it.pes)}
                  </th>
                  <td class="number" title={it.archives.join("\n")}>
                    {count(it.archives.length)}
                  </td>
                  <td class="number">{seconds(it.duration_s)}</td>
                  <td class="number">{ratio(it.speed_up)}</td>
                  <td class="number">{ratio(it.ideal_speed_up)}</td>
                  <td class="number">
                    <Bar share={it.efficiency} colour={it.efficiency < 0.8 ? "var(--k-synchronisation)" : "var(--k-computation)"}>
                      {percent(it.efficiency)}
                    </Bar>
                  </td>
                  {factors.map((name) => (
                    <td class="number" key={name}>
                      {it.factors?.[name]?.toFixed(3) ?? "–"}
                    </td>
                  ))}
                  <td class="number">{it.serial_fraction?.toFixed(3) ?? "–"}</td>
                  <td class="number">{seconds(it.lost_s)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <Places data={data} />
      <Omitted of={data.omitted} />
    </>
  );
}

function Places({ data }: { data: Data }) {
  const last = data.points.length - 1;
  const places = data.callpaths.length > 0 && route.value.params.places !== "regions" ? data.callpaths : data.regions;
  const rows = places.map((it, index) => ({ ...it, index }));
  const most = Math.max(...rows.map((it) => it.points[last]?.lost_s ?? 0), 0);
  type Row = ScaledPlace & { index: number };
  const columns: Column<Row>[] = [
    {
      key: "place",
      title: "Place",
      wide: true,
      by: (it) => it.construct,
      cell: (it) => (
        <>
          <code>{it.construct}</code>{" "}
          <span class="dim small">{at(it.location.file.slice(it.location.file.lastIndexOf("/") + 1), it.location.line)}</span>
          {it.callpath.length > 1 && <div class="dim small">{it.callpath.slice(0, -1).join(" › ")}</div>}
        </>
      ),
    },
    { key: "growth", title: "How it grows", by: (it) => it.growth, cell: (it) => it.growth.replaceAll("_", " ") },
    {
      key: "lost",
      title: `Lost on ${plural(data.points[last]?.pes ?? 0, "PE")}`,
      number: true,
      what: "What it takes more than ideal, summed over PEs",
      by: (it) => it.points[last]?.lost_s,
      cell: (it) => <Bar share={(it.points[last]?.lost_s ?? 0) / (most || 1)}>{seconds(it.points[last]?.lost_s)}</Bar>,
    },
    ...data.points.map(
      (point, index): Column<Row> => ({
        key: `on${point.pes}`,
        title: `${count(point.pes)} PEs`,
        number: true,
        by: (it) => it.points[index]?.exclusive_s,
        cell: (it) => seconds(it.points[index]?.exclusive_s),
      }),
    ),
  ];
  return (
    <section aria-labelledby="worst">
      <h2 id="worst">Places that keep it from the ideal</h2>
      <Table
        caption="Exclusive time summed over PEs; what loses most first"
        rows={rows}
        columns={columns}
        id={(it) => it.index}
        first={40}
      />
    </section>
  );
}
