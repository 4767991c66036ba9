package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestKinds holds answers to their bounds.
func TestKinds(t *testing.T) {
	long := strings.Repeat("x", maxProse+1)
	for text, into := range map[string]PluginOutput{
		`{"findings":[{"severity":"bad","message":"x"}]}`:                                                                     &ReviewerOutput{},
		`{"findings":[{"severity":"major","message":" "}]}`:                                                                   &ReviewerOutput{},
		`{"findings":[{"severity":"major","message":"x","line":3}]}`:                                                          &ReviewerOutput{},
		`{"findings":[{"severity":"major","message":"x","line":-3,"file":"a"}]}`:                                              &ReviewerOutput{},
		`{"findings":[{"severity":"major","message":"x","file":"../a"}]}`:                                                     &ReviewerOutput{},
		`{"findings":[{"severity":"major","message":"` + long + `"}]}`:                                                        &ReviewerOutput{},
		`{"summary":"` + long + `"}`:                                                                                          &ReviewerOutput{},
		`{"approved":true}`:                                                                                                   &ReviewerOutput{},
		`{"findings":[` + strings.Repeat(`{"severity":"minor","message":"x"},`, 100) + `{"severity":"minor","message":"x"}]}`: &ReviewerOutput{},
		`{"tier":"fast"}`:       &RouterOutput{},
		`{"complexity":"hard"}`: &RouterOutput{},
		`{"why":"a\nb"}`:        &RouterOutput{},
		`{"title":"a\u202eb"}`:  &ContextOutput{},
		`{"x":1}`:               &EmptyReporterOutput{},
		`{"findings":[{"id":"a b","title":"t","reason":"r","check":"c"}]}`:                                               &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r"}]}`:                                                             &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"","reason":"r","check":"c"}]}`:                                                  &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c","minutes":-1}]}`:                                    &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c","files":["/etc/passwd"]}]}`:                         &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c"},{"id":"a","title":"t","reason":"r","check":"c"}]}`: &DiscoveryOutput{},
		`{} {}`: &RouterOutput{},
	} {
		err := DecodeAnswer([]byte(text), into)
		if found, ok := into.(*DiscoveryOutput); err == nil && (!ok || len(found.Bad) != 1) {
			t.Errorf("%.100s: no error", text)
		}
	}
	for text, into := range map[string]PluginOutput{
		`{}`: &RouterOutput{},
		`{"complexity":"expert","tier":"strong","strategy":"three-session-tdd","why":"w"}`:                                   &RouterOutput{},
		`{"summary":"s","findings":[{"file":"a.go","line":2,"severity":"critical","message":"m","advice":"a","quote":"q"}]}`: &ReviewerOutput{},
		`{"title":"t","text":"a\nb"}`: &ContextOutput{},
		`{"findings":[{"id":"a.b-1","title":"t","reason":"r","check":"sh a.sh","minutes":10,"files":["a.sh","b/c.sh"]}]}`: &DiscoveryOutput{},
	} {
		err := DecodeAnswer([]byte(text), into)
		if found, ok := into.(*DiscoveryOutput); err != nil || ok && len(found.Bad) > 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzPlugin reads whatever a plugin may write, as its greeting and as an
// answer of each kind.
func FuzzPlugin(f *testing.F) {
	f.Add([]byte(`{"type":"hello","protocol":1,"name":"x","version":"1","kinds":["router"],"capabilities":{"events":["run.end"],"roles":["coder"]}}` + "\n"))
	f.Add([]byte(`{"type":"answer","id":1,"output":{"complexity":"simple"}}` + "\n"))
	f.Add([]byte(`{"type":"answer","id":1,"output":{"findings":[{"file":"a","line":1,"severity":"major","message":"m"}]}}`))
	f.Add([]byte(`{"type":"error","id":1,"message":"no"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			line, err := readLine(r)
			if err != nil {
				if errors.Is(err, io.EOF) && len(bytes.TrimSpace(data)) > 0 && bytes.IndexByte(data, '\n') < 0 {
					t.Errorf("%q is lost", data)
				}
				return
			}
			m, err := parseMessage(line)
			if err != nil {
				continue
			}
			if h, err := m.toHello(DeclaredPlugin{Name: "x", PluginSettings: config.PluginSettings{Kinds: []string{"router"}}}); err == nil {
				if h.Protocol != ProtocolVersion || h.Name == "" || len(h.Name) > maxName {
					t.Errorf("%+v", h)
				}
				continue
			}
			if m.Type == typeHello {
				continue
			}
			output, refused, err := m.toAnswer(*m.ID)
			if err != nil || (refused == "") == (output == nil) {
				t.Errorf("%s: %s %q %v", line, output, refused, err)
			}
			for _, into := range []PluginOutput{&RouterOutput{}, &ReviewerOutput{}, &ContextOutput{}, &EmptyReporterOutput{}, &DiscoveryOutput{}} {
				if DecodeAnswer(output, into) != nil {
					continue
				}
				again, err := json.Marshal(into)
				if err != nil || into.check() != nil {
					t.Errorf("%s: %s %v", output, again, err)
				}
			}
			if o := (RouterOutput{}); DecodeAnswer(output, &o) == nil && o.Strategy == nexus.NoTest {
				t.Error("a router does without tests")
			}
		}
	})
}

// TestOneBadFinding is left out by itself.
func TestOneBadFinding(t *testing.T) {
	out := &DiscoveryOutput{}
	const good = `"title":"A","reason":"B","check":"false"`
	data := `{"findings":[{"id":"a",` + good + `},{"id":"_b",` + good + `},{"id":"a",` + good + `},{"id":"c","title":"C","reason":"a\u200bb","check":"false"},{"id":"d",` + good + `}]}`
	if err := DecodeAnswer([]byte(data), out); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range out.Findings {
		ids = append(ids, f.ID)
	}
	if !slices.Equal(ids, []string{"a", "d"}) || len(out.Bad) != 3 {
		t.Error(ids, out.Bad)
	}
	for i, want := range []string{`finding 2: its ID "_b" is not`, `finding 3: the ID "a" is used twice`, "finding 4: its reason is not one line"} {
		if !strings.HasPrefix(out.Bad[i], want) {
			t.Errorf("%q, want %q", out.Bad[i], want)
		}
	}
}
