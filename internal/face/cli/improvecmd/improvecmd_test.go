package improvecmd

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// TestSchedule reads when cycles begin, as cron does: in the time of the place, with a
// day that matches by its date or its weekday where both are given.
func TestSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2026, 11, 27, 12, 30, 15, 0, berlin)
	for watch, want := range map[string]string{
		"0 2 * * *":     "Sat 2026-11-28 02:00:00",
		"0 2 * * 1-5":   "Mon 2026-11-30 02:00:00",
		"*/20 * * * *":  "Fri 2026-11-27 12:40:00",
		"30 12 * * fri": "Fri 2026-12-04 12:30:00",
		"0 0 29 2 *":    "Tue 2028-02-29 00:00:00",
		"0 4 1 * sun":   "Sun 2026-11-29 04:00:00",
		"@daily":        "Sat 2026-11-28 00:00:00",
		"@every 90m":    "Fri 2026-11-27 14:00:15",
	} {
		next, err := parseSchedule(watch)
		if err != nil || next == nil {
			t.Errorf("%s: %v", watch, err)
			continue
		}
		if have := next(friday).Format("Mon 2006-01-02 15:04:05"); have != want {
			t.Errorf("%s is due at %s, want %s", watch, have, want)
		}
	}
	for _, event := range []string{"files", "commits", "gate"} {
		if next, err := parseSchedule(event); err != nil || next != nil {
			t.Errorf("%s is no time, and has %v", event, err)
		}
	}
	for _, wrong := range []string{"", "file", "2", "* * * *", "61 * * * *", "0 2 * * mon-", "@fortnightly", "@every", "@every -1s", "@every 10ms", "0 0 30 2 *"} {
		if _, err := parseSchedule(wrong); err == nil {
			t.Errorf("%q is taken for something to wait for", wrong)
		}
	}
}

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, New, map[string]*Options{
		"":                               {},
		"--once":                         {Cycles: 1},
		"--max-cycles 3 --budget 5":      {Cycles: 3, Budget: "5"},
		"--strategies todo,-security -y": {Strategies: []string{"todo", "-security"}, Yes: true},
		"--until landed:5 --watch files": {Until: "landed:5", Watch: "files"},
		"--headless --seed 7 --jsonl":    {Run: progress.RunCommandOptions{RunOptions: app.RunOptions{Headless: true, Seed: "7"}, JSONL: true}},
		"--status":                       {Status: true},
		"--once --max-cycles 3":          nil,
		"--once --watch files":           nil,
		"--json --jsonl":                 nil,
		"--record a --replay b":          nil,
		"todo":                           nil,
		"--max-cycles many":              nil,
		"--parallel none":                nil,
	})
}

// TestOutput holds what the command says without a loop: nothing of it starts one.
func TestOutput(t *testing.T) {
	improve := func(c *console.Console) *cobra.Command { return New(c, nil) }
	u := clitest.NewUser(t, map[string]string{"a.sh": "#!/bin/sh\n# TODO: say hello\n"})
	u.Expect(2, []string{"no improvement loop has run", "nexus improve --once"}, improve, "--status")
	for line, texts := range map[string][]string{
		"--seed x":                      {`--seed must be a whole number, not "x"`},
		"--strategies lucky":            {"lucky"},
		"--until never":                 {"--until: ", "landed:5"},
		"--watch 2":                     {`--watch: there is no "2" to wait for`},
		"--budget 0":                    {"there is no budget", "--budget"},
		"--strategies ideas --headless": {"ideas pays for a model in each cycle", "there is no terminal to agree to the cost of ideas", "--yes"},
	} {
		u.Expect(map[bool]int{true: 5, false: 2}[strings.Contains(line, "ideas")], texts, improve, strings.Fields(line)...)
	}
	u.Env["NEXUS_IMPROVE_QUIET"] = "at night"
	u.Expect(2, []string{"improve.quiet: ", "09:00-18:00 Mon-Fri"}, improve, "--once")
}
