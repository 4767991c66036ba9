package codemap

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Limits of reading a tree. These limits, and no clock, end a survey, so that its result is
// the same each time.
const (
	maxRead  = 3_000     // most files that are read
	maxBytes = 16 << 20  // most bytes of all files
	maxFile  = 512 << 10 // most bytes of one file
	maxShown = 200_000   // files of a tree; further files are ignored

	maxFollowed = 2_000 // most files that may differ from an earlier survey's
)

// surveyedFile is one file of a tree.
type surveyedFile struct {
	path, id string
	size     int
	lang     *outlineLanguage
	shown    bool // it may declare something for others
	fileOutline
	score int // number of references from other files
}

// CommitSurvey is the survey of one commit. It never changes.
type CommitSurvey struct {
	commit string
	files  []surveyedFile // files, ordered by path
	langs  []outlineLanguage
	beyond int              // files that were not read
	hidden ignore.IgnoreSet // files that are hidden from agents
	repo   git.Repo
}

// SurveyCommit surveys a commit of a repository, by git's objects alone: no checkout is
// needed, nothing is run and no link is followed. It reuses an earlier survey's results for
// files that are the same; earlier may be nil.
func SurveyCommit(ctx context.Context, repo git.Repo, commit string, earlier *CommitSurvey) (*CommitSurvey, error) {
	if !git.IsObjectID(commit) {
		return nil, fmt.Errorf("map of %q: it is not the name of a commit", commit)
	}
	s := &CommitSurvey{commit: commit, repo: repo, langs: knownLanguages()}
	known, err := s.updateFromEarlier(ctx, earlier)
	if err == nil && !known {
		err = s.listFiles(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("map of %.12s: %w", commit, err)
	}
	if err := s.outlineFiles(ctx, repo, earlier); err != nil {
		return nil, fmt.Errorf("map of %.12s: %w", commit, err)
	}
	s.countReferences()
	return s, nil
}

// listFiles lists the files of the commit.
func (s *CommitSurvey) listFiles(ctx context.Context) error {
	listed, err := s.repo.Run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", s.commit)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(listed, "\x00") {
		if f, ok := s.parseTreeEntry(line); ok && len(s.files) < maxShown {
			s.files = append(s.files, f)
		} else if ok {
			s.beyond++
		}
	}
	return s.removeHiddenFiles(ctx)
}

// updateFromEarlier copies the files from an earlier survey and updates those that differ. It reports
// whether that was possible.
func (s *CommitSurvey) updateFromEarlier(ctx context.Context, earlier *CommitSurvey) (bool, error) {
	if earlier == nil || earlier.beyond > 0 {
		return false, nil
	}
	changed, err := s.repo.ChangedFiles(ctx, earlier.commit, s.commit)
	if err != nil || len(changed) > maxFollowed {
		return false, nil //nolint:nilerr // it is another repository's, or as good as new
	}
	sizes, err := s.objectSizes(ctx, changed)
	if err != nil {
		return false, err
	}
	gone := map[string]bool{}
	var fresh []surveyedFile
	for _, c := range changed {
		if path.Base(c.Path) == ignore.File {
			return false, nil // a changed ignore file may hide anything
		}
		gone[c.Path] = true
		size, ok := sizes[c.ID]
		if c.Status == "D" || c.Mode == "120000" || c.Mode == "160000" || !ok || earlier.hidden.IsIgnored(c.Path) {
			continue
		}
		f := surveyedFile{path: c.Path, id: c.ID, size: size}
		f.lang, f.shown = languageOf(s.langs, c.Path)
		fresh = append(fresh, f)
	}
	s.hidden = earlier.hidden
	s.files = make([]surveyedFile, 0, len(earlier.files)+len(fresh))
	for _, f := range earlier.files {
		for len(fresh) > 0 && fresh[0].path < f.path {
			s.files, fresh = append(s.files, fresh[0]), fresh[1:]
		}
		if !gone[f.path] {
			s.files = append(s.files, surveyedFile{path: f.path, id: f.id, size: f.size, lang: f.lang, shown: f.shown})
		}
	}
	s.files = append(s.files, fresh...)
	if len(s.files) > maxShown {
		s.files = nil // all files are listed instead
		return false, nil
	}
	return true, nil
}

