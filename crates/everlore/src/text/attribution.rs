//! Attribution: who said a turn and where a memory comes from, in the words of a heading. A model must not take its own
//! claims or the output of a tool for the user's words.

use super::{language::Language, sanitize::sanitize_line};
use crate::types::{Kind, Memory, Origin, Role, Scope, Trust};

/// Most characters of a speaker's name in a heading: longer ones are no names.
const MAX_NAME_CHARS: usize = 40;

/// Role words of both languages: a speaker of such a name is quoted, so that it does not pose as the role.
const ROLE_WORDS: [&str; 8] =
    ["user", "assistant", "tool", "system", "用户", "助手", "工具", "系统"];

/// Names by which hosts call the user.
const USER_NAMES: [&str; 10] =
    ["user", "theuser", "human", "me", "i", "myself", "用户", "使用者", "我", "本人"];

/// Names by which hosts call the model.
const ASSISTANT_NAMES: [&str; 10] =
    ["assistant", "ai", "bot", "chatbot", "llm", "chatgpt", "助手", "助理", "机器人", "ai助手"];

/// Names of sources that are no person: what they say is quoted.
#[rustfmt::skip]
const SOURCE_NAMES: [&str; 46] = [
    "webpage", "website", "web", "browser", "page", "url", "tool", "tools", "toolresult", "tooloutput", "function",
    "functionresult", "search", "searchresult", "searchresults", "searchengine", "file", "filecontent", "document",
    "pdf", "email", "article", "newsletter", "terminal", "shell", "console", "stdout", "log", "database", "crawler",
    "网页", "网站", "浏览器", "工具", "工具结果", "工具输出", "搜索", "搜索结果", "搜索引擎", "文件", "文档", "邮件",
    "文章", "终端", "控制台", "数据库",
];

/// Endings of file names.
#[rustfmt::skip]
const FILE_ENDINGS: [&str; 40] = [
    "md", "txt", "pdf", "doc", "docx", "rtf", "odt", "html", "htm", "xml", "json", "jsonl", "yaml", "yml", "toml", "ini",
    "cfg", "conf", "csv", "tsv", "xls", "xlsx", "ppt", "pptx", "log", "eml", "msg", "srt", "vtt", "tex", "py", "rs", "js",
    "ts", "go", "java", "c", "cpp", "h", "sh",
];

/// Returns the role that a turn counts as: a source that is no person quotes, whatever role the host gives it, and a
/// name that is a role stands for it if the host gives none.
pub(crate) fn speaker_role(role: Option<Role>, speaker: Option<&str>) -> Option<Role> {
    let name = speaker.map(name_key).unwrap_or_default();
    let is_source = || SOURCE_NAMES.contains(&name.as_str()) || speaker.is_some_and(is_address);
    match role {
        None | Some(Role::User) if is_source() => Some(Role::Tool),
        None if ASSISTANT_NAMES.contains(&name.as_str()) => Some(Role::Assistant),
        None if name == "system" || name == "系统" => Some(Role::System),
        role => role,
    }
}

/// Returns `true` if a name is that of a file, a path or a page.
fn is_address(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let is_file = lower.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && !stem.ends_with(' ') && FILE_ENDINGS.contains(&end)
    });
    is_file || lower.contains("://") || lower.starts_with("www.") || lower.starts_with(['/', '~'])
}

/// Returns `true` if a name is a word for a role: the user, the model, the system or a tool.
pub(super) fn is_role_name(name: &str) -> bool {
    let key = name_key(name);
    let names = USER_NAMES.iter().chain(&ASSISTANT_NAMES).chain(&ROLE_WORDS);
    !key.is_empty() && key != "i" && names.into_iter().any(|word| *word == key)
}

/// Returns `true` if a name stands for the user of the scope: a word for the user, or the user's own name.
pub(crate) fn is_user_name(name: &str, scope: &Scope) -> bool {
    let key = name_key(name);
    key.is_empty() || USER_NAMES.contains(&key.as_str()) || key == name_key(scope.user())
}

/// Returns the letters and digits of a name in lower case.
fn name_key(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns `true` if two names are the same, letter case and marks aside.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    name_key(one) == name_key(other)
}

/// Returns the name of the person other than the user who said a memory; `None` for the user's own and for turns.
pub(crate) fn other_speaker(memory: &Memory) -> Option<String> {
    let name = memory.source.speaker.as_deref().filter(|_| memory.kind != Kind::Turn)?;
    Some(plain_name(name)).filter(|name| !name.is_empty()).map(quote_role_word)
}

/// Returns the note that a person other than the user said a memory.
pub(crate) fn said_by_note(memory: &Memory, language: Language) -> Option<String> {
    let name = other_speaker(memory)?;
    let chinese = language == Language::Chinese;
    Some(if chinese { format!("{name} 说的") } else { format!("said by {name}") })
}

/// Returns the name and role of a turn's speaker: `user`, `Alice, user`, `Alice`, or that it is unknown.
pub(crate) fn speaker_label(turn: &Memory, language: Language) -> String {
    let chinese = language == Language::Chinese;
    let role = turn.source.role.map(|role| role_word(role, chinese));
    let name = turn.source.speaker.as_deref().map(plain_name).filter(|name| !name.is_empty());
    // A host that gives the role as the name says it only once.
    let name = name.filter(|name| turn.source.role.is_none_or(|role| !names_role(name, role)));
    match (name.map(quote_role_word), role) {
        (Some(name), Some(role)) if chinese => format!("{name}，{role}"),
        (Some(name), Some(role)) => format!("{name}, {role}"),
        (Some(name), None) => name,
        (None, Some(role)) => role.to_owned(),
        (None, None) if chinese => "说话人不详".to_owned(),
        (None, None) => "unknown speaker".to_owned(),
    }
}

