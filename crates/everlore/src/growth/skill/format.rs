//! Rules of the SKILL.md format (agentskills.io), each with its own problem: what a person or a program has to change.

use serde::Serialize;

use crate::{
    files::front_matter::{FrontMatter, YamlValue, parse_string_map},
    text::tokens::estimate_tokens,
};

/// Most characters of a name.
const MAX_NAME_CHARS: usize = 64;

/// Most characters of a description.
const MAX_DESCRIPTION_CHARS: usize = 1_024;

/// Most characters of `compatibility`.
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// Lines and tokens that a body stays below: an assistant reads all of it at once.
const BODY_LINES: usize = 500;
const BODY_TOKENS: usize = 5_000;

/// Keys of the format, and those that Claude Code adds.
#[rustfmt::skip]
const KEYS: [&str; 20] = [
    "name", "description", "license", "compatibility", "metadata", "allowed-tools",
    "when_to_use", "argument-hint", "arguments", "disable-model-invocation", "user-invocable", "disallowed-tools",
    "model", "effort", "context", "agent", "background", "hooks", "paths", "shell",
];

/// Rule of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SkillRule {
    /// The text begins with YAML between two `---` lines.
    FrontMatter,
    /// Every key is one of the format's.
    Keys,
    /// `name` has 1 to 64 characters of a-z, 0-9 and hyphens, none of them first, last or double.
    Name,
    /// The folder is called as the skill.
    Folder,
    /// `description` has 1 to 1,024 characters.
    Description,
    /// `license` is a text.
    License,
    /// `compatibility` has 1 to 500 characters.
    Compatibility,
    /// `metadata` maps words to texts.
    Metadata,
    /// `allowed-tools` is a text with blanks between the tools.
    AllowedTools,
    /// There is a body.
    Body,
    /// The body has fewer than 500 lines.
    BodyLines,
    /// The body has fewer than 5,000 tokens.
    BodyTokens,
}

/// Rule that a text breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillProblem {
    /// Rule.
    pub rule: SkillRule,
    /// Finding in words.
    pub message: String,
}

/// Name and description of a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillHead {
    /// Name.
    pub name: String,
    /// Description in one line.
    pub description: String,
}

