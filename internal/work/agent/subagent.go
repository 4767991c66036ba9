package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// The limits of a session's subagents.
const (
	maxParallelSubagents = 3
	maxSubagents         = 12
)

// The causes for which a subagent is stopped.
var (
	ErrSubagentStopped = errors.New("it was stopped")
	ErrParentDone      = errors.New("it was stopped: the agent that sent it submitted its work")
)

var errWaitedEnough = errors.New("waited for long enough")

// SubagentRunFunc runs the subagent with number n on a question, from its beginning or from where
// another process stopped, and returns its submission, which fits [SubagentSchema]. If there
// is none, why is the reason. With again, the subagent is informed that its report was empty.
// An error, too, means that there is no submission.
type SubagentRunFunc func(ctx context.Context, n int, question string, again bool) (handin json.RawMessage, why string, err error)

// SubagentSchema returns the JSON Schema of a subagent's submission.
func SubagentSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"report":{"type":"string","minLength":1,"maxLength":8000,"description":"the answer, and how sure it is"},` +
		`"places":{"type":"array","maxItems":40,"items":{"type":"string","maxLength":300},"description":"path:line of the evidence for the answer"}},` +
		`"required":["report"],"additionalProperties":false}`)
}

// SubagentReport is a subagent's submission.
type SubagentReport struct {
	Report string   `json:"report"`
	Places []string `json:"places"`
}

// SubagentGroup manages the subagents of one session. Send, Show and Stop may be called by many
// goroutines; Close must be called, once.
type SubagentGroup struct {
	look SubagentRunFunc
	ctx  context.Context //nolint:containedctx // of the session, which they end with
	stop context.CancelCauseFunc

	mu   sync.Mutex // guards the fields below, and those of each subagent
	all  []*startedSubagent
	back chan struct{} // closed, and replaced, when a subagent ends

	out sync.WaitGroup
}

type startedSubagent struct {
	n        int
	question string
	stop     context.CancelCauseFunc
	over     chan struct{}   // closed when it ended
	report   *SubagentReport // nil: no report
	why      string          // reason for which there is no report
	told     bool            // its parent has been informed of the end
}

// NewSubagentGroup returns the subagents of a session whose work ends with ctx. sent is the number
// of subagents that the session started before.
func NewSubagentGroup(ctx context.Context, sent int, look SubagentRunFunc) *SubagentGroup {
	ctx, stop := context.WithCancelCause(ctx)
	s := &SubagentGroup{look: look, ctx: ctx, stop: stop, all: make([]*startedSubagent, sent), back: make(chan struct{})}
	for i := range s.all {
		s.all[i] = &startedSubagent{n: i + 1, over: make(chan struct{}), told: true, why: "nothing is known about it"}
		close(s.all[i].over)
	}
	return s
}

// Known adds the result of a subagent that was started before.
func (s *SubagentGroup) Known(n int, question string, handin json.RawMessage, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[n-1]
	c.question, c.told = question, true
	c.report, c.why = readSubagentReport(handin, why)
}

// ResumeSubagent continues a subagent that another process started.
func (s *SubagentGroup) ResumeSubagent(n int, question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startSubagent(&startedSubagent{n: n, question: question})
}

// startSubagent starts a subagent. The caller holds the lock.
func (s *SubagentGroup) startSubagent(c *startedSubagent) {
	ctx, stop := context.WithCancelCause(s.ctx)
	c.stop, c.over = stop, make(chan struct{})
	if c.n > len(s.all) {
		s.all = append(s.all, c)
	} else {
		s.all[c.n-1] = c
	}
	s.out.Go(func() {
		defer stop(nil)
		report, why, err := s.investigateQuestion(ctx, c.n, c.question)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil {
			why = cmp.Or(context.Cause(ctx), err).Error()
		}
		c.report, c.why = report, why
		close(c.over)
		close(s.back)
		s.back = make(chan struct{})
	})
}

// investigateQuestion runs a subagent, and once more if its report is empty.
func (s *SubagentGroup) investigateQuestion(ctx context.Context, n int, question string) (*SubagentReport, string, error) {
	for _, again := range []bool{false, true} {
		handin, why, err := s.look(ctx, n, question, again)
		if err != nil || why != "" {
			return nil, why, err
		}
		if r, _ := readSubagentReport(handin, ""); r != nil {
			return r, "", nil
		}
	}
	return nil, emptyTwice, nil
}

const emptyTwice = "its report was empty, twice"

// readSubagentReport returns a report, or the reason for which it is empty or missing.
func readSubagentReport(handin json.RawMessage, why string) (*SubagentReport, string) {
	var r SubagentReport
	if why != "" {
		return nil, why
	}
	if err := json.Unmarshal(handin, &r); err != nil || isEmptyReport(r) {
		return nil, emptyTwice
	}
	return &r, ""
}

// blankReports are reports that only state completion, separated by bars.
const blankReports = "|done|ok|okay|finished|complete|completed|none|null|n/a|nothing|no answer|no result|no results|" +
	"no output|task completed|task complete|i am done|i'm done|all done|see above|as above|as requested|success|yes|" +
	"no|the task is complete|the task has been completed|i have completed the task|i have finished|i have looked into it|here is my report|report|"

// isEmptyReport reports whether a report has no content: it only states completion, or has no
// word at all. A short answer that names a place has content.
func isEmptyReport(r SubagentReport) bool {
	text := strings.ToLower(strings.Trim(strings.Join(strings.Fields(r.Report), " "), " .!()[]*_-:\"'`"))
	if !strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsFunc(text, unicode.IsDigit) {
		return true
	}
	return len(r.Places) == 0 && !strings.Contains(text, "|") && strings.Contains(blankReports, "|"+text+"|")
}

