//! Patterns of what people say of themselves, in both languages: role, employer, expertise, tools.

use std::sync::LazyLock;

use regex::Regex;

/// Words that end an occupation.
const HEADS: &str = "engineer|developer|programmer|manager|nurse|doctor|physician|surgeon|dentist|pharmacist|therapist|paramedic|midwife|vet|veterinarian|teacher|tutor|professor|lecturer|student|researcher|scientist|designer|architect|analyst|consultant|lawyer|attorney|paralegal|accountant|auditor|bookkeeper|banker|trader|broker|director|founder|ceo|cto|cfo|entrepreneur|freelancer|contractor|administrator|admin|sysadmin|technician|specialist|coordinator|assistant|secretary|officer|writer|author|editor|journalist|reporter|translator|interpreter|photographer|illustrator|animator|artist|musician|composer|actor|producer|chef|cook|baker|barista|waiter|bartender|driver|courier|pilot|mechanic|electrician|plumber|carpenter|builder|welder|machinist|farmer|gardener|librarian|firefighter|soldier|recruiter|salesperson|marketer|planner|supervisor|lead|head|president|owner|intern|postdoc|biologist|chemist|physicist|mathematician|statistician|economist|psychologist|geologist|historian|judge|notary|realtor|stylist|hairdresser|coach|trainer|guide|sre|pm|qa|tester|dba|copywriter|strategist|buyer|dev|coder|botanist|astronomer|optician|radiologist|cardiologist|pediatrician|physiotherapist|tailor|butcher|florist|potter|beekeeper|dispatcher|caretaker|nanny|roofer|painter|surveyor|clerk|cashier|flight attendant|adjuster|operator|inspector|curator|instructor|attendant|agent|representative|executive|apprentice|trucker|social worker|police officer|civil servant";

/// Fields of work that stand for an occupation.
const AREAS: &str = "backend|back-end|frontend|front-end|full-?stack|devops|data science|data engineering|data|qa|security|infrastructure|infra|mobile|ios|android|machine learning|ml|product|design|ux|marketing|sales|hr|recruiting|accounting|bookkeeping|finance|legal|procurement|purchasing|logistics|research|support|customer support|operations|ops|nursing|teaching|consulting|construction|plumbing|carpentry|farming|catering|childcare|journalism|translation|editing|photography|embedded|firmware|analytics|compliance|payroll";

/// Words that end an occupation in Chinese.
const CHINESE_HEADS: &str = "工程师|程序员|医生|大夫|医师|牙医|护士长|护士|护工|药师|兽医|老师|教师|教授|讲师|教练|律师|法务|会计|审计|出纳|经理|总监|总裁|主管|主任|组长|店长|厂长|校长|院长|负责人|创始人|合伙人|设计师|架构师|分析师|咨询师|咨询顾问|顾问|研究员|科学家|学生|研究生|博士生|博士后|编辑|记者|翻译|作家|作者|摄影师|导演|演员|厨师|司机|飞行员|销售|运营|客服|产品|测试|运维|采购|人事|行政|秘书|助理|公务员|警察|消防员|军人|农民|工人|电工|木工|焊工|水管工|技师|技术员|自由职业者|个体户|博主|主播|插画师|美术|动画师|音乐人|心理咨询师|营养师|社工|会计师|建筑师|快递员|外卖员|保安|文员|导游|空姐|法官|牙科医生|理发师|裁缝|面点师|园艺师";

/// Fields of work in Chinese.
const CHINESE_AREAS: &str = "后端|前端|全栈|客户端|安卓|算法|数据分析|数据|测试|运维|产品|运营|设计|销售|市场|财务|人事|行政|法务|采购|客服|研发|风控|策划|品牌|公关|供应链|嵌入式|硬件|大数据|安全|架构|投资|审计|教研|编剧|剪辑";

/// Places of work in Chinese, by their last word.
const CHINESE_PLACES: &str = "公司|医院|学校|大学|银行|律所|工厂|集团|研究所|研究院|事务所|工作室|餐厅|餐馆|酒店|机构|中学|小学|幼儿园|报社|出版社|厂|诊所|药房|药店|书店|超市|政府|法院|物流园";

