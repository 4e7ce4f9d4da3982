//! Aspects of a person's profile: name, work, family, home, pets, health, tastes. Words of both languages tell the aspect
//! of a memory, and the aspect that a question asks for.

use super::phrases::{PhraseMatcher, normalize};
use crate::types::{Attribute, Kind, Memory, Slot};

/// Characters of a memory that are searched for words: a statement about a person is short, and the rest of a longer
/// text is detail.
const MAX_SCANNED: usize = 400;

/// Aspect of a person's profile, in the order in which a profile is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ProfileAspect {
    /// Name, age, birthday.
    Name,
    /// Job, employer, studies.
    Work,
    /// Partner, relatives, friends.
    Family,
    /// Home, hometown, origin.
    Home,
    /// Diet, allergies, illness.
    Health,
    /// Likes, dislikes, hobbies, habits.
    Taste,
    /// Pets.
    Pet,
    /// Wishes about the agent's answers.
    Rule,
    /// Anything else about the user.
    Other,
}

impl ProfileAspect {
    /// Returns the aspect of a memory: by its slot if it has one, otherwise by its kind and words.
    pub(crate) fn of_memory(memory: &Memory) -> Self {
        if let Some(slot) = Slot::from_metadata(&memory.metadata) {
            return Self::of_attribute(slot.attribute);
        }
        if memory.kind == Kind::Feedback {
            return Self::Rule;
        }
        let text: String = memory.content.chars().take(MAX_SCANNED).collect();
        Self::of_text(&normalize(&text)).unwrap_or(Self::Other)
    }

    /// Returns the aspect that a normalized text names first in [`ASPECT_WORDS`]; `None` if it names none.
    pub(crate) fn of_text(plain: &str) -> Option<Self> {
        let text = PhraseMatcher::new(plain);
        let named =
            ASPECT_WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
        named.map(|(aspect, _)| *aspect)
    }

    /// Returns `true` if a text begins with a word of an aspect.
    pub(crate) fn begins(text: &str) -> bool {
        ASPECT_WORDS.iter().any(|(_, words)| words.iter().any(|word| text.starts_with(word)))
    }

    fn of_attribute(attribute: Attribute) -> Self {
        match attribute {
            Attribute::Name | Attribute::Age | Attribute::Birthday => Self::Name,
            Attribute::Occupation | Attribute::Employer | Attribute::Education => Self::Work,
            Attribute::Family => Self::Family,
            Attribute::Home | Attribute::Origin => Self::Home,
            Attribute::Health | Attribute::Diet => Self::Health,
            Attribute::Likes
            | Attribute::Dislikes
            | Attribute::Prefers
            | Attribute::Habit
            | Attribute::Hobby => Self::Taste,
            Attribute::Pet => Self::Pet,
            Attribute::Rule => Self::Rule,
            _ => Self::Other,
        }
    }
}

