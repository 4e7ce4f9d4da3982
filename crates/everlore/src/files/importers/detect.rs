//! Detection of the system that wrote a path, if it is clear.

use std::{fs, io::Read, path::Path};

use super::{ExternalFormat, basic_memory, hermes::SEPARATOR, source_tree::decode_utf8};
use crate::error::{Error, Result};
use crate::files::regular_file;

/// Bytes at the start of a file that are sniffed.
const SNIFF_BYTES: u64 = 64 * 1024;

/// Most files, and folders, that are sniffed.
const MAX_SNIFFED: usize = 100;

/// Detects the format, or returns that it is not clear.
pub(super) fn detect(path: &Path) -> Result<ExternalFormat> {
    let data = fs::metadata(path).map_err(|error| Error::io(path.display().to_string(), error))?;
    let fitting = if data.is_dir() { folder_formats(path) } else { file_formats(path) };
    match fitting[..] {
        [format] => Ok(format),
        [] => Err(ambiguous_format_error(path, "it is not clear which system wrote")),
        _ => Err(ambiguous_format_error(path, "more than one system could have written")),
    }
}

fn ambiguous_format_error(path: &Path, problem: &str) -> Error {
    let names: Vec<_> = ExternalFormat::ALL.iter().map(|format| format.as_str()).collect();
    Error::invalid(
        format!("{problem} {}", path.display()),
        format!(
            "name the format: everlore import FORMAT PATH, or everlore audit PATH --format FORMAT, with one of {}",
            names.join(", ")
        ),
    )
}

fn folder_formats(path: &Path) -> Vec<ExternalFormat> {
    let has = |name: &str| path.join(name).exists();
    let any = |names: &[&str]| names.iter().any(|name| has(name));
    let mut fitting = Vec::new();
    if any(&["IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md"])
        || has("SOUL.md") && any(&["memory", "USER.md", "AGENTS.md"])
    {
        fitting.push(ExternalFormat::OpenClaw);
    }
    let separated = |name: &&str| has_hermes_separator(&read_start(&path.join(name)));
    if has("memories/MEMORY.md")
        || has("memories/USER.md")
        || ["MEMORY.md", "USER.md"].iter().any(separated)
    {
        fitting.push(ExternalFormat::Hermes);
    }
    // Any system may link files in its notes; links count only if nothing else points to a system.
    let looks_so = || read_start(&path.join("MEMORY.md")).contains(".md)") || has_memory_page(path);
    let is_home = path.ends_with(".claude") && has("projects");
    if any(&["CLAUDE.md", "CLAUDE.local.md", ".claude"])
        || is_home
        || fitting.is_empty() && looks_so()
    {
        fitting.push(ExternalFormat::Claude);
    }
    if fitting.is_empty() && has_note(path) {
        fitting.push(ExternalFormat::BasicMemory);
    }
    fitting
}

fn file_formats(path: &Path) -> Vec<ExternalFormat> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let text = read_start(path);
    if name == "claude.md" || name == "claude.local.md" {
        return vec![ExternalFormat::Claude];
    }
    if name.ends_with(".md") {
        return match (has_hermes_separator(&text), basic_memory::is_note(&text)) {
            (true, _) => vec![ExternalFormat::Hermes],
            (false, true) => vec![ExternalFormat::BasicMemory],
            (false, false) => Vec::new(),
        };
    }
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let has = |part: &str| plain.contains(part);
    if has("\"type\":\"entity\"") || has("\"type\":\"relation\"") || has("\"entities\":[") {
        return vec![ExternalFormat::McpGraph];
    }
    if has("\"memory\":\"") { vec![ExternalFormat::Mem0] } else { Vec::new() }
}

/// Returns `true` if a file of the folder has the front matter of a memory.
fn has_memory_page(path: &Path) -> bool {
    has_page(path, |text| {
        text.starts_with("---\n") && text.contains("\ntype:") && text.contains("\nname:")
    })
}

/// Returns `true` if the folder, or a folder in it, has a note of basic-memory.
fn has_note(path: &Path) -> bool {
    let inner = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut inner = inner.filter(|path| path.is_dir()).take(MAX_SNIFFED);
    has_page(path, basic_memory::is_note)
        || inner.any(|folder| has_page(&folder, basic_memory::is_note))
}

/// Returns `true` if one of the first markdown files of a folder fits.
fn has_page(path: &Path, fits: impl Fn(&str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(path) else { return false };
    let pages = entries.flatten().map(|entry| entry.path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    pages.take(MAX_SNIFFED).any(|path| fits(&read_start(&path)))
}

fn has_hermes_separator(text: &str) -> bool {
    text.lines().any(|line| line.trim() == SEPARATOR)
}

/// Reads the beginning of a file, as far as it is text; empty if it cannot be read.
fn read_start(path: &Path) -> String {
    let Ok(file) = regular_file::open(path) else { return String::new() };
    let mut bytes = Vec::new();
    if file.take(SNIFF_BYTES).read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    decode_utf8(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}
