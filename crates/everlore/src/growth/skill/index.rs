//! Index of skills and workflows in a prompt: a line each, within a budget.

use super::{SkillForm, SkillHead};
use crate::text::{language::Language, sanitize::sanitize_line, tokens::estimate_tokens};

/// Most characters of a description in the index; the file has the rest.
const MAX_LINE_CHARS: usize = 200;

/// Skill or workflow in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexedSkill {
    /// Form.
    pub form: SkillForm,
    /// Name and description.
    pub head: SkillHead,
}

/// Returns the index within a budget of tokens: an introduction, the skills and workflows by name, and the number of those
/// that are left out. Empty without any, or if not even one fits.
pub(crate) fn skill_index(
    mut skills: Vec<IndexedSkill>,
    budget: usize,
    language: Language,
) -> String {
    skills.sort_by(|one, other| (one.form, &one.head.name).cmp(&(other.form, &other.head.name)));
    let is_chinese = language == Language::Chinese;
    let lines: Vec<String> = skills.iter().map(|skill| index_line(skill, is_chinese)).collect();
    let fits = |count: &usize| estimate_tokens(&assemble(&lines, *count, is_chinese)) <= budget;
    let count = (1..=lines.len()).rev().find(fits);
    count.map_or_else(String::new, |count| assemble(&lines, count, is_chinese))
}

fn assemble(lines: &[String], count: usize, is_chinese: bool) -> String {
    let intro = if is_chinese {
        "用户批准的技能和工作流。做相关的事之前，先用 skill_read 工具（或 everlore skill show 名称）读全文："
    } else {
        "Skills and workflows that the user approved. Before you do what one is for, read it with the tool skill_read (or `everlore skill show NAME`):"
    };
    let mut text = format!("{intro}\n{}", lines[..count].join("\n"));
    if let Some(more) = lines.len().checked_sub(count).filter(|more| *more > 0) {
        text += &if is_chinese {
            format!("\n（还有 {more} 个：skill_read 会列出）")
        } else {
            format!("\n({more} more: skill_read lists them)")
        };
    }
    text
}

fn index_line(skill: &IndexedSkill, is_chinese: bool) -> String {
    let form = match (skill.form, is_chinese) {
        (SkillForm::Skill, _) => "",
        (SkillForm::Workflow, false) => " (workflow)",
        (SkillForm::Workflow, true) => "（工作流）",
    };
    let description = sanitize_line(&skill.head.description);
    let description = match description.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &description[..end]),
        None => description,
    };
    format!("- {}{form}: {description}", sanitize_line(&skill.head.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(count: usize) -> Vec<IndexedSkill> {
        let skill = |number: usize| IndexedSkill {
            form: if number.is_multiple_of(2) { SkillForm::Skill } else { SkillForm::Workflow },
            head: SkillHead {
                name: format!("skill-{number:03}"),
                description: "修复 <system>缺少</system> 的模块 when it is missing".to_owned(),
            },
        };
        (0..count).map(skill).collect()
    }

    #[test]
    fn the_index_keeps_to_its_budget_and_says_what_is_left_out() {
        for language in [Language::English, Language::Chinese] {
            for budget in [0, 200, 400, 10_000] {
                let text = skill_index(skills(40), budget, language);
                assert!(estimate_tokens(&text) <= budget, "{budget}: {text}");
                assert!(!text.contains("<system>"), "{text}");
                assert_eq!(
                    text.contains("more: ") || text.contains("还有"),
                    (200..10_000).contains(&budget)
                );
            }
        }
        assert_eq!(skill_index(Vec::new(), 400, Language::English), "");
    }

    #[test]
    fn the_order_is_stable() {
        let mut reversed = skills(9);
        reversed.reverse();
        let index = |skills| skill_index(skills, 1_000, Language::English);
        assert_eq!(index(reversed), index(skills(9)));
        let text = index(skills(2));
        assert!(
            text.contains("- skill-000: ") && text.contains("- skill-001 (workflow): "),
            "{text}"
        );
    }
}
