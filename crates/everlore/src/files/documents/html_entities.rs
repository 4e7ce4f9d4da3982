//! HTML entities: characters written as `&name;`.

/// Most bytes of a name, so that a lone ampersand is recognised soon.
const MAX_NAME_BYTES: usize = 10;

/// Appends `text` with its entities decoded; anything else stays as it is.
pub(super) fn push_decoded(text: &str, to: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        to.push_str(&rest[..at]);
        rest = &rest[at..];
        match entity(rest) {
            Some((c, length)) => {
                to.push(c);
                rest = &rest[length..];
            }
            None => {
                to.push('&');
                rest = &rest[1..];
            }
        }
    }
    to.push_str(rest);
}

/// Returns the character of the entity at the start of `text`, and the entity's length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(MAX_NAME_BYTES + 2).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let c = match name.strip_prefix('#') {
        Some(number) => numeric_entity(number)?,
        None => named_entity(name)?,
    };
    Some((c, end + 1))
}

fn numeric_entity(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    // A number that is no character, or one that no text should have, becomes the replacement character.
    let c = char::from_u32(code).unwrap_or('\u{fffd}');
    Some(if c == '\0' { '\u{fffd}' } else { c })
}

fn named_entity(name: &str) -> Option<char> {
    let latin = || {
        let index = LATIN1_ENTITIES.iter().position(|latin| *latin == name)?;
        char::from_u32(0xa0 + index as u32)
    };
    // A non-breaking space is a space.
    if name == "nbsp" {
        return Some(' ');
    }
    NAMED_ENTITIES.iter().find(|(other, _)| *other == name).map(|(_, c)| *c).or_else(latin)
}

#[rustfmt::skip]
const NAMED_ENTITIES: &[(&str, char)] = &[
    ("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("hellip", '…'), ("mdash", '—'),
    ("ndash", '–'), ("lsquo", '‘'), ("rsquo", '’'), ("ldquo", '“'), ("rdquo", '”'), ("sbquo", '‚'),
    ("bdquo", '„'), ("lsaquo", '‹'), ("rsaquo", '›'), ("bull", '•'), ("dagger", '†'), ("permil", '‰'),
    ("prime", '′'), ("euro", '€'), ("trade", '™'), ("larr", '←'), ("uarr", '↑'), ("rarr", '→'), ("darr", '↓'),
    ("harr", '↔'), ("rArr", '⇒'), ("hArr", '⇔'), ("forall", '∀'), ("exist", '∃'), ("empty", '∅'), ("isin", '∈'),
    ("sum", '∑'), ("minus", '−'), ("radic", '√'), ("infin", '∞'), ("cap", '∩'), ("cup", '∪'), ("int", '∫'),
    ("asymp", '≈'), ("ne", '≠'), ("equiv", '≡'), ("le", '≤'), ("ge", '≥'), ("ensp", ' '), ("emsp", ' '),
    ("thinsp", ' '), ("alpha", 'α'), ("beta", 'β'), ("gamma", 'γ'), ("delta", 'δ'), ("Delta", 'Δ'),
    ("epsilon", 'ε'), ("lambda", 'λ'), ("mu", 'μ'), ("pi", 'π'), ("sigma", 'σ'), ("Sigma", 'Σ'), ("omega", 'ω'),
    ("Omega", 'Ω'), ("check", '✓'), ("star", '☆'), ("oelig", 'œ'), ("OElig", 'Œ'), ("scaron", 'š'),
];

/// Names from U+00A0 on, in the order of the characters.
#[rustfmt::skip]
const LATIN1_ENTITIES: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not",
    "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1",
    "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml",
    "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH",
    "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc",
    "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig",
    "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde",
    "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml",
    "yacute", "thorn", "yuml",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_decoded_and_the_rest_stays() {
        let decoded = |text: &str| {
            let mut to = String::new();
            push_decoded(text, &mut to);
            to
        };
        assert_eq!(
            decoded("caf&eacute; &amp; &#33590;&#x8336;&nbsp;&copy;&yuml;"),
            "café & 茶茶 ©ÿ"
        );
        assert_eq!(decoded("R&D; a && b &nosuch; &#xd800; &"), "R&D; a && b &nosuch; \u{fffd} &");
        assert_eq!(decoded("&茶;&#;&#x;"), "&茶;&#;&#x;");
    }
}
