// Checks the packed packages as a stranger would meet them: first use in an empty project, every example of the documents, and
// the adapters with the real frameworks.
//
//     node check.mjs --binary PROGRAM --out FOLDER --folder FOLDER
//
// Projects are made anew in --folder, so nothing but the packed files can be what is tested.

import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const HERE = import.meta.dirname;
const DOCUMENTS = [join(HERE, "README.md"), join(HERE, "../docs/typescript.md")];
/** Frameworks report their use unless told not to; tests talk to this machine only. */
const QUIET = { MASTRA_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", LANGSMITH_TRACING: "false" };
const MAX_PACKAGE_BYTES = 100_000;
/** From an empty folder to a recalled memory, with the installation, also on a busy machine. */
const MAX_FIRST_USE_SECONDS = 60;

const { values: options } = parseArgs({ options: { binary: { type: "string" }, out: { type: "string" }, folder: { type: "string" } } });
for (const name of ["binary", "out", "folder"]) if (!options[name]) fail(`name --${name}`);
const [binary, out, folder] = [options.binary, options.out, options.folder].map((path) => resolve(path));

run([process.execPath, join(HERE, "pack.mjs"), "--out", out, "--binary", binary], HERE);
const { version } = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));
const tarballs = [join(out, `everlore-${version}.tgz`), join(out, `everlore-${process.platform}-${process.arch}-${version}.tgz`)];
checkSize();
checkFirstUse(join(folder, "plain"));
const project = frameworksProject(join(folder, "frameworks"));
await checkExamples(project);
checkAdapters(project);
console.log("the npm packages work");

function checkSize() {
  const size = statSync(tarballs[0]).size;
  if (size > MAX_PACKAGE_BYTES) fail(`${tarballs[0]} has ${size} bytes; it may have ${MAX_PACKAGE_BYTES}`);
}

/** Installs the packages into an empty project, saves and recalls with the command, and takes the time. */
function checkFirstUse(plain) {
  emptyFolder(plain);
  writeFileSync(join(plain, "package.json"), '{ "private": true, "type": "module" }\n');
  const home = mkdtempSync(join(tmpdir(), "everlore-first-"));
  const began = performance.now();
  install(plain, ...tarballs);
  const installed = performance.now();
  const npx = (...args) => run(["npx", "--no", "--", "everlore", "--home", home, ...args], plain);
  npx("remember", "I'm allergic to peanuts");
  const recalled = npx("recall", "am I allergic to anything?");
  const seconds = (performance.now() - began) / 1000;
  rmSync(home, { recursive: true });
  if (!recalled.includes("peanuts")) fail(`npx everlore recall printed: ${recalled}`);
  console.log(`first use: installed in ${((installed - began) / 1000).toFixed(1)} s, saved and recalled after ${seconds.toFixed(1)} s`);
  if (seconds > MAX_FIRST_USE_SECONDS) fail(`the first use may take at most ${MAX_FIRST_USE_SECONDS} s`);
  const bare = JSON.parse(run(["npm", "ls", "--all", "--json"], plain)).dependencies;
  const names = Object.keys(bare).sort().join(" ");
  if (names !== `@everlore/${process.platform}-${process.arch} everlore`) fail(`installed: ${names}`);
}

/** Makes a project with the frameworks and the packages. */
function frameworksProject(path) {
  emptyFolder(path);
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(HERE, "frameworks", name), join(path, name));
  install(path);
  install(path, "--no-save", ...tarballs);
  return path;
}

/** Compiles every example strictly and runs it, on each Node.js of this machine if it needs no framework. */
async function checkExamples(project) {
  const examples = DOCUMENTS.flatMap((document) => examplesOf(document));
  emptyFolder(join(project, "examples"));
  for (const { name, text } of examples) writeFileSync(join(project, "examples", `${name}.ts`), text);
  compile(project, { outDir: "compiled", rootDir: "examples" }, ["examples/*.ts"]);
  for (const example of examples) {
    const others = /from "(@mastra|@langchain|ai)/.test(example.text) ? [] : otherNodes();
    for (const node of [process.execPath, ...others]) await withServer(example, (environment) => runExample(project, example, node, environment));
  }
  if (examples.length < 9) fail(`there are only ${examples.length} examples`);
}

