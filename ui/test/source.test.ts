// Source: what lines cost beside their text, from folders that were named only; in a report where its writer asked for it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { SourceFiles, SourceText, Tree } from "../src/api";
import { seconds } from "../src/format";
import { hybrid, lateSender, ROOT, ring } from "./archives";
import { violations } from "./axe";
import { open, settle, shot, until } from "./browser";
import { serve } from "./server";
import { stage } from "./stage";

const folder = join(ROOT, "examples/ring");
const text = readFileSync(join(folder, "ring.c"), "utf8").trimEnd().split("\n");
const archives = [ring, lateSender, hybrid].filter((it) => it !== null);

const given = stage(archives, ["--source", folder]);

const path = (file: string) => `runs/0/source?file=${encodeURIComponent(file)}`;

test("lines of a file have the engine's seconds, its text, and the advice of findings", async () => {
  const { files, shown } = await given.server.api<SourceFiles>("runs/0/sources");
  assert.ok(shown);
  const file = files.file.find((it) => it.endsWith("ring.c"));
  assert.ok(file, files.file.join());
  const data = await given.server.api<SourceText>(path(file));
  assert.deepEqual(
    data.text,
    text.map((it) => it.replaceAll("\t", "        ")),
  );
  // Own time of a line is the exclusive time of what the call tree has at it.
  const { nodes } = await given.server.api<Tree>("runs/0/tree?depth=64");
  for (const [at, line] of data.lines.line.entries()) {
    const sum = nodes.exclusive_s.reduce(
      (all, it, node) => all + (nodes.file[node] === file && nodes.line[node] === line ? it : 0),
      0,
    );
    assert.ok(Math.abs(sum - (data.lines.own_s[at] ?? 0)) < 1e-9, `${line}: ${sum} ${data.lines.own_s[at]}`);
  }
  const waiting = data.lines.waiting_s.reduce((sum, it) => sum + it, 0);
  assert.ok(waiting > 0 && data.findings.length > 0);

  const it = await open(given.browser, given.server, "#/source?run=0");
  const { page } = it;
  assert.deepEqual(await violations(page), []);
  await page.getByRole("link", { name: file }).focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".source tbody tr");
  await settle(page);
  for (const [at, line] of data.lines.line.entries()) {
    const cells = await page.locator(`#line-${line} td`).allTextContents();
    const costs = [data.lines.waiting_s[at], data.lines.caused_s[at], data.lines.calls_s[at], data.lines.own_s[at]];
    assert.deepEqual(
      cells.map((cell) => cell.replaceAll("\n", "")),
      [...costs.map((cost) => (cost ? seconds(cost) : "")), String(line), data.text?.[line - 1] ?? ""],
    );
  }
  const note = data.findings[0];
  assert.ok(note?.advice);
  assert.ok((await page.locator(`#line-${note.line} ~ tr.note`).first().textContent())?.includes(note.advice));
  // From the list of the lines that cost most to the line, by keyboard.
  await page.locator("nav[aria-label='Lines that cost most'] a").first().focus();
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector(".source tr.selected") !== null);
  assert.deepEqual(await violations(page), []);
  await shot(page, "source");
  it.clean();
  await it.close();
});

test("a finding leads to its line", async () => {
  const { findings } = await given.server.api<{ findings: { id: string; location: { line: number } }[] }>("runs/0/findings");
  const at = findings.find((it) => it.location.line > 0);
  assert.ok(at);
  const it = await open(given.browser, given.server, `#/findings?run=0&finding=${at.id}`);
  await it.page.locator("#finding a[href*='#/source']").first().click();
  await until(it.page, () => document.querySelector(".source tr.selected") !== null);
  assert.equal(await it.page.locator(".source tr.selected").getAttribute("id"), `line-${at.location.line}`);
  it.clean();
  await it.close();
});

test("without a folder there are numbers and no text; what the archive does not name is not looked for", async () => {
  const plain = await serve([ring]);
  const { files, shown } = await plain.api<SourceFiles>("runs/0/sources");
  assert.equal(shown, false);
  const data = await plain.api<SourceText>(path(files.file.find((it) => it.endsWith("ring.c")) ?? ""));
  assert.ok(data.text === null && data.lines.line.length > 0 && data.why?.includes("--source"));
  const it = await open(given.browser, plain, `#/source?run=0&file=${encodeURIComponent(data.file)}`);
  assert.ok((await it.page.textContent("main"))?.includes("--source"));
  assert.ok((await it.page.locator(".source tbody tr").count()) >= data.lines.line.length);
  it.clean();
  await it.close();
  plain.stop();
  for (const file of ["/etc/passwd", "../Makefile", "Makefile", "README.md", ""])
    await assert.rejects(given.server.api(path(file)), /no such file/);
});

test("a report has the text where it was asked for, and nothing of it elsewhere", async () => {
  const made = mkdtempSync(join(tmpdir(), "partune-source-"));
  const report = (name: string, more: string[]) => {
    execFileSync(process.env.PARTUNE_BIN ?? "../target/debug/partune", ["report", ring, "-o", join(made, name), ...more]);
    return readFileSync(join(made, name), "utf8");
  };
  const line = text.find((it) => it.includes("MPI_Waitall(")) ?? "";
  const written = (it: string) => it.includes(JSON.stringify(line.trim()).slice(1, -1).replaceAll("<", "\\u003c"));
  assert.ok(line && written(report("with.html", ["--source", folder])) && !written(report("without.html", [])));
  assert.ok(readFileSync(join(made, "with.html")).length < 1_000_000);
  const context = await given.browser.newContext({ viewport: { width: 1440, height: 900 }, offline: true });
  const page = await context.newPage();
  for (const [name, has] of [
    ["with.html", 1],
    ["without.html", 0],
  ] as const) {
    await page.goto(`${pathToFileURL(join(made, name))}#/source`);
    await page.waitForSelector("nav a");
    assert.equal(await page.locator("nav a", { hasText: "Source" }).count(), has);
  }
  await page.goto(`${pathToFileURL(join(made, "with.html"))}#/source`);
  await page.reload();
  await page.locator(".shown a[href*='ring.c']").first().click();
  await page.waitForSelector(".shown .source tbody tr");
  assert.ok((await page.textContent(".shown .source"))?.includes(line.trim()));
  assert.deepEqual(await violations(page), []);
  await shot(page, "source-report");
  await context.close();
  rmSync(made, { recursive: true });
});
