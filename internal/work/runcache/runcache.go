// Package runcache caches the results of a repository's runs, so that they are available
// without reading the whole journal again.
//
// A run's result is computed once and stored in one file beside the journal, with the hash of
// the run's last event, which identifies all events before it. A run that continued, or a
// restored journal, has another hash and is computed again. The file contains only data from
// the journal: if it is missing, damaged or of another version, it is created again.
package runcache

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// File is the name of the cache file, in the repository's state directory.
const File = "history.json"

// maxFile is the largest file that is read.
const maxFile = 256 << 20

// runCacheFile is the contents of the file.
type runCacheFile struct {
	Version int                        `json:"version"`
	Runs    map[string]cachedRunResult `json:"runs"`
}

// cachedRunResult is the cached result of a run.
type cachedRunResult struct {
	Events int64                `json:"events"`
	Hash   string               `json:"hash"`
	Run    runhistory.RunRecord `json:"run"`
}

// RunsReadResult is the result of reading the runs of a repository.
type RunsReadResult struct {
	Runs   []runhistory.RunRecord // the oldest first
	Folded int                    // number of runs that had to be read from the journal
	Broken []nexus.RunID          // runs that cannot be replayed; nexus journal verify reports why
}

// ReadPastRuns returns the results of the runs in an open journal. State is the repository's state
// directory. A failure to write the cache is no error: the runs are read from the journal the
// next time.
func ReadPastRuns(ctx context.Context, j *journal.Journal, state string) (RunsReadResult, error) {
	runs, err := j.Runs(ctx)
	if err != nil {
		return RunsReadResult{}, err
	}
	name := filepath.Join(state, File)
	old := loadRunCache(name)
	now := runCacheFile{runhistory.Version, make(map[string]cachedRunResult, len(runs))}
	var r RunsReadResult
	for _, run := range runs {
		was, ok := old.Runs[string(run.ID)]
		if !ok || was.Hash != run.Hash || was.Events != run.Events {
			r.Folded++
			folded, err := summarizeRun(ctx, j, run.ID)
			if ctx.Err() != nil {
				return r, context.Cause(ctx)
			}
			if err != nil {
				r.Broken = append(r.Broken, run.ID)
				continue
			}
			was = cachedRunResult{run.Events, run.Hash, folded}
		}
		now.Runs[string(run.ID)] = was
		r.Runs = append(r.Runs, was.Run)
	}
	if r.Folded > 0 || len(old.Runs) != len(now.Runs) {
		saveRunCache(name, now)
	}
	slices.SortStableFunc(r.Runs, func(a, b runhistory.RunRecord) int { return a.Began.Compare(b.Began) })
	return r, nil
}

func summarizeRun(ctx context.Context, j *journal.Journal, run nexus.RunID) (runhistory.RunRecord, error) {
	s, err := state.ReplayRun(run, j.Events(ctx, run, 0))
	if err != nil {
		return runhistory.RunRecord{}, err
	}
	return runhistory.SummarizeRun(s), nil
}

// loadRunCache returns the cache, empty if it is not usable.
func loadRunCache(name string) runCacheFile {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return runCacheFile{}
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return runCacheFile{}
	}
	return parseRunCache(data)
}

// parseRunCache parses the file, empty if it is incomplete or of another version.
func parseRunCache(data []byte) runCacheFile {
	var k runCacheFile
	if json.Unmarshal(data, &k) != nil || k.Version != runhistory.Version {
		return runCacheFile{}
	}
	for id, l := range k.Runs {
		if string(l.Run.ID) != id {
			delete(k.Runs, id)
		}
	}
	return k
}

// saveRunCache writes the cache, if possible.
func saveRunCache(name string, k runCacheFile) {
	data, err := json.Marshal(k)
	if err != nil {
		return
	}
	_ = filewrite.ReplaceFile(name, data) // the runs are read from the journal the next time
}
