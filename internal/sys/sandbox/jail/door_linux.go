package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// offer opens the port on the jail's own loopback where a command finds its
// proxy, and hands the socket to who serves it, outside. Nobody inside keeps
// it, and nothing else of the jail's network has an end elsewhere.
func offer() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the way out: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: ProxyPort, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, 128)
	}
	if err == nil {
		err = unix.Sendmsg(doorFD, []byte{1}, unix.UnixRights(fd), nil, 0)
	}
	if err = errors.Join(err, unix.Close(fd), unix.Close(doorFD)); err != nil {
		return fmt.Errorf("open the way out: %w", err)
	}
	return nil
}

// become opens the way out of a box that another program made, and becomes the
// command. It returns only when it could not.
func become(s Spec) Word {
	if err := offer(); err != nil {
		return Word{Error: err.Error()}
	}
	path, err := program(s)
	if err == nil {
		err = unix.Exec(path, s.Args, os.Environ())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Word{Missing: true}
	}
	return Word{Error: fmt.Sprintf("start %s: %v", s.Args[0], err)}
}
