//! Persona for demonstrations, in English and Chinese: it repeats the memories of its prompt, so that a person sees
//! what a model would know.

use serde_json::{Value, json};

use super::{ModelRequest, ModelResponse};

/// Most lines of memory that it repeats.
const MAX_LINES: usize = 8;

/// Tool that stores a memory.
const SAVE: &str = "memory_save";

/// Answers a request as the persona.
pub fn persona(request: &ModelRequest) -> ModelResponse {
    if request.json {
        return ModelResponse::text(
            &json_answer(request.last_user_message().unwrap_or_default()).to_string(),
        );
    }
    if let Some(result) = request.last_tool_result() {
        let chinese =
            is_chinese(&request.messages.first().map_or(String::new(), |(_, text)| text.clone()));
        let failed = result.contains("\"error\"");
        return ModelResponse::text(match (chinese, failed) {
            (true, false) => "好的,我记下了。",
            (true, true) => "抱歉,没有记下来。",
            (false, false) => "Noted, I will remember that.",
            (false, true) => "Sorry, I could not keep that.",
        });
    }
    let message = request.last_user_message().unwrap_or_default();
    let question = without_context(message);
    match fact_to_save(question) {
        Some(text) if request.tools.iter().any(|tool| tool == SAVE) => {
            ModelResponse::call(SAVE, json!({ "action": "create", "content": text }))
        }
        _ => {
            ModelResponse::text(&recall_answer(question, &format!("{}\n{message}", request.system)))
        }
    }
}

/// Answers an extraction or a reconciliation request; both come as lines of JSON.
fn json_answer(data: &str) -> Value {
    let lines: Vec<Value> =
        data.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    match lines.iter().find_map(|line| line["new"].as_str()) {
        Some(new) => reconcile_answer(new, &lines),
        None => extraction_answer(&lines),
    }
}

/// Extracts the last message of the user as one memory, unless it is a question or already known.
fn extraction_answer(lines: &[Value]) -> Value {
    let is_news = |line: &&Value| line["role"] == "user" && line.get("context").is_none();
    let memory = lines.iter().rev().find(is_news).and_then(|line| {
        let text = line["text"].as_str()?.trim();
        let statement = if is_chinese(text) {
            format!("用户说：“{text}”")
        } else {
            format!("The user: \"{text}\"")
        };
        let is_known = lines.iter().any(|line| line["known"] == statement);
        let is_question = text.ends_with(['?', '？']);
        (!is_known && !is_question && !text.is_empty()).then(|| {
            json!({ "statement": statement, "kind": "user", "confidence": 0.9, "turns": [line["turn"]] })
        })
    });
    json!({ "memories": Vec::from_iter(memory), "experiences": [], "profile": [] })
}

/// Skips a statement that is known word for word and adds any other.
fn reconcile_answer(new: &str, lines: &[Value]) -> Value {
    let known = lines.iter().find(|line| line["text"] == new);
    match known.map(|line| &line["known"]) {
        Some(number) => json!({ "action": "skip", "known": number }),
        None => json!({ "action": "add" }),
    }
}

/// Returns the fact that the user asks to remember.
fn fact_to_save(question: &str) -> Option<&str> {
    let lower = question.to_lowercase();
    let english = lower.strip_prefix("remember ").map(|rest| rest.len());
    let english = english.and_then(|length| question.get(question.len() - length..));
    let chinese = ["请记住", "记住"].iter().find_map(|start| question.strip_prefix(start));
    let text = english.or(chinese)?.trim_start_matches([':', ':', ',', ',', ' ']);
    let text = text.strip_prefix("that ").unwrap_or(text).trim();
    (!text.is_empty()).then_some(text)
}

/// Returns the user's own words, without what was recalled for them.
fn without_context(message: &str) -> &str {
    let start = ["\n\n<conversation-so-far>", "\n\n<memory-context>"].map(|tag| message.find(tag));
    &message[..start.into_iter().flatten().min().unwrap_or(message.len())]
}

fn recall_answer(question: &str, prompt: &str) -> String {
    let lines = memory_lines(prompt);
    let chinese = is_chinese(question);
    if lines.is_empty() {
        return if chinese {
            format!("关于“{question}”,我的记忆里还没有什么。")
        } else {
            format!("I have nothing in memory about \"{question}\" yet.")
        };
    }
    let head = if chinese { "我记得:" } else { "This is what I remember:" };
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
    format!("{head}\n{}", lines.join("\n"))
}

