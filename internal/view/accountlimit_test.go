package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWindows shows how much of an agent's limits is used, until they start anew,
// and that one is held.
func TestWindows(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.Local)
	s := fold(t, tape())
	for _, f := range []nexus.Fact{
		nexus.AgentQuotaReported{Agent: "claude", Window: "5h", Used: 96, Until: now.Add(2 * time.Hour)},
		nexus.AgentQuotaReported{Agent: "claude", Window: "7d", Used: 20, Until: now.Add(50 * time.Hour)},
		nexus.AgentQuotaReported{Agent: "codex", Window: "5h\x1b", Used: 7, Until: now.Add(time.Minute)},
		nexus.AgentQuotaReported{Agent: "old", Window: "5h", Used: 7, Until: now},
		nexus.QuotaNearlyExhausted{Account: "claude", Window: "5h", Used: 96, Until: now.Add(2 * time.Hour)},
	} {
		if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: s.Run, At: s.Updated, Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	r := latest(s, now)
	want := []string{"claude 5h limit 96%, resets 12:00, 7d limit 20%, resets Mon 23 Nov 12:00", `codex 5h\x1b limit 7%, resets 10:01`}
	if diff := cmp.Diff(want, windowTexts(r.Windows)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(r.Windows) != 3 || r.Windows[0].Seconds != 7200 || len(r.Quota) != 1 || !r.Quota[0].Held {
		t.Errorf("%+v %+v", r.Windows, r.Quota)
	}
	for name, text := range map[string]string{"status": DrawStatus(OutputStyle{Plain: true}, r), "live": DrawLiveStatus(OutputStyle{Plain: true}, r), "report": DrawReport(OutputStyle{Plain: true}, r, false)} {
		if !strings.Contains(text, want[0]) {
			t.Errorf("the %s does not tell it:\n%s", name, text)
		}
		held := "claude starts no session until 12:00 (in 2h00m): 96% of its 5h limit is used"
		if name != "report" && !strings.Contains(text, held) {
			t.Errorf("the %s does not say %q:\n%s", name, held, text)
		}
	}
	if open := OpenAccountLimits([]state.AccountQuotaWindow{{Account: "a", Until: now}}, now); open != nil {
		t.Errorf("%+v is past", open)
	}
}
