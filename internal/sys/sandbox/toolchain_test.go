package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTongue asks tools for English, and leaves how they sort, and which
// letters they know, to whoever runs them.
func TestTongue(t *testing.T) {
	for name, c := range map[string]struct{ host, want []string }{
		"nothing is set":        {nil, nil},
		"a language":            {[]string{"LANG=de_DE.UTF-8", "LANGUAGE=de:fr", "LC_MESSAGES=de_DE.UTF-8"}, []string{"LANG=de_DE.UTF-8"}},
		"one for everything":    {[]string{"LANG=C", "LC_ALL=fr_FR.UTF-8", "LC_COLLATE=C"}, []string{"LANG=fr_FR.UTF-8", "LC_COLLATE=fr_FR.UTF-8", "LC_CTYPE=fr_FR.UTF-8"}},
		"an order of its own":   {[]string{"LANG=ja_JP.UTF-8", "LC_COLLATE=C"}, []string{"LANG=ja_JP.UTF-8", "LC_COLLATE=C"}},
		"everything, but empty": {[]string{"LANG=ja_JP.UTF-8", "LC_ALL="}, []string{"LANG=ja_JP.UTF-8"}},
	} {
		var got []string
		for _, e := range boxToolEnv(c.host, nil) {
			if strings.HasPrefix(e, "LANG") || strings.HasPrefix(e, "LC_") && e != "LC_MESSAGES=C" {
				got = append(got, e)
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if !slices.Contains(boxToolEnv(c.host, nil), "LC_MESSAGES=C") {
			t.Errorf("%s: tools speak any language", name)
		}
	}
}

// TestPlain lets gates see nothing of what people set for their terminal, and
// what a project may depend on as the host has it.
func TestPlain(t *testing.T) {
	host := []string{"NO_COLOR=1", "FORCE_COLOR=1", "TERM=dumb", "PAGER=less", "COLORTERM=truecolor", "CI=yes", "SECRET=x"}
	got := map[string]string{}
	for _, name := range []string{"NO_COLOR", "FORCE_COLOR", "TERM", "PAGER", "GIT_PAGER", "COLORTERM", "CI", "SECRET"} {
		if v, ok := lookupVar(boxToolEnv(host, nil), name); ok {
			got[name] = v
		}
	}
	if d := cmp.Diff(map[string]string{"TERM": "xterm", "CI": "yes"}, got); d != "" {
		t.Error(d)
	}
	if _, ok := lookupVar(boxToolEnv(nil, nil), "CI"); ok {
		t.Error("a host that says nothing of CI has it")
	}
}
