//! The text of PDF files, where the program was built to read them.

use crate::error::{Error, Result};

/// The text of all pages.
#[cfg(feature = "pdf")]
pub(super) fn text(bytes: &[u8]) -> Result<String> {
    // The reader is written for good files and stops the program on some bad ones.
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

/// Says that this program cannot read them.
#[cfg(not(feature = "pdf"))]
pub(super) fn text(_bytes: &[u8]) -> Result<String> {
    Err(Error::invalid(
        "it is a PDF file, which this program was built without",
        "convert it first, for example with pdftotext, or install with: cargo install --features pdf",
    ))
}
