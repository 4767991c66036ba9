package stack

import (
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// Skeleton is what a new project of a stack begins with: the smallest one whose
// build, lint and tests pass. The zero Skeleton is none.
type Skeleton struct {
	Needs []string // programs without which its gates cannot run
	Named []string // words of an idea that mean this stack, in lower case
	Fits  []string // words of an idea that it is good for
	For   string   // what it is good for
	Files []SkeletonFile
	Test  string // the file of Files that tests its greeting, for the first work to replace
}

// SkeletonFile is a file of a skeleton. {name} in it stands for the project.
type SkeletonFile struct{ Path, Text string }

// Of returns the files for a project of that name.
func (s Skeleton) Of(name string) []SkeletonFile {
	all := slices.Clone(s.Files)
	for i := range all {
		all[i].Path = strings.ReplaceAll(all[i].Path, "{name}", name)
		all[i].Text = strings.ReplaceAll(all[i].Text, "{name}", name)
	}
	return all
}

// IsGreeting reports whether a file is, to the byte, the test that a skeleton brought
// along: nobody's wish is in it, so that work may replace it.
func IsGreeting(path, text string) bool {
	for _, s := range All() {
		for _, f := range s.Skeleton.Files {
			if f.Path != s.Skeleton.Test || f.Path != path {
				continue
			}
			before, after, named := strings.Cut(f.Text, "{name}")
			rest, ok := strings.CutPrefix(text, before)
			if !named || !ok {
				continue
			}
			end, _, _ := strings.Cut(after, "{name}")
			name, _, found := strings.Cut(rest, end)
			if found && name != "" && strings.ReplaceAll(f.Text, "{name}", name) == text {
				return true
			}
		}
	}
	return false
}

// HasGreetingTest reports whether a tree still has the test that a skeleton brought along.
func HasGreetingTest(tree fs.FS) bool {
	return slices.ContainsFunc(All(), func(s Stack) bool {
		if s.Skeleton.Test == "" {
			return false
		}
		text, err := fs.ReadFile(tree, s.Skeleton.Test)
		return err == nil && IsGreeting(s.Skeleton.Test, string(text))
	})
}

// Choice is the stack of a new project.
type Choice struct {
	Stack Stack
	Why   []string // the reasons, most important first
	Not   []string // why it is none of those that came before or close
}

// Choose returns the stack that fits an idea best among those that have a
// skeleton and whose programs are there. Given names one; empty leaves it open.
// Where there is none, the string says why.
func Choose(idea, given string, has func(program string) bool) (Choice, string) {
	words := strings.FieldsFunc(strings.ToLower(idea), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' })
	var best Choice
	most, known := -1, false
	var names, not []string
	for _, s := range All() {
		if s.Name == given {
			known = true
		}
		if len(s.Skeleton.Files) == 0 {
			continue
		}
		names = append(names, s.Name)
		why, score := s.Skeleton.fits(words)
		if given != "" {
			why, score = []string{"it was asked for"}, 0
		}
		missing := slices.DeleteFunc(slices.Clone(s.Skeleton.Needs), has)
		switch {
		case given != "" && s.Name != given:
		case len(missing) > 0:
			not = append(not, s.Name+": "+strings.Join(missing, ", ")+" is not installed")
		case score > most:
			best.Stack, best.Why, most = s, append(why, strings.Join(s.Skeleton.Needs, ", ")+" is installed"), score
		}
	}
	best.Not = not
	switch {
	case most >= 0:
		return best, ""
	case given != "" && len(not) > 0:
		return best, not[0]
	case known:
		return best, "the stack " + given + " has no skeleton; these have one: " + strings.Join(names, ", ")
	case given != "":
		return best, "there is no stack " + given + "; these have a skeleton: " + strings.Join(names, ", ")
	default:
		return best, "no toolchain is installed that a project could begin with: " + strings.Join(not, "; ")
	}
}

// fits says what of an idea speaks for the stack, and how much.
func (s Skeleton) fits(words []string) (why []string, score int) {
	for _, w := range s.Named {
		if slices.Contains(words, w) {
			why, score = append(why, "the idea names "+w), score+100
		}
	}
	var good []string
	for _, w := range s.Fits {
		if slices.Contains(words, w) {
			good, score = append(good, w), score+1
		}
	}
	if len(good) > 0 {
		why = append(why, "it is good for "+s.For+" ("+strings.Join(good, ", ")+")")
	}
	if len(why) == 0 {
		why = append(why, "nothing in the idea asks for another one")
	}
	return why, score
}
