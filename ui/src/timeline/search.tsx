// Search in the timeline: regions and their files, PEs, findings, and visits of which a condition holds ("time > 5 ms"); a click goes to the
// first visit of a region, n and p to the next and last.
import type { ComponentChildren } from "preact";
import type { Found, Kind } from "../api";
import { count, duration, instant, plural, seconds } from "../format";
import { get, useApi } from "../load";
import { Failure } from "../parts/states";
import { File, Swatch } from "../parts/words";
import { pe as peName } from "../pes";
import { inSlices } from "../runs";
import { amend, link, route, run } from "../state";
import { showVisit } from "./instances";
import { cursor, showPe, view } from "./view";

export function SearchField() {
  const { text = "" } = route.value.params;
  return (
    <input
      type="search"
      aria-label="Search regions, files, PEs, findings, or visits by a condition"
      placeholder={inSlices() ? "Search ( / )" : "Search, or time > 5 ms ( / )"}
      value={text}
      onInput={(event) =>
        amend(
          { text: event.currentTarget.value, region: undefined, visit: undefined, finding: undefined, instance: undefined },
          { replace: true },
        )
      }
      onKeyDown={(event) => {
        if (event.key === "Escape") document.getElementById("tracks")?.focus();
        if (event.key === "Enter") void first(text);
      }}
    />
  );
}

/** Goes to the first visit of the region that has most time, or to the longest of which the condition holds. */
async function first(text: string): Promise<void> {
  if (!text) return;
  const { regions, visits } = await get<Found>(`runs/${run.value}/find?text=${encodeURIComponent(text)}`);
  const found = regions.find((it) => it.pe !== null);
  if (found)
    showVisit({ pe: found.pe ?? 0, from: found.from ?? 0, to: found.to ?? 0 }, { region: found.region, text: found.name });
  else if (visits?.[0]) showVisit(visits[0]);
  document.getElementById("tracks")?.focus();
}

export function SearchResults({ kinds }: { kinds: Kind[] }) {
  const { text = "", region } = route.value.params;
  const answer = useApi<Found>(text ? `runs/${run.value}/find?text=${encodeURIComponent(text)}` : null);
  if (!text) return null;
  if (answer.error) return <Failure error={answer.error} />;
  if (!answer.data) return null;
  const { regions, omitted, pes, pes_omitted, findings, findings_omitted, visits, visits_count, wrong } = answer.data;
  const found = [
    ...(visits ? [`${plural(visits_count, "visit")} of which this is so`] : []),
    plural(regions.length + omitted, "region"),
    plural(pes.length + pes_omitted, "PE"),
    plural(findings.length + findings_omitted, "finding"),
  ];
  const visit = (it: { kind: number; name: string; pe: number | null; from: number | null; to: number | null }, of?: number) => (
    <>
      <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
      {it.pe !== null && it.from !== null && it.to !== null ? (
        <button
          type="button"
          class="plain"
          aria-pressed={of === undefined ? route.value.params.visit === String(it.from) : String(of) === region}
          onClick={() =>
            showVisit(
              { pe: it.pe as number, from: it.from as number, to: it.to as number },
              of === undefined ? {} : { region: of, text: it.name },
            )
          }
        >
          <code>{it.name}</code>
        </button>
      ) : (
        <code>{it.name}</code>
      )}
    </>
  );
  return (
    <section aria-label="What was found" id="found">
      <p class="dim small" role="status">
        “{text}”: {found.join(", ")}
      </p>
      {wrong && (
        <p class="notice small">
          As a condition: {wrong.message}; {wrong.remedy}.
        </p>
      )}
      <List title="Visits, the longest first" of={visits ?? []} more={visits_count - (visits?.length ?? 0)}>
        {(it) => (
          <>
            {visit(it)} <strong>{duration(it.to - it.from)}</strong>{" "}
            <span class="dim small">
              {peName(it.pe)} at {instant(it.from, (it.to - it.from) / 100)}, {it.place}
            </span>
          </>
        )}
      </List>
      <List title="Regions, by name or file" of={regions} more={omitted}>
        {(it) => (
          <>
            {visit(it, it.region)}{" "}
            <span class="dim small">
              {seconds(it.inclusive_s)} in {plural(it.visits, "visit")}
              {it.file && ", "}
              {it.file && <File file={it.file} line={it.line} />}
            </span>
          </>
        )}
      </List>
      <List title="PEs, by their names or those of processes and hosts" of={pes} more={pes_omitted}>
        {(it) => (
          <>
            <button
              type="button"
              class="plain"
              onClick={() => showPe(it.pe, cursor.value?.time ?? (view.value.from + view.value.to) / 2)}
            >
              {peName(it.pe)}
            </button>{" "}
            <span class="dim small">{[it.process, it.host].filter(Boolean).join(", ")}</span>
          </>
        )}
      </List>
      <List title="Findings" of={findings} more={findings_omitted}>
        {(it) => (
          <>
            <a href={link("findings", { finding: it.id })}>{it.title}</a>{" "}
            <span class="dim small">
              {seconds(it.seconds)}, {it.place}
            </span>
          </>
        )}
      </List>
    </section>
  );
}

/** What was found of one kind; nothing where there is nothing. */
function List<T>(props: { title: string; of: T[]; more: number; children: (it: T) => ComponentChildren }) {
  const { title, of, more, children } = props;
  if (of.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="found">
        {of.map((it, at) => (
          <li key={at}>{children(it)}</li>
        ))}
      </ul>
      {more > 0 && <p class="dim small">And {count(more)} more.</p>}
    </>
  );
}
