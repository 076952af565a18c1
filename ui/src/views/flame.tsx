// Flame graph: functions on those that called them, or the other way round; of all PEs or some, beside another run. What is opened is in the
// address, so Back closes it.
import { useCallback, useMemo, useState } from "preact/hooks";
import type { Flame as Data, Kind } from "../api";
import { drawFlame, type Layout, layout, levelHeight, nameOf, pieceAt, wayOf, wayTo } from "../draw/flame";
import { Boxes, Said, Tip } from "../flame/boxes";
import { Part, Tools } from "../flame/tools";
import { difference, percent, plural, seconds } from "../format";
import { recorded, useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { colouring } from "../parts/colouring";
import { Answer, Fold, What } from "../parts/states";
import { filtered, rangesOf } from "../pes";
import { useKinds } from "../runs";
import { amend, route, run } from "../state";
import { dark, type Palette, printing } from "../theme";

/** So many PEs of a filter can be asked for. */
const MOST = 2000;

/** The functions that lead to the box that is opened. */
const opened = (): number[] => (route.value.params.under ?? "").split(".").filter(Boolean).map(Number);

function question(): string {
  const { stacking, from, to, only, base, under } = route.value.params;
  const named = filtered.value;
  const pes = named ? rangesOf(named.slice(0, MOST)) : only;
  const asked = recorded ? { stacking } : { stacking, under, from, to, only: pes, base };
  const query = Object.entries(asked).filter(([, value]) => value !== undefined && value !== "");
  return `runs/${run.value}/flame${query.length > 0 ? `?${query.map((it) => it.join("=")).join("&")}` : ""}`;
}

export function Flame() {
  const { text = "" } = route.value.params;
  const kinds = useKinds(run.value).data ?? [];
  const nobody = filtered.value?.length === 0;
  const answer = useApi<Data>(nobody ? null : question());
  return (
    <>
      <div class="head">
        <h1>Flame graph</h1>
        <What>
          A box is a function, as wide as its time on all PEs together with all that it called. What it called stands below it;
          inverted, who called it stands below it, and the first row is the functions with their exclusive time. What has most
          time is on the left. The red foot is what of it was waited for other PEs. Functions that are too small to be seen are
          one grey box.
        </What>
      </div>
      <Tools kinds={kinds} />
      <Part />
      {nobody ? (
        <p class="notice">No PE, process or host has a name with “{route.value.params.filter}”.</p>
      ) : (
        <Answer of={answer}>{(data) => <Shown data={data} kinds={kinds} text={text.toLowerCase()} />}</Answer>
      )}
    </>
  );
}

function Shown({ data, kinds, text }: { data: Data; kinds: Kind[]; text: string }) {
  const under = opened();
  const way = useMemo(() => wayTo(data, under), [data, under.join(".")]);
  const laid = useMemo(() => layout(data, way), [data, way]);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const [tip, setTip] = useState<{ left: number; top: number } | null>(null);
  const [width, setWidth] = useState(0);
  const chosen = cursor === undefined ? undefined : laid.of.get(cursor);
  const hits = useMemo(() => (text === "" ? null : found(data, text)), [data, text]);
  const colour = useColours(data, kinds);
  const draw: Draw = useCallback(
    (context, wide, _high, palette) =>
      drawFlame(context, wide, data, laid, { ...colour(palette), found: (box) => hits?.boxes.has(box) ?? true, cursor }, palette),
    [data, laid, colour, hits, cursor],
  );
  const open = (box: number | null | undefined) => {
    setTip(null);
    setCursor(undefined);
    if (box === null || box === undefined) return amend({ under: undefined });
    // Many functions in one box: where their caller is all of the width, they have more room.
    const isRest = data.boxes.function[box] === null;
    const next = wayOf(data, isRest ? (data.boxes.parent[box] ?? -1) : box);
    if (next) amend({ under: next.join(".") || undefined });
  };
  const close = () => open(laid.top === null ? null : data.boxes.parent[laid.top]);
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter" && chosen) return open(chosen.at);
    if (event.key === "Escape" || event.key === "Backspace") return close();
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    setTip(null);
    // Keys may come faster than the picture is drawn.
    setCursor((last) => moved(laid, last, event.key));
  };
  if (laid.pieces.length === 0) return <p>No function took any time.</p>;
  const missing = under.length > way.length;
  return (
    <>
      {missing && (
        <p class="notice" role="alert">
          This report holds the larger boxes of the whole run. <code>partune view ARCHIVE</code> opens every one.
        </p>
      )}
      <p class="said" role="status">
        {chosen ? (
          <Said data={data} box={chosen.at} />
        ) : (
          <>
            <strong>{seconds(data.all_s)}</strong> on {plural(data.pes, "PE")}
            {data.base_all_s !== null && <>, {difference(data.all_s - data.base_all_s, seconds)} against the other run</>}
            {hits && (
              <>
                ; boxes with “{text}” have <strong>{seconds(hits.seconds)}</strong>, {percent(hits.seconds / (data.all_s || 1))}
              </>
            )}
            .{" "}
            <span class="dim">
              {laid.top === null
                ? "A click or Enter opens a box, arrow keys move the cursor."
                : "The upper rows lead to the box that is opened; a click on one, or Esc, goes back."}
            </span>
          </>
        )}
      </p>
      <Canvas
        id="flame"
        draw={draw}
        height={laid.depth * levelHeight(laid) + 2}
        label="Flame graph, widest boxes have most time. Arrow keys move the cursor, Enter opens a box, Escape closes it. The table below has the same boxes."
        focusable
        onSize={setWidth}
        onKeyDown={keys}
        onPointerMove={(event, x, y) => {
          const piece = pieceAt(laid, width, x, y);
          setCursor(piece?.at);
          setTip(piece ? { left: event.clientX, top: event.clientY } : null);
        }}
        onPointerLeave={() => {
          setTip(null);
          setCursor(undefined);
        }}
        onPointerDown={(_event, x, y) => {
          const piece = pieceAt(laid, width, x, y);
          if (piece) open(piece.at);
        }}
      />
      {tip && chosen && <Tip data={data} box={chosen.at} {...tip} />}
      {data.base_all_s !== null && <Change />}
      <Fold title="The same as a table">{() => <Boxes data={data} laid={laid} />}</Fold>
    </>
  );
}

