// Fetching for views: a hook that gives data, an error with its remedy, or "loading"; and a small cache of answers. In a report
// (`partune report`) all answers are in the page, and nobody is asked.
import { useEffect, useState } from "preact/hooks";

/** What the server, or the way to it, said instead of an answer. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly remedy: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** Answers do not change while the server runs, so the last are kept, up to so many characters: more would only cost memory. */
const KEPT = 4_000_000;
const answers = new Map<string, { answer: unknown; size: number }>();
let kept = 0;

function keep(path: string, answer: unknown, size: number): void {
  if (size > KEPT) return;
  answers.set(path, { answer, size });
  kept += size;
  for (const [oldest, it] of answers) {
    if (kept <= KEPT) break;
    answers.delete(oldest);
    kept -= it.size;
  }
}

/** In a report, what was answered before it was written; else nothing is asked but the server. */
const written = document.getElementById("answers")?.textContent;
for (const [path, answer] of Object.entries(JSON.parse(written ?? "{}"))) answers.set(path, { answer, size: 0 });

/** Whether this is a report: the answers that it holds are all there are. */
export const recorded = written != null;

/** Whether the answer is there already. */
export const has = (path: string): boolean => answers.has(path);

/** What a report says where it holds no answer. */
const NOT_HERE = "This report holds the whole run only, and of long lists what costs most.";
const SEE = "`partune view ARCHIVE` zooms, searches and shows the rest.";

/** Asks `api/PATH`. Rejects with an ApiError, or with an AbortError where the signal says so. */
export async function get<T>(path: string, options: { signal?: AbortSignal; fresh?: boolean } = {}): Promise<T> {
  const known = options.fresh && !recorded ? undefined : answers.get(path);
  if (known) return known.answer as T;
  if (recorded) throw new ApiError(NOT_HERE, SEE, 0);
  let response: Response;
  try {
    response = await fetch(`api/${path}`, { signal: options.signal ?? null });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(
      "The server does not answer.",
      "Is `partune view` still running? Start it again and open the address that it prints.",
      0,
    );
  }
  const size = Number(response.headers.get("content-length") ?? KEPT);
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(
      `The server answered ${response.status} with something that is not JSON.`,
      "Reload the page; if it stays so, please report it.",
      response.status,
    );
  }
  if (!response.ok) {
    const { error, remedy } = (body ?? {}) as { error?: string; remedy?: string };
    throw new ApiError(error ?? `The server answered ${response.status}.`, remedy ?? "", response.status);
  }
  if (!options.fresh && !answers.has(path)) keep(path, body, size);
  return body as T;
}

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | undefined;
  loading: boolean;
  /** The path that `data` answers; differs from the one asked while older data is still shown. */
  path: string | null;
}

/** The answer of `api/PATH` for a component; null asks nothing. While the next answer is on its way, the last one stays. */
export function useApi<T>(path: string | null): Loaded<T> {
  const known = path !== null && has(path);
  const [state, setState] = useState<Loaded<T>>({ data: undefined, error: undefined, loading: path !== null, path: null });
  useEffect(() => {
    if (path === null) {
      setState({ data: undefined, error: undefined, loading: false, path: null });
      return;
    }
    const abort = new AbortController();
    setState((last) => ({ ...last, loading: true }));
    get<T>(path, { signal: abort.signal }).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, error: undefined, loading: false, path });
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const told = error instanceof ApiError ? error : new ApiError(String(error), "Reload the page.", 0);
        setState({ data: undefined, error: told, loading: false, path });
      },
    );
    return () => abort.abort();
  }, [path]);
  if (known && state.path !== path) return { data: answers.get(path)?.answer as T, error: undefined, loading: false, path };
  return state;
}
