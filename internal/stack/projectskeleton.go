package stack

import (
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// ProjectSkeleton holds the first files of a new project of a stack: the smallest one whose build,
// lint and tests pass. The zero value is none.
type ProjectSkeleton struct {
	Needs []string // programs without which its gates cannot run
	Named []string // words of an idea that name this stack, in lower case
	Fits  []string // words of an idea that it is suitable for
	For   string   // its purpose
	Files []SkeletonFile
	Test  string // the file of Files that tests its greeting; the first task may replace it
}

// SkeletonFile is a file of a skeleton. {name} in it is replaced by the project's name.
type SkeletonFile struct{ Path, Text string }

// FilesFor returns the files for a project of that name.
func (s ProjectSkeleton) FilesFor(name string) []SkeletonFile {
	all := slices.Clone(s.Files)
	for i := range all {
		all[i].Path = strings.ReplaceAll(all[i].Path, "{name}", name)
		all[i].Text = strings.ReplaceAll(all[i].Text, "{name}", name)
	}
	return all
}

// IsGreeting reports whether a file is, byte for byte, the test that a skeleton brought along:
// no user asked for it, so a task may replace it.
func IsGreeting(path, text string) bool {
	for _, s := range AllStacks() {
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
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool {
		if s.Skeleton.Test == "" {
			return false
		}
		text, err := fs.ReadFile(tree, s.Skeleton.Test)
		return err == nil && IsGreeting(s.Skeleton.Test, string(text))
	})
}

// ProjectStackChoice is the stack of a new project.
type ProjectStackChoice struct {
	Stack Stack
	Why   []string // the reasons, most important first
	Not   []string // why the alternatives before or close to it were not chosen
}

// ChooseStack returns the stack that fits an idea best, among those with a skeleton whose programs
// exist. Given names one stack; "" leaves the choice open. If there is none, the string
// explains why.
func ChooseStack(idea, given string, has func(program string) bool) (ProjectStackChoice, string) {
	words := strings.FieldsFunc(strings.ToLower(idea), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' })
	var best ProjectStackChoice
	most, known := -1, false
	var names, not []string
	for _, s := range AllStacks() {
		if s.Name == given {
			known = true
		}
		if len(s.Skeleton.Files) == 0 {
			continue
		}
		names = append(names, s.Name)
		why, score := s.Skeleton.scoreIdea(words)
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

// scoreIdea returns the words of an idea that match the stack, and a score.
func (s ProjectSkeleton) scoreIdea(words []string) (why []string, score int) {
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
