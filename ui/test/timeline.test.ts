// The timeline: from a finding to its instance, from instance to instance, to a single message; search, Back, reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Selected, Timeline } from "../src/api";
import { functionNames, functionShares } from "../src/draw/bins";
import { colourOf } from "../src/draw/functions";
import { LEFT } from "../src/draw/geometry";
import { bytes as inBytes, count as inCount, percent, seconds } from "../src/format";
import { hybrid, lateSender, ring, streams } from "./archives";
import { open, params, settle, shot, until, visit } from "./browser";
import { type Server, serve } from "./server";
import { stage } from "./stage";

const archives = [ring, lateSender, hybrid].filter((it) => it !== null);

const given = stage(archives);

interface Instances {
  pe: number[];
  from: number[];
  to: number[];
  cause_pe: (number | null)[];
}

interface Finding {
  id: string;
  title: string;
  is_wait: boolean;
  instances: Instances;
}

const wait = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** What a PE is called. */
async function peName(run: number, pe: number): Promise<string> {
  const { pes } = await given.server.api<{ pes: { name: string[] } }>(`runs/${run}/pes`);
  return `PE ${pes.name[pe]}`;
}

for (const run of archives.keys()) {
  test(`a click on a finding of run ${run} lands on its instance in the timeline`, async () => {
    const { findings } = await given.server.api<{ findings: Finding[] }>(`runs/${run}/findings`);
    const first = findings.find((it) => it.is_wait);
    assert.ok(first, "the archive has waits");
    const detail = await given.server.api<Finding>(`runs/${run}/findings/${first.id}`);
    const [pe, from, to] = [
      detail.instances.pe[0] as number,
      detail.instances.from[0] as number,
      detail.instances.to[0] as number,
    ];

    const it = await open(given.browser, given.server, `#/findings?run=${run}&finding=${first.id}`);
    await it.page.locator("#finding a.instance").first().click();
    await it.page.waitForSelector("#at-wait");
    await settle(it.page);

    const range = it.page.locator("#range");
    const shown = { from: Number(await range.getAttribute("data-from")), to: Number(await range.getAttribute("data-to")) };
    assert.ok(shown.from <= from && to <= shown.to, `${JSON.stringify(shown)} holds ${from} to ${to}`);
    assert.ok(shown.to - shown.from < 20 * (to - from), "the instance is not lost in the view");
    const selected = (await it.page.textContent("#selected-finding")) ?? "";
    assert.ok(selected.includes(detail.title), selected);
    assert.ok(selected.includes(await peName(run, pe)), `${selected} names the waiting PE`);
    const cause = detail.instances.cause_pe[0];
    if (typeof cause === "number") {
      const said = (await it.page.textContent("#at-wait")) ?? "";
      assert.ok(said.includes(await peName(run, cause)), `${said} names the PE that made it wait`);
    }
    await shot(it.page, `instance-${run}`);

    // The next instance in time is another one, the one before it is this one again.
    if (detail.instances.from.some((other) => other > from)) {
      const before = (await params(it.page)).instance;
      await it.page.getByRole("button", { name: "Next ›" }).click();
      await until(
        it.page,
        (last) => !location.hash.includes(`instance=${last}&`) && !location.hash.endsWith(`instance=${last}`),
        before,
      );
      await settle(it.page);
      const next = (await params(it.page)).instance?.split(".").map(Number) ?? [];
      assert.ok((next[1] as number) > from, "the next instance begins later");
      await wait(800);
      await it.page.goBack();
      await until(it.page, (last) => location.hash.includes(`instance=${last}`), before);
    }
    it.clean();
    await it.close();
  });
}

