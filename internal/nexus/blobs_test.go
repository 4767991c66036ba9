package nexus_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestBlobsOfFacts fills every fact, however deep, and requires that it names
// the fields that hold a blob, and no other.
func TestBlobsOfFacts(t *testing.T) {
	fields := blobFields(t)
	if len(fields) < 13 {
		t.Fatalf("only %d fields hold a blob: %v", len(fields), fields)
	}
	naming := 0
	for _, kind := range nexus.FactKinds() {
		var want []string
		v := reflect.New(reflect.TypeOf(zero(t, kind))).Elem()
		if got := nexus.Blobs(v.Interface().(nexus.Fact)); len(got) > 0 {
			t.Errorf("%s: one that names no blob names %q", kind, got)
		}
		fillBlobs(v, fields, &want)
		got := nexus.Blobs(v.Interface().(nexus.Fact))
		slices.Sort(want)
		if d := cmp.Diff(want, slices.Sorted(slices.Values(got))); d != "" {
			t.Errorf("%s names other blobs than its fields hold (-want +got):\n%s", kind, d)
		}
		naming += min(1, len(want))
	}
	if naming < 13 {
		t.Errorf("only %d facts name blobs", naming)
	}
}

// blobFields reads from the source which fields hold the hash of a blob: those
// whose comment begins with that word.
func blobFields(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	nested, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	says := regexp.MustCompile(`^blobs?\b`)
	all := map[string]bool{}
	for _, name := range append(files, nested...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			typ, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := typ.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range s.Fields.List {
				for _, id := range f.Names {
					if says.MatchString(f.Comment.Text()) {
						all[typ.Name.Name+"."+id.Name] = true
					}
				}
			}
			return true
		})
	}
	return all
}

// fillBlobs gives each field that holds a blob a hash of its own, with two
// elements in each slice, and leaves the others zero.
func fillBlobs(v reflect.Value, fields map[string]bool, named *[]string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillBlobs(v.Elem(), fields, named)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fillBlobs(v.Index(i), fields, named)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			at := v.Field(i)
			blob := fields[v.Type().Name()+"."+v.Type().Field(i).Name]
			switch {
			case blob && at.Kind() == reflect.String:
				*named = append(*named, fmt.Sprintf("hash%d", len(*named)))
				at.SetString((*named)[len(*named)-1])
			case blob:
				*named = append(*named, fmt.Sprintf("hash%d", len(*named)), fmt.Sprintf("hash%d", len(*named)+1))
				at.Set(reflect.ValueOf(slices.Clone((*named)[len(*named)-2:])))
			default:
				fillBlobs(at, fields, named)
			}
		}
	default:
	}
}