/// Companies that everybody calls by a name without such a word.
const COMPANIES: &str = "腾讯|阿里巴巴|阿里云|阿里|字节跳动|字节|百度|美团|京东|华为|小米|网易|拼多多|滴滴|快手|哔哩哔哩|B站|小红书|微软|谷歌|苹果|亚马逊|蚂蚁|携程|大疆|比亚迪|宁德时代|联想|中兴|海康|平安|招行|工行|建行|米哈游|商汤|科大讯飞|知乎|豆瓣|得物|顺丰|中通|蔚来|理想汽车|小鹏|特斯拉";

/// Programs with a Chinese name.
const CHINESE_TOOLS: &str = "飞书|钉钉|企业微信|微信|腾讯文档|腾讯会议|语雀|石墨文档|印象笔记|有道云笔记|剪映|墨刀|金蝶|用友|蓝湖|即时设计|百度网盘|坚果云|滴答清单|禅道|幕布|搜狗输入法|通义千问|文心一言|豆包|元宝|飞桨";

/// Name in Latin letters, of up to three words.
const LATIN_NAME: &str = r"[A-Za-z][\w.+#-]*(?: [A-Z][\w.+#-]*){0,2}";

/// Number of years.
const YEARS: &str =
    r"(?:about |around |over |almost |nearly |more than |some )?[\w+]+ (?:years?|yrs?)";
const CHINESE_YEARS: &str = r"[一二三四五六七八九十两几\d]+多?年";

