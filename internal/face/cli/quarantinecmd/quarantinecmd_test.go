package quarantinecmd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quarantinecmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, quarantinecmd.NewList, map[string]*quarantinecmd.ListOptions{"": {}, "--json": {}, "x": nil})
	clitest.CheckFlags(t, quarantinecmd.NewSuggest, map[string]*quarantinecmd.SuggestOptions{"": {}, "x": nil, "--days 3": nil})
	clitest.CheckFlags(t, quarantinecmd.NewRemove, map[string]*quarantinecmd.RemoveOptions{
		"TestA": {Test: "TestA"}, "TestA --gate test": {Test: "TestA", Gate: "test"}, "": nil, "TestA TestB": nil,
	})
	clitest.CheckFlags(t, quarantinecmd.NewAdd, map[string]*quarantinecmd.AddOptions{
		"":                             nil,
		"TestA":                        nil,
		"TestA --days 3":               nil,
		"TestA --why slow":             nil,
		"TestA --why slow --days 0":    nil,
		"TestA --why slow --days -1":   nil,
		"TestA --why slow --until May": nil,
		"TestA --why slow --days 3 --until 2026-05-01": nil,
		"TestA TestB --why slow --days 3":              nil,
	})
	o, err := clitest.ParseOptions(t, quarantinecmd.NewAdd, "TestA", "--why", " slow ", "--days", "3", "--gate", "test", "--owner", "ada", "--issue", "#4")
	if err != nil {
		t.Fatal(err)
	}
	e := o.Entry
	if e.Until != e.Since.AddDays(3) || e.Test != "TestA" || e.Reason != "slow" || e.Gate != "test" || e.Owner != "ada" || e.Issue != "#4" {
		t.Errorf("%+v", e)
	}
	if o, err := clitest.ParseOptions(t, quarantinecmd.NewAdd, "TestA", "--why", "slow", "--until", "2026-05-01"); err != nil || o.Entry.Until.String() != "2026-05-01" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestRecord(t *testing.T) {
	quarantine := func(c *console.Console) *cobra.Command { return quarantinecmd.New(c) }
	u := clitest.NewUser(t, map[string]string{"go.mod": "module m\n", "a_test.go": "package m\n\nimport \"testing\"\n\nfunc TestA(*testing.T) {}\n"})
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	u.Now = func() time.Time { return day }
	u.Expect(0, []string{"no test is in quarantine"}, quarantine, "list")
	u.Expect(0, []string{"no flaky tests outside quarantine"}, quarantine, "suggest")
	u.Expect(2, []string{"nexus quarantine list names them"}, quarantine, "remove", "TestA")
	u.Expect(2, []string{"more than 90 days"}, quarantine, "add", "TestA", "--why", "slow", "--days", "91")

	u.Env["NEXUS_MARK"] = "1" // inside a sandbox
	u.Expect(2, []string{"agents may not edit the quarantine list"}, quarantine, "add", "TestA", "--why", "slow", "--days", "3")
	u.Expect(0, []string{"no test is in quarantine"}, quarantine, "list")
	delete(u.Env, "NEXUS_MARK")

	u.Expect(0, []string{"TestA is in quarantine", "Commit .nexus/"}, quarantine, "add", "TestA", "--why", "slow", "--days", "3")
	u.Expect(2, []string{"already has an entry"}, quarantine, "add", "TestA", "--why", "again", "--days", "3")
	u.Expect(0, []string{`"test": "TestGone"`, `"until": "2026-03-05"`}, quarantine, "add", "TestGone", "--why", "gone", "--until", "2026-03-05", "--json")
	u.Expect(0, []string{"active\tTestA\t", "slow", "0 of 0", "no test has that name"}, quarantine, "list")
	day = day.AddDate(0, 0, 4)
	u.Expect(0, []string{"expired\tTestA\t", "its failure counts again", "active\tTestGone"}, quarantine, "list")
	u.Expect(0, []string{`"state": "expired"`, `"judged": 0`}, quarantine, "list", "--json")
	u.Expect(0, []string{"TestGone counts again"}, quarantine, "remove", "TestGone")
	u.Expect(2, []string{"TestA"}, quarantine, "remove", "TestA", "--gate", "test")
	u.Expect(0, []string{`"removed": 1`}, quarantine, "remove", "TestA", "--json")
	if u.Expect(0, []string{"no test is in quarantine"}, quarantine, "list"); strings.Contains(u.Out, "TestA") {
		t.Error(u.Out)
	}
}
