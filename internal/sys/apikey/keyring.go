package apikey

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringService is the service name of the keys in the keyring.
const keyringService = "nexus"

// DesktopKeyring returns the desktop's keyring, nil if there can be none. On Linux it needs the address
// of a session bus in the environment: no process is started to find one.
func DesktopKeyring(env func(string) string) SystemKeyring {
	switch runtime.GOOS {
	case "darwin", "windows":
		return withTimeout(desktopKeyring{}, keyringTimeout)
	default:
		if env("DBUS_SESSION_BUS_ADDRESS") == "" {
			return nil
		}
		return withTimeout(desktopKeyring{}, keyringTimeout)
	}
}

// keyringTimeout limits a call of the keyring: a person may have to unlock it, and a daemon that hangs
// never answers.
const keyringTimeout = 20 * time.Second

// withTimeout returns a ring whose calls time out after limit. After a timeout, the ring is not
// called again.
func withTimeout(r SystemKeyring, limit time.Duration) SystemKeyring {
	return &timeoutKeyring{ring: r, limit: limit}
}

type timeoutKeyring struct {
	ring  SystemKeyring
	limit time.Duration
	gone  atomic.Bool
}

// callWithTimeout runs do, which cannot be interrupted, with a timeout. If do never ends, its
// goroutine remains until the process ends.
func callWithTimeout[T any](p *timeoutKeyring, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if p.gone.Load() {
		return none, errSilent
	}
	heard := make(chan answer, 1)
	go func() {
		v, err := do()
		heard <- answer{v, err}
	}()
	alarm := time.NewTimer(p.limit)
	defer alarm.Stop()
	select {
	case a := <-heard:
		return a.value, a.err
	case <-alarm.C:
		p.gone.Store(true)
		return none, errSilent
	}
}

var errSilent = errors.New("the keyring does not answer")

// Get implements [Keyring].
func (p *timeoutKeyring) Get(provider string) (string, error) {
	return callWithTimeout(p, func() (string, error) { return p.ring.Get(provider) })
}

// Set implements [Keyring].
func (p *timeoutKeyring) Set(provider, value string) error {
	_, err := callWithTimeout(p, func() (struct{}, error) { return struct{}{}, p.ring.Set(provider, value) })
	return err
}

// Remove implements [Keyring].
func (p *timeoutKeyring) Remove(provider string) (bool, error) {
	return callWithTimeout(p, func() (bool, error) { return p.ring.Remove(provider) })
}

type desktopKeyring struct{}

// Get implements [Keyring].
func (desktopKeyring) Get(provider string) (string, error) {
	v, err := keyring.Get(keyringService, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", nil
	}
	return v, err
}

// Set implements [Keyring].
func (desktopKeyring) Set(provider, value string) error {
	return keyring.Set(keyringService, provider, value)
}

// Remove implements [Keyring].
func (desktopKeyring) Remove(provider string) (bool, error) {
	err := keyring.Delete(keyringService, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
