package plugin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestKinds holds answers to their bounds.
func TestKinds(t *testing.T) {
	long := strings.Repeat("x", maxProse+1)
	for text, into := range map[string]Output{
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
		`{"x":1}`:               &ReporterOutput{},
		`{"findings":[{"id":"a b","title":"t","reason":"r","check":"c"}]}`:                                               &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r"}]}`:                                                             &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"","reason":"r","check":"c"}]}`:                                                  &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c","minutes":-1}]}`:                                    &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c","files":["/etc/passwd"]}]}`:                         &DiscoveryOutput{},
		`{"findings":[{"id":"a","title":"t","reason":"r","check":"c"},{"id":"a","title":"t","reason":"r","check":"c"}]}`: &DiscoveryOutput{},
		`{} {}`: &RouterOutput{},
	} {
		if err := Decode([]byte(text), into); err == nil {
			t.Errorf("%.100s: no error", text)
		}
	}
	for text, into := range map[string]Output{
		`{}`: &RouterOutput{},
		`{"complexity":"expert","tier":"strong","strategy":"three-session-tdd","why":"w"}`:                                   &RouterOutput{},
		`{"summary":"s","findings":[{"file":"a.go","line":2,"severity":"critical","message":"m","advice":"a","quote":"q"}]}`: &ReviewerOutput{},
		`{"title":"t","text":"a\nb"}`: &ContextOutput{},
		`{"findings":[{"id":"a.b-1","title":"t","reason":"r","check":"sh a.sh","minutes":10,"files":["a.sh","b/c.sh"]}]}`: &DiscoveryOutput{},
	} {
		if err := Decode([]byte(text), into); err != nil {
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
			m, err := parse(line)
			if err != nil {
				continue
			}
			if h, err := m.hello(Plugin{Name: "x", Plugin: config.Plugin{Kinds: []string{"router"}}}); err == nil {
				if h.Protocol != Protocol || h.Name == "" || len(h.Name) > maxName {
					t.Errorf("%+v", h)
				}
				continue
			}
			if m.Type == typeHello {
				continue
			}
			output, refused, err := m.answer(*m.ID)
			if err != nil || (refused == "") == (output == nil) {
				t.Errorf("%s: %s %q %v", line, output, refused, err)
			}
			for _, into := range []Output{&RouterOutput{}, &ReviewerOutput{}, &ContextOutput{}, &ReporterOutput{}, &DiscoveryOutput{}} {
				if Decode(output, into) != nil {
					continue
				}
				again, err := json.Marshal(into)
				if err != nil || into.check() != nil {
					t.Errorf("%s: %s %v", output, again, err)
				}
			}
			if o := (RouterOutput{}); Decode(output, &o) == nil && o.Strategy == nexus.NoTest {
				t.Error("a router does without tests")
			}
		}
	})
}
