package runhistory

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Version is the version of a stored [RunRecord]. A Run with another version is computed again.
const Version = 2

// Limits of the stored data of a task.
const (
	mostFiles = 40
	mostText  = 160
)

// RunRecord is the summary of one run, small enough to store thousands of them.
type RunRecord struct {
	ID     nexus.RunID        `json:"id"`
	Repo   string             `json:"repo,omitzero"` // its repository, if there are several
	Began  time.Time          `json:"began"`
	Ended  time.Time          `json:"ended,omitzero"` // zero while it is in progress
	Status nexus.RunStatus    `json:"status"`
	Mode   nexus.PlanningMode `json:"mode,omitzero"`
	Money  nexus.Money        `json:"money,omitzero"` // including planning and judging
	Tasks  []TaskRecord       `json:"tasks,omitempty"`
	Gates  []GateUsage        `json:"gates,omitempty"`
}

// TaskRecord is the summary of one task.
type TaskRecord struct {
	ID         nexus.TaskID          `json:"id"`
	Title      string                `json:"title,omitzero"`
	Kind       nexus.TaskKind        `json:"kind"`
	Complexity nexus.Complexity      `json:"complexity,omitzero"`
	Stack      string                `json:"stack"`
	Tier       nexus.Tier            `json:"tier"`              // starting tier
	Strategy   nexus.WritingStrategy `json:"strategy,omitzero"` // test strategy
	// discovery strategy that found it; empty: people asked for it
	FoundBy  string            `json:"found_by,omitzero"`
	Status   nexus.TaskStatus  `json:"status"`
	Why      string            `json:"why,omitzero"`
	Rounds   int               `json:"rounds,omitzero"`
	Raised   int               `json:"raised,omitzero"` // number of moves to a stronger tier
	First    bool              `json:"first,omitzero"`  // it landed with one attempt that was never sent back
	Ended    time.Time         `json:"ended,omitzero"`
	Seconds  float64           `json:"seconds,omitzero"`
	Money    nexus.Money       `json:"money,omitzero"`
	Files    []string          `json:"files,omitempty"`   // declared files
	Changed  []string          `json:"changed,omitempty"` // files that its landing changed
	Read     []string          `json:"read,omitempty"`    // files that its coders read
	Estimate *RecordedEstimate `json:"estimate,omitempty"`
	Tries    []AttemptSummary  `json:"tries,omitempty"` // its attempts, oldest first
	Uses     []RoleUsage       `json:"uses,omitempty"`  // time and cost by role and model
}

// RecordedEstimate is the forecast for a task.
type RecordedEstimate struct {
	Low      nexus.TimeAndMoney `json:"low"`
	Likely   nexus.TimeAndMoney `json:"likely"`
	High     nexus.TimeAndMoney `json:"high"`
	Samples  int                `json:"samples,omitzero"`
	Unpriced bool               `json:"unpriced,omitzero"`
}

// AttemptSummary is the summary of one attempt.
type AttemptSummary struct {
	Tier     nexus.Tier            `json:"tier"`
	Strategy nexus.WritingStrategy `json:"strategy,omitzero"`
	// it is evidence about its tier: it was not stopped, and neither Nexus nor the machine
	// failed
	Counts   bool          `json:"counts,omitzero"`
	Accepted bool          `json:"accepted,omitzero"`
	Outcome  nexus.Outcome `json:"outcome,omitzero"`
	Money    nexus.Money   `json:"money,omitzero"`
	Failure  string        `json:"failure,omitzero"` // signature of the last failure; empty if there was none
	About    string        `json:"about,omitzero"`   // that failure in words
}

// EndReason returns the situation before a next attempt: the gate that failed, or the attempt's
// outcome.
func (t AttemptSummary) EndReason() string {
	gate, _, _ := strings.Cut(t.Failure, ":")
	return cmp.Or(gate, string(t.Outcome))
}

// RoleUsage is the time and cost of a role's sessions with a model for a task.
type RoleUsage struct {
	Role     nexus.Role  `json:"role"`
	Model    string      `json:"model"`
	Sessions int         `json:"sessions"`
	Seconds  float64     `json:"seconds,omitzero"`
	Tokens   int64       `json:"tokens,omitzero"`
	Money    nexus.Money `json:"money,omitzero"`
}

// GateUsage counts a gate's judgements, and their time.
type GateUsage struct {
	Name    string  `json:"name"`
	Judged  int     `json:"judged"`
	Failed  int     `json:"failed,omitzero"`
	Seconds float64 `json:"seconds,omitzero"` // total time
}

// SummarizeRun returns the summary of a run.
func SummarizeRun(s *state.State) RunRecord {
	r := RunRecord{ID: s.Run, Began: s.Started, Ended: s.Ended, Status: s.Status, Mode: s.Goal.Goal.Mode, Money: s.Ledger.SpentMoney()}
	gates := map[string]*GateUsage{}
	for _, t := range s.Tasks {
		if t.IsTakenOver() {
			continue // it counts in the original run
		}
		r.Tasks = append(r.Tasks, summarizeTask(s, t))
		for _, a := range t.Attempts {
			countJudgements(gates, a)
		}
	}
	for _, g := range gates {
		r.Gates = append(r.Gates, *g)
	}
	slices.SortStableFunc(r.Gates, func(a, b GateUsage) int { return cmp.Compare(a.Name, b.Name) })
	return r
}

