//! The grammar of a Markdown plan's headings: `## Wave 2: name` and `### id: title`.

use crate::span::Span;

/// A heading that opens a wave; spans count from the start of the heading's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WaveHeading {
    /// The number and its place.
    pub(crate) number: Option<(u32, Span)>,
    /// The place of the name.
    pub(crate) name: Option<Span>,
}

/// Reads `Wave`, `Wave 2`, `Wave: name` or `Wave 2: name`.
pub(crate) fn wave_heading(text: &str) -> Option<WaveHeading> {
    let word = text.get(..4).filter(|word| word.eq_ignore_ascii_case("wave"))?;
    let rest = &text[word.len()..];
    let digits_at = word.len() + (rest.len() - rest.trim_start().len());
    let digits = text[digits_at..].bytes().take_while(u8::is_ascii_digit).count();
    let number = if digits > 0 && digits_at > word.len() {
        let span = digits_at..digits_at + digits;
        Some((text[span.clone()].parse().ok()?, span))
    } else {
        None
    };
    let after = number.as_ref().map_or(word.len(), |(_, span)| span.end);
    let tail = text[after..].trim_start();
    if tail.is_empty() {
        return Some(WaveHeading { number, name: None });
    }
    let colon = tail.strip_prefix(':').or_else(|| tail.strip_prefix('：'))?;
    let name = colon.trim();
    let start = text.len() - colon.trim_start().len();
    let name = (!name.is_empty()).then(|| start..start + name.len());
    Some(WaveHeading { number, name })
}

/// Whether a heading was probably meant to open a wave.
pub(crate) fn is_wave_like(text: &str) -> bool {
    let word: String = text.chars().take_while(|c| c.is_alphabetic()).collect();
    crate::near::near_miss(&word, ["wave", "waves"]).is_some()
        || word.eq_ignore_ascii_case("wave")
        || word.eq_ignore_ascii_case("waves")
}

/// Reads `id` or `id: title`; the id may stand in back quotes. Places of both.
pub(crate) fn feature_heading(text: &str) -> (Span, Option<Span>) {
    let colon = text.char_indices().find(|(_, c)| matches!(c, ':' | '：'));
    let (id_end, title) = match colon {
        Some((at, c)) => {
            let tail = &text[at + c.len_utf8()..];
            let start = text.len() - tail.trim_start().len();
            let title = tail.trim();
            (at, (!title.is_empty()).then(|| start..start + title.len()))
        }
        None => (text.len(), None),
    };
    let mut id = 0..text[..id_end].trim_end().len();
    let shown = &text[id.clone()];
    if shown.len() > 2 && shown.starts_with('`') && shown.ends_with('`') {
        id = 1..id.end - 1;
    }
    (id, title)
}

#[cfg(test)]
mod tests {
    use super::{feature_heading, is_wave_like, wave_heading};

    #[test]
    fn wave_heading_in_each_form_is_read() {
        for (text, number, name) in [
            ("Wave", None, None),
            ("Wave 2", Some(2), None),
            ("wave: sea", None, Some("sea")),
            ("Wave 10 : the sea: b", Some(10), Some("the sea: b")),
            ("Wave：海", None, Some("海")),
        ] {
            let heading = wave_heading(text);
            let found = heading.as_ref().and_then(|h| h.number.as_ref()).map(|(n, _)| *n);
            assert_eq!(found, number, "{text}");
            let found = heading.and_then(|h| h.name).map(|span| &text[span]);
            assert_eq!(found, name, "{text}");
        }
    }

    #[test]
    fn wave_heading_of_another_form_is_none() {
        for text in ["Waves", "Wave 1 - sea", "Wave1: x", "Waveform", "Wav", "", "é", "日本語"]
        {
            assert_eq!(wave_heading(text), None, "{text}");
        }
        assert!(is_wave_like("Wav: x") && is_wave_like("Wave 1 - sea") && !is_wave_like("Notes"));
    }

    #[test]
    fn feature_heading_splits_id_and_title() {
        for (text, id, title) in [
            ("berths", "berths", None),
            ("`berths` : Read: all", "berths", Some("Read: all")),
            ("a b", "a b", None),
            (": x", "", Some("x")),
        ] {
            let (found, rest) = feature_heading(text);
            assert_eq!((&text[found], rest.map(|span| &text[span])), (id, title), "{text}");
        }
    }
}
