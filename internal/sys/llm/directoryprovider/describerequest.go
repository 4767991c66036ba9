package directoryprovider

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// formatRequestForPeople formats a request for people: the new part first, and the parts that earlier requests
// had last.
func formatRequestForPeople(r llm.Request) string {
	var b strings.Builder
	b.WriteString("# What is asked\n\nAnswer with answer.md (text alone) or answer.json in this directory:\n\n" +
		"    {\"text\": \"...\", \"calls\": [{\"tool\": \"NAME\", \"input\": {...}}]}\n")
	switch {
	case r.Force == llm.AnyTool:
		b.WriteString("\nAt least one tool must be called.\n")
	case r.Force != "":
		fmt.Fprintf(&b, "\nThe tool %s must be called.\n", r.Force)
	}
	if len(r.Schema) > 0 {
		fmt.Fprintf(&b, "\nThe text must be JSON by this schema:\n\n%s\n", fenceCode(string(r.Schema)))
	}
	said := 0 // messages up to the model's last one
	for i, m := range slices.Backward(r.Messages) {
		if m.From == llm.Assistant {
			said = i + 1
			break
		}
	}
	describeMessages(&b, r.Messages[said:])
	if r.System != "" {
		fmt.Fprintf(&b, "\n# System prompt\n\n%s\n", fenceCode(r.System))
	}
	if len(r.Tools) > 0 {
		b.WriteString("\n# Tools\n")
	}
	for _, t := range r.Tools {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s\n", t.Name, t.Description, fenceCode(string(t.Schema)))
	}
	if said > 0 {
		b.WriteString("\n# Before\n")
		describeMessages(&b, r.Messages[:said])
	}
	return b.String()
}

func describeMessages(b *strings.Builder, all []llm.Message) {
	for _, m := range all {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				fmt.Fprintf(b, "\n## The model calls %s (%s)\n\n%s\n", p.Call.Tool, p.Call.ID, fenceCode(string(p.Call.Input)))
			case p.Result != nil:
				failed := ""
				if p.Result.Failed {
					failed = ", failed"
				}
				fmt.Fprintf(b, "\n## Result of %s%s\n\n%s\n", p.Result.ID, failed, fenceCode(p.Result.Text))
			case p.Text != "" && m.From == llm.Assistant:
				fmt.Fprintf(b, "\n## The model says\n\n%s\n", fenceCode(p.Text))
			case p.Text != "":
				fmt.Fprintf(b, "\n## Message to the model\n\n%s\n", fenceCode(p.Text))
			}
		}
	}
}

// fenceCode returns a text as a code block whose fence does not occur in the text.
func fenceCode(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(s, "\n") + "\n" + fence
}
