// The hatching of waits: they are told apart without their colour as well.

const made = new Map<string, CanvasPattern>();

/** Diagonal lines of a colour, on a breath of it. */
export function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern | string {
  const known = made.get(colour);
  if (known) return known;
  const tile = document.createElement("canvas");
  tile.width = 6;
  tile.height = 6;
  const inside = tile.getContext("2d");
  if (!inside) return colour;
  inside.strokeStyle = colour;
  inside.globalAlpha = 0.18;
  inside.fillStyle = colour;
  inside.fillRect(0, 0, 6, 6);
  inside.globalAlpha = 1;
  inside.lineWidth = 1.6;
  inside.beginPath();
  for (const start of [-6, 0, 6]) {
    inside.moveTo(start, 6);
    inside.lineTo(start + 6, 0);
  }
  inside.stroke();
  const pattern = context.createPattern(tile, "repeat");
  if (!pattern) return colour;
  made.set(colour, pattern);
  return pattern;
}
