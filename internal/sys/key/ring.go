package key

import (
	"errors"
	"runtime"

	"github.com/zalando/go-keyring"
)

// service is what the keys are filed under in the keyring.
const service = "nexus"

// Desktop returns the desktop's keyring, nil where there can be none. On Linux
// it needs a session bus that is known by name: nothing is started to find
// one.
func Desktop(env func(string) string) Ring {
	switch runtime.GOOS {
	case "darwin", "windows":
		return desktop{}
	default:
		if env("DBUS_SESSION_BUS_ADDRESS") == "" {
			return nil
		}
		return desktop{}
	}
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
