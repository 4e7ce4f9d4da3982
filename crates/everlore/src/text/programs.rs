//! Programs, services and languages that people name when they say what they use, as plain words: a team moves from Jira
//! to Linear, a family to Lisbon.

/// Returns `true` for the name of a well-known program, service or language.
pub(crate) fn is_program(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    [lower.as_str(), first].iter().any(|word| LATIN.split_whitespace().any(|it| it == *word))
        || CHINESE.split_whitespace().any(|it| lower.starts_with(it))
}

const LATIN: &str = "jira linear slack teams notion asana trello github gitlab bitbucket confluence clickup vim neovim emacs \
    helix vscode intellij pycharm eclipse aws azure gcp mysql mariadb postgres postgresql sqlite mongodb redis windows linux \
    macos ubuntu debian fedora figma sketch jenkins kubernetes docker podman heroku vercel netlify python rust go golang java \
    kotlin swift typescript javascript react vue angular svelte django flask rails excel sheets outlook gmail obsidian evernote \
    logseq todoist zoom discord telegram airtable basecamp youtrack redmine shortcut monday.com npm pnpm yarn bun webpack vite \
    terraform pulumi ansible circleci travis grafana datadog sentry splunk elasticsearch kafka rabbitmq firefox chrome safari \
    photoshop lightroom affinity blender unity unreal salesforce hubspot zendesk intercom shopify woocommerce wordpress tmux zsh \
    fish bash mercurial subversion svn perforce";

const CHINESE: &str = "飞书 钉钉 企业微信 腾讯文档 腾讯会议 语雀 石墨文档 印象笔记 有道云笔记 金蝶 用友 蓝湖 即时设计 坚果云 滴答清单 禅道 \
    幕布 通义千问 文心一言 豆包";

#[cfg(test)]
mod tests {
    use super::is_program;

    #[test]
    fn programs_are_known_and_places_are_not() {
        for name in ["Linear", "GitHub Actions", "飞书", "Postgres 16"] {
            assert!(is_program(name), "{name}");
        }
        for name in ["Lisbon", "New York", "深圳", "Contoso", ""] {
            assert!(!is_program(name), "{name}");
        }
    }
}
