//! Prefixes by which providers mark their keys, each with the public rule that describes the same format: gitleaks in
//! lower case, trufflehog's detectors in capitals; `-` where neither has one.

use ValueChars::{Base64, Capitals, Dotted, Hex, Word};

use super::SecretKind::{self, ApiKey, PrivateKey, Token};

/// Characters of a value after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueChars {
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`.
    Dotted,
    /// Letters, digits, `_`, `-`, `.` and the marks of base64.
    Base64,
    /// Capital letters and digits.
    Capitals,
    /// Hexadecimal digits.
    Hex,
}

/// Format of a key: a prefix and the fewest characters after it.
pub(super) struct PrefixedFormat {
    /// Public rule for the same format.
    pub(super) rule: &'static str,
    pub(super) prefix: &'static str,
    pub(super) min_chars: usize,
    pub(super) chars: ValueChars,
    pub(super) kind: SecretKind,
}

const fn format(
    rule: &'static str,
    prefix: &'static str,
    min_chars: usize,
    chars: ValueChars,
    kind: SecretKind,
) -> PrefixedFormat {
    PrefixedFormat { rule, prefix, min_chars, chars, kind }
}

/// All formats.
#[rustfmt::skip]
pub(super) const FORMATS: &[PrefixedFormat] = &[
    format("openai-api-key, anthropic-api-key, DeepSeek", "sk-", 20, Word, ApiKey),
    format("stripe-access-token", "sk_live_", 16, Word, ApiKey), format("stripe-access-token", "sk_test_", 16, Word, ApiKey),
    format("stripe-access-token", "rk_live_", 16, Word, ApiKey), format("stripe-access-token", "rk_test_", 16, Word, ApiKey),
    format("ElevenLabs", "sk_", 40, Hex, ApiKey),
    format("-", "whsec_", 20, Base64, ApiKey),
    format("github-pat", "ghp_", 30, Word, Token), format("github-oauth", "gho_", 30, Word, Token),
    format("github-app-token", "ghu_", 30, Word, Token), format("github-app-token", "ghs_", 30, Word, Token),
    format("github-refresh-token", "ghr_", 30, Word, Token), format("github-fine-grained-pat", "github_pat_", 22, Word, Token),
    format("gitlab-pat, gitlab-pat-routable", "glpat-", 20, Dotted, Token), format("gitlab-deploy-token", "gldt-", 20, Word, Token),
    format("gitlab-runner-authentication-token", "glrt-", 20, Dotted, Token), format("gitlab-ptt", "glptt-", 20, Word, Token),
    format("gitlab-kubernetes-agent-token", "glagent-", 20, Word, Token), format("gitlab-feed-token", "glft-", 20, Word, Token),
    format("gitlab-incoming-mail-token", "glimt-", 20, Word, Token), format("gitlab-scim-token", "glsoat-", 20, Word, Token),
    format("gitlab-oauth-app-secret", "gloas-", 20, Word, Token), format("gitlab-cicd-job-token", "glcbt-", 20, Word, Token),
    format("gitlab-rrt", "GR1348941", 20, Word, Token),
    format("slack-bot-token", "xoxb-", 20, Word, Token), format("slack-user-token", "xoxp-", 20, Word, Token),
    format("slack-legacy-workspace-token", "xoxa-", 20, Word, Token), format("slack-legacy-workspace-token", "xoxr-", 20, Word, Token),
    format("slack-legacy-token", "xoxs-", 20, Word, Token), format("slack-config-access-token", "xoxe-", 20, Word, Token),
    format("slack-config-access-token", "xoxe.", 20, Word, Token), format("slack-app-token", "xapp-", 20, Word, Token),
    format("slack-webhook-url", "hooks.slack.com/services/", 30, Base64, Token),
    format("slack-webhook-url", "hooks.slack.com/workflows/", 30, Base64, Token),
    format("slack-webhook-url", "hooks.slack.com/triggers/", 30, Base64, Token),
    format("DiscordWebhook", "discord.com/api/webhooks/", 40, Base64, Token),
    format("DiscordWebhook", "discordapp.com/api/webhooks/", 40, Base64, Token),
    format("-", "open.feishu.cn/open-apis/bot/v2/hook/", 20, Word, Token),
    format("-", "open.larksuite.com/open-apis/bot/v2/hook/", 20, Word, Token),
    format("microsoft-teams-webhook", "webhook.office.com/webhookb2/", 60, Base64, Token),
    format("aws-access-token", "AKIA", 16, Capitals, ApiKey), format("aws-access-token", "ASIA", 16, Capitals, ApiKey),
    format("aws-access-token", "ABIA", 16, Capitals, ApiKey), format("aws-access-token", "ACCA", 16, Capitals, ApiKey),
    format("aws-amazon-bedrock-api-key-long-lived", "ABSK", 60, Base64, ApiKey),
    format("aws-amazon-bedrock-api-key-short-lived", "bedrock-api-key-", 20, Base64, ApiKey),
    format("gcp-api-key", "AIza", 35, Word, ApiKey), format("-", "GOCSPX-", 20, Word, ApiKey),
    format("GoogleOauth2", "ya29.", 20, Dotted, Token),
    format("alibaba-access-key-id", "LTAI", 12, Word, ApiKey), format("TencentCloudKey", "AKID", 20, Word, ApiKey),
    format("huggingface-access-token", "hf_", 30, Word, Token), format("huggingface-organization-api-token", "api_org_", 30, Word, Token),
    format("npm-access-token", "npm_", 30, Word, Token), format("pypi-upload-token", "pypi-AgEI", 40, Word, Token),
    format("digitalocean-pat", "dop_v1_", 40, Hex, Token), format("digitalocean-access-token", "doo_v1_", 40, Hex, Token),
    format("digitalocean-refresh-token", "dor_v1_", 40, Hex, Token),
    format("sendgrid-api-token", "SG.", 40, Dotted, ApiKey), format("sendinblue-api-token", "xkeysib-", 60, Word, ApiKey),
    format("shopify-access-token", "shpat_", 30, Hex, Token), format("shopify-custom-access-token", "shpca_", 30, Hex, Token),
    format("shopify-private-app-access-token", "shppa_", 30, Hex, Token), format("shopify-shared-secret", "shpss_", 30, Hex, Token),
    format("square-access-token", "sq0atp-", 20, Word, Token), format("Square", "sq0csp-", 40, Word, Token),
    format("square-access-token", "EAAA", 55, Word, Token),
    format("perplexity-api-key", "pplx-", 30, Word, ApiKey), format("linear-api-key", "lin_api_", 30, Word, ApiKey),
    format("-", "lin_oauth_", 30, Word, Token), format("postman-api-token", "PMAK-", 40, Word, ApiKey),
    format("new-relic-user-api-key", "NRAK-", 20, Capitals, ApiKey), format("new-relic-insert-key", "NRII-", 20, Word, ApiKey),
    format("new-relic-browser-api-token", "NRJS-", 15, Hex, ApiKey),
    format("age-secret-key", "AGE-SECRET-KEY-1", 50, Capitals, PrivateKey),
    format("jwt", "eyJ", 40, Dotted, Token),
    format("grafana-service-account-token", "glsa_", 30, Word, Token), format("grafana-cloud-api-token", "glc_", 30, Base64, Token),
    format("sentry-user-token", "sntryu_", 40, Hex, Token), format("sentry-org-token", "sntrys_", 60, Base64, Token),
    format("notion-api-token", "ntn_", 40, Word, Token), format("Notion", "secret_", 40, Word, Token),
    format("databricks-api-token", "dapi", 32, Hex, Token),
    format("vault-service-token", "hvs.", 24, Word, Token), format("vault-batch-token", "hvb.", 60, Word, Token),
    format("-", "hvr.", 60, Word, Token),
    format("atlassian-api-token", "ATATT3", 60, Base64, Token), format("-", "ATCTT3", 60, Base64, Token), format("-", "ATBB", 28, Word, Token),
    format("mailgun-private-api-token", "key-", 32, Hex, ApiKey),
    format("heroku-api-key-v2", "HRKU-AA", 30, Word, ApiKey),
    format("Netlify", "nfp_", 30, Word, Token), format("-", "nfc_", 30, Word, Token), format("-", "nfo_", 30, Word, Token),
    format("Vercel", "vcp_", 20, Word, Token), format("-", "vci_", 20, Word, Token), format("-", "vca_", 20, Word, Token),
    format("-", "vcr_", 20, Word, Token), format("-", "vck_", 20, Word, ApiKey),
    format("twilio-api-key", "SK", 32, Hex, ApiKey), format("-", "SEC", 64, Hex, ApiKey),
    format("Groq", "gsk_", 30, Word, ApiKey), format("Replicate", "r8_", 30, Word, ApiKey), format("xAI", "xai-", 40, Word, ApiKey),
    format("Tailscale", "tskey-", 20, Word, ApiKey), format("Dockerhub", "dckr_pat_", 20, Word, Token),
    format("Dockerhub", "dckr_oat_", 20, Word, Token), format("FigmaPersonalAccessToken", "figd_", 30, Word, Token),
    format("SupabaseToken", "sbp_", 40, Hex, Token), format("-", "sb_secret_", 20, Word, ApiKey),
    format("NVAPI", "nvapi-", 40, Word, ApiKey), format("-", "pcsk_", 40, Word, ApiKey), format("-", "tvly-", 20, Word, ApiKey),
    format("-", "lsv2_", 30, Word, ApiKey), format("-", "jina_", 40, Word, ApiKey),
    format("airtable-personnal-access-token", "pat", 60, Dotted, Token),
    format("doppler-api-token", "dp.pt.", 40, Word, Token), format("pulumi-api-token", "pul-", 40, Hex, Token),
    format("planetscale-api-token", "pscale_tkn_", 30, Dotted, Token), format("planetscale-password", "pscale_pw_", 30, Dotted, Token),
    format("rubygems-api-token", "rubygems_", 40, Hex, Token), format("shippo-api-token", "shippo_live_", 40, Hex, Token),
    format("prefect-api-token", "pnu_", 30, Word, Token), format("typeform-api-token", "tfp_", 40, Dotted, Token),
    format("duffel-api-token", "duffel_live_", 40, Word, Token), format("dynatrace-api-token", "dt0c01.", 60, Dotted, Token),
    format("flyio-access-token", "fm2_", 100, Base64, Token), format("openshift-user-token", "sha256~", 40, Word, Token),
    format("1password-service-account-token", "ops_eyJ", 200, Word, Token), format("readme-api-token", "rdme_", 60, Word, Token),
    format("clojars-api-token", "CLOJARS_", 60, Hex, Token), format("flutterwave-secret-key", "FLWSECK", 12, Word, ApiKey),
    // Keys of Everlore's own server.
    format("-", "evl_", 20, Word, ApiKey),
];