/// Words of each aspect, the telling ones first: "my daughter works in Rome" is about the family, and an allergy matters
/// more than the dinner it spoils.
#[rustfmt::skip]
const ASPECT_WORDS: &[(ProfileAspect, &[&str])] = &[
    (ProfileAspect::Health, &[
        "allergic", "allergy", "allergies", "allergens", "intolerant", "intolerance", "vegetarian", "vegan", "pescatarian", "diet", "dietary", "gluten",
        "lactose", "halal", "kosher", "celiac", "coeliac", "pregnant", "diabetic", "diabetes", "asthma", "medication", "medications", "medicine",
        "pills", "blood pressure", "migraine", "migraines", "illness", "disease", "surgery", "injury", "injured", "health", "medical", "therapy",
        "do not eat", "does not eat", "can not eat", "cannot eat", "not eat", "foods", "avoid", "blood type",
        "过敏", "忌口", "不吃", "不能吃", "吃素", "素食", "清真", "糖尿病", "高血压", "哮喘", "怀孕", "吃药", "服药", "药", "生病", "病", "手术", "身体", "健康", "体检",
        "毛病", "乳糖", "麸质", "不耐受", "血型", "失眠",
    ]),
    (ProfileAspect::Pet, &[
        "pet", "pets", "cat", "cats", "dog", "dogs", "puppy", "kitten", "parrot", "hamster", "rabbit", "dog's", "cat's",
        "宠物", "猫", "狗", "兔子", "仓鼠", "鹦鹉",
    ]),
    (ProfileAspect::Family, &[
        "family", "wife", "husband", "partner", "spouse", "girlfriend", "boyfriend", "fiancee", "fiance", "son", "sons", "daughter", "daughters", "kid",
        "kids", "child", "children", "baby", "mother", "mom", "mum", "father", "dad", "parents", "brother", "brothers", "sister", "sisters", "siblings",
        "grandma", "grandmother", "grandpa", "grandfather", "grandparents", "uncle", "aunt", "cousin", "niece", "nephew", "in-laws", "relatives", "married",
        "divorced", "engaged", "wedding", "friend", "friends", "roommate", "flatmate", "neighbour", "neighbor", "relationship", "wife's", "husband's",
        "partner's", "son's", "daughter's", "mother's", "father's", "mom's", "dad's", "sister's", "brother's", "kids'", "people in my life",
        "老婆", "妻子", "太太", "媳妇", "老公", "丈夫", "爱人", "对象", "女朋友", "男朋友", "女友", "男友", "未婚妻", "未婚夫", "儿子", "女儿", "闺女", "孩子", "小孩", "宝宝",
        "爸", "妈", "父亲", "母亲", "父母", "爷爷", "奶奶", "外公", "外婆", "姥姥", "姥爷", "哥哥", "姐姐", "弟弟", "妹妹", "大哥", "大姐", "我哥", "我姐", "我弟", "我妹", "兄弟",
        "姐妹", "家人", "家里人", "家庭", "我家都有", "我家有", "亲戚", "结婚", "离婚", "单身", "感情", "恋爱", "朋友", "闺蜜", "室友", "邻居", "身边的人", "身边有", "叔叔", "舅舅", "阿姨", "姑姑",
    ]),
    (ProfileAspect::Name, &[
        "name", "names", "nickname", "call me", "birthday", "born", "birth", "age", "years old", "how old", "gender", "pronouns", "zodiac",
        "名字", "姓名", "我叫", "叫我", "称呼", "昵称", "外号", "小名", "我姓", "生日", "出生", "岁", "年龄", "多大", "属相", "星座", "性别", "身份证",
    ]),
    (ProfileAspect::Work, &[
        "job", "jobs", "work", "works", "worked", "working", "employer", "employed", "company", "boss", "manager", "colleague", "colleagues", "coworker",
        "coworkers", "career", "profession", "occupation", "for a living", "teach", "teaches", "teacher", "engineer", "developer", "programmer", "nurse", "doctor", "lawyer",
        "designer", "accountant", "researcher", "scientist", "student", "study", "studies", "studying", "studied", "university", "college", "degree", "major",
        "freelance", "freelancer", "startup", "retired", "salary", "office", "role", "profession's", "education", "school",
        "工作", "上班", "公司", "职业", "职位", "岗位", "行业", "老板", "领导", "同事", "工程师", "程序员", "老师", "教师", "教书", "医生", "护士", "律师", "会计", "设计师", "经理", "学生",
        "大学", "专业", "毕业", "学历", "上学", "学校", "创业", "退休", "自由职业", "工资", "薪水", "研究员", "从事", "做什么的", "干什么的", "干嘛的", "干哪行", "哪一行",
    ]),
    (ProfileAspect::Home, &[
        "live", "lives", "living in", "lived", "moved to", "home", "house", "apartment", "flat", "address", "hometown", "city", "come from", "am from", "is from", "i from", "grew up",
        "neighbourhood", "neighborhood", "nationality", "rent",
        "住", "搬家", "搬到", "搬去", "家在", "老家", "家乡", "籍贯", "来自", "哪里人", "哪儿人", "房子", "小区", "地址", "住址", "租房", "国籍", "城市",
    ]),
    (ProfileAspect::Rule, &[
        "rule", "rules", "instructions", "instruction", "how to answer", "how you should answer", "answer style",
        "规矩", "规则", "交代", "吩咐", "嘱咐", "叮嘱", "要求你", "不要做什么", "怎么回答",
    ]),
    (ProfileAspect::Taste, &[
        "like", "likes", "love", "loves", "prefer", "prefers", "preference", "preferences", "enjoy", "enjoys", "favorite", "favorites", "hate", "hates",
        "dislike", "dislikes", "hobby", "hobbies", "interest", "interests", "interested", "taste", "tastes", "habit", "habits", "routine", "usually", "fan of",
        "drink", "drinks", "coffee", "tea", "music", "books", "movies", "films", "sport", "sports", "play", "plays", "collect", "collects", "go for", "cooking",
        "喜欢", "爱好", "爱吃", "爱喝", "最爱", "讨厌", "偏好", "喜好", "兴趣", "习惯", "口味", "平时", "每天", "爱听", "爱看", "爱玩", "业余", "运动", "音乐", "电影", "看书", "收藏",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_the_aspect_in_both_languages() {
        let aspects = [
            ("My name is Wang Lei", ProfileAspect::Name),
            ("我叫王磊", ProfileAspect::Name),
            ("I teach mathematics", ProfileAspect::Work),
            ("用户是程序员", ProfileAspect::Work),
            ("I have two daughters", ProfileAspect::Family),
            ("我老婆叫林悦", ProfileAspect::Family),
            ("I live in Lisbon", ProfileAspect::Home),
            ("我住在上海", ProfileAspect::Home),
            ("I am allergic to peanuts", ProfileAspect::Health),
            ("我对花生过敏", ProfileAspect::Health),
            ("I like green tea", ProfileAspect::Taste),
            ("我喜欢喝茶", ProfileAspect::Taste),
            ("My cat is called Momo", ProfileAspect::Pet),
            ("我的猫叫墨墨", ProfileAspect::Pet),
        ];
        for (text, aspect) in aspects {
            assert_eq!(ProfileAspect::of_text(&normalize(text)), Some(aspect), "{text}");
        }
        assert_eq!(ProfileAspect::of_text(&normalize("The staging port is 8443")), None);
        assert_eq!(ProfileAspect::of_text(&normalize("模块3由第3组维护")), None);
    }
}
