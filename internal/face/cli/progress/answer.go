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
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// readAnswers takes answers to questions from the keyboard while the run continues: a
// line answers the question that is open, or, where there are several, the one
// whose name it begins with. Only one call may be under way. It ends with ctx,
// or with the input. A keyboard is not read any more then: what is typed next is
// for whoever has the terminal.
func (s *screen) readAnswers(ctx context.Context, in io.Reader, wish func(context.Context, nexus.Request) error) {
	if !s.live && s.agree == nil {
		return
	}
	s.ear.Lock()
	defer s.ear.Unlock()
	typing := keyboard(in)
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
		if !reading && ctx.Err() == nil && s.reads() {
			next <- true
			reading = true
		}
		select {
		case line, more := <-lines:
			if !more {
				if s.a.Host.Front == nil || keyboard(in) { // or else the terminal is gone, and nobody has answered
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

// readLines reads a line for each that is wanted, until none is any more. The function
// that it returns ends the read that is under way, and returns when nothing reads in: a
// person who is played cannot be interrupted, and is left to it.
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
		for s := bufio.NewScanner(from); <-next && s.Scan(); { // an editor may have it between two lines
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
			_ = r.Close() // of what it waits with
		}
	}
}

// reads reports whether what is typed now is read. What is typed before the plan is
// there waits for the question about it.
func (s *screen) reads() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = s.readable()
	return s.reading
}

// readable is reads while the caller holds the lock. Before and while the run is on the
// whole screen only what is asked before its tasks begin is answered in lines.
func (s *screen) readable() bool {
	if s.look != nil {
		return !s.up && !s.begun() && (s.isAskingConsent() || len(s.openQuestions()) > 0)
	}
	return s.agree == nil || s.isAskingConsent() || s.state.Status != "" && (s.state.Planned || !s.state.NeedsConsent())
}

// openQuestions returns the questions that are open and were not answered here. The caller
// holds the lock.
func (s *screen) openQuestions() []*state.Question {
	return slices.DeleteFunc(s.state.OpenQuestions(), func(q *state.Question) bool { return q.ID == s.sent })
}

// handleInputEnd is told that nothing will be typed any more, which is no yes to a plan.
func (s *screen) handleInputEnd(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard, s.gone = false, true
	if s.isAskingConsent() {
		s.a.Ask("\n") // the question's line has not ended
		s.drawn, s.asked = 0, false
		s.sendConsentReply(ctx, nexus.Request{Verb: nexus.VerbAnswer, Text: "no"})
	}
}

// handleLine takes a line that was typed.
func (s *screen) handleLine(ctx context.Context, line string) {
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
		s.drawn++ // the line that was typed
	}
	s.erase()
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
	switch named := slices.ContainsFunc(asks, func(q *state.Question) bool { return q.ID == word }); {
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
		s.a.Complain(err)
	}
}

// prompt is what is below the block while a question can be answered here,
// empty while none can. The caller holds the lock.
func (s *screen) prompt() string {
	if s.isAskingConsent() {
		return s.start()
	}
	asks := s.openQuestions()
	if !s.heard || len(asks) == 0 {
		return ""
	}
	style := s.a.Style(s.a.Err)
	var b strings.Builder
	for _, q := range asks {
		b.WriteString(style.Wrap(style.Warn(q.ID)+" "+view.Clean(q.Text), "") + "\n")
	}
	how := "the answer"
	if len(asks) > 1 {
		how = "a question's name and the answer"
	}
	return b.String() + fmt.Sprintf("type %s, then Enter: ", how)
}
