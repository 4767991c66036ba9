package acp_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/acp"
)

// TestProbe has an agent say what it can do, and, where a conversation may be opened,
// which models it has. Nothing of it stays.
func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		open    bool
		resumes bool
		models  []string
		fails   bool
	}{
		"closed":        {"load choices\n---\nsay x\n", false, true, nil, false},
		"open":          {"resume choices\n---\nsay x\n", true, true, []string{"m1", "m2"}, false},
		"no choice":     {"close\n---\nsay x\n", true, false, nil, false},
		"not logged in": {"load choices nologin\n---\nsay x\n", true, true, nil, false},
		"another":       {"v9\n---\nsay x\n", true, false, nil, true},
		"stuck":         {"load stuck\n---\nsay x\n", true, false, nil, true},
		"mute":          {"load\n---\nmute\n", true, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			switch name {
			case "mute":
				limit = 300 * time.Millisecond
			case "stuck":
				limit = 2 * time.Second // which is enough to say what it can do
			}
			ctx, stop := context.WithTimeoutCause(t.Context(), limit, context.DeadlineExceeded)
			defer stop()
			told, err := acp.ProbeAgent(ctx, play(t, c.script, nil).launch, c.open)
			if (err != nil) != c.fails {
				t.Fatal(err)
			}
			if told.Resumes != c.resumes || !slices.Equal(told.Models, c.models) || !c.fails && told.Version != "1.2" {
				t.Errorf("%+v", told)
			}
		})
	}
}
