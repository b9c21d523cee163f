//! Outlines of files of 10,000 lines, and a symbol looked for in a tree.

use std::fs;

use crate::common::World;
use crate::measure::{Series, cmem, empty, run};
use crate::row;

const LINES: usize = 10_000;
const ROUNDS: usize = 40;
const FILES: usize = 500;

pub fn of_large_files() {
    let world = World::new();
    let rust = repeated(|n| {
        format!(
            "/// Number {n}.\nimpl<T: Clone> Thing{n}<T> {{\n    /// Reads it.\n    pub fn read(&self, at: usize) -> \
             Option<&T> {{\n        let all = self.items.iter().filter(|item| item.is_some());\n        for item in all \
             {{\n            if item.number == at + {n} {{\n                return item.value.as_ref();\n            \
             }}\n        }}\n        None\n    }}\n}}\n\n"
        )
    });
    let script = repeated(|n| {
        format!(
            "/** Number {n}. */\nexport class Thing{n}<T extends object> {{\n  private items: T[] = [];\n\n  async \
             read(at: number): Promise<T | undefined> {{\n    for (const item of this.items.filter((each) => each)) \
             {{\n      if (item.number === at + {n}) {{\n        return await item.value();\n      }}\n    }}\n    \
             return undefined;\n  }}\n}}\n\n"
        )
    });
    for (name, text) in [("large.rs", &rust), ("large.ts", &script)] {
        fs::write(world.project().join(name), text).unwrap();
        measure(
            &world,
            &format!("outline {name}, {LINES} lines, {} KB", text.len() / 1_000),
            &["outline", name],
        );
    }
    measure(&world, "unfold of it, by name", &["unfold", "large.rs", "Thing500.read"]);
    for number in 0..FILES {
        let text: String = rust.lines().take(200).map(|line| format!("{line}\n")).collect();
        fs::write(world.project().join(format!("part{number}.rs")), text).unwrap();
    }
    measure(&world, &format!("outline --search, {FILES} files"), &["outline", "--search", "Thing9"]);
}

fn measure(world: &World, what: &str, args: &[&str]) {
    let (mut own, mut base) = (Series::default(), Series::default());
    for _ in 0..ROUNDS {
        base.add(run(&mut empty(world)));
        own.add(run(&mut cmem(world, args, b"")));
    }
    row(what, &own.beside(&base));
}

/// A part again and again, with its number, up to [`LINES`].
fn repeated(part: impl Fn(usize) -> String) -> String {
    let count = LINES / part(0).lines().count();
    (0..=count).map(part).collect()
}
