package progress

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestTheWholeScreenEndsWithTheWork holds that nobody looks at a run whose work ended with
// an error: what conducts it waits for who shows it, and takes nothing down before.
func TestTheWholeScreenEndsWithTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &runScreen{
			a: console.New(strings.NewReader(""), io.Discard, io.Discard, app.App{}), fullScreen: newFullScreen(),
			state: &state.State{PlanProgress: state.PlanProgress{Planned: true}, Status: nexus.StatusExecuting}, shown: make(chan struct{}, 1),
		}
		up := false
		s.look = func(ctx context.Context) error {
			up = true
			<-ctx.Done()
			return nil
		}
		work, end := context.WithCancelCause(t.Context())
		go s.openFullScreenWhenReady(t.Context(), work)
		synctest.Wait()
		if !up || !s.up {
			t.Fatal("it is not shown")
		}
		end(errors.New("a directory cannot be made"))
		synctest.Wait()
		select {
		case <-s.down:
		default:
			t.Error("it is still shown")
		}
	})
}
