package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// ended is what a process cost.
type ended struct {
	out  []byte        // what it printed
	wall time.Duration // from start to end
	cpu  time.Duration // of it and all it waited for
	peak int64         // bytes that it held at most
	exit int
}

// launch runs a program as barely as it can be done and waits for its end.
func launch(ctx context.Context, now func() time.Time, dir string, env []string, args ...string) (ended, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return ended{}, err
	}
	defer func() { _ = r.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return ended{}, errors.Join(err, w.Close())
	}
	defer func() { _ = null.Close() }()
	began := now()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{null, w, w}})
	if err = errors.Join(err, w.Close()); err != nil {
		return ended{}, fmt.Errorf("start %s: %w", args[0], err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	defer stop()
	var out bytes.Buffer
	_, err = io.Copy(&out, r)
	state, waited := p.Wait()
	if err = errors.Join(err, waited); err != nil {
		return ended{}, fmt.Errorf("wait for %s: %w", args[0], err)
	}
	e := ended{out: out.Bytes(), wall: now().Sub(began), cpu: state.UserTime() + state.SystemTime(), exit: state.ExitCode()}
	e.peak = peak(state)
	return e, context.Cause(ctx)
}
