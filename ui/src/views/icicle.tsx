// The icicle: call paths as a picture. A click, or Enter, opens a path; what is open is in the address, so Back closes it.
import { useCallback, useMemo, useState } from "preact/hooks";
import { row, type Tree, type TreeNode } from "../api";
import { drawIcicle, LEVEL, layout, pieceAt } from "../draw/icicle";
import { count, percent, seconds } from "../format";
import { recorded, useApi } from "../load";
import { Canvas, type Draw } from "../parts/canvas";
import { Answer } from "../parts/states";
import { at } from "../parts/words";
import { useKinds } from "../runs";
import { amend, numeric, route, run } from "../state";

/** Levels that are drawn at once. */
const DEPTH = 24;

export function Icicle({ text }: { text: string }) {
  const path = numeric(route.value.params, "path");
  const answer = useApi<Tree>(
    recorded && path === undefined
      ? `runs/${run.value}/tree`
      : `runs/${run.value}/tree?depth=${DEPTH}${path === undefined ? "" : `&path=${path}`}`,
  );
  return (
    <>
      {path !== undefined && (
        <p>
          <button type="button" onClick={() => amend({ path: undefined, name: undefined })}>
            Whole run
          </button>{" "}
          Below <code>{route.value.params.name ?? `call path ${path}`}</code>
        </p>
      )}
      <Answer of={answer}>{(data) => <Shown data={data} text={text} />}</Answer>
    </>
  );
}

function Shown({ data, text }: { data: Tree; text: string }) {
  const kinds = useKinds(run.value).data ?? [];
  const pieces = useMemo(() => layout(data.nodes), [data]);
  const [cursor, setCursor] = useState<number | undefined>(undefined);
  const [width, setWidth] = useState(0);
  const depth = pieces.reduce((most, it) => Math.max(most, it.depth), 0);
  const chosen = cursor === undefined ? undefined : pieces[cursor];
  const draw: Draw = useCallback(
    (context, wide, _high, palette) =>
      drawIcicle(context, wide, pieces, (kind) => kinds[kind]?.name ?? "computation", cursor, text.toLowerCase(), palette),
    [pieces, kinds, cursor, text],
  );
  const open = (node: TreeNode | null | undefined) => {
    if (node && node.path !== null && node.children > 0) amend({ path: node.path, name: node.name });
    setCursor(undefined);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Enter") return open(chosen?.node);
    if (event.key === "Escape" || event.key === "Backspace") return amend({ path: undefined, name: undefined });
    const next = moved(event.key);
    if (next === undefined) return;
    event.preventDefault();
    setCursor(next);
  };
  const moved = (key: string): number | undefined => {
    if (!key.startsWith("Arrow")) return undefined;
    if (!chosen) return pieces[0]?.at;
    if (key === "ArrowUp") return chosen.parent ?? chosen.at;
    if (key === "ArrowDown") return pieces.find((it) => it.parent === chosen.at)?.at ?? chosen.at;
    const level = pieces.filter((it) => it.depth === chosen.depth).sort((a, b) => a.x0 - b.x0);
    const place = level.indexOf(chosen) + (key === "ArrowRight" ? 1 : -1);
    return level[Math.max(0, Math.min(level.length - 1, place))]?.at;
  };
  if (pieces.length === 0) return <p>Nothing is called below this path.</p>;
  return (
    <>
      <Canvas
        id="icicle"
        draw={draw}
        height={(depth + 1) * LEVEL + 2}
        label="Icicle of call paths, widest has most time. Arrow keys move the cursor, Enter opens. The call tree has the same as a table."
        focusable
        onSize={setWidth}
        onKeyDown={keys}
        onPointerMove={(_event, x, y) => setCursor(pieceAt(pieces, width, x, y)?.at)}
        onPointerDown={(_event, x, y) => open(pieceAt(pieces, width, x, y)?.node)}
      />
      <p class="said" role="status">
        {chosen?.node ? (
          <Said node={row(data.nodes, chosen.at)} all={data.all_s} />
        ) : (
          <span class="dim">
            Point at a call, or focus the picture and use the arrow keys; Enter or a click opens it. The red edge is waiting.
          </span>
        )}
      </p>
    </>
  );
}

function Said({ node, all }: { node: TreeNode; all: number }) {
  const source = at(node.file, node.line);
  return (
    <>
      <code>{node.name}</code> {source && <span class="dim">({source})</span>}: inclusive {seconds(node.inclusive_s)},{" "}
      {percent(node.inclusive_s / (all || 1))} of the run; exclusive {seconds(node.exclusive_s)};{" "}
      {node.waiting_s > 0 && <>waiting {seconds(node.waiting_s)}; </>}
      {node.path !== null && <>{count(node.visits)} visits </>}on {count(node.pes)} PEs
    </>
  );
}
