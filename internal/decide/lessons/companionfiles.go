package lessons

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Maximum number of companion files of one declared file, and of all together.
const (
	mostBeside = 8
	mostFiles  = 400
)

// usual is the minimum share of tasks in which a file is a companion.
const usual = 0.5

// learnCompanionFiles returns the files that went with the declared files of landed tasks without
// being declared themselves.
func learnCompanionFiles(tasks []runhistory.TaskRecord, sample int, went func(runhistory.TaskRecord) []string) []nexus.RelatedFileLesson {
	type pair struct{ of, file string }
	total, cases := map[string]int{}, map[pair]int{}
	for _, t := range slices.Backward(tasks) {
		if t.Status != nexus.Landed {
			continue
		}
		for _, of := range fileLookupKeys(t.Files) {
			if total[of] >= window {
				continue
			}
			total[of]++
			for _, f := range went(t) {
				if !slices.Contains(t.Files, f) {
					cases[pair{of, f}]++
				}
			}
		}
	}
	var all []nexus.RelatedFileLesson
	for p, n := range cases {
		if of := total[p.of]; of >= sample && float64(n) >= usual*float64(of) {
			all = append(all, nexus.RelatedFileLesson{Of: p.of, File: p.file, Cases: n, Tasks: of})
		}
	}
	slices.SortStableFunc(all, func(a, b nexus.RelatedFileLesson) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.File, b.File))
	})
	return limitPerPlace(all)
}

// limitPerPlace keeps the most frequent files of each place.
func limitPerPlace(all []nexus.RelatedFileLesson) []nexus.RelatedFileLesson {
	var out []nexus.RelatedFileLesson
	n := 0
	for i, f := range all {
		if n++; i > 0 && all[i-1].Of != f.Of {
			n = 1
		}
		if n <= mostBeside && len(out) < mostFiles {
			out = append(out, f)
		}
	}
	return out
}

// fileLookupKeys returns the keys under which files are looked up: themselves and their directories.
func fileLookupKeys(files []string) []string {
	var all []string
	for _, f := range files {
		f = path.Clean(strings.ReplaceAll(f, "\\", "/"))
		all = append(all, f)
		if dir := path.Dir(f); dir != "." && dir != "/" {
			all = append(all, dir+"/")
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// CompanionFilesOf returns the companion files of a task's declared files, without the declared
// ones. A lesson about a file takes precedence over one about its directory.
func CompanionFilesOf(learned []nexus.RelatedFileLesson, files []string) []nexus.RelatedFileLesson {
	var all []nexus.RelatedFileLesson
	if len(learned) == 0 {
		return nil
	}
	at := fileLookupKeys(files)
	slices.SortStableFunc(at, func(a, b string) int {
		return cmp.Compare(boolToInt(strings.HasSuffix(a, "/")), boolToInt(strings.HasSuffix(b, "/")))
	})
	for _, of := range at {
		for _, l := range learned {
			if l.Of != of || slices.Contains(files, l.File) || slices.ContainsFunc(all,
				func(o nexus.RelatedFileLesson) bool { return o.File == l.File }) {
				continue
			}
			all = append(all, l)
		}
	}
	return all[:min(len(all), mostBeside)]
}
