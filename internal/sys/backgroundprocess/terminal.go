package backgroundprocess

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// ProcessExit describes how a process of [RunInTerminal] ended or left the terminal.
type ProcessExit struct {
	Left   string         // its text when it left the terminal; empty: it has ended
	PID    int            // its process ID
	Code   int            // its exit code; -1 if a signal killed it
	Signal syscall.Signal // that signal
}

// RunInTerminal starts the program in the session and process group of this process, with its
// terminal, and waits until it has ended or left the terminal. Meanwhile, signals that ask this
// process to end, or that report the closed terminal, are forwarded. Only the program, its
// arguments and its environment are used of the options.
func RunInTerminal(o Options) (ProcessExit, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return ProcessExit{}, err
	}
	defer read.Close() //nolint:errcheck // only read
	alive, held, err := os.Pipe()
	if err != nil {
		return ProcessExit{}, errors.Join(err, write.Close())
	}
	defer held.Close() //nolint:errcheck // nothing is written
	asked := make(chan os.Signal, 4)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(asked)
	o.Word = sharesTerminalWord
	p, err := o.startProcess([]*os.File{os.Stdin, os.Stdout, os.Stderr, write, alive}, nil)
	if err := errors.Join(write.Close(), alive.Close(), err); err != nil {
		return ProcessExit{}, fmt.Errorf("start the process that does it: %w", err)
	}
	said := make(chan []byte, 1)
	go func() {
		data, _ := io.ReadAll(io.LimitReader(read, maxSaid)) // a process that ended wrote nothing
		said <- data
	}()
	for {
		select {
		case s := <-asked:
			_ = p.Signal(s) // the process may have ended
		case data := <-said:
			if text := strings.TrimSpace(string(data)); text != "" {
				e := ProcessExit{Left: text, PID: p.Pid}
				return e, p.Release() // releases its process ID
			}
			return waitForExit(p)
		}
	}
}

func waitForExit(p *os.Process) (ProcessExit, error) {
	end, err := p.Wait()
	if err != nil {
		return ProcessExit{}, err
	}
	e := ProcessExit{PID: p.Pid, Code: end.ExitCode()}
	if s, ok := end.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		e.Signal = s.Signal()
	}
	return e, nil
}

// SharesTerminal reports whether this process shares the terminal of its parent. Such a process
// may continue after the terminal is closed.
func (p *ParentProcess) SharesTerminal() bool { return p != nil && p.gone != nil }

// TerminalClosedChannel returns a channel that is closed when the shared terminal is closed or the parent
// is gone.
func (p *ParentProcess) TerminalClosedChannel() <-chan struct{} { return p.gone }

// closeChannelOnTerminalEnd closes the channel when the terminal is closed or the parent is gone.
func (p *ParentProcess) closeChannelOnTerminalEnd(alive *os.File) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, alive) // nothing is ever written to it
	}()
	select {
	case <-hangup:
	case <-ended:
	}
	close(p.gone)
}

// LeaveTerminal lets this process continue without the terminal: from now on it reads no input,
// and its terminal output goes to log. Output that goes to a file is unchanged. Then it reports to
// the parent, which ends.
func (p *ParentProcess) LeaveTerminal(text string, log *os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close() //nolint:errcheck // only read
	for n, f := range []*os.File{null, log, log} {
		var is syscall.Stat_t
		if err := syscall.Fstat(n, &is); err == nil && is.Mode&syscall.S_IFMT == syscall.S_IFREG {
			continue
		}
		if err := duplicateDescriptor(int(f.Fd()), n); err != nil {
			return fmt.Errorf("leave the terminal: %w", err)
		}
	}
	p.ReportReady(text)
	return nil
}
