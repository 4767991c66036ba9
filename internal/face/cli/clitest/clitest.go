// Package clitest runs commands in the process of a test: in a repository of their own, with a
// home of their own and captured output.
package clitest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
)

// RunID is the run that [User.RecordRun] records.
const RunID nexus.RunID = "260101-000000-abc"

// User is a person who gives commands in a directory. The zero value is not ready; use [NewUser].
type User struct {
	Dir, Home string
	Env       map[string]string // beside HOME, PATH and USER, which it overrides
	Now       func() time.Time  // the clock of the commands; nil: that of the machine
	In        string            // standard input of the commands
	Out, Err  string            // output of the last command

	t testing.TB
}

// NewUser returns a user in a repository whose one commit has the files. No sandbox is used.
func NewUser(tb testing.TB, files map[string]string) *User {
	tb.Helper()
	u := &User{t: tb, Dir: tb.TempDir(), Home: tb.TempDir(), Env: map[string]string{"NEXUS_SANDBOX": "off"}}
	all := map[string]string{"a.txt": "good\n"}
	maps.Copy(all, files)
	gittest.WriteFiles(tb, u.Dir, all)
	gittest.RunGit(tb, u.Dir, "init", "-q")
	gittest.RunGit(tb, u.Dir, "add", ".")
	gittest.RunGit(tb, u.Dir, "commit", "-q", "-m", "base")
	return u
}

// App returns what the user's commands are built of.
func (u *User) App() app.App {
	env := map[string]string{"HOME": u.Home, "PATH": os.Getenv("PATH"), "USER": "somebody"}
	maps.Copy(env, u.Env)
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	now := u.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the commands of a test have the machine's clock, as the program has
	}
	return app.App{
		Env: func(name string) string { return env[name] }, Environ: environ,
		Now: now, Mask: secret.NewMasker(nil), Dir: u.Dir, Set: map[string]string{},
	}
}

// Run gives a command with its arguments and returns its exit code. The command is built by the
// function, as the program builds it.
func (u *User) Run(build func(*console.Console) *cobra.Command, args ...string) int {
	u.t.Helper()
	var out, errs bytes.Buffer
	c := console.New(strings.NewReader(u.In), &out, &errs, u.App())
	err := execute(u.t.Context(), c, build(c), args)
	c.Fail(err)
	u.Out, u.Err = out.String(), errs.String()
	return console.ExitCode(u.t.Context(), err)
}

// Expect fails the test unless the command ends with the exit code and its output has the texts.
// It must not have a text that begins with "!".
func (u *User) Expect(code int, texts []string, build func(*console.Console) *cobra.Command, args ...string) {
	u.t.Helper()
	got := u.Run(build, args...)
	wrong := got != code
	for _, text := range texts {
		unwanted, absent := strings.CutPrefix(text, "!")
		if !absent {
			unwanted = text
		}
		wrong = wrong || strings.Contains(u.Out+u.Err, unwanted) == absent
	}
	if wrong {
		u.t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", args, got, code, texts, u.Out, u.Err)
	}
}

// ExpectMatch fails the test unless the command ends with the exit code and its output matches the
// regular expressions, in which ^ and $ are the ends of a line. It must not match one that begins
// with "!".
func (u *User) ExpectMatch(code int, patterns []string, build func(*console.Console) *cobra.Command, args ...string) {
	u.t.Helper()
	got := u.Run(build, args...)
	wrong := got != code
	for _, pattern := range patterns {
		unwanted, absent := strings.CutPrefix(pattern, "!")
		wrong = wrong || regexp.MustCompile("(?m)"+unwanted).MatchString(u.Out+u.Err) == absent
	}
	if wrong {
		u.t.Errorf("%q: exit code %d, want %d and %q:\n%s%s", args, got, code, patterns, u.Out, u.Err)
	}
}

// Write writes files below the user's directory.
func (u *User) Write(files map[string]string) {
	u.t.Helper()
	gittest.WriteFiles(u.t, u.Dir, files)
}

// Read returns a file: below the user's directory, or below the home if the path begins with "~/".
func (u *User) Read(path string) string {
	u.t.Helper()
	full := filepath.Join(u.Dir, path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		full = filepath.Join(u.Home, rest)
	}
	data, err := os.ReadFile(full)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(data)
}

// Serve answers the user's model calls from a script, instead of an earlier script.
func (u *User) Serve(script string) {
	u.t.Helper()
	parsed, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		u.t.Fatal(err)
	}
	server, err := llmtest.NewServer(parsed, llmtest.Options{Now: eventtapetest.TapeStartTime})
	if err != nil {
		u.t.Fatal(err)
	}
	web := httptest.NewServer(server)
	u.t.Cleanup(web.Close)
	u.Env["ANTHROPIC_API_KEY"], u.Env["ANTHROPIC_BASE_URL"] = "scripted", web.URL
}

