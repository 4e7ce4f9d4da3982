//! Statements that leave each other alone whatever they share: a failure ends nothing, and what is told of production
//! says nothing of staging.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

static FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    let english =
        r"\b(?:failed|fails|failing|crashed|crashes|timed out|threw|errored|broke down)\b";
    Regex::new(&format!("(?i){english}|失败|报错|出错|崩溃|超时了|挂了")).expect("valid")
});

/// Names of the places where software runs; each is another one.
static ENVIRONMENT: LazyLock<Regex> = LazyLock::new(|| {
    let chinese = "生产|线上|测试环境|测试服|预发|开发环境|灰度";
    Regex::new(&format!(r"(?i)\b(?:prod|production|staging|dev|qa|uat|sandbox|canary)\b|{chinese}"))
        .expect("valid")
});

/// Returns `true` if a new statement cannot be a change of an old one: it tells of a failure, or of another environment.
pub(super) fn leaves_alone(new: &str, old: &str) -> bool {
    let failed = FAILURE.is_match(new) && !FAILURE.is_match(old);
    let (new, old) = (environments(new), environments(old));
    failed || !new.is_empty() && !old.is_empty() && new.is_disjoint(&old)
}

fn environments(text: &str) -> BTreeSet<String> {
    let name = |found: regex::Match<'_>| match found.as_str().to_lowercase().as_str() {
        "prod" | "production" | "生产" | "线上" => "production".to_owned(),
        "staging" | "预发" => "staging".to_owned(),
        other => other.to_owned(),
    };
    ENVIRONMENT.find_iter(text).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_and_another_environment_change_nothing() {
        for (old, new) in [
            (
                "The Larkspur staging database is on host stg-db-03",
                "The prod migration for Larkspur's rate table failed because of a lock timeout",
            ),
            ("The staging database is on host A", "The production database moved to host B"),
            ("测试环境的数据库在A机", "生产数据库迁到B机了"),
            ("发布在周五", "周四的发布失败了"),
        ] {
            assert!(leaves_alone(new, old), "{old} then {new}");
        }
        for (old, new) in [
            ("The staging database is on host A", "The staging database moved to host B"),
            ("The prod database is on host A", "The production database moved to host B"),
            ("The demo is on Friday", "The demo got moved to Thursday"),
            ("The nightly build fails", "The nightly build no longer fails"),
            ("线上数据库在A机", "生产数据库迁到B机了"),
        ] {
            assert!(!leaves_alone(new, old), "{old} then {new}");
        }
    }
}
