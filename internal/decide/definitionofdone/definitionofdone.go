// Package definitionofdone checks a change against the definition of done: it compares measured values
// with limits and returns the exceeded ones. It calls no model.
package definitionofdone

import (
	"cmp"
	_ "embed"
	"fmt"
	stdpath "path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

//go:embed sinks.txt
var sinkTable string

//go:embed left.txt
var leftTable string

// MeasuredChange is the measured data about a change.
type MeasuredChange struct {
	Tree    string
	Files   []FileChange
	Whole   bool     // the patch was read completely
	Planned []string // files that the task's plan names; nil: there is no plan
	Deps    []AddedDependency
	Run     bool                   // it is the result of a run, not the work on one task
	Cover   *CoveragePercentage    // nil: not measured
	Audit   *DependencyAuditResult // nil: not checked

	Caches  []string // cache directories that the base contains; see [CacheDirectories]
	Unnamed []string // files of [MeasuredChange.UnnamedDataFiles] that no other file of the tree names

	Task *TaskWording // the task; nil: there is no author who could explain anything
}

// TaskWording describes the task of a change.
type TaskWording struct {
	Texts  []string                   // its words: title, brief, criteria, and the goal
	Checks []string                   // of its criteria
	Said   []nexus.RemovalExplanation // explanations in submissions
}

// DependencyAuditResult is the result of a search for vulnerable dependencies.
type DependencyAuditResult struct {
	Found []nexus.Finding
	Why   string // why there is no result; empty: there is one
}

// CoveragePercentage is the percentage of lines that tests run.
type CoveragePercentage struct {
	Now, Before float64
	Had         bool     // Before is known
	Why         string   // why Now is unknown; empty: it is known
	Lacks       []string // why the coverage of some of the tests is unknown
	How         []string // tools that measured it
	Command     string   // command that people set for it

	Measured *nexus.TestCoverage // the lines; nil: unknown
}

// AddedDependency is a dependency that a change adds.
type AddedDependency struct {
	Name    string // with version
	File    string // file that declares it
	Line    int    // 0 is unknown
	Licence string // SPDX; empty: unknown
}

// most limits the findings of one bound.
const most = 50

// CheckBounds checks a change against the bounds, and returns those that are exceeded or
// could not be checked. A bound that only warns returns a pass with remarks.
func CheckBounds(r nexus.DefinitionOfDone, m MeasuredChange) []nexus.GateEvidence {
	var all []nexus.GateEvidence
	for _, b := range nexus.DefinitionOfDoneBounds() {
		mode := r.Modes[b.Name]
		if mode == "" || mode == nexus.BoundOff || mode == nexus.BoundAuto && (!m.Run || m.Cover == nil) || m.Run && !b.Run || !m.Run && !b.Task {
			continue
		}
		found, unsure := boundFindings(b.Name, r, m)
		if !m.Whole && unsure == "" {
			unsure = "the change is too large to be read"
		}
		if (b.Name == nexus.DeletionBound || b.Name == nexus.BuiltBound) && m.Task == nil && mode == nexus.BoundBlock {
			mode = nexus.BoundWarn
		}
		if e, told := boundEvidence(b, mode, found, unsure, m.Tree, m.Cover); told {
			all = append(all, e)
		}
	}
	return all
}

// DecidesAboutChange reports whether a bound's evidence decides about the change: it blocks, and was
// exceeded or could not be checked.
func DecidesAboutChange(r nexus.DefinitionOfDone, e nexus.GateEvidence) bool {
	return e.State != nexus.Pass && r.Modes[strings.TrimPrefix(e.Gate, nexus.DonePrefix)] == nexus.BoundBlock
}

func boundEvidence(b nexus.DefinitionOfDoneBound, mode nexus.BoundMode, found []nexus.Finding, unsure, tree string, c *CoveragePercentage) (nexus.GateEvidence, bool) {
	e := nexus.GateEvidence{Gate: nexus.DonePrefix + b.Name, State: nexus.Pass, Tree: tree, Command: "look for " + b.Doc}
	n, grave, most := len(found), 0, most
	if b.Name == nexus.DeletionBound {
		most = n // each is explained by its name
	}
	for i, f := range found[:min(n, most)] {
		f.Gate, f.Code = e.Gate, b.Name
		switch {
		case f.Severity == nexus.Suggestion:
		case mode == nexus.BoundBlock && f.Explained != "":
			f.Severity = nexus.Minor
		case mode == nexus.BoundBlock:
			f.Severity = nexus.Major
			grave++
		default:
			f.Severity = nexus.Minor
		}
		found[i] = f
	}
	e.Findings = found[:min(n, most)]
	if b.Name == nexus.CoverageBound && c != nil {
		if c.Command != "" || len(c.How) > 0 {
			e.Command = "measure what tests run: " + cmp.Or(c.Command, strings.Join(c.How, ", "))
		}
		if c.Measured != nil {
			e.Coverage = trimCoverage(*c.Measured)
		}
	}
	switch {
	case grave > 0:
		e.State, e.Exit = nexus.Fail, 1
	case unsure != "":
		e.State, e.Why = nexus.Unverifiable, unsure
	}
	if n > 0 && grave == 0 && e.Why == "" {
		e.Why = fmt.Sprintf("%d to look at%s", n, placesText(found))
	}
	if e.Coverage != nil {
		e.Why = strings.TrimPrefix(e.Why+"; "+CoverageSummary(*e.Coverage), "; ")
		if len(c.How) > 0 {
			e.Why += ", measured by " + strings.Join(c.How, ", ")
		}
	}
	return e, n > 0 || unsure != "" || e.Coverage != nil
}

// listed limits the places in a line.
const listed = 20

// placesText returns the places of findings, or "" if they are about the whole change.
func placesText(found []nexus.Finding) string {
	var all []string
	for _, f := range found {
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if at != "" && !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	if len(all) == 0 { // it is about the change as a whole
		return ": " + sanitize.TruncateText(found[0].Message, 100)
	}
	text := ": " + strings.Join(all[:min(len(all), listed)], ", ")
	if more := len(all) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func boundFindings(name string, r nexus.DefinitionOfDone, m MeasuredChange) (found []nexus.Finding, unsure string) {
	switch name {
	case nexus.ScopeBound:
		return unplannedFileFindings(m), ""
	case nexus.LargeBound:
		return largeChangeFindings(r, m), ""
	case nexus.DeletionBound:
		return deletionFindings(r, m), ""
	case nexus.BuiltBound:
		return buildOutputFindings(m), ""
	case nexus.SecretsBound:
		return secretFileFindings(m), ""
	case nexus.SinksBound:
		return linePatternFindings(m, parsePatternTable(sinkTable), false), ""
	case nexus.LeftBound:
		return linePatternFindings(m, parsePatternTable(leftTable), true), ""
	case nexus.LicencesBound:
		return licenceFindings(r, m)
	case nexus.CoverageBound:
		return coverageFindings(r, m)
	case nexus.AuditBound:
		if m.Audit == nil {
			return nil, "nobody looked"
		}
		return m.Audit.Found, m.Audit.Why
	}
	return nil, ""
}

// unplannedFileFindings returns findings for files that the plan does not name.
func unplannedFileFindings(m MeasuredChange) []nexus.Finding {
	if len(m.Planned) == 0 {
		return nil
	}
	var found []nexus.Finding
	for _, f := range m.Files {
		if !m.isPlanned(f.Path) && !stack.ServesTests(f.Path) && !isGenerated(f.Path) {
			found = append(found, nexus.Finding{
				File: f.Path, Message: "the plan of the task does not name this file",
				Advice: "Undo the change to it, or say in the summary why the task needs it.",
			})
		}
	}
	return found
}

// isPlanned reports whether the task's plan names a file.
func (m MeasuredChange) isPlanned(file string) bool {
	return slices.ContainsFunc(m.Planned, func(p string) bool {
		p = strings.TrimPrefix(p, "./")
		matched, _ := stdpath.Match(p, file)
		return p == file || matched || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// largeChangeFindings returns findings for a change that is too large to review.
func largeChangeFindings(r nexus.DefinitionOfDone, m MeasuredChange) []nexus.Finding {
	files, lines := 0, 0
	for _, f := range m.Files {
		if !isGenerated(f.Path) {
			files, lines = files+1, lines+len(f.Added)+f.Removed
		}
	}
	return prependOverLimit("the change touches %d files, the maximum is %d", files, r.Files, prependOverLimit("the change has %d lines, the maximum is %d", lines, r.Lines, nil))
}

func prependOverLimit(text string, n, bound int, rest []nexus.Finding) []nexus.Finding {
	if bound > 0 && n > bound {
		return append([]nexus.Finding{{Message: fmt.Sprintf(text, n, bound)}}, rest...)
	}
	return rest
}

// secretFileFindings returns findings for files that contain secrets.
func secretFileFindings(m MeasuredChange) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		base := strings.ToLower(stdpath.Base(f.Path))
		env := base == ".env" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env")
		for _, word := range []string{"example", "sample", "template", "dist", "test", "default"} {
			env = env && !strings.Contains(base, word)
		}
		key := slices.Contains([]string{"id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", ".netrc", ".pgpass"}, base)
		for _, end := range []string{".p12", ".pfx", ".jks", ".keystore"} {
			key = key || strings.HasSuffix(base, end) && !stack.ServesTests(f.Path)
		}
		if (env || key) && !f.Gone {
			found = append(found, nexus.Finding{
				File: f.Path, Message: "this file usually holds secrets, and git keeps it forever",
				Advice: "Remove it from the change, name it in .gitignore, and commit an example without values instead.",
			})
		}
	}
	return found
}

// linePatternFindings returns findings for new lines that match a table, optionally in comments too. Tests,
// generated files and prose are skipped.
func linePatternFindings(m MeasuredChange, rules []forbiddenLinePattern, comments bool) []nexus.Finding {
	var found []nexus.Finding
	for _, f := range m.Files {
		if stack.ServesTests(f.Path) || isGenerated(f.Path) || comments && isProseFile(f.Path) {
			continue
		}
		end := strings.TrimPrefix(strings.ToLower(stdpath.Ext(f.Path)), ".")
		for _, l := range f.Added {
			if len(l.Text) > maxLine || !comments && isComment(l.Text) {
				continue
			}
			for _, s := range rules {
				if (slices.Contains(s.ends, end) || s.ends[0] == "*") && s.is.MatchString(l.Text) {
					found = append(found, nexus.Finding{File: f.Path, Line: l.Number, Message: s.why, Quote: strings.TrimSpace(l.Text)})
					break
				}
			}
		}
	}
	return found
}

// maxLine limits the length of checked lines; longer ones were not written by hand.
const maxLine = 2_000

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "#", "*", "/*", "--"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return false
}

type forbiddenLinePattern struct {
	ends []string
	is   *regexp.Regexp
	why  string
}

// isProseFile reports whether a file is text for people, which may quote anything.
func isProseFile(file string) bool {
	return slices.Contains([]string{".md", ".txt", ".rst", ".adoc", ".html", ".svg", ".json", ".csv"}, strings.ToLower(stdpath.Ext(file)))
}

// parsePatternTable parses a table.
func parsePatternTable(table string) []forbiddenLinePattern {
	var all []forbiddenLinePattern
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		ends, rest, ok := strings.Cut(line, " | ")
		why, pattern, two := strings.Cut(rest, " | ")
		if !ok || !two || strings.HasPrefix(line, "#") {
			continue
		}
		if is, err := regexp.Compile(pattern); err == nil { // a test reads all of them
			all = append(all, forbiddenLinePattern{strings.Fields(ends), is, why})
		}
	}
	return all
}

// licenceFindings returns findings for dependencies that the rules do not allow, and names those
// with unknown licences.
func licenceFindings(r nexus.DefinitionOfDone, m MeasuredChange) (found []nexus.Finding, unsure string) {
	var unknown []string
	for _, d := range m.Deps {
		if d.Licence == "" {
			unknown = append(unknown, d.Name)
			continue
		}
		if why := licenceProblem(d.Licence, r); why != "" {
			found = append(found, nexus.Finding{
				File: d.File, Line: d.Line, Message: fmt.Sprintf("%s is under the licence %s, which %s", d.Name, d.Licence, why),
				Advice: "Use another dependency, or have a person allow the licence.",
			})
		}
	}
	if len(unknown) > 0 {
		unsure = "unknown licence of " + strings.Join(unknown[:min(len(unknown), 10)], ", ")
	}
	return found, unsure
}

// licenceProblem returns why a licence expression is not allowed, or "" if one of its
// alternatives consists only of allowed parts.
func licenceProblem(expression string, r nexus.DefinitionOfDone) string {
	expression = strings.NewReplacer("(", " ", ")", " ").Replace(expression)
	why := ""
	for either := range strings.SplitSeq(expression, " OR ") {
		denied, all := false, true
		for part := range strings.SplitSeq(either, " AND ") {
			part, _, _ = strings.Cut(strings.TrimSpace(part), " WITH ")
			named := func(n string) bool { return sameLicence(n, strings.TrimSpace(part)) }
			denied = denied || slices.ContainsFunc(r.Denied, named)
			all = all && (slices.ContainsFunc(r.Licences, named) || len(r.Licences) == 0 && len(r.Denied) > 0)
		}
		switch {
		case denied:
			why = "done.denied_licences names"
		case all:
			return ""
		case why == "":
			why = "done.allowed_licences does not name"
		}
	}
	return why
}

// sameLicence reports whether a configured name means a licence. A name without a suffix for
// later versions means both.
func sameLicence(name, licence string) bool {
	if strings.EqualFold(name, licence) {
		return true
	}
	for _, end := range []string{"-only", "-or-later", "+"} {
		if bare, ok := strings.CutSuffix(licence, end); ok && strings.EqualFold(name, bare) {
			return true
		}
	}
	return false
}

// isGenerated reports whether tools write a file.
func isGenerated(file string) bool { return stack.IsToolWrittenFile(stdpath.Base(file)) }
