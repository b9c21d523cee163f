//! What credentials look like. Facts about formats only; each source is public.
//!
//! Prefixes and lengths: the vendors' own documentation and the gitleaks rule catalogue
//! (<https://github.com/gitleaks/gitleaks>, MIT). Headers: RFC 7235, RFC 6265. URLs: RFC 3986, 3.2.1.
//! JWT: RFC 7519. Private key blocks: RFC 7468, OpenSSH's PROTOCOL.key, RFC 4880.

/// What a match must pass beyond its pattern, and which part of it is secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// All of the match.
    Whole,
    /// All of the match, if it has a digit and a letter: names in prose have no digits.
    Mixed,
    /// Capture group 2.
    Value,
    /// Capture group 2, if it has a digit and a letter.
    MixedValue,
    /// Capture group 2 of a URL's userinfo, unless it is a port.
    Userinfo,
    /// What follows groups 1, the name, and 2, the separator of an assignment, as judged by `assignment`.
    Assignment,
}

/// One kind of credential.
#[derive(Debug)]
pub(super) struct Rule {
    /// Named in the placeholder.
    pub kind: &'static str,
    /// One of these is in every match, in any case. Without it the pattern is never compiled.
    pub triggers: &'static [&'static str],
    pub pattern: &'static str,
    pub secret: Secret,
}

const fn rule(
    kind: &'static str,
    triggers: &'static [&'static str],
    pattern: &'static str,
    secret: Secret,
) -> Rule {
    Rule { kind, triggers, pattern, secret }
}

