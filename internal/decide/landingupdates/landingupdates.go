// Package landingupdates selects the landings that a running attempt must be told about: those that
// changed something that its writers have read.
package landingupdates

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Limits of the text about a landing.
const (
	longestWord = 200
	maxHeard    = 5 // files and names
)

// PendingUpdates returns the messages to deliver before a writer's call: people's guidance
// for the task, and relevant landings. Each landing is reported once, in one line, as soon as
// the attempt has read the changed thing.
func PendingUpdates(s *state.State, r nexus.BudgetReserved) []state.Guidance {
	if r.Role != nexus.Coder && r.Role != nexus.Tester {
		return nil
	}
	var all []state.Guidance
	for _, g := range s.Guidance {
		if g.Task == r.Task {
			all = append(all, g)
		}
	}
	id, _, _ := strings.Cut(string(r.Session), "/")
	a := s.AttemptByID(nexus.AttemptID(id))
	if a == nil {
		return all
	}
	if t := s.TaskByID(r.Task); t != nil && (r.Role == nexus.Coder || t.Kind == nexus.TestTask) {
		all = append(all, t.UndeliveredComments(a.ID)...)
	}
	var at *writerReadIndex
	for _, l := range s.LandingsSince(a) {
		if slices.Contains(a.Heard, l.Seq) {
			continue
		}
		if at == nil {
			at = indexWriterReads(a)
		}
		if text := landingText(a.ID, at, l.LandingCompleted); text != "" {
			all = append(all, state.Guidance{Seq: l.Seq, Task: r.Task, Text: text, Landed: true})
		}
	}
	return all
}

// UpdateMessage returns the message that delivers guidance, and its Why.
func UpdateMessage(g state.Guidance) (text, why string) {
	if len(g.Comments) > 0 {
		return diffreview.ReviewMessage(g.Comments), "review"
	}
	if g.Landed {
		return g.Text, nexus.LandedWhy
	}
	if g.Cut {
		return "A person interrupted you, with this message:\n\n" + g.Text, "interrupt"
	}
	return "Guidance from a person:\n\n" + g.Text, "guidance"
}

// ParseGuidance returns the person's text in a message of [UpdateMessage] with this Why, or
// "" if there is none.
func ParseGuidance(message, why string) string {
	for _, w := range []string{"guidance", "interrupt"} {
		_, text, found := strings.Cut(message, ":\n\n")
		if why == w && found && text != state.LookAgain {
			return text
		}
	}
	return ""
}

// writerReadIndex lists the things that writers have read.
type writerReadIndex struct {
	paths []string // possible file paths, from the root or absolute
	words []string // possible names in code
}

// indexWriterReads returns the index of the writers' tool calls.
func indexWriterReads(a *state.AttemptState) *writerReadIndex {
	all := &writerReadIndex{}
	for _, s := range a.Sessions {
		if s.Role == nexus.Coder || s.Role == nexus.Tester {
			for _, about := range s.Looked {
				all.addWords(about)
			}
		}
	}
	for _, list := range []*[]string{&all.paths, &all.words} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return all
}

// addWords adds the words of a call. In a command line, the words after "cd DIR" are below that
// directory, up to the end of the enclosing parentheses, and the words after "-C DIR" up to
// the end of the command.
func (l *writerReadIndex) addWords(text string) {
	text = strings.NewReplacer(`\b`, " ", `\n`, " ").Replace(text) // ends of words in a pattern, and of lines
	at, once, outer := "", "", []string{}
	for before, w := range wordPairs(text) {
		switch w {
		case "(":
			outer = append(outer, at)
		case ")":
			if last := len(outer) - 1; last >= 0 {
				at, outer = outer[last], outer[:last]
			}
		}
		switch {
		case strings.Contains(ends, w):
			once = ""
		case len(w) > longestWord:
		case before == "cd" || before == "pushd":
			at = changeDirectory(at, w)
		case before == "-C":
			once = changeDirectory(at, w)
		case len(w) >= 3:
			l.words = append(l.words, w)
			l.paths = append(l.paths, path.Join(cmp.Or(once, at), w))
			if path.IsAbs(w) {
				l.paths[len(l.paths)-1] = path.Clean(w)
			}
		}
	}
}

// changeDirectory returns the directory after a change of directory, or the root of the tree if it is
// unknown.
func changeDirectory(at, dir string) string {
	switch {
	case strings.ContainsAny(dir, "$") || strings.HasPrefix(dir, "-"):
		return ""
	case path.IsAbs(dir):
		return path.Clean(dir)
	}
	return path.Join(at, dir)
}

// ends are the tokens that end a command.
const ends = "();&|\n"

// wordPairs returns the words of a text, each with the one before it.
func wordPairs(text string) iter.Seq2[string, string] {
	const letters = "_-./$0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return func(yield func(string, string) bool) {
		before, rest := "", text
		for rest != "" {
			n := strings.IndexFunc(rest, func(r rune) bool { return r < 0x80 && !strings.ContainsRune(letters, r) })
			switch {
			case n < 0:
				n = len(rest)
			case n == 0 && !strings.ContainsRune(ends, rune(rest[0])):
				rest = rest[1:]
				continue
			case n == 0:
				n = 1
			}
			if !yield(before, rest[:n]) {
				return
			}
			before, rest = rest[:n], rest[n:]
		}
	}
}

// hasViewedFile reports whether a file of an attempt's tree was read: by its path from the root, or by
// its absolute path, which ends with the attempt and that path.
func (l *writerReadIndex) hasViewedFile(id nexus.AttemptID, name string) bool {
	return slices.ContainsFunc(l.paths, func(w string) bool {
		return w == name || path.IsAbs(w) && strings.HasSuffix(w, "/"+string(id)+"/tree/"+name)
	})
}

// hasReadName reports whether a name in code was read.
func (l *writerReadIndex) hasReadName(name string) bool {
	return slices.ContainsFunc(l.words, func(w string) bool { return w == name || strings.HasSuffix(w, "."+name) })
}

// landingText returns the message about a landing, or "" if it is not relevant.
func landingText(id nexus.AttemptID, at *writerReadIndex, l nexus.LandingCompleted) string {
	var files, names []string
	for _, f := range l.Changes.Files {
		if at.hasViewedFile(id, f) {
			files = append(files, f)
		}
	}
	for _, n := range l.Changes.Names {
		switch {
		case !slices.Contains(files, n.File) && !at.hasReadName(n.Name):
		case n.Now == "":
			names = append(names, fmt.Sprintf("%q is gone", n.Was))
		default:
			names = append(names, fmt.Sprintf("%q is now %q", n.Was, n.Now))
		}
	}
	if len(files) == 0 && len(names) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s landed meanwhile as commit %.12s and changed what you looked at", l.Task, l.Commit)
	if len(files) > 0 {
		text += ": " + listSome(files)
	}
	if len(names) > 0 {
		text += "; " + listSome(names)
	}
	return text + ". Your worktree does not have it: your change is merged with it when it lands."
}

// listSome lists the first few of several.
func listSome(all []string) string {
	if more := len(all) - maxHeard; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxHeard], ", "), more)
	}
	return strings.Join(all, ", ")
}
