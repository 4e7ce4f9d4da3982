//! Terminal picture of the README: real commands and their real output, drawn as an SVG file.
//!
//! The test fails if the picture differs from what the binary prints; `UPDATE_DOCS=1` draws it again.

use std::fs;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::{
    home::TestHome,
    readme::{root, run_in_shell},
};

const FILE: &str = "docs/images/tour.svg";

/// Commands of the picture, and comments on them.
const COMMANDS: [(&str, &str); 6] = [
    (r#"everlore remember "I'm allergic to peanuts""#, ""),
    (r#"everlore remember "我喜欢喝龙井茶，每天早上一杯""#, ""),
    (r#"everlore recall "早上喝什么？""#, "# what do I drink in the morning?"),
    (r#"everlore context "帮我订一家餐厅""#, "# book me a restaurant"),
    (r#"everlore context "Thanks, that's all!""#, "# nothing matters: nothing is added"),
    ("everlore memory undo --last", ""),
];

/// Column of the comments.
const COMMENT_COLUMN: usize = 46;

/// Columns of the terminal; a longer line fails the test.
const COLUMNS: usize = 84;

/// Sizes in pixels: a cell of the terminal, the margin around the text, and the bar with the window buttons.
const CELL: f64 = 8.4;
const LINE: usize = 21;
const MARGIN: usize = 20;
const TITLE_BAR: usize = 38;

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:#d1d9e0}
.wide{font-family:'PingFang SC','Noto Sans CJK SC','Noto Sans SC','Source Han Sans SC','Microsoft YaHei',sans-serif;font-size:16px}
.bold{font-weight:bold;fill:#fff}
.dim{fill:#8b949e}
.prompt{fill:#3fb950}
.command{fill:#79c0ff}
.full{fill:#d29922}
.empty{fill:#373e47}";

/// Text of one style within a line.
struct TextSpan {
    text: String,
    style: &'static str,
    glyphs: Glyphs,
    /// First cell.
    column: usize,
    cells: usize,
}

/// Kinds of characters, which need different drawing.
#[derive(Clone, Copy, PartialEq)]
enum Glyphs {
    Narrow,
    /// Two cells each: Han characters and their punctuation.
    Wide,
    /// Blocks of a score bar, drawn as rectangles: fonts disagree about their size.
    Full,
    Empty,
}

#[test]
fn the_picture_shows_what_the_commands_print() {
    let expected = svg(&transcript(&TestHome::new()));
    let path = root().join(FILE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &expected).unwrap();
    }
    let actual = fs::read_to_string(&path).unwrap_or_default();
    let advice = "run `UPDATE_DOCS=1 cargo test -p everlore-cli picture` and commit the result";
    assert!(actual == expected, "{FILE} is out of date: {advice}\n{expected}");
}

#[test]
fn the_picture_needs_no_other_file_and_runs_nothing() {
    let picture = fs::read_to_string(root().join(FILE)).unwrap();
    for part in ["<script", "href", "url(", "@import", "@font-face", "<image", "onload"] {
        assert!(!picture.contains(part), "{part}");
    }
}

/// Runs the commands and returns the lines of the terminal.
fn transcript(home: &TestHome) -> Vec<Vec<TextSpan>> {
    let mut lines = Vec::new();
    for (command, comment) in COMMANDS {
        lines.push(command_line(command, comment));
        let colored = command.replace("everlore ", "everlore --color always ");
        let printed = with_stable_ids(home, &run_in_shell(home, &colored));
        lines.extend(printed.lines().map(output_line));
    }
    lines
}

fn command_line(command: &str, comment: &str) -> Vec<TextSpan> {
    let gap = COMMENT_COLUMN.saturating_sub(2 + command.width());
    let comment = format!("{}{comment}", " ".repeat(gap));
    spans(&[("$ ", "prompt"), (command, "command"), (&comment, "dim")])
}

/// Splits a printed line at its escape sequences.
fn output_line(line: &str) -> Vec<TextSpan> {
    let mut parts = line.split("\x1b[");
    let plain = parts.next().unwrap_or_default();
    let styled = parts.map(|part| match part.split_once('m') {
        Some(("0", text)) => (text, "plain"),
        Some(("1", text)) => (text, "bold"),
        Some(("2", text)) => (text, "dim"),
        _ => panic!("the picture has no style for {part:?}"),
    });
    spans(&[(plain, "plain")].into_iter().chain(styled).collect::<Vec<_>>())
}

/// Lays texts out on the cells of a line.
fn spans(parts: &[(&str, &'static str)]) -> Vec<TextSpan> {
    let mut line: Vec<TextSpan> = Vec::new();
    let mut column = 0;
    for &(text, style) in parts {
        for char in text.chars() {
            let (glyphs, cells) = (glyphs(char), char.width().unwrap_or_default());
            match line.last_mut() {
                Some(span) if (span.style, span.glyphs) == (style, glyphs) => {
                    span.text.push(char);
                    span.cells += cells;
                }
                _ => line.push(TextSpan { text: char.into(), style, glyphs, column, cells }),
            }
            column += cells;
        }
    }
    assert!(column <= COLUMNS, "{column} cells are too many: {parts:?}");
    line
}

fn glyphs(char: char) -> Glyphs {
    match char {
        '█' => Glyphs::Full,
        '░' => Glyphs::Empty,
        _ if char.width() == Some(2) => Glyphs::Wide,
        _ => Glyphs::Narrow,
    }
}

/// Replaces the ids in a text, which differ from run to run, by numbered ones.
fn with_stable_ids(home: &TestHome, text: &str) -> String {
    let list = home.json(&["memory", "list"]);
    let newest_first: Vec<&str> =
        list["memories"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    let is_separator = |c: char| !c.is_ascii_hexdigit() && c != '-';
    let words = text.split_inclusive(is_separator).map(|word| {
        let id = word.trim_end_matches(is_separator);
        let is_named = |it: &&str| id.len() >= 8 && it[24..].starts_with(id);
        let position = newest_first.iter().position(is_named);
        position.map_or_else(
            || word.to_owned(),
            |position| word.replace(id, &format!("5f2d1e8{}", newest_first.len() - position)),
        )
    });
    words.collect()
}

/// Draws a window with these lines.
fn svg(lines: &[Vec<TextSpan>]) -> String {
    let width = (COLUMNS as f64 * CELL) as usize + 2 * MARGIN;
    let height = TITLE_BAR + lines.len() * LINE + MARGIN;
    let buttons: String = [(20, "#ff5f57"), (40, "#febc2e"), (60, "#28c840")]
        .iter()
        .map(|(x, color)| format!("<circle cx=\"{x}\" cy=\"20\" r=\"6\" fill=\"{color}\"/>\n"))
        .collect();
    let text: String = lines.iter().enumerate().map(|(row, line)| draw_line(row, line)).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title\">\n\
         <!-- Made by crates/everlore-cli/tests/it/picture.rs. \
         Update with: UPDATE_DOCS=1 cargo test -p everlore-cli picture -->\n\
         <title id=\"title\">A terminal: everlore stores and recalls in English and Chinese</title>\n\
         <style>\n{STYLE}\n</style>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n\
         {buttons}{text}</svg>\n",
        width - 1,
        height - 1
    )
}

/// Draws a line: its text as one element, and a rectangle for each block of a bar.
fn draw_line(row: usize, line: &[TextSpan]) -> String {
    let top = TITLE_BAR + row * LINE;
    let is_bar = |span: &&TextSpan| [Glyphs::Full, Glyphs::Empty].contains(&span.glyphs);
    let bars: String = line.iter().filter(is_bar).map(|span| draw_bar(top, span)).collect();
    let text: String = line.iter().filter(|span| !is_bar(span)).map(draw_span).collect();
    if text.is_empty() {
        return bars;
    }
    format!("{bars}<text y=\"{}\" xml:space=\"preserve\">{text}</text>\n", top + 15)
}

/// Draws a span at its cell, as wide as its cells whatever the font.
fn draw_span(span: &TextSpan) -> String {
    let indent = span.text.len() - span.text.trim_start_matches(' ').len();
    let text = span.text.trim_matches(' ');
    if text.is_empty() {
        return String::new();
    }
    let cells = span.cells - (span.text.len() - text.len());
    let wide = if span.glyphs == Glyphs::Wide { " wide" } else { "" };
    let (x, length) = (x(span.column + indent), cells as f64 * CELL);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<tspan class=\"{}{wide}\" x=\"{x:.1}\" textLength=\"{length:.1}\">{text}</tspan>",
        span.style
    )
}

fn draw_bar(top: usize, span: &TextSpan) -> String {
    let class = if span.glyphs == Glyphs::Full { "full" } else { "empty" };
    let (x, y, width) = (x(span.column), top + 4, span.cells as f64 * CELL);
    format!("<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"13\"/>\n")
}

fn x(column: usize) -> f64 {
    MARGIN as f64 + column as f64 * CELL
}
