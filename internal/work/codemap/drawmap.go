package codemap

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// bytesPerToken is the assumed number of bytes per token of a map.
const bytesPerToken = 3

// DrawMap returns the map, limited to a number of tokens and always the same for the same commit
// and subject: the commit, the languages, the files or the directories, and the declarations
// of files that share words with the subject. If none does, no file's declarations are shown.
//
// Names and lines are the repository's own words: the caller fences them.
func (s *CommitSurvey) DrawMap(ctx context.Context, a MapQuery, tokens int) (string, error) {
	room := tokens * bytesPerToken
	head := fmt.Sprintf("Commit %.12s, %s.\n", s.commit, s.describeLanguageCounts())
	if room < 2*len(head) {
		return "", nil
	}
	room -= len(head)
	places := s.listAllFiles(a, room/3)
	if places != "" && a.Own != "" {
		places += s.listOtherDirectories(a, room/6)
	}
	if places == "" {
		places = s.listDirectories(room / 5)
	}
	text := head + places
	var found string
	var err error
	if a.isEmpty() {
		found = s.drawMostReferencedFiles(room - len(places))
	} else {
		found, err = s.drawRelevantFiles(ctx, a, room-len(places))
	}
	return text + found, err
}

// describeLanguageCounts returns the number of files per language, as text.
func (s *CommitSurvey) describeLanguageCounts() string {
	of := map[string]int{}
	for _, f := range s.files {
		if f.lang != nil {
			of[f.lang.Name]++
		}
	}
	text := pluralCount(len(s.files)+s.beyond, "file")
	names := slices.SortedStableFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), 5)] {
		text += fmt.Sprintf(", %d %s", of[name], name)
	}
	return text
}

// listOtherDirectories lists the directories of files that the map of a package does not name, with their
// number of files, as many as fit.
func (s *CommitSurvey) listOtherDirectories(a MapQuery, room int) string {
	below := map[string]int{}
	for _, f := range s.files {
		if a.isListed(f.path) {
			continue
		}
		parts := strings.Split(f.path, "/")
		below[strings.Join(parts[:max(1, min(len(parts)-1, 2))], "/")]++
	}
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(below)) {
		if b.Len() > room {
			break
		}
		fmt.Fprintf(&b, "%s %d\n", printableText(dir), below[dir])
	}
	if b.Len() == 0 {
		return ""
	}
	return "\nElsewhere, with the number of files:\n" + b.String()
}

// listAllFiles lists files by directory, or returns "" if they do not fit: all files, or those of the
// packages in the map's subject.
func (s *CommitSurvey) listAllFiles(a MapQuery, room int) string {
	if s.beyond > 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nFiles:")
	last := ""
	byDir := slices.DeleteFunc(slices.Clone(s.files), func(f surveyedFile) bool { return !a.isListed(f.path) })
	slices.SortStableFunc(byDir, func(a, b surveyedFile) int { return cmp.Compare(path.Dir(a.path), path.Dir(b.path)) })
	for i, f := range byDir {
		if dir := path.Dir(f.path); dir != last || i == 0 {
			b.WriteString("\n" + printableText(dir) + "/:")
			last = dir
		}
		if b.WriteString(" " + printableText(path.Base(f.path))); b.Len() >= room {
			return ""
		}
	}
	return b.String() + "\n"
}

// listDirectories lists directories with their number of files, as deep as fits.
func (s *CommitSurvey) listDirectories(room int) string {
	best := ""
	for depth := 1; depth <= 8; depth++ {
		below := map[string]int{}
		deeper := false
		for _, f := range s.files {
			parts := strings.Split(path.Dir(f.path), "/")
			deeper = deeper || len(parts) > depth
			for n := 1; n <= min(depth, len(parts)); n++ {
				below[strings.Join(parts[:n], "/")]++
			}
		}
		delete(below, ".")
		var b strings.Builder
		for _, dir := range slices.Sorted(maps.Keys(below)) {
			fmt.Fprintf(&b, "%s/ %d\n", printableText(dir), below[dir])
		}
		if b.Len() > room {
			break
		}
		if best = b.String(); !deeper {
			break
		}
	}
	if best == "" {
		return ""
	}
	return "\nDirectories, with the number of files below them:\n" + best
}

// Limits of the lines shown of a file: most for the best file, then fewer.
const (
	mostLines  = 14
	leastLines = 3
	halved     = 4 // files after which the number of lines is halved
)

// drawRelevantFiles shows the files that share words with the subject.
func (s *CommitSurvey) drawRelevantFiles(ctx context.Context, a MapQuery, room int) (string, error) {
	const title = "\nFiles that share words with the task, the likeliest first, with line numbers:\n"
	files, scores, words := s.rankFiles(a)
	if len(files) == 0 {
		return "", nil
	}
	best := 0.0
	for _, i := range files {
		if scores[i] < planned {
			best = max(best, scores[i])
		}
	}
	files = slices.DeleteFunc(files, func(i int) bool { return scores[i] < least*best })
	files = files[:min(len(files), mostRead)]
	lines, err := s.scoreDeclarations(ctx, files, words)
	if err != nil {
		return "", fmt.Errorf("map of %.12s: %w", s.commit, err)
	}
	var b strings.Builder
	room -= len(title)
	for n, i := range files {
		most := max(leastLines, mostLines>>(n/halved))
		text := s.files[i].drawFile(lines[i], most)
		for len(text) > room && most > 0 {
			most--
			text = s.files[i].drawFile(lines[i], most)
		}
		if len(text) > room {
			break
		}
		b.WriteString(text)
		room -= len(text)
	}
	if b.Len() == 0 {
		return "", nil
	}
	return title + b.String(), nil
}

// drawMostReferencedFiles shows the files that others name most, for a map without a subject.
func (s *CommitSurvey) drawMostReferencedFiles(room int) string {
	const title = "\nWhat files declare for others, first what others name most:\n"
	var order []int
	for i, f := range s.files {
		if len(f.declares) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := s.files[a], s.files[b]
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(len(y.declares), len(x.declares)), cmp.Compare(x.path, y.path))
	})
	var b strings.Builder
	room -= len(title)
	for _, i := range order {
		f := s.files[i]
		var open []scoredDeclaration
		for _, d := range f.declares {
			if !d.private && !d.member {
				open = append(open, scoredDeclaration{declarationLine: d})
			}
		}
		text := f.drawFile(open, mostLines)
		if len(open) == 0 || len(text) > room {
			continue
		}
		b.WriteString(text)
		room -= len(text)
	}
	if b.Len() == 0 {
		return ""
	}
	return title + b.String()
}

// drawFile shows a file with its best-scoring lines, up to a limit, in the order of the file.
func (f surveyedFile) drawFile(lines []scoredDeclaration, most int) string {
	kept := lines
	if len(lines) > most {
		byScore := slices.Clone(lines)
		slices.SortStableFunc(byScore, func(a, b scoredDeclaration) int { return cmp.Compare(b.score, a.score) })
		kept = byScore[:most]
		slices.SortStableFunc(kept, func(a, b scoredDeclaration) int { return cmp.Compare(a.line, b.line) })
	}
	var b strings.Builder
	b.WriteString(printableText(f.path))
	if more := len(lines) - len(kept); more > 0 && most > 0 {
		fmt.Fprintf(&b, " (%d of %d)", len(kept), len(lines))
	}
	b.WriteByte('\n')
	for _, d := range kept {
		fmt.Fprintf(&b, "  %d %s\n", d.line, printableText(d.text))
	}
	return b.String()
}

func pluralCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// printableText returns a name or a line without characters that could end it or be invisible.
func printableText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
}
