// How the pages are built: relative addresses (the token is in the path), one script and one style sheet, nothing inline.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
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
