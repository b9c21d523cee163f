//! Words, lower case, in the languages that the embedded observer knows. Tables, several words a line.

/// What a prompt or a conclusion is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Fix,
    Add,
    Refactor,
    Change,
    Decide,
}

/// Word stems, lower case. The stem that comes first in a text tells its aim: "Add error handling" adds, "Fix the
/// new page" fixes.
#[rustfmt::skip]
pub(super) static AIMS: &[(Aim, &[&str])] = &[
    (
        Aim::Fix,
        &[
            "fix", "bug", "broken", "crash", "regress", "repair", "resolve", "debug", "fails", "failing",
            "doesn't work", "does not work", "not working", "wrong", "修复", "修復", "修一下", "错误", "錯誤", "报错",
            "報錯", "崩溃", "崩潰", "失败", "失敗", "不工作", "バグ", "不具合", "直し", "直す", "直して", "エラー", "버그", "오류", "에러",
            "고쳐", "고치", "behoben", "behebe", "fehler", "kaputt", "repariere", "corrig", "répar", "erreur",
            "bogue", "plante", "arregl", "fallo", "falla",
        ],
    ),
    (
        Aim::Add,
        &[
            "add", "implement", "create", "introduc", "support", "build", "write", "enable", "new", "新增",
            "添加", "增加", "实现", "實作", "支持", "支援", "创建", "建立", "加上", "加一个", "加一個", "写一个", "寫一個", "追加", "実装",
            "作成", "作って", "作る", "対応", "추가", "구현", "만들", "작성", "hinzufüg", "füge", "implementier", "erstell",
            "baue", "ajout", "implément", "créer", "crée", "añad", "agreg", "crea", "crear",
        ],
    ),
    (
        Aim::Refactor,
        &[
            "refactor", "rename", "extract", "clean", "simplif", "restructur", "split", "dedup",
            "reorganiz", "reorganis", "重构", "重構", "重命名", "提取", "拆分", "简化", "簡化", "整理", "リファクタ", "改名", "切り出",
            "分割", "리팩터", "리팩토", "이름을 바꾸", "정리", "분리", "refaktor", "umbenenn", "benenne", "vereinfach",
            "aufräum", "renomm", "simplifi", "renombr", "refactoriz",
        ],
    ),
    (
        Aim::Change,
        &[
            "update", "bump", "upgrade", "document", "readme", "config", "release", "version", "format",
            "translate", "set", "change", "remove", "delete", "move", "更新", "升级", "升級", "文档", "文件", "配置",
            "设置", "設定", "改成", "改为", "改為", "删除", "刪除", "移除", "変更", "削除", "ドキュメント", "바꾸", "변경", "삭제", "문서",
            "업데이트", "설정", "aktualisier", "dokumentier", "konfigur", "änder", "entfern", "lösch",
            "mettre à jour", "supprim", "modifi", "chang", "actualiz", "elimin", "cambi", "borra",
        ],
    ),
    (
        Aim::Decide,
        &[
            "decide", "decision", "chose", "choose", "go with", "we'll use", "we will use", "let's use",
            "from now on", "always", "never", "prefer", "convention", "remember", "agreed", "决定", "決定",
            "选择", "選擇", "选用", "采用", "採用", "改用", "以后", "以後", "今后", "今後", "一律", "统一用", "統一用", "记住", "記住",
            "決め", "必ず", "覚えて", "결정", "선택", "채택", "앞으로", "항상", "기억해", "entscheid", "entschied", "künftig",
            "ab jetzt", "merke dir", "immer", "décid", "choisi", "désormais", "toujours", "souviens",
            "decid", "elegi", "a partir de ahora", "siempre", "recuerda",
        ],
    ),
];

/// Words of weaknesses in security.
#[rustfmt::skip]
pub(super) static SECURITY: &[&str] = &[
    "vulnerab", "cve-", "xss", "sql injection", "command injection", "csrf", "ssrf", "path traversal",
    "exploit", "leaked", "security hole", "security issue", "security flaw", "漏洞", "泄露", "洩漏", "注入攻击",
    "注入攻擊", "越权", "脆弱性", "漏洩", "취약", "유출", "sicherheitslücke", "vulnérab", "faille", "fuite de",
];

/// Words of danger.
#[rustfmt::skip]
pub(super) static URGENT: &[&str] = &[
    "critical", "urgent", "leaked", "exposed", "immediately", "rotate", "严重", "嚴重", "紧急", "緊急", "立即", "泄露",
    "洩漏", "重大", "漏洩", "긴급", "유출", "kritisch", "dringend", "sofort", "critique", "urgente", "crítico",
];

/// Words of reasons.
#[rustfmt::skip]
pub(super) static WHY: &[&str] = &[
    "because", "due to", "reason", "so that", "in order to", "原因", "因为", "因為", "由于", "为了", "為了", "ため", "理由",
    "때문", "이유", "weil", "damit", "grund", "parce que", "afin de", "porque", "para que",
];

/// Words of warnings.
#[rustfmt::skip]
pub(super) static TRAPS: &[&str] = &[
    "gotcha", "beware", "careful", "caveat", "watch out", "pitfall", "surpris", "must not", "otherwise",
    "注意", "小心", "陷阱", "否则", "否則", "落とし穴", "気をつけ", "주의", "함정", "vorsicht", "achtung", "sonst", "attention",
    "piège", "cuidado", "ojo",
];

/// Words of rules that are followed again and again.
#[rustfmt::skip]
pub(super) static HABITS: &[&str] = &[
    "pattern", "convention", "always", "every time", "style guide", "idiom", "模式", "约定", "約定", "规范", "規範",
    "一律", "慣例", "規約", "패턴", "관례", "규칙", "muster", "konvention", "immer", "toujours", "patrón", "siempre",
];

/// Words that weigh one way against another.
#[rustfmt::skip]
pub(super) static WEIGHING: &[&str] = &[
    "trade-off", "tradeoff", "instead of", "rather than", "downside", "at the cost", "versus", "权衡", "權衡",
    "取舍", "而不是", "代价", "トレードオフ", "代わりに", "대신", "트레이드오프", "statt", "nachteil", "abwäg", "plutôt que",
    "compromis", "en lugar de", "en vez de",
];
