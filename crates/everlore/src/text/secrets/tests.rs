//! Tests of masking. Values are generated here, so that the file holds none that a scanner would report.

use std::time::Instant;

use proptest::prelude::*;

use super::{SecretKind::*, *};

/// Puts generated values in place of `{A36}` (letters and digits), `{H32}` (hexadecimal) and `{U16}` (upper case).
fn fill_template(template: &str) -> String {
    let mut text = template.to_owned();
    while let Some(start) = text.find("{A").or_else(|| text.find("{H")).or_else(|| text.find("{U"))
    {
        let end = start + text[start..].find('}').unwrap();
        let count: usize = text[start + 2..end].parse().unwrap();
        let value = random_value(text.as_bytes()[start + 1], count);
        text.replace_range(start..=end, &value);
    }
    text
}

fn random_value(sort: u8, count: usize) -> String {
    let letters: &[u8] = match sort {
        b'H' => b"0123456789abcdef",
        b'U' => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        _ => b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    };
    let mut state = 0x9e37_79b9_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        letters[(state >> 33) as usize % letters.len()] as char
    };
    (0..count).map(|_| next()).collect()
}

#[rustfmt::skip]
const SECRETS: &[(&str, SecretKind)] = &[
    ("my key is sk-{A48}", ApiKey), ("OPENAI_API_KEY=sk-proj-{A48}", ApiKey), ("use sk-ant-api03-{A80} for now", ApiKey),
    ("我的密钥是sk-{A48}，别外传", ApiKey), ("ghp_{A36}", Token), ("git clone https://ghp_{A36}@github.com/a/b", Token),
    ("token: github_pat_{A22}_{A59}", Token), ("gho_{A36} expired", Token), ("glpat-{A20}", Token), ("AKIA{U16}", ApiKey),
    ("aws_access_key_id = AKIA{U16}", ApiKey), ("aws_secret_access_key = {A40}", ApiKey), ("AIza{A35}", ApiKey),
    ("xoxb-2345678901-{A24}", Token), ("slack 的 token 是 xoxp-2345678901-{A24}", Token), ("hf_{A34}", Token), ("npm_{A36}", Token),
    ("sk_live_{A24}", ApiKey), ("sk_test_{A24} is only for tests", ApiKey), ("whsec_{A32}", ApiKey), ("gsk_{A52}", ApiKey),
    ("SG.{A22}.{A43}", ApiKey), ("阿里云 AccessKey LTAI5t{A18}", ApiKey), ("腾讯云 SecretId: AKIDz8{A28}", ApiKey),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{A20}.{A43}", Token), ("Authorization: Bearer {A40}", ApiKey),
    ("Authorization: Basic {A32}", ApiKey), ("-----BEGIN RSA PRIVATE KEY-----\n{A64}\n-----END RSA PRIVATE KEY-----", PrivateKey),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\n{A64}", PrivateKey), ("123456789:AA{A33}", Token), ("dop_v1_{H64}", Token),
    ("postgres://app:{A12}@db.local:5432/lore", Password), ("mysql://root:Tiger#2024@10.0.0.3/prod", Password),
    ("redis://:{A20}@cache:6379", Password), ("https://ann:{A10}@example.com/path", Password),
    ("数据库连接是 mongodb://admin:Qwe!2345@mongo:27017", Password), ("password: hunter2", Password), ("Password = \"S3cure!pass\"", Password),
    ("my password is hunter22", Password), ("the wifi password is BlueHorse42", Password), ("passwd=abc12345", Password),
    ("pwd: 8fj2kd92", Password), ("passphrase: correct-horse-battery", Password), ("密码是abc12345", Password), ("密码：Zhang@1990", Password),
    ("我的密码是123456789", Password), ("登录密码为 qwer1234", Password), ("口令: Tr0ub4dor", Password), ("WiFi密码改成了 home2024wifi", Password),
    ("export DB_PASSWORD=p4ssw0rdX", Password), ("{\"password\": \"k9$Lm2!x\"}", Password), ("my PIN is 4821", Password), ("pin: 0934", Password),
    ("验证码是 483920", Password), ("CVV 737", Password), ("银行卡密码是 662211", Password), ("4111 1111 1111 1111", Card),
    ("card 5500-0055-5555-5559 exp 04/29", Card), ("378282246310005", Card), ("我的卡号是6222021234567890128", Card),
    ("visa 4012888888881881", Card), ("身份证号11010519491231002X", IdNumber), ("ID: 440301199003071230", IdNumber),
    ("my IBAN is DE89 3704 0044 0532 0130 00", BankAccount), ("GB82WEST12345698765432", BankAccount),
    ("client_secret: {A32}", ApiKey), ("api key: {H32}", ApiKey), ("\"api_key\": \"{A40}\"", ApiKey), ("?access_token={A40}&x=1", ApiKey),
    ("private key 0x{H64}", PrivateKey), ("私钥：{H64}", PrivateKey), ("密钥：{A32}", ApiKey), ("令牌是 {A40}", ApiKey),
    ("seed phrase: apple brave cider dance eager fancy giant happy input jolly karma lemon", SeedPhrase),
    ("助记词：apple brave cider dance eager fancy giant happy input jolly karma lemon", SeedPhrase),
    ("https://hooks.slack.com/services/T0{A8}/B0{A8}/{A24}", Token), ("pplx-{A48}", ApiKey),
    ("\"api_key\": \"kX93hTq7Wz2m\"", ApiKey), ("X-Api-Key: kX93hTq7Wz2m", ApiKey), ("client_secret=kX93hTq7-Wz2mLp", ApiKey),
    ("密钥：kX93hTq7Wz2m", ApiKey), ("'secret': 'kX93hTq7Wz2m'", ApiKey), ("令牌：kX93hTq7Wz2m", ApiKey), ("api_key: 3f9a1c20b7e4", ApiKey),
    ("门禁密码 7719#", Password), ("门禁密码 7719", Password), ("passcode 7719#", Password), ("The gate code: 7719#", Password), ("PIN码 4821", Password),
    ("我的PIN码是4821", Password), ("门禁码：7719#", Password), ("密码QweBLIZdeUo", Password), ("密码是Qwertyui", Password), ("密码是 swordfish。", Password),
    ("密码 Qwertyuiop", Password), ("my password is QweBLIZdeUo", Password), ("密码（Tr0ub4dor3）", Password), ("password (Tr0ub4dor3)", Password),
    ("密码【zhang1990】", Password), ("密码\nTr0ub4dor3", Password), ("Password:\nTr0ub4dor3\nthanks", Password), ("密码：\n`Tr0ub4dor&3`", Password),
    ("ｐａｓｓｗｏｒｄ：Tr0ub4dor3", Password), ("密码是ａｂｃ１２３４５", Password), ("pass＝Tr0ub4dor3", Password), ("ＰＩＮ：４８２１", Password),
    ("Cookie: JSESSIONID={H32}", Token), ("Set-Cookie: sid={H32}; Path=/; HttpOnly", Token), ("Cookie: theme=dark; session_id={A24}; lang=en", Token),
    ("\"cookie\": \"auth={A20}\"", Token), ("My password's Tr0ub4dor&3", Password), ("the wifi password’s Tr0ub4dor3", Password),
    ("パスワードは Tr0ub4dor3", Password), ("パスワードはTr0ub4dor3です", Password), ("비밀번호: Tr0ub4dor3", Password), ("비밀번호는 Tr0ub4dor3", Password),
    ("contraseña: Secreta123", Password), ("net use Z: \\\\h\\s /user:bob Tr0ub4dor3", Password), ("net use \\\\h\\s Tr0ub4dor3 /user:bob", Password),
    ("echo Tr0ub4dor3 | sudo -S ls", Password), ("echo 'Tr0ub4dor3' | sudo -kS apt update", Password), ("sudo -S ls <<< \"Tr0ub4dor3\"", Password),
    ("smbclient //h/s -U bob%Tr0ub4dor3", Password), ("smbclient -U 'bob%Tr0ub4dor3' //h/s", Password),
    ("支付宝密码我改成了 882317", Password), ("密码还是老样子 Qwe!2345", Password), ("密码就是我生日加wx：19900307wx", Password), ("TigerLily99! is my password", Password),
    ("use TigerLily99! as the password", Password), ("Netflix login is mara@example.com / Pineapple88!", Password), ("路由器后台 admin / Tp1ink@88", Password),
    ("user mara pass Pineapple88", Password), ("WIFI:T:WPA;S:Casa2;P:maple4471x;;", Password), ("ssid Casa2 key maple4471x", Password),
    ("the passphrase is correct horse battery staple", Password), ("My recovery code is 7GHT-88KL-23MN", Password), ("The code to the garage safe is 447193", Password),
    ("auth=('bob','s3cr3tpw1x')", Password), ("卡号6217001234567890123", Card), ("银行卡号：6225880123456780", Card), ("the pw for the NAS is Sparrow2231", Password),
    ("my pass is Sparrow2231", Password), ("The new password will be Sparrow!22 from Monday on", Password), ("我的密码换了，现在是 Sparrow2231", Password),
    ("router login: admin:Sparrow@2231", Password), ("Wi-Fi: Casa2 / maple4471x", Password), ("银行卡密码我设的 447193", Password),
    ("{\"name\":\"api_key\",\"value\":\"Kj8wQz3vLm5TxR2b\"}", ApiKey), ("- name: DB_PASSWORD\n  value: tulip", Password),
    ("The password is banana, don't tell anyone", Password),
    ("My login password is letmein", Password),
    ("Password for the wifi is butterfly", Password),
    ("my password's monkey", Password),
    ("the password is applepie", Password),
    ("our wifi password is simply the word kangaroo", Password),
    ("The password to the shared drive is still pineapple.", Password),
    ("The passcode of my tablet is \"sunflower\"", Password),
    ("他家进门的口令是芝麻开门", Password),
    ("密码：小猫爱吃鱼", Password),
    ("口令：天王盖地虎", Password),
    ("密码是苹果派", Password),
    ("密码是六个八", Password),
    ("我们的暗号是春风化雨。", Password),
    ("WiFi密码改成了步步高升", Password),
    ("行李箱的密码锁是 0 7 2", Password),
    ("自行车锁密码0527", Password),
    ("门锁密码 123 456", Password),
    ("支付密码是六位数的 482913", Password),
    ("保险箱密码左三圈34右两圈12", Password),
    ("保险箱密码：左3右7左9", Password),
    ("保险柜密码8812", Password),
    ("PUK 12345678", Password),
    ("My PUK code is 12345678", Password),
    ("PUK码：87654321", Password),
    ("The lock on the shed opens with 8812", Password),
    ("The garage door unlocks with the code 4471#", Password),
    ("大门输入 8812 就能开", Password),
    ("wifi: Nest / applepie99", Password),
    ("我的护照号码是E12345678", IdNumber),
    ("护照号：EA1234567", IdNumber),
    ("驾照号码 440301123456", IdNumber),
    ("My passport number is C01X00T47", IdNumber),
    ("passport no. 123456789", IdNumber),
    ("My driver's license number is D1234567", IdNumber),
    ("助记词是 苹果 香蕉 橙子 西瓜 葡萄 草莓", SeedPhrase),
    ("助记词：苹果、香蕉、橙子、西瓜、葡萄、草莓、桃子", SeedPhrase),
];

