//! Words that tell names of speakers from labels of notes and fields.

/// Words before a colon that name no speaker, in lower case.
#[rustfmt::skip]
pub(super) const LABELS: [&str; 412] = [
    "a", "about", "account", "actually", "address", "afternoon", "age", "agenda", "allergies", "allergy", "also",
    "and", "announcement", "answer", "answers", "anyway", "appendix", "apr", "april", "are", "article",
    "attachment", "aug", "august", "background", "bank", "basically", "bcc", "be", "because", "besides", "bio",
    "birthdate", "birthday", "branch", "breakfast", "brother", "btw", "budget", "bug", "bus", "but", "call", "car",
    "card", "cat", "category", "caveat", "cc", "chapter", "city", "client", "code", "color", "colour", "comment",
    "comments", "commit", "company", "con", "conclusion", "confession", "cons", "content", "contents", "context",
    "correction", "corrections", "cost", "count", "country", "database", "date", "daughter", "day", "db",
    "deadline", "dear", "debug", "dec", "december", "decision", "decisions", "deploy", "deployment", "description",
    "detail", "details", "diary", "diet", "dinner", "disclaimer", "do", "doctor", "document", "dog", "drink",
    "drinks", "edit", "education", "email", "entry", "error", "errors", "evening", "example", "examples",
    "experience", "fact", "facts", "family", "father", "favorite", "favorites", "favourite", "favourites",
    "feature", "feb", "february", "figure", "file", "finally", "first", "fix", "flat", "flight", "floor", "food",
    "fri", "friday", "from", "ftp", "fw", "fwd", "fyi", "gender", "goal", "goals", "he", "health", "height",
    "hello", "her", "here", "hey", "hi", "hint", "hints", "his", "hobbies", "hobby", "home", "honestly", "hospital",
    "host", "hotel", "house", "how", "however", "http", "https", "husband", "i", "id", "idea", "ideas", "if",
    "imho", "imo", "important", "income", "info", "ingredients", "input", "instruction", "instructions",
    "insurance", "intro", "introduction", "is", "issue", "issues", "it", "jan", "january", "job", "journal", "jul",
    "july", "jun", "june", "key", "kind", "language", "languages", "later", "link", "links", "location", "log",
    "login", "long", "lunch", "mail", "mar", "march", "may", "meeting", "memo", "message", "mobile", "mon",
    "monday", "month", "morning", "mother", "music", "my", "name", "names", "nb", "news", "next", "night", "no",
    "noon", "nope", "note", "notes", "nov", "november", "now", "number", "oct", "october", "ok", "okay", "one",
    "option", "options", "or", "original", "our", "output", "page", "part", "password", "paste", "path",
    "personally", "pet", "pets", "phone", "plan", "plans", "please", "port", "pps", "pr", "preference",
    "preferences", "price", "pro", "problem", "problems", "profile", "project", "projects", "pros", "ps", "purpose",
    "q", "qa", "question", "questions", "quick", "quote", "re", "reason", "reasons", "recipe", "reference",
    "references", "release", "remember", "reminder", "reminders", "rent", "request", "requests", "result",
    "results", "room", "rule", "rules", "salary", "sat", "saturday", "school", "second", "section", "sep", "sept",
    "september", "server", "she", "shoe", "short", "sister", "situation", "size", "skill", "skills", "so",
    "solution", "son", "sorry", "source", "sources", "spoiler", "sport", "sports", "state", "status", "step",
    "steps", "story", "street", "subject", "summary", "sun", "sunday", "table", "tag", "tags", "task", "tasks",
    "team", "tel", "text", "thanks", "that", "the", "their", "then", "there", "these", "they", "thing", "things",
    "third", "this", "those", "three", "thu", "thursday", "ticket", "time", "times", "tip", "tips", "title", "tl",
    "tldr", "to", "today", "todo", "todos", "tomorrow", "tonight", "topic", "topics", "total", "train", "translate",
    "translation", "trip", "tue", "tuesday", "two", "type", "update", "updates", "url", "username", "value",
    "version", "warning", "we", "wed", "wednesday", "week", "weight", "well", "what", "when", "where", "which",
    "who", "why", "width", "wife", "wifi", "wish", "work", "yeah", "year", "yes", "yesterday", "you", "your", "zip",
];

