//! Statements that replace each other, English and Chinese side by side.

use super::*;
use crate::types::Timestamp;

fn restates(a: &str, b: &str, query: &str) -> bool {
    let query_terms: Vec<TermHash> = terms(query).iter().map(|term| TermHash::of(term)).collect();
    statement(None, a).restates(&statement(None, b), &query_terms)
}

fn statement<'a>(name: Option<&'a str>, text: &'a str) -> UpdateStatement<'a> {
    let speaker = StatementSpeaker { name, is_other: false };
    UpdateStatement {
        words: split_words(text),
        speaker,
        id: MemoryId::new(Timestamp::UNIX_EPOCH),
        source_turns: &[],
    }
}

#[test]
fn another_value_of_the_same_thing_is_an_update() {
    let cases = [
        ("The office is in Lisbon.", "The office is in Porto.", "Where is the office?"),
        ("I live in Berlin", "I live in a small village", "where do I live"),
        ("My phone number is 555-1234", "My phone number is 555-9876", "phone number"),
        ("Ann's boss is Bob Hall", "Ann's boss is Bob Dale", "Who is Ann's boss?"),
        ("I have 3 cats at home", "I have 4 cats at home", "how many cats"),
        ("The mayor of Bath is Tom Bath", "The mayor of Bath is Sue", "Who is the mayor of Bath?"),
        ("我住在北京", "我住在上海浦东", "我住在哪里"),
        ("我的电话是123456", "我的电话是987654", "我的电话"),
        ("公司的地点是北京", "公司的地点是深圳", "公司在哪里"),
        ("办公室在里斯本", "办公室在波尔图", "办公室在哪"),
        ("小明住在杭州", "小明住在苏州", "小明住哪"),
    ];
    for (a, b, query) in cases {
        assert!(restates(a, b, query) && restates(b, a, query), "{a} | {b}");
    }
}

#[test]
fn statements_of_other_things_are_none() {
    let cases = [
        ("The mayor of Bath is Tom", "The mayor of York is Sue", "Who is the mayor of Bath?"),
        ("Ann Lee is famous for tea", "Ann Lee is married to Bo", "What is Ann Lee famous for?"),
        ("Ann is in Lisbon", "Bo is in Lisbon", "who is in Lisbon"),
        ("The office is in Lisbon", "The office is in Lisbon", "office"),
        ("Ann Lee is a doctor", "Ann Lee is from York", "Ann Lee"),
        ("I am tired", "I am in Rome", "where am I"),
        ("公司的地点是北京", "公司的规模是三千人", "公司的地点"),
        ("小明的生日是五月", "小红的生日是六月", "生日"),
        ("张三是老师", "张三是北京人", "张三"),
    ];
    for (a, b, query) in cases {
        assert!(!restates(a, b, query) && !restates(b, a, query), "{a} | {b}");
    }
}

#[test]
fn what_can_be_true_more_than_once_is_no_update() {
    let cases = [
        ("I like the tea from Assam", "I like the tea from Yunnan"),
        ("We visited the museum in Rome", "We visited the museum in Paris"),
        ("One of my friends is Ann", "One of my friends is Bo"),
        ("我喜欢住在北京", "我喜欢住在上海"),
        ("我去年去了北京", "我去年去了上海"),
    ];
    for (a, b) in cases {
        assert!(!restates(a, b, ""), "{a} | {b}");
    }
}

#[test]
fn what_two_people_say_of_themselves_is_no_update() {
    let by = |speaker, text| statement(Some(speaker), text);
    let (ann, bo) = (by("Ann", "I live in Rome"), by("Bo", "I live in Oslo"));
    assert!(!ann.restates(&bo, &[]));
    assert!(ann.restates(&by("Ann", "I live in Oslo"), &[]));
    let user = statement(None, "I live in Rome");
    assert!(!user.restates(&bo, &[]) && !bo.restates(&user, &[]));
}

#[test]
fn what_an_assistant_says_of_itself_is_no_update() {
    let user = statement(None, "I live in Rome");
    let mut assistant = statement(None, "I live in the cloud");
    assistant.speaker.is_other = true;
    assert!(!user.restates(&assistant, &[]) && !assistant.restates(&user, &[]));
}

#[test]
fn a_memory_and_the_turn_it_was_drawn_from_agree() {
    let turn = statement(None, "My doctor is Dr. Meyer or Dr. Lund");
    let drawn_from = [turn.id];
    let memory =
        UpdateStatement { source_turns: &drawn_from, ..statement(None, "My doctor is Dr. Klein") };
    assert!(!memory.restates(&turn, &[]) && !turn.restates(&memory, &[]));
}

#[test]
fn a_value_ends_with_its_sentence() {
    let same = [
        ("I live in Bergen. I'm learning the cello.", "I live in Bergen."),
        ("My favourite colour is green. I paint a lot.", "My favourite colour is green"),
        ("The office is in Lisbon. We open at nine.", "The office is in Lisbon"),
        ("My doctor is Dr. Meyer. I take ibuprofen.", "My doctor is Dr. Meyer."),
        ("My favourite colour is green", "My favourite colour is green, like moss"),
        ("我住在卑尔根。我在学大提琴。", "我住在卑尔根。"),
        ("我住在卑尔根", "我住在卑尔根老城"),
    ];
    for (a, b) in same {
        assert!(!restates(a, b, "") && !restates(b, a, ""), "{a} | {b}");
    }
    let changed = [
        ("I live in Bergen. I'm learning the cello.", "I live in Oslo."),
        ("My doctor is Dr. Meyer. I take ibuprofen.", "My doctor is Dr. Klein. She is great."),
        ("我住在卑尔根。我在学大提琴。", "我住在奥斯陆。"),
    ];
    for (a, b) in changed {
        assert!(restates(a, b, "") && restates(b, a, ""), "{a} | {b}");
    }
}
