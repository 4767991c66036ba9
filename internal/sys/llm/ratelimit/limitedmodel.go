package ratelimit

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// AccountLimitedModel is a model whose calls stay within the limits of its account. It must be the outermost
// wrapper of the model.
type AccountLimitedModel struct {
	llm.Model
	account *AccountLimiter
}

type permitContextKey struct{}

// WithPermit returns a context in which the model's next call uses the permit.
func (p *CallPermit) WithPermit(ctx context.Context) context.Context {
	return context.WithValue(ctx, permitContextKey{}, p)
}

// TryPermit returns a permit for a call if it may be made at once, otherwise nil.
func (m *AccountLimitedModel) TryPermit(r llm.Request) *CallPermit {
	if p := m.account.enqueueCall(r.Model, r, false); p.state == stateEntered {
		return p
	}
	return nil
}

// WaitPermit waits for a permit for a call, before any budget is reserved for it. A long wait is
// reported to held once, if it is not nil. Enter fails as out of quota if a window ends only after
// more than a minute and a half. The permit must be used, see [CallPermit.WithPermit], or released.
func (m *AccountLimitedModel) WaitPermit(ctx context.Context, r llm.Request, held func(CallWait) error) (*CallPermit, error) {
	return m.account.waitForPermit(ctx, r.Model, r, held)
}

// Stream implements [llm.AccountLimitedModel]. Without a permit in the context, the call waits for one here.
func (m *AccountLimitedModel) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	p, ok := ctx.Value(permitContextKey{}).(*CallPermit)
	if !ok || !p.isUsableBy(m.account) {
		var err error
		if p, err = m.WaitPermit(ctx, r, nil); err != nil {
			return llm.Response{}, err
		}
	}
	resp, err := m.Model.Stream(llm.WithHeaderListener(ctx, p.observeHeaders), r, heard)
	p.observeResult(resp, err)
	return resp, err
}

// isUsableBy reports whether a call of the account may use the permit.
func (p *CallPermit) isUsableBy(a *AccountLimiter) bool {
	if p.account != a {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return p.state == stateEntered
}
