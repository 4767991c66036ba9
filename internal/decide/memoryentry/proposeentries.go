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

// enough is the minimum number of rounds with the same failure for it to be worth storing.
const enough = 2

const (
	maxShown    = 3    // findings of a failure
	maxMessage  = 400  // bytes of a message
	maxDiff     = 1500 // bytes of the change that ended it
	maxQuestion = 1200
	maxLearned  = 3   // entries that one submission may propose
	maxTold     = 600 // bytes of each
	maxNamed    = 5   // files of each
)

// EntryProposal is a proposed entry from a run, before the related change was read.
type EntryProposal struct {
	MemoryEntry

	From, To string // commits between which the failure ended; empty if it is not about a failure
	Handin   string // blob of a submission that may propose more; the entry is only its origin then
}

// ProposeEntries returns the entries that the facts of a run suggest, in the order of its tasks.
// Only landed work counts: a lesson from work that was not accepted may be wrong.
//
//   - A failure that cost two rounds or more, and the change that ended it.
//   - A finding of a review that sent the work back and that was upheld.
//   - A person's answer to an agent's question.
//   - Facts that agents submitted as learned.
func ProposeEntries(s *state.State) []EntryProposal {
	var all []EntryProposal
	for _, t := range s.Tasks {
		if t.Landed == nil {
			continue
		}
		of := EntryOrigin{Run: s.Run, Task: t.ID, Commit: t.Landed.Commit}
		for _, seed := range slices.Concat(failureProposals(t), reviewProposals(t), answerProposals(s, t), submissionProposals(t)) {
			seed.State, seed.MemoryEntry.From, seed.Learned = Proposed, []EntryOrigin{of}, DayOf(t.Ended)
			all = append(all, seed)
		}
	}
	return all
}

// judgedRound is a round whose work the gates judged.
type judgedRound struct {
	*state.AttemptRound

	of *state.AttemptState
}

// judgedRounds returns the judged rounds of a task, over all its attempts.
func judgedRounds(t *state.TaskState) []judgedRound {
	var all []judgedRound
	for _, a := range t.Attempts {
		for _, r := range a.Rounds {
			if r.Verdict != nil && r.Commit != "" {
				all = append(all, judgedRound{r, a})
			}
		}
	}
	return all
}

// findingsOfRedGate returns a gate's findings in a round by signature, or nil if it did not fail.
func (r judgedRound) findingsOfRedGate(gate string) map[string]nexus.Finding {
	e := nexus.EvidenceOfGate(r.Evidence, gate)
	if !e.State.IsRed() {
		return nil
	}
	all := map[string]nexus.Finding{}
	for _, f := range e.Findings {
		if state.MustFix(f) {
			all[repair.FailureSignature(gate, []nexus.Finding{f})] = f
		}
	}
	return all
}

// repeatedGateFailure is a reason why a gate failed in several rounds in a row.
type repeatedGateFailure struct {
	gate     string
	cost     int // number of rounds
	last     int // index of the last round
	findings []nexus.Finding
	keys     []string
}

// failureProposals returns the failures that cost enough rounds and that a later round ended. A round
// in which an earlier gate prevented the gate from running does not count.
func failureProposals(t *state.TaskState) []EntryProposal {
	all := judgedRounds(t)
	var gates []string
	for _, r := range all {
		for _, e := range r.Evidence {
			if !slices.Contains(gates, e.Gate) {
				gates = append(gates, e.Gate)
			}
		}
	}
	var seeds []EntryProposal
	for _, gate := range gates {
		ran := slices.DeleteFunc(slices.Clone(all), func(r judgedRound) bool { return r.findingsOfRedGate(gate) == nil && !r.hasPassed(gate) })
		var found []*repeatedGateFailure
		for i := range ran {
			found = addRoundFailures(found, ran, gate, i)
		}
		for _, f := range found {
			end := slices.IndexFunc(ran[f.last+1:], func(r judgedRound) bool { return r.hasPassed(gate) })
			if f.cost >= enough && end >= 0 {
				seeds = append(seeds, f.newProposal(t, ran[f.last], ran[f.last+1+end]))
			}
		}
	}
	return seeds
}

func (r judgedRound) hasPassed(gate string) bool {
	return nexus.EvidenceOfGate(r.Evidence, gate).State == nexus.Pass
}

// addRoundFailures adds the findings of a gate that ended before the n-th round. Findings over the same
// rounds are one failure.
func addRoundFailures(found []*repeatedGateFailure, ran []judgedRound, gate string, n int) []*repeatedGateFailure {
	now := ran[n].findingsOfRedGate(gate)
	for _, key := range sortedSignatures(now) {
		if n+1 < len(ran) && hasGateFinding(ran[n+1], gate, key) {
			continue // it is counted at its last occurrence
		}
		cost := 0
		for i := n; i >= 0 && hasGateFinding(ran[i], gate, key); i-- {
			cost++
		}
		i := slices.IndexFunc(found, func(f *repeatedGateFailure) bool { return f.last == n && f.cost == cost })
		if i < 0 {
			found, i = append(found, &repeatedGateFailure{gate: gate, cost: cost, last: n}), len(found)
		}
		found[i].findings, found[i].keys = append(found[i].findings, now[key]), append(found[i].keys, key)
	}
	return found
}

