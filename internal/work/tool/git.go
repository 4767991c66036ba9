package tool

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

func gitTool(e Env) Tool {
	return Tool{
		Name:        "git",
		Description: "Look at git: args begins with status, diff, log, show, blame or ls-files.",
		Schema: json.RawMessage(`{"type":"object","properties":{"args":{"type":"array","minItems":1,"maxItems":50,` +
			`"items":{"type":"string","maxLength":1000}}},"required":["args"],"additionalProperties":false}`),
		ReadOnly: true,
		Run: func(ctx context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct{ Args []string }](input)
			if err != nil {
				return Output{}, err
			}
			args, err := gitread.Check(in.Args)
			if err != nil {
				return Output{}, &files.RefusedError{Rule: "git.read", Text: err.Error()}
			}
			if e.Git == nil {
				return Output{}, errors.New("there is no git here")
			}
			text, err := e.Git(ctx, args)
			if err != nil {
				return Output{}, err
			}
			if text == "" {
				text = "[no output]"
			}
			return Output{Text: text}, nil
		},
	}
}