// objectSizes returns the sizes of the objects of changed files, in bytes.
func (s *CommitSurvey) objectSizes(ctx context.Context, changed []git.ChangedTreeFile) (map[string]int, error) {
	var ids strings.Builder
	for _, c := range changed {
		if c.Status != "D" && c.Mode != "160000" {
			ids.WriteString(c.ID + "\n")
		}
	}
	if ids.Len() == 0 {
		return nil, nil
	}
	out, err := s.repo.RunWithInput(ctx, strings.NewReader(ids.String()), "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for line := range strings.Lines(out) {
		id, size, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(size); err == nil {
			all[id] = n
		}
	}
	return all, nil
}

// removeHiddenFiles removes the files that the tree's own ignore files hide from agents.
func (s *CommitSurvey) removeHiddenFiles(ctx context.Context) error {
	var says []int
	for i, f := range s.files {
		if path.Base(f.path) == ignore.File && f.size <= maxFile {
			says = append(says, i)
		}
	}
	texts := map[string]string{}
	if err := s.forEachText(ctx, s.repo, says, func(i int, text string) { texts[s.files[i].path] = text }); err != nil {
		return err
	}
	var err error
	if s.hidden, err = ignore.NewIgnoreSet(texts); !s.hidden.IsEmpty() {
		s.files = slices.DeleteFunc(s.files, func(f surveyedFile) bool { return s.hidden.IsIgnored(f.path) })
	}
	return err
}

// parseTreeEntry parses a line of git ls-tree -l: mode, kind, id, size, tab, path. Links and submodules
// are skipped.
func (s *CommitSurvey) parseTreeEntry(line string) (surveyedFile, bool) {
	head, name, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) != 4 || f[1] != "blob" || f[0] == "120000" {
		return surveyedFile{}, false
	}
	size, err := strconv.Atoi(f[3])
	if err != nil {
		return surveyedFile{}, false
	}
	one := surveyedFile{path: name, id: f[2], size: size}
	one.lang, one.shown = languageOf(s.langs, name)
	return one, true
}

// outlineFiles outlines files: those nearest to the root first, as many as the limits allow.
func (s *CommitSurvey) outlineFiles(ctx context.Context, repo git.Repo, earlier *CommitSurvey) error {
	var chosen []int
	for i, f := range s.files {
		if f.shown && f.size <= maxFile && git.IsObjectID(f.id) {
			chosen = append(chosen, i)
		}
	}
	slices.SortStableFunc(chosen, func(a, b int) int {
		return cmp.Compare(strings.Count(s.files[a].path, "/"), strings.Count(s.files[b].path, "/"))
	})
	chosen = chosen[:min(len(chosen), maxRead)]
	known := map[string]fileOutline{} // outlines by language and blob
	if earlier != nil {
		for _, f := range earlier.files {
			if f.lines > 0 {
				known[f.lang.Name+f.id] = f.fileOutline
			}
		}
	}
	total := 0
	var fresh []int
	for _, i := range chosen {
		f := &s.files[i]
		if total += f.size; total > maxBytes {
			break
		}
		if o, ok := known[f.lang.Name+f.id]; ok {
			f.fileOutline = o
		} else {
			fresh = append(fresh, i)
		}
	}
	return s.forEachText(ctx, repo, fresh, func(i int, text string) { s.files[i].fileOutline = s.files[i].lang.outlineText(text) })
}

