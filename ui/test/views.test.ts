// Each view renders real archives, says something that is true of them, and logs no error.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { seconds } from "../src/format";
import { even, hybrid, lateSender, nothing, ROOT, ring, ringProfile, stencil, uneven } from "./archives";
import { colours, open, shot, visit } from "./browser";
import { serve } from "./server";
import { stage } from "./stage";

const archives = [ring, ringProfile, lateSender, hybrid, stencil, even, uneven].filter((it) => it !== null);

const given = stage(archives);

interface Run {
  run: number;
  name: string;
  pes: number;
  profile_only: boolean;
}

test("every view of every archive", async () => {
  const runs = await given.server.api<Run[]>("runs");
  assert.equal(runs.length, archives.length);
  const it = await open(given.browser, given.server, "#/summary");
  for (const run of runs) {
    await visit(it.page, `#/summary?run=${run.run}`);
    assert.equal(await it.page.textContent("main h1"), run.name);
    const summary = await given.server.api<{
      sentences: string[];
      findings: { place: string }[];
      bounds: { seconds: number }[];
      thread_bounds: { seconds: number }[];
    }>(`runs/${run.run}/summary`);
    const main = (await it.page.textContent("main")) ?? "";
    if (summary.sentences[0]) assert.ok(main.includes(summary.sentences[0]), `${run.name}: ${summary.sentences[0]}`);
    const cut = await it.page.locator(".waterfall text").evaluateAll((all) =>
      all
        .filter((text) => {
          const whole = text.closest("svg")?.getBoundingClientRect();
          return whole && text.getBoundingClientRect().right > whole.right;
        })
        .map((text) => text.textContent),
    );
    assert.deepEqual(cut, [], `the waterfall of ${run.name}`);
    const ends = [summary.bounds, summary.thread_bounds].filter((it) => it.length > 0).map((it) => seconds(it.at(-1)?.seconds));
    const lasts = await it.page.locator(".waterfall > g:last-of-type > text:last-of-type").allTextContents();
    assert.deepEqual(lasts, ends, `where the waterfalls of ${run.name} end`);
    for (const finding of summary.findings) assert.ok(main.includes(finding.place), `${run.name}: ${finding.place}`);
    await shot(it.page, `${run.name}-summary`);

    await visit(it.page, `#/findings?run=${run.run}`);
    const { findings } = await given.server.api<{ findings: unknown[] }>(`runs/${run.run}/findings`);
    assert.equal(
      await it.page.locator(".split > div tbody tr").count(),
      Math.min(100, findings.length),
      `findings of ${run.name}`,
    );
    await shot(it.page, `${run.name}-findings`);

    await visit(it.page, `#/timeline?run=${run.run}`);
    if (run.profile_only) assert.match((await it.page.textContent("main")) ?? "", /recorded as a profile/);
    else assert.ok((await colours(it.page, "#tracks")) > 3, `the timeline of ${run.name} is drawn`);
    await shot(it.page, `${run.name}-timeline`);

    for (const shape of ["flat", "tree"]) {
      await visit(it.page, `#/profile?run=${run.run}&show=${shape}`);
      assert.ok((await it.page.locator("main tbody tr").count()) > 0, `${shape} profile of ${run.name}`);
      await shot(it.page, `${run.name}-profile-${shape}`);
    }

    for (const stacking of ["callees", "callers"]) {
      await visit(it.page, `#/flame?run=${run.run}&stacking=${stacking}`);
      assert.ok((await colours(it.page, "#flame")) > 2, `the flame graph of ${run.name} is drawn`);
      await shot(it.page, `${run.name}-flame-${stacking}`);
    }

    await visit(it.page, `#/balance?run=${run.run}`);
    assert.ok((await colours(it.page, "#stack-map")) > 1, `the stacks of ${run.name} are drawn`);
    const tables = it.page.getByText("The same as a table");
    for (let at = 0; at < (await tables.count()); at += 1) await tables.nth(at).click();
    await it.page.locator("details[open] tbody").first().waitFor();
    const { rows, events } = await given.server.api<{ rows: { label: string[] }; events: { most_pe: (number | null)[] } }>(
      `runs/${run.run}/balance`,
    );
    const { pes } = await given.server.api<{ pes: { name: string[] } }>(`runs/${run.run}/pes`);
    assert.deepEqual(
      await it.page.locator("section[aria-labelledby=events] tbody tr > :nth-child(7)").allTextContents(),
      events.most_pe.slice(0, 30).map((pe) => `PE ${pe === null ? "–" : pes.name[pe]}`),
      `PEs of ${run.name} with most`,
    );
    assert.equal(
      await it.page.locator("details[open] tbody").first().locator("tr").count(),
      rows.label.length,
      `stacks of ${run.name}`,
    );
    await shot(it.page, `${run.name}-balance`);

    for (const by of ["bytes", "count", "seconds"]) {
      await visit(it.page, `#/matrix?run=${run.run}&by=${by}`);
      const matrix = await given.server.api<{ total: number }>(`runs/${run.run}/matrix?by=${by}`);
      assert.equal(await it.page.locator("#matrix").count(), matrix.total > 0 ? 1 : 0, `matrix of ${run.name} by ${by}`);
      await shot(it.page, `${run.name}-matrix-${by}`);
    }

    await visit(it.page, `#/environment?run=${run.run}`);
    assert.equal(await it.page.textContent("main h1"), "Environment");
    await shot(it.page, `${run.name}-environment`);
  }
  it.clean();
  await it.close();
});

