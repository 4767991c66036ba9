package prompt

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Order tells a role in which order code and tests are written with a
// strategy, and what was seen of tests that were written first; p may be nil.
// It is empty where there is nothing unusual.
func Order(s nexus.Strategy, role nexus.Role, p *nexus.TestsProved) string {
	switch {
	case s == nexus.TDDSimple && role == nexus.Coder:
		return "Write the tests first. Run them and see them fail for what is missing, then write the code. " +
			"When you hand in, your tests are run without your code, and must fail there."
	case !s.Sessions():
		return ""
	case role == nexus.Tester:
		return first(s)
	case p == nil || p.Proof != nexus.ProofRed:
		return ""
	}
	var b strings.Builder
	switch {
	case role == nexus.Verifier && s == nexus.TDDStrict:
		b.WriteString("The tests were written first and were seen to fail; whoever wrote the code could not change them.\n")
	case role == nexus.Verifier:
		b.WriteString("The tests were written first and were seen to fail. Whoever wrote the code could change them: see whether that was right.\n")
	case s == nexus.TDDStrict:
		b.WriteString("The tests are written, and fail. Write the code that makes them pass. You cannot change a test file: whatever changes one is undone. " +
			"If a test contradicts the task, hand in as blocked and say which and why.\n")
	default:
		b.WriteString("The tests are written, and fail. Write the code that makes them pass. Change a test only where it contradicts the task: a verifier reads each such change.\n")
	}
	b.WriteString("\nTest files:\n" + list(p.Files))
	if len(p.Tests) > 0 {
		b.WriteString("\nThey failed with:\n" + list(p.Tests[:min(len(p.Tests), maxFindings)]))
	}
	return b.String()
}

func first(s nexus.Strategy) string {
	text := "The tests come first: the code is not there yet, and another one writes it after you, from your tests and the task. " +
		"They must fail now, on an assertion or because what they call is missing, and not on a fault of their own. " +
		"Name what is to be written as the task names it."
	if s == nexus.TDDStrict {
		return text + " Touch nothing but tests and their data; a line in a file that only hands on names, such as index.ts, is allowed where a test needs it. Write no stubs."
	}
	return text + " You may add the smallest stubs that they need to be compiled; a stub does nothing."
}
