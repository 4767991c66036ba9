package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// SubagentManager are agents that answer questions while their parent continues.
type SubagentManager interface {
	// Send starts one more, and returns at once.
	Send(question string) (string, error)
	// Show returns the result of a subagent, or its activity, after waiting for its report;
	// without an ID it lists them all, after waiting for the next.
	Show(ctx context.Context, id string, wait time.Duration) (string, error)
	// Stop stops a subagent.
	Stop(id string) (string, error)
}

// SubagentTool is the name of the tool that starts subagents. It is for sessions in a run
// whose model costs more than a subagent's.
const SubagentTool = "scout"

func subagentTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name: SubagentTool,
		Description: "Start a subagent, which only reads, to look into a question while you continue. You get a message when it reports; " +
			"id shows the report, after wait_seconds at most; no id waits for the next; stop ends one.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","maxLength":2000},"id":{"type":"string"},` +
			`"wait_seconds":{"type":"integer","minimum":0,"maximum":300},"stop":{"type":"boolean"}},"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				Question, ID string
				Wait         int `json:"wait_seconds"`
				Stop         bool
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			var text string
			switch {
			case e.Scouts == nil:
				return CallOutput{}, errors.New("subagents cannot be started here: search yourself")
			case in.Question != "" && in.ID != "":
				return CallOutput{}, errors.New("give question to start a new subagent, or id to ask for one that was started, not both")
			case in.Question != "":
				text, err = e.Scouts.Send(in.Question)
			case in.Stop:
				text, err = e.Scouts.Stop(in.ID)
			default:
				text, err = e.Scouts.Show(ctx, in.ID, time.Duration(in.Wait)*time.Second)
			}
			return CallOutput{Text: text}, err
		},
	}
}
