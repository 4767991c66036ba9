// Package humaninput defines why people are asked, how serious each question is,
// and what happens without an answer. It lists what waits for a person in the
// runs of a repository, and turns an answer into a request.
//
// What waits is folded from events, so every face that asks people asks the
// same, also after its process died.
package humaninput

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// MaxAnswer is the longest answer, in bytes.
const MaxAnswer = 8 << 10

// Item is something that waits for a person.
type Item struct {
	Run      nexus.RunID `json:"run"`
	ID       string      `json:"id"` // of the question, or of the task
	Trigger  string      `json:"trigger"`
	Severity Severity    `json:"severity"`
	Text     string      `json:"text"`              // what is asked, with hidden characters written out
	Choices  []string    `json:"choices,omitempty"` // the only answers; none: any text
	Offers   []Offer     `json:"offers,omitempty"`  // answers to pick where any text is one
	Fallback string      `json:"fallback"`          // what happens if nobody answers
	Asked    time.Time   `json:"asked"`
	Deadline time.Time   `json:"deadline,omitzero"` // when the fallback applies; zero: never

	task nexus.TaskID // the task that waits; empty for a question
}

// Offer is an answer that can be picked instead of written.
type Offer struct {
	Label   string `json:"label"`
	Answer  string `json:"answer"`
	Default bool   `json:"default,omitzero"` // it is what happens without an answer
}

// Key names an item among all of a repository's.
func (i Item) Key() string { return string(i.Run) + "/" + i.ID }

// About returns the task that waits, empty for a question.
func (i Item) About() nexus.TaskID { return i.task }

// Mark names an item and when it was asked: a task may wait more than once.
func (i Item) Mark() string { return i.Key() + "@" + i.Asked.UTC().Format(time.RFC3339Nano) }

// Request returns what an answer asks of the run, in the name of somebody.
func (i Item) Request(answer, by string) (nexus.Request, error) {
	answer = strings.TrimSpace(answer)
	refuse := func(format string, args ...any) (nexus.Request, error) {
		return nexus.Request{}, &nexus.Error{Code: nexus.CodeInvalidInput, Message: fmt.Sprintf(format, args...), Hint: i.AnswerHint()}
	}
	switch {
	case answer == "":
		return refuse("the answer is empty")
	case len(answer) > MaxAnswer:
		return refuse("the answer has more than %d bytes", MaxAnswer)
	case strings.ContainsRune(answer, 0):
		return refuse("the answer is not text")
	}
	answer = sanitize.Show(answer)
	if len(i.Choices) > 0 {
		choice, why, _ := strings.Cut(answer, ":")
		choice = strings.ToLower(strings.TrimSpace(choice))
		if !slices.Contains(i.Choices, choice) || why != "" && choice != "no" {
			return refuse("%q is not one of the choices", sanitize.Cut(answer, 40))
		}
		if answer = choice; strings.TrimSpace(why) != "" {
			answer += ": " + strings.TrimSpace(why)
		}
	}
	switch {
	case i.task == "":
		return nexus.Request{Verb: nexus.VerbAnswer, ID: i.ID, Text: answer, By: by}, nil
	case answer == "retry":
		return nexus.Request{Verb: nexus.VerbRetry, Task: i.task, By: by}, nil
	default:
		return nexus.Request{Verb: nexus.VerbSkip, Task: i.task, By: by}, nil
	}
}

// AnswerHint says in a sentence what may be answered.
func (i Item) AnswerHint() string {
	switch {
	case len(i.Choices) == 0:
		return fmt.Sprintf("Answer in your own words, with %d bytes at most.", MaxAnswer)
	case slices.Contains(i.Choices, "no"):
		return "Answer yes, no, or no: and why."
	default:
		return "Answer " + strings.Join(i.Choices, " or ") + "."
	}
}

// Inbox folds the events of a repository. The zero Inbox has seen none. It
// belongs to the goroutine that folds the events.
type Inbox struct {
	Past func(nexus.RunID) iter.Seq2[nexus.Event, error] // reads a run again; nil keeps its events in memory; see [state.State.ReadPastFrom]

	runs  []*run
	index map[nexus.RunID]*run
}