/// Patterns of the role; the first group is the value.
pub(super) static ROLES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let role = format!(r"((?:[\w+/&'’-]+ ){{0,4}}?(?:{HEADS})(?: (?:{HEADS}))?(?: of [\w-]+)?)\b");
    let adverb = "(?: now| currently| actually| also| still| just| back| mainly)?";
    let verbs = "work|worked|working|employed|started|starting|hired|joined|joining|volunteer|practise|practice";
    let chinese = format!("(?:{CHINESE_HEADS})(?:经理|工程师|总监|主管|专员|助理)?");
    let now = "(?:现在|目前|如今|刚|就|又|也|还|已经|正式|其实|今年|平时|重新)*";
    compile_all(&[
        format!(r"(?i)\bI(?:['’]m| am){adverb} (?:an?|the|your) {role}"),
        format!(r"(?i)\bI(?:['’]ve| have) been (?:working as )?(?:an?|the) {role}"),
        format!(
            r"(?i)\bI(?:['’]m| am|['’]ve| have| got| was| just| now| currently| recently|['’]ve been)* (?:{verbs})\b(?: (?:[\w'’&.-]+)){{0,8}}? as (?:an? |the |our |their )?{role}"
        ),
        format!(
            r"(?i)^(?:(?:hi|hello|hey)[,! ]+)?(?:just|recently|finally) (?:joined|started|got hired)\b(?: [\w'’&.-]+){{0,6}}? as (?:an? |the |their )?{role}"
        ),
        format!(r"(?i)\b(?:got|been|was|just) promoted to (?:an?|the)? ?{role}"),
        format!(
            r"(?i)\bI(?:['’]ve)? (?:just |recently |finally )?(?:became|become|took (?:a|the) job as|got a job as|have a new job as) (?:an?|the)? ?{role}"
        ),
        format!(
            r"(?i)\bmy (?:new |current |day |main )?(?:job|role|title|job title|position|profession|occupation)(?: is|:| [-–—]) (?:an?|the)? ?(?:that of (?:an?|the) )?({HEADS}|(?:[\w+/&'’-]+ ){{0,3}}?(?:{HEADS})|{AREAS})\b"
        ),
        format!(
            r"(?i)^(?:(?:hi|hello|hey)[,! ]+)?((?:[\w+/&-]+ ){{0,3}}?(?:{HEADS})) (?:here\b|by (?:trade|profession|training|day)\b)"
        ),
        format!(
            r"(?i)^(?:long-?time|freelance|full-time|part-time) ((?:[\w+/&-]+ ){{0,2}}?(?:{HEADS}))\b(?:,|$)"
        ),
        format!(r"(?i)^as an? ((?:[\w+/&-]+ ){{0,3}}?(?:{HEADS}))[,， ]+(?:I|my)\b"),
        r"(?i)^as an? ((?:[\w-]+ ){0,2}?\w+(?:keeper|smith|wright|ologist|grapher|maker|monger|binder|grower|breeder|brewer|weaver|fitter|fisher))[,， ]+(?:I|my)\b".to_owned(),
        format!(
            r"(?i)\bI (?:now |currently |mostly |mainly )?(?:do|lead|run|head|handle|work in|work on) ((?:{AREAS})(?: (?:engineering|development|work|analysis))?)\b"
        ),
        format!(
            r"我{now}(?:是|当(?:上|回)?了?|做回|担任|转岗做|转行(?:做|当)了?|升任|升为|升职为|晋升为?|升到|升|改行做)(?:一?[名个位])?了?([^，。！？,；、的在]{{0,10}}?(?:{chinese}))(?:了|$|[^们的])"
        ),
        format!(
            r"我[^。！？]{{0,25}}(?:{CHINESE_PLACES}|{COMPANIES}|[a-zA-Z])\s*(?:里|那边)?(?:做|当|担任|任|搞)(?:一?[名个位])?([^，。！？,；、的了]{{0,8}}?(?:{chinese}|{CHINESE_AREAS}))"
        ),
        format!(
            r"(?:升职|升任|转岗|转行|跳槽|换工作)[^。！？]{{0,30}}(?:是|做|当|担任|成为)了?(?:一?[名个位])?([^，。！？,；、的了]{{0,8}}?(?:{chinese}))"
        ),
        format!(
            r"(?:本人|在下|鄙人)(?:是)?(?:一?[名个位])?([^，。！？,；、的在]{{0,8}}?(?:{chinese}))"
        ),
        format!(r"(?:^|我)((?:{chinese}|{CHINESE_AREAS}))一枚"),
        format!(r"^(?:我)?(?:是)?(?:做|搞)((?:{CHINESE_AREAS}|{CHINESE_HEADS}))的$"),
        format!(r"作为(?:一[名个位])?([^，。！？,；、的在]{{0,8}}?(?:{chinese}))[，,]?\s*我"),
        r"作为(?:一[名个位])?((?:[一-鿿]{0,4}?(?:师傅?|工匠|匠))|养[一-鿿]人|养殖户|经纪人|主持人|撰稿人|制片人|媒体人|手艺人|投资人|策展人|[一-鿿]{0,3}(?:画家|艺术家|企业家|创业者|编剧|译者|渔民|果农|茶农|菜农|花农))[，,]\s*我".to_owned(),
        format!(r"(?:只有|就|仅)我(?:一个人?|一名|一位)(?:是|做)?((?:{chinese}))"),
        format!(
            r"我的?(?:职业|工作|岗位|职位|本职工作|本职|主业)是([^，。！？,；、的在]{{0,8}}?{chinese})$"
        ),
        format!(
            r"我的?(?:职业|工作|岗位|职位|本职工作|本职|主业)是([^，。！？,；、的在]{{0,8}}?(?:{chinese}|{CHINESE_AREAS}))"
        ),
        "我是(?:做|搞|跑)([^，。！？,了完好过到]{2,8})的$".to_owned(),
        format!(
            r"我是[^，。！？,的]{{2,12}}(?:{CHINESE_PLACES}|{COMPANIES})?的([^，。！？,；、的在]{{0,6}}?(?:{chinese}))$"
        ),
        format!(
            r"我(?:现在|目前|如今|平时|主要|后来|改|转){{1,3}}(?:做|当|干)([^，。！？,；、的在了]{{0,6}}?(?:{chinese}|{CHINESE_AREAS}))"
        ),
        "我(?:做|当|干|从事)([^，。！？,；、的在了]{0,6}?(?:师|员|会计|律师|司机|经理|医生|护士|老师|电工|木工|总监|主管))$".to_owned(),
        format!(
            r"我(?:从事|干|当|做)了?(?:{CHINESE_YEARS})的?([^，。！？,；、的在了]{{0,6}}?(?:{chinese}))"
        ),
        "我从事([^，。！？,；、的在了]{2,8}?)(?:工作|行业)".to_owned(),
    ])
});

