// Package done holds the definition of done, as data: which bounds a change is
// held to beside its gates, how strictly, and the numbers.
package done

// Prefix begins the names of gates that hold a change to a bound.
const Prefix = "done: "

// Mode is what happens where a change passes a bound.
type Mode string

// The modes.
const (
	Off   Mode = "off"
	Warn  Mode = "warn"  // it is told, and fails nothing
	Block Mode = "block" // it goes back to whoever wrote it
	Auto  Mode = "auto"  // of coverage: what a run comes to is measured where the stack says how, and told
)

// The bounds.
const (
	Scope    = "scope"
	Large    = "large-diff"
	Deletion = "deletion"
	Built    = "built-files"
	Secrets  = "env-files"
	Sinks    = "sinks"
	Left     = "left-over"
	Licences = "licences"
	Coverage = "coverage"
	Audit    = "audit"
)

// Bound is one of them.
type Bound struct {
	Name string
	Mode Mode   // by default
	Doc  string // what passes it
	Task bool   // the work on a task is held to it
	Run  bool   // what a run comes to is
}

// Bounds returns all that there are.
func Bounds() []Bound {
	return []Bound{
		{Scope, Warn, "files outside of what the task's plan names; its tests and lock files are none", true, false},
		{Large, Warn, "more files or lines than done.files and done.lines in the work on one task; lock files do not count", true, false},
		{Deletion, Block, "files deleted or rewritten that the task does not name, until the submission explains each and the reviewer agrees to it; rewritten: done.rewritten_lines lines are gone, and done.rewritten_percent of those that it had", true, false},
		{Built, Block, "compiled programs, objects and archives of them added that the task's plan does not name, until the submission explains each and the reviewer agrees to it; those of tests are none", true, false},
		{Secrets, Block, "files such as .env, or private keys, added or changed; examples of them are none", true, true},
		{Sinks, Warn, "new lines, outside of tests, that start shells, evaluate text, build queries from strings, or switch checks off", true, true},
		{Left, Warn, "new lines of code, outside of tests, that nobody means to keep: markers of conflicts, words that stand for code left out, what a model says to somebody, work left undone, breakpoints", true, true},
		{Licences, Warn, "new dependencies of any lock file whose licence is not in done.allowed_licences, is in done.denied_licences, or cannot be told without network", true, true},
		{Coverage, Auto, "fewer lines that tests go through than done.coverage_minimum percent, done.coverage_drop points fewer than before, or fewer than done.coverage_new_minimum percent of the new ones", true, true},
		{Audit, Off, "dependencies with faults that are known, by govulncheck, npm audit, pnpm audit, cargo audit, pip-audit, bundle-audit or composer audit; what none of them looks into is no pass; network.gates = [\"audit\"] lets them reach their lists", true, true},
	}
}

// Rules are the definition of done. The zero Rules hold nothing to anything.
type Rules struct {
	Modes       map[string]Mode // by bound
	Files       int             // changed in the work on one task; 0: no bound
	Lines       int             // added and taken away
	Rewritten   int             // lines gone from a file, at least, for it to be rewritten; 0: no file is
	RewrittenOf int             // percent of the lines that it had, at least
	Licences    []string        // SPDX names that dependencies may have; none, with some that they may not: all others
	Denied      []string        // SPDX names that they may not have, whatever else is allowed

	Minimum int    // percent of the lines that tests go through
	Target  int    // percent below which that is told, and blocks nothing
	Drop    int    // points that it may fall
	Command string // empty: as the stacks of the tree say
	Format  string // of what the command prints: go-cover, lcov, cobertura or jacoco

	NewMinimum int      // percent of the new lines that can be run
	NewTarget  int      // percent of them below which that is told
	Except     []string // patterns of files whose new lines are not looked at
}

// Default returns the documented defaults.
func Default() Rules {
	r := Rules{
		Modes: map[string]Mode{}, Files: 20, Lines: 1_000, Rewritten: 20, RewrittenOf: 50,
		Minimum: 70, Target: 80, Drop: 1, Format: "go-cover", NewMinimum: 70, NewTarget: 80,
		Licences: []string{"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"},
	}
	for _, b := range Bounds() {
		r.Modes[b.Name] = b.Mode
	}
	return r
}
