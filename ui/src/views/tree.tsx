// The call tree: a row a call path, opened level by level; what is open is in the address.
import { length, row, type Tree, type TreeNode } from "../api";
import { count, percent, seconds } from "../format";
import { recorded, useApi } from "../load";
import { Answer } from "../parts/states";
import { Bar } from "../parts/table";
import { File, Swatch } from "../parts/words";
import { useKinds } from "../runs";
import { amend, numeric, route, run } from "../state";
import { ByPe, MeasureChoice, useAmounts } from "./measured";

/** Levels that are asked for at once. */
const DEPTH = 3;

function opened(): Set<number> | null {
  const text = route.value.params.open;
  return text === undefined ? null : new Set(text.split(".").filter(Boolean).map(Number));
}

function toggle(path: number, open: Set<number>): void {
  const next = new Set(open);
  if (!next.delete(path)) next.add(path);
  amend({ open: next.size > 0 ? [...next].join(".") : "." }, { replace: true });
}

/** `share`: all calls are open that have this share of the time, whatever the address says. */
export function CallTree({ text, share }: { text: string; share?: number }) {
  const answer = useApi<Tree>(`runs/${run.value}/tree${recorded ? "" : `?depth=${DEPTH}`}`);
  const amounts = useAmounts();
  return (
    <div class={share === undefined ? "by-pe" : ""}>
      <Answer of={answer}>
        {(data) => {
          // At first the way is open on which most of the time is.
          const open = share === undefined ? (opened() ?? new Set(hottest(data))) : new Set(above(data, share));
          return (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
            <section class="scroll" tabIndex={0} aria-label="Call tree">
              <table>
                <caption>Call paths from outside in, by inclusive time; all PEs together</caption>
                <thead>
                  <tr>
                    <th scope="col" class="wide">
                      Call
                    </th>
                    <th scope="col">Source</th>
                    <th scope="col" class="number">
                      Inclusive
                    </th>
                    {!amounts && (
                      <th scope="col" class="number">
                        Share
                      </th>
                    )}
                    <th scope="col" class="number">
                      Exclusive
                    </th>
                    <th scope="col" class="number">
                      Waiting
                    </th>
                    <th scope="col" class="number">
                      Visits
                    </th>
                    {amounts ? (
                      <>
                        <th scope="col" class="number" title={`${amounts.title}, with what is called`}>
                          {amounts.title}
                        </th>
                        <th scope="col" class="number" title={`${amounts.title}, without what is called`}>
                          own
                        </th>
                      </>
                    ) : (
                      <>
                        <th scope="col" class="number">
                          PEs
                        </th>
                        <th scope="col" class="number" title="Exclusive time of the PE that has most">
                          Most on a PE
                        </th>
                      </>
                    )}
                  </tr>
                </thead>
                <tbody>
                  <Level
                    tree={data}
                    parent={null}
                    depth={0}
                    all={data.all_s}
                    open={open}
                    text={text.toLowerCase()}
                    amounts={amounts}
                  />
                </tbody>
              </table>
              {data.omitted > 0 && (
                <p class="dim small">
                  Not shown: {count(data.omitted)} call paths with less than 0.1 % of the time, or less than all of these.
                </p>
              )}
            </section>
          );
        }}
      </Answer>
      {share === undefined && (
        <div>
          <div class="tools">
            <MeasureChoice />
          </div>
          <ByPe />
        </div>
      )}
    </div>
  );
}

/** The paths on the way of most time. */
function hottest(tree: Tree): number[] {
  const way: number[] = [];
  let parent: number | null = null;
  for (let level = 0; level < DEPTH; level += 1) {
    const at: number = tree.nodes.parent.indexOf(parent as never);
    if (at < 0) break;
    const path = tree.nodes.path[at];
    if (path == null) break;
    way.push(path);
    parent = at;
  }
  return way;
}

/** The paths with a share of the time. */
const above = (tree: Tree, share: number): number[] =>
  tree.nodes.path.filter((it, at): it is number => it !== null && (tree.nodes.inclusive_s[at] ?? 0) >= share * tree.all_s);

