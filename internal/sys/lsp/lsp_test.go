package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/lsp/lsptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func TestMain(m *testing.M) {
	if lsptest.RunIfServerProcess() {
		return
	}
	goleak.VerifyTestMain(m)
}

const toy = "def one\ndef two one\n\u00e9\U0001f600 one BAD\n"

// server returns one that runs in the sandbox, in a tree of its own.
func server(tb testing.TB, how string) Server {
	tb.Helper()
	box, err := sandbox.FindSandbox(tb.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(tb, "a sandbox", err)
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	for name, text := range map[string]string{"a.toy": toy, "b c.toy": "two one\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	var p *sandbox.Process
	return Server{
		Root: dir, Options: []byte(`{"a":1}`),
		Start: func(ctx context.Context) (io.ReadWriteCloser, error) {
			var err error
			p, err = sandbox.StartProcess(ctx, box.Run, sandbox.Command{
				Args: []string{exe}, Dir: dir, Env: sandbox.AgentCommandEnv(lsptest.EnvVar + "=" + how), Readable: []string{dir, filepath.Dir(exe)}, Mark: "lsp-" + filepath.Base(filepath.Dir(dir)),
			})
			return p, err
		},
		Said: func() string {
			<-p.Done()
			r, _ := p.Result()
			return string(r.Stderr)
		},
	}
}

func dialed(t *testing.T, s Server) *LanguageServerSession {
	t.Helper()
	c, err := StartSession(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.OpenFile(t.Context(), "a.toy", "toy", toy); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestServers asks good servers for everything, over pipes into the sandbox.
func TestServers(t *testing.T) {
	for _, how := range []string{"good", "pull", "bytes", "banner", "asks", "busy", "changed"} {
		t.Run(how, func(t *testing.T) {
			c := dialed(t, server(t, how))
			at := Position{2, c.CharOffset(strings.Split(toy, "\n")[2], len("\u00e9\U0001f600 "))}
			names := func(all []FileTextRange, err error) string {
				t.Helper()
				var b strings.Builder
				for _, p := range all {
					b.WriteString(p.Name + ":" + string(rune('1'+p.Range.Start.Line)) + " ")
				}
				if err != nil {
					t.Error(err)
				}
				return b.String()
			}
			if got := names(c.FindDefinition(t.Context(), "a.toy", at)); got != "a.toy:1 " {
				t.Errorf("declared at %s", got)
			}
			if got := names(c.FindReferences(t.Context(), "a.toy", at)); got != "a.toy:1 a.toy:2 a.toy:3 b c.toy:1 " {
				t.Errorf("used at %s", got)
			}
			all, err := c.DocumentSymbols(t.Context(), "a.toy")
			if err != nil || len(all) != 2 || all[1].Symbol != "two" || all[1].Kind != "function" || all[1].Range.Start.Line != 1 {
				t.Errorf("%+v, %v", all, err)
			}
			if all, err = c.FindSymbols(t.Context(), "tw"); err != nil || len(all) != 1 || all[0].Name != "a.toy" {
				t.Errorf("%+v, %v", all, err)
			}
			found, err := c.FileDiagnostics(t.Context(), "a.toy")
			if err != nil || len(found) != 1 || found[0].Range.Start.Line != 2 || found[0].Message != "this is bad" {
				t.Errorf("%+v, %v", found, err)
			}
			changes, err := c.RenameSymbol(t.Context(), "a.toy", at, "uno")
			if err != nil || len(changes) != 2 {
				t.Fatalf("%+v, %v", changes, err)
			}
			if got, err := changes[0].Apply(toy); err != nil || got != "def uno\ndef two uno\n\u00e9\U0001f600 uno BAD\n" {
				t.Errorf("renamed to %q, %v", got, err)
			}
			actions, err := c.CodeActions(t.Context(), "a.toy", Range{Position{2, 0}, Position{2, 9}})
			if err != nil || len(actions) != 1 || actions[0].Title != "make it good" {
				t.Fatalf("%+v, %v", actions, err)
			}
			if changes, err = c.ResolveAction(t.Context(), actions[0]); err != nil || len(changes) != 1 {
				t.Fatalf("%+v, %v", changes, err)
			}
			if got, err := changes[0].Apply(toy); err != nil || got != strings.Replace(toy, "BAD", "GOOD", 1) {
				t.Errorf("done: %q, %v", got, err)
			}
			if err := c.OpenFile(t.Context(), "a.toy", "toy", "def one\n"); err != nil {
				t.Error(err)
			}
			if found, err := c.FileDiagnostics(t.Context(), "a.toy"); err != nil || len(found) != 0 {
				t.Errorf("it is mended: %+v, %v", found, err)
			}
		})
	}
}

// TestBadServers sees each of them end with a reason, in time.
func TestBadServers(t *testing.T) {
	for how, want := range map[string]string{
		"ends": "no configuration!", "mute": ErrSilent.Error(), "babble": "not a message", "huge": "longer than",
		"unit": "furlong", "hang": ErrSilent.Error(), "deaf": ErrSilent.Error(), "dies": "fell over", "flood": "prints too much", "liar": "not what was asked for",
	} {
		t.Run(how, func(t *testing.T) {
			s := server(t, how)
			if strings.Contains(want, "in time") {
				s.Answer = time.Second
				if how == "mute" {
					s.Begin = time.Second
				}
			}
			c, err := StartSession(t.Context(), s)
			if err == nil {
				defer c.Close()
				err = c.OpenFile(t.Context(), "a.toy", "toy", toy)
				for err == nil { // a flood has to rise first
					if _, err = c.FindReferences(t.Context(), "a.toy", Position{0, 4}); how != "flood" {
						break
					}
				}
			}
			if err == nil || !strings.Contains(err.Error(), want) || sanitize.RevealHidden(err.Error()) != err.Error() {
				t.Errorf("%q", err)
			}
			if how == "liar" {
				return
			}
			if !errors.Is(err, ErrGone) && !errors.Is(err, ErrSilent) && how != "unit" {
				t.Errorf("%v does not say that it is gone", err)
			}
		})
	}
}

// TestOutside sees that files outside of the tree are named as such, and what
// is no file is not named at all.
func TestOutside(t *testing.T) {
	c := dialed(t, server(t, "outside"))
	all, err := c.FindDefinition(t.Context(), "a.toy", Position{0, 4})
	if err != nil {
		t.Fatal(err)
	}
	var inside, outside []string
	for _, p := range all {
		if IsInside(p.Name) {
			inside = append(inside, p.Name)
		} else {
			outside = append(outside, p.Name)
		}
	}
	if d := cmp.Diff([]string{".git/config", "a.toy"}, inside); d != "" {
		t.Error(d)
	}
	want := []string{"/etc/passwd", "/etc/shadow", filepath.Join(filepath.Dir(c.server.Root), "secret.toy")}
	slices.Sort(want)
	if d := cmp.Diff(want, outside); d != "" {
		t.Error(d)
	}
}

// TestBadEdits sees edits refused that make no sense.
func TestBadEdits(t *testing.T) {
	for how, want := range map[string]string{"overlap": "overlap", "far": "outside of the file", "deletes": "rename or delete"} {
		c := dialed(t, server(t, how))
		changes, err := c.RenameSymbol(t.Context(), "a.toy", Position{0, 4}, "uno")
		for _, ch := range changes {
			if err == nil {
				_, err = ch.Apply(toy)
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	c := dialed(t, server(t, "good"))
	if _, err := c.RenameSymbol(t.Context(), "a.toy", Position{0, 4}, "a b"); err == nil || err.Error() != "the server refused (-32602): that is no name" {
		t.Errorf("%v", err)
	}
}

// TestManyOpen sees that a server holds the text of so many files only.
func TestManyOpen(t *testing.T) {
	c := dialed(t, server(t, "good"))
	for i := range maxOpen + 5 {
		if err := c.OpenFile(t.Context(), "n"+string(rune('a'+i))+".toy", "toy", "def x\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.OpenFileNames(); len(got) != maxOpen || got[0] == "a.toy" {
		t.Errorf("%d are open: %v", len(got), got)
	}
}

// FuzzServer lets a server say anything in answer to each message: whatever it
// is, each question ends, and nothing falls over or is named outside of rules.
func FuzzServer(f *testing.F) {
	for _, s := range []string{
		`{"capabilities":{"definitionProvider":true,"renameProvider":{},"documentSymbolProvider":true,"codeActionProvider":{"resolveProvider":true},"diagnosticProvider":{}}}`,
		`[{"uri":"file:///w/a","range":{"start":{"line":-1,"character":1e9},"end":{"line":0,"character":0}}},null]`,
		`{"changes":{"file:///w/a":[{"range":{"start":{"line":0,"character":1},"end":{"line":0,"character":3}},"newText":"x"}]}}`,
		`{"documentChanges":[{"kind":"create","uri":"file:///w/b"},{"textDocument":{"uri":"file:///w/a"},"edits":[{}]}]}`,
		`[{"name":"x","kind":99,"children":[{"name":"y","children":[null]}],"location":{"uri":"file://host/a"}}]`,
		`[{"title":"t","edit":{"changes":null}},{"title":"u","data":[]}]`, `{"items":[{"severity":9,"message":"m","range":{}}]}`, `null`, `7`,
	} {
		f.Add([]byte(s), "a\nb\u00e9\n")
	}
	f.Fuzz(func(t *testing.T, result []byte, text string) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			babble(theirs, result)
		}()
		defer func() { _ = theirs.Close(); <-done }()
		c, err := StartSession(t.Context(), Server{
			Root: "/w", Begin: 500 * time.Millisecond, Answer: 100 * time.Millisecond, settle: time.Millisecond,
			Start: func(context.Context) (io.ReadWriteCloser, error) { return ours, nil },
		})
		if err != nil {
			return
		}
		defer c.closeNow()
		if c.OpenFile(t.Context(), "a", "x", text) != nil {
			return
		}
		everything(t, c, text)
	})
}

func everything(t *testing.T, c *LanguageServerSession, text string) {
	t.Helper()
	ctx := t.Context()
	at := Position{0, c.CharOffset(text, 1)}
	all, _ := c.FindDefinition(ctx, "a", at)
	for _, p := range all {
		if p.Name == "" || strings.HasPrefix(p.Name, "../") || strings.Contains(p.Name, "/../") {
			t.Errorf("named %q", p.Name)
		}
	}
	_, _ = c.DocumentSymbols(ctx, "a")
	_, _ = c.FileDiagnostics(ctx, "a")
	changes, err := c.RenameSymbol(ctx, "a", at, "b")
	actions, _ := c.CodeActions(ctx, "a", Range{at, at})
	for _, a := range actions {
		more, _ := c.ResolveAction(ctx, a)
		changes = append(changes, more...)
	}
	for _, ch := range changes {
		if _, bad := ch.Apply(text); bad == nil && ch.Name == "" && err == nil {
			t.Error("a file without a name is changed")
		}
	}
}

// babble answers each question with the same, and says it by itself as well.
func babble(conn net.Conn, result []byte) {
	defer conn.Close()
	w, in := &limitedMessageStream{}, bufio.NewReader(conn)
	for {
		n, err := readContentLength(in)
		if err != nil {
			return
		}
		data := make([]byte, n)
		if _, err := io.ReadFull(in, data); err != nil {
			return
		}
		var m struct {
			ID     *int   `json:"id"`
			Method string `json:"method"`
		}
		if err := jsonOf(data, &m); err != nil {
			return
		}
		say := object{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": raw(result)}
		if m.ID != nil {
			say = object{"jsonrpc": "2.0", "id": *m.ID, "result": raw(result)}
		}
		if m.Method == "initialize" && !strings.Contains(string(result), "capabilities") {
			say["result"] = object{"capabilities": object{
				"definitionProvider": true, "renameProvider": true, "documentSymbolProvider": true, "codeActionProvider": object{"resolveProvider": true}, "diagnosticProvider": true,
			}}
		}
		if w.WriteObject(conn, say) != nil {
			return
		}
	}
}

// FuzzWire reads what a server writes: no more than it announces, and never
// more than the most.
func FuzzWire(f *testing.F) {
	f.Add("Content-Length: 2\r\n\r\n{}Content-Length: 4\r\n\r\nnull")
	f.Add("hello\n\ncontent-length:3\n\n[1]Content-Length: -1\r\n\r\n")
	f.Add("Content-Length: 99999999999\r\n\r\n")
	f.Fuzz(func(_ *testing.T, text string) {
		w, in := &limitedMessageStream{}, bufio.NewReader(strings.NewReader(text))
		var v any
		for w.ReadObject(in, &v) == nil {
			continue
		}
	})
}

type object = map[string]any

func jsonOf(data []byte, v any) error { return json.Unmarshal(data, v) }

func raw(data []byte) any {
	if json.Valid(data) {
		return json.RawMessage(data)
	}
	return string(data)
}