/** Where an arrow key goes: up and down between a box and what stands on it, left and right along a level. */
function moved(laid: Layout, cursor: number | undefined, key: string): number | undefined {
  const now = cursor === undefined ? undefined : laid.of.get(cursor);
  if (!now) return laid.pieces[0]?.at;
  if (key === "ArrowUp") return now.parent !== null && laid.of.has(now.parent) ? now.parent : now.at;
  if (key === "ArrowDown") return laid.pieces.find((it) => it.parent === now.at && it.x1 > it.x0)?.at ?? now.at;
  const level = laid.pieces.filter((it) => it.depth === now.depth && it.x1 > it.x0).sort((a, b) => a.x0 - b.x0);
  const next = level.indexOf(now) + (key === "ArrowRight" ? 1 : -1);
  return level[Math.max(0, Math.min(level.length - 1, next))]?.at;
}

/** The boxes whose name has a text, with those that lead to them; and their time, none counted twice. */
function found(data: Data, text: string): { boxes: Set<number>; seconds: number } {
  const { boxes } = data;
  const is = boxes.parent.map((_, box) => boxes.function[box] !== null && nameOf(data, box).toLowerCase().includes(text));
  const inside: boolean[] = [];
  let time = 0;
  for (let box = 0; box < is.length; box += 1) {
    const parent = boxes.parent[box];
    const counted = parent != null && (inside[parent] ?? false);
    inside[box] = counted || (is[box] ?? false);
    if (!counted && is[box]) time += boxes.seconds[box] ?? 0;
  }
  return { boxes: new Set(is.map((it, box) => (it ? box : -1)).filter((box) => box >= 0)), seconds: time };
}

type Colours = { colour(box: number): string; ink(box: number): string };

/** The colour of each box: by function, by kind of time, or by what changed against the other run. */
function useColours(data: Data, kinds: Kind[]): (palette: Palette) => Colours {
  const by = colouring("function");
  const theme = `${dark.value} ${printing.value}`;
  return useMemo(() => {
    void theme;
    const { boxes, functions } = data;
    const change = (box: number) => (boxes.seconds[box] ?? 0) - (boxes.base_s[box] ?? 0);
    if (data.base_all_s !== null) {
      const most = Math.max(...boxes.parent.map((_, box) => (boxes.function[box] === null ? 0 : Math.abs(change(box)))), 1e-12);
      // The root of it: what changed a little is seen beside what changed much.
      const share = (box: number) => 0.5 + 0.5 * Math.sign(change(box)) * Math.sqrt(Math.abs(change(box)) / most);
      return (palette) => ({
        colour: (box) => palette.diverging(share(box)),
        ink: (box) => palette.onColour(palette.diverging(share(box))),
      });
    }
    if (by === "kind") {
      const name = (box: number) => kinds[boxes.kind[box] ?? 0]?.name ?? "computation";
      return (palette) => ({ colour: (box) => palette.kind(name(box)), ink: (box) => palette.on(name(box)) });
    }
    return (palette) => {
      const own = functions.name.map((name) => palette.named(name));
      const of = (box: number) => own[boxes.function[box] ?? 0] ?? palette.line;
      return { colour: of, ink: (box) => palette.onColour(of(box)) };
    };
  }, [data, kinds, by, theme]);
}

/** What the colours of a comparison mean. */
function Change() {
  return (
    <ul class="legend" aria-label="Colours">
      <li>
        <span class="swatch" aria-hidden="true" style={{ background: "var(--d6)" }} /> took longer than in the other run
      </li>
      <li>
        <span class="swatch" aria-hidden="true" style={{ background: "var(--d3)" }} /> took as long
      </li>
      <li>
        <span class="swatch" aria-hidden="true" style={{ background: "var(--d0)" }} /> took less
      </li>
    </ul>
  );
}
