// How the pages are built: relative addresses (the token is in the path), one script and one style sheet, nothing inline. Beside them lies
// the page of reports, into which `partune report` writes both, and a policy that lets these two run and nothing else.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const hash = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const report: Plugin = {
  name: "report",
  apply: "build",
  writeBundle({ dir = "dist" }) {
    const [script, style] = ["partune.js", "partune.css"].map((name) => readFileSync(`${dir}/${name}`, "utf8"));
    // Inside of a page these would end it, or change how it is read.
    if (/<\/(script|style)|<!--/i.test(`${script}${style}`)) throw new Error("script or style cannot stand in a page");
    const rules = ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`];
    const policy = [...rules, "base-uri 'none'", "form-action 'none'"].join("; ");
    const page = readFileSync(new URL("report.html", import.meta.url), "utf8").replace("{policy}", policy);
    writeFileSync(`${dir}/report.html`, page);
  },
};

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  plugins: [report],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "partune.js", assetFileNames: "partune[extname]", inlineDynamicImports: true },
    },
  },
  // `PARTUNE=http://127.0.0.1:PORT/TOKEN npm run dev` shows a running `partune view` with the pages of this folder.
  server: { proxy: process.env.PARTUNE ? { "/api": process.env.PARTUNE } : {} },
});
