//! Patterns of English clauses that say that something is over or has another value.

use std::sync::LazyLock;

use regex::Regex;

pub(super) static EMPLOYER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we) (?:have )?(?:just |recently |finally )?(?:quit|left|resigned from|(?:got|was) (?:laid off|fired) (?:from|by)|retired from)(?: my job at)? (?P<x>.+)$",
    )
});
pub(super) static SOLD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we) (?:have )?(?:just |recently |finally )?(?:sold|got rid of|traded in|gave away|scrapped|returned) (?:my |our |the )?(?:old )?(?P<x>.+)$",
    )
});
pub(super) static SWITCHED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:switched|moved|migrated|changed|transitioned|converted|went)(?: \S+){0,3}? from (?P<x>.+?) to (?:\S.*)$|\breplaced (?P<r>.+?) (?:with|by) ",
    )
});
pub(super) static DROPPED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we) (?:have )?(?:just |recently |finally )?(?:dropped|ditched|abandoned|cancelled|canceled|unsubscribed from|stopped using|moved away from|moved off|no longer use|do not use) (?:my |our |the )?(?P<x>.+)$",
    )
});
pub(super) static PARTED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<x>.+?) and (?:i|me) (?:have )?(?:just |recently )?(?:broke up|split up|separated|divorced|got divorced|broken up)|\b(?:broke up|broken up|split up|separated|got divorced) (?:with|from) (?P<r>.+)$|^i (?:have )?divorced (?P<d>.+)$",
    )
});
pub(super) static GRADUATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^i (?:have )?(?:just |recently |finally )?(?:graduated|dropped out)(?: (?:from|of) (?P<x>.+))?",
    )
});
pub(super) static EATS_MEAT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:started (?:to )?eat|started eat|eat|am eat|back to eat)(?:ing)? (?:meat|fish|chicken|everything)(?: and \w+)? again\b|\bstarted eat (?:meat|fish|chicken)\b",
    )
});
pub(super) static DIED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^my (?P<x>\w+)(?: \w+)? (?:died|passed away)"));
pub(super) static MOVED_THING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<thing>\S+(?: \S+){0,5}?) (?:have |has |been |was |were |am |got |just |now )*(?:postponed|rescheduled|moved|pushed|delayed|brought|shifted|raised|increased|lowered|reduced|cut|dropped|went up|gone up|went down|rose|fell|changed|bumped|upgraded|updated|downgraded|extended|slipped|switched|migrated|doubled)(?: back| forward| up| down)? to (?P<value>.+)$",
    )
});
pub(super) static MOVES_THING: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:i|we|they|he|she|(?:my|our|the) \w+)(?: \w+)? (?:have )?(?:just )?(?:postponed|rescheduled|moved|pushed|delayed|brought|shifted|raised|increased|lowered|reduced|cut|changed|bumped|upgraded|updated|downgraded|extended|switched|migrated|rewrote|rebuilt|ported) (?P<thing>(?:(?:my|our|the) )?\S.*?)(?: back| forward| up| down)?(?: from .+?)? (?:to|in) (?P<value>.+)$",
    )
});
pub(super) static WEIGHT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^i (?:am|went|got|have gone|weigh) (?:down |up )?(?:to )?\d+(?:\.\d+)? ?(?P<unit>kg|kilos|lbs|pounds)\b",
    )
});

/// Words of a day, a date or a time.
pub(super) static DATED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember|tember|ober)?\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b|\b\d{1,2}:\d\d\b|\b(?:tomorrow|noon|week|month)\b",
    )
});

/// Things that do not take place.
pub(super) static CANCELLED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?P<thing>(?:my|our|the) \S+(?: \S+){0,4}?) (?:have |has |been |was |were |am |got |just |now )+(?:cancelled|canceled|called off)\b",
    )
});

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("valid")
}
