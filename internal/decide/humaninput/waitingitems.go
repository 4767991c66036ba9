// Package humaninput defines why people are asked, the severity of each question, and its
// default answer. It lists the items that wait for a person in the runs of a repository, and
// converts an answer to a request.
//
// The list is folded from events, so all interfaces show the same items, also after a run's
// process died.
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

// MaxAnswer limits the length of an answer, in bytes.
const MaxAnswer = 8 << 10

// WaitingItem is a question or a task that waits for a person.
type WaitingItem struct {
	Run      nexus.RunID      `json:"run"`
	ID       string           `json:"id"` // of the question or of the task
	Trigger  string           `json:"trigger"`
	Severity QuestionSeverity `json:"severity"`
	Text     string           `json:"text"`              // the question, with hidden characters written out
	Choices  []string         `json:"choices,omitempty"` // the only possible answers; none: any text
	Offers   []AnswerChoice   `json:"offers,omitempty"`  // suggested answers if any text is possible
	Fallback string           `json:"fallback"`          // what happens without an answer
	Asked    time.Time        `json:"asked"`
	Deadline time.Time        `json:"deadline,omitzero"` // time at which the fallback applies; zero: never

	task nexus.TaskID // the waiting task; empty for a question
}

// AnswerChoice is an answer that can be selected instead of typed.
type AnswerChoice struct {
	Label   string `json:"label"`
	Answer  string `json:"answer"`
	Default bool   `json:"default,omitzero"` // it is the default
}

// UniqueName returns a name of the item that is unique in the repository.
func (i WaitingItem) UniqueName() string { return string(i.Run) + "/" + i.ID }

// WaitingTask returns the waiting task, or "" for a question.
func (i WaitingItem) WaitingTask() nexus.TaskID { return i.task }

// UniqueKey identifies an item and its time: a task may wait more than once.
func (i WaitingItem) UniqueKey() string {
	return i.UniqueName() + "@" + i.Asked.UTC().Format(time.RFC3339Nano)
}

