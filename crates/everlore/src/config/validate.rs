//! Validation of values, with messages in words.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;

/// Setting with an unusable value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSetting {
    /// Setting, such as `recall.b`.
    pub key: &'static str,
    /// Problem, such as "is 1.5, but must be from 0 to 1".
    pub message: String,
}

impl InvalidSetting {
    pub(super) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }
}

impl Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, self.message)
    }
}

/// Returns a problem if `value` is outside `range`. Not-a-number is outside every range.
pub(super) fn check_range<T>(
    key: &'static str,
    value: T,
    range: RangeInclusive<T>,
) -> Option<InvalidSetting>
where
    T: PartialOrd + Display + Copy,
{
    let (low, high) = range.into_inner();
    let inside = low <= value && value <= high;
    (!inside)
        .then(|| InvalidSetting::new(key, format!("is {value}, but must be from {low} to {high}")))
}

/// Declares the settings of a section: each with its type, its default and, if it has one, its range.
macro_rules! settings {
    ($(#[$meta:meta])* pub struct $name:ident in $section:literal {
        $($(#[$doc:meta])* pub $setting:ident: $type:ty = $default:expr $(, in $range:expr)?;)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $($(#[$doc])* pub $setting: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($setting: $default,)* }
            }
        }

        impl $name {
            /// Lists every value that is out of its range.
            pub(super) fn out_of_range(&self) -> Vec<$crate::config::InvalidSetting> {
                let checks: Vec<Option<$crate::config::InvalidSetting>> = vec![$($(
                    $crate::config::validate::check_range(
                        concat!($section, ".", stringify!($setting)), self.$setting, $range,
                    ),
                )?)*];
                checks.into_iter().flatten().collect()
            }
        }
    };
}
pub(super) use settings;
