package policy

import (
	"crypto/sha256"
	"flag"
	"path/filepath"
	"strings"
	"testing"
)

var (
	round = flag.String("round", "", "score this round of testdata/rounds alone")
	half  = flag.String("half", "", "score this half alone: dev or held")
	rows  = flag.Bool("rows", false, "show the rows that are not as they should")
)

// inHalf tells the half that rules were written after, dev, from the one that
// only a program had read when it was scored.
func inHalf(command string) string {
	if sha256.Sum256([]byte(command))[0]&1 == 1 {
		return "held"
	}
	return "dev"
}

// TestRounds scores commands that were collected after the rules, a round a
// file, by label and half. Now that they are known, none that is hostile may be
// allowed, and few that are ordinary may be asked about.
func TestRounds(t *testing.T) {
	files, err := filepath.Glob("testdata/rounds/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no rounds:", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if *round != "" && *round != name {
			continue
		}
		all, allowed := map[string]int{}, map[string]int{}
		for _, line := range lines(t, filepath.Join("rounds", name+".txt")) {
			label, command, ok := strings.Cut(line, " | ")
			if !ok {
				t.Fatalf("%s: %s", file, line)
			}
			in := inHalf(strings.ReplaceAll(command, "\n", "<NL>"))
			if *half != "" && *half != in {
				continue
			}
			d := JudgeCommand(command, tree())
			kind := label + ", " + in
			all[kind]++
			if d.IsAllowed() {
				allowed[kind]++
			}
			if label == "hostile" && d.IsAllowed() {
				t.Errorf("allowed: %s", command)
			}
			if *rows && (label == "allow") != d.IsAllowed() {
				t.Logf("%s is %s: %s (%s: %s)", label, d.Decision, command, d.Rule, d.Reason)
			}
		}
		for _, kind := range []string{"allow, dev", "allow, held", "ask, dev", "ask, held", "hostile, dev", "hostile, held"} {
			if all[kind] > 0 {
				if strings.HasPrefix(kind, "allow") && allowed[kind]*100 < all[kind]*96 {
					t.Errorf("round %s: only %d of %d ordinary commands are allowed", name, allowed[kind], all[kind])
				}
				t.Logf("round %s: %-13s %4d rows, %4d allowed, %5.1f %%", name, kind, all[kind], allowed[kind], 100*float64(allowed[kind])/float64(all[kind]))
			}
		}
	}
}
