//! Tests of extraction, message by message: with patterns alone, and with a judge of fixed scores.

use jiff::tz::TimeZone;

use super::*;
use crate::{
    llm::{SentenceInput, SentenceKind, SentenceMode, SentenceScores},
    types::{Attribute, EmbeddingModelId, Kind, MemoryId, Trust},
};

/// Judge that keeps the sentences with a word, and gives others the mode that another word calls for.
struct WordJudge;

impl SentenceJudge for WordJudge {
    fn judge_sentence(&self, input: &SentenceInput<'_>) -> Result<SentenceScores> {
        let has = |word: &str| input.text.contains(word);
        let mode = match () {
            () if has("actually") || has("改到") => SentenceMode::Correction,
            () if has("dragon") => SentenceMode::Acted,
            () if has("lol") => SentenceMode::Joke,
            () => SentenceMode::Asserted,
        };
        let mut mode_scores = [0.0; SentenceMode::ALL.len()];
        mode_scores[mode as usize] = 8.0;
        let is_kept = ["sister", "is", "demo", "size", "43", "我", "演示", "交稿"];
        let keep = if is_kept.iter().any(|word| has(word)) { 4.0 } else { -4.0 };
        let mut kind_scores = [0.0; SentenceKind::ALL.len()];
        kind_scores[SentenceKind::Family as usize] = 8.0;
        Ok(SentenceScores { keep, kind: SentenceKind::Family, kind_scores, mode, mode_scores })
    }

    fn text_vector(&self, _: &str) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }

    fn quick_vector(&self, _: &str) -> Vec<f32> {
        Vec::new()
    }

    fn quick_model(&self) -> EmbeddingModelId {
        EmbeddingModelId { name: "words".to_owned(), dimensions: 1 }
    }

    fn replaces_log_odds(&self, _: &str, _: &str) -> Result<f32> {
        Ok(-8.0)
    }
}

/// Judge that is sure of what it reads alone, except for words that tell that something is a correction, and keeps
/// nothing that stands behind other sentences.
struct LoneJudge;

impl SentenceJudge for LoneJudge {
    fn judge_sentence(&self, input: &SentenceInput<'_>) -> Result<SentenceScores> {
        let cues =
            ["Correction", "Just", "Wait", "no wait", "Oops", "Sorry", "Forget", "说", "不", "哎"];
        let is_sure = input.before.is_empty() && !cues.iter().any(|it| input.text.starts_with(it));
        let mut mode_scores = [0.0; SentenceMode::ALL.len()];
        mode_scores[SentenceMode::Asserted as usize] = 8.0;
        Ok(SentenceScores {
            keep: if is_sure { 8.0 } else { -3.0 },
            kind: SentenceKind::Family,
            kind_scores: [0.0; SentenceKind::ALL.len()],
            mode: SentenceMode::Asserted,
            mode_scores,
        })
    }

    fn text_vector(&self, _: &str) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }

    fn quick_vector(&self, _: &str) -> Vec<f32> {
        Vec::new()
    }

    fn quick_model(&self) -> EmbeddingModelId {
        EmbeddingModelId { name: "alone".to_owned(), dimensions: 1 }
    }

    fn replaces_log_odds(&self, _: &str, _: &str) -> Result<f32> {
        Ok(-8.0)
    }
}

fn turn_text(role: Role, text: &str) -> TurnText {
    let at = "2026-03-02T10:00:00Z".parse().unwrap();
    TurnText { id: MemoryId::new(at), role, speaker: None, text: text.to_owned(), at }
}

fn conversation(texts: &[&str]) -> Vec<TurnText> {
    let turn = |text: &&str| match text.strip_prefix("assistant: ") {
        Some(reply) => turn_text(Role::Assistant, reply),
        None => turn_text(Role::User, text),
    };
    texts.iter().map(turn).collect()
}

fn drafts(texts: &[&str], judge: Option<&dyn SentenceJudge>) -> Vec<Draft> {
    let turns = conversation(texts);
    let session = SessionTurns { context: &[], turns: &turns };
    extract_statements(session, &TimeZone::UTC, judge).unwrap()
}

fn by_patterns(text: &str) -> Vec<Draft> {
    drafts(&[text], None)
}

fn contents(drafts: Vec<Draft>) -> Vec<String> {
    let kept = drafts.into_iter().filter(|draft| !draft.is_withdrawal());
    kept.map(|draft| draft.content).collect()
}

fn judged(texts: &[&str]) -> Vec<String> {
    contents(drafts(texts, Some(&WordJudge)))
}

