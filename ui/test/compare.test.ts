// Two runs beside each other, and several by their number of PEs: what the pages say is what the server's documents say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seconds } from "../src/format";
import { even, ring, ringProfile, stencil, uneven } from "./archives";
import { open, params, shot, until, visit } from "./browser";
import { serve } from "./server";
import { stage } from "./stage";

// Without recorded archives: the ring twice, where nothing may differ.
const archives = even && uneven ? [even, uneven, ring, ...(stencil ? [stencil] : [])] : [ring, ring, ringProfile];

const given = stage(archives);

interface Place {
  construct: string;
  runs: ({ exclusive_s: number; compared_s: number } | null)[];
  changes: { difference_s: number; verdict: string }[];
}

/** A verdict as the page says it. */
const words = (verdict: string) => verdict.replaceAll("_", " ").replace("too small to tell", "within noise");

test("two runs, region by region", async () => {
  const it = await open(given.browser, given.server, "#/compare?runs=0,1");
  const said = await given.server.api<{ callpaths: Place[]; findings: { place: string }[] }>("compare?runs=0,1");
  const rows = await it.page.locator("section[aria-labelledby=places] tbody tr").allTextContents();
  assert.equal(rows.length, Math.min(100, said.callpaths.length));
  rows.forEach((text, at) => {
    const place = said.callpaths[at] as Place;
    assert.ok(text.includes(place.construct), `${text} is ${place.construct}`);
    assert.ok(text.includes(words(place.changes[0]?.verdict ?? "")), `${text} says ${place.changes[0]?.verdict}`);
  });
  const findings = await it.page.locator("section[aria-labelledby=changed] tbody tr").allTextContents();
  assert.equal(findings.length, Math.min(20, said.findings.length));
  findings.forEach((text, at) => {
    const place = said.findings[at]?.place;
    assert.ok(place && text.includes(place), `${text} is at ${place}`);
  });
  if (even && uneven) {
    const finalize = rows.find((text) => text.includes("MPI_Finalize")) ?? "";
    assert.ok(finalize.includes("+1.19\u00a0s"), `the uneven run waits in MPI_Finalize: ${finalize}`);
    assert.match((await it.page.textContent("section[aria-labelledby=changed] tbody")) ?? "", /Load imbalance.*grown/s);
  } else {
    assert.ok(!rows.some((text) => /grown|shrunk/.test(text)), "a run differs in nothing from itself");
  }
  await shot(it.page, "compare");
  it.clean();
  await it.close();
});

test("many runs beside each other scroll in their cards", async () => {
  const many = await serve(Array.from({ length: 14 }, () => ring));
  try {
    const it = await open(given.browser, many, `#/compare?runs=${Array.from({ length: 14 }, (_, run) => run).join()}`);
    await it.page.setViewportSize({ width: 900, height: 900 });
    const wide = it.page.locator(".card .scroll").last();
    assert.ok(await wide.evaluate((element) => element.scrollWidth > element.clientWidth), "there is more than fits");
    assert.ok(await it.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page does not scroll");
    it.clean();
    await it.close();
  } finally {
    many.stop();
  }
});

test("runs of different sizes are compared by means over PEs", { skip: !stencil }, async () => {
  const runs = `0,${archives.length - 1}`;
  const it = await open(given.browser, given.server, `#/compare?runs=${runs}&places=callpaths`);
  const said = await given.server.api<{ per_pe: boolean; callpaths: Place[]; runs: { pes: number }[] }>(`compare?runs=${runs}`);
  assert.ok(said.per_pe && said.runs[0]?.pes !== said.runs[1]?.pes);
  const table = it.page.locator("section[aria-labelledby=places]");
  assert.match((await table.locator("caption").textContent()) ?? "", /mean over PEs/);
  const rows = await table.locator("tbody tr").allTextContents();
  rows.forEach((text, at) => {
    const place = said.callpaths[at] as Place;
    place.runs.forEach((sums, run) => {
      if (!sums) return;
      const mean = sums.exclusive_s / (said.runs[run]?.pes ?? 0);
      assert.ok(Math.abs(sums.compared_s - mean) < 1e-9 && text.includes(seconds(mean)), `${text}: ${mean}`);
    });
    const [a, b] = place.runs.map((sums) => sums?.compared_s ?? 0);
    assert.ok(Math.abs((b ?? 0) - (a ?? 0) - (place.changes[0]?.difference_s ?? 0)) < 1e-9, text);
  });
  it.clean();
  await it.close();
});

test("the run that others are compared with can be changed, and is in the address", async () => {
  const it = await open(given.browser, given.server, "#/compare?runs=0,1");
  await it.page.getByLabel("Compared with").selectOption("1");
  await until(it.page, () => location.hash.includes("runs=1%2C0"));
  assert.equal((await params(it.page)).runs, "1,0");
  await visit(it.page, "#/compare?runs=0");
  assert.match((await it.page.textContent("main")) ?? "", /at least two runs/);
  it.clean();
  await it.close();
});

test("scaling: efficiency against the ideal", { skip: !stencil }, async () => {
  const runs = `${archives.length - 2},${archives.length - 1}`;
  const it = await open(given.browser, given.server, `#/scaling?runs=${runs}`);
  const said = await given.server.api<{ text: string; points: { pes: number }[] }>(`scaling?runs=${runs}`);
  const main = (await it.page.textContent("main")) ?? "";
  assert.ok(main.includes(said.text), said.text);
  assert.equal(await it.page.locator("section[aria-labelledby=points] tbody tr").count(), said.points.length);
  await shot(it.page, "scaling");
  it.clean();
  await it.close();
});
