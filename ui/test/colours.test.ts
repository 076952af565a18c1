// The colours of functions: stable, and apart for eyes that see all colours and for the three kinds that do not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { COLOURS, colourOf } from "../src/draw/functions";
import { ROOT } from "./archives";

const sheet = readFileSync(join(ROOT, "ui/src/style/tokens.css"), "utf8");
const variable = (name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(sheet)?.[1] ?? "";
const palette = Array.from({ length: COLOURS }, (_, at) => variable(`f${at}`));

type Three = [number, number, number];
const times = (rows: Three[], [x, y, z]: Three): Three => rows.map(([a, b, c]) => a * x + b * y + c * z) as Three;

const linear = (hex: string): Three =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Three;

/** OKLab (Ottosson 2020), in which equal distances look equal. */
function oklab(rgb: Three): Three {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map((it) => Math.cbrt(Math.max(0, it))) as Three;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

/** What is seen without one kind of cones: Machado, Oliveira and Fernandes 2009, severity 1. */
const EYES: Record<string, Three[]> = {
  all: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function apart(one: string, other: string, eyes: Three[]): number {
  const [a, b] = [one, other].map((hex) =>
    oklab(times(eyes, linear(hex)).map((it) => Math.min(1, Math.max(0, it))) as Three),
  ) as [Three, Three];
  return 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

test("any two colours of functions are apart, for all eyes", () => {
  assert.equal(palette.filter((it) => it !== "").length, COLOURS);
  for (const [name, eyes] of Object.entries(EYES)) {
    for (let one = 0; one < COLOURS; one += 1)
      for (let other = 0; other < one; other += 1) {
        const far = apart(palette[one] as string, palette[other] as string, eyes);
        // Two are the least that is seen at all.
        assert.ok(far > 6, `${name}: ${palette[one]} and ${palette[other]} are ${far.toFixed(1)} apart`);
      }
  }
});

test("no function looks like waiting or the critical path", () => {
  for (const name of ["k-wait", "critical"])
    for (const colour of palette) assert.ok(apart(colour, variable(name), EYES.all as Three[]) > 12, `${colour} and ${name}`);
});

test("the colour of a function is that of its name, for ever", () => {
  const known: [string, number][] = [
    ["main", 12],
    ["MPI_Recv", 8],
    ["MPI_Send", 9],
    ["MPI_Allreduce", 9],
    ["MPI_Barrier", 14],
    ["solve", 0],
    ["exchange", 8],
    ["compute", 4],
    ["", 11],
  ];
  assert.deepEqual(
    known.map(([name]) => [name, colourOf(name)]),
    known,
  );
  // All colours are used alike.
  const counts = new Array<number>(COLOURS).fill(0);
  for (let at = 0; at < 16_000; at += 1) {
    const colour = colourOf(`function_${at}`);
    counts[colour] = (counts[colour] ?? 0) + 1;
  }
  assert.ok(Math.min(...counts) > 800 && Math.max(...counts) < 1200, counts.join());
});
