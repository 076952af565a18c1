// The flame graph: its boxes are the server's, it opens and closes by mouse and keys, and is of some PEs, a piece, or beside another run.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Flame, Profile, Selected } from "../src/api";
import { layout, levelHeight, nameOf } from "../src/draw/flame";
import { seconds } from "../src/format";
import { even, hybrid, lateSender, ring, ringProfile, stencil, uneven } from "./archives";
import { open, params, settle, shot, until, visit } from "./browser";
import { stage } from "./stage";

const archives = [ring, ringProfile, lateSender, hybrid, stencil, even, uneven].filter((it) => it !== null);
const given = stage(archives);

const flame = (run: number, query = ""): Promise<Flame> => given.server.api<Flame>(`runs/${run}/flame${query}`);

/** The cells of the table, a row a box. */
async function table(page: Page): Promise<string[][]> {
  if (!(await page.locator("details[open] table").count())) await page.getByText("The same as a table").click();
  const rows = page.locator("details[open] tbody tr");
  await rows.first().waitFor();
  const more = page.getByRole("button", { name: /Show all/ });
  if (await more.count()) await more.click();
  await until(page, () => document.querySelector("details[open] section + p button") === null);
  return rows.evaluateAll((all) => all.map((row) => [...row.querySelectorAll("td")].map((it) => it.textContent ?? "")));
}

/** What the page shows is the answer: name, time, own time, waiting of each box. */
async function shows(page: Page, answer: Flame, what: string): Promise<void> {
  const { boxes } = answer;
  const expected = boxes.parent
    .map((_, at) =>
      [nameOf(answer, at), seconds(boxes.seconds[at]), seconds(boxes.own_s[at]), seconds(boxes.waiting_s[at])].join(),
    )
    .sort();
  const found = (await table(page)).map((cells) => [cells[0], cells[2], cells[3], cells[4]].join()).sort();
  assert.equal(found.length, Math.min(500, expected.length), what);
  if (expected.length <= 500) assert.deepEqual(found, expected, what);
}

test("the boxes of every archive are those of the server, both ways", async () => {
  const it = await open(given.browser, given.server, "#/flame?run=0");
  for (const run of archives.keys()) {
    for (const stacking of ["callees", "callers"]) {
      await visit(it.page, `#/flame?run=${run}&stacking=${stacking}`);
      await shows(it.page, await flame(run, `?stacking=${stacking}`), `${archives[run]} ${stacking}`);
    }
  }
  it.clean();
  await it.close();
});

test("inverted, the first boxes are the profile", async () => {
  for (const run of archives.keys()) {
    const [{ boxes, functions }, { regions }] = [
      await flame(run, "?stacking=callers"),
      await given.server.api<Profile>(`runs/${run}/profile`),
    ];
    let told = 0;
    boxes.parent.forEach((parent, at) => {
      const of = boxes.function[at];
      if (parent !== null || of === null || of === undefined) return;
      const row = regions.region.indexOf(functions.region[of] ?? null);
      assert.ok(Math.abs((regions.exclusive_s[row] ?? 0) - (boxes.seconds[at] ?? 0)) < 1e-9, `${functions.name[of]}`);
      told += 1;
    });
    assert.ok(told > 0);
  }
});

test("a box opens by Enter and by a click, and closes by Esc, Back and a click above", async () => {
  const it = await open(given.browser, given.server, "#/flame?run=0");
  const { page } = it;
  await page.locator("#flame").focus();
  // To the first of the outermost boxes on which something stands, to the widest box there, and into it.
  const answer = await flame(0);
  const second = answer.boxes.parent.findIndex((parent) => parent !== null);
  const first = answer.boxes.parent[second] as number;
  for (const key of ["ArrowDown", ...Array<string>(first).fill("ArrowRight"), "ArrowDown"]) await page.keyboard.press(key);
  const name = nameOf(answer, second);
  await until(page, (wanted) => document.querySelector(".said code")?.textContent === wanted, name);
  const said = (await page.textContent(".said")) ?? "";
  assert.ok(said.includes(seconds(answer.boxes.seconds[second])), `${said} has the time of ${name}`);
  assert.ok(said.includes(`itself ${seconds(answer.boxes.own_s[second])}`), said);
  await page.keyboard.press("Enter");
  await settle(page);
  const way = [first, second].map((at) => answer.functions.region[answer.boxes.function[at] ?? -1]).join(".");
  assert.equal((await params(page)).under, way);
  await shows(page, await flame(0, `?under=${way}`), "opened");
  await shot(page, "flame-opened");
  await page.locator("#flame").focus();
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal((await params(page)).under, way.split(".")[0], "one level less");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal((await params(page)).under, undefined);
  // The same by the mouse; then the row above it.
  const wide = (await page.locator("#flame").boundingBox())?.width ?? 0;
  const place = layout(answer, []).of.get(second);
  await page
    .locator("#flame")
    .click({ position: { x: wide * (((place?.x0 ?? 0) + (place?.x1 ?? 0)) / 2), y: 1.5 * levelHeight(layout(answer, [])) } });
  await settle(page);
  assert.equal((await params(page)).under, way);
  await page.locator("#flame").click({ position: { x: 30, y: 8 } });
  await settle(page);
  assert.equal((await params(page)).under, way.split(".")[0]);
  await page.goBack();
  await settle(page);
  assert.equal((await params(page)).under, way);
  it.clean();
  await it.close();
});

