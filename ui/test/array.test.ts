// Shared arrays: who touches what and where it lies; another layout has the share that the server tells.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Arrays } from "../src/api";
import { count, percent } from "../src/format";
import { addresses, ring } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot } from "./browser";
import { stage } from "./stage";

const given = stage([addresses, ring]);

const ask = async (query: string) => {
  const { windows, array } = await given.server.api<Arrays>(`runs/0/array${query}`);
  assert.ok(array);
  return { windows, array };
};

test("an array is shown as recorded, and as it would lie otherwise", async () => {
  const it = await open(given.browser, given.server, "#/matrix?run=0");
  const { array } = await ask("");
  const share = (local: number | null) => percent((local ?? -1) / array.accesses);
  assert.equal(await it.page.locator("#local").textContent(), share(array.recorded_local));
  assert.equal(await it.page.locator("#local-then").count(), 0);
  assert.notEqual(array.best_local, array.recorded_local, "another layout is better");
  await it.page.getByRole("button", { name: "Best block" }).click();
  await settle(it.page);
  assert.equal((await params(it.page)).block, String(array.best_block));
  assert.equal(await it.page.locator("#local-then").textContent(), share(array.best_local));
  await it.page.fill("input[name=block]", "2");
  await it.page.press("input[name=block]", "Enter");
  await settle(it.page);
  const two = await ask("?block=2");
  assert.equal(await it.page.locator("#local-then").textContent(), share(two.array.local));
  // Each size of block has what the server counts.
  const rows = await it.page.locator("#arrays tbody tr").allTextContents();
  rows.forEach((text, at) => {
    const local = two.array.factors.local[at] ?? -1;
    assert.ok(text.includes(share(local)) && text.endsWith(count(local)), text);
  });
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "array");
  it.clean();
  await it.close();
});

test("cells say who touches what, and where it lies", async () => {
  const it = await open(given.browser, given.server, "#/matrix?run=0&width=4&block=1");
  const { array } = await ask("?block=1");
  const said = async (map: string, keys: string[]) => {
    await it.page.locator(map).focus();
    for (const key of keys) await it.page.keyboard.press(key);
    return it.page.locator(`section:not(#arrays):has(${map}) .said`).textContent();
  };
  const [first, next] = [array.touched[0]?.[0], array.touched[0]?.[1]];
  assert.ok((await said("#touched", ["ArrowRight"]))?.includes(`element 0 ${first} times`));
  assert.ok((await said("#touched", ["ArrowRight"]))?.includes(`element 1 ${next} times`));
  // The cursor begins at element 0; one down is a row of four later, one right the next element.
  const lies = await said("#lies", ["ArrowRight", "ArrowDown", "ArrowRight"]);
  assert.equal(lies, `element 5 lies on rank ${5 % array.pes}`);
  it.clean();
  await it.close();
});

test("on more PEs the layout is known, and not who would touch it", async () => {
  const { array } = await ask("");
  const more = 2 * (array.elements / array.each);
  const it = await open(given.browser, given.server, `#/matrix?run=0&on=${more}`);
  assert.equal(await it.page.locator("#local-then").count(), 0);
  assert.ok((await it.page.locator("#arrays").textContent())?.includes("nobody knows who would do what"));
  it.clean();
  await it.close();
});

test("where no memory is shared there are no arrays", async () => {
  const it = await open(given.browser, given.server, "#/matrix?run=1");
  assert.equal(await it.page.locator("#arrays").count(), 0);
  it.clean();
  await it.close();
});
