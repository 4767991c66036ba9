package progress

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// hear takes answers to questions from the keyboard while the run continues: a
// line answers the question that is open, or, where there are several, the one
// whose name it begins with. Only one call may be under way. It ends with ctx,
// or with the input; a line that is being typed when ctx ends is lost.
func (s *screen) hear(ctx context.Context, in io.Reader, answer func(ctx context.Context, question, text string) error) {
	if !s.live || !keyboard(in) {
		return
	}
	s.mu.Lock()
	s.heard = true
	s.mu.Unlock()
	lines := make(chan string)
	go func() { // a read from a terminal cannot be ended
		defer close(lines)
		for r := bufio.NewScanner(in); r.Scan(); {
			select {
			case lines <- r.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case line, more := <-lines:
			if !more {
				s.mu.Lock()
				s.heard = false
				s.mu.Unlock()
				return
			}
			s.typed(ctx, line, answer)
		case <-ctx.Done():
			return
		}
	}
}

// typed takes a line that was typed.
func (s *screen) typed(ctx context.Context, line string, answer func(ctx context.Context, question, text string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if s.drawn > 0 {
		s.drawn++ // the line that was typed
	}
	s.erase()
	defer s.draw()
	asks := s.state.Asks()
	line = strings.TrimSpace(line)
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
	if err := answer(ctx, id, text); err != nil {
		s.a.Complain(err)
	}
}

// prompt is what is below the block while a question can be answered here,
// empty while none can. The caller holds the lock.
func (s *screen) prompt() string {
	asks := s.state.Asks()
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
