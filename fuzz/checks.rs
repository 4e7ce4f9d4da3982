//! Invariants of any input. The fuzz targets check generated inputs, `tests/it/corpus.rs` the recorded ones.

use everlore::{
    Config, Hit, Memory, Scope,
    engine::{DocFormat, HitSignals, Language, ScoreFactors},
    internal::{
        files::{
            documents::{MAX_KEEP_TOGETHER_TOKENS, parse},
            front_matter::{FrontMatter, YamlValue, yaml_scalar},
            layers::fit_to_budget,
            sections::MarkdownSections,
            vault::{MAX_INDEX_VIEW_BYTES, MAX_INDEX_VIEW_LINES, VaultIndex, VaultPage},
        },
        ingest::ExportLine,
        recall,
        text::{
            dates::find_times,
            fold::fold,
            sanitize::{sanitize_line, sanitize_verbatim},
            terms::terms,
            tokens::estimate_tokens,
        },
    },
    store::DocAddress,
};
use jiff::{Zoned, civil::date, tz::TimeZone};

/// Checks that any text folds and splits into terms, none of them empty.
pub(crate) fn check_terms(text: &str) {
    assert_eq!(fold(&fold(text)), fold(text));
    assert!(terms(text).iter().all(|term| !term.is_empty()));
}

/// Checks that any query is analyzed, and that its terms and times are usable.
pub(crate) fn check_analyze(query: &str) {
    for mention in find_times(query, &now()) {
        assert!(mention.start < mention.end, "{mention:?}");
        assert!(
            query.get(mention.span.clone()).is_some_and(|text| !text.is_empty()),
            "{mention:?}"
        );
    }
    let intent = recall::analyze(query, &Config::default().recall, &now());
    assert!(intent.times.iter().all(|(start, end)| start < end));
    assert!(intent.terms.iter().all(|term| !term.text.is_empty() && term.weight > 0.0));
    let synonyms = intent.terms.iter().flat_map(|term| &term.synonyms);
    assert!(synonyms.into_iter().all(|(text, worth)| !text.is_empty() && *worth > 0.0));
}

/// Checks that any text parses as settings or is refused with a line, and that parsed settings can be shown and read
/// again.
pub(crate) fn check_config(text: &str) {
    let Ok((config, _)) = Config::parse(text) else { return };
    let _ = config.validate();
    let (again, warnings) = Config::parse(&config.to_toml()).expect("shown settings can be read");
    assert!(warnings.is_empty());
    assert_eq!(again.to_toml(), config.to_toml());
}

/// Checks that any text has sections, that an edit of one touches no byte before or after it, and that no view outgrows
/// its budget.
pub(crate) fn check_sections(text: &str) {
    let sections = MarkdownSections::parse(text);
    let titles: Vec<String> = sections.iter().map(|section| section.title.to_owned()).collect();
    let first = sections.iter().next().map(|section| (section.title.to_owned(), section.text));
    if let Some((title, own)) = first.filter(|(title, _)| !title.is_empty()) {
        let start = own.as_ptr() as usize - text.as_ptr() as usize;
        let (before, after) = (&text[..start], &text[start + own.len()..]);
        for edited in [sections.add(&title, "x"), sections.remove(&title)].into_iter().flatten() {
            assert!(edited.text.starts_with(before) && edited.text.ends_with(after));
        }
    }
    if let Ok(edited) = MarkdownSections::parse("## A\n\na\n\n## B\n\nb\n").add("A", text) {
        let again = MarkdownSections::parse(&edited.text);
        assert_eq!(again.iter().map(|section| section.title).collect::<Vec<_>>(), ["A", "B"]);
        assert!(edited.text.ends_with("\n\n## B\n\nb\n"));
    }
    assert!(titles.len() <= text.lines().count() + text.matches('\r').count());
    assert!([1, 60, 200].into_iter().all(|budget| fit_to_budget(text, budget).chars <= budget));
}

