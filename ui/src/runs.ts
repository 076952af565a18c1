// The runs that are open, and the kinds of time.
import { signal } from "@preact/signals";
import type { Kind, Run } from "./api";
import { type ApiError, get, type Loaded, useApi } from "./load";
import { run } from "./state";

/** What `api/runs` said last; undefined before the first answer. */
export const runs = signal<Run[] | undefined>(undefined);
export const runsError = signal<ApiError | undefined>(undefined);

/** How many PEs of a run have a number, and so a row: those of CPUs, which are what is counted elsewhere, and streams of devices. */
export const numbered = (of: Run | undefined): number => (of?.pes ?? 0) + (of?.device_streams ?? 0);

/** Whether the run that is looked at has sums and no single events, since it was looked at in slices. */
export const inSlices = (): boolean => runs.value?.find((it) => it.run === run.value)?.in_slices === true;

let timer = 0;

/** Asks again until no archive is opening any more. */
export async function refresh(): Promise<void> {
  clearTimeout(timer);
  try {
    runs.value = await get<Run[]>("runs", { fresh: true });
    runsError.value = undefined;
  } catch (error) {
    runsError.value = error as ApiError;
  }
  if (runsError.value || runs.value?.some((it) => it.state === "opening")) {
    timer = window.setTimeout(refresh, runsError.value ? 2000 : 300);
  }
}

/** Opens the run that is looked at otherwise, as a run by itself with every analysis: a piece of it, or with other thresholds. Its number. */
export async function otherwise(query: string): Promise<number> {
  const opened = await get<{ run: number }>(`runs/${run.value}/piece?${query}`, { fresh: true });
  await refresh();
  return opened.run;
}

export function watchRuns(): void {
  void refresh();
}

export const useKinds = (run: number): Loaded<Kind[]> => useApi<Kind[]>(`runs/${run}/kinds`);
