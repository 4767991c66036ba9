package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// What a session has in common with one that another maker's agent does.

// The causes of a context of [WithTimeLimits] that ended by itself.
var (
	ErrSessionTime = errors.New("the session's time is up")
	ErrTaskTime    = errors.New("the task's time is up")
)

// WithTimeLimits bounds ctx by what is left of a session's time and of its task's. Nil
// means no limit. The session's clock runs until stop, which sets what is left
// of it then: waiting for permission and for people costs a session nothing.
func WithTimeLimits(ctx context.Context, session *time.Duration, task func() time.Duration) (step context.Context, stop func()) {
	var ends []func()
	if session != nil {
		own, cancel := context.WithTimeoutCause(ctx, *session, ErrSessionTime)
		ctx, ends = own, append(ends, func() {
			if end, ok := own.Deadline(); ok {
				*session = time.Until(end)
			}
			cancel()
		})
	}
	if task != nil {
		own, cancel := context.WithTimeoutCause(ctx, task(), ErrTaskTime)
		ctx, ends = own, append(ends, cancel)
	}
	return ctx, func() {
		for _, end := range ends {
			end()
		}
	}
}

// KeepMessage puts a message into a store and returns its hash.
func KeepMessage(s Store, m llm.Message) (hash string, err error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode message: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("keep message: %w", err)
	}
	return hash, nil
}

// SpendingRefused reports whether an error is the refusal of a reservation,
// which ends a session but is no fault of the machinery.
func SpendingRefused(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && (e.Code == nexus.CodeBudget || e.Code == nexus.CodeLimit)
}

// KeepManifest puts the items of what is sent into a store and returns their
// hash, empty where there are none.
func KeepManifest(s Store, items []nexus.PromptItem) (hash string, err error) {
	if len(items) == 0 {
		return "", nil
	}
	data, err := json.Marshal(items)
	if err != nil {
		return "", fmt.Errorf("encode the manifest of a prompt: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("keep the manifest of a prompt: %w", err)
	}
	return hash, nil
}
