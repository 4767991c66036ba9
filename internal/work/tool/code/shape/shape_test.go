package shape

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `package p

import "fmt"

// F does.
func F(a, b int, xs ...string) (int, error) {
	if err := G(a); err != nil {
		return 0, err // as it is
	}
	x := f(a+b) * 2
	fmt.Println("f(1)", f(f(1)))
	fmt.Println(xs)
	call(xs...)
	y := a
	y = y
	if x > 1 {
		log()
		return 1, nil
	}
	return 0, nil
}
`

func TestFind(t *testing.T) {
	for pattern, want := range map[string][]string{
		"f($X)":                         {"f(a+b)", "f(f(1))", "f(1)"},
		"f(f($X))":                      {"f(f(1))"},
		"fmt.Println($$$A)":             {`fmt.Println("f(1)", f(f(1)))`, "fmt.Println(xs)"},
		"fmt.Println($A)":               {"fmt.Println(xs)"},
		"fmt.$NAME(xs)":                 {"fmt.Println(xs)"},
		`"f($X)"`:                       nil,
		`"f(1)"`:                        {`"f(1)"`},
		"$X = $X":                       {"y = y"},
		"$X := $Y":                      {"x := f(a+b) * 2", "y := a"},
		"call($A)":                      nil,
		"call($A...)":                   {"call(xs...)"},
		"if $C { $$$B; return 1, nil }": {"if x > 1 {\n\t\tlog()\n\t\treturn 1, nil\n\t}"},
		"if $I; err != nil { $$$B }":    {"if err := G(a); err != nil {\n\t\treturn 0, err // as it is\n\t}"},
		"return $$$R":                   {"return 0, err", "return 1, nil", "return 0, nil"},
		"y := $A\ny = $B":               {"y := a\n\ty = y"},
		"func F($$$P) ($$$R) { $$$ }":   {sample[strings.Index(sample, "func F") : len(sample)-1]},
		"g($X)":                         nil,
	} {
		p, err := Parse(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
			continue
		}
		found, err := p.Find(sample)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range found {
			got = append(got, sample[m.From:m.To])
			if line := strings.Count(sample[:m.From], "\n") + 1; line != m.Line {
				t.Errorf("%s: line %d, not %d", pattern, m.Line, line)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", pattern, d)
		}
	}
	for _, bad := range []string{"", "$X", "$$$X", "f(", "}{", "$A\n$B", strings.Repeat("x", maxPattern+1)} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%.20q was taken for a pattern", bad)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		pattern, to, old, want string
		n                      int
	}{
		{"f($X)", "g($X, 1)", "x := f(f(2))", "x := g(f(2), 1)", 1},
		{"f($X)", "$X * 2", "x := f(a+b) + f(c)", "x := ((a + b) * 2) + (c * 2)", 2},
		{"f($X)", "$X", "x := f(a + b)", "x := a + b", 1},
		{"m($X)", "$X.M()", "m(*p)\nm(p.q)", "(*p).M()\np.q.M()", 2},
		{"if err != nil { return err }", "check(err)", "if err != nil {\n\treturn err\n}", "check(err)", 1},
		{"f($$$A)", "g(ctx, $$$A)", "f(1, // one\n\t2)", "g(ctx, 1, // one\n\t2)", 1},
	} {
		wrap := func(s string) string {
			return "package p\n\nfunc _() {\n\t" + strings.ReplaceAll(s, "\n", "\n\t") + "\n}\n"
		}
		p, err := Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got, n, err := p.Replace(wrap(c.old), c.to)
		if err != nil || n != c.n || got != wrap(c.want) {
			t.Errorf("%s to %s in %s: %d, %v\n%s", c.pattern, c.to, c.old, n, err, got)
		}
	}
	p, err := Parse("f($X)")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"g($Y)", "g(", "return"} {
		if _, _, err := p.Replace("package p\n\nvar x = f(1)\n", to); err == nil {
			t.Errorf("%q took a place", to)
		}
	}
	odd := "package p\nvar   x = f( 1 )\n"
	if got, _, err := p.Replace(odd, "g($X)"); err != nil || got != "package p\nvar   x = g(1)\n" {
		t.Errorf("what was not formatted became %q, %v", got, err)
	}
}

// FuzzReplace looks for one text in another: what comes out is Go, and nothing
// falls over.
func FuzzReplace(f *testing.F) {
	for _, p := range []string{"f($X)", "$X := $Y", "if $C { $$$B }", "func $F($$$P) { $$$ }", "$A + $A", "type $T struct { $$$F }", "$X.($T)", "[]$T{$$$E}"} {
		f.Add(p, "g($X)", sample)
	}
	f.Fuzz(func(t *testing.T, pattern, to, src string) {
		p, err := Parse(pattern)
		if err != nil {
			return
		}
		found, err := p.Find(src)
		if err != nil {
			return
		}
		for _, m := range found {
			if m.From < 0 || m.From >= m.To || m.To > len(src) {
				t.Fatalf("%+v of %d bytes", m, len(src))
			}
		}
		after, n, err := p.Replace(src, to)
		if err == nil && n == 0 && after != src {
			t.Error("it changed without a match")
		}
		if _, bad := parse(after); err == nil && bad != nil {
			t.Errorf("what came out is no Go: %v", bad)
		}
	})
}