/// Patterns of the employer; the first group is the value.
pub(super) static EMPLOYERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compile_all(&[
        format!(r"(?i)\b(?:I|my (?:new |current )?(?:job|role|position|title))\b[^,]{{1,60}}\b(?:{HEADS}|{AREAS}) (?:at|for|with) (.+)"),
        r"(?i)^(?:(?:hi|hello|hey)[,! ]+)?(?:just|recently|finally) (?:joined|got hired (?:at|by)) ((?-i:[A-Z]).+?) as (?:an?|the|their) ".to_owned(),
        r"(?i)^(?:(?:hi|hello|hey)[,! ]+)?(?:just|recently|finally) started (?:working )?at ((?-i:[A-Z]).+)".to_owned(),
        r"(?i)\bI(?:['’]m| am)(?: now| currently| still)? at ((?-i:[A-Z])[\w.&-]*(?: (?-i:[A-Z])[\w.&-]*)?),? (?:on|in) (?:the|an?) [\w ]{1,30}?\b(?:team|group|department|org)\b".to_owned(),
        r"(?i)\bI(?:['’]m| am)?(?: now| currently| still)? ?work(?:ing)?(?: (?:full|part)[- ]time)? (?:at|for) (.+)".to_owned(),
        r"(?i)\bI(?:['’]m| am)?(?: now| currently| still)? ?work(?:ing)? in (an? (?:[\w-]+ ){0,3}?(?:kindergarten|hospital|school|bank|clinic|restaurant|bakery|factory|warehouse|library|shop|store|lab|hotel|law firm|startup|university|pharmacy|museum|call cent(?:er|re)|nursery|nursing home|brewery|agency|studio))\b".to_owned(),
        r"(?i)\bI(?:['’]ve)? (?:just |recently |now |finally )*(?:joined|started at|moved over to) ((?-i:[A-Z]|an? ).+)".to_owned(),
        r"(?i)\bI(?:['’]m| am) (?:in charge of|responsible for|employed (?:at|by)|on the) [^,]{0,40}?\b(?:at|by) (.+)".to_owned(),
        format!(r"我[^。！？]{{0,15}}?(?:在|加入了?|入职了?)(?:一家|一所|一个)?([^，。！？,我]{{0,20}}?(?:{CHINESE_PLACES}))[^，。！？,]{{0,6}}?(?:工作|上班|任职|做|当|担任|任|实习|教|搞|跟单|打工|就职|供职|干活|负责|带|管)"),
        format!(r"我[^。！？]{{0,15}}?(?:加入了?|入职了?|跳槽到了?|去了)(?:一家|一所|一个)?([^，。！？,我]{{0,16}}?(?:{CHINESE_PLACES}))"),
        format!(r"我[^。！？]{{0,15}}?(?:在|加入了?|入职了?|跳槽到了?|去了)\s*({COMPANIES}|[A-Z][\w.&-]+)\s*(?:做|当|担任|任|工作|上班|搞|实习|负责|$|，)"),
        format!(r"我是([^，。！？,的]{{0,12}}(?:{CHINESE_PLACES})|{COMPANIES})的(?:[^，。！？,；、的在]{{0,6}}?(?:{CHINESE_HEADS}))$"),
    ])
});

/// Patterns of years with something: groups come in pairs, in either order.
pub(super) static YEARS_OF: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\bI(?:['’]ve| have)(?: been)? (?:doing|using|writing|used|worked (?:with|in|on)|working (?:with|in|on)|programming in|coding in|running|building|teaching|practi[cs]ing) (?P<what1>.{{2,40}}?) for (?P<years1>{YEARS})|\b(?P<years2>{YEARS})(?: of)? experience (?:with|in|of|as an?|doing|using) (?P<what2>.{{2,40}})|(?:做|用|写|搞|从事|教|干|当)了(?P<years3>{CHINESE_YEARS})多?的?(?P<what3>[^，。！？,了]{{1,12}})|(?P<years4>{CHINESE_YEARS})的?(?P<what4>[^，。！？,]{{1,12}}?)(?:工作|开发)?经验|(?:做|写|从事|教|学)(?P<what5>[^，。！？,了]{{2,12}}?)(?:工作)?有?(?P<years5>{CHINESE_YEARS})多?了"
    ))
});

/// Years of a name, without the word experience.
pub(super) static YEARS_OF_NAME: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\b({YEARS}) (?:of|in|with) ((?-i:[A-Z])[\w+#.]*(?: (?-i:[A-Z])[\w+#.]*)?)"
    ))
});

