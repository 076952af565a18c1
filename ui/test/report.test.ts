// For who opens a report: all views are there without a network and without a server, with the numbers of `partune analyze`; axe finds nothing
// serious, the keyboard reaches it, it prints whole and light, and it says and asks nothing.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { Counters, Metrics, Transfers } from "../src/api";
import { extent } from "../src/draw/counters";
import { plural, quantity } from "../src/format";
import { hybrid, lateSender, measured, ring, ringProfile, stencil } from "./archives";
import { violations } from "./axe";
import { colours, launch, params, settle, shot, until, visit } from "./browser";

const archives = [ring, ringProfile, lateSender, hybrid, stencil].filter((it) => it !== null);
const partune = process.env.PARTUNE_BIN ?? "../target/debug/partune";
const folder = mkdtempSync(join(tmpdir(), "partune-report-"));
const VIEWS = ["summary", "findings", "timeline", "profile", "flame", "balance", "matrix", "environment", "figures"];

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

function written(archive: string): string {
  const file = join(folder, `${basename(dirname(archive))}.html`);
  if (!existsSync(file)) execFileSync(partune, ["report", archive, "-o", file], { stdio: ["ignore", "ignore", "inherit"] });
  assert.ok(statSync(file).size < 1_000_000, `${archive}: ${statSync(file).size} bytes`);
  return file;
}

/** The report on an archive, as a file in a browser that has no network. */
async function report(archive: string, options: { dark?: boolean; narrow?: boolean; still?: boolean } = {}): Promise<Opened> {
  const file = written(archive);
  const context = await browser.newContext({
    viewport: { width: options.narrow ? 400 : 1280, height: 900 },
    colorScheme: options.dark ? "dark" : "light",
    javaScriptEnabled: !options.still,
    offline: true,
  });
  const page = await context.newPage();
  const heard: string[] = [];
  page.on("console", (message) => heard.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    if (request.url() !== `file://${file}`) heard.push(`request to ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  if (!options.still) await settle(page);
  return {
    page,
    quiet: () => assert.deepEqual(heard, [], "the page said nothing and asked for nothing"),
    close: () => context.close(),
  };
}

interface Analysis {
  findings: { seconds: number; pattern: string }[];
  duration_s: number;
}

const analyzed = (archive: string): Analysis =>
  JSON.parse(execFileSync(partune, ["analyze", "--json", archive], { maxBuffer: 1 << 28 }).toString()) as Analysis;

test("every view is whole, with the numbers of analyze", async () => {
  for (const archive of archives) {
    const it = await report(archive);
    const { page } = it;
    const answers = JSON.parse((await page.textContent("#answers")) ?? "") as Record<string, never>;
    const analysis = analyzed(archive);
    const { findings } = answers["runs/0/findings"] as unknown as Analysis;
    assert.deepEqual(
      findings.map((one) => [one.pattern, one.seconds.toPrecision(9)]),
      analysis.findings.map((one) => [one.pattern, one.seconds.toPrecision(9)]),
      archive,
    );
    const summary = answers["runs/0/summary"] as unknown as Analysis;
    assert.equal(summary.duration_s.toPrecision(9), analysis.duration_s.toPrecision(9));
    for (const view of VIEWS) {
      await visit(page, `#/${view}`);
      const shown = page.locator(".sheet.shown");
      assert.equal(await shown.count(), 1);
      assert.ok(await shown.locator("h1").first().isVisible(), `${archive}: ${view}`);
      assert.equal(await page.locator(".sheet:visible").count(), 1, `${archive}: only ${view} is seen`);
    }
    assert.equal(await page.locator("[role=alert]").count(), 0, `${archive}: nothing is missing that a view shows at first`);
    await visit(page, "#/findings");
    assert.equal(await page.locator(".split > div tbody tr").count(), Math.min(100, findings.length));
    if (archive !== ringProfile) {
      await visit(page, "#/timeline");
      assert.ok((await colours(page, "#tracks")) > 3, `the timeline of ${archive} is drawn`);
      // What is zoomed is what the report holds.
      await page.locator("[aria-label='Zoom in']").click();
      await settle(page);
      assert.ok((await colours(page, "#tracks")) > 1, archive);
      assert.equal(await page.locator("[role=alert]").count(), 0);
    }
    if (archive === ring) await shot(page, "report");
    it.quiet();
    await it.close();
  }
});

test("what a report does not hold is told with what does", async () => {
  const it = await report(ring);
  await visit(it.page, "#/timeline?pe=1&time=1000");
  const told = (await it.page.textContent("#at-cursor [role=alert]")) ?? "";
  assert.match(told, /holds the whole run only.*partune view ARCHIVE/);
  it.quiet();
  await it.close();
});

