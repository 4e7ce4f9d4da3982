//! Stack: divides a log into message lines and stack frames, and drops source excerpts and progress lines.

use std::sync::LazyLock;

use regex::Regex;

/// A log divided by the part its lines play.
#[derive(Debug, Default)]
pub(super) struct LogParts {
    /// Lines that say what happened.
    pub(super) messages: Vec<String>,
    /// Function names, the innermost frame first.
    pub(super) frames: Vec<String>,
    /// Paths of the user's own files: those that no package manager installed.
    pub(super) own_paths: Vec<String>,
}

/// Divides the cleaned lines of a log.
pub(super) fn split(lines: &[String]) -> LogParts {
    let mut parts = LogParts::default();
    let mut python_frames = Vec::new();
    let mut source_indent = None;
    for line in lines {
        collect_paths(line, &mut parts.own_paths);
        if let Some(found) = PYTHON_FRAME.captures(line) {
            source_indent = Some(indent(line));
            python_frames.extend(found.get(1).map(|name| name.as_str().to_owned()));
            continue;
        }
        // The excerpt under a Python frame is indented deeper than the frame.
        if source_indent.is_some_and(|frame| indent(line) > frame) {
            continue;
        }
        source_indent = None;
        if let Some(name) = frame_name(line) {
            parts.frames.push(name);
        } else if !is_noise(line) {
            parts.messages.push(line.trim().to_owned());
        }
    }
    if parts.messages.is_empty() {
        parts.messages = lines.iter().map(|line| line.trim().to_owned()).collect();
    }
    python_frames.reverse();
    parts.frames.splice(0..0, python_frames);
    parts.frames.retain(|name| is_telling_frame(name));
    parts
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the function of a Node, Java, Go or pytest frame.
fn frame_name(line: &str) -> Option<String> {
    let found = AT_FRAME
        .captures(line)
        .or_else(|| GO_FRAME.captures(line))
        .or_else(|| RUST_FRAME.captures(line))?;
    Some(found.iter().skip(1).flatten().next().map_or("", |name| name.as_str()).to_owned())
}

fn is_telling_frame(name: &str) -> bool {
    !name.is_empty()
        && !matches!(name, "<module>" | "<anonymous>" | "main" | "Object.<anonymous>" | "main.main")
}

fn is_noise(line: &str) -> bool {
    NOISE.is_match(line)
}

fn collect_paths(line: &str, paths: &mut Vec<String>) {
    const INSTALLED: [&str; 6] =
        ["site-packages", "dist-packages", "node_modules", "/usr/lib/", "/lib/python", "importlib"];
    for found in PATH.find_iter(line) {
        let path = found.as_str();
        if !INSTALLED.iter().any(|part| path.contains(part)) {
            paths.push(path.replace('\\', "/").to_lowercase());
        }
    }
}

static PYTHON_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ *(?:File '[^']*', line \d+(?:, in (.+))?|[\w/\\.-]+\.py:\d+: in (.+)|[\w/\\.-]+\.py:\d+: *)$")
        .expect("the pattern is valid")
});

