package democmd

import (
	_ "embed" // the sample and the answers of the model
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

//go:embed sample.txtar
var sample []byte

//go:embed script.yaml
var script []byte

//go:embed genesisscript.yaml
var genesisScript []byte

//go:embed steered.yaml
var steered []byte

// Goal is the goal of the sample's user.
const Goal = "Teach units to write sizes, Roman numerals and durations, with commands for the first two"

// ModelScript returns the answers of the model as an llmtest script. It is shared: the caller must not
// change it.
func ModelScript() []byte { return script }

// WriteSample writes the sample's files below dir.
func WriteSample(dir string) error {
	for _, f := range txtar.Parse(sample).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write the sample: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("write the sample: %w", err)
		}
	}
	return nil
}

// addSteeringReplies lets the model respond to additions of a person: a message, a comment, another plan,
// a task.
func addSteeringReplies(s *llmtest.Script) error {
	more, err := llmtest.ParseScript(steered)
	if err != nil {
		return err
	}
	for _, c := range s.Conversations {
		if c.Match == "plan.1/planner.1" {
			c.Match = "plan.*/planner.*" // to another plan: the same
			more.Conversations = append(more.Conversations, c)
		}
	}
	s.Conversations, s.Steered = append(s.Conversations, more.Conversations...), more.Steered
	return nil
}

// addCoderQuestion makes the coder of T2 ask a person before it writes anything.
func addCoderQuestion(s *llmtest.Script) {
	for i := range s.Conversations {
		if c := &s.Conversations[i]; c.Match == "T2.*/coder.1" {
			ask := llmtest.ScriptTurn{Say: "The Romans had no zero, so I ask.", Calls: []llmtest.ScriptCall{{Tool: "ask", Input: map[string]any{
				"question": "What shall Roman do with 0: refuse it with an error, or write nothing?", "fallback": "refuse it with an error",
			}}}}
			c.Turns = append([]llmtest.ScriptTurn{ask}, c.Turns...)
		}
	}
}
