package prompt

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestOrderText returns a role's instructions about the order in which code and tests are
// written with a strategy, which of both it may change, and the results of tests that were
// written first; p may be nil. It is "" if there are none.
//
// All instructions that depend on the strategy are here, and none of them in the prompt of a
// role, which would contradict them elsewhere.
func TestOrderText(s nexus.WritingStrategy, role nexus.Role, p *nexus.TestsRunWithoutWork) string {
	switch {
	case s == nexus.TDDSimple && role == nexus.Coder:
		return "Write the tests first: " + cases + ". Run them and check that they fail because the code is missing, then write the code. " +
			"When you submit, your tests are run without your code, and must fail there."
	case s == nexus.TestAfter && role == nexus.Coder:
		return "Write the code, then test what you add: " + cases + "."
	case !s.UsesSeparateSessions() && role == nexus.Tester:
		return "The code is written. Run your tests. For the most important one, break the code and run the test in one shell command, to see it fail. " + testsOnly
	case !s.UsesSeparateSessions():
		return ""
	case role == nexus.Tester:
		return testsFirstInstruction(s)
	case role != nexus.Coder && role != nexus.Verifier || p == nil || p.Proof != nexus.ProofRed:
		return ""
	}
	var b strings.Builder
	switch {
	case role == nexus.Verifier && s == nexus.TDDStrict:
		b.WriteString("The tests were written first and were seen to fail; the coder could not change them.\n")
	case role == nexus.Verifier:
		b.WriteString("The tests were written first and were seen to fail. The coder could change them: check whether each change was right.\n")
	case s == nexus.TDDStrict:
		b.WriteString("The tests are written, and fail. Write the code that makes them pass. You cannot change a test file: any change to one is undone. " +
			"If a test contradicts the task, submit with status blocked and say which and why.\n")
	default:
		b.WriteString("The tests are written, and fail. Write the code that makes them pass. Change a test only if it contradicts the task: a verifier reads each such change.\n")
	}
	b.WriteString("\nTest files:\n" + bulletList(p.Files))
	if len(p.Tests) > 0 {
		b.WriteString("\nThey failed with:\n" + bulletList(p.Tests[:min(len(p.Tests), maxFindings)]))
	}
	return b.String()
}

const (
	cases     = "the usual case, the edges and the error"
	testsOnly = "Change test files only: any other change is undone."
)

func testsFirstInstruction(s nexus.WritingStrategy) string {
	text := "The tests come first: the code does not exist yet, and another agent writes it after you, from your tests and the task. " +
		"They must fail now, on an assertion or because what they call is missing, not because of a mistake in the tests. " +
		"Use the names that the task gives."
	if s == nexus.TDDStrict {
		return text + " Change only tests and their data. A line in a file that only re-exports names, such as index.ts, is allowed if a test needs it. Write no stubs."
	}
	return text + " You may add the smallest stubs that they need to compile; a stub does nothing."
}

// EditStepInstruction returns the instructions of an editor in a step of the pipeline. For a role of the
// repository's own they include the text that is in the built-in editor's prompt.
func EditStepInstruction(name, do string, own bool) string {
	if do == "" {
		return "The step " + name + " is no longer set up. Change nothing, and submit."
	}
	text := "The work on this task is done and its gates are green. Now do only the step " + name + ":\n\n" + do
	if own {
		text += "\n\nLeave everything else alone, and do not commit. Gates judge your change with the work, " +
			"and a reviewer reads it. If there is nothing to change, change nothing. " +
			"Submit with status done and one sentence on what you changed; if it cannot be done, with status blocked and the reason."
	}
	return text
}

// StepCommandsText lists the commands that judge the work besides the gates.
func StepCommandsText(commands []string) string {
	all := make([]string, len(commands))
	for i, c := range commands {
		all[i] = InlineCode(c)
	}
	return "After the gates these commands must exit 0 with your work: " + strings.Join(all, ", ") + "."
}