test("zoom to a single message shows its bytes", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  const { messages } = await given.server.api<{
    messages: Record<"sent" | "received" | "from_pe" | "to_pe" | "bytes", number[]>;
  }>("runs/0/timeline");
  assert.ok(messages.sent.length > 0, "the ring hands messages around");
  await it.page.focus("#tracks");
  await it.page.keyboard.press("m");
  await it.page.waitForSelector("#selected-message");
  const [from, sent, to, received] = ((await params(it.page)).message ?? "").split(".").map(Number);
  const at = messages.sent.findIndex(
    (time, index) => time === sent && messages.from_pe[index] === from && messages.to_pe[index] === to,
  );
  assert.ok(at >= 0, "the message that is selected is one of the run");
  await it.page.click("#zoom-to-message");
  await until(
    it.page,
    ([s, r]) => {
      const range = document.getElementById("range");
      const [from, to] = [Number(range?.dataset.from), Number(range?.dataset.to)];
      return from <= (s as number) && (r as number) <= to && to - from <= Math.max(40, 4 * ((r as number) - (s as number)));
    },
    [sent, received],
  );
  await wait(300);
  await settle(it.page);
  const said = (await it.page.textContent("#selected-message")) ?? "";
  const bytes = messages.bytes[at] as number;
  const shown = bytes >= 1024 ? bytes.toLocaleString("en") : `${bytes}\u00a0B`;
  assert.ok(said.includes(shown), `${said} says ${shown}`);
  assert.ok(said.includes(await peName(0, from as number)) && said.includes(await peName(0, to as number)), said);
  await shot(it.page, "message");

  // All of it is in the address: the same page again shows the same.
  await it.page.reload();
  await settle(it.page);
  await it.page.waitForSelector("#selected-message");
  assert.equal(await it.page.textContent("#selected-message"), said);
  it.clean();
  await it.close();
});

test("a click on a message in the picture selects it", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  const view = await given.server.api<{ messages: Record<"sent" | "received" | "from_pe" | "to_pe", number[]> }>(
    "runs/0/timeline",
  );
  // A message that takes long enough to be drawn apart from others.
  const long = view.messages.sent
    .map((sent, at) => ({ at, took: (view.messages.received[at] as number) - sent }))
    .sort((a, b) => b.took - a.took)[0];
  assert.ok(long);
  const [sent, received] = [view.messages.sent[long.at] as number, view.messages.received[long.at] as number];
  const margin = Math.round(long.took * 0.3) + 10;
  const [from, to] = [sent - margin, received + margin];
  await visit(it.page, `#/timeline?run=0&from=${from}&to=${to}&hide=waits.collectives.critical`);
  const box = await it.page.locator("#tracks").boundingBox();
  assert.ok(box);
  const rows = 4;
  const rowHeight = (box.height - 26 - 8) / rows;
  const x = (time: number) => box.x + 72 + ((time - from) / (to - from)) * (box.width - 72);
  const y = (pe: number) => box.y + 26 + (pe + 0.5) * rowHeight;
  const [fromPe, toPe] = [view.messages.from_pe[long.at] as number, view.messages.to_pe[long.at] as number];
  await it.page.mouse.click(x(sent) * 0.4 + x(received) * 0.6, y(fromPe) * 0.4 + y(toPe) * 0.6);
  await it.page.waitForSelector("#selected-message");
  const [chosenFrom, , chosenTo] = ((await params(it.page)).message ?? "").split(".").map(Number);
  assert.deepEqual([chosenFrom, chosenTo], [fromPe, toPe]);
  it.clean();
  await it.close();
});

test("wheel and keys zoom and pan, and Back returns", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  const range = async () => {
    await wait(400);
    const place = it.page.locator("#range");
    return { from: Number(await place.getAttribute("data-from")), to: Number(await place.getAttribute("data-to")) };
  };
  const whole = await range();
  const box = await it.page.locator("#tracks").boundingBox();
  assert.ok(box);
  await it.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (let turn = 0; turn < 6; turn += 1) await it.page.mouse.wheel(0, -120);
  const near = await range();
  assert.ok(near.to - near.from < (whole.to - whole.from) / 4, "the wheel zooms");
  await wait(800);
  await it.page.focus("#tracks");
  await it.page.keyboard.press("ArrowRight");
  const right = await range();
  assert.ok(right.from > near.from && Math.abs(right.to - right.from - (near.to - near.from)) <= 2, "an arrow pans");
  await it.page.goBack();
  assert.deepEqual(await range(), near);
  await it.page.focus("#tracks");
  await it.page.keyboard.press("0");
  assert.deepEqual(await range(), whole);
  it.clean();
  await it.close();
});

