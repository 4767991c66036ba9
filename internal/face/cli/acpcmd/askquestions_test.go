package acpcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/acpserver"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// asking is an agent whose prompts ask what a run waits for.
type asking struct {
	editorSession

	stop acpserver.PromptStopReason
	err  error
}

func (a *asking) Ready(context.Context) error { return nil }
func (a *asking) Sessions(context.Context, string) ([]acpserver.SessionListEntry, error) {
	return nil, nil
}

func (a *asking) Open(_ context.Context, c *acpserver.Client, _ acpserver.SessionOpenParams) (acpserver.ServedSession, error) {
	a.c = c
	return a, nil
}

func (a *asking) Prompt(ctx context.Context, _ string) (acpserver.PromptStopReason, error) {
	v := view.RunView{ID: "r", Asks: []view.OpenQuestion{{ID: "q1", Text: "Which?", Trigger: humaninput.AmbiguityTrigger, Fallback: "grey"}}}
	a.stop, a.err = a.askOpenQuestions(ctx, v, state.NewState("r"))
	return acpserver.PromptDone, nil
}

// TestLastMoment holds that an answer that is given shortly before nobody waits for it
// any more is recorded, and not called missing; and that one which is not given is.
func TestLastMoment(t *testing.T) {
	const patience = 10 * time.Minute // as configured by default
	for name, c := range map[string]struct {
		after time.Duration // that a person answers
		stop  acpserver.PromptStopReason
		said  string
	}{
		"at the last moment": {patience - time.Second, "", "is recorded"},
		"too late":           {patience + time.Second, acpserver.PromptDone, "waits for you"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				recorded := ""
				a := &asking{}
				a.dir = dir
				a.agent = &editorAgent{host.Host{
					Console: &console.Console{App: app.App{Mask: secret.NewMasker(nil), Env: func(string) string { return "" }, Dir: dir}},
					Execute: func(ctx context.Context, _ *console.Console, args []string) error { // the journal is busy
						select {
						case <-time.After(2 * time.Second):
							recorded = strings.Join(args, " ")
							return nil
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					},
				}}
				said := converse(t, a, c.after, "grey")
				if a.stop != c.stop || a.err != nil || (recorded != "") != (c.stop == "") || !strings.Contains(said, c.said) {
					t.Errorf("stop %q, %v, recorded %q; said\n%s", a.stop, a.err, recorded, said)
				}
			})
		})
	}
}

// converse prompts an agent, as a client whose person answers after a while with an option,
// and returns what the client got.
func converse(t *testing.T, a acpserver.ServedAgent, after time.Duration, option string) string {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() {
		(&acpserver.Server{}).Serve(t.Context(), a, in, out)
		_ = out.Close()
	}()
	send := func(format string, args ...any) { _, _ = fmt.Fprintf(to, format+"\n", args...) }
	go func() {
		send(`{"id":0,"method":"initialize","params":{"protocolVersion":1}}`)
		send(`{"id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	}()
	var all strings.Builder
	for lines := bufio.NewScanner(from); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		var m struct {
			ID     json.RawMessage
			Method string
			Result struct{ SessionID string }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Error(err)
		}
		switch {
		case m.Method == "session/request_permission":
			time.AfterFunc(after, func() { send(`{"id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, m.ID, option) })
		case string(m.ID) == "1":
			go send(`{"id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, m.Result.SessionID)
		case string(m.ID) == "2" && m.Method == "":
			go func() {
				time.Sleep(after) // an answer that is late is sent, too
				_ = to.Close()
			}()
		}
	}
	return all.String()
}
