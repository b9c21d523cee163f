//! Phrases, lower case, in the languages that the embedded observer knows.

/// Courtesies that open a message; they are cut off where punctuation follows.
#[rustfmt::skip]
pub(super) static OPENERS: &[&str] = &[
    "done", "all done", "perfect", "great", "excellent", "all set", "success", "sure", "okay", "ok",
    "got it", "good", "good catch", "good question", "great question", "you're right",
    "you're absolutely right", "you are right", "you are absolutely right", "absolutely", "sounds good",
    "thanks", "thank you", "nice", "yes", "no problem", "oh", "ah", "hmm", "wow", "found it",
    "found the issue", "found the problem", "found the bug", "i found the issue", "i found the problem",
    "i see the issue", "i see the problem", "that's it", "all good", "fixed", "right", "fixed it",
    "finished", "hello", "hi", "understood", "good news", "of course", "certainly", "complete", "完成", "完成了",
    "已完成", "好的", "好", "搞定", "没问题", "沒問題", "明白了", "明白", "了解", "收到", "你说得对", "您说得对", "当然", "當然", "可以", "はい",
    "了解しました", "了解です", "完了しました", "完了です", "承知しました", "わかりました", "できました", "네", "알겠습니다", "완료했습니다", "완료되었습니다",
    "완료", "좋습니다", "물론입니다", "fertig", "erledigt", "alles klar", "gerne", "klar", "ja", "verstanden",
    "perfekt", "voilà", "c'est fait", "terminé", "d'accord", "bien sûr", "oui", "parfait", "c'est bon",
    "listo", "hecho", "perfecto", "claro", "de acuerdo", "sí", "terminado",
];

/// Sentences that only announce what comes next.
#[rustfmt::skip]
pub(super) static ANNOUNCEMENTS: &[&str] = &[
    "i'll ", "i will ", "i’ll ", "let me ", "let's ", "i'm going to ", "i am going to ", "now i'll",
    "now i'm ", "now let me", "now let's", "next, i", "next i", "first, i", "first i'll", "first, let",
    "i need to ", "i want to ", "i can see", "i see ", "looking at ", "here's ", "here is ", "here are ",
    "now i ", "time to ", "step ", "i'm now ", "we need to ", "what i found", "what i did", "i'm ", "i am ",
    "i was ", "you're ", "you are ", "i think you", "i agree", "good finds", "great finds",
    "this is a fascinating", "that makes sense", "我来", "我來", "我会", "我會", "我将", "我將", "让我", "讓我", "接下来我",
    "接下來我", "下面", "首先我", "以下是", "まず", "これから", "では、", "以下", "제가 ", "이제 ", "먼저 ", "다음은", "ich werde",
    "lass mich", "ich schaue", "als nächstes", "zuerst", "hier ist", "hier sind", "je vais", "laisse-moi",
    "laissez-moi", "voici", "d'abord", "voy a ", "déjame", "primero ", "aquí está", "vamos a ",
];

/// Offers, questions and goodbyes.
#[rustfmt::skip]
pub(super) static OFFERS: &[&str] = &[
    "let me know", "would you like", "want me to", "if you want", "if you'd like", "should i ", "shall i ",
    "feel free", "hope this", "do you want", "i can also", "happy to", "如果需要", "如需", "如果你", "如果您", "需要我",
    "要我", "是否需要", "请告诉我", "請告訴我", "必要であれば", "ご希望", "よろしければ", "何か", "원하시면", "필요하시면", "말씀해", "wenn du",
    "falls du", "falls sie", "soll ich", "sag bescheid", "möchtest du", "si tu ", "si vous", "veux-tu",
    "voulez-vous", "n'hésite", "si quieres", "si necesitas", "¿", "avísame",
];

/// Headings that head anything.
#[rustfmt::skip]
pub(super) static GENERIC_HEADINGS: &[&str] = &[
    "summary", "changes", "what changed", "what i did", "what i changed", "result", "results", "overview",
    "details", "done", "status", "next steps", "final status", "conclusion", "answer", "notes", "总结", "總結",
    "概要", "摘要", "改动", "变更", "變更", "结果", "結果", "说明", "說明", "まとめ", "変更点", "変更内容", "요약", "변경 사항", "결과",
    "zusammenfassung", "änderungen", "ergebnis", "résumé", "modifications", "résultat", "resumen",
    "cambios", "resultado",
];

