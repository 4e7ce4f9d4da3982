/** The names of the package: those of Python, and the codes of the engine. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as everlore from "../src/index.ts";
import { errorFrom } from "../src/errors.ts";

const ROOT = join(import.meta.dirname, "../..");

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

test("every method of the Python package is here too", () => {
  const [, api = ""] = /^class MemoryApi\(ABC\):(.*?)^class /ms.exec(read("python/src/everlore/_api.py")) ?? [];
  const methods = [...api.matchAll(/^    def ([a-z]\w*)\(/gm)].map(([, name]) => name as string);
  assert.ok(methods.length >= 15, methods.join());
  for (const name of methods) assert.ok(name in everlore.Client.prototype, name);
});

test("every error of the Python package is here, for the same codes", () => {
  const source = read("python/src/everlore/_errors.py");
  const kinds = [...source.matchAll(/^    (\w+): \(([^)]*)\)/gm)];
  assert.ok(kinds.length >= 11, kinds.join());
  for (const [, kind, codes = ""] of kinds) {
    for (const [, code = ""] of codes.matchAll(/"(\w+)"/g)) {
      if (code === "forked") continue;
      assert.equal(errorFrom(code, "title", "hint").name, kind, code);
    }
  }
});

test("every code of the engine has an error of its own", () => {
  const codes = [...read("crates/everlore/src/error.rs").matchAll(/=> "(\w+)",/g)].map(([, code]) => code as string);
  assert.ok(codes.includes("not_found") && codes.includes("conflict"));
  for (const code of codes) assert.notEqual(errorFrom(code, "title", "hint").name, "EverloreError", code);
});

test("an error says what to do", () => {
  const error = errorFrom("not_found", "memory `7` not found", "list the memories", { status: 404 });
  assert.ok(error instanceof everlore.NotFound && error instanceof everlore.EverloreError && error instanceof Error);
  assert.deepEqual([error.message, error.title, error.hint, error.status], ["memory `7` not found: list the memories", "memory `7` not found", "list the memories", 404]);
});