/// In the order of application: blocks, then assignments and headers, then the tokens that they may hold.
pub(super) static RULES: &[Rule] = &[
    rule(
        "private_key",
        &["private key"],
        r"(?s)-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        Secret::Whole,
    ),
    // Cut off at either end.
    rule(
        "private_key",
        &["private key"],
        r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,. \t\r\n-]|\\[nr])*",
        Secret::Whole,
    ),
    rule(
        "private_key",
        &["private key"],
        r"(?:[A-Za-z0-9+/=]{16,}(?:\\[nr]|[ \t\r\n])+)*[A-Za-z0-9+/=]*(?:\\[nr]|[ \t\r\n])*-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        Secret::Whole,
    ),
    // Before the headers: a header's value reaches to a quote, and must not take the name of another secret away.
    rule(
        "secret",
        CREDENTIAL_WORDS,
        r#"((?i-u:[a-z0-9_.-]*(?:passwords?|passwd|passphrase|pwd|secrets?|token|api[_-]?key|access[_-]?key|account[_-]?key|secret[_-]?key|signing[_-]?key|encryption[_-]?key|private[_-]?key|credentials?|secret_key_base)))(\\*["'`]?[ \t]*(?:=>|:=|=|:)[ \t]*)"#,
        Secret::Assignment,
    ),
    rule(
        "authorization",
        &["authorization"],
        r#"((?i-u:(?:proxy-)?authorization\\*["']?[ \t]*[:=][ \t]*\\*["']?))([^\r\n"'\\]+)"#,
        Secret::Value,
    ),
    rule(
        "cookie",
        &["cookie"],
        r#"((?i-u:(?:set-)?cookie\\*["']?[ \t]*:[ \t]*\\*["']?))([^\r\n"'\\=]+=[^\r\n"'\\]*)"#,
        Secret::Value,
    ),
    rule(
        "bearer",
        &["bearer", "basic", "token"],
        r"(?i-u)\b((?:bearer|basic|token)[ \t]+)([A-Za-z0-9._~+/=-]{16,})",
        Secret::MixedValue,
    ),
    rule(
        "jwt",
        &["eyj"],
        r"(?-u)\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        Secret::Whole,
    ),
    rule("anthropic_key", &["sk-ant-"], r"(?-u)\bsk-ant-[A-Za-z0-9_-]{8,}", Secret::Whole),
    rule("api_key", &["sk-"], r"(?-u)\bsk-[A-Za-z0-9_-]{16,}", Secret::Mixed),
    rule(
        "stripe_key",
        &["_live_", "_test_"],
        r"(?-u)\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{8,}",
        Secret::Whole,
    ),
    rule("stripe_secret", &["whsec_"], r"(?-u)\bwhsec_[A-Za-z0-9+/=]{16,}", Secret::Whole),
    rule(
        "github_token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})",
        Secret::Whole,
    ),
    rule(
        "gitlab_token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-"],
        r"(?-u)\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[A-Za-z0-9_.-]{16,}",
        Secret::Whole,
    ),
    rule("slack_token", &["xox", "xapp-"], r"(?-u)\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}", Secret::Whole),
    rule(
        "slack_webhook",
        &["hooks.slack.com"],
        r"(hooks\.slack\.com/(?:services|workflows)/)([A-Za-z0-9+/_-]{20,})",
        Secret::Value,
    ),
    rule(
        "aws_access_key",
        &["akia", "asia", "abia", "acca"],
        r"(?-u)\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        Secret::Whole,
    ),
    rule(
        "google_key",
        &["aiza", "ya29.", "gocspx-"],
        r"(?-u)\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})",
        Secret::Whole,
    ),
    rule("npm_token", &["npm_"], r"(?-u)\bnpm_[A-Za-z0-9]{30,}", Secret::Whole),
    rule("pypi_token", &["pypi-"], r"(?-u)\bpypi-[A-Za-z0-9_-]{50,}", Secret::Whole),
    rule("huggingface_token", &["hf_"], r"(?-u)\bhf_[A-Za-z0-9]{30,}", Secret::Whole),
    rule("sendgrid_key", &["sg."], r"(?-u)\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", Secret::Whole),
    rule(
        "twilio_key",
        &[
            "sk0", "sk1", "sk2", "sk3", "sk4", "sk5", "sk6", "sk7", "sk8", "sk9", "ska", "skb", "skc", "skd",
            "ske", "skf",
        ],
        r"(?-u)\bSK[0-9a-f]{32}\b",
        Secret::Whole,
    ),
    rule("telegram_token", &[":aa"], r"(?-u)\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", Secret::Whole),
    rule("age_key", &["age-secret-key-"], r"(?-u)\bAGE-SECRET-KEY-1[A-Z0-9]{50,}", Secret::Whole),
    rule(
        "vendor_token",
        &[
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "lin_api_",
            "ntn_",
            "hvs.",
            "dp.pt.",
            "dapi",
            "sntrys_",
            "pscale_",
            "gsk_",
            "r8_",
            "xai-",
            "pplx-",
            "tvly-",
            "cm_pro_",
            "glsa_",
            "figd_",
            "rubygems_",
            "dckr_pat_",
            "atlasv1",
            "phc_",
            "ops_eyj",
        ],
        r"(?-u)\b(?:do[por]_v1_[a-f0-9]{32,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{40,}|hvs\.[A-Za-z0-9_-]{24,}|dp\.pt\.[A-Za-z0-9]{40,}|dapi[a-f0-9]{32,}|sntrys_[A-Za-z0-9+/=_]{40,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}|gsk_[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{40,}|pplx-[A-Za-z0-9]{40,}|tvly-[A-Za-z0-9-]{20,}|cm_pro_[A-Za-z0-9_-]{8,}|glsa_[A-Za-z0-9_]{30,}|figd_[A-Za-z0-9_-]{30,}|rubygems_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}|phc_[A-Za-z0-9]{40,}|ops_eyJ[A-Za-z0-9+/=_-]{40,})",
        Secret::Whole,
    ),
    rule(
        "password",
        &["://"],
        r#"([A-Za-z][A-Za-z0-9+.-]*://[^ \t\r\n/?#"'<>@:]*:)([^ \t\r\n"'<>`]*)@"#,
        Secret::Userinfo,
    ),
    rule("signature", &["sig="], r"(?i-u)([?&]sig=)([A-Za-z0-9%/+=_-]{20,})", Secret::Value),
    rule(
        "password",
        &["password "],
        r"((?i-u:\blogin[ \t\r\n]+)[^ \t\r\n]+(?i-u:[ \t\r\n]+password[ \t]+))([^ \t\r\n]+)",
        Secret::Value,
    ),
    rule(
        "password",
        &["-u ", "--user"],
        r#"((?:[ \t]-u[ \t]*|--(?:proxy-)?user[ =])["']?[A-Za-z0-9._%+@-]+:)([^ \t\r\n"']+)"#,
        Secret::Value,
    ),
];

/// What the name of a credential holds; also a table of triggers.
pub(super) const CREDENTIAL_WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "access_key",
    "access-key",
    "accesskey",
    "account_key",
    "account-key",
    "accountkey",
    "signing_key",
    "signing-key",
    "signingkey",
    "encryption_key",
    "encryption-key",
    "encryptionkey",
    "private_key",
    "private-key",
    "privatekey",
    "credential",
];
