// A metric below the timeline: its rows and numbers are the server's, over the time of the view.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Counters, Metrics } from "../src/api";
import { extent } from "../src/draw/counters";
import { quantity } from "../src/format";
import { measured, ring } from "./archives";
import { violations } from "./axe";
import { colours, open, params, settle, shot } from "./browser";
import { stage } from "./stage";

const archives = [ring, measured].filter((it) => it !== null);
const given = stage(archives);

test("without metrics there is no choice", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  assert.equal(await it.page.locator("#counter").count(), 0);
  it.clean();
  await it.close();
});

test("a counter stands below the timeline", { skip: measured === null && "no archive with metrics is here" }, async () => {
  const metrics = await given.server.api<Metrics>("runs/1/metrics");
  const it = await open(given.browser, given.server, "#/timeline?run=1");
  assert.deepEqual(await it.page.locator("#counter option").allTextContents(), ["none", ...metrics.name]);
  await it.page.selectOption("#counter", "0");
  await settle(it.page);
  await it.page.waitForSelector("#counter-scale");
  const shown = async (reading: string, query = "") => {
    const told = await given.server.api<Counters>(`runs/1/counters?metric=0&as=${reading}&columns=${await columns()}${query}`);
    const each = reading === "rate" ? "/s" : "";
    const [least, most] = extent(told.values).map((value) => quantity(value, metrics.unit[0] ?? "", each));
    const text = (await it.page.textContent("#counter-scale")) ?? "";
    assert.ok(text.includes(`from ${least} to ${most}`), `${text}: ${least} to ${most}`);
    assert.ok((await colours(it.page, "#counter-tracks")) > 1, "it is drawn");
    return told;
  };
  const columns = () => it.page.$eval("#counter-tracks", (element) => Math.round(Math.max(50, element.clientWidth - 72)));
  const first = metrics.counts[0] ? "rate" : "level";
  const told = await shown(first, "&rows=16");
  assert.ok(told.values.flat().some((value) => value !== null && value > 0));
  assert.deepEqual(await violations(it.page), []);
  await shot(it.page, "counter");

  await it.page.locator("button", { hasText: "summed" }).click();
  await settle(it.page);
  assert.equal((await shown(first, "&rows=1")).values.length, 1);
  await it.page.locator('[aria-label="Counter"] button').first().click();
  await settle(it.page);
  await shown("level", "&rows=1");
  await shot(it.page, "counter-summed");

  // A click on a row puts the cursor there; what is below the pointer is said.
  await it.page.locator("#counter-tracks").hover({ position: { x: 300, y: 20 } });
  assert.match((await it.page.textContent("#counter-scale")) ?? "", /PE .+ at .+: /);
  await it.page.locator("#counter-tracks").click({ position: { x: 300, y: 20 } });
  assert.equal((await params(it.page)).pe, "0");
  it.clean();
  await it.close();
});
