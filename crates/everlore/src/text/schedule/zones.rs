//! Time zones that phrases name: "Berlin time", UTC, 北京时间.

use std::sync::LazyLock;

use regex::Regex;

use super::word::Word;

/// Abbreviations. Those that stand for several zones (CST, IST) are vague.
const ABBREVIATIONS: &[(&str, Word)] = &[
    ("utc|gmt|zulu|z|greenwich|格林威治|格林尼治|世界|国际标准|协调世界", Word::Zone("UTC")),
    ("et|est|edt|eastern|us eastern|美东|美国东部|东部", Word::Zone("America/New_York")),
    ("pt|pst|pdt|pacific|us pacific|美西|太平洋|美国西部|西部", Word::Zone("America/Los_Angeles")),
    ("ct|cdt|central|us central|美中|美国中部", Word::Zone("America/Chicago")),
    ("mt|mst|mdt|mountain", Word::Zone("America/Denver")),
    ("cet|cest|central european|欧洲中部|德国", Word::Zone("Europe/Berlin")),
    ("bst|uk|british|英国", Word::Zone("Europe/London")),
    ("jst|japan|日本", Word::Zone("Asia/Tokyo")),
    ("sgt", Word::Zone("Asia/Singapore")),
    ("hkt", Word::Zone("Asia/Hong_Kong")),
    ("kst|korea|韩国", Word::Zone("Asia/Seoul")),
    ("aest|aedt", Word::Zone("Australia/Sydney")),
    ("india|indian|印度", Word::Zone("Asia/Kolkata")),
    (
        "china|chinese|中国|北京|beijing|上海|shanghai|深圳|广州|杭州|shenzhen",
        Word::Zone("Asia/Shanghai"),
    ),
    ("cst|ist|ast", Word::Vague),
];

/// Cities by the names that people use, with their zones.
#[rustfmt::skip]
const CITIES: &[(&str, &str)] = &[
    ("berlin|munich|hamburg|frankfurt|柏林|慕尼黑|法兰克福", "Europe/Berlin"), ("london|伦敦", "Europe/London"), ("paris|巴黎|france|法国", "Europe/Paris"),
    ("madrid|马德里|spain", "Europe/Madrid"), ("rome|milan|罗马|米兰", "Europe/Rome"), ("vienna|维也纳", "Europe/Vienna"), ("zurich|苏黎世", "Europe/Zurich"),
    ("amsterdam|阿姆斯特丹", "Europe/Amsterdam"), ("brussels|布鲁塞尔", "Europe/Brussels"), ("stockholm|斯德哥尔摩", "Europe/Stockholm"), ("oslo|奥斯陆", "Europe/Oslo"),
    ("copenhagen|哥本哈根", "Europe/Copenhagen"), ("helsinki|赫尔辛基", "Europe/Helsinki"), ("warsaw|华沙", "Europe/Warsaw"), ("prague|布拉格", "Europe/Prague"),
    ("budapest", "Europe/Budapest"), ("lisbon|里斯本", "Europe/Lisbon"), ("dublin|都柏林", "Europe/Dublin"), ("athens|雅典", "Europe/Athens"),
    ("istanbul|伊斯坦布尔", "Europe/Istanbul"), ("moscow|莫斯科", "Europe/Moscow"), ("kyiv|kiev|基辅", "Europe/Kyiv"),
    ("new york|nyc|ny|boston|washington|纽约|波士顿|华盛顿|miami|atlanta", "America/New_York"), ("chicago|dallas|houston|austin|芝加哥", "America/Chicago"), ("denver|丹佛", "America/Denver"),
    ("los angeles|la|san francisco|sf|seattle|california|洛杉矶|旧金山|西雅图|加州", "America/Los_Angeles"), ("phoenix", "America/Phoenix"),
    ("toronto|多伦多", "America/Toronto"), ("vancouver|温哥华", "America/Vancouver"), ("mexico city|墨西哥城", "America/Mexico_City"),
    ("sao paulo|são paulo|圣保罗", "America/Sao_Paulo"), ("buenos aires", "America/Argentina/Buenos_Aires"), ("bogota", "America/Bogota"), ("lima", "America/Lima"),
    ("tokyo|osaka|东京|大阪", "Asia/Tokyo"), ("seoul|首尔", "Asia/Seoul"), ("taipei|台北|台湾|taiwan", "Asia/Taipei"), ("hong kong|香港", "Asia/Hong_Kong"), ("singapore|新加坡", "Asia/Singapore"),
    ("bangkok|曼谷", "Asia/Bangkok"), ("jakarta|雅加达", "Asia/Jakarta"), ("manila|马尼拉", "Asia/Manila"), ("hanoi|saigon|河内|胡志明", "Asia/Ho_Chi_Minh"), ("kuala lumpur|吉隆坡", "Asia/Kuala_Lumpur"),
    ("mumbai|delhi|new delhi|kolkata|bangalore|孟买|新德里|班加罗尔", "Asia/Kolkata"), ("karachi", "Asia/Karachi"), ("dhaka", "Asia/Dhaka"), ("kathmandu", "Asia/Kathmandu"),
    ("dubai|迪拜|abu dhabi", "Asia/Dubai"), ("tel aviv|jerusalem|特拉维夫", "Asia/Jerusalem"), ("riyadh", "Asia/Riyadh"), ("tehran|德黑兰", "Asia/Tehran"),
    ("cairo|开罗", "Africa/Cairo"), ("lagos", "Africa/Lagos"), ("nairobi|内罗毕", "Africa/Nairobi"), ("johannesburg|cape town|约翰内斯堡", "Africa/Johannesburg"),
    ("sydney|悉尼", "Australia/Sydney"), ("melbourne|墨尔本", "Australia/Melbourne"), ("brisbane", "Australia/Brisbane"), ("perth", "Australia/Perth"), ("auckland|奥克兰", "Pacific/Auckland"), ("honolulu|hawaii|夏威夷", "Pacific/Honolulu"),
];

