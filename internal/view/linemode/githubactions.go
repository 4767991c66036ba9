package linemode

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// workflowCommand returns a workflow command of GitHub Actions.
func workflowCommand(name string, at nexus.Finding, title, text string) string {
	var with []string
	if at.File != "" {
		with = append(with, "file="+escapeProperty(at.File))
		if at.Line > 0 {
			with = append(with, fmt.Sprintf("line=%d", at.Line))
		}
	}
	with = append(with, "title="+escapeProperty(title))
	return "::" + name + " " + strings.Join(with, ",") + "::" + escapeData(text)
}

// escapeData escapes the message of a workflow command: line breaks remain in it, and other
// invisible characters are written out.
func escapeData(text string) string {
	text = view.EscapeLinesForTerminal(strings.ReplaceAll(text, "\r\n", "\n"))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(escapeCommands(text))
}

// escapeProperty escapes the value of a workflow command's property.
func escapeProperty(text string) string {
	text = escapeCommands(view.EscapeForTerminal(text))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}

// GuardActionsOutput makes lines safe for the runner of GitHub Actions. The runner interprets a line that
// begins with two colons, after blanks, as a command, and also ##[ anywhere.
func GuardActionsOutput(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(escapeCommands(strings.ReplaceAll(text, "\r", `\r`)), "\n") {
		if rest := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(rest, "::") {
			line = line[:len(line)-len(rest)] + `\` + rest
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// escapeCommands breaks the prefix of the runner's older commands.
func escapeCommands(text string) string { return strings.ReplaceAll(text, "##[", "## [") }
