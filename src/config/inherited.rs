//! What a process that cmem starts inherits of the environment it was called in.

const NAMES: &[&str] = &[
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "CLAUDE_CONFIG_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];
const PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Whether a variable is passed on. The rest of the agent's environment (its keys among it) stays behind: one would
/// be billed in place of the user's subscription. `more` names what the user adds with `CMEM_CLAUDE_ENV`.
pub fn is_inherited(name: &str, more: &[String]) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || more.iter().any(|more| more == name)
}

/// With one of these the `claude` command bills each call to an account, instead of using a subscription.
const BILLED: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// The variable of `CMEM_CLAUDE_ENV` with which calls are billed, if one is named.
pub fn billed_by(more: &[String]) -> Option<&str> {
    more.iter().map(String::as_str).find(|name| BILLED.contains(name))
}
