// Package notice defines the notices about a run for people who are not watching it: for
// which facts, with which texts, and how serious each is. It decides which recipients get
// which notices, and when: at once, together with others, or after quiet hours.
package notice

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// NoticeKind is the kind of a notice.
type NoticeKind string

// Values of Kind.
const (
	End      NoticeKind = "end"      // a run has ended
	Parked   NoticeKind = "parked"   // a task is parked or failed
	Question NoticeKind = "question" // a question waits for an answer
	Plan     NoticeKind = "plan"     // a plan waits for approval
	Review   NoticeKind = "review"   // the landed commits wait for a review and approval
	Budget   NoticeKind = "budget"   // three quarters or more of the money is spent
	Quota    NoticeKind = "quota"    // an account accepts no calls for now, or accepts them again
	Landed   NoticeKind = "landed"   // the first task of a run landed
	Alert    NoticeKind = "alert"    // a problem that no limit ends, or its end
)

// NoticeKinds returns all kinds, in the order of their documentation.
func NoticeKinds() []NoticeKind {
	return []NoticeKind{End, Parked, Question, Plan, Review, Budget, Quota, Landed, Alert}
}

// leastPercent is the lowest reported percentage of the budget.
const leastPercent = 75

// Maximum lengths of texts, in bytes.
const (
	maxTitle = 120
	maxText  = 400
)

// Notice is a message to people about a run.
type Notice struct {
	ID       string                      `json:"id"` // the same for each delivery
	Run      nexus.RunID                 `json:"run"`
	Seq      int64                       `json:"seq"` // sequence number of the fact in the journal
	At       time.Time                   `json:"at"`
	Kind     NoticeKind                  `json:"kind"`
	Severity humaninput.QuestionSeverity `json:"severity"`
	Title    string                      `json:"title"`         // one line
	Text     string                      `json:"text,omitzero"` // one line
	Next     string                      `json:"next,omitzero"` // command
}

// SeverityLevels returns the severities, the lowest first.
func SeverityLevels() []humaninput.QuestionSeverity {
	return []humaninput.QuestionSeverity{humaninput.Green, humaninput.Yellow, humaninput.Red}
}

// IsAtLeast reports whether a severity is at least another one. The empty one is the lowest.
func IsAtLeast(s, least humaninput.QuestionSeverity) bool {
	return slices.Index(SeverityLevels(), s) >= slices.Index(SeverityLevels(), least)
}

// NoticeCollector converts the events of runs to notices. The zero value is empty. It belongs
// to the goroutine that folds the events.
type NoticeCollector struct {
	Past func(nexus.RunID) iter.Seq2[nexus.Event, error] // reads a run from its beginning

	runs map[nexus.RunID]*noticeRunState
}

// noticeRunState is the folded state of one run.
type noticeRunState struct {
	*state.State

	full map[string]bool // caps of money that refused a call
}

// Apply folds an event and returns its notices. A run with inconsistent events is skipped.
func (f *NoticeCollector) Apply(e nexus.Event) ([]Notice, error) {
	r, known := f.runs[e.Run]
	if !known {
		r = &noticeRunState{state.NewState(e.Run).ReadPastFrom(f.Past(e.Run)), map[string]bool{}}
		for old, err := range f.Past(e.Run) {
			if err != nil {
				return nil, err
			}
			if old.Seq >= e.Seq || r.Apply(old) != nil {
				break
			}
			r.noticesFor(old)
		}
		if f.runs == nil {
			f.runs = map[nexus.RunID]*noticeRunState{}
		}
		f.runs[e.Run] = r
	}
	if r == nil {
		return nil, nil
	}
	if r.Apply(e) != nil {
		f.runs[e.Run] = nil
		return nil, nil
	}
	all := r.noticesFor(e)
	if _, over := e.Fact.(nexus.RunEnded); over {
		delete(f.runs, e.Run) // it is read again if it continues
	}
	return all, nil
}

// noticesFor returns the notices of an event that the run has folded.
func (r *noticeRunState) noticesFor(e nexus.Event) []Notice {
	n := r.noticeFor(e)
	if n.Kind == "" {
		return nil
	}
	n.Run, n.Seq, n.At = e.Run, e.Seq, e.At
	n.ID = fmt.Sprintf("%s/%d/%s", e.Run, e.Seq, n.Kind)
	n.Title, n.Text = singleLine(n.Title, maxTitle), singleLine(n.Text, maxText)
	return []Notice{n}
}

// singleLine returns one line of an untrusted text, cut to a length.
func singleLine(text string, most int) string {
	return sanitize.TruncateText(sanitize.RevealHidden(strings.Join(strings.Fields(text), " ")), most)
}

func (r *noticeRunState) noticeFor(e nexus.Event) Notice {
	switch f := e.Fact.(type) {
	case nexus.RunEnded:
		return r.endNotice(f)
	case nexus.TaskParked:
		return r.parkedNotice(f)
	case nexus.QuestionAsked:
		return r.questionNotice(f)
	case nexus.BudgetPercentReached:
		if f.Percent < leastPercent {
			return Notice{}
		}
		severity := humaninput.Yellow
		if f.Percent >= 100 {
			severity = humaninput.Red
		}
		return Notice{
			Kind: Budget, Severity: severity, Title: fmt.Sprintf("%d %% of the budget is spent", f.Percent),
			Text: fmt.Sprintf("%s of %s", r.Ledger.SpentMoney(), r.Ledger.RunLimit()), Next: "nexus cost " + string(r.Run),
		}
	case nexus.BudgetRefused:
		return r.budgetNotice(f)
	case nexus.LandingCompleted:
		if len(r.Landings) != 1 {
			return Notice{}
		}
		return Notice{
			Kind: Landed, Severity: humaninput.Green, Title: "the first task landed: " + r.taskName(f.Task),
			Next: fmt.Sprintf("nexus status %s --run %s", f.Task, r.Run),
		}
	case nexus.AlertRaised:
		return Notice{
			Kind: Alert, Severity: humaninput.Yellow, Title: "alert: " + string(f.Kind) + aboutText(f.Of), Text: f.Why,
			Next: "nexus status " + string(r.Run) + " --health",
		}
	case nexus.AlertCleared:
		return Notice{Kind: Alert, Severity: humaninput.Green, Title: "alert is over: " + string(f.Kind) + aboutText(f.Of), Text: f.Why}
	default:
		return quotaNotice(e)
	}
}

