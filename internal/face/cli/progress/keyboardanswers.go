package progress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/muesli/cancelreader"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// readAnswers reads answers to questions from the keyboard while the run continues. A line
// answers the open question or, if there are several, the one whose name it begins with. Only one
// call may run at a time. It ends with ctx, or with the input, and then stops reading, so that
// later input goes to the next reader of the terminal.
func (s *runScreen) readAnswers(ctx context.Context, in io.Reader, wish func(context.Context, nexus.Request) error) {
	if !s.live && s.agree == nil {
		return
	}
	s.ear.Lock()
	defer s.ear.Unlock()
	typing := hasKeyboard(in)
	s.mu.Lock()
	if s.heard, s.wish = typing, wish; !typing {
		s.agree = nil
	} else if s.isAskingConsent() && !s.asked {
		s.showPlanQuestion(ctx)
	}
	s.mu.Unlock()
	if !typing {
		return
	}
	ctx, end := context.WithCancelCause(ctx)
	lines, next := make(chan string), make(chan bool, 1)
	letGo := readLines(ctx, in, lines, next)
	defer func() {
		end(errLeft)
		letGo()
	}()
	for reading := false; ; {
		if !reading && ctx.Err() == nil && s.updateReading() {
			next <- true
			reading = true
		}
		select {
		case line, more := <-lines:
			if !more {
				// If the terminal is gone, the end of the input is not an answer.
				if s.a.Host.Front == nil || hasKeyboard(in) {
					s.handleInputEnd(ctx)
				}
				return
			}
			s.handleLine(ctx, line)
			reading = false
			s.setReading(false)
		case <-s.shown:
		case <-s.hushed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// readLines reads one line per request, until there are no more requests. The returned function
// cancels the current read, and returns when nothing reads from in; a read from a simulated
// person cannot be cancelled and is left running.
func readLines(ctx context.Context, in io.Reader, lines chan<- string, next chan bool) (letGo func()) {
	r, err := cancelreader.NewReader(in)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(lines)
		from := in
		if err == nil {
			from = r
		}
		for s := bufio.NewScanner(from); <-next && s.Scan(); { // an editor may use the input between two lines
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		close(next)
		if err == nil && r.Cancel() {
			<-done
			_ = r.Close() // releases the files that the wait needs
		}
	}
}

// updateReading reports whether typed lines are read now. Lines typed before the plan exists wait for the
// question about it.
func (s *runScreen) updateReading() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = s.canReadInput()
	return s.reading
}

// canReadInput is like reads, with the lock held by the caller. Before and while the run is on the
// whole screen, only questions from before the start of its tasks are answered in lines.
func (s *runScreen) canReadInput() bool {
	if s.look != nil {
		return !s.up && !s.tasksStarted() && (s.isAskingConsent() || len(s.openQuestions()) > 0)
	}
	return s.agree == nil || s.isAskingConsent() || s.state.Status != "" && (s.state.Planned || !s.state.NeedsPlanApproval())
}

// openQuestions returns the open questions that were not answered here. The caller holds the
// lock.
func (s *runScreen) openQuestions() []*state.RunQuestion {
	return slices.DeleteFunc(s.state.OpenQuestions(), func(q *state.RunQuestion) bool { return q.ID == s.sent })
}

// handleInputEnd handles the end of the input, which does not count as a yes to a plan.
func (s *runScreen) handleInputEnd(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard, s.gone = false, true
	if s.isAskingConsent() {
		s.a.Ask("\n") // the line of the question has not ended
		s.drawn, s.asked = 0, false
		s.sendConsentReply(ctx, nexus.Request{Verb: nexus.VerbAnswer, Text: "no"})
	}
}

// handleLine handles a typed line.
func (s *runScreen) handleLine(ctx context.Context, line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return
	case s.isAskingConsent():
		s.handleConsentLine(ctx, strings.TrimSpace(line))
		return
	}
	if s.drawn > 0 {
		s.drawn++ // the typed line
	}
	s.eraseBlock()
	defer s.draw()
	asks := s.openQuestions()
	line = strings.TrimSpace(line)
	if s.leave != nil && (line == "q" || line == "quit") {
		s.leave()
		return
	}
	if line == "" || len(asks) == 0 {
		return
	}
	id, text := asks[0].ID, line
	word, rest, _ := strings.Cut(line, " ")
	switch named := slices.ContainsFunc(asks, func(q *state.RunQuestion) bool { return q.ID == word }); {
	case named && strings.TrimSpace(rest) != "":
		id, text = word, strings.TrimSpace(rest)
	case named:
		s.a.Say("type the answer after %s", word)
		return
	case len(asks) > 1:
		s.a.Say("several questions are open: start with the name of one, such as %s", id)
		return
	}
	if err := s.wish(ctx, nexus.Request{Verb: nexus.VerbAnswer, ID: id, Text: text}); err != nil {
		s.a.ReportError(err)
	}
}

// prompt returns the text below the block while a question can be answered here, otherwise "".
// The caller holds the lock.
func (s *runScreen) prompt() string {
	if s.isAskingConsent() {
		return s.consentPrompt()
	}
	asks := s.openQuestions()
	if !s.heard || len(asks) == 0 {
		return ""
	}
	style := s.a.Style(s.a.Err)
	var b strings.Builder
	for _, q := range asks {
		b.WriteString(style.Wrap(style.Warn(q.ID)+" "+view.EscapeForTerminal(q.Text), "") + "\n")
	}
	how := "the answer"
	if len(asks) > 1 {
		how = "a question's name and the answer"
	}
	return b.String() + fmt.Sprintf("type %s, then Enter: ", how)
}
