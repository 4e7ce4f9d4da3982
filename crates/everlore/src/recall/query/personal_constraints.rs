//! Personal constraints: expands a request for oneself by the limits that people state, such as allergies for a dinner.
//!
//! Both sides are closed word lists about needs that most people share. The embedder covers words that are merely
//! related.

use super::phrases::{PhraseMatcher, normalize};

/// Longest message, in bytes, that is expanded; a longer one states its own limits.
const MAX_BYTES: usize = 1_000;

/// Characters of a memory that are searched for a limit: a statement of one is short.
const MAX_SCANNED: usize = 400;

/// Words of a request, and the words with which people state limits and wishes about it.
struct PersonalConstraint {
    request_words: &'static [&'static str],
    constraint_words: &'static [&'static str],
}

/// Words that name a limit by themselves: whoever is asked for a meal must know it, whatever else is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatedLimits {
    words: &'static [&'static str],
}

impl StatedLimits {
    /// Returns the limits that bear on a request for food; none for other messages.
    pub(crate) fn on_request(query: &str) -> Self {
        if query.len() > MAX_BYTES {
            return Self::default();
        }
        let plain = normalize(query);
        let text = PhraseMatcher::new(&plain);
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let asks = has(SELF_DIRECTED_PHRASES) || has(MEAL_PLANS);
        let is_meal = has(CONSTRAINTS[0].request_words) || has(MEAL_PLANS) || has(MEAL_WORDS);
        let is_exempt = has(WORK_ON_TEXT);
        Self { words: if asks && is_meal && !is_exempt { MEAL_LIMITS } else { &[] } }
    }

    /// Returns `true` if a text states one of the limits.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let start: String = text.chars().take(MAX_SCANNED).collect();
        let plain = normalize(&start);
        let text = PhraseMatcher::new(&plain);
        self.words.iter().any(|word| text.contains(word))
    }
}

/// Phrases that plan a meal by themselves.
#[rustfmt::skip]
const MEAL_PLANS: &[&str] = &[
    "should i cook", "should we cook", "shall i cook", "shall we cook", "what to cook", "shall we eat", "go for dinner", "go for lunch", "go for brunch", "eat tonight", "dinner tonight",
    "suggest a", "suggest some", "any good", "table for", "quick tea", "tea for the", "give me a recipe", "what can i bake", "what should i bake", "where to eat", "grab a bite",
    "吃什么", "吃啥", "吃点什么", "吃点啥", "去哪吃", "去哪儿吃", "哪里吃", "做什么菜", "做点什么", "推荐个菜", "推荐个餐厅", "订餐", "订位", "点外卖",
];

/// Words of meals beside those of [`CONSTRAINTS`].
#[rustfmt::skip]
const MEAL_WORDS: &[&str] = &[
    "pasta", "pizza", "sushi", "dessert", "desserts", "cake", "cakes", "brunch", "takeaway", "takeout", "seafood", "oyster", "paella", "curry", "picnic", "buffet", "tea for", "bbq", "bake",
    "甜品", "甜点", "蛋糕", "火锅", "海鲜", "下午茶", "年夜饭", "家宴", "饭局", "请客", "野餐", "奶茶", "水果", "午餐会", "做菜", "菜谱", "个菜",
];

/// Limits of a meal.
#[rustfmt::skip]
const MEAL_LIMITS: &[&str] = &[
    "allergic", "allergy", "allergies", "intolerant", "intolerance", "coeliac", "celiac", "coeliac's", "vegetarian", "vegan", "pescatarian", "diabetic", "diabetes", "halal", "kosher",
    "gluten free", "lactose", "does not eat", "do not eat", "cannot eat", "can not eat", "can't eat", "doesn't eat", "don't eat", "gout", "anaphylactic",
    "过敏", "忌口", "吃素", "素食", "不吃", "不能吃", "清真", "乳糖", "不耐受", "麸质", "糖尿病", "痛风", "戒糖", "控糖",
];

/// Words of work on a text, whose meals are nobody's.
const WORK_ON_TEXT: &[&str] =
    &["translate", "translation", "proofread", "rephrase", "code", "翻译", "改写", "润色", "代码"];

/// Returns the words of a request that have personal constraints, with the words of those constraints; empty if the
/// request is not for oneself.
pub(super) fn constraints_for(query: &str) -> Vec<(&'static str, &'static [&'static str])> {
    if query.len() > MAX_BYTES {
        return Vec::new();
    }
    let plain = normalize(query);
    let text = PhraseMatcher::new(&plain);
    if !SELF_DIRECTED_PHRASES.iter().any(|phrase| text.contains(phrase)) {
        return Vec::new();
    }
    let words = |constraint: &'static PersonalConstraint| {
        constraint.request_words.iter().map(|word| (*word, constraint.constraint_words))
    };
    CONSTRAINTS.iter().flat_map(words).filter(|(word, _)| text.contains(word)).collect()
}

/// Returns `true` if a request has personal constraints.
pub(super) fn touches_constraint(query: &str) -> bool {
    !constraints_for(query).is_empty()
}

