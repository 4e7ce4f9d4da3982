//! Names of the variants of an enum, declared once.

/// Gives an enum of plain variants `ALL`, `as_str` and `Display`; the names are those of files, uris and answers.
#[doc(hidden)]
#[macro_export]
macro_rules! __variant_names {
    ($vis:vis $type:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All variants, in the order people meet them.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name used in files, uris and answers.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
