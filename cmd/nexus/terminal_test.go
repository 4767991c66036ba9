package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// pseudo opens a pseudo-terminal of so many columns: the side of the person,
// and that of the program.
func pseudo(columns int) (person, program *os.File, err error) {
	if person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	conn, err := person.SyscallConn() // it can be closed while somebody reads
	n := 0
	if err == nil {
		asked := conn.Control(func(p uintptr) {
			fd := int(p)
			if n, err = unix.IoctlGetInt(fd, unix.TIOCGPTN); err == nil {
				err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
			}
			if err == nil {
				err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: uint16(columns)})
			}
		})
		err = errors.Join(err, asked)
	}
	if err == nil {
		program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, person.Close())
	}
	return person, program, nil
}

// terminal starts a command on a terminal of its own.
func terminal(ts *testscript.TestScript, _ bool, args []string) {
	columns, err := strconv.Atoi(args[1])
	ts.Check(err)
	person, program, err := pseudo(columns)
	ts.Check(err)
	a := actorFor(ts, args[2:])
	a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = program, program, program
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	a.keys, a.screen = person, newScreen(columns, rows)
	ts.Check(errors.Join(a.cmd.Start(), program.Close()))
	playOf(ts).beside[args[0]] = a
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		buf := make([]byte, 4<<10)
		for {
			n, err := person.Read(buf)
			_, _ = a.err.Write(buf[:n])
			a.screen.write(buf[:n])
			if err != nil { // EIO, once the program has closed it
				return
			}
		}
	}()
	go func() {
		a.end = a.cmd.Wait()
		select {
		case <-shown:
		case <-time.After(patience): // something that it left behind holds the terminal
		}
		_ = person.Close()
		close(a.gone)
	}()
}

// rows is how many lines a terminal has.
const rows = 30

// press types on a terminal, and what it says later is what counts then.
func press(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	if a.keys == nil {
		ts.Fatalf("%s has no terminal", args[0])
	}
	a.listen()
	_, err := a.keys.WriteString(strings.NewReplacer("^C", "\x03", "^D", "\x04", `\r`, "\r").Replace(args[1]))
	ts.Check(err)
}

// hangup closes a terminal, as somebody does who closes its window.
func hangup(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	if a.keys == nil {
		ts.Fatalf("%s has no terminal", args[0])
	}
	ts.Check(a.keys.Close())
}

// listen lets count only what is said from now on.
func (a *actor) listen() { a.from, a.before = len(a.err.String()), a.screen.String() }

// resize gives a terminal so many columns and lines, as a person does who pulls at its
// window, and what is said later is what counts then.
func resize(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	columns, err := strconv.ParseUint(args[1], 10, 16)
	ts.Check(err)
	lines, err := strconv.ParseUint(args[2], 10, 16)
	ts.Check(err)
	a.listen()
	a.screen.resize(int(columns), int(lines))
	conn, err := a.keys.SyscallConn()
	ts.Check(err)
	ts.Check(conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(lines), Col: uint16(columns)})
	}))
	ts.Check(err)
}

// TestPseudo holds that what is typed on one side comes out at the other.
func TestPseudo(t *testing.T) {
	person, program, err := pseudo(60)
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	defer program.Close()
	if _, err := person.WriteString("yes\r"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := program.Read(buf); err != nil || string(buf[:n]) != "yes\n" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if size, err := unix.IoctlGetWinsize(int(program.Fd()), unix.TIOCGWINSZ); err != nil || size.Col != 60 {
		t.Errorf("%+v, %v", size, err)
	}
}
