//! Assertions of every language: found, ranked, and not taken from comments and strings.

use super::super::language::Language;
use super::super::lexer::lex;
use super::{Strength, assertions};

fn strengths(text: &str, language: Language) -> Vec<Strength> {
    assertions(&lex(text, language), language).iter().map(|found| found.strength).collect()
}

#[test]
fn rust_macros_are_ranked() {
    use Strength::{Condition, Exact, Existence, Nothing};
    let text = "assert_eq!(f(a, 1), 2, \"why\"); assert!(x.is_ok()); assert!(a == b);
        assert!(true); assert_eq!(x, x); prop_assert!(a < b); // assert!(c)
        let s = \"assert!(d)\"; check_all(&x); insta::assert_snapshot!(y);";
    let expected = [Exact, Existence, Exact, Nothing, Nothing, Condition, Condition, Exact];
    assert_eq!(strengths(text, Language::Rust), expected);
}

#[test]
fn script_chains_are_one_assertion() {
    use Strength::{Condition, Exact, Existence, Nothing};
    let text = "expect(add(1, 2)).toBe(3); expect(true).toBe(true); expect(x).toBe(x);
        await expect(p).rejects.toThrow('no'); expect(x).not.toBeNull(); expect(ok).toBe(true);
        expect(f(x)).toBeGreaterThan(2); assert.deepEqual(a, [1]); assert(x); expect.assertions(2);
        expect(x)";
    let expected = [
        Exact, Nothing, Nothing, Exact, Existence, Condition, Condition, Exact, Condition, Nothing,
    ];
    assert_eq!(strengths(text, Language::Script), expected);
}

#[test]
fn python_statements_and_methods_are_ranked() {
    use Strength::{Condition, Exact, Existence, Nothing};
    let text = "assert f(\n    a,\n) == 3, 'why'\nassert True\nassert x is not None\n
self.assertEqual(f(x), 4)\nself.assertTrue(x)\nself.assertEqual(1, 1)\nself.assertIsNotNone(x)
with pytest.raises(ValueError):\n    g()\nwith pytest.raises(Exception):\n    g()\n";
    let expected =
        [Exact, Nothing, Existence, Exact, Condition, Nothing, Existence, Exact, Condition];
    assert_eq!(strengths(text, Language::Python), expected);
}

#[test]
fn go_conditions_belong_to_their_failures() {
    use Strength::{Condition, Exact, Existence, Nothing};
    let text = "if got := f(); got != 3 { t.Errorf(\"x\") }\nif err != nil { t.Fatal(err) }
        if false { t.Error(1) }\nassert.Equal(t, 1, f(x))\nrequire.NoError(t, err)
        if x > 3 { t.Fatalf(\"y\") }\nassert.True(t, true)";
    let expected = [Exact, Existence, Nothing, Exact, Existence, Condition, Nothing];
    assert_eq!(strengths(text, Language::Go), expected);
}

#[test]
fn java_ruby_and_shell_are_ranked() {
    use Strength::{Condition, Exact, Existence, Nothing};
    let java = "assertEquals(3, f(x)); assertTrue(true); assertThat(f(x)).isEqualTo(3);
        assertNotNull(x); Assert.assertEquals(1, 1); verify(m).go();";
    let expected = [Exact, Nothing, Exact, Existence, Nothing, Condition];
    assert_eq!(strengths(java, Language::Java), expected);
    let ruby = "assert_equal 3, f(x)\nassert true\nexpect(f(x)).to eq(3)\nrefute_nil x\n";
    assert_eq!(strengths(ruby, Language::Ruby)[..3], [Exact, Nothing, Exact]);
    let shell = "[ \"$a\" = \"3\" ] || exit 1\n[ 1 -eq 1 ]\n[ -f x ]\ngrep -q a b\n# [ 1 = 2 ]\n";
    let expected = [Exact, Condition, Nothing, Existence, Condition];
    assert_eq!(strengths(shell, Language::Shell), expected);
}