/// Returns the lines of the memory block, without their list markers.
fn memory_lines(prompt: &str) -> Vec<&str> {
    let Some((_, block)) = prompt.rsplit_once("<memory-context") else { return Vec::new() };
    let block = block.split("</memory-context").next().unwrap_or_default();
    // The tag and the block's introduction come first.
    let lines = block.lines().skip(2).map(|line| line.trim().trim_start_matches(['-', '*', ' ']));
    // The head of a turn adds nothing to its text.
    let is_text = |line: &&str| !line.is_empty() && !line.starts_with(['<', '#']);
    let texts = lines.filter(|line| is_text(line) && !line.starts_with("[turn]"));
    texts.take(MAX_LINES).collect()
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::{super::model_request::MessageRole, *};

    fn request(question: &str, system: &str) -> ModelRequest {
        ModelRequest {
            system: system.to_owned(),
            messages: vec![(MessageRole::User, question.to_owned())],
            tools: vec![SAVE.to_owned()],
            json: false,
        }
    }

    fn answer(question: &str, system: &str) -> String {
        format!("{:?}", persona(&request(question, system)))
    }

    #[test]
    fn it_repeats_its_memory_in_the_language_of_the_question() {
        let system = "You are Ann.\n<memory-context>\nRecollections.\n- The user drinks 龙井\n</memory-context>\n";
        assert!(
            answer("what do I drink?", system)
                .contains("This is what I remember:\\n- The user drinks 龙井")
        );
        assert!(answer("我喝什么?", system).contains("我记得:\\n- The user drinks 龙井"));
        assert!(answer("我喝什么?", "").contains("我的记忆里还没有什么"));
        let recalled = "我喝什么?\n\n<memory-context>\n回忆。\n  喝龙井\n</memory-context>";
        assert!(answer(recalled, "You are Ann.").contains("我记得:\\n- 喝龙井"));
    }

    fn answer_lines(lines: &[Value]) -> Value {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        json_answer(&format!("<conversation>\n{}\n</conversation>", lines.join("\n")))
    }

    #[test]
    fn it_reads_the_last_thing_that_the_user_said() {
        let turn = |turn: usize, role: &str, text: &str| json!({ "turn": turn, "role": role, "text": text });
        let read = answer_lines(&[
            json!({ "turn": 1, "role": "user", "text": "Hello.", "context": true }),
            turn(2, "user", "I play the cello."),
            turn(3, "user", "我住在上海。"),
            turn(4, "assistant", "Noted."),
        ]);
        let memory = &read["memories"][0];
        assert_eq!(memory["statement"], "用户说：“我住在上海。”");
        assert_eq!(
            (&memory["turns"], read["memories"].as_array().unwrap().len()),
            (&json!([3]), 1)
        );
        let known = json!({ "known": "The user: \"I play the cello.\"" });
        for nothing in [
            answer_lines(&[known, turn(1, "user", "I play the cello.")]),
            answer_lines(&[turn(1, "user", "What do I play?"), turn(2, "assistant", "Cello.")]),
            answer_lines(&[turn(1, "user", "我住在哪里？")]),
        ] {
            assert_eq!(nothing["memories"], json!([]));
        }
    }

    #[test]
    fn it_leaves_out_only_what_is_known_word_for_word() {
        let known = |number: usize, text: &str| json!({ "known": number, "text": text });
        let (cello, tea) = (known(1, "The user plays the cello."), known(2, "用户喝龙井。"));
        let same = answer_lines(&[cello.clone(), tea.clone(), json!({ "new": "用户喝龙井。" })]);
        assert_eq!(same, json!({ "action": "skip", "known": 2 }));
        let other = answer_lines(&[cello, tea, json!({ "new": "The user plays the piano." })]);
        assert_eq!(other, json!({ "action": "add" }));
    }

    #[test]
    fn it_keeps_what_it_is_told_to() {
        assert!(answer("Remember that I live in Lisbon", "").contains("I live in Lisbon"));
        assert!(answer("记住:我住在里斯本", "").contains(r#"String("我住在里斯本")"#));
        assert_eq!(fact_to_save("remember"), None);
    }
}
