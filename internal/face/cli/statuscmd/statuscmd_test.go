package statuscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/statuscmd"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		form  statuscmd.Form
		shape string
		file  string
		wrong bool
	}{
		"nothing":            {},
		"a task":             {args: []string{"T1", "--run", "abc"}},
		"result":             {args: []string{"--result"}, form: statuscmd.Result},
		"report":             {args: []string{"--report", "abc"}, form: statuscmd.Report},
		"html":               {args: []string{"--html", "r.html"}, form: statuscmd.Report, shape: "html", file: "r.html"},
		"html printed":       {args: []string{"--html", "-"}, form: statuscmd.Report, shape: "html"},
		"state in a file":    {args: []string{"--state", "-o", "S.md"}, form: statuscmd.Report, shape: "state", file: "S.md"},
		"report as json":     {args: []string{"--report", "--json"}, form: statuscmd.Report, shape: "json"},
		"commit":             {args: []string{"--commit", "HEAD"}, form: statuscmd.Evidence},
		"raw":                {args: []string{"T1.1/coder.1", "--raw"}, form: statuscmd.Raw},
		"raw result":         {args: []string{"T1.1/coder.1", "--raw", "--result"}, form: statuscmd.Raw},
		"raw report":         {args: []string{"T1.1/coder.1", "--raw", "--report"}, wrong: true},
		"raw of a task":      {args: []string{"T1", "--raw"}, wrong: true},
		"raw json":           {args: []string{"T1.1/coder.1", "--raw", "--json"}, wrong: true},
		"two forms":          {args: []string{"--evidence", "--trace"}, wrong: true},
		"two shapes":         {args: []string{"--md", "--csv"}, wrong: true},
		"unknown shape":      {args: []string{"--format", "pdf"}, wrong: true},
		"json in a file":     {args: []string{"--format", "json", "-o", "x"}, wrong: true},
		"evidence as html":   {args: []string{"--evidence", "--html", "-"}, wrong: true},
		"commit with a run":  {args: []string{"--commit", "HEAD", "abc"}, wrong: true},
		"commit of a report": {args: []string{"--commit", "HEAD", "--report"}, wrong: true},
		"two names":          {args: []string{"T1", "T2"}, wrong: true},
	} {
		o, err := clitest.ParseOptions(t, statuscmd.New, c.args...)
		if (err != nil) != c.wrong {
			t.Errorf("%s: error %v", name, err)
		}
		if err == nil && (o.Form != c.form || o.Report.Shape != c.shape || o.Report.File != c.file) {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return statuscmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command)
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"run 260101-000000-abc, the latest\n"}, command)
	u.Expect(0, []string{"!the latest\n"}, command, "abc")
	u.Expect(0, []string{`"run": "260101-000000-abc"`, "!the latest\n"}, command, "--json")
	u.Expect(0, []string{`"attempts"`, `"run": "260101-000000-abc"`}, command, "T1", "--json")
	u.Expect(0, []string{"# "}, command, "--report")
	u.Expect(0, []string{"<html"}, command, "--html", "-", "abc")
	u.Expect(2, []string{"is about a whole run"}, command, "--report", "T1")
	u.Expect(2, []string{`no run "T99"`, "The tasks of run 260101-000000-abc: T1"}, command, "T99")
	u.Expect(2, []string{"no session"}, command, "T1.1/nobody.1")
	u.Expect(2, []string{`no run "T99"`, "The specs of a repository are in", `!no run "T99", and run 260101-000000-abc has no such task or attempt:`}, command, "--trace", "T99")
}
