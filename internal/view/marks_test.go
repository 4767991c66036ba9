package view

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestMarks holds that whatever is cut or not shown as it is leaves a mark.
func TestMarks(t *testing.T) {
	narrow := OutputStyle{Width: 12}
	for _, tt := range []struct{ name, in, got, want string }{
		{"escape", "\x1b[31mred", EscapeForTerminal("\x1b[31mred"), `\x1b[31mred`},
		{"bell, null, delete", "a\a\x00\x7fb", EscapeForTerminal("a\a\x00\x7fb"), `a\a\x00\x7fb`},
		{"bidi", "a\u202eb\u2066c", EscapeForTerminal("a\u202eb\u2066c"), `a\u202eb\u2066c`},
		{"zero width", "a\u200bb\ufeffc\u00add", EscapeForTerminal("a\u200bb\ufeffc\u00add"), `a\u200bb\ufeffc\u00add`},
		{"joiner in Latin", "a\u200db\u200cc", EscapeForTerminal("a\u200db\u200cc"), `a\u200db\u200cc`},
		{"selector behind a letter", "a\ufe0fb", EscapeForTerminal("a\ufe0fb"), `a\ufe0fb`},
		{"joiner in a script that has it", "\u0645\u200c\u062e", EscapeForTerminal("\u0645\u200c\u062e"), "\u0645\u200c\u062e"},
		{"tags", "a\U000e0041", EscapeForTerminal("a\U000e0041"), `a\U000e0041`},
		{"filler", "a\u3164b", EscapeForTerminal("a\u3164b"), `a\u3164b`},
		{"separators of lines", "\u2028a\u2029", EscapeForTerminal("\u2028a\u2029"), `\u2028a\u2029`},
		{"next line at the end", "a\u0085", EscapeForTerminal("a\u0085"), `a\u0085`},
		{"bytes that are not UTF-8", "a\xffb\xc3", EscapeForTerminal("a\xffb\xc3"), `a\ufffdb\ufffd`},
		{"lines", "a\x1b\nb\rc\r\nd", EscapeLinesForTerminal("a\x1b\nb\rc\r\nd"), "a\\x1b\nb c\nd"},
		{"line ends of a diff", "+a\r\n-a\n", DrawDiff(OutputStyle{}, "+a\r\n-a\n"), "+a\\r\n-a\n"},
		{"quoted", strings.Repeat("x", 90), QuoteForTerminal(strings.Repeat("x", 90)), `"` + strings.Repeat("x", 77) + `..."`},
		{"line", "one two three", narrow.TruncateLine("one two three"), "one two thr\u2026"},
		{"line in ASCII", "one two three", OutputStyle{Width: 12, ASCII: true}.TruncateLine("one two three"), "one two thr~"},
		{"wide characters", "\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16", narrow.TruncateLine("\u4e16\u754c\u4e16\u754c\u4e16\u754c\u4e16"), "\u4e16\u754c\u4e16\u754c\u4e16\u2026"},
		{"cell", "a long cell", DrawTable(narrow, nil, [][]string{{"x", "a much longer cell"}}), "x  a much l\u2026\n"},
		{"cells", "", DrawTable(narrow, nil, [][]string{{"abcdefghijklm", "abcdefghijklm"}}), "abcdefghijk\u2026\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q is shown as %q, want %q", tt.name, tt.in, tt.got, tt.want)
		}
	}
}

// TestGrave holds that what people must read is not cut on a line, and says so
// where it is cut after ten.
func TestGrave(t *testing.T) {
	s := OutputStyle{Width: 40}
	why := "the tests fail: " + strings.Repeat("word ", 20) + "end"
	e := event(0, nexus.TaskParked{Task: "T1", Why: why})
	text := (&EventLineDrawer{}).Draw(s, e)
	if strings.Join(strings.Fields(text), " ") != "T1: parked: "+strings.Join(strings.Fields(why), " ") {
		t.Errorf("%q", text)
	}
	long := (&EventLineDrawer{}).Draw(s, event(0, nexus.TaskParked{Task: "T1", Why: strings.Repeat("word ", 300)}))
	if strings.Count(long, "\n") != 9 || !strings.HasSuffix(long, "\u2026") {
		t.Errorf("%q", long)
	}
	for line := range strings.Lines(text + "\n" + long + "\n") {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > s.Width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestReportAsks holds that a report has the questions in full, and offers to
// continue only where nobody does.
func TestReportAsks(t *testing.T) {
	r := latest(fold(t, tape()), start)
	if text := DrawReport(OutputStyle{Width: 100}, r, true); !strings.Contains(text, "asks you\n  ?  q1 of T2  Swiss, too?\n") || !strings.Contains(text, "# continue where it stopped") {
		t.Error(text)
	}
	r.Held = &nexus.RunProcess{PID: 7, Host: "h"}
	if text := DrawReport(OutputStyle{Width: 100}, r, true); strings.Contains(text, "# continue where it stopped") || !strings.Contains(text, "nexus status ") {
		t.Error(text)
	}
}
