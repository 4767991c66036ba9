package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// runLine gives a command line to the whole program, outside of a repository, and returns its exit
// code and what it printed.
func runLine(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	home := t.TempDir()
	a := console.New(strings.NewReader(""), &o, &e, app.App{
		Env: func(name string) string { return map[string]string{"HOME": home}[name] }, Dir: home, Set: map[string]string{},
	})
	ctx := context.WithoutCancel(t.Context())
	err := executeCommand(ctx, a, args)
	a.Fail(err)
	return console.ExitCode(ctx, err), o.String(), e.String()
}

// TestHelpPages shows help without a repository, a key or a network.
func TestHelpPages(t *testing.T) {
	for line, want := range map[string][]string{
		"":                    {"takes a goal and delivers commits", "Everyday commands:", "nexus help all lists all commands", "!Steer and watch:"},
		"--help":              {"Everyday commands:", "!Steer and watch:"},
		"help all":            {"Everyday commands:\n  run ", "Steer and watch:", "Look inside:\n"},
		"run --help":          {"Examples:", "--budget USD", "130  interrupted"},
		"help journal verify": {"nexus journal verify"},
		"journal":             {"nexus journal COMMAND"},
	} {
		code, out, errs := runLine(t, strings.Fields(line)...)
		for _, text := range want {
			unwanted, absent := strings.CutPrefix(text, "!")
			if strings.Contains(out, unwanted) == absent || code != 0 || errs != "" {
				t.Errorf("nexus %s: exit code %d, want %q:\n%s%s", line, code, text, out, errs)
			}
		}
	}
}

// TestWrongWords holds that a wrong command line says what is wrong and offers what was meant, and
// prints nothing on standard output.
func TestWrongWords(t *testing.T) {
	for line, want := range map[string][]string{
		"rnu":                      {`unknown command "rnu" for nexus`, `Did you mean "nexus run"`},
		"BOGUS --help":             {`unknown command "BOGUS" for nexus`},
		"config BOGUS --help":      {`unknown command "BOGUS" for nexus config`},
		"journal verfy":            {`unknown command "verfy" for nexus journal`, `Did you mean "nexus journal verify"`},
		"status --jsn":             {"unknown flag --jsn for nexus status", "Did you mean --json"},
		"status --frobnicate":      {"unknown flag --frobnicate", `See "nexus status --help"`},
		"retry":                    {"nexus retry needs TASK"},
		"run --parallel many goal": {"--parallel wants a whole number", "many"},
		"logs --since x":           {"since"},
		"help nonsense":            {`there is no command "nonsense"`},
	} {
		code, out, errs := runLine(t, strings.Fields(line)...)
		for _, text := range want {
			if code != 2 || out != "" || !strings.Contains(errs, text) {
				t.Errorf("nexus %s: exit code %d, want %q:\n%s%s", line, code, text, out, errs)
			}
		}
	}
}
