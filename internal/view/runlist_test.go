package view

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestGoing(t *testing.T) {
	run := func(id string, held bool, asks ...string) UnfinishedRunRow {
		r := RunView{ID: nexus.RunID(id), Status: nexus.StatusExecuting, Goal: "Do " + id}
		if held {
			r.Held = &nexus.RunProcess{PID: 7}
		}
		for _, q := range asks {
			r.Asks, r.Waiting = append(r.Asks, OpenQuestion{ID: q}), r.Waiting+1
		}
		return UnfinishedRunRow{Repository: "/home/ada/\x1b[1m" + id, RunView: r}
	}
	all := []UnfinishedRunRow{run("gone", false), run("works", true), run("asks", false, "q2", "q3", "q4"), run("too", true), run("waits", true, "q1")}
	SortByUrgency(all)
	var order []string
	for _, g := range all {
		order = append(order, string(g.ID))
	}
	if got, want := strings.Join(order, " "), "asks waits works too gone"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := strings.TrimPrefix(`
repository	run	status	needs you	landed	money	time	process	goal
/home/ada/\x1b[1masks	asks	executing	q2 and 2 more	0/0	$0.00	0s	-	Do asks
/home/ada/\x1b[1mwaits	waits	executing	q1	0/0	$0.00	0s	7	Do waits
`, "\n")
	if got := DrawUnfinishedRuns(OutputStyle{Plain: true}, all[:2], true); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := DrawUnfinishedRuns(OutputStyle{Plain: true}, nil, true); got != "" {
		t.Errorf("%q", got)
	}
}
