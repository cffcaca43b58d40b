//! The rules by which core values become JSON and come back. One declaration serves both ways, so
//! that they cannot drift apart; what does not fit the declaration exactly is [`Malformed`].

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// JSON that does not say what it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", path(.at))]
pub(crate) struct Malformed {
    /// Keys from the innermost outwards.
    at: Vec<String>,
    /// What is wrong there.
    why: String,
}

/// The keys from the outermost inwards.
fn path(at: &[String]) -> String {
    let mut path = String::new();
    for key in at.iter().rev() {
        path.push_str(key);
        path.push_str(": ");
    }
    path
}

impl Malformed {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self { at: Vec::new(), why: why.into() }
    }

    pub(crate) fn inside(mut self, key: &str) -> Self {
        self.at.push(key.to_owned());
        self
    }
}

/// A value with exactly one form in JSON.
pub(crate) trait Json: Sized {
    fn to_json(&self) -> Value;
    fn from_json(value: Value) -> Result<Self, Malformed>;
}

/// A value whose form is an object with these keys, which may stand among others.
pub(crate) trait Record: Json {
    const KEYS: &'static [&'static str];
}

/// A value whose form is a text, which may be a key.
pub(crate) trait Text: Sized {
    fn to_text(&self) -> String;
    fn from_text(text: String) -> Result<Self, Malformed>;
}

/// An object being read: every key is taken once, none may be left over.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn of(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            other => Err(Malformed::new(format!("expected an object, found {other}"))),
        }
    }

    pub(crate) fn take<T: Json>(&mut self, key: &str) -> Result<T, Malformed> {
        let value = self.0.remove(key).ok_or_else(|| Malformed::new("missing").inside(key))?;
        T::from_json(value).map_err(|error| error.inside(key))
    }

    pub(crate) fn take_or_default<T: Json + Default>(&mut self, key: &str) -> Result<T, Malformed> {
        if self.0.contains_key(key) { self.take(key) } else { Ok(T::default()) }
    }

    pub(crate) fn flat<T: Record>(&mut self) -> Result<T, Malformed> {
        let own = T::KEYS.iter().filter_map(|key| self.0.remove_entry(*key)).collect();
        T::from_json(Value::Object(own))
    }

    pub(crate) fn end(self) -> Result<(), Malformed> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(key) => Err(Malformed::new("unknown key").inside(key)),
        }
    }
}

/// Whether a value is what an absent key means.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Puts the keys of a record among those of `map`.
pub(crate) fn merge(map: &mut Map<String, Value>, value: &impl Record) {
    if let Value::Object(own) = value.to_json() {
        map.extend(own);
    }
}

macro_rules! put {
    ($map:ident, $field:ident, flat) => {
        $crate::codec::json::merge(&mut $map, $field);
    };
    // A key that is absent while it has the default: it came later than the first bodies.
    ($map:ident, $field:ident, (later $key:literal)) => {
        if !$crate::codec::json::is_default($field) {
            $map.insert($key.to_owned(), $crate::codec::json::Json::to_json($field));
        }
    };
    ($map:ident, $field:ident, $key:literal) => {
        $map.insert($key.to_owned(), $crate::codec::json::Json::to_json($field));
    };
    ($map:ident, $field:ident, (or_default $key:literal)) => {
        $map.insert($key.to_owned(), $crate::codec::json::Json::to_json($field));
    };
}

macro_rules! take {
    ($fields:ident, flat) => {
        $fields.flat()?
    };
    ($fields:ident, (later $key:literal)) => {
        $fields.take_or_default($key)?
    };
    ($fields:ident, $key:literal) => {
        $fields.take($key)?
    };
    ($fields:ident, (or_default $key:literal)) => {
        $fields.take_or_default($key)?
    };
}

/// Declares a struct: every field with its key, or `flat` for a record among the own keys, or
/// `(or_default key)` for a field that older programs did not write, or `(later key)` for one that
/// is not written either while it has the default.
macro_rules! record {
    ($type:ident { $($field:ident $how:tt),* $(,)? }) => {
        impl $crate::codec::json::Json for $type {
            fn to_json(&self) -> serde_json::Value {
                let $type { $($field),* } = self;
                let mut map = serde_json::Map::new();
                $( $crate::codec::json::put!(map, $field, $how); )*
                serde_json::Value::Object(map)
            }
            fn from_json(
                value: serde_json::Value,
            ) -> Result<Self, $crate::codec::json::Malformed> {
                let mut fields = $crate::codec::json::Fields::of(value)?;
                let made = $type { $($field: $crate::codec::json::take!(fields, $how)),* };
                fields.end()?;
                Ok(made)
            }
        }
    };
}

/// Declares that a record made only of plain keys may be written flat.
macro_rules! flattens {
    ($type:ident { $($key:literal),* $(,)? }) => {
        impl $crate::codec::json::Record for $type {
            const KEYS: &'static [&'static str] = &[$($key),*];
        }
    };
}

