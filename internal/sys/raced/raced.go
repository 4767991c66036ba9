// Package raced says whether this program was built with the race detector,
// for tests of what other programs do, which it would only slow down: they run
// without it, too.
package raced

import (
	"runtime/debug"
	"slices"
	"testing"
)

// Skip skips a test under the race detector, and says why it may.
func Skip(tb testing.TB, why string) {
	tb.Helper()
	if Here() {
		tb.Skip(why)
	}
}

// Here reports whether the race detector watches this program.
func Here() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
