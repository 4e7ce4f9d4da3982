/** The `everlore` program on this machine: brought by the package for its platform, or named by the environment. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { errorFrom, type EverloreError } from "./errors.ts";

/** Variable that names a program, for platforms without a package and for builds of your own. */
export const PROGRAM_VARIABLE = "EVERLORE_BINARY";

/** Platforms that have a package, as Node.js names them. */
export const PLATFORMS: readonly string[] = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

/** Returns the path of the program; throws an error that says what to do if there is none. */
export function findProgram(): string {
  const named = process.env[PROGRAM_VARIABLE];
  if (named) return existing(named);
  return packagedProgram(`${process.platform}-${process.arch}`);
}

function existing(path: string): string {
  if (existsSync(path)) return path;
  throw noProgram(`${PROGRAM_VARIABLE} names ${path}, which does not exist`, "correct or remove the variable");
}

function packagedProgram(platform: string): string {
  const require = createRequire(import.meta.url);
  try {
    const folder = dirname(require.resolve(`@everlore/${platform}/package.json`));
    return join(folder, "bin", process.platform === "win32" ? "everlore.exe" : "everlore");
  } catch {
    throw missingPackage(platform);
  }
}

function missingPackage(platform: string): EverloreError {
  if (!PLATFORMS.includes(platform)) {
    const hint = `build it from its sources with \`make dist\`, and name it in ${PROGRAM_VARIABLE}`;
    return noProgram(`there is no everlore program for ${platform} yet`, hint);
  }
  const hint =
    `install everlore again without \`--omit=optional\`, and on this system if \`node_modules\` came from another one; ` +
    `or name a program of your own in ${PROGRAM_VARIABLE}`;
  return noProgram(`the package @everlore/${platform} with the everlore program is not installed`, hint);
}

function noProgram(title: string, hint: string): EverloreError {
  return errorFrom("no_program", title, hint);
}
