//! Words that say how a statement is built, in English and Chinese, and names of which one takes the place of another.
//! Lower case; several words a line.

/// Names that do the same job: where one of them is used for something, another is not. Names that are often used side by
/// side (a cache beside a database) are in different groups.
#[rustfmt::skip]
pub(super) static RIVALS: &[&[&str]] = &[
    &["mysql", "postgresql", "postgres", "mariadb", "sqlite", "oracle", "mssql", "sqlserver", "cockroachdb", "mongodb",
      "dynamodb", "cassandra", "firestore", "couchdb", "db2"],
    &["redis", "memcached", "valkey", "dragonfly"],
    &["kafka", "rabbitmq", "sqs", "nats", "activemq", "pulsar"],
    &["npm", "yarn", "pnpm", "bun"],
    &["pip", "poetry", "uv", "pipenv", "conda"],
    &["maven", "gradle", "bazel", "sbt"],
    &["jest", "vitest", "mocha", "jasmine", "ava"],
    &["pytest", "unittest", "nose"],
    &["cypress", "playwright", "selenium", "puppeteer"],
    &["webpack", "vite", "rollup", "esbuild", "parcel", "turbopack", "rspack"],
    &["react", "vue", "angular", "svelte", "solidjs"],
    &["django", "flask", "fastapi"],
    &["express", "fastify", "koa", "nestjs", "hono"],
    &["eslint", "biome", "oxlint", "tslint"],
    &["black", "ruff", "yapf", "autopep8"],
    &["nginx", "apache", "caddy", "traefik", "haproxy", "envoy"],
    &["jenkins", "circleci", "travis", "github-actions", "gitlab-ci", "buildkite", "drone"],
    &["github", "gitlab", "bitbucket", "gitea", "forgejo", "codeberg"],
    &["aws", "gcp", "azure", "hetzner", "digitalocean"],
    &["docker", "podman"],
    &["kubernetes", "nomad", "ecs", "swarm"],
    &["terraform", "pulumi", "opentofu", "cloudformation"],
    &["stripe", "braintree", "adyen", "paypal"],
    &["prisma", "typeorm", "sequelize", "drizzle", "knex"],
    &["hibernate", "jooq", "mybatis"],
    &["flyway", "liquibase", "alembic"],
    &["rest", "graphql", "grpc"],
    &["jwt", "paseto"],
    &["bcrypt", "argon2", "argon2id", "scrypt", "pbkdf2"],
    &["tabs", "spaces"],
    &["debian", "ubuntu", "alpine", "fedora", "centos", "rhel"],
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    &["周一", "周二", "周三", "周四", "周五", "周六", "周日"],
    &["true", "false"], &["enabled", "disabled"], &["required", "optional"], &["allowed", "forbidden"],
    &["启用", "禁用"], &["开启", "关闭"], &["允许", "禁止"], &["必填", "可选"],
];

/// Other spellings of those.
pub(super) static SPELLINGS: &[(&str, &str)] = &[
    ("postgres", "postgresql"),
    ("pg", "postgresql"),
    ("psql", "postgresql"),
    ("sqlite3", "sqlite"),
    ("mongo", "mongodb"),
    ("k8s", "kubernetes"),
    ("mondays", "monday"),
    ("tuesdays", "tuesday"),
    ("wednesdays", "wednesday"),
    ("thursdays", "thursday"),
    ("fridays", "friday"),
    ("saturdays", "saturday"),
    ("sundays", "sunday"),
    ("星期一", "周一"),
    ("星期二", "周二"),
    ("星期三", "周三"),
    ("星期四", "周四"),
    ("星期五", "周五"),
    ("星期六", "周六"),
    ("星期日", "周日"),
    ("星期天", "周日"),
];

/// What a word does in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Something is what follows.
    Is,
    /// Something uses what follows, or runs on it.
    Use,
    /// In a passive: what stands before is used.
    Used,
    /// Something is another than before: what follows its divider is new, what stands before that is old.
    Change,
    /// As [`Role::Change`], but what stands before is new and what follows is old, unless a divider comes after it.
    Replace,
    /// A change if it is the first word, and somebody says that it was made.
    Order,
    /// What follows is new, after a change.
    Divider,
    /// What follows is old, up to the divider.
    From,
    /// What follows is old.
    Instead,
    /// It is not so, or no longer.
    Not,
    /// It is not said to be so: a plan, a question, history.
    Hedge,
    /// A reason follows; the statement is over.
    Reason,
    /// It tells nothing apart.
    Filler,
}

