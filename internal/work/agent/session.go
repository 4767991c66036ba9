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

// Functions that this package's sessions share with those of external agents.

// The causes with which a context of [WithTimeLimits] ends on its own.
var (
	ErrSessionTime = errors.New("the session's time is up")
	ErrTaskTime    = errors.New("the task's time is up")
)

// WithTimeLimits limits ctx by the time left of a session and of its task. Nil means no limit.
// The session's clock runs until stop, which then updates the rest: waiting for permission and
// for people does not count.
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

// StoreMessage stores a message and returns its hash.
func StoreMessage(s MessageStore, m llm.Message) (hash string, err error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encode message: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("keep message: %w", err)
	}
	return hash, nil
}

// IsSpendingRefused reports whether an error is the refusal of a reservation,
// which ends a session but is no fault of the machinery.
func IsSpendingRefused(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && (e.Code == nexus.CodeBudget || e.Code == nexus.CodeLimit)
}

// StoreManifest stores the items of a prompt and returns their hash, or "" if there are none.
func StoreManifest(s MessageStore, items []nexus.PromptManifestItem) (hash string, err error) {
	if len(items) == 0 {
		return "", nil
	}
	data, err := json.Marshal(items)
	if err != nil {
		return "", fmt.Errorf("record what the prompt contains: %w", err)
	}
	if hash, err = s.Put(data); err != nil {
		return "", fmt.Errorf("store the record of what the prompt contains: %w", err)
	}
	return hash, nil
}
