//! Tests: golden examples of each format, and invariants of any document.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{chunk::MAX_CHUNK_TOKENS, *};
use crate::text::tokens::estimate_tokens;

const FORMATS: [DocFormat; 4] =
    [DocFormat::Plain, DocFormat::Markdown, DocFormat::Html, DocFormat::Code];

fn chunks(text: &str, format: DocFormat) -> Vec<Chunk> {
    parse(text.as_bytes(), format).unwrap().chunks
}

/// Returns each chunk as its headings, its lines and its text.
fn chunk_rows(text: &str, format: DocFormat) -> Vec<(String, (usize, usize), String)> {
    let row = |chunk: Chunk| {
        (chunk.heading_path.join(" › "), (chunk.start_line, chunk.end_line), chunk.text)
    };
    chunks(text, format).into_iter().map(row).collect()
}

fn chunk_row(path: &str, lines: (usize, usize), text: &str) -> (String, (usize, usize), String) {
    (path.to_owned(), lines, text.to_owned())
}

#[test]
fn small_paragraphs_make_one_chunk() {
    assert_eq!(
        chunk_rows("First line\r\nsecond.\r\n\r\n\r\n第二段。\r\n", DocFormat::Plain),
        [chunk_row("", (1, 5), "First line\nsecond.\n\n第二段。")]
    );
    assert_eq!(chunk_rows(" \n\n\t\n", DocFormat::Plain), []);
}

#[test]
fn markdown_is_cut_at_its_headings() {
    let text = "---\ntitle: \"Handbook\"\ntags: [a, b]\n---\n# Handbook\n\n## Set up\nRun `make`.\n\n\
                ### 安装 [步骤](x.md)\n先运行 make。\n\nSetext\n======\nThe end.\n";
    assert_eq!(
        chunk_rows(text, DocFormat::Markdown),
        [
            chunk_row("Handbook › Set up", (5, 8), "# Handbook\n\n## Set up\n\nRun `make`."),
            chunk_row(
                "Handbook › Set up › 安装 步骤",
                (10, 11),
                "### 安装 [步骤](x.md)\n\n先运行 make。"
            ),
            chunk_row("Handbook › Setext", (13, 15), "Setext\n======\n\nThe end."),
        ]
    );
    assert_eq!(parse(text.as_bytes(), DocFormat::Markdown).unwrap().title.unwrap(), "Handbook");
}

#[test]
fn a_rule_at_the_top_is_no_front_matter() {
    let text = "---\nJust words here\n---\nmore";
    let parsed = parse(text.as_bytes(), DocFormat::Markdown).unwrap();
    assert_eq!(parsed.title, None);
    assert!(parsed.chunks.iter().any(|chunk| chunk.text.contains("Just words here")));
    let open = chunk_rows("---\ntitle: x\nno end", DocFormat::Markdown);
    assert!(open[0].2.contains("title: x"), "{open:?}");
}

#[test]
fn fences_lists_and_tables_are_never_split_in_the_middle() {
    let fence = format!("```sh\n# not a heading\n\n{}```", "echo some words to say\n".repeat(60));
    let list = format!(
        "Steps:\n- one\n\n  ```\n  # no heading\n  ```\n{}",
        "- 再来一步，仔细看说明\n".repeat(50)
    );
    let table = format!("| a | b |\n|---|---|\n{}", "| cell of a row | another one |\n".repeat(60));
    let filler = "A sentence that fills the page. ".repeat(40);
    let text = format!("# Top\n{filler}\n\n{fence}\n\n{filler}\n\n{list}\n\n{filler}\n\n{table}\n");
    let chunks = chunks(&text, DocFormat::Markdown);
    for block in [&fence, &list, &table] {
        assert!(chunks.iter().any(|chunk| chunk.text.contains(block.trim_end())), "{block}");
    }
    assert!(chunks.iter().all(|chunk| chunk.heading_path == ["Top"]));
    assert!(chunks.len() >= 5);
}

#[test]
fn the_words_above_a_list_or_a_table_stay_with_it_and_link_definitions_are_kept() {
    let filler = "A sentence that fills the page. ".repeat(50);
    for block in ["Steps:\n- one\n- two", "Prices:\n| a | b |\n|---|---|\n| 1 | 2 |"] {
        let text = format!("{filler}\n\n{block}\n\n[link]: https://example.org\n\n{filler}\n");
        let chunks = chunks(&text, DocFormat::Markdown);
        let kept = format!("{block}\n\n[link]: https://example.org");
        assert!(chunks.iter().any(|chunk| chunk.text.contains(&kept)), "{chunks:?}");
    }
}

