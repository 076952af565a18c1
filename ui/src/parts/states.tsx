// What a view shows while it has no data: that it loads, or why it failed and what to do. And notices of the input's quality.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Diagnostic } from "../api";
import { count } from "../format";
import type { ApiError, Loaded } from "../load";

export function Failure({ error }: { error: ApiError }) {
  return (
    <div class="notice error" role="alert">
      <p>
        <strong>{error.message}</strong>
      </p>
      {error.remedy && <p>{error.remedy}</p>}
    </div>
  );
}

/** Shows an answer, or that there is none yet, or why there is none. */
export function Answer<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  if (of.error) return <Failure error={of.error} />;
  if (of.data === undefined)
    return (
      <p class="loading" role="status">
        Loading …
      </p>
    );
  return <>{children(of.data)}</>;
}

/** Shows what was noticed about the input: losses first, they make the numbers too small. */
export function Quality({ diagnostics }: { diagnostics: Diagnostic[] }) {
  const order = { error: 0, data_loss: 1, info: 2 };
  const word = { error: "error", data_loss: "warning", info: "note" };
  const sorted = [...diagnostics].sort((a, b) => order[a.severity] - order[b.severity]);
  return (
    <>
      {sorted.map((it) => (
        <div class={`notice ${it.severity === "error" ? "error" : it.severity === "data_loss" ? "loss" : ""}`} key={it.message}>
          <p>
            <strong>{word[it.severity]}:</strong> {it.message}
            {it.count > 1 && <span class="dim"> ({count(it.count)} times)</span>}
          </p>
          {it.remedy && <p class="dim">{it.remedy}</p>}
        </div>
      ))}
    </>
  );
}

/** A short "what is this", closed until it is wanted. */
export function What({ children, label = "what is this?" }: { children: ComponentChildren; label?: string }) {
  return (
    <details class="what">
      <summary>{label}</summary>
      <p>{children}</p>
    </details>
  );
}

/** How many rows of which list were too many to send. */
export function Omitted({ of }: { of: Record<string, number> }) {
  const parts = Object.entries(of).filter(([, more]) => more > 0);
  if (parts.length === 0) return null;
  return <p class="dim small">Not shown: {parts.map(([name, more]) => `${count(more)} more ${name}`).join(", ")}.</p>;
}

/** Something long that is made only when it is opened; open at first where there is room. */
export function Fold(props: { id?: string; title: string; roomy?: boolean; children: () => ComponentChildren }) {
  const { id, title, roomy = false, children } = props;
  const [open, setOpen] = useState(roomy);
  return (
    <details id={id} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && children()}
    </details>
  );
}
