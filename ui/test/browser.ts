// A real Chromium for a test. Whatever a page logs as an error, and every request that leaves this machine, fails the test.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page, type Request } from "playwright-core";
import { ROOT } from "./archives";
import type { Server } from "./server";

const SHOTS = process.env.PARTUNE_SHOTS ?? join(ROOT, "target/ui-screenshots");

export const EXECUTABLE = [
  process.env.PARTUNE_CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((it) => it !== undefined && existsSync(it));

export async function launch(): Promise<Browser> {
  if (!EXECUTABLE) throw new Error("no Chromium; install Debian's package chromium, or set PARTUNE_CHROMIUM");
  return chromium.launch({
    executablePath: EXECUTABLE,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
  });
}

export interface Watched {
  page: Page;
  /** Fails if anything was logged as an error, or asked from elsewhere. */
  clean(): void;
  close(): Promise<void>;
}

/** What pages asked for and have no answer to yet. */
const asked = new WeakMap<Page, Set<Request>>();

/** A page that is watched. */
export async function open(browser: Browser, server: Server, hash: string, options: { dark?: boolean } = {}): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: options.dark ? "dark" : "light",
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") faults.push(`${message.type()}: ${message.text()}`);
  });
  const asking = new Set<Request>();
  asked.set(page, asking);
  page.on("request", (request) => asking.add(request));
  page.on("requestfinished", (request) => asking.delete(request));
  page.on("requestfailed", (request) => asking.delete(request));
  page.on("pageerror", (error) => faults.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.hostname !== "127.0.0.1") faults.push(`request to ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} for ${response.url()}`);
  });
  await page.goto(`${server.address}${hash}`);
  await settle(page);
  return {
    page,
    clean: () => assert.deepEqual(faults, [], "the page logged no errors and asked nobody else"),
    close: () => context.close(),
  };
}

/** Waits until nothing loads any more and the picture is drawn. */
export async function settle(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  const end = Date.now() + 20_000;
  // An answer may lead to the next question, so it has to be calm twice.
  for (let calm = 0; calm < 2; ) {
    assert.ok(Date.now() < end, "the page never came to rest");
    await until(page, () => !document.querySelector("main .loading"));
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    calm = asked.get(page)?.size ? 0 : calm + 1;
  }
}

/** Waits until something is so in the page. Asked from here, because the page's policy forbids what waitForFunction does. */
export async function until<T>(page: Page, holds: (argument: T) => boolean, argument?: T): Promise<void> {
  const end = Date.now() + 20_000;
  while (!(await page.evaluate(holds as (argument: unknown) => boolean, argument))) {
    assert.ok(Date.now() < end, `never came true: ${holds}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Goes to another address of the same page. */
export async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await settle(page);
}

/** Keeps what the page looks like. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

/** The address's parameters. */
export async function params(page: Page): Promise<Record<string, string>> {
  const hash = await page.evaluate(() => location.hash);
  return Object.fromEntries(new URLSearchParams(hash.split("?")[1] ?? ""));
}

/** How many different colours a canvas has: one that was not drawn has one. */
export async function colours(page: Page, selector: string): Promise<number> {
  return page.$eval(selector, (element) => {
    const canvas = element as HTMLCanvasElement;
    const data = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    const seen = new Set<number>();
    for (let at = 0; at < data.length; at += 16)
      seen.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
    return seen.size;
  });
}
