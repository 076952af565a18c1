// Call tree, measure, PEs: the three show one answer of the server, whichever measure is chosen.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Measured, Metrics, Tree } from "../src/api";
import { amount } from "../src/format";
import { hybrid, measured, ring } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot } from "./browser";
import { stage } from "./stage";

const given = stage([hybrid ?? ring, ...(measured ? [measured] : [])]);

const ask = (run: number, query: string) => given.server.api<Measured>(`runs/${run}/measured?${query}`);

test("a call path has its values on each PE", async () => {
  const it = await open(given.browser, given.server, "#/profile?run=0&show=tree");
  const tree = await given.server.api<Tree>("runs/0/tree?depth=3");
  // Of the whole program first, as much as the tree has.
  const all = await ask(0, "of=time");
  const sum = all.whole.reduce((sum, value) => sum + value, 0);
  assert.ok(Math.abs(sum - tree.all_s) < 1e-6 * tree.all_s, `${sum} is ${tree.all_s}`);
  const names = it.page.locator(".tree-name button.plain");
  const name = (await names.first().textContent()) ?? "";
  await names.first().click();
  await settle(it.page);
  const path = Number((await params(it.page)).node);
  const at = tree.nodes.path.indexOf(path);
  assert.equal(tree.nodes.name[at], name);
  const told = await ask(0, `of=time&path=${path}`);
  const whole = told.whole.reduce((sum, value) => sum + value, 0);
  assert.ok(Math.abs(whole - (tree.nodes.inclusive_s[at] ?? 0)) < 1e-6, "PEs add up to the row of the tree");
  const rows = await it.page.locator("#by-pe tbody tr").allTextContents();
  assert.equal(rows.length, Math.min(64, told.rows.label.length));
  rows.forEach((text, row) => {
    assert.ok(text.includes(told.rows.label[row] ?? "-") && text.includes(amount(told.whole[row], "s")), text);
    assert.ok(text.includes(amount(told.own[row], "s")), text);
  });
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "profile-by-pe");
  it.clean();
  await it.close();
});

for (const of of ["waiting", "visits", "bytes"]) {
  test(`${of} stand in the tree and by PE`, async () => {
    const it = await open(given.browser, given.server, "#/profile?run=0&show=tree");
    await it.page.selectOption("#measure", of);
    await settle(it.page);
    const told = await ask(0, `of=${of}`);
    const tree = await given.server.api<Tree>("runs/0/tree?depth=3");
    assert.ok(
      told.whole.some((value) => value > 0),
      "there is something to see",
    );
    const first = tree.nodes.path[0] ?? null;
    const at = told.paths.path.indexOf(first);
    const cells = await it.page.locator("section[aria-label='Call tree'] tbody tr").first().locator("td").allTextContents();
    assert.deepEqual(
      cells.slice(-2),
      at < 0 ? ["–", "–"] : [amount(told.paths.whole[at], told.unit), amount(told.paths.own[at], told.unit)],
    );
    const rows = await it.page.locator("#by-pe tbody tr").allTextContents();
    for (const [row, text] of rows.entries()) assert.ok(text.includes(amount(told.whole[row], told.unit)), text);
    it.clean();
    await it.close();
  });
}

test("a counter is one of the measures", { skip: measured === null && "no archive with metrics is here" }, async () => {
  const metrics = await given.server.api<Metrics>("runs/1/metrics");
  const counter = metrics.counts.indexOf(true);
  assert.ok(counter >= 0);
  const it = await open(given.browser, given.server, `#/profile?run=1&show=tree&of=counter.${counter}`);
  const told = await ask(1, `of=counter&metric=${counter}`);
  assert.equal(told.unit, metrics.unit[counter]);
  const paths = told.paths.own.reduce((sum, value) => sum + value, 0);
  const pes = told.own.reduce((sum, value) => sum + value, 0);
  assert.ok(paths > 0 && Math.abs(paths - pes) < 1e-9 * paths, `${paths} by path, ${pes} by PE`);
  const rows = await it.page.locator("#by-pe tbody tr").allTextContents();
  for (const [row, text] of rows.entries()) assert.ok(text.includes(amount(told.whole[row], told.unit)), text);
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "profile-counter");
  it.clean();
  await it.close();
});
