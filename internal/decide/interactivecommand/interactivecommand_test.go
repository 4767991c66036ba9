package interactivecommand

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/waits.txt
var waits string

//go:embed testdata/goes.txt
var goes string

func TestExplain(t *testing.T) {
	used := map[string]bool{}
	for line := range strings.Lines(waits) {
		got := ExplainInputWait(line)
		name, advice, ok := strings.Cut(got, " waits for a person, and no person is available: ")
		if !ok || advice == "" {
			t.Errorf("%s: %q", strings.TrimSpace(line), got)
		}
		used[name] = true
	}
	for line := range strings.Lines(goes) {
		if got := ExplainInputWait(line); got != "" {
			t.Errorf("%s: %q", strings.TrimSpace(line), got)
		}
	}
	if len(used) < 40 {
		t.Errorf("only %d commands are shown", len(used))
	}
	for _, line := range []string{"", "'", "vim '", strings.Repeat("true;", 5000) + "vim"} {
		if got := ExplainInputWait(line); got != "" {
			t.Errorf("%.20s: %q", line, got)
		}
	}
}

func TestTable(t *testing.T) {
	for _, r := range readCommandRules() {
		if !slices.Contains([]string{"always", "only", "unless", "bare", "few"}, r.when) || len(r.words) == 0 || r.advice == "" {
			t.Errorf("%+v", r)
		}
		if (r.when == "only" || r.when == "unless") && len(r.options) == 0 || r.when == "always" && len(r.options) > 0 {
			t.Errorf("%+v", r)
		}
	}
}

func FuzzExplain(f *testing.F) {
	for _, s := range []string{"vim x", "a | b", "x=$(vim)", "<<X python\nX", "{ vim; } < x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := ExplainInputWait(line)
		if got != "" && !strings.Contains(got, "waits for a person") {
			t.Errorf("%q: %q", line, got)
		}
	})
}
