package progress

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
)

// RunInChildProcess runs the command line of a person at a terminal in a child process that
// shares the terminal. The child uses the terminal as this process would, and its run continues
// when the person detaches or closes the terminal. It returns when the child has ended or
// continues without the terminal. If done is false, this process runs the command itself. See
// docs/decisions/0090-background.md.
func RunInChildProcess(a *console.Console) (done bool, err error) {
	if h := a.Host; h.Front != nil || h.Parent != nil || h.Served || h.Watched || a.Played() || !a.Person() {
		return false, nil
	}
	exe, err := os.Executable()
	if err != nil {
		return false, nil //nolint:nilerr // it is done here
	}
	was, _ := termios()
	end, err := background.RunInTerminal(background.Options{Exe: exe, Args: a.Args, Env: a.Environ})
	switch {
	case end.PID == 0:
		return false, nil // this process does it
	case err != nil:
		return true, err
	case end.Left != "":
		_, _ = fmt.Fprint(a.Err, continues(a.Style(a.Err), end.Left, end.PID, ""))
		return true, console.ExitError(console.CodeInterrupted) // 0 would mean that all of it landed
	case end.Signal != 0:
		restore(was)
		if end.Signal != unix.SIGINT {
			a.Say("the process was killed (%s); nothing is lost: nexus runs lists what nexus resume continues", end.Signal)
		}
		return true, console.ExitError(console.CodeOfSignal + int(end.Signal))
	case end.Code != console.CodeOK:
		return true, console.ExitError(end.Code)
	}
	return true, nil
}

// termios returns the input settings of the terminal.
func termios() (*unix.Termios, error) { return unix.IoctlGetTermios(int(os.Stdin.Fd()), getTermios) }

// restore resets a terminal that a killed process used as its whole screen.
func restore(was *unix.Termios) {
	now, err := termios()
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
func (s *screen) detachFromTerminal() {
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
		s.erase()
		s.live = false
		if err := partFrom(s.a, front, s.state.Run); err != nil {
			s.a.Complain(err)
		}
	})
}

// KeepRunningOnHangup lets a run that only prints lines continue when the shared terminal is
// closed.
func KeepRunningOnHangup(a *console.Console, id nexus.RunID) {
	if front := a.Host.Front; front != nil {
		front.Lost(func() {
			if err := partFrom(a, front, id); err != nil {
				a.Complain(err)
			}
		})
	}
}

// partFrom lets this process continue a run without the shared terminal.
func partFrom(a *console.Console, front *console.Front, id nexus.RunID) error {
	return front.Leave(id, func() (*os.File, error) {
		dir := logs(a)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return os.OpenFile(logFile(dir, string(id)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	})
}
