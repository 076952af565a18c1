// A canvas that is as sharp as the screen: it follows its size and the device's pixel ratio, and draws once a frame at most.
import { type ComponentChildren, options } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Palette, palette, printing } from "../theme";

/** A painter: draws everything for a width and height in CSS pixels. */
export type Draw = (context: CanvasRenderingContext2D, width: number, height: number, palette: Palette) => void;

interface Props {
  draw: Draw;
  height: number | string;
  /** What a screen reader says; a table with the same content stands near. */
  label: string;
  id?: string;
  focusable?: boolean;
  onSize?: (width: number, height: number) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  onPointerDown?: (event: PointerEvent, x: number, y: number) => void;
  onPointerMove?: (event: PointerEvent, x: number, y: number) => void;
  onPointerUp?: (event: PointerEvent, x: number, y: number) => void;
  onPointerLeave?: () => void;
  onDoubleClick?: (event: MouseEvent, x: number, y: number) => void;
  onWheel?: (event: WheelEvent, x: number, y: number) => void;
  children?: ComponentChildren;
}

const painters = new Set<() => void>();

/** Draws all in the colours of paper, or of the screen again, before it returns: a browser that prints waits for nobody. */
export function print(on: boolean): void {
  const later = options.debounceRendering;
  options.debounceRendering = (render) => render();
  printing.value = on;
  if (later) options.debounceRendering = later;
  else delete options.debounceRendering;
  for (const paint of painters) paint();
}

/** Where an event was, in CSS pixels of the canvas. */
function spot(event: MouseEvent): [number, number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

export function Canvas(props: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef(0);
  const latest = useRef(props);
  latest.current = props;
  const colours = palette.value;

  const paint = () => {
    frame.current = 0;
    const element = canvas.current;
    const context = element?.getContext("2d", { willReadFrequently: true });
    if (!element || !context) return;
    const { clientWidth: width, clientHeight: height } = element;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
    if (element.width !== wide || element.height !== high) {
      element.width = wide;
      element.height = high;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    latest.current.draw(context, width, height, palette.value);
  };
  const schedule = () => {
    if (!frame.current) frame.current = requestAnimationFrame(paint);
  };

  useEffect(schedule, [props.draw, colours, props.height]);
  // With the first layout, not the first frame: who prints at once sees no frame.
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const measure = () => latest.current.onSize?.(element.clientWidth, element.clientHeight);
    measure();
    const observer = new ResizeObserver(() => {
      measure();
      schedule();
    });
    observer.observe(element);
    painters.add(paint);
    // Preact listens passively to the wheel, but a zoom must keep the page from scrolling.
    const wheel = (event: WheelEvent) => latest.current.onWheel?.(event, ...spot(event));
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      observer.disconnect();
      painters.delete(paint);
      element.removeEventListener("wheel", wheel);
      cancelAnimationFrame(frame.current);
    };
  }, []);

  return (
    <div class="canvas" style={{ height: typeof props.height === "number" ? `${props.height}px` : props.height }}>
      <canvas
        ref={canvas}
        id={props.id}
        role={props.focusable ? "application" : "img"}
        aria-label={props.label}
        tabIndex={props.focusable ? 0 : undefined}
        onKeyDown={props.onKeyDown}
        onPointerDown={(event) => props.onPointerDown?.(event, ...spot(event))}
        onPointerMove={(event) => props.onPointerMove?.(event, ...spot(event))}
        onPointerUp={(event) => props.onPointerUp?.(event, ...spot(event))}
        onPointerLeave={props.onPointerLeave}
        onDblClick={(event) => props.onDoubleClick?.(event, ...spot(event))}
      />
      {props.children}
    </div>
  );
}
