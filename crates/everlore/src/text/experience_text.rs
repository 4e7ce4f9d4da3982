//! Experiences in words: the text that people read and search, and the signatures of the error that they are about.

use super::{
    error_signature::{ErrorSignature, lookup_keys, signature},
    language::{Language, detect_language},
};
use crate::types::Experience;

/// Labels of problem, solution, outcome and circumstances in one language.
const ENGLISH_LABELS: [&str; 4] = ["Problem: ", "Solution: ", "Outcome: ", "Context: "];
const CHINESE_LABELS: [&str; 4] = ["问题：", "解决：", "结果：", "背景："];

/// Returns the text of an experience: its parts in lines, with labels in the language of its writer.
pub(crate) fn experience_text(experience: &Experience) -> String {
    let Experience { pain, solution, outcome, context, .. } = experience;
    // An error is English in any conversation, so one Chinese part decides.
    let parts = [pain, solution, outcome];
    let is_chinese = parts.iter().any(|part| detect_language(part) == Language::Chinese);
    let labels = if is_chinese { CHINESE_LABELS } else { ENGLISH_LABELS };
    let parts = labels.into_iter().zip([pain, solution, outcome, context]);
    let lines = parts.filter(|(_, part)| !part.trim().is_empty());
    lines.map(|(label, part)| format!("{label}{}", part.trim())).collect::<Vec<_>>().join("\n")
}

/// Returns the signatures of what an experience is about: its error and its problem in words.
pub(crate) fn experience_signatures(experience: &Experience) -> Vec<ErrorSignature> {
    let texts = experience.error.iter().chain(std::iter::once(&experience.pain));
    texts.filter(|text| !text.trim().is_empty()).map(|text| signature(text)).collect()
}

/// Returns the keys by which the index finds signatures, each once, as numbers that JSON keeps everywhere.
pub(crate) fn error_keys_of(signatures: &[ErrorSignature]) -> Vec<u64> {
    // Programs that read numbers as floating point keep 53 bits.
    const LOST_BITS: u32 = 64 - 53;
    let keys = signatures.iter().flat_map(lookup_keys);
    let mut keys: Vec<u64> = keys.map(|key| key >> LOST_BITS).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_the_language_of_the_problem() {
        let experience = |pain: &str, solution: &str| Experience {
            pain: pain.into(),
            solution: solution.into(),
            ..Experience::default()
        };
        let english = experience("The linker is missing", "Install gcc");
        assert_eq!(
            experience_text(&english),
            "Problem: The linker is missing\nSolution: Install gcc"
        );
        let chinese = experience("找不到链接器", "安装 gcc");
        assert_eq!(experience_text(&chinese), "问题：找不到链接器\n解决：安装 gcc");
    }
}
