//! Industries by the words that people use for their work, in both languages.

/// Words of each industry; English words stand alone, Chinese ones anywhere.
#[rustfmt::skip]
const INDUSTRIES: &[(&str, &[&str])] = &[
    ("logistics", &["logistics", "freight"]),
    ("games", &["game studio", "game developer", "game designer", "gaming company", "游戏公司", "游戏策划", "游戏开发"]),
    ("health", &["healthcare", "medical", "pharma", "医疗", "制药", "nurse", "doctor", "hospital", "clinic", "surgeon", "dentist", "pharmacist", "paramedic", "therapist", "护士", "医生", "医院", "诊所", "药师", "康复"]),
    ("education", &["teacher", "school", "professor", "university", "lecturer", "tutor", "kindergarten", "edtech", "教育", "老师", "教师", "学校", "大学", "幼儿园", "教授", "培训"]),
    ("software", &["software", "developer", "programmer", "devops", "backend", "frontend", "full-stack", "data scientist", "data engineer", "machine learning", "sre", "saas", "互联网", "程序员", "软件", "后端", "前端", "算法工程师", "运维", "测试开发"]),
    ("law", &["lawyer", "attorney", "paralegal", "law firm", "solicitor", "notary", "律师", "律所", "法务", "合规", "公证"]),
    ("finance", &["accountant", "fintech", "bank", "金融", "auditor", "trader", "actuary", "insurance", "bookkeeper", "会计", "银行", "审计", "证券", "保险", "精算", "财务"]),
    ("construction", &["architect", "construction", "plumber", "electrician", "carpenter", "builder", "surveyor", "建筑", "工地", "水电工", "木工", "装修", "施工"]),
    ("design", &["designer", "illustrator", "animator", "photographer", "设计师", "插画", "动画师", "摄影师"]),
    ("hospitality", &["chef", "cook", "restaurant", "hotel", "barista", "waiter", "bakery", "bartender", "厨师", "餐厅", "饭店", "酒店", "咖啡店", "面包店", "烘焙"]),
    ("retail", &["shop", "e-commerce", "ecommerce", "store manager", "retail", "cashier", "bookstore", "店长", "超市", "电商", "零售", "书店", "淘宝"]),
    ("manufacturing", &["manufacturer", "manufacturing", "factory", "machinist", "welder", "assembly line", "mechanical engineer", "工厂", "车间", "机械", "质检", "焊工"]),
    ("logistics", &["driver", "trucker", "warehouse", "courier", "pilot", "shipping", "司机", "物流", "仓库", "快递", "货车", "飞行员"]),
    ("agriculture", &["farm", "farmer", "vineyard", "orchard", "beekeeper", "veterinarian", "农场", "种地", "果园", "养殖", "兽医"]),
    ("media", &["journalist", "editor", "reporter", "newspaper", "podcast", "translator", "记者", "编辑", "报社", "翻译", "自媒体", "播客"]),
    ("public service", &["police", "firefighter", "city council", "civil servant", "librarian", "social worker", "警察", "消防", "公务员", "街道办", "社工", "图书馆"]),
    ("science", &["researcher", "laboratory", "biologist", "chemist", "physicist", "geologist", "研究员", "实验室", "科研", "博士后", "化学", "生物学"]),
    ("arts", &["musician", "actor", "violinist", "composer", "museum", "gallery", "乐团", "演员", "作曲", "博物馆", "画廊", "音乐人"]),
];

/// Industries in Chinese.
const CHINESE_NAMES: [(&str, &str); 17] = [
    ("health", "医疗"),
    ("education", "教育"),
    ("software", "软件"),
    ("law", "法律"),
    ("finance", "金融"),
    ("construction", "建筑"),
    ("design", "设计"),
    ("hospitality", "餐饮酒店"),
    ("retail", "零售"),
    ("manufacturing", "制造"),
    ("logistics", "物流"),
    ("agriculture", "农业"),
    ("media", "媒体"),
    ("public service", "公共服务"),
    ("science", "科研"),
    ("arts", "艺术"),
    ("games", "游戏"),
];

/// Returns the industry of a statement in its language.
pub(super) fn industry_signal_value(text: &str) -> Option<String> {
    let name = industry_of(&text.to_lowercase())?;
    let is_chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let chinese = CHINESE_NAMES.iter().find(|(english, _)| *english == name);
    Some(chinese.filter(|_| is_chinese).map_or(name, |(_, chinese)| chinese).to_owned())
}

/// Returns the industry that a text in small letters names first.
pub(super) fn industry_of(lower: &str) -> Option<&'static str> {
    let named =
        |word: &&str| if word.is_ascii() { has_word(lower, word) } else { lower.contains(*word) };
    INDUSTRIES.iter().find(|(_, words)| words.iter().any(named)).map(|(name, _)| *name)
}

/// Returns `true` if the text has the words at their borders; a plural counts.
fn has_word(lower: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    lower.match_indices(word).any(|(at, _)| {
        let after = &lower[at + word.len()..];
        let after = after.strip_prefix('s').unwrap_or(after);
        !lower[..at].ends_with(is_letter) && !after.starts_with(is_letter)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_tells_the_industry_in_both_languages() {
        for (text, industry) in [
            ("i work as a night nurse at st mary's", Some("health")),
            ("我在一家律所做合规", Some("law")),
            ("i drive for a courier", Some("logistics")),
            ("我在超市当店长", Some("retail")),
            ("i run two bakerys", Some("hospitality")),
            ("i embank rivers", None),
            ("我在家待着", None),
        ] {
            assert_eq!(industry_of(text), industry, "{text}");
        }
    }
}