/// Abbreviations that need no "time" after them and mean nothing else.
const ALONE: &[&str] = &[
    "utc", "gmt", "est", "edt", "pst", "pdt", "cet", "cest", "jst", "cst", "ist", "hkt", "sgt",
    "kst", "aest", "cdt", "mst", "bst",
];

/// Iterates over all names of zones that stand before "time" (时间) or alone, with their words.
pub(super) fn zone_phrases() -> impl Iterator<Item = (String, Word)> {
    let cities = CITIES.iter().map(|(names, zone)| (*names, Word::Zone(zone)));
    ABBREVIATIONS.iter().copied().chain(cities).flat_map(|(names, word)| {
        names.split('|').flat_map(move |name| phrases_of(name).into_iter().map(move |p| (p, word)))
    })
}

fn phrases_of(name: &str) -> Vec<String> {
    if !name.is_ascii() {
        return vec![format!("{name}时间"), format!("{name}时区")];
    }
    let mut phrases =
        vec![format!("{name} time"), format!("{name}时间"), format!("{name} timezone")];
    if ALONE.contains(&name) {
        phrases.push(name.to_owned());
    }
    phrases
}

/// Letters that name a zone right behind a time and mean other things elsewhere.
const SHORT: &[(&str, &str)] = &[
    ("et", "America/New_York"),
    ("pt", "America/Los_Angeles"),
    ("ct", "America/Chicago"),
    ("mt", "America/Denver"),
];

/// Regions whose zone needs no "time" right behind a time: 9am Pacific.
const REGIONS: [&str; 6] = ["eastern", "pacific", "central", "mountain", "zulu", "greenwich"];

/// Zones of whole hours from UTC, from -12 to +14. Their names count the other way.
const FIXED: [&str; 27] = [
    "Etc/GMT+12",
    "Etc/GMT+11",
    "Etc/GMT+10",
    "Etc/GMT+9",
    "Etc/GMT+8",
    "Etc/GMT+7",
    "Etc/GMT+6",
    "Etc/GMT+5",
    "Etc/GMT+4",
    "Etc/GMT+3",
    "Etc/GMT+2",
    "Etc/GMT+1",
    "UTC",
    "Etc/GMT-1",
    "Etc/GMT-2",
    "Etc/GMT-3",
    "Etc/GMT-4",
    "Etc/GMT-5",
    "Etc/GMT-6",
    "Etc/GMT-7",
    "Etc/GMT-8",
    "Etc/GMT-9",
    "Etc/GMT-10",
    "Etc/GMT-11",
    "Etc/GMT-12",
    "Etc/GMT-13",
    "Etc/GMT-14",
];

/// Reads UTC+9, GMT-3, UTC+05:30, 东八区, and returns where it ends.
pub(super) fn offset_zone(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let text: String = chars[at..].iter().take(16).collect();
    let found = OFFSET.captures(&text)?;
    let end = at + found[0].chars().count();
    let is_west = found.get(1).map_or_else(|| text.starts_with('西'), |sign| sign.as_str() == "-");
    let hours = match found.get(2) {
        Some(hours) => hours.as_str().parse().ok()?,
        None => "一二三四五六七八九十".find(&found[4]).map(|byte| byte as i32 / 3 + 1)?,
    };
    let hours: i32 = if is_west { -hours } else { hours };
    let zone = match (hours, found.get(3).map(|minutes| minutes.as_str())) {
        (_, None | Some("00")) => *FIXED.get(usize::try_from(hours + 12).ok()?)?,
        (5, Some("30")) => "Asia/Kolkata",
        (5, Some("45")) => "Asia/Kathmandu",
        _ => return Some((Word::Vague, end)),
    };
    Some((Word::Zone(zone), end))
}

static OFFSET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?:utc|gmt) ?([+-]) ?(\d{1,2})(?::?(\d{2}))?|[东西]([一二三四五六七八九十])区)",
    )
    .expect("valid")
});

/// Iterates over names of zones that need a time right before them.
pub(super) fn zones_behind_times() -> impl Iterator<Item = (String, Word)> {
    let short = SHORT.iter().map(|(name, zone)| ((*name).to_owned(), Word::ShortZone(zone)));
    let latin = |name: &&str| name.is_ascii();
    let cities = CITIES.iter().flat_map(move |(names, zone)| {
        names.split('|').filter(latin).flat_map(|name| {
            let named = (format!("in {name}"), Word::CityZone(zone));
            [named, (name.to_owned(), Word::BareZone(zone))]
        })
    });
    let regions = ABBREVIATIONS.iter().filter_map(|(names, word)| {
        let Word::Zone(zone) = word else { return None };
        let region = names.split('|').find(|name| REGIONS.contains(name))?;
        Some((region.to_owned(), Word::BareZone(zone)))
    });
    let places = CITIES.iter().flat_map(|(names, zone)| {
        let han = names.split('|').filter(|name| !name.is_ascii());
        han.map(|name| (name.to_owned(), Word::PlaceZone(zone)))
    });
    short.chain(cities).chain(regions).chain(places)
}
