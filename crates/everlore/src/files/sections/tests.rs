//! Tests: sections are found where a reader of markdown sees them, and edits touch nothing else.

use proptest::prelude::*;

use super::MarkdownSections;

fn titles(text: &str) -> Vec<String> {
    MarkdownSections::parse(text).iter().map(|section| section.title.to_owned()).collect()
}

fn added(text: &str, title: &str, content: &str) -> String {
    MarkdownSections::parse(text).add(title, content).unwrap().text
}

fn replaced(text: &str, title: &str, old: &str, new: &str) -> String {
    MarkdownSections::parse(text).replace(title, old, new).unwrap().text
}

fn refusal(result: crate::Result<super::EditedText>) -> String {
    let error = result.unwrap_err();
    format!("{error} | {}", error.hint())
}

#[test]
fn sections_are_headings_of_the_second_level_only() {
    let text = "intro\n# Book\n## One\n### inner\n##no blank\n##\tTab\n#### deep\n##\n\n## 偏好\nx";
    assert_eq!(titles(text), ["One", "Tab", "", "偏好"]);
    assert_eq!(MarkdownSections::parse(text).preamble(), "intro\n");
}

#[test]
fn closing_signs_and_blanks_are_not_part_of_a_title() {
    assert_eq!(
        titles("## Title ##\n## C#\n##  偏好  \t\n## a # b\n## x ####   "),
        ["Title", "C#", "偏好", "a # b", "x"]
    );
}

#[test]
fn code_comments_and_lists_hide_headings() {
    let hidden = [
        "```\n## no\n```\n",
        "````md\n```\n## no\n````\n",
        "~~~ `x`\n## no\n```\n~~~~\n",
        "    ## no\n",
        "\t## no\n",
        "<!-- a\n## no\n-->\n",
        "<!--\n## no\n\n## no --> rest\n",
        "<pre>\n## no\n</PRE>\n",
        "<![CDATA[\n## no\n]]>\n",
        "<prefix>\n## no\n",
        "<div>\n## no\n</div>\n",
        "- ```\n  ## no\n  ```\n",
        "1. item\n\n   ## no\n",
        "- a\n  - b\n    ~~~\n    ## no\n    ~~~\n",
        "> ## no\n",
        "* ## no\n",
        "Title\n-----\n",
        "Title\n=====\n",
        "\\## no\n",
    ];
    for block in hidden {
        let text = format!("## A\n{block}\n## B\nb\n");
        assert_eq!(titles(&text), ["A", "B"], "{block}");
        assert_eq!(
            MarkdownSections::parse(&text).get("A").unwrap().body,
            format!("{block}\n"),
            "{block}"
        );
    }
}

#[test]
fn what_only_looks_like_code_hides_nothing() {
    for block in [
        "``` a`b\n",
        "inline ``` fence\n",
        "text <!-- not at the beginning\n",
        "- ```\n",
        "``\n",
        "<prefix>\n\n",
        "<!-- one line -->\n",
        "   ```\nx\n```\n",
    ] {
        assert_eq!(titles(&format!("## A\n{block}## B\n")), ["A", "B"], "{block}");
    }
    assert_eq!(titles("## A\n```\n## hidden to the end\n"), ["A"]);
    assert_eq!(titles("   ## moved in a little\n"), ["moved in a little"]);
}

#[test]
fn line_breaks_and_marks_of_any_kind_are_kept() {
    let text = "\u{feff}## 甲\r\none\r\n\r\n## 乙\r\ntwo";
    assert_eq!(titles(text), ["甲", "乙"]);
    assert_eq!(
        added(text, "甲", "three\nfour"),
        "\u{feff}## 甲\r\none\r\nthree\r\nfour\r\n\r\n## 乙\r\ntwo"
    );
    assert_eq!(added(text, "乙", "three"), format!("{text}\r\nthree"));
    assert_eq!(added(text, "丙", "three"), format!("{text}\r\n\r\n## 丙\r\n\r\nthree\r\n"));
    assert_eq!(replaced(text, "甲", "one\n", "1\n"), text.replace("one", "1"));
    assert_eq!(titles("## a\rx\r## b\r"), ["a", "b"]);
    assert_eq!(added("## a\rx\r## b\r", "a", "y\nz"), "## a\rx\ry\rz\r## b\r");
}

