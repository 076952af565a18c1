// Thresholds are changed in the page: the run opens once more, and has the findings that the command line has with the same ones.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import type { Findings, Run } from "../src/api";
import { ring } from "./archives";
import { violations } from "./axe";
import { open, params, settle, shot, until } from "./browser";
import { PARTUNE } from "./server";
import { stage } from "./stage";

const given = stage([ring]);

test("a run is looked at with other thresholds", async () => {
  const it = await open(given.browser, given.server, "#/findings?run=0");
  await it.page.click("#thresholds summary");
  await it.page.fill("input[name=minimum]", "20");
  await it.page.fill("input[name=details]", "2");
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "thresholds");
  await it.page.getByRole("button", { name: "Find with these" }).click();
  await until(it.page, () => location.hash.includes("run=1") && document.querySelector("caption") !== null);
  await settle(it.page);
  assert.equal((await params(it.page)).run, "1");
  const runs = await given.server.api<Run[]>("runs");
  assert.equal(runs[1]?.name, "ring, minimum 20 %, details 2");
  const said = execFileSync(PARTUNE, ["analyze", ring, "--json", "--minimum", "20%", "--details", "2"], { encoding: "utf8" });
  const expected = (JSON.parse(said) as { findings: { pattern: string }[] }).findings.map((it) => it.pattern);
  const { findings } = await given.server.api<Findings>("runs/1/findings");
  assert.deepEqual(
    findings.map((it) => it.pattern),
    expected,
  );
  const all = await given.server.api<Findings>("runs/0/findings");
  assert.ok(findings.length > 0 && findings.length < all.findings.length);
  assert.equal(await it.page.locator("main .split > div:first-child tbody tr").count(), findings.length);
  // It shows what it was found with.
  await it.page.click("#thresholds summary");
  assert.equal(await it.page.inputValue("input[name=minimum]"), "20");
  it.clean();
  await it.close();
});
