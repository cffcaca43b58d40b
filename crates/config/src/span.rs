//! A value and where its text stands. It must not know what file that is.

use std::ops::Range;

/// Byte range in a file's text, after a byte order mark was taken off.
pub type Span = Range<usize>;

/// A value and the place it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Joins a value and its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
