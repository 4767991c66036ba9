package maintenance

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// RepairResult says what became of a journal that was damaged.
type RepairResult struct {
	Path   string
	Events int64  // that are kept
	Why    string // what was wrong; empty for nothing: it was left as it is
	Aside  string // where the damaged journal is kept
	Lost   []journal.LostEvents
}

// CheckIdle refuses while somebody conducts a run.
func CheckIdle(ctx context.Context, p *app.Repository) error {
	runs, err := p.Runs(ctx)
	if err != nil && p.Journal == nil {
		return err
	}
	i := slices.IndexFunc(runs, func(r journal.Run) bool { return r.Holder != nil })
	if i < 0 {
		return nil // a journal whose runs cannot be read is what repair is for
	}
	return &nexus.Error{
		Code: nexus.CodeRunHeld, Message: fmt.Sprintf("run %s is in progress", runs[i].ID),
		Hint: "Wait for it or end it with nexus stop, then try again.",
	}
}

// Repair keeps every event before the first damage, and the damaged journal
// beside. The place is closed if there was damage.
func Repair(ctx context.Context, p *app.Repository, now time.Time) (RepairResult, error) {
	if err := CheckIdle(ctx, p); err != nil {
		return RepairResult{}, err
	}
	path, stamp := filepath.Join(p.State, "journal.db"), now.UTC().Format("060102-150405")
	r, err := p.Journal.Verify(ctx)
	out := RepairResult{Path: path, Events: r.Events, Why: r.Why}
	if err != nil || r.Sound {
		return out, err
	}
	out.Lost, err = p.Journal.LostAfter(ctx, r.Events)
	if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalCorrupt}) {
		return out, err
	}
	whole := path + ".repaired-" + stamp
	if _, err := p.Journal.Salvage(ctx, whole); err != nil {
		return out, err
	}
	p.Close()
	out.Aside = path + ".damaged-" + stamp
	return out, journal.Replace(ctx, path, whole, out.Aside)
}
