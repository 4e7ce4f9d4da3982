//! A small persona for demonstrations, in English and Chinese: it repeats what it was given as memory, so that a person
//! sees what a model would know.

use serde_json::json;

use super::{Asked, Said};

/// The most lines of memory that it repeats.
const MAX_LINES: usize = 5;

/// The tool by which something is kept.
const SAVE: &str = "memory_save";

/// Answers a request as the persona does.
pub fn persona(asked: &Asked) -> Said {
    if asked.json {
        return Said::text("{}");
    }
    if let Some(result) = asked.result() {
        let chinese =
            is_chinese(&asked.messages.first().map_or(String::new(), |(_, text)| text.clone()));
        let failed = result.contains("\"error\"");
        return Said::text(match (chinese, failed) {
            (true, false) => "好的,我记下了。",
            (true, true) => "抱歉,没有记下来。",
            (false, false) => "Noted, I will remember that.",
            (false, true) => "Sorry, I could not keep that.",
        });
    }
    let question = asked.question().unwrap_or_default();
    match to_keep(question) {
        Some(text) if asked.tools.iter().any(|tool| tool == SAVE) => {
            Said::call(SAVE, json!({ "action": "create", "content": text }))
        }
        _ => Said::text(&recollection(question, &asked.system)),
    }
}

/// What the user wants to be kept.
fn to_keep(question: &str) -> Option<&str> {
    let lower = question.to_lowercase();
    let english = lower.strip_prefix("remember ").map(|rest| rest.len());
    let english = english.and_then(|length| question.get(question.len() - length..));
    let chinese = ["请记住", "记住"].iter().find_map(|start| question.strip_prefix(start));
    let text = english.or(chinese)?.trim_start_matches([':', ':', ',', ',', ' ']);
    let text = text.strip_prefix("that ").unwrap_or(text).trim();
    (!text.is_empty()).then_some(text)
}

fn recollection(question: &str, system: &str) -> String {
    let lines = memory_lines(system);
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

/// The lines of the block of memories, without their marks.
fn memory_lines(system: &str) -> Vec<&str> {
    let Some((_, block)) = system.rsplit_once("<memory-context") else { return Vec::new() };
    let block = block.split("</memory-context").next().unwrap_or_default();
    // The tag and what the block says of itself come first.
    let lines = block.lines().skip(2).map(|line| line.trim().trim_start_matches(['-', '*', ' ']));
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with(['<', '#']));
    said.take(MAX_LINES).collect()
}

fn is_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::{super::asked::Role, *};

    fn asked(question: &str, system: &str) -> Asked {
        Asked {
            system: system.to_owned(),
            messages: vec![(Role::User, question.to_owned())],
            tools: vec![SAVE.to_owned()],
            json: false,
        }
    }

    fn answer(question: &str, system: &str) -> String {
        format!("{:?}", persona(&asked(question, system)))
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
    }

    #[test]
    fn it_keeps_what_it_is_told_to() {
        assert!(answer("Remember that I live in Lisbon", "").contains("I live in Lisbon"));
        assert!(answer("记住:我住在里斯本", "").contains(r#"String("我住在里斯本")"#));
        assert_eq!(to_keep("remember"), None);
    }
}