// RecordRun records the facts of a tape in the journal of the user's repository, as the run
// [RunID]. No process works on it.
func (u *User) RecordRun(tape string) {
	u.t.Helper()
	ctx, at := u.t.Context(), eventtapetest.TapeStartTime()
	a := u.App()
	a.Now = func() time.Time { return at }
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		u.t.Fatal(err)
	}
	defer p.Close()
	events, err := eventtapetest.ReadTape(RunID, tape)
	if err != nil {
		u.t.Fatal(err)
	}
	lease, err := p.Journal.Acquire(ctx, RunID, journal.CallingProcess(), 1000*time.Hour)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, e := range events {
		at = e.At
		if _, err := lease.Append(ctx, e.Fact); err != nil {
			u.t.Fatal(err)
		}
	}
	if err := lease.Release(ctx); err != nil {
		u.t.Fatal(err)
	}
}

// RecordFacts records facts in the journal of the user's repository, as a run that no process works
// on any more.
func (u *User) RecordFacts(run nexus.RunID, facts ...nexus.Fact) {
	u.t.Helper()
	a := u.App()
	p, err := a.OpenRepository(u.t.Context(), app.CreateAccess)
	if err != nil {
		u.t.Fatal(err)
	}
	defer p.Close()
	lease, err := p.Journal.Acquire(u.t.Context(), run, journal.CallingProcess(), time.Hour)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, f := range facts {
		if _, err := lease.Append(u.t.Context(), f); err != nil {
			u.t.Fatal(err)
		}
	}
	if err := lease.Release(u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
}

// ReadTape returns a tape of a recorded run: life1 or life2.
func ReadTape(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "internal", "decide", "state", "testdata", name+".tape"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// moduleRoot returns the directory of go.mod above the test's package.
func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, failed := os.Stat(filepath.Join(dir, "go.mod")); failed == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal("no go.mod above the test", err)
	return ""
}

// ParseOptions gives a command line to a command that only parses it, and returns the options that
// the command would run with, or the error. The function builds the command as its package's New
// does.
func ParseOptions[O any](t *testing.T, build func(*console.Console, func(context.Context, *O) error) *cobra.Command, args ...string) (*O, error) {
	t.Helper()
	var parsed *O
	c := console.New(strings.NewReader(""), io.Discard, io.Discard, app.App{
		Env: func(string) string { return "" }, Now: eventtapetest.TapeStartTime, Mask: secret.NewMasker(nil), Dir: t.TempDir(), Set: map[string]string{},
	})
	command := build(c, func(_ context.Context, o *O) error { parsed = o; return nil })
	err := execute(t.Context(), c, command, args)
	if err == nil && parsed == nil {
		t.Fatalf("%q ran nothing", args)
	}
	return parsed, err
}

// CheckFlags parses command lines, whose words are separated by spaces, and fails the test unless
// each gives the options. The console and what is not exported is not compared. Nil options mean
// that the command line is wrong, with exit code 2.
func CheckFlags[O any](t *testing.T, build func(*console.Console, func(context.Context, *O) error) *cobra.Command, lines map[string]*O) {
	t.Helper()
	for line, want := range lines {
		got, err := ParseOptions(t, build, strings.Fields(line)...)
		switch {
		case want == nil && console.ExitCode(t.Context(), err) != console.CodeUsage:
			t.Errorf("%q: %+v, %v; want exit code 2", line, got, err)
		case want != nil && err != nil:
			t.Errorf("%q: %v", line, err)
		case want != nil:
			compareOptions(t, line, *got, *want)
		}
	}
}

// compareOptions fails the test for each field that differs, except the console's.
func compareOptions[O any](t *testing.T, line string, got, want O) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		f := g.Type().Field(i)
		if !f.IsExported() || f.Type == reflect.TypeFor[*console.Console]() {
			continue
		}
		empty := f.Type.Kind() == reflect.Slice && g.Field(i).Len()+w.Field(i).Len() == 0
		if one, other := g.Field(i).Interface(), w.Field(i).Interface(); !empty && !reflect.DeepEqual(one, other) {
			t.Errorf("%q: %s is %+v, want %+v", line, f.Name, one, other)
		}
	}
}

// execute runs a command below a root that has the flags of every command.
func execute(ctx context.Context, c *console.Console, command *cobra.Command, args []string) error {
	root := c.ParentCommand("nexus", "test") //nolint:contextcheck // cobra hands the context to the command that runs
	c.SetUpRoot(root)
	root.AddCommand(command)
	root.SetArgs(append([]string{command.Name()}, args...))
	return root.ExecuteContext(ctx)
}
