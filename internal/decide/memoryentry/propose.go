package memoryentry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// enough is how many rounds the same failure costs at least before it is worth
// remembering.
const enough = 2

const (
	maxShown    = 3    // findings of a failure
	maxMessage  = 400  // bytes of one
	maxDiff     = 1500 // bytes of the change that ended it
	maxQuestion = 1200
	maxLearned  = 3   // that one submission may propose
	maxTold     = 600 // bytes of each
	maxNamed    = 5   // files of it
)

// Proposal is an episode that a run shows, before anybody has looked at the change
// that it is about.
type Proposal struct {
	Episode

	From, To string // commits between which a failure ended; empty where it is about no failure
	Handin   string // blob of a submission that may propose more; the episode is only its origin then
}

// Propose returns what the facts of a run show to be worth keeping, in the order
// of its tasks. Only what landed counts: a lesson of work that nobody accepted
// may be wrong.
//
//   - A failure that cost two rounds or more, and the change that ended it.
//   - A finding of a review that sent the work back and that stood.
//   - What a person answered to an agent's question.
//   - What agents submitted as learned.
func Propose(s *state.State) []Proposal {
	var all []Proposal
	for _, t := range s.Tasks {
		if t.Landed == nil {
			continue
		}
		of := Origin{Run: s.Run, Task: t.ID, Commit: t.Landed.Commit}
		for _, seed := range slices.Concat(failures(t), reviews(t), answers(s, t), handins(t)) {
			seed.State, seed.Episode.From, seed.Learned = Proposed, []Origin{of}, DayOf(t.Ended)
			all = append(all, seed)
		}
	}
	return all
}

// judged is a round whose work the gates judged.
type judged struct {
	*state.Round

	of *state.Attempt
}

// rounds returns the rounds of a task that were judged, over all its attempts.
func rounds(t *state.Task) []judged {
	var all []judged
	for _, a := range t.Attempts {
		for _, r := range a.Rounds {
			if r.Verdict != nil && r.Commit != "" {
				all = append(all, judged{r, a})
			}
		}
	}
	return all
}

// red returns what a gate found in a round, by the signature of each finding;
// nil where it did not fail.
func (r judged) red(gate string) map[string]nexus.Finding {
	e := nexus.EvidenceOf(r.Evidence, gate)
	if !e.State.Red() {
		return nil
	}
	all := map[string]nexus.Finding{}
	for _, f := range e.Findings {
		if state.MustFix(f) {
			all[repair.Signature(gate, []nexus.Finding{f})] = f
		}
	}
	return all
}

// failure is what kept a gate red in a number of rounds in a row.
type failure struct {
	gate     string
	cost     int // rounds
	last     int // the last of them
	findings []nexus.Finding
	keys     []string
}

// failures returns those that cost rounds enough and that a later round ended.
// A round in which an earlier gate kept the gate from running says nothing.
func failures(t *state.Task) []Proposal {
	all := rounds(t)
	var gates []string
	for _, r := range all {
		for _, e := range r.Evidence {
			if !slices.Contains(gates, e.Gate) {
				gates = append(gates, e.Gate)
			}
		}
	}
	var seeds []Proposal
	for _, gate := range gates {
		ran := slices.DeleteFunc(slices.Clone(all), func(r judged) bool { return r.red(gate) == nil && !r.passed(gate) })
		var found []*failure
		for i := range ran {
			found = count(found, ran, gate, i)
		}
		for _, f := range found {
			end := slices.IndexFunc(ran[f.last+1:], func(r judged) bool { return r.passed(gate) })
			if f.cost >= enough && end >= 0 {
				seeds = append(seeds, f.seed(t, ran[f.last], ran[f.last+1+end]))
			}
		}
	}
	return seeds
}

func (r judged) passed(gate string) bool {
	return nexus.EvidenceOf(r.Evidence, gate).State == nexus.Pass
}

// count adds what a gate found last in the n-th round. Findings that cost the
// same rounds are one failure.
func count(found []*failure, ran []judged, gate string, n int) []*failure {
	now := ran[n].red(gate)
	for _, key := range sorted(now) {
		if n+1 < len(ran) && has(ran[n+1], gate, key) {
			continue // it is counted where it was found last
		}
		cost := 0
		for i := n; i >= 0 && has(ran[i], gate, key); i-- {
			cost++
		}
		i := slices.IndexFunc(found, func(f *failure) bool { return f.last == n && f.cost == cost })
		if i < 0 {
			found, i = append(found, &failure{gate: gate, cost: cost, last: n}), len(found)
		}
		found[i].findings, found[i].keys = append(found[i].findings, now[key]), append(found[i].keys, key)
	}
	return found
}

