package codemap_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

func TestCompare(t *testing.T) {
	before := "package a\n\nfunc Same(n int) {}\n\nfunc Other(n int) error {\n}\n\nfunc Gone() {}\n\nfunc hidden() {}\n"
	after := "package a\n\nfunc hidden(n int) {}\n\nfunc Fresh(name string) (int, error) {\n}\n\nfunc Same(n int) {}\n\nfunc Other(n, m int) error {\n}\n\ntype T struct {\n\tName string\n}\n\nfunc (t T) Do() {}\n"
	want := codemap.DeclarationChanges{
		Made: []codemap.FileDeclaration{
			{Line: 5, Name: "Fresh", Text: "func Fresh(name string) (int, error)"}, {Line: 13, Name: "T", Text: "type T struct"}, {Line: 17, Name: "Do", Text: "func (t T) Do() {}"},
		},
		Changed: []codemap.FileDeclaration{{Line: 10, Name: "Other", Text: "func Other(n, m int) error", Was: "func Other(n int) error"}},
		Gone:    []codemap.FileDeclaration{{Line: 8, Name: "Gone", Text: "func Gone() {}"}},
	}
	if d := cmp.Diff(want, codemap.CompareDeclarations("a.go", before, after)); d != "" {
		t.Error(d)
	}
	for _, file := range []string{"a_test.go", "a.txt", "testdata/a.go"} {
		if d := cmp.Diff(codemap.DeclarationChanges{}, codemap.CompareDeclarations(file, before, after)); d != "" {
			t.Errorf("%s: %s", file, d)
		}
	}
	if d := cmp.Diff(codemap.DeclarationChanges{}, codemap.CompareDeclarations("a.go", after, after)); d != "" {
		t.Error(d)
	}
	if got := codemap.CompareDeclarations("a.py", "", "def start(name: str) -> Engine:\n    pass\n\ndef _own():\n    pass\n"); len(got.Made) != 1 || got.Made[0].Text != "def start(name: str) -> Engine" {
		t.Errorf("got %+v", got)
	}
}