#[rustfmt::skip]
const HARMLESS: &[&str] = &[
    "550e8400-e29b-41d4-a716-446655440000", "commit {H40} fixes it", "see {H7} and {H40}", "sha256:{H64}", "md5 {H32}",
    "the digest is {H64}", "data:image/png;base64,{A200}", "![](data:image/jpeg;base64,/9j/{A120})", "order number 8839201174652",
    "tracking 1Z999AA10123456784", "ISBN 978-3-16-148410-0", "ISBN 9787111213826", "call +49 170 1234567", "手机 13812345678", "电话 010-62345678",
    "my phone is 555-867-5309", "timestamp 1700000000000", "in nanoseconds 1700000000000000000", "snowflake 1234567890123456789",
    "1234 5678 9012 3456", "4111 1111 1111 1112", "the number 6222021234567890121", "I forgot my password", "Where do I reset the password?",
    "The password field must not be empty.", "Password: required", "password is required", "The password is too short", "密码忘了怎么办",
    "密码是什么？", "密码不能为空", "请输入密码", "密码：必填", "密码长度至少为12位", "password must be 12-16 characters", "password is 8 characters long",
    "password = os.environ['DB_PASSWORD']", "password: ${DB_PASSWORD}", "password: <your password>", "api_key: YOUR_API_KEY_GOES_HERE",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx", "set the token to your-token-here-please", "sk-learn is a library", "pip install sk-video-tools-extra",
    "the task-management-and-planning-tool", "risk-based-approach-for-everything-2024", "token: expired", "the secret of good tea is patience",
    "Victoria's Secret store", "secret: nobody knows", "bearer of bad news everywhere", "token bucket algorithm", "tokens: 4096", "max_tokens=2048",
    "the token count is 128000", "/usr/local/lib/python3.12/site-packages/numpy/core", "C:\\Users\\ann\\Documents\\report-2024-final.docx",
    "https://example.com/path/to/page?id=12345&sort=asc", "http://localhost:8080/api/v1/users", "postgres://user:password@localhost/db",
    "ssh://git@github.com:22/repo.git", "mailto:ann@example.com", "user@example.com", "身份证号11010519491231002A", "身份证号 110105194912310021",
    "DE89 3704 0044 0532 0130 01", "pin it to the wall", "PIN has 4 digits", "我需要一个 6 位的验证码", "验证码发到手机了", "the pinned version is 1234.5",
    "eyJ is how they all begin", "AKIA is a prefix of Amazon keys", "npm_config_registry=https://registry.example.org", "hf_hub_download(repo_id, filename)",
    "the private key is stored in the vault", "私钥保存在硬件里", "access token lifetime is 3600 seconds", "primary_key: user_id", "version 1.2.3-beta.20240501",
    "0.1234567890123456", "π is 3.14159265358979323846", "[secret: password]", "password: [secret: password]",
    "-----BEGIN CERTIFICATE-----\n{A64}\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\n{A64}\n-----END PUBLIC KEY-----",
    "the seed phrase has twelve words", "助记词有十二个单词",
    "密码\n登录", "用户名\n密码\n忘记密码？", "Password:\n  valueFrom:\n    secretKeyRef: x", "passcode lock", "密码：\nargon2id", "api_key: string", "密码PowerShell",
    "密码是argon2id", "password (OAuth2)", "token: v2beta", "cookie: GoogleAnalytics", "echo $PASSWORD | sudo -S ls", "smbclient -U bob //h/s", "net use Z: \\\\h\\s",
    "client_secret: none", "密码 8 位以上", "密码123位", "the gate code is printed on the door", "ｔｏｋｅｎ：ｅｘｐｉｒｅｄ",
    "My password expires on 2026-12-01.", "I keep all passwords in KeePass2.", "The password policy was changed to NIST 800-63B.", "I moved my passwords from LastPass to Bitwarden2.",
    "The password reset link is sent to mara99@example.com.", "The password page is now at /settings2/security.", "My password manager is 1Password8 now.",
    "密码管理器换成了 Bitwarden2024", "密码锁换成了小米 Pro2 的", "密码登录改成了 FaceID2", "账号是 lele88，粉丝 120000 个", "登录 iOS17 / Android14 都正常",
    "dashboard shows CPU / Memory2 usage", "The account manager is Tom / Region4East", "The combination of 3-4-5 triangles is nice", "The building is 1200 years old, the zip code is 90210.",
    "The door broke, the error code is 4471.", "To open the garage app, the code is 300 lines of Python", "The recovery code path: src/recovery/v2-2024", "backup codes are printed on page 1234",
    "network key performance is 99999999", "Wi-Fi is great, the key is patience2", "user id 4471 pass rate 98%", "X is as strong as a password", "我用 iPhone15 改的密码",
    "密码是用 iPhone15 改的", "密码改成功了，耗时 123456 毫秒", "`shown_url` is its address without the password", "print(f\"{account.balance / 100:.2f}\")", "docker-platform: wrong",
    "{\"text\": \"WiFi密码是啥\", \"needs_memory\": true}", "{\"name\":\"sort_key\",\"value\":\"Kj8wQz3vLm5TxR2b\"}",
    "密码不对",
    "密码由管理员分配",
    "The password is wrong",
    "The password is stored in the vault",
    "密码：见1Password",
    "The password is weak, change it.",
    "My password is expired.",
    "The password is confidential.",
    "My wifi password is terrible and old",
    "I think the password is lost.",
    "Our password for the printer is unchanged.",
    "The password is annoying, I hate it.",
    "The password is case sensitive.",
    "the password is required, the name is optional",
    "My password is longer than yours",
    "Is the password banana or apple?",
    "密码是错的",
    "密码是什么，我忘了",
    "密码：问小李",
    "密码：请联系管理员",
    "密码：见群公告",
    "密码是生日，好记",
    "密码是随机生成",
    "口令是由系统分配",
    "密码是字母加数字",
    "密码：同上",
    "密码是安全的基础",
    "暗号是什么来着",
    "密码改成什么好",
    "密码为空",
    "密码锁坏了 3 次",
    "密码锁 3 位数",
    "密码 8 12 位都行",
    "密码锁要 200 元",
    "门锁密码 3 天后过期",
    "密码输错 5 次 10 分钟后再试",
    "The door opens with 300 people waiting",
    "The lock opens with a key",
    "The safe weighs 4471 pounds",
    "大门输入法",
    "PUK codes have 8 digits",
    "I lost my PUK",
    "护照2027年到期",
    "护照 20271231 到期",
    "护照号码有 9 位",
    "My passport expires in 2027",
    "My passport is in the drawer",
    "The driver's license test is on 20261205",
    "passport number field",
    "驾照考了三次",
    "助记词有十二个单词",
    "助记词、私钥都别外传",
    "助记词是什么",
    "wifi: 2.4GHz / 5GHz",
    "wifi: slow / unstable today",
    "The password is a word with letters",
    "my password's weak",
    "密码：必填，至少八位",
    "口令：略",
];

