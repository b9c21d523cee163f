//! Words by which somebody may search for a turn later: identifiers, and synonyms in other languages.

use super::kind::has_word;

/// Words for the same thing, lower case. The first two are the ones most worth adding.
static SYNONYMS: &[&[&str]] = &[
    &[
        "login",
        "authentication",
        "auth",
        "sign in",
        "登录",
        "登入",
        "ログイン",
        "認証",
        "로그인",
        "인증",
        "anmeldung",
        "connexion",
    ],
    &["permission", "authorization", "access", "权限", "權限", "権限", "권한", "berechtigung", "permiso"],
    &[
        "database",
        "db",
        "sql",
        "数据库",
        "資料庫",
        "データベース",
        "데이터베이스",
        "datenbank",
        "base de données",
        "base de datos",
    ],
    &["migration", "schema", "迁移", "遷移", "マイグレーション", "마이그레이션"],
    &[
        "configuration",
        "config",
        "settings",
        "配置",
        "设置",
        "設定",
        "설정",
        "konfiguration",
        "configuración",
    ],
    &[
        "performance",
        "slow",
        "latency",
        "性能",
        "效能",
        "遅い",
        "パフォーマンス",
        "성능",
        "leistung",
        "rendimiento",
    ],
    &["cache", "caching", "缓存", "快取", "キャッシュ", "캐시", "zwischenspeicher", "caché"],
    &["test", "testing", "测试", "測試", "テスト", "테스트", "prueba"],
    &["error", "exception", "错误", "錯誤", "报错", "エラー", "오류", "에러", "fehler", "erreur"],
    &["crash", "panic", "崩溃", "當機", "クラッシュ", "크래시", "absturz"],
    &["bug", "defect", "缺陷", "バグ", "不具合", "버그"],
    &[
        "deploy",
        "deployment",
        "release",
        "部署",
        "发布",
        "デプロイ",
        "リリース",
        "배포",
        "bereitstellung",
        "despliegue",
    ],
    &["dependency", "package", "依赖", "依賴", "依存", "의존성", "abhängigkeit", "dependencia"],
    &["timeout", "time limit", "超时", "逾時", "タイムアウト", "타임아웃", "zeitüberschreitung"],
    &["retry", "backoff", "重试", "重試", "リトライ", "再試行", "재시도", "wiederholung", "reintento"],
    &["log", "logging", "日志", "日誌", "ログ", "로그", "protokoll", "registro"],
    &["concurrency", "race condition", "deadlock", "并发", "並行", "競合", "동시성", "nebenläufigkeit"],
    &["memory leak", "memory", "内存", "記憶體", "メモリ", "메모리", "speicher"],
    &["api", "endpoint", "接口", "介面", "エンドポイント", "엔드포인트", "schnittstelle"],
    &[
        "user interface",
        "ui",
        "frontend",
        "界面",
        "前端",
        "画面",
        "フロントエンド",
        "화면",
        "oberfläche",
        "interfaz",
    ],
    &["style", "css", "样式", "樣式", "スタイル", "스타일"],
    &["translation", "i18n", "localization", "翻译", "翻譯", "翻訳", "번역", "übersetzung", "traducción"],
    &["encoding", "unicode", "utf-8", "编码", "編碼", "文字化け", "인코딩", "zeichensatz"],
    &[
        "documentation",
        "docs",
        "readme",
        "文档",
        "說明文件",
        "ドキュメント",
        "문서",
        "dokumentation",
        "documentación",
    ],
    &["upload", "上传", "上傳", "アップロード", "업로드", "hochladen", "subida"],
    &["download", "下载", "下載", "ダウンロード", "다운로드", "herunterladen", "descarga"],
    &["payment", "checkout", "支付", "付款", "決済", "결제", "zahlung", "paiement", "pago"],
    &["email", "mail", "邮件", "郵件", "メール", "이메일", "correo"],
    &["date", "time zone", "timezone", "时区", "時區", "タイムゾーン", "시간대", "zeitzone"],
    &["pagination", "paging", "分页", "分頁", "ページネーション", "페이지네이션"],
    &["search", "query", "搜索", "搜尋", "検索", "검색", "suche", "recherche", "búsqueda"],
    &[
        "security",
        "vulnerability",
        "安全",
        "漏洞",
        "セキュリティ",
        "脆弱性",
        "보안",
        "취약점",
        "sicherheit",
        "seguridad",
    ],
    &["refactoring", "refactor", "重构", "重構", "リファクタリング", "리팩터링"],
    &["continuous integration", "ci", "pipeline", "流水线", "流水線", "持续集成", "파이프라인"],
    &["container", "docker", "容器", "コンテナ", "컨테이너"],
    &["queue", "job", "队列", "佇列", "キュー", "큐", "warteschlange", "cola"],
    &["session", "cookie", "token", "会话", "會話", "セッション", "세션", "sitzung"],
];

const MAX_NAMES: usize = 8;
const MAX_SYNONYMS: usize = 8;
const MAX_PER_GROUP: usize = 3;

/// Names of changed items and of files, identifiers out of the code spans of `said`, then synonyms for words of
/// `core` that it does not hold itself.
pub(super) fn keywords<'a>(
    names: impl Iterator<Item = &'a str>,
    paths: impl Iterator<Item = &'a str>,
    said: &'a str,
    core: &str,
) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let spans = said.split('`').skip(1).step_by(2);
    let stems = paths.map(stem);
    for word in names.chain(spans).chain(stems).filter(|word| is_name(word)) {
        if found.len() < MAX_NAMES && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    let lower = core.to_lowercase();
    let mut added = 0;
    for group in SYNONYMS {
        if !group.iter().any(|word| stands_alone(&lower, word)) {
            continue;
        }
        for word in group.iter().filter(|word| !has_word(&lower, word)).take(MAX_PER_GROUP) {
            if added < MAX_SYNONYMS {
                added += 1;
                found.push((*word).to_owned());
            }
        }
    }
    found
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

fn is_name(word: &str) -> bool {
    let common = ["index", "main", "mod", "lib", "new", "test", "tests", "README"];
    (3..=60).contains(&word.len())
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '$'))
        && word.chars().any(char::is_alphabetic)
        && !word.bytes().all(|b| b.is_ascii_hexdigit())
        && !common.contains(&word)
}

/// Short Latin words count only as whole words: `ci` is not in `circle`.
fn stands_alone(lower: &str, word: &str) -> bool {
    if !word.is_ascii() || word.len() > 4 {
        return has_word(lower, word);
    }
    lower.split(|c: char| !c.is_alphanumeric()).any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_first_then_synonyms_in_other_languages() {
        let text = "Fixed the login timeout in `retryUpload`; circle `a b`";
        let found =
            keywords(["farewell"].into_iter(), ["src/http_client.rs", "src/main.rs"].into_iter(), text, text);
        assert_eq!(found[..3], ["farewell", "retryUpload", "http_client"]);
        assert!(
            found.iter().any(|word| word == "authentication")
                && found.iter().any(|word| word == "超时" || word == "time limit")
        );
        assert!(!found.iter().any(|word| word == "pipeline" || word == "main" || word == "login"));
        assert!(found.len() <= MAX_NAMES + MAX_SYNONYMS);
    }

    #[test]
    fn a_chinese_text_gets_english_words() {
        let found = keywords(std::iter::empty(), std::iter::empty(), "", "修复了登录接口的缓存问题");
        for word in ["login", "cache", "api"] {
            assert!(found.iter().any(|known| known == word), "{word}: {found:?}");
        }
    }
}
