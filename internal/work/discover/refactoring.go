package discover

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
	"github.com/nexus-ai-builder/nexus/internal/stack/function"
)

// findLargeFunctions finds functions that are too long or too deeply nested.
func findLargeFunctions(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	found := StrategyResult{Quick: true}
	for _, file := range s.files {
		syntax, ok := stack.SyntaxOf(file.path)
		if !ok || syntax.Heads == "" || isAuxiliaryFile(file.path) || !isSafeInCheck(file.path) {
			continue
		}
		lines, err := s.readTextLines(ctx, file.path)
		if err != nil {
			return found, err
		}
		for _, f := range function.FunctionsIn(syntax, lines) {
			if one, ok := largeFunctionFinding(f, file.path, syntax.Dented); ok {
				found.Findings = append(found.Findings, one)
			}
		}
	}
	return found, nil
}

// largeFunctionFinding makes a finding of a function that is too long or too deeply nested.
func largeFunctionFinding(f function.Function, name string, dented bool) (finding.WorkFinding, bool) {
	one := finding.WorkFinding{
		Strategy: "refactoring", Kind: finding.Refactor, Severity: nexus.PriorityLow, Places: []finding.FindingPlace{{File: name, Line: f.Line}},
	}
	switch {
	case f.Lines > function.Long:
		one.ID, one.Count = finding.FindingID("refactoring", name, f.Mark, "long"), f.Lines
		one.Title = fmt.Sprintf("Split %s in %s, which has %d lines", f.Name, one.Places[0], f.Lines)
		one.Why = fmt.Sprintf("it has %d lines of code; more than %d are hard to follow", f.Lines, function.Long)
		if f.Depth > function.Deep {
			one.Why += fmt.Sprintf(", and %d conditions and loops are within each other", f.Depth)
		}
		one.Minutes = finding.EstimateMinutes("refactoring", f.Lines/function.Long)
		one.Check = functionSizeCheck(name, f.Mark, function.LongScript(dented))
	case f.Depth > function.Deep:
		one.ID, one.Count = finding.FindingID("refactoring", name, f.Mark, "deep"), f.Depth
		one.Title = fmt.Sprintf("Make %s in %s less deep: %d conditions and loops are within each other", f.Name, one.Places[0], f.Depth)
		one.Why = fmt.Sprintf("%d conditions and loops are within each other; more than %d are hard to follow", f.Depth, function.Deep)
		one.Minutes = finding.EstimateMinutes("refactoring", 1)
		one.Check = functionSizeCheck(name, f.Mark, function.DeepScript(dented))
	default:
		return one, false
	}
	one.Evidence = strings.TrimSpace(f.Mark)
	return one, isSafeInCheck(f.Mark) && !strings.Contains(f.Mark, `\`) && len(one.Check) <= longestCheck
}

// functionSizeCheck returns a check that fails as long as a script finds a function too large.
func functionSizeCheck(name, mark, script string) string {
	return fmt.Sprintf("! awk -v m=%s %s %s", cmdline.Quote(mark), cmdline.Quote(script), cmdline.Quote("./"+name))
}
