package worker

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// promptItems returns the items of the next message; nil if there is none.
func (t ConversationRequest) promptItems() []nexus.PromptItem {
	switch {
	case t.Next == "":
		return nil
	case len(t.Parts) == 0:
		return []nexus.PromptItem{{In: "message", Reason: "what the role is asked", Tokens: prompt.EstimateTokens(t.Next)}}
	default:
		return prompt.ManifestItems("message", t.Parts)
	}
}

// promptManifest returns all items that are sent with the first message, in order.
func (o sessionOpening) promptManifest(said []nexus.PromptItem, tools []llm.Tool) []nexus.PromptItem {
	all := append(prompt.ManifestItems("system", o.parts), toolsPromptItem(tools))
	if o.warm != nil {
		all = append(all, o.warm.item)
	}
	return append(append(all, said...), prompt.ManifestItems("message", o.here)...)
}

func toolsPromptItem(tools []llm.Tool) nexus.PromptItem {
	data, _ := json.Marshal(tools)
	title := "1 tool"
	if len(tools) != 1 {
		title = fmt.Sprintf("%d tools", len(tools))
	}
	return nexus.PromptItem{In: "tools", Title: title, Reason: "the role has them", Tokens: prompt.EstimateTokens(string(data))}
}

// omittedMemoryParts returns the relevant episodes that the session does not receive.
func omittedMemoryParts(all []nexus.RememberedEntry) []prompt.SentPart {
	var left []prompt.SentPart
	for _, m := range all {
		if m.Left != "" {
			left = append(left, prompt.SentPart{Title: prompt.NotesTitle + ": " + prompt.SingleLine(m.ID), Of: m.Tokens, Why: m.Left, Reason: m.Why})
		}
	}
	return left
}
