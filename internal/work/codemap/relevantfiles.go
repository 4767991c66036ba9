package codemap

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// The kinds of files that can be requested.
const (
	ForCode   = "code"   // files that most others depend on
	ForAPI    = "api"    // files that declare something for others
	ForTests  = "tests"  // tests, of as many directories as possible
	ForIssues = "issues" // files with marks of unfinished work
)

// SourceFile is a file with its text.
type SourceFile struct {
	Path, Blob string
	Size       int
}

// marks are the usual marks of unfinished work.
var marks = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK|BUG|Deprecated|DEPRECATED)\b`)

// MostRelevantFiles returns the most relevant files of a commit for a purpose, best first, at most
// so many.
func (s *CommitSurvey) MostRelevantFiles(ctx context.Context, what string, most int) ([]SourceFile, error) {
	points, err := s.relevantFilePoints(ctx, what)
	if err != nil {
		return nil, err
	}
	var all []int
	for i := range points {
		if git.IsObjectID(s.files[i].id) && s.files[i].size <= maxFile {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(s.files[a].path, s.files[b].path))
	})
	if what == ForTests {
		all = interleaveGroups(all, func(i int) string { return path.Dir(s.files[i].path) })
	}
	var found []SourceFile
	for _, i := range all[:min(len(all), most)] {
		found = append(found, SourceFile{s.files[i].path, s.files[i].id, s.files[i].size})
	}
	return found, nil
}

// relevantFilePoints returns the relevant files for a purpose, with their weight.
func (s *CommitSurvey) relevantFilePoints(ctx context.Context, what string) (map[int]int, error) {
	points := map[int]int{}
	switch what {
	case ForTests:
		for i, f := range s.files {
			if f.lang != nil && stack.ServesTests(f.path) {
				points[i] = 1
			}
		}
	case ForIssues:
		at := map[string]int{}
		for i, f := range s.files {
			at[f.path] = i
		}
		if err := s.scanTexts(ctx, func(f surveyedFile, text string) {
			if n := len(marks.FindAllStringIndex(text, -1)); n > 0 {
				points[at[f.path]] = n
			}
		}); err != nil {
			return nil, err
		}
	default:
		for i, f := range s.files {
			if n := len(publicDeclarations(f.fileOutline)); f.lines > 0 && (n > 0 || what != ForAPI) {
				points[i] = 1 + f.score
			}
		}
	}
	return points, nil
}

// interleaveGroups puts the first of each group before the second ones.
func interleaveGroups(all []int, group func(int) string) []int {
	rank, seen := map[int]int{}, map[string]int{}
	for _, i := range all {
		rank[i] = seen[group(i)]
		seen[group(i)]++
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return all
}

// BlobID returns the git object of a file that agents may see, or "".
func (s *CommitSurvey) BlobID(name string) string {
	if i, err := s.findFile(name); err == nil && git.IsObjectID(s.files[i].id) {
		return s.files[i].id
	}
	return ""
}
