//go:build !linux

package overlay

// Mount fails: overlays exist only on Linux.
func Mount(Layers) error { return ErrNone }

// Unmount fails: nothing was mounted.
func Unmount(string) error { return ErrNone }

// Mounted returns false.
func Mounted(string) (bool, error) { return false, nil }

// Below returns nothing.
func Below(string) ([]string, error) { return nil, nil }

// Probe returns an error: overlays exist only on Linux.
func Probe(string) error { return ErrNone }
