// The frame around every view: which run, which view, theme, keys; and the progress while archives open.
import { useEffect, useRef } from "preact/hooks";
import type { Run } from "./api";
import { count } from "./format";
import { has as hasAnswer, recorded } from "./load";
import { Help, helpOpen } from "./parts/help";
import { Failure } from "./parts/states";
import { runs, runsError } from "./runs";
import { link, route, run } from "./state";
import { dark, theme } from "./theme";
import { VIEWS, type View } from "./views/list";

/** The keys that work everywhere: a digit is a view, `?` the list, `t` the theme. */
function keys(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const typing = target.matches("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
  if (event.key === "?") helpOpen.value = !helpOpen.value;
  else if (event.key === "t") theme.value = dark.value ? "light" : "dark";
  else if (event.key === "/") {
    const search = document.querySelector<HTMLInputElement>("main > :not(.sheet) input[type=search], .shown input[type=search]");
    if (!search) return;
    search.focus();
    search.select();
  } else {
    const view = shown()[Number(event.key) - 1];
    if (!/^[1-9]$/.test(event.key) || !view) return;
    location.hash = link(view.name);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
  event.preventDefault();
}

/** Views that make sense for the runs that are open. */
function shown(): View[] {
  // A history is a page of its own; a report has the source only where its writer wanted that.
  const history = hasAnswer("history");
  const has = (it: View) =>
    (it.name === "history") === history && (it.name !== "source" || !recorded || hasAnswer("runs/0/sources"));
  return VIEWS.filter((it) => has(it) && (!it.several || (runs.value?.length ?? 0) > 1));
}

function Bar({ all }: { all: Run[] }) {
  return (
    <header class="bar">
      <a class="mark" href={link("summary")}>
        partune
      </a>
      <nav aria-label="Views">
        {shown().map((it) => (
          <a key={it.name} href={link(it.name)} aria-current={current().name === it.name ? "page" : undefined}>
            {it.title}
          </a>
        ))}
      </nav>
      <div class="right">
        {all.length > 1 && (
          <label>
            <span class="hidden">Run</span>
            <select
              value={run.value}
              onChange={(event) => {
                const { view } = route.value;
                location.hash = link(view, { run: event.currentTarget.value });
              }}
            >
              {all.map((it) => (
                <option key={it.run} value={it.run}>
                  {it.run}: {it.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="button" onClick={() => (theme.value = dark.value ? "light" : "dark")} title="Colours: t">
          {dark.value ? "Light" : "Dark"}
        </button>
        <button type="button" onClick={() => (helpOpen.value = true)} title="Keys: ?">
          Keys
        </button>
      </div>
    </header>
  );
}

function current(): View {
  const views = shown();
  return views.find((it) => it.name === route.value.view) ?? (views[0] as View);
}

function Opening({ of }: { of: Run }) {
  return (
    <div class="card" role="status">
      <h1>Opening {of.name}</h1>
      <p class="dim">
        {of.stage || "waiting"} … <code>{of.path}</code>
      </p>
      <div class="progress" aria-hidden="true">
        <i style={{ width: `${Math.round(of.fraction * 100)}%` }} />
      </div>
    </div>
  );
}

function Body({ all }: { all: Run[] }) {
  const view = current();
  const chosen = all.find((it) => it.run === run.value);
  if (view.several) return <view.Show />;
  if (!chosen)
    return (
      <div class="notice error" role="alert">
        <p>
          <strong>There is no run {run.value}.</strong>
        </p>
        <p>
          Open <a href="#/summary?run=0">the first of the {count(all.length)}</a>.
        </p>
      </div>
    );
  if (chosen.state === "opening") return <Opening of={chosen} />;
  if (chosen.state === "failed")
    return (
      <div class="notice error" role="alert">
        <p>
          <strong>
            {chosen.name} could not be opened: {chosen.message}
          </strong>
        </p>
        <p>{chosen.remedy}</p>
      </div>
    );
  return <view.Show key={chosen.run} />;
}

/** All views: the others have their size and are not seen, so that all are drawn when the report is printed. */
function Views() {
  const view = current();
  return (
    <>
      {shown().map((it) => (
        <section key={it.name} class={`sheet ${it.name === view.name ? "shown" : ""}`} aria-label={it.title}>
          <it.Show />
        </section>
      ))}
      <footer class="dim small">
        {hasAnswer("history")
          ? "A page by partune over the revisions of a program; each has a report."
          : "A report by partune: it holds the whole run, and of long lists what costs most; partune view ARCHIVE zooms, searches and shows the rest."}{" "}
        PE: one stream of execution (a rank, a thread). Seconds are summed over PEs unless said otherwise.
      </footer>
    </>
  );
}

export function App() {
  const main = useRef<HTMLElement>(null);
  const all = runs.value;
  useEffect(() => {
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  const view = current();
  const shownRuns = view.several ? all : all?.filter((it) => it.run === run.value);
  const title = [view.title, shownRuns?.map((it) => it.name).join(", "), "partune"].filter(Boolean).join(" – ");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const last = useRef(view.name);
  useEffect(() => {
    // Who follows a link by keyboard continues in the view, not at the top of the page.
    if (last.current !== view.name) main.current?.focus({ preventScroll: true });
    if (last.current !== view.name) scrollTo(0, 0);
    last.current = view.name;
  }, [view.name]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the view
      </button>
      <Bar all={all ?? []} />
      <main id="main" ref={main} tabIndex={-1} class={view.wide ? "wide" : ""} data-view={view.name}>
        {runsError.value && !all && <Failure error={runsError.value} />}
        {runsError.value && all && <p class="notice error">{runsError.value.message}</p>}
        {all ? recorded ? <Views /> : <Body all={all} /> : !runsError.value && <p class="loading">Loading …</p>}
      </main>
      <Help />
    </>
  );
}
