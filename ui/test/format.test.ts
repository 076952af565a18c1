// Numbers are rounded as the text of the command line rounds them: its tests have the same list.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { percent, seconds } from "../src/format";
import { ROOT } from "./archives";

const forms: Record<string, (value: number) => string> = { seconds, percent, ratio: (value) => value.toFixed(3) };

test("numbers are rounded as in text", () => {
  const list = readFileSync(join(ROOT, "ui/test/rounding.txt"), "utf8").trim().split("\n");
  for (const line of list) {
    const [, form = "", value = "", told] = /^(\w+) (\S+) (.*)$/.exec(line) ?? [];
    assert.equal(forms[form]?.(Number(value)).replaceAll("\u00a0", " "), told, line);
  }
});
