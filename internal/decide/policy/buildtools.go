package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeBuildTool judges a simple command whose program builds, tests or fetches, and reports whether
// it is one.
func (j *lineJudge) judgeBuildTool(argv []shell.Word) bool {
	switch name := argv[0].Text; name {
	case "go":
		j.judgeGoTool(argv)
	case "pip", "pip3":
		j.judgePip(argv)
	case "cmake":
		j.judgeCmake(argv)
	case "python", "python3", "node", "ruby", "perl", "php", "java":
		j.judgeInterpreter(argv)
	default:
		v, ok := program.FindVerbs(name)
		return ok && j.judgeVerbProgram(argv, v)
	}
	return true
}

// buildsOrInterprets reports whether a program builds, tests or fetches.
func buildsOrInterprets(name string) bool {
	if slices.Contains([]string{"go", "cmake", "pip", "pip3", "python", "python3", "node", "ruby", "perl", "php", "java"}, name) {
		return true
	}
	_, ok := program.FindVerbs(name)
	return ok
}

// isVersionedInterpreter reports whether a name is that of an interpreter with its version.
func isVersionedInterpreter(name string) bool {
	return regexp.MustCompile(`^(python|pip|php|ruby|perl|node)3?(\.\d+)+$`).MatchString(name)
}

// askAboutUnseenOptions requires approval if a word with unknown content could be one of the options.
func (j *lineJudge) askAboutUnseenOptions(asked []string, words []shell.Word) {
	if shell.MayHideOption(asked, words) {
		j.addAnswer(Ask, "path.unseen", "it may be given options that are not known before it runs")
	}
}

// withoutVersionSuffix returns an interpreter's name without its version.
func withoutVersionSuffix(name string) string { return strings.TrimRight(name, "3") }