#[test]
fn text_is_added_below_what_is_there() {
    assert_eq!(added("", "Likes", "- tea"), "## Likes\n\n- tea\n");
    assert_eq!(
        added("## Likes\n\n- tea\n", "Likes", "\n\n- rice  \n"),
        "## Likes\n\n- tea\n- rice\n"
    );
    assert_eq!(added("## A\n\n## B\nb\n", "A", "a"), "## A\n\na\n\n## B\nb\n");
    assert_eq!(added("## A", "A", "a"), "## A\n\na");
    assert_eq!(added("intro", "偏好", "喜欢茶"), "intro\n\n## 偏好\n\n喜欢茶\n");
    assert_eq!(added("## A\na\n\n", "B", "b"), "## A\na\n\n## B\n\nb\n");
    assert_eq!(added("## A\nx\n", "A", "```\n## code\n```"), "## A\nx\n```\n## code\n```\n");
}

#[test]
fn a_title_is_found_as_a_model_may_write_it() {
    for name in ["Code Style", "code style", "## Code Style", " CODE  STYLE ", "Ｃode Style"] {
        assert_eq!(added("## Code Style\nx\n", name, "y"), "## Code Style\nx\ny\n", "{name}");
    }
    assert_eq!(added("## x\n## # x\n", "# x", "y"), "## x\n## # x\n\ny\n");
    // An exact title wins over a similar one.
    assert_eq!(added("## api\nx\n## API\ny\n", "API", "z"), "## api\nx\n## API\ny\nz\n");
}

#[test]
fn of_several_sections_with_one_title_the_first_is_meant_and_the_edit_says_so() {
    let text = "## A\none\n## B\n## A\ntwo\n";
    assert_eq!(MarkdownSections::parse(text).get("A").unwrap().body, "one\n");
    let edited = MarkdownSections::parse(text).remove("A").unwrap();
    assert_eq!(edited.text, "## B\n## A\ntwo\n");
    assert_eq!(edited.note.unwrap(), "2 sections are called `A`; this changed the first of them");
    assert_eq!(MarkdownSections::parse(text).add("B", "x").unwrap().note, None);
}

#[test]
fn a_heading_of_the_first_level_ends_a_section_and_outlives_it() {
    let text = "## A\na\n# Book\nprose\n## B\nb\n";
    assert_eq!(MarkdownSections::parse(text).remove("A").unwrap().text, "# Book\nprose\n## B\nb\n");
    assert_eq!(MarkdownSections::parse(text).get("A").unwrap().body, "a\n");
}

#[test]
fn text_that_would_move_a_border_is_refused_with_advice() {
    let text = "## A\na\n\n## B\nb\n";
    let sections = MarkdownSections::parse(text);
    for (content, reason) in [
        ("x\n## New\ny", "the text has the heading `## New`"),
        ("# 书", "the text has the heading `# 书`"),
        ("```\ncode", "opens a code fence and does not close it"),
        ("<!-- note", "opens a block of HTML or comment and does not close it"),
    ] {
        for result in [
            sections.add("A", content),
            sections.replace("A", "a", content),
            sections.add("C", content),
        ] {
            // Nothing follows a new section, so markup that it leaves open does no harm yet.
            if let Err(error) = result {
                assert!(error.to_string().contains(reason), "{content}: {error}");
            } else {
                assert!(content.starts_with(['`', '<']), "{content}");
            }
        }
        assert!(
            sections.add("A", content).is_err() && sections.replace("A", "a", content).is_err()
        );
    }
    let open = MarkdownSections::parse("## A\n```\ncode\n");
    assert_eq!(
        refusal(open.add("B", "x")),
        "line 2 of the file opens a code fence that is never closed | close it first, or add to a section before it"
    );
}