/// Phrases that show that a request is for oneself.
#[rustfmt::skip]
const SELF_DIRECTED_PHRASES: &[&str] = &[
    "for me", "for us", "should i", "should we", "can i", "can we", "recommend me", "suggest me", "cook me", "i want", "i would like", "we want", "i need", "my", "our",
    "find us", "find me", "find a", "book us", "book me", "book a", "reserve a", "order us", "order me", "where can", "where should",
    "找个", "找家", "订个", "订家", "订一家", "安排", "出去吃", "给我", "帮我", "为我", "我该", "我应该", "我能", "我可以", "我要", "我想", "我们", "推荐",
];

#[rustfmt::skip]
const CONSTRAINTS: &[PersonalConstraint] = &[
    PersonalConstraint {
        request_words: &[
            "food", "dinner", "lunch", "breakfast", "supper", "meal", "meals", "dish", "dishes", "snack", "snacks", "recipe", "recipes", "menu", "restaurant", "cook", "eat", "grill", "barbecue",
            "食物", "晚饭", "午饭", "早饭", "晚餐", "午餐", "早餐", "夜宵", "零食", "菜谱", "食谱", "菜单", "餐厅", "饭店", "做饭", "吃饭", "吃什么", "点菜", "馆子", "出去吃", "聚餐", "外卖", "烧烤", "烤点", "道菜", "什么菜",
        ],
        constraint_words: &[
            "allergic", "allergy", "intolerant", "vegetarian", "vegan", "meat", "diet", "gluten", "lactose", "halal", "kosher", "eat",
            "coeliac", "celiac", "pescatarian", "diabetic", "diabetes", "gout",
            "过敏", "忌口", "吃素", "素食", "不吃", "不能吃", "清真", "乳糖", "减肥", "不耐受", "麸质", "糖尿病", "痛风",
        ],
    },
    PersonalConstraint {
        request_words: &["drink", "drinks", "cocktail", "cocktails", "wine", "beer", "bar", "喝什么", "饮料", "鸡尾酒", "红酒", "啤酒", "酒吧"],
        constraint_words: &["alcohol", "sober", "drink", "pregnant", "戒酒", "喝酒", "不喝", "怀孕"],
    },
    PersonalConstraint {
        request_words: &["trip", "travel", "holiday", "vacation", "visit", "fly", "flight", "hike", "旅游", "旅行", "出游", "度假", "坐飞机", "航班", "行程", "爬山", "徒步"],
        constraint_words: &["wheelchair", "scared", "afraid", "fear", "seasick", "carsick", "passport", "visa", "轮椅", "害怕", "恐高", "晕车", "晕船", "护照", "签证"],
    },
    PersonalConstraint {
        request_words: &["workout", "exercise", "exercises", "jog", "jogging", "run", "running", "training", "sport", "锻炼", "健身", "跑步", "运动", "训练"],
        constraint_words: &["knee", "injury", "injured", "hurt", "hurting", "pain", "asthma", "surgery", "膝盖", "受伤", "哮喘", "手术", "疼"],
    },
    PersonalConstraint {
        request_words: &["film", "movie", "series", "book", "game", "电影", "剧", "看什么", "书单", "游戏"],
        constraint_words: &["hate", "dislike", "scary", "favorite", "讨厌", "不喜欢", "最喜欢", "害怕"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_plans_a_meal_must_know_the_limits_of_those_who_eat() {
        for request in [
            "what should I cook tonight?",
            "Can you suggest a pasta dinner for the whole family on Friday?",
            "quick tea for the kids tonight",
            "Where shall we go for dinner?",
            "Any good sushi places?",
            "晚上吃什么",
            "推荐个甜品",
            "帮我订个餐厅",
        ] {
            let limits = StatedLimits::on_request(request);
            assert!(limits.are_in("Jack has coeliac disease"), "{request}");
            assert!(limits.are_in("我对芒果过敏"), "{request}");
            assert!(!limits.are_in("I like long walks"), "{request}");
        }
        for request in [
            "How long does dinner take in Spain?",
            "翻译一下：晚上吃什么",
            "Book a flight for me",
            "",
        ] {
            let limits = StatedLimits::on_request(request);
            assert!(!limits.are_in("Jack has coeliac disease"), "{request}");
        }
    }

    #[test]
    fn a_dinner_for_oneself_concerns_what_one_may_not_eat_in_both_languages() {
        for (request, word) in [
            ("Plan dinner for me tonight", "allergic"),
            ("find a restaurant for saturday", "allergic"),
            ("帮我安排今天的晚饭", "过敏"),
            ("周六晚上出去吃，找个馆子", "过敏"),
        ] {
            assert!(
                constraints_for(request).iter().any(|(_, words)| words.contains(&word)),
                "{request}"
            );
        }
        for request in
            ["How long does dinner take in Spain?", "晚饭几点比较健康", "Tell me a joke for me", ""]
        {
            assert!(!touches_constraint(request), "{request}");
        }
    }
}
