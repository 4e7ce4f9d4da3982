//! Log text: lines freed of colours, time stamps and the prefixes that loggers, containers and CI put before them.

use std::sync::LazyLock;

use regex::Regex;

/// Longest text that is read; a longer one keeps its head and its tail, where programs put the reason.
const MAX_BYTES: usize = 24_000;

/// Most prefixes that one line carries (CI time stamp, container name, logger time, process id, level).
const MAX_PREFIXES: usize = 6;

/// Returns the lines of `text` without colours and log prefixes; empty lines are dropped.
pub(super) fn clean(text: &str) -> Vec<String> {
    let bounded = bound(text);
    let plain = COLOUR.replace_all(&bounded, "");
    let plain = OLD_PANIC.replace_all(&plain, "panicked at $2: $1");
    plain
        .split(['\n', '\r'])
        .map(|line| fold_punctuation(strip_prefixes(line)).trim_end().to_owned())
        .filter(|line| !line.trim().is_empty())
        .collect()
}

fn bound(text: &str) -> String {
    if text.len() <= MAX_BYTES {
        return text.to_owned();
    }
    let half = MAX_BYTES / 2;
    let boundary = |from: usize| {
        (from..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
    };
    format!("{}\n{}", &text[..boundary(half)], &text[boundary(text.len() - half)..])
}

fn strip_prefixes(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..MAX_PREFIXES {
        let Some(found) = PREFIX.find(rest) else { break };
        if found.end() == 0 {
            break;
        }
        rest = &rest[found.end()..];
    }
    rest
}

/// Writes typographic and full-width signs as ASCII, so that one pattern fits all.
fn fold_punctuation(line: &str) -> String {
    let line = line
        .replace("\\\"", "\"")
        .replace("\\n", " ")
        .replace("\\t", " ")
        .replace('：', ": ")
        .replace('，', ", ");
    line.chars().map(fold_char).collect()
}

fn fold_char(sign: char) -> char {
    match sign {
        '‘' | '’' | '`' | '´' | '“' | '”' | '"' | '「' | '」' | '«' | '»' => '\'',
        '、' => ',',
        '。' => '.',
        '（' => '(',
        '）' => ')',
        '；' => ';',
        '！' => '!',
        '？' => '?',
        '\u{a0}' | '\u{3000}' | '\t' => ' ',
        other => other,
    }
}

/// Terminal control sequences, also where the escape character itself got lost.
static COLOUR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\[\d{1,2}(?:;\d{1,3})*m")
        .expect("the pattern is valid")
});

/// Panics as Rust printed them before 1.73: the message in quotes, then the place.
static OLD_PANIC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"panicked at '([^\n]*)', (\S+:\d+:\d+)").expect("the pattern is valid")
});

/// One prefix at the start of a line.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    let parts = [
        // ISO and log4j times, Go's log, PostgreSQL's log, nginx; a zone may follow.
        r"[\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d| (?:UTC|GMT|CES?T|CST|[EP][SD]T))?[\])]?:?\s*",
        // Times without a date, in brackets or bare.
        r"[\[(]?\d\d:\d\d:\d\d(?:[.,]\d+)?[\])]?\s+",
        // Day first or month first, as on Windows and in Node loggers.
        r"\d{1,2}/\d{1,2}/\d{4},? \d{1,2}:\d\d(?::\d\d)?(?: [AP]M)?\s+",
        // syslog and journald.
        r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: ",
        // klog.
        r"[EWIF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [\w.-]+:\d+\] ",
        // BuildKit steps.
        r"#\d+ (?:\d+\.\d+ ?)?",
        // Compose services.
        r"[\w.-]+[-_]\d+ +\| ?",
        r"[a-z][\w.-]* {1,12}\| ",
        // CI commands and boxes.
        r"##\[\w+\]",
        r"::(?:error|warning)[^:]*::",
        r"[│║╷╵╭╰] ?",
        // pytest, npm, Maven, curl -v, shell tracing.
        r"E {2,}",
        r"npm (?:ERR!|error|WARN|warn) ?",
        r"\[(?:ERROR|WARN(?:ING)?|FATAL)\] ",
        r"[<*] ",
        // Process ids and `user@database` of PostgreSQL.
        r"\[\d+\] (?:\w+@\w+ )?",
        // nginx: its level, process and connection.
        r"(?:nginx: )?\[(?:emerg|alert|crit|error)\](?: \d+#\d+:)?(?: \*\d+)? ",
        r"\[Nest\] \d+ +- ",
    ];
    Regex::new(&format!("^(?:{})", parts.join("|"))).expect("the pattern is valid")
});

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn colours_and_stacked_prefixes_disappear() {
        let text = "2024-11-03T08:14:57.9910042Z \u{1b}[31merror[E0505]\u{1b}[0m: cannot move out of `conn`";
        assert_eq!(clean(text), ["error[E0505]: cannot move out of 'conn'"]);
        assert_eq!(clean("api-1  | 2025/04/12 19:22:08 failed to connect"), ["failed to connect"]);
        assert_eq!(
            clean("#14 10.31 error: linker `cc` not found"),
            ["error: linker 'cc' not found"]
        );
    }

    #[test]
    fn rust_source_gutters_are_not_container_names() {
        assert_eq!(clean("12 |     start_server(config);"), ["12 |     start_server(config);"]);
    }

    #[test]
    fn a_long_text_keeps_head_and_tail() {
        let text = format!("error: head\n{}\nerror: tail", "x".repeat(100_000));
        let lines = clean(&text);
        assert_eq!(lines.first().map(String::as_str), Some("error: head"));
        assert_eq!(lines.last().map(String::as_str), Some("error: tail"));
    }
}