/// Beginners.
pub(super) static NEW_TO: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\bI(?:['’]m| am) (?:an? (?:total |complete |absolute )?(?:beginner|newbie|novice|noob) (?:in|at|with|to)|(?:still |quite |pretty |very |completely |fairly |rather |relatively |totally )?new to)|\bI(?:['’]ve)? (?:just|only|only just|recently) (?:started|began)(?: (?:with|learning|using|to learn))?|刚开始(?:学|用|接触)|刚接触|刚入门|刚学|才开始学|正在学|在学) ?(.+)|我?对\s*([^，。！？]{1,16}?)\s*(?:还|还是|是|完全|基本|基本上|比较|不太|不|一窍){1,3}(?:新手|小白|熟悉|了解|不熟|不通|不懂|懂|陌生)|我是\s*([^，。！？]{1,16}?)\s*(?:新手|小白|初学者)",
    )
});

/// Things that somebody knows well; any group is the value.
pub(super) static EXPERT: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\bI(?:['’]m| am) (?:an expert|experienced|fluent|very good|really good|quite good|pretty good|proficient|well versed) (?:in|at|with) (.+)|\bI (?:mostly|mainly|usually|primarily) (?:write|code in|program in|work with|work in) (.+)|\bI (?:code|program|develop) (?:mostly |mainly )?in (.+)|\bI write (?:most of my|all my|my) code in (.+)|\bmost of my (?:code|scripts|work|projects) (?:is|are) (?:written )?in (.+)|\b(?:mostly|mainly) ((?-i:[A-Z])[\w+#.]*(?:(?:, | and | & |/)(?-i:[A-Z])[\w+#.]*)*)|(?:精通|熟悉|擅长|主攻)([^，。！？]{{1,20}})|我(?:平时|现在|目前)?(?:主要|一般|多半)(?:写|用|搞)\s*({LATIN_NAME}(?:(?:、|和|跟| 和 |/) ?{LATIN_NAME})*)|我教([^，。！？,了你他她我的]{{2,8}}?)(?:的|$)|我的?(?:主力|主要|常用)(?:编程)?语言是\s*({LATIN_NAME}(?:(?:、|和|跟| 和 |/) ?{LATIN_NAME})*)"
    ))
});

/// Things that somebody uses, in English.
pub(super) static USES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:I|we)(?:['’]ve| have|['’]m| am|['’]re| are)?(?: been)?(?: mostly| mainly| usually| always| just| now| only| still| also| currently| all| typically| daily| personally)* (?:use|using|switched to|switched over to|work with|rely on|run everything on) (.+)|^been using (.+)|\b(?:our|my) (?:team|company|office|shop) (?:runs on|uses|is on) (.+)|\b(?:my|our)(?: \w+)? (?:stack|toolchain|setup|toolkit) (?:is|includes|consists of|has)(?: mostly| mainly)? (.+)|\bmy (?:main |favou?rite |preferred |daily |go-to )?(?:editor|ide|shell|terminal|browser|os|operating system|note(?:s|-taking)? app|tool|database|distro|calendar|password manager|text editor)(?: of choice)? is (.+)",
    )
});

/// The same in Chinese.
pub(super) static USES_CHINESE: LazyLock<Regex> = LazyLock::new(|| {
    let item = format!("(?:{CHINESE_TOOLS}|{LATIN_NAME})");
    compile(&format!(
        r"(?:用|使用|换成了?|改用|技术栈(?:主要)?(?:是|有|包括)|(?:编辑器|浏览器|笔记软件|笔记工具|输入法|操作系统|工具|IDE|数据库)是)(?:的是|的)?\s*({item}(?:\s?(?:、|和|跟|与|以及|，|,|/)\s?{item})*)|拿\s*({item})\s*(?:来)?(?:写|做|记|画|剪|管|跑|排)"
    ))
});

/// Clauses in Chinese about what the user does: without a subject it may be a request.
pub(super) static DOES_CHINESE: LazyLock<Regex> =
    LazyLock::new(|| compile("我|咱|俺|本人|在下|公司|团队|部门|平时|平常|日常|一般都|通常"));

/// Something that takes the place of another: old and new, in pairs of groups; only with a word that is sure to be about
/// programs or things.
pub(super) static REPLACED: LazyLock<Regex> = LazyLock::new(|| {
    let item = format!("(?:{CHINESE_TOOLS}|{LATIN_NAME})");
    compile(&format!(
        r"(?i)\b(?:replaced|ditched|swapped|dropped|traded)(?: out)? ((?-i:{LATIN_NAME})) (?:with|for|by|in favou?r of) ((?-i:{LATIN_NAME}))|\b(?:switched|migrated|changed)(?: over)? from ((?-i:{LATIN_NAME})) to ((?-i:{LATIN_NAME}))|把\s*({item})\s*(?:都|全)?(?:换成|替换成|替换为|改成)了?\s*({item})|从\s*({item})\s*(?:换成|换到|转到|迁移到|切换到|切到|转向|改用|改成)了?\s*({item})"
    ))
});

