package tamper_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
)

// conflict is one of testdata/merge: what two sides made of a base, and what
// several results of their merge lack. A tree that does not have a file has it
// as the base does, or, for a result, as the one side that changed it.
type conflict struct {
	trees map[string]map[string]*string // by tree and file; a nil file is gone
	wants map[string][]string           // names of what a result lacks
}

func conflictOf(t *testing.T, file string) conflict {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(data)
	c := conflict{map[string]map[string]*string{}, map[string][]string{}}
	for _, f := range a.Files {
		tree, name, _ := strings.Cut(f.Name, "/")
		if c.trees[tree] == nil {
			c.trees[tree] = map[string]*string{}
		}
		text := string(f.Data)
		if c.trees[tree][name] = &text; text == "(gone)\n" {
			c.trees[tree][name] = nil
		}
	}
	_, heads, _ := strings.Cut(string(a.Comment), "\n")
	for line := range strings.Lines(heads) {
		name, wants, _ := strings.Cut(strings.TrimSpace(line), ":")
		c.wants[name] = strings.FieldsFunc(wants, func(r rune) bool { return r == ';' })
		for i, w := range c.wants[name] {
			c.wants[name][i] = strings.TrimSpace(w)
		}
	}
	return c
}

func (c conflict) at(tree, file string) *string {
	if text, ok := c.trees[tree][file]; ok {
		return text
	}
	base := c.trees["base"][file]
	if tree == "base" || tree == "landed" || tree == "change" {
		return base
	}
	if _, ok := c.trees["landed"][file]; ok {
		return c.trees["landed"][file]
	}
	return cmp2(c.trees["change"], file, base)
}

func cmp2(tree map[string]*string, file string, base *string) *string {
	if text, ok := tree[file]; ok {
		return text
	}
	return base
}

func (c conflict) sides(result string) []tamper.MergedFileVersions {
	names := map[string]bool{}
	for _, tree := range []string{"base", "landed", "change", result} {
		for name := range c.trees[tree] {
			names[name] = true
		}
	}
	var all []tamper.MergedFileVersions
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, tamper.MergedFileVersions{
			Path: name, Base: c.at("base", name), Landed: c.at("landed", name), Change: c.at("change", name), Result: c.at(result, name),
		})
	}
	return all
}

