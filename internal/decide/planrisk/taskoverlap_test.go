package planrisk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestMeetings(t *testing.T) {
	task := func(id nexus.TaskID, brief string, needs ...nexus.TaskID) nexus.Task {
		return nexus.Task{ID: id, Title: "Do " + string(id), Brief: brief, Needs: needs}
	}
	tied := func(t nexus.Task, tie nexus.DependencyReason) nexus.Task {
		t.Ties = nexus.DependencyReasons{}
		for _, id := range t.Needs {
			t.Ties[id] = tie
		}
		return t
	}
	for name, c := range map[string]struct {
		tasks []nexus.Task
		want  []string
	}{
		"a contract by name":        {[]nexus.Task{task("T1", "Add ParseSize(text string)."), tied(task("T2", "Print it with ParseSize.", "T1"), nexus.TieAPI)}, nil},
		"a plain name":              {[]nexus.Task{task("T1", "Make it with Size, in bytes."), tied(task("T2", "Print what Size says.", "T1"), nexus.TieAPI)}, nil},
		"an open contract":          {[]nexus.Task{task("T1", "Read sizes."), tied(task("T2", "Print what was read.", "T1"), nexus.TieAPI)}, []string{"T2 T1 it relies on what T1 makes (api), and no name is in both"}},
		"an open schema":            {[]nexus.Task{task("T1", "Store sizes."), tied(task("T2", "Print them.", "T1"), nexus.TieSchema)}, []string{"T2 T1 it relies on what T1 makes (schema)"}},
		"it only waits":             {[]nexus.Task{task("T1", "Read sizes."), task("T2", "Print what was read.", "T1")}, nil},
		"a contract of its own":     {[]nexus.Task{task("T0", "Fix `GET /sizes`."), task("T1", "Serve `GET /sizes`.", "T0"), tied(task("T2", "Show `GET /sizes`.", "T1", "T0"), nexus.TieAPI)}, nil},
		"side by side":              {[]nexus.Task{task("T1", "Add the function ParseSize."), task("T2", "Call ParseSize.")}, []string{"T2 T1 it names ParseSize, which T1 makes, and does not wait for it"}},
		"side by side, a route":     {[]nexus.Task{task("T1", "Add the endpoint /sizes/{id}."), task("T2", "Fetch /sizes/{id} and show it.")}, []string{"T2 T1 it names /sizes/{id}, which T1 makes"}},
		"side by side, fixed first": {[]nexus.Task{task("T0", "Declare the interface of ParseSize."), task("T1", "Implement ParseSize.", "T0"), task("T2", "Call ParseSize.", "T0")}, nil},
		"what both know":            {[]nexus.Task{task("T1", "Speed up ParseSize."), task("T2", "Call ParseSize.")}, nil},
		"a product":                 {[]nexus.Task{task("T1", "Add GitHub login."), task("T2", "Link to GitHub.")}, nil},
		"in a circle":               {[]nexus.Task{task("T1", "Add ParseSize.", "T2"), task("T2", "Call ParseSize.", "T1")}, nil},
	} {
		var got []string
		for _, m := range planrisk.FindOverlaps(c.tasks) {
			got = append(got, fmt.Sprintf("%s %s %s", m.Task, m.Other, m.Text))
		}
		same := len(got) == len(c.want)
		for i := range got {
			same = same && strings.HasPrefix(got[i], c.want[i])
		}
		if !same {
			t.Errorf("%s (-want +got)\n%s", name, cmp.Diff(c.want, got))
		}
	}
}

func FuzzMeetings(f *testing.F) {
	f.Add("Add `a b`, F( and /x/{y}: GET /x", "call F(")
	f.Fuzz(func(t *testing.T, a, b string) {
		tasks := []nexus.Task{{ID: "A", Brief: a}, {ID: "B", Brief: b, Needs: []nexus.TaskID{"A"}}, {ID: "C", Brief: b}}
		for _, m := range planrisk.FindOverlaps(tasks) {
			if m.Task == m.Other || m.Task == "" || m.Text == "" {
				t.Errorf("%+v", m)
			}
		}
	})
}