/// Checks that any line is read or refused with a reason, and that a line that was read can be written and read again.
pub(crate) fn check_import(bytes: &[u8]) {
    match ExportLine::parse(bytes) {
        Ok(line) => {
            let written = line.to_json().expect("a line that was read can be written");
            let again =
                ExportLine::parse(written.as_bytes()).expect("a line that was written can be read");
            assert_eq!(again, line);
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}

/// Checks that any text fits into a block, which it neither closes nor outgrows.
pub(crate) fn check_pack(text: &str) {
    let hits = [hit(text, "plain"), hit("plain", text)];
    for budget in [80, 400, 4_000] {
        let (query, language, now) = ("plain", Language::English, &now());
        let block = recall::pack(
            &hits,
            &recall::BlockRequest { query, language, budget, now, whole: false },
        );
        assert!(block.tokens <= budget && estimate_tokens(&block.text) <= budget + 1);
        let folded = fold(&block.text);
        let count = |tag: &str| folded.matches(tag).count();
        let expected = usize::from(!block.text.is_empty());
        assert_eq!(count("</memory-context"), expected, "{}", block.text);
        assert_eq!(count("<memory-context"), expected, "{}", block.text);
        let own = block.text.lines().filter(|line| line.starts_with('[')).count();
        assert_eq!(own, block.entries.len(), "{}", block.text);
    }
}

/// Checks that any text is inert in every form in which it reaches a prompt: as a title, a speaker, a passage, a layer.
/// The first line of the input is one field and the rest another, so that halves can meet.
pub(crate) fn check_sanitize(text: &str) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    for safe in [sanitize_line(text), sanitize_verbatim(text)] {
        assert_eq!(find_way_out(&safe), None, "{text:?} → {safe:?}");
    }
    assert_eq!(find_way_out(&sanitize_verbatim(&sanitize_line(text))), None, "{text:?}");
    let mut hits = [hit(rest, first), hit(text, text), hit(first, rest)];
    hits[1].memory.source.speaker = Some(first.to_owned());
    hits[1].memory.kind = everlore::Kind::Turn;
    let (query, language, now) = ("plain", Language::English, &now());
    let request = recall::BlockRequest { query, language, budget: 4_000, now, whole: true };
    let block = recall::pack(&hits, &request).text;
    let inside = strip_own_tags(&block, &["memory-context"]);
    assert_eq!(find_way_out(&inside), None, "{text:?} → {block:?}");
}

/// Removes the opening and the closing tag of each block that a text has once, and panics if it has them otherwise.
pub(crate) fn strip_own_tags(text: &str, tags: &[&str]) -> String {
    let mut inside = text.to_owned();
    for tag in tags {
        for own in [format!("<{tag}>"), format!("</{tag}>")] {
            assert!(inside.matches(&own).count() <= 1, "{own} in {inside:?}");
            inside = inside.replacen(&own, "", 1);
        }
    }
    inside
}

/// Tags that no foreign text may form, letters only: eight of our blocks, whatever follows the name, then some of hosts
/// and chat templates.
const FORBIDDEN: [&str; 14] = [
    "memorycontext",
    "agentidentity",
    "userprofile",
    "agentnotes",
    "recentactivity",
    "conversationsofar",
    "memoryguide",
    "memoryindex",
    "system",
    "assistant",
    "toolresult",
    "imstart",
    "imend",
    "sys",
];

/// Searches a text for a way out of its block, by rules of its own that are blunter than those of the engine: an angle
/// of any form, anything but letters, then a tag's letters in any script with anything but letters between them.
/// Returns what it found.
pub(crate) fn find_way_out(text: &str) -> Option<String> {
    let odd = |c: &char| {
        matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{202e}')
    };
    if let Some(c) = text.chars().find(odd) {
        return Some(format!("the character {c:?}"));
    }
    let angles = "<＜﹤≮‹«〈《⟨⟪\u{2329}ᐸ˂❮❬❰≺≪⧼⦑⦉";
    let closing = ">＞﹥›»〉》⟩⟫\u{232a}ᐳ˃❯❭❱≻≫⧽⦒⦊";
    for (at, c) in text.char_indices().filter(|(_, c)| angles.contains(*c)) {
        let rest = &text[at + c.len_utf8()..];
        let shown = || Some(rest.chars().take(40).collect::<String>());
        let is_real = "<＜﹤≮".contains(c);
        let is_mark = |c: char| {
            c != '\n' && !c.is_alphanumeric() && !c.is_ascii_punctuation() && !closing.contains(c)
        };
        let ends = rest.trim_start_matches(is_mark);
        if is_real && (rest.starts_with(['|', '｜']) || ends.is_empty() || ends.starts_with('\n'))
        {
            return shown();
        }
        // German closes quotations with these, at the end of a line too.
        let is_quote = matches!(c, '‹' | '«');
        let rest = if is_quote { rest.split('\n').next().unwrap_or_default() } else { rest };
        let name =
            rest.split(|c| angles.contains(c) || closing.contains(c)).next().unwrap_or_default();
        let name: String = name.chars().take(200).collect();
        let words: Vec<String> = name
            .split(|c: char| c.is_whitespace() || "=\"':.,;，。".contains(c))
            .map(letters)
            .filter(|word| !word.is_empty())
            .collect();
        let first = words.first().map_or("", String::as_str);
        let joined = words.concat();
        // Quotation marks around `system` are ordinary text, and so are titles that begin with it.
        let before_name = rest.split(char::is_alphanumeric).next().unwrap_or_default();
        let is_operator = before_name.contains(|c| "&!?=\"'".contains(c));
        let is_alone = |tag: &str| match c {
            _ if is_operator || !reads_as(first, tag) || !reads_as(tag, first) => false,
            _ if is_real => true,
            '‹' | '«' => rest.starts_with('/') && words.len() == 1,
            _ => words.len() == 1,
        };
        let forms =
            |tag: &&str| is_alone(tag) || FORBIDDEN[..8].contains(tag) && reads_as(&joined, tag);
        if FORBIDDEN.iter().any(forms) {
            return shown();
        }
    }
    ["[INST]", "[/INST]"].iter().find(|mark| text.contains(**mark)).map(|mark| (*mark).to_owned())
}

/// Returns the letters and digits of a word, folded and without marks.
fn letters(word: &str) -> String {
    fold(word).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns `true` if `text` begins with `tag`, where letters of scripts that have look-alikes stand for any letter.
fn reads_as(text: &str, tag: &str) -> bool {
    let is_any = |c: char| matches!(c, '\u{250}'..='\u{52f}' | '\u{1d00}'..='\u{1dbf}' | '\u{a4d0}'..='\u{a4ff}');
    let mut read = text.chars();
    tag.chars()
        .all(|letter| read.next().is_some_and(|c| c == letter || is_any(c) || is_any(letter)))
}

/// Checks that any bytes are parsed or refused with a reason, that no chunk is too long, and that plain text loses
/// nothing.
pub(crate) fn check_documents(bytes: &[u8]) {
    for format in [DocFormat::Plain, DocFormat::Markdown, DocFormat::Html, DocFormat::Code] {
        let parsed = match parse(bytes, format) {
            Ok(parsed) => parsed,
            Err(error) => {
                assert!(!error.to_string().is_empty() && !error.hint().is_empty());
                continue;
            }
        };
        let mut line = 1;
        for chunk in &parsed.chunks {
            assert!(!chunk.text.trim().is_empty() && chunk.start_line >= line, "{chunk:?}");
            assert!(chunk.start_line <= chunk.end_line, "{chunk:?}");
            // Headings may precede a list, a table or a fence in one piece.
            assert!(estimate_tokens(&chunk.text) <= MAX_KEEP_TOGETHER_TOKENS * 5 / 4, "{chunk:?}");
            line = chunk.start_line;
        }
        let is_plain = matches!(format, DocFormat::Plain | DocFormat::Code);
        if let Some(text) = std::str::from_utf8(bytes).ok().filter(|_| is_plain) {
            let dense =
                |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            let all: String = parsed.chunks.iter().map(|chunk| dense(&chunk.text)).collect();
            assert_eq!(all, dense(text.strip_prefix('\u{feff}').unwrap_or(text)));
        }
    }
}

/// Checks that any text is read as front matter and body or refused with a reason, that an edit changes its key and
/// nothing else, and that an index is read without loss.
pub(crate) fn check_front_matter(text: &str) {
    let index = VaultIndex::parse(text);
    assert_eq!(index.to_string(), text);
    let view = VaultIndex::view(text, Language::Chinese);
    assert!(
        view.text.len() <= MAX_INDEX_VIEW_BYTES
            && view.text.lines().count() <= MAX_INDEX_VIEW_LINES
    );
    if let Err(error) = VaultPage::parse(text) {
        assert!(!error.to_string().is_empty());
    }
    let Ok(Some(matter)) = FrontMatter::parse(text) else { return };
    assert_eq!(format!("{}{}", matter.head(), matter.body()), text);
    let value: String = text.chars().rev().take(40).collect();
    let Ok(head) = matter.with_values(&[("name", Some(yaml_scalar(&value)))]) else { return };
    let again = FrontMatter::parse(&head)
        .expect("what was written can be read")
        .expect("it has front matter");
    assert_eq!(again.get("name"), Some(&YamlValue::Text(value)));
    for key in matter.keys().filter(|key| *key != "name") {
        assert_eq!(again.get(key), matter.get(key), "{key}");
    }
    let comments = |text: &str| text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(comments(&head), comments(matter.head()), "{head}");
}

fn now() -> Zoned {
    date(2026, 3, 2).to_zoned(TimeZone::UTC).expect("a day that exists")
}

fn hit(content: &str, name: &str) -> Hit {
    let line = r#"{"memory": {"id": "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04", "uri": "agent://a/user/general/x",
        "scope": {"agent": "a", "user": "u"}, "kind": "user", "content": "x", "importance": 0.5, "confidence": 1.0,
        "weight": 1.0, "status": "active", "source": {"via": "remember"}, "at": "2026-03-02T00:00:00Z",
        "created_at": "2026-03-02T00:00:00Z", "updated_at": "2026-03-02T00:00:00Z", "version": 1}}"#;
    let Ok(ExportLine::Memory(memory)) = ExportLine::parse(line.as_bytes()) else {
        panic!("the line is ours")
    };
    let memory =
        Memory { content: content.into(), name: name.into(), scope: Scope::default(), ..*memory };
    let factors = ScoreFactors {
        relevance: 1.0,
        recency: 1.0,
        weight: 1.0,
        importance: 1.0,
        kind: 1.0,
        update: 1.0,
    };
    Hit {
        memory,
        score: 0.5,
        signals: HitSignals::default(),
        factors,
        probability: None,
        newer: None,
        held_until: None,
        check: None,
        address: DocAddress::new(0, 0),
    }
}
