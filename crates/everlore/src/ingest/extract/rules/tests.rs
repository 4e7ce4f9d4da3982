//! Tests of extraction by rules, sentence by sentence.

use jiff::tz::TimeZone;

use super::*;

fn turn_text(role: Role, text: &str) -> TurnText {
    let at = "2026-03-02T10:00:00Z".parse().unwrap();
    TurnText { id: MemoryId::new(at), role, speaker: None, text: text.to_owned(), at }
}

fn drafts(text: &str) -> Vec<Draft> {
    extract_by_rules(&[turn_text(Role::User, text)], &TimeZone::UTC)
}

fn contents(text: &str) -> Vec<String> {
    drafts(text).into_iter().map(|draft| draft.content).collect()
}

#[test]
fn statements_are_rewritten_to_stand_alone_in_the_language_of_the_conversation() {
    let cases = [
        ("I live in Lisbon", "The user lives in Lisbon."),
        ("My sister lives in Rome.", "The user's sister lives in Rome."),
        ("I always take the train to work.", "The user always takes the train to work."),
        ("Remember that I park my car in row 7.", "The user parks the user's car in row 7."),
        ("我住在里斯本", "用户住在里斯本。"),
        ("我姐姐住在罗马。", "用户的姐姐住在罗马。"),
        ("记住，我的车停在七号位。", "用户的车停在七号位。"),
    ];
    for (text, content) in cases {
        assert_eq!(contents(text), [content], "{text}");
    }
}

#[test]
fn relative_dates_become_absolute() {
    let cases = [
        ("We moved to Utrecht last month.", "The user lives in Utrecht (February 2026)."),
        ("The release is due next Friday.", "The release is due 6 March 2026."),
        (
            "The deadline for the report is March 20.",
            "The deadline for the report is March 20, 2026.",
        ),
        ("我们上个月搬到苏州了。", "用户住在苏州（2026年2月）。"),
        ("论文下周五之前要交。", "论文2026年3月13日之前要交。"),
    ];
    for (text, content) in cases {
        assert_eq!(contents(text), [content], "{text}");
    }
}

#[test]
fn a_draft_says_what_it_is_about_and_where_it_comes_from() {
    let turn = turn_text(Role::User, "I moved from Boston to Denver.");
    let draft = extract_by_rules(std::slice::from_ref(&turn), &TimeZone::UTC).remove(0);
    let slot = draft.slot.unwrap();
    assert_eq!((slot.subject.as_str(), slot.attribute), ("user", Attribute::Home));
    assert_eq!((slot.value.as_str(), draft.replaces.as_deref()), ("Denver", Some("Boston")));
    assert_eq!((draft.evidence, draft.trust), (vec![turn.id], Trust::Said));
    assert!(drafts("I don't like coffee anymore.")[0].slot.as_ref().unwrap().ended);
    assert!(drafts("我不再喜欢喝咖啡了。")[0].slot.as_ref().unwrap().ended);
}

#[test]
fn what_the_assistant_says_counts_only_when_the_user_confirms_it() {
    let question = turn_text(Role::Assistant, "So you live in Ghent, right?");
    let drafts_after = |answer: &str| {
        extract_by_rules(&[question.clone(), turn_text(Role::User, answer)], &TimeZone::UTC)
    };
    let confirmed = drafts_after("Yes, exactly.");
    assert_eq!(confirmed[0].content, "The user lives in Ghent.");
    assert_eq!(confirmed[0].evidence[0], question.id);
    assert!(
        drafts_after("No.").is_empty() && drafts_after("Yes, but what is it to you?").is_empty()
    );
    assert!(
        extract_by_rules(&[turn_text(Role::Tool, "I live in Rome.")], &TimeZone::UTC).is_empty()
    );
}

#[test]
fn the_same_statement_is_proposed_once() {
    let turns =
        [turn_text(Role::User, "I live in Lisbon."), turn_text(Role::User, "i live in Lisbon!")];
    assert_eq!(extract_by_rules(&turns, &TimeZone::UTC).len(), 1);
}

#[test]
fn other_languages_and_hostile_text_yield_nothing_and_take_no_time() {
    assert!(drafts("Я живу в Москве").is_empty() && drafts("").is_empty());
    let long = "I live in ".repeat(20_000);
    assert!(drafts(&long).is_empty());
    let marks = "，。？".repeat(20_000);
    assert!(drafts(&format!("我{marks}")).is_empty());
}
