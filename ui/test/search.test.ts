// Search over names and values, bookmarks with notes, and links that stay good after a restart.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { At, Found } from "../src/api";
import { count, duration } from "../src/format";
import { hybrid, lateSender, ring } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot, until, visit } from "./browser";
import { serve } from "./server";
import { stage } from "./stage";

const archives = [ring, lateSender, hybrid].filter((it) => it !== null);

const given = stage(archives);

const find = (run: number, text: string) => given.server.api<Found>(`runs/${run}/find?text=${encodeURIComponent(text)}`);

for (const run of archives.keys()) {
  test(`visits of run ${run} are searched by a condition, and are what the server says`, async () => {
    const text = "construct = MPI_* and time > 1 us";
    const { visits, visits_count, wrong } = await find(run, text);
    assert.ok(visits && visits.length > 1 && wrong === null, "the program communicates");
    for (const it of visits) assert.ok(it.to - it.from >= 1000 && it.name.startsWith("MPI_"), JSON.stringify(it));
    const [first] = visits;
    assert.ok(first);
    // The same visit, as the question for one moment knows it.
    const at = await given.server.api<At>(`runs/${run}/at?pe=${first.pe}&time=${Math.floor((first.from + first.to) / 2)}`);
    const inside = at.stack.name.lastIndexOf(first.name);
    assert.deepEqual([at.stack.from[inside], at.stack.to[inside]], [first.from, first.to]);

    const it = await open(given.browser, given.server, `#/timeline?run=${run}`);
    const { page } = it;
    await page.keyboard.press("/");
    await page.keyboard.type(text);
    await until(page, () => document.querySelector("#found li strong") !== null);
    await settle(page);
    const said = (await page.textContent("#found p[role=status]")) ?? "";
    assert.ok(said.includes(`${count(visits_count)} visit`), said);
    assert.deepEqual(
      (await page.locator("#found li strong").allTextContents()).slice(0, visits.length),
      visits.map((of) => duration(of.to - of.from)),
    );
    // Enter goes to the longest; its visit is in view and below the cursor.
    await page.keyboard.press("Enter");
    await settle(page);
    const { pe, time, from, to } = await params(page);
    assert.equal(Number(pe), first.pe);
    assert.ok(first.from <= Number(time) && Number(time) <= first.to);
    assert.ok(Number(from ?? 0) <= first.from && first.to <= Number(to ?? Number.POSITIVE_INFINITY));
    await page.waitForSelector("#at-cursor");
    assert.ok(((await page.textContent("#at-cursor")) ?? "").includes(first.name));
    assert.deepEqual(await violations(page), []);
    await shot(page, `search-${run}`);
    it.clean();
    await it.close();
  });
}

test("one search finds PEs, files and findings, and says what is wrong with a condition", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  const { page } = it;
  const search = async (text: string) => {
    await visit(page, `#/timeline?run=0&text=${encodeURIComponent(text)}`);
    await page.waitForSelector("#found");
    await settle(page);
    return (await page.textContent("#found")) ?? "";
  };
  const pes = await find(0, "PE 2");
  assert.deepEqual(
    pes.pes.map((of) => of.pe),
    [2],
  );
  await search("PE 2");
  await page.locator("#found").getByRole("button", { name: "PE 2", exact: true }).click();
  await until(page, () => /[?&]pe=2(&|$)/.test(location.hash));
  const files = await find(0, "ring.c");
  assert.ok(files.regions.length > 0 && files.regions.every((of) => of.file.endsWith("ring.c")), JSON.stringify(files.regions));
  assert.ok((await search("ring.c")).includes("ring.c:"));
  const { findings } = await find(0, "MPI_");
  assert.ok(findings[0]);
  assert.ok((await search("MPI_")).includes(findings[0].title));
  assert.ok((await search("time > 5")).includes("the number has no unit"));
  assert.ok((await search("time > 500 s")).includes("0 visits"), "nothing takes so long");
  it.clean();
  await it.close();
});

