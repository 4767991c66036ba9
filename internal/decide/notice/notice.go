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
)

// Kind is the kind of a notice.
type Kind string

// Values of Kind.
const (
	End      Kind = "end"      // a run has ended
	Parked   Kind = "parked"   // a task is parked or failed
	Question Kind = "question" // a question waits for an answer
	Plan     Kind = "plan"     // a plan waits for approval
	Review   Kind = "review"   // the landed commits wait for a review and approval
	Budget   Kind = "budget"   // three quarters or more of the money is spent
	Quota    Kind = "quota"    // an account accepts no calls for now, or accepts them again
	Landed   Kind = "landed"   // the first task of a run landed
	Alert    Kind = "alert"    // a problem that no limit ends, or its end
)

// Kinds returns all kinds, in the order of their documentation.
func Kinds() []Kind { return []Kind{End, Parked, Question, Plan, Review, Budget, Quota, Landed, Alert} }

// leastPercent is the lowest reported percentage of the budget.
const leastPercent = 75

// Maximum lengths of texts, in bytes.
const (
	maxTitle = 120
	maxText  = 400
)

// Notice is a message to people about a run.
type Notice struct {
	ID       string              `json:"id"` // the same for each delivery
	Run      nexus.RunID         `json:"run"`
	Seq      int64               `json:"seq"` // sequence number of the fact in the journal
	At       time.Time           `json:"at"`
	Kind     Kind                `json:"kind"`
	Severity humaninput.Severity `json:"severity"`
	Title    string              `json:"title"`         // one line
	Text     string              `json:"text,omitzero"` // one line
	Next     string              `json:"next,omitzero"` // command
}

// Levels returns the severities, the lowest first.
func Levels() []humaninput.Severity {
	return []humaninput.Severity{humaninput.Green, humaninput.Yellow, humaninput.Red}
}

// Reaches reports whether a severity is at least another one. The empty one is the lowest.
func Reaches(s, least humaninput.Severity) bool {
	return slices.Index(Levels(), s) >= slices.Index(Levels(), least)
}

// Collector converts the events of runs to notices. The zero Collector is empty. It belongs
// to the goroutine that folds the events.
type Collector struct {
	Past func(nexus.RunID) iter.Seq2[nexus.Event, error] // reads a run from its beginning

	runs map[nexus.RunID]*run
}

// run is the folded state of one run.
type run struct {
	*state.State

	full map[string]bool // caps of money that refused a call
}