func hasGateFinding(r judgedRound, gate, key string) bool {
	_, ok := r.findingsOfRedGate(gate)[key]
	return ok
}

// newProposal returns the proposal for a failure, with the commits between which it ended.
func (f *repeatedGateFailure) newProposal(t *state.TaskState, last, fixed judgedRound) EntryProposal {
	s := EntryProposal{From: last.Commit, To: fixed.Commit}
	if last.of != fixed.of {
		s.From = fixed.From // another attempt, which may have another start
	}
	first := f.findings[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\nThe gate failed with that %d times while %s was worked on.\n", f.gate, findingLine(first), f.cost, quoteTitle(t.Title))
	for i, one := range f.findings[:min(len(f.findings), maxShown)] {
		if i == 1 {
			b.WriteString("\nAnd with:\n\n")
		}
		if i > 0 {
			fmt.Fprintf(&b, "- %s\n", findingLine(one))
		}
		if one.File != "" && pathFault(one.File) == "" && !slices.Contains(s.FilePaths(), one.File) {
			s.Files = append(s.Files, SubjectFile{Path: one.File})
		}
		if isSymbolName(one.Test) && !slices.Contains(s.Symbols, one.Test) {
			s.Symbols = append(s.Symbols, one.Test)
		}
	}
	if more := len(f.findings) - maxShown; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	s.Kind, s.By, s.Text = Gotcha, ByRun, b.String()
	s.ID = EntryID(s.Kind, f.gate+" "+cmp.Or(first.Test, first.Message), strings.Join(f.keys, "\x00"))
	return s
}

// AddFix adds the end of a failure: the changed files, and the change itself. A failure that
// was fixed in its own file is a fix; one that was fixed in another file is a gotcha.
func (s *EntryProposal) AddFix(changed []string, diff string) {
	found := s.FilePaths()
	if slices.ContainsFunc(changed, func(c string) bool { return slices.Contains(found, c) }) {
		rest, _ := strings.CutPrefix(s.ID, string(Gotcha))
		s.Kind, s.ID = Fix, string(Fix)+rest
	}
	for _, c := range changed[:min(len(changed), maxNamed)] {
		if !slices.Contains(found, c) && pathFault(c) == "" {
			s.Files = append(s.Files, SubjectFile{Path: c})
		}
	}
	if len(changed) == 0 || strings.TrimSpace(diff) == "" {
		return
	}
	diff = sanitize.FenceUntrustedText("diff", truncateText(removeControlCharacters(diff), maxDiff))
	s.Text = fmt.Sprintf("%s\nThis change ended it:\n\n%s\n", s.Text, diff)
}

// landedAttempt returns the attempt of a task that landed, or nil if unknown.
func landedAttempt(t *state.TaskState) *state.AttemptState {
	for _, a := range t.Attempts {
		if a.ID == t.Landed.Attempt {
			return a
		}
	}
	return nil
}

// reviewProposals returns the reviewers' findings that sent the work back and were upheld: the author
// fixed them, or disputed them without success.
func reviewProposals(t *state.TaskState) []EntryProposal {
	a := landedAttempt(t)
	if a == nil {
		return nil
	}
	var seeds []EntryProposal
	for i, r := range a.Rounds {
		if len(r.Reviews) == 0 || !r.Reviews[len(r.Reviews)-1].SendsBack {
			continue
		}
		for _, f := range r.Reviews[len(r.Reviews)-1].Findings {
			if !state.MustFix(f) || wasFindingDropped(a, i, f) {
				continue
			}
			text := fmt.Sprintf("%s\n\nA reviewer sent the work on %s back for that.\n", findingLine(f), quoteTitle(t.Title))
			if f.Advice != "" {
				text += "\nAdvice: " + truncateText(removeControlCharacters(f.Advice), maxMessage) + "\n"
			}
			seed := EntryProposal{MemoryEntry: MemoryEntry{
				ID: EntryID(Review, f.Message, repair.FailureSignature(repair.ReviewCause, []nexus.Finding{f})), Kind: Review, By: ByRun, Text: text,
			}}
			if f.File != "" && pathFault(f.File) == "" {
				seed.Files = []SubjectFile{{Path: f.File}}
			}
			if !slices.ContainsFunc(seeds, func(o EntryProposal) bool { return o.ID == seed.ID }) {
				seeds = append(seeds, seed)
			}
		}
	}
	return seeds
}

// wasFindingDropped reports whether a finding of the reviewers of the n-th round, from 0, was disputed
// and then not repeated: the author was right.
func wasFindingDropped(a *state.AttemptState, n int, f nexus.Finding) bool {
	disputed := false
	for i := n + 1; i < len(a.Rounds); i++ {
		r := a.Rounds[i]
		if r.Cause == repair.ReviewCause && !disputed {
			at := slices.Index(repair.WriterFindings(a, i), f)
			disputed = slices.ContainsFunc(r.Answers, func(s nexus.FindingAnswer) bool {
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

// answerProposals returns people's answers to questions of a task's agents.
func answerProposals(s *state.State, t *state.TaskState) []EntryProposal {
	var seeds []EntryProposal
	for _, q := range s.Questions {
		if q.Trigger != humaninput.AmbiguityTrigger || q.By == "" || q.By == "fallback" || q.By == "auto" || !isAskedByTask(t, q.Attempt) {
			continue
		}
		ask, answer := truncateText(removeControlCharacters(q.Text), maxQuestion), truncateText(removeControlCharacters(q.Answer), maxQuestion)
		if ask == "" || answer == "" {
			continue
		}
		seed := EntryProposal{MemoryEntry: MemoryEntry{
			ID: EntryID(Decision, ask, ask+"\x00"+answer), Kind: Decision, By: ByRun,
			Text: fmt.Sprintf("%s\n\nA person answered: %s\n\nThat was asked while %s was worked on.\n", ask, answer, quoteTitle(t.Title)),
		}}
		for _, f := range t.Files[:min(len(t.Files), maxNamed)] {
			if pathFault(f) == "" && !slices.Contains(seed.FilePaths(), f) {
				seed.Files = append(seed.Files, SubjectFile{Path: f})
			}
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// isAskedByTask reports whether a question was asked by an attempt at a task or by its landing.
func isAskedByTask(t *state.TaskState, by nexus.AttemptID) bool {
	return slices.ContainsFunc(t.Attempts, func(a *state.AttemptState) bool { return a.ID == by || state.MergerAttemptID(a.ID) == by })
}

// submissionProposals returns the submissions of the authors of the landed work.
func submissionProposals(t *state.TaskState) []EntryProposal {
	a := landedAttempt(t)
	if a == nil {
		return nil
	}
	var seeds []EntryProposal
	for _, one := range a.Sessions {
		if (one.Role == nexus.Coder || one.Role == nexus.Tester) && one.Result != "" {
			seeds = append(seeds, EntryProposal{Handin: one.Result})
		}
	}
	return seeds
}

// ParseSubmission returns the entries that a submission proposes. It is tolerant of the form, and
// accepts only a few short texts.
func ParseSubmission(handin []byte) []MemoryEntry {
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
	var all []MemoryEntry
	for _, l := range h.Learned[:min(len(h.Learned), maxLearned)] {
		e := MemoryEntry{Kind: EntryKind(strings.ToLower(strings.TrimSpace(l.Kind))), State: Proposed, By: ByAgent, Text: truncateText(removeControlCharacters(l.Text), maxTold)}
		if e.Text == "" {
			continue
		}
		if !slices.Contains(EntryKinds(), e.Kind) {
			e.Kind = Pattern
		}
		for _, f := range l.Files {
			f = strings.TrimPrefix(strings.TrimSpace(f), "./")
			if f != "" && pathFault(f) == "" && len(e.Files) < maxNamed && !slices.Contains(e.FilePaths(), f) {
				e.Files = append(e.Files, SubjectFile{Path: f})
			}
		}
		for _, s := range l.Symbols {
			if s = strings.TrimSpace(s); isSymbolName(s) && len(e.Symbols) < maxNamed && !slices.Contains(e.Symbols, s) {
				e.Symbols = append(e.Symbols, s)
			}
		}
		e.ID = EntryID(e.Kind, e.Text, strings.Join(LowerCaseWords(e.Text), " "))
		all = append(all, e)
	}
	return all
}

// isSymbolName reports whether a text is one word that can be a symbol.
func isSymbolName(s string) bool {
	return s != "" && len(s) <= maxName && !strings.ContainsFunc(s, unicode.IsSpace) && s == removeControlCharacters(s)
}

// findingLine returns a finding in one line: its file, without the line number, which changes, and
// its message.
func findingLine(f nexus.Finding) string {
	var parts []string
	for _, p := range []string{f.File, f.Test, f.Message} {
		if p = strings.Join(strings.Fields(removeControlCharacters(p)), " "); p != "" {
			parts = append(parts, p)
		}
	}
	return truncateText(strings.Join(parts, ": "), maxMessage)
}

func quoteTitle(title string) string {
	return `"` + truncateText(strings.Join(strings.Fields(removeControlCharacters(title)), " "), 100) + `"`
}

// removeControlCharacters returns a text without characters that an entry's file must not contain.
func removeControlCharacters(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, text))
}

// truncateText returns the beginning of a text, with a mark at the cut.
func truncateText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	text = text[:bytes]
	for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
		text = text[:len(text)-1]
	}
	return text + "..."
}

func sortedSignatures(m map[string]nexus.Finding) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