// TestLost plays conflicts as they occur, each merged well and badly.
func TestLost(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		c := conflictOf(t, file)
		for result, want := range c.wants {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+result, func(t *testing.T) {
				got := []string{}
				for _, l := range tamper.CheckMerge(c.sides(result)) {
					got = append(got, l.Name)
					t.Logf("%s: %s", l.Name, l.Message)
				}
				slices.Sort(want)
				slices.Sort(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		}
	}
}

// TestLostSays holds what is said of what is missing, and where it stood.
func TestLostSays(t *testing.T) {
	many := func(from, to int) *string {
		var b strings.Builder
		b.WriteString("one = 1\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "line%d = other%d\n", i, i)
		}
		text := b.String()
		return &text
	}
	base, added := many(0, 0), many(0, 10)
	both := "one = 1\nline0 = other0\nx = y\nz = 3\n"
	left := "one = 1\nx = y\n"
	none := ""
	for name, c := range map[string]struct {
		f    tamper.MergedFileVersions
		want []string
	}{
		"of what landed":       {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: many(0, 1), Change: base, Result: base}, []string{"2: 1 line is missing, which the landed work added:\nline0 = other0"}},
		"of the change, many":  {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: added, Result: base}, []string{"2: 10 lines are missing, which the change added:\nline0 = other0\nline1 = other1\nline2 = other2\nline3 = other3\nline4 = other4\nline5 = other5\nline6 = other6\nline7 = other7\nand 2 more"}},
		"of the change, eight": {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: many(0, 8), Result: base}, []string{"2: 8 lines are missing, which the change added:\nline0 = other0\nline1 = other1\nline2 = other2\nline3 = other3\nline4 = other4\nline5 = other5\nline6 = other6\nline7 = other7"}},
		"of nobody":            {tamper.MergedFileVersions{Path: "a.ini", Base: &both, Landed: &both, Change: &both, Result: &left}, []string{"2: 2 lines are missing, which neither side removed:\nline0 = other0\nz = 3"}},
		"of each":              {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: many(0, 1), Change: many(1, 2), Result: base}, []string{"2: 1 line is missing, which the landed work added:\nline0 = other0", "2: 1 line is missing, which the change added:\nline1 = other1"}},
		"it took a number":     {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: ptr("one = 1\nx = y\n"), Result: ptr("one = 1\nx = y + 0\n")}, nil},
		"it took a word":       {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: ptr("one = 1\nx = y\n"), Result: ptr("one = 1\nx = y + z\n")}, []string{"2: 1 line is missing, which the change added:\nx = y"}},
		"weakened by the change": {tamper.MergedFileVersions{
			Path: "a.test.js", Base: ptr("test('a', () => {\n  expect(add()).toEqual(0)\n})\n"), Landed: ptr("// ours\ntest('a', () => {\n  expect(add()).toEqual(0)\n})\n"),
			Change: ptr("test('a', () => {\n  expect(add()).toBeDefined()\n})\n"), Result: ptr("// ours\ntest('a', () => {\n  expect(add()).toBeDefined()\n})\n"),
		}, nil},
		"weakened by the merge": {tamper.MergedFileVersions{
			Path: "a.test.js", Base: ptr("test('a', () => {\n  expect(add()).toEqual(0)\n})\n"), Landed: ptr("// ours\ntest('a', () => {\n  expect(add()).toEqual(0)\n})\n"),
			Change: ptr("// theirs\ntest('a', () => {\n  expect(add()).toEqual(0)\n})\n"), Result: ptr("// ours\n// theirs\ntest('a', () => {\n  expect(add()).toBeDefined()\n})\n"),
		}, []string{
			"3: 1 line is missing, which neither side removed:\nexpect(add()).toEqual(0)",
			"4: the assertion is weaker: expect(add()).toBeDefined() instead of expect(add()).toEqual(0)",
		}},
		"short lines": {tamper.MergedFileVersions{Path: "a.txt", Base: base, Landed: base, Change: ptr("one = 1\n0\n9\na\nz\nA\nZ\n_\n\u0080\n"), Result: base}, []string{"2: 8 lines are missing, which the change added:\n0\n9\na\nz\nA\nZ\n_\n\u0080"}},
		"the file":    {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: base}, []string{"0: the file is missing"}},
		"all of it":   {tamper.MergedFileVersions{Path: "a.ini", Base: base, Landed: base, Change: base, Result: &none}, []string{"1: 1 line is missing, which neither side removed:\none = 1"}},
		"a test":      {tamper.MergedFileVersions{Path: "a_test.go", Base: &none, Landed: &none, Change: ptr("func TestB(t *testing.T) {}\nfunc TestA(t *testing.T) {}\n"), Result: ptr("func TestB(t *testing.T) {}\n// func TestA(t *testing.T) {}\n")}, []string{"2: 1 line is missing, which the change added:\nfunc TestA(t *testing.T) {}", "0: the test TestA is missing, which the change has"}},
	} {
		var got []string
		for _, l := range tamper.CheckMerge([]tamper.MergedFileVersions{c.f}) {
			got = append(got, fmt.Sprintf("%d: %s", l.Line, l.Message))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func ptr(text string) *string { return &text }

// TestLostWhole holds that a result that is one of the sides lacks what the
// other added, in every conflict, and that neither side lacks anything of a
// merge with an unchanged one.
func TestLostWhole(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		c := conflictOf(t, file)
		for _, side := range []string{"landed", "change"} {
			other := map[string]string{"landed": "change", "change": "landed"}[side]
			var same, alone []tamper.MergedFileVersions
			adds := false
			for _, f := range c.sides("base") {
				mine, theirs := c.at(side, f.Path), c.at(other, f.Path)
				f.Result = mine
				same = append(same, f)
				adds = adds || theirs != nil && (f.Base == nil || *theirs != *f.Base)
				alone = append(alone, tamper.MergedFileVersions{Path: f.Path, Base: f.Base, Landed: mine, Change: f.Base, Result: mine})
			}
			if got := tamper.CheckMerge(same); len(got) == 0 && adds && filepath.Base(file) != "deleted-and-changed.txtar" {
				t.Errorf("%s: the result is the %s side alone, and nothing is missing", file, side)
			}
			if got := tamper.CheckMerge(alone); len(got) > 0 {
				t.Errorf("%s: the %s side alone lacks %v", file, side, got)
			}
		}
	}
}

func TestLostBinary(t *testing.T) {
	text := func(s string) *string { return &s }
	base, one, two := text("\x00a"), text("\x00b"), text("\x00c")
	for name, c := range map[string]struct {
		f    tamper.MergedFileVersions
		want []string
	}{
		"one side changed it":        {tamper.MergedFileVersions{Base: base, Landed: one, Change: base, Result: one}, nil},
		"and it is put back":         {tamper.MergedFileVersions{Base: base, Landed: one, Change: base, Result: base}, []string{"a.png: the version of the landed work"}},
		"both did, and one holds":    {tamper.MergedFileVersions{Base: base, Landed: one, Change: two, Result: two}, []string{"a.png: the version of the landed work"}},
		"both did, and it is gone":   {tamper.MergedFileVersions{Base: base, Landed: one, Change: two}, []string{"a.png: the version of the landed work", "a.png: the version of the change"}},
		"one deleted it":             {tamper.MergedFileVersions{Base: base, Change: base}, nil},
		"one added it, and it is in": {tamper.MergedFileVersions{Change: two, Result: two}, nil},
		"nobody did, and it is gone": {tamper.MergedFileVersions{Base: base, Landed: base, Change: base}, []string{"a.png: the version of both sides"}},
		"the result alone did":       {tamper.MergedFileVersions{Base: base, Landed: base, Change: base, Result: two}, []string{"a.png: the version of both sides"}},
	} {
		c.f.Path = "a.png"
		var got []string
		for _, l := range tamper.CheckMerge([]tamper.MergedFileVersions{c.f}) {
			got = append(got, l.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// TestLostMode holds that a merge keeps who may execute a file.
func TestLostMode(t *testing.T) {
	const no, yes, link = "100644", "100755", "120000"
	for name, c := range map[string]struct {
		modes tamper.MergedFileModes
		want  int
	}{
		"one side allowed it, and it is so": {tamper.MergedFileModes{Base: no, Landed: yes, Change: no, Result: yes}, 0},
		"and it was dropped":                {tamper.MergedFileModes{Base: no, Landed: yes, Change: no, Result: no}, 1},
		"so with the change":                {tamper.MergedFileModes{Base: no, Landed: no, Change: yes, Result: no}, 1},
		"one took it, and it came back":     {tamper.MergedFileModes{Base: yes, Landed: no, Change: yes, Result: yes}, 1},
		"nobody did but the result":         {tamper.MergedFileModes{Base: no, Landed: no, Change: no, Result: yes}, 1},
		"both added it, and differ":         {tamper.MergedFileModes{Landed: yes, Change: no, Result: no}, 0},
		"one deleted it":                    {tamper.MergedFileModes{Base: no, Change: no, Result: no}, 0},
		"it became a link":                  {tamper.MergedFileModes{Base: no, Landed: link, Change: no, Result: no}, 0},
	} {
		text := "x\n"
		found := tamper.CheckMerge([]tamper.MergedFileVersions{{Path: "run.sh", Base: &text, Landed: &text, Change: &text, Result: &text, Modes: c.modes}})
		if len(found) != c.want || c.want > 0 && found[0].Code != tamper.LostMode {
			t.Errorf("%s: %v", name, found)
		}
	}
}
