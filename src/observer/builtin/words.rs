//! The few connecting words of the embedded observer, per language. Everything else it takes from the user, the
//! assistant and the tools, word for word.

/// A language with words of its own; any other is connected in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Chinese,
    TraditionalChinese,
    Japanese,
    Korean,
    German,
    French,
    Spanish,
}

/// Templates; `{}` is filled from left to right.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) request: &'static str,
    pub(super) created: &'static str,
    pub(super) deleted: &'static str,
    pub(super) added: &'static str,
    pub(super) changed: &'static str,
    pub(super) removed: &'static str,
    pub(super) renamed: &'static str,
    pub(super) lines: &'static str,
    pub(super) more_files: &'static str,
    pub(super) failed: &'static str,
    pub(super) recovered: &'static str,
    pub(super) passed: &'static str,
    pub(super) ran: &'static str,
    pub(super) exit: &'static str,
    pub(super) commit: &'static str,
    pub(super) looked_at: &'static str,
    pub(super) still_failing: &'static str,
    pub(super) earlier: &'static str,
    pub(super) list: &'static str,
    pub(super) clauses: &'static str,
}

static ENGLISH: Words = Words {
    request: "Request: {}",
    created: "{}: created",
    deleted: "{}: deleted",
    added: "added {}",
    changed: "changed {}",
    removed: "removed {}",
    renamed: "renamed {} to {}",
    lines: "{}: {} lines",
    more_files: "{} more files changed",
    failed: "`{}` failed",
    recovered: "`{}` failed{}, then passed{}",
    passed: "`{}` passed",
    ran: "ran `{}`",
    exit: "exit code {}",
    commit: "commit {}: {}",
    looked_at: "looked at {}",
    still_failing: "`{}` still fails",
    earlier: "Earlier in this session: {}",
    list: ", ",
    clauses: "; ",
};

static CHINESE: Words = Words {
    request: "需求：{}",
    created: "{}：新建",
    deleted: "{}：删除",
    added: "新增 {}",
    changed: "修改 {}",
    removed: "移除 {}",
    renamed: "{} 重命名为 {}",
    lines: "{}：{} 行",
    more_files: "另有 {} 个文件改动",
    failed: "`{}` 失败",
    recovered: "`{}` 先失败{}，后通过{}",
    passed: "`{}` 通过",
    ran: "执行 `{}`",
    exit: "退出码 {}",
    commit: "提交 {}：{}",
    looked_at: "查看了 {}",
    still_failing: "`{}` 仍然失败",
    earlier: "本次会话此前：{}",
    list: "、",
    clauses: "；",
};

static TRADITIONAL_CHINESE: Words = Words {
    request: "需求：{}",
    created: "{}：新建",
    deleted: "{}：刪除",
    added: "新增 {}",
    changed: "修改 {}",
    removed: "移除 {}",
    renamed: "{} 重新命名為 {}",
    lines: "{}：{} 行",
    more_files: "另有 {} 個檔案變更",
    failed: "`{}` 失敗",
    recovered: "`{}` 先失敗{}，後通過{}",
    passed: "`{}` 通過",
    ran: "執行 `{}`",
    exit: "結束代碼 {}",
    commit: "提交 {}：{}",
    looked_at: "查看了 {}",
    still_failing: "`{}` 仍然失敗",
    earlier: "本次工作階段稍早：{}",
    list: "、",
    clauses: "；",
};

static JAPANESE: Words = Words {
    request: "依頼：{}",
    created: "{}：新規作成",
    deleted: "{}：削除",
    added: "{} を追加",
    changed: "{} を変更",
    removed: "{} を削除",
    renamed: "{} を {} に改名",
    lines: "{}：{} 行",
    more_files: "ほか {} ファイルを変更",
    failed: "`{}` が失敗",
    recovered: "`{}` は失敗{}のち成功{}",
    passed: "`{}` が成功",
    ran: "`{}` を実行",
    exit: "終了コード {}",
    commit: "コミット {}：{}",
    looked_at: "{} を確認",
    still_failing: "`{}` はまだ失敗する",
    earlier: "このセッションでここまで：{}",
    list: "、",
    clauses: "；",
};

