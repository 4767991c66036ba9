package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/bench"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/web/api"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

var update = flag.Bool("update", false, "write docs/ from the code")

const docs = "../../../docs"

// TestDocs holds docs/ to the code. `make docs` writes it.
func TestDocs(t *testing.T) {
	want := map[string]string{
		"errors.md": errorsPage(t), "config.md": config.ReferencePage(), "events.md": eventsPage(t), "plan.md": planPage(t), "faults.md": faultsPage(t),
	}
	described, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	want["openapi.json"] = string(described) + "\n"
	index := "# Commands\n\nEvery page is what `nexus COMMAND --help` prints.\n\n"
	describe := func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".md"
		page := "# " + c.CommandPath() + "\n\n```text\n" + console.HelpPage(c, view.OutputStyle{ASCII: true, Width: 80}) + "```\n"
		want[filepath.Join("cli", name)] = page
		index += fmt.Sprintf("- [`%s`](%s): %s\n", c.CommandPath(), name, c.Short)
	}
	walk(testRoot(), describe)
	walk(benchRoot(), describe)
	want["cli/README.md"] = index
	for name, text := range want {
		path := filepath.Join(docs, name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil || string(have) != text {
			t.Errorf("docs/%s is not what the code says (%v); run make docs", name, err)
		}
	}
	old, err := filepath.Glob(filepath.Join(docs, "cli", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if _, ok := want[filepath.Join("cli", filepath.Base(path))]; ok {
			continue
		}
		if !*update {
			t.Errorf("%s is about no command; run make docs", path)
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func testRoot() *cobra.Command {
	return newRoot(console.New(nil, new(bytes.Buffer), new(bytes.Buffer), app.App{Env: os.Getenv, Set: map[string]string{}}))
}

func benchRoot() *cobra.Command {
	return bench.Root(console.New(nil, new(bytes.Buffer), new(bytes.Buffer), app.App{Env: os.Getenv, Set: map[string]string{}}))
}

// TestEverydayCommands holds that the short list names commands that exist, and that the
// long one has them all.
func TestEverydayCommands(t *testing.T) {
	r := testRoot()
	short, all := console.HelpPage(r, view.OutputStyle{ASCII: true, Width: 80}), console.CommandList(r, view.OutputStyle{ASCII: true, Width: 80})
	if n := strings.Count(short, "\n  "); n > 40 {
		t.Errorf("nexus --help has %d lines of entries", n)
	}
	if !strings.Contains(short, "nexus help all") {
		t.Errorf("nexus --help does not say how to see all commands:\n%s", short)
	}
	for _, name := range console.EverydayCommands {
		if c, _, err := r.Find([]string{name}); err != nil || c.Name() != name || c.Hidden {
			t.Errorf("there is no command %s (%v)", name, err)
		}
		if !strings.Contains(short, "\n  "+name+" ") {
			t.Errorf("nexus --help has no %s", name)
		}
	}
	for _, c := range r.Commands() {
		if c.IsAvailableCommand() && !strings.Contains(all, "\n  "+c.Name()+" ") {
			t.Errorf("nexus help all has no %s", c.Name())
		}
	}
}

func walk(c *cobra.Command, f func(*cobra.Command)) {
	if c.Hidden {
		return
	}
	f(c)
	for _, child := range c.Commands() {
		walk(child, f)
	}
}

// TestHelp holds every command to the house's rules: a text, examples, exit
// codes, and a short flag that means the same everywhere.
func TestHelp(t *testing.T) {
	// -f is a file where a goal is read, and follow where something is read
	// along, as everywhere on Unix.
	allowed := map[string][]string{"f": {"file", "follow"}}
	shorts := map[string][]string{}
	walk(testRoot(), func(c *cobra.Command) {
		path := c.CommandPath()
		long, examples := console.HelpText(c)
		if long == c.Short || c.Short == "" {
			t.Errorf("%s has no help text: write the file with its name in internal/face/cli/console/help", path)
		}
		if examples == "" && !c.HasSubCommands() {
			t.Errorf("%s has no examples: add the line Examples: and a command below it to its file in internal/face/cli/console/help", path)
		}
		for line := range strings.Lines(long + "\n" + examples) {
			if len(line) > 81 {
				t.Errorf("%s: a line of the help has %d columns", path, len(line)-1)
			}
		}
		if codes := c.Annotations["codes"]; !strings.HasPrefix(codes, "0 ") || !strings.Contains(codes, " 2") {
			t.Errorf("%s lists the exit codes %q", path, codes)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Shorthand != "" && !slices.Contains(shorts[f.Shorthand], f.Name) {
				shorts[f.Shorthand] = append(shorts[f.Shorthand], f.Name)
			}
			if f.Usage == "" {
				t.Errorf("%s --%s says nothing", path, f.Name)
			}
		})
	})
	for short, names := range shorts {
		slices.Sort(names)
		if len(names) > 1 && !slices.Equal(names, allowed[short]) {
			t.Errorf("-%s means %v", short, names)
		}
	}
}

func errorsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Errors\n\nEvery error that people see has a code, a message, and a hint that says what to do next. With `--json` it is the\n" +
		"object `{\"error\": {\"code\", \"message\", \"hint\"}}`. Codes are stable.\n\n| code | exit | what happened |\n|---|--:|---|\n")
	var known []nexus.ErrorCode
	for _, k := range console.ErrorKinds() {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", k.Code, k.Exit, k.Text)
		known = append(known, k.Code)
	}
	for _, code := range codes(t) {
		if !slices.Contains(known, code) {
			t.Errorf("the error code %s has no exit code and no text; see console.ErrorKinds", code)
		}
	}
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n|--:|---|\n")
	for _, code := range []string{"0", "1", "2", "3", "4", "5", "6", "130"} {
		fmt.Fprintf(&b, "| %s | %s |\n", code, console.CodeMeaning(code))
	}
	return b.String()
}

func source(t *testing.T, name string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../../nexus", name), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// codes reads the codes from their source, so that none is forgotten.
func codes(t *testing.T) []nexus.ErrorCode {
	t.Helper()
	var all []nexus.ErrorCode
	ast.Inspect(source(t, "errorcodes.go"), func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && strings.HasPrefix(v.Names[0].Name, "Code") {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok {
				all = append(all, nexus.ErrorCode(strings.Trim(lit.Value, `"`)))
			}
		}
		return true
	})
	if len(all) < 20 {
		t.Fatalf("found %d codes", len(all))
	}
	return all
}

// eventsPage lists the facts with what their comments say.
func eventsPage(t *testing.T) string {
	t.Helper()
	kinds := map[string]string{} // by Go type
	ast.Inspect(source(t, "factencoding.go"), func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		if !ok || f.Name.Name != "fact" || f.Recv == nil {
			return true
		}
		lit := f.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
		kinds[f.Recv.List[0].Type.(*ast.Ident).Name] = strings.Trim(lit.Value, `"`)
		return true
	})
	pages := map[string]string{} // by kind
	for _, file := range []string{"fact.go", "agentfacts.go", "hookfacts.go", "pluginfacts.go", "interviewfacts.go", "specfacts.go", "replanfacts.go", "additionfacts.go", "checkpointfacts.go", "alertfacts.go", "planfact.go", "improvefacts.go", "reviewcomment.go"} {
		ast.Inspect(source(t, file), func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if kind := kinds[nameOf(spec)]; ok && kind != "" {
				pages[kind] = eventPage(kind, spec)
			}
			return true
		})
	}
	text := "# Events\n\nThe journal is a list of these facts. A line of `nexus logs --jsonl` or `nexus journal export` is an object with `seq` (a cursor:\n" +
		"`--since` takes it), `run`, `at`, `kind`, `fact` (below) and `hash`. A fact never changes its meaning; new kinds and fields are added.\n" +
		"Durations are nanoseconds, money is dollars, and long texts are blobs, named by their SHA-256.\n"
	for _, kind := range nexus.FactKinds() {
		if pages[kind] == "" {
			t.Errorf("no type of nexus has the kind %s", kind)
		}
		text += pages[kind]
	}
	return text
}

func nameOf(spec *ast.TypeSpec) string {
	if spec == nil {
		return ""
	}
	return spec.Name.Name
}

func eventPage(kind string, spec *ast.TypeSpec) string {
	doc := strings.Join(strings.Fields(spec.Doc.Text()), " ")
	text := fmt.Sprintf("\n## %s\n\n%s\n", kind, strings.TrimSuffix(cmp.Or(strings.TrimPrefix(doc, spec.Name.Name+" "), doc), ".")+".")
	first := true
	for _, f := range spec.Type.(*ast.StructType).Fields.List {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.Trim(f.Tag.Value, "`"), `json:"`), `"`)
		name, _, _ = strings.Cut(name, ",")
		if first {
			text += "\n"
			first = false
		}
		text += fmt.Sprintf("- `%s`", name)
		if about := strings.TrimSpace(f.Comment.Text()); about != "" {
			text += ": " + about
		}
		text += "\n"
	}
	return text
}

func planPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("testdata/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page) + "\n## Schema\n\n```json\n" + strings.TrimSpace(string(plan.FileSchema())) + "\n```\n"
}
