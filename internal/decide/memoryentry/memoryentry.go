// Package memoryentry defines the entries of a repository's memory: a learned fact, its kind,
// its origin, its files, and whether a person approved it.
//
// An entry is one Markdown file. Its head has a line for each field, and its body is the
// text. [Parse] is strict: people edit these files by hand, and errors name the line.
// [Propose] finds facts of a run that are worth storing, and [Choose] selects the entries for
// a task.
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

// Dir is the directory of approved entries, from the root of the repository.
const Dir = ".nexus/memory"

// Kind is the kind of an entry.
type Kind string

// Values of Kind.
const (
	Decision Kind = "decision" // a decision, and its reason
	Pattern  Kind = "pattern"  // a convention of the repository
	Gotcha   Kind = "gotcha"   // a failure whose cause is in another place
	Fix      Kind = "fix"      // a failure, and the change that ended it
	Review   Kind = "review"   // a reviewer's reason for sending work back
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Decision, Pattern, Gotcha, Fix, Review} }

// State is whether an entry may be given to agents.
type State string

// Values of State.
const (
	Proposed  State = "proposed"  // not approved; also the zero State
	Approved  State = "approved"  // approved by a person
	Forgotten State = "forgotten" // must be neither used nor proposed again
)

// States returns all states.
func States() []State { return []State{Proposed, Approved, Forgotten} }

// Source is the source of an entry.
type Source string

// Values of Source.
const (
	ByRun    Source = "run"    // from the facts of a run
	ByAgent  Source = "agent"  // in an agent's own words
	ByPerson Source = "person" // written by hand; also the zero Source
)

// Sources returns all sources.
func Sources() []Source { return []Source{ByRun, ByAgent, ByPerson} }

// Limits of an entry.
const (
	MaxText   = 4000     // bytes
	MaxFile   = 16 << 10 // bytes
	maxFiles  = 20
	maxOrigin = 10
	maxName   = 200
)

// File is a file that an entry is about.
type File struct {
	Path string `json:"path"`
	Blob string `json:"blob,omitzero"` // its git object at that time; empty: any content
}

// Origin is the origin of an entry.
type Origin struct {
	Run    nexus.RunID  `json:"run"`
	Task   nexus.TaskID `json:"task,omitzero"`
	Commit string       `json:"commit,omitzero"` // the landed commit
}

// Episode is an entry of the memory.
type Episode struct {
	ID      string   `json:"id"` // name of its file, without the extension
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

// String formats the day as 2006-01-02, or as "" for the zero Day.
func (d Day) String() string {
	if d.IsZero() {
		return ""
	}
	return d.Format(time.DateOnly)
}

// MarshalJSON encodes the day as text; the embedded time would add hours.
func (d Day) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Title returns the first line of the text with content.
func (e Episode) Title() string {
	for line := range strings.Lines(e.Text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "#-*> \t")); line != "" {
			return line
		}
	}
	return ""
}

// Name returns the ID of an entry: its kind, its first words, and a part of the hash of the
// key, which is the same when it is learned again.
func Name(k Kind, title, key string) string {
	var words []string
	n := 0
	for _, w := range Words(title) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 0x80 || r >= '0' && r <= '9' }) {
			continue // numbers change, and every system accepts the file name
		}
		if n += len(w) + 1; n > 40 {
			break
		}
		words = append(words, w)
	}
	sum := sha256.Sum256([]byte(string(k) + "\x00" + key))
	return strings.Join(append(append([]string{string(k)}, words...), hex.EncodeToString(sum[:3])), "-")
}

// Words returns the words of a text in lower case, made of letters, digits and underscores.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// Same reports whether two entries have the same content: the same kind, overlapping files,
// and most of their words in common.
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

// Merge adds the origins of an entry that was learned again, and reports whether they are
// new.
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

// Freshness is whether the files of an entry still exist unchanged.
type Freshness string

// Only fresh entries are used.
const (
	Fresh Freshness = "fresh"
	Stale Freshness = "stale" // one of its files changed
	Gone  Freshness = "gone"  // one of its files was deleted

	Unmerged Freshness = "unmerged" // the work that it comes from is not on the branch
)

// CheckFreshness compares the files of an entry with the present ones. A file without a blob
// is only a place where the entry applies: it may change, and the entry is gone only when all
// such files are gone.
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

// Order sorts entries: by state in the order of [States], then the newest first, then by ID.
func Order(all []Episode) {
	slices.SortStableFunc(all, func(a, b Episode) int {
		return cmp.Or(
			slices.Index(States(), a.State)-slices.Index(States(), b.State),
			b.Learned.Compare(a.Learned.Time), cmp.Compare(a.ID, b.ID))
	})
}