static KOREAN: Words = Words {
    request: "요청: {}",
    created: "{}: 새로 만듦",
    deleted: "{}: 삭제",
    added: "{} 추가",
    changed: "{} 변경",
    removed: "{} 제거",
    renamed: "{} → {} 이름 변경",
    lines: "{}: {}줄",
    more_files: "그 밖에 파일 {}개 변경",
    failed: "`{}` 실패",
    recovered: "`{}` 실패{} 후 통과{}",
    passed: "`{}` 통과",
    ran: "`{}` 실행",
    exit: "종료 코드 {}",
    commit: "커밋 {}: {}",
    looked_at: "{} 확인",
    still_failing: "`{}` 여전히 실패",
    earlier: "이 세션의 이전 작업: {}",
    list: ", ",
    clauses: "; ",
};

static GERMAN: Words = Words {
    request: "Auftrag: {}",
    created: "{}: neu angelegt",
    deleted: "{}: gelöscht",
    added: "{} hinzugefügt",
    changed: "{} geändert",
    removed: "{} entfernt",
    renamed: "{} in {} umbenannt",
    lines: "{}: {} Zeilen",
    more_files: "{} weitere Dateien geändert",
    failed: "`{}` schlug fehl",
    recovered: "`{}` schlug fehl{} und lief dann durch{}",
    passed: "`{}` lief durch",
    ran: "`{}` ausgeführt",
    exit: "Exit-Code {}",
    commit: "Commit {}: {}",
    looked_at: "{} angesehen",
    still_failing: "`{}` schlägt noch fehl",
    earlier: "Vorher in dieser Sitzung: {}",
    list: ", ",
    clauses: "; ",
};

static FRENCH: Words = Words {
    request: "Demande : {}",
    created: "{} : créé",
    deleted: "{} : supprimé",
    added: "ajout de {}",
    changed: "modification de {}",
    removed: "suppression de {}",
    renamed: "{} renommé en {}",
    lines: "{} : {} lignes",
    more_files: "{} autres fichiers modifiés",
    failed: "`{}` a échoué",
    recovered: "`{}` a échoué{}, puis réussi{}",
    passed: "`{}` a réussi",
    ran: "`{}` exécuté",
    exit: "code de sortie {}",
    commit: "commit {} : {}",
    looked_at: "lecture de {}",
    still_failing: "`{}` échoue encore",
    earlier: "Plus tôt dans cette session : {}",
    list: ", ",
    clauses: " ; ",
};

static SPANISH: Words = Words {
    request: "Petición: {}",
    created: "{}: creado",
    deleted: "{}: eliminado",
    added: "añadido {}",
    changed: "modificado {}",
    removed: "eliminado {}",
    renamed: "{} renombrado a {}",
    lines: "{}: {} líneas",
    more_files: "{} archivos más modificados",
    failed: "`{}` falló",
    recovered: "`{}` falló{} y luego pasó{}",
    passed: "`{}` pasó",
    ran: "ejecutado `{}`",
    exit: "código de salida {}",
    commit: "commit {}: {}",
    looked_at: "revisado {}",
    still_failing: "`{}` sigue fallando",
    earlier: "Antes en esta sesión: {}",
    list: ", ",
    clauses: "; ",
};

impl Language {
    /// The words of the language.
    pub(super) fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
            Self::TraditionalChinese => &TRADITIONAL_CHINESE,
            Self::Japanese => &JAPANESE,
            Self::Korean => &KOREAN,
            Self::German => &GERMAN,
            Self::French => &FRENCH,
            Self::Spanish => &SPANISH,
        }
    }

    /// The language of a mode's locale; `None` when the mode leaves it to the user.
    pub(super) fn of_locale(locale: &str) -> Option<Self> {
        Some(match locale {
            "" => return None,
            "zh-tw" | "zh-hant" | "zh-hk" => Self::TraditionalChinese,
            "zh" | "zh-cn" | "zh-hans" => Self::Chinese,
            "ja" => Self::Japanese,
            "ko" => Self::Korean,
            "de" => Self::German,
            "fr" => Self::French,
            "es" => Self::Spanish,
            _ => Self::English,
        })
    }

    /// The language that somebody writes in, from the first of `texts` that shows one.
    pub(super) fn of(texts: &[&str]) -> Self {
        texts.iter().find_map(|text| by_script(text).or_else(|| by_words(text))).unwrap_or(Self::English)
    }
}

/// Characters in which the two ways of writing Chinese differ, as frequent in software talk as they come.
const TRADITIONAL: &str =
    "個們這來對時會為說開關與並將還過從後應請錯誤測試檔資標題檢實現處變數據庫啟動導設計級語單無";
const SIMPLIFIED: &str =
    "个们这来对时会为说开关与并将还过从后应请错误测试档资标题检实现处变数据库启动导设计级语单无";