test("a profile has no visits to search", async () => {
  const none = await find(0, "nothing is called so");
  assert.deepEqual([none.regions, none.pes, none.findings, none.visits], [[], [], [], null]);
});

test("bookmarks and notes are made by keys, are in the address, and go along to every view", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&pe=1&time=400000000");
  const { page } = it;
  await page.locator("#tracks").focus();
  await page.keyboard.press("k");
  await until(page, () => document.activeElement?.matches("#bookmarks input") ?? false);
  await page.keyboard.type("late? ask A & B");
  await page.keyboard.press("Enter");
  await until(page, () => document.activeElement?.id === "tracks");
  // A second one, of a selection.
  await page.keyboard.press("v");
  await page.keyboard.press("k");
  await page.keyboard.type("all of it");
  await settle(page);
  const { marks } = await params(page);
  const whole = (await given.server.api<{ duration_ns: number }[]>("runs"))[0]?.duration_ns;
  assert.equal(marks, `0:1@400000000 late? ask A & B\n0:0.${whole}.0-3 all of it`);
  assert.deepEqual(await violations(page), []);
  await shot(page, "bookmarks");

  // Another view, the same bookmarks; a reload and another reader have them too.
  await page.keyboard.press("Escape");
  await visit(
    page,
    await page
      .locator("nav a")
      .nth(1)
      .evaluate((a) => (a as HTMLAnchorElement).hash),
  );
  assert.equal((await params(page)).marks, marks);
  await visit(page, `#/timeline?${new URLSearchParams({ run: "0", from: "0", to: "1000000", marks: marks ?? "" })}`);
  await page.reload();
  await settle(page);
  const notes = await page.locator("#bookmarks input").evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value));
  assert.deepEqual(notes, ["late? ask A & B", "all of it"]);
  await page.getByRole("button", { name: "To bookmark 1" }).click();
  await settle(page);
  const there = await params(page);
  assert.deepEqual([there.pe, there.time], ["1", "400000000"]);
  assert.ok(Number(there.from) <= 400000000 && 400000000 <= Number(there.to), JSON.stringify(there));
  await page.getByRole("button", { name: "Remove bookmark 1" }).click();
  await until(page, () => document.querySelectorAll("#bookmarks li").length === 1);
  await page.goBack();
  await until(page, () => document.querySelectorAll("#bookmarks li").length === 2);
  it.clean();
  await it.close();
});

test("what is no bookmark is none", async () => {
  const marks = "x\n0:\n0:1@2@3 a\n0:5.4.0\n7:1@5 of another run\n0:1@5";
  const it = await open(given.browser, given.server, `#/timeline?${new URLSearchParams({ run: "0", marks })}`);
  await until(it.page, () => document.querySelectorAll("#bookmarks li").length === 1);
  it.clean();
  await it.close();
});

test("a link is good after a restart, with a port and a file for the token", async () => {
  const folder = mkdtempSync(join(tmpdir(), "partune-token-"));
  const more = ["--port", String(await freePort()), "--token-file", join(folder, "token")];
  const first = await serve([ring], { more });
  const it = await open(given.browser, first, "#/timeline?run=0&pe=2&time=300000000&marks=0%3A2%40300000000+here");
  const link = it.page.url();
  assert.equal(statSync(join(folder, "token")).mode & 0o777, 0o600);
  first.stop();
  await new Promise((done) => setTimeout(done, 300));
  const second = await serve([ring], { more });
  assert.equal(second.address, first.address);
  await it.page.goto("about:blank");
  await it.page.goto(link);
  await settle(it.page);
  assert.equal(await it.page.locator("#bookmarks input").inputValue(), "here");
  assert.ok(((await it.page.textContent("#at-cursor")) ?? "").includes("PE 2"));
  it.clean();
  await it.close();
  second.stop();
  rmSync(folder, { recursive: true });
});

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => found(typeof address === "object" && address ? address.port : 0));
    });
  });
}
