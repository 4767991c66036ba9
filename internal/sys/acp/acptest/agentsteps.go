package acptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"
)

// promptStopError is the error that ends a prompt.
type promptStopError struct {
	reason sdk.StopReason
	err    error
}

func (s promptStopError) Error() string { return "stopped" }

// Prompt implements [sdk.Agent].
func (a *scriptedAgent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	n := a.readCount("prompts")
	a.writeCount("prompts", n+1)
	var told strings.Builder
	for _, b := range p.Prompt {
		if b.Text != nil {
			told.WriteString(b.Text.Text)
		}
	}
	for step := range strings.Lines(a.prompts[min(n, len(a.prompts)-1)]) {
		verb, rest, _ := strings.Cut(strings.TrimSuffix(step, "\n"), " ")
		if verb == "" {
			continue
		}
		err := a.runStep(ctx, p.SessionId, told.String(), verb, strings.ReplaceAll(rest, `\n`, "\n"))
		if s, ok := errors.AsType[promptStopError](err); ok {
			return sdk.PromptResponse{StopReason: s.reason, Usage: a.usage}, s.err
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "scripted agent:", verb, err)
			syscall.Exit(9)
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: a.usage}, nil
}

func (a *scriptedAgent) runStep(ctx context.Context, id sdk.SessionId, told, verb, rest string) error {
	first, second, _ := strings.Cut(rest, " ")
	switch verb {
	case "told":
		if !strings.Contains(told, rest) {
			return fmt.Errorf("was not told %q but %q", rest, told)
		}
	case "say":
		return a.sendUpdate(ctx, id, sdk.UpdateAgentMessageText(rest))
	case "think":
		return a.sendUpdate(ctx, id, sdk.UpdateAgentThoughtText(rest))
	case "big":
		n, _ := strconv.Atoi(rest)
		return a.sendUpdate(ctx, id, sdk.UpdateAgentMessageText(strings.Repeat("x", n)))
	case "plan":
		return a.sendPlan(ctx, id, rest)
	case "usage", "tokens":
		return a.reportUsage(ctx, id, verb, strings.Fields(rest))
	case "edit", "own", "run", "shell", "deny", "read", "ask", "form", "open":
		return a.runActionStep(ctx, id, verb, first, second, rest)
	default:
		return a.runPromptEndStep(verb, first, second, rest)
	}
	return nil
}

// runPromptEndStep runs the steps that end a prompt or break the protocol.
func (a *scriptedAgent) runPromptEndStep(verb, first, second, rest string) error {
	n, _ := strconv.Atoi(first)
	switch verb {
	case "odd":
		_, err := os.Stdout.WriteString(unusualUpdate("notice", `"text":"hm"`) + unusualUpdate("agent_message_chunk", `"content":7`) +
			`{"jsonrpc":"2.0","method":"session/update","params":[]}
{"jsonrpc":"2.0","id":"odd","method":"_vendor/thing","params":{}}
{"jsonrpc":"2.0","id":"late","result":{}}
{"jsonrpc":"2.0","method":"$/progress"}

`)
		return err
	case "raw":
		_, err := os.Stdout.WriteString(rest + "\n")
		return err
	case "flood":
		_, err := os.Stdout.WriteString(strings.Repeat("x", n) + "\n")
		return err
	case "half":
		_, err := os.Stdout.WriteString(rest)
		return err
	case "child":
		_, err := os.StartProcess("/bin/sh", []string{"sh", "-c", rest}, &os.ProcAttr{Dir: a.dir, Sys: &syscall.SysProcAttr{Setsid: true}})
		return err
	case "fail":
		return promptStopError{err: &sdk.RequestError{Code: n, Message: second}}
	case "stop":
		return promptStopError{reason: sdk.StopReason(rest)}
	case "cancellable":
		<-a.cancelled
		return promptStopError{reason: sdk.StopReasonCancelled}
	case "hang":
		select {}
	case "exit":
		syscall.Exit(n)
	}
	return fmt.Errorf("no step %s", verb)
}