interface LevelProps {
  tree: Tree;
  parent: number | null;
  depth: number;
  all: number;
  open: Set<number>;
  text: string;
  amounts: ReturnType<typeof useAmounts>;
}

function Level({ tree, parent, depth, all, open, text, amounts }: LevelProps) {
  const chosen = numeric(route.value.params, "node");
  const kinds = useKinds(run.value).data ?? [];
  const nodes: { node: TreeNode; at: number }[] = [];
  for (let at = 0; at < length(tree.nodes); at += 1) {
    if (tree.nodes.parent[at] === parent) nodes.push({ node: row(tree.nodes, at), at });
  }
  return (
    <>
      {nodes.map(({ node, at }) => {
        const { path } = node;
        const isOpen = path !== null && open.has(path);
        const found = text !== "" && node.name.toLowerCase().includes(text);
        const here = tree.nodes.parent.includes(at);
        return (
          <>
            <tr key={path ?? "outside"} class={found ? "selected" : ""}>
              <th scope="row" class="wide">
                <span class="tree-name" style={{ "--depth": String(depth) }}>
                  {path !== null && node.children > 0 ? (
                    <button
                      type="button"
                      aria-expanded={isOpen}
                      aria-label={`${isOpen ? "Close" : "Open"} ${node.name}`}
                      onClick={() => toggle(path, open)}
                    >
                      {isOpen ? "▾" : "▸"}
                    </button>
                  ) : (
                    <span class="tree-leaf" />
                  )}
                  <span>
                    <Swatch kind={kinds[node.kind]?.name ?? "computation"} />
                    {recorded || path === null ? (
                      <code>{node.name}</code>
                    ) : (
                      <button
                        type="button"
                        class="plain"
                        title="What each PE has of it"
                        aria-pressed={path === chosen}
                        onClick={() => amend({ node: path }, { replace: true })}
                      >
                        <code>{node.name}</code>
                      </button>
                    )}
                  </span>
                </span>
              </th>
              <td>
                <File file={node.file} line={node.line} />
              </td>
              <td class="number">
                <Bar share={node.inclusive_s / (all || 1)} colour={`var(--k-${kinds[node.kind]?.name ?? "computation"})`}>
                  {seconds(node.inclusive_s)}
                </Bar>
              </td>
              {!amounts && <td class="number">{percent(node.inclusive_s / (all || 1))}</td>}
              <td class="number">{seconds(node.exclusive_s)}</td>
              <td class="number">{node.waiting_s > 0 ? seconds(node.waiting_s) : "–"}</td>
              <td class="number">{path === null ? "–" : count(node.visits)}</td>
              {amounts ? (
                <>
                  <td class="number">{amounts.of(path).whole}</td>
                  <td class="number">{amounts.of(path).own}</td>
                </>
              ) : (
                <>
                  <td class="number">{count(node.pes)}</td>
                  <td class="number">{seconds(node.most_s)}</td>
                </>
              )}
            </tr>
            {isOpen && here && (
              <Level tree={tree} parent={at} depth={depth + 1} all={all} open={open} text={text} amounts={amounts} />
            )}
            {path !== null && isOpen && !here && node.children > 0 && (
              <Below path={path} depth={depth + 1} all={all} open={open} text={text} amounts={amounts} />
            )}
          </>
        );
      })}
    </>
  );
}

/** Levels that were not sent with those above. */
function Below({ path, ...props }: { path: number } & Omit<LevelProps, "tree" | "parent">) {
  const answer = useApi<Tree>(`runs/${run.value}/tree?path=${path}&depth=1`);
  if (!answer.data)
    return (
      <tr>
        <td colSpan={props.amounts ? 8 : 9} class="dim">
          {answer.error ? answer.error.message : "Loading …"}
        </td>
      </tr>
    );
  return <Level tree={answer.data} parent={null} {...props} />;
}
