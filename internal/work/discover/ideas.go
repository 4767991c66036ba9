package discover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// MostIdeas is the number of suggestions that a model is asked for.
const MostIdeas = 10

// IdeasSchema returns the JSON Schema of a suggester's submission.
func IdeasSchema() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","additionalProperties":false,"required":["ideas"],"properties":{"ideas":{
"type":"array","maxItems":%d,"items":{"type":"object","additionalProperties":false,"required":["title","why","kind","files"],"properties":{
"title":{"type":"string","description":"what to do, in a line"},
"why":{"type":"string","description":"what somebody gains from it, in a line"},
"kind":{"type":"string","enum":["feature","performance","security","quality"]},
"files":{"type":"array","items":{"type":"string"},"maxItems":10},
"minutes":{"type":"integer","minimum":1,"maximum":60},
"check":{"type":"string","description":"a command, in a line, that fails now and passes when it is done; may be empty"}}}}}}`, MostIdeas))
}

// IdeasTask returns the task of a suggester.
func IdeasTask(files []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Suggest at most %d improvements of this repository.", MostIdeas)
	if len(files) > 0 {
		b.WriteString(" Read these files first:\n")
	}
	for _, f := range files {
		b.WriteString("- " + f + "\n")
	}
	return b.String()
}

// ParseIdeas reads a suggester's submission. Invalid suggestions are skipped; the error means
// that nothing can be read.
func ParseIdeas(data []byte, there func(file string) bool) ([]discoveredwork.WorkFinding, error) {
	var in struct {
		Ideas []struct {
			Title, Why, Kind, Check string
			Files                   []string
			Minutes                 int
		} `json:"ideas"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&in); err != nil {
		return nil, fmt.Errorf("the suggestions cannot be read: %w", err)
	}
	var all []discoveredwork.WorkFinding
	for _, i := range in.Ideas[:min(len(in.Ideas), MostIdeas)] {
		title, why := shortLine(i.Title), shortLine(i.Why)
		if title == "" || why == "" || slices.ContainsFunc(all, func(f discoveredwork.WorkFinding) bool { return f.Title == title }) {
			continue
		}
		f := discoveredwork.WorkFinding{
			ID: discoveredwork.FindingID("ideas", strings.ToLower(title)), Strategy: "ideas", Kind: discoveredwork.Idea, Title: title, Why: why,
			Severity: nexus.PriorityTrivial, Minutes: min(max(i.Minutes, 0), 60),
		}
		switch i.Kind {
		case "security":
			f.Kind, f.Severity = discoveredwork.Security, nexus.PriorityLow
		case "performance":
			f.Kind = discoveredwork.Perf
		case "quality":
			f.Kind = discoveredwork.Refactor
		}
		if check := strings.TrimSpace(i.Check); isSafeInCheck(check) {
			f.Check = check
		}
		for _, file := range i.Files {
			if file = path.Clean(file); there(file) && len(f.Places) < 10 {
				f.Places = append(f.Places, discoveredwork.FindingPlace{File: file})
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// shortLine shortens a model's text to one line.
func shortLine(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	return sanitize.TruncateText(strings.Join(strings.Fields(text), " "), 110)
}
