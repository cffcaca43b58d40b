//! The message of the commit that lands a feature: a template with places to fill in, and trailers. It must not know
//! where the template was written.

use std::fmt;

/// What the places of a template stand for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageValues {
    /// `{feature}`
    pub feature: String,
    /// `{title}`
    pub title: String,
    /// `{run}`
    pub run: String,
    /// `{target}`: short name of the branch.
    pub target: String,
    /// `{branch}`: short name of the branch.
    pub branch: String,
}

/// A template that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTemplate(Vec<Piece>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Feature,
    Title,
    Run,
    Target,
    Branch,
}

const PLACES: [(&str, Place); 5] = [
    ("feature", Place::Feature),
    ("title", Place::Title),
    ("run", Place::Run),
    ("target", Place::Target),
    ("branch", Place::Branch),
];

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Place(Place),
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// A name in braces that stands for nothing.
    #[error(
        "{{{name}}} stands for nothing; there are {{feature}}, {{title}}, {{run}}, {{target}} and {{branch}}"
    )]
    UnknownPlace {
        /// The name.
        name: String,
    },
    /// An opening brace without its closing one, or the other way round. Braces are doubled to mean themselves.
    #[error("a brace is not closed; double it to mean the brace itself")]
    LooseBrace,
    /// Nothing but white space.
    #[error("the message would be empty")]
    Empty,
}

impl Default for MessageTemplate {
    /// `Merge feature {feature}`.
    fn default() -> Self {
        Self(vec![Piece::Text("Merge feature ".to_owned()), Piece::Place(Place::Feature)])
    }
}

impl MessageTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`MessageError`], for the one who wrote it.
    pub fn parse(text: &str) -> Result<Self, MessageError> {
        if text.trim().is_empty() {
            return Err(MessageError::Empty);
        }
        let (mut pieces, mut plain) = (Vec::new(), String::new());
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            let after = &rest[at + 1..];
            if let Some(after) = after.strip_prefix(brace) {
                plain.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) =
                after.split_once('}').filter(|_| brace == "{").ok_or(MessageError::LooseBrace)?;
            let known = PLACES.iter().find(|(known, _)| *known == name);
            let (_, place) =
                known.ok_or_else(|| MessageError::UnknownPlace { name: name.to_owned() })?;
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Place(*place));
            rest = after;
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Ok(Self(pieces))
    }

    /// The message, with trailers in a last paragraph of their own. Control characters in values become spaces: a title
    /// cannot add lines, and so no trailers either.
    pub fn render(&self, values: &MessageValues, trailers: &[(String, String)]) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Place(place) => text.push_str(&one_line(values.of(*place))),
            }
        }
        with_trailers(&text, trailers)
    }
}

impl MessageValues {
    fn of(&self, place: Place) -> &str {
        match place {
            Place::Feature => &self.feature,
            Place::Title => &self.title,
            Place::Run => &self.run,
            Place::Target => &self.target,
            Place::Branch => &self.branch,
        }
    }
}

/// A message with trailers, which join a block of trailers that it ends with.
pub(crate) fn with_trailers(message: &str, trailers: &[(String, String)]) -> String {
    let mut text = message.trim().to_owned();
    text.push('\n');
    if trailers.is_empty() {
        return text;
    }
    let last = text.trim_end().rsplit_once("\n\n").map(|(_, last)| last);
    if !last.is_some_and(|block| block.lines().all(is_trailer)) {
        text.push('\n');
    }
    for (key, value) in trailers {
        push_trailer(&mut text, &one_line(key), &one_line(value));
    }
    text
}

fn push_trailer(text: &mut String, key: &str, value: &str) {
    use fmt::Write;
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{key}: {value}");
}

fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn values() -> MessageValues {
        MessageValues {
            feature: "berths".into(),
            title: "A table\n\nTidegate-Run: forged".into(),
            run: "r1".into(),
            target: "main".into(),
            branch: "tidegate/r1/berths".into(),
        }
    }

    #[test]
    fn default_message_names_the_feature_and_ends_with_its_trailers() {
        let trailers = [("Tidegate-Run".to_owned(), "r1".to_owned())];
        let text = MessageTemplate::default().render(&values(), &trailers);
        assert_eq!(text, "Merge feature berths\n\nTidegate-Run: r1\n");
        assert_eq!(MessageTemplate::default().render(&values(), &[]), "Merge feature berths\n");
    }

    #[test]
    fn trailers_join_the_block_that_a_template_ends_with() {
        let template = MessageTemplate::parse("{title} {{x}}\n\nFeature: {feature}\n").unwrap();
        let text = template.render(&values(), &[("Run".to_owned(), "r1\nEvil: x".to_owned())]);
        assert_eq!(text, "A table  Tidegate-Run: forged {x}\n\nFeature: berths\nRun: r1 Evil: x\n");
    }

    #[test]
    fn template_with_a_mistake_is_refused_with_its_name() {
        let error = |text| MessageTemplate::parse(text).unwrap_err();
        assert_eq!(error("Land {id}"), MessageError::UnknownPlace { name: "id".into() });
        assert_eq!(error("Land {feature"), MessageError::LooseBrace);
        assert_eq!(error("Land feature}"), MessageError::LooseBrace);
        assert_eq!(error(" \n"), MessageError::Empty);
    }
}
