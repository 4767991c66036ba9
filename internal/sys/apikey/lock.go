package apikey

import "github.com/gofrs/flock"

// lock keeps other processes from changing the file meanwhile.
func lock(path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	if err := l.Lock(); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil // its end with the process, too
}
