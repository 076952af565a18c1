// axe-core in a page: who cannot see it, or has a keyboard only, is kept out by nothing serious.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe-core finds serious or critical in what a page shows, each with its first place. */
export async function violations(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy for scripts does not bind.
  await page.evaluate(axe);
  const found = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then((it) => it.violations)",
  )) as Violation[];
  return found
    .filter((it) => it.impact === "serious" || it.impact === "critical")
    .map((it) => `${it.id}: ${it.help} (${it.nodes.length}): ${it.nodes[0]?.html} ${it.nodes[0]?.failureSummary}`);
}
