package apikey

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/zalando/go-keyring"
)

// service is the service name of the keys in the keyring.
const service = "nexus"

// Desktop returns the desktop's keyring, nil if there can be none. On Linux it needs the address
// of a session bus in the environment: no process is started to find one.
func Desktop(env func(string) string) Ring {
	switch runtime.GOOS {
	case "darwin", "windows":
		return withPatience(desktop{}, patience)
	default:
		if env("DBUS_SESSION_BUS_ADDRESS") == "" {
			return nil
		}
		return withPatience(desktop{}, patience)
	}
}

// patience limits a call of the keyring: a person may have to unlock it, and a daemon that hangs
// never answers.
const patience = 20 * time.Second

// withPatience returns a ring whose calls time out after limit. After a timeout, the ring is not
// called again.
func withPatience(r Ring, limit time.Duration) Ring { return &patient{ring: r, limit: limit} }

type patient struct {
	ring  Ring
	limit time.Duration
	gone  atomic.Bool
}

// callWithTimeout runs do, which cannot be interrupted, with a timeout. If do never ends, its
// goroutine remains until the process ends.
func callWithTimeout[T any](p *patient, do func() (T, error)) (T, error) {
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

// Get implements [Ring].
func (p *patient) Get(provider string) (string, error) {
	return callWithTimeout(p, func() (string, error) { return p.ring.Get(provider) })
}

// Set implements [Ring].
func (p *patient) Set(provider, value string) error {
	_, err := callWithTimeout(p, func() (struct{}, error) { return struct{}{}, p.ring.Set(provider, value) })
	return err
}

// Remove implements [Ring].
func (p *patient) Remove(provider string) (bool, error) {
	return callWithTimeout(p, func() (bool, error) { return p.ring.Remove(provider) })
}

type desktop struct{}

// Get implements [Ring].
func (desktop) Get(provider string) (string, error) {
	v, err := keyring.Get(service, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", nil
	}
	return v, err
}

// Set implements [Ring].
func (desktop) Set(provider, value string) error { return keyring.Set(service, provider, value) }

// Remove implements [Ring].
func (desktop) Remove(provider string) (bool, error) {
	err := keyring.Delete(service, provider)
	if errors.Is(err, keyring.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
