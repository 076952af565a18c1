// Jumps: to an instance of a finding (the n-th longest, or the next in time), to the next visit of a region.

import type { Finding, Instance } from "../api";
import { row } from "../api";
import { get, recorded } from "../load";
import { around } from "../parts/words";
import { pe as peName, pinned } from "../pes";
import { inSlices } from "../runs";
import { amend, route, run } from "../state";
import { cursor, hasRow, peCount, pes, whole } from "./view";

/** So many PEs are shown around an instance of a run that has many. */
const NEAR = 32;

/** The address of an instance: its PE and interval, and an interval of time and PEs that shows it and its cause. */
export function place(it: Instance): Record<string, number | string | undefined> {
  const causeFrom = it.cause_from ?? it.from;
  const causeTo = it.cause_to ?? it.to;
  // A cause that lasts much longer than the wait must not make the wait small.
  const long = (it.to - it.from) * 3;
  const shown = around(Math.max(Math.min(it.from, causeFrom), it.from - long), Math.min(Math.max(it.to, causeTo), it.to + long));
  const all = peCount.value;
  const { filter, order } = route.value.params;
  // Who filters or orders rows keeps that, as far as it shows what is looked at.
  const rows = filter !== undefined || order !== undefined || pinned.value.length > 0;
  const kept = rows && hasRow(it.pe) && hasRow(it.cause_pe ?? it.pe);
  const low = Math.min(it.pe, it.cause_pe ?? it.pe);
  const high = Math.max(it.pe, it.cause_pe ?? it.pe);
  const size = Math.max(NEAR, high - low + 9);
  const first = Math.max(0, Math.min(all - size, Math.round((low + high) / 2 - size / 2)));
  return {
    from: shown.from,
    to: Math.min(whole.value, shown.to),
    pe: it.pe,
    time: Math.floor((it.from + it.to) / 2),
    instance: `${it.pe}.${it.from}.${it.to}`,
    message: undefined,
    filter: kept ? filter : undefined,
    order: kept ? order : undefined,
    first: !kept && size < all && all > 64 ? first : undefined,
    pes: !kept && size < all && all > 64 ? size : undefined,
  };
}

/** The instance that the address names, resolved: `0` is the longest of the finding, `pe.from.to` is itself. */
export function chosenInstance(): { pe: number; from: number; to: number } | number | null {
  const text = route.value.params.instance;
  if (text === undefined) return null;
  const parts = text.split(".").map(Number);
  if (parts.some((it) => !Number.isFinite(it))) return null;
  if (parts.length === 1) return parts[0] as number;
  return parts.length === 3 ? { pe: parts[0] as number, from: parts[1] as number, to: parts[2] as number } : null;
}

/** Puts an instance into view that a link only counted. */
export function arrive(finding: Finding): void {
  const instance = chosenInstance();
  if (typeof instance !== "number") return;
  // Of what has no moment there is the whole run to see.
  const last = finding.instances.pe.length - 1;
  const found =
    last < 0 ? { instance: undefined } : place(row<Instance>(finding.instances, Math.max(0, Math.min(last, instance))));
  amend(found, { replace: true });
}

/** Says what a jump found; null when there was nothing in that direction. */
export type Jumped = string | null;

/** To the next or last instance of the finding that is looked at, else to the next visit of the region that was searched. */
export async function jump(back: boolean): Promise<Jumped> {
  const { finding, region } = route.value.params;
  if (finding) return jumpInstance(finding, back);
  if (region && inSlices()) return "Of a run in slices single visits are not kept.";
  if (region) return recorded ? "A report has no visits; partune view does." : jumpVisit(region, back);
  return "Choose a finding or a region first.";
}

async function jumpInstance(id: string, back: boolean): Promise<Jumped> {
  const now = chosenInstance();
  const after = now !== null && typeof now !== "number" ? now.from : back ? whole.value : -1;
  const path = `runs/${run.value}/findings/${encodeURIComponent(id)}`;
  const { instance } = isListed()
    ? { instance: null }
    : await get<{ instance: Instance | null }>(`${path}/next?after=${after}${back ? "&back=1" : ""}`);
  const next = instance ?? (await listed(path, after, back));
  if (!next) return null;
  amend(place(next));
  return peName(next.pe);
}

/** Whether no more instances are known than those that are listed with a finding. */
const isListed = (): boolean => recorded || inSlices();

/** What is no wait has no next instance on the server; its list is walked in order of time. */
async function listed(path: string, after: number, back: boolean): Promise<Instance | null> {
  const finding = await get<Finding>(path);
  if (finding.is_wait && !isListed()) return null;
  const all = finding.instances.from
    .map((_, at) => row<Instance>(finding.instances, at))
    .sort((a, b) => a.from - b.from || a.pe - b.pe);
  return (back ? all.reverse().find((it) => it.from < after) : all.find((it) => it.from > after)) ?? null;
}

async function jumpVisit(region: string, back: boolean): Promise<Jumped> {
  const after = Number(route.value.params.visit ?? (back ? whole.value : -1));
  const pe = route.value.params.on;
  const { visit } = await get<{ visit: { pe: number; from: number; to: number } | null }>(
    `runs/${run.value}/next?region=${region}&after=${after}${pe === undefined ? "" : `&pe=${pe}`}${back ? "&back=1" : ""}`,
  );
  if (!visit) return null;
  showVisit(visit);
  return peName(visit.pe);
}

/** Puts a visit into view and the cursor on it. */
export function showVisit(
  visit: { pe: number; from: number; to: number },
  more: Record<string, string | number> = {},
  options: { replace?: boolean } = {},
): void {
  const shown = around(visit.from, visit.to);
  const there = {
    from: shown.from,
    to: Math.min(whole.value, shown.to),
    pe: visit.pe,
    time: Math.floor((visit.from + visit.to) / 2),
    visit: visit.from,
    filter: hasRow(visit.pe) ? route.value.params.filter : undefined,
    message: undefined,
    ...more,
  };
  amend(there, options);
}

/** Puts the cause of a wait into view, with where the cursor was, and the cursor on it. */
export function toCause(pe: number, from: number, to: number): void {
  const time = cursor.value?.time ?? from;
  const shown = around(Math.min(from, time), Math.max(to, time));
  const { first, count } = pes.value;
  const { filter, order } = route.value.params;
  const hidden = filter === undefined && order === undefined && !pinned.value.includes(pe) && (pe < first || pe >= first + count);
  amend({
    filter: hasRow(pe) ? filter : undefined,
    pe,
    time: Math.floor((from + to) / 2),
    from: shown.from,
    to: Math.min(whole.value, shown.to),
    first: hidden ? Math.max(0, Math.min(peCount.value - count, Math.round(pe - count / 2))) : first || undefined,
    message: undefined,
  });
}

/** Goes to the first visit of the region that a link names. */
export async function arriveAt(region: string): Promise<void> {
  const { visit } = await get<{ visit: { pe: number; from: number; to: number } | null }>(
    `runs/${run.value}/next?region=${region}&after=-1`,
  );
  const { params } = route.value;
  if (visit && params.region === region && params.visit === undefined) showVisit(visit, {}, { replace: true });
}
