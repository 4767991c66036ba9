package state

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// The bounds of what is known of what a session looked at, and of what it is
// told of a landing.
const (
	maxLooked   = 500 // words of its calls
	longestWord = 200
	maxHeard    = 5 // files and names of a landing
)

// look notes the words of a call that may name a file or something in code.
func (s *Session) look(about string) {
	for _, w := range words(about) {
		if len(s.looked) < maxLooked && !slices.Contains(s.looked, w) {
			s.looked = append(clip(s.looked), w)
		}
	}
}

// words returns what in a text may be the name of a file or of something in code.
func words(text string) []string {
	text = strings.NewReplacer(`\b`, " ", `\n`, " ").Replace(text) // ends of words of a pattern, and of lines
	all := strings.FieldsFunc(text, func(r rune) bool {
		return r < 0x80 && r != '_' && r != '-' && r != '.' && r != '/' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.DeleteFunc(all, func(w string) bool { return len(w) < 3 || len(w) > longestWord })
}

// looksAt reports whether a call of a session named a file, or something in code.
func (s *Session) looksAt(name string, file bool) bool {
	return slices.ContainsFunc(s.looked, func(w string) bool {
		if file {
			return path.Clean(w) == name || strings.HasSuffix(w, "/"+name)
		}
		return w == name || strings.HasSuffix(w, "."+name)
	})
}

// spread lets the attempts under way know of a landing that changed what their
// writers looked at. Each is told once, in one line, before its next call.
func (s *State) spread(seq int64, l nexus.TrainLanded) {
	for _, t := range s.Tasks {
		a := t.Current()
		if t.ID == l.Task || a == nil || a.Stage == Over {
			continue
		}
		if text := a.heard(l); text != "" {
			s.News = append(s.News, Guidance{Seq: seq, Task: t.ID, Text: text, Attempt: a.ID})
		}
	}
}

// heard returns what an attempt is told of a landing, nothing where that is no
// concern of its.
func (a *Attempt) heard(l nexus.TrainLanded) string {
	var files, names []string
	for _, f := range l.Files {
		if a.looksAt(f, true) {
			files = append(files, f)
		}
	}
	for _, n := range l.Names {
		switch {
		case !slices.Contains(files, n.File) && !a.looksAt(n.Name, false):
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

// looksAt reports whether one who writes named a file or something in code.
func (a *Attempt) looksAt(name string, file bool) bool {
	return slices.ContainsFunc(a.Sessions, func(s *Session) bool {
		return (s.Role == nexus.Coder || s.Role == nexus.Tester) && s.looksAt(name, file)
	})
}

// some lists the first of several.
func some(all []string) string {
	if more := len(all) - maxHeard; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:maxHeard], ", "), more)
	}
	return strings.Join(all, ", ")
}

// delivered takes off what a session was told.
func (s *State) delivered(f nexus.PromptSent) {
	s.Guidance = slices.DeleteFunc(s.Guidance, func(g Guidance) bool { return g.Seq == f.Request })
	id := attemptOfSession(f.Session)
	s.News = slices.DeleteFunc(s.News, func(g Guidance) bool { return g.Seq == f.Request && g.Attempt == id })
}

// over forgets what an attempt that is over was to hear.
func (s *State) over(id nexus.AttemptID) {
	s.News = slices.DeleteFunc(s.News, func(g Guidance) bool { return g.Attempt == id })
}

// Say returns the message that delivers it, and what it is for.
func (g Guidance) Say() (text, why string) {
	if g.Attempt != "" {
		return g.Text, "landed"
	}
	return "Guidance from a person:\n\n" + g.Text, "guidance"
}

// For returns what is to be said before a call: to those who write.
func (s *State) For(r nexus.BudgetReserved) []Guidance {
	if r.Role != nexus.Coder && r.Role != nexus.Tester {
		return nil
	}
	var all []Guidance
	for _, g := range s.Guidance {
		if g.Task == r.Task {
			all = append(all, g)
		}
	}
	for _, g := range s.News {
		if g.Attempt == attemptOfSession(r.Session) {
			all = append(all, g)
		}
	}
	return all
}