// forEachText calls do with the text of files.
func (s *CommitSurvey) forEachText(ctx context.Context, repo git.Repo, files []int, do func(i int, text string)) error {
	if len(files) == 0 {
		return nil
	}
	var ids strings.Builder
	for _, i := range files {
		ids.WriteString(s.files[i].id + "\n")
	}
	out, err := repo.RunWithInput(ctx, strings.NewReader(ids.String()), "cat-file", "--batch")
	if err != nil {
		return err
	}
	for _, i := range files {
		f := &s.files[i]
		head, rest, _ := strings.Cut(out, "\n")
		if head != fmt.Sprintf("%s blob %d", f.id, f.size) || len(rest) <= f.size {
			return fmt.Errorf("git cat-file: %q for %s", head, f.id)
		}
		do(i, rest[:f.size])
		out = rest[f.size+1:]
	}
	return nil
}

// countReferences counts how often files are named by others: files that many depend on are the most
// useful to show.
func (s *CommitSurvey) countReferences() {
	at := s.newPathIndex()
	byDir := map[string]int{}
	for _, f := range s.files {
		for _, name := range f.imports {
			if i, dir := at.findFile(f.path, name, f.lang.Between != ""); i >= 0 {
				s.files[i].score++
			} else if dir != "" && dir != path.Dir(f.path) {
				byDir[dir]++
			}
		}
	}
	for i := range s.files {
		s.files[i].score += byDir[path.Dir(s.files[i].path)]
	}
}

func (s *CommitSurvey) newPathIndex() codePathIndex {
	at := codePathIndex{whole: map[string]int{}, dirs: map[string]string{}}
	for i, f := range s.files {
		if f.shown {
			at.addFile(f.path, i, f.lang.Stands)
		}
	}
	return at
}

// codePathIndex finds files and directories by the names that code uses for them.
type codePathIndex struct {
	whole map[string]int    // file by its path without an extension
	dirs  map[string]string // directory by the end of its path; empty if several match
}

func (x codePathIndex) addFile(file string, i int, stands []string) {
	stem := strings.TrimSuffix(file, path.Ext(file))
	for _, own := range stands {
		stem = strings.TrimSuffix(stem, "/"+own)
	}
	if _, taken := x.whole[stem]; !taken {
		x.whole[stem] = i
	}
	x.dirs["/"+path.Dir(file)] = path.Dir(file)
	dir := path.Dir(file)
	for end := dir; end != "."; {
		_, rest, more := strings.Cut(end, "/")
		if was, taken := x.dirs[end]; taken && was != dir {
			x.dirs[end] = ""
		} else {
			x.dirs[end] = dir
		}
		if !more {
			break
		}
		end = rest
	}
}

// most limits how many parts of a name are compared.
const most = 12

// findFile returns the index of the file that a name in another file refers to, or -1, and the
// directory. With near, neighbours match without a path, for languages whose names are no
// paths.
func (x codePathIndex) findFile(from, name string, near bool) (int, string) {
	name = strings.TrimSuffix(name, path.Ext(name))
	if strings.HasPrefix(name, ".") {
		name = path.Join(path.Dir(from), name)
		if i, ok := x.whole[name]; ok {
			return i, ""
		}
		return -1, x.dirs["/"+name]
	}
	parts := strings.Split(strings.Trim(name, "/"), "/")
	parts = parts[:min(len(parts), most)]
	for last := len(parts); near && last > 0; last-- {
		for first := range last {
			if i, ok := x.whole[path.Join(path.Dir(from), path.Join(parts[first:last]...))]; ok {
				return i, ""
			}
		}
	}
	// skip the first parts of the name: a module's or a crate's name
	for first := range parts {
		rest := strings.Join(parts[first:], "/")
		for _, root := range []string{"", "src/"} {
			if i, ok := x.whole[root+rest]; ok {
				return i, ""
			}
			if dir, ok := x.dirs["/"+root+rest]; ok {
				return -1, dir
			}
		}
	}
	// the directory may be below others, such as src/main/java
	for last := len(parts); last >= 2; last-- {
		if dir := x.dirs[strings.Join(parts[:last], "/")]; dir != "" {
			if i, ok := x.whole[path.Join(append([]string{dir}, parts[last:]...)...)]; ok {
				return i, ""
			}
			return -1, dir
		}
	}
	return -1, ""
}