func summarizeTask(s *state.State, t *state.TaskState) TaskRecord {
	out := TaskRecord{
		ID: t.ID, Title: shortenText(t.Title), Kind: cmp.Or(t.Kind, nexus.CodeTask), Stack: cmp.Or(stack.MainStack(taskFiles(t)),
			"other"), Tier: startTier(t),
		Status: s.StatusOf(t), Why: shortenText(t.Why), Rounds: t.Rounds, First: t.Landed != nil && landedAtFirstPass(t),
		Ended: t.Ended, Seconds: s.TaskWorkTime(t, s.Updated).Seconds(), Money: t.Spent,
		Files: firstFiles(t.Files),
	}
	out.FoundBy, _, _ = strings.Cut(discoveredwork.IDInText(t.Brief), "/")
	if t.Route != nil {
		out.Complexity, out.Strategy = t.Route.Complexity, t.Route.Strategy
		if e := t.Route.Estimate; e != nil {
			out.Estimate = &RecordedEstimate{e.Low, e.Likely, e.High, e.Samples, e.Unpriced}
		}
	}
	if t.Landed != nil {
		out.Changed = firstFiles(t.Landed.Changes.Files)
	}
	uses := map[[2]string]*RoleUsage{}
	for i, a := range t.Attempts {
		out.Strategy = cmp.Or(out.Strategy, a.Strategy)
		out.Tries = append(out.Tries, summarizeAttempt(a))
		if i > 0 && a.Tier != t.Attempts[i-1].Tier {
			out.Raised++
		}
		for _, c := range a.Sessions {
			out.addSessionUse(uses, c)
		}
	}
	for _, u := range uses {
		out.Uses = append(out.Uses, *u)
	}
	slices.SortStableFunc(out.Uses, func(a, b RoleUsage) int { return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Model, b.Model)) })
	return out
}

// addSessionUse adds a session to the totals of its role and model.
func (t *TaskRecord) addSessionUse(uses map[[2]string]*RoleUsage, c *state.AgentSessionState) {
	key := [2]string{string(c.Role), c.Model}
	if uses[key] == nil {
		uses[key] = &RoleUsage{Role: c.Role, Model: c.Model}
	}
	u := uses[key]
	u.Sessions++
	u.Seconds += c.Elapsed.Seconds()
	u.Tokens += c.Usage.PromptTokens() + c.Usage.Output
	u.Money += c.Spent
	if c.Role != nexus.Coder {
		return
	}
	for _, about := range c.Looked {
		if f := fileOfCall(about); f != "" && len(t.Read) < mostFiles && !slices.Contains(t.Read, f) {
			t.Read = append(t.Read, f)
		}
	}
}

// fileOfCall returns the file of a tool call, or "" if the call is not about a file.
func fileOfCall(about string) string {
	file, _, _ := strings.Cut(about, ":")
	if strings.ContainsAny(file, " \t\"'*?()|<>;&$\\") || len(path.Ext(file)) < 2 || path.IsAbs(file) ||
		path.Clean(file) != file || strings.HasPrefix(file, "..") {
		return ""
	}
	return file
}

func summarizeAttempt(a *state.AttemptState) AttemptSummary {
	t := AttemptSummary{Tier: a.Tier, Strategy: a.Strategy, Outcome: a.Outcome, Failure: repair.LastSignature(a)}
	if a.Stage == state.Over && !a.Broken {
		switch a.Outcome {
		case nexus.Accepted, nexus.Conflicted:
			t.Counts, t.Accepted = true, true
		case nexus.GaveUp, nexus.Exhausted, nexus.NoProgress:
			t.Counts = !a.Category.NeedsPerson() // a stronger tier would have needed one, too
		default:
		}
	}
	for _, c := range a.Sessions {
		t.Money += c.Spent
	}
	if t.Failure != "" {
		t.About = failureText(a)
	}
	return t
}

// failureText returns the last failure in words.
func failureText(a *state.AttemptState) string {
	for _, r := range slices.Backward(a.Rounds) {
		if r.Verdict == nil {
			continue
		}
		for _, e := range r.Evidence {
			if e.Gate == r.Verdict.Gate && len(e.Findings) > 0 {
				return shortenText(cmp.Or(e.Findings[0].Test, e.Findings[0].File) + ": " + e.Findings[0].Message)
			}
		}
		return shortenText(r.Verdict.Why)
	}
	return ""
}

// countJudgements counts the gates' judgements of an attempt's rounds.
func countJudgements(gates map[string]*GateUsage, a *state.AttemptState) {
	for _, r := range a.Rounds {
		for _, e := range r.Evidence {
			if e.Apart || e.Optional || e.State != nexus.Pass && e.State != nexus.Fail {
				continue // it did not judge, or is optional
			}
			if gates[e.Gate] == nil {
				gates[e.Gate] = &GateUsage{Name: e.Gate}
			}
			g := gates[e.Gate]
			g.Judged++
			g.Seconds += e.Duration.Seconds()
			if e.State == nexus.Fail {
				g.Failed++
			}
		}
	}
}

// shortenText returns the beginning of the first line of a text.
func shortenText(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	for len(text) > mostText {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return text
}

func firstFiles(files []string) []string { return files[:min(len(files), mostFiles)] }

func taskFiles(t *state.TaskState) []string {
	if len(t.Files) == 0 && t.Landed != nil {
		return t.Landed.Changes.Files
	}
	return t.Files
}

// startTier returns the starting tier of a task.
func startTier(t *state.TaskState) nexus.Tier {
	if len(t.Attempts) > 0 && t.Attempts[0].Tier != "" {
		return t.Attempts[0].Tier
	}
	if t.Route != nil {
		return t.Route.Tier
	}
	return t.Tier
}

// landedAtFirstPass reports whether a task landed with one attempt that was never sent back.
func landedAtFirstPass(t *state.TaskState) bool {
	return len(t.Attempts) == 1 && !slices.ContainsFunc(t.Attempts[0].Rounds, func(r *state.AttemptRound) bool { return r.Cause != "" })
}