test("the search says how much time it found, and the colours are by name or by kind", async () => {
  const it = await open(given.browser, given.server, "#/flame?run=0");
  const { page } = it;
  await page.keyboard.press("/");
  await page.keyboard.type("mpi_");
  await settle(page);
  const { boxes, functions, all_s } = await flame(0);
  const is = (at: number) => functions.name[boxes.function[at] ?? -1]?.startsWith("MPI_") ?? false;
  const time = boxes.seconds.reduce((sum, it, at) => sum + (is(at) && !is(boxes.parent[at] ?? -1) ? it : 0), 0);
  assert.ok(((await page.textContent(".said")) ?? "").includes(seconds(time)), `${seconds(time)} of ${all_s}`);
  await shot(page, "flame-search");
  const pixel = () =>
    page.$eval("#flame", (it) => [...((it as HTMLCanvasElement).getContext("2d")?.getImageData(4, 3, 1, 1).data ?? [])].join());
  await visit(page, "#/flame?run=0");
  const byName = await pixel();
  await page.getByRole("button", { name: "by kind" }).click();
  await settle(page);
  assert.notEqual(await pixel(), byName);
  assert.equal((await params(page)).colour, "kind");
  // The choice goes along to other views and comes back.
  await page.getByRole("link", { name: "Profile" }).click();
  await settle(page);
  assert.equal((await params(page)).colour, "kind");
  it.clean();
  await it.close();
});

test("one PE, PEs by name, and a piece that was selected have graphs of their own", async () => {
  const it = await open(given.browser, given.server, "#/flame?run=0");
  const { page } = it;
  await page.getByRole("combobox", { name: "PEs" }).selectOption("1");
  await settle(page);
  await shows(page, await flame(0, "?only=1"), "PE 1");
  await visit(page, "#/flame?run=0&filter=%5E%5B02%5D%24");
  await shows(page, await flame(0, "?only=0,2"), "PEs 0 and 2");
  await visit(page, "#/flame?run=0&filter=nobody");
  assert.match((await page.textContent("main .notice")) ?? "", /No PE, process or host/);
  await visit(page, "#/timeline?run=0&sel=300000000.400000000.1-2");
  await page.locator("#flame-of-selection").click();
  await settle(page);
  const part = await flame(0, "?from=300000000&to=400000000&only=1-2");
  await shows(page, part, "the piece");
  assert.match((await page.textContent("#part")) ?? "", /100\sms/);
  // All of the piece's time but what is idle is in its boxes.
  const { kinds } = await given.server.api<Selected>("runs/0/selection?from=300000000&to=400000000&only=1-2");
  const names = (await given.server.api<{ name: string }[]>("runs/0/kinds")).map((it) => it.name);
  const busy = kinds.seconds.reduce(
    (sum, it, at) => sum + (["idle", "wait"].includes(names[kinds.kind[at] ?? 0] ?? "") ? 0 : it),
    0,
  );
  assert.ok(Math.abs(part.all_s - busy) < 1e-8, `${part.all_s} is ${busy}`);
  await page.getByRole("button", { name: "Whole run" }).click();
  await settle(page);
  await shows(page, await flame(0), "the whole run again");
  it.clean();
  await it.close();
});

test("two runs: what changed is said and coloured, from the comparison on", { skip: !even || !uneven }, async () => {
  const [base, run] = [archives.indexOf(even as string), archives.indexOf(uneven as string)];
  const it = await open(given.browser, given.server, `#/compare?runs=${base},${run}`);
  const { page } = it;
  await page.getByRole("link", { name: "as flame graph" }).click();
  await settle(page);
  const both = await flame(run, `?base=${base}`);
  await shows(page, both, "the run that is looked at");
  const [cells] = await table(page);
  assert.equal(cells?.[6], seconds(both.boxes.base_s[0]));
  const alone = await flame(base);
  assert.equal(both.base_all_s, alone.all_s);
  await page.locator("#flame").focus();
  await page.keyboard.press("ArrowDown");
  await until(page, () => /in the other run: [+−]/.test(document.querySelector(".said")?.textContent ?? ""));
  await shot(page, "flame-compared");
  it.clean();
  await it.close();
});
