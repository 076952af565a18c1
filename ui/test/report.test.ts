// For who opens a report: axe finds nothing serious in it, the keyboard reaches all of it, and it says and asks nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { hybrid, lateSender, ring, ringProfile, stencil } from "./archives";
import { violations } from "./axe";
import { launch, shot } from "./browser";

const archives = [ring, ringProfile, lateSender, hybrid, stencil].filter((it) => it !== null);
const partune = process.env.PARTUNE_BIN ?? "../target/debug/partune";
const folder = mkdtempSync(join(tmpdir(), "partune-report-"));

let browser: Browser;

before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  page: Page;
  /** Fails if the page said anything, or asked for anything but itself. */
  quiet(): void;
  close(): Promise<void>;
}

/** The report on an archive, as a file in a browser. */
async function report(archive: string, options: { dark?: boolean; narrow?: boolean } = {}): Promise<Opened> {
  const file = join(folder, `${basename(dirname(archive))}.html`);
  if (!existsSync(file)) execFileSync(partune, ["report", archive, "-o", file], { stdio: ["ignore", "ignore", "inherit"] });
  const context = await browser.newContext({
    viewport: { width: options.narrow ? 400 : 1280, height: 900 },
    colorScheme: options.dark ? "dark" : "light",
  });
  const page = await context.newPage();
  const heard: string[] = [];
  page.on("console", (message) => heard.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== `file://${file}`) heard.push(`request to ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForLoadState("networkidle");
  await drawn(page);
  return {
    page,
    quiet: () => assert.deepEqual(heard, [], "the page said nothing and asked for nothing"),
    close: () => context.close(),
  };
}

/** Opens all that is closed: axe looks at what is seen only. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const it of document.querySelectorAll("details")) it.open = true;
  });
  await drawn(page);
}

/** Waits until the page has seen its new sizes. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

for (const dark of [false, true]) {
  test(`axe finds nothing serious in reports, ${dark ? "dark" : "light"}`, async () => {
    const all: string[] = [];
    for (const archive of archives) {
      // Width changes no colour, so it is looked at once.
      for (const narrow of dark ? [false] : [false, true]) {
        const it = await report(archive, { dark, narrow });
        const name = `${basename(dirname(archive))}${narrow ? " narrow" : ""}`;
        for (const fault of await violations(it.page)) all.push(`${name}: ${fault}`);
        await unfold(it.page);
        for (const fault of await violations(it.page)) all.push(`${name}, open: ${fault}`);
        if (archive === ring && !narrow) await shot(it.page, `report-${dark ? "dark" : "light"}`);
        it.quiet();
        await it.close();
      }
    }
    assert.deepEqual(all, []);
  });
}

test("the keyboard reaches all of a report: contents, findings, heads of tables, closed parts, wide tables", async () => {
  for (const archive of archives) {
    const it = await report(archive, { narrow: archive === ring });
    const { page } = it;
    // What can be used, as the page has it when nothing was opened.
    const wanted = await page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href], button, summary, [tabindex]")];
      const seen = all.filter((it) => it.checkVisibility());
      seen.forEach((it, index) => {
        it.setAttribute("data-seen", String(index));
      });
      return seen.length;
    });
    assert.ok(wanted > 10, `${archive}: ${wanted}`);
    const reached = new Set<string>();
    const unseen: string[] = [];
    // One press each, and some to spare: the browser's own parts and scrollers without a mark come in between.
    for (let presses = 0; presses < wanted + 40 && reached.size < wanted; presses += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const it = document.activeElement;
        const outline = it ? getComputedStyle(it).outlineStyle : "";
        return { id: it?.getAttribute("data-seen"), what: it?.outerHTML.slice(0, 90) ?? "", outline };
      });
      if (at.id === null || at.id === undefined) continue;
      reached.add(at.id);
      if (at.outline === "none") unseen.push(at.what);
    }
    assert.equal(reached.size, wanted, `${archive}: all that can be used is reached`);
    assert.deepEqual(unseen, [], `${archive}: where the keyboard is can be seen`);
    it.quiet();
    await it.close();
  }
});

test("the keyboard skips to the summary, opens a closed part, sorts a table, follows a mark of the time line", async () => {
  const it = await report(ring);
  const { page } = it;
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "skip");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => location.hash), "#summary");

  const closed = page.locator("#findings ~ article details:not([open]) > summary").first();
  await closed.focus();
  const part = await closed.elementHandle();
  await page.keyboard.press("Enter");
  assert.equal(await part?.evaluate((it) => (it.parentElement as HTMLDetailsElement).open), true);

  const rows = () =>
    page
      .locator("#findings ~ .scroll tbody tr td:nth-child(4)")
      .evaluateAll((all) => all.map((it) => Number((it as HTMLElement).dataset.v)));
  const heads = page.locator("#findings ~ .scroll thead th");
  await heads.nth(3).locator("button").focus();
  await page.keyboard.press("Enter");
  const down = await rows();
  assert.deepEqual(
    down,
    [...down].sort((a, b) => b - a),
  );
  assert.equal(await heads.nth(3).getAttribute("aria-sort"), "descending");
  await page.keyboard.press("Space");
  assert.deepEqual(await rows(), [...down].reverse());

  await page.locator("svg a[aria-label='Finding 2']").focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => location.hash), "#finding-2");
  it.quiet();
  await it.close();
});

test("what is closed is open while it is printed, and closed again after", async () => {
  const it = await report(ring);
  const closed = () => it.page.locator("details:not([open])").count();
  const before = await closed();
  assert.ok(before > 0);
  await it.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  assert.equal(await closed(), 0);
  await it.page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await closed(), before);
  it.quiet();
  await it.close();
});
