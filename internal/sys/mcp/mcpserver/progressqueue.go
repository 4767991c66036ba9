package mcpserver

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// maxProgressQueue limits the progress messages that wait for a slow client. Older ones are
// dropped.
const maxProgressQueue = 32

// progressSender returns functions for the progress of a call. The function tell does not wait for
// the client: work must not stop because a client does not read. The function done waits until all
// messages are sent, or ctx ends.
func progressSender(ctx context.Context, r *sdk.CallToolRequest) (tell func(string), done func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func(string) {}, func() {}
	}
	t := &progressMessageQueue{wake: make(chan struct{}, 1)}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for {
			text, n, more := t.next()
			switch {
			case text != "":
				told := &sdk.ProgressNotificationParams{ProgressToken: token, Message: sanitize.RevealHidden(text), Progress: float64(n)}
				if r.Session.NotifyProgress(ctx, told) != nil {
					return
				}
			case !more:
				return
			default:
				select {
				case <-t.wake:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return t.add, func() {
		t.close()
		select {
		case <-sent:
		case <-ctx.Done():
		}
	}
}

// progressMessageQueue has the unsent messages.
type progressMessageQueue struct {
	mu   sync.Mutex
	text []string
	n    int // messages so far, sent or not
	over bool
	wake chan struct{}
}

func (u *progressMessageQueue) add(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over || text == "" {
		return
	}
	u.n++
	if u.text = append(u.text, text); len(u.text) > maxProgressQueue {
		u.text = u.text[1:]
	}
	u.wakeReader()
}

func (u *progressMessageQueue) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.wakeReader()
}

func (u *progressMessageQueue) wakeReader() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// next removes the oldest text, and returns it with its number; more is whether others may come.
func (u *progressMessageQueue) next() (text string, n int, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.text) == 0 {
		return "", u.n, !u.over
	}
	text, n = u.text[0], u.n-len(u.text)+1
	u.text = u.text[1:]
	return text, n, true
}