/// The same with words that are about homes and jobs as well.
pub(super) static MOVED: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\b(?:moved|went|jumped|transferred)(?: over)? from ((?-i:{LATIN_NAME})) to ((?-i:{LATIN_NAME}))|从\s*({COMPANIES}|[^，。！？,我]{{2,12}}(?:{CHINESE_PLACES}))\s*(?:跳槽|跳|转|换)(?:到|去)?了?\s*({COMPANIES}|[^，。！？,我]{{2,12}}(?:{CHINESE_PLACES}))"
    ))
});

/// Something that a person or team moved to, which is a tool if it is a program.
pub(super) static MOVED_TO: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\b(?:I|we)(?:['’]ve| have)?(?: \w+)? (?:moved|migrated|went)(?: over| back)? to ((?-i:{LATIN_NAME}))"
    ))
});

/// A job that ended without a name.
pub(super) static JOB_ENDED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:quit|left|lost) my job\b|\bresigned\b|\blaid off\b|\bretired\b|\b(?:got|was|been) (?:fired|let go|sacked|made redundant)\b|辞职了|离职了|失业了|被裁|退休了|被[^，]{0,12}裁",
    )
});

/// Words of what ended: programs, or the job.
pub(super) static ENDS_USE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bus(?:e|ed|ing)\b|\b(?:ditched|abandoned|uninstalled|got rid of|gave up|given up|quit|phased out|replaced|swapped|moved|switched|migrated|no longer|any ?more|any longer|touched|coding|writing|paying)\b|用|卸|换|退订|停",
    )
});
pub(super) static ENDS_WORK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:work|working|worked|left|resigned|laid off|fired|let go|sacked|redundant|retired|job|being|am|not an?|not the|no longer|any ?more|any longer|quit|gave up|moved)\b|['’]m\b|是|当|做|干|在|职|退休|裁|开除|辞|失业|离开",
    )
});

/// Words of the past, before what held then.
pub(super) static PAST_WORDS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"(?i)\bused to be\b", "am"),
        (r"(?i)\bused to ", ""),
        (r"(?i)\bI was (?:once )?", "I am "),
        (r"(?i)\bI worked\b", "I work"),
        (r"(?i)\b(?:once|previously|formerly|had) ", ""),
        (r"以前|之前|原来|曾经|过去|原先|从前|早年|曾", ""),
    ]
    .into_iter()
    .map(|(pattern, now)| (compile(pattern), now))
    .collect()
});

/// Places where a list of values ends and the sentence goes on.
pub(super) static STOP: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)[;；(（]| (?:but|because|since|where|which|who|whose|so|when|while|though|although|if|and (?:i|we|my|have|am|it|he|she|they))\b",
    )
});

/// Places where a value ends.
pub(super) static CUT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)[,，;；(（]| (?:and (?:i|we|my|have|am|it|he|she|they)|but|because|since|where|which|who|so|now|these days|nowadays|at (?:the moment|work|home|school|the office|night)|right now|any ?more|as of|starting|when|while|though|for|to|every|each|daily|weekly|a lot|a bit|all (?:the time|day)|on (?:the|my|a|our|mac\w*|windows|linux|\w+days?|weekends)|in (?:my|the|our|\d|january|february|march|april|may|june|july|august|september|october|november|december)|instead|as (?:an?|my|the|our|well)|mostly|mainly|last|this|next|again|too|by|under my belt|so far|over|with|via|through|exclusively|regularly|occasionally|sometimes|often|already|yesterday|today|quite|pretty much|almost)\b|来?(?:做|写|处理|画|剪|记|管理)|每天|的时候|都|上班|已经",
    )
});

pub(super) static ARTICLE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^(?:(?:an?|the|my|our|some|both|mostly|mainly|a bit of|a little) |在|一家|一所|一个|一点|一些|的)+",
    )
});

pub(super) static LIST: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i),? and (?:sometimes |also )?|, | & |/|、|，|和|跟|以及| plus "));

fn compile_all(patterns: &[String]) -> Vec<Regex> {
    patterns.iter().map(|pattern| compile(pattern)).collect()
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is valid")
}
