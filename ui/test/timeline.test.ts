// The timeline: from a finding to its instance, from instance to instance, to a single message; search, Back, reload.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hybrid, lateSender, ring } from "./archives";
import { open, params, settle, shot, until, visit } from "./browser";
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

test("rows by process, and layers that are hidden, are in the address", async () => {
  const it = await open(given.browser, given.server, "#/timeline?run=0");
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
