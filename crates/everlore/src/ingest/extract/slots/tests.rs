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
        ("我还一直住在广州呢。", "user", Attribute::Home, "广州"),
        ("Miguel has a gluten intolerance.", "Miguel", Attribute::Health, "a gluten intolerance"),
        ("Colin is allergic to cats.", "Colin", Attribute::Health, "allergic to cats"),
        ("I actually have asthma.", "user", Attribute::Health, "asthma"),
        ("I'm scared of flying; I take the train.", "user", Attribute::Dislikes, "flying"),
        ("no wait, I'm 35 already", "user", Attribute::Age, "35"),
        ("我35了。", "user", Attribute::Age, "35"),
        (
            "Please show times in 24 hour format.",
            "user",
            Attribute::Rule,
            "show times in 24 hour format",
        ),
        ("你回答字数少一点，分条写。", "user", Attribute::Rule, "回答字数少一点，分条写"),
    ] {
        let found = find(sentence);
        assert_eq!(found.len(), 1, "{sentence}: {found:?}");
        let slot = &found[0].slot;
        assert_eq!((&*slot.subject, slot.attribute, &*slot.value), (subject, attribute, value));
    }
}

#[test]
fn a_clause_without_a_subject_is_about_whom_the_clause_before_it_names() {
    let health = |sentence: &str| -> Vec<String> {
        let slots = find(sentence).into_iter().map(|found| found.slot);
        let health = slots.filter(|slot| slot.attribute == Attribute::Health);
        health.map(|slot| slot.subject).collect()
    };
    assert_eq!(health("我养了一只英短叫团子，对鸡肉过敏。"), Vec::<String>::new());
    assert_eq!(health("我女儿今年五岁，对花生过敏。"), ["user's 女儿"]);
    assert_eq!(health("我住在苏州，对花生过敏。"), ["user"]);
    assert_eq!(health("Everyone is allergic to taxes."), Vec::<String>::new());
}

#[test]
fn what_ended_and_what_is_replaced_is_told() {
    assert!(find("I don't like coffee anymore.")[0].slot.ended);
    assert!(find("我不再喜欢喝咖啡了。")[0].slot.ended);
    assert!(find("Our dog Biscuit died last week.")[0].slot.ended);
    assert!(find("我家猫咪团子上周去世了。")[0].slot.ended);
    assert_eq!(find("I moved from Boston to Denver.")[0].replaces.as_deref(), Some("Boston"));
    assert_eq!(find("我从上海搬到了深圳。")[0].replaces.as_deref(), Some("上海"));
}

#[test]
fn an_employer_ends_where_the_sentence_goes_on_and_programs_are_no_home() {
    let slots = |text: &str| -> Vec<(Attribute, String, bool)> {
        find(text).into_iter().map(|it| (it.slot.attribute, it.slot.value, it.slot.ended)).collect()
    };
    for (text, value, ended) in [
        ("I left Contoso and now work at Northwind", "Contoso", true),
        ("I work for Acme and love it", "Acme", false),
        ("I work at Contoso as a data engineer", "Contoso", false),
        ("I work for Marks and Spencer", "Marks and Spencer", false),
        ("I work at a small bakery and coffee shop", "a small bakery and coffee shop", false),
        ("我在腾讯工作", "腾讯", false),
    ] {
        assert_eq!(slots(text), [(Attribute::Employer, value.to_owned(), ended)], "{text}");
    }
    for text in
        ["I work with doctors all day", "我在夜里工作", "我在保险行业工作", "I work at night"]
    {
        assert!(slots(text).iter().all(|slot| slot.0 != Attribute::Employer), "{text}");
    }
    let moved = find("We moved from Jira to Linear.");
    assert_eq!((moved[0].slot.attribute, &*moved[0].slot.value), (Attribute::Uses, "Linear"));
    assert_eq!(moved[0].replaces.as_deref(), Some("Jira"));
    assert_eq!(slots("We moved to Linear")[0].0, Attribute::Uses);
    assert_eq!(slots("We moved to Lincoln")[0].0, Attribute::Home);
}

#[test]
fn questions_wishes_and_other_languages_have_no_slot() {
    for sentence in
        ["Do I live in Rome?", "I wish I lived in Rome", "Я живу в Москве", "我要是住在罗马就好了"]
    {
        assert!(find(sentence).is_empty(), "{sentence}");
    }
}
