package journalmaintenance

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

// JournalRepairResult is the result of repairing a journal.
type JournalRepairResult struct {
	Path   string
	Events int64  // that are kept
	Why    string // the damage; empty if there was none, and the journal is unchanged
	Aside  string // path of the damaged journal
	Lost   []journal.LostRunEvents
}

// CheckNoRunInProgress returns an error while a run is in progress.
func CheckNoRunInProgress(ctx context.Context, p *app.Repository) error {
	runs, err := p.Runs(ctx)
	if err != nil && p.Journal == nil {
		return err
	}
	i := slices.IndexFunc(runs, func(r journal.RecordedRun) bool { return r.Holder != nil })
	if i < 0 {
		return nil // repair must also work if the runs of a journal cannot be read
	}
	return &nexus.Error{
		Code: nexus.CodeRunHeld, Message: fmt.Sprintf("run %s is in progress", runs[i].ID),
		Hint: "Wait for it or end it with nexus stop, then try again.",
	}
}

// RepairJournal keeps every event before the first damage, and stores the damaged journal beside. It
// closes the repository if there was damage.
func RepairJournal(ctx context.Context, p *app.Repository, now time.Time) (JournalRepairResult, error) {
	if err := CheckNoRunInProgress(ctx, p); err != nil {
		return JournalRepairResult{}, err
	}
	path, stamp := filepath.Join(p.State, "journal.db"), now.UTC().Format("060102-150405")
	r, err := p.Journal.Verify(ctx)
	out := JournalRepairResult{Path: path, Events: r.Events, Why: r.Why}
	if err != nil || r.Sound {
		return out, err
	}
	out.Lost, err = p.Journal.EventsLostAfter(ctx, r.Events)
	if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalCorrupt}) {
		return out, err
	}
	whole := path + ".repaired-" + stamp
	if _, err := p.Journal.SalvageTo(ctx, whole); err != nil {
		return out, err
	}
	p.Close()
	out.Aside = path + ".damaged-" + stamp
	return out, journal.ReplaceJournal(ctx, path, whole, out.Aside)
}