test("search finds a region and goes from visit to visit", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  await it.page.keyboard.press("/");
  await it.page.keyboard.type("allreduce");
  await it.page.getByRole("button", { name: "MPI_Allreduce" }).click();
  await until(it.page, () => location.hash.includes("visit="));
  await settle(it.page);
  const first = Number((await params(it.page)).visit);
  await it.page.waitForSelector("#at-cursor .path");
  assert.match((await it.page.textContent("#at-cursor")) ?? "", /MPI_Allreduce/);
  await it.page.focus("#tracks");
  await it.page.keyboard.press("n");
  await until(it.page, (before) => !location.hash.includes(`visit=${before}`), first);
  assert.ok(Number((await params(it.page)).visit) > first);
  // The same by keyboard alone: Enter goes to the first visit, and the picture has the focus.
  await visit(it.page, "#/timeline?run=0");
  await it.page.keyboard.press("/");
  await it.page.keyboard.type("allreduce");
  await it.page.keyboard.press("Enter");
  await until(it.page, (visit) => location.hash.includes(`visit=${visit}`), first);
  assert.equal(await it.page.evaluate(() => document.activeElement?.id), "tracks");
  await settle(it.page);
  await shot(it.page, "search");
  it.clean();
  await it.close();
});

test("rows by process, by name and by waiting, and layers that are hidden, are in the address", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  await it.page.getByLabel("PEs, processes or hosts by name").fill("^(rank )?[13]$");
  await until(it.page, () => /2 of 4 PEs have that name/.test(document.getElementById("counts")?.textContent ?? ""));
  await settle(it.page);
  // All that is in view is what the filter left.
  await it.page.focus("#tracks");
  await it.page.keyboard.press("v");
  await until(it.page, () => location.hash.includes("sel="));
  assert.equal((await params(it.page)).sel?.split(".")[2], "1,3");
  await it.page.keyboard.press("Escape");
  await it.page.getByLabel("PEs, processes or hosts by name").fill("");
  await it.page.getByLabel("Order").selectOption("waiting");
  await settle(it.page);
  assert.equal((await params(it.page)).order, "waiting");
  await it.page.getByLabel("Rows").selectOption("process");
  await settle(it.page);
  assert.equal((await params(it.page)).group, "process");
  await it.page.getByRole("button", { name: "Messages" }).click();
  assert.equal((await params(it.page)).hide, "messages");
  await it.page.reload();
  await settle(it.page);
  assert.equal(await it.page.getByRole("button", { name: "Messages" }).getAttribute("aria-pressed"), "false");
  it.clean();
  await it.close();
});

test("streams of devices have rows as PEs have", { skip: streams === null }, async () => {
  const server = await serve([streams as string]);
  try {
    const { pes } = await server.api<{ pes: { name: string[] } }>("runs/0/pes");
    const last = pes.name.length - 1;
    assert.equal(last, 5, "four PEs and two streams");
    const it = await open(given.browser, server, "#/timeline?run=0");
    const { page } = it;
    // All that is in view is all there is, however it is grouped.
    for (const [rows, many] of [
      ["none", 6],
      ["process", 2],
      ["device", 4],
    ] as const) {
      await page.getByLabel("Rows").selectOption(rows);
      await settle(page);
      await page.focus("#tracks");
      await page.keyboard.press("v");
      await until(page, () => location.hash.includes("sel="));
      assert.equal((await params(page)).sel?.split(".")[2], `0-${last}`, `rows are ${rows}`);
      await settle(page);
      const { data } = await selectedOf(page, server);
      assert.equal(data.pes, 6);
      const labels = await server.api<Timeline>(`runs/0/timeline?group=${rows}&first=0&pes=6`);
      assert.equal(labels.rows.label.length, many);
      await page.keyboard.press("Escape");
      await until(page, () => !location.hash.includes("sel="));
    }
    await shot(page, "streams");
    await page.getByLabel("PEs, processes or hosts by name").fill("CUDA");
    await until(page, () => /2 of 6 PEs have that name/.test(document.getElementById("counts")?.textContent ?? ""));
    const whole = await server.api<Timeline>("runs/0/timeline");
    await visit(page, `#/timeline?run=0&pe=${last}&time=${Math.round(whole.to / 2)}`);
    assert.ok(((await page.textContent("#at-cursor")) ?? "").includes(`PE ${pes.name[last]}`));
    it.clean();
    await it.close();
  } finally {
    server.stop();
  }
});

