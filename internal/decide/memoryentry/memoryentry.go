// Package memoryentry defines the entries of a repository's memory: a learned fact, its kind,
// its origin, its files, and whether a person approved it.
//
// An entry is one Markdown file. Its head has a line for each field, and its body is the
// text. [ParseEntry] is strict: people edit these files by hand, and errors name the line.
// [ProposeEntries] finds facts of a run that are worth storing, and [ChooseEntries] selects the entries for
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

// EntryKind is the kind of an entry.
type EntryKind string

// Values of Kind.
const (
	Decision EntryKind = "decision" // a decision, and its reason
	Pattern  EntryKind = "pattern"  // a convention of the repository
	Gotcha   EntryKind = "gotcha"   // a failure whose cause is in another place
	Fix      EntryKind = "fix"      // a failure, and the change that ended it
	Review   EntryKind = "review"   // a reviewer's reason for sending work back
)

// EntryKinds returns all kinds.
func EntryKinds() []EntryKind { return []EntryKind{Decision, Pattern, Gotcha, Fix, Review} }

// EntryApprovalState is whether an entry may be given to agents.
type EntryApprovalState string

// Values of State.
const (
	Proposed  EntryApprovalState = "proposed"  // not approved; also the zero State
	Approved  EntryApprovalState = "approved"  // approved by a person
	Forgotten EntryApprovalState = "forgotten" // must be neither used nor proposed again
)

// ApprovalStates returns all states.
func ApprovalStates() []EntryApprovalState {
	return []EntryApprovalState{Proposed, Approved, Forgotten}
}

// EntrySource is the source of an entry.
type EntrySource string

// Values of Source.
const (
	ByRun    EntrySource = "run"    // from the facts of a run
	ByAgent  EntrySource = "agent"  // in an agent's own words
	ByPerson EntrySource = "person" // written by hand; also the zero Source
)

// ProposalSources returns all sources.
func ProposalSources() []EntrySource { return []EntrySource{ByRun, ByAgent, ByPerson} }

// Limits of an entry.
const (
	MaxText   = 4000     // bytes
	MaxFile   = 16 << 10 // bytes
	maxFiles  = 20
	maxOrigin = 10
	maxName   = 200
)

// SubjectFile is a file that an entry is about.
type SubjectFile struct {
	Path string `json:"path"`
	Blob string `json:"blob,omitzero"` // its git object at that time; empty: any content
}

// EntryOrigin is the origin of an entry.
type EntryOrigin struct {
	Run    nexus.RunID  `json:"run"`
	Task   nexus.TaskID `json:"task,omitzero"`
	Commit string       `json:"commit,omitzero"` // the landed commit
}

// MemoryEntry is an entry of the memory.
type MemoryEntry struct {
	ID      string             `json:"id"` // name of its file, without the extension
	Kind    EntryKind          `json:"kind"`
	State   EntryApprovalState `json:"state"`
	By      EntrySource        `json:"by,omitzero"`
	Learned CalendarDay        `json:"learned,omitzero"` // zero: unknown
	From    []EntryOrigin      `json:"from,omitempty"`   // the newest last
	Files   []SubjectFile      `json:"files,omitempty"`
	Symbols []string           `json:"symbols,omitempty"`
	Text    string             `json:"text"` // Markdown
}

// CalendarDay is a day, at midnight UTC.
type CalendarDay struct{ time.Time }

// DayOf returns the day of a time.
func DayOf(t time.Time) CalendarDay { return CalendarDay{t.UTC().Truncate(24 * time.Hour)} }

// String formats the day as 2006-01-02, or as "" for the zero Day.
func (d CalendarDay) String() string {
	if d.IsZero() {
		return ""
	}
	return d.Format(time.DateOnly)
}

// MarshalJSON encodes the day as text; the embedded time would add hours.
func (d CalendarDay) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// FirstLine returns the first line of the text with content.
func (e MemoryEntry) FirstLine() string {
	for line := range strings.Lines(e.Text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "#-*> \t")); line != "" {
			return line
		}
	}
	return ""
}

// EntryID returns the ID of an entry: its kind, its first words, and a part of the hash of the
// key, which is the same when it is learned again.
func EntryID(k EntryKind, title, key string) string {
	var words []string
	n := 0
	for _, w := range LowerCaseWords(title) {
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

// LowerCaseWords returns the words of a text in lower case, made of letters, digits and underscores.
func LowerCaseWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// IsSameEntry reports whether two entries have the same content: the same kind, overlapping files,
// and most of their words in common.
func IsSameEntry(a, b MemoryEntry) bool {
	if a.Kind != b.Kind || !shareFile(a.Files, b.Files) {
		return false
	}
	x, y := wordSet(a.Text), wordSet(b.Text)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return both > 0 && 5*both >= 4*(len(x)+len(y)-both)
}

func shareFile(a, b []SubjectFile) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return slices.ContainsFunc(a, func(f SubjectFile) bool {
		return slices.ContainsFunc(b, func(g SubjectFile) bool { return f.Path == g.Path })
	})
}

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range LowerCaseWords(text) {
		all[w] = true
	}
	return all
}

// MergeOrigins adds the origins of an entry that was learned again, and reports whether they are
// new.
func (e *MemoryEntry) MergeOrigins(again MemoryEntry) bool {
	news := false
	for _, o := range again.From {
		if slices.ContainsFunc(e.From, func(old EntryOrigin) bool { return old.Run == o.Run && old.Task == o.Task }) {
			continue
		}
		e.From, news = append(slices.Clip(e.From), o), true
	}
	e.From = e.From[max(0, len(e.From)-maxOrigin):]
	return news
}

// EntryFreshness is whether the files of an entry still exist unchanged.
type EntryFreshness string

// Only fresh entries are used.
const (
	Fresh EntryFreshness = "fresh"
	Stale EntryFreshness = "stale" // one of its files changed
	Gone  EntryFreshness = "gone"  // one of its files was deleted

	Unmerged EntryFreshness = "unmerged" // the work that it comes from is not on the branch
)

// CheckFreshness compares the files of an entry with the present ones. A file without a blob
// is only a place where the entry applies: it may change, and the entry is gone only when all
// such files are gone.
func (e MemoryEntry) CheckFreshness(now func(path string) (blob string)) (s EntryFreshness, file string) {
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

// FilePaths returns the paths of its files.
func (e MemoryEntry) FilePaths() []string {
	all := make([]string, len(e.Files))
	for i, f := range e.Files {
		all[i] = f.Path
	}
	return all
}

// SortEntries sorts entries: by state in the order of [ApprovalStates], then the newest first, then by ID.
func SortEntries(all []MemoryEntry) {
	slices.SortStableFunc(all, func(a, b MemoryEntry) int {
		return cmp.Or(
			slices.Index(ApprovalStates(), a.State)-slices.Index(ApprovalStates(), b.State),
			b.Learned.Compare(a.Learned.Time), cmp.Compare(a.ID, b.ID))
	})
}
