//! Kernel: the one message of a log that says why it failed.

use std::sync::LazyLock;

use regex::Regex;

/// Returns the decisive message of `messages`: the last exception, the first compiler error, or the first line that
/// speaks of a failure.
pub(super) fn choose(messages: &[String]) -> String {
    // Gradle puts two lines before what went wrong that say nothing about it.
    if let Some(at) = messages.iter().position(|line| !OPENING.is_match(line)).filter(|at| *at > 0)
    {
        return choose(&messages[at..]);
    }
    let at = last(messages, &CAUSED_BY)
        .or_else(|| first(messages, &COMPILER_ERROR))
        .or_else(|| last(messages, &EXCEPTION))
        .or_else(|| first(messages, &ERROR_LABEL))
        .or_else(|| first(messages, &ERROR_WORD))
        .unwrap_or(0);
    join_wrapped(messages, at)
}

fn first(messages: &[String], pattern: &Regex) -> Option<usize> {
    messages.iter().position(|line| pattern.is_match(line))
}

fn last(messages: &[String], pattern: &Regex) -> Option<usize> {
    messages.iter().rposition(|line| pattern.is_match(line))
}

/// Joins the line at `start` with the ones it is wrapped into: a message ends with a sign of its end, or where the
/// next line starts a new statement.
fn join_wrapped(messages: &[String], start: usize) -> String {
    const MAX_LINES: usize = 4;
    let mut kernel = messages.get(start).cloned().unwrap_or_default();
    for next in messages.iter().skip(start + 1).take(MAX_LINES - 1) {
        let open = kernel.ends_with([':', ',', '(', '-'])
            || (!kernel.ends_with(['.', '}', ')']) && starts_lower(next));
        if !open {
            break;
        }
        kernel.push(' ');
        kernel.push_str(next);
    }
    kernel
}

fn starts_lower(line: &str) -> bool {
    line.chars().next().is_some_and(|sign| sign.is_ascii_lowercase())
        && !ERROR_LABEL.is_match(line)
        && !PAIR.is_match(line)
}

static CAUSED_BY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^Caused by: [\w.$]+").expect("the pattern is valid"));

static COMPILER_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^error\[E\d{4}\]|error TS\d+:|: (?:fatal )?error: |: (?:致命)?错误: |: error C\d{4}:",
    )
    .expect("the pattern is valid")
});

/// `pkg.SomeError: words`, `panic: words`, `thread 'main' panicked at …`.
static EXCEPTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:Uncaught |Exception in thread '[^']*' )?(?:[\w.$]*[a-z](?:Error|Exception|Exit|Interrupt|Warning|Violation|NotFound)\b|panic:|thread '.*' \(?.*panicked at|fatal error:)")
        .expect("the pattern is valid")
});

static ERROR_LABEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:[\w./ -]{0,30}: )?(?:error|fatal|failure|致命错误|错误|失败|err!|错误信息|cmake error)\b|^(?:错误|致命错误|失败)")
        .expect("the pattern is valid")
});

static ERROR_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:error|fail(?:ed|ure)?|denied|refused|cannot|can't|could not|unable|not found|no such|invalid|exceeded|timed out|conflict|missing|rejected|forbidden|unauthorized|unexpected|undefined)\b|错误|失败|拒绝|无法|找不到|未找到|超时|没有|不能|冲突")
        .expect("the pattern is valid")
});

static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^FAILURE: Build failed with an exception\.?$|^\*? ?What went wrong:$|^\* Where:$|^ERROR in \S+(?: \d+:\d+(?:-\d+)?)?$",
    )
    .expect("the pattern is valid")
});

/// `key: value` lines under a message.
static PAIR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\w+: \S").expect("the pattern is valid"));

#[cfg(test)]
mod tests {
    use super::choose;

    fn kernel(lines: &[&str]) -> String {
        choose(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_exception_and_the_innermost_cause_decide() {
        assert_eq!(kernel(&["starting", "KeyError: 'CHF'"]), "KeyError: 'CHF'");
        assert_eq!(
            kernel(&[
                "java.lang.RuntimeException: boot",
                "Caused by: java.net.BindException: in use"
            ]),
            "Caused by: java.net.BindException: in use"
        );
    }

    #[test]
    fn a_wrapped_message_is_joined() {
        let joined = kernel(&[
            "thread 'main' panicked at src/a.rs:6:1:",
            "index out of bounds: the len is 2",
        ]);
        assert_eq!(
            joined,
            "thread 'main' panicked at src/a.rs:6:1: index out of bounds: the len is 2"
        );
    }

    #[test]
    fn no_lines_give_no_kernel() {
        assert_eq!(kernel(&[]), "");
    }
}