function examplesOf(document) {
  const blocks = [...readFileSync(document, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)];
  const name = document.split(/[/.]/).at(-2).toLowerCase();
  return blocks.map(([, text], index) => ({ name: `${name}-${index + 1}`, text }));
}

/** Runs an example in an empty folder; what it says after an arrow must be printed. */
function runExample(project, { name, text }, node, environment) {
  const cwd = join(project, "compiled", `${name}-folder`);
  emptyFolder(cwd);
  const printed = run([node, join(project, "compiled", `${name}.js`)], cwd, environment);
  for (const [, expected] of text.matchAll(/\/\/ → (.*)$/gm)) {
    if (!printed.includes(expected)) fail(`${name} does not print \`${expected}\` but:\n${printed}`);
  }
  console.log(`ok    ${name} with ${run([node, "--version"], cwd).trim()}`);
}

/** Checks the types of the adapters and of their tests against the frameworks, and runs the tests. */
function checkAdapters(project) {
  cpSync(join(HERE, "src"), join(project, "src"), { recursive: true });
  cpSync(join(HERE, "tests/adapters"), join(project, "tests"), { recursive: true });
  compile(project, { noEmit: true }, ["src/**/*.ts", "tests/*.ts"]);
  const tests = readdirSync(join(project, "tests")).filter((name) => name.endsWith(".test.ts"));
  const done = spawnSync(process.execPath, ["--test", ...tests.map((name) => join("tests", name))], { cwd: project, stdio: "inherit", env: clean() });
  if (done.status !== 0) fail("the adapters fail");
}

function compile(project, compilerOptions, include) {
  const { compilerOptions: strict } = JSON.parse(readFileSync(join(HERE, "tsconfig.json"), "utf8"));
  const adjusted = { ...strict, isolatedDeclarations: false, declaration: false, noEmit: false, ...compilerOptions };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: adjusted, include }));
  run([process.execPath, join(project, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json"], project);
}

/** Runs a server for an example of the client. */
async function withServer({ text }, work) {
  if (!text.includes("new Client(")) return work({});
  const home = mkdtempSync(join(tmpdir(), "everlore-examples-"));
  const server = spawn(binary, ["--home", home, "--json", "serve", "--port", "0", "--until-stdin-closes"], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise((settle) => server.once("exit", settle));
  const line = await new Promise((settle) => server.stdout.once("data", settle));
  await work({ EVERLORE_URL: JSON.parse(line).url, EVERLORE_KEY: readFileSync(join(home, "server.token"), "utf8").trim() });
  server.stdin.end();
  await ended;
  rmSync(home, { recursive: true });
}

/** Returns the other Node.js programs of the path that the package supports. */
function otherNodes() {
  const places = process.env.PATH.split(delimiter).map((place) => join(place, "node"));
  const found = places.flatMap((place) => (statSync(place, { throwIfNoEntry: false }) ? [realpathSync(place)] : []));
  const nodes = new Set(found.filter((node) => node !== realpathSync(process.execPath)));
  const major = (node) => Number(/^v(\d+)/.exec(spawnSync(node, ["--version"], { encoding: "utf8" }).stdout)?.[1]);
  return [...nodes].filter((node) => major(node) >= 20);
}

function install(cwd, ...packages) {
  run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", ...packages], cwd);
}

function emptyFolder(path) {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
}

/** Returns the environment without what could help the package. */
function clean() {
  const { EVERLORE, EVERLORE_BINARY, EVERLORE_HOME, EVERLORE_URL, EVERLORE_KEY, NODE_PATH, ...rest } = process.env;
  return { ...rest, ...QUIET };
}

function run([command, ...args], cwd, environment = {}) {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", env: { ...clean(), ...environment }, stdio: ["ignore", "pipe", "pipe"] });
  if (done.status !== 0) fail(`failed: ${[command, ...args].join(" ")}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
