// Package memoryentry holds what a repository's memory keeps: what was learned, of
// which kind, from where, about which files, and whether a person approved it.
//
// An episode is one Markdown file. Its head has a line for each field, and its
// body is the text. [Parse] is strict: people edit these files by hand, and
// what they mistype is named with its line. [Propose] finds in the facts of a
// run what is worth keeping, and [Choose] what a task is told of it.
package memoryentry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Dir is where approved episodes are, from the root of the repository.
const Dir = ".nexus/memory"

// Kind says what sort of thing was learned.
type Kind string

// The kinds.
const (
	Decision Kind = "decision" // what somebody chose, and why
	Pattern  Kind = "pattern"  // how things are done here
	Gotcha   Kind = "gotcha"   // what fails for a reason that is somewhere else
	Fix      Kind = "fix"      // what failed, and the change to it that ended that
	Review   Kind = "review"   // what a reviewer sent work back for
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Decision, Pattern, Gotcha, Fix, Review} }

// State says whether an episode may be told to agents.
type State string

// The states.
const (
	Proposed  State = "proposed"  // nobody approved it; so is the zero State
	Approved  State = "approved"  // a person did
	Forgotten State = "forgotten" // a person wants it neither told nor proposed again
)

// States returns all states.
func States() []State { return []State{Proposed, Approved, Forgotten} }

// Source says who proposed an episode.
type Source string

// The sources.
const (
	ByRun    Source = "run"    // from the facts of a run
	ByAgent  Source = "agent"  // in its own words
	ByPerson Source = "person" // wrote it by hand; so is the zero Source
)

// Sources returns all sources.
func Sources() []Source { return []Source{ByRun, ByAgent, ByPerson} }

// Bounds of an episode.
const (
	MaxText   = 4000     // bytes
	MaxFile   = 16 << 10 // bytes
	maxFiles  = 20
	maxOrigin = 10
	maxName   = 200
)

// File is a file that an episode is about.
type File struct {
	Path string `json:"path"`
	Blob string `json:"blob,omitzero"` // its git object when that was learned; empty: any content of it is meant
}

// Origin is where an episode comes from.
type Origin struct {
	Run    nexus.RunID  `json:"run"`
	Task   nexus.TaskID `json:"task,omitzero"`
	Commit string       `json:"commit,omitzero"` // that landed
}

// Episode is something that was learned.
type Episode struct {
	ID      string   `json:"id"` // name of its file, without the ending
	Kind    Kind     `json:"kind"`
	State   State    `json:"state"`
	By      Source   `json:"by,omitzero"`
	Learned Day      `json:"learned,omitzero"` // zero: unknown
	From    []Origin `json:"from,omitempty"`   // the newest last
	Files   []File   `json:"files,omitempty"`
	Symbols []string `json:"symbols,omitempty"`
	Text    string   `json:"text"` // Markdown
}

// Day is a day, at midnight UTC.
type Day struct{ time.Time }

// DayOf returns the day of a time.
func DayOf(t time.Time) Day { return Day{t.UTC().Truncate(24 * time.Hour)} }

// String writes the day as 2006-01-02, nothing for the zero Day.
func (d Day) String() string {
	if d.IsZero() {
		return ""
	}
	return d.Format(time.DateOnly)
}

// MarshalJSON writes the day as text; that of the time in it has hours, too.
func (d Day) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Title returns the first line of the text that says something.
func (e Episode) Title() string {
	for line := range strings.Lines(e.Text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "#-*> \t")); line != "" {
			return line
		}
	}
	return ""
}

// Name returns the ID of an episode: its kind, its first words, and a part of
// the hash of what makes it the same when it is learned again.
func Name(k Kind, title, key string) string {
	var words []string
	n := 0
	for _, w := range Words(title) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 || r >= '0' && r <= '9' }) {
			continue // numbers change, and every system takes the name of the file
		}
		if n += len(w) + 1; n > 40 {
			break
		}
		words = append(words, w)
	}
	sum := sha256.Sum256([]byte(string(k) + "\x00" + key))
	return strings.Join(append(append([]string{string(k)}, words...), hex.EncodeToString(sum[:3])), "-")
}

// Words returns the words of a text in lower case: letters, digits and
// underscores.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Same reports whether two episodes say the same: they are of one kind, about
// files that meet, and most of their words are in both.
func Same(a, b Episode) bool {
	if a.Kind != b.Kind || !meet(a.Files, b.Files) {
		return false
	}
	x, y := set(a.Text), set(b.Text)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return both > 0 && 5*both >= 4*(len(x)+len(y)-both)
}

func meet(a, b []File) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return slices.ContainsFunc(a, func(f File) bool {
		return slices.ContainsFunc(b, func(g File) bool { return f.Path == g.Path })
	})
}

func set(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range Words(text) {
		all[w] = true
	}
	return all
}

// Merge adds where an episode was learned again, and reports whether that is
// news.
func (e *Episode) Merge(again Episode) bool {
	news := false
	for _, o := range again.From {
		if slices.ContainsFunc(e.From, func(old Origin) bool { return old.Run == o.Run && old.Task == o.Task }) {
			continue
		}
		e.From, news = append(slices.Clip(e.From), o), true
	}
	e.From = e.From[max(0, len(e.From)-maxOrigin):]
	return news
}

// Freshness says whether what an episode was learned about is still there.
type Freshness string

// The standings. What is not fresh is not told.
const (
	Fresh Freshness = "fresh"
	Stale Freshness = "stale" // a file of it changed
	Gone  Freshness = "gone"  // a file of it was deleted

	Unmerged Freshness = "unmerged" // the work that it comes from is not part of the branch
)

// CheckFreshness compares the files of an episode with those that are there now. A file
// without a blob is only a place where it applies: it can change, and only when
// all of them are gone, the episode is, too.
func (e Episode) CheckFreshness(now func(path string) (blob string)) (s Freshness, file string) {
	s = Fresh
	missing := 0
	for _, f := range e.Files {
		switch is := now(f.Path); {
		case is == "" && f.Blob != "":
			return Gone, f.Path
		case is == "":
			if missing++; missing == len(e.Files) {
				return Gone, f.Path
			}
		case f.Blob != "" && is != f.Blob && s == Fresh:
			s, file = Stale, f.Path
		}
	}
	return s, file
}

// Paths returns the paths of its files.
func (e Episode) Paths() []string {
	all := make([]string, len(e.Files))
	for i, f := range e.Files {
		all[i] = f.Path
	}
	return all
}

// Order sorts episodes: by state as [States] has them, then the newest first,
// then by ID.
func Order(all []Episode) {
	slices.SortStableFunc(all, func(a, b Episode) int {
		return cmp.Or(
			slices.Index(States(), a.State)-slices.Index(States(), b.State),
			b.Learned.Compare(a.Learned.Time), cmp.Compare(a.ID, b.ID))
	})
}
