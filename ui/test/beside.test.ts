// Two runs, one below the other: what the page says of both is the server's, and what is below what can be chosen.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Beside, Profile, Run, Timeline } from "../src/api";
import { difference, duration, seconds } from "../src/format";
import { even, hybrid, ring, ringProfile, uneven } from "./archives";
import { violations } from "./axe";
import { colours, open, params, settle, shot, visit } from "./browser";
import { PARTUNE } from "./server";
import { stage } from "./stage";

/** A run that was predicted from another. */
function predicted(archive: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), "partune-")), "predicted");
  execFileSync(PARTUNE, ["whatif", archive, "--change", "scale cpu speed*1.5", "-o", folder], { stdio: "ignore" });
  return join(folder, "traces.otf2");
}

const whole = hybrid ?? ring;
// Without recorded archives: the ring, where nothing may differ.
const archives = [even ?? ring, uneven ?? ring, whole, predicted(whole), ringProfile];
const given = stage(archives);

const ask = (base: number, query = "") => given.server.api<Beside>(`runs/${base - 1}/beside?base=${base}${query}`);

test("the words and tables are the server's", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&beside=1");
  const told = await ask(1);
  assert.ok(told.stages_count > 1 && told.by === "blocks");
  const change = told.to - told.from - (told.base_to - told.base_from);
  assert.equal(await it.page.textContent("#beside-words strong"), difference(change, duration));
  const rows = await it.page.locator("#beside-tables table").nth(0).locator("tbody tr").allTextContents();
  assert.equal(rows.length, Math.min(20, told.stages.name.length));
  rows.forEach((text, at) => {
    const here = (told.stages.to[at] ?? 0) - (told.stages.from[at] ?? 0);
    const there = (told.stages.base_to[at] ?? 0) - (told.stages.base_from[at] ?? 0);
    assert.ok(
      text.includes(told.stages.name[at] ?? "-") && text.includes(duration(here)) && text.includes(duration(there)),
      text,
    );
  });
  const functions = await it.page.locator("#beside-tables table").nth(2).locator("tbody tr").allTextContents();
  functions.forEach((text, at) => {
    assert.ok(text.includes(told.functions.name[at] ?? "-") && text.includes(seconds(told.functions.seconds[at])), text);
    assert.ok(text.includes(seconds(told.functions.base_s[at])), text);
  });
  if (even && uneven) {
    // Known of these two: the uneven one waits 1.19 s in MPI_Finalize.
    assert.match(functions.find((text) => text.includes("MPI_Finalize")) ?? "", /−1\.19\s*s/);
  } else {
    assert.equal(change, 0);
  }
  assert.ok((await colours(it.page, "#beside-tracks")) > 2, "the other run is drawn");
  assert.ok((await colours(it.page, "#ribbons")) > 1, "ribbons are drawn");
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "beside");
  it.clean();
  await it.close();
});

test("a predicted run stands below the recorded one", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=2&beside=3");
  const told = await ask(3);
  assert.equal(told.only_here + told.only_there, 0, "a prediction has the same stages");
  await it.page.locator("#ribbons").hover({ position: { x: 400, y: 17 } });
  const tip = (await it.page.textContent(".tip")) ?? "";
  const names = told.stages.name.some((name) => tip.includes(name));
  assert.ok(names && tip.includes(" against "), tip);
  await it.page.locator("#beside-tracks").hover({ position: { x: 300, y: 40 } });
  assert.match((await it.page.textContent(".tip")) ?? "", /^PE .+ at /);
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "beside-predicted");
  it.clean();
  await it.close();
});

test("a zoom shows the same piece of both", async () => {
  const length = (await given.server.api<Run[]>("runs"))[2]?.duration_ns ?? 0;
  const [from, to] = [Math.round(length * 0.5), Math.round(length * 0.6)];
  const asked: string[] = [];
  const it = await open(given.browser, given.server, "#/timeline?run=2&beside=3");
  it.page.on("request", (request) => asked.push(request.url()));
  await visit(it.page, `#/timeline?run=2&beside=3&from=${from}&to=${to}`);
  const told = await ask(3, `&from=${from}&to=${to}`);
  const last = (of: string) => new URL(asked.filter((url) => url.includes(of)).pop() ?? "http://none").searchParams;
  const below = last("runs/3/timeline");
  assert.equal(Number(below.get("from")), told.base_from);
  assert.equal(Number(below.get("to")), told.base_from + to - from, "on the same scale");
  await it.page.locator("#fit").click();
  await settle(it.page);
  assert.equal(Number(last("runs/3/timeline").get("to")), told.base_to, "the same piece in the same width");
  assert.equal((await params(it.page)).fit, "1");
  // Both have the same PEs.
  const rows = await given.server.api<Timeline>(`runs/3/timeline?${last("runs/3/timeline")}`);
  const above = await given.server.api<Timeline>(`runs/2/timeline?${last("runs/2/timeline")}`);
  assert.deepEqual(rows.rows.first, above.rows.first);
  it.clean();
  await it.close();
});

test("what is below what can be chosen, and the two can be turned around", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  assert.equal(await it.page.locator("#beside-tracks").count(), 0);
  const offered = await it.page.locator("#beside-run option").allTextContents();
  assert.equal(offered.length, 4, "nothing, and all others that have times");
  await it.page.selectOption("#beside-run", "1");
  await settle(it.page);
  await it.page.selectOption("#align", "time");
  await settle(it.page);
  const told = await ask(1, "&by=time");
  assert.deepEqual([told.base_from, told.stages_count], [0, 0]);
  assert.equal(await it.page.locator("#ribbons").count(), 0);
  await it.page.locator("#beside-words a").click();
  await settle(it.page);
  const now = await params(it.page);
  assert.deepEqual([now.run, now.beside, now.align], ["1", "0", "time"]);
  assert.ok((await colours(it.page, "#beside-tracks")) > 2);
  // Visits of a function, where the address names one.
  const { regions } = await given.server.api<Profile>("runs/1/profile");
  const region = regions.region[regions.name.indexOf("MPI_Init")];
  await visit(it.page, `#/timeline?run=1&beside=0&align=visits&region=${region}&visit=0`);
  const visits = await given.server.api<Beside>(`runs/1/beside?base=0&by=visits&region=${region}`);
  assert.match((await it.page.textContent("#beside-words")) ?? "", new RegExp(`${visits.stages_count} stage`));
  it.clean();
  await it.close();
});

test("a run that has ended is said to have", { skip: !even || !uneven }, async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=1&beside=0&align=time&from=1000000000");
  assert.match((await it.page.textContent("#beside")) ?? "", /has ended before what is in view/);
  it.clean();
  await it.close();
});
