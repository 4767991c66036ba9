package issuecomment_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/issuecomment"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var errBusy = errors.New("busy")

// issue is an issue whose comment takes a while to be written, and fails as often as is said.
type issue struct {
	takes   time.Duration
	fail    []error
	draw    func(*state.State) string // nil: the number of questions
	tries   int
	written []string
	said    []string
	events  chan nexus.Event
}

func (i *issue) follow(ctx context.Context) (end func()) {
	s := state.NewState("r1")
	i.events = make(chan nexus.Event)
	live := func(ctx context.Context, _ int64) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for {
				select {
				case e := <-i.events:
					if !yield(e, nil) {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}
	left := func(context.Context, int64) iter.Seq2[nexus.Event, error] {
		return func(func(nexus.Event, error) bool) {}
	}
	if i.draw == nil {
		i.draw = func(s *state.State) string { return fmt.Sprint(len(s.Questions)) }
	}
	return issuecomment.CommentWriter{
		Draw: i.draw,
		Write: func(ctx context.Context, text string) error {
			i.tries++
			select {
			case <-time.After(i.takes):
			case <-ctx.Done():
				return ctx.Err()
			}
			if len(i.fail) > 0 {
				err := i.fail[0]
				i.fail = i.fail[1:]
				if err != nil {
					return err
				}
			}
			i.written = append(i.written, text)
			return nil
		},
		Passing: func(err error) bool { return errors.Is(err, errBusy) },
		Say:     func(err error) { i.said = append(i.said, err.Error()) },
	}.Follow(ctx, s, live, left)
}

// ask lets the run ask its n-th question.
func (i *issue) ask(n int) {
	i.events <- nexus.Event{Run: "r1", Seq: int64(n), Fact: nexus.QuestionAsked{ID: fmt.Sprint("Q", n)}}
	synctest.Wait()
}

func (i *issue) want(t *testing.T, tries int, written ...string) {
	t.Helper()
	if i.tries != tries || !slices.Equal(i.written, written) {
		t.Errorf("%d tries, %q written, %q said; want %d, %q", i.tries, i.written, i.said, tries, written)
	}
}

// TestNewestWins over those that came while another was written.
func TestNewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issue{takes: time.Second}
		end := i.follow(t.Context())
		synctest.Wait()
		i.ask(1)
		i.ask(2)
		i.ask(3)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		i.want(t, 2, "0", "3")
		i.ask(4)
		end()
		i.want(t, 3, "0", "3", "4")
	})
}

// TestUnchanged is not written.
func TestUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issue{}
		end := i.follow(t.Context())
		i.events <- nexus.Event{Run: "r1", Seq: 1, Fact: nexus.RunPaused{}}
		time.Sleep(time.Minute)
		synctest.Wait()
		end()
		i.want(t, 1, "0")
	})
}

// TestBusy is tried again, also at the end and after the signal that ended the run.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issue{fail: []error{nil, errBusy, errBusy, errBusy}}
		ctx, signal := context.WithCancel(t.Context())
		end := i.follow(ctx)
		synctest.Wait()
		i.ask(1)
		signal()
		end()
		i.want(t, 5, "0", "1")
		if len(i.said) > 0 {
			t.Error(i.said)
		}
	})
}

// TestGrace ends what is never written, and says so.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, i := range []*issue{{takes: time.Hour}, {fail: slices.Repeat([]error{errBusy}, 99)}} {
			end := i.follow(t.Context())
			synctest.Wait()
			began := time.Now()
			end()
			if took := time.Since(began); took != issuecomment.Grace || len(i.said) != 1 || len(i.written) != 0 {
				t.Errorf("%s, %q, %q", took, i.said, i.written)
			}
		}
	})
}

// TestRefused is said once, and not tried again before the text changes.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := errors.New("forbidden")
		i := &issue{fail: []error{no, no}}
		end := i.follow(t.Context())
		time.Sleep(time.Minute)
		synctest.Wait()
		i.want(t, 1)
		i.ask(1)
		i.want(t, 2)
		i.ask(2)
		end()
		i.want(t, 3, "2")
		if !slices.Equal(i.said, []string{"forbidden"}) {
			t.Error(i.said)
		}
	})
}

// TestRefusedBefore is tried again once another text was written.
func TestRefusedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issue{fail: []error{nil, errors.New("forbidden")}, draw: func(s *state.State) string { return "0121"[len(s.Questions):][:1] }}
		end := i.follow(t.Context())
		synctest.Wait()
		i.ask(1) // refused
		i.ask(2)
		i.ask(3)
		end()
		i.want(t, 4, "0", "2", "1")
	})
}

// TestBusyForLong is tried again at least every half minute.
func TestBusyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &issue{fail: slices.Repeat([]error{errBusy}, 20)}
		end := i.follow(t.Context())
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		end()
		i.want(t, 21, "0")
	})
}
