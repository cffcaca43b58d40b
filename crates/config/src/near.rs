//! Near misses: which known word a user may have meant, and how a foreign text is quoted safely.

/// Characters of a foreign text that a message shows.
const QUOTE_CHARS_MAX: usize = 60;
/// Longer words than this are not compared.
const WORD_BYTES_MAX: usize = 64;

/// The known word closest to `word`, if it is close enough to be a slip of the hand.
pub(crate) fn near_miss<'w>(
    word: &str,
    known: impl IntoIterator<Item = &'w str>,
) -> Option<&'w str> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let folded = fold(word);
    known
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| (strsim::osa_distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| {
            let shorter = candidate.chars().count().min(folded.chars().count());
            *distance <= (shorter.saturating_sub(1) / 2).min(3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn fold(word: &str) -> String {
    word.to_lowercase().replace(['-', ' '], "_")
}

/// A hint that names the near miss, or else the known words.
pub(crate) fn hint_for<'w>(word: &str, known: impl IntoIterator<Item = &'w str> + Clone) -> String {
    if let Some(meant) = near_miss(word, known.clone()) {
        return format!("did you mean `{meant}`?");
    }
    let all: Vec<&str> = known.into_iter().collect();
    match all.len() {
        0 => String::new(),
        1..=24 => format!("known: {}", all.join(", ")),
        count => format!("known are {count} others, such as {}", all[..8].join(", ")),
    }
}

/// `text` in back quotes, with control characters escaped and its tail cut.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == QUOTE_CHARS_MAX {
            shown.push('…');
            break;
        }
        if is_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.push('`');
    shown
}

/// Whether a character would not show, or would reorder what stands around it.
pub(crate) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            u32::from(character),
            0x061c | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb
        )
}
