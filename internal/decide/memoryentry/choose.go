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

// What counts for an episode when it is chosen.
const (
	filePoints   = 4.0
	dirPoints    = 1.0
	symbolPoints = 3.0
	wordPoints   = 2.0 // of the best match of words
	nearPoints   = 2.0 // of a text that means the same
	leastNear    = 0.5 // what means less of the same says nothing
	leastWords   = 2   // of a task that an episode must share where nothing else is common to them
	leastLetters = 4   // of such a word
	perHit       = 0.1 // for each time that it was told, up to maxHits
	maxHits      = 5
	leastAge     = 0.25 // what is left of the points of one that nobody needed for long
)

// HalfLife is the time after which an episode that nobody was told of counts
// half.
const HalfLife = 120 * 24 * time.Hour

// TaskQuery is what a task is about.
type TaskQuery struct {
	Files []string // that it names
	Text  string   // what it says
}

// Candidate is an episode that may be told, with what is known of its use.
type Candidate struct {
	Episode

	Match float64   // of its words, from 0 to 1, 1 being the best of all
	Near  float64   // how nearly it means what the task says, from 0 to 1; 0 where nobody knows
	Hits  int       // times that it was told
	Used  time.Time // last; zero for never
}

// Choice is what becomes of a candidate.
type Choice struct {
	Candidate

	Score  float64
	Why    string // it is about the task
	Tokens int64
	Left   string // why it is left out; empty where it is told
}

// Choose returns the candidates that have to do with a task, the best first, and
// which of them fit into a number of tokens, as cost counts them. What has
// nothing to do with the task is not returned.
func Choose(all []Candidate, w TaskQuery, now time.Time, tokens int64, cost func(Episode) int64) []Choice {
	words := map[string]bool{}
	for word := range set(w.Text) {
		words[singular(word)] = true
	}
	var found []Choice
	for _, c := range all {
		points, why := rate(c, w, words)
		if points <= 0 {
			continue
		}
		points *= 1 + perHit*float64(min(c.Hits, maxHits))
		found = append(found, Choice{Candidate: c, Score: points * decay(c, now), Why: why, Tokens: cost(c.Episode)})
	}
	slices.SortStableFunc(found, func(a, b Choice) int {
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

// rate returns how much a candidate has to do with a task, and why.
func rate(c Candidate, w TaskQuery, words map[string]bool) (points float64, why string) {
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
		if names(w.Text, s) {
			add(symbolPoints, "symbol %s", s)
			break
		}
	}
	shared := common(c, words)
	enough := len(shared) >= leastWords || len(shared) > 0 && (points > 0 || slices.ContainsFunc(shared, coined))
	if c.Match > 0 && enough {
		add(wordPoints*c.Match, "words %s", strings.Join(shared[:min(len(shared), 4)], ", "))
	}
	if c.Near >= leastNear {
		add(nearPoints*c.Near, "meaning %.2f", c.Near)
	}
	return points, strings.Join(reasons, "; ")
}

// common returns the words of a task that an episode has, in order.
func common(c Candidate, words map[string]bool) []string {
	var all []string
	for w := range set(c.Text + " " + strings.Join(c.Symbols, " ") + " " + strings.Join(c.Paths(), " ")) {
		if len(w) >= leastLetters && words[singular(w)] && !slices.Contains(plainWords(), w) {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	return all
}

// coined reports whether a word is one that nobody uses by chance.
func coined(word string) bool { return strings.ContainsAny(word, "_0123456789") }

// singular returns a word without the ending of a plural, or of the third person.
func singular(word string) string { return strings.TrimSuffix(word, "s") }

// plainWords are words that say nothing about what a text is about: of English,
// and of what Nexus writes into episodes itself.
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

// names reports whether a text has a symbol as a word of its own.
func names(text, symbol string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], symbol)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(symbol)
		if (from == 0 || !wordByte(text[from-1])) && (to == len(text) || !wordByte(text[to])) {
			return true
		}
		at = from + 1
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// decay returns what is left of the points of a candidate, by the time since it
// was last told or, where it never was, since it was learned.
func decay(c Candidate, now time.Time) float64 {
	last := c.Learned.Time
	if c.Used.After(last) {
		last = c.Used
	}
	if last.IsZero() || !now.After(last) {
		return 1
	}
	return max(leastAge, math.Exp2(-float64(now.Sub(last))/float64(HalfLife)))
}

// Retention says how long what nobody needs is kept. A zero field keeps it for ever.
type Retention struct {
	Proposals time.Duration // that nobody approved, since they were learned
	Unused    time.Duration // approved ones, since they were last told or learned
}

// ExpiryReason says why an episode is to be removed, nothing where it is not.
func ExpiryReason(c Candidate, s Freshness, file string, k Retention, now time.Time) string {
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
