package statusfile

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options configure the path of the file and the facts that are not in the journal.
type Options struct {
	Path   string
	PID    int // of the process that conducts the run
	DryRun bool
	Now    func() time.Time
	Beat   time.Duration                 // maximum time between two writes; 0 is 15 seconds
	Past   iter.Seq2[nexus.Event, error] // reads the events again; nil: kept in memory; see [state.State.ReadPastFrom]
}

// KeepFileUpToDate keeps the file up to date with the run's events until the run ends, the events end, or
// the context does. The file remains.
func KeepFileUpToDate(ctx context.Context, run nexus.RunID, events iter.Seq2[nexus.Event, error], o Options) error {
	if o.Beat <= 0 {
		o.Beat = 15 * time.Second
	}
	ctx, stop := context.WithCancelCause(ctx)
	feed := make(chan eventOrError)
	var reader sync.WaitGroup
	reader.Go(func() { forwardEvents(ctx, events, feed) })
	defer reader.Wait()
	defer stop(nil) // the reader stops at the next event, or when its own context ends
	beat := time.NewTicker(o.Beat)
	defer beat.Stop()
	s := state.NewState(run)
	if o.Past != nil {
		s.ReadPastFrom(o.Past)
	}
	for {
		tell := true
		select {
		case n, more := <-feed:
			if !more {
				return nil
			}
			if n.err != nil {
				return n.err
			}
			if err := s.Apply(n.event); err != nil {
				return err
			}
			tell = view.IsLifecycleFact(n.event.Fact)
		case <-beat.C:
		case <-ctx.Done():
			return nil
		}
		if !tell {
			continue
		}
		if err := WriteFile(o.Path, NewStatusFile(s, o, o.Now())); err != nil || s.Status.HasEnded() {
			return err
		}
	}
}

type eventOrError struct {
	event nexus.Event
	err   error
}

func forwardEvents(ctx context.Context, events iter.Seq2[nexus.Event, error], feed chan<- eventOrError) {
	defer close(feed)
	for e, err := range events {
		select {
		case feed <- eventOrError{e, err}:
		case <-ctx.Done():
			return
		}
	}
}

// WriteFile replaces the file at path in one step: a reader sees the old content
// or the new one, never a part.
func WriteFile(path string, f File) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(f)
	if err == nil {
		err = os.WriteFile(path+".tmp", sanitize.EscapeJSON(b.Bytes()), 0o644)
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return &nexus.Error{
			Code: nexus.CodeStorage, Message: "write the status file", Cause: err,
			Hint: "Name a file in a directory that exists and can be written with --status-file.",
		}
	}
	return nil
}
