// Package news says what an attempt under way hears of what landed meanwhile: of
// what changed something that its writers looked at.
package news

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The bounds of what is told of a landing.
const (
	longestWord = 200
	maxHeard    = 5 // files and names
)

// For returns what is to be said before a call to those who write: what people
// left for the task, and what the attempt is to hear of landings. Each is told
// once, in one line, as soon as the attempt has looked at what changed.
func For(s *state.State, r nexus.BudgetReserved) []state.Guidance {
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
	a := s.Attempt(nexus.AttemptID(id))
	if a == nil {
		return all
	}
	if t := s.Task(r.Task); t != nil && (r.Role == nexus.Coder || t.Kind == nexus.TestTask) {
		all = append(all, t.Untold(a.ID)...)
	}
	var looked []string
	for _, l := range s.Since(a) {
		if slices.Contains(a.Heard, l.Seq) {
			continue
		}
		if looked == nil {
			looked = looks(a)
		}
		if text := heard(a.ID, looked, l.TrainLanded); text != "" {
			all = append(all, state.Guidance{Seq: l.Seq, Task: r.Task, Text: text, Landed: true})
		}
	}
	return all
}

// Say returns the message that delivers it, and what it is for.
func Say(g state.Guidance) (text, why string) {
	if len(g.Comments) > 0 {
		return diffreview.Message(g.Comments), "review"
	}
	if g.Landed {
		return g.Text, nexus.LandedWhy
	}
	if g.Cut {
		return "A person interrupted what you were doing, and says:\n\n" + g.Text, "interrupt"
	}
	return "Guidance from a person:\n\n" + g.Text, "guidance"
}

// looks returns the words of what those who write called for.
func looks(a *state.Attempt) []string {
	all := []string{}
	for _, s := range a.Sessions {
		if s.Role == nexus.Coder || s.Role == nexus.Tester {
			for _, about := range s.Looked {
				all = append(all, words(about)...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// words returns what in a text may be the name of a file or of something in code.
func words(text string) []string {
	text = strings.NewReplacer(`\b`, " ", `\n`, " ").Replace(text) // ends of words of a pattern, and of lines
	const letters = "_-./$0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	all := strings.FieldsFunc(text, func(r rune) bool { return r < 0x80 && !strings.ContainsRune(letters, r) })
	return slices.DeleteFunc(all, func(w string) bool { return len(w) < 3 || len(w) > longestWord })
}

// isFile reports whether words name a file of an attempt's tree: by its path from the
// root, or by its whole path, which ends with the attempt and that.
func isFile(id nexus.AttemptID, looked []string, name string) bool {
	return slices.ContainsFunc(looked, func(w string) bool {
		w = path.Clean(w)
		return w == name || path.IsAbs(w) && strings.HasSuffix(w, "/"+string(id)+"/tree/"+name)
	})
}

// isName reports whether words name something in code.
func isName(looked []string, name string) bool {
	return slices.ContainsFunc(looked, func(w string) bool { return w == name || strings.HasSuffix(w, "."+name) })
}

// heard returns what is told of a landing, nothing where that is no concern of
// those who looked.
func heard(id nexus.AttemptID, looked []string, l nexus.TrainLanded) string {
	var files, names []string
	for _, f := range l.Changes.Files {
		if isFile(id, looked, f) {
			files = append(files, f)
		}
	}
	for _, n := range l.Changes.Names {
		switch {
		case !slices.Contains(files, n.File) && !isName(looked, n.Name):
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
		text += ": " + some(files)
	}
	if len(names) > 0 {
		text += "; " + some(names)
	}
	return text + ". Your worktree does not have it: your change is merged with it when it lands."
}

// some lists the first of several.
func some(all []string) string {
	if more := len(all) - maxHeard; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxHeard], ", "), more)
	}
	return strings.Join(all, ", ")
}
