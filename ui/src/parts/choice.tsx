// Which runs a view of several is about: a box for each, and which of them is the one that others are compared with.
import { runs } from "../runs";
import { amend, route } from "../state";

/** The runs that are chosen: those of the address, else all. The first is the base. */
export function chosenRuns(): number[] {
  const ready = (runs.value ?? []).filter((it) => it.state === "ready").map((it) => it.run);
  const text = route.value.params.runs;
  if (text === undefined) return ready;
  return [...new Set(text.split(",").map(Number))].filter((it) => ready.includes(it));
}

export function Choice({ base }: { base: boolean }) {
  const chosen = chosenRuns();
  const all = runs.value ?? [];
  const set = (next: number[]) => amend({ runs: next.join(",") });
  return (
    <fieldset class="runs-choice">
      <legend>Runs</legend>
      {all.map((it) => (
        <span key={it.run}>
          <label>
            <input
              type="checkbox"
              checked={chosen.includes(it.run)}
              disabled={it.state !== "ready"}
              onChange={(event) =>
                set(event.currentTarget.checked ? [...chosen, it.run] : chosen.filter((run) => run !== it.run))
              }
            />{" "}
            {it.name} <span class="dim small">{it.state === "ready" ? `${it.pes} PEs` : it.state}</span>
          </label>
        </span>
      ))}
      {base && chosen.length > 1 && (
        <label>
          Compared with{" "}
          <select
            value={chosen[0]}
            onChange={(event) => {
              const first = Number(event.currentTarget.value);
              set([first, ...chosen.filter((it) => it !== first)]);
            }}
          >
            {chosen.map((run) => (
              <option key={run} value={run}>
                {all.find((it) => it.run === run)?.name}
              </option>
            ))}
          </select>
        </label>
      )}
    </fieldset>
  );
}

/** The name of a run. */
export const runName = (run: number | undefined, fallback = ""): string =>
  runs.value?.find((it) => it.run === run)?.name ?? fallback;