// quotaNotice returns the notice about an account.
func quotaNotice(e nexus.Event) Notice {
	switch f := e.Fact.(type) {
	case nexus.QuotaExhausted:
		return Notice{Kind: Quota, Severity: humaninput.Yellow, Title: f.Account + " takes no calls" + untilText(f.Until), Text: f.Why}
	case nexus.QuotaNearlyExhausted:
		return Notice{
			Kind: Quota, Severity: humaninput.Yellow, Title: f.Account + " starts no session" + untilText(f.Until),
			Text: fmt.Sprintf("%d %% of its window %s is used", f.Used, f.Window),
		}
	case nexus.QuotaReset:
		return Notice{Kind: Quota, Severity: humaninput.Green, Title: f.Account + " takes calls again"}
	default:
		return Notice{}
	}
}

func untilText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.UTC().Format("15:04 MST on 2006-01-02")
}

func aboutText(of string) string {
	if of == "" {
		return ""
	}
	return ", " + of
}

func (r *noticeRunState) endNotice(f nexus.RunEnded) Notice {
	run := view.NewRunView(r.State, nil, r.Updated)
	n := Notice{
		Kind: End, Title: "the run is " + string(f.Status), Next: "nexus status --report " + string(r.Run),
		Text: fmt.Sprintf("%d of %d tasks landed, %s spent", run.Counts.Landed, run.Counts.Total, run.Money.Spent),
	}
	switch {
	case strings.Contains(f.Why, "tasks landed"): // the reason contains it
		n.Text = f.Why
	case f.Why != "":
		n.Text = f.Why + "; " + n.Text
	}
	switch f.Status {
	case nexus.StatusDone:
		n.Severity = humaninput.Green
	case nexus.StatusFailed, nexus.StatusLimit:
		n.Severity = humaninput.Red
	default:
		n.Severity = humaninput.Yellow
	}
	if f.Status == nexus.StatusWaiting || f.Status == nexus.StatusLimit || f.Status == nexus.StatusStopped {
		n.Next = "nexus status " + string(r.Run)
	}
	return n
}

func (r *noticeRunState) parkedNotice(f nexus.TaskParked) Notice {
	what, severity := "parked", humaninput.Yellow
	if f.Failed {
		what = "failed"
	}
	if t := r.TaskByID(f.Task); t != nil && t.OverCap != nil {
		severity = humaninput.Red // no more money is spent on it
	}
	return Notice{
		Kind: Parked, Severity: severity, Title: r.taskName(f.Task) + " is " + what, Text: f.Why,
		Next: fmt.Sprintf("nexus retry %s --run %s, or nexus stop --skip %s --run %s", f.Task, r.Run, f.Task, r.Run),
	}
}

func (r *noticeRunState) questionNotice(f nexus.QuestionAsked) Notice {
	t := humaninput.FindTrigger(f.Trigger)
	n := Notice{
		Kind: Question, Severity: t.Severity, Title: f.ID + " waits for an answer", Text: f.Text,
		Next: fmt.Sprintf("nexus answer %s TEXT --run %s", f.ID, r.Run),
	}
	if slices.Contains(t.Choices, "yes") {
		n.Next = fmt.Sprintf("nexus approve %s --run %s, or nexus reject", f.ID, r.Run)
	}
	switch t.Name {
	case humaninput.PlanTrigger, nexus.AddTrigger:
		n.Kind, n.Title = Plan, f.ID+": a plan waits for your consent"
	case humaninput.PublishTrigger:
		n.Kind, n.Title = Review, f.ID+": what landed waits for your review"
	}
	return n
}

// budgetNotice returns the notice that a cap is reached, once for each cap.
func (r *noticeRunState) budgetNotice(f nexus.BudgetRefused) Notice {
	key := strings.Join([]string{f.Cap, f.Of, string(f.Task)}, "/")
	if r.full[key] {
		return Notice{}
	}
	r.full[key] = true
	of := f.Cap
	if f.Of != "" {
		of += " " + f.Of
	}
	if f.Cap == "task" {
		of += " " + string(f.Task)
	}
	text := fmt.Sprintf("a call would have exceeded %s: %s are spent or reserved", f.Limit, f.Spent)
	if f.Tokens != nil {
		text = "a call would have exceeded " + strconv.FormatInt(f.Tokens.Limit, 10) + " tokens"
	}
	return Notice{
		Kind: Budget, Severity: humaninput.Red, Title: "the budget is reached: " + of, Text: text, Next: "nexus cost " + string(r.Run),
	}
}

func (r *noticeRunState) taskName(id nexus.TaskID) string {
	if t := r.TaskByID(id); t != nil && t.Title != "" {
		return string(id) + ", " + t.Title + ","
	}
	return string(id)
}
