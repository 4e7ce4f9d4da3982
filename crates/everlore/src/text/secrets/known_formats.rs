//! Values with a known format: the prefix of a provider, a PEM block, the password in a URL.

use std::sync::LazyLock;

use regex::Regex;

use super::{SecretKind, SecretMatch, entropy, is_placeholder};

/// Prefixes of providers' keys, the fewest characters after them, and their kind. The comments name the gitleaks rules for
/// the same formats.
#[rustfmt::skip]
const PREFIXES: &[(&str, usize, SecretKind)] = &[
    // openai-api-key, anthropic-api-key and others
    ("sk-", 20, SecretKind::ApiKey),
    // stripe-access-token
    ("sk_live_", 16, SecretKind::ApiKey), ("sk_test_", 16, SecretKind::ApiKey), ("rk_live_", 16, SecretKind::ApiKey),
    ("rk_test_", 16, SecretKind::ApiKey),
    // github-pat, github-oauth, github-app-token, github-refresh-token, github-fine-grained-pat
    ("ghp_", 30, SecretKind::Token), ("gho_", 30, SecretKind::Token), ("ghu_", 30, SecretKind::Token),
    ("ghs_", 30, SecretKind::Token), ("ghr_", 30, SecretKind::Token), ("github_pat_", 22, SecretKind::Token),
    // gitlab-pat, gitlab-deploy-token, gitlab-runner-authentication-token
    ("glpat-", 20, SecretKind::Token), ("gldt-", 20, SecretKind::Token), ("glrt-", 20, SecretKind::Token),
    // slack-bot-token, slack-user-token, slack-legacy-workspace-token, slack-legacy-token, slack-app-token
    ("xoxb-", 20, SecretKind::Token), ("xoxp-", 20, SecretKind::Token), ("xoxa-", 20, SecretKind::Token),
    ("xoxr-", 20, SecretKind::Token), ("xoxs-", 20, SecretKind::Token), ("xapp-", 20, SecretKind::Token),
    // slack-webhook-url
    ("hooks.slack.com/services/", 30, SecretKind::Token),
    // aws-access-token
    ("AKIA", 16, SecretKind::ApiKey), ("ASIA", 16, SecretKind::ApiKey),
    // gcp-api-key
    ("AIza", 35, SecretKind::ApiKey),
    // alibaba-access-key-id
    ("LTAI", 12, SecretKind::ApiKey),
    // huggingface-access-token, npm-access-token, pypi-upload-token
    ("hf_", 30, SecretKind::Token), ("npm_", 30, SecretKind::Token), ("pypi-AgEI", 40, SecretKind::Token),
    // digitalocean-pat, sendgrid-api-token, shopify-access-token, square-access-token
    ("dop_v1_", 40, SecretKind::Token), ("SG.", 40, SecretKind::ApiKey), ("shpat_", 30, SecretKind::Token),
    ("sq0atp-", 20, SecretKind::Token),
    // perplexity-api-key, linear-api-key, postman-api-token, new-relic-user-api-key
    ("pplx-", 30, SecretKind::ApiKey), ("lin_api_", 30, SecretKind::ApiKey), ("PMAK-", 40, SecretKind::ApiKey),
    ("NRAK-", 20, SecretKind::ApiKey),
    // age-secret-key
    ("AGE-SECRET-KEY-1", 50, SecretKind::PrivateKey),
    // jwt
    ("eyJ", 40, SecretKind::Token),
    // Further formats
    ("whsec_", 20, SecretKind::ApiKey), ("ya29.", 20, SecretKind::Token), ("gsk_", 30, SecretKind::ApiKey),
    ("r8_", 30, SecretKind::ApiKey), ("xai-", 40, SecretKind::ApiKey), ("tskey-", 20, SecretKind::ApiKey),
    ("dckr_pat_", 20, SecretKind::Token), ("figd_", 30, SecretKind::Token), ("sbp_", 40, SecretKind::Token),
    ("AKID", 20, SecretKind::ApiKey), ("discord.com/api/webhooks/", 40, SecretKind::Token),
];

/// Least entropy of a key in bits a character: random letters and digits have more, words joined by hyphens have less.
const MIN_ENTROPY: f64 = 3.0;

