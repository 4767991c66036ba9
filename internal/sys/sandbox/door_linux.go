package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// door waits for the socket of a box. It is the one way out of a box whose
// network is its own: a port on its loopback that somebody outside serves. The
// socket is made inside, so that it belongs to the box's network, and handed
// out through a pair of sockets that no command ever sees; nothing is relayed,
// and when the box has ended nothing of it is left. The nil door is that of a
// box with no way out.
type door struct {
	ours   *net.UnixConn
	theirs *os.File
	serve  serveFunc
	stop   context.CancelCauseFunc
	ctx    context.Context //nolint:containedctx // of the serving goroutine, which Close ends
	done   chan struct{}
}

// openDoor makes the pair of sockets for one box; for no serve it is nil.
func openDoor(ctx context.Context, serve serveFunc) (*door, error) {
	if serve == nil {
		return nil, nil //nolint:nilnil // see Door
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a way out: %w", err)
	}
	d := &door{theirs: os.NewFile(uintptr(pair[1]), "door"), serve: serve, done: make(chan struct{})}
	f := os.NewFile(uintptr(pair[0]), "door")
	c, err := net.FileConn(f)
	_ = f.Close()
	if err == nil {
		err = unix.SetNonblock(pair[1], false) // the pair shares no state: ours stays as it is
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a way out: %w", err), d.theirs.Close())
	}
	ours, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("make a way out: it is not a socket"), c.Close(), d.theirs.Close())
	}
	d.ours = ours
	d.ctx, d.stop = context.WithCancelCause(ctx)
	go d.attend()
	return d, nil
}

// inside is the box's end, nil for no door. It is to be closed when the box
// has it.
func (d *door) inside() *os.File {
	if d == nil {
		return nil
	}
	return d.theirs
}

// Close ends what is served, and waits for its end.
func (d *door) Close() {
	if d == nil {
		return
	}
	_ = d.theirs.Close()
	d.stop(errOver)
	_ = d.ours.Close()
	<-d.done
}

// attend waits for the socket and lets it be served.
func (d *door) attend() {
	defer close(d.done)
	l, err := d.receive()
	if err != nil {
		return // the box ended before, or was never there
	}
	d.serve(d.ctx, l)
	_ = l.Close()
}

func (d *door) receive() (net.Listener, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := d.ours.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	unix.CloseOnExec(fds[0])
	f := os.NewFile(uintptr(fds[0]), "way out")
	defer func() { _ = f.Close() }()
	return net.FileListener(f)
}
