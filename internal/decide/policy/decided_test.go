package policy

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestDecided holds which commands that people type are refused, and how many of
// the hostile ones each rule refuses: a change that refuses more of the one, less
// of the other, or for another reason shows here.
func TestDecided(t *testing.T) {
	rules := tree()
	rules.Caches = []string{"/home/ada/go/pkg/mod"}
	var b strings.Builder
	for _, file := range []string{"ordinary.txt", "typed.txt", "typed-hard.txt"} {
		fmt.Fprintf(&b, "# Refused of %s.\n", file)
		for _, command := range lines(t, file) {
			if file != "ordinary.txt" {
				_, command, _ = strings.Cut(command, " | ")
			}
			if d := JudgeCommand(command, rules); !d.IsAllowed() {
				fmt.Fprintf(&b, "%s %s | %s\n", d.Decision, d.Rule, strings.ReplaceAll(command, "\n", "<NL>"))
			}
		}
	}
	fmt.Fprintf(&b, "# Of hostile.txt, by rule.\n")
	of := map[string]int{}
	for _, command := range lines(t, "hostile.txt") {
		d := JudgeCommand(command, rules)
		of[string(d.Decision)+" "+d.Rule]++
	}
	for _, rule := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "%s: %d\n", rule, of[rule])
	}
	const golden = "testdata/decided.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