func has(r judged, gate, key string) bool {
	_, ok := r.red(gate)[key]
	return ok
}

// seed says what failed, and between which commits it ended.
func (f *failure) seed(t *state.Task, last, fixed judged) Proposal {
	s := Proposal{From: last.Commit, To: fixed.Commit}
	if last.of != fixed.of {
		s.From = fixed.From // another attempt, which may have started anew
	}
	first := f.findings[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nThe gate failed with that %d times while %s was worked on.\n", f.gate, said(first), f.cost, quote(t.Title))
	for i, one := range f.findings[:min(len(f.findings), maxShown)] {
		if i == 1 {
			b.WriteString("\nAnd with:\n\n")
		}
		if i > 0 {
			fmt.Fprintf(&b, "- %s\n", said(one))
		}
		if one.File != "" && pathFault(one.File) == "" && !slices.Contains(s.Paths(), one.File) {
			s.Files = append(s.Files, File{Path: one.File})
		}
		if isName(one.Test) && !slices.Contains(s.Symbols, one.Test) {
			s.Symbols = append(s.Symbols, one.Test)
		}
	}
	if more := len(f.findings) - maxShown; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	s.Kind, s.By, s.Text = Gotcha, ByRun, b.String()
	s.ID = Name(s.Kind, f.gate+" "+cmp.Or(first.Test, first.Message), strings.Join(f.keys, "\x00"))
	return s
}

// Ended adds what ended a failure: the files that the change touched, and the
// change itself. What is fixed where it was found is a fix; what is fixed
// elsewhere is a gotcha.
func (s *Proposal) Ended(changed []string, diff string) {
	found := s.Paths()
	if slices.ContainsFunc(changed, func(c string) bool { return slices.Contains(found, c) }) {
		rest, _ := strings.CutPrefix(s.ID, string(Gotcha))
		s.Kind, s.ID = Fix, string(Fix)+rest
	}
	for _, c := range changed[:min(len(changed), maxNamed)] {
		if !slices.Contains(found, c) && pathFault(c) == "" {
			s.Files = append(s.Files, File{Path: c})
		}
	}
	if len(changed) == 0 || strings.TrimSpace(diff) == "" {
		return
	}
	diff = sanitize.Fence("diff", cut(plain(diff), maxDiff))
	s.Text = fmt.Sprintf("%s\nThis change ended it:\n\n%s\n", s.Text, diff)
}

// landed returns the attempt of a task that landed, nil where it is unknown.
func landed(t *state.Task) *state.Attempt {
	for _, a := range t.Attempts {
		if a.ID == t.Landed.Attempt {
			return a
		}
	}
	return nil
}

// reviews returns the findings of reviewers that sent the work back and stood:
// the author fixed them, or disputed them in vain.
func reviews(t *state.Task) []Proposal {
	a := landed(t)
	if a == nil {
		return nil
	}
	var seeds []Proposal
	for i, r := range a.Rounds {
		if len(r.Reviews) == 0 || !r.Reviews[len(r.Reviews)-1].SendsBack {
			continue
		}
		for _, f := range r.Reviews[len(r.Reviews)-1].Findings {
			if !state.MustFix(f) || dropped(a, i, f) {
				continue
			}
			text := fmt.Sprintf("%s\n\nA reviewer sent the work on %s back for that.\n", said(f), quote(t.Title))
			if f.Advice != "" {
				text += "\nAdvice: " + cut(plain(f.Advice), maxMessage) + "\n"
			}
			seed := Proposal{Episode: Episode{
				ID: Name(Review, f.Message, repair.Signature(repair.ReviewCause, []nexus.Finding{f})), Kind: Review, By: ByRun, Text: text,
			}}
			if f.File != "" && pathFault(f.File) == "" {
				seed.Files = []File{{Path: f.File}}
			}
			if !slices.ContainsFunc(seeds, func(o Proposal) bool { return o.ID == seed.ID }) {
				seeds = append(seeds, seed)
			}
		}
	}
	return seeds
}

// dropped reports whether a finding of the reviewers of the n-th round, from 0,
// was disputed, and the next reviewers did not report it again: the author was
// right.
func dropped(a *state.Attempt, n int, f nexus.Finding) bool {
	disputed := false
	for i := n + 1; i < len(a.Rounds); i++ {
		r := a.Rounds[i]
		if r.Cause == repair.ReviewCause && !disputed {
			at := slices.Index(repair.WriterFindings(a, i), f)
			disputed = slices.ContainsFunc(r.Answers, func(s nexus.Answer) bool {
				return s.Status == nexus.Contested && (s.Finding == 0 || s.Finding == at+1)
			})
		}
		if k := len(r.Reviews); k > 0 {
			again := slices.ContainsFunc(r.Reviews[k-1].Findings, func(g nexus.Finding) bool { return repair.IsSameFinding(f, g) })
			return disputed && !again
		}
	}
	return false
}

// answers returns what people answered to questions of the agents of a task.
func answers(s *state.State, t *state.Task) []Proposal {
	var seeds []Proposal
	for _, q := range s.Questions {
		if q.Trigger != humaninput.AmbiguityTrigger || q.By == "" || q.By == "fallback" || q.By == "auto" || !asks(t, q.Attempt) {
			continue
		}
		ask, answer := cut(plain(q.Text), maxQuestion), cut(plain(q.Answer), maxQuestion)
		if ask == "" || answer == "" {
			continue
		}
		seed := Proposal{Episode: Episode{
			ID: Name(Decision, ask, ask+"\x00"+answer), Kind: Decision, By: ByRun,
			Text: fmt.Sprintf("%s\n\nA person answered: %s\n\nThat was asked while %s was worked on.\n", ask, answer, quote(t.Title)),
		}}
		for _, f := range t.Files[:min(len(t.Files), maxNamed)] {
			if pathFault(f) == "" && !slices.Contains(seed.Paths(), f) {
				seed.Files = append(seed.Files, File{Path: f})
			}
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// asks reports whether a question is one of an attempt at a task, or of its
// landing.
func asks(t *state.Task, by nexus.AttemptID) bool {
	return slices.ContainsFunc(t.Attempts, func(a *state.Attempt) bool { return a.ID == by || state.MergeID(a.ID) == by })
}

// handins names the submissions of those who wrote what landed.
func handins(t *state.Task) []Proposal {
	a := landed(t)
	if a == nil {
		return nil
	}
	var seeds []Proposal
	for _, one := range a.Sessions {
		if (one.Role == nexus.Coder || one.Role == nexus.Tester) && one.Result != "" {
			seeds = append(seeds, Proposal{Handin: one.Result})
		}
	}
	return seeds
}

// Learned returns what a submission proposes. It forgives how that is written,
// and takes no more than a few short texts.
func Learned(handin []byte) []Episode {
	var h struct {
		Learned []struct {
			Kind    string   `json:"kind"`
			Text    string   `json:"text"`
			Files   []string `json:"files"`
			Symbols []string `json:"symbols"`
		} `json:"learned"`
	}
	if json.Unmarshal(handin, &h) != nil {
		return nil
	}
	var all []Episode
	for _, l := range h.Learned[:min(len(h.Learned), maxLearned)] {
		e := Episode{Kind: Kind(strings.ToLower(strings.TrimSpace(l.Kind))), State: Proposed, By: ByAgent, Text: cut(plain(l.Text), maxTold)}
		if e.Text == "" {
			continue
		}
		if !slices.Contains(Kinds(), e.Kind) {
			e.Kind = Pattern
		}
		for _, f := range l.Files {
			f = strings.TrimPrefix(strings.TrimSpace(f), "./")
			if f != "" && pathFault(f) == "" && len(e.Files) < maxNamed && !slices.Contains(e.Paths(), f) {
				e.Files = append(e.Files, File{Path: f})
			}
		}
		for _, s := range l.Symbols {
			if s = strings.TrimSpace(s); isName(s) && len(e.Symbols) < maxNamed && !slices.Contains(e.Symbols, s) {
				e.Symbols = append(e.Symbols, s)
			}
		}
		e.ID = Name(e.Kind, e.Text, strings.Join(Words(e.Text), " "))
		all = append(all, e)
	}
	return all
}

// isName reports whether a text is one word that can be a symbol.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, unicode.IsSpace) && s == plain(s)
}

// said returns a finding in one line: where it is, without the number of the
// line, which moves, and what it says.
func said(f nexus.Finding) string {
	var parts []string
	for _, p := range []string{f.File, f.Test, f.Message} {
		if p = strings.Join(strings.Fields(plain(p)), " "); p != "" {
			parts = append(parts, p)
		}
	}
	return cut(strings.Join(parts, ": "), maxMessage)
}

func quote(title string) string {
	return `"` + cut(strings.Join(strings.Fields(plain(title)), " "), 100) + `"`
}

// plain returns a text without characters that a file of an episode may not
// hold.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, text))
}

// cut returns the beginning of a text, and says that it is one.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	text = text[:bytes]
	for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
		text = text[:len(text)-1]
	}
	return text + "..."
}

func sorted(m map[string]nexus.Finding) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