/// The same in Chinese, where a surname or a nickname's first character begins them.
#[rustfmt::skip]
pub(super) const CHINESE_LABELS: [&str; 242] = [
    "万一", "万分", "上午", "下午", "严格", "严重", "中午", "主题", "举例", "乐器",
    "乐趣", "于是", "于此", "今天", "任务", "何况", "何地", "何必", "何时", "余下",
    "余额", "例如", "元旦", "元素", "党员", "公司", "关于", "关注", "关系", "关联",
    "关键", "其中", "其次", "内容", "包含", "包括", "华语", "单价", "单位", "单数",
    "单词", "原因", "另外", "史料", "名字", "后天", "后来", "后果", "后续", "后记",
    "向导", "向来", "周一", "周三", "周二", "周五", "周六", "周四", "周日", "周期",
    "周末", "回答", "地址", "城市", "备注", "夏天", "姓名", "安全", "安慰", "安排",
    "家乡", "小事", "小区", "小名", "小建议", "小提示", "小时候", "小目标", "小知识",
    "小结", "小结论", "小贴士", "小问题", "工作", "常用", "常见", "常规", "常识",
    "平台", "平常", "平时", "年龄", "应当", "应急", "应用", "应该", "张力", "待办",
    "总结", "情况", "成员", "成本", "成果", "成绩", "手机", "提示", "提醒", "提问",
    "文件", "文字", "文案", "文档", "文章", "方便", "方向", "方式", "方案", "方法",
    "施工", "日期", "早上", "时差", "时间", "明天", "明确", "明细", "易错", "昨天",
    "晚上", "更新", "更正", "最后", "权重", "权限", "林地", "标题", "步数", "步骤",
    "武器", "段子", "段落", "比如", "毛病", "水果", "江南", "江湖", "汪洋", "注",
    "注意", "温度", "温馨提示", "游记", "爱好", "牛奶", "状况", "状态", "现状",
    "班主任", "班次", "班级", "生日", "田地", "申报", "申明", "申请", "电话", "白天",
    "白菜", "白酒", "目标", "相关", "相同", "相比", "石头", "程序", "程度", "程式",
    "章程", "章节", "答案", "简介", "简单", "简历", "简述", "管理", "管道", "纠正",
    "经历", "经验", "结果", "结论", "老地方", "老家", "老板娘", "老规矩", "老问题",
    "职业", "背景", "花生", "花费", "补充", "解决", "解答", "解释", "计划", "记住",
    "许可", "许多", "说明", "谢谢", "贺卡", "路上", "路程", "路线", "车次", "车牌",
    "过敏", "进度", "连接", "连续", "邮箱", "重要", "金句", "金额", "钱包", "问题",
    "陈述", "雷区", "雷达", "项目", "项链", "预算", "首先", "马上", "马甲", "高中",
    "高兴", "高度", "高考", "鱼", "黄色", "黄金",
];

/// Endings of a person's title in Chinese.
#[rustfmt::skip]
pub(super) const CHINESE_TITLES: [&str; 63] = [
    "老师", "医生", "大夫", "护士", "经理", "主任", "教授", "律师", "先生", "女士",
    "小姐", "同学", "师傅", "教练", "总监", "校长", "局长", "妈妈", "爸爸", "老妈",
    "老爸", "爷爷", "奶奶", "外公", "外婆", "姥姥", "姥爷", "哥哥", "姐姐", "弟弟",
    "妹妹", "叔叔", "阿姨", "舅舅", "姑姑", "老婆", "老公", "妻子", "丈夫", "儿子",
    "女儿", "男友", "女友", "男朋友", "女朋友", "同事", "朋友", "室友", "邻居",
    "老板", "客服", "客户", "房东", "中介", "医师", "班长", "队长", "店长", "秘书",
    "导游", "司机", "主播", "群主",
];

/// Chinese surnames of one character, the most frequent first.
pub(super) const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮纪梅童凌毕单季裴霍涂成苗谷曲盛冉翁蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝";
