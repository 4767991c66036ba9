package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
)

// egressSocketReceiver receives the listening sockets of a box. They are the only network access of a box
// with its own network: ports on its loopback that are served from outside, the proxy's and
// further ones. The sockets are created inside, so that they belong to the box's network, and
// passed out through a socket pair that no command ever sees; no data is relayed, and nothing
// remains when the box has ended. A nil door means a box without network access.
type egressSocketReceiver struct {
	ours   *net.UnixConn
	theirs *os.File
	serve  map[int]func(context.Context, net.Listener) // by port
	stop   context.CancelCauseFunc
	ctx    context.Context //nolint:containedctx // of the serving goroutine, which Close ends
	done   chan struct{}
}

// openEgressReceiver creates the socket pair for the box of one command; it returns nil for a command
// without a proxy.
func openEgressReceiver(ctx context.Context, c Command) (*egressSocketReceiver, error) {
	if c.Proxy == nil {
		return nil, nil //nolint:nilnil // see Door
	}
	serve := map[int]func(context.Context, net.Listener){}
	maps.Copy(serve, c.Local)
	serve[jail.ProxyPort] = c.Proxy
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("make a way out: %w", err)
	}
	d := &egressSocketReceiver{theirs: os.NewFile(uintptr(pair[1]), "door"), serve: serve, done: make(chan struct{})}
	f := os.NewFile(uintptr(pair[0]), "door")
	conn, err := net.FileConn(f)
	_ = f.Close()
	if err == nil {
		err = unix.SetNonblock(pair[1], false) // does not affect our end: the two share no state
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a way out: %w", err), d.theirs.Close())
	}
	ours, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(errors.New("make a way out: it is not a socket"), conn.Close(), d.theirs.Close())
	}
	d.ours = ours
	d.ctx, d.stop = context.WithCancelCause(ctx)
	go d.serveSockets()
	return d, nil
}

// boxEnd returns the box's end, nil for no door. The caller must close it once the box has it.
func (d *egressSocketReceiver) boxEnd() *os.File {
	if d == nil {
		return nil
	}
	return d.theirs
}

// Close ends the servers, and waits for their end.
func (d *egressSocketReceiver) Close() {
	if d == nil {
		return
	}
	_ = d.theirs.Close()
	d.stop(errOver)
	_ = d.ours.Close()
	<-d.done
}

// serveSockets waits for the sockets and starts the servers.
func (d *egressSocketReceiver) serveSockets() {
	defer close(d.done)
	all, err := d.receiveBoxSockets()
	if err != nil {
		return // the box has ended or never started
	}
	var serving sync.WaitGroup
	for port, l := range all {
		if serve := d.serve[port]; serve != nil {
			serving.Go(func() { serve(d.ctx, l) })
		}
	}
	serving.Wait()
	for _, l := range all {
		_ = l.Close()
	}
}

// receiveBoxSockets returns the sockets of the box, by port.
func (d *egressSocketReceiver) receiveBoxSockets() (map[int]net.Listener, error) {
	oob, text := make([]byte, unix.CmsgSpace(4*len(d.serve))), make([]byte, len("65535 ")*len(d.serve))
	size, n, _, _, err := d.ours.ReadMsgUnix(text, oob)
	if err != nil {
		return nil, err
	}
	ports := strings.Fields(string(text[:size]))
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != len(ports) {
		return nil, errors.Join(errors.New("no socket came"), err)
	}
	all := map[int]net.Listener{}
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "way out")
		l, failed := net.FileListener(f)
		_ = f.Close()
		if port, bad := strconv.Atoi(ports[i]); failed == nil && bad == nil {
			all[port] = l
		}
		err = errors.Join(err, failed)
	}
	return all, err
}
