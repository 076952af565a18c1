// For everybody: axe finds nothing serious in any view, dark or light, and all views are reached and used by keyboard alone.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { even, lateSender, ring, ringProfile, uneven } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot, until, visit } from "./browser";
import { stage } from "./stage";

const archives = [ring, lateSender ?? ringProfile, even, uneven].filter((it) => it !== null);

const given = stage(archives);

const VIEWS = [
  "#/summary?run=0",
  "#/findings?run=0",
  "#/timeline?run=0",
  "#/timeline?run=0&text=MPI&pe=1&time=400000000&sel=300000000.400000000.1-2",
  "#/profile?run=0",
  "#/profile?run=0&show=tree",
  "#/flame?run=0",
  "#/flame?run=0&stacking=callers&colour=kind",
  "#/flame?run=0&base=1",
  "#/balance?run=0",
  "#/matrix?run=0",
  "#/compare?runs=0,1",
  "#/scaling?runs=0,1",
  "#/environment?run=0",
  "#/figures?run=0",
];

for (const dark of [false, true]) {
  test(`axe finds nothing serious, ${dark ? "dark" : "light"}`, async () => {
    const it = await open(given.browser, given.server, "#/summary", { dark });
    const all: string[] = [];
    for (const view of VIEWS) {
      await visit(it.page, view);
      for (const fault of await violations(it.page)) all.push(`${view}: ${fault}`);
      await shot(it.page, `access-${dark ? "dark" : "light"}-${view.replace(/[^a-z0-9]+/gi, "-")}`);
    }
    await it.page.keyboard.press("?");
    await it.page.waitForSelector("dialog[open]");
    for (const fault of await violations(it.page)) all.push(`keys: ${fault}`);
    assert.deepEqual(all, []);
    it.clean();
    await it.close();
  });
}

test("keyboard only: every view, a finding, its instance, a message, the keys, the theme", async () => {
  const it = await open(given.browser, given.server, "#/summary?run=0");
  const { page } = it;
  const titles = await page.locator("nav a").allTextContents();
  assert.ok(titles.length >= 9, titles.join());
  for (let digit = 1; digit <= titles.length; digit += 1) {
    // There are nine such keys; what comes after is reached as every link is.
    if (digit <= 9) await page.keyboard.press(String(digit));
    else {
      await tabTo(page, `nav a:nth-child(${digit})`);
      await page.keyboard.press("Enter");
    }
    await settle(page);
    assert.equal(await page.locator("nav a[aria-current=page]").textContent(), titles[digit - 1]);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main", "the keyboard continues in the view");
  }
  // Tab reaches the first finding's link in the findings, Enter opens it.
  await page.keyboard.press("2");
  await settle(page);
  await tabTo(page, "#show-in-timeline");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#at-wait");
  await settle(page);
  assert.equal((await page.locator("nav a[aria-current=page]").textContent()) ?? "", "Timeline");
  // From there into the picture: its cursor moves, its keys work.
  await tabTo(page, "#tracks");
  const before = await params(page);
  await page.keyboard.press(Number(before.pe) > 0 ? "ArrowUp" : "ArrowDown");
  await settle(page);
  assert.notEqual((await params(page)).pe, before.pe, "the cursor moved to another PE");
  await page.keyboard.press("m");
  await until(page, () => location.hash.includes("message="));
  await page.keyboard.press("Escape");
  await until(page, () => !location.hash.includes("message="));
  // The list of keys opens and closes; the theme changes.
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog[open]", { state: "detached" });
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press("t");
  await until(page, (last) => document.documentElement.dataset.theme !== last, theme);
  // Maps have a cursor that says what it is at.
  await page.keyboard.press("7");
  await settle(page);
  await tabTo(page, "#matrix");
  await page.keyboard.press("ArrowRight");
  await until(page, () => /PE .* → PE /.test(document.querySelector(".said")?.textContent ?? ""));
  it.clean();
  await it.close();
});

async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 120; presses += 1) {
    if (await page.evaluate((it) => document.activeElement?.matches(it) ?? false, selector)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${selector}`);
}
