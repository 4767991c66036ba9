// Package testenv declares what a test needs from the machine that it runs
// on, and skips the test where that is missing.
//
// Each reason to skip starts with words of its own, by which the summary at
// the end of make test counts what was left out. No other package skips a
// test for a missing tool.
package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
)

// What the reasons to skip a test start with.
const (
	NoTool    = "missing tool: "    // a program that make deps installs
	NoMachine = "this machine: "    // the kernel, a privilege
	Apart     = "make toolchains: " // a target of its own runs it
	Rare      = "make nightly: "    // it takes too long for every change
	Unraced   = "race detector: "   // it watches nothing there
)

// Strict reports whether a missing tool is a failure.
func Strict() bool { return os.Getenv("NEXUS_REQUIRE_TOOLS") == "1" }

// Toolchains reports whether tests run that take real toolchains or long.
func Toolchains() bool { return os.Getenv("NEXUS_TOOLCHAINS") == "1" }

// Nightly reports whether tests may take hours.
func Nightly() bool { return os.Getenv("NEXUS_NIGHTLY") != "" }

// Installed reports whether a tool is there: the name of a program, or a
// pattern of absolute paths.
func Installed(tool string) bool {
	if filepath.IsAbs(tool) {
		found, err := filepath.Glob(tool)
		return err == nil && len(found) > 0
	}
	_, err := exec.LookPath(tool)
	return err == nil
}

// NeedTool skips the test unless all tools are installed. Where tools are
// required, it fails instead.
func NeedTool(tb testing.TB, tools ...string) {
	tb.Helper()
	for _, tool := range tools {
		if Installed(tool) {
			continue
		}
		if Strict() {
			tb.Fatalf("%s%s: make deps installs it", NoTool, tool)
		}
		tb.Skip(NoTool + tool)
	}
}

// WantTool skips the test unless a tool is installed, also where tools are
// required: it is large, and nothing installs it unasked.
func WantTool(tb testing.TB, tool string) {
	tb.Helper()
	if !Installed(tool) {
		tb.Skip(NoTool + tool)
	}
}

// HasTool reports whether a tool is there for a part of a test. Where it is
// not, the summary says so, and where tools are required the test fails.
func HasTool(tb testing.TB, tool string) bool {
	tb.Helper()
	if Installed(tool) {
		return true
	}
	if Strict() {
		tb.Errorf("%s%s: make deps installs it", NoTool, tool)
	}
	fmt.Fprintln(os.Stderr, NoTool+tool) // a log would not be a line of its own
	return false
}

// NeedMachine skips the test where the kernel or the user's privileges do not
// allow something, which err says. No tool would change that.
func NeedMachine(tb testing.TB, what string, err error) {
	tb.Helper()
	if err != nil {
		tb.Skipf("%s%s: %v", NoMachine, what, err)
	}
}

// NeedToolchains skips the test unless make toolchains runs it, and under the
// race detector: it runs programs of others, which the detector does not watch.
func NeedToolchains(tb testing.TB) {
	tb.Helper()
	SkipRaced(tb, "it runs programs of others")
	if !Toolchains() {
		tb.Skip(Apart + "it runs real toolchains, or takes long")
	}
}

// NeedNight skips the test unless it is run at night.
func NeedNight(tb testing.TB, why string) {
	tb.Helper()
	if !Nightly() {
		tb.Skip(Rare + why)
	}
}

// SkipRaced skips a test under the race detector, and says why it may: it runs
// without it, too.
func SkipRaced(tb testing.TB, why string) {
	tb.Helper()
	if Raced() {
		tb.Skip(Unraced + why)
	}
}

// Raced reports whether the race detector watches this program.
func Raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// WriteProgram writes a file that can be run, and returns its name. No other test
// starts a process meanwhile: that would inherit the open file, and nothing can
// be run that somebody may write to.
func WriteProgram(tb testing.TB, name, text string) string {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // it is to be run
		tb.Fatal(err)
	}
	return name
}
