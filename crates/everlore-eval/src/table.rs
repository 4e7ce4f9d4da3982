//! Markdown tables, so that results can be pasted into a document.

/// Renders rows below a head, columns aligned: the first to the left, the others to the right.
pub(crate) fn render(head: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = rows.iter().map(|row| width(&row[column]));
            cells.chain([width(head[column]), 3]).max().unwrap_or(3)
        })
        .collect();
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let lines = [&head, &rule].into_iter().chain(rows);
    lines.map(|row| line(row, &widths)).collect()
}

/// Formats a number with three significant digits.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut text = String::from("|");
    for (column, (cell, wanted)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(wanted.saturating_sub(width(cell)));
        text += &if column == 0 { format!(" {cell}{gap} |") } else { format!(" {gap}{cell} |") };
    }
    text + "\n"
}

fn width(cell: &str) -> usize {
    cell.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let table = render(&["system", "ms"], &[vec!["bm25".into(), number(12.345)]]);
        assert_eq!(table, "| system |   ms |\n| ------ | ---- |\n| bm25   | 12.3 |\n");
    }
}
