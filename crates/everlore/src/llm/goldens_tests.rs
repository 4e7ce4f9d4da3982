//! Golden texts with the output of the Python reference, written by `tools/embedder/assets.py`.

use serde::Deserialize;

/// Text with its pieces and the first components of its vector.
#[derive(Deserialize)]
pub(crate) struct GoldenText {
    pub(crate) text: String,
    pub(crate) ids: Vec<u16>,
    pub(crate) vector: Vec<f32>,
}

pub(crate) fn goldens() -> Vec<GoldenText> {
    serde_json::from_str(include_str!("../../assets/embedder/golden.json")).unwrap()
}

/// Text in Chinese or both languages with its Chinese words, the pieces of the rest, and its vector.
#[derive(Deserialize)]
pub(crate) struct ChineseGolden {
    pub(crate) text: String,
    pub(crate) words: Vec<String>,
    pub(crate) ids: Vec<u16>,
    pub(crate) vector: Vec<f32>,
}

/// Returns the golden texts of `tools/bilingual/assets.py`.
pub(crate) fn chinese_goldens() -> Vec<ChineseGolden> {
    serde_json::from_str(include_str!("../../assets/embedder/golden_zh.json")).unwrap()
}
