package ratelimit

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Model is a model whose calls stay within the limits of its account. It must be the outermost
// wrapper of the model.
type Model struct {
	llm.Model
	account *Account
}

type passKey struct{}

// AddTo returns a context in which the model's next call uses the permit.
func (p *Permit) AddTo(ctx context.Context) context.Context {
	return context.WithValue(ctx, passKey{}, p)
}

// Try returns a permit for a call if it may be made at once, otherwise nil.
func (m *Model) Try(r llm.Request) *Permit {
	if p := m.account.enqueueCall(r.Model, r, false); p.state == entered {
		return p
	}
	return nil
}

// Enter waits for a permit for a call, before any budget is reserved for it. A long wait is
// reported to held once, if it is not nil. Enter fails as out of quota if a window ends only after
// more than a minute and a half. The permit must be used, see [Permit.AddTo], or released.
func (m *Model) Enter(ctx context.Context, r llm.Request, held func(Hold) error) (*Permit, error) {
	return m.account.enter(ctx, r.Model, r, held)
}

// Stream implements [llm.Model]. Without a permit in the context, the call waits for one here.
func (m *Model) Stream(ctx context.Context, r llm.Request, heard func(llm.Delta)) (llm.Response, error) {
	p, ok := ctx.Value(passKey{}).(*Permit)
	if !ok || !p.fits(m.account) {
		var err error
		if p, err = m.Enter(ctx, r, nil); err != nil {
			return llm.Response{}, err
		}
	}
	resp, err := m.Model.Stream(llm.Listen(ctx, p.observeHeaders), r, heard)
	p.observeResult(resp, err)
	return resp, err
}

// fits reports whether a call of the account may use the permit.
func (p *Permit) fits(a *Account) bool {
	if p.account != a {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return p.state == entered
}
