package detect_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

const goMod = "module example.org/m\n\ngo 1.26\n"

// gatesOf returns the gates of a tree with these files.
func gatesOf(t *testing.T, files map[string]string, c config.GateSettings) []gate.QualityGate {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gates, err := detect.DetectGates(dir, c)
	if err != nil {
		t.Fatal(err)
	}
	return gates
}

func TestDetect(t *testing.T) {
	commands := func(gates []gate.QualityGate) []string {
		var all []string
		for _, g := range gates {
			all = append(all, g.Name+": "+g.Command()+" ["+g.Format+"]")
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		c     config.GateSettings
		want  []string
	}{
		{"nothing", nil, config.GateSettings{}, nil},
		{"go", map[string]string{"go.mod": goMod}, config.GateSettings{}, []string{
			"build: go build ./... [go-build]", "lint: go vet ./... [go-vet]", "test: go test -json -count=1 ./... [go-test-json]",
		}},
		{"golangci", map[string]string{"go.mod": goMod, ".golangci.yml": "version: \"2\"\n"}, config.GateSettings{Commands: map[string]string{"build": "", "test": ""}}, []string{
			"lint: go vet ./... [go-vet]",
			"golangci: golangci-lint run --output.json.path=stdout --show-stats=false --max-issues-per-linter=0 --max-same-issues=0 --allow-parallel-runners ./... [golangci]",
		}},
		{"golangci of old", map[string]string{"go.mod": goMod, ".golangci.yml": "linters: {}\n"}, config.GateSettings{Commands: map[string]string{"build": "", "test": "", "lint": "", "golangci": "make lint"}}, []string{
			"golangci: make lint [exit]",
		}},
		{"workspace", map[string]string{"go.work": "go 1.26\n\nuse (\n\t./a // first\n\tb\n\t../out\n)\nuse ./c\n", "a/go.mod": goMod}, config.GateSettings{Commands: map[string]string{"lint": "", "test": ""}}, []string{
			"build: go build ./a/... ./b/... ./c/... [go-build]",
		}},
		{"configured", map[string]string{"go.mod": goMod}, config.GateSettings{
			Commands: map[string]string{"test": "go test -race ./...", "lint": "make lint", "z": "./z.sh", "docs": "make docs | cat", "off": ""}, Order: []string{"docs", "test"},
		}, []string{
			"docs: make docs | cat [exit]", "test: go test -json -count=1 -race ./... [go-test-json]", "build: go build ./... [go-build]",
			"lint: make lint [exit]", "z: ./z.sh [exit]",
		}},
		{"another stack", nil, config.GateSettings{Commands: map[string]string{"build": "cargo build", "test": "cargo test"}}, []string{
			"build: cargo build [exit]", "test: cargo test [exit]",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, commands(gatesOf(t, tt.files, tt.c))); d != "" {
				t.Error(d)
			}
		})
	}
	if _, err := detect.DetectGates(t.TempDir(), config.GateSettings{Order: []string{"biuld"}}); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
		t.Errorf("an order of no gate: %v", err)
	}
}

func TestAccept(t *testing.T) {
	var got []string
	for _, c := range []nexus.Criterion{
		{Text: "one test", Check: "go test -run TestX ./..."},
		{Text: "file", Check: "test -f README.md"},
		{Text: "looks good"},
		{Text: "no such gate", Check: "typecheck"},
		{Text: "compiles only", Check: "go test -c -o /tmp/m ."},
		{Text: "lists only", Check: "go test -list . ./..."},
		{Text: "its own count", Check: "go test -count=3 -json ./..."},
		{Text: "builds", Check: "go build ./..."},
		{Text: "vets", Check: "go vet ./..."},
		{Text: "is formatted", Check: "gofmt -l ."},
		{Text: "needs a shell", Check: "go test ./... | tee log"},
		{Text: "sets a variable", Check: "CGO_ENABLED=0 go test ./..."},
	} {
		if g, ok := detect.CriterionGate(c); ok {
			got = append(got, g.Name+" as "+g.Command()+" "+g.Format)
		} else {
			got = append(got, "open "+c.Text)
		}
	}
	want := []string{
		"accept: go test -run TestX ./... as go test -json -count=1 -run TestX ./... go-test-json", "accept: test -f README.md as test -f README.md exit", "open looks good", "open no such gate",
		"accept: go test -c -o /tmp/m . as go test -c -o /tmp/m . exit", "accept: go test -list . ./... as go test -list . ./... exit",
		"accept: go test -count=3 -json ./... as go test -count=3 -json ./... go-test-json", "accept: go build ./... as go build ./... go-build",
		"accept: go vet ./... as go vet ./... go-vet", "accept: gofmt -l . as gofmt -l . gofmt",
		"accept: go test ./... | tee log as go test ./... | tee log exit", "accept: CGO_ENABLED=0 go test ./... as CGO_ENABLED=0 go test ./... exit",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