type run struct{ *state.State }

// Apply folds an event of any run. A run whose events do not fit together is
// left out from then on.
func (b *Inbox) Apply(e nexus.Event) {
	r, known := b.index[e.Run]
	if !known {
		if b.index == nil {
			b.index = map[nexus.RunID]*run{}
		}
		r = &run{state.New(e.Run)}
		if b.Past != nil {
			r.ReadPastFrom(b.Past(e.Run))
		}
		b.index[e.Run] = r
		b.runs = append(b.runs, r)
	}
	if r == nil {
		return
	}
	if err := r.Apply(e); err != nil {
		b.index[e.Run] = nil
		b.runs = slices.DeleteFunc(b.runs, func(x *run) bool { return x == r })
	}
}

// Items returns what waits for a person, the oldest first: open questions, and
// tasks that wait in runs in progress and in the latest run. What somebody has
// answered no longer waits, even if its run must still be resumed.
func (b *Inbox) Items() []Item {
	var all []Item
	for n, r := range b.runs {
		all = append(all, r.waiting(n == len(b.runs)-1)...)
	}
	return oldest(all)
}

// Earlier orders what waits by when it was asked.
func Earlier(x, y Item) int { return x.Asked.Compare(y.Asked) }

func oldest(all []Item) []Item {
	slices.SortStableFunc(all, Earlier)
	return all
}

// Waiting returns what waits for a person in a run, the oldest first. Latest says
// that no run of its repository began later: of one that is over and not the
// latest, only questions wait that can be answered without taking it up.
func Waiting(s *state.State, latest bool) []Item { return oldest((&run{s}).waiting(latest)) }

func (r *run) waiting(latest bool) []Item {
	all := r.questions(latest)
	if !r.Status.Ended() || latest {
		all = append(all, r.tasks()...)
	}
	return all
}

// questions returns the open questions. Of a run that is over and not the
// latest, those of tasks are left with the tasks. An interview that was put off
// waits as long as it takes.
func (r *run) questions(latest bool) []Item {
	var all []Item
	for _, q := range r.OpenQuestions() {
		due := q.Deadline
		if StaysOpen(q.Trigger) {
			due = time.Time{} // it may be answered at any time
		}
		putOff := r.Status == nexus.StatusWaiting && r.Interview.Waits() == q.ID
		left := q.Attempt != "" && r.Status.Ended() && !latest && !putOff
		if !due.IsZero() && !due.After(q.At) || r.answers(q) != nil || left {
			continue
		}
		t := FindTrigger(q.Trigger)
		all = append(all, Item{
			Run: r.Run, ID: q.ID, Trigger: t.Name, Severity: t.Severity, Text: sanitize.Show(q.Text), Choices: t.Choices, Offers: r.offers(q.ID),
			Fallback: sanitize.Show(FallbackOf(q.QuestionAsked)), Asked: q.At, Deadline: due,
		})
	}
	return all
}

// offers returns what can be picked as the answer to a question of an interview:
// its choices, by number as their words may mean something else, and the commands.
func (r *run) offers(id string) (all []Offer) {
	q := r.Interview.Open()
	if q == nil || r.Interview.Waits() != id {
		return nil
	}
	for n, c := range q.Choices {
		all = append(all, Offer{Label: sanitize.Show(c), Answer: strconv.Itoa(n + 1), Default: c == q.Default})
	}
	for _, c := range []clarify.Command{clarify.Skip, clarify.Back, clarify.Hold, clarify.End} {
		all = append(all, Offer{Label: string(c), Answer: string(c)})
	}
	return all
}

// PublishConsent is a yes to publishing what landed.
type PublishConsent struct {
	Run nexus.RunID
	Seq int64 // of the request
}

// PublishConsents returns the answers to whether what landed may be published that no
// conductor has taken yet.
func (b *Inbox) PublishConsents() []PublishConsent {
	var all []PublishConsent
	for _, r := range b.runs {
		for _, q := range r.OpenQuestions() {
			if said := r.answers(q); said != nil && q.AsksToPublish() {
				all = append(all, PublishConsent{r.Run, said.Seq})
			}
		}
	}
	return all
}

