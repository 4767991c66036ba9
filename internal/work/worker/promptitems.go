package worker

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// items returns the items of the next message; nil if there is none.
func (t ConversationRequest) items() []nexus.PromptItem {
	switch {
	case t.Next == "":
		return nil
	case len(t.Parts) == 0:
		return []nexus.PromptItem{{In: "message", Reason: "what the role is asked", Tokens: prompt.Tokens(t.Next)}}
	default:
		return prompt.Items("message", t.Parts)
	}
}

// manifest returns all items that are sent with the first message, in order.
func (o sessionOpening) manifest(said []nexus.PromptItem, tools []llm.Tool) []nexus.PromptItem {
	all := append(prompt.Items("system", o.parts), toolsItem(tools))
	if o.warm != nil {
		all = append(all, o.warm.item)
	}
	return append(append(all, said...), prompt.Items("message", o.here)...)
}

func toolsItem(tools []llm.Tool) nexus.PromptItem {
	data, _ := json.Marshal(tools)
	title := "1 tool"
	if len(tools) != 1 {
		title = fmt.Sprintf("%d tools", len(tools))
	}
	return nexus.PromptItem{In: "tools", Title: title, Reason: "the role has them", Tokens: prompt.Tokens(string(data))}
}

// forgotten returns the relevant episodes that the session does not receive.
func forgotten(all []nexus.Remembered) []prompt.Part {
	var left []prompt.Part
	for _, m := range all {
		if m.Left != "" {
			left = append(left, prompt.Part{Title: prompt.NotesTitle + ": " + prompt.Line(m.ID), Of: m.Tokens, Why: m.Left, Reason: m.Why})
		}
	}
	return left
}