#[test]
fn statements_are_kept_word_for_word() {
    for (text, content) in [
        ("I live in Lisbon", "I live in Lisbon"),
        ("btw, my sister lives in Rome.", "my sister lives in Rome."),
        ("I always take the train to work.", "I always take the train to work."),
        ("We moved to Utrecht last month.", "We moved to Utrecht last month (February 2026)."),
        ("The release is due next Friday.", "The release is due next Friday (6 March 2026)."),
        ("我住在里斯本", "我住在里斯本"),
        ("对了，我姐姐住在罗马。", "我姐姐住在罗马。"),
        ("论文下周五之前要交。", "论文下周五之前(2026年3月13日之前)要交。"),
    ] {
        assert_eq!(contents(by_patterns(text)), [content], "{text}");
    }
}

#[test]
fn what_a_person_asks_to_remember_is_kept_whatever_the_classifier_says() {
    for text in [
        "Remember that Anna's birthday is on May 3.",
        "Don't forget Bob hates olives",
        "Keep in mind Sarah will be late",
        "Please remember: no meetings on Fridays",
        "记住，车停在七号位。",
        "别忘了鲍勃讨厌橄榄",
        "帮我记一下：周五不开会",
        "备忘：安娜的生日快到了",
    ] {
        assert_eq!(contents(by_patterns(text)), [text]);
        assert_eq!(judged(&[text]), [text]);
    }
    assert!(judged(&["Remember that the dragon sleeps at noon"]).is_empty(), "but not if acted");
    let kept = by_patterns("Remember that I park my car in row 7.").remove(0);
    assert_eq!(kept.slot.unwrap().attribute, Attribute::Note);
}

#[test]
fn clauses_with_a_slot_each_become_drafts_of_their_own() {
    let text = "Hi! My name is Sam and I live in Boston.";
    assert_eq!(contents(by_patterns(text)), ["My name is Sam", "I live in Boston."]);
    assert_eq!(contents(by_patterns("我叫张伟，我住在上海。")), ["我叫张伟", "我住在上海。"]);
    let one = "I live in Boston, near the sea.";
    assert_eq!(contents(by_patterns(one)), [one]);
}

#[test]
fn a_sentence_that_refers_to_the_one_before_takes_it_along() {
    assert_eq!(
        judged(&["My sister came over. She is a nurse."]),
        ["My sister came over. She is a nurse."]
    );
    assert_eq!(judged(&["Ana came over. She is a nurse."]), ["Ana came over. She is a nurse."]);
    assert_eq!(judged(&["Ana fell lol. She is a nurse."]), ["She is a nurse."]);
    assert_eq!(judged(&["assistant: Sure. Which size?", "43"]), ["Which size? — 43"]);
}

#[test]
fn what_the_assistant_says_counts_only_when_the_user_confirms_it() {
    let after = |answer| drafts(&["assistant: So you live in Ghent, right?", answer], None);
    let confirmed = after("Yes, exactly.");
    assert_eq!(confirmed[0].content, "So you live in Ghent, right? — Yes, exactly.");
    assert_eq!(confirmed[0].slot.as_ref().unwrap().value, "Ghent");
    assert_eq!(confirmed[0].evidence.len(), 2);
    assert!(after("No.").is_empty() && after("Yes, but what is it to you?").is_empty());
    let chinese = drafts(&["assistant: 你住在根特，对吗？", "对的"], None);
    assert_eq!(contents(chinese), ["你住在根特，对吗？ — 对的"]);
    let session = [turn_text(Role::Tool, "I live in Rome.")];
    let session = SessionTurns { context: &[], turns: &session };
    assert!(extract_statements(session, &TimeZone::UTC, None).unwrap().is_empty());
}

#[test]
fn corrections_take_back_what_they_mean() {
    let later = |texts: &[&str]| judged(texts);
    assert_eq!(
        later(&["The demo is on May 8.", "assistant: Noted.", "actually the demo is on May 12"]),
        ["actually the demo is on May 12 (12 May 2026)"]
    );
    assert!(later(&["My sister is in Oslo.", "Scratch that."]).is_empty());
    assert_eq!(
        later(&["My sister is in Oslo. Scratch that, she is in Rome."]),
        ["My sister is in Oslo. — Scratch that, she is in Rome."]
    );
    assert!(later(&["我在学西班牙语。", "assistant: 好的。", "算了别记了"]).is_empty());
    assert_eq!(
        later(&["演示是5月8号。", "说错了，演示改到5月12号了"]),
        ["说错了，演示改到5月12号(2026年5月12日)了"]
    );
    let open = drafts(&["forget what I said about Berlin"], Some(&WordJudge)).remove(0);
    assert!(open.is_withdrawal(), "what it means may be stored");
}

