package codemap

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// bytesPerToken is how many bytes a token of a map is taken to have.
const bytesPerToken = 3

// Draw returns the map within a number of tokens, always the same for the
// same commit: which commit it shows, the languages, the directories, and
// what the main files declare, those first that most others name. What does
// not fit is left out, and counted. It is empty where nothing fits.
//
// Names and lines are the repository's own words: the caller fences them.
func (s *Survey) Draw(tokens int) string {
	room := tokens * bytesPerToken
	head := fmt.Sprintf("Commit %.12s, %s.\n", s.commit, s.counts())
	if room < 2*len(head) {
		return ""
	}
	dirs := s.directories((room - len(head)) / 3)
	text := head + dirs
	text += s.outlines(room - len(text))
	text += s.names(room - len(text))
	return text
}

// counts says how many files there are of each language.
func (s *Survey) counts() string {
	of := map[string]int{}
	for _, f := range s.files {
		if f.lang != nil {
			of[f.lang.Name]++
		}
	}
	text := count(len(s.files)+s.beyond, "file")
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), 5)] {
		text += fmt.Sprintf(", %d %s", of[name], name)
	}
	return text
}

// directories lists directories with how many files are below them, as deep
// as there is room.
func (s *Survey) directories(room int) string {
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
			fmt.Fprintf(&b, "%s/ %d\n", plain(dir), below[dir])
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

// perDir is how many files of a directory are shown before those of others.
const perDir = 3

// outlines shows what files declare, by directory.
func (s *Survey) outlines(room int) string {
	const title = "\nWhat files declare for others, first what others name most:\n"
	room -= len(title)
	order := s.order()
	chosen := map[string][]int{} // by directory
	var dirs []string
	room -= 40 // what is said of the rest
	left := 0
	for _, i := range order {
		f := s.files[i]
		dir := path.Dir(f.path)
		cost := len(f.draw())
		if _, ok := chosen[dir]; !ok {
			cost += len(dir) + 3
		}
		if cost > room {
			left++
			continue
		}
		if _, ok := chosen[dir]; !ok {
			dirs = append(dirs, dir)
		}
		chosen[dir] = append(chosen[dir], i)
		room -= cost
	}
	if len(dirs) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(title)
	for _, dir := range dirs {
		b.WriteString(plain(dir) + "/\n")
		for _, i := range chosen[dir] {
			b.WriteString(s.files[i].draw())
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "(and %s)\n", count(left, "more file"))
	}
	return b.String()
}

// order returns the files that declare something: by how often they are named,
// then by how much they declare; the first few of each directory before the
// rest of it.
func (s *Survey) order() []int {
	var all []int
	for i, f := range s.files {
		if len(f.declares) > 0 {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		x, y := s.files[a], s.files[b]
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(path.Dir(x.path), path.Dir(y.path)),
			cmp.Compare(len(y.declares)+y.more, len(x.declares)+x.more), cmp.Compare(x.path, y.path))
	})
	seen := map[string]int{}
	var first, rest []int
	for _, i := range all {
		dir := path.Dir(s.files[i].path)
		if seen[dir]++; seen[dir] <= perDir {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}

// draw shows what a file declares.
func (f file) draw() string {
	var b strings.Builder
	b.WriteString("  " + plain(path.Base(f.path)) + "\n")
	for _, d := range f.declares {
		b.WriteString("    " + plain(d) + "\n")
	}
	if f.more > 0 {
		fmt.Fprintf(&b, "    (and %d more)\n", f.more)
	}
	return b.String()
}

// names lists other files by directory, as far as there is room.
func (s *Survey) names(room int) string {
	const title = "\nOther files:\n"
	room -= len(title) + 40 // what is said of the rest
	var b strings.Builder
	left, last := 0, ""
	byDir := slices.Clone(s.files)
	slices.SortStableFunc(byDir, func(a, b file) int { return cmp.Compare(path.Dir(a.path), path.Dir(b.path)) })
	for _, f := range byDir {
		if len(f.declares) > 0 {
			continue
		}
		dir, text := path.Dir(f.path), " "+plain(path.Base(f.path))
		if dir != last || b.Len() == 0 {
			text = plain(dir) + "/:" + text
			if b.Len() > 0 {
				text = "\n" + text
			}
		}
		if len(text) > room {
			left++
			continue
		}
		b.WriteString(text)
		room, last = room-len(text), dir
	}
	switch {
	case b.Len() == 0:
		return ""
	case left > 0:
		return title + b.String() + fmt.Sprintf("\n(and %s)\n", count(left, "more file"))
	default:
		return title + b.String() + "\n"
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plain returns a name or a line without what could end it or hide in it.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
}
