package notify

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/face/notify/delivery"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/notice"
)

// NotifyTerminal sends notices about one run, from now on, to the terminal of the process that
// conducts it. Nothing is stored, because a closed terminal is not read. The returned function
// stops that after the notices so far were sent.
func (d Notifier) NotifyTerminal(ctx context.Context, run nexus.RunID, to MessageSender) (stop func()) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	fold := notice.NoticeCollector{Past: func(run nexus.RunID) iter.Seq2[nexus.Event, error] {
		return d.Journal.Events(context.WithoutCancel(ctx), run, 0)
	}}
	var after int64
	for e, err := range d.Journal.Events(ctx, run, 0) {
		if err != nil {
			break // the display of the run reports it
		}
		after = e.Seq
	}
	take := func(e nexus.Event, err error) bool {
		if err != nil {
			return false // the display of the run reports it
		}
		told, err := fold.Apply(e)
		for _, n := range told {
			if notice.ShouldSend(d.Rules, n, TerminalName) {
				n = d.maskNotice(n)
				m := delivery.NoticeMessage{ID: messageID([]string{n.ID}), Place: d.Place, Link: d.Link, Notices: []notice.Notice{n}}
				_ = to.Send(life, m) // a closed terminal is not read
			}
		}
		after = e.Seq
		return err == nil
	}
	var all sync.WaitGroup
	all.Go(func() {
		for e, err := range d.Journal.Follow(life, run, after) {
			if !take(e, err) {
				return
			}
		}
		for e, err := range d.Journal.Events(context.WithoutCancel(ctx), run, after) {
			if !take(e, err) {
				return
			}
		}
	})
	return func() {
		end(errors.New("the run is over"))
		all.Wait()
	}
}

// TerminalName is the name of a run's terminal in rules.
const TerminalName = "terminal"
