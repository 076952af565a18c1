// From a cell of the matrix to its messages, and from a message to the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Matrix, Transfers } from "../src/api";
import { bytes, count, duration } from "../src/format";
import { hybrid, ring } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot } from "./browser";
import { stage } from "./stage";

const archives = [ring, hybrid].filter((it) => it !== null);
const given = stage(archives);

for (const run of archives.keys())
  test(`the messages of a pair of run ${run} are those of its cell`, async () => {
    const matrix = await given.server.api<Matrix>(`runs/${run}/matrix?by=count`);
    const it = await open(given.browser, given.server, `#/matrix?run=${run}&by=count`);
    await it.page.locator("button.pair").first().click();
    await settle(it.page);
    const { giver, getter } = await params(it.page);
    const [from, to] = [Number(giver), Number(getter)];
    const side = (row: number) =>
      `${matrix.rows.first[row]}-${(matrix.rows.first[row] ?? 0) + (matrix.rows.count[row] ?? 0) - 1}`;
    const ask = (order: string) =>
      given.server.api<Transfers>(`runs/${run}/transfers?givers=${side(from)}&getters=${side(to)}&order=${order}`);
    const told = await ask("slowest");
    assert.equal(told.count, matrix.cells[from]?.[to], "as many as the cell says");
    assert.equal(matrix.most, told.count, "the first pair is the one with most");
    const text = (await it.page.textContent("#between")) ?? "";
    assert.ok(text.includes(`${count(told.count)} messages and accesses, ${bytes(told.bytes)}`), text);
    const bars = async (id: string) => (await it.page.locator(`#${id} td`).allTextContents()).map((cell) => cell.trim());
    assert.deepEqual(await bars("between-sizes"), told.sizes.count.map(count));
    assert.deepEqual(await bars("between-times"), told.durations.count.map(count));
    assert.deepEqual(await violations(it.page), []);
    await shot(it.page, `messages-${run}`);

    await it.page.selectOption("#between-order", "earliest");
    await settle(it.page);
    const first = await ask("earliest");
    const row = it.page.locator("#between tbody tr:has(a.message)").first();
    assert.ok(((await row.textContent()) ?? "").includes(bytes(first.rows.bytes[0])));
    await row.locator("a.message").click();
    await settle(it.page);
    const message = `${first.rows.from_pe[0]}.${first.rows.sent[0]}.${first.rows.to_pe[0]}.${first.rows.received[0]}`;
    assert.equal((await params(it.page)).message, message);
    const panel = (await it.page.textContent("aside")) ?? "";
    assert.ok(panel.includes(duration((first.rows.received[0] ?? 0) - (first.rows.sent[0] ?? 0))), panel);
    it.clean();
    await it.close();
  });

test("a cell opens by keyboard, and closes again", async () => {
  const it = await open(given.browser, given.server, "#/matrix?run=0");
  await it.page.focus("#matrix");
  await it.page.keyboard.press("ArrowDown");
  await it.page.keyboard.press("Enter");
  await it.page.waitForSelector("#between h2");
  await it.page.locator("#between button", { hasText: "Close" }).click();
  await settle(it.page);
  assert.equal(await it.page.locator("#between").count(), 0);
  it.clean();
  await it.close();
});
