package memoryentry

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"
)

// Points with which entries are rated.
const (
	filePoints   = 4.0
	dirPoints    = 1.0
	symbolPoints = 3.0
	wordPoints   = 2.0 // for the best match of words
	nearPoints   = 2.0 // for a text with the same meaning
	leastNear    = 0.5 // similarity below this counts as none
	leastWords   = 2   // words of a task that an entry must contain if they share nothing else
	leastLetters = 4   // letters of such a word
	perHit       = 0.1 // for each use, up to maxHits
	maxHits      = 5
	leastAge     = 0.25 // minimum factor for an entry that was not used for a long time
)

// HalfLife is the time after which the points of an unused entry are halved.
const HalfLife = 120 * 24 * time.Hour

// MemoryTaskQuery describes a task.
type MemoryTaskQuery struct {
	Files []string // declared files
	Text  string   // its text
}

// EntryCandidate is an entry that may be used, with data about its use.
type EntryCandidate struct {
	MemoryEntry

	Match float64   // match of its words, from 0 to 1, 1 for the best of all
	Near  float64   // similarity of its meaning to the task, from 0 to 1; 0 if unknown
	Hits  int       // number of uses
	Used  time.Time // last use; zero: never
}

// EntryDecision is the decision about a candidate.
type EntryDecision struct {
	EntryCandidate

	Score  float64
	Why    string // why it is relevant to the task
	Tokens int64
	Left   string // why it is omitted; empty if it is used
}

// ChooseEntries returns the candidates that are relevant to a task, the best first, and which of
// them fit into a number of tokens, as counted by cost. Irrelevant candidates are not
// returned.
func ChooseEntries(all []EntryCandidate, w MemoryTaskQuery, now time.Time, tokens int64, cost func(MemoryEntry) int64) []EntryDecision {
	words := map[string]bool{}
	for word := range wordSet(w.Text) {
		words[trimPluralS(word)] = true
	}
	var found []EntryDecision
	for _, c := range all {
		points, why := rateCandidate(c, w, words)
		if points <= 0 {
			continue
		}
		points *= 1 + perHit*float64(min(c.Hits, maxHits))
		found = append(found, EntryDecision{EntryCandidate: c, Score: points * ageFactor(c, now), Why: why, Tokens: cost(c.MemoryEntry)})
	}
	slices.SortStableFunc(found, func(a, b EntryDecision) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Learned.Compare(a.Learned.Time), cmp.Compare(a.ID, b.ID))
	})
	for i := range found {
		if found[i].Tokens > tokens {
			found[i].Left = fmt.Sprintf("%d of the tokens for memory are left, and it needs about %d", tokens, found[i].Tokens)
			continue
		}
		tokens -= found[i].Tokens
	}
	return found
}

// rateCandidate returns the relevance of a candidate to a task, and the reason.
func rateCandidate(c EntryCandidate, w MemoryTaskQuery, words map[string]bool) (points float64, why string) {
	var reasons []string
	add := func(p float64, format string, args ...any) {
		points += p
		reasons = append(reasons, fmt.Sprintf(format, args...))
	}
	near := ""
	for _, f := range c.Files {
		if slices.ContainsFunc(w.Files, func(g string) bool {
			return f.Path == g || strings.HasPrefix(f.Path, g+"/") || strings.HasPrefix(g, f.Path+"/")
		}) {
			add(filePoints, "file %s", f.Path)
			near = ""
			break
		}
		if dir := path.Dir(f.Path); near == "" && dir != "." && slices.ContainsFunc(w.Files, func(g string) bool { return path.Dir(g) == dir }) {
			near = dir
		}
	}
	if near != "" {
		add(dirPoints, "directory %s", near)
	}
	for _, s := range c.Symbols {
		if containsSymbol(w.Text, s) {
			add(symbolPoints, "symbol %s", s)
			break
		}
	}
	shared := sharedWords(c, words)
	enough := len(shared) >= leastWords || len(shared) > 0 && (points > 0 || slices.ContainsFunc(shared, isCoinedWord))
	if c.Match > 0 && enough {
		add(wordPoints*c.Match, "words %s", strings.Join(shared[:min(len(shared), 4)], ", "))
	}
	if c.Near >= leastNear {
		add(nearPoints*c.Near, "meaning %.2f", c.Near)
	}
	return points, strings.Join(reasons, "; ")
}

// sharedWords returns the words of a task that an entry contains, in order.
func sharedWords(c EntryCandidate, words map[string]bool) []string {
	var all []string
	for w := range wordSet(c.Text + " " + strings.Join(c.Symbols, " ") + " " + strings.Join(c.FilePaths(), " ")) {
		if len(w) >= leastLetters && words[trimPluralS(w)] && !slices.Contains(plainWords(), w) {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	return all
}

// isCoinedWord reports whether a word contains an underscore or a digit, and so is not an ordinary
// word.
func isCoinedWord(word string) bool { return strings.ContainsAny(word, "_0123456789") }

// trimPluralS returns a word without a final s.
func trimPluralS(word string) string { return strings.TrimSuffix(word, "s") }

// plainWords returns words without significance: of English, and of the texts that Nexus
// writes into entries.
func plainWords() []string {
	return []string{
		"about", "added", "after", "also", "before", "change", "changed", "code", "does", "done", "each", "ended", "every", "failed", "file",
		"files", "find", "finding", "from", "gate", "have", "into", "just", "make", "must", "need", "only", "other", "pass", "passes",
		"same", "should",
		"some", "task", "test", "tests",
		"than", "that", "them", "then", "there", "they", "this", "times", "used", "uses", "what", "when", "where",
		"which", "while", "will", "with", "work", "worked", "works", "write", "your",
	}
}

// containsSymbol reports whether a text contains a symbol as a word.
func containsSymbol(text, symbol string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], symbol)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(symbol)
		if (from == 0 || !isWordByte(text[from-1])) && (to == len(text) || !isWordByte(text[to])) {
			return true
		}
		at = from + 1
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// ageFactor returns the factor for a candidate's points, by the time since its last use, or since
// it was learned if it was never used.
func ageFactor(c EntryCandidate, now time.Time) float64 {
	last := c.Learned.Time
	if c.Used.After(last) {
		last = c.Used
	}
	if last.IsZero() || !now.After(last) {
		return 1
	}
	return max(leastAge, math.Exp2(-float64(now.Sub(last))/float64(HalfLife)))
}

// RetentionPeriods is how long unused entries are kept. A zero field keeps them forever.
type RetentionPeriods struct {
	Proposals time.Duration // unapproved entries, since they were learned
	Unused    time.Duration // approved entries, since their last use, or since they were learned
}

// ExpiryReason returns why an entry is to be removed, or "" if it is kept.
func ExpiryReason(c EntryCandidate, s EntryFreshness, file string, k RetentionPeriods, now time.Time) string {
	last := c.Learned.Time
	if c.Used.After(last) {
		last = c.Used
	}
	since := func(t time.Time, d time.Duration) bool { return d > 0 && !t.IsZero() && now.Sub(t) > d }
	days := func(d time.Duration) int { return int(d / (24 * time.Hour)) }
	switch {
	case c.State == Forgotten:
		return ""
	case s == Gone:
		return file + " was deleted"
	case c.State == Proposed && since(c.Learned.Time, k.Proposals):
		return fmt.Sprintf("it was not approved for %d days", days(k.Proposals))
	case c.State == Approved && since(last, k.Unused):
		return fmt.Sprintf("no task needed it for %d days", days(k.Unused))
	}
	return ""
}
