//! Tests of usage detection on labelled cases in both languages.

use super::*;

/// Tab-separated: `used` or `unused`, the memory, the question and the answer.
const CASES: &str = include_str!("usage_cases.tsv");

#[derive(Debug)]
struct UsageCase {
    used: bool,
    memory: &'static str,
    question: &'static str,
    answer: &'static str,
}

fn cases() -> Vec<UsageCase> {
    let lines = CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &'static str| {
        let [label, memory, question, answer] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}")
        };
        assert!(["used", "unused"].contains(&label), "{line}");
        UsageCase { used: label == "used", memory, question, answer }
    };
    lines.map(case).collect()
}

fn is_used(case: &UsageCase) -> bool {
    let digests = question_digests(case.question, case.memory);
    detect_usage(
        &[ShownMemory { text: case.memory, question_digests: &digests, similarity: 0.0 }],
        case.answer,
    )[0]
}

/// Returns precision, recall and the cases judged wrongly.
fn precision_and_recall<'a>(
    cases: impl Iterator<Item = &'a UsageCase>,
) -> (f64, f64, Vec<&'a UsageCase>) {
    let (mut right, mut found, mut there, mut wrong) = (0, 0, 0, Vec::new());
    for case in cases {
        let judged = is_used(case);
        right += usize::from(judged && case.used);
        found += usize::from(judged);
        there += usize::from(case.used);
        if judged != case.used {
            wrong.push(case);
        }
    }
    (right as f64 / found as f64, right as f64 / there as f64, wrong)
}

#[test]
fn there_are_as_many_cases_of_either_language_and_half_are_negative() {
    let cases = cases();
    let is_chinese = |case: &&UsageCase| case.memory.chars().any(is_cjk);
    let chinese = cases.iter().filter(is_chinese).count();
    assert!(cases.len() >= 100 && chinese * 2 == cases.len(), "{chinese} of {}", cases.len());
    let negative = cases.iter().filter(|case| !case.used).count();
    assert!(negative * 2 >= cases.len() - 4, "{negative} of {}", cases.len());
}

#[test]
fn use_is_told_with_a_precision_and_a_recall_of_nineteen_in_twenty_in_each_language() {
    let cases = cases();
    for chinese in [false, true] {
        let own = cases.iter().filter(|case| case.memory.chars().any(is_cjk) == chinese);
        let (precision, recall, wrong) = precision_and_recall(own);
        let figures = format!("chinese {chinese}: {precision:.2} {recall:.2} {wrong:#?}");
        assert!(precision >= 0.95 && recall >= 0.95, "{figures}");
    }
}

#[test]
fn an_answer_that_knows_nothing_uses_nothing() {
    let memory = "The user's dog is called Rex and lives in Boston.";
    let shown = [ShownMemory { text: memory, question_digests: &[], similarity: 0.9 }];
    for answer in ["", "I don't know.", "我不知道。", "I have no information about Rex."] {
        assert_eq!(detect_usage(&shown, answer), [false], "{answer}");
    }
}

#[test]
fn of_memories_that_say_the_same_none_is_quoted_alone() {
    let shown = |text| ShownMemory { text, question_digests: &[], similarity: 0.0 };
    let both = [
        shown("The staging server listens on port 8443 behind nginx in Frankfurt."),
        shown("Port 8443 is blocked by the firewall of the Dublin office on weekends."),
    ];
    assert_eq!(detect_usage(&both, "Use 8443; nginx in Frankfurt forwards it."), [true, false]);
}

#[test]
fn nearness_helps_a_weak_sign_and_does_not_decide_alone() {
    let shown = |similarity| ShownMemory {
        text: "The user is allergic to peanuts and shellfish.",
        question_digests: &[],
        similarity,
    };
    let weak = "Skip the satay because of the peanuts.";
    assert_eq!(detect_usage(&[shown(0.0)], weak), [false]);
    assert_eq!(detect_usage(&[shown(0.7)], weak), [true]);
    assert_eq!(detect_usage(&[shown(0.9)], "Thai food is delicious."), [false]);
}

#[test]
fn what_is_kept_of_a_question_is_what_the_memory_has_of_it() {
    let memory = "用户的狗叫小黑，住在上海。";
    assert!(question_digests("今天天气怎么样", memory).is_empty());
    let digests = question_digests("上海的狗", memory);
    assert!(!digests.is_empty() && digests.len().is_multiple_of(4));
}
