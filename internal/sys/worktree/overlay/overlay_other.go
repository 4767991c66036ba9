//go:build !linux

package overlay

// Mount fails: only Linux has overlays.
func Mount(Layers) error { return ErrNone }

// Unmount fails: nothing was mounted.
func Unmount(string) error { return ErrNone }

// Mounted reports that nothing is mounted.
func Mounted(string) (bool, error) { return false, nil }

// Below lists nothing.
func Below(string) ([]string, error) { return nil, nil }

// Probe reports that overlays cannot be used.
func Probe(string) error { return ErrNone }
