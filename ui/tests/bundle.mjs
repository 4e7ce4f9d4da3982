// Checks that the committed bundle is what the sources give, and that it stays small.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const COMMITTED = join(import.meta.dirname, "../../crates/everlore-server/src/page/ui");
const MAX_COMPRESSED_BYTES = 500_000;

const built = mkdtempSync(join(tmpdir(), "everlore-bundle-"));
try {
  const vite = join(import.meta.dirname, "../node_modules/vite/bin/vite.js");
  const done = spawnSync(process.execPath, [vite, "build", "--logLevel", "warn"], { cwd: join(import.meta.dirname, ".."), env: { ...process.env, UI_OUT: built }, stdio: "inherit" });
  if (done.status !== 0) process.exit(1);
  const names = [...new Set([...readdirSync(built), ...readdirSync(COMMITTED)])].sort();
  const read = (folder, name) => (readdirSync(folder).includes(name) ? readFileSync(join(folder, name)) : null);
  const stale = names.filter((name) => !read(built, name)?.equals(read(COMMITTED, name) ?? Buffer.alloc(0)));
  if (stale.length) {
    console.error(`the committed page is not what ui/ gives: ${stale.join(", ")}; run \`make ui\` and commit the result`);
    process.exit(1);
  }
  const bytes = names.reduce((sum, name) => sum + gzipSync(readFileSync(join(built, name)), { level: 9 }).length, 0);
  if (bytes > MAX_COMPRESSED_BYTES) {
    console.error(`the page has ${bytes} bytes compressed; at most ${MAX_COMPRESSED_BYTES} are allowed`);
    process.exit(1);
  }
  console.log(`the committed page is what ui/ gives: ${names.length} files, ${Math.round(bytes / 1_000)} kB compressed`);
} finally {
  rmSync(built, { recursive: true, force: true });
}
