//! Instants: milliseconds since the Unix epoch in storage, RFC 3339 UTC in JSON, local time in text.

use std::fmt;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use once_cell::sync::Lazy;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DAY_MS: i64 = 24 * 3_600_000;

/// The local time zone: of `TZ`, otherwise that of the machine.
///
/// Without `TZ` the machine's own file is read as it is: to look its name up would list the whole folder of zones,
/// a fifth of the time of a search.
pub(crate) fn local_zone() -> &'static TimeZone {
    static ZONE: Lazy<TimeZone> = Lazy::new(|| {
        let own = || TimeZone::tzif("", &fs::read("/etc/localtime").ok()?).ok();
        std::env::var_os("TZ").map_or_else(own, |_| None).unwrap_or_else(TimeZone::system)
    });
    &ZONE
}

/// An instant, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let elapsed = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

impl Timestamp {
    /// The present moment.
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// This instant moved by `ms` milliseconds.
    pub fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// This instant and so long after it.
    pub fn plus(self, wait: Duration) -> Self {
        self.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
    }

    /// Milliseconds from `earlier` to this instant (negative if `earlier` is later).
    pub fn since_ms(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Days from `earlier` to this instant, fractions included; 0 if `earlier` is later.
    pub fn days_since(self, earlier: Self) -> f64 {
        self.since_ms(earlier).max(0) as f64 / DAY_MS as f64
    }

    /// This instant and so many days of 24 hours before it.
    pub fn minus_days(self, days: u64) -> Self {
        Self(self.0.saturating_sub_unsigned(days.saturating_mul(DAY_MS.unsigned_abs())))
    }

    /// The local midnight before this instant, and the one after it.
    pub fn day(self) -> (Self, Self) {
        let bounds = || {
            let instant = jiff::Timestamp::from_millisecond(self.0).ok()?;
            let today = instant.to_zoned_datetime(local_zone().clone()).start_of_day().ok()?;
            let tomorrow = today.date().tomorrow().ok()?.to_zoned_datetime(today.time_zone().clone()).ok()?;
            Some((Self(today.timestamp().as_millisecond()), Self(tomorrow.timestamp().as_millisecond())))
        };
        bounds().unwrap_or((self, self.plus_ms(DAY_MS)))
    }

    /// Reads RFC 3339 (`2026-01-31T10:00:00Z`) or a civil date (`2026-01-31`, local midnight).
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(instant) = text.parse::<jiff::Timestamp>() {
            return Some(Self(instant.as_millisecond()));
        }
        let date = text.parse::<jiff::civil::Date>().ok()?;
        let zoned = date.to_zoned_datetime(local_zone().clone()).ok()?;
        Some(Self(zoned.timestamp().as_millisecond()))
    }

    /// Formats in local time with a `strftime` pattern.
    pub fn local(self, pattern: &str) -> String {
        self.zoned(local_zone().clone(), pattern)
    }

    fn zoned(self, zone: TimeZone, pattern: &str) -> String {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(instant) => instant.to_zoned_datetime(zone).strftime(pattern).to_string(),
            Err(_) => String::from("?"),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.zoned(TimeZone::UTC, "%Y-%m-%dT%H:%M:%S%.3fZ"))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

/// An instant as a plain number, for data that only cmem reads.
pub(super) mod milliseconds {
    use super::{Deserialize, Deserializer, Serialize, Serializer, Timestamp};

    pub(in crate::model) fn serialize<S: Serializer>(
        instant: &Timestamp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        instant.0.serialize(serializer)
    }

    pub(in crate::model) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_round_trip() {
        let t = Timestamp(1_770_000_000_123);
        assert_eq!(t.to_string(), "2026-02-02T02:40:00.123Z");
        assert_eq!(Timestamp::parse(&t.to_string()), Some(t));
    }

    #[test]
    fn nonsense_is_not_a_time() {
        assert_eq!(Timestamp::parse("yesterday-ish"), None);
    }
}
