// Flame graph: what stands on what, of which PEs, in which part of the run, beside which other run.
import type { Kind } from "../api";
import { count, duration, instant } from "../format";
import { recorded } from "../load";
import { ColourChoice, colouring } from "../parts/colouring";
import { Legend } from "../parts/words";
import { pe } from "../pes";
import { numbered, runs } from "../runs";
import { amend, numeric, route, run } from "../state";

/** So many PEs are offered one by one. */
const OFFERED = 512;

export function Tools({ kinds }: { kinds: Kind[] }) {
  const { stacking = "callees", text = "", only = "", filter = "", base } = route.value.params;
  const all = runs.value ?? [];
  const own = all.find((it) => it.run === run.value);
  const pes = numbered(own);
  const others = all.filter((it) => it.run !== run.value && it.state === "ready");
  const inPart = numeric(route.value.params, "from") !== undefined;
  return (
    <div class="tools">
      <div class="group" role="group" aria-label="What stands below a box">
        <button
          type="button"
          aria-pressed={stacking === "callees"}
          onClick={() => amend({ stacking: undefined, under: undefined })}
        >
          what it called
        </button>
        <button
          type="button"
          aria-pressed={stacking === "callers"}
          onClick={() => amend({ stacking: "callers", under: undefined })}
        >
          who called it
        </button>
      </div>
      <input
        type="search"
        aria-label="Search functions"
        placeholder="Search functions ( / )"
        value={text}
        onInput={(event) => amend({ text: event.currentTarget.value }, { replace: true })}
      />
      {!recorded && pes > 1 && pes <= OFFERED && (
        <label>
          PEs
          <select
            value={only}
            disabled={filter !== ""}
            onChange={(event) => amend({ only: event.currentTarget.value || undefined, base: undefined, under: undefined })}
          >
            <option value="">all {count(pes)}</option>
            {only !== "" && !/^\d+$/.test(only) && <option value={only}>{only}</option>}
            {Array.from({ length: pes }, (_, number) => (
              <option key={number} value={String(number)}>
                {pe(number)}
              </option>
            ))}
          </select>
        </label>
      )}
      {!recorded && pes > 1 && (
        <input
          type="search"
          class="short"
          aria-label="PEs, processes or hosts by name or regular expression"
          placeholder="PE names"
          value={filter}
          onInput={(event) => amend({ filter: event.currentTarget.value, base: undefined, under: undefined }, { replace: true })}
        />
      )}
      {!recorded && others.length > 0 && only === "" && filter === "" && !inPart && (
        <label>
          Compared with
          <select value={base ?? ""} onChange={(event) => amend({ base: event.currentTarget.value || undefined })}>
            <option value="">nothing</option>
            {others.map((it) => (
              <option key={it.run} value={it.run}>
                {it.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {base === undefined && <ColourChoice own="function" />}
      {base === undefined && colouring("function") === "kind" && <Legend kinds={kinds.filter((it) => it.name !== "idle")} />}
    </div>
  );
}

/** Which part of the run is looked at, if not all of it. */
export function Part() {
  const { only } = route.value.params;
  const [from, to] = [numeric(route.value.params, "from"), numeric(route.value.params, "to")];
  if (recorded || from === undefined || to === undefined) return null;
  const step = (to - from) / 1000;
  return (
    <p id="part">
      From {instant(from, step)} to {instant(to, step)}, <strong>{duration(to - from)}</strong>
      {only ? `, on the PEs ${only}` : ""}{" "}
      <button type="button" onClick={() => amend({ from: undefined, to: undefined, only: undefined, under: undefined })}>
        Whole run
      </button>
    </p>
  );
}
