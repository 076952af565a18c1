// How PEs are called: `3`, or `0.2` for a thread. Everything else knows PEs by number.
import { effect, signal } from "@preact/signals";
import type { Pes } from "./api";
import { get } from "./load";
import { runs } from "./runs";
import { run } from "./state";

const names = signal<string[]>([]);

/** Asks for the names of the run that is looked at, once it is open. */
export function watchPes(): void {
  effect(() => {
    const of = run.value;
    names.value = [];
    if (runs.value?.find((it) => it.run === of)?.state !== "ready") return;
    get<Pes>(`runs/${of}/pes`).then(
      (pes) => {
        if (run.peek() === of) names.value = pes.pes.name;
      },
      // Without names PEs are called by their numbers; the view says what is wrong with the server.
      () => {},
    );
  });
}

/** A PE as people call it: "PE 0.2". */
export const pe = (number: number | null | undefined): string => `PE ${names.value[number ?? -1] ?? number ?? "–"}`;
