// Command rename renames identifiers of the program by a table, all at once and by their types: go run ./rename names.txt,
// in tools. A line of the table has a package below internal, the name of a type, function, variable or constant, or
// Type.member for a method or field, and its new name. What implements an interface is not in the table.
//
// Links in comments and the first word of a doc comment follow. Other text does not: testdata, templates, planted bugs in
// run/sim/mutations, and documents that name code. It writes the files, and prints how often it met each name.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const internal = "github.com/nexus-ai-builder/nexus/internal/"

// rule is a line of the table.
type rule struct {
	pkg, owner, old, to string
	link                *regexp.Regexp // in comments anywhere
	docs                *regexp.Regexp // in comments of its package: a link, or the first word
}

// edit replaces bytes of a file.
type edit struct {
	length int
	to     string
}

type renamer struct {
	rules  map[string][]*rule // by the old name
	owners map[string]string  // struct types, by the place of a field
	edits  map[string]map[int]edit
	met    map[*rule]int
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rename TABLE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

func run(table string) error {
	r := &renamer{rules: map[string][]*rule{}, owners: map[string]string{}, edits: map[string]map[int]edit{}, met: map[*rule]int{}}
	all, err := r.read(table)
	if err != nil {
		return err
	}
	loaded, err := packages.Load(&packages.Config{
		Dir: "..", Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps,
	}, "./...")
	if err != nil {
		return err
	}
	if packages.PrintErrors(loaded) > 0 {
		return fmt.Errorf("the program does not build")
	}
	packages.Visit(loaded, nil, r.own)
	for _, p := range loaded {
		r.rename(p)
	}
	for name, edits := range r.edits {
		if err := apply(name, edits); err != nil {
			return err
		}
	}
	for _, one := range all {
		fmt.Println(r.met[one], one.pkg, one.old, one.to)
	}
	return nil
}

func (r *renamer) read(table string) (all []*rule, err error) {
	data, err := os.ReadFile(table)
	if err != nil {
		return nil, err
	}
	for s := bufio.NewScanner(strings.NewReader(string(data))); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) == 0 {
			continue
		}
		if len(words) != 3 {
			return nil, fmt.Errorf("%s: %q is no package, old and new name", table, s.Text())
		}
		one := &rule{pkg: words[0], old: words[1], to: words[2]}
		if owner, member, ok := strings.Cut(words[1], "."); ok {
			one.owner, one.old = owner, member
		}
		name := regexp.QuoteMeta(one.old)
		one.link = regexp.MustCompile(`\[` + filepath.Base(one.pkg) + `\.(?:\w+\.)?(` + name + `)[\].]`)
		one.docs = regexp.MustCompile(`(?:\[(?:\w+\.)?|^// )(` + name + `)[\]. ]`)
		r.rules[one.old] = append(r.rules[one.old], one)
		all = append(all, one)
	}
	return all, nil
}

// own notes which struct types have which fields.
func (r *renamer) own(p *packages.Package) {
	if p.Types == nil || !strings.HasPrefix(p.PkgPath, internal) {
		return
	}
	for _, name := range p.Types.Scope().Names() {
		t, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if s, ok := t.Type().Underlying().(*types.Struct); ok {
			for field := range s.Fields() {
				if at := p.Fset.Position(field.Pos()).String(); r.owners[at] == "" {
					r.owners[at] = name
				}
			}
		}
	}
}

func short(pkg string) string {
	pkg, _, _ = strings.Cut(pkg, " ") // a package of tests names what it tests
	return strings.TrimPrefix(strings.TrimSuffix(pkg, "_test"), internal)
}

func (r *renamer) rename(p *packages.Package) {
	for _, idents := range []map[*ast.Ident]types.Object{p.TypesInfo.Defs, p.TypesInfo.Uses} {
		for ident, o := range idents {
			if one := r.match(p, o); one != nil && ident.Name == one.old {
				at := p.Fset.Position(ident.Pos())
				r.add(at.Filename, at.Offset, edit{len(ident.Name), one.to})
				r.met[one]++
			}
		}
	}
	for _, file := range p.Syntax {
		for _, group := range file.Comments {
			for _, c := range group.List {
				r.comment(p, c)
			}
		}
	}
}

// match returns the rule that an object has.
func (r *renamer) match(p *packages.Package, o types.Object) *rule {
	if v, ok := o.(*types.Var); ok && v.Embedded() {
		named, ok := types.Unalias(pointee(v.Type())).(*types.Named)
		if !ok {
			return nil
		}
		o = named.Obj()
	}
	if o == nil || o.Pkg() == nil || len(r.rules[o.Name()]) == 0 {
		return nil
	}
	owner := r.owner(p, o)
	for _, one := range r.rules[o.Name()] {
		own := owner == one.owner || one.owner != "" && r.newName(one.pkg, owner) == one.owner
		if short(o.Pkg().Path()) == one.pkg && own && (owner != "" || o.Parent() == o.Pkg().Scope()) {
			return one
		}
	}
	return nil
}

// newName returns what a type is to be called, empty for one that keeps its name. Members may be listed with either.
func (r *renamer) newName(pkg, name string) string {
	for _, one := range r.rules[name] {
		if one.pkg == pkg && one.owner == "" {
			return one.to
		}
	}
	return ""
}

// owner returns the type that a method or field is of, empty for anything else.
func (r *renamer) owner(p *packages.Package, o types.Object) string {
	switch o := o.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			if named, ok := types.Unalias(pointee(recv.Type())).(*types.Named); ok {
				return named.Obj().Name()
			}
		}
	case *types.Var:
		if o.IsField() {
			return r.owners[p.Fset.Position(o.Pos()).String()]
		}
	}
	return ""
}

func pointee(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

func (r *renamer) comment(p *packages.Package, c *ast.Comment) {
	at := p.Fset.Position(c.Pos())
	for old, rules := range r.rules {
		if !strings.Contains(c.Text, old) {
			continue
		}
		for _, one := range rules {
			pattern := one.link
			if short(p.PkgPath) == one.pkg {
				pattern = one.docs
			}
			for _, m := range pattern.FindAllStringSubmatchIndex(c.Text, -1) {
				r.add(at.Filename, at.Offset+m[2], edit{m[3] - m[2], one.to})
			}
		}
	}
}

func (r *renamer) add(file string, offset int, e edit) {
	if r.edits[file] == nil {
		r.edits[file] = map[int]edit{}
	}
	r.edits[file][offset] = e
}

func apply(name string, edits map[int]edit) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	offsets := make([]int, 0, len(edits))
	for at := range edits {
		offsets = append(offsets, at)
	}
	slices.Sort(offsets)
	for _, at := range slices.Backward(offsets) {
		e := edits[at]
		data = slices.Concat(data[:at], []byte(e.to), data[at+e.length:])
	}
	return os.WriteFile(name, data, 0o600)
}
