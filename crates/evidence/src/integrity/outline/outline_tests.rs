//! Tests of every language are found by name, with their marks.

use super::super::language::Language;
use super::outline;

/// Name and marks of each test: `s` skipped, `f` focused, `x` inverted, then its assertions.
fn found(text: &str, language: Language) -> Vec<String> {
    let blocks = outline(text, language).blocks;
    let tests = blocks.iter().filter(|block| block.is_test);
    tests
        .map(|block| {
            let mark = |on, letter| if on { letter } else { "" };
            let skip = mark(block.skip.is_some(), "s");
            let focus = mark(block.focus.is_some(), "f");
            let inverted = mark(block.inverted.is_some(), "x");
            format!("{} {skip}{focus}{inverted}{}", block.name, block.effective().count())
        })
        .collect()
}

#[test]
fn rust_tests_are_found() {
    let text = "fn code() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n #[test]\n #[ignore = \"slow\"]\n \
        fn a() { assert!(x); }\n #[tokio::test]\n async fn b<T>() -> R { assert_eq!(1, x); }\n \
        // #[test]\n // fn c() {}\n #[test] #[should_panic(expected = \"z\")] fn d() { go(); }\n \
        fn helper() { assert!(q) }\n #[cfg(any())] #[test] fn e() {}\n}\n\
        #[cfg(never)] mod more { #[test] fn g() {} }";
    let expected = ["a s1", "b 1", "d x0", "e s0", "g s0"];
    assert_eq!(found(text, Language::Rust), expected);
}

#[test]
fn script_tests_are_found() {
    let text = "describe('sum', () => {\n  it('adds', () => { expect(a).toBe(1); });\n  \
        it.skip('b', async () => {});\n  xit('c', function () { expect(q).toBe(2) });\n  \
        it.each([1, 2])('d %i', (n) => { expect(f(n)).toBe(n) });\n  test.only(`e`, () => {});\n\
        });\ndescribe.skip('off', () => { it('f', () => {}) });\nif (/x/.test('it')) {}\n\
        // it('g', () => {})\nconst s = \"it('h', () => {})\";\nit.todo('i');\n";
    let expected = [
        "sum > adds 1",
        "sum > b s0",
        "sum > c s1",
        "sum > d %i 1",
        "sum > e f0",
        "off > f s0",
        "i s0",
    ];
    assert_eq!(found(text, Language::Script), expected);
}

#[test]
fn python_tests_are_found() {
    let text = "import pytest\n\n@pytest.mark.skip(reason='x')\ndef test_a():\n    assert f() == 1\n\n\
        class TestB:\n    def test_b(self):\n        assert g()\n\n    async def test_c(self):\n        \
        pytest.skip('later')\n\n    def helper(self):\n        assert h()\n\n\
        @unittest.skipIf(True, 'y')\nclass TestD:\n    def test_d(self):\n        pass\n\n\
        # def test_e(): pass\n\"\"\"\ndef test_f():\n    pass\n\"\"\"\n";
    let expected = ["test_a s1", "TestB.test_b 1", "TestB.test_c s0", "TestD.test_d s0"];
    assert_eq!(found(text, Language::Python), expected);
    assert_eq!(
        found("pytestmark = pytest.mark.skip\ndef test_a():\n    pass\n", Language::Python),
        ["test_a s0"]
    );
}

#[test]
fn go_java_ruby_and_shell_tests_are_found() {
    let go = "package x\n\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"x\")\n\t}\n}\n\n\
        func TestB(t *testing.T) {\n\tt.Skip(\"later\")\n}\nfunc check(t *testing.T) {}\n";
    assert_eq!(found(go, Language::Go), ["TestA 1", "TestB s0"]);
    let tagged = format!("//go:build ignore\n\n{go}");
    assert_eq!(found(&tagged, Language::Go)[0], "TestA s1");
    let java = "class A {\n  @Test\n  @Disabled(\"x\")\n  void a() { assertEquals(1, f(x)); }\n  \
        @Test void b() throws E { if (x) { assertTrue(y); } }\n  void c() { assertTrue(z); }\n}\n\
        @Disabled class B { @Test fun `d e`() { } }";
    assert_eq!(found(java, Language::Java), ["a s1", "b 1", "d e s0"]);
    let ruby = "describe 'x' do\n  it 'a' do\n    expect(f).to eq(1)\n  end\n\n  xit 'b' do\n    z\n  end\nend\n\
        class T < Minitest::Test\n  def test_c\n    assert_equal 1, f(2)\n  end\n\n  def help\n  end\nend\n";
    assert_eq!(found(ruby, Language::Ruby), ["a 1", "b s0", "test_c 1"]);
    let shell = "set -e\ntest_a() {\n  [ \"$x\" = 1 ]\n}\n@test \"b c\" {\n  skip\n  [ -f y ]\n}\n";
    assert_eq!(found(shell, Language::Shell), ["test_a 1", "b c s1", "(script) 0"]);
}
