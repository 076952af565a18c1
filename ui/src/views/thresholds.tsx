// Thresholds: what the findings of a run were found with, and the same run with others.
import { useState } from "preact/hooks";
import type { Thresholds as Data } from "../api";
import { title } from "../format";
import { recorded, useApi } from "../load";
import { otherwise } from "../runs";
import { go, run } from "../state";

/** What is shown of a value, and what is asked for: shares are per cent. */
const scale = (kind: Data["kind"][number] | undefined) => (kind === "share" ? 100 : 1);
const UNITS: Record<Data["kind"][number], string> = { share: "%", factor: "×", count: "", bytes: "B" };

export function Thresholds() {
  const { data } = useApi<Data>(`runs/${run.value}/thresholds`);
  const [wrong, setWrong] = useState("");
  if (!data) return null;
  const shown = (at: number) => Number(((data.value[at] ?? 0) * scale(data.kind[at])).toPrecision(12));
  const find = async (form: HTMLFormElement) => {
    const values = new FormData(form);
    const changed = new URLSearchParams();
    data.name.forEach((name, at) => {
      const value = Number(values.get(name));
      if (value !== shown(at)) changed.set(name, String(Number((value / scale(data.kind[at])).toPrecision(12))));
    });
    try {
      setWrong("");
      go("findings", { run: await otherwise(changed.toString()) });
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <details id="thresholds">
      <summary>Thresholds</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void find(event.currentTarget);
        }}
      >
        <table>
          <caption class="hidden">What the findings were found with</caption>
          <tbody>
            {data.name.map((name, at) => {
              const kind = data.kind[at] ?? "count";
              return (
                <tr key={name}>
                  <th scope="row">{title(name)}</th>
                  <td class="number">
                    {recorded ? (
                      shown(at)
                    ) : (
                      <input
                        type="number"
                        name={name}
                        aria-label={title(name)}
                        required
                        min={data.least[at]}
                        max={kind === "share" ? 100 : undefined}
                        step={kind === "count" || kind === "bytes" ? 1 : "any"}
                        defaultValue={String(shown(at))}
                      />
                    )}{" "}
                    {UNITS[kind]}
                  </td>
                  <td class="dim">{data.meaning[at]}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {!recorded && <button type="submit">Find with these</button>} {wrong && <span role="alert">{wrong}</span>}
      </form>
    </details>
  );
}
