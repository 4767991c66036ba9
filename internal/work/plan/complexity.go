package plan

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

//go:embed complexity.json
var complexitySchema []byte

// maxWhy limits the stored characters of a reason.
const maxWhy = 300

// ComplexitySchema returns the JSON Schema of a router's submission.
func ComplexitySchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, complexitySchema) != nil { // a test parses it
		return complexitySchema
	}
	return b.Bytes()
}

// ParseComplexity parses a router's submission about the tasks. It skips entries about other
// tasks and second entries about a task.
func ParseComplexity(data []byte, tasks []nexus.TaskID) ([]nexus.ComplexityRating, error) {
	if len(data) > maxHandin {
		return nil, unusableAnswerError(fmt.Sprintf("it has %d bytes, the maximum is %d", len(data), maxHandin))
	}
	var h struct {
		Routes []nexus.ComplexityRating `json:"routes"`
	}
	if problems := agent.DecodeStrictly(data, complexitySchema, &h); len(problems) > 0 {
		return nil, unusableAnswerError(strings.Join(problems, "; "))
	}
	var routes []nexus.ComplexityRating
	seen := map[nexus.TaskID]bool{}
	for _, r := range h.Routes {
		if !r.Complexity.IsKnown() {
			return nil, unusableAnswerError(fmt.Sprintf("complexity %s is not one of simple, medium, complex, expert", quoteShort(string(r.Complexity))))
		}
		if seen[r.Task] || !slices.Contains(tasks, r.Task) {
			continue
		}
		seen[r.Task] = true
		r.Why = strings.Join(strings.Fields(strings.ToValidUTF8(r.Why, "?")), " ")
		if short := []rune(r.Why); len(short) > maxWhy {
			r.Why = string(short[:maxWhy]) + "..."
		}
		routes = append(routes, r)
	}
	return routes, nil
}

func unusableAnswerError(why string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "the router's answer cannot be used: " + why}
}
