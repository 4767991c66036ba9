package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundjob"
)

const firstWords = time.Second // wait for the first output of a background command

func jobTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "job",
		Description: "New output of a background command, after wait_seconds at most; stop ends it. No id: all.",
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"wait_seconds":{"type":"integer","minimum":0,"maximum":120},` +
			`"stop":{"type":"boolean"}},"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct {
				ID   string
				Wait int `json:"wait_seconds"`
				Stop bool
			}](input)
			if err != nil {
				return CallOutput{}, err
			}
			if e.jobs == nil {
				return CallOutput{}, errors.New("commands cannot be run here: there is no sandbox")
			}
			if in.ID == "" {
				return e.listJobs(), nil
			}
			j := e.jobs.Find(in.ID)
			if j == nil {
				return CallOutput{}, fmt.Errorf("there is no command %s in the background; one from before a restart is gone, start it again", in.ID)
			}
			if in.Stop {
				if err := j.Stop(ctx); err != nil {
					return CallOutput{}, err
				}
			} else if in.Wait > 0 {
				e.awaitJob(ctx, j, time.Duration(in.Wait)*time.Second)
			}
			return e.undoForbiddenChanges(ctx, CallOutput{Text: e.newJobOutput(j), Changed: e.Writes, Most: shellShown})
		},
	}
}

// startBackgroundCommand starts a command in the background.
func (e AgentToolEnvironment) startBackgroundCommand(ctx context.Context, command string, judged nexus.ToolCallDecision) (CallOutput, error) {
	c := e.sandboxedCommand(nil, 0)
	if c.Over != "" {
		c.Over += jobsSuffix // the box stays open, and two may not share a layer
	}
	j, err := e.jobs.Start(ctx, c, command, e.Now())
	if err != nil {
		return CallOutput{Judged: judged}, err
	}
	e.awaitJob(ctx, j, firstWords)
	text := fmt.Sprintf("started as %s; commands that you run now can reach it\n%s", j.ID, e.newJobOutput(j))
	return e.undoForbiddenChanges(ctx, CallOutput{Text: text, Changed: e.Writes, Most: shellShown, Judged: judged})
}

var errEnough = errors.New("waited for long enough")

// awaitJob waits until a job has new output, ends, or the limit is over.
func (e AgentToolEnvironment) awaitJob(ctx context.Context, j *backgroundjob.BackgroundJob, limit time.Duration) {
	ctx, stop := context.WithTimeoutCause(ctx, limit, errEnough)
	defer stop()
	j.WaitForOutput(ctx)
}

// newJobOutput returns the new output of a job.
func (e AgentToolEnvironment) newJobOutput(j *backgroundjob.BackgroundJob) string {
	out, lost := j.Read()
	var b strings.Builder
	if lost > 0 {
		fmt.Fprintf(&b, "[%d bytes before this are lost]\n", lost)
	}
	b.WriteString(sanitize.StripTerminalControls(string(out)))
	if len(out) > 0 && out[len(out)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString("[" + jobStateLine(j, len(out) == 0) + "]" + e.explainSandboxFailure(string(out), true))
	return b.String()
}

func jobStateLine(j *backgroundjob.BackgroundJob, silent bool) string {
	text := j.ID + " runs"
	if !j.IsRunning() {
		exit, err := j.ExitCode()
		text = fmt.Sprintf("%s ended: exit %d", j.ID, exit)
		if err != nil {
			text = fmt.Sprintf("%s ended: %v", j.ID, err)
		}
	}
	if silent {
		text += ", nothing new was printed"
	}
	return text
}

func (e AgentToolEnvironment) listJobs() CallOutput {
	var b strings.Builder
	for _, j := range e.jobs.All() {
		fmt.Fprintf(&b, "%s: %s\n", jobStateLine(j, false), printableLine(j.Command))
	}
	if b.Len() == 0 {
		return CallOutput{Text: "[nothing runs in the background]"}
	}
	return CallOutput{Text: b.String()}
}
