package nexus_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// zero returns the zero fact of a kind.
func zero(tb testing.TB, kind string) nexus.Fact {
	tb.Helper()
	f, err := nexus.DecodeFact(kind, []byte("{}"))
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// sample fills v with values that are never zero and always the same.
func sample(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 11, 21, 10, 30, 0, 1, time.UTC)))
		return
	case time.Duration:
		v.SetInt(int64(90 * time.Second))
		return
	case nexus.Money:
		v.SetInt(int64(nexus.Dollar) + 250_000_001)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.ToLower(name) + " <1>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(len(name)))
	case reflect.Uint64:
		v.SetUint(1<<63 + 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		sample(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		sample(v.Index(0), name)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		sample(key, name)
		sample(value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			sample(v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Float64:
		v.SetFloat(float64(len(name)) / 16)
	default:
		panic("no sample of " + v.Type().String())
	}
}

// TestGoldenFacts shows every change of what is in people's journals. A line
// that is there may never change its meaning: add a fact instead.
func TestGoldenFacts(t *testing.T) {
	var b bytes.Buffer
	for _, kind := range nexus.FactKinds() {
		empty := zero(t, kind)
		full := reflect.New(reflect.TypeOf(empty)).Elem()
		sample(full, "")
		for _, f := range []nexus.Fact{empty, full.Interface().(nexus.Fact)} {
			k, data, err := nexus.EncodeFact(f)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s\n", k, data)
		}
	}
	golden := filepath.Join("testdata", "facts.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("facts changed their JSON (-want +got):\n%s", d)
	}
}

// TestGoldenFactsAreRead holds the other direction: what is in a journal is
// understood, with every field.
func TestGoldenFactsAreRead(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("testdata", "facts.golden"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		kind, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		f, err := nexus.DecodeFact(kind, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		_, again, err := nexus.EncodeFact(f)
		if err != nil || string(again) != data {
			t.Errorf("%s: read %s, wrote %s (%v)", kind, data, again, err)
		}
	}
}

// TestKindsAreTheSum finds the facts in the source and compares them with
// what Kinds, Kind and DecodeFact know.
func TestKindsAreTheSum(t *testing.T) {
	declared := map[string]string{} // kind -> type
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "fact" || f.Recv == nil {
				continue
			}
			kind := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit).Value
			kind = strings.Trim(kind, `"`)
			if other, twice := declared[kind]; twice {
				t.Errorf("%s is the kind of two facts: one is %s", kind, other)
			}
			declared[kind] = f.Recv.List[0].Type.(*ast.Ident).Name
		}
	}
	if len(declared) < 40 {
		t.Fatalf("found %d facts in the source", len(declared))
	}
	known := map[string]string{}
	for _, kind := range nexus.FactKinds() {
		f := zero(t, kind)
		if nexus.FactKind(f) != kind {
			t.Errorf("%s is read as a %s", kind, nexus.FactKind(f))
		}
		known[kind] = reflect.TypeOf(f).Name()
	}
	if d := cmp.Diff(declared, known); d != "" {
		t.Errorf("the source declares other facts than Kinds and DecodeFact know (-source +known):\n%s", d)
	}
	if len(known) != len(nexus.FactKinds()) {
		t.Error("Kinds names a kind twice")
	}
	for kind := range known {
		noun, verb, ok := strings.Cut(kind, ".")
		if !ok || noun == "" || verb == "" || strings.ToLower(kind) != kind {
			t.Errorf("%q is not noun.verb", kind)
		}
	}
}

// anything draws any value that a fact may hold.
func anything(t *rapid.T, v reflect.Value, name string) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		at := rapid.Int64Range(0, 1<<62).Draw(t, name)
		v.Set(reflect.ValueOf(time.Unix(0, at).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Float64:
		v.SetFloat(rapid.Float64Range(0, 1).Draw(t, name))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name) {
			v.Set(reflect.New(v.Type().Elem()))
			anything(t, v.Elem(), name)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 2).Draw(t, name)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			anything(t, v.Index(i), name)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(t, name) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			anything(t, key, name)
			anything(t, value, name)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			anything(t, v.Field(i), v.Type().Field(i).Name)
		}
	default:
		t.Fatalf("cannot draw %s", v.Type())
	}
}

func TestFactsSurviveTheirJSON(t *testing.T) {
	for _, kind := range nexus.FactKinds() {
		t.Run(kind, func(t *testing.T) {
			typ := reflect.TypeOf(zero(t, kind))
			rapid.Check(t, func(t *rapid.T) {
				v := reflect.New(typ).Elem()
				anything(t, v, kind)
				want := v.Interface().(nexus.Fact)
				k, data, err := nexus.EncodeFact(want)
				if err != nil || k != kind {
					t.Fatal(k, err)
				}
				got, err := nexus.DecodeFact(k, data)
				if err != nil {
					t.Fatalf("%s: %v", data, err)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("%s (-want +got):\n%s", data, d)
				}
			})
		})
	}
}

func TestDecodeFactRefuses(t *testing.T) {
	_, err := nexus.DecodeFact("task.teleported", []byte("{}"))
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalNewer}) {
		t.Errorf("unknown kind: %v", err)
	}
	for _, data := range []string{"", "[]", `{"task":1}`, `{"task":"T1"`} {
		if f, err := nexus.DecodeFact("task.parked", []byte(data)); err == nil {
			t.Errorf("%q was read as %+v", data, f)
		}
	}
}

func FuzzDecodeFact(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "facts.golden"))
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		kind, data, _ := strings.Cut(strings.TrimSpace(line), " ")
		f.Add(kind, []byte(data))
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		fact, err := nexus.DecodeFact(kind, data)
		if err != nil {
			return
		}
		if !slices.Contains(nexus.FactKinds(), kind) || !json.Valid(data) {
			t.Fatalf("read a fact from %q %q", kind, data)
		}
		// What was read once is written and read the same ever after.
		_, once, err := nexus.EncodeFact(fact)
		if err != nil {
			t.Fatal(err)
		}
		again, err := nexus.DecodeFact(kind, once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		_, twice, err := nexus.EncodeFact(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s (%v)", once, twice, err)
		}
	})
}
