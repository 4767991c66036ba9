package mcpserver

import (
	"context"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// maxProgressQueue is how many signs of progress wait for a client that reads slowly.
// Those before them are left out.
const maxProgressQueue = 32

// progressSender returns what tells the client of a call how it continues. It does not
// wait for the client: nothing that works may stop because nobody reads. Done
// waits until what was told is sent, or ctx ends.
func progressSender(ctx context.Context, r *sdk.CallToolRequest) (tell func(string), done func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func(string) {}, func() {}
	}
	t := &progressQueue{wake: make(chan struct{}, 1)}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for {
			text, n, more := t.next()
			switch {
			case text != "":
				told := &sdk.ProgressNotificationParams{ProgressToken: token, Message: sanitize.Show(text), Progress: float64(n)}
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

// progressQueue is what was not sent yet.
type progressQueue struct {
	mu   sync.Mutex
	text []string
	n    int // that were said, sent or not
	over bool
	wake chan struct{}
}

func (u *progressQueue) add(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over || text == "" {
		return
	}
	u.n++
	if u.text = append(u.text, text); len(u.text) > maxProgressQueue {
		u.text = u.text[1:]
	}
	u.signal()
}

func (u *progressQueue) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.over = true
	u.signal()
}

func (u *progressQueue) signal() {
	select {
	case u.wake <- struct{}{}:
	default:
	}
}

// next takes the oldest text, with its number. More is whether others may come.
func (u *progressQueue) next() (text string, n int, more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.text) == 0 {
		return "", u.n, !u.over
	}
	text, n = u.text[0], u.n-len(u.text)+1
	u.text = u.text[1:]
	return text, n, true
}
