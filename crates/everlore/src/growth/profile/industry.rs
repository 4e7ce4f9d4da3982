//! Industries by the words that people use for their work, in both languages.

/// Words of each industry; English words stand alone, Chinese ones anywhere.
#[rustfmt::skip]
const INDUSTRIES: &[(&str, &[&str])] = &[
    ("health", &["nurse", "doctor", "hospital", "clinic", "surgeon", "dentist", "pharmacist", "paramedic", "therapist", "护士", "医生", "医院", "诊所", "药师", "康复"]),
    ("education", &["teacher", "school", "professor", "university", "lecturer", "tutor", "kindergarten", "老师", "教师", "学校", "大学", "幼儿园", "教授", "培训"]),
    ("software", &["software", "developer", "programmer", "devops", "backend", "frontend", "data scientist", "sre", "程序员", "软件", "后端", "前端", "算法工程师", "运维", "测试开发"]),
    ("law", &["lawyer", "attorney", "paralegal", "law firm", "solicitor", "notary", "律师", "律所", "法务", "合规", "公证"]),
    ("finance", &["accountant", "bank", "auditor", "trader", "actuary", "insurance", "bookkeeper", "会计", "银行", "审计", "证券", "保险", "精算", "财务"]),
    ("construction", &["architect", "construction", "plumber", "electrician", "carpenter", "builder", "surveyor", "建筑", "工地", "水电工", "木工", "装修", "施工"]),
    ("design", &["designer", "illustrator", "animator", "photographer", "设计师", "插画", "动画师", "摄影师"]),
    ("hospitality", &["chef", "cook", "restaurant", "hotel", "barista", "waiter", "bakery", "bartender", "厨师", "餐厅", "饭店", "酒店", "咖啡店", "面包店", "烘焙"]),
    ("retail", &["shop", "store manager", "retail", "cashier", "bookstore", "店长", "超市", "电商", "零售", "书店", "淘宝"]),
    ("manufacturing", &["factory", "machinist", "welder", "assembly line", "mechanical engineer", "工厂", "车间", "机械", "质检", "焊工"]),
    ("logistics", &["driver", "trucker", "warehouse", "courier", "pilot", "shipping", "司机", "物流", "仓库", "快递", "货车", "飞行员"]),
    ("agriculture", &["farm", "farmer", "vineyard", "orchard", "beekeeper", "veterinarian", "农场", "种地", "果园", "养殖", "兽医"]),
    ("media", &["journalist", "editor", "reporter", "newspaper", "podcast", "translator", "记者", "编辑", "报社", "翻译", "自媒体", "播客"]),
    ("public service", &["police", "firefighter", "city council", "civil servant", "librarian", "social worker", "警察", "消防", "公务员", "街道办", "社工", "图书馆"]),
    ("science", &["researcher", "laboratory", "biologist", "chemist", "physicist", "geologist", "研究员", "实验室", "科研", "博士后", "化学", "生物学"]),
    ("arts", &["musician", "actor", "violinist", "composer", "museum", "gallery", "乐团", "演员", "作曲", "博物馆", "画廊", "音乐人"]),
];

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
