package progress

import (
	"context"
	"errors"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RequestTimeout limits how long a command waits for the answer to its request.
const RequestTimeout = 5 * time.Second

var errPatience = errors.New("there was no answer in time")

// AwaitRequestResult waits a while for the conductor's answer to a request; nil if there is none.
func AwaitRequestResult(ctx context.Context, p *app.Repository, run nexus.RunID, seq int64) (*nexus.RequestSettled, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, RequestTimeout, errPatience)
	defer cancel()
	for e, err := range p.Journal.Follow(ctx, run, seq) {
		if err != nil {
			if errors.Is(context.Cause(ctx), errPatience) {
				return nil, nil //nolint:nilnil // nobody answered
			}
			return nil, err
		}
		if f, ok := e.Fact.(nexus.RequestSettled); ok && f.Seq == seq {
			return &f, nil
		}
	}
	return nil, nil //nolint:nilnil // nobody answered
}
