package wire

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// How far back the past reaches: the newest runs, up to so many of them and
// up to so many events together.
const (
	pastRuns   = 50
	pastEvents = 200_000
)

// Past sums up the newest runs of the repository. A run that cannot be
// replayed says nothing.
func Past(ctx context.Context, j *journal.Journal) (*history.Stats, error) {
	var h history.Stats
	runs, err := j.Runs(ctx)
	if err != nil {
		return nil, err
	}
	events := int64(0)
	for i := len(runs) - 1; i >= 0 && len(runs)-i <= pastRuns; i-- {
		if events += runs[i].Events; events > pastEvents {
			break
		}
		s, err := state.Replay(runs[i].ID, j.Events(ctx, runs[i].ID, 0))
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue // nexus journal verify says what is wrong with it
		}
		h.Add(s)
	}
	return &h, nil
}
