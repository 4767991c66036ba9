package nexus

// DonePrefix begins the names of gates that hold a change to a bound.
const DonePrefix = "done: "

// BoundMode is what happens where a change passes a bound.
type BoundMode string

// The modes.
const (
	BoundOff   BoundMode = "off"
	BoundWarn  BoundMode = "warn"  // it is told, and fails nothing
	BoundBlock BoundMode = "block" // it goes back to whoever wrote it
	BoundAuto  BoundMode = "auto"  // of coverage: what a run comes to is measured where the stack says how, and told
)

// The bounds.
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

// DoneBound is one of them.
type DoneBound struct {
	Name string
	Mode BoundMode // by default
	Doc  string    // what passes it
	Task bool      // the work on a task is held to it
	Run  bool      // what a run comes to is
}

// DoneBounds returns all that there are.
func DoneBounds() []DoneBound {
	return []DoneBound{
		{ScopeBound, BoundWarn, "files outside of what the task's plan names; its tests and lock files are none", true, false},
		{LargeBound, BoundWarn, "more files or lines than done.files and done.lines in the work on one task; lock files do not count", true, false},
		{DeletionBound, BoundBlock, "files deleted or rewritten that the task does not name, until the submission explains each and the reviewer agrees to it; rewritten: done.rewritten_lines lines are gone, and done.rewritten_percent of those that it had", true, false},
		{BuiltBound, BoundBlock, "compiled programs, objects and archives of them added that the task's plan does not name, until the submission explains each and the reviewer agrees to it; those of tests are none", true, false},
		{SecretsBound, BoundBlock, "files such as .env, or private keys, added or changed; examples of them are none", true, true},
		{SinksBound, BoundWarn, "new lines, outside of tests, that start shells, evaluate text, build queries from strings, or switch checks off", true, true},
		{LeftBound, BoundWarn, "new lines of code, outside of tests, that nobody means to keep: markers of conflicts, words that stand for code left out, what a model says to somebody, work left undone, breakpoints", true, true},
		{LicencesBound, BoundWarn, "new dependencies of any lock file whose licence is not in done.allowed_licences, is in done.denied_licences, or cannot be told without network", true, true},
		{CoverageBound, BoundAuto, "fewer lines that tests go through than done.coverage_minimum percent, done.coverage_drop points fewer than before, or fewer than done.coverage_new_minimum percent of the new ones", true, true},
		{AuditBound, BoundOff, "dependencies with faults that are known, by govulncheck, npm audit, pnpm audit, cargo audit, pip-audit, bundle-audit or composer audit; what none of them looks into is no pass; network.gates = [\"audit\"] lets them reach their lists", true, true},
	}
}

// DoneRules are the definition of done. The zero Rules hold nothing to anything.
type DoneRules struct {
	Modes       map[string]BoundMode // by bound
	Files       int                  // changed in the work on one task; 0: no bound
	Lines       int                  // added and taken away
	Rewritten   int                  // lines gone from a file, at least, for it to be rewritten; 0: no file is
	RewrittenOf int                  // percent of the lines that it had, at least
	Licences    []string             // SPDX names that dependencies may have; none, with some that they may not: all others
	Denied      []string             // SPDX names that they may not have, whatever else is allowed

	Minimum int    // percent of the lines that tests go through
	Target  int    // percent below which that is told, and blocks nothing
	Drop    int    // points that it may fall
	Command string // empty: as the stacks of the tree say
	Format  string // of what the command prints: go-cover, lcov, cobertura or jacoco

	NewMinimum int      // percent of the new lines that can be run
	NewTarget  int      // percent of them below which that is told
	Except     []string // patterns of files whose new lines are not looked at
}

// DefaultDone returns the documented defaults.
func DefaultDone() DoneRules {
	r := DoneRules{
		Modes: map[string]BoundMode{}, Files: 20, Lines: 1_000, Rewritten: 20, RewrittenOf: 50,
		Minimum: 70, Target: 80, Drop: 1, Format: "go-cover", NewMinimum: 70, NewTarget: 80,
		Licences: []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"},
	}
	for _, b := range DoneBounds() {
		r.Modes[b.Name] = b.Mode
	}
	return r
}