func (r *run) tasks() []Item {
	var all []Item
	for _, t := range r.Tasks {
		if t.Status != nexus.Parked && t.Status != nexus.Failed || r.steered(t.ID) != nil || r.asks(t) || r.Drain != nil && !r.Status.Ended() {
			continue
		}
		why := FindTrigger(reason(t))
		all = append(all, Item{
			Run: r.Run, ID: string(t.ID), Trigger: why.Name, Severity: why.Severity, Choices: why.Choices, Asked: t.Ended, task: t.ID,
			Text:     sanitize.Show(fmt.Sprintf("%s, %s, is %s: %s", t.ID, t.Title, t.Status, t.Why)),
			Fallback: "it stays " + string(t.Status),
		})
	}
	return all
}

// reason returns the trigger of a task that was left.
func reason(t *state.Task) string {
	a := t.Current()
	switch {
	case t.OverCap != nil:
		return CostTrigger
	case a != nil && a.Outcome == nexus.Conflicted:
		return ConflictTrigger
	case t.Status == nexus.Failed:
		return RetriesTrigger
	default:
		return ReviewTrigger
	}
}

// asks reports whether a task was left because it waits for an answer: that is
// what is shown then.
func (r *run) asks(t *state.Task) bool {
	return slices.ContainsFunc(r.OpenQuestions(), func(q *state.Question) bool { return r.AskingTask(q) == t })
}

// answers returns the answer to a question that waits to be settled, nil where
// there is none.
func (r *run) answers(q *state.Question) *state.Request {
	for i, x := range r.Requests {
		if x.Verb == nexus.VerbAnswer && (x.ID == q.ID || x.ID == q.Mark && q.Mark != "") {
			return &r.Requests[i]
		}
	}
	return nil
}

// steered returns the request about a task that was left which waits to be
// settled, nil where there is none.
func (r *run) steered(id nexus.TaskID) *state.Request {
	for i, x := range r.Requests {
		if (x.Verb == nexus.VerbRetry || x.Verb == nexus.VerbSkip) && x.Task == id {
			return &r.Requests[i]
		}
	}
	return nil
}

// Find returns what waits by that name, or an error that says that somebody
// was faster, that its time is over, or that there never was such a thing.
func (b *Inbox) Find(id nexus.RunID, name string) (Item, error) {
	for _, i := range b.Items() {
		if i.Run == id && i.ID == name {
			return i, nil
		}
	}
	r := b.index[id]
	if r == nil {
		return Item{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "no open question has that name",
			Hint: "nexus status lists the questions.",
		}
	}
	said := r.steered(nexus.TaskID(name))
	if q := r.Question(name); q != nil {
		if q.By != "" {
			return Item{}, &LateError{q.By, q.Answer}
		}
		said = r.answers(q)
	}
	if said != nil {
		return Item{}, &LateError{cmp.Or(said.By, "a person"), cmp.Or(said.Text, string(said.Verb))}
	}
	if t := r.Task(nexus.TaskID(name)); t != nil {
		return Item{}, &LateError{"", string(t.Status)}
	}
	return Item{}, &nexus.Error{
		Code: nexus.CodeNotFound, Message: "no open question has that name",
		Hint: "nexus status lists the questions.",
	}
}

// LateError says that something does not wait for an answer any more.
type LateError struct {
	By   string // who answered; empty where it continued by itself, "fallback" where nobody did in time
	Text string
}

// Error says it to whoever was too late.
func (e *LateError) Error() string {
	text := strings.ReplaceAll(sanitize.Show(e.Text), "\n", " ")
	switch e.By {
	case "":
		return "already answered: it is " + text
	case "fallback":
		return "too late: there was no answer in time, and the fallback was used: " + text
	default:
		return "already answered by " + sanitize.Show(e.By) + ": " + text
	}
}

// IsLate reports whether an error says that an answer came too late.
func IsLate(err error) bool {
	_, late := errors.AsType[*LateError](err)
	return late
}
