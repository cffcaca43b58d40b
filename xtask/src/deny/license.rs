//! Licence expressions as packages give them: whether a list of allowed licences satisfies one.

/// Whether `expression` can be satisfied by `allowed` alone. An empty or unreadable one cannot.
pub(super) fn permitted(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = Words { words: spaced.split_whitespace().collect(), at: 0, allowed };
    let verdict = words.either();
    verdict && words.at == words.words.len() && words.at > 0
}

struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl Words<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> bool {
        let mut verdict = self.both();
        while self.takes("OR") {
            verdict |= self.both();
        }
        verdict
    }

    fn both(&mut self) -> bool {
        let mut verdict = self.one();
        while self.takes("AND") {
            verdict &= self.one();
        }
        verdict
    }

    fn one(&mut self) -> bool {
        if self.takes("(") {
            let verdict = self.either();
            return self.takes(")") && verdict;
        }
        let Some(name) = self.words.get(self.at).map(ToString::to_string) else { return false };
        self.at += 1;
        let mut full = name.clone();
        if self.takes("WITH") {
            let exception = self.words.get(self.at).copied().unwrap_or_default();
            full = format!("{name} WITH {exception}");
            self.at += 1;
        }
        self.allowed.contains(&full)
    }
}

#[cfg(test)]
mod tests {
    use super::permitted;

    #[test]
    fn expression_is_permitted_when_a_choice_of_it_is() {
        let allowed = ["MIT".to_owned(), "A WITH B".to_owned(), "Zlib".to_owned()];
        for good in ["MIT", "GPL OR MIT", "GPL/MIT", "A WITH B", "(MIT OR GPL) AND Zlib"] {
            assert!(permitted(good, &allowed), "{good}");
        }
        for bad in ["", "GPL", "A", "MIT AND GPL", "MIT MIT", "(MIT", "A WITH C"] {
            assert!(!permitted(bad, &allowed), "{bad}");
        }
    }
}
