package sanitize_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain\ttext\nline\n":     "plain\ttext\nline\n",
		"a\r\nb\r\n":              "a\nb\n",
		"a\rb":                    "a<U+000D>b",
		"\x1b[31mred\x1b[0m":      "<U+001B>[31mred<U+001B>[0m",
		"if x \u202e} \u2066 y":   "if x <U+202E>} <U+2066> y",
		"hi\U000e0041\U000e007f.": "hi<U+E0041><U+E007F>.",
		"a\u200bb\ufeffc\u00add":  "a<U+200B>b<U+FEFF>c<U+00AD>d",
		"a\u200db":                "a<U+200D>b",
		"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645":        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
		"\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f",
		"a\ufe0fb 1\ufe0f\u20e3 \u2764\ufe0f\ufe0e":               "a<U+FE0F>b 1\ufe0f\u20e3 \u2764\ufe0f<U+FE0E>",
		"\u2764\ufe0f\u200d\U0001f525":                            "\u2764\ufe0f\u200d\U0001f525",
		"a\ufe0f\u200d\U0001f525 \u0645\u200b\u200d\u0645":        "a<U+FE0F><U+200D>\U0001f525 \u0645<U+200B><U+200D>\u0645",
		"x\u2028y\u2029":         "x<U+2028>y<U+2029>",
		"\u3164\u115f":           "<U+3164><U+115F>",
		"v\U000e0101w":           "v<U+E0101>w",
		"bad \xff\xfe bytes":     "bad \uFFFD bytes",
		"\u0085\u009b31m":        "<U+0085><U+009B>31m",
		"caf\u00e9 \u4e16\u754c": "caf\u00e9 \u4e16\u754c",
	} {
		if got := sanitize.RevealHidden(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd...", "abc\u00e9": "abc...", "abcd\xff": "abcd...", "\u4e16\u754c": "\u4e16..."} {
		if got := sanitize.TruncateText(in, 4); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb":                                   "a\nb",
		"\x1b[1;31mFAIL\x1b[0m ok\n":             "FAIL ok\n",
		"10%\r50%\r100%\ndone\r\n":               "100%\ndone\n",
		"\x1b]8;;http://x\x07link\x1b]8;;\x1b\\": "link",
		"\x1b]52;c;aGk=\x07x":                    "x",
		"\x1b]0;never ends\nstill here":          "0;never ends\nstill here",
		"\x1b(Bx\x1b=y\x1b":                      "xy",
		"\x1b[31":                                "",
		"\x1b[3\nred":                            "\nred",
		"\u009b31mred":                           "red",
		"\x1bP1$r\x1b\\z":                        "z",
		"caf\u00e9\x1b[K\xff":                    "caf\u00e9\xff",
	} {
		if got := sanitize.StripTerminalControls(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestTerminalIsLinear reads what begins a string without ever ending one.
func TestTerminalIsLinear(t *testing.T) {
	for _, unit := range []string{"\x1b]", "\u009d", "\x1bP", "\x1b[1;", "\r"} {
		if got := sanitize.StripTerminalControls(strings.Repeat(unit, 1<<20)); len(got) > 2<<20 {
			t.Errorf("%q: %d bytes", unit, len(got))
		}
	}
}

func FuzzShow(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "\x1b[31m", "\u202e", "\u200d\u200d", "x\u200cy", "\xff\r", "\U000e0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := sanitize.RevealHidden(text)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, sanitize.IsHiddenCharacter) {
			t.Errorf("%q is shown as %q", text, shown)
		}
		if again := sanitize.RevealHidden(shown); again != shown {
			t.Errorf("%q is shown as %q, and that as %q", text, shown, again)
		}
		if strings.Count(shown, "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has other lines than %q", shown, text)
		}
		left := sanitize.StripTerminalControls(text)
		if strings.Count(left, "\x1b") > 0 || len(left) > len(text) {
			t.Errorf("of %q %q is left", text, left)
		}
	})
}

func BenchmarkShow(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 30_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_ = sanitize.RevealHidden(text)
	}
}

// FuzzFence wants what is between fences never to close them, and nothing hidden in it.
func FuzzFence(f *testing.F) {
	f.Add("a\n```\nb````")
	f.Add("``\u200b`") // a row once what nobody sees is dropped
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(sanitize.FenceUntrustedText("text", text), "\n")
		fence := strings.TrimSuffix(lines[0], "text")
		if strings.Trim(fence, "`") != "" || lines[len(lines)-1] != fence {
			t.Fatalf("%q", lines)
		}
		for _, l := range lines[1 : len(lines)-1] {
			if strings.ContainsFunc(l, func(r rune) bool { return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) }) {
				t.Errorf("%q has what nobody sees", l)
			}
			if strings.Contains(l, fence) {
				t.Errorf("%q closes %q", l, fence)
			}
		}
	})
}
