//! Years of events: "I moved to Lyon in 2020" is compared by its year, whenever it is told.

use std::sync::LazyLock;

use regex::Regex;

static YEAR: LazyLock<Regex> = LazyLock::new(|| {
    let month = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?";
    let season = r"spring|summer|autumn|fall|winter|early|late|mid|the|year|start|end|beginning|of";
    Regex::new(&format!(
        r"(?i)\b(?:in|since|around|on|during|back in)[ -](?:(?:{month}|{season}|\d{{1,2}}(?:st|nd|rd|th)?),?[ -])*(?P<en>(?:19|20)\d\d)\b|(?P<zh>(?:19|20)\d\d)年|\b(?P<iso>(?:19|20)\d\d)-\d\d(?:-\d\d)?\b|\((?P<dated>(?:19|20)\d\d)\)"
    ))
    .expect("valid")
});

/// Words of a statement that tells how it is now, whenever it began.
const PRESENT: &[&str] =
    &["now", "currently", "today", "these days", "现在", "目前", "如今", "今年"];

/// Attributes whose values begin with an event: a move, a job, a wedding.
const EVENTS: &[&str] = &["home", "employer", "occupation", "marital status", "name"];

/// Returns `true` if the values of an attribute begin with an event, so that the year of one tells which is newer.
pub(super) fn is_event(attribute: &str) -> bool {
    EVENTS.contains(&attribute)
}

/// Returns the year that a statement gives to what it tells, the last if it gives several.
pub(super) fn event_year(text: &str) -> Option<i16> {
    let lower = text.to_lowercase();
    if PRESENT.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let years = YEAR.captures_iter(text).filter_map(|found| {
        let year = ["en", "zh", "iso", "dated"].iter().find_map(|name| found.name(name))?;
        year.as_str().parse().ok()
    });
    years.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_of_an_event_is_read_in_both_languages() {
        for (text, year) in [
            ("I moved to Lyon in 2020", Some(2020)),
            ("I moved to Lyon in early March 2020", Some(2020)),
            ("I started there on 5 May 2011", Some(2011)),
            ("我1999年进的诺基亚", Some(1999)),
            ("I moved to Rome last year (2025)", Some(2025)),
            ("I moved to Rome in 2010 and live there now", None),
            ("I live at 2010 Main Street", None),
            ("The launch was postponed to 2027", None),
            ("我住在2010室", None),
        ] {
            assert_eq!(event_year(text), year, "{text}");
        }
    }
}
