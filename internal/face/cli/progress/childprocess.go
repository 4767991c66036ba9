package progress

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
)

// RunInChildProcess runs the command line of a person at a terminal in a child process that
// shares the terminal. The child uses the terminal as this process would, and its run continues
// when the person detaches or closes the terminal. It returns when the child has ended or
// continues without the terminal. If done is false, this process runs the command itself. See
// docs/decisions/0090-background.md.
func RunInChildProcess(a *console.Console) (done bool, err error) {
	if h := a.Host; h.Front != nil || h.Parent != nil || h.Served || h.Watched || a.HasPlayedPerson() || !a.HasPerson() {
		return false, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return false, nil //nolint:nilerr // it is done here
	}
	was, _ := terminalSettings()
	end, err := backgroundprocess.RunInTerminal(backgroundprocess.Options{Exe: exe, Args: a.Args, Env: a.Environ})
	switch {
	case end.PID == 0:
		return false, nil // this process does it
	case err != nil:
		return true, err
	case end.Left != "":
		_, _ = fmt.Fprint(a.Err, backgroundText(a.Style(a.Err), end.Left, end.PID, ""))
		return true, console.ExitError(console.CodeInterrupted) // 0 would mean that all of it landed
	case end.Signal != 0:
		restoreTerminal(was)
		if end.Signal != unix.SIGINT {
			a.Say("the process was killed (%s); nothing is lost: nexus runs lists what nexus resume continues", end.Signal)
		}
		return true, console.ExitError(console.CodeOfSignal + int(end.Signal))
	case end.Code != console.CodeOK:
		return true, console.ExitError(end.Code)
	}
	return true, nil
}

// terminalSettings returns the input settings of the terminal.
func terminalSettings() (*unix.Termios, error) {
	return unix.IoctlGetTermios(int(os.Stdin.Fd()), getTermios)
}

// restoreTerminal resets a terminal that a killed process used as its whole screen.
func restoreTerminal(was *unix.Termios) {
	now, err := terminalSettings()
	if was == nil || err != nil || now.Lflag&unix.ICANON != 0 {
		return
	}
	_ = unix.IoctlSetTermios(int(os.Stdin.Fd()), setTermios, was)
	_, _ = os.Stdout.WriteString(resetTerminalSequence)
}

// resetTerminalSequence ends the terminal modes of the whole screen: its own buffer, the mouse,
// bracketed paste, a hidden cursor, colours.
const resetTerminalSequence = "\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[0m"

// detachFromTerminal lets the run continue without the terminal: the person detached, or closed
// it.
func (s *runScreen) detachFromTerminal() {
	front := s.a.Host.Front
	if front == nil {
		return
	}
	s.parting.Do(func() {
		s.mu.Lock()
		up, end := s.up, s.end
		s.look, s.agree, s.leave = nil, nil, nil
		s.mu.Unlock()
		if up {
			end(errLeft)
			<-s.down
		}
		close(s.hushed)
		s.ear.Lock() // nothing is read any more
		defer s.ear.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eraseBlock()
		s.live = false
		if err := leaveTerminal(s.a, front, s.state.Run); err != nil {
			s.a.ReportError(err)
		}
	})
}

// KeepRunningOnHangup lets a run that only prints lines continue when the shared terminal is
// closed.
func KeepRunningOnHangup(a *console.Console, id nexus.RunID) {
	if front := a.Host.Front; front != nil {
		front.OnTerminalLost(func() {
			if err := leaveTerminal(a, front, id); err != nil {
				a.ReportError(err)
			}
		})
	}
}

// leaveTerminal lets this process continue a run without the shared terminal.
func leaveTerminal(a *console.Console, front *console.TerminalProcess, id nexus.RunID) error {
	return front.DetachTerminal(id, func() (*os.File, error) {
		dir := backgroundLogDir(a)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(logFile(dir, string(id)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	})
}
