//! Tests of slots, sentence by sentence.

use jiff::{Timestamp, tz::TimeZone};

use super::*;

fn find(sentence: &str) -> Vec<FoundSlot> {
    let now = "2026-03-02T10:00:00Z".parse::<Timestamp>().unwrap().to_zoned(TimeZone::UTC);
    SlotPatterns::for_text(sentence).map_or(Vec::new(), |patterns| patterns.find(sentence, &now))
}

#[test]
fn a_sentence_gives_a_value_to_an_attribute_of_a_subject() {
    for (sentence, subject, attribute, value) in [
        ("I live in Lisbon", "user", Attribute::Home, "Lisbon"),
        ("We moved to Utrecht last month.", "user", Attribute::Home, "Utrecht"),
        ("My sister lives in Rome.", "user's sister", Attribute::Home, "Rome"),
        ("The release is due next Friday.", "release", Attribute::Deadline, "next Friday"),
        ("btw I'm vegetarian", "user", Attribute::Diet, "vegetarian"),
        ("我住在里斯本", "user", Attribute::Home, "里斯本"),
        ("我姐姐住在罗马。", "user's 姐姐", Attribute::Home, "罗马"),
        ("我们上个月搬到苏州了。", "user", Attribute::Home, "苏州"),
    ] {
        let found = find(sentence);
        assert_eq!(found.len(), 1, "{sentence}: {found:?}");
        let slot = &found[0].slot;
        assert_eq!((&*slot.subject, slot.attribute, &*slot.value), (subject, attribute, value));
    }
}

#[test]
fn what_ended_and_what_is_replaced_is_told() {
    assert!(find("I don't like coffee anymore.")[0].slot.ended);
    assert!(find("我不再喜欢喝咖啡了。")[0].slot.ended);
    assert_eq!(find("I moved from Boston to Denver.")[0].replaces.as_deref(), Some("Boston"));
    assert_eq!(find("我从上海搬到了深圳。")[0].replaces.as_deref(), Some("上海"));
}

#[test]
fn questions_wishes_and_other_languages_have_no_slot() {
    for sentence in
        ["Do I live in Rome?", "I wish I lived in Rome", "Я живу в Москве", "我要是住在罗马就好了"]
    {
        assert!(find(sentence).is_empty(), "{sentence}");
    }
}