impl SkillHead {
    /// Reads the head of a text; `None` if it has no name or no description.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let front = FrontMatter::parse(text).ok()??;
        let text_of = |key| match front.get(key) {
            Some(YamlValue::Text(value)) if !value.trim().is_empty() => {
                Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        Some(Self { name: text_of("name")?, description: text_of("description")? })
    }
}

/// Returns every rule that a SKILL.md breaks; `folder` is the name of the folder that holds it.
pub fn skill_problems(text: &str, folder: Option<&str>) -> Vec<SkillProblem> {
    let front = match FrontMatter::parse(text) {
        Ok(Some(front)) => front,
        Ok(None) => {
            return vec![problem(
                SkillRule::FrontMatter,
                "it does not begin with a line that says ---",
            )];
        }
        Err(error) => return vec![problem(SkillRule::FrontMatter, error.to_string())],
    };
    // Programs that read skills refuse YAML that we would still understand line by line.
    if let Err(error) = parse_string_map(front.yaml(), "") {
        return vec![problem(SkillRule::FrontMatter, error.to_string())];
    }
    let mut problems = key_problems(&front);
    problems.extend(name_problems(&front, folder));
    problems.extend(text_problems(&front));
    problems.extend(body_problems(front.body()));
    problems
}

/// Returns why a text is no name of a skill.
fn name_problem(name: &str) -> Option<String> {
    let is_allowed = |sign: char| matches!(sign, 'a'..='z' | '0'..='9' | '-');
    if name.is_empty() {
        Some("it is empty".to_owned())
    } else if name.chars().count() > MAX_NAME_CHARS {
        Some(format!("it has {} characters, {MAX_NAME_CHARS} at most", name.chars().count()))
    } else if !name.chars().all(is_allowed) {
        Some("it has other characters than a-z, 0-9 and hyphens".to_owned())
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("it begins or ends with a hyphen".to_owned())
    } else {
        name.contains("--").then(|| "it has two hyphens in a row".to_owned())
    }
}

fn key_problems(front: &FrontMatter<'_>) -> Vec<SkillProblem> {
    let unknown = front.keys().filter(|key| !KEYS.contains(key));
    unknown
        .map(|key| problem(SkillRule::Keys, format!("`{key}` is no key of the format")))
        .collect()
}

fn name_problems(front: &FrontMatter<'_>, folder: Option<&str>) -> Vec<SkillProblem> {
    let Some(YamlValue::Text(name)) = front.get("name") else {
        return vec![problem(SkillRule::Name, "there is no `name`")];
    };
    let mut problems = Vec::new();
    if let Some(why) = name_problem(name) {
        problems.push(problem(SkillRule::Name, format!("the name `{name}` is not valid: {why}")));
    }
    if let Some(folder) = folder.filter(|folder| folder != name) {
        let message = format!("the folder is called `{folder}` and the skill `{name}`");
        problems.push(problem(SkillRule::Folder, message));
    }
    problems
}

fn text_problems(front: &FrontMatter<'_>) -> Vec<SkillProblem> {
    let mut problems = Vec::new();
    let description = match front.get("description") {
        Some(YamlValue::Text(text)) => text.trim(),
        _ => "",
    };
    problems.extend(length_problem(
        SkillRule::Description,
        "description",
        description,
        MAX_DESCRIPTION_CHARS,
    ));
    for (key, rule) in [("license", SkillRule::License), ("allowed-tools", SkillRule::AllowedTools)]
    {
        if !matches!(front.get(key), None | Some(YamlValue::Text(_))) {
            problems.push(problem(rule, format!("`{key}` is not a text")));
        }
    }
    match front.get("compatibility") {
        None => {}
        Some(YamlValue::Text(text)) => problems.extend(length_problem(
            SkillRule::Compatibility,
            "compatibility",
            text.trim(),
            MAX_COMPATIBILITY_CHARS,
        )),
        Some(_) => {
            problems.push(problem(SkillRule::Compatibility, "`compatibility` is not a text"));
        }
    }
    if let Err(error) = parse_string_map(front.yaml(), "metadata") {
        problems.push(problem(SkillRule::Metadata, error.to_string()));
    }
    problems
}

fn length_problem(rule: SkillRule, key: &str, text: &str, most: usize) -> Option<SkillProblem> {
    match text.chars().count() {
        0 => Some(problem(rule, format!("there is no `{key}`, or it is empty"))),
        chars if chars > most => {
            Some(problem(rule, format!("`{key}` has {chars} characters, {most} at most")))
        }
        _ => None,
    }
}

fn body_problems(body: &str) -> Vec<SkillProblem> {
    if body.trim().is_empty() {
        return vec![problem(SkillRule::Body, "there is no text after the front matter")];
    }
    let (lines, tokens) = (body.lines().count(), estimate_tokens(body));
    let mut problems = Vec::new();
    if lines >= BODY_LINES {
        let message = format!("the text has {lines} lines; fewer than {BODY_LINES} are allowed");
        problems.push(problem(SkillRule::BodyLines, message));
    }
    if tokens >= BODY_TOKENS {
        let message = format!("the text has {tokens} tokens; fewer than {BODY_TOKENS} are allowed");
        problems.push(problem(SkillRule::BodyTokens, message));
    }
    problems
}

fn problem(rule: SkillRule, message: impl Into<String>) -> SkillProblem {
    SkillProblem { rule, message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str, folder: Option<&str>) -> Vec<SkillRule> {
        skill_problems(text, folder).into_iter().map(|problem| problem.rule).collect()
    }

    fn skill(head: &str) -> String {
        format!("---\n{head}\n---\n\nDo it.\n")
    }

    #[test]
    fn a_skill_that_keeps_all_rules_has_no_problem() {
        let full = skill(
            "name: pdf-forms\ndescription: 填写 PDF 表单。\nlicense: MIT\ncompatibility: needs git\nmetadata:\n  author: ana\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read",
        );
        assert_eq!(skill_problems(&full, Some("pdf-forms")), []);
        assert_eq!(rules(&skill("name: a\ndescription: b\nmetadata: {}"), Some("a")), []);
        assert_eq!(rules(&skill("name: a\ndescription: b\nwhen_to_use: now"), None), []);
    }

    #[test]
    fn the_front_matter_is_needed_and_is_yaml() {
        for text in [
            "",
            "Do it.",
            "---\nname: a\ndescription: b\n",
            "---\nname: a: b\ndescription: c\n---\nx",
        ] {
            assert_eq!(rules(text, None), [SkillRule::FrontMatter], "{text}");
        }
    }

    #[test]
    fn names_are_short_plain_words_and_the_folders_name() {
        for name in ["A", "a_b", "a b", "-a", "a-", "a--b", "名字", "\"\"", &"a".repeat(65)] {
            let text = skill(&format!("name: {name}\ndescription: b"));
            assert_eq!(rules(&text, None), [SkillRule::Name], "{name}");
        }
        assert_eq!(rules(&skill("description: b"), None), [SkillRule::Name]);
        let text = skill(&format!("name: {}\ndescription: b", "a".repeat(64)));
        assert_eq!(rules(&text, None), []);
        assert_eq!(rules(&skill("name: a\ndescription: b"), Some("c")), [SkillRule::Folder]);
    }

    #[test]
    fn a_description_has_1_to_1024_characters() {
        let with = |text: &str| rules(&skill(&format!("name: a\ndescription: {text}")), None);
        assert_eq!(with(""), [SkillRule::Description]);
        assert_eq!(with("\" \""), [SkillRule::Description]);
        assert_eq!(with(&"字".repeat(1_024)), []);
        assert_eq!(with(&"字".repeat(1_025)), [SkillRule::Description]);
        assert_eq!(rules(&skill("name: a"), None), [SkillRule::Description]);
    }

    #[test]
    fn optional_keys_have_their_forms_and_others_are_unknown() {
        let with = |line: &str| rules(&skill(&format!("name: a\ndescription: b\n{line}")), None);
        assert_eq!(with("license: [MIT]"), [SkillRule::License]);
        assert_eq!(with("allowed-tools: [Bash, Read]"), [SkillRule::AllowedTools]);
        assert_eq!(with("compatibility: \"\""), [SkillRule::Compatibility]);
        assert_eq!(
            with(&format!("compatibility: {}", "x".repeat(501))),
            [SkillRule::Compatibility]
        );
        assert_eq!(with(&format!("compatibility: {}", "x".repeat(500))), []);
        assert_eq!(with("metadata: x"), [SkillRule::Metadata]);
        assert_eq!(with("metadata:\n  tags: [a, b]"), [SkillRule::Metadata]);
        assert_eq!(with("metadata:\n  deep:\n    a: b"), [SkillRule::Metadata]);
        assert_eq!(with("colour: red"), [SkillRule::Keys]);
    }

    #[test]
    fn a_body_is_there_and_short() {
        let with = |body: &str| rules(&format!("---\nname: a\ndescription: b\n---\n{body}"), None);
        assert_eq!(with(" \n"), [SkillRule::Body]);
        assert_eq!(with(&"x\n".repeat(499)), []);
        assert_eq!(with(&"x\n".repeat(500)), [SkillRule::BodyLines]);
        assert_eq!(with(&"字典里没有 ".repeat(2_000)), [SkillRule::BodyTokens]);
    }
}
