//go:build !linux

package overlay

// Mount fails: overlays exist only on Linux.
func Mount(Layers) error { return ErrNone }

// Unmount fails: nothing was mounted.
func Unmount(string) error { return ErrNone }

// IsMounted returns false.
func IsMounted(string) (bool, error) { return false, nil }

// MountsBelow returns nothing.
func MountsBelow(string) ([]string, error) { return nil, nil }

// Probe returns an error: overlays exist only on Linux.
func Probe(string) error { return ErrNone }
