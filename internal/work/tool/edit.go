package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/tool/diff"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/edit"
)

const maxDiff = 1500 // bytes of a change that the agent is shown

func editFile(e Env) Tool {
	return Tool{
		Name: "edit_file",
		Description: "Replace exact text in a file. old must be there once (give enough lines around it), or set all. " +
			"Edits apply in order, all or none.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"maxItems":100,` +
			`"items":{"type":"object","properties":{"old":{"type":"string","minLength":1},"new":{"type":"string"},"all":{"type":"boolean"}},` +
			`"required":["old","new"],"additionalProperties":false}}},"required":["path","edits"],"additionalProperties":false}`),
		Run: func(_ context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct {
				Path  string
				Edits []edit.Edit
			}](input)
			if err != nil {
				return Output{}, err
			}
			name, err := e.clean(in.Path, true)
			if err != nil {
				return Output{}, err
			}
			text, err := e.edit(name, in.Edits)
			return Output{Text: text, Changed: err == nil}, err
		},
	}
}

func (e Env) edit(name string, edits []edit.Edit) (string, error) {
	if err := e.writes(name); err != nil {
		return "", err
	}
	d, err := e.load(name)
	if err != nil {
		return "", err
	}
	changes := e.seen.changes(name, d.text)
	if len(changes) > 0 {
		e.seen.keep(name, d.text) // it is told now, whatever follows
	}
	for i := range edits {
		edits[i].Old, edits[i].New = d.form.Plain(edits[i].Old), d.form.Plain(edits[i].New)
	}
	after, did, err := edit.Apply(d.text, edits)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w%s", name, err, moved(d.text, changes))
	}
	if len(changes) > 0 && touches(diff.Lines(diff.Split(d.text), diff.Split(after)), unknown(d.text, changes, edits)) {
		return "", fmt.Errorf("%s was not changed: what is next to the edit is not what you read; send it again if it is still right%s", name, moved(d.text, changes))
	}
	data, err := d.form.Write(after)
	if err != nil {
		return "", fmt.Errorf("%s was not changed: %w", name, err)
	}
	if err := e.put(name, data, &d); err != nil {
		return "", err
	}
	e.seen.keep(name, after)
	return fmt.Sprintf("edited %s: %s\n%s%s", name, strings.Join(did, "; "), diff.Unified(d.text, after, maxDiff), moved(d.text, changes)), nil
}

// unknown returns the changes whose lines no edit quotes.
func unknown(text string, changes []diff.Hunk, edits []edit.Edit) []diff.Hunk {
	lines := diff.Split(text)
	var left []diff.Hunk
	for _, h := range changes {
		is := strings.Join(lines[h.To:h.To+h.New], "\n")
		if h.New == 0 || !slices.ContainsFunc(edits, func(ed edit.Edit) bool { return strings.Contains(ed.Old, is) }) {
			left = append(left, h)
		}
	}
	return left
}

// moved tells of changes that somebody else made.
func moved(text string, changes []diff.Hunk) string {
	if len(changes) == 0 {
		return ""
	}
	return "\n[the file had changed since you read it:\n" + told(text, changes, maxDiff) + "]"
}