#[test]
fn what_no_prompt_has_room_for_is_split_between_lines() {
    let table =
        format!("| a | b |\n|---|---|\n{}", "| cell of a row | another one |\n".repeat(2_000));
    let chunks = chunks(&table, DocFormat::Markdown);
    assert!(chunks.len() > 50);
    for chunk in &chunks {
        assert!(estimate_tokens(&chunk.text) <= MAX_CHUNK_TOKENS);
        assert!(chunk.text.lines().all(|line| line.starts_with('|') && line.ends_with('|')));
    }
    assert_eq!(chunks[1].start_line, chunks[0].end_line + 1);
}

#[test]
fn html_gives_its_text_below_its_headings() {
    let text = "<!DOCTYPE html><html><head><title>Tea &amp; Co</title><style>p{}</style></head>\n<body>\
                <nav><ul><li>Home</li></ul></nav>\n<h1>Tea &amp; Co</h1>\n<p>We sell <b>green</b> tea,\n\
                caf&eacute; too.</p>\n<script>if (a < b) { alert('x') }</script>\n<h2>价格</h2>\n\
                <ul><li><p>龙井</p></li><li>Black<br>tea</li></ul>\n<table><tr><th>a</th><th>b</th></tr>\
                <tr><td>1</td><td>2 < 3</td></tr></table><pre>  x =\n    1</pre></body></html>";
    assert_eq!(
        chunk_rows(text, DocFormat::Html),
        [
            chunk_row("Tea & Co", (3, 5), "# Tea & Co\n\nWe sell green tea, café too."),
            chunk_row(
                "Tea & Co › 价格",
                (7, 10),
                "## 价格\n\n- 龙井\n- Black\ntea\n\na | b\n1 | 2 < 3\n\n  x =\n    1"
            ),
        ]
    );
}

#[test]
fn broken_html_still_gives_its_text() {
    let text = "<p>one<div>two <a href=\"x>three</a> <nav>four <b five < six";
    let all =
        chunk_rows(text, DocFormat::Html).into_iter().map(|(_, _, text)| text).collect::<String>();
    for word in ["one", "two", "four", "six"] {
        assert!(all.contains(word), "{word} in {all}");
    }
}

#[test]
fn code_is_cut_between_top_level_items() {
    let body = "    let value = compute_something(input, other);\n".repeat(25);
    let text = format!(
        "use std::fs;\n\n/// Reads it.\npub fn read_config(path: &str) {{\n{body}\n{body}}}\n\n\
         #[test]\nfn writes() {{\n{body}}}\n"
    );
    let chunks = chunks(&text, DocFormat::Code);
    assert!(chunks.iter().any(|chunk| chunk.heading_path == ["pub fn read_config(path: &str)"]));
    let last = chunks.last().unwrap();
    assert_eq!(last.heading_path, ["fn writes()"]);
    assert!(last.text.starts_with("#[test]\nfn writes()"), "{}", last.text);
    let python = "import os\n\nclass Tea:\n    def brew(self):\n        pass\n\n    def pour(self):\n        pass\n";
    assert_eq!(
        chunk_rows(python, DocFormat::Code),
        [chunk_row("class Tea", (1, 8), python.trim_end())]
    );
}

#[test]
fn a_format_is_known_by_the_name() {
    assert_eq!(DocFormat::from_path("a/README.MD"), DocFormat::Markdown);
    assert_eq!(DocFormat::from_path("index.htm"), DocFormat::Html);
    assert_eq!(
        (DocFormat::from_path("src/main.rs"), programming_language("src/main.rs")),
        (DocFormat::Code, Some("rust"))
    );
    assert_eq!(
        (DocFormat::from_path("x/Dockerfile"), programming_language("Makefile")),
        (DocFormat::Code, Some("make"))
    );
    assert_eq!(
        (DocFormat::from_path("data.csv"), DocFormat::from_path("LICENSE")),
        (DocFormat::Plain, DocFormat::Plain)
    );
    assert_eq!(DocFormat::from_path("paper.pdf"), DocFormat::Pdf);
}

#[cfg(not(feature = "pdf"))]
#[test]
fn without_the_feature_a_pdf_is_answered_with_what_to_do() {
    let error = parse(b"%PDF-1.7", DocFormat::Pdf).unwrap_err();
    assert!(error.hint().contains("--features pdf"), "{}", error.hint());
}