#[test]
fn what_is_taken_back_stays_with_the_draft_that_takes_it_back() {
    for (texts, content) in [
        (
            ["My sister is due on May 3.", "Scratch that, it's the 13th."],
            "My sister is due on May 3 (3 May 2026). — Scratch that, it's the 13th.",
        ),
        (
            ["My sister is 14 today.", "Sorry, I meant 16"],
            "My sister is 14 today (2 March 2026). — Sorry, I meant 16",
        ),
        (
            ["My sister is coeliac.", "Forget that I said that, it was my brother"],
            "My sister is coeliac. — Forget that I said that, it was my brother",
        ),
        (["我儿子上三年级。", "不对，是四年级"], "我儿子上三年级。 — 不对，是四年级"),
        (["我住海淀区。", "不对，现在住朝阳区了"], "我住海淀区。 — 不对，现在住朝阳区了"),
    ] {
        let made = drafts(&texts, Some(&WordJudge));
        let [draft] = &made[..] else { panic!("{made:?}") };
        assert_eq!(draft.content, content);
        assert_eq!((draft.earlier.len(), draft.evidence.len()), (1, 2), "{content}");
        assert!(draft.content.starts_with(&draft.earlier[0].content));
    }
    let texts = ["My sister is 14.", "Scratch that, it's 15.", "no wait, 16"];
    let made = drafts(&texts, Some(&WordJudge)).remove(0);
    assert_eq!(made.content, "My sister is 14. — Scratch that, it's 15. — no wait, 16");
    assert_eq!(made.earlier.len(), 2);
    let own_subject =
        drafts(&["My sister is in Oslo.", "Scratch that, my sister is in Rome."], Some(&WordJudge));
    assert_eq!(own_subject[0].content, "Scratch that, my sister is in Rome.");
    assert_eq!(own_subject[0].earlier[0].content, "My sister is in Oslo.");
    let withdrawn = drafts(&["My sister is in Oslo.", "Scratch that."], Some(&WordJudge));
    assert!(withdrawn[0].is_withdrawal() && withdrawn[0].earlier.len() == 1);
    let question = judged(&["My sister is in Oslo.", "no wait, what time do they eat?"]);
    assert_eq!(question, ["My sister is in Oslo."]);
}

#[test]
fn an_open_correction_is_kept_whatever_stands_between() {
    for (old, reply, new) in [
        ("My mum is a vet.", "ok", "Correction: my mum is a dentist."),
        ("My mum is a vet.", "Noted, a vet.", "Correction: my mum is a dentist."),
        ("I have three kids.", "Noted.", "Wait, I misspoke, I have four kids."),
        ("I'm 34 years old.", "ok", "no wait, I'm 35 already"),
        ("I'm vegetarian.", "ok", "Just kidding, I eat meat."),
        (
            "The dog is Bobo and the cat is Momo.",
            "ok",
            "Sorry, other way round: the dog is Momo and the cat is Bobo.",
        ),
        ("我妈是兽医。", "知道了，已记下。", "说错了，我妈是牙医。"),
        ("我今年34岁。", "好的。", "哎不对，我35了。"),
        ("猫叫毛毛，狗叫豆豆。", "好的。", "说反了，狗叫毛毛，猫叫豆豆。"),
    ] {
        let made = drafts(&[old, &format!("assistant: {reply}"), new], Some(&LoneJudge));
        let [draft] = &made[..] else { panic!("{new}: {made:?}") };
        assert_eq!((&*draft.content, draft.earlier.len()), (new, 1), "{new}");
    }
    let other =
        drafts(&["My dad is a nurse.", "Correction: my mum is a dentist."], Some(&LoneJudge));
    assert_eq!(other.len(), 2, "another person's is not taken back");
}

#[test]
fn a_value_put_in_the_place_of_another_stays_behind_it() {
    for (old, new) in [
        ("I play the violin.", "Sorry, not the violin, the viola."),
        ("I was born in 1990.", "I mean 1991."),
        ("My mum is a vet.", "Oops, wrong: she's a dentist."),
        ("我对核桃过敏。", "不好意思，是腰果，不是核桃。"),
        ("我拉小提琴。", "不是小提琴，是中提琴。"),
        ("我老板叫王琳。", "打错字了，是王林。"),
    ] {
        let made = drafts(&[old, "assistant: ok", new], Some(&LoneJudge));
        let [draft] = &made[..] else { panic!("{new}: {made:?}") };
        assert_eq!((draft.content.clone(), draft.earlier.len()), (format!("{old} — {new}"), 1));
    }
    let unrelated = drafts(&["I play the violin.", "不是我懒，是真的累。"], Some(&LoneJudge));
    assert_eq!(unrelated[0].content, "I play the violin.");
}

#[test]
fn a_clause_that_asks_to_forget_is_cut_from_the_statement_beside_it() {
    let made = drafts(
        &[
            "I go to the gym every Tuesday.",
            "Never mind what I said about the gym, I sold my membership card.",
        ],
        Some(&LoneJudge),
    );
    assert!(made.len() == 1 && made[0].is_withdrawal() && made[0].earlier.len() == 1, "{made:?}");
    for (old, new) in [
        ("I hate cilantro.", "Forget that I hate cilantro, that was my roommate typing."),
        ("我讨厌香菜。", "忘掉我讨厌香菜这件事吧，刚才是我室友在打字。"),
    ] {
        let made = drafts(&[old, new], Some(&LoneJudge));
        assert!(made.len() == 1 && made[0].is_withdrawal(), "{made:?}");
    }
    assert_eq!(
        judged(&["Forget what I said about Bonn, my sister is in Rome."]),
        ["my sister is in Rome."]
    );
}