/// Returns the origin of a memory that does not come from the user: a claim of the assistant, a tool, an import.
pub(crate) fn origin_label(memory: &Memory, language: Language) -> Option<&'static str> {
    let (english, chinese) = match (memory.trust(), memory.source.role, memory.source.via) {
        // Suspect memories have a mark of their own.
        (Trust::Approved | Trust::Suspect, ..) => return None,
        (Trust::Outside, ..) => ("from outside", "来自外部"),
        (Trust::Tool, ..) | (_, Some(Role::Tool), _) => ("from a tool", "来自工具"),
        (_, Some(Role::Assistant), _) => ("assistant's claim", "助手的说法"),
        (Trust::Imported, ..) | (_, _, Origin::Import) => ("imported", "导入"),
        _ => return None,
    };
    Some(if language == Language::Chinese { chinese } else { english })
}

fn role_word(role: Role, chinese: bool) -> &'static str {
    match (role, chinese) {
        (Role::User, false) => "user",
        (Role::User, true) => "用户",
        (Role::Assistant, false) => "assistant",
        (Role::Assistant, true) => "助手",
        (Role::System, false) => "system",
        (Role::System, true) => "系统",
        (Role::Tool, false) => "tool",
        (Role::Tool, true) => "工具",
    }
}

/// Returns a name on one line without the marks that separate the parts of a heading.
fn plain_name(name: &str) -> String {
    let marks = [',', '，', '(', ')', '（', '）', '[', ']', ';', '；'];
    // Cut first: a cut could make a tag of what sanitizing left as a word.
    let bare = name.replace(marks, " ");
    let short: String = bare.trim().chars().take(MAX_NAME_CHARS).collect();
    sanitize_line(&short)
}

fn names_role(name: &str, role: Role) -> bool {
    [false, true].iter().any(|chinese| name.eq_ignore_ascii_case(role_word(role, *chinese)))
}

fn quote_role_word(name: String) -> String {
    let last = name.rsplit(' ').next().unwrap_or_default();
    let is_role = ROLE_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word));
    if is_role { format!("“{name}”") } else { name }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::types::MemorySource;

    fn memory(via: Origin, role: Option<Role>, speaker: &str) -> Memory {
        let speaker = Some(speaker.to_owned()).filter(|name| !name.is_empty());
        let source = MemorySource { role, speaker, ..MemorySource::new(via) };
        let at = Timestamp::UNIX_EPOCH;
        Memory::with_content(&Scope::default(), Kind::Turn, "x".into(), source, at, at)
    }

    #[test]
    fn a_turn_names_its_speaker_and_role_in_both_languages() {
        let cases = [
            (Some(Role::User), "", "user", "用户"),
            (Some(Role::Assistant), "", "assistant", "助手"),
            (Some(Role::Tool), "grep", "grep, tool", "grep，工具"),
            (Some(Role::User), "Alice", "Alice, user", "Alice，用户"),
            (Some(Role::User), "User", "user", "用户"),
            (None, "小明", "小明", "小明"),
            (None, "user", "“user”", "“user”"),
            (Some(Role::Tool), "user", "“user”, tool", "“user”，工具"),
            (None, "", "unknown speaker", "说话人不详"),
        ];
        for (role, speaker, english, chinese) in cases {
            let turn = memory(Origin::Observe, role, speaker);
            assert_eq!(speaker_label(&turn, Language::English), english);
            assert_eq!(speaker_label(&turn, Language::Chinese), chinese);
        }
    }

    #[test]
    fn sources_that_are_no_person_quote_and_names_of_roles_stand_for_them() {
        let cases = [
            (None, "Web page", Some(Role::Tool)),
            (Some(Role::User), "网页", Some(Role::Tool)),
            (Some(Role::Assistant), "Web page", Some(Role::Assistant)),
            (None, "assistant", Some(Role::Assistant)),
            (Some(Role::User), "assistant", Some(Role::User)),
            (None, "系统", Some(Role::System)),
            (None, "小明", None),
            (Some(Role::User), "Page Turner", Some(Role::User)),
            (Some(Role::User), "README.md", Some(Role::Tool)),
            (None, "笔记.txt", Some(Role::Tool)),
            (None, "https://x.example", Some(Role::Tool)),
            (None, "/tmp/cv.md", Some(Role::Tool)),
            (Some(Role::User), "J. R. R. Tolkien", Some(Role::User)),
            (Some(Role::User), "Sammy Davis Jr.", Some(Role::User)),
        ];
        for (role, speaker, expected) in cases {
            assert_eq!(speaker_role(role, Some(speaker)), expected, "{speaker}");
        }
        let scope = Scope::new("a", "ana").unwrap();
        assert!(["user", "Ana", "我", "User"].iter().all(|name| is_user_name(name, &scope)));
        assert!(!is_user_name("Ben", &scope));
    }

    #[test]
    fn only_what_the_user_did_not_say_names_its_origin() {
        let cases = [
            (Origin::Remember, None, None),
            (Origin::Extract, None, None),
            (Origin::Extract, Some(Role::Assistant), Some("assistant's claim")),
            (Origin::Extract, Some(Role::Tool), Some("from a tool")),
            (Origin::Import, None, Some("imported")),
        ];
        for (via, role, label) in cases {
            assert_eq!(origin_label(&memory(via, role, ""), Language::English), label);
        }
    }
}
