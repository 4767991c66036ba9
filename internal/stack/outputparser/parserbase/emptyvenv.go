package parserbase

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EmptyVenvReport returns the report of a command that Python's package manager ran in a
// virtual environment that it had just created: the project's dependencies are missing in it,
// so the result does not apply to the tree.
func EmptyVenvReport(in ToolOutput) (ParsedToolOutput, bool) {
	made := map[string]string{
		"poetry": `^Creating virtualenv \S+ in `, "pipenv": `^Creating a virtualenv for this project|^No virtualenv has been created for this project`,
		"uv": `^Creating virtual environment at: `,
	}
	before, _, ok := strings.Cut(in.Command, " run ")
	manager := before[strings.LastIndexByte(before, ' ')+1:]
	if !ok || made[manager] == "" {
		return ParsedToolOutput{}, false
	}
	re := regexp.MustCompile(made[manager])
	for _, stream := range [][]byte{in.Stderr, in.Stdout} {
		for i, l := range SplitLines(stream[:min(len(stream), 4<<10)]) {
			if i == 10 { // the message comes before anything runs
				break
			}
			if !re.MatchString(l) {
				continue
			}
			install := map[string]string{
				"poetry": "poetry config --local virtualenvs.in-project true, then poetry install",
				"pipenv": "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev", "uv": "uv sync",
			}[manager]
			missing := nexus.Finding{
				Code: CodeMissing, Message: "there is no virtual environment with what the project needs: " + strings.TrimSpace(l),
				Advice: "Make one in the project, where gates can see it: " + install + ".",
			}
			return ParsedToolOutput{State: nexus.Environmental, Why: missing.Message, Findings: []nexus.Finding{missing}}, true
		}
	}
	return ParsedToolOutput{}, false
}
