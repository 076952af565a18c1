// An icicle: call paths from the top, a level a row, as wide as their inclusive time; the red edge is what was waited. Pure.
import { hierarchy, partition } from "d3-hierarchy";
import { type Columns, length, row, type TreeNode } from "../api";
import type { Palette } from "../theme";

/** A node with its place: x from 0 to 1 of the width, depth from 0. */
export interface Piece {
  node: TreeNode | null;
  at: number;
  parent: number | null;
  x0: number;
  x1: number;
  depth: number;
}

interface Branch {
  node: TreeNode | null;
  at: number;
  parent: number | null;
  children: Branch[];
}

/** Lays the nodes out. `top` stands above them: the path that was opened, or the whole run. */
export function layout(nodes: Columns<TreeNode>): Piece[] {
  const root: Branch = { node: null, at: -1, parent: null, children: [] };
  const branches: Branch[] = [];
  for (let at = 0; at < length(nodes); at += 1) {
    const node = row(nodes, at);
    const branch: Branch = { node, at, parent: node.parent, children: [] };
    branches.push(branch);
    (node.parent === null ? root : (branches[node.parent] ?? root)).children.push(branch);
  }
  const tree = hierarchy(root, (it) => it.children);
  // A node is as wide as its inclusive time, of which the children take their part and the rest is its own.
  tree.eachAfter((it) => {
    const below = (it.children ?? []).reduce((sum, child) => sum + (child.value ?? 0), 0);
    const value = it.data.node ? Math.max(it.data.node.inclusive_s, below) : below;
    Object.assign(it, { value });
  });
  const laid = partition<Branch>()(tree as never);
  return laid
    .descendants()
    .filter((it) => it.data.node !== null)
    .map((it) => ({ node: it.data.node, at: it.data.at, parent: it.data.parent, x0: it.x0, x1: it.x1, depth: it.depth - 1 }))
    .sort((a, b) => a.at - b.at);
}

export const LEVEL = 26;

export function drawIcicle(
  context: CanvasRenderingContext2D,
  width: number,
  pieces: Piece[],
  kindName: (kind: number) => string,
  cursor: number | undefined,
  match: string,
  palette: Palette,
): void {
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const piece of pieces) {
    const node = piece.node;
    if (!node) continue;
    const left = Math.round(piece.x0 * width);
    const wide = Math.round(piece.x1 * width) - left;
    if (wide < 1) continue;
    const top = piece.depth * LEVEL;
    const kind = kindName(node.kind);
    const faded = match !== "" && !node.name.toLowerCase().includes(match);
    context.globalAlpha = faded ? 0.25 : 1;
    context.fillStyle = palette.kind(kind);
    context.fillRect(left, top, Math.max(1, wide - 1), LEVEL - 1);
    if (node.waiting_s > 0 && node.inclusive_s > 0) {
      context.fillStyle = palette.wait;
      context.fillRect(left, top + LEVEL - 4, Math.max(1, Math.min(1, node.waiting_s / node.inclusive_s) * (wide - 1)), 3);
    }
    if (wide > 26) {
      context.fillStyle = palette.on(kind);
      context.save();
      context.beginPath();
      context.rect(left, top, wide - 3, LEVEL);
      context.clip();
      context.fillText(node.name, left + 4, top + LEVEL / 2 - 1);
      context.restore();
    }
    context.globalAlpha = 1;
    if (cursor === piece.at) {
      context.lineWidth = 2;
      context.strokeStyle = palette.ink;
      context.strokeRect(left + 1, top + 1, Math.max(2, wide - 3), LEVEL - 3);
    }
  }
}

/** The piece at a point, or undefined. */
export function pieceAt(pieces: Piece[], width: number, x: number, y: number): Piece | undefined {
  const depth = Math.floor(y / LEVEL);
  return pieces.find((it) => it.depth === depth && it.x0 * width <= x && x < it.x1 * width);
}
