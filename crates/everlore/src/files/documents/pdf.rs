//! Text of PDF files, with the feature `pdf`.

use crate::error::{Error, Result};

/// Returns the text of all pages.
#[cfg(feature = "pdf")]
pub(super) fn text(bytes: &[u8]) -> Result<String> {
    // The reader is written for good files and panics on some bad ones.
    let read = std::panic::catch_unwind(|| pdf_extract::extract_text_from_mem(bytes));
    match read {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(unreadable(&error.to_string())),
        Err(_) => Err(unreadable("its structure is damaged")),
    }
}

#[cfg(feature = "pdf")]
fn unreadable(why: &str) -> Error {
    Error::invalid(
        format!("it is a PDF file that cannot be read: {why}"),
        "convert it to text first, for example with pdftotext",
    )
}

/// Returns the error of a program without the feature.
#[cfg(not(feature = "pdf"))]
pub(super) fn text(_bytes: &[u8]) -> Result<String> {
    Err(Error::invalid(
        "it is a PDF file, which this program was built without",
        "convert it first, for example with pdftotext, or install with: cargo install --features pdf",
    ))
}

#[cfg(all(test, feature = "pdf"))]
mod tests {
    use super::*;

    /// Creates a page with one line of text.
    fn page(text: &str) -> Vec<u8> {
        let stream = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        let objects = [
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> >>"
                .to_owned(),
            format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
        ];
        let mut pdf = String::from("%PDF-1.4\n");
        let mut table = String::from("0000000000 65535 f \n");
        for (index, object) in objects.iter().enumerate() {
            table += &format!("{:010} 00000 n \n", pdf.len());
            pdf += &format!("{} 0 obj\n{object}\nendobj\n", index + 1);
        }
        let start = pdf.len();
        pdf += &format!(
            "xref\n0 6\n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
        );
        pdf.into_bytes()
    }

    #[test]
    fn the_text_of_pages_is_read_and_damaged_files_are_refused() {
        assert!(
            text(&page("Green tea at eighty degrees"))
                .unwrap()
                .contains("Green tea at eighty degrees")
        );
        let good = page("tea");
        for bytes in [&b"%PDF-1.4"[..], b"", &good[..good.len() / 2]] {
            assert!(text(bytes).unwrap_err().hint().contains("pdftotext"));
        }
    }
}