/// `at f (file:1:2)` of Node and browsers, `at a.b.C.f(C.java:3)` of Java and .NET.
static AT_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ *at (?:async |new )?(?:([\w.$<>/ ]+?)(?: \[as [^\]]+\])? ?\([^)]*\)|\S+:\d+(?::\d+)?|([\w.<>`]+)\(.*\) in .*)(?: \{)?$")
        .expect("the pattern is valid")
});

/// `pkg/path.(*Type).Method(0xc000…)` and the file line under it.
static GO_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:((?:[\w./-]+/)?[\w-]+\.(?:\(\*?\w+\)\.)?\w[\w.]*)\((?:0x|\.\.\.|\{0x|\)).*|created by .*| *\S+\.go:\d+ \+0x[0-9a-f]+| +\S+\.go:\d+|goroutine \d+ .*:)$")
        .expect("the pattern is valid")
});

/// Backtrace lines of Rust and gdb.
static RUST_FRAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ *(?:\d+: +(?:0x[0-9a-f]+ - )?([\w:<>]+::\w+).*|#\d+ +0x[0-9a-f]+ in (\w+) .*)$")
        .expect("the pattern is valid")
});

/// Source excerpts of compilers, rulers, progress and success lines, command echoes.
static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    let parts = [
        r"\d* *\|.*",
        r"\.\.\.",
        r"[-=_~^+|/\\ ]+",
        r"-->.*",
        r"(?:Compiling|Downloading|Downloaded|Updating|Installing|Building|Collecting|Fetching|Checking|Finished|Using cached|Locking|Adding) .*",
        r"INFO\b.*",
        r"DEBUG\b.*",
        r"\{'level':'(?:info|debug)'.*",
        r"Traceback \(most recent call last\):",
        r"Traceback:",
        r"(?:The above exception was|During handling of the above).*",
        r"note: run with 'RUST_BACKTRACE.*",
        r"For more information about this error, try .*",
        r"error: could not compile '.*",
        r"error: aborting due to .*",
        r"warning: build failed.*",
        r"make(?:\[\d+\])?: \*\*\* \[.*\] (?:Error|错误) \d+.*",
        r"A complete log of this run.*",
        r".*[/\\]_logs[/\\].*",
        r"Node\.js v\d.*",
        r"node:\w+(?:/\w+)*:\d+",
        r"throw .*",
        r"Emitted 'error' event.*",
        r"exit status \d+",
        r"exited with code \d+",
        r"(?:ERROR: )?process '/bin/sh -c.*",
        r"\(Background on this error at.*",
        r"\[SQL: .*",
        r"STATEMENT: .*",
        r"(?:语句|查询): .*",
        r"Step \d+/\d+ : .*",
        r"[Pp]rocess completed with exit code.*",
        r"(?:Content-Length|Date|Server|Connection): .*",
    ];
    Regex::new(&format!("^ *(?:{})$", parts.join("|"))).expect("the pattern is valid")
});

static PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[A-Za-z]:)?[\w.@-]*(?:[/\\][\w.@+-]+)+").expect("the pattern is valid")
});

#[cfg(test)]
mod tests {
    use super::{super::log_text::clean, split};

    #[test]
    fn a_python_traceback_leaves_its_last_line_and_its_functions() {
        let text = "Traceback (most recent call last):\n  File \"/srv/etl/export.py\", line 97, in save\n    out.write(chunk)\nOSError: [Errno 28] No space left on device";
        let parts = split(&clean(text));
        assert_eq!(parts.messages, ["OSError: [Errno 28] No space left on device"]);
        assert_eq!(parts.frames, ["save"]);
        assert_eq!(parts.own_paths, ["/srv/etl/export.py"]);
    }

    #[test]
    fn node_and_go_frames_are_named_without_lines() {
        let node = "Error: boom\n    at settle (/usr/src/app/axios.cjs:1967:12)\n    at /app/index.js:45:11";
        assert_eq!(split(&clean(node)).frames, ["settle"]);
        let go = "panic: boom\n\ngoroutine 1 [running]:\nexample.com/probe.(*Counters).Inc(...)\n\t/src/c.go:29 +0x1d";
        let parts = split(&clean(go));
        assert_eq!(parts.frames, ["example.com/probe.(*Counters).Inc"]);
        assert_eq!(parts.messages, ["panic: boom"]);
    }

    #[test]
    fn compiler_excerpts_are_dropped() {
        let text = "error[E0382]: borrow of moved value: `a`\n  --> src/main.rs:14:22\n   |\n11 |     let a = b;\n   |  ^^^ value";
        assert_eq!(split(&clean(text)).messages, ["error[E0382]: borrow of moved value: 'a'"]);
    }
}