func unusualUpdate(kind, rest string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"conversation-1",`+
		`"update":{"sessionUpdate":%q,%s}}}`+"\n", kind, rest)
}

func (a *scriptedAgent) sendPlan(ctx context.Context, id sdk.SessionId, rest string) error {
	var all []sdk.PlanEntry
	for i, text := range strings.Split(rest, ", ") {
		e := sdk.PlanEntry{Content: text, Priority: sdk.PlanEntryPriorityMedium, Status: sdk.PlanEntryStatusPending}
		if i == 0 {
			e.Status = sdk.PlanEntryStatusCompleted
		}
		all = append(all, e)
	}
	return a.sendUpdate(ctx, id, sdk.UpdatePlan(all...))
}

func (a *scriptedAgent) reportUsage(ctx context.Context, id sdk.SessionId, verb string, n []string) error {
	one, _ := strconv.Atoi(n[0])
	two, _ := strconv.Atoi(n[1])
	if verb == "tokens" {
		a.usage = &sdk.Usage{InputTokens: one, OutputTokens: two, TotalTokens: one + two}
		return nil
	}
	cost, _ := strconv.ParseFloat(n[2], 64)
	return a.sendUpdate(ctx, id, sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{
		SessionUpdate: "usage_update", Used: one, Size: two, Cost: &sdk.Cost{Amount: cost, Currency: "USD"},
	}})
}

// runActionStep runs the steps that change files, run commands or ask questions.
func (a *scriptedAgent) runActionStep(ctx context.Context, id sdk.SessionId, verb, first, second, rest string) error {
	file := first
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.dir, file)
	}
	switch verb {
	case "edit":
		return a.makeCall(ctx, id, sdk.ToolKindEdit, file, nil, func(sdk.ToolCallId) (string, error) {
			_, err := a.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: id, Path: file, Content: second})
			return "written", err
		})
	case "own":
		return a.makeCall(ctx, id, sdk.ToolKindEdit, file, nil, func(c sdk.ToolCallId) (string, error) {
			if err := a.askPermission(ctx, id, c); err != nil {
				return "", err
			}
			return "written", os.WriteFile(file, []byte(second), 0o600)
		})
	case "run", "shell":
		return a.makeCall(ctx, id, sdk.ToolKindExecute, "", map[string]any{"command": rest}, func(c sdk.ToolCallId) (string, error) {
			if verb == "run" {
				if err := a.askPermission(ctx, id, c); err != nil {
					return "", err
				}
			}
			return a.runInTerminal(ctx, id, rest)
		})
	case "deny":
		n, err := strconv.Atoi(rest)
		for i := 0; err == nil && (i < n || n == 0); i++ {
			err = a.runActionStep(ctx, id, "own", "/etc/passwd", "x", "")
		}
		return err
	case "read":
		r, err := a.conn.ReadTextFile(ctx, sdk.ReadTextFileRequest{SessionId: id, Path: file})
		text := "read: " + r.Content
		if err != nil {
			text = "not read"
		}
		return a.sendUpdate(ctx, id, sdk.UpdateAgentMessageText(text))
	case "ask":
		return a.askElicitation(ctx, rest)
	case "form":
		r := sdk.NewUnstableCreateElicitationRequestForm(sdk.UnstableElicitationSchema{})
		if err := json.Unmarshal([]byte(rest), &r.Form.RequestedSchema); err != nil {
			return err
		}
		r.Form.Message = "Tell me."
		return a.askPerson(ctx, id, r)
	case "open":
		r := sdk.NewUnstableCreateElicitationRequestUrl("page-1", first)
		r.Url.Message = second
		return a.askPerson(ctx, id, r)
	}
	return nil
}

// askPerson asks a person, and writes the answer.
func (a *scriptedAgent) askPerson(ctx context.Context, id sdk.SessionId, r sdk.UnstableCreateElicitationRequest) error {
	got, err := a.conn.UnstableCreateElicitation(ctx, r)
	if err != nil {
		return err
	}
	said := "declined"
	switch {
	case got.Accept != nil:
		content, err := json.Marshal(got.Accept.Content)
		if err != nil {
			return err
		}
		said = "accepted " + string(content)
	case got.Cancel != nil:
		said = "cancelled"
	}
	if r.Url != nil && got.Accept != nil {
		over := sdk.UnstableCompleteElicitationNotification{ElicitationId: r.Url.ElicitationId}
		if err := a.conn.UnstableCompleteElicitation(ctx, over); err != nil {
			return err
		}
	}
	return a.sendUpdate(ctx, id, sdk.UpdateAgentMessageText("It was "+said+"."))
}

func (a *scriptedAgent) askElicitation(ctx context.Context, rest string) error {
	r := sdk.NewUnstableCreateElicitationRequestForm(sdk.UnstableElicitationSchema{})
	r.Form.Message = rest
	got, err := a.conn.UnstableCreateElicitation(ctx, r)
	if err != nil || got.Decline == nil {
		return fmt.Errorf("asked, and got %+v, %w", got, err)
	}
	return nil
}

// makeCall reports a call while do runs it.
func (a *scriptedAgent) makeCall(
	ctx context.Context, id sdk.SessionId, kind sdk.ToolKind, file string, input any, do func(sdk.ToolCallId) (string, error),
) error {
	a.calls++
	c := sdk.ToolCallId(fmt.Sprintf("c%d.%d", a.readCount("prompts"), a.calls))
	opts := []sdk.ToolCallStartOpt{
		sdk.WithStartKind(kind), sdk.WithStartStatus(sdk.ToolCallStatusInProgress), sdk.WithStartRawInput(input),
	}
	if file != "" {
		opts = append(opts, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: file}}))
	}
	if err := a.sendUpdate(ctx, id, sdk.StartToolCall(c, "Call", opts...)); err != nil {
		return err
	}
	text, err := do(c)
	status := sdk.ToolCallStatusCompleted
	if err != nil {
		status, text = sdk.ToolCallStatusFailed, err.Error()
	}
	if ctx.Err() != nil {
		return promptStopError{reason: sdk.StopReasonCancelled}
	}
	content := []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}
	return a.sendUpdate(ctx, id, sdk.UpdateToolCall(c, sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content)))
}

func (a *scriptedAgent) askPermission(ctx context.Context, id sdk.SessionId, c sdk.ToolCallId) error {
	r, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: id, ToolCall: sdk.ToolCallUpdate{ToolCallId: c},
		Options: []sdk.PermissionOption{
			{OptionId: "always", Name: "Always", Kind: sdk.PermissionOptionKindAllowAlways},
			{OptionId: "yes", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce},
			{OptionId: "no", Name: "No", Kind: sdk.PermissionOptionKindRejectOnce},
		},
	})
	switch {
	case err != nil:
		return err
	case r.Outcome.Selected == nil || r.Outcome.Selected.OptionId != "yes":
		return errors.New("not permitted")
	}
	return nil
}

func (a *scriptedAgent) runInTerminal(ctx context.Context, id sdk.SessionId, command string) (string, error) {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: id, Command: command})
	if err != nil {
		return "", err
	}
	e, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	o, err := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: id, TerminalId: t.TerminalId})
	if err != nil {
		return "", err
	}
	if _, err := a.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: id, TerminalId: t.TerminalId}); err != nil {
		return "", err
	}
	exit, err := json.Marshal(e.ExitCode)
	if string(exit) != "0" {
		err = errors.Join(err, fmt.Errorf("%s exit %s", o.Output, exit))
	}
	return o.Output, err
}
