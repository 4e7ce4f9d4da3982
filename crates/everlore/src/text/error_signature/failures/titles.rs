//! Names of failures in plain words, in English and Chinese.

use std::{collections::HashMap, sync::LazyLock};

/// Returns a known failure in plain words. One without words of its own is told by the parts of its name.
pub(crate) fn failure_title(name: &str, is_chinese: bool) -> String {
    if let Some((english, chinese)) = TITLES.get(name) {
        return (if is_chinese { *chinese } else { *english }).to_owned();
    }
    let (first, rest) = name.split_once('-').unwrap_or((name, ""));
    let subject = SUBJECTS.iter().find(|(part, ..)| *part == first);
    match (subject, rest) {
        (Some((_, english, chinese)), rest) if is_code(rest) => {
            let subject = if is_chinese { chinese } else { english };
            format!("{subject} {}", rest.to_uppercase())
        }
        (Some((_, english, chinese)), rest) => {
            let (subject, colon) = if is_chinese { (chinese, "：") } else { (english, ": ") };
            format!("{subject}{colon}{}", rest.replace('-', " "))
        }
        (None, _) => name.replace('-', " "),
    }
}

/// Returns `true` for a code that says all: `e0382`, `ts2345`, `404`.
fn is_code(text: &str) -> bool {
    text.ends_with(|sign: char| sign.is_ascii_digit()) && !text.contains('-')
}

static TITLES: LazyLock<HashMap<&str, (&str, &str)>> = LazyLock::new(|| {
    let title = |line: &'static str| {
        let mut parts = line.split(" | ");
        Some((parts.next()?, (parts.next()?, parts.next()?)))
    };
    let lines = include_str!("titles.txt").lines().filter(|line| !line.starts_with("//"));
    lines.filter_map(title).collect()
});

/// First parts of names, with what they stand for in English and Chinese.
const SUBJECTS: [(&str, &str, &str); 30] = [
    ("py", "Python", "Python"),
    ("pip", "pip", "pip"),
    ("rust", "Rust", "Rust"),
    ("rustc", "Rust compiler error", "Rust 编译错误"),
    ("tsc", "TypeScript error", "TypeScript 错误"),
    ("cargo", "Cargo", "Cargo"),
    ("panic", "Rust panic", "Rust panic"),
    ("go", "Go", "Go"),
    ("java", "Java", "Java"),
    ("gradle", "Gradle", "Gradle"),
    ("maven", "Maven", "Maven"),
    ("spring", "Spring", "Spring"),
    ("node", "Node", "Node"),
    ("npm", "npm", "npm"),
    ("react", "React", "React"),
    ("git", "git", "git"),
    ("docker", "Docker", "Docker"),
    ("k8s", "Kubernetes", "Kubernetes"),
    ("helm", "Helm", "Helm"),
    ("terraform", "Terraform", "Terraform"),
    ("ssh", "SSH", "SSH"),
    ("tls", "TLS", "TLS"),
    ("http", "HTTP", "HTTP"),
    ("sql", "database", "数据库"),
    ("ld", "linker", "链接器"),
    ("loader", "program loader", "程序加载"),
    ("gcc", "C compiler", "C 编译器"),
    ("apt", "apt", "apt"),
    ("cuda", "CUDA", "CUDA"),
    ("django", "Django", "Django"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::error_signature::failures::TABLE;

    #[test]
    fn titles_are_of_known_failures_and_say_more_than_their_names() {
        for (name, (english, chinese)) in TITLES.iter() {
            let is_status = name.strip_prefix("http-").is_some_and(is_code);
            assert!(is_status || TABLE.iter().any(|entry| entry.name == *name), "{name}");
            assert!(!english.contains('-') || english.contains(' '), "{english}");
            assert!(chinese.contains(|sign: char| !sign.is_ascii()), "{name}: {chinese}");
        }
    }

    #[test]
    fn a_failure_without_a_title_is_told_by_its_parts() {
        assert_eq!(failure_title("py-missing-module", false), "Python module missing");
        assert_eq!(failure_title("py-missing-module", true), "缺少 Python 模块");
        assert_eq!(failure_title("rustc-e0382", false), "Rust compiler error E0382");
        assert_eq!(failure_title("rustc-e0382", true), "Rust 编译错误 E0382");
        assert_eq!(failure_title("k8s-pvc-unbound", false), "Kubernetes: pvc unbound");
        assert_eq!(failure_title("http-418", false), "HTTP 418");
        assert_eq!(failure_title("clock-skew", false), "clock skew");
    }
}