/// Returns the text without its blanks, of which nothing may be lost.
fn without_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn check(text: &str, format: DocFormat) {
    let chunks = chunks(text, format);
    if format != DocFormat::Html {
        let all: String = chunks.iter().map(|chunk| without_whitespace(&chunk.text)).collect();
        assert_eq!(all, without_whitespace(text), "{format:?}");
    }
    let mut line = 1;
    for chunk in &chunks {
        assert!(!chunk.text.trim().is_empty());
        assert!(chunk.start_line >= line && chunk.start_line <= chunk.end_line, "{chunk:?}");
        assert!(chunk.end_line <= text.lines().count().max(1), "{chunk:?}");
        line = chunk.start_line;
        let tokens = estimate_tokens(&chunk.text);
        let may_be_whole = matches!(format, DocFormat::Markdown | DocFormat::Html);
        let max = if may_be_whole { MAX_KEEP_TOGETHER_TOKENS + TARGET } else { MAX_CHUNK_TOKENS };
        assert!(tokens <= max, "{format:?}: {tokens} tokens in {:?}", chunk.text);
    }
}

/// Tokens of headings that may precede a block in one piece.
const TARGET: usize = 300;

/// Generates lines as documents have them, and some as they should not.
fn line() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "",
        "",
        "# Title",
        "## 小节",
        "###### deep",
        "- item",
        "1. first",
        "  continued",
        "    code",
        "```",
        "~~~",
        "| a | b |",
        "|---|---|",
        "===",
        "* * *",
        "> quote",
        "fn main() {",
        "}",
        "\tpass",
        "<p>",
        "<ul><li>x",
        "</ul>",
        "<h2>Head</h2>",
        "<script>",
        "</script>",
        "<nav>",
        "<!--",
        "<a b='",
    ]);
    prop_oneof![
        3 => fixed.prop_map(str::to_owned),
        2 => "[a-z ]{1,60}\\.",
        1 => "[龙井茶喝早上一杯，。]{1,80}",
        1 => "\\PC{0,40}",
        1 => (1usize..3_000).prop_map(|count| "long words here. ".repeat(count / 10)),
        1 => (1usize..2_000).prop_map(|count| "茶".repeat(count)),
    ]
}

proptest! {
    // Each case is a long document in four formats.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost_and_nothing_is_too_long(lines in prop::collection::vec(line(), 0..60)) {
        let text = lines.join("\n");
        for format in FORMATS {
            check(&text, format);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        for format in FORMATS {
            if let Err(error) = parse(&bytes, format) {
                prop_assert!(!error.hint().is_empty());
            }
        }
    }
}

/// Units that are slow for a reader that looks ahead or back too often.
#[rustfmt::skip]
const HOSTILE: [&str; 33] = [
    "<nav>", "<a b='x>y' ", "<", "<!--", "<ul>", "&", "# a\n", "- a\n", "```\n", "\n", " ", "    a\n\n", "a", "茶",
    "|-|\n", "a\n---\n", "((((", "🎉", "- ```\n", "<h1>", "<table><tr><td>", "](", "* * *\n", "{#", "fn a:\n\n",
    "- ", "> ", "[", "*a_", "![[]()", "[a]: b\n", "a|", "`` ` ",
];

fn assert_soon(name: &str, text: &str, limit: Duration) {
    for format in FORMATS {
        let start = Instant::now();
        chunks(text, format);
        let took = start.elapsed();
        assert!(took < limit, "{name:?} as {format:?} took {took:?}");
    }
}

#[test]
fn work_grows_with_the_text_and_not_with_its_square() {
    for unit in HOSTILE {
        // A tenth of a second, unoptimised; quadratic time would be minutes.
        assert_soon(unit, &unit.repeat(30_000 / unit.len()), Duration::from_secs(5));
    }
    for marker in ["- ", "> "] {
        let deep = marker.repeat(60_000) + &"a\n".repeat(60_000);
        assert_soon(marker, &deep, Duration::from_secs(5));
    }
}

#[test]
fn a_megabyte_of_everything_is_cut_in_seconds() {
    let some: String = HOSTILE.iter().map(|unit| unit.repeat(400 / unit.len())).collect();
    assert_soon("all of it", &some.repeat(1_000_000 / some.len()), Duration::from_secs(60));
}
