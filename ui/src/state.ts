// Where the reader is: the whole state of the pages is in the hash of the address, so that reload, Back and a sent link
// show the same. `#/timeline?run=0&from=..&to=..`. Read it with `route`, change it with `go` and `amend`.
import { computed, signal } from "@preact/signals";

export type Params = Readonly<Record<string, string>>;

export interface Route {
  view: string;
  params: Params;
  /** Both as they stand in the address. */
  address: string;
}

/** Values that are put into an address; undefined and null remove. */
export type Changes = Record<string, string | number | boolean | null | undefined>;

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const params: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(query)) params[key] = value;
  return { view: path || "summary", params, address: hash };
}

function merge(params: Params, changes: Changes): Record<string, string> {
  const merged: Record<string, string> = { ...params };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === "" || value === false) delete merged[key];
    else merged[key] = value === true ? "1" : String(value);
  }
  return merged;
}

export const route = signal<Route>(parse(location.hash));
addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});
addEventListener("popstate", () => {
  route.value = parse(location.hash);
});

/** The address of a view. The runs that are looked at, what colours mean and bookmarks stay; everything else is as said. */
export function link(view: string, changes: Changes = {}): string {
  const { run, runs, colour, marks } = route.value.params;
  const query = new URLSearchParams(merge({}, { run, runs, colour, marks, ...changes })).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
}

/** Goes to a view; Back returns. */
export function go(view: string, changes: Changes = {}): void {
  location.hash = link(view, changes);
}

let lastMerge = 0;

/**
 * Changes something in this view; Back undoes it. With `merge`, changes in quick succession (a zoom by wheel) are one step of
 * Back; with `replace` there is no step.
 */
export function amend(changes: Changes, options: { replace?: boolean; merge?: boolean } = {}): void {
  const { view, params } = route.value;
  const query = new URLSearchParams(merge(params, changes)).toString();
  const address = `#/${view}${query ? `?${query}` : ""}`;
  const now = performance.now();
  const replace = options.replace || (options.merge && now - lastMerge < 700);
  lastMerge = options.merge ? now : 0;
  if (address === location.hash) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  route.value = parse(address);
}

/** A number of the address, or undefined where it is none. */
export function numeric(params: Params, key: string): number | undefined {
  const text = params[key];
  if (text === undefined || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The run that is looked at. */
export const run = computed(() => Math.max(0, Math.trunc(numeric(route.value.params, "run") ?? 0)));
