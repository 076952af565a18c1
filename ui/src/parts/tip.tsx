// A few words beside the pointer; they stay in the window.
import type { ComponentChildren } from "preact";

/** It is turned to the left of the pointer where there is no room of so many pixels; so high it is at most. */
const WIDE = 340;
const HIGH = 110;

export function TipBox({ left, top, children }: { left: number; top: number; children: ComponentChildren }) {
  const turned = left > innerWidth - WIDE;
  return (
    <div
      class="tip"
      style={{
        left: turned ? "auto" : `${left + 14}px`,
        right: turned ? `${innerWidth - left + 14}px` : "auto",
        top: `${Math.min(top + 16, innerHeight - HIGH)}px`,
      }}
    >
      {children}
    </div>
  );
}
