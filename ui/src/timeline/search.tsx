// Search in the timeline: regions by name, with their time; a click goes to the first visit, n and p to the next and last.
import type { FoundRegion, Kind } from "../api";
import { count, plural, seconds } from "../format";
import { get, useApi } from "../load";
import { Failure } from "../parts/states";
import { Swatch } from "../parts/words";
import { amend, route, run } from "../state";
import { showVisit } from "./instances";

/** The answer for a text. */
interface Found {
  regions: FoundRegion[];
  omitted: number;
}

export function SearchField() {
  const { text = "" } = route.value.params;
  return (
    <input
      type="search"
      aria-label="Search regions in the timeline"
      placeholder="Search regions ( / )"
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

/** Goes to the first visit of the region that has most time. */
async function first(text: string): Promise<void> {
  if (!text) return;
  const { regions } = await get<Found>(`runs/${run.value}/find?text=${encodeURIComponent(text)}`);
  const found = regions.find((it) => it.pe !== null);
  if (found)
    showVisit({ pe: found.pe ?? 0, from: found.from ?? 0, to: found.to ?? 0 }, { region: found.region, text: found.name });
  document.getElementById("tracks")?.focus();
}

export function SearchResults({ kinds }: { kinds: Kind[] }) {
  const { text = "", region } = route.value.params;
  const answer = useApi<Found>(text ? `runs/${run.value}/find?text=${encodeURIComponent(text)}` : null);
  if (!text) return null;
  if (answer.error) return <Failure error={answer.error} />;
  if (!answer.data) return null;
  const { regions, omitted } = answer.data;
  return (
    <section aria-label="Regions found">
      <p class="dim small" role="status">
        {plural(regions.length + omitted, "region")} with “{text}” in the name
      </p>
      <ul class="found">
        {regions.map((it) => (
          <li key={it.region}>
            <Swatch kind={kinds[it.kind]?.name ?? "computation"} />
            {it.pe !== null && it.from !== null && it.to !== null ? (
              <button
                type="button"
                class="plain"
                aria-pressed={String(it.region) === region}
                onClick={() =>
                  showVisit(
                    { pe: it.pe as number, from: it.from as number, to: it.to as number },
                    { region: it.region, text: it.name },
                  )
                }
              >
                <code>{it.name}</code>
              </button>
            ) : (
              <code>{it.name}</code>
            )}{" "}
            <span class="dim small">
              {seconds(it.inclusive_s)} in {count(it.visits)} visits
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
