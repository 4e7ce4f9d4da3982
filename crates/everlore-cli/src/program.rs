//! Path of this program, which coding agents and detached processes start again.

use std::{
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Script that started the command line inside another program, whose own path would not start it again.
static LAUNCHER: OnceLock<PathBuf> = OnceLock::new();

/// Names the script that started the command line. Only the first one counts.
pub(crate) fn set_launcher(script: &Path) -> io::Result<()> {
    let script = std::path::absolute(script)?;
    LAUNCHER.get_or_init(|| script);
    Ok(())
}

/// Returns the path that starts this program again.
pub(crate) fn path() -> io::Result<PathBuf> {
    LAUNCHER.get().map_or_else(std::env::current_exe, |script| Ok(script.clone()))
}

/// Commands that run a package without installing it, each with a folder of the cache from which it starts the program.
const PACKAGE_RUNNERS: [(&str, &[&str]); 6] = [
    ("archive-v", &["uvx", "everlore"]),
    ("builds-v", &["uvx", "everlore"]),
    ("environments-v", &["uvx", "everlore"]),
    ("_npx", &["npx", "-y", "everlore"]),
    ("dlx", &["pnpm", "dlx", "everlore"]),
    ("bunx-", &["bunx", "everlore"]),
];

/// Returns the command that starts the program again, if its path is inside the cache of a package runner: the path is
/// gone when the cache is cleaned.
pub(crate) fn package_runner(path: &Path) -> Option<&'static [&'static str]> {
    let folders = path.parent()?.components().filter_map(|part| part.as_os_str().to_str());
    let is_cache = |folder: &str, name: &str| {
        let rest = folder.strip_prefix(name);
        rest.is_some_and(|rest| match name.chars().last() {
            // The version of the cache's layout follows.
            Some('v') => !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()),
            Some('-') => true,
            _ => rest.is_empty() || rest.starts_with('-'),
        })
    };
    let folders: Vec<&str> = folders.collect();
    let found = PACKAGE_RUNNERS
        .into_iter()
        .find(|(name, _)| folders.iter().any(|folder| is_cache(folder, name)));
    found.map(|(_, command)| command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_in_the_cache_of_a_package_runner_is_started_by_it() {
        for (path, runner) in [
            ("/h/.cache/uv/archive-v0/Xy3/bin/everlore", "uvx everlore"),
            ("/var/cache/u/environments-v2/everlore-1a/bin/everlore", "uvx everlore"),
            ("/h/.npm/_npx/6b2f/node_modules/@everlore/linux-x64/everlore", "npx -y everlore"),
            ("/h/.cache/pnpm/dlx-77/node_modules/.bin/everlore", "pnpm dlx everlore"),
        ] {
            let found = package_runner(Path::new(path)).map(|words| words.join(" "));
            assert_eq!(found.as_deref(), Some(runner), "{path}");
        }
    }

    #[test]
    fn an_installed_program_is_started_by_its_path() {
        for path in [
            "/usr/local/bin/everlore",
            "/h/.local/share/uv/tools/everlore/bin/everlore",
            "/h/p/node_modules/.bin/everlore",
            "/h/archive-videos/everlore",
            "/h/.cargo/bin/everlore",
            "/h/_npx",
        ] {
            assert_eq!(package_runner(Path::new(path)), None, "{path}");
        }
    }
}
