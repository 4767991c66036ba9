package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneDoor holds that whatever the server answers is a route of its table: nothing else registers a handler, makes a
// mux or serves one. A handler beside the table would meet none of the rules that [TestEveryRoute] holds.
func TestOneDoor(t *testing.T) {
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if c, ok := n.(*ast.CallExpr); ok {
					if x, ok := c.Fun.(*ast.Ident); ok && x.Name == "newHTTPServer" {
						found[x.Name] += f.Name.Name + " "
					}
				}
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				switch s.Sel.Name {
				case "Handle", "HandleFunc", "NewServeMux", "DefaultServeMux", "ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS", "Server":
					if x, ok := s.X.(*ast.Ident); ok {
						found[x.Name+"."+s.Sel.Name] += f.Name.Name + " "
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, where := range map[string]string{"http.NewServeMux": "newHandler ", "mux.Handle": "newHandler ", "http.Server": "newHTTPServer newHTTPServer ", "newHTTPServer": "serveUntilDone ", "server.Serve": "serveUntilDone ", "server.ServeTLS": "serveUntilDone "} {
		if found[what] != where {
			t.Errorf("%s is in %q, want only %q", what, found[what], where)
		}
		delete(found, what)
	}
	for what, where := range found {
		t.Errorf("%s in %s: what it answers is not a route of the table", what, where)
	}
}
