// What a browser needs for the pages of a large run: every view, from the whole run down to single visits, there and back. Prints the
// proportional set size of all of its processes and of the page's after each step, and how long the step took; and then how smoothly the
// timeline follows a pointer. Not a test: `bench/browser.sh` runs it.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { EXECUTABLE, settle, visit } from "./browser";
import { serve } from "./server";

/** Descendants of a process, itself included. */
function family(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const found = [root];
  for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
  return found;
}

/**
 * Megabytes of all processes of the browser, and of the largest, which is the page's; shared pages are divided among those that share
 * them. `own` is without the files of the browser's program, which are mapped and not made.
 */
function megabytes(): { all: number; own: number; page: number } {
  let [all, own, page] = [0, 0, 0];
  for (const pid of family(process.pid)) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(profile)) continue;
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(rollup)?.[1] ?? 0) / 1024;
      const size = field("Pss");
      own += field("Pss_Anon") + field("Pss_Shmem");
      const isPage = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer");
      all += size;
      if (isPage) page = Math.max(page, size);
    } catch {
      // It ended meanwhile.
    }
  }
  return { all, own, page };
}

const server = await serve(process.argv.slice(2));
const profile = mkdtempSync(join(tmpdir(), "partune-view-"));
// The one tab that a browser opens with, as a person has it.
const context = await chromium.launchPersistentContext(profile, {
  executablePath: EXECUTABLE,
  args: ["--no-sandbox", "--disable-background-networking"],
  viewport: { width: 1440, height: 900 },
});
const page = context.pages()[0] ?? (await context.newPage());

let most = 0;
async function step(name: string, work: () => Promise<void>): Promise<void> {
  const begin = performance.now();
  await work();
  await settle(page);
  const took = performance.now() - begin;
  const { all, own, page: tab } = megabytes();
  most = Math.max(most, all);
  const column = (value: number) => value.toFixed(0).padStart(8);
  console.log(`${name.padEnd(34)}${column(all)}${column(own)}${column(tab)} MB ${(took / 1000).toFixed(2).padStart(7)} s`);
}

const [run] = await server.api<{ duration_ns: number; events: number; pes: number }[]>("runs");
if (!run) throw new Error("no run");
console.log(`${run.events} events, ${run.pes} PEs\n${"".padEnd(34)}     all     own    page`);
await step("an empty page", async () => void (await page.goto("about:blank")));
await step("summary", async () => void (await page.goto(server.address)));
for (const view of [
  "findings",
  "timeline",
  "profile",
  "profile?show=tree",
  "flame",
  "flame?stacking=callers",
  "balance",
  "matrix",
  "environment",
])
  await step(view, () => visit(page, `#/${view}`));
for (let zoom = 1; zoom <= 7; zoom += 1) {
  const length = Math.max(100, Math.round(run.duration_ns / 8 ** zoom));
  const from = Math.round(run.duration_ns * 0.6);
  await step(`timeline, ${length} ns`, () => visit(page, `#/timeline?from=${from}&to=${from + length}`));
}
for (let turn = 1; turn <= 20; turn += 1) {
  const from = Math.round((run.duration_ns / 24) * turn);
  await step(`timeline, a piece of it, ${turn}`, () =>
    visit(page, `#/timeline?from=${from}&to=${from + Math.round(run.duration_ns / 100)}&first=${turn * 4}&pes=32`),
  );
}
console.log(`most ${most.toFixed(0)} MB`);

/** Milliseconds between frames while a pointer does something for some seconds. */
async function frames(name: string, work: () => Promise<void>): Promise<void> {
  const from = Math.round(run?.duration_ns ?? 0) * 0.4;
  await visit(page, `#/timeline?from=${Math.round(from)}&to=${Math.round(from * 1.2)}`);
  await settle(page);
  await page.evaluate(() => {
    const times: number[] = [];
    const note = (time: number) => {
      times.push(time);
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
    Object.assign(window, { times });
  });
  const end = performance.now() + 5000;
  while (performance.now() < end) await work();
  const times = await page.evaluate(() => (window as unknown as { times: number[] }).times);
  await page.reload();
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  gaps.sort((one, other) => one - other);
  const part = (share: number) => (gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))] ?? 0).toFixed(1);
  console.log(
    `${name.padEnd(34)}${String(gaps.length).padStart(5)} frames, median ${part(0.5)} ms, p95 ${part(0.95)} ms, longest ${part(1)} ms`,
  );
}

const [x, y] = [800, 500];
let turn = 0;
await page.mouse.move(x, y);
await frames("zooming in and out by the wheel", async () => {
  turn += 1;
  await page.mouse.wheel(0, turn % 40 < 20 ? -60 : 60);
});
await frames("a piece dragged through time", async () => {
  await page.keyboard.down("Shift");
  await page.mouse.down();
  for (let step = 0; step < 60; step += 1) await page.mouse.move(x - 5 * step, y);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.mouse.move(x, y);
});
await frames("the pointer over the timeline", async () => {
  turn += 1;
  await page.mouse.move(x + 4 * (turn % 100), y + (turn % 90));
});
await context.close();
rmSync(profile, { recursive: true, force: true });
server.stop();
