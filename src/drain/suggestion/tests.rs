use proptest::prelude::*;

use super::*;

fn of(text: &str) -> (String, Vec<Suggestion>) {
    lift_from(text).unwrap_or_else(|| panic!("nothing is found in {text:?}"))
}

fn block(r#type: &str, title: &str, tags: &str, text: &str) -> Suggestion {
    let [r#type, title, tags, text] = [r#type, title, tags, text].map(str::to_owned);
    Suggestion { r#type, title, tags, text }
}

#[test]
fn a_fence_is_lifted_out_of_what_is_said_around_it() {
    let text = "Done.\n\n```cmem-memory\ntype: constraint\ntitle: Pool size\ntags: database, config\ntext: At most 20 \
                connections.\n\nThe server refuses more.\n```\n\nAnything else?";
    let (rest, found) = of(text);
    assert_eq!(rest, "Done.\n\n\nAnything else?");
    let said = "At most 20 connections.\n\nThe server refuses more.";
    assert_eq!(found, [block("constraint", "Pool size", "database, config", said)]);
}

#[test]
fn a_marker_is_read_on_one_line_and_on_several() {
    let expected = block("constraint", "", "database, config", "项目使用 PostgreSQL 15");
    for text in [
        "[记忆建议] 类型: constraint 内容: 项目使用 PostgreSQL 15 标签: database, config",
        "[记忆建议] 内容: 项目使用 PostgreSQL 15 标签: database, config 类型: constraint",
        "[记忆建议]\n类型: constraint 内容: 项目使用 PostgreSQL 15 标签: database, config",
        "[记忆建议]\n类型: constraint\n内容: 项目使用 PostgreSQL 15\n标签: database, config",
        "【记忆建议】\n\n类型：constraint\n\n内容：项目使用 PostgreSQL 15\n\n标签：database, config",
        "**[记忆建议]**\n- **类型**: constraint\n- **标签：** database, config\n- **内容**：项目使用 PostgreSQL 15",
        "[記憶建議]\r\n類型: constraint\r\n內容: 项目使用 PostgreSQL 15\r\n標籤: database, config\r\n",
        "[Memory suggestion]\nType: constraint\nContent: 项目使用 PostgreSQL 15\nTags: database, config",
        "```\n[记忆建议]\n类型: constraint\n内容: 项目使用 PostgreSQL 15\n标签: database, config\n```",
    ] {
        let (rest, found) = of(text);
        assert_eq!((rest.as_str(), found.as_slice()), ("", &[expected.clone()][..]), "{text}");
    }
}

#[test]
fn what_follows_a_block_is_none_of_it() {
    let (rest, found) = of(
        "好的。\n[记忆建议]\n内容: 一\n二\n\n三\n[记忆建议]\n内容: 四\n标签: a\n五\n[记忆建议] 内容: type: x",
    );
    assert_eq!(rest, "好的。\n\n三\n五");
    let texts: Vec<&str> = found.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, ["一\n二", "四", "type: x"]);
}

#[test]
fn what_is_no_block_stays_where_it_is() {
    for text in [
        "no block at all",
        "```cmem-memory\ntype: fact\ntext: never closed",
        "```cmem-memory\ntype: fact\ntitle: no text\n```",
        "[记忆建议]",
        "[记忆建议] 类型: constraint",
        "the [记忆建议] marker in a sentence, 内容: x",
        "[记忆建议] is how it begins\n内容: x",
        "````\n```cmem-memory\ntext: an example in a longer fence\n```\n````",
        "```\nsome code\n[记忆建议] 内容: in code\n```",
    ] {
        assert_eq!(lift_from(text), None, "{text}");
    }
}

#[test]
fn a_draft_says_what_the_block_says() {
    let mode = Mode::english();
    let draft = block("决策？", "", "#auth, gotcha；auth", "Staff alone. Guests have links.").draft(&mode);
    assert_eq!((draft.r#type.as_str(), draft.title.as_str()), ("note", "Staff alone"));
    assert_eq!(draft.concepts, ["auth", "gotcha", "决策？"]);
    assert_eq!(draft.keywords, ["auth", "决策？"]);
    assert_eq!(draft.narrative, "Staff alone. Guests have links.");
    assert_eq!(block("Decision", "A\nb", "", "c").draft(&mode).r#type, "decision");
}

proptest! {
    /// Every word of a message is in what is left of it or in a block, whatever it is made of.
    #[test]
    fn nothing_is_lost(parts in prop::collection::vec(prop::sample::select(vec![
        "```cmem-memory", "```", "````", "~~~", "\n", "\n", "\n", "\n\n", "[记忆建议]", "[memory suggestion]", "类型:", "type: ",
        "内容：", "text:", "tags: ", "标签:", "title:", " ", " - ", "**", "字", "w", "é", "🚀",
    ]), 0..60)) {
        let mut text = String::new();
        for (number, part) in parts.iter().enumerate() {
            text.push_str(part);
            if number % 3 == 0 {
                text.push_str(&format!("word{number}x"));
            }
        }
        let (rest, found) = lift_from(&text).unwrap_or_else(|| (text.clone(), Vec::new()));
        for block in &found {
            prop_assert!(!block.text.trim().is_empty());
        }
        let kept: String = found.iter().map(|b| format!("{} {} {} {} ", b.r#type, b.title, b.tags, b.text)).collect();
        for number in (0..parts.len()).step_by(3) {
            let word = format!("word{number}x");
            // The info string of a fence is the only word that is left out.
            let is_info = parts[number] == "```cmem-memory";
            prop_assert!(is_info || rest.contains(&word) || kept.contains(&word), "{word}: {text:?}");
        }
    }

    #[test]
    fn any_text_is_read(text in "(\\PC|\n){0,200}") {
        let _ = lift_from(&text);
    }
}
