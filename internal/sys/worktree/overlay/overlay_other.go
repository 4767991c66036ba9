//go:build !linux

package overlay

// MountOverlay fails: overlays exist only on Linux.
func MountOverlay(Layers) error { return ErrNone }

// Unmount fails: nothing was mounted.
func Unmount(string) error { return ErrNone }

// IsMounted returns false.
func IsMounted(string) (bool, error) { return false, nil }

// MountsBelow returns nothing.
func MountsBelow(string) ([]string, error) { return nil, nil }

// ProbeOverlay returns an error: overlays exist only on Linux.
func ProbeOverlay(string) error { return ErrNone }
