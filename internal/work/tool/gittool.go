package tool

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

func gitTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "git",
		Description: "Look at git: args begins with status, diff, log, show, blame or ls-files.",
		Schema: json.RawMessage(`{"type":"object","properties":{"args":{"type":"array","minItems":1,"maxItems":50,` +
			`"items":{"type":"string","maxLength":1000}}},"required":["args"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct{ Args []string }](input)
			if err != nil {
				return CallOutput{}, err
			}
			args, err := gitread.CheckReadOnly(in.Args)
			if err != nil {
				return CallOutput{}, &files.FileRefusedError{Rule: "git.read", Text: err.Error()}
			}
			for _, a := range in.Args[1:] {
				if name := namedGitPath(a); e.lids.hiddenReason(name) != "" {
					return CallOutput{}, &files.FileRefusedError{Rule: "path.secret", Text: "refused: " + files.HiddenFile{Name: name, Why: e.lids.hiddenReason(name)}.String()}
				}
			}
			if e.Git == nil {
				return CallOutput{}, errors.New("there is no git here")
			}
			if why := e.lids.commandsBlockedReason(); why != "" {
				return CallOutput{}, &files.FileRefusedError{Rule: "path.hidden", Text: "refused (path.hidden): " + why}
			}
			text, err := e.Git(ctx, args, e.lids.currentPaths())
			if err != nil {
				return CallOutput{}, err
			}
			if text = e.lids.removeHiddenDiffs(text); text == "" {
				text = "[no output]"
			}
			return CallOutput{Text: text}, nil
		},
	}
}

// namedGitPath returns the path in an argument of git, if there is one: after a commit, or after a
// range of lines.
func namedGitPath(a string) string {
	if _, name, ok := strings.Cut(a, ":"); ok {
		a = name
	} else if strings.HasPrefix(a, "-") {
		return ""
	}
	return path.Clean(strings.TrimPrefix(a, ":(literal)"))
}

const (
	graph      = `^(?:[|*\\/_ ]*[|*\\/_] )?`   // the drawing of --graph before a line
	commitLine = graph + `commit [0-9a-f]{7,}` // begins the text about the next commit
	changeLine = graph + `(diff --.*)`         // begins the text about the next file
)

// removeHiddenDiffs removes the changes of hidden files from the output of git.
func (l *hiddenPaths) removeHiddenDiffs(text string) string {
	if l == nil || !strings.Contains(text, "diff --") {
		return text
	}
	next, change := regexp.MustCompile(commitLine), regexp.MustCompile(changeLine)
	var out, part strings.Builder
	name := ""
	end := func() {
		why := ""
		if name != "" {
			if why = l.hiddenReason(name); why == "" {
				why = l.rules.Text(name, []byte(part.String()))
			}
		}
		if why != "" {
			out.WriteString("[changes of " + files.HiddenFile{Name: name, Why: why}.String() + "]\n")
		} else {
			out.WriteString(part.String())
		}
		part.Reset()
		name = ""
	}
	for line := range strings.Lines(text) {
		if head := change.FindStringSubmatch(line); head != nil {
			end()
			name = l.parseDiffHeader(head[1])
		} else if name != "" && next.MatchString(line) {
			end()
		}
		part.WriteString(line)
	}
	end()
	return out.String()
}

// parseDiffHeader returns the file in the header of a change: the hidden one of the two, if they
// differ.
func (l *hiddenPaths) parseDiffHeader(head string) string {
	_, names, _ := strings.Cut(strings.TrimRight(head, "\n"), " --")
	_, names, _ = strings.Cut(names, " ")
	at := names
	for half := 0; half < len(names); half++ {
		if names[half] != ' ' {
			continue
		}
		for _, n := range []string{names[:half], names[half+1:]} {
			n = strings.Trim(n, `"`)
			for _, prefix := range []string{"a/", "b/", "i/", "w/", "c/", "o/", ""} {
				if rest, ok := strings.CutPrefix(n, prefix); ok {
					if l.hiddenReason(rest) != "" {
						return rest
					}
					if prefix != "" {
						at = rest
					}
				}
			}
		}
	}
	return at
}