test("what is in view is there as tables too", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
  const view = await given.server.api<{ waits: { pe: number[] }; messages: { sent: number[] } }>("runs/0/timeline");
  await it.page.getByText("What is in view, as tables").click();
  const tables = it.page.locator("#tables table");
  await tables.nth(1).waitFor();
  assert.equal(await tables.nth(0).locator("tbody tr").count(), Math.min(50, view.waits.pe.length));
  assert.equal(await tables.nth(1).locator("tbody tr").count(), Math.min(50, view.messages.sent.length));
  await tables.nth(1).locator("button.message").first().click();
  await it.page.waitForSelector("#selected-message");
  it.clean();
  await it.close();
});

test("what is said follows the view", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&from=10000000&to=20000000");
  const { page } = it;
  const status = () => page.locator(".tools [role=status]").textContent();
  await page.focus("#tracks");
  await page.keyboard.press("m");
  assert.equal(await status(), "No messages in view.");
  await page.keyboard.press("0");
  await until(page, () => document.querySelector(".tools [role=status]")?.textContent !== "No messages in view.");

  // Below a pointer that rests, the tip is about what is there after a zoom.
  const view = await given.server.api<{ waits: Record<"pe" | "from" | "to", number[]> }>("runs/0/timeline");
  // Of a wait at the end of the run, the cause is at an edge whatever one does.
  const at = view.waits.to.findIndex((to) => to < 480000000);
  const [pe, from, to] = [view.waits.pe[at] as number, view.waits.from[at] as number, view.waits.to[at] as number];
  await visit(page, `#/timeline?run=0&from=${from - 1000}&to=${to + 1000}`);
  const box = await page.locator("#tracks").boundingBox();
  assert.ok(box);
  const height = (box.height - 26 - 8) / 4;
  await page.mouse.move(box.x + 72 + (box.width - 72) / 2, box.y + 26 + (pe + 0.5) * height);
  await page.waitForSelector(".tip");
  assert.match((await page.textContent(".tip")) ?? "", /waits \d/);
  for (let turn = 0; turn < 8; turn += 1) await page.mouse.wheel(0, -120);
  await page.waitForTimeout(300);
  await settle(page);
  assert.doesNotMatch((await page.textContent(".tip")) ?? "", /undefined|waits –/);

  // The cause of a wait comes into the middle of the view, and not to its edge.
  await visit(page, `#/timeline?run=0&from=${from - 1000}&to=${to + 1000}&pe=${pe}&time=${Math.floor((from + to) / 2)}`);
  await page.waitForSelector("#at-wait");
  const before = (await params(page)).pe;
  await page.focus("#tracks");
  await page.keyboard.press("c");
  await until(page, (last) => !location.hash.includes(`pe=${last}&`), before);
  const there = await params(page);
  const share = (Number(there.time) - Number(there.from)) / (Number(there.to) - Number(there.from));
  assert.ok(share > 0.15 && share < 0.85, `${share} of the view`);

  // From the profile, a region's first visit is there, and the title says where one is.
  await visit(page, "#/profile?run=0");
  assert.equal(await page.title(), "Profile – ring – partune");
  await page.locator("main tbody a").first().click();
  await until(page, () => location.hash.includes("visit="));
  await page.waitForSelector("#at-cursor .path");
  assert.equal(await page.title(), "Timeline – ring – partune");
  it.clean();
  await it.close();
});

/** The selection of the address, and what the server says of it. */
const selected = (page: Page, run: number) => selectedOf(page, given.server, run);

async function selectedOf(
  page: Page,
  server: Server,
  run = 0,
): Promise<{ from: number; to: number; only: string; data: Selected }> {
  const { sel = "", durations } = await params(page);
  const [from, to, only] = sel.split(".");
  const region = durations === undefined ? "" : `&region=${durations}`;
  const data = await server.api<Selected>(`runs/${run}/selection?from=${from}&to=${to}&only=${only}${region}`);
  return { from: Number(from), to: Number(to), only: only ?? "", data };
}

