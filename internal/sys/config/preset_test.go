package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestWhatPresetsSay holds what each of them lets happen without a person: they are promises of the documentation.
func TestWhatPresetsSay(t *testing.T) {
	type says struct {
		Approval nexus.ApprovalMode
		Parallel int
		Run, Day nexus.Money
		Denied   nexus.AlertReaction
	}
	for preset, want := range map[string]says{
		"conservative": {nexus.ApproveCommits, 2, 2 * nexus.Dollar, 10 * nexus.Dollar, nexus.ReactPause},
		"balanced":     {nexus.ApproveNone, 4, 5 * nexus.Dollar, 20 * nexus.Dollar, nexus.ReactTell},
		"aggressive":   {nexus.ApproveNone, 8, 20 * nexus.Dollar, 80 * nexus.Dollar, nexus.ReactTell},
		"improve":      {nexus.ApproveCommits, 2, 2 * nexus.Dollar, 10 * nexus.Dollar, nexus.ReactStop},
	} {
		s := sources(t, "", "")
		s.Environ = []string{"NEXUS_PRESET=" + preset}
		c, _, err := config.LoadSources(s)
		if err != nil {
			t.Fatal(err)
		}
		l := c.Limits
		if d := cmp.Diff(want, says{l.Approval, l.Parallel, l.RunMoney, l.DayMoney, l.Alerts.Denied}); d != "" {
			t.Errorf("%s: %s", preset, d)
		}
		if a := l.Alerts; a.Tokens != 90 || a.Failures != 5 || a.Stuck != 5*time.Minute || a.Denials != 10 {
			t.Errorf("%s: people are alerted otherwise: %+v", preset, a)
		}
		if i := c.Improve; i.Waiting != 5 || i.Lines != 200 || i.Pulls {
			t.Errorf("%s: what may wait is %+v", preset, i)
		}
	}
}
