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

// processCost is the result and the cost of a finished process.
type processCost struct {
	out  []byte        // its output
	wall time.Duration // from start to end
	cpu  time.Duration // of it and all children that it waited for
	peak int64         // peak memory, in bytes
	exit int
}

// runProcess runs a program with as little overhead as possible and waits for its end.
func runProcess(ctx context.Context, now func() time.Time, dir string, env []string, args ...string) (processCost, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return processCost{}, err
	}
	defer func() { _ = r.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return processCost{}, errors.Join(err, w.Close())
	}
	defer func() { _ = null.Close() }()
	began := now()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{null, w, w}})
	if err = errors.Join(err, w.Close()); err != nil {
		return processCost{}, fmt.Errorf("start %s: %w", args[0], err)
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Kill() })
	defer stop()
	var out bytes.Buffer
	_, err = io.Copy(&out, r)
	state, waited := p.Wait()
	if err = errors.Join(err, waited); err != nil {
		return processCost{}, fmt.Errorf("wait for %s: %w", args[0], err)
	}
	e := processCost{out: out.Bytes(), wall: now().Sub(began), cpu: state.UserTime() + state.SystemTime(), exit: state.ExitCode()}
	e.peak = peakMemory(state)
	return e, context.Cause(ctx)
}
