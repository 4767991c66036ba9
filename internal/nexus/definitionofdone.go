package nexus

// DonePrefix starts the names of gates that check a change against a bound.
const DonePrefix = "done: "

// BoundMode is the consequence of exceeding a bound.
type BoundMode string

// Values of BoundMode.
const (
	BoundOff   BoundMode = "off"
	BoundWarn  BoundMode = "warn"  // it is reported; nothing fails
	BoundBlock BoundMode = "block" // the change goes back to its author
	// for coverage: the result of a run is measured, if the stack defines how, and reported.
	BoundAuto BoundMode = "auto"
)

// Names of the bounds.
const (
	ScopeBound    = "scope"
	LargeBound    = "large-diff"
	DeletionBound = "deletion"
	BuiltBound    = "built-files"
	SecretsBound  = "env-files"
	SinksBound    = "sinks"
	LeftBound     = "left-over"
	LicencesBound = "licences"
	CoverageBound = "coverage"
	AuditBound    = "audit"
)

// DefinitionOfDoneBound is one bound.
type DefinitionOfDoneBound struct {
	Name string
	Mode BoundMode // the default mode
	Doc  string    // the condition that exceeds it
	Task bool      // checked for the work on each task
	Run  bool      // checked for the result of a run
}

// DefinitionOfDoneBounds returns all bounds.
func DefinitionOfDoneBounds() []DefinitionOfDoneBound {
	return []DefinitionOfDoneBound{
		{ScopeBound, BoundWarn, "files that the task's plan does not name; its tests and lock files do not count", true, false},
		{LargeBound, BoundWarn, "a task's work changes more than done.lines lines, or more than one file for each 50 of them; lock files do not count", true, false},
		{DeletionBound, BoundBlock, "deleted or rewritten files that the task does not name, until the submission explains each and the reviewer agrees; a file is rewritten if it lost at least 20 lines and half of its lines", true, false},
		{BuiltBound, BoundBlock, "new files that programs write and people do not commit, and that the task's plan does not name, until the submission explains each and the reviewer agrees: compiled files, core dumps, caches and installed packages, logs, backups, binary files of more than 512 KB, and data that neither the task nor another file names; compiled files, logs, data and binary files that tests use do not count", true, false},
		{SecretsBound, BoundBlock, "new or changed .env files, private keys and the like; examples such as .env.example do not count", true, true},
		{SinksBound, BoundWarn, "new lines, outside of tests, that start a shell, evaluate text as code, build queries from strings, or turn off checks", true, true},
		{LeftBound, BoundWarn, "new lines of code, outside of tests, that should not stay: conflict markers, comments in place of code, a model's remarks to the reader, unfinished work, breakpoints", true, true},
		{LicencesBound, BoundWarn, "new dependencies in a lock file whose licence is not in done.allowed_licences, is in done.denied_licences, or is unknown without a network", true, true},
		{CoverageBound, BoundAuto, "tests run fewer than done.coverage_minimum percent of the lines or of the new lines, or coverage falls by more than a point", true, true},
		{AuditBound, BoundOff, "dependencies with known vulnerabilities, found by govulncheck, npm audit, pnpm audit, cargo audit, pip-audit, bundle-audit or composer audit; a lock file that none of them reads does not pass; network.gates = [\"audit\"] lets them fetch their lists", true, true},
	}
}

// DefinitionOfDone is what a change must keep to. The zero DefinitionOfDone checks nothing.
type DefinitionOfDone struct {
	Modes       map[string]BoundMode // mode by bound
	Files       int                  // changed in the work on one task; 0: no bound
	Lines       int                  // lines added and removed
	Rewritten   int                  // lines removed from a file from which it counts as rewritten; 0: never
	RewrittenOf int                  // and at least this percentage of its earlier lines
	// SPDX names that dependencies may have; empty with a non-empty Denied: all others
	Licences []string
	Denied   []string // SPDX names that dependencies may not have, even if they are allowed

	Minimum int    // percent of the lines that tests run
	Target  int    // percent below which coverage is reported; blocks nothing
	Drop    int    // percentage points by which coverage may fall
	Command string // empty: the built-in command for the stacks of the tree
	Format  string // format of the command's output: go-cover, lcov, cobertura or jacoco

	NewMinimum int      // percent of the new executable lines
	NewTarget  int      // percent of the new lines below which coverage is reported
	Except     []string // patterns of files whose new lines are not checked
}

// DefaultDefinitionOfDone returns the documented defaults.
func DefaultDefinitionOfDone() DefinitionOfDone {
	r := DefinitionOfDone{
		Modes: map[string]BoundMode{}, Files: 20, Lines: 1_000, Rewritten: 20, RewrittenOf: 50,
		Minimum: 70, Target: 80, Drop: 1, Format: "go-cover", NewMinimum: 70, NewTarget: 80,
		Licences: []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"},
	}
	for _, b := range DefinitionOfDoneBounds() {
		r.Modes[b.Name] = b.Mode
	}
	return r
}