#[test]
fn an_old_text_that_does_not_fit_is_answered_with_what_would() {
    let text = "## Likes\n- green tea in the morning\n- 喜欢喝龙井茶\n- tea\n\n## Empty\n\n## Other\nsecret word\n";
    let sections = MarkdownSections::parse(text);
    let refused = |title: &str, old: &str| refusal(sections.replace(title, old, "new"));
    assert_eq!(
        refused("Likes", "- green tea in the mornings"),
        "the old text is not in section `Likes` | did you mean `- green tea in the morning`? the old text must be given exactly"
    );
    assert!(refused("Likes", "- 喜欢喝龙井茶。").contains("did you mean `- 喜欢喝龙井茶`?"));
    assert_eq!(
        refused("Likes", "tea"),
        "the old text occurs 2 times in section `Likes` | give more of the text around it, so that it occurs once"
    );
    assert!(refused("Likes", "secret word").ends_with("it is in section `Other`"));
    assert!(
        refused("Likes", "zzz")
            .ends_with("the section begins: - green tea in the morning\n- 喜欢喝龙井茶\n- tea")
    );
    assert!(refused("Empty", "zzz").ends_with("the section is empty; add to it instead"));
    assert_eq!(
        refused("没有", "x"),
        "there is no section `没有` | use one of its sections: `Likes`, `Empty`, `Other`"
    );
    assert!(refusal(sections.add("Likes", " \n")).starts_with("there is no text to add"));
    assert!(refusal(sections.add("a\nb", "x")).contains("line break"));
    assert!(refusal(sections.add("a ##", "x")).contains("number signs"));
}

#[test]
fn overlapping_places_count_as_several() {
    assert!(MarkdownSections::parse("## A\naaa\n").replace("A", "aa", "b").is_err());
    assert_eq!(replaced("## A\n茶茶水\n", "A", "茶水", "酒"), "## A\n茶酒\n");
    assert_eq!(replaced("## A\n- tea\n- rice\n", "A", "- tea\n", ""), "## A\n- rice\n");
}

/// Generates complete pieces of markdown: what is open is closed.
fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z茶水]{1,6}( [a-z好]{1,4}){0,3}",
        Just(String::new()),
        Just("```rust\n## fenced\n```".to_owned()),
        Just("~~~\n# fenced\n~~~".to_owned()),
        Just("    ## indented".to_owned()),
        Just("<!-- a\n## comment\n-->".to_owned()),
        Just("### deeper 标题".to_owned()),
        Just("Under\n-----".to_owned()),
        Just("- item\n  - ```\n    ## x\n    ```".to_owned()),
        Just("trailing  ".to_owned()),
    ]
}

fn body() -> impl Strategy<Value = String> {
    prop::collection::vec(block(), 0..4).prop_map(|blocks| blocks.join("\n"))
}

fn title() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["Alpha", "Beta", "偏好", "C#", "项目 one"]).prop_map(str::to_owned)
}

/// Generates a file: any preamble, some sections, any line break, perhaps a byte order mark and no line break at its
/// end.
fn file() -> impl Strategy<Value = String> {
    let section = (title(), body(), prop::sample::select(vec!["", " ##", "  "]))
        .prop_map(|(title, body, closing)| format!("## {title}{closing}\n{body}"));
    let style = (any::<bool>(), prop::sample::select(vec!["\n", "\r\n", "\r"]), any::<bool>());
    (body(), prop::collection::vec(section, 0..5), style).prop_map(
        |(preamble, sections, (mark, eol, ends))| {
            let text = std::iter::once(preamble).chain(sections).collect::<Vec<_>>().join("\n");
            let end = if ends { "\n" } else { "" };
            format!("{}{text}{end}", if mark { "\u{feff}" } else { "" }).replace('\n', eol)
        },
    )
}

#[derive(Debug, Clone)]
enum SectionOp {
    Add(String, String),
    Replace(String, usize, String),
    Remove(String),
}

fn op() -> impl Strategy<Value = SectionOp> {
    prop_oneof![
        3 => (title(), body()).prop_map(|(title, body)| SectionOp::Add(title, body)),
        2 => (title(), any::<prop::sample::Index>(), "[x-z茶]{0,3}")
            .prop_map(|(title, at, new)| SectionOp::Replace(title, at.index(40), new)),
        1 => title().prop_map(SectionOp::Remove),
    ]
}

/// The same file as a list of titles and texts, with plain line breaks and without blank lines around.
type SectionModel = Vec<(String, String)>;

fn normalized(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = text.split('\n').collect();
    let filled = |line: &str| !line.trim().is_empty();
    match (lines.iter().position(|line| filled(line)), lines.iter().rposition(|line| filled(line)))
    {
        (Some(first), Some(last)) => lines[first..=last].join("\n"),
        _ => String::new(),
    }
}

