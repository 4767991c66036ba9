// Package pastruns keeps what the runs of a repository came to, so that it is known
// without reading their journal again.
//
// What a run came to is folded once and kept in one file beside the journal, with
// the hash of the run's last event, which stands for all events before it. A run
// that went on, or a journal that was restored, has another hash and is folded
// anew. The file holds nothing that the journal does not: where it is missing,
// damaged or another version's, it is made again.
package pastruns

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// File is where the runs of a repository are kept, in the directory of its state.
const File = "history.json"

// maxFile is the largest file that is read.
const maxFile = 256 << 20

// kept is the file.
type kept struct {
	Version int             `json:"version"`
	Runs    map[string]last `json:"runs"`
}

// last is a run as it was when it was folded.
type last struct {
	Events int64       `json:"events"`
	Hash   string      `json:"hash"`
	Run    history.Run `json:"run"`
}

// Report is what came of reading the runs of a repository.
type Report struct {
	Runs   []history.Run // the oldest first
	Folded int           // that had to be read
	Broken []nexus.RunID // that cannot be replayed; nexus journal verify says why
}

// Read returns what the runs of a repository came to whose journal is open. State
// is the directory of its state. That what was folded cannot be kept is no error: it
// is folded again the next time.
func Read(ctx context.Context, j *journal.Journal, state string) (Report, error) {
	runs, err := j.Runs(ctx)
	if err != nil {
		return Report{}, err
	}
	name := filepath.Join(state, File)
	old := load(name)
	now := kept{history.Version, make(map[string]last, len(runs))}
	var r Report
	for _, run := range runs {
		was, ok := old.Runs[string(run.ID)]
		if !ok || was.Hash != run.Hash || was.Events != run.Events {
			r.Folded++
			folded, err := fold(ctx, j, run.ID)
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			if err != nil {
				r.Broken = append(r.Broken, run.ID)
				continue
			}
			was = last{run.Events, run.Hash, folded}
		}
		now.Runs[string(run.ID)] = was
		r.Runs = append(r.Runs, was.Run)
	}
	if r.Folded > 0 || len(old.Runs) != len(now.Runs) {
		save(name, now)
	}
	slices.SortStableFunc(r.Runs, func(a, b history.Run) int { return a.Began.Compare(b.Began) })
	return r, nil
}

func fold(ctx context.Context, j *journal.Journal, run nexus.RunID) (history.Run, error) {
	s, err := state.Replay(run, j.Events(ctx, run, 0))
	if err != nil {
		return history.Run{}, err
	}
	return history.SummarizeRun(s), nil
}

// load returns what is kept, nothing where it cannot be used.
func load(name string) kept {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return kept{}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return kept{}
	}
	return parse(data)
}

// parse reads the file, nothing where it is not whole or another version's.
func parse(data []byte) kept {
	var k kept
	if json.Unmarshal(data, &k) != nil || k.Version != history.Version {
		return kept{}
	}
	for id, l := range k.Runs {
		if string(l.Run.ID) != id {
			delete(k.Runs, id)
		}
	}
	return k
}

// save keeps runs, if it can.
func save(name string, k kept) {
	data, err := json.Marshal(k)
	if err != nil {
		return
	}
	_ = disk.Replace(name, data) // it is folded again the next time
}