// Apply folds an event and returns its notices. A run with inconsistent events is skipped.
func (f *Collector) Apply(e nexus.Event) ([]Notice, error) {
	r, known := f.runs[e.Run]
	if !known {
		r = &run{state.New(e.Run).ReadPastFrom(f.Past(e.Run)), map[string]bool{}}
		for old, err := range f.Past(e.Run) {
			if err != nil {
				return nil, err
			}
			if old.Seq >= e.Seq || r.Apply(old) != nil {
				break
			}
			r.notices(old)
		}
		if f.runs == nil {
			f.runs = map[nexus.RunID]*run{}
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
	all := r.notices(e)
	if _, over := e.Fact.(nexus.RunEnded); over {
		delete(f.runs, e.Run) // it is read again if it continues
	}
	return all, nil
}

// notices returns the notices of an event that the run has folded.
func (r *run) notices(e nexus.Event) []Notice {
	n := r.notice(e)
	if n.Kind == "" {
		return nil
	}
	n.Run, n.Seq, n.At = e.Run, e.Seq, e.At
	n.ID = fmt.Sprintf("%s/%d/%s", e.Run, e.Seq, n.Kind)
	n.Title, n.Text = line(n.Title, maxTitle), line(n.Text, maxText)
	return []Notice{n}
}

// line returns one line of an untrusted text, cut to a length.
func line(text string, most int) string {
	return sanitize.Cut(sanitize.Show(strings.Join(strings.Fields(text), " ")), most)
}

func (r *run) notice(e nexus.Event) Notice {
	switch f := e.Fact.(type) {
	case nexus.RunEnded:
		return r.ended(f)
	case nexus.TaskParked:
		return r.parked(f)
	case nexus.QuestionAsked:
		return r.question(f)
	case nexus.BudgetPressed:
		if f.Percent < leastPercent {
			return Notice{}
		}
		severity := humaninput.Yellow
		if f.Percent >= 100 {
			severity = humaninput.Red
		}
		return Notice{
			Kind: Budget, Severity: severity, Title: fmt.Sprintf("%d %% of the budget is spent", f.Percent),
			Text: fmt.Sprintf("%s of %s", r.Ledger.Spent(), r.Limits.RunMoney), Next: "nexus cost " + string(r.Run),
		}
	case nexus.BudgetRefused:
		return r.refused(f)
	case nexus.TrainLanded:
		if len(r.Landings) != 1 {
			return Notice{}
		}
		return Notice{
			Kind: Landed, Severity: humaninput.Green, Title: "the first task landed: " + r.name(f.Task),
			Next: fmt.Sprintf("nexus show %s --run %s", f.Task, r.Run),
		}
	case nexus.AlertRaised:
		return Notice{
			Kind: Alert, Severity: humaninput.Yellow, Title: "alert: " + string(f.Kind) + about(f.Of), Text: f.Why,
			Next: "nexus status " + string(r.Run) + " --health",
		}
	case nexus.AlertCleared:
		return Notice{Kind: Alert, Severity: humaninput.Green, Title: "alert is over: " + string(f.Kind) + about(f.Of), Text: f.Why}
	default:
		return quota(e)
	}
}

// quota returns the notice about an account.
func quota(e nexus.Event) Notice {
	switch f := e.Fact.(type) {
	case nexus.QuotaHit:
		return Notice{Kind: Quota, Severity: humaninput.Yellow, Title: f.Account + " takes no calls" + until(f.Until), Text: f.Why}
	case nexus.QuotaHeld:
		return Notice{
			Kind: Quota, Severity: humaninput.Yellow, Title: f.Account + " starts no session" + until(f.Until),
			Text: fmt.Sprintf("%d %% of its window %s is used", f.Used, f.Window),
		}
	case nexus.QuotaReset:
		return Notice{Kind: Quota, Severity: humaninput.Green, Title: f.Account + " takes calls again"}
	default:
		return Notice{}
	}
}

func until(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " until " + t.UTC().Format("15:04 MST on 2006-01-02")
}

func about(of string) string {
	if of == "" {
		return ""
	}
	return ", " + of
}

func (r *run) ended(f nexus.RunEnded) Notice {
	n := Notice{
		Kind: End, Title: "the run is " + string(f.Status), Next: "nexus report " + string(r.Run),
		Text: fmt.Sprintf("%d of %d tasks landed, %s spent", len(r.Landings), len(r.Tasks), r.Ledger.Spent()),
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

func (r *run) parked(f nexus.TaskParked) Notice {
	what, severity := "parked", humaninput.Yellow
	if f.Failed {
		what = "failed"
	}
	if t := r.Task(f.Task); t != nil && t.OverCap != nil {
		severity = humaninput.Red // no more money is spent on it
	}
	return Notice{
		Kind: Parked, Severity: severity, Title: r.name(f.Task) + " is " + what, Text: f.Why,
		Next: fmt.Sprintf("nexus retry %s --run %s, or nexus skip %s --run %s", f.Task, r.Run, f.Task, r.Run),
	}
}

func (r *run) question(f nexus.QuestionAsked) Notice {
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

// refused returns the notice that a cap is reached, once for each cap.
func (r *run) refused(f nexus.BudgetRefused) Notice {
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

func (r *run) name(id nexus.TaskID) string {
	if t := r.Task(id); t != nil && t.Title != "" {
		return string(id) + ", " + t.Title + ","
	}
	return string(id)
}
