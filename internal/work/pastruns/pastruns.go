// Package pastruns caches the results of a repository's runs, so that they are available
// without reading the whole journal again.
//
// A run's result is computed once and stored in one file beside the journal, with the hash of
// the run's last event, which identifies all events before it. A run that continued, or a
// restored journal, has another hash and is computed again. The file contains only data from
// the journal: if it is missing, damaged or of another version, it is created again.
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

// File is the name of the cache file, in the repository's state directory.
const File = "history.json"

// maxFile is the largest file that is read.
const maxFile = 256 << 20

// foldedRunsFile is the contents of the file.
type foldedRunsFile struct {
	Version int                  `json:"version"`
	Runs    map[string]foldedRun `json:"runs"`
}

// foldedRun is the cached result of a run.
type foldedRun struct {
	Events int64             `json:"events"`
	Hash   string            `json:"hash"`
	Run    history.RunRecord `json:"run"`
}

// ReadReport is the result of reading the runs of a repository.
type ReadReport struct {
	Runs   []history.RunRecord // the oldest first
	Folded int                 // number of runs that had to be read from the journal
	Broken []nexus.RunID       // runs that cannot be replayed; nexus journal verify reports why
}

// ReadRuns returns the results of the runs in an open journal. State is the repository's state
// directory. A failure to write the cache is no error: the runs are read from the journal the
// next time.
func ReadRuns(ctx context.Context, j *journal.Journal, state string) (ReadReport, error) {
	runs, err := j.Runs(ctx)
	if err != nil {
		return ReadReport{}, err
	}
	name := filepath.Join(state, File)
	old := loadRuns(name)
	now := foldedRunsFile{history.Version, make(map[string]foldedRun, len(runs))}
	var r ReadReport
	for _, run := range runs {
		was, ok := old.Runs[string(run.ID)]
		if !ok || was.Hash != run.Hash || was.Events != run.Events {
			r.Folded++
			folded, err := foldRun(ctx, j, run.ID)
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			if err != nil {
				r.Broken = append(r.Broken, run.ID)
				continue
			}
			was = foldedRun{run.Events, run.Hash, folded}
		}
		now.Runs[string(run.ID)] = was
		r.Runs = append(r.Runs, was.Run)
	}
	if r.Folded > 0 || len(old.Runs) != len(now.Runs) {
		saveRuns(name, now)
	}
	slices.SortStableFunc(r.Runs, func(a, b history.RunRecord) int { return a.Began.Compare(b.Began) })
	return r, nil
}

func foldRun(ctx context.Context, j *journal.Journal, run nexus.RunID) (history.RunRecord, error) {
	s, err := state.Replay(run, j.Events(ctx, run, 0))
	if err != nil {
		return history.RunRecord{}, err
	}
	return history.SummarizeRun(s), nil
}

// loadRuns returns the cache, empty if it is not usable.
func loadRuns(name string) foldedRunsFile {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return foldedRunsFile{}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return foldedRunsFile{}
	}
	return parseRuns(data)
}

// parseRuns parses the file, empty if it is incomplete or of another version.
func parseRuns(data []byte) foldedRunsFile {
	var k foldedRunsFile
	if json.Unmarshal(data, &k) != nil || k.Version != history.Version {
		return foldedRunsFile{}
	}
	for id, l := range k.Runs {
		if string(l.Run.ID) != id {
			delete(k.Runs, id)
		}
	}
	return k
}

// saveRuns writes the cache, if possible.
func saveRuns(name string, k foldedRunsFile) {
	data, err := json.Marshal(k)
	if err != nil {
		return
	}
	_ = disk.ReplaceFile(name, data) // the runs are read from the journal the next time
}