test("what the profile says is what the server says", async () => {
  const it = await open(given.browser, given.server, "#/profile?run=0");
  const { regions } = await given.server.api<{ regions: { name: string[]; visits: number[] } }>("runs/0/profile");
  const rows = await it.page.locator("main tbody tr").allTextContents();
  assert.equal(rows.length, regions.name.length);
  rows.forEach((text, at) => {
    assert.ok(text.includes(regions.name[at] as string), text);
  });
  // Sorted by visits, the first row is the one with most.
  await it.page.getByRole("button", { name: "Visits", exact: true }).click();
  const most = Math.max(...regions.visits);
  const first = (await it.page.locator("main tbody tr").first().textContent()) ?? "";
  assert.ok(first.includes(most.toLocaleString("en")), `${first} has ${most} visits`);
  it.clean();
  await it.close();
});

test("a run that is not there, and a file that is no archive, are said with what to do", async () => {
  const it = await open(given.browser, given.server, "#/summary?run=99");
  assert.match((await it.page.textContent("[role=alert]")) ?? "", /no run 99/);
  it.clean();
  await it.close();

  const broken = await serve([join(ROOT, "ui/package.json"), ring], { wait: false });
  const other = await open(given.browser, broken, "#/summary?run=0");
  await other.page.waitForSelector("[role=alert]");
  const said = (await other.page.textContent("[role=alert]")) ?? "";
  assert.match(said, /could not be opened/);
  assert.match(said, /opened by/, "the remedy is shown");
  // The other archive is there all the same.
  await other.page.getByRole("combobox", { name: "Run" }).selectOption("1");
  await other.page.waitForSelector("h1:has-text('ring')");
  other.clean();
  await other.close();
  broken.stop();
});

test("an archive of which nothing is left is said to hold no event, with what to do", { skip: !nothing }, async () => {
  const bare = await serve([nothing as string], { wait: false });
  const it = await open(given.browser, bare, "#/summary");
  await it.page.waitForSelector("[role=alert]");
  const said = (await it.page.textContent("[role=alert]")) ?? "";
  assert.match(said, /holds no event/);
  assert.match(said, /copy the whole archive/, "the remedy is shown");
  it.clean();
  await it.close();
  bare.stop();
});