// Send implements [tool.SubagentManager].
func (s *SubagentGroup) Send(question string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question = strings.TrimSpace(question)
	running := 0
	for _, c := range s.all {
		if !c.isRunning() {
			continue
		}
		// the same question again, maybe by a call that was cut off
		if running++; c.question == question { // asked again, maybe by a call that was cut off
			return fmt.Sprintf("subagent %d is already looking into that", c.n), nil
		}
	}
	switch {
	case question == "":
		return "", errors.New("a subagent needs a question")
	case running >= maxParallelSubagents:
		return "", fmt.Errorf("%d subagents are running, which is the maximum: wait for one, or stop one", running)
	case len(s.all) >= maxSubagents:
		return "", fmt.Errorf("%d subagents were started, which is the maximum of a session: search yourself", maxSubagents)
	}
	c := &startedSubagent{n: len(s.all) + 1, question: question}
	s.startSubagent(c)
	return fmt.Sprintf("subagent %d is looking into it; you get a message when it reports", c.n), nil
}

// Show implements [tool.SubagentManager].
func (s *SubagentGroup) Show(ctx context.Context, id string, wait time.Duration) (string, error) {
	if id == "" {
		s.awaitFinishedSubagent(ctx, wait)
		return s.listSubagents(), nil
	}
	c, err := s.findSubagent(id)
	if err != nil {
		return "", err
	}
	if wait > 0 {
		ctx, stop := context.WithTimeoutCause(ctx, wait, errWaitedEnough)
		defer stop()
		select {
		case <-c.over:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.isRunning() {
		return fmt.Sprintf("subagent %d is still looking into it", c.n), nil
	}
	c.told = true
	if c.report == nil {
		return "", fmt.Errorf("subagent %d has no report: %s; search yourself", c.n, c.why)
	}
	text := fmt.Sprintf("report of subagent %d, not checked by anyone:\n%s", c.n, c.report.Report)
	if len(c.report.Places) > 0 {
		text += "\nIts evidence: " + strings.Join(c.report.Places, ", ")
	}
	return text, nil
}

// awaitFinishedSubagent waits until a subagent ends whose parent has not been informed, as long as one is
// running.
func (s *SubagentGroup) awaitFinishedSubagent(ctx context.Context, wait time.Duration) {
	ctx, stop := context.WithTimeoutCause(ctx, wait, errWaitedEnough)
	defer stop()
	for ctx.Err() == nil {
		s.mu.Lock()
		back := s.back
		out := slices.ContainsFunc(s.all, (*startedSubagent).isRunning)
		news := slices.ContainsFunc(s.all, func(c *startedSubagent) bool { return !c.told && !c.isRunning() })
		s.mu.Unlock()
		if news || !out {
			return
		}
		select {
		case <-back:
		case <-ctx.Done():
		}
	}
}

// Stop implements [tool.SubagentManager].
func (s *SubagentGroup) Stop(id string) (string, error) {
	c, err := s.findSubagent(id)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	if !c.isRunning() {
		defer s.mu.Unlock()
		return fmt.Sprintf("subagent %d has already ended", c.n), nil
	}
	c.told = true
	s.mu.Unlock()
	c.stop(ErrSubagentStopped)
	<-c.over
	return fmt.Sprintf("subagent %d is stopped", c.n), nil
}

// FinishedSubagents returns which subagents ended since the last call.
func (s *SubagentGroup) FinishedSubagents() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, c := range s.all {
		switch {
		case c.told || c.isRunning():
			continue
		case c.report == nil:
			all = append(all, fmt.Sprintf("Subagent %d ended without a report: %s", c.n, c.why))
		default:
			all = append(all, fmt.Sprintf("Subagent %d has reported: call scout with id %d to read the report.", c.n, c.n))
		}
		c.told = true
	}
	return all
}

// Close stops the running subagents, with the given cause.
func (s *SubagentGroup) Close(why error) {
	s.stop(why)
	s.out.Wait()
}

func (s *SubagentGroup) findSubagent(id string) (*startedSubagent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		if id = strings.TrimPrefix(strings.TrimSpace(id), "scout "); fmt.Sprint(c.n) == id {
			return c, nil
		}
	}
	return nil, fmt.Errorf("there is no subagent %q", id)
}

func (s *SubagentGroup) listSubagents() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, c := range s.all {
		state := "is still looking"
		if !c.isRunning() {
			state = "has reported"
			if c.report == nil {
				state = "has no report: " + c.why
			}
		}
		fmt.Fprintf(&b, "scout %d %s: %s\n", c.n, state, c.question)
	}
	return cmp.Or(b.String(), "[no subagent was started]")
}

// isRunning reports whether the subagent still runs. The caller holds the lock.
func (c *startedSubagent) isRunning() bool {
	select {
	case <-c.over:
		return false
	default:
		return true
	}
}