#[test]
fn secrets_are_masked_and_nothing_of_them_is_kept() {
    assert!(SECRETS.len() >= 60);
    let kinds = |text: &str| find_secrets(text).iter().map(|it| it.kind).collect::<Vec<_>>();
    let missed: Vec<_> =
        SECRETS.iter().filter(|row| kinds(&fill_template(row.0)) != [row.1]).collect();
    assert_eq!(missed, Vec::<&(&str, SecretKind)>::new());
    for (template, kind) in SECRETS {
        let text = fill_template(template);
        let found = find_secrets(&text);
        let value = &text[found[0].span.clone()];
        let (masked, kinds) = mask(&text);
        assert!(
            !masked.contains(value) && masked.contains(&format!("[secret: {kind}]")),
            "{masked}"
        );
        assert_eq!(kinds, [*kind], "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    assert!(HARMLESS.len() >= 60);
    let masked = |template: &&str| {
        Some(mask(&fill_template(template)).0.into_owned())
            .filter(|it| *it != fill_template(template))
    };
    let wrong: Vec<_> = HARMLESS.iter().filter_map(masked).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn names_of_fields_tell_secrets_from_other_values() {
    let value = "Tr0ub4dor48";
    #[rustfmt::skip]
    let secret = [
        "DBPASS", "PGPASSWORD", "smtppass", "PIN码", "身份证", "connectionString", "conn_str", "mfa_code", "verification_code", "sig", "signature", "webhook_url",
        "key", "パスワード", "accesstoken",
    ];
    for name in secret {
        assert!(mask_named_value(name, value).is_some(), "{name}");
    }
    #[rustfmt::skip]
    let open = [
        ("key", "C major"), ("key", "PROJ-1234"), ("key", "user:42:profile"), ("key", "Chapter12"), ("key", "550e8400-e29b-41d4-a716-446655440000"),
        ("signature", "Best wishes, Ann"), ("time_signature", "4/4"), ("webhook_url", "https://example.com/hooks/build"), ("compass", value),
        ("bypass", value), ("country_code", value), ("status_code", value), ("code", value), ("string", value), ("sort_key", value),
        ("身份证照片", value),
    ];
    for (name, value) in open {
        assert_eq!(mask_named_value(name, value), None, "{name}");
    }
    let hook = fill_template("https://example.com/hooks/{A24}");
    assert!(mask_named_value("webhook_url", &hook).is_some());
}

#[test]
fn full_width_text_is_masked_at_its_own_place() {
    let (masked, _) = mask("ｐａｓｓｗｏｒｄ：Ｔr0ub4dor3，谢谢");
    assert_eq!(masked, "ｐａｓｓｗｏｒｄ：[secret: password]，谢谢");
}

#[test]
fn several_secrets_in_one_text_are_all_masked() {
    let text = fill_template("密码是abc12345, card 4111 1111 1111 1111 and ghp_{A36}.");
    let (masked, kinds) = mask(&text);
    assert_eq!(masked, "密码是[secret: password], card [secret: card number] and [secret: token].");
    assert_eq!(kinds, [Password, Card, Token]);
}

#[test]
fn an_old_and_a_new_password_are_both_masked() {
    for (text, masked) in [
        (
            "My Amazon password used to be hunter42! but now it's TigerLily99!",
            "My Amazon password used to be [secret: password] but now it's [secret: password]",
        ),
        (
            "I changed the password from Walnut#51 to Chestnut#62.",
            "I changed the password from [secret: password] to [secret: password].",
        ),
        (
            "我把密码从 Maple@11x 改成了 Cedar@22y",
            "我把密码从 [secret: password] 改成了 [secret: password]",
        ),
        (
            "my 2FA backup codes: 8f3k-22md, 9d2k-33lf",
            "my 2FA backup codes: [secret: password], [secret: password]",
        ),
        ("备用码：k7m2-99xp、r4t8-31qd", "备用码：[secret: password]、[secret: password]"),
    ] {
        assert_eq!(mask(text).0, masked);
    }
}

#[test]
fn a_name_beside_its_value_tells_a_secret() {
    use serde_json::json;
    let masked = |value: serde_json::Value| {
        let mut value = value;
        mask_value("data", &mut value);
        value
    };
    let (key, token, password) = ("[secret: API key]", "[secret: token]", "[secret: password]");
    for (given, expected) in [
        (
            json!({"name": "api_key", "value": "plain words"}),
            json!({"name": "api_key", "value": key}),
        ),
        (
            json!([{"Key": "数据库密码", "Value": "tulip"}]),
            json!([{"Key": "数据库密码", "Value": password}]),
        ),
        (json!([{"k": "pin", "v": 4821}]), json!([{"k": "pin", "v": password}])),
        (
            json!([["Accept", "x"], ["X-Auth-Token", "opal"]]),
            json!([["Accept", "x"], ["X-Auth-Token", token]]),
        ),
        (
            json!(["Accept", "x", "X-Auth-Token", "Kj8wQz3vLm5TxR2b"]),
            json!(["Accept", "x", "X-Auth-Token", token]),
        ),
        (json!(["LANG=C", "FOO_TOKEN=opal"]), json!(["LANG=C", "FOO_TOKEN=[secret: token]"])),
        (
            json!(["curl", "-u", "bob:Kj8wQz3v", "http://x"]),
            json!(["curl", "-u", "bob:[secret: password]", "http://x"]),
        ),
    ] {
        assert_eq!(masked(given), expected);
    }
    for innocent in [
        json!({"name": "cache_key", "value": "user:7"}),
        json!({"name": "Ann", "value": 3}),
        json!({"name": "token_count", "value": 128}),
        json!({"name": "the secret of tea", "value": "patience"}),
        json!(["password", "security", "token"]),
        json!(["auth", "v2beta"]),
        json!([["width", "447"], ["height", "2100"]]),
        json!(["LANG=C", "TOKEN_LIMIT=4096"]),
        json!(["docker", "run", "-p", "8080:80"]),
        json!([["密码学", "必修"]]),
    ] {
        assert_eq!(masked(innocent.clone()), innocent);
    }
}

/// Pieces whose repetition makes searches do the most work.
const HOSTILE_UNITS: &[&str] = &[
    "a",
    "sk-",
    "SK",
    "sk-sk_live_",
    "eyJ",
    "eyJ.",
    "password",
    "password ",
    "password is ",
    "pin ",
    "密码是",
    "密码",
    "pass=",
    "4",
    "4 ",
    "4.",
    "://",
    "a:b@",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----。",
    "-----END ",
    "token ",
    "token=a1B2",
    "A1 ",
    "DE89 ",
    "curl -u ",
    "mysql -p",
    "ssn ",
    "seed phrase abc ",
    "&sig=",
    "0123456789abcdef",
    "\"auth\":\"",
    "secret: \"",
    "PuTTY-User-Key-File-2:",
    "cookie: a=",
    "net use \\\\h /user:",
    "echo a | sudo ",
    "smbclient -U ",
    "密码\n",
    "密码（",
    "Ａ",
    "is my password ",
    "a1b2c3 是密码",
    "login a / ",
    "后台 admin / ",
    "WIFI:T:",
    "ssid key ",
    "auth=('a',",
    "backup codes: 1234-5678 ",
    "the code of the safe is ",
    "card number 4111 ",
    "\"name\":\"token\",",
    "passphrase is ab cd ef ",
    "user a pass ",
    "my password is ab ",
    "密码锁 1 2 ",
    "the lock a ",
    "护照",
    "助记词 苹果 ",
    "wifi: a / ",
];

#[test]
fn work_grows_with_the_length_of_the_text_only() {
    // A unit of 8 KiB here: the ratio is the same for megabytes, and the test stays short without optimization.
    let unit_bytes =
        std::env::var("EVERLORE_TEST_UNIT").map_or(8 << 10, |bytes| bytes.parse().unwrap());
    for unit in HOSTILE_UNITS {
        let is_linear = || {
            let times = [1, 8].map(|count| {
                let text = unit.repeat(count * unit_bytes / unit.len());
                let start = Instant::now();
                let _ = find_secrets(&text);
                start.elapsed().as_secs_f64()
            });
            // Quadratic work would take 64 times as long; short times are noise.
            times[1] < times[0].max(0.01) * 24.0
        };
        // Other programs only add time.
        assert!((0..3).any(|_| is_linear()), "{unit:?}");
    }
}

proptest! {
    #[test]
    fn masking_what_is_masked_changes_nothing(parts in prop::collection::vec(0..SECRETS.len(), 0..4), noise in ".{0,40}") {
        let text: String = parts.iter().map(|part| format!("{}\n{noise}", fill_template(SECRETS[*part].0))).collect();
        let (once, _) = mask(&text);
        let (twice, again) = mask(&once);
        prop_assert_eq!(&twice, &once);
        prop_assert!(again.is_empty());
    }
}

#[test]
fn only_secrets_that_were_not_there_are_masked_where_a_text_is_edited() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let other = format!("ghp_{}", "z9Y8x7W6v5U4".repeat(3));
    let text = format!("旧令牌 {token}, new token {other}");
    let (masked, kinds) = mask_new(&text, &format!("token {token}"));
    assert_eq!(masked, format!("旧令牌 {token}, new token [secret: token]"));
    assert_eq!(kinds, [SecretKind::Token]);
    assert_eq!(mask_new(&text, &text).1, []);
    assert_eq!(describe_kinds(&mask(&text).1), "2 secrets (token)");
}

#[test]
fn a_mask_is_known_by_what_it_stands_for() {
    assert_eq!(find_mask("the password is [secret: password]."), Some(Password));
    assert_eq!(find_mask("[secret: nothing] 密钥是[secret: API key]"), Some(ApiKey));
    assert_eq!(find_mask("[secret: password"), None);
    assert_eq!(find_mask("a secret: password"), None);
}

#[test]
fn neither_a_folder_nor_an_ending_hides_a_secret_in_a_path() {
    for (path, expected) in [
        ("notes/Maple77!x is my password.md", "notes/[secret: password] is my password.md"),
        ("notes/密码改成了 731904.md", "notes/密码改成了 [secret: password].md"),
        ("a/https://bob:hunter42x@example.org/b", "a/https://bob:[secret: password]@example.org/b"),
    ] {
        assert_eq!(mask_path(path), expected);
        assert_eq!(mask_path(expected), expected, "a mask stays");
    }
    for path in ["docs/passwords.md", "src/auth/token.rs", "笔记/密码学.md", "v1.2/notes", "", "/"]
    {
        assert_eq!(mask_path(path), path);
    }
}