#[test]
fn what_a_speaker_leaves_out_does_not_lose_the_sentence() {
    let lone = |texts: &[&str]| contents(drafts(texts, Some(&LoneJudge)));
    assert_eq!(lone(&["assistant: 好的。", "戒烟三年了。"]), ["戒烟三年了。"]);
    assert_eq!(
        lone(&["assistant: 你吃辣吗？", "不吃，一点都不行。"]),
        ["你吃辣吗？ — 不吃，一点都不行。"]
    );
    assert_eq!(
        lone(&["assistant: Do you eat spicy food?", "No, not at all."]),
        ["Do you eat spicy food? — No, not at all."]
    );
    assert_eq!(lone(&["assistant: ok", "公司打算裁员。"]), Vec::<String>::new());
}

#[test]
fn a_request_to_forget_is_never_kept_as_a_statement() {
    for text in [
        "Forget what I said about my sister.",
        "please forget that my sister is a nurse",
        "之前说的我不吃辣别记了",
    ] {
        let made = drafts(&[text], Some(&WordJudge));
        assert!(made.len() == 1 && made[0].is_withdrawal(), "{text}: {made:?}");
    }
    for text in [
        "Don't forget that my sister is a nurse",
        "别忘了我妹妹是护士",
        "I always forget that my sister is a nurse",
        "我忘了我妹妹是护士",
    ] {
        let made = drafts(&[text], Some(&WordJudge));
        assert!(made.len() == 1 && !made[0].is_withdrawal(), "{text}: {made:?}");
    }
}

#[test]
fn role_play_and_jokes_yield_nothing() {
    assert!(
        judged(&["Let's role-play, you are the innkeeper.", "My sister is a witch."]).is_empty()
    );
    assert_eq!(
        judged(&["Let's role-play.", "ok, out of character now", "My sister is a nurse."]),
        ["My sister is a nurse."]
    );
    let play = "Let's play: I am Captain Redbeard and you are my cook.";
    assert!(judged(&[play, "My sister is a witch."]).is_empty());
    assert_eq!(
        judged(&[play, "Okay, end of the game.", "My sister is a nurse."]),
        ["My sister is a nurse."]
    );
    let stop = "ok stop the game. My sister is a nurse.";
    assert_eq!(judged(&[play, "I am a dragon. Big dragon!", stop]), ["My sister is a nurse."]);
    assert_eq!(judged(&["咱们演一段，你当掌柜", "不玩了。我姐是护士"]), ["我姐是护士"]);
    let end = "OK, end of role-play. Back to real life: my sister is a nurse.";
    assert_eq!(judged(&[play, end]), ["Back to real life: my sister is a nurse."]);
    let again = "Enough of this, let's role-play something else.";
    assert!(judged(&[play, again, "My sister is a witch."]).is_empty());
    assert!(judged(&["My sister is a nurse lol"]).is_empty());
    let quoted = "> I live in Rome\n```\nMy name is Rex\n```\n\"I am a pilot.\"";
    assert!(by_patterns(quoted).is_empty() && judged(&[quoted]).is_empty());
}

#[test]
fn kind_category_and_source_of_a_draft_are_told() {
    let draft = drafts(&["My sister sings a lot."], Some(&WordJudge)).remove(0);
    assert_eq!((draft.kind, draft.category), (Kind::User, Some("family")));
    assert_eq!((&*draft.description, draft.trust), ("family", Trust::Said));
    let order = by_patterns("Always answer in English.").remove(0);
    assert_eq!((order.kind, order.category), (Kind::Feedback, Some("feedback")));
    let link = by_patterns("The wiki is at https://wiki.example.com/start").remove(0);
    assert_eq!(link.kind, Kind::Reference);
}

#[test]
fn the_same_statement_is_proposed_once() {
    assert_eq!(drafts(&["I live in Lisbon.", "i live in Lisbon!"], None).len(), 1);
}

#[test]
fn other_languages_and_hostile_text_yield_nothing_and_take_no_time() {
    assert!(by_patterns("Я живу в Москве").is_empty() && by_patterns("").is_empty());
    assert!(by_patterns(&"I live in ".repeat(20_000)).is_empty());
    assert!(by_patterns(&format!("我{}", "，。？".repeat(20_000))).is_empty());
    assert!(by_patterns(&"\"I live. ".repeat(20_000)).len() <= 40);
}
