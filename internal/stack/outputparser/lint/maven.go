package lint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// MavenGoalErrors returns Maven's errors about a project that it cannot read and about failed goals:
// they are the reason if nothing in the code is named.
func MavenGoalErrors(in parserbase.ToolOutput, all []string) []nexus.Finding {
	goal := regexp.MustCompile(`^\[ERROR\] (Failed to execute goal .*?)(?: -> \[Help \d+\])?$`)
	pom := regexp.MustCompile(`^\[ERROR\] +The project \S* ?\((\S.*)\) has \d+ errors?$`)
	at := regexp.MustCompile(`^\[ERROR\]     (\S.*?)  ?@ .*?line (\d+), column (\d+)`)
	var found []nexus.Finding
	file := ""
	for _, l := range all {
		l = l[:min(len(l), longest)]
		if m := goal.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{Code: parserbase.CodeExit, Message: m[1]})
		} else if m := pom.FindStringSubmatch(l); m != nil {
			file = in.RelativePath(m[1])
		} else if m := at.FindStringSubmatch(l); m != nil {
			found = append(found, nexus.Finding{File: file, Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Severity: nexus.Major, Message: m[1]})
		}
	}
	return found
}

// spotlessFindings returns the unformatted files that Spotless lists within Maven and Gradle: each
// before its difference, which is indented further.
func spotlessFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	row := regexp.MustCompile(`^(?:\[ERROR\] )? {4}(?: {2})?([^\s@·+-]\S*\.\w+)$`)
	var found []nexus.Finding
	within := false
	for _, l := range all {
		l = strings.TrimRight(l[:min(len(l), longest)], " ")
		switch m := row.FindStringSubmatch(l); {
		case strings.HasSuffix(l, "The following files had format violations:"):
			within = true
		case !strings.HasPrefix(strings.TrimPrefix(l, "[ERROR]"), " ") && strings.TrimPrefix(l, "[ERROR]") != "":
			within = false
		case within && m != nil:
			found = append(found, nexus.Finding{File: in.RelativePath(strings.ReplaceAll(m[1], `\`, "/")), Severity: nexus.Major, Code: "spotless", Message: "it is not formatted as the project asks"})
		}
	}
	return found
}

// classFindings returns the findings of PMD and SpotBugs within Maven. They name a class and a line;
// the file is found in the tree.
func classFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	pmd := regexp.MustCompile(`^\[\w+\] PMD Failure: ([\w.$]+):(\d+) Rule:(\w+) Priority:(\d) (.*?)\.?$`)
	bug := regexp.MustCompile(`^\[ERROR\] (?:High|Medium|Low): (.*?) \[([\w.$]+)(?:, [^\]]*)?\] .*\bAt (\w+\.\w+):\[lines? (\d+)(?:-\d+)?\](?:.*?\b([A-Z][A-Z0-9]*_[A-Z0-9_]+))?`)
	var found []nexus.Finding
	add := func(class, file string, f nexus.Finding) {
		outer, _, _ := strings.Cut(class, "$")
		if dot := strings.LastIndexByte(outer, '.'); in.Find != nil {
			f.File = in.Find(strings.ReplaceAll(outer[:max(dot, 0)], ".", "/") + "/" + cmp.Or(file, outer[dot+1:]+".java"))
		}
		if f.File == "" {
			f.Line = 0
		}
		f.Message = outer + ": " + f.Message
		found = append(found, f)
	}
	for _, l := range all {
		l = l[:min(len(l), longest)]
		if m := pmd.FindStringSubmatch(l); m != nil {
			add(m[1], "", nexus.Finding{Line: parserbase.ParseNumber(m[2]), Code: m[3], Severity: nexus.Major, Message: m[5]})
		} else if m := bug.FindStringSubmatch(l); m != nil {
			add(m[2], m[3], nexus.Finding{Line: parserbase.ParseNumber(m[4]), Code: m[5], Severity: nexus.Major, Message: m[1]})
		}
	}
	return found
}

// NormalizeMavenHeads rewrites the headlines of failed tests as <<< class name. The class is before,
// within or after the name.
func NormalizeMavenHeads(all []string) []string {
	class := ""
	of := regexp.MustCompile(`^(?:\[\w+\] )?Tests run: .* in ([\w.$]+)$`)
	head := regexp.MustCompile(`^\[ERROR\] +(\S.*?)(?: --)? +Time elapsed: .*<<< (?:FAILURE|ERROR)!$`)
	behind, within := regexp.MustCompile(`^(.*)\(((?:\w+\.)+[\w$]+)\)$`), regexp.MustCompile(`^((?:[\w$]+\.)*[A-Z][\w$]*)\.(.+)$`)
	out := make([]string, len(all))
	for i, l := range all {
		out[i] = l
		if m := of.FindStringSubmatch(l); m != nil {
			class = m[1]
		}
		m := head.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		name, its := m[1], class
		if rest, ok := strings.CutPrefix(name, class+"."); ok && class != "" {
			name = rest
		} else if m := behind.FindStringSubmatch(name); m != nil {
			name, its = m[1], m[2]
		} else if m := within.FindStringSubmatch(name); m != nil && name != class {
			name, its = m[2], m[1]
		}
		out[i] = "<<< " + its + " " + name
	}
	return out
}

// UnfinishedMavenTests finds tests that did not end: their process or Maven itself exited, or their module
// was not reached.
func UnfinishedMavenTests(in parserbase.ToolOutput, all []string) []nexus.Finding {
	lost := func(class, message string) nexus.Finding {
		f := nexus.Finding{Code: parserbase.CodeVanished, Test: class, Message: message}
		if class != "" && in.Find != nil {
			f.File = in.Find(strings.ReplaceAll(class, ".", "/") + ".java")
		}
		return f
	}
	var found []nexus.Finding
	gone := regexp.MustCompile(`The forked VM terminated without (?:properly )?saying|There was a (?:timeout|System\.exit)[^.]* in the fork`)
	named := regexp.MustCompile(`^(?:\[ERROR\] )?((?:\w+\.)*[A-Z][\w$]*)$`)
	skipped := regexp.MustCompile(`^\[INFO\] (\S.*?) \.{2,} SKIPPED$`)
	crashed := false
	for i, l := range all {
		if m := skipped.FindStringSubmatch(l); m != nil && in.Exit != 0 {
			found = append(found, lost("", "the module "+m[1]+" was not tested: another failed before it"))
		}
		if !crashed && gone.MatchString(l) {
			crashed = true
			before := len(found)
			for j := i + 1; j < min(len(all), i+12); j++ {
				if strings.HasSuffix(all[j-1], "Crashed tests:") && named.MatchString(all[j]) {
					found = append(found, lost(named.FindStringSubmatch(all[j])[1], "its program ended before its tests did: a crash, or a call of System.exit"))
				}
			}
			if len(found) == before {
				found = append(found, lost("", strings.TrimSpace(strings.TrimPrefix(l, "[ERROR]"))))
			}
		}
	}
	whole := hasMatchingLine(all, `^(?:\[\w+\] )?BUILD (?:SUCCESS|FAILURE)$`)
	if in.Exit == 0 && !whole && !in.Cut && hasMatchingLine(all, `^\[INFO\] `) && hasMatchingLine(all, `^(?:\[INFO\] )?Running \S`) {
		found = append(found, lost("", "Maven ended before its build did: a call of System.exit in its own process"))
	}
	if class := unendedTestClass(all); in.Exit == 0 && len(found) == 0 && !in.Cut && class != "" {
		found = append(found, lost(class, "it started and did not report how it ended"))
	}
	return found
}

// unendedTestClass returns a test class that began and did not end, if fewer ended than began: some end
// under another name than they begin.
func unendedTestClass(all []string) string {
	begin, end := regexp.MustCompile(`^\[INFO\] Running ([\w.$]+)$`), regexp.MustCompile(`Tests run: .*Time elapsed: .*?(?: in ([\w.$]+))?$`)
	var began []string
	ended, names := 0, map[string]bool{}
	for _, l := range all {
		l = l[:min(len(l), longest)]
		if m := begin.FindStringSubmatch(l); m != nil {
			began = append(began, m[1])
		} else if m := end.FindStringSubmatch(l); m != nil {
			ended++
			names[m[1]] = true
		}
	}
	i := slices.IndexFunc(began, func(class string) bool { return !names[class] })
	if i < 0 || ended >= len(began) || names[""] {
		return ""
	}
	return began[i]
}

// UnfinishedGradleTests reads the results of the test processes: tests that began and never ended, which
// Gradle accepts, and whether there was nothing to run.
func UnfinishedGradleTests(all []string) (lost []nexus.Finding, idle bool) {
	begin, end := regexp.MustCompile(`^Gradle Test Executor \d+ started executing tests\.$`), regexp.MustCompile(`^Gradle Test Executor \d+ finished executing tests\.$`)
	task := regexp.MustCompile(`^(?:> Task )?(:(?:[\w.-]+:)*test)(?: ([A-Z-]+))?$`)
	began, ended := 0, 0
	last := map[string]string{}
	for _, l := range all {
		l = l[:min(len(l), longest)]
		switch m := task.FindStringSubmatch(l); {
		case m != nil:
			last[m[1]] = m[2]
		case begin.MatchString(l):
			began++
		case end.MatchString(l):
			ended++
		}
	}
	idle = began == 0 && len(last) > 0
	for _, how := range last {
		idle = idle && (how == "NO-SOURCE" || how == "SKIPPED")
	}
	if began > ended {
		lost = []nexus.Finding{{Code: parserbase.CodeVanished, Message: "a program that ran tests ended before they did: a crash, or a call of System.exit"}}
	}
	return lost, idle
}

// GradleProblemFindings returns the problems that Gradle reports if nothing else is named, with their
// position in a script if there is one.
func GradleProblemFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	at := regexp.MustCompile(`^(?:Build|Settings|Script) file '(.+)' line: (\d+)$`)
	var found []nexus.Finding
	var f nexus.Finding
	for i, l := range all {
		if m := at.FindStringSubmatch(l[:min(len(l), longest)]); m != nil {
			f.File, f.Line = in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
		}
		if l != "* What went wrong:" {
			continue
		}
		f.Code, f.Message = parserbase.CodeExit, ""
		for _, more := range all[i+1 : min(len(all), i+8)] {
			if strings.TrimSpace(more) == "" || strings.HasPrefix(more, "* ") {
				break
			}
			f.Message += more + "\n"
		}
		found, f = append(found, f), nexus.Finding{}
	}
	return found
}