fn by_script(text: &str) -> Option<Language> {
    let (mut kana, mut hangul, mut han, mut latin) = (0, 0, 0, 0);
    let (mut traditional, mut simplified) = (0, 0);
    for c in text.chars().take(2_000) {
        match c {
            'ぁ'..='ヿ' => kana += 1,
            '가'..='힣' => hangul += 1,
            '一'..='鿿' => {
                han += 1;
                match (TRADITIONAL.contains(c), SIMPLIFIED.contains(c)) {
                    (true, false) => traditional += 1,
                    (false, true) => simplified += 1,
                    _ => {}
                }
            }
            'a'..='z' | 'A'..='Z' => latin += 1,
            _ => {}
        }
    }
    // Identifiers and commands make Latin letters frequent in any language: one CJK character weighs eight.
    if (kana + hangul + han) * 8 < latin {
        None
    } else if hangul > kana && hangul > 0 {
        Some(Language::Korean)
    } else if kana > 0 {
        Some(Language::Japanese)
    } else if han == 0 {
        None
    } else if traditional > simplified {
        Some(Language::TraditionalChinese)
    } else {
        Some(Language::Chinese)
    }
}

fn by_words(text: &str) -> Option<Language> {
    let table: [(Language, &[&str]); 4] = [
        (
            Language::English,
            &["the", "and", "is", "to", "it", "of", "in", "this", "that", "please", "with", "for", "was"],
        ),
        (
            Language::German,
            &[
                "der", "die", "das", "und", "ist", "nicht", "bitte", "wird", "eine", "ein", "mit", "für",
                "den", "auf", "im",
            ],
        ),
        (
            Language::French,
            &[
                "le", "la", "les", "des", "est", "une", "et", "dans", "pour", "pas", "du", "que", "avec",
                "au", "sur",
            ],
        ),
        (
            Language::Spanish,
            &[
                "el", "los", "las", "que", "una", "por", "para", "con", "del", "está", "y", "se", "en", "la",
                "al",
            ],
        ),
    ];
    let lower = text.chars().take(2_000).collect::<String>().to_lowercase();
    let mut counts = [0usize; 4];
    for word in lower.split(|c: char| !c.is_alphabetic()) {
        for (count, (_, words)) in counts.iter_mut().zip(&table) {
            *count += usize::from(words.contains(&word));
        }
    }
    let best = counts.iter().copied().max().filter(|best| *best > 0)?;
    let index = counts.iter().position(|count| *count == best)?;
    table.get(index).map(|(language, _)| *language)
}

/// Fills a template.
pub(super) fn fill(template: &str, values: &[&str]) -> String {
    let mut text = String::new();
    let mut values = values.iter();
    for (index, piece) in template.split("{}").enumerate() {
        if index > 0 {
            text.push_str(values.next().copied().unwrap_or_default());
        }
        text.push_str(piece);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_apart() {
        for (text, language) in [
            ("Add a farewell function to src/app.py and run it.", Language::English),
            ("给 src/app.py 添加一个 farewell 函数并运行", Language::Chinese),
            ("請在 src/app.py 新增一個 farewell 函式並執行測試", Language::TraditionalChinese),
            ("src/app.py に farewell 関数を追加して実行してください", Language::Japanese),
            ("src/app.py 에 farewell 함수를 추가하고 실행해 주세요", Language::Korean),
            ("Bitte füge eine Funktion hinzu und starte die Tests", Language::German),
            ("Ajoute une fonction dans le module et lance les tests", Language::French),
            ("Añade una función para el módulo y ejecuta los tests", Language::Spanish),
            ("Добавь функцию и запусти", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(Language::of(&[text]), language, "{text}");
        }
        assert_eq!(Language::of(&["ok", "修复了登录接口的错误"]), Language::Chinese);
    }

    #[test]
    fn every_language_fills_the_same_blanks() {
        let blanks = |words: &Words| {
            [
                words.request,
                words.created,
                words.renamed,
                words.lines,
                words.recovered,
                words.commit,
                words.exit,
            ]
            .map(|template| template.matches("{}").count())
        };
        for language in [
            Language::Chinese,
            Language::TraditionalChinese,
            Language::Japanese,
            Language::Korean,
            Language::German,
            Language::French,
            Language::Spanish,
        ] {
            assert_eq!(blanks(language.words()), blanks(&ENGLISH), "{language:?}");
        }
        assert_eq!(fill("a {} b {}", &["1", "2"]), "a 1 b 2");
    }
}