static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    let mut prefixes: Vec<_> = PREFIXES.iter().map(|row| regex::escape(row.0)).collect();
    // A longer prefix is tried before its beginning.
    prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
    Regex::new(&format!("(?-u)(?:{})[A-Za-z0-9_./=+-]*", prefixes.join("|"))).expect("valid")
});

/// Token of a Telegram bot: digits, a colon and 35 characters (gitleaks: `telegram-bot-api-token`).
static TELEGRAM_BOT_TOKEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?-u)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}").expect("valid"));

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let prefixed =
        PREFIXED.find_iter(text).filter_map(|it| match_prefixed(text, it.start(), it.as_str()));
    found.extend(prefixed);
    let bots = TELEGRAM_BOT_TOKEN
        .find_iter(text)
        .map(|it| SecretMatch { kind: SecretKind::Token, span: it.range() });
    found.extend(bots);
    find_pem_keys(text, found);
    find_url_passwords(text, found);
}

fn match_prefixed(text: &str, start: usize, value: &str) -> Option<SecretMatch> {
    let value = value.trim_end_matches(['.', '/', '-', '=', '+']);
    let row =
        PREFIXES.iter().filter(|row| value.starts_with(row.0)).max_by_key(|row| row.0.len())?;
    let rest = &value[row.0.len()..];
    let is_inside_word = text[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let is_jwt = row.0 != "eyJ" || value.matches('.').count() >= 1;
    // Paths and dots belong to few of them; a word such as AKIAN is none.
    let rest = if ["SG.", "ya29.", "eyJ"].contains(&row.0) || row.0.contains('/') {
        rest
    } else {
        rest.split(['.', '/', '=', '+']).next().unwrap_or_default()
    };
    let is_value = rest.len() >= row.1
        && rest.contains(|c: char| c.is_ascii_digit())
        && entropy(rest) >= MIN_ENTROPY
        && !is_placeholder(rest);
    let span = start..start + row.0.len() + rest.len();
    (is_value && is_jwt && !is_inside_word).then_some(SecretMatch { kind: row.2, span })
}

static PEM_PRIVATE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    let block = "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----[A-Za-z0-9+/=:, \\\\\\s-]*";
    Regex::new(&format!("(?-u){block}")).expect("valid")
});

/// Finds `-----BEGIN … PRIVATE KEY-----` up to its end, or as far as it goes if it was cut off (gitleaks:
/// `private-key`). The search for the next one starts there: the content of a block could be the beginning of another.
fn find_pem_keys(text: &str, found: &mut Vec<SecretMatch>) {
    let mut from = 0;
    while let Some(block) = PEM_PRIVATE_KEY.find_at(text, from) {
        let end = block.as_str().find("-----END ").map(|at| {
            let tail = block.as_str()[at..].get(9..).and_then(|tail| tail.find("-----"));
            tail.map_or(block.len(), |tail| at + 9 + tail + 5)
        });
        let end = block.start() + end.unwrap_or(block.as_str().trim_end().len());
        found.push(SecretMatch { kind: SecretKind::PrivateKey, span: block.start()..end });
        from = end;
    }
}

/// Finds the password of `scheme://user:password@host`.
fn find_url_passwords(text: &str, found: &mut Vec<SecretMatch>) {
    // Between one URL and the next, so that each part of the text is read once.
    let mut parts = text.split("://");
    let mut start = parts.next().unwrap_or_default().len();
    for part in parts {
        start += "://".len();
        let from = start;
        start += part.len();
        let ends = [' ', '\n', '\t', '"', '\'', '<', '>', '，', '。'];
        let rest = part.split(ends).next().unwrap_or_default();
        let host = rest.find('/').unwrap_or(rest.len());
        let Some(login) = rest[..host].rfind('@').map(|at| &rest[..at]) else { continue };
        let Some(colon) = login.find(':') else { continue };
        let password = &login[colon + 1..];
        let known = ["password", "pass", "pwd", "secret", "passwd"];
        if password.len() >= 3 && !known.contains(&password) && !is_placeholder(password) {
            let span = from + colon + 1..from + login.len();
            found.push(SecretMatch { kind: SecretKind::Password, span });
        }
    }
}
