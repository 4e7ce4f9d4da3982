//! Keys: hashes by which a store finds candidates before it compares signatures.

use xxhash_rust::xxh3::xxh3_64;

use super::{CodeKind, ErrorSignature};

/// Words of a shingle.
const SHINGLE: usize = 3;

/// Most shingles of a message that become keys.
const MAX_SHINGLES: usize = 16;

/// Returns the keys of a signature, sorted, each once. Two signatures that are the same failure share at least one.
pub(crate) fn lookup_keys(signature: &ErrorSignature) -> Vec<u64> {
    let mut keys = Vec::new();
    if let Some(failure) = &signature.failure {
        keys.extend([key("failure", &failure.name), key("failure", &failure.group)]);
    }
    keys.extend(signature.mentions.iter().map(|name| key("failure", name)));
    let telling = signature.codes.iter().filter(|code| code.kind != CodeKind::Exit);
    keys.extend(telling.map(|code| key("code", &format!("{:?} {}", code.kind, code.value))));
    keys.extend(shingles(&signature.message).iter().map(|words| key("words", words)));
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Cuts a normalised message into words: ASCII words and placeholders, and pairs of neighbouring CJK characters.
pub(super) fn tokens(message: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for chunk in message.split(|sign: char| !(sign.is_alphanumeric() || "_<>#".contains(sign))) {
        let signs: Vec<char> = chunk.chars().collect();
        for run in signs.chunk_by(|one, other| one.is_ascii() == other.is_ascii()) {
            match run {
                [first, ..] if first.is_ascii() => tokens.push(run.iter().collect()),
                [only] => tokens.push(only.to_string()),
                run => tokens.extend(run.windows(2).map(|pair| pair.iter().collect::<String>())),
            }
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

/// Returns whether two normalised messages have a shingle in common.
pub(super) fn share_shingle(left: &str, right: &str) -> bool {
    let right = shingles(right);
    shingles(left).iter().any(|shingle| right.contains(shingle))
}

fn shingles(message: &str) -> Vec<String> {
    let words: Vec<String> =
        tokens(message).into_iter().filter(|word| !word.starts_with('<')).collect();
    if words.len() < SHINGLE {
        return if words.is_empty() { Vec::new() } else { vec![words.join(" ")] };
    }
    words.windows(SHINGLE).take(MAX_SHINGLES).map(|window| window.join(" ")).collect()
}

fn key(kind: &str, value: &str) -> u64 {
    xxh3_64(format!("{kind}\u{0}{value}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{lookup_keys, tokens};
    use crate::text::error_signature::signature;

    fn share(a: &str, b: &str) -> bool {
        let (a, b) = (lookup_keys(&signature(a)), lookup_keys(&signature(b)));
        a.iter().any(|key| b.contains(key))
    }

    #[test]
    fn one_failure_in_two_languages_shares_a_key() {
        assert!(share(
            "fatal: not a git repository (or any of the parent directories): .git",
            "致命错误：不是一个 git 仓库"
        ));
        assert!(share(
            "FrobnicateError: gadget stuck in sector 7",
            "FrobnicateError: gadget stuck in sector 12"
        ));
        assert!(!share("make: *** No rule to make target 'all'.  Stop.", "KeyError: 'CHF'"));
    }

    #[test]
    fn chinese_is_cut_into_pairs() {
        assert_eq!(tokens("拒绝连接 <host> abc"), ["拒绝", "绝连", "连接", "<host>", "abc"]);
    }
}
