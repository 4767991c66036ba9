package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openProxyPorts opens the proxy's port on the jail's own loopback, and further ports, and sends
// the sockets to the server outside. The message contains the port numbers, since ports that
// cannot be opened, such as privileged ones, are left out. No process inside keeps a socket, and
// the jail's network has no other connection to the outside.
func openProxyPorts(local []int) error {
	fd, err := listenLoopback(ProxyPort)
	if err != nil {
		return fmt.Errorf("open the way out: %w", errors.Join(err, unix.Close(proxyFD)))
	}
	open, names := []int{fd}, strconv.Itoa(ProxyPort)
	for _, port := range local {
		if fd, err := listenLoopback(port); err == nil {
			open, names = append(open, fd), names+" "+strconv.Itoa(port)
		}
	}
	err = unix.Sendmsg(proxyFD, []byte(names), unix.UnixRights(open...), nil, 0)
	for _, fd := range open {
		err = errors.Join(err, unix.Close(fd))
	}
	if err = errors.Join(err, unix.Close(proxyFD)); err != nil {
		return fmt.Errorf("open the way out: %w", err)
	}
	return nil
}

// listenLoopback opens a port of the loopback.
func listenLoopback(port int) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err == nil {
		err = unix.Listen(fd, 128)
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// execBehindProxy opens the ports in a box of another program, and executes the command. It
// returns only on failure.
func execBehindProxy(s JailSpec) ExitReport {
	if err := openProxyPorts(s.Local); err != nil {
		return ExitReport{Error: err.Error()}
	}
	path, err := findProgram(s)
	if err == nil {
		err = unix.Exec(path, s.Args, os.Environ())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ExitReport{Missing: true}
	}
	return ExitReport{Error: fmt.Sprintf("start %s: %v", s.Args[0], err)}
}