test("counters, measures of call paths and messages of pairs are as the pages have them", async () => {
  for (const archive of [ring, hybrid, measured].filter((it) => it !== null)) {
    const it = await report(archive);
    const { page } = it;
    const answers = JSON.parse((await page.textContent("#answers")) ?? "") as Record<string, never>;
    const held = (begin: string) => Object.keys(answers).filter((path) => path.startsWith(`runs/0/${begin}`));
    const metrics = answers["runs/0/metrics"] as unknown as Metrics;

    await visit(page, "#/timeline");
    assert.equal(await page.locator("#counter option").count(), metrics.name.length && held("counters?").length + 1);
    if (archive === measured) {
      await page.selectOption("#counter", "0");
      await settle(page);
      assert.ok((await colours(page, "#counter-tracks")) > 1, "a counter is drawn");
      const told = answers[held("counters?")[0] as never] as unknown as Counters;
      const [least, most] = extent(told.values).map((value) =>
        quantity(value, metrics.unit[0] ?? "", told.reading === "rate" ? "/s" : ""),
      );
      assert.ok(((await page.textContent("#counter-scale")) ?? "").includes(`from ${least} to ${most}`));
      await shot(page, "report-counter");
    }

    await visit(page, "#/profile?show=tree");
    const options = page.locator("#measure option");
    assert.equal(await options.count(), held("measured?").length);
    const last = (await options.last().getAttribute("value")) ?? "";
    await page.selectOption("#measure", last);
    await settle(page);
    assert.ok((await page.locator("#by-pe tbody tr").count()) > 1, `${archive}: PEs have ${last}`);

    await visit(page, "#/matrix");
    const shown = page.locator("button.pair");
    const count = await shown.count();
    assert.ok(count > 0 && count <= held("transfers?").length, `${count} pairs`);
    await shown.first().click();
    await settle(page);
    const { giver, getter } = await params(page);
    const pair = answers[`runs/0/transfers?givers=${giver}&getters=${getter}&order=slowest` as never] as unknown as Transfers;
    const told = plural(pair.count, "message or access", "messages and accesses");
    assert.ok(((await page.textContent("#between")) ?? "").includes(told), told);
    assert.equal(await page.locator("#between-order").count(), 0, "a report has one order");
    assert.deepEqual(await violations(page), []);
    assert.equal(await page.locator("[role=alert]").count(), 0);
    if (archive === hybrid) await shot(page, "report-pair");
    it.quiet();
    await it.close();
  }
});

test("without scripts it has the text of analyze", async () => {
  for (const archive of archives) {
    const it = await report(archive, { still: true });
    const text = execFileSync(partune, ["analyze", "--findings", "10", archive]).toString();
    assert.equal(((await it.page.textContent("pre.still")) ?? "").trim(), text.trim());
    it.quiet();
    await it.close();
  }
});

for (const dark of [false, true]) {
  test(`axe finds nothing serious in reports, ${dark ? "dark" : "light"}`, async () => {
    const all: string[] = [];
    for (const archive of [ring, hybrid].filter((it) => it !== null)) {
      // Width changes no colour, so it is looked at once.
      for (const narrow of dark ? [false] : [false, true]) {
        const it = await report(archive, { dark, narrow });
        for (const view of VIEWS) {
          await visit(it.page, `#/${view}`);
          const name = `${basename(dirname(archive))} ${view}${narrow ? " narrow" : ""}`;
          for (const fault of await violations(it.page)) all.push(`${name}: ${fault}`);
        }
        it.quiet();
        await it.close();
      }
    }
    assert.deepEqual(all, []);
  });
}

test("the keyboard goes through the view that is seen, and no other", async () => {
  const it = await report(ring);
  const { page } = it;
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.className), "skip");
  for (const [key, view] of [
    ["2", "findings"],
    ["4", "profile"],
  ] as const) {
    await page.keyboard.press(key);
    await settle(page);
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press("Tab");
      const sheet = await page.evaluate(() => document.activeElement?.closest(".sheet")?.className ?? "");
      assert.notEqual(sheet, "sheet ", `${view}: what is not seen has no focus`);
    }
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  }
  // Keys of the timeline are none elsewhere.
  await page.keyboard.press("+");
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => location.hash), "#/profile");
  it.quiet();
  await it.close();
});

test("on paper all views are there, light, with the details of findings", async () => {
  for (const dark of [false, true]) {
    const it = await report(ring, { dark });
    const { page } = it;
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const corner = () =>
      page.$eval("#tracks", (it) => [...((it as HTMLCanvasElement).getContext("2d")?.getImageData(100, 40, 1, 1).data ?? [])]);
    const before = await corner();
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    assert.equal(await theme(), "light");
    const paper = await corner();
    assert.equal(JSON.stringify(paper) !== JSON.stringify(before), dark, "drawn anew before the browser goes on");
    assert.equal(await page.locator(".sheet:visible").count(), VIEWS.length);
    const { length } = Object.keys(JSON.parse((await page.textContent("#answers")) ?? "")).filter((it) => /findings\//.test(it));
    assert.ok(length > 0);
    assert.equal(await page.locator(".sheet h3:text-is('Where'):visible").count(), Math.min(10, length));
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await theme(), dark ? "dark" : "light");
    it.quiet();
    await it.close();
  }
});

test("it can be printed as soon as it is loaded, before its first frame", async () => {
  const told = async (early: boolean) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true });
    const page = await context.newPage();
    await page.addInitScript((early) => {
      if (early) {
        window.requestAnimationFrame = () => 0;
        window.ResizeObserver.prototype.observe = () => {};
      }
      const printed = () => {
        dispatchEvent(new Event("beforeprint"));
        const pictures = [...document.querySelectorAll("canvas")].map((it) => it.toDataURL());
        Object.assign(window, { printed: { text: document.getElementById("main")?.textContent, pictures } });
      };
      addEventListener("load", () => (early ? printed() : setTimeout(printed, 1000)));
    }, early);
    await page.goto(`file://${written(ring)}`);
    await until(page, () => "printed" in window);
    const it = await page.evaluate(() => (window as unknown as { printed: { text: string; pictures: string[] } }).printed);
    await context.close();
    return it;
  };
  const [early, late] = [await told(true), await told(false)];
  assert.ok(late.pictures.length > 3 && new Set(late.pictures).size > 3);
  assert.equal(early.text, late.text);
  assert.deepEqual(early.pictures, late.pictures);
});