/** Every number of a selection that the page shows is that of the server. */
async function same(page: Page, data: Selected): Promise<void> {
  await page.waitForSelector("#selection-kinds");
  await settle(page);
  const texts = (list: string) => page.locator(`${list} li, ${list} tr`).allTextContents();
  const all = ((data.to - data.from) / 1e9) * data.pes;
  const kinds = await texts("#selection-kinds");
  assert.deepEqual(
    kinds.map((text) => text.split(" ").length > 0 && / ([^ ]+), ([^ ]+)$/.exec(text)?.slice(1).join()),
    data.kinds.seconds.map((it) => `${seconds(it)},${percent(it / all)}`),
  );
  const waits = await texts("#selection-waits");
  assert.deepEqual(
    waits,
    data.waits.title.map((name, at) => `${name} ${seconds(data.waits.seconds[at])} in ${inCount(data.waits.count[at])}`),
  );
  const moved = await texts("#selection-moved");
  assert.equal(moved.length, data.moved.what.length);
  moved.forEach((text, at) => {
    assert.ok(text.startsWith(`${inCount(data.moved.count[at])} `) && text.endsWith(inBytes(data.moved.bytes[at])), text);
  });
  const bars = await texts("#selection-durations");
  assert.deepEqual(
    bars.map((text) => /[0-9,]+$/.exec(text)?.[0]),
    data.durations.count.map((it) => inCount(it)),
  );
  const tables = page.locator("#selection-tables table");
  const functions = await tables.nth(0).locator("tbody tr").allTextContents();
  assert.equal(functions.length, Math.min(20, data.functions.name.length));
  functions.forEach((text, at) => {
    assert.ok(text.includes(data.functions.name[at] as string), text);
    assert.ok(text.includes(seconds(data.functions.exclusive_s[at])), text);
    assert.ok(text.includes(seconds(data.functions.inclusive_s[at])), text);
  });
  const rows = await tables.nth(1).locator("tbody tr").allTextContents();
  assert.equal(rows.length, Math.min(20, data.rows.label.length));
  rows.forEach((text, at) => {
    const expected = data.seconds.map((kind) => ((kind[at] ?? 0) > 0 ? seconds(kind[at]) : "–")).join("");
    assert.equal(text, `${data.rows.label[at]}${expected}`);
  });
}

test("a drag selects a piece on some PEs, with the numbers of the server", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&from=300000000&to=400000000");
  const { page } = it;
  const box = await page.locator("#tracks").boundingBox();
  assert.ok(box);
  const rowHeight = (box.height - 26 - 8) / 4;
  const drag = async (from: [number, number], to: [number, number]) => {
    await page.mouse.move(...from);
    await page.mouse.down();
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2);
    await page.mouse.move(...to);
    await page.mouse.up();
    await until(page, () => location.hash.includes("sel="));
  };
  const x = (share: number) => box.x + 72 + share * (box.width - 72);
  const y = (row: number) => box.y + 26 + (row + 0.5) * rowHeight;
  await drag([x(0.25), y(1)], [x(0.6), y(2)]);
  const first = await selected(page, 0);
  assert.equal(first.only, "1-2");
  const near = (8 / (box.width - 72)) * 1e8;
  assert.ok(Math.abs(first.from - 325000000) < near && Math.abs(first.to - 360000000) < near, JSON.stringify(first));
  await same(page, first.data);
  assert.ok(first.data.functions.name.length > 1 && first.data.kinds.kind.length > 1, "there is something in it");
  await shot(page, "selection");

  // A function's own durations are asked for by its name.
  await page.locator("#selection-tables button.plain").first().click();
  await until(page, () => location.hash.includes("durations="));
  await settle(page);
  const { durations } = await params(page);
  const own = await given.server.api<Selected>(`runs/0/selection?from=${first.from}&to=${first.to}&only=1-2&region=${durations}`);
  const bars = await page.locator("#selection-durations tr").allTextContents();
  assert.deepEqual(
    bars.map((text) => /[0-9,]+$/.exec(text)?.[0]),
    own.durations.count.map((it) => inCount(it)),
  );

  // The piece becomes the view; in it an edge goes to where a wait begins.
  await page.click("#zoom-to-selection");
  await until(page, ([from, to]) => location.hash.includes(`from=${from}`) && location.hash.includes(`to=${to}`), [
    first.from,
    first.to,
  ]);
  await settle(page);
  const view = await given.server.api<{ waits: Record<"from" | "to" | "row", number[]> }>(
    `runs/0/timeline?from=${first.from}&to=${first.to}`,
  );
  const length = first.to - first.from;
  const wait = view.waits.from.findIndex((from, at) => {
    const [left, wide] = [(from - first.from) / length, ((view.waits.to[at] as number) - from) / length];
    return left > 0.05 && left < 0.6 && wide * (box.width - 72) > 60;
  });
  assert.ok(wait >= 0, "a wait is wide enough to be hit");
  const begin = view.waits.from[wait] as number;
  const left = x((begin - first.from) / length);
  await drag([left + 3, y(view.waits.row[wait] as number)], [left + 40, y(view.waits.row[wait] as number)]);
  await until(page, (from) => location.hash.includes(`sel=${from}.`), begin);
  await same(page, (await selected(page, 0)).data);

  // The same by keyboard: two corners, all that is in view, nothing.
  await page.focus("#tracks");
  await page.keyboard.press("Escape");
  await until(page, () => !location.hash.includes("sel="));
  await page.keyboard.press("v");
  await until(page, () => location.hash.includes("sel="));
  assert.deepEqual([(await selected(page, 0)).from, (await selected(page, 0)).only], [first.from, "0-3"]);
  await page.keyboard.press("b");
  await page.keyboard.press(".");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("e");
  await until(page, () => /sel=[0-9.]+(0-1|0%2D1)/.test(location.hash));
  await page.waitForSelector("#selection-kinds");
  it.clean();
  await it.close();
});

