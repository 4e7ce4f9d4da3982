//! Tests of `markdown`: styles, code, wrapped lines, tables, and chunks of any size.

use super::*;

fn rendered(text: &str) -> String {
    rendered_at(text, None)
}

fn rendered_at(text: &str, width: Option<usize>) -> String {
    let mut markdown = MarkdownRenderer::new(width);
    let out = markdown.push(text);
    out + &markdown.finish()
}

/// Renders a text with names for the styles.
fn with_style_names(text: &str) -> String {
    let names = [(BOLD, "<b>"), (FAINT, "<f>"), (ITALIC, "<i>"), (CODE, "<c>"), (RESET, "</>")];
    names.iter().fold(rendered(text), |text, (code, name)| text.replace(code, name))
}

#[test]
fn markers_become_styles() {
    assert_eq!(with_style_names("# Tea\nplain"), "<b>Tea</>\nplain\n");
    assert_eq!(with_style_names("a **bold** word"), "a </><b>bold</> word\n");
    assert_eq!(with_style_names("*so* and `x * y`"), "</><i>so</> and </><c>x * y</>\n");
    assert_eq!(with_style_names("- one\n  * two\n+ 三"), "• one\n  • two\n• 三\n");
    assert_eq!(with_style_names("> quoted"), "<f>│</> quoted\n");
    assert_eq!(with_style_names("---\nx"), "<f>────────────────────</>\nx\n");
}

#[test]
fn code_is_left_as_it_is() {
    let code = "```rust\nlet a_b = **x**; # no\n\n```\n**now**";
    let expected = "<f>```rust</>\n<c>let a_b = **x**; # no</>\n\n<f>```</>\n</><b>now</>\n";
    assert_eq!(with_style_names(code), expected);
}

#[test]
fn text_that_only_looks_like_a_marker_is_shown() {
    assert_eq!(with_style_names("2 * 3 * 4 = 24"), "2 * 3 * 4 = 24\n");
    assert_eq!(with_style_names("snake_case_name and #1"), "snake_case_name and #1\n");
    assert_eq!(with_style_names("#1 of 3\n-5 degrees"), "#1 of 3\n-5 degrees\n");
    assert_eq!(with_style_names(r"\*not\* C:\dir"), "*not* C:\\dir\n");
    assert_eq!(with_style_names("我最喜欢**龙井茶**。"), "我最喜欢</><b>龙井茶</>。\n");
}

#[cfg(unix)]
#[test]
fn chunks_of_any_size_render_the_same() {
    let text = "# 标题\n\nSome **bold**, *it* and `code`.\n\n```sh\nls -la\n```\n1. one\n- 茶 *\n";
    let whole = rendered(text);
    let mut markdown = MarkdownRenderer::new(None);
    let single: String = text.chars().map(|c| markdown.push(c.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(single + &markdown.finish(), whole);
    let text = format!("{text}\n| a | 茶 |\n|---|---|\n| one two | 龙井茶很好喝 |\n\nend of it");
    let whole = rendered_at(&text, Some(12));
    let mut markdown = MarkdownRenderer::new(Some(12));
    let single: String = text.chars().map(|c| markdown.push(c.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(on_screen(&(single + &markdown.finish())), on_screen(&whole));
}

/// Returns what a terminal shows of a text without styles, after words were taken back.
#[cfg(unix)]
fn on_screen(text: &str) -> String {
    let mut screen = vt100::Parser::new(
        std::num::NonZeroU16::new(60).unwrap(),
        std::num::NonZeroU16::new(12).unwrap(),
        0,
    );
    screen.process(text.replace('\n', "\r\n").as_bytes());
    screen.screen().contents()
}

#[test]
fn lines_wrap_at_the_width_of_the_terminal() {
    let text = "- I drink **green tea** every morning\n> 我喜欢喝龙井茶，每天早上一杯\n";
    let shown = rendered_at(text, Some(16)).replace(BOLD, "").replace(FAINT, "").replace(RESET, "");
    assert_eq!(
        shown,
        "• I drink green\n  tea every\n  morning\n│ 我喜欢喝龙井\n│ 茶，每天早上一\n│ 杯\n"
    );
    let code = "```\nlet a = some_function(argument);\n```\n";
    assert!(rendered_at(code, Some(16)).contains("let a = some_function(argument);"));
}

#[test]
fn tables_line_up() {
    let table = "| Tea | Price |\n|:---|---:|\n| 龙井茶 | 12 |\n| **Black** | `8` |\nafter";
    let shown = with_style_names(table);
    assert_eq!(shown, "<b>Tea     Price</>\n<f>──────  ─────</>\n龙井茶  12\nBlack   8\nafter\n");
    assert_eq!(with_style_names("| not a table\nx"), "| not a table\nx\n");
}

#[test]
fn text_is_shown_before_its_line_ends() {
    let mut markdown = MarkdownRenderer::new(None);
    assert_eq!(markdown.push("Hello, wor"), "Hello, wor");
    assert_eq!(markdown.push("ld"), "ld");
}

#[test]
fn an_answer_cannot_steer_the_terminal() {
    assert_eq!(rendered("a\u{1b}[2Jb\u{7}"), "a[2Jb\n");
}
