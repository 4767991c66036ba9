// Package testenv declares the requirements of a test on the machine, and skips the test if they
// are missing.
//
// Each reason to skip starts with a distinct prefix, by which the summary at the end of make test
// counts the skipped tests. No other package skips a test for a missing tool.
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

// Prefixes of the reasons to skip a test.
const (
	NoTool         = "missing tool: "    // a program that make deps installs
	NoMachine      = "this machine: "    // the kernel or a privilege
	OnlyToolchains = "make toolchains: " // it runs in a target of its own
	OnlyBrowser    = "make browser: "    // it runs in a target of its own
	OnlyNightly    = "make nightly: "    // it takes too long for every change
	NotUnderRace   = "race detector: "   // it would have nothing to detect
)

// RequiresTools reports whether a missing tool is a failure.
func RequiresTools() bool { return os.Getenv("NEXUS_REQUIRE_TOOLS") == "1" }

// RunsToolchains reports whether tests run that need real toolchains or long time.
func RunsToolchains() bool { return os.Getenv("NEXUS_TOOLCHAINS") == "1" }

// RunsBrowser reports whether tests run that drive a browser.
func RunsBrowser() bool { return os.Getenv("NEXUS_BROWSER") == "1" }

// RunsNightly reports whether tests may take hours.
func RunsNightly() bool { return os.Getenv("NEXUS_NIGHTLY") != "" }

// IsInstalled reports whether a tool is installed: the name of a program, or a pattern of absolute
// paths.
func IsInstalled(tool string) bool {
	if filepath.IsAbs(tool) {
		found, err := filepath.Glob(tool)
		return err == nil && len(found) > 0
	}
	_, err := exec.LookPath(tool)
	return err == nil
}

// NeedTool skips the test unless all tools are installed. If tools are required, it fails the test
// instead.
func NeedTool(tb testing.TB, tools ...string) {
	tb.Helper()
	for _, tool := range tools {
		if IsInstalled(tool) {
			continue
		}
		if RequiresTools() {
			tb.Fatalf("%s%s: make deps installs it", NoTool, tool)
		}
		tb.Skip(NoTool + tool)
	}
}

// NeedLargeTool skips the test unless a tool is installed, even if tools are required: it is large, and
// is not installed automatically.
func NeedLargeTool(tb testing.TB, tool string) {
	tb.Helper()
	if !IsInstalled(tool) {
		tb.Skip(NoTool + tool)
	}
}

// HasTool reports whether a tool for a part of a test is installed. If not, the summary mentions
// it, and if tools are required, the test fails.
func HasTool(tb testing.TB, tool string) bool {
	tb.Helper()
	if IsInstalled(tool) {
		return true
	}
	if RequiresTools() {
		tb.Errorf("%s%s: make deps installs it", NoTool, tool)
	}
	fmt.Fprintln(os.Stderr, NoTool+tool) // a log would not be a line of its own
	return false
}

// NeedMachine skips the test if the kernel or the user's privileges do not allow something, with
// err as the reason. A tool could not change that.
func NeedMachine(tb testing.TB, what string, err error) {
	tb.Helper()
	if err != nil {
		tb.Skipf("%s%s: %v", NoMachine, what, err)
	}
}

// NeedToolchains skips the test unless it runs in make toolchains, and under the race detector: it
// runs third-party programs, which the detector does not watch.
func NeedToolchains(tb testing.TB) {
	tb.Helper()
	SkipUnderRaceDetector(tb, "it runs programs of others")
	if !RunsToolchains() {
		tb.Skip(OnlyToolchains + "it runs real toolchains, or takes long")
	}
}

// NeedBrowser skips the test unless it runs in make browser, and under the race detector: it
// waits for a browser most of its time.
func NeedBrowser(tb testing.TB) {
	tb.Helper()
	SkipUnderRaceDetector(tb, "it drives a browser")
	if !RunsBrowser() {
		tb.Skip(OnlyBrowser + "it drives a browser")
	}
}

// NeedNight skips the test unless it runs at night.
func NeedNight(tb testing.TB, why string) {
	tb.Helper()
	if !RunsNightly() {
		tb.Skip(OnlyNightly + why)
	}
}

// SkipUnderRaceDetector skips a test under the race detector, with the reason why that is safe: it also runs
// without it.
func SkipUnderRaceDetector(tb testing.TB, why string) {
	tb.Helper()
	if IsRaceEnabled() {
		tb.Skip(NotUnderRace + why)
	}
}

// IsRaceEnabled reports whether the program was built with the race detector.
func IsRaceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// WriteProgram writes an executable file, and returns its name. No other test may start a process
// meanwhile: that process would inherit the open file, and a file that is open for writing cannot
// be executed.
func WriteProgram(tb testing.TB, name, text string) string {
	tb.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil { //nolint:gosec // it is to be run
		tb.Fatal(err)
	}
	return name
}
