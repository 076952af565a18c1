// The page on the revisions of a program: marks where a figure changed, in words too, and a report behind each revision.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import type { History } from "../src/api";
import { percent, seconds } from "../src/format";
import { violations } from "./axe";
import { launch, shot } from "./browser";

const folder = mkdtempSync(join(tmpdir(), "partune-history-"));
const partune = (...args: string[]) =>
  execFileSync(resolve(process.env.PARTUNE_BIN ?? "../target/debug/partune"), args, { cwd: folder });

let browser: Browser | undefined;
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

test("the history of a program is read, and leads to its reports", async () => {
  for (const [revision, more] of [
    ["1-first", []],
    ["2-slow", ["--slow", "2:2"]],
    ["3-mended", []],
  ] as const)
    for (const run of [1, 2, 3])
      partune("synth", "--events", "2K", "--ranks", "4", "--seed", String(run), ...more, "-o", `all/${revision}/${run}`);
  partune("report", "--history", "all", "-o", "out");
  const page = readFileSync(join(folder, "out/index.html"), "utf8");
  const held = JSON.parse(/id="answers">(.*?)<\/script>/s.exec(page)?.[1] ?? "{}") as { history: History };
  const { figures, findings } = held.history;

  browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
  const tab = await context.newPage();
  const faults: string[] = [];
  tab.on("pageerror", (error) => faults.push(error.message));
  tab.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await tab.goto(pathToFileURL(join(folder, "out/index.html")).href);
  await tab.waitForSelector("table");
  assert.deepEqual(await tab.locator("nav a").allTextContents(), ["History"]);
  const rows = await tab
    .locator("section[aria-label='Figures'] tbody tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
  assert.equal(rows.length, figures.length);
  for (const [at, figure] of figures.entries()) {
    if (figure.unit !== "seconds" && figure.unit !== "share") continue;
    for (const [revision, value] of figure.values.entries()) {
      const cell = rows[at]?.[revision + 1] ?? "";
      assert.ok(cell.startsWith(value ? (figure.unit === "share" ? percent : seconds)(value.value) : "–"), cell);
      assert.equal(cell.includes("beyond noise"), value?.changed != null, `${figure.label}: ${cell}`);
    }
  }
  assert.deepEqual(
    figures[0]?.values.map((it) => it?.changed),
    [null, "more", "less"],
  );
  assert.ok(findings.some((it) => it.changed[1] === "new" || it.changed[1] === "more"));
  for (const colorScheme of ["light", "dark"] as const) {
    await tab.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(tab), []);
    await shot(tab, `history-${colorScheme}`);
  }
  // By keyboard to the report on a revision.
  await tab.getByRole("link", { name: "2-slow" }).first().focus();
  await tab.keyboard.press("Enter");
  await tab.waitForURL(/2-2-slow\.html$/);
  await tab.waitForSelector("nav a");
  assert.ok(((await tab.locator("nav").textContent()) ?? "").includes("Findings"));
  assert.deepEqual(faults, []);
  await context.close();
});