/// Declares an enum without payload: every variant with its word.
macro_rules! words {
    ($type:ident { $($variant:ident $word:literal),* $(,)? }) => {
        impl $crate::codec::json::Text for $type {
            fn to_text(&self) -> String {
                match self { $($type::$variant => $word),* }.to_owned()
            }
            fn from_text(text: String) -> Result<Self, $crate::codec::json::Malformed> {
                match text.as_str() {
                    $($word => Ok($type::$variant),)*
                    _ => Err($crate::codec::json::Malformed::new(format!(
                        "unknown word {text:?}"
                    ))),
                }
            }
        }
        $crate::codec::json::text!($type);
    };
}

/// Declares an enum with payload: an object whose `$tag` says the variant.
macro_rules! tagged {
    ($type:ident by $tag:literal {
        $($variant:ident $word:literal { $($place:tt $field:ident $how:tt),* $(,)? }),* $(,)?
    }) => {
        impl $crate::codec::json::Json for $type {
            fn to_json(&self) -> serde_json::Value {
                let mut map = serde_json::Map::new();
                match self {
                    $($type::$variant { $($place: $field),* } => {
                        map.insert($tag.to_owned(), serde_json::Value::from($word));
                        $( $crate::codec::json::put!(map, $field, $how); )*
                    })*
                }
                serde_json::Value::Object(map)
            }
            fn from_json(
                value: serde_json::Value,
            ) -> Result<Self, $crate::codec::json::Malformed> {
                let mut fields = $crate::codec::json::Fields::of(value)?;
                let word: String = fields.take($tag)?;
                let made = match word.as_str() {
                    $($word => $type::$variant {
                        $($place: $crate::codec::json::take!(fields, $how)),*
                    },)*
                    _ => {
                        let error = format!("unknown word {word:?}");
                        return Err($crate::codec::json::Malformed::new(error).inside($tag));
                    }
                };
                fields.end()?;
                Ok(made)
            }
        }
    };
}

macro_rules! text {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::codec::json::Json for $type {
            fn to_json(&self) -> serde_json::Value {
                serde_json::Value::String($crate::codec::json::Text::to_text(self))
            }
            fn from_json(
                value: serde_json::Value,
            ) -> Result<Self, $crate::codec::json::Malformed> {
                let text = <String as $crate::codec::json::Json>::from_json(value)?;
                $crate::codec::json::Text::from_text(text)
            }
        })*
    };
}

pub(crate) use {flattens, put, record, tagged, take, text, words};

impl Text for String {
    fn to_text(&self) -> String {
        self.clone()
    }
    fn from_text(text: String) -> Result<Self, Malformed> {
        Ok(text)
    }
}

impl Json for String {
    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(Malformed::new(format!("expected a text, found {other}"))),
        }
    }
}

impl Json for bool {
    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        value.as_bool().ok_or_else(|| Malformed::new(format!("expected a bool, found {value}")))
    }
}

macro_rules! number {
    ($($type:ident $wide:ident $read:ident),*) => {
        $(impl Json for $type {
            fn to_json(&self) -> Value {
                Value::from(*self)
            }
            fn from_json(value: Value) -> Result<Self, Malformed> {
                let number: Option<$wide> = value.$read();
                number
                    .and_then(|number| <$type>::try_from(number).ok())
                    .ok_or_else(|| Malformed::new(format!("expected a number, found {value}")))
            }
        })*
    };
}

number!(u32 u64 as_u64, u64 u64 as_u64, usize u64 as_u64, i32 i64 as_i64, i64 i64 as_i64);

impl<T: Json> Json for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, Json::to_json)
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::Null => Ok(None),
            some => T::from_json(some).map(Some),
        }
    }
}

impl<T: Json> Json for Box<T> {
    fn to_json(&self) -> Value {
        T::to_json(self)
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        T::from_json(value).map(Box::new)
    }
}

impl<T: Record> Record for Box<T> {
    const KEYS: &'static [&'static str] = T::KEYS;
}

impl<T: Json> Json for Vec<T> {
    fn to_json(&self) -> Value {
        Value::Array(self.iter().map(Json::to_json).collect())
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::Array(items) => items.into_iter().map(T::from_json).collect(),
            other => Err(Malformed::new(format!("expected an array, found {other}"))),
        }
    }
}

impl<K: Text + Ord, V: Json> Json for BTreeMap<K, V> {
    fn to_json(&self) -> Value {
        Value::Object(self.iter().map(|(key, value)| (key.to_text(), value.to_json())).collect())
    }
    fn from_json(value: Value) -> Result<Self, Malformed> {
        let Value::Object(map) = value else {
            return Err(Malformed::new(format!("expected an object, found {value}")));
        };
        map.into_iter()
            .map(|(key, value)| {
                let value = V::from_json(value).map_err(|error| error.inside(&key))?;
                Ok((K::from_text(key)?, value))
            })
            .collect()
    }
}
