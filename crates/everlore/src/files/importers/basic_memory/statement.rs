//! Observations and relations among the lines of a note.

use crate::files::importers::markdown_notes::shorten_title;

/// Text of a note, or of a part of it, with its statements apart.
#[derive(Default)]
pub(super) struct NoteText {
    /// Lines that are no statements.
    pub(super) prose: String,
    /// Observations without their tags, and relations in words; one list item each.
    statements: Vec<String>,
    /// Tags of the observations.
    pub(super) tags: Vec<String>,
    pub(super) relations: Vec<NoteRelation>,
}

/// Relation of a note to another.
pub(super) struct NoteRelation {
    pub(super) relation_type: String,
    pub(super) target: String,
    context: String,
}

impl NoteText {
    /// Parses the lines of a note with this title; code is never a statement.
    pub(super) fn parse(body: &str, title: &str) -> Self {
        let mut text = Self::default();
        let (mut in_code, mut in_statement) = (false, false);
        for line in body.lines() {
            let bare = line.trim();
            let is_fence = bare.starts_with("```") || bare.starts_with("~~~");
            in_code ^= is_fence;
            let is_code = in_code || is_fence;
            let continues = in_statement && !bare.is_empty() && line.starts_with([' ', '\t']);
            let item = list_item(bare).filter(|_| !is_code);
            if item.is_some_and(|item| text.add_statement(item, title)) {
                in_statement = true;
            } else if continues && item.is_none() && !is_code {
                text.continue_statement(bare);
            } else {
                in_statement = false;
                text.prose += line;
                text.prose.push('\n');
            }
        }
        text
    }

    /// Adds what another part of the note says.
    pub(super) fn append(&mut self, other: Self) {
        self.prose += &other.prose;
        self.statements.extend(other.statements);
        other.tags.into_iter().for_each(|tag| push_unique(&mut self.tags, tag));
        self.relations.extend(other.relations);
    }

    /// Returns the text, and the statements as a list below it.
    pub(super) fn content(&self) -> String {
        let parts = [self.prose.trim(), &self.statements.join("\n")];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join("\n\n")
    }

    /// Adds a list item if it is an observation or a relation.
    fn add_statement(&mut self, item: &str, title: &str) -> bool {
        if let Some(relation) = NoteRelation::parse(item) {
            push_unique(&mut self.statements, relation.sentence(title));
            self.relations.push(relation);
            return true;
        }
        let tags = tags(item);
        let is_observation = !tags.is_empty() || has_category(item);
        if is_observation {
            push_unique(&mut self.statements, format!("- {}", without_tags(item)));
            tags.into_iter().for_each(|tag| push_unique(&mut self.tags, shorten_title(tag)));
        }
        is_observation
    }

    fn continue_statement(&mut self, line: &str) {
        if let Some(last) = self.statements.last_mut() {
            *last = format!("{last} {line}");
        }
    }
}

impl NoteRelation {
    /// Parses `type [[Target]] (context)`; a type of several words stands in quotes. Other text around a link makes the
    /// item a sentence.
    fn parse(item: &str) -> Option<Self> {
        let (before, rest) = item.split_once("[[")?;
        let (target, after) = rest.split_once("]]")?;
        let (before, after) = (before.trim(), after.trim());
        let quoted = ['"', '\''].iter().find_map(|quote| {
            before.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote))
        });
        let relation_type = quoted.unwrap_or(before).trim();
        let is_sentence = quoted.is_none() && before.contains(char::is_whitespace);
        let has_context = after.starts_with('(') && after.find(')') == Some(after.len() - 1);
        let target = target.split('|').next().unwrap_or_default().trim();
        let is_named = !relation_type.is_empty() && !target.is_empty();
        if is_sentence || !is_named || !(after.is_empty() || has_context) {
            return None;
        }
        let [relation_type, target, context] = [relation_type, target, after].map(str::to_owned);
        Some(Self { relation_type, target, context })
    }

    /// Returns the relation in words, as a list item.
    fn sentence(&self, title: &str) -> String {
        let verb = self.relation_type.replace('_', " ");
        format!("- {title} {verb} {} {}", self.target, self.context).trim_end().to_owned()
    }
}

/// Returns the text of a list item.
fn list_item(line: &str) -> Option<&str> {
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))?.trim();
    (!item.is_empty()).then_some(item)
}

/// Returns `true` if an item begins with a category: neither the mark of a task nor a time of a transcript.
fn has_category(item: &str) -> bool {
    let Some((category, rest)) = item.strip_prefix('[').and_then(|rest| rest.split_once(']'))
    else {
        return false;
    };
    let category = category.trim();
    let is_task = category.chars().count() == 1
        && category.chars().all(|c| !c.is_alphanumeric() || c.eq_ignore_ascii_case(&'x'));
    let is_time = category.contains(':')
        && category.chars().all(|c| c.is_ascii_digit() || " :.,-".contains(c));
    let is_plain = !category.is_empty() && !category.contains(['[', '(', ')']);
    is_plain && !is_task && !is_time && rest.starts_with(char::is_whitespace)
}

/// Returns the words after number signs; a number is no tag but names an issue.
fn tags(item: &str) -> Vec<&str> {
    let words = item.split_whitespace().filter(|word| is_tag(word));
    words.flat_map(|word| word.split('#')).filter(|tag| !tag.is_empty()).collect()
}

fn is_tag(word: &str) -> bool {
    word.strip_prefix('#').is_some_and(|name| name.chars().any(char::is_alphabetic))
}

/// Returns an item without the tags at the end of its statement, before a context in parentheses; those inside lose
/// their number sign.
fn without_tags(item: &str) -> String {
    let context_at = item.rfind(" (").filter(|_| item.ends_with(')')).unwrap_or(item.len());
    let (statement, context) = item.split_at(context_at);
    let mut words: Vec<&str> = statement.split_whitespace().collect();
    // A statement of tags alone keeps them as its words.
    let is_said = words.iter().any(|word| !is_tag(word) && !word.starts_with('['));
    while is_said && words.last().is_some_and(|word| is_tag(word)) {
        words.pop();
    }
    let bare =
        |word: &&str| if is_tag(word) { word.trim_start_matches('#') } else { word }.to_owned();
    words.iter().map(bare).collect::<Vec<_>>().join(" ") + context
}

fn push_unique(lines: &mut Vec<String>, line: String) {
    if !lines.contains(&line) {
        lines.push(line);
    }
}
