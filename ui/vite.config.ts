import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// `npm run dev` forwards to a server on this port; `everlore serve` prints where it listens.
const server = process.env.EVERLORE_URL ?? "http://127.0.0.1:6636";
const forwarded = { target: server, changeOrigin: true, headers: { origin: server } };

/** Writes the licences of what the bundle contains beside it. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((chunk) => (chunk.type === "chunk" ? Object.keys(chunk.modules).map((file) => file.replaceAll("\0", "")) : []));
    const folders = files.map((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]).filter((folder) => folder !== undefined);
    const texts = [...new Set(folders)].sort().map((folder) => {
      const licence = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
      const text = licence ? readFileSync(join(folder, licence), "utf8").trim() : "MIT";
      return `${folder.replace(/^.*node_modules\//, "")}\n\n${text}\n`;
    });
    this.emitFile({ type: "asset", fileName: "licenses.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
  },
};

export default defineConfig({
  plugins: [svelte(), licences],
  // The server has the page at `/` and its files at `/ui/`, so that no file takes the path of a route.
  base: "/ui/",
  build: {
    outDir: process.env.UI_OUT ?? "../crates/everlore-server/src/page/ui",
    emptyOutDir: true,
    target: "es2022",
    // The whole style is one file: a page that is shown for the first time does not flicker.
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 400,
    rollupOptions: {
      output: {
        // Fixed names: the server lists the files, and an ETag says which version a browser has.
        entryFileNames: "app.js",
        chunkFileNames: "[name].js",
        assetFileNames: (asset) => (asset.names[0]?.endsWith(".css") ? "app.css" : "[name][extname]"),
        manualChunks: (id) => {
          if (/node_modules\/(sigma|graphology)/.test(id)) return "graph";
          if (id.includes("node_modules/uplot")) return "chart";
          return undefined;
        },
      },
    },
  },
  server: { proxy: { "/v1": forwarded, "/health": forwarded, "/ready": forwarded, "/metrics": forwarded } },
  test: { include: ["tests/unit/**/*.test.{ts,mjs}"], environment: "node", setupFiles: ["tests/unit/setup.ts"] },
});
