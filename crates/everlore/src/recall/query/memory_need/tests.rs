//! Messages that need no memory, general questions, and messages that only look like them.

use super::*;

#[track_caller]
fn check(expected: MemoryNeed, messages: &[&str]) {
    let wrong: Vec<_> = messages
        .iter()
        .map(|message| (classify_need(message), message))
        .filter(|(need, _)| *need != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn tasks_that_bring_their_material_need_nothing() {
    check(
        MemoryNeed::Nothing,
        &[
            "Translate this into Spanish: my dog is ill",
            "please proofread: I has a cat",
            "what does \"ephemeral\" mean?",
            "explain this code: let x = 1;",
            "翻译成英文：我家的狗病了",
            "帮我改一下病句：他的水平提高很快速",
        ],
    );
}

#[test]
fn something_new_that_names_nobody_needs_nothing() {
    check(
        MemoryNeed::Nothing,
        &[
            "write a sonnet about rain",
            "can you give me three baby names?",
            "写一首关于雨的诗",
            "讲个冷笑话",
        ],
    );
}

#[test]
fn words_about_the_conversation_or_to_the_assistant_need_nothing() {
    check(
        MemoryNeed::Nothing,
        &[
            "make it shorter",
            "that's wrong, try again",
            "who made you?",
            "换一种说法",
            "不对，再检查一下",
            "你是谁",
        ],
    );
}

#[test]
fn questions_about_the_world_are_general() {
    check(
        MemoryNeed::General,
        &[
            "how do I boil an egg?",
            "what is inflation?",
            "why is the sky blue?",
            "can cats eat cheese?",
            "什么是通货膨胀？",
            "苹果和梨有什么区别？",
            "番茄炒蛋怎么做？",
        ],
    );
}

#[test]
fn what_is_said_of_oneself_or_of_something_particular_is_open() {
    check(
        MemoryNeed::Open,
        &[
            "write an email to my landlord",
            "draft a birthday card for my sister",
            "translate my last letter",
            "how do we boil the eggs?",
            "how long do I have to keep the receipt?",
            "what is our deploy process?",
            "who rotates the credentials?",
            "what instrument does Tom play?",
            "what does parse_frame return?",
            "where did she go?",
            "what do we have tomorrow?",
            "who am I to call about the roof?",
            "do you remember the name of the vet?",
            "green tea",
            "Question: where is my passport?",
            "Thanks!\nWhere did the plumber put the valve?",
            "Quick check: when is the rent due?",
            "why does `main.rs` not compile?",
            "fix the \"login\" bug",
            "谢谢！\n网关的端口是多少？",
            "请问：钥匙在谁家？",
            "给我妈妈写一封信",
            "我们的红烧肉怎么做？",
            "上次是怎么解决的？",
            "网关的端口是多少？",
            "她去了哪里",
        ],
    );
}

#[test]
fn a_task_says_what_it_takes_from_memory() {
    assert_eq!(task_possessions("Write an email to my landlord about rent"), ["landlord about"]);
    assert_eq!(task_possessions("写一条 SQL，查我们员工的工资"), ["员工的工"]);
    assert!(task_possessions("what is my landlord called?").is_empty());
}

#[test]
fn names_begin_with_a_capital_inside_a_sentence() {
    let found = |text: &'static str| capitalized_names(text).collect::<Vec<_>>();
    assert_eq!(found("Where did Anna meet Mr. Smith?"), ["Anna", "Mr"]);
    assert_eq!(found("Where is it? There. I said TCP"), [""; 0]);
}

#[test]
fn a_pasted_document_costs_little() {
    let paste = "say \"x\" ".repeat(1_000_000);
    assert_eq!(classify_need(&paste), MemoryNeed::Open);
}

proptest::proptest! {
    #[test]
    fn any_message_is_judged(message in "\\PC*") {
        classify_need(&message);
        task_possessions(&message);
    }
}

#[test]
fn thanks_ask_nothing_unless_they_go_on() {
    check(
        MemoryNeed::Nothing,
        &[
            "thanks for the tea!",
            "Thank you for reminding me of the dentist",
            "谢谢你的茶！",
            "感谢提醒",
        ],
    );
    check(
        MemoryNeed::Open,
        &[
            "thanks for the tea, which one do I like best?",
            "Thanks for the tea! Plan my dinner",
            "谢谢你的茶，我喜欢哪一种？",
        ],
    );
}
