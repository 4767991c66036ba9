package worker

import (
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// promptItems returns the items of the next message; nil if there is none.
func (t ConversationStretchRequest) promptItems() []nexus.PromptManifestItem {
	switch {
	case t.Next == "":
		return nil
	case len(t.Parts) == 0:
		return []nexus.PromptManifestItem{{In: "message", Reason: "what the role is asked", Tokens: prompt.EstimateTokens(t.Next)}}
	default:
		return prompt.ManifestItems("message", t.Parts)
	}
}

// sentPromptItems returns all items that are sent with the first message, in order.
func (o conversationOpening) sentPromptItems(said []nexus.PromptManifestItem, tools []llm.ToolDescription) []nexus.PromptManifestItem {
	all := append(prompt.ManifestItems("system", o.parts), toolsPromptItem(tools))
	if o.warm != nil {
		all = append(all, o.warm.item)
	}
	return append(append(all, said...), prompt.ManifestItems("message", o.here)...)
}

func toolsPromptItem(tools []llm.ToolDescription) nexus.PromptManifestItem {
	data, _ := json.Marshal(tools)
	title := "1 tool"
	if len(tools) != 1 {
		title = fmt.Sprintf("%d tools", len(tools))
	}
	return nexus.PromptManifestItem{In: "tools", Title: title, Reason: "the role has them", Tokens: prompt.EstimateTokens(string(data))}
}

// omittedMemoryParts returns the relevant episodes that the session does not receive.
func omittedMemoryParts(all []nexus.RelevantMemoryEntry) []prompt.SentPromptSection {
	var left []prompt.SentPromptSection
	for _, m := range all {
		if m.Left != "" {
			left = append(left, prompt.SentPromptSection{Title: prompt.NotesTitle + ": " + prompt.SingleLine(m.ID), Of: m.Tokens, Why: m.Left, Reason: m.Why})
		}
	}
	return left
}