// AnswerRequest returns the request for an answer, in somebody's name.
func (i WaitingItem) AnswerRequest(answer, by string) (nexus.Request, error) {
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
	answer = sanitize.RevealHidden(answer)
	if len(i.Choices) > 0 {
		choice, why, _ := strings.Cut(answer, ":")
		choice = strings.ToLower(strings.TrimSpace(choice))
		if !slices.Contains(i.Choices, choice) || why != "" && choice != "no" {
			return refuse("%q is not one of the choices", sanitize.TruncateText(answer, 40))
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

// AnswerHint returns a sentence about the possible answers.
func (i WaitingItem) AnswerHint() string {
	switch {
	case len(i.Choices) == 0:
		return fmt.Sprintf("Answer in your own words, with %d bytes at most.", MaxAnswer)
	case slices.Contains(i.Choices, "no"):
		return "Answer yes, no, or no: and why."
	default:
		return "Answer " + strings.Join(i.Choices, " or ") + "."
	}
}

// RepositoryInbox folds the events of a repository. The zero value is empty. It belongs to the
// goroutine that folds the events.
type RepositoryInbox struct {
	// reads a run's events again; nil: its events stay in memory; see
	// [state.State.ReadPastFrom]
	Past func(nexus.RunID) iter.Seq2[nexus.Event, error]

	runs  []*inboxRunState
	index map[nexus.RunID]*inboxRunState
}

type inboxRunState struct{ *state.State }

// Apply folds an event of any run. A run with inconsistent events is ignored from then on.
func (b *RepositoryInbox) Apply(e nexus.Event) {
	r, known := b.index[e.Run]
	if !known {
		if b.index == nil {
			b.index = map[nexus.RunID]*inboxRunState{}
		}
		r = &inboxRunState{state.NewState(e.Run)}
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
		b.runs = slices.DeleteFunc(b.runs, func(x *inboxRunState) bool { return x == r })
	}
}

// WaitingItems returns the items that wait for a person, the oldest first: open questions, and tasks
// that wait in runs in progress and in the latest run. An answered item no longer waits, even
// if its run must still be resumed.
func (b *RepositoryInbox) WaitingItems() []WaitingItem {
	var all []WaitingItem
	for n, r := range b.runs {
		all = append(all, r.waitingItems(n == len(b.runs)-1)...)
	}
	return sortByAsked(all)
}

// CompareAsked compares items by the time of their question.
func CompareAsked(x, y WaitingItem) int { return x.Asked.Compare(y.Asked) }

func sortByAsked(all []WaitingItem) []WaitingItem {
	slices.SortStableFunc(all, CompareAsked)
	return all
}

// WaitingInRun returns a run's items that wait for a person, the oldest first. Latest means that
// no run of its repository began later: an ended run that is not the latest only has
// questions that can be answered without resuming it.
func WaitingInRun(s *state.State, latest bool) []WaitingItem {
	return sortByAsked((&inboxRunState{s}).waitingItems(latest))
}

func (r *inboxRunState) waitingItems(latest bool) []WaitingItem {
	all := r.waitingQuestions(latest)
	if !r.Status.HasEnded() || latest {
		all = append(all, r.waitingTasks()...)
	}
	return all
}

// waitingQuestions returns the open questions. In an ended run that is not the latest, the questions
// of tasks are omitted together with the tasks. A postponed interview waits forever.
func (r *inboxRunState) waitingQuestions(latest bool) []WaitingItem {
	var all []WaitingItem
	for _, q := range r.OpenQuestions() {
		due := q.Deadline
		if StaysOpenAfterDeadline(q.Trigger) {
			due = time.Time{} // it may be answered at any time
		}
		putOff := r.Status == nexus.StatusWaiting && r.Interview.OpenQuestionID() == q.ID
		left := q.Attempt != "" && r.Status.HasEnded() && !latest && !putOff
		if !due.IsZero() && !due.After(q.At) || r.pendingAnswer(q) != nil || left {
			continue
		}
		t := FindTrigger(q.Trigger)
		all = append(all, WaitingItem{
			Run: r.Run, ID: q.ID, Trigger: t.Name, Severity: t.Severity, Text: sanitize.RevealHidden(q.Text), Choices: t.Choices, Offers: r.offeredAnswers(q.ID),
			Fallback: sanitize.RevealHidden(DefaultAnswerOf(q.QuestionAsked)), Asked: q.At, Deadline: due,
		})
	}
	return all
}

// offeredAnswers returns the suggested answers to an interview question: its choices, by number
// because their texts may have another meaning, and the commands.
func (r *inboxRunState) offeredAnswers(id string) (all []AnswerChoice) {
	q := r.Interview.CurrentQuestion()
	if q == nil || r.Interview.OpenQuestionID() != id {
		return nil
	}
	for n, c := range q.Choices {
		all = append(all, AnswerChoice{Label: sanitize.RevealHidden(c), Answer: strconv.Itoa(n + 1), Default: c == q.Default})
	}
	for _, c := range []clarify.InterviewAnswerCommand{clarify.Skip, clarify.Back, clarify.Hold, clarify.End} {
		all = append(all, AnswerChoice{Label: string(c), Answer: string(c)})
	}
	return all
}

// PublishApproval is a yes to the publication of landed commits.
type PublishApproval struct {
	Run nexus.RunID
	Seq int64 // sequence number of the request
}

// PublishApprovals returns the answers about publication that no conductor has received yet.
func (b *RepositoryInbox) PublishApprovals() []PublishApproval {
	var all []PublishApproval
	for _, r := range b.runs {
		for _, q := range r.OpenQuestions() {
			if said := r.pendingAnswer(q); said != nil && q.AsksToPublish() {
				all = append(all, PublishApproval{r.Run, said.Seq})
			}
		}
	}
	return all
}

func (r *inboxRunState) waitingTasks() []WaitingItem {
	var all []WaitingItem
	for _, t := range r.Tasks {
		if t.Status != nexus.Parked && t.Status != nexus.Failed || r.pendingTaskRequest(t.ID) != nil || r.waitsForAnswer(t) || r.Drain != nil && !r.Status.HasEnded() {
			continue
		}
		why := FindTrigger(parkedTaskTrigger(t))
		all = append(all, WaitingItem{
			Run: r.Run, ID: string(t.ID), Trigger: why.Name, Severity: why.Severity, Choices: why.Choices, Asked: t.Ended, task: t.ID,
			Text:     sanitize.RevealHidden(fmt.Sprintf("%s, %s, is %s: %s", t.ID, t.Title, t.Status, t.Why)),
			Fallback: "it stays " + string(t.Status),
		})
	}
	return all
}

// parkedTaskTrigger returns the trigger of a parked task.
func parkedTaskTrigger(t *state.TaskState) string {
	a := t.CurrentAttempt()
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

// waitsForAnswer reports whether a task was parked because it waits for an answer. The question is
// shown then instead.
func (r *inboxRunState) waitsForAnswer(t *state.TaskState) bool {
	return slices.ContainsFunc(r.OpenQuestions(), func(q *state.RunQuestion) bool { return r.AskingTask(q) == t })
}

// pendingAnswer returns the unsettled answer to a question, or nil if there is none.
func (r *inboxRunState) pendingAnswer(q *state.RunQuestion) *state.PendingRequest {
	for i, x := range r.Requests {
		if x.Verb == nexus.VerbAnswer && (x.ID == q.ID || x.ID == q.Mark && q.Mark != "") {
			return &r.Requests[i]
		}
	}
	return nil
}

// pendingTaskRequest returns the unsettled request about a parked task, or nil if there is none.
func (r *inboxRunState) pendingTaskRequest(id nexus.TaskID) *state.PendingRequest {
	for i, x := range r.Requests {
		if (x.Verb == nexus.VerbRetry || x.Verb == nexus.VerbSkip) && x.Task == id {
			return &r.Requests[i]
		}
	}
	return nil
}

// FindItem returns the waiting item with that name, or an error that says whether it was already
// answered, has expired, or never existed.
func (b *RepositoryInbox) FindItem(id nexus.RunID, name string) (WaitingItem, error) {
	for _, i := range b.WaitingItems() {
		if i.Run == id && i.ID == name {
			return i, nil
		}
	}
	r := b.index[id]
	if r == nil {
		return WaitingItem{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: "no open question has that name",
			Hint: "nexus status lists the questions.",
		}
	}
	said := r.pendingTaskRequest(nexus.TaskID(name))
	if q := r.QuestionByID(name); q != nil {
		if q.By != "" {
			return WaitingItem{}, &LateAnswerError{q.By, q.Answer}
		}
		said = r.pendingAnswer(q)
	}
	if said != nil {
		return WaitingItem{}, &LateAnswerError{cmp.Or(said.By, "a person"), cmp.Or(said.Text, string(said.Verb))}
	}
	if t := r.TaskByID(nexus.TaskID(name)); t != nil {
		return WaitingItem{}, &LateAnswerError{"", string(t.Status)}
	}
	return WaitingItem{}, &nexus.Error{
		Code: nexus.CodeNotFound, Message: "no open question has that name",
		Hint: "nexus status lists the questions.",
	}
}

// LateAnswerError is the error for an item that no longer waits for an answer.
type LateAnswerError struct {
	By   string // author of the answer; empty if it continued by itself, "fallback" if there was no answer in time
	Text string
}

// Error returns the message for the late person.
func (e *LateAnswerError) Error() string {
	text := strings.ReplaceAll(sanitize.RevealHidden(e.Text), "\n", " ")
	switch e.By {
	case "":
		return "already answered: it is " + text
	case "fallback":
		return "too late: there was no answer in time, and the fallback was used: " + text
	default:
		return "already answered by " + sanitize.RevealHidden(e.By) + ": " + text
	}
}

// IsLate reports whether an error means that an answer came too late.
func IsLate(err error) bool {
	_, late := errors.AsType[*LateAnswerError](err)
	return late
}
