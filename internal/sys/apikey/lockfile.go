package apikey

import "github.com/gofrs/flock"

// lockKeyFile prevents other processes from changing the file until unlock is called.
func lockKeyFile(path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil // the end of the process also unlocks
}
