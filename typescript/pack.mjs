// Lays out and packs the npm packages: `everlore` itself, and the package of a platform from its program.
//
//     node pack.mjs --out FOLDER [--binary PROGRAM [--platform linux-x64]]
//
// It needs the installed TypeScript of this folder, and no network.

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const HERE = import.meta.dirname;
const ROOT = join(HERE, "..");
const LICENSES = ["LICENSE-APACHE", "LICENSE-MIT"];

/** Platforms as Node.js names them. Only those whose program is given are packed; `everlore` names all of them. */
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

const { values: options } = parseArgs({
  options: { out: { type: "string" }, binary: { type: "string" }, platform: { type: "string", default: `${process.platform}-${process.arch}` } },
});
if (!options.out) fail("name a folder for the packages with --out");
const out = resolve(options.out);
const manifest = JSON.parse(readFileSync(join(HERE, "package.json"), "utf8"));

mkdirSync(out, { recursive: true });
if (options.binary) packPlatform(options.platform, resolve(options.binary));
packMain();

function packMain() {
  const folder = emptyFolder("everlore");
  rmSync(join(HERE, "dist"), { recursive: true, force: true });
  run(process.execPath, [join(HERE, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], HERE);
  cpSync(join(HERE, "dist"), join(folder, "dist"), { recursive: true });
  for (const name of readdirSync(join(folder, "dist"), { recursive: true })) if (name.endsWith(".d.ts")) nameModules(join(folder, "dist", name));
  copyFileSync(join(HERE, "README.md"), join(folder, "README.md"));
  chmodSync(join(folder, "dist/launcher.js"), 0o755);
  const { devDependencies, scripts, ...published } = manifest;
  const optionalDependencies = Object.fromEntries(PLATFORMS.map((platform) => [`@everlore/${platform}`, manifest.version]));
  writeManifest(folder, { ...published, optionalDependencies });
  pack(folder);
}

/** The compiler leaves the names of sources in declarations; those that are published name what is there. */
function nameModules(path) {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"').replaceAll(/(import\("\.[^"]*)\.ts"\)/g, '$1.js")'));
}

function packPlatform(platform, binary) {
  if (!PLATFORMS.includes(platform)) fail(`there is no package for ${platform}: give one of ${PLATFORMS.join(", ")}`);
  if (!existsSync(binary)) fail(`there is no program at ${binary}: build it with \`make dist\``);
  const [os, cpu] = platform.split("-");
  const program = os === "win32" ? "everlore.exe" : "everlore";
  checkVersion(platform, binary);
  const folder = emptyFolder(platform);
  mkdirSync(join(folder, "bin"));
  copyFileSync(binary, join(folder, "bin", program));
  chmodSync(join(folder, "bin", program), 0o755);
  writeFileSync(join(folder, "README.md"), `The everlore program for ${platform}. Install the package \`everlore\`, which brings it.\n`);
  const { version, license, engines } = manifest;
  const description = `The everlore program for ${platform}`;
  writeManifest(folder, { name: `@everlore/${platform}`, version, description, license, engines, os: [os], cpu: [cpu], files: ["bin", ...LICENSES], preferUnplugged: true });
  pack(folder);
}

/** A program of this platform says its version; the packages must not disagree. */
function checkVersion(platform, binary) {
  if (platform !== `${process.platform}-${process.arch}`) return;
  const printed = spawnSync(binary, ["--version"], { encoding: "utf8" }).stdout?.trim();
  if (printed !== `everlore ${manifest.version}`) fail(`${binary} is \`${printed}\`, and the packages are ${manifest.version}`);
}

function emptyFolder(name) {
  const folder = join(out, "layout", name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const license of LICENSES) copyFileSync(join(ROOT, license), join(folder, license));
  return folder;
}

function writeManifest(folder, content) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(content, null, 2)}\n`);
}

function pack(folder) {
  const printed = run("npm", ["pack", "--json", "--pack-destination", out], folder);
  const [packed] = Object.values(JSON.parse(printed));
  console.log(`${join(out, packed.filename)}: ${(packed.size / 1e6).toFixed(2)} MB`);
}

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  if (done.status !== 0) fail(`failed: ${command} ${args.join(" ")}\n${done.stdout}`);
  return done.stdout;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