test("a piece that is selected is analysed as a run by itself", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&sel=300000000.400000000.0-3");
  const { page } = it;
  const { data } = await selected(page, 0);
  await page.click("#analyse-selection");
  await until(page, () => location.hash.startsWith("#/summary"));
  await page.waitForSelector("main h1:has-text(' to ')");
  await settle(page);
  const number = Number((await params(page)).run);
  const isOpen = async () =>
    (await given.server.api<{ run: number; state: string }[]>("runs")).some((it) => it.run === number && it.state === "ready");
  while (!(await isOpen())) await wait(50);
  const summary = await given.server.api<{ duration_s: number; piece: string }>(`runs/${number}/summary`);
  assert.equal(summary.duration_s.toFixed(6), "0.100000");
  const profile = await given.server.api<{ regions: { exclusive_s: number[] } }>(`runs/${number}/profile`);
  assert.deepEqual(profile.regions.exclusive_s, data.functions.exclusive_s);
  it.clean();
  await it.close();
});

/** All colours of a canvas, as `r,g,b`. */
async function seen(page: Page, selector: string): Promise<Set<string>> {
  const all = await page.$eval(selector, (element) => {
    const { width, height } = element as HTMLCanvasElement;
    const data = (element as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
    const found = new Set<string>();
    for (let at = 0; at < data.length; at += 4) found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    return [...found];
  });
  return new Set(all);
}

/** The colour of a function, from the page's own style sheet. */
async function colour(page: Page, name: string): Promise<string> {
  const hex = await page.evaluate(
    (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim(),
    `--f${colourOf(name)}`,
  );
  return [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16)).join();
}

for (const dark of [false, true]) {
  test(`by function, ${dark ? "dark" : "light"}: one colour in the timeline, its strip and the flame graph, and shares that are the server's`, async () => {
    for (const run of archives.keys()) {
      const it = await open(given.browser, given.server, `#/timeline?run=${run}`, { dark });
      const { page } = it;
      const asked = page.waitForResponse((response) => /timeline\?.*first=.*by=function/.test(response.url()));
      await page.getByRole("group", { name: "Colours" }).getByRole("button", { name: "by function" }).click();
      const answer = (await (await asked).json()) as Timeline;
      await settle(page);
      const names = functionNames(answer);
      const legend = await page.locator("#functions li").allTextContents();
      assert.deepEqual(legend.slice(0, names.length), names);
      // The function with most time is in all three pictures, in the colour of its name.
      const shares = functionShares(answer);
      assert.ok(shares, "they were asked for");
      const sums = names.map((_, at) => shares.data.reduce((sum, it, byte) => sum + (byte % shares.stride === at ? it : 0), 0));
      const name = names[sums.indexOf(Math.max(...sums))] as string;
      const wanted = await colour(page, name);
      assert.ok((await seen(page, "#tracks")).has(wanted), `${name} in the timeline`);
      assert.ok((await seen(page, ".overview canvas")).has(wanted), `${name} in the strip`);
      await shot(page, `by-function-${run}-${dark ? "dark" : "light"}`);
      if (!answer.spans) {
        // Beside the pointer stand the shares of that column.
        const box = await page.locator("#tracks").boundingBox();
        const at = { x: LEFT + 0.4 * ((box?.width ?? 0) - LEFT), y: 40 };
        await page.locator("#tracks").hover({ position: at });
        const tip = (await page.locator(".tip").textContent()) ?? "";
        const column = Math.floor(0.4 * answer.columns);
        const told = [-1, 0, 1].some((off) => {
          const cell = shares.data.subarray((column + off) * shares.stride, (column + off + 1) * shares.stride);
          const parts = names.map((name, at) => [name, (cell[at] ?? 0) / 255] as const).filter(([, share]) => share > 0.01);
          parts.sort((a, b) => b[1] - a[1]);
          return parts.length > 0 && tip.includes(parts.map(([name, share]) => `${name} ${percent(share)}`).join(", "));
        });
        assert.ok(told, tip);
      }
      await page.getByRole("link", { name: "Flame graph" }).click();
      await settle(page);
      assert.equal((await params(page)).colour, "function");
      assert.ok((await seen(page, "#flame")).has(wanted), `${name} in the flame graph`);
      it.clean();
      await it.close();
    }
  });
}

test("a picture that is moved or drawn over is the one that was there", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&from=300000000&to=400000000");
  const { page } = it;
  const box = await page.locator("#tracks").boundingBox();
  assert.ok(box);
  const middle: [number, number] = [box.x + box.width / 2, box.y + box.height / 2];
  const picture = () => page.$eval("#tracks", (element) => (element as HTMLCanvasElement).toDataURL());
  const pulled = async (by: number, keep: boolean) => {
    await page.keyboard.down("Shift");
    await page.mouse.move(...middle);
    await page.mouse.down();
    await page.mouse.move(middle[0] + by, middle[1], { steps: 5 });
    if (!keep) await page.mouse.move(...middle, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await page.mouse.move(5, 5);
    await settle(page);
  };
  const before = await picture();
  // There and back, over it and away again.
  await pulled(60, false);
  assert.equal(await picture(), before);
  await page.focus("#tracks");
  await page.keyboard.press("v");
  await until(page, () => location.hash.includes("sel="));
  await settle(page);
  assert.notEqual(await picture(), before);
  await page.keyboard.press("Escape");
  await until(page, () => !location.hash.includes("sel="));
  await settle(page);
  assert.equal(await picture(), before);
  // Where it stays, it is what is there, as who comes by its address sees it.
  await pulled(60, true);
  await until(page, () => !location.hash.includes("from=300000000"));
  await settle(page);
  const { from } = await params(page);
  assert.ok(Number(from) < 300000000, from);
  const moved = await picture();
  await page.reload();
  await settle(page);
  assert.equal(await picture(), moved);
  it.clean();
  await it.close();
});

test("the critical path is an outline that leaves the middle of rows free", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0&hide=waits.messages.collectives");
  const { page } = it;
  const pink = async () => {
    const hex = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--critical").trim());
    const [red, green, blue] = [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16));
    return page.$eval(
      "#tracks",
      (element, [red, green, blue]) => {
        const { width, height } = element as HTMLCanvasElement;
        const data = (element as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
        const lines = new Map<number, number>();
        for (let at = 0; at < data.length; at += 4)
          if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) {
            const line = Math.floor(at / 4 / width);
            lines.set(line, (lines.get(line) ?? 0) + 1);
          }
        return [...lines];
      },
      [red, green, blue],
    );
  };
  const lines = await pink();
  const most = Math.max(...lines.map(([, count]) => count));
  assert.ok(most > 50, "it is there");
  // Long lines are edges of rows: two of them, one below the other, have a row's height between.
  const long = lines.filter(([, count]) => count > most / 3).map(([line]) => line);
  const gaps = long.slice(1).map((line, at) => line - (long[at] ?? 0));
  assert.ok(Math.max(...gaps) > 10, `${long.join()} leave the middle free`);
  await page.getByRole("button", { name: "Critical path" }).click();
  await settle(page);
  assert.deepEqual(await pink(), []);
  it.clean();
  await it.close();
});