/// Words of results, causes and rules.
#[rustfmt::skip]
pub(super) static TURNING_POINTS: &[&str] = &[
    "fixed", "added", "removed", "replaced", "renamed", "implemented", "created", "moved", "updated",
    "changed", "refactored", "because", "caused by", "cause", "root cause", "reason", "due to", "so that",
    "turns out", "comes from", "came from", "was missing", "decided", "instead of", "must", "never",
    "always", "only works", "requires", "needs", "returns", "now", "no longer", "works", "fails", "failed",
    "passes", "pass", "uses", "prints", "means", "is defined", "limit", "修复", "修正", "修復", "新增", "添加", "增加",
    "删除", "刪除", "移除", "替换", "改为", "改為", "改成", "实现", "實作", "实现了", "重构", "重構", "原因", "因为", "因為", "由于", "由於",
    "导致", "導致", "必须", "必須", "不能", "需要", "决定", "決定", "采用", "採用", "追加", "変更", "削除", "実装", "対応", "ため", "により",
    "しました", "必要", "추가", "수정", "삭제", "변경", "구현", "원인", "때문", "해결", "결정", "behoben", "hinzugefügt",
    "geändert", "entfernt", "ersetzt", "umbenannt", "ursache", "weil", "jetzt", "muss", "entschieden",
    "corrigé", "ajouté", "supprimé", "modifié", "remplacé", "renommé", "cause", "parce que", "maintenant",
    "doit", "décidé", "corregido", "añadido", "agregado", "eliminado", "modificado", "reemplazado", "causa",
    "porque", "ahora", "debe", "decidido",
];

/// Sentences that begin so point back to something that a title does not show.
#[rustfmt::skip]
pub(super) static POINTERS: &[&str] = &[
    "this ", "that ", "these ", "those ", "it ", "it's ", "they ", "he ", "she ", "here ", "there ", "so ",
    "but ", "and ", "also ", "这", "這", "那", "它", "これ", "それ", "이 ", "이것", "그것", "das ", "dies",
    "es ", "cela ", "ça ", "c'est ", "esto ", "eso ",
];

/// Words of sentences that only report how the work stands.
#[rustfmt::skip]
pub(super) static STATUS: &[&str] = &[
    "all tests pass", "tests pass", "all checks pass", "quality checks", "pushed", "typescript passes",
    "build passes", "build succeeds", "linting warning", "ready for", "production ready",
    "production-ready", "completed successfully", "all feedback", "feedback addressed", "no more",
    "looks good", "所有测试", "全部通过", "测试通过", "測試通過", "テストはすべて", "テストが通", "모든 테스트", "alle tests",
    "tous les tests", "todos los tests", "todas las pruebas",
];

/// Words, lower case, with which assistants introduce what is left to do.
#[rustfmt::skip]
pub(super) static NEXT: &[&str] = &[
    "next step", "next,", "next:", "what's next", "todo:", "to do:", "remaining", "still need",
    "still to do", "not yet", "left to do", "follow-up", "you may want", "you might want", "you'll need",
    "should also", "下一步", "接下来", "接下來", "后续", "後續", "尚未", "还需要", "還需要", "待办", "待辦", "次のステップ", "次は", "残り",
    "まだ", "今後", "다음 단계", "남은", "아직", "nächste", "noch nicht", "noch offen", "verbleib", "prochaine",
    "reste à", "pas encore", "siguiente", "pendiente", "falta",
];

/// Words, lower case, that warn.
#[rustfmt::skip]
pub(super) static WARNINGS: &[&str] = &[
    "note that", "note:", "caveat", "careful", "beware", "gotcha", "warning:", "注意", "小心", "警告", "주의",
    "achtung", "vorsicht", "hinweis", "attention", "remarque", "ojo", "cuidado", "nota:",
];
