package raw

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EmptyVenvReport is the report of a command that Python's package manager ran in a
// virtual environment which it made just then: none of what the project needs
// is in it, and what comes of that says nothing about the tree.
func EmptyVenvReport(in Input) (Report, bool) {
	made := map[string]string{
		"poetry": `^Creating virtualenv \S+ in `, "pipenv": `^Creating a virtualenv for this project|^No virtualenv has been created for this project`,
		"uv": `^Creating virtual environment at: `,
	}
	before, _, ok := strings.Cut(in.Command, " run ")
	manager := before[strings.LastIndexByte(before, ' ')+1:]
	if !ok || made[manager] == "" {
		return Report{}, false
	}
	re := regexp.MustCompile(made[manager])
	for _, stream := range [][]byte{in.Stderr, in.Stdout} {
		for i, l := range Lines(stream[:min(len(stream), 4<<10)]) {
			if i == 10 { // it is said before anything runs
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
			return Report{State: nexus.Environmental, Why: missing.Message, Findings: []nexus.Finding{missing}}, true
		}
	}
	return Report{}, false
}
