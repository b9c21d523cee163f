//! What each observer would cost, told at installation.

use serde::Serialize;

use crate::config::{
    LIST_DATE, Origin, Paths, Price, Provider, Settings, Sources, TOKENS_PER_OBSERVATION,
    TokensPerObservation, billed_by, describe,
};
use crate::hook::agents::Version;
use crate::hook::install::NoVersion;
use crate::mode::Mode;
use crate::observer;

/// One provider.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    provider: &'static str,
    /// The one that observes as things are set.
    in_use: bool,
    /// The model that would be asked; `None` where that is for the user to choose.
    model: Option<String>,
    /// `None` where it is part of something else, or not known.
    dollars_per_1000_observations: Option<f64>,
    /// The variable of `CMEM_CLAUDE_ENV` by which calls of the command are billed.
    #[serde(skip_serializing_if = "Option::is_none")]
    billed_by: Option<String>,
}

/// All of them, and whose prices these are.
pub(super) struct Prices {
    pub(super) rows: Vec<Row>,
    source: String,
}

/// How it is found out which provider is in use, where that depends on the `claude` command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Look {
    /// The command is asked, and the answer is kept.
    Ask,
    /// The command is asked, and nothing is written.
    AskOnly,
    /// It gave no answer just now: what was found out before counts.
    Recall,
}

impl Look {
    pub(super) fn of(dry_run: bool, asked: Result<Version, NoVersion>) -> Self {
        match asked {
            Err(NoVersion::NoAnswer) => Self::Recall,
            _ if dry_run => Self::AskOnly,
            _ => Self::Ask,
        }
    }
}

impl Prices {
    /// By the prices and the model that are set. Settings that cannot be read are for `cmem doctor`.
    pub(super) fn read(paths: &Paths, look: Look) -> Self {
        let sources = Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only());
        let (settings, _) = Settings::resolve_lenient(&sources);
        let own = describe("CMEM_PRICES").is_ok_and(|setting| sources.get(setting).1 != Origin::Default);
        // One that is not set up yet is named as it is set.
        let in_use = match look {
            Look::Ask => observer::new(&settings, paths, Mode::english())
                .map_or_else(|_| observer::effective(&settings, paths), |observer| observer.provider()),
            Look::AskOnly => observer::would_be(&settings, paths),
            Look::Recall => observer::effective(&settings, paths),
        };
        let row = |provider| row(provider, in_use, &settings);
        let providers =
            [Provider::Claude, Provider::Builtin, Provider::Anthropic, Provider::Gemini, Provider::OpenAi];
        Self {
            rows: providers.into_iter().map(row).collect(),
            source: if own {
                String::from("your CMEM_PRICES")
            } else {
                format!("list prices of {LIST_DATE}")
            },
        }
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let first = format!("1,000 observations cost about (* = in use; {}, see CMEM_PRICES):", self.source);
        [first].into_iter().chain(self.rows.iter().map(line)).collect()
    }
}

fn row(provider: Provider, in_use: Provider, settings: &Settings) -> Row {
    let chosen = Some(settings.model.trim()).filter(|model| !model.is_empty() && provider == in_use);
    let model = chosen.or_else(|| observer::default_model(provider));
    let TokensPerObservation { input, output } = TOKENS_PER_OBSERVATION;
    let billed_by = billed_by(&settings.claude_env).filter(|_| provider == Provider::Claude);
    let price = model.and_then(|model| Price::of(model, &settings.prices));
    let dollars = match provider {
        Provider::Builtin => Some(0.0),
        Provider::Claude if billed_by.is_none() => None,
        _ => price.map(|price| (price.dollars(input, 0.0, output) * 100_000.0).round() / 100.0),
    };
    Row {
        provider: provider.name(),
        in_use: provider == in_use,
        model: model.map(str::to_owned),
        dollars_per_1000_observations: dollars,
        billed_by: billed_by.map(str::to_owned),
    }
}

fn line(row: &Row) -> String {
    let model = row.model.as_deref().map(crate::render::line).unwrap_or_default();
    let cost = match (row.provider, row.dollars_per_1000_observations) {
        ("builtin", _) => String::from("nothing"),
        ("claude", None) if row.billed_by.is_none() => String::from("part of your Claude subscription"),
        ("openai", None) if model.is_empty() => String::from("what your server asks; nothing for your own"),
        (_, Some(dollars)) => format!("${dollars:.2} with {model}"),
        (_, None) => format!("not known for {model}"),
    };
    let cost = match &row.billed_by {
        Some(variable) => format!("{cost}, as CMEM_CLAUDE_ENV passes {variable} on"),
        None => cost,
    };
    format!("{} {:<10} {cost}", if row.in_use { '*' } else { ' ' }, row.provider)
}