fn model(text: &str) -> SectionModel {
    let sections = MarkdownSections::parse(text);
    sections.iter().map(|section| (section.title.to_owned(), normalized(section.body))).collect()
}

/// Returns the piece of a section that an operation is about: some characters from the middle.
fn excerpt(body: &str, at: usize) -> String {
    let length = body.chars().count();
    body.chars().skip(at % length.max(1)).take(3).collect()
}

/// Applies the edit to the file and to the model; the model changes only if the file did.
fn apply(op: &SectionOp, text: &str, model: &mut SectionModel) -> Option<String> {
    let sections = MarkdownSections::parse(text);
    let index =
        |title: &str, model: &SectionModel| model.iter().position(|(other, _)| other == title);
    match op {
        SectionOp::Add(title, content) => {
            let edited = sections.add(title, content).ok()?.text;
            let content = normalized(content.trim_end());
            match index(title, model) {
                None => model.push((title.clone(), content)),
                Some(index) if model[index].1.is_empty() => model[index].1 = content,
                Some(index) => model[index].1 += &format!("\n{content}"),
            }
            Some(edited)
        }
        SectionOp::Replace(title, at, new) => {
            let index = index(title, model)?;
            let old = excerpt(&model[index].1, *at);
            let edited = sections.replace(title, &old, new).ok()?.text;
            assert_eq!(model[index].1.matches(&old).count(), 1, "{old:?} in {:?}", model[index]);
            model[index].1 = normalized(&model[index].1.replace(&old, new));
            Some(edited)
        }
        SectionOp::Remove(title) => {
            let edited = sections.remove(title).ok()?.text;
            model.remove(index(title, model)?);
            Some(edited)
        }
    }
}

/// Returns the text outside of the first section with this title, before and after it.
fn outside(text: &str, title: &str) -> (String, String) {
    let sections = MarkdownSections::parse(text);
    let Some(section) = sections.get(title) else { return (text.to_owned(), String::new()) };
    let start = section.text.as_ptr() as usize - text.as_ptr() as usize;
    (text[..start].to_owned(), text[start + section.text.len()..].to_owned())
}

proptest! {
    #[test]
    fn any_text_is_the_sum_of_its_parts(text in any::<String>(), file in file()) {
        for text in [text, file] {
            let sections = MarkdownSections::parse(&text);
            let joined: String = sections.spans.iter().map(|part| sections.text_of(part)).collect();
            prop_assert_eq!(joined, text);
        }
    }

    #[test]
    fn any_sequence_of_edits_equals_the_same_edits_on_a_list(
        file in file(),
        ops in prop::collection::vec(op(), 1..12),
    ) {
        let (mut text, mut expected) = (file, model(""));
        expected.extend(model(&text));
        for op in &ops {
            let (SectionOp::Add(title, _) | SectionOp::Replace(title, ..) | SectionOp::Remove(title)) = op;
            let (before, after) = outside(&text, title);
            let Some(edited) = apply(op, &text, &mut expected) else { continue };
            prop_assert_eq!(model(&edited), expected.clone(), "{:?} on {:?}", op, text);
            prop_assert!(edited.starts_with(&before) && edited.ends_with(&after), "{op:?} on {text:?}");
            text = edited;
        }
    }

    #[test]
    fn no_edit_with_any_text_touches_another_section(
        file in file(),
        title in title(),
        content in any::<String>(),
        markup in "[#`~<!>\\- \na]{0,30}",
    ) {
        let sections = MarkdownSections::parse(&file);
        let (before, after) = outside(&file, &title);
        for content in [content, markup] {
            let old = sections.get(&title).map(|section| excerpt(section.body, 2)).unwrap_or_default();
            for edited in [sections.add(&title, &content), sections.replace(&title, &old, &content)] {
                let Ok(edited) = edited else { continue };
                prop_assert!(edited.text.starts_with(&before) && edited.text.ends_with(&after));
                let others = |text: &str| {
                    let mut others = model(text);
                    if let Some(own) = others.iter().position(|(other, _)| *other == title) {
                        others.remove(own);
                    }
                    others
                };
                prop_assert_eq!(others(&edited.text), others(&file));
            }
        }
    }
}