#[rustfmt::skip]
pub(super) static ENGLISH: &[(Role, &[&str])] = &[
    (Role::Is, &["is", "are", "=", "equals", "set", "sets", "defaults"]),
    (Role::Use, &["use", "uses", "using", "utilize", "utilizes", "run", "runs", "running", "rely", "relies", "store",
        "stores", "stored", "keep", "keeps", "kept", "live", "lives", "written", "hosted", "deployed", "built",
        "powered", "backed", "adopt", "adopts", "adopted", "cut", "happen", "happens", "scheduled"]),
    (Role::Used, &["used", "chosen"]),
    (Role::Change, &["moved", "migrated", "switched", "changed", "converted", "ported", "upgraded", "downgraded",
        "transitioned", "raised", "lowered", "increased", "decreased", "reduced", "moves", "switches", "migrates"]),
    (Role::Replace, &["replaced", "replaces", "swapped"]),
    (Role::Order, &["move", "migrate", "switch", "change", "convert", "port", "upgrade", "downgrade", "raise", "lower",
        "increase", "decrease", "reduce", "replace", "swap"]),
    (Role::Divider, &["to", "with", "by", "onto", "->", "→"]),
    (Role::From, &["from"]),
    (Role::Instead, &["instead", "than"]),
    (Role::Not, &["not", "never", "no", "don't", "doesn't", "isn't", "aren't", "cannot", "can't", "longer", "stopped",
        "dropped", "removed", "without", "cease", "ceased"]),
    (Role::Hedge, &["should", "could", "would", "might", "may", "maybe", "perhaps", "consider", "considering", "plan", "plans",
        "planned", "planning", "if", "unless", "whether", "todo", "will", "want", "wants", "propose", "proposed", "proposal",
        "try", "tried", "was", "were", "had", "previously", "formerly", "before", "until", "unlike", "asked", "request",
        "question", "why", "how", "what", "also", "example", "failed", "fails", "trying", "compared", "versus", "vs"]),
    (Role::Reason, &["because", "since", "so", "due", "while", "which", "where"]),
    (Role::Filler, &["a", "an", "the", "this", "that", "these", "those", "we", "our", "us", "i", "my", "it", "its", "they",
        "their", "you", "your", "for", "of", "in", "on", "at", "as", "and", "or", "be", "been", "has", "have", "do", "does", "did",
        "all", "every", "everything", "whole", "fully", "completely", "finally", "successfully", "already", "just",
        "officially", "currently", "today", "only", "out", "up", "over", "there", "here", "project", "app", "application",
        "service", "system", "module", "database", "databases", "db", "data", "server", "instance", "cluster", "code",
        "codebase", "repo", "repository", "team", "version", "rather", "of", "any", "anymore", "now", "then", "please", "use-case"]),
];

#[rustfmt::skip]
pub(super) static CHINESE: &[(Role, &[&str])] = &[
    (Role::Is, &["是", "为", "為", "设为", "設為", "设置为", "配置为", "等于"]),
    (Role::Use, &["使用", "采用", "採用", "用的是", "运行在", "運行在", "基于", "存储在", "存在", "存放在", "部署在", "用", "跑在"]),
    (Role::Change, &["迁移", "遷移", "切换", "切換", "升级", "升級", "迁", "遷", "换", "換", "改"]),
    (Role::Replace, &["取代", "替代", "代替", "替换", "替換"]),
    (Role::Divider, &["到", "至", "成", "为", "為", "用", "到了", "成了", "为了"]),
    (Role::From, &["从", "從", "由", "把", "将", "將"]),
    (Role::Instead, &["而不是", "而非", "不是"]),
    (Role::Not, &["不再", "不用", "不使用", "弃用", "棄用", "停用", "没有", "没", "不", "别", "禁止使用", "移除"]),
    (Role::Hedge, &["考虑", "考慮", "计划", "計劃", "打算", "可能", "应该", "應該", "应当", "如果", "建议", "建議", "将要", "是否", "准备",
        "之前", "以前", "原来", "曾经", "原先", "请", "吗", "怎么", "为什么", "为何", "例如", "比如"]),
    (Role::Reason, &["因为", "因為", "由于", "以便", "所以"]),
    (Role::Filler, &["的", "了", "现在", "現在", "目前", "如今", "从现在起", "今后", "已经", "已經", "已", "都", "在", "我们", "我們", "项目", "項目", "系统", "系統", "数据库", "數據庫", "資料庫",
        "服务", "服務", "模块", "應用", "应用", "代码", "仓库", "团队", "全部", "完全", "这个", "本", "和", "与", "来", "里", "中"]),
];

/// What there is always another of: that one is here does not say that another one elsewhere is gone.
#[rustfmt::skip]
pub(super) static EVENTS: &[&str] = &[
    "bug", "cause", "problem", "issue", "error", "fix", "reason", "failure", "line", "commit", "pr", "ticket", "crash",
    "warning", "todo", "example", "test", "result", "attempt", "问题", "問題", "原因", "错误", "錯誤", "缺陷", "报错",
];

/// Units: with the number before them they are one value.
#[rustfmt::skip]
pub(super) static UNITS: &[&str] = &[
    "s", "sec", "secs", "second", "seconds", "ms", "min", "mins", "minute", "minutes", "h", "hour", "hours", "day", "days",
    "week", "weeks", "month", "months", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "bytes", "percent", "%", "times",
    "秒", "毫秒", "分钟", "小时", "天", "次", "个", "条",
];

/// Phrases that are one name, or one role, in several words.
pub(super) static JOINED: &[(&str, &str)] = &[
    ("github actions", "github-actions"),
    ("gitlab ci", "gitlab-ci"),
    ("sql server", "sqlserver"),
    ("no longer", "longer"),
    ("used to", "previously"),
    ("going to", "will"),
    ("set to", "set"),
    ("defaults to", "defaults"),
    ("default to", "defaults"),
    ("rely on", "rely"),
    ("relies on", "relies"),
];
