package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestRenames(t *testing.T) {
	for title, want := range map[string]repair.RequestedRename{
		"Rename Foo to Bar":                        {From: "Foo", To: "Bar"},
		"Rename the function `parseAll` to `All`.": {From: "parseAll", To: "All"},
		"rename store.Get into store.Load":         {From: "Get", To: "Load"},
		"Rename util.go to text.go":                {From: "util.go", To: "text.go"},
		"Rename Foo to Bar and add an alias":       {},
		"Rename it":                                {},
		"Add a rename command":                     {},
		"Rename Foo to Foo":                        {},
		"Let people rename a to b":                 {},
	} {
		if got, ok := repair.RenamesOf(nexus.Task{Title: title}); ok != (want != repair.RequestedRename{}) || ok && got != want {
			t.Errorf("%s: %+v, %v", title, got, ok)
		}
	}
}

func TestRenameOnly(t *testing.T) {
	r := repair.RequestedRename{From: "Foo", To: "Handle"}
	const old = "// Foo does.\nfunc Foo(a int) { foos[a]++ }\n\nfunc TestFoo() { x := Foo(1) }\n"
	for now, want := range map[string]bool{
		old: true,
		"// Handle does.\nfunc Handle(a int) { handles[a]++ }\n\nfunc TestHandle() { x := Handle(1) }\n": true,
		"// Handle does.\nfunc Handle(a int) { foos[a]++ }\n\nfunc TestFoo() { x  :=  Handle(1) }\n":     true, // not everywhere, and aligned
		"// Handle does.\nfunc Handle(a int) { handles[a]-- }\n\nfunc TestHandle() { x := Handle(1) }\n": false,
		"// Handle does.\nfunc Handle(a int) { foos[a]++ }\n":                                            false,
		old + "func Handle(a int) { Foo(a) }\n":                                                          false,
		"  // Foo does.\nfunc Foo(a int) { foos[a]++ }\n\nfunc TestFoo() { x := Foo(1) }\n":              false, // indentation may mean something
	} {
		if got := r.IsOnlyChange(old, now); got != want {
			t.Errorf("%q: %v", now, got)
		}
	}
	if r.IsOnlyChange("a := foo - handle", "a := handle - foo") {
		t.Error("two names that changed places count as one that was renamed")
	}
	for old, now := range map[string]string{
		"Foo(1); say(\"Hello\")": "Handle(1); say(\"hello\")", // other letters of another case
		"Foo(1); close()":        "Handle(1); Close()",
		"func close() {}":        "func Close() {}",
	} {
		if r.IsOnlyChange(old, now) {
			t.Errorf("%q became %q by the name alone", old, now)
		}
	}
	longer := repair.RequestedRename{From: "Foo", To: "FooBar"}
	if !longer.IsOnlyChange("x := Foo(1)", "x := FooBar(1)") || longer.IsOnlyChange("Foo() - FooBar()", "FooBar() - FooBar()") {
		t.Error("a name that has the old one in it")
	}
	shorter := repair.RequestedRename{From: "FooBar", To: "Foo"}
	if !shorter.IsOnlyChange("x := FooBar(1)", "x := Foo(1)") || shorter.IsOnlyChange("Foo() - FooBar()", "Foo() - Foo()") {
		t.Error("a name that is a part of the old one")
	}
	low := repair.RequestedRename{From: "foo", To: "Foo"}
	if !low.IsOnlyChange("foo(1)", "Foo(1)") || low.IsOnlyChange("foo(Foo)", "Foo(Foo)") || low.IsOnlyChange("foo(1)", "Foo(2)") {
		t.Error("a change of case")
	}
}
